package lab

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

func TestZipf(t *testing.T) {
	t.Parallel()
	z := NewZipf(4, 1) // 12/25, 6/25, 4/25, 3/25
	for u, want := range map[float64]int{0: 0, 0.47: 0, 0.49: 1, 0.71: 1, 0.73: 2, 0.9: 3, 1: 3} {
		if got := z.at(u); got != want {
			t.Errorf("at %g is %d, want %d", u, got, want)
		}
	}
	if s := z.share(1); s < 0.2399 || s > 0.2401 {
		t.Errorf("the second has a share of %g", s)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		if r := z.Draw(rng); r < 0 || r > 3 {
			t.Fatalf("drew %d", r)
		}
	}
}

func TestTheSameSeedMakesTheSameWorld(t *testing.T) {
	t.Parallel()
	size := MarketSize{Tokens: 300, Trades: 5000, Seed: 7}
	a, b := NewWorld(size), NewWorld(size)
	trades := 0
	for chain := range worldChains {
		of := a.tradesOf(chain)
		if !slices.Equal(of, b.tradesOf(chain)) {
			t.Fatalf("chain %d has other trades", chain)
		}
		trades += len(of)
		for i := range of {
			if at := of[i].time(); at < WorldEnd-worldSpan || at > WorldEnd || of[i].price <= 0 || of[i].usd <= 0 {
				t.Fatalf("a trade %+v", of[i])
			}
			if token := a.Tokens[a.pools[of[i].pool].token]; int(token.chain) != chain || of[i].time() < token.born-blockTime {
				t.Fatalf("a trade of a token of chain %d before its birth", token.chain)
			}
		}
	}
	if !slices.Equal(a.Tokens, b.Tokens) || trades < 4900 || trades > 5300 {
		t.Errorf("the tokens differ, or there are %d trades", trades)
	}
	if other := NewWorld(MarketSize{Tokens: 300, Trades: 5000, Seed: 8}); other.Tokens[100].Mint == a.Tokens[100].Mint {
		t.Error("another seed makes the same tokens")
	}
}

// TestSeedIsWhatAnIndexWouldBe seeds a database in both orders and holds its rows against each other.
func TestSeedIsWhatAnIndexWouldBe(t *testing.T) {
	t.Parallel()
	var derived [2]map[string][]string
	size := MarketSize{Tokens: 100, Trades: 3000, Seed: 1}
	for i, byTime := range []bool{false, true} {
		st, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "market.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		w := NewWorld(size)
		if err := seed(t.Context(), w, st, byTime, "test"); err != nil {
			t.Fatal(err)
		}
		if derived[i], err = st.Inspect.Derived(t.Context(), worldChains[0].ID); err != nil {
			t.Fatal(err)
		}
		candlesAreOfTheTrades(t.Context(), t, st, w)
	}
	for table, lines := range derived[0] {
		if !slices.Equal(lines, derived[1][table]) {
			t.Errorf("%s depends on the order in which it is written", table)
		}
	}
	if len(derived[0]["trades"]) < 900 || len(derived[0]["tokens"]) != 34 {
		t.Errorf("there are %d trades, %d tokens", len(derived[0]["trades"]), len(derived[0]["tokens"]))
	}
}

// candlesAreOfTheTrades adds both up for the pool that trades most.
func candlesAreOfTheTrades(ctx context.Context, t *testing.T, st *store.Store, w *World) {
	t.Helper()
	pool := w.pools[w.Tokens[0].firstPool].id
	trades, err := st.Trades.Of(ctx, worldChains[0].ID, pool, 0, WorldEnd+1, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	var want market.Amount
	for i := range trades {
		want.Add(&want, &trades[i].BaseAmount)
	}
	for _, interval := range market.StoredIntervals {
		candles, err := st.Inspect.Candles(ctx, worldChains[0].ID, pool, interval, 0, WorldEnd+1)
		if err != nil {
			t.Fatal(err)
		}
		var got market.Amount
		n := int64(0)
		for i := range candles {
			got.Add(&got, &candles[i].VolumeBase)
			n += candles[i].Buys + candles[i].Sells
		}
		if n != int64(len(trades)) || got != want || candles[len(candles)-1].USD.Close != trades[len(trades)-1].CloseUSD {
			t.Errorf("the candles of %d s have %d trades and a volume of %s; there were %d with %s", interval, n, got.Dec(), len(trades), want.Dec())
		}
	}
}

func TestRawAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		whole    float64
		decimals uint8
		want     string
	}{
		{0, 18, "0"},
		{1.5, 6, "1500000"},
		{1, 18, "1000000000000000000"},
		{1e12, 18, "1000000000000000019884624838656"}, // the nearest float64
		{-1, 6, "0"},
	} {
		got := RawAmount(c.whole, c.decimals)
		if got.Dec() != c.want {
			t.Errorf("%g with %d decimals is %s, want %s", c.whole, c.decimals, got.Dec(), c.want)
		}
	}
}
