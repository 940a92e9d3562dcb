// Package indexer runs one chain: it reads blocks, asks what logs don't tell, derives, and commits; on a reorg it goes
// back. It is the only program that talks to a chain's nodes.
package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/enrich"
	"github.com/boardwalkhq/boardwalk/indexer/holders"
	"github.com/boardwalkhq/boardwalk/indexer/metadata"
	"github.com/boardwalkhq/boardwalk/indexer/pasts"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/indexer/watch"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// cachedRows bounds each table of the state between commits.
	cachedRows = 200_000
	leaseTTL   = 15 * time.Second
	// shortestWait and longestWait bound the time between two looks for the head, but for those that follow a rhythm.
	shortestWait = 200 * time.Millisecond
	longestWait  = 10 * time.Second
)

// Progress is how far the reading of the past has come.
type Progress struct {
	Chain string
	// First and Last are the numbers of the first and the last block to read; Blocks is how many are read.
	First, Last, Blocks uint64
	Events              int
}

// Options are the settings of an indexer, its clock, its log and the functions that it tells of its work.
type Options struct {
	Log *slog.Logger
	Now func() time.Time
	// Holder names this process in the chain's lease.
	Holder string
	// Progress is told when the reading of a longer past begins and after each of its commits; it may be nil.
	Progress func(Progress)
	Metrics  *Metrics
	// CachedRows bounds each table of the state between commits; 0 is the default.
	CachedRows int
	// VenuePause is the time between two looks at the venues' contracts, SweepPause that between two tokens checked unasked; 0 is
	// the default.
	VenuePause, SweepPause time.Duration
	// Settings is told in the State.
	Settings string
	// ChecksDeclaration has the nodes asked, once beside the loop, whether the declared addresses are as declared: an operator shows it, and
	// `boardwalk up` has asked before it starts. DeclarationPause is the first pause before they are asked again, where they don't answer or
	// something is wrong; 0 is the default.
	ChecksDeclaration bool
	DeclarationPause  time.Duration
	// RecountPause is the least time between two recounts of holders that a chain begins; 0 is the default. A token's own pauses are made of it.
	RecountPause time.Duration
	// RereadPause is the pause before a node's answer that no other confirms is asked for again; 0 is the default.
	RereadPause time.Duration
	// VouchTime is how long another endpoint of an EVM chain may take to answer again what one has answered; 0 is the default.
	VouchTime time.Duration
	// PlanWindow is how far back what nodes were asked for is held against what they allow, PlanPause the time between two looks at that; 0 is
	// the default.
	PlanWindow, PlanPause time.Duration
	// MergeRows is how many rows of a holder backfill each commit takes over; 0 is as many as it has time for.
	MergeRows int
	// PastSettle is how long an index has to have gone on until it is read what members' wallets did before it began; 0 is the default.
	PastSettle time.Duration
	// Fetcher gets tokens' metadata from the outside; nil leaves it alone.
	Fetcher *metadata.Fetcher
}

// Indexer is one chain's indexer.
type Indexer struct {
	cfg *chainconfig.Chain
	// rows is the index whose rows are read and written.
	rows    *indexID
	store   *store.Store
	nodes   nodes
	machine *derive.Machine
	o       Options
	log     *slog.Logger

	lease *store.Lease
	state *derive.State
	// unwritten says that the state has taken in what isn't committed.
	unwritten bool
	// progressed is set by each commit: what fails after one starts with a short pause again.
	progressed bool
	// running says that the database has the chain as running, as far as this session knows.
	running bool
	outage  outage
	missing missingRange
	// near says that this session has been near the head.
	near bool
	// settled is set once this run is at the head, or has a reason not to be.
	settled atomic.Bool
	// head is what the nodes announced when the loop read it last, heard what they announced last, whoever read it.
	head chain.Head
	// headReadAt is when that was; zero before this session has read one.
	headReadAt time.Time
	heard      heard
	enricher   *enrich.Enricher
	// pruned is the chain's hour up to which retention has been applied.
	pruned int64
	// announced is when a node last told of a block by itself.
	announced time.Time
	rhythm    rhythm
	// short counts reads of the head in a row that were below the cursor.
	short int
	// unsure are blocks within the undo horizon that rest on one endpoint's word, oldest first.
	unsure []unsureBlock
	// sure are blocks of which two endpoints have turned out to have the same logs, and which the database has as unsure.
	sure []uint64
	// records lists the records of endpoints that aren't trusted, as the database has them.
	records []chain.Record
	// facts has the facts that no two endpoints gave.
	facts unsureFacts
	// wallets follows the registry of members.
	wallets wallets
	// recountSought is when a token was last sought whose holders are to be counted anew.
	recountSought time.Time

	pasts   *pasts.Reader
	holders *holders.Backfill
	merges  mergePace
	venues  *watch.Venues
	plan    *watch.Plan
	checker *trust.Checker
	sweep   *watch.Sweep
	account account
	pulse   pulse
	// declaration is nil where nobody wants to know.
	declaration *watch.Declaration

	// successor is what this index is to take the place of, nil where it is served itself.
	successor *successor
	reindex   reindexing
}

