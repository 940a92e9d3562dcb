package indexer

import (
	"context"
	"encoding/binary"

	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// sampleBlocks is how far apart the blocks are at whose end derived balances are held against the contracts'.
	sampleBlocks = 32
	// samples is the most tokens that are sampled at one block.
	samples = 8
	// notPoolsKept bounds the memory of contracts that are no pools.
	notPoolsKept = 100_000
)

// prepare loads what the blocks need, asks the nodes what logs don't tell, and takes finished holder backfills in.
// The answers are put into the blocks as facts.
func (ix *Indexer) prepare(ctx context.Context, blocks []market.Block, until market.Header, undo bool,
) (facts []store.StoredFact, merged []market.Address, err error) {
	if err := ix.load(ctx, ix.machine.Keys(ix.state, blocks, until)); err != nil {
		return nil, nil, err
	}
	more := func() error { return ix.load(ctx, ix.machine.MoreKeys(ix.state, blocks, until)) }
	if err := more(); err != nil {
		return nil, nil, err
	}
	e := &enrichment{Indexer: ix, ctx: ctx, blocks: blocks}
	for _, step := range []func() error{e.pools, e.tokens, e.samples} {
		n := len(e.facts)
		if err := step(); err != nil {
			return nil, nil, err
		}
		if len(e.facts) > n {
			if err := more(); err != nil {
				return nil, nil, err
			}
		}
	}
	if undo {
		if merged, err = ix.mergeHolders(ctx); err != nil {
			return nil, nil, err
		}
	}
	return e.facts, merged, nil
}

func (ix *Indexer) load(ctx context.Context, w market.Wanted) error {
	rows, err := ix.store.Load(ctx, ix.cfg.ID, w)
	if err != nil {
		return err
	}
	ix.state.Put(w, rows)
	return nil
}

// enrichment asks what a batch's events leave open. What is asked, and of which block, follows from the chain alone,
// so that a fresh index asks the same.
type enrichment struct {
	*Indexer
	ctx    context.Context //nolint:containedctx // lives for one call of prepare
	blocks []market.Block
	facts  []store.StoredFact
}

func (e *enrichment) add(b *market.Block, f market.Fact) {
	b.Facts = append(b.Facts, f)
	e.facts = append(e.facts, store.StoredFact{Block: b.Number, Hash: b.Hash, Fact: f})
}

func ref(b *market.Block) evm.BlockRef { return evm.BlockRef{Number: b.Number, Hash: b.Hash} }

// pools asks about contracts that swap like a pool and whose creation was not seen.
func (e *enrichment) pools() error {
	created := map[market.Address]bool{}
	for i := range e.blocks {
		b := &e.blocks[i]
		var unknown []market.Address
		for _, tx := range b.Txs {
			for _, l := range tx.Logs {
				switch ev := l.Event.(type) {
				case market.PoolCreated:
					created[ev.Pool] = true
				case market.Swap:
					id := ev.Pool
					if created[id] || e.notPools[id] || e.state.Pool(id) != nil || len(id.Bytes()) != market.EVMAddressLen {
						continue
					}
					created[id] = true
					unknown = append(unknown, id)
				}
			}
		}
		if len(unknown) == 0 {
			continue
		}
		facts, err := e.source.PoolFacts(e.ctx, ref(b), e.cfg.Exchanges, unknown)
		if err != nil {
			return err
		}
		for _, f := range facts {
			if f.Known && e.machine.Tracked(f.Info.Token0, f.Info.Token1) {
				e.add(b, f)
				continue
			}
			if len(e.notPools) >= notPoolsKept {
				clear(e.notPools)
			}
			e.notPools[f.Pool] = true
		}
	}
	return nil
}

