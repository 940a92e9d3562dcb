package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// blockTime is the pace of the simulated chain, in its time and in ours. Times are whole seconds: some blocks have equal ones.
	blockTime = 250 * time.Millisecond
	// afterwards is how many blocks are made once all faults have stopped: each figure that is asked for every 32 blocks is asked for.
	afterwards = 40
	// untilFound is how many blocks more a liar may lie, unless it is found out before. One that isn't asked any more never is; the rows
	// tell whether it did harm.
	untilFound = 80
	// untilStreamFound is the same of a stream. An index that is behind doesn't take its blocks, and near the head it takes all of them.
	untilStreamFound = 400
	// untilSure is how many blocks more two endpoints may take to vouch for every fact. A fact is asked for again after pauses of 10, 20, 40, 80 and 160
	// seconds, and on a busy machine an endpoint may be too slow for some of them.
	untilSure = 1500
	// near is how many blocks below the head an index keeps up with a chain that goes on, nearBound how many blocks it may take to get there.
	near, nearBound = 32, 600
	// fastestBlocks is the least time between the blocks that an index has to keep up with: twice as fast as the fastest mainnet, of 100 ms. Without it the chain
	// would be as fast as the machine, which the index shares with it.
	fastestBlocks = 50 * time.Millisecond
	// headBound is how long the head may take to be reached once all faults have stopped, for a machine that does other work as well:
	// the usual time is some seconds.
	headBound = 90 * time.Second
)

// genesis is the time of each simulated chain's first block: a seed makes the same blocks whenever it runs.
var genesis = time.Unix(1_780_000_000, 0)

// run is one seed's run.
type run struct {
	plan *Plan
	dir  string
	log  *trace
	seen *tally
	// refused are the states that endpoints refused.
	refused *refusals

	chain   simulated
	nodes   []*node
	stream  *stream // nil is none
	system  *system
	watch   *watch
	made    atomic.Int64 // blocks made so far; -1 once the faults have stopped
	count   int64        // blocks made so far
	at      time.Time    // of the next block
	next    time.Time    // when it is made, by our clock
	ahead   time.Duration
	kept    *dbserver.Snapshot
	floods  int
	hostile []string
	fork    string // where a node answers that has another fork
	bounds  *bounds
}

// outcome is what became of a run.
type outcome struct {
	Seed     uint64   `json:"seed"`
	Plan     *Plan    `json:"plan"`
	Failures []string `json:"failures,omitempty"`
	// Broken is why the run says nothing.
	Broken  string        `json:"broken,omitempty"`
	Head    time.Duration `json:"until_head"`
	Took    time.Duration `json:"took"`
	Memory  int64         `json:"peak_memory"`
	Answers int64         `json:"answers"`
	Faults  map[string]int64
}

// play runs a plan in a folder of its own.
func play(ctx context.Context, p *Plan, dir string, server func() (*dbserver.Server, error)) (out *outcome, err error) {
	began := time.Now()
	r := &run{plan: p, dir: dir, log: &trace{began: began}, seen: &tally{counts: map[string]int64{}}, refused: &refusals{}, bounds: newBounds()}
	out = &outcome{Seed: p.Seed, Plan: p}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() {
		out.Took, out.Faults = time.Since(began), r.seen.all()
		for _, line := range r.bounds.says() {
			r.log.add("%s", line)
		}
		err = errors.Join(err, r.log.write(filepath.Join(dir, "trace.log")))
	}()
	r.at = genesis.Add(4 * time.Hour)
	if r.chain, err = begin(ctx, p, r.at); err != nil {
		return out, err
	}
	r.at = r.at.Add(time.Second)
	defer r.endChain()
	if err := r.makeNodes(ctx); err != nil {
		return out, err
	}
	if r.system, err = newSystem(ctx, p, r.chain, r.endpoints(), dir, server); err != nil {
		return out, err
	}
	defer r.system.stop()
	r.watch = newWatch(r)
	if r.system.proxy != nil {
		r.system.proxy.OnDone(r.statement)
	}
	if err := r.system.start(); err != nil {
		return out, err
	}
	r.setClocks(0)
	go r.watch.run(ctx)
	if err := r.disturb(ctx); err != nil {
		return out, err
	}
	head, failure, err := r.recover(ctx)
	if err != nil {
		return out, err
	}
	out.Head = head
	r.watch.stop()
	out.Failures = append(out.Failures, r.watch.failures()...)
	out.Memory, out.Answers = r.watch.peak.Load(), r.watch.answers.Load()
	r.system.stop()
	for _, p := range r.system.processes {
		if err := p.panics(); err != nil {
			out.Failures = append(out.Failures, err.Error())
		}
	}
	if failure != "" {
		out.Failures = append(out.Failures, failure)
		return out, nil
	}
	failure, err = r.leases(ctx)
	if err != nil {
		return out, err
	}
	if failure != "" {
		out.Failures = append(out.Failures, failure)
	}
	differences, err := r.compare(ctx)
	out.Failures = append(out.Failures, differences...)
	return out, err
}