// ErrHalted means that the chain needs a human; the error says for what. The chain's state says so too.
var ErrHalted = errors.New("the chain is halted")

// New checks the chain document. It opens no connection.
func New(cfg *chainconfig.Chain, st *store.Store, o Options) (*Indexer, error) {
	if err := cfg.CheckAddresses(); err != nil {
		return nil, err
	}
	o.Log = o.Log.With("chain", cfg.ID)
	ix := &Indexer{}
	f, err := familyOf(cfg, ix, o)
	if err != nil {
		return nil, err
	}
	return ix, ix.assemble(cfg, st, f, o)
}

// assemble puts the parts of an index together.
func (ix *Indexer) assemble(cfg *chainconfig.Chain, st *store.Store, f family, o Options) error {
	o.RecountPause = cmp.Or(o.RecountPause, recountPause)
	o.CachedRows = cmp.Or(o.CachedRows, cachedRows)
	o.Metrics.budget(cfg)
	if err := ix.init(cfg, newIndexID(cfg.ID), st, f.nodes, o); err != nil {
		return err
	}
	ix.plan = watch.NewPlan(watch.PlanOptions{
		Usage: f.usage, State: ix.State, Window: o.PlanWindow, Pause: o.PlanPause, BlockTime: time.Duration(cfg.BlockTime), Now: o.Now,
		Tell: func(plan chainconfig.Plan, givesUp func(budget.Purpose) bool) {
			o.Metrics.plan(cfg.ID, plan.Behind != "", givesUp)
			ix.account.update(func(s *chainconfig.State) { s.Plan = plan })
		},
	})
	ix.checker = trust.New(f.looker, watch.NewKnowledge(cfg, ix.rows.id, st), trust.Options{
		Log: o.Log, Now: o.Now, GivenUp: func() bool { return ix.plan.GivesUp(budget.Trust) },
	})
	ix.sweep = watch.NewSweep(watch.SweepOptions{Checker: ix.checker, Reports: st.Trust, Pause: o.SweepPause, Now: o.Now, Log: o.Log})
	ix.venues = watch.NewVenues(watch.VenueOptions{Venues: cfg.Venues, Nodes: f.nodes, Pause: o.VenuePause, Log: o.Log, Tell: func(v []chainconfig.VenueState) {
		ix.account.update(func(s *chainconfig.State) { s.Venues = v })
	}})
	if o.ChecksDeclaration {
		ix.declaration = watch.NewDeclaration(watch.DeclarationOptions{
			Config: cfg, Nodes: f.nodes, FirstPause: o.DeclarationPause, GivesUp: ix.plan.GivesUp, Log: ix.log,
			Tell: func(d chainconfig.Declaration) { ix.account.update(func(s *chainconfig.State) { s.Declaration = d }) },
		})
	}
	return nil
}

