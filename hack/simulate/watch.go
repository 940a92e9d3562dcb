package main

import (
	"context"
	"database/sql"
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
	// olderThanSaid is by how much, in chain time, the heartbeat's lag may be too small.
	olderThanSaid = 90 * time.Second
	// settled is for how long an index could have known of a block that the heartbeat's lag is held against.
	settled = 30 * time.Second
	// downLag is the lag in seconds from which on the heartbeat calls a chain down for its lag alone.
	downLag = 120
	// hearingPace is the time between two looks at when the index last heard of its nodes.
	hearingPace = 200 * time.Millisecond
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
	// excused is the last time at which the lag couldn't be judged: no endpoint told heads, or the index heard none.
	excused time.Time
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
	if !w.r.plan.tellsHeads(int(w.r.made.Load())) {
		w.excused = time.Now()
	}
}

// excuse notes that the lag isn't held against the chain now.
func (w *watch) excuse() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.excused = time.Now()
}

// forked forgets the blocks seen: some of them are gone.
func (w *watch) forked() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heads = nil
}

// settledHead is the time of the newest block that the index has had long enough to hear of. It is none where the index could not hear of blocks
// all that time.
func (w *watch) settledHead() (at time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.excused) <= settled {
		return at, false
	}
	for _, h := range slices.Backward(w.heads) {
		if time.Since(h.when) > settled {
			return h.time, true
		}
	}
	return at, false
}

// followHearing excuses the heartbeat while the index hears nothing of its nodes. A chain counts as silent by silent_from, which is by the database's clock, and so by
// this machine's. The programs' clocks are the chain's, months away from it, so that here the API never says by itself that a chain is silent, or always does.
func (w *watch) followHearing(ctx context.Context) {
	db, err := w.r.database()
	if err != nil {
		w.fail("the database can't be opened: %v", err)
		return
	}
	defer func() { _ = db.Close() }()
	for {
		if !isHearing(ctx, db) {
			w.excuse()
		}
		select {
		case <-w.ended:
			return
		case <-ctx.Done():
			return
		case <-time.After(hearingPace):
		}
	}
}

// isHearing reports whether a node has told the index its head lately, as far as the database tells.
func isHearing(ctx context.Context, db *sql.DB) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var silentFrom int64
	return db.QueryRowContext(ctx, "SELECT silent_from FROM chains").Scan(&silentFrom) == nil && time.Now().Unix() < silentFrom
}

func (w *watch) run(ctx context.Context) {
	defer close(w.over)
	var hearing sync.WaitGroup
	hearing.Go(func() { w.followHearing(ctx) })
	defer hearing.Wait()
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
	before, known := w.settledHead()
	var beat heartbeat
	if w.ask(ctx, "/api/status/heartbeat", &beat) == http.StatusOK && known {
		if wrong := beat.isTooNew(before); wrong != "" {
			w.fail("%s", wrong)
		}
	}
}

// heartbeat is the API's, of a deployment with one chain.
type heartbeat struct {
	// AsOf is the time of the newest indexed block.
	AsOf   time.Time `json:"as_of"`
	Chains []struct {
		Status string   `json:"status"`
		Lag    *float64 `json:"head_lag_s"`
	} `json:"chains"`
}

// isTooNew says what is wrong where the heartbeat's lag leaves out a block that the index could have known of for long; before is that block's time. A chain that is down
// without a lag that says so is one of which the API knows nothing new.
func (h *heartbeat) isTooNew(before time.Time) (wrong string) {
	if len(h.Chains) != 1 || h.Chains[0].Lag == nil || h.Chains[0].Status == "down" && *h.Chains[0].Lag <= downLag {
		return ""
	}
	lag := time.Duration(*h.Chains[0].Lag * float64(time.Second))
	missing := before.Sub(h.AsOf.Add(lag))
	if missing <= olderThanSaid {
		return ""
	}
	return fmt.Sprintf("the heartbeat says that the newest indexed block is of %s and the chain %s ahead of it; for %s nodes have told of a block that is %s newer than that",
		h.AsOf.Format(time.TimeOnly), lag, settled, missing)
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
