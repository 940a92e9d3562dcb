// Package enrich asks nodes for the data that a chain's logs lack, and adds the answers to the blocks as facts: names and decimals of tokens, the keys
// of older pools, the quote assets of curves, samples of balances and supplies, and what members' wallets had and paid for gas.
package enrich

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/enrich/poolkeys"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Enricher asks nodes what a chain's logs leave open. It belongs to one index, and remembers whom it asked in vain.
type Enricher struct {
	Options

	// notPools are contracts that swapped and turned out to be no pool of ours.
	notPools map[market.Address]notPool
	// untracked are V4 pools of tokens that aren't tracked. Strangers make any number of them, which may have no other contract forgotten.
	untracked map[market.Address]bool
	// stateless are pools older than the index whose state was asked for in vain, and reasked are those whose windows became known.
	stateless, reasked map[market.Address]notPool
	// left are the pools whose price left their window: they are asked once without a trade.
	left           map[market.Address]bool
	newestStates   newestStates
	newestSupplies newestSupplies
	// falseStates are pools of which a false state was taken in, which is too old to take back.
	falseStates map[market.Address]bool
	poolKeys    *poolkeys.Finder
	// quotesSought is when the pools of quotes without a price were looked for last.
	quotesSought notPool
	// receiptsFailed counts how often receipts were asked for in vain since the last answer.
	receiptsFailed int
}

// Options are what an enricher works with.
type Options struct {
	Config *chainconfig.Chain
	Nodes  interface {
		chain.FactSource
		chain.SampleSource
		chain.GasSource
		chain.PoolSource
		chain.PoolKeySource
		chain.ContractSource
	}
	Machine *derive.Machine
	Tokens  store.Tokens
	// Index names the index whose rows are read.
	Index func() string
	// Load loads rows into the state.
	Load func(context.Context, market.Wanted) error
	// KeptFacts reads the facts that an earlier index kept of some blocks.
	KeptFacts func(ctx context.Context, first, last uint64) (map[uint64][]store.StoredFact, error)
	// GivesUp reports whether calls for a purpose are given up, so that the day's calls last for more important ones.
	GivesUp func(budget.Purpose) bool
	// SetAside reports a fault of one token, pool, curve, contract, block or endpoint (subject) that the indexer goes on
	// without.
	SetAside func(kind, reason, subject string)
	// Beat is called as the work goes on.
	Beat func()
	Now  func() time.Time
	Log  *slog.Logger
}

// New makes an enricher that has asked nobody yet.
func New(o Options) *Enricher {
	quotes := make([]market.Address, len(o.Config.Quotes))
	for i, q := range o.Config.Quotes {
		quotes[i] = q.Address
	}
	return &Enricher{
		Options: o, notPools: map[market.Address]notPool{}, untracked: map[market.Address]bool{}, stateless: map[market.Address]notPool{}, reasked: map[market.Address]notPool{},
		left: map[market.Address]bool{}, falseStates: map[market.Address]bool{},
		poolKeys: poolkeys.New(poolkeys.Options{Nodes: o.Nodes, Exchanges: o.Config.Exchanges, Quotes: quotes, SetAside: o.SetAside, GivesUp: o.GivesUp, Now: o.Now, Log: o.Log}),
	}
}

// SearchKeys looks for what the V4 pools are that are older than the index, until ctx ends.
func (e *Enricher) SearchKeys(ctx context.Context) { e.poolKeys.Run(ctx) }

// Committed counts what the newest batch was enriched without, once its blocks are committed.
func (e *Enricher) Committed() { e.poolKeys.Committed() }

// Forget has the token, pool or curve of a false fact asked again at its next trade. isTakenBack says whether the
// fact's block is taken back; otherwise the block is too old for that.
func (e *Enricher) Forget(f market.Fact, isTakenBack bool) {
	switch f := f.(type) {
	case market.PoolFact:
		if isTakenBack {
			delete(e.notPools, f.Pool)
			delete(e.untracked, f.Pool)
		}
	case market.PoolStateFact:
		if isTakenBack {
			delete(e.stateless, f.Pool)
		} else {
			e.falseStates[f.Pool] = true
		}
	}
}

