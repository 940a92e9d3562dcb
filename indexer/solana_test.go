package indexer

import (
	"io"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func solanaAddress(text string) market.Address {
	a, err := market.ParseSolanaAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}

func solanaConfig(nodes ...*solanatest.Node) *chainconfig.Chain {
	c := &chainconfig.Chain{
		ID: "solana", Family: chainconfig.Solana, GenesisHash: solanatest.Genesis, BlockTime: chainconfig.Duration(20 * time.Millisecond), ReorgBlocks: 64,
		Native: chainconfig.Native{Symbol: "SOL", Wrapped: solanaAddress(solanatest.WSOL)},
		Quotes: []chainconfig.Quote{
			{Symbol: "USDC", Address: solanaAddress(solanatest.USDC), PegUSD: 1, PegBoundPct: 2}, {Symbol: "WSOL", Address: solanaAddress(solanatest.WSOL)},
		},
		Exchanges: []chainconfig.Exchange{
			{Name: "pumpswap", Protocol: market.PumpSwap, Factory: solanaAddress(solanatest.PumpSwap)},
			{Name: "raydium", Protocol: market.RaydiumAMMv4, Factory: solanaAddress(solanatest.RaydiumAMMv4)},
			{Name: "cpmm", Protocol: market.RaydiumCPMM, Factory: solanaAddress(solanatest.RaydiumCPMM)},
			{Name: "damm", Protocol: market.MeteoraDAMMv2, Factory: solanaAddress(solanatest.MeteoraDAMM)},
		},
		Venues: []chainconfig.Venue{
			{ID: "dbc", Protocol: chainconfig.MeteoraDBC, Contracts: []market.Address{solanaAddress(solanatest.Name("config"))}},
			{ID: "launchlab", Protocol: chainconfig.RaydiumLaunchLab, Contracts: []market.Address{solanaAddress(solanatest.Name("platform"))}},
			{ID: "pump-fun", Protocol: chainconfig.PumpFun, Contracts: []market.Address{solanaAddress(solanatest.PumpFun)}},
		},
		Tracking: chainconfig.Tracking{Holders: chainconfig.HoldersLaunches},
	}
	for _, n := range nodes {
		c.Endpoints = append(c.Endpoints, chainconfig.Endpoint{URL: n.URL, Weight: 1})
	}
	return c
}

// solanaNode is a node that serves a world's blocks and its two older tokens.
func solanaNode(t *testing.T, w *solanatest.World) *solanatest.Node {
	t.Helper()
	n := solanatest.NewNode(t)
	n.ServeWorld(w)
	return n
}

// startSolana runs an index until the end is called.
func startSolana(t *testing.T, st *store.Store, cfg *chainconfig.Chain) (end func()) {
	t.Helper()
	return startSolanaWith(t, st, cfg, Options{})
}

// startSolanaWith starts an index with options beside those of every test.
func startSolanaWith(t *testing.T, st *store.Store, cfg *chainconfig.Chain, o Options) (end func()) {
	t.Helper()
	w := io.Discard
	if os.Getenv("BOARDWALK_TEST_LOGS") != "" {
		w = os.Stderr
	}
	o.Log, o.Now, o.Holder, o.CachedRows, o.RereadPause = slog.New(slog.NewTextHandler(w, nil)), time.Now, t.Name(), 1000, 10*time.Millisecond
	ix, err := New(cfg, st, o)
	if err != nil {
		t.Fatal(err)
	}
	return running(t, ix)
}

func awaitSolana(t *testing.T, st *store.Store, w *solanatest.World) {
	t.Helper()
	want := w.Blocks[len(w.Blocks)-1]
	var last store.ChainStatus
	for range 3000 {
		s, ok, err := st.Chain(t.Context(), "solana")
		if err != nil {
			t.Fatal(err)
		}
		if last = s; ok && s.Last.Hash == want.Hash {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the index is at %+v, and the head at %+v", last.Last, want.Header)
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about that " + what)
		}
	}
}

// wantSame holds an index's rows against a fresh index's of the same name.
func wantSame(t *testing.T, st, fresh *store.Store, id string) {
	t.Helper()
	wantRowsOf(t, st, id, fresh, id)
}

// wantRowsOf holds an index's rows against a fresh index's.
func wantRowsOf(t *testing.T, st *store.Store, id string, fresh *store.Store, freshID string) {
	t.Helper()
	got, err := st.Inspect.Derived(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fresh.Inspect.Derived(t.Context(), freshID)
	if err != nil || len(want["trades"]) == 0 {
		t.Fatalf("a fresh index has %d trades, %v", len(want["trades"]), err)
	}
	for table := range want {
		if !slices.Equal(got[table], want[table]) {
			t.Errorf("%s: %d rows, and %d of a fresh index, or others", table, len(got[table]), len(want[table]))
			for i := range min(len(got[table]), len(want[table])) {
				if got[table][i] != want[table][i] {
					t.Logf("the first that differ:\n%s\n%s", got[table][i], want[table][i])
					break
				}
			}
		}
	}
}

// TestSolana indexes a chain of Solana at its head, through forks, slots without a block and restarts. Its rows are those of an index that read the chain as it
// is in the end, holders are those that the chain has, and everything has a price.
func TestSolana(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := solanatest.NewWorld(5)
			w.Grow(200)
			n := solanaNode(t, w)
			st := storetest.Open(t, kind)
			end := startSolana(t, st, solanaConfig(n))
			awaitSolana(t, st, w)
			for round := range 16 {
				if w.Grow(1 + round%5); round%2 == 1 {
					w.Fork(1 + round%7)
				}
				if round%5 == 4 {
					end()
					w.Fork(1 + round%4)
					end = startSolana(t, st, solanaConfig(n))
				}
				n.ServeWorld(w)
				awaitSolana(t, st, w)
				wantUSDC(t, st, w)
			}
			fresh := storetest.Open(t, "sqlite")
			endFresh := startSolana(t, fresh, solanaConfig(n))
			settleSolana(t, w, []*solanatest.Node{n}, st, fresh)
			end()
			endFresh()
			wantSame(t, st, fresh, "solana")
			wantSolanaHolders(t, st, w)
			wantSolanaLaunches(t, st, w)
			wantSolanaTrades(t, st)
		})
	}
}

