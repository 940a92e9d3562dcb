package indexer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	report "github.com/boardwalkhq/boardwalk/internal/trust"
)

// gapped is a family of chains for tests, with what EVM chains don't have: numbers with gaps, keys of 32 bytes, transactions named by 64, and places of events
// within a block that don't fit into 32 bits. It keeps the rest of the code from taking EVM's ways for granted. Its one node is in memory, and honest.
type gapped struct {
	mu     sync.Mutex
	blocks []market.Block
	rng    *rand.Rand
	// skipped is how many numbers the next block leaves out, beside a few.
	skipped uint64
	// held are the balances after the last block.
	held map[market.BalanceKey]uint64
}

func solanaKey(kind byte, n int) market.Address {
	var key [32]byte
	key[0] = kind
	binary.BigEndian.PutUint64(key[24:], uint64(n))
	return market.SolanaAddress(key)
}

var (
	gappedUSD, gappedCoin, gappedDog, gappedPup = solanaKey(1, 1), solanaKey(1, 2), solanaKey(1, 3), solanaKey(1, 4)
	gappedFactory, gappedPad                    = solanaKey(2, 1), solanaKey(2, 2)
	gappedPools                                 = []market.Address{solanaKey(3, 1), solanaKey(3, 2)}
)

const gappedTraders, gappedReorg = 5, 60

func gappedTrader(n int) market.Address { return solanaKey(4, n) }

func gappedConfig() *chainconfig.Chain {
	return &chainconfig.Chain{
		ID: "gapped", Family: chainconfig.Solana, BlockTime: chainconfig.Duration(20 * time.Millisecond), ReorgBlocks: gappedReorg,
		Native:    chainconfig.Native{Symbol: "COIN", Wrapped: gappedCoin},
		Quotes:    []chainconfig.Quote{{Symbol: "USD", Address: gappedUSD, PegUSD: 1, PegBoundPct: 5}, {Symbol: "COIN", Address: gappedCoin}},
		Exchanges: []chainconfig.Exchange{{Name: "pairs", Protocol: market.UniswapV2, Factory: gappedFactory, FeePips: 3000}},
		Venues:    []chainconfig.Venue{{ID: "pad", Protocol: chainconfig.PumpFun, Contracts: []market.Address{gappedPad}}},
		Endpoints: []chainconfig.Endpoint{{URL: "http://127.0.0.1:1", Weight: 1}},
		Tracking:  chainconfig.Tracking{Holders: chainconfig.HoldersAll},
	}
}

func newGapped(seed uint64) *gapped {
	g := &gapped{rng: rand.New(rand.NewPCG(seed, 0)), held: map[market.BalanceKey]uint64{}}
	g.add(g.genesis()...)
	return g
}

// move moves tokens, and gives what it changes: the family tells balances, no transfers.
func (g *gapped) move(token, from, to market.Address, n uint64) (changes []market.Event) {
	if !from.IsNone() {
		g.held[market.BalanceKey{Token: token, Account: from}] -= n
		changes = append(changes, market.BalanceChange{Token: token, Owner: from, Change: market.SignedAmount{Abs: amount(n), Neg: true}})
	}
	if !to.IsNone() {
		g.held[market.BalanceKey{Token: token, Account: to}] += n
		changes = append(changes, market.BalanceChange{Token: token, Owner: to, Change: market.SignedAmount{Abs: amount(n)}})
	}
	return changes
}

