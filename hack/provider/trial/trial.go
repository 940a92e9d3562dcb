package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/differ"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// headWithin is how long an index may take to come to the head, or a fresh one to the end.
	headWithin = 10 * time.Minute
	// nearHead is how many blocks below the head is at it, or as many as come in nearTime.
	nearHead = 3
	nearTime = 5 * time.Second
	// pricedWithin is in how many blocks an index that begins at the head has to have a price for each quote.
	pricedWithin = 20
	look         = 100 * time.Millisecond
)

// trial is one chain behind one kind of endpoint.
type trial struct {
	settings

	chain, profile, dir string
	blockTime           time.Duration
	untilHead, lived    time.Duration
	blocks, reorgs      uint64
	farthest            uint64 // blocks behind, once it was at the head
	quotes, priced      int
	unpriced            uint64 // blocks from the first one to the last trade without a value in USD
	tokens              int
	calls, units        int64
	refused             int64
	differences         []string
	byFacts             bool // the fresh index began with the kept facts
	err                 error
}

func (t *trial) run(ctx context.Context) error {
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return err
	}
	profile, err := t.findProfile()
	if err != nil {
		return err
	}
	m, err := t.begin(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	t.blockTime = m.BlockTime()
	n, err := m.Serve(ctx, node.Options{Profile: profile, Seed: t.seed})
	if err != nil {
		return err
	}
	defer func() { _ = n.Close() }()
	start := m.First()
	if t.fromHead {
		start = m.Newest()
	}
	ix, err := t.index(ctx, m, n, start, "index", nil)
	if err != nil {
		return err
	}
	defer func() { _ = ix.store.Close() }()
	if err := t.live(ctx, m, ix); err != nil {
		return errors.Join(err, ix.stop())
	}
	if err := t.await(ctx, m, ix); err != nil {
		return errors.Join(err, ix.stop())
	}
	counts := n.Counts()
	t.calls, t.units = counts.AllCalls, counts.AllUnits
	for _, refused := range counts.Refused {
		t.refused += refused
	}
	if err := errors.Join(ix.stop(), t.figures(ctx, ix)); err != nil {
		return err
	}
	if profile.Stream.Offered && counts.Streamed == 0 {
		return errors.New("the index read no block from the stream")
	}
	if missing := profile.Stream.MissingFaults(counts.Refused); len(missing) > 0 {
		return fmt.Errorf("faults that never came, so that the trial shows little: %s; a longer one (--for) may have them", strings.Join(missing, ", "))
	}
	if err := t.compare(ctx, m, ix, &profile, start); err != nil {
		return err
	}
	if t.fromHead && t.unpriced > pricedWithin {
		return fmt.Errorf("a trade %d blocks after the first one had no value in USD: each quote has to have a price after %d", t.unpriced, pricedWithin)
	}
	return nil
}

// findProfile finds the trial's profile, which must be one behind which an index of the chain can come to the head.
func (t *trial) findProfile() (profiles.Profile, error) {
	profile, err := profiles.Named(t.profile)
	switch {
	case err != nil:
		return profile, err
	case profile.IsSolana != (t.chain == solanaID):
		return profile, fmt.Errorf("profile %s isn't for chain %s", t.profile, t.chain)
	case profile.Solana.Holes.Slots > 0:
		return profile, fmt.Errorf("profile %s lacks blocks: an index behind it alone never comes to the head", t.profile)
	default:
		return profile, nil
	}
}

// A fresh index asks for the states of all of anvil's blocks: of the firstStates up to the head, and of those of the trial, at most mostStates.
const firstStates, mostStates = 500, 700

// stateEvery is how often anvil has to mine so that a trial of a length has no more states than are kept, in whole seconds.
func stateEvery(during time.Duration) time.Duration {
	return max(time.Second, (during / (mostStates - 100)).Round(time.Second))
}