func (r *run) makeNodes(ctx context.Context) error {
	for i := range r.plan.Nodes {
		n := &node{plan: &r.plan.Nodes[i], faults: faultsOfFamily(r.plan.Family), seed: r.plan.Seed, block: &r.made, seen: r.seen, log: r.log, refused: r.refused}
		url := r.chain.URL()
		n.real.Store(&url)
		if err := n.start(ctx); err != nil {
			return err
		}
		r.nodes = append(r.nodes, n)
		for _, f := range n.plan.Faults {
			if f.Fault == "another fork" && r.fork == "" {
				var err error
				if r.fork, err = r.chain.fork(ctx, r.dir); err != nil {
					return err
				}
			}
		}
		if r.fork != "" {
			n.fork.Store(&r.fork)
		}
	}
	return r.startStream(ctx)
}

// endpoints are those that the chain is declared with.
func (r *run) endpoints() (list []any) {
	for _, n := range r.nodes {
		endpoint := map[string]any{"url": n.url}
		if n.plan.Weight > 0 {
			endpoint["weight"] = n.plan.Weight
		}
		list = append(list, endpoint)
	}
	if r.stream != nil {
		list = append(list, map[string]any{"url": r.stream.server.URL(), "protocol": chainconfig.YellowstoneGRPC})
	}
	return list
}

func (r *run) endChain() {
	r.stream.end()
	r.chain.end()
	if r.kept != nil {
		_ = r.kept.Close()
	}
}

// setClocks has every process's clock go as the chain's time does, d ahead of it.
func (r *run) setClocks(d time.Duration) {
	r.ahead = time.Until(r.at) + d
	for _, p := range r.system.processes {
		p.setClock(r.ahead)
	}
}

// disturb makes the plan's blocks and lets its events happen.
func (r *run) disturb(ctx context.Context) error {
	events := r.plan.Events
	if r.system.proxy != nil {
		r.system.proxy.OnCommit(r.judge)
	}
	r.next = time.Now()
	for r.count < int64(r.plan.Blocks) {
		for len(events) > 0 && int64(events[0].At) <= r.count {
			e := events[0]
			events = events[1:]
			r.log.add("block %d: %s %d", r.count, e.Do, e.N)
			r.seen.add(e.Do)
			if err := table[e.Do].do(r, ctx, e.N); err != nil {
				return fmt.Errorf("block %d: %s: %w", r.count, e.Do, err)
			}
		}
		if err := r.block(ctx); err != nil {
			return err
		}
	}
	for _, e := range events { // what ends something else
		if err := table[e.Do].do(r, ctx, e.N); err != nil {
			return fmt.Errorf("%s: %w", e.Do, err)
		}
	}
	return nil
}

// judge says what becomes of a commit.
func (r *run) judge(n int64) dbserver.Verdict {
	fault, ok := r.plan.Commits[n]
	if !ok || r.made.Load() < 0 {
		return dbserver.Pass
	}
	r.seen.add(fault)
	r.log.add("commit %d: %s", n, fault)
	if fault == "commit lost before" {
		return dbserver.LoseBefore
	}
	return dbserver.LoseAfter
}

// block makes the next block when its time has come.
func (r *run) block(ctx context.Context) error {
	select {
	case <-time.After(time.Until(r.next)):
	case <-ctx.Done():
		return ctx.Err()
	}
	r.next = r.next.Add(blockTime)
	if late := time.Now(); r.next.Before(late) {
		r.next = late
	}
	return r.mine(ctx, 4)
}

// mine makes a block with some trades in it.
func (r *run) mine(ctx context.Context, trades int) error {
	if err := r.chain.act(ctx, r.at, trades); err != nil {
		return err
	}
	return r.seal(ctx)
}

