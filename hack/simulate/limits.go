package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// A provider's limits and distance are no faults: they don't stop when the faults do.

// allowance counts the calls of the running second.
type allowance struct {
	mu    sync.Mutex
	since time.Time
	used  int
}

// take reports whether n more calls are within so many a second. Those of a refused batch count as well, as they do at providers.
func (a *allowance) take(n, perSecond int, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.since) >= time.Second {
		a.since, a.used = now, 0
	}
	a.used += n
	return a.used <= perSecond
}

// refuses answers a request that is beyond the node's calls per second.
func (n *node) refuses(w http.ResponseWriter, calls int) bool {
	if n.plan.PerSecond == 0 || n.allowance.take(calls, n.plan.PerSecond, time.Now()) {
		return false
	}
	n.seen.add("calls per second")
	if n.plan.RetryAfter {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"your app has exceeded its requests per second capacity"}}`,
		http.StatusTooManyRequests)
	return true
}

// travel takes as long as an answer needs on its way.
func (n *node) travel(ctx context.Context) {
	if n.plan.LatencyMS == 0 {
		return
	}
	n.seen.add("latency")
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(n.plan.LatencyMS) * time.Millisecond):
	}
}

// drawLimits draws what came last, with numbers of its own, so that a seed keeps the rest of its plan.
func (p *Plan) drawLimits() {
	rng := rand.New(rand.NewPCG(p.Seed, 2))
	if rng.IntN(3) == 0 { // the chain is far away from all of them
		latency := pick(rng, []int{40, 80, 120})
		if p.Family == familySolana { // a block takes three questions, one after the other, and comes every 250 ms here
			latency /= 2
		}
		for i := range p.Nodes {
			p.Nodes[i].LatencyMS = latency
		}
	}
	if rng.IntN(3) == 0 {
		n := &p.Nodes[len(p.Nodes)-1]
		n.PerSecond, n.RetryAfter = pick(rng, []int{100, 200, 400}), rng.IntN(2) == 0
	}
	if rng.IntN(4) == 0 { // every endpoint refuses a little, all the while
		for i := range p.Nodes {
			p.Nodes[i].Faults = append(p.Nodes[i].Faults, NodeFault{Fault: "429", To: p.Blocks, Percent: 3})
		}
	}
}