// live lets the chain grow until the index is at its head, and then for as long as it was asked for.
func (t *trial) live(ctx context.Context, m standIn, ix *running) error {
	alive, end := context.WithCancel(ctx)
	lived := make(chan error, 1)
	go func() { lived <- m.Live(alive) }()
	began, from := time.Now(), m.Newest()
	near := max(nearHead, uint64(nearTime/t.blockTime))
	err := func() error {
		for {
			behind, err := ix.behind(ctx, m)
			if err != nil {
				return err
			}
			if behind <= near {
				break
			}
			if time.Since(began) > headWithin {
				return fmt.Errorf("it is %d blocks behind after %s", behind, headWithin)
			}
			if !wait.For(ctx, look) {
				return ctx.Err()
			}
		}
		t.untilHead = time.Since(began)
		for at := time.Now(); time.Since(at) < t.during; {
			behind, err := ix.behind(ctx, m)
			if err != nil {
				return err
			}
			t.farthest = max(t.farthest, behind)
			if !wait.For(ctx, look) {
				return ctx.Err()
			}
			t.lived = time.Since(at)
		}
		return nil
	}()
	end()
	err = errors.Join(err, <-lived)
	t.blocks, t.reorgs = m.Newest()-from, m.Reorgs()
	return err
}

// await waits until the index has the head of a chain that stands still.
func (t *trial) await(ctx context.Context, m standIn, ix *running) error {
	for began := time.Now(); ; {
		at, found, err := ix.store.Chain(ctx, t.chain)
		if err != nil {
			return err
		}
		if found && m.IsNewest(at.Last) {
			return nil
		}
		if time.Since(began) > headWithin {
			return fmt.Errorf("the chain stood still for %s, and the index is at block %d of %d: %s %s", headWithin, at.Last.Number, m.Newest(), at.State, at.Reason)
		}
		if !wait.For(ctx, look) {
			return ctx.Err()
		}
	}
}

// figures counts what people see.
func (t *trial) figures(ctx context.Context, ix *running) error {
	prices, err := ix.store.Pools.Quotes(ctx)
	if err != nil {
		return err
	}
	t.quotes = len(ix.cfg.Quotes)
	for _, q := range prices[t.chain] {
		if q.USD > 0 {
			t.priced++
		}
	}
	rows, err := ix.store.Inspect.Derived(ctx, t.chain)
	if err != nil {
		return err
	}
	t.tokens = len(rows["tokens"])
	if t.unpriced, err = t.unpricedUntil(ctx, ix); err != nil {
		return err
	}
	if t.priced < t.quotes {
		err = fmt.Errorf("%d of %d quotes have no price", t.quotes-t.priced, t.quotes)
	}
	return err
}

// unpricedUntil is how many blocks after the first one the last trade without a value in USD is: its quote had no price then.
func (t *trial) unpricedUntil(ctx context.Context, ix *running) (blocks uint64, err error) {
	trades, err := ix.store.Inspect.Trades(ctx, t.chain, 0, 0)
	if err != nil {
		return 0, err
	}
	if len(trades) == 0 {
		return 0, errors.New("nothing was traded")
	}
	for i := range trades {
		if tr := &trades[i]; !tr.HasUSD {
			blocks = tr.Block - min(tr.Block, ix.cfg.Start.Block)
		}
	}
	return blocks, nil
}

// compare holds the rows against those of a fresh index through a node without limits. What a node with old state would tell of pools a node of
// the newest state alone tells later: there the fresh index begins with the facts that were kept, and its node has no more state. So it does on Solana, whose nodes
// answer for now alone, and it reads JSON-RPC alone there.
func (t *trial) compare(ctx context.Context, m standIn, ix *running, profile *profiles.Profile, start uint64) error {
	without := m.Plain()
	var facts []store.StoredFact
	if profile.State.LatestAlone || profile.IsSolana {
		var err error
		if facts, err = ix.store.Facts.Between(ctx, t.chain, 0, m.Newest()); err != nil {
			return err
		}
		without.State, t.byFacts = profile.State, true
	}
	plain, err := m.Serve(ctx, node.Options{Profile: without})
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }()
	fresh, err := t.index(ctx, m, plain, start, "fresh", facts)
	if err != nil {
		return err
	}
	defer func() { _ = fresh.store.Close() }()
	if err := errors.Join(t.await(ctx, m, fresh), fresh.stop()); err != nil {
		return fmt.Errorf("a fresh index: %w", err)
	}
	have, err := ix.store.Inspect.Derived(ctx, t.chain)
	if err != nil {
		return err
	}
	want, err := fresh.store.Inspect.Derived(ctx, t.chain)
	if err != nil {
		return err
	}
	if t.differences = differ.Tables(have, want); len(t.differences) > 0 {
		return errors.New(strings.Join(t.differences, "\n"))
	}
	return nil
}

// running is an indexer that runs, on a database of its own.
type running struct {
	cfg    *chainconfig.Chain
	store  *store.Store
	cancel context.CancelFunc
	ended  chan error
	done   atomic.Bool
	log    *os.File
}