// init sets what every index of a chain needs.
func (ix *Indexer) init(cfg *chainconfig.Chain, rows *indexID, st *store.Store, all nodes, o Options) (err error) {
	ix.cfg, ix.rows, ix.store, ix.nodes, ix.o, ix.log = cfg, rows, st, all, o, o.Log
	if ix.machine, err = derive.New(cfg); err != nil {
		return err
	}
	givesUp := func(p budget.Purpose) bool { return ix.plan.GivesUp(p) } // the plan is made later
	ix.enricher = enrich.New(enrich.Options{
		Config: cfg, Nodes: all, Machine: ix.machine, Tokens: st.Tokens, Index: rows.id, Load: ix.load, KeptFacts: ix.keptFacts, SetAside: ix.setAside, Now: o.Now,
		GivesUp: givesUp, Beat: ix.pulse.beat, Log: ix.log,
	})
	ix.holders = holders.New(holders.Options{
		Config: cfg, Jobs: st.Jobs, Index: rows.id, Nodes: all, Machine: ix.machine, GivesUp: givesUp, Now: o.Now, Log: o.Log,
	})
	ix.pasts = pasts.New(pasts.Options{
		Days: cfg.Tracking.PastDays, Settle: cmp.Or(o.PastSettle, pasts.Settle), Reading: o.Metrics.pasts(cfg.ID), Store: st, Index: rows.id, Nodes: all, Machine: ix.machine, GivesUp: givesUp, Now: o.Now, Log: o.Log,
	})
	ix.merges = mergePace{now: o.Now, fixed: o.MergeRows}
	_, hash, err := cfg.Encode()
	if err != nil {
		return fmt.Errorf("chain %s: encode its document: %w", cfg.ID, err)
	}
	ix.pulse.now = o.Now
	ix.pulse.beat()
	ix.reindex.changed = make(chan struct{}, 1)
	ix.account = account{now: o.Now, state: chainconfig.State{Chain: cfg.ID, Document: hash, Settings: o.Settings, Phase: chainconfig.PhaseStarting}}
	return nil
}

// Check asks a chain's nodes for their chain id and writes nothing. Nodes that don't answer are no error.
func Check(ctx context.Context, cfg *chainconfig.Chain, o Options) error {
	o.Log = o.Log.With("chain", cfg.ID)
	f, err := familyOf(cfg, &Indexer{}, o)
	if err != nil {
		return err
	}
	return f.nodes.Check(ctx)
}

// Settled reports whether this run has arrived at the head, or has a reason not to be there.
func (ix *Indexer) Settled() bool { return ix.settled.Load() }

// haltedPause is the time after which a halted chain is tried again.
const haltedPause = time.Minute

// Keep indexes until ctx ends. A chain that halts is tried again after a while, to see whether what halted it is mended. Beside it another
// generation is indexed, where one is wanted.
func (ix *Indexer) Keep(ctx context.Context) {
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { ix.watchGenerations(ctx) })
	for ix.Run(ctx) != nil && ix.reindex.awaitRetry(ctx) { // it has logged why
	}
}

// Run indexes until ctx ends, which is no error, or until the chain halts: then it may be run again, to see whether what
// halted it is mended. Everything else is tried again.
func (ix *Indexer) Run(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { ix.venues.Run(watching) })
	beside.Go(func() { ix.plan.Run(watching) })
	if ix.successor == nil { // the other index of the chain is in the same database
		beside.Go(func() { ix.watchDatabase(watching) })
	}
	if ix.declaration != nil {
		beside.Go(func() { ix.declaration.Run(watching) })
	}
	defer func() { stop(); beside.Wait() }()
	return ix.sessions(ctx)
}

// sessions has one session after another, until ctx ends, which is no error, or the chain halts, or the index has taken another's place.
func (ix *Indexer) sessions(ctx context.Context) error {
	ix.account.begun(chainconfig.PhaseStarting)
	pause := retryPause{}
	for {
		ix.pulse.beat()
		err := ix.session(ctx)
		ix.pulse.beat()
		ix.settled.Store(true)
		switch {
		case ended(ctx):
			return nil
		case errors.Is(err, errTookOver), errors.Is(err, store.ErrReplaced) && ix.successor != nil:
			return err
		case errors.Is(err, errReplaced), errors.Is(err, store.ErrReplaced):
			ix.log.InfoContext(ctx, "another index of the chain is served from here on")
			continue
		case errors.Is(err, ErrHalted), errors.Is(err, rpc.ErrWrongChain):
			ix.log.ErrorContext(ctx, "chain halted", "err", err.Error())
			if ix.nodes.AllWrong() && ix.successor == nil {
				ix.declaration.ServesAnother(err)
			}
			ix.account.failed(chainconfig.PhaseHalted, err)
			return err
		}
		ix.account.failed(chainconfig.PhaseFailing, err)
		if ix.progressed {
			pause, ix.progressed = retryPause{}, false
		}
		next := pause.next()
		ix.log.WarnContext(ctx, "indexing interrupted", "err", err.Error(), "retry_in_s", next.Seconds())
		if !wait.For(ctx, next) {
			return nil
		}
	}
}