// ForgetQuotes has the pools of quotes without a price looked for anew: the block for which they were may not have been committed.
func (e *Enricher) ForgetQuotes() { e.quotesSought = notPool{} }

// ForgetSupplies drops the supplies that wait for their block: they may be of blocks that are taken back.
func (e *Enricher) ForgetSupplies() { e.newestSupplies.list = nil }

// Batch has the blocks that are enriched at once: in their order, before they are derived.
type Batch struct {
	State  *derive.State
	Blocks []market.Block
	// Following says that the blocks are near the head, where nodes keep the states.
	Following bool
	// Corrections lists the corrections that a block of the batch has to take in.
	Corrections []Correction
	// More loads what the blocks need with the facts that they have by now.
	More func() error
}

// Enrich asks the nodes what the batch's logs don't tell. The answers are put into the blocks as facts.
func (e *Enricher) Enrich(ctx context.Context, b Batch) ([]store.StoredFact, error) {
	e.poolKeys.Begin()
	n := &enrichment{Enricher: e, state: b.State, corrections: b.Corrections, blocks: b.Blocks, following: b.Following}
	for _, step := range []func(context.Context) error{n.takeAllStates, n.quotePools, n.pools, n.poolStates, n.curves, n.tokens, n.keptSamples, n.samples, n.supplies, n.members} {
		had := len(n.facts)
		if err := step(ctx); err != nil {
			return nil, err
		}
		if len(n.facts) > had {
			if err := b.More(); err != nil {
				return nil, err
			}
		}
	}
	return n.facts, nil
}

// enrichment is an enricher's work on one batch. What is asked, and of which block, follows from the chain and from what nodes answered before, so that a fresh
// index asks the same.
type enrichment struct {
	*Enricher

	state  *derive.State
	blocks []market.Block
	facts  []store.StoredFact
	// following says that the blocks are near the head, where nodes keep the states.
	following bool
	// corrections is Options.Corrections.
	corrections []Correction
	// begun are the wallets that the batch begins to watch, and broughtUp are the tokens that it brings up, with the places of the blocks.
	begun     map[market.Address]begun
	broughtUp map[market.Address]int
	// traded are what the former traded in the batch's blocks before.
	traded map[market.PositionKey]bool
	// pasts are the positions that the pasts move which the batch takes in, with the places of the blocks.
	pasts map[market.PositionKey]int
	// windows are the pools of which a window of the ticks is known, as the blocks so far leave them; nil where a block has a state with all ticks.
	windows map[market.Address]*windowed
	// kept are the facts that an earlier index kept of these blocks, by block; nil until they are looked up.
	kept map[uint64][]store.StoredFact
}

// recorded are the facts that an earlier index of the same block kept, so that indexing anew needs no node that still
// has the block's state.
func (e *enrichment) recorded(ctx context.Context, b *market.Block) ([]market.Fact, error) {
	if e.kept == nil {
		var err error
		if e.kept, err = e.KeptFacts(ctx, e.blocks[0].Number, e.blocks[len(e.blocks)-1].Number); err != nil {
			return nil, err
		}
	}
	var out []market.Fact
	for _, f := range e.kept[b.Number] {
		if f.Hash == b.Hash {
			out = append(out, f.Fact)
		}
	}
	return out, nil
}

// recall takes recorded facts about contracts and gives those that are left to ask about.
func (e *enrichment) recall(ctx context.Context, b *market.Block, contracts []market.Address, about func(market.Fact) (market.Address, bool),
) (left []market.Address, err error) {
	facts, err := e.recorded(ctx, b)
	left = slices.Clone(contracts)
	for _, f := range facts {
		contract, ok := about(f)
		if i := slices.Index(left, contract); ok && i >= 0 {
			e.add(b, f)
			left = slices.Delete(left, i, i+1)
		}
	}
	return left, err
}