// index starts an indexer that begins with facts, where there are some.
func (t *trial) index(ctx context.Context, m standIn, n *node.Node, start uint64, name string, facts []store.StoredFact) (*running, error) {
	manifests := filepath.Join(t.dir, name)
	if err := m.WriteManifests(ctx, manifests, n, start); err != nil {
		return nil, err
	}
	all, err := files.Load(manifests)
	if err != nil {
		return nil, err
	}
	declared, err := all.Resolve()
	if err != nil {
		return nil, err
	}
	r := &running{cfg: declared.Running[0], ended: make(chan error, 1)}
	if t.fromHead { // a fresh index, which comes later, has to begin at the same block, beyond the reach of reorgs
		r.cfg.Start.Block = start - min(start, r.cfg.ReorgBlocks)
	}
	if r.log, err = os.Create(filepath.Join(t.dir, name+".log")); err != nil {
		return nil, err
	}
	dsn := "sqlite:" + filepath.Join(t.dir, name+".db")
	if t.postgres != nil {
		if dsn, err = t.postgres.create(ctx); err != nil {
			return nil, errors.Join(err, r.log.Close())
		}
	}
	if r.store, err = store.Open(ctx, dsn); err != nil {
		return nil, errors.Join(err, r.log.Close())
	}
	if err := r.keep(ctx, facts); err != nil {
		return nil, errors.Join(err, r.store.Close(), r.log.Close())
	}
	level := slog.LevelInfo
	if t.verbose {
		level = slog.LevelDebug
	}
	ix, err := indexer.New(r.cfg, r.store, indexer.Options{
		Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: level})), Now: time.Now, Holder: name,
	})
	if err != nil {
		return nil, errors.Join(err, r.store.Close(), r.log.Close())
	}
	ctx, r.cancel = context.WithCancel(ctx)
	go func() { r.ended <- ix.Run(ctx) }()
	return r, nil
}

// keep gives a new database the facts of another.
func (r *running) keep(ctx context.Context, facts []store.StoredFact) error {
	if len(facts) == 0 {
		return nil
	}
	lease, err := r.store.Leases.Acquire(ctx, r.cfg.ID, "facts", time.Minute)
	if err != nil {
		return err
	}
	return errors.Join(r.store.Inspect.KeepFacts(ctx, lease, facts), r.store.Leases.Release(ctx, lease))
}

func (r *running) behind(ctx context.Context, m standIn) (uint64, error) {
	select {
	case err := <-r.ended:
		r.ended <- err
		return 0, fmt.Errorf("the indexer ended: %w", err)
	default:
	}
	at, _, err := r.store.Chain(ctx, r.cfg.ID)
	if err != nil {
		return 0, err
	}
	head := m.Newest()
	return head - min(head, at.Last.Number), nil
}

func (r *running) stop() error {
	if r.done.Swap(true) {
		return nil
	}
	r.cancel()
	return errors.Join(<-r.ended, r.log.Close())
}

func (t *trial) says() string {
	if t.err != nil {
		return fmt.Sprintf("%s behind %s: %v", t.chain, t.profile, t.err)
	}
	return fmt.Sprintf("%s behind %s: holds", t.chain, t.profile)
}

// row is the trial in the table.
func (t *trial) row() string {
	rows := "equal"
	switch {
	case t.byFacts && t.err == nil:
		rows = "equal, by kept facts"
	case len(t.differences) > 0:
		rows = fmt.Sprintf("**%d tables differ**", len(t.differences))
	case t.err != nil:
		first, _, _ := strings.Cut(t.err.Error(), "\n")
		rows = "**" + first + "**"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %d | %d blocks | %d of %d | %d blocks | %d | %.1f | %s | %d | %s |", t.chain, t.profile, t.blockTime,
		t.untilHead.Round(100*time.Millisecond), t.lived.Round(time.Second), t.reorgs, t.farthest, t.priced, t.quotes, t.unpriced, t.tokens,
		float64(t.calls)/float64(max(t.blocks, 1)), t.unitsADay(), t.refused, rows)
}

// unitsADay is how many of the provider's units, in millions, a day takes that is like the trial's; nothing where the provider has none.
func (t *trial) unitsADay() string {
	if t.units == 0 {
		return ""
	}
	blocks := float64(24*time.Hour) / float64(t.blockTime)
	return fmt.Sprintf("%.1f million", float64(t.units)/float64(max(t.blocks, 1))*blocks/1e6)
}