// session holds the lease and indexes until something fails.
func (ix *Indexer) session(ctx context.Context) (err error) {
	if err := ix.nodes.Check(ctx); err != nil && ix.nodes.AllWrong() {
		return err
	}
	if err := ix.chooseIndex(ctx); err != nil {
		return err
	}
	l, err := ix.acquire(ctx)
	if err != nil {
		return err
	}
	if l.IsDeleting() { // it was given up or purged, and is wanted once more before all of its rows were gone
		if err := ix.purgeUnder(ctx, l, ix.pulse.beat); err != nil {
			return errors.Join(err, ix.store.Leases.Release(ctx, l))
		}
		return store.ErrReplaced
	}
	if ix.lease != nil && ix.lease.Chain == l.Chain {
		if err := ix.store.Leases.SkipNumbers(ctx, l, ix.lease); err != nil {
			return err
		}
	}
	ix.lease = l
	if err := ix.endRecounts(ctx, l); err != nil {
		return err
	}
	if ix.successor != nil {
		ctx = rpc.For(ctx, budget.Reindexing)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ix.reindex.begin(cancel)
	defer ix.reindex.end()
	done := make(chan struct{})
	go func() {
		defer close(done)
		cancel(ix.keepLease(ctx))
	}()
	searchKeys := func(ctx context.Context, _ *store.Lease) { ix.enricher.SearchKeys(ctx) }
	beside, around := sync.WaitGroup{}, []func(context.Context, *store.Lease){ix.holders.Run, searchKeys, ix.watchHead}
	if ix.successor == nil {
		around = append(around, ix.describe, ix.sweep.Run, ix.pasts.Run)
	}
	for _, run := range around {
		beside.Go(func() { run(ctx, ix.lease) })
	}
	err = ix.index(rpc.WithBeat(ctx, ix.pulse.beat))
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	cancel(err)
	<-done
	beside.Wait()
	if errors.Is(err, store.ErrMoved) {
		ix.facts.undone = nil // what was taken back once may be there again
	}
	return ix.endSession(ctx, err)
}

// endSession notes that the chain halted, where it did, and gives the lease back. It adds to the error that ended the session what fails then.
func (ix *Indexer) endSession(ctx context.Context, err error) error {
	// The program may be ending: what is left to say gets a moment of its own.
	last, end := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer end()
	if errors.Is(err, ErrHalted) {
		err = errors.Join(err, ix.store.SetState(last, ix.lease, store.ChainHalted, err.Error()))
	}
	if e := ix.store.Leases.Release(last, ix.lease); e != nil && !errors.Is(e, store.ErrLeaseLost) {
		err = errors.Join(err, e)
	}
	return err
}

func (ix *Indexer) acquire(ctx context.Context) (*store.Lease, error) {
	waiting := false
	for {
		ix.pulse.beat()
		l, err := ix.store.Leases.Acquire(ctx, ix.rows.id(), ix.o.Holder, leaseTTL)
		if !errors.Is(err, store.ErrLeaseHeld) {
			return l, err
		}
		if !waiting {
			ix.log.InfoContext(ctx, "another indexer has the chain; waiting for its lease")
			ix.account.begun(chainconfig.PhaseWaiting)
			waiting = true
		}
		if !wait.For(ctx, leaseTTL/10) {
			return nil, ctx.Err()
		}
	}
}

func (ix *Indexer) keepLease(ctx context.Context) error {
	for {
		if !wait.For(ctx, leaseTTL/3) {
			return ctx.Err()
		}
		if err := ix.store.Leases.Renew(ctx, ix.lease); errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrMoved) {
			return err
		} else if err != nil && ctx.Err() == nil {
			// The next commit finds out whether the lease is still ours.
			ix.log.WarnContext(ctx, "lease not renewed", "err", err.Error())
		}
	}
}

// index reads the past and then follows the head, until something fails.
func (ix *Indexer) index(ctx context.Context) error {
	if err := ix.resume(ctx); err != nil {
		return err
	}
	if ix.successor == nil { // the other index of the chain has the same source
		if err := ix.recallRecords(ctx); err != nil {
			return err
		}
	}
	if err := ix.recallUnsure(ctx); err != nil {
		return err
	}
	if err := ix.recallFacts(ctx); err != nil {
		return err
	}
	var heads <-chan struct{}
	if ix.successor == nil {
		heads = ix.nodes.Heads(ctx)
	}
	ix.running, ix.near, ix.outage, ix.headReadAt = false, false, outage{}, time.Time{}
	ix.noneMissing()
	for {
		ix.pulse.beat()
		caughtUp, err := ix.turn(ctx)
		switch {
		case err == nil:
			ix.outage = outage{}
			ix.noneMissing()
		case ctx.Err() != nil, !errors.Is(err, rpc.ErrUnanswered), errors.Is(err, rpc.ErrWrongChain):
			return err
		default:
			ix.headReadAt = time.Time{} // it may be what can't be had
			if err := ix.unanswered(ctx, err); err != nil {
				return err
			}
		}
		if caughtUp && !ix.awaitHead(ctx, heads) {
			return ctx.Err()
		}
	}
}