// genesis makes two pools, of the coin and of a token, and launches another token.
func (g *gapped) genesis() (events []market.Event) {
	nobody := market.Address{}
	for i, token := range []market.Address{gappedCoin, gappedDog} {
		events = append(events, market.PoolCreated{
			Protocol: market.UniswapV2, Factory: gappedFactory, Pool: gappedPools[i], Token0: token, Token1: gappedUSD,
		})
		events = slices.Concat(events, g.move(token, nobody, gappedPools[i], 1e15), g.move(gappedUSD, nobody, gappedPools[i], 1e15))
		events = append(events, g.reserves(i))
	}
	for n := range gappedTraders {
		events = slices.Concat(events, g.move(gappedUSD, nobody, gappedTrader(n), 1e14), g.move(gappedDog, nobody, gappedTrader(n), 1e14))
	}
	return append(slices.Concat(events, g.move(gappedPup, nobody, gappedPad, 1e15)), market.Launched{
		Venue: "pad", Token: gappedPup, Creator: gappedTrader(0), Name: "Pup", Symbol: "PUP", Curve: gappedPad, Quote: market.Native, SaleBase: amount(1e15),
		Rules:    market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold},
		Reserves: market.CurveReserves{VirtualBase: amount(2e15), VirtualQuote: amount(1e13)}, Tells: market.TellsVirtual,
	})
}

func (g *gapped) reserves(pool int) market.Event {
	token := []market.Address{gappedCoin, gappedDog}[pool]
	of := func(token market.Address) market.Amount {
		return amount(g.held[market.BalanceKey{Token: token, Account: gappedPools[pool]}])
	}
	return market.Reserves{Pool: gappedPools[pool], Reserve0: of(token), Reserve1: of(gappedUSD)}
}

// trade is what one transaction of a trader says.
func (g *gapped) trade() []market.Event {
	trader, n := gappedTrader(g.rng.IntN(gappedTraders)), 1e9+uint64(g.rng.IntN(1e9))
	switch g.rng.IntN(3) {
	case 0: // on the curve
		return append(g.move(gappedPup, gappedPad, trader, n),
			market.CurveTrade{Venue: "pad", Curve: gappedPad, Token: gappedPup, Trader: trader, BaseAmount: amount(n), QuoteAmount: amount(n / 200), Raised: amount(n / 200)})
	case 1: // a purchase in the pool
		return append(slices.Concat(g.move(gappedUSD, trader, gappedPools[1], n), g.move(gappedDog, gappedPools[1], trader, n-n/300)), g.reserves(1),
			market.Swap{
				Pool: gappedPools[1], Sender: trader, Recipient: trader, Amount0: market.SignedAmount{Abs: amount(n - n/300), Neg: true},
				Amount1: market.SignedAmount{Abs: amount(n)},
			})
	default:
		return append(slices.Concat(g.move(gappedDog, trader, gappedPools[1], n), g.move(gappedUSD, gappedPools[1], trader, n-n/300)), g.reserves(1),
			market.Swap{
				Pool: gappedPools[1], Sender: trader, Recipient: trader, Amount0: market.SignedAmount{Abs: amount(n)},
				Amount1: market.SignedAmount{Abs: amount(n - n/300), Neg: true},
			})
	}
}

// add makes a block of one transaction, some numbers after the last one.
func (g *gapped) add(events ...market.Event) {
	last := market.Header{Time: 1_700_000_000}
	if n := len(g.blocks); n > 0 {
		last = g.blocks[n-1].Header
	}
	h := market.Header{Number: last.Number + 1 + g.skipped + uint64(g.rng.IntN(4)), Parent: last.Hash, Time: last.Time + int64(g.rng.IntN(3))}
	var signature [64]byte
	for i := 0; i < len(signature); i += 8 {
		binary.BigEndian.PutUint64(signature[i:], g.rng.Uint64())
	}
	copy(h.Hash[:], signature[32:])
	g.skipped = 0
	tx := market.Tx{ID: market.SolanaTx(signature)}
	for i, e := range events {
		tx.Logs = append(tx.Logs, market.Log{Index: uint64(i+1) << 40, Event: e})
	}
	b := market.Block{Header: h}
	if len(tx.Logs) > 0 {
		b.Txs = []market.Tx{tx}
	}
	g.blocks = append(g.blocks, b)
}

// grow makes some blocks, one in four of them empty.
func (g *gapped) grow(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range n {
		if g.rng.IntN(4) == 0 {
			g.add()
		} else {
			g.add(g.trade()...)
		}
	}
}

