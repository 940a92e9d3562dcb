package main

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"time"
)

// trace is what happened in a run, in order.
type trace struct {
	began time.Time
	mu    sync.Mutex
	lines []string
}

func (t *trace) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, fmt.Sprintf("%7.2f ", time.Since(t.began).Seconds())+fmt.Sprintf(format, args...))
}

func (t *trace) write(path string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return os.WriteFile(path, []byte(strings.Join(t.lines, "\n")+"\n"), 0o600)
}

// tally counts what happened, by name.
type tally struct {
	mu     sync.Mutex
	counts map[string]int64
}

func (t *tally) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[name]++
}

func (t *tally) all() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}
