package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// memoryLimit is what no process may use, in bytes.
	memoryLimit = 512 << 20
	// olderThanSaid is how much older, in chain time, an answer without "stale" may be than it says.
	olderThanSaid = 90 * time.Second
	// settled is how long ago a block was made that an answer is held against: a node that is a little behind is none of a lie.
	settled = 30 * time.Second
	// livezLate is for how long /livez may fail. A clock that jumps by hours makes a loop that waits for the database look as if it had
	// waited for hours.
	livezLate = 90 * time.Second
)

// watch asks the API all the while, and looks at the processes.
type watch struct {
	r       *run
	peak    atomic.Int64 // bytes
	answers atomic.Int64
	ended   chan struct{}
	over    chan struct{}

	mu     sync.Mutex
	failed []string
	heads  []seenHead // newest last
}

type seenHead struct {
	when time.Time
	time time.Time
}

func newWatch(r *run) *watch {
	return &watch{r: r, ended: make(chan struct{}), over: make(chan struct{})}
}

func (w *watch) stop() {
	close(w.ended)
	<-w.over
}

func (w *watch) failures() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.failed)
}

// fail notes what shouldn't have been, the first few times.
func (w *watch) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("block %d: ", w.r.made.Load()) + fmt.Sprintf(format, args...)
	w.r.log.add("FAILURE %s", line)
	if len(w.failed) < 5 {
		w.failed = append(w.failed, line)
	}
}

// saw notes a block that was made.
func (w *watch) saw(b made) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heads = append(w.heads, seenHead{time.Now(), b.time})
}

// forked forgets the blocks seen: some of them are gone.
func (w *watch) forked() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heads = nil
}

// settledHead is the time of the newest block that was made long enough ago.
func (w *watch) settledHead() (at time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range slices.Backward(w.heads) {
		if time.Since(h.when) > settled {
			return h.time, true
		}
	}
	return at, false
}

func (w *watch) run(ctx context.Context) {
	defer close(w.over)
	unhealthy := map[*process]time.Time{} // since when
	for turn := 0; ; turn++ {
		select {
		case <-w.ended:
			return
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
		w.askAPI(ctx, turn)
		for _, p := range w.r.system.processes {
			used := p.memory()
			w.peak.Store(max(w.peak.Load(), used))
			if used > memoryLimit {
				w.fail("%s uses %d MiB", p.name, used>>20)
			}
			if turn%5 > 0 || p.isFrozen() {
				continue
			}
			if slices.Contains(w.r.system.indexers, p) {
				w.allocations(ctx, p)
			}
			if status := w.get(ctx, "http://"+p.job.Operations+"/livez", nil); status >= 500 {
				if since, ok := unhealthy[p]; !ok {
					unhealthy[p] = time.Now()
				} else if time.Since(since) > livezLate {
					w.fail("/livez of %s has answered %d for %s", p.name, status, livezLate)
				}
			} else {
				delete(unhealthy, p)
			}
		}
	}
}

// askAPI asks for what people ask most, as a different client each time: limits are tested elsewhere.
func (w *watch) askAPI(ctx context.Context, turn int) {
	if w.r.system.api.isFrozen() {
		return
	}
	tokens, chainID := w.r.chain.tokens(), w.r.chain.id()
	token := tokens[turn%len(tokens)]
	paths := []string{
		"/api/market/live?chain=" + chainID, "/api/token/info/" + token, "/api/launch/launches", "/api/token/" + token + "/candles?interval=1m",
		"/api/market/token-prices?mints=" + token, "/api/majors", "/api/launch/status", "/api/chart/" + token,
	}
	w.ask(ctx, paths[turn%len(paths)], nil)
	var beat struct {
		Chains []struct {
			HeadLag *float64          `json:"head_lag_s"`
			Unknown map[string]string `json:"unknown_reasons"`
		} `json:"chains"`
	}
	before, known := w.settledHead()
	if w.ask(ctx, "/api/status/heartbeat", &beat) != http.StatusOK || len(beat.Chains) != 1 {
		return
	}
	indexed, told := beat.Chains[0], w.indexedTime(ctx)
	if !known || told.IsZero() || indexed.HeadLag == nil || len(indexed.Unknown) > 0 {
		return
	}
	if more := before.Sub(told) - time.Duration(*indexed.HeadLag*float64(time.Second)); more > olderThanSaid {
		w.fail("the heartbeat says a lag of %.1f s and nothing of stale; blocks that were made %s ago are %s newer than the index",
			*indexed.HeadLag, settled, before.Sub(told))
	}
}

// indexedTime is the chain's time of what the live list reflects.
func (w *watch) indexedTime(ctx context.Context) time.Time {
	var list struct {
		AsOf  time.Time `json:"as_of"`
		Stale bool      `json:"stale"`
	}
	if w.ask(ctx, "/api/market/live?chain="+w.r.chain.id(), &list) != http.StatusOK || list.Stale {
		return time.Time{}
	}
	return list.AsOf
}

// ask holds an answer of the API to what may be answered at all: 503 is the only fault of its own that it may have.
func (w *watch) ask(ctx context.Context, path string, into any) int {
	status := w.get(ctx, "http://"+w.r.system.api.job.Listen+path, into)
	if status >= 500 && status != http.StatusServiceUnavailable {
		w.fail("%s answers %d", path, status)
	}
	if status > 0 {
		w.answers.Add(1)
	}
	return status
}

// get is 0 where nobody answers.
func (w *watch) get(ctx context.Context, url string, into any) int {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	n := w.answers.Load()
	req.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255))
	res, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0
	}
	if into != nil && res.StatusCode == http.StatusOK {
		if err := json.Unmarshal(body, into); err != nil {
			w.fail("%s answers what is no JSON: %v", url, err)
		}
	}
	return res.StatusCode
}
