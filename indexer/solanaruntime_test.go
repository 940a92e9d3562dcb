package indexer

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/tokentext"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// localSolana is a world on Solana's own runtime, with the names of its tokens.
type localSolana struct {
	*simnet.World

	names *tokentext.Inventor
}

func newLocalSolana(t *testing.T, seed uint64) *localSolana {
	t.Helper()
	chain, err := svm.Start(t.Context(), svm.Options{Slot: 1, Time: time.Now().Add(-time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chain.Close() })
	w, err := simnet.Deploy(t.Context(), chain, simnet.Options{Seed: seed, People: 8, KeepPast: 20, Platform: true})
	if err != nil {
		t.Fatal(err)
	}
	return &localSolana{World: w, names: tokentext.New(seed)}
}

// grow makes blocks of what people do, some slots apart.
func (l *localSolana) grow(t *testing.T, blocks int) {
	t.Helper()
	for n := range blocks {
		for range (n + 3) % 5 {
			if err := l.Act(t.Context(), l.names); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Mine(t.Context(), l.Slot()+1+uint64(n*n%3), l.Time().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *localSolana) config(t *testing.T) *chainconfig.Chain {
	t.Helper()
	c := solanaConfig()
	if err := l.Chain.Call(t.Context(), &c.GenesisHash, "getGenesisHash"); err != nil {
		t.Fatal(err)
	}
	c.Venues = []chainconfig.Venue{
		{ID: "dbc", Protocol: chainconfig.MeteoraDBC, Contracts: []market.Address{addressOfKey(simnet.DBCConfig)}},
		{ID: "launchlab", Protocol: chainconfig.RaydiumLaunchLab, Contracts: []market.Address{addressOfKey(simnet.LaunchLabPlatform)}},
		{ID: "pump-fun", Protocol: chainconfig.PumpFun, Contracts: []market.Address{addressOfKey(simnet.PumpFun)}},
	}
	c.Endpoints = []chainconfig.Endpoint{{URL: l.Chain.URL(), Weight: 1}}
	return c
}

// streamed is the chain with an endpoint that streams its blocks, beside the one that is asked.
func (l *localSolana) streamed(t *testing.T) *chainconfig.Chain {
	t.Helper()
	c := l.config(t)
	url, err := l.Chain.Geyser(t.Context(), "a token")
	if err != nil {
		t.Fatal(err)
	}
	c.Endpoints = append(c.Endpoints, chainconfig.Endpoint{URL: url + "/a%20token", Weight: 1, Protocol: chainconfig.YellowstoneGRPC})
	return c
}

func addressOfKey(k svm.Key) market.Address { return market.SolanaAddress(k) }

func (l *localSolana) await(t *testing.T, st *store.Store) {
	t.Helper()
	var last store.ChainStatus
	for range 3000 {
		s, ok, err := st.Chain(t.Context(), "solana")
		if err != nil {
			t.Fatal(err)
		}
		if last = s; ok && s.Last.Number == l.Slot() {
			var block struct{ Blockhash string }
			if err := l.Chain.Call(t.Context(), &block, "getBlock", l.Slot(), map[string]any{"commitment": "confirmed", "transactionDetails": "none"}); err != nil {
				t.Fatal(err)
			}
			if base58.Encode(s.Last.Hash[:]) == block.Blockhash {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the index is at %+v, and the head at %d", last.Last, l.Slot())
}

// held is what the chain's token accounts say that owners have of a token.
func (l *localSolana) held(t *testing.T, token svm.Key) map[market.Address]uint64 {
	t.Helper()
	out := map[market.Address]uint64{}
	for _, a := range l.accounts(t, token) {
		if n := binary.LittleEndian.Uint64(a.data[64:]); n > 0 {
			out[a.owner()] += n
		}
	}
	return out
}

// wantHeld holds balances, holders and supplies of launched tokens against the chain's accounts.
func (l *localSolana) wantHeld(t *testing.T, st *store.Store) {
	t.Helper()
	for _, c := range l.Curves() {
		k := l.wantHolders(t, st, c.Token)
		if supply := l.supply(t, c.Token); k.Holders.Status != market.HoldersCurrent || k.Supply.Dec() != supply || k.Decimals != 6 {
			t.Errorf("slot %d: %s has %+v holders and a supply of %s, want %s", l.Slot(), c.Token, k.Holders, k.Supply.Dec(), supply)
		}
	}
}

// wantHolders holds the balances and holders of a token against the chain's accounts.
func (l *localSolana) wantHolders(t *testing.T, st *store.Store, token svm.Key) store.TokenNow {
	t.Helper()
	mint, want := addressOfKey(token), l.held(t, token)
	balances, err := st.Balances.All(t.Context(), "solana", mint)
	if err != nil {
		t.Fatal(err)
	}
	got := map[market.Address]uint64{}
	for owner, b := range balances {
		if n := b.Amount; !n.IsZero() {
			got[owner] = n.Uint64()
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("slot %d: balances of %s are %v, and the chain's are %v", l.Slot(), token, got, want)
	}
	tokens, err := st.Tokens.Now(t.Context(), []market.Address{mint})
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	if tokens[0].Holders.Count != int64(len(want)) {
		t.Errorf("slot %d: %s has %+v holders, want %d", l.Slot(), token, tokens[0].Holders, len(want))
	}
	return tokens[0]
}

// supply is what the chain says that there is of a token.
func (l *localSolana) supply(t *testing.T, token svm.Key) string {
	t.Helper()
	var supply struct{ Value struct{ Amount string } }
	if err := l.Chain.Call(t.Context(), &supply, "getTokenSupply", token, map[string]string{"commitment": "confirmed"}); err != nil {
		t.Fatal(err)
	}
	return supply.Value.Amount
}

// settle has the chain go on until indexes at its head know the supply of USDC, which is older than they are, as the chain has it.
func (l *localSolana) settle(t *testing.T, stores ...*store.Store) {
	t.Helper()
	for range 100 {
		known := 0
		for _, st := range stores {
			l.await(t, st)
			tokens, err := st.Tokens.Now(t.Context(), []market.Address{addressOfKey(simnet.USDC)})
			if err != nil || len(tokens) != 1 {
				t.Fatal(tokens, err)
			}
			if tokens[0].HasSupply {
				known++
				if got, want := tokens[0].Supply.Dec(), l.supply(t, simnet.USDC); got != want {
					t.Errorf("the supply of USDC is %s, want %s", got, want)
				}
			}
		}
		if known == len(stores) {
			return
		}
		l.grow(t, 2)
	}
	t.Error("no supply of USDC is known")
}

// TestASupplyOfAnEmptyBlock: an index that follows the chain is told a supply that it takes in with a block without transactions. Of the past that block doesn't come: a
// fresh index that begins with the kept facts has the supply all the same.
func TestASupplyOfAnEmptyBlock(t *testing.T) {
	t.Parallel()
	l := newLocalSolana(t, 11)
	cfg := l.config(t)
	st := storetest.Open(t, "sqlite")
	l.grow(t, 2)
	end := startSolana(t, st, cfg)
	l.await(t, st)
	usdc := addressOfKey(simnet.USDC)
	hasSupply := func() bool {
		tokens, err := st.Tokens.Now(t.Context(), []market.Address{usdc})
		if err != nil || len(tokens) != 1 {
			t.Fatal(tokens, err)
		}
		return tokens[0].HasSupply
	}
	if hasSupply() {
		t.Fatal("the supply is known before the empty block")
	}
	if err := l.Mine(t.Context(), l.Slot()+1, l.Time().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if l.await(t, st); !hasSupply() {
		t.Fatal("the supply isn't known after the empty block")
	}
	l.grow(t, 80)
	l.await(t, st)
	end()
	fresh := storetest.Open(t, "sqlite")
	keepFacts(t, st, fresh)
	end = startSolana(t, fresh, cfg)
	l.await(t, fresh)
	end()
	wantSame(t, st, fresh, "solana")
}

// TestSolanaRuntime indexes a chain that Solana's own runtime and token programs make, through forks, slots without a block and restarts. Whenever it is at the
// head, balances, holders and supplies are what the chain's accounts say; in the end the rows are those of an index that read the chain as it is then. One of two
// indexes has the blocks from a stream beside.
func TestSolanaRuntime(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newLocalSolana(t, 5)
			l.grow(t, 150)
			st := storetest.Open(t, kind)
			streams := kind == "sqlite"
			config := func() *chainconfig.Chain {
				if streams {
					return l.streamed(t)
				}
				return l.config(t)
			}
			end := startSolana(t, st, config())
			l.await(t, st)
			for round := range 24 {
				if l.grow(t, 1+round%5); round%2 == 1 {
					if err := l.Fork(t.Context(), 1+round%7); err != nil {
						t.Fatal(err)
					}
					l.grow(t, 2+round%7)
				}
				if round%6 == 5 {
					end()
					if err := l.Fork(t.Context(), 3); err != nil {
						t.Fatal(err)
					}
					l.grow(t, 5)
					end = startSolana(t, st, config())
				}
				l.await(t, st)
				l.wantHeld(t, st)
				l.wantReserves(t, st)
			}
			fresh := storetest.Open(t, "sqlite")
			endFresh := startSolana(t, fresh, l.config(t))
			l.settle(t, st, fresh)
			end()
			endFresh()
			wantSame(t, st, fresh, "solana")
			l.wantLaunches(t, st)
			trades, err := st.Inspect.Trades(t.Context(), "solana", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			unvalued := slices.DeleteFunc(slices.Clone(trades), func(k market.Trade) bool { return k.HasUSD })
			l.wantReserves(t, st)
			l.wantTimes(t)
			if len(trades) != l.Trades() || len(unvalued) > 10 { // before the first trade for USDC SOL has no price
				t.Errorf("%d trades, want %d; %d have no value", len(trades), l.Trades(), len(unvalued))
			}
		})
	}
}

// TestSolanaPools has somebody put liquidity into the pools of each program, take it out and trade in between, by the input and by the output, now and then with a log that is cut
// off. After each block the pools have what the world left there, and what of it they owe since they were told it.
func TestSolanaPools(t *testing.T) {
	t.Parallel()
	l := newLocalSolana(t, 12)
	mine := func() {
		if err := l.Mine(t.Context(), l.Slot()+1, l.Time().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		mine()
	}
	who := l.People[3]
	for _, of := range []struct{ program, to svm.Key }{
		{simnet.PumpFun, simnet.PumpSwap}, {simnet.DBC, simnet.DAMM}, {simnet.LaunchLab, simnet.CPMM}, {simnet.LaunchLab, simnet.AMMv4},
	} {
		c, err := l.Launch(t.Context(), of.program, who, simnet.Launch{Name: "A token", Symbol: "TOK", To: of.to}, 1_000_000_000)
		for do(err); !c.Complete; do(err) {
			err = l.Buy(t.Context(), c, who, 40_000_000_000)
		}
		do(l.Migrate(t.Context(), c))
		do(l.Buy(t.Context(), c, who, 5_000_000_000))
	}
	st := storetest.Open(t, "sqlite")
	startSolana(t, st, l.config(t))
	seen := map[svm.Key]bool{}
	for round := range 16 {
		for _, p := range l.Pools() {
			seen[p.Program] = true
			do(l.Provide(t.Context(), p, who, round%2 == 0, 0.01))
			l.await(t, st)
			l.wantReserves(t, st)
		}
		for range 4 {
			do(l.TradeSOL(t.Context(), who, round%2 == 0, 30_000_000+uint64(round)))
		}
		for _, c := range l.Curves() {
			do(l.Buy(t.Context(), c, who, 50_000_000))
			do(l.Sell(t.Context(), c, who, 0.01))
		}
		l.await(t, st)
		l.wantReserves(t, st)
	}
	if len(seen) != 4 {
		t.Errorf("pools are of %d programs", len(seen))
	}
	trades, err := st.Inspect.Trades(t.Context(), "solana", 0, 0)
	if err != nil || len(trades) != l.Trades() {
		t.Errorf("%d trades, want %d; error %v", len(trades), l.Trades(), err)
	}
}

// wantLaunches holds launches against those of the world: whose they are, how far they are, and where they trade now.
func (l *localSolana) wantLaunches(t *testing.T, st *store.Store) {
	t.Helper()
	venues := map[svm.Key]string{simnet.DBC: "dbc", simnet.LaunchLab: "launchlab", simnet.PumpFun: "pump-fun"}
	moved := map[svm.Key]int{}
	for _, want := range l.Curves() {
		got, err := st.Launches.At(t.Context(), []market.Address{addressOfKey(want.Token)})
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: launches %v, error %v", want.Token, got, err)
		}
		venue, state, pool := venues[want.Program], market.LaunchOnCurve, market.Address{}
		if want.Complete {
			state = market.LaunchCompleted
		}
		if want.Pool != nil {
			state, pool = market.LaunchGraduated, addressOfKey(want.Pool.Account)
			moved[want.Pool.Program]++
		}
		if k := got[0].Launch; k.Pool != pool || k.State != state || k.Venue != venue || k.Creator != addressOfKey(want.Creator.Key) || k.Name == "" || k.Traded && !k.HasProgress {
			t.Errorf("%+v, want a launch of %s with a name that is %s, in pool %s", k, venue, state, pool)
		}
	}
	if len(moved) < 4 {
		t.Errorf("moved to pools of %d programs: %v", len(moved), moved)
	}
}

// wantReserves holds what curves and pools have against what the world's arithmetic left there.
func (l *localSolana) wantReserves(t *testing.T, st *store.Store) {
	t.Helper()
	pools, err := st.Inspect.Pools(t.Context(), "solana", 0)
	if err != nil {
		t.Fatal(err)
	}
	have := map[market.Address]market.Pool{}
	for _, p := range pools {
		have[p.ID] = p
	}
	for _, want := range l.Pools() {
		p := have[addressOfKey(want.Account)]
		base, quote := p.Reserve0, p.Reserve1
		if p.Base == p.Token1 {
			base, quote = quote, base
		}
		if base.Uint64() != want.Base+want.UntoldBase || quote.Uint64() != want.Quote+want.UntoldQuote {
			t.Errorf("pool %s of %s has %s and %s, want %d and %d", p.ID, p.Protocol, base.Dec(), quote.Dec(), want.Base+want.UntoldBase, want.Quote+want.UntoldQuote)
		}
		if p.Protocol == market.MeteoraDAMMv2 {
			depth := float64(want.Quote) / 1e9 * (1 - math.Sqrt(0.98)) // its range is nearly without ends
			if p.Liquidity.IsZero() || math.Abs(p.Depth-depth) > depth/1000 {
				t.Errorf("pool %s has the liquidity %s and is %v deep, want %v", p.ID, p.Liquidity.Dec(), p.Depth, depth)
			}
		}
	}
	for _, c := range l.Curves() {
		mint := addressOfKey(c.Token)
		if c.Pool != nil {
			continue
		}
		got, err := st.Launches.At(t.Context(), []market.Address{mint})
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		r := got[0].Reserves
		wrong := r.RealQuote.Uint64() != c.SOL
		if c.Program != simnet.DBC && got[0].Traded {
			wrong = wrong || r.VirtualQuote.Uint64() != c.VirtualSOL || r.VirtualBase.Uint64() != c.VirtualToken || r.RealBase.Uint64() != c.Tokens
		}
		if wrong {
			t.Errorf("curve of %s: %+v, want %+v", mint, r, c)
		}
	}
}

// wantTimes wants the chain's blocks to be of the last hours, one after the other.
func (l *localSolana) wantTimes(t *testing.T) {
	t.Helper()
	if age := time.Since(l.Time()); age < 0 || age > 2*time.Hour {
		t.Errorf("the chain's newest block is %s old", age)
	}
}