func (e *enrichment) add(b *market.Block, f market.Fact) { e.addTold(b, f, false) }

// addTold adds a fact; unsure says that no two of several endpoints gave it.
func (e *enrichment) addTold(b *market.Block, f market.Fact, unsure bool) {
	b.Facts = append(b.Facts, f)
	e.facts = append(e.facts, store.StoredFact{Block: b.Number, Hash: b.Hash, Fact: f, Unsure: unsure})
}

// asksStates has calls count as those for pools' states, and reports whether there are to be any. Far below the head, where trades wait but for seconds, they aren't given up.
func (e *enrichment) asksStates(ctx context.Context) (context.Context, bool) {
	return rpc.ForPart(ctx, budget.PoolStates), !e.following || !e.GivesUp(budget.PoolStates)
}

func ref(b *market.Block) chain.Ref { return chain.Ref{Number: b.Number, Hash: b.Hash} }

// before is a block's parent; below the undo horizon, where nothing is replaced any more, its hash may be unknown.
func before(b *market.Block) chain.Ref { return chain.Ref{Number: b.Number - 1, Hash: b.Parent} }

// curves asks the contracts of new curves what they take, where the launch's log doesn't tell.
func (e *enrichment) curves(ctx context.Context) error {
	seen := launches{}
	for i := range e.blocks {
		e.Beat()
		b := &e.blocks[i]
		contract, tokens := e.untold(b, seen)
		if len(tokens) == 0 {
			continue
		}
		tokens, err := e.recall(ctx, b, tokens, func(f market.Fact) (market.Address, bool) {
			c, ok := f.(market.CurveFact)
			return c.Token, ok && contract[c.Token] == c.Curve
		})
		if err != nil {
			return err
		}
		if len(tokens) == 0 {
			continue
		}
		keys := make([]market.CurveKey, len(tokens))
		for k, t := range tokens {
			keys[k] = market.CurveKey{Curve: contract[t], Token: t}
		}
		facts, unsure, err := e.Nodes.CurveFacts(ctx, ref(b), keys)
		if err != nil {
			return err
		}
		for i, f := range facts {
			e.addTold(b, f, unsure[i])
		}
	}
	return nil
}

// untold are the tokens that a block launches on a curve of which no log tells what it takes, with the curves' contracts. A
// token's first launch counts; seen are those of the batch so far.
func (e *enrichment) untold(b *market.Block, seen launches) (contract map[market.Address]market.Address, tokens []market.Address) {
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			ev, ok := l.Event.(market.Launched)
			if !ok || seen[ev.Token] || e.state.Launched(ev.Token) {
				continue
			}
			seen[ev.Token] = true
			if ev.Curve.IsNone() || !ev.Quote.IsNone() {
				continue
			}
			if contract == nil {
				contract = map[market.Address]market.Address{}
			}
			contract[ev.Token] = ev.Curve
			tokens = append(tokens, ev.Token)
		}
	}
	return contract, tokens
}

// tokens asks tokens about themselves at the first block that brings them up.
func (e *enrichment) tokens(ctx context.Context) error {
	n := newcomers{
		machine: e.Machine, state: e.state, asked: map[market.Address]bool{}, mute: map[market.Address]bool{},
		pairs: map[market.Address]bool{}, launched: launches{},
	}
	for i := range e.blocks {
		e.Beat()
		b := &e.blocks[i]
		n.launched.see(b)
		if err := e.ask(ctx, b, n.of(b), n.launched); err != nil {
			return err
		}
		if err := e.askMute(ctx, b); err != nil {
			return err
		}
		n.learn(b)
	}
	return nil
}

// launches are the tokens that a batch launches, as far as it has been seen; the state knows those of earlier batches.
type launches map[market.Address]bool

func (l launches) see(b *market.Block) {
	for _, tx := range b.Txs {
		for _, log := range tx.Logs {
			if e, ok := log.Event.(market.Launched); ok {
				l[e.Token] = true
			}
		}
	}
}