// seal makes a block of what was sent.
func (r *run) seal(ctx context.Context) error {
	if err := r.chain.seal(ctx, r.at); err != nil {
		return err
	}
	r.count++
	if r.made.Load() >= 0 {
		r.made.Store(r.count)
	}
	latest, err := r.chain.newest(ctx)
	if err != nil {
		return err
	}
	r.watch.saw(latest)
	r.at = latest.time
	if r.count%int64(time.Second/blockTime) == 0 {
		r.at = r.at.Add(time.Second)
	}
	return nil
}

// recover stops all faults, makes blocks until liars were found out, and waits for the head. failure says what held it up.
func (r *run) recover(ctx context.Context) (took time.Duration, failure string, err error) {
	if most := r.plan.lyingFor(); most > 0 {
		for n := 0; n < most && !r.system.foundOut(ctx); n++ {
			if err := r.block(ctx); err != nil {
				return 0, "", err
			}
		}
		for range 10 { // what rests on its word is asked for again
			if err := r.block(ctx); err != nil {
				return 0, "", err
			}
		}
	}
	r.made.Store(-1)
	r.stream.endFaults()
	r.log.add("block %d: all faults stop", r.count)
	for _, p := range r.system.processes {
		p.freeze(false)
	}
	if r.system.proxy != nil {
		r.system.proxy.Delay(0)
	}
	r.setClocks(0)
	for range afterwards {
		if err := r.block(ctx); err != nil {
			return 0, "", err
		}
	}
	for _, until := range []func(context.Context) (string, error){r.untilSure, r.untilSupplied, r.untilNear} {
		if failure, err := until(ctx); failure != "" || err != nil {
			return 0, failure, err
		}
	}
	head, err := r.chain.newest(ctx)
	if err != nil {
		return 0, "", err
	}
	began := time.Now()
	for r.system.indexed(ctx) != int64(head.number) {
		if took = time.Since(began); took > headBound {
			return took, fmt.Sprintf("the head %d was not reached within %s after the last fault: the index is at %d", head.number, headBound,
				r.system.indexed(ctx)), nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	took = time.Since(began)
	r.log.add("the head was reached after %s", took.Round(time.Millisecond))
	return took, "", nil
}

// untilNear makes blocks until the index is near the head: one that only gets there when the chain stands still lives on no mainnet.
func (r *run) untilNear(ctx context.Context) (failure string, err error) {
	for n := 0; ; n++ {
		head, err := r.chain.newest(ctx)
		if err != nil {
			return "", err
		}
		behind := int64(head.number) - r.system.indexed(ctx)
		if behind <= near {
			r.log.add("the index is %d blocks behind a chain that goes on, after %d blocks", behind, n)
			return "", nil
		}
		if n == nearBound {
			return fmt.Sprintf("%d blocks after the last fault, the index is %d blocks behind a chain that goes on, want at most %d", n, behind, near), nil
		}
		next := time.Now().Add(fastestBlocks)
		if err := r.block(ctx); err != nil {
			return "", err
		}
		if !wait.For(ctx, time.Until(next)) {
			return "", ctx.Err()
		}
	}
}

// untilSure makes blocks until two endpoints vouch for each fact that one gave alone: it is asked for again after pauses that double.
func (r *run) untilSure(ctx context.Context) (failure string, err error) {
	db, err := r.database()
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	for n := 0; ; n++ {
		facts := 0
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM unsure_facts").Scan(&facts); err != nil || facts == 0 || len(r.plan.Nodes) == 1 {
			return "", err
		}
		if n == untilSure {
			return fmt.Sprintf("%d facts rest on one endpoint's word after %d blocks", facts, n), nil
		}
		if err := r.block(ctx); err != nil {
			return "", err
		}
	}
}

// database opens the database past the proxy, to read.
func (r *run) database() (*sql.DB, error) {
	if path, ok := strings.CutPrefix(r.system.direct, "sqlite:"); ok { // a store has the file for itself
		return sql.Open("sqlite", "file:"+path+"?mode=ro&_pragma=busy_timeout(5000)")
	}
	return sql.Open("pgx", r.system.direct)
}

// leases fails where indexers took the chain's lease again and again: what an endpoint refuses or leaves out ends nobody's turn. Each event
// may end one of every indexer.
func (r *run) leases(ctx context.Context) (failure string, err error) {
	db, err := r.database()
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	taken, most := 0, len(r.system.indexers)*(1+len(r.plan.Events)+len(r.plan.Commits))
	if err := db.QueryRowContext(ctx, "SELECT lease_epoch FROM chains").Scan(&taken); err != nil || taken <= most {
		return "", err
	}
	return fmt.Sprintf("the lease was taken %d times, more than %d: as often as something happened that ends it", taken, most), nil
}