// settleSolana has a world go on until indexes that are at its head know the supply of its older token: nodes tell the one after their newest block alone.
func settleSolana(t *testing.T, w *solanatest.World, nodes []*solanatest.Node, stores ...*store.Store) {
	t.Helper()
	for range 60 {
		known := true
		for _, st := range stores {
			awaitSolana(t, st, w)
			known = wantUSDC(t, st, w) && known
		}
		if known {
			return
		}
		w.Grow(2)
		for _, n := range nodes {
			n.ServeWorld(w)
		}
	}
	t.Error("no supply of the older token is known")
}

// wantUSDC reports whether an index at a world's head knows the supply of USDC, which is older than the world, and holds it against the world's.
func wantUSDC(t *testing.T, st *store.Store, w *solanatest.World) (known bool) {
	t.Helper()
	tokens, err := st.Tokens.Now(t.Context(), []market.Address{solanaAddress(solanatest.USDC)})
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	got := tokens[0]
	if want := w.USDCSupply(); got.HasSupply && got.Supply.Uint64() != want {
		t.Errorf("the supply of USDC is %d, want %d", got.Supply.Uint64(), want)
	}
	return got.HasSupply
}

// wantSolanaHolders holds the balances of launched tokens against those of the chain: pools and curves are owners like others.
func wantSolanaHolders(t *testing.T, st *store.Store, w *solanatest.World) {
	t.Helper()
	for _, l := range w.Launches() {
		token := l.Token
		mint, held := solanaAddress(token), w.Held(token)
		balances, err := st.Balances.All(t.Context(), "solana", mint)
		if err != nil {
			t.Fatal(err)
		}
		supply := uint64(0)
		for owner, n := range held {
			if got := balances[solanaAddress(owner)].Amount; got.Uint64() != n {
				t.Errorf("%s has %s of %s, want %d", owner, got.Dec(), token, n)
			}
			supply += n
		}
		tokens, err := st.Tokens.Now(t.Context(), []market.Address{mint})
		if err != nil || len(tokens) != 1 {
			t.Fatal(tokens, err)
		}
		if got := tokens[0]; got.Holders.Status != market.HoldersCurrent || got.Holders.Count != int64(len(held)) || !got.HasSupply || got.Supply.Uint64() != supply ||
			!got.HasDecimals || got.Decimals != 6 || got.Name == "" {
			t.Errorf("%s: %+v; want %d holders and a supply of %d", token, got, len(held), supply)
		}
	}
}

// wantSolanaLaunches holds launches against those of the chain: whose they are, how far they are, and where they trade now.
func wantSolanaLaunches(t *testing.T, st *store.Store, w *solanatest.World) {
	t.Helper()
	venues := map[string]string{solanatest.PumpFun: "pump-fun", solanatest.LaunchLab: "launchlab", solanatest.MeteoraDBC: "dbc"}
	moved := map[string]int{}
	for _, want := range w.Launches() {
		got, err := st.Launches.At(t.Context(), []market.Address{solanaAddress(want.Token)})
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: launches %v, error %v", want.Token, got, err)
		}
		l, state, pool := got[0].Launch, market.LaunchOnCurve, market.Address{}
		if want.Complete {
			state = market.LaunchCompleted
		}
		if want.Pool != "" {
			state, pool = market.LaunchGraduated, solanaAddress(want.Pool)
			moved[l.Venue]++
		}
		if l.Pool != pool || l.State != state || l.Venue != venues[want.Program] || l.Curve != solanaAddress(want.Holder) || !l.HasProgress {
			t.Errorf("%+v, want %+v of %s", l, want, venues[want.Program])
		}
	}
	for _, venue := range venues {
		if moved[venue] == 0 {
			t.Errorf("no launch of %s moved to a pool", venue)
		}
	}
}

// wantSolanaTrades wants trades on every curve and in pools of every protocol, each with its value.
func wantSolanaTrades(t *testing.T, st *store.Store) {
	t.Helper()
	trades, err := st.Inspect.Trades(t.Context(), "solana", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	pools, err := st.Inspect.Pools(t.Context(), "solana", 0)
	if err != nil {
		t.Fatal(err)
	}
	protocols := map[market.Address]market.Protocol{}
	for i := range pools {
		protocols[pools[i].ID] = pools[i].Protocol
	}
	count, unvalued := map[market.Protocol]int{}, 0
	for i := range trades {
		if count[protocols[trades[i].Pool]]++; !trades[i].HasUSD {
			unvalued++
		}
	}
	for _, p := range []market.Protocol{market.BondingCurve, market.PumpSwap, market.RaydiumAMMv4, market.RaydiumCPMM, market.MeteoraDAMMv2} {
		if count[p] < 5 {
			t.Errorf("%d trades of %s", count[p], p)
		}
	}
	if unvalued > 10 { // before the first trade for USDC SOL has no price
		t.Errorf("trades %v, %d of them without a value", count, unvalued)
	}
}
