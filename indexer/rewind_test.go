package indexer

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// rewinder is an indexer without nodes, on a chain that it makes up.
type rewinder struct {
	*Indexer
	rng      *rand.Rand
	launches int           // how many the chain has, each a token
	trades   int           // how many tokens trade in each block
	fork     market.Header // the block that the reorgs go back to
	pad      market.Address
	usdc     market.Address
}

func madeAddress(kind byte, n int) market.Address {
	raw := [market.EVMAddressLen]byte{kind}
	binary.BigEndian.PutUint64(raw[market.EVMAddressLen-8:], uint64(n))
	a, _ := market.AddressFromBytes(raw[:])
	return a
}

// newRewinder has some of the launches cached.
func newRewinder(tb testing.TB, kind string, launches, cached int) *rewinder {
	tb.Helper()
	r := &rewinder{launches: launches, trades: 50, rng: rand.New(rand.NewPCG(1, 0)), usdc: madeAddress(1, 1), pad: madeAddress(2, 1)}
	st, err := store.Open(tb.Context(), storetest.DSN(tb, kind))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = st.Close() })
	cfg := &chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: 1, ReorgBlocks: 32,
		Native:    chainconfig.Native{Symbol: "ETH", Wrapped: madeAddress(1, 2)},
		Quotes:    []chainconfig.Quote{{Symbol: "USDC", Address: r.usdc, PegUSD: 1, PegBoundPct: 5}},
		Venues:    []chainconfig.Venue{{ID: "pad", Protocol: chainconfig.BoardwalkCurve, Contracts: []market.Address{r.pad}}},
		Endpoints: []chainconfig.Endpoint{{URL: "http://127.0.0.1:1", Weight: 1}},
		Tracking:  chainconfig.Tracking{Holders: chainconfig.HoldersDeclared},
	}
	if r.Indexer, err = New(cfg, st, Options{Log: slog.New(slog.DiscardHandler), Now: time.Now, Holder: "test"}); err != nil {
		tb.Fatal(err)
	}
	if r.lease, err = st.Leases.Acquire(tb.Context(), cfg.ID, "test", time.Hour); err != nil {
		tb.Fatal(err)
	}
	r.must(tb, r.resume(tb.Context()))
	r.seed(tb, cached)
	r.fork = r.state.Last()
	return r
}

func (r *rewinder) must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// seed has one token launched by its log, and copies what is derived of it to all the others.
func (r *rewinder) seed(tb testing.TB, cache int) {
	tb.Helper()
	first := madeAddress(3, 0)
	launched := market.Block{Header: r.header(1), Txs: []market.Tx{{Logs: []market.Log{{Event: market.Launched{
		Venue: "pad", Token: first, Creator: madeAddress(4, 1), Name: "Token", Symbol: "TKN", Curve: r.pad, Quote: r.usdc, SaleBase: amount(1e18),
		TargetQuote: amount(1e12), Rules: market.CurveRules{Pricing: market.PriceReserves}, Reserves: r.reserves(), Tells: ^market.CurveField(0),
	}}}}}}
	for _, t := range []market.Address{first, r.usdc} {
		launched.Facts = append(launched.Facts, market.TokenFact{Token: t, HasDecimals: true, Decimals: 6, FromCreation: true})
	}
	r.commitBlock(tb, &launched)
	rows, err := r.store.Load(tb.Context(), r.cfg.ID, market.Wanted{Tokens: []market.Address{first}, Launches: []market.Address{first}, ExpireFrom: 1})
	r.must(tb, err)
	const atOnce = 20_000
	for n, h := 1, launched.Header; n < r.launches; n += atOnce {
		h = r.header(h.Number + 1)
		c := &store.Commit{Last: h, Blocks: []market.Header{h}, Horizon: h.Number}
		for i := n; i < min(n+atOnce, r.launches); i++ {
			t, l := rows.Tokens[0], rows.Launches[0]
			t.Mint, l.Mint, t.Pool = madeAddress(3, i), madeAddress(3, i), market.Address{}
			l.Block, l.LogIndex = h.Number, uint64(i-n)
			c.Changes.Tokens = append(c.Changes.Tokens, market.Change[market.Address, market.Token]{Key: t.Mint, After: &t})
			c.Changes.Launches = append(c.Changes.Launches, market.Change[market.Address, market.Launch]{Key: l.Mint, After: &l})
		}
		r.must(tb, r.store.Commit(tb.Context(), r.lease, c))
	}
	r.must(tb, r.resume(tb.Context()))
	cached := make([]market.Address, cache)
	for i := range cached {
		cached[i] = madeAddress(3, i)
	}
	r.must(tb, r.load(tb.Context(), market.Wanted{Tokens: cached, Launches: cached, ExpireFrom: 1}))
}

func amount(n uint64) (a market.Amount) {
	a.SetUint64(n)
	return a
}

func (r *rewinder) reserves() market.CurveReserves {
	return market.CurveReserves{VirtualBase: amount(1e18), VirtualQuote: amount(1e10), RealBase: amount(1e17), RealQuote: amount(1e9)}
}

