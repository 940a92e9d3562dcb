package indexer

import (
	"fmt"
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
	n.SetAccount(solanatest.WSOL, solanatest.Mint(9, 0))
	n.SetAccount(solanatest.USDC, solanatest.Mint(6, 1e15))
	n.Serve(w.Blocks)
	return n
}

// startSolana runs an index until the end is called.
func startSolana(t *testing.T, st *store.Store, cfg *chainconfig.Chain) (end func()) {
	t.Helper()
	w := io.Discard
	if os.Getenv("BOARDWALK_TEST_LOGS") != "" {
		w = os.Stderr
	}
	ix, err := New(cfg, st, Options{
		Log: slog.New(slog.NewTextHandler(w, nil)), Now: time.Now, Holder: t.Name(), CachedRows: 1000, RereadPause: 10 * time.Millisecond,
	})
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

// wantSame holds an index's rows against a fresh index's.
func wantSame(t *testing.T, st, fresh *store.Store, id string) {
	t.Helper()
	got, err := st.Inspect.Derived(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fresh.Inspect.Derived(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for table := range want {
		if !slices.Equal(got[table], want[table]) {
			t.Errorf("%s: %d rows, and %d of a fresh index, or others", table, len(got[table]), len(want[table]))
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
			w := solanatest.NewWorld(3)
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
				n.Serve(w.Blocks)
				awaitSolana(t, st, w)
			}
			end()
			fresh := storetest.Open(t, "sqlite")
			end = startSolana(t, fresh, solanaConfig(n))
			awaitSolana(t, fresh, w)
			end()
			wantSame(t, st, fresh, "solana")
			wantSolanaHolders(t, st, w)
			wantSolanaTrades(t, st)
		})
	}
}

// wantSolanaHolders holds the balances of launched tokens against those of the chain: pools and curves are owners like others.
func wantSolanaHolders(t *testing.T, st *store.Store, w *solanatest.World) {
	t.Helper()
	for _, token := range w.Tokens() {
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

// wantSolanaTrades wants trades on curves and in pools of both kinds, each with its value and a person as its trader.
func wantSolanaTrades(t *testing.T, st *store.Store) {
	t.Helper()
	trades, err := st.Inspect.Trades(t.Context(), "solana", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds, unvalued := map[string]int{}, 0
	for i := range trades {
		r := &trades[i]
		kind := "curve"
		if pool, err := market.ParseAddress(fmt.Sprint(r.Pool)); err == nil && pool.Kind() == market.SolanaKey {
			kind = "pool"
		}
		if kinds[kind]++; !r.HasUSD {
			unvalued++
		}
	}
	if kinds["curve"] < 20 || kinds["pool"] < 20 || unvalued > 10 { // before the first trade for USDC SOL has no price
		t.Errorf("trades %v, %d of them without a value", kinds, unvalued)
	}
}