// fork takes some blocks back and makes as many others, whose numbers are others, too.
func (g *gapped) fork(depth int) {
	g.mu.Lock()
	for _, b := range slices.Backward(g.blocks[len(g.blocks)-depth:]) {
		for _, tx := range b.Txs {
			for _, l := range tx.Logs {
				if c, ok := l.Event.(market.BalanceChange); ok {
					t := c.AsTransfer()
					g.move(t.Token, t.To, t.From, t.Amount.Uint64())
				}
			}
		}
	}
	g.blocks = g.blocks[:len(g.blocks)-depth]
	g.mu.Unlock()
	g.grow(depth + 1)
}

func (g *gapped) head() market.Header {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.blocks[len(g.blocks)-1].Header
}

// between are the blocks with numbers from first to last.
func (g *gapped) between(first, last uint64) (out []market.Block) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range g.blocks {
		if b.Number >= first && b.Number <= last {
			b.Txs = slices.Clone(b.Txs)
			out = append(out, b)
		}
	}
	return out
}

func (g *gapped) Check(context.Context) error           { return nil }
func (g *gapped) AllWrong() bool                        { return false }
func (g *gapped) Heads(context.Context) <-chan struct{} { return nil }
func (g *gapped) HasRhythm() bool                       { return true }
func (g *gapped) Head(context.Context) (chain.Head, error) {
	h := g.head()
	return chain.Head{Header: chain.Header{Header: h}, Reached: h.Number}, nil
}

func (g *gapped) Header(_ context.Context, number uint64) (chain.Header, error) {
	if list := g.between(number, number); len(list) == 1 {
		return chain.Header{Header: list[0].Header}, nil
	}
	if number > g.head().Number {
		return chain.Header{}, chain.ErrNoBlock
	}
	return chain.Header{}, chain.ErrSkipped
}

func (g *gapped) Headers(_ context.Context, _ market.Header, first, last uint64) (out []chain.Header, err error) {
	list := g.between(first, last)
	if len(list) == 0 {
		if list = g.between(first, ^uint64(0)); len(list) == 0 {
			return nil, chain.ErrNoBlock
		}
		list = list[:1]
	}
	for _, b := range list {
		out = append(out, chain.Header{Header: b.Header})
	}
	return out, nil
}

func (g *gapped) AnyHas(ctx context.Context, block market.Header) bool {
	h, err := g.Header(ctx, block.Number)
	return err == nil && h.Hash == block.Hash
}

func (g *gapped) Blocks(_ context.Context, headers []chain.Header) iter.Seq2[chain.BlockRead, error] {
	return func(yield func(chain.BlockRead, error) bool) {
		for _, h := range headers {
			list := g.between(h.Number, h.Number)
			if len(list) == 0 || list[0].Hash != h.Hash {
				yield(chain.BlockRead{}, fmt.Errorf("block %d: %w", h.Number, chain.ErrNoBlock))
				return
			}
			if !yield(chain.BlockRead{Block: list[0], Word: honest{}}, nil) {
				return
			}
		}
	}
}

// honest is the word of the one node.
type honest struct{}

func (honest) IsSuspect() bool      { return false }
func (honest) Same(chain.Word) bool { return true }
func (honest) Bare() chain.Word     { return honest{} }

func (g *gapped) Agree(context.Context, chain.Header, *chain.BlockRead) (bool, error) {
	return false, nil
}
func (g *gapped) LogsHash(*chain.BlockRead) []byte           { return nil }
func (g *gapped) Recall([]byte) (r chain.BlockRead, ok bool) { return r, false }
func (g *gapped) Records() []chain.Record                    { return nil }
func (g *gapped) RecallRecords([]chain.Record)               {}