func (r *rewinder) header(number uint64) market.Header {
	h := market.Header{Number: number, Parent: r.state.Last().Hash, Time: 1_700_000_000 + int64(number)}
	binary.BigEndian.PutUint64(h.Hash[:], number)
	binary.BigEndian.PutUint64(h.Hash[8:], r.rng.Uint64())
	return h
}

// block is one in which tokens trade on their curves.
func (r *rewinder) block() *market.Block {
	b := &market.Block{Header: r.header(r.state.Last().Number + 1)}
	for i := range uint64(r.trades) {
		token, trader := madeAddress(3, r.rng.IntN(r.launches)), madeAddress(5, r.rng.IntN(1000))
		b.Txs = append(b.Txs, market.Tx{ID: market.EVMTx([32]byte{byte(i), 1}), Logs: []market.Log{
			{Index: 2 * i, Event: market.Transfer{Token: token, To: trader, Amount: amount(1e6)}},
			{Index: 2*i + 1, Event: market.CurveTrade{
				Venue: "pad", Curve: r.pad, Token: token, Trader: trader, BaseAmount: amount(1e6), QuoteAmount: amount(1e7), Raised: amount(1e7),
				After: r.reserves(), Tells: ^market.CurveField(0),
			}},
		}})
	}
	return b
}

// loadFor loads what a block needs.
func (r *rewinder) loadFor(ctx context.Context, block *market.Block) error {
	blocks := []market.Block{*block}
	if err := r.load(ctx, r.machine.LaunchKeys(r.state, blocks)); err != nil {
		return err
	}
	if err := r.load(ctx, r.machine.Keys(r.state, blocks, block.Header)); err != nil {
		return err
	}
	return r.load(ctx, r.machine.MoreKeys(r.state, blocks, block.Header))
}

func (r *rewinder) commitBlock(tb testing.TB, block *market.Block) {
	tb.Helper()
	r.must(tb, r.loadFor(tb.Context(), block))
	r.must(tb, r.machine.Apply(r.state, []market.Block{*block}, block.Header))
	r.must(tb, r.store.Commit(tb.Context(), r.lease, &store.Commit{
		Last: block.Header, Blocks: []market.Header{block.Header}, Undo: true, Horizon: block.Number - min(block.Number, r.cfg.ReorgBlocks),
		Changes: r.state.Flush(r.o.CachedRows),
	}))
}

// TestReorgKeepsWhatItDoesNotTouch: after a reorg the tokens of the lost blocks aren't cached, and all others are.
func TestReorgKeepsWhatItDoesNotTouch(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRewinder(t, kind, 300, 300)
			kept := r.state
			traded := map[market.Address]bool{r.usdc: false}
			for range 2 {
				b := r.block()
				for _, tx := range b.Txs {
					if e, ok := tx.Logs[0].Event.(market.Transfer); ok {
						traded[e.Token] = true
					}
				}
				r.commitBlock(t, b)
			}
			r.must(t, r.goBackTo(t.Context(), r.fork))
			if r.state != kept || r.state.Last() != r.fork {
				t.Errorf("the state was made anew, or is at %+v; want %+v", r.state.Last(), r.fork)
			}
			for i := range r.launches {
				token := madeAddress(3, i)
				if cached := r.state.Token(token) != nil; cached == traded[token] {
					t.Errorf("token %d is cached: %v; it was traded in a lost block: %v", i, cached, traded[token])
				}
			}
		})
	}
}

// TestReorgBringsBackAnUnfollowedToken: a token's row that comes back from before the chain document ceased to follow it is given up once
// more.
func TestReorgBringsBackAnUnfollowedToken(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRewinder(t, kind, 1, 1)
			major := madeAddress(6, 1)
			plain := *r.cfg
			r.follow(t, &plain, chainconfig.Major{Asset: "BTC", Address: major})
			for i := range 2 {
				b := r.block()
				b.Txs = []market.Tx{{Logs: []market.Log{{Event: market.Transfer{Token: major, To: madeAddress(5, 1), Amount: amount(7)}}}}}
				b.Facts = []market.Fact{market.TokenFact{Token: major, HasSupply: true, Supply: amount(b.Number)}}
				r.commitBlock(t, b)
				if i == 0 {
					r.fork = b.Header
				}
			}
			r.follow(t, &plain)
			r.must(t, r.resume(t.Context()))
			r.must(t, r.goBackTo(t.Context(), r.fork))
			rows, err := r.store.Load(t.Context(), r.cfg.ID, market.Wanted{Tokens: []market.Address{major}, ExpireFrom: 1})
			if err != nil || len(rows.Tokens) != 1 || rows.Tokens[0].Holders.Status != market.HoldersNone || rows.Tokens[0].Supply != amount(r.fork.Number) {
				t.Errorf("the token is %+v, %v; want its holders given up, and a supply of %d", rows.Tokens, err, r.fork.Number)
			}
		})
	}
}

// follow has the chain document name other majors.
func (r *rewinder) follow(tb testing.TB, cfg *chainconfig.Chain, majors ...chainconfig.Major) {
	tb.Helper()
	with := *cfg
	with.Majors = majors
	m, err := derive.New(&with)
	r.must(tb, err)
	r.cfg, r.machine = &with, m
}