// newcomers finds the tokens that a batch's blocks bring up for the first time.
type newcomers struct {
	machine  *derive.Machine
	state    *derive.State
	launched launches
	asked    map[market.Address]bool
	mute     map[market.Address]bool // asked in this batch; true for those that told no decimals
	pairs    map[market.Address]bool // a pair's liquidity token is no token to us
	found    []market.Address
}

func (n *newcomers) learn(b *market.Block) {
	for _, f := range b.Facts {
		if t, ok := f.(market.TokenFact); ok {
			n.mute[t.Token] = !t.HasDecimals
		}
	}
}

// of gives a block's newcomers.
func (n *newcomers) of(b *market.Block) []market.Address {
	n.found = nil
	for _, f := range b.Facts {
		switch f := f.(type) {
		case market.PoolFact:
			if f.Known {
				n.pool(f.Info)
			}
		case market.CurveFact:
			n.taken(f.Quote)
		case market.TokenFact:
			n.asked[f.Token] = true // the block itself tells it
		}
	}
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			switch ev := l.Event.(type) {
			case market.PoolCreated:
				if n.machine.Believes(ev) {
					n.pool(ev)
				}
			case market.Launched:
				n.need(ev.Token)
				n.again(ev.Token)
				n.taken(ev.Quote)
			case market.CurveSet:
				n.taken(ev.Quote)
			case market.Transfer:
				n.moved(ev.Token)
			case market.BalanceChange:
				n.moved(ev.Token)
			case market.Wrap:
				n.moved(ev.Token)
			}
		}
	}
	return n.found
}

func (n *newcomers) pool(c market.PoolCreated) {
	tracked := n.machine.Tracked(c.Token0, c.Token1)
	n.pairs[c.Pool] = n.pairs[c.Pool] || tracked
	for _, mint := range []market.Address{c.Token0, c.Token1} {
		if tracked || n.follows(n.machine.Canonical(mint)) {
			n.need(mint)
		}
	}
}

// taken asks what a curve takes: without its decimals, which no pool may have brought up yet, the curve has no price.
func (n *newcomers) taken(quote market.Address) {
	if !quote.IsNone() && n.machine.IsQuote(quote) {
		n.need(quote)
	}
}

func (n *newcomers) moved(mint market.Address) {
	if n.follows(mint) {
		n.need(mint)
	}
}

func (n *newcomers) follows(mint market.Address) bool {
	return n.launched[mint] || n.machine.Follows(n.state, mint)
}

func (n *newcomers) need(mint market.Address) {
	mint = n.machine.Canonical(mint)
	if n.asked[mint] || n.pairs[mint] || n.state.Token(mint) != nil || n.state.Pool(mint) != nil {
		return
	}
	n.asked[mint] = true
	n.found = append(n.found, mint)
}

// again asks a token at its launch that told nothing when it was asked before: anybody can make a pool for the address that a
// launchpad's next token will have, where there is no contract yet.
func (n *newcomers) again(mint market.Address) {
	mute, asked := n.mute[mint]
	if t := n.state.Token(mint); !asked && t != nil {
		mute = !t.HasDecimals
	}
	if mute && !n.pairs[mint] && !slices.Contains(n.found, mint) {
		n.found = append(n.found, mint)
	}
}

func (e *enrichment) ask(ctx context.Context, b *market.Block, tokens []market.Address, launched launches) error {
	if len(tokens) == 0 {
		return nil
	}
	tokens, err := e.recall(ctx, b, tokens, func(f market.Fact) (market.Address, bool) {
		t, ok := f.(market.TokenFact)
		return t.Token, ok
	})
	if err != nil || len(tokens) == 0 {
		return err
	}
	facts, unsure, err := e.Nodes.TokenFacts(ctx, ref(b), tokens)
	if err != nil {
		return err
	}
	if err := e.sinceCreation(ctx, b, facts, launched); err != nil {
		return err
	}
	for i, f := range facts {
		e.addTold(b, f, unsure[i])
	}
	return e.askNewestSupplies(ctx, b, facts)
}