func (g *gapped) Backfill(_ context.Context, _ market.Header, first, last uint64) iter.Seq2[chain.Batch, error] {
	return func(yield func(chain.Batch, error) bool) {
		list := g.between(first, last)
		for len(list) > 0 {
			n := min(7, len(list))
			b := chain.Batch{Last: chain.Header{Header: list[n-1].Header}}
			b.Blocks = slices.DeleteFunc(slices.Clone(list[:n]), func(b market.Block) bool { return len(b.Txs) == 0 })
			if list = list[n:]; !yield(b, nil) {
				return
			}
		}
	}
}

func (g *gapped) RereadPast(context.Context, market.Header, *chain.Batch) error { return nil }

var errNotOfGapped = errors.New("nothing asks this of the family")

func (g *gapped) TellsHolders() bool { return false }

func (g *gapped) HoldersOf(context.Context, market.Address, uint64, int64) iter.Seq2[chain.Holdings, error] {
	return func(func(chain.Holdings, error) bool) {}
}

func (g *gapped) TransfersOf(context.Context, market.Address, uint64, uint64) ([]market.Block, uint64, error) {
	return nil, 0, errNotOfGapped
}

func (g *gapped) TransfersOfWallets(context.Context, []market.Address, uint64, uint64) ([]chain.WalletTransfer, uint64, error) {
	return nil, 0, errNotOfGapped
}

func (g *gapped) ListsAccounts() bool { return false }

func (g *gapped) PastBlock(context.Context, uint64, market.Address) (market.Block, error) {
	return market.Block{}, errNotOfGapped
}

func (g *gapped) LastPrice(context.Context, *market.Pool, uint64, uint64) (uint64, bool, uint64, error) {
	return 0, false, 0, errNotOfGapped
}

func (g *gapped) CreatedAt(context.Context, market.Address, uint64) (uint64, error) {
	return 0, errNotOfGapped
}

// after are supplies and balances after a block; the supply's account is none.
func (g *gapped) after(at chain.Ref) map[market.BalanceKey]market.Amount {
	out := map[market.BalanceKey]market.Amount{}
	for _, b := range g.between(0, ^uint64(0)) {
		if at.Hash.IsZero() && b.Number > at.Number {
			break
		}
		for _, tx := range b.Txs {
			for _, l := range tx.Logs {
				c, ok := l.Event.(market.BalanceChange)
				if !ok {
					continue
				}
				for _, account := range []market.Address{c.Owner, {}} { // none is the supply's
					key := market.BalanceKey{Token: c.Token, Account: account}
					sum := market.SignedAmount{Abs: out[key]}.Add(c.Change)
					out[key] = sum.Abs
				}
			}
		}
		if b.Hash == at.Hash {
			break
		}
	}
	return out
}

func (g *gapped) TokenFacts(_ context.Context, at chain.Ref, tokens []market.Address) (facts []market.TokenFact, unsure []bool, err error) {
	after := g.after(at)
	for _, token := range tokens {
		facts = append(facts, market.TokenFact{
			Token: token, Name: "Token", Symbol: "TKN", HasDecimals: true, Decimals: 6, HasSupply: true, Supply: after[market.BalanceKey{Token: token}], FromCreation: true,
		})
	}
	return facts, make([]bool, len(facts)), nil
}

func (g *gapped) CurveFacts(context.Context, chain.Ref, []market.CurveKey) ([]market.CurveFact, []bool, error) {
	return nil, nil, errNotOfGapped
}

func (g *gapped) PoolFacts(context.Context, chain.Ref, []chainconfig.Exchange, []market.Address, func(market.PoolFact) bool) ([]market.PoolFact, []bool, error) {
	return nil, nil, errNotOfGapped
}

func (g *gapped) Supplies(_ context.Context, at chain.Ref, tokens []market.Address, _ func(market.SupplyFact) chain.Doubt) (facts []market.SupplyFact, err error) {
	after := g.after(at)
	for _, token := range tokens {
		facts = append(facts, market.SupplyFact{Token: token, Supply: after[market.BalanceKey{Token: token}]})
	}
	return facts, nil
}