// turn reads the head and goes on towards it; it reports whether nothing is left to do until the next block may be there.
func (ix *Indexer) turn(ctx context.Context) (caughtUp bool, err error) {
	if err := ix.awaitBudget(ctx); err != nil {
		return false, err
	}
	ctx, look := ix.startSpan(ctx, "look for the head", trace.SpanKindInternal)
	defer func() { span.End(look, err) }()
	if !ix.headIsFar() {
		if err := ix.readHead(ctx); err != nil {
			return false, err
		}
	}
	if err := ix.begin(ctx); err != nil {
		return false, err
	}
	if caughtUp, err = ix.catchUp(ctx); err != nil {
		return false, err
	}
	if err := ix.prune(ctx); err != nil {
		return false, err
	}
	if !caughtUp && ix.state.Last().Number != ix.head.Number {
		return false, nil
	}
	ix.account.phase(chainconfig.PhaseFollowing, "")
	if err := ix.takeOver(ctx); err != nil {
		return false, err
	}
	caughtUp = caughtUp || ix.hasRhythm() // awaitHead knows when the next block should be there, and doesn't wait where that is past
	if ix.running {
		return caughtUp, nil
	}
	err = ix.untilWritten(ctx, func() error { return ix.store.SetState(ctx, ix.lease, store.ChainRunning, "") })
	if err != nil {
		return false, err
	}
	ix.running = true
	ix.settled.Store(true)
	return caughtUp, nil
}

// farHead is how long the loop goes on with a head that is far above the newest indexed block, without reading it again.
const farHead = 2 * time.Second

// headIsFar reports whether the newest indexed block is far below a head that was read a moment ago. An index that is behind must not lose time by asking for the head before each few blocks.
func (ix *Indexer) headIsFar() bool {
	last := ix.state.Last()
	age := ix.o.Now().Sub(ix.headReadAt)
	return !last.Hash.IsZero() && ix.head.Number > last.Number+headersAtOnce && age >= 0 && age < farHead
}

func (ix *Indexer) readHead(ctx context.Context) error {
	began := ix.o.Now()
	ix.headReadAt = time.Time{}
	head, err := ix.nodes.Head(ctx)
	if err != nil {
		return err
	}
	ix.head, ix.headReadAt = head, began
	ix.rhythm.see(began, head.Number)
	ix.holders.See(head.Reached, head.Final)
	ix.pasts.See(min(head.Final, head.Reached-min(head.Reached, ix.cfg.ReorgBlocks)))
	return ix.hear(ctx, ix.lease, head)
}

// resume loads where the chain was left.
func (ix *Indexer) resume(ctx context.Context) error {
	status, _, err := ix.store.Chain(ctx, ix.rows.id())
	if err != nil {
		return err
	}
	if status.State == store.ChainHalted {
		ix.log.WarnContext(ctx, "the chain was halted; trying again", "reason", status.Reason)
	}
	if err := ix.unfollow(ctx); err != nil {
		return err
	}
	b, err := ix.beginning(ctx, status.Last)
	if err != nil {
		return err
	}
	if b.Watched, err = ix.store.Wallets.Watched(ctx, ix.rows.id()); err != nil {
		return err
	}
	if err := ix.resumeWallets(ctx, status.Last); err != nil {
		return err
	}
	ix.state, ix.unwritten = derive.NewState(b), false
	ix.enricher.ForgetQuotes() // what was asked for a block that wasn't committed is asked again
	ix.enricher.ForgetSupplies()
	ix.account.indexed(status.Last)
	return ix.recallPayments(ctx)
}

// beginning reads what a state begins with at the chain's newest indexed block.
func (ix *Indexer) beginning(ctx context.Context, last market.Header) (market.Beginning, error) {
	b, err := ix.store.Beginning(ctx, ix.rows.id(), ix.machine.VenueContracts())
	if err != nil {
		return b, err
	}
	b.Last = last
	b.Recounts, b.Jobs, err = ix.openJobs(ctx)
	return b, err
}