// tokens asks tokens about themselves at the first block that brings them up.
func (e *enrichment) tokens() error {
	asked := map[market.Address]bool{}
	pools := map[market.Address]bool{} // a pair's liquidity token is no token to us
	for i := range e.blocks {
		b := &e.blocks[i]
		var unknown []market.Address
		need := func(mint market.Address) {
			if mint = e.machine.Canonical(mint); !asked[mint] && !pools[mint] && e.state.Token(mint) == nil && e.state.Pool(mint) == nil {
				asked[mint] = true
				unknown = append(unknown, mint)
			}
		}
		pool := func(c market.PoolCreated) {
			pools[c.Pool] = pools[c.Pool] || e.machine.Tracked(c.Token0, c.Token1)
			for _, mint := range []market.Address{c.Token0, c.Token1} {
				if e.machine.Tracked(c.Token0, c.Token1) || e.machine.Follows(e.machine.Canonical(mint)) {
					need(mint)
				}
			}
		}
		for _, f := range b.Facts {
			if p, ok := f.(market.PoolFact); ok && p.Known {
				pool(p.Info)
			}
		}
		for _, tx := range b.Txs {
			for _, l := range tx.Logs {
				switch ev := l.Event.(type) {
				case market.PoolCreated:
					if e.machine.Believes(ev) {
						pool(ev)
					}
				case market.Transfer:
					if e.machine.Follows(ev.Token) {
						need(ev.Token)
					}
				case market.Wrap:
					if e.machine.Follows(ev.Token) {
						need(ev.Token)
					}
				}
			}
		}
		if err := e.ask(b, unknown); err != nil {
			return err
		}
	}
	return nil
}

func (e *enrichment) ask(b *market.Block, tokens []market.Address) error {
	if len(tokens) == 0 {
		return nil
	}
	facts, err := e.source.TokenFacts(e.ctx, ref(b), tokens)
	if err != nil {
		return err
	}
	for _, f := range facts {
		if f.FromCreation = e.cfg.Start.Block == 0 && !e.cfg.Start.Now; !f.FromCreation && e.machine.Follows(f.Token) {
			exists, known, err := e.source.Exists(e.ctx, f.Token, b.Number-1)
			if err != nil {
				return err
			}
			f.FromCreation = known && !exists
		}
		e.add(b, f)
	}
	return nil
}

// samples asks some tokens, at some blocks, for a balance that was just moved and for their supply. Which ones follows
// from the block's hash: nobody can tell in advance, and every index asks the same.
func (e *enrichment) samples() error {
	for i := range e.blocks {
		b := &e.blocks[i]
		if b.Number%sampleBlocks != 0 {
			continue
		}
		last := map[market.Address]market.BalanceKey{}
		var tokens []market.Address
		for _, tx := range b.Txs {
			for _, l := range tx.Logs {
				t, ok := l.Event.(market.Transfer)
				if !ok || t.To.IsZeroEVM() || !e.followed(t.Token) {
					continue
				}
				if _, seen := last[t.Token]; !seen {
					tokens = append(tokens, t.Token)
				}
				last[t.Token] = market.BalanceKey{Token: t.Token, Account: t.To}
			}
		}
		if len(tokens) == 0 {
			continue
		}
		first := int(binary.BigEndian.Uint32(b.Hash[:]) % uint32(len(tokens))) //nolint:gosec // a block's tokens fit
		var keys []market.BalanceKey
		var mints []market.Address
		for k := range min(samples, len(tokens)) {
			mint := tokens[(first+k)%len(tokens)]
			keys, mints = append(keys, last[mint]), append(mints, mint)
		}
		balances, err := e.source.Balances(e.ctx, ref(b), keys)
		if err != nil {
			return err
		}
		for _, f := range balances {
			e.add(b, f)
		}
		supplies, err := e.source.Supplies(e.ctx, ref(b), mints)
		if err != nil {
			return err
		}
		for _, f := range supplies {
			e.add(b, f)
		}
	}
	return nil
}

// followed reports whether a token's derived balances can be sampled: not on its first mention in the same batch.
func (e *enrichment) followed(mint market.Address) bool {
	return e.machine.Follows(mint) && e.state.Pool(mint) == nil
}