func (g *gapped) TellsNewestSupplies() bool { return true }
func (g *gapped) NewestSupplies(context.Context, uint64, []market.Address) ([]chain.SupplyAfter, error) {
	return nil, nil
}

func (g *gapped) Balances(_ context.Context, at chain.Ref, keys []market.BalanceKey, _ func(market.Fact) bool) (facts []market.BalanceFact, err error) {
	after := g.after(at)
	for _, k := range keys {
		facts = append(facts, market.BalanceFact{Token: k.Token, Account: k.Account, Amount: after[k]})
	}
	return facts, nil
}

func (g *gapped) Gas(_ context.Context, questions []chain.GasQuestion) ([]chain.Gas, error) {
	return make([]chain.Gas, len(questions)), nil
}

func (g *gapped) PoolStates(context.Context, chain.Ref, []market.PoolCreated) ([]chain.PoolState, bool, error) {
	return nil, false, errNotOfGapped
}

func (g *gapped) NewestPoolStates(context.Context, []market.PoolCreated) ([]chain.StatesAfter, error) {
	return nil, nil
}

func (g *gapped) PoolsOf(context.Context, chain.Ref, []chainconfig.Exchange, [][2]market.Address) ([]market.Address, bool, error) {
	return nil, false, nil
}

func (g *gapped) UsualPools([]chainconfig.Exchange, [][2]market.Address, ...uint32) []market.PoolCreated {
	return nil
}

func (g *gapped) KeysOfPools(context.Context, []chainconfig.Exchange, []market.Address) ([]market.PoolCreated, error) {
	return nil, nil
}

func (g *gapped) CreationsOfPools(context.Context, []chainconfig.Exchange, []market.Address, uint64) ([]market.PoolCreated, uint64, error) {
	return nil, 0, nil
}

func (g *gapped) Exists(context.Context, market.Address, uint64) (exists, known bool, err error) {
	return true, true, nil
}

func (g *gapped) AllExist(_ context.Context, contracts []market.Address, _ uint64) ([]bool, bool, error) {
	return make([]bool, len(contracts)), true, nil
}

func (g *gapped) Paused(_ context.Context, contracts []market.Address) ([]bool, error) {
	return make([]bool, len(contracts)), nil
}

func (g *gapped) CheckDeclared(context.Context, *chainconfig.Chain) ([]chain.Declared, error) {
	return nil, nil
}

// Look is of trust.Looker.
func (g *gapped) Look(context.Context, *trust.Known) (*report.Report, bool, error) {
	return nil, false, trust.ErrNoCode
}

// start runs an index of the chain until the end is called.
func (g *gapped) start(t *testing.T, st *store.Store) (end func()) {
	t.Helper()
	return running(t, g.indexer(t, st, gappedConfig(), g))
}

