package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

const (
	// mostDeleted is the most rows that one statement of an indexer may delete: store.pruneRows and a block's trades.
	mostDeleted = 8_000
	// mostPools is the most pools that one statement of an indexer may read: the world has some dozens, and of
	// one token market.ListedPools.
	mostPools = 200
	// mostAllocated is how many bytes an indexer may allocate in each second between two looks at its metrics.
	mostAllocated = 512 << 20
)

// bounds holds what an indexer does to what it may cost: rows of one statement, and memory.
type bounds struct {
	mu sync.Mutex
	// most are the most rows by program, verb and table.
	most      map[string]int64
	allocated map[*process]allocation
}

func newBounds() *bounds {
	return &bounds{most: map[string]int64{}, allocated: map[*process]allocation{}}
}

// statement looks at a statement that PostgreSQL has completed.
func (r *run) statement(d dbserver.Done) {
	if !strings.HasPrefix(d.Program, "indexer") || r.made.Load() >= 0 && r.made.Load() < firstPart {
		return
	}
	what := d.Verb + " " + tableOf(d.Text)
	b := r.bounds
	b.mu.Lock()
	more := d.Rows > b.most[what]
	b.most[what] = max(b.most[what], d.Rows)
	b.mu.Unlock()
	switch {
	case !more || r.watch == nil:
	case d.Verb == "DELETE" && d.Rows > mostDeleted:
		r.watch.fail("a statement of %s deletes %d rows: %.120s", d.Program, d.Rows, d.Text)
	case what == "SELECT pools" && d.Rows > mostPools:
		r.watch.fail("a statement of %s reads %d pools: %.120s", d.Program, d.Rows, d.Text)
	}
}

// tableOf is the first table that a statement names.
func tableOf(text string) string {
	words := strings.Fields(strings.ReplaceAll(text, `"`, ""))
	for i, word := range words[:max(len(words)-1, 0)] { // a subquery's, where the first is one
		switch strings.ToUpper(word) {
		case "FROM", "INTO", "UPDATE", "COPY":
			if !strings.HasPrefix(words[i+1], "(") {
				return words[i+1]
			}
		}
	}
	return ""
}

// allocation is how many bytes a process had allocated, and when it was asked.
type allocation struct {
	bytes float64
	at    time.Time
}

// allocations looks at how much memory an indexer has allocated since the last look.
func (w *watch) allocations(ctx context.Context, p *process) {
	asked := time.Now()
	m, err := p.metrics(ctx)
	total, ok := m["go_memstats_alloc_bytes_total"]
	if err != nil || !ok {
		return
	}
	b := w.r.bounds
	b.mu.Lock()
	before, known := b.allocated[p]
	b.allocated[p] = allocation{total, asked}
	// A look takes long where the database or the machine is slow.
	more := int64((total - before.bytes) / max(1, time.Since(before.at).Seconds()))
	b.most["bytes allocated"] = max(b.most["bytes allocated"], more)
	b.mu.Unlock()
	if known && more > mostAllocated {
		w.fail("%s allocates %d MiB a second between two looks", p.name, more>>20)
	}
}

// says are the highest figures, a line each.
func (b *bounds) says() (lines []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for what, rows := range b.most {
		lines = append(lines, fmt.Sprintf("most of %s: %d", what, rows))
	}
	return lines
}