// indexer makes an index of the chain that reads blocks from a source: g, or what wraps it.
func (g *gapped) indexer(t *testing.T, st *store.Store, cfg *chainconfig.Chain, blocks blockSource) *Indexer {
	t.Helper()
	w := io.Discard
	if os.Getenv("BOARDWALK_TEST_LOGS") != "" {
		w = os.Stderr
	}
	ix := &Indexer{}
	f := family{nodes: nodes{blocks, g, g}, looker: g, usage: func() (u budget.Usage, list []budget.Endpoint) { return u, nil }}
	err := ix.assemble(cfg, st, f, Options{Log: slog.New(slog.NewTextHandler(w, nil)), Now: time.Now, Holder: t.Name(), CachedRows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// running runs an index until the end is called.
func running(t *testing.T, ix *Indexer) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func (g *gapped) await(t *testing.T, st *store.Store) {
	t.Helper()
	var last store.ChainStatus
	for range 3000 {
		s, ok, err := st.Chain(t.Context(), "gapped")
		if err != nil {
			t.Fatal(err)
		}
		if last = s; ok && s.Last.Hash == g.head().Hash {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the index is at %+v, and the head at %+v", last.Last, g.head())
}

// TestAnotherFamily indexes a chain of another family at its head, through reorgs to other numbers and over restarts. Its rows are those of an index that
// read the chain as it is in the end, and holders are those that the chain has.
func TestAnotherFamily(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g := newGapped(7)
			g.grow(300)
			st := storetest.Open(t, kind)
			end := g.start(t, st)
			g.await(t, st)
			for round := range 12 {
				if round%4 == 2 {
					g.skipped = 5 * gappedReorg // more than is read as the past again near the head
				}
				if g.grow(1 + g.rng.IntN(9)); round%2 == 1 {
					g.fork(1 + g.rng.IntN(8))
				}
				if round%4 == 3 {
					end()
					g.fork(1 + g.rng.IntN(5))
					end = g.start(t, st)
				}
				g.await(t, st)
			}
			end()
			fresh := storetest.Open(t, "sqlite")
			end = g.start(t, fresh)
			g.await(t, fresh)
			end()
			got, err := st.Inspect.Derived(t.Context(), "gapped")
			if err != nil {
				t.Fatal(err)
			}
			want, err := fresh.Inspect.Derived(t.Context(), "gapped")
			if err != nil {
				t.Fatal(err)
			}
			for table := range want {
				if !slices.Equal(got[table], want[table]) {
					t.Errorf("%s: %d rows, and %d of a fresh index, or others", table, len(got[table]), len(want[table]))
				}
			}
			g.wantTrades(t, st)
			g.wantHolders(t, st)
			g.wantAnswers(t, st)
		})
	}
}

// wantTrades holds the trades against the chain's events.
func (g *gapped) wantTrades(t *testing.T, st *store.Store) {
	t.Helper()
	var want []string
	for _, b := range g.between(0, ^uint64(0)) {
		for _, tx := range b.Txs {
			for _, l := range tx.Logs {
				switch e := l.Event.(type) {
				case market.Swap:
					want = append(want, fmt.Sprint(b.Number, l.Index, tx.ID, e.Recipient, e.Pool))
				case market.CurveTrade:
					want = append(want, fmt.Sprint(b.Number, l.Index, tx.ID, e.Trader, market.CurveID(e.Token)))
				}
			}
		}
	}
	trades, err := st.Inspect.Trades(t.Context(), "gapped", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range trades {
		r := &trades[i]
		got = append(got, fmt.Sprint(r.Block, r.LogIndex, r.Tx, r.Trader, r.Pool))
		if !r.HasUSD || r.NanoUSD == 0 {
			t.Errorf("trade %s has no value", got[i])
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d trades, want %d; the last is %s, want %s", len(got), len(want), got[len(got)-1], want[len(want)-1])
	}
}

// wantHolders holds the balances against those that the chain has.
func (g *gapped) wantHolders(t *testing.T, st *store.Store) {
	t.Helper()
	for _, token := range []market.Address{gappedUSD, gappedDog, gappedPup} {
		balances, err := st.Balances.All(t.Context(), "gapped", token)
		if err != nil {
			t.Fatal(err)
		}
		holders := int64(0)
		for k, n := range g.held {
			if k.Token != token {
				continue
			}
			b := balances[k.Account]
			if b.Amount.Uint64() != n {
				t.Errorf("%s has %s of %s, want %d", k.Account, b.Amount.Dec(), token, n)
			}
			if ofVenues := slices.Contains(append(gappedPools, gappedPad), k.Account); n > 0 && b.IsPool != ofVenues {
				t.Errorf("%s is a pool or a venue's: %t", k.Account, b.IsPool)
			}
			if n > 0 { // the family counts pools as well
				holders++
			}
		}
		tokens, err := st.Tokens.Now(t.Context(), []market.Address{token})
		if err != nil || len(tokens) != 1 || tokens[0].Holders.Status != market.HoldersCurrent || tokens[0].Holders.Count != holders {
			t.Errorf("%s: %+v, %v; want %d holders", token, tokens, err, holders)
		}
	}
}
