package launch

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/contracts"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// near tells that two figures are equal but for the roundings of square root prices.
func near(a, b float64) bool { return a > b*(1-1e-9) && a < b*(1+1e-9) }

// Live pools are there, and trade, from the block of the launch.
func TestLivePools(t *testing.T) {
	t.Parallel()
	w := startVenues(t, 8453, 22, venues.ClankerV3, venues.ClankerV4)
	for _, venue := range w.Venues {
		l := launchOn(t, w, venue, 1)
		i := slices.IndexFunc(l.Receipt.Logs, func(log anvil.Log) bool { return log.Address == venue.Contracts[0] })
		created := l.Receipt.Logs[i]
		if created.Topics[0] != lifeTopics[venue.Protocol][0] || anvil.AddressAt(anvil.FromHex(created.Topics[1]), 0) != l.Token {
			t.Errorf("%s: logged %+v", venue.ID, created)
		}
		data := anvil.FromHex(created.Data)
		if venue.Protocol == venues.ClankerV4 {
			if anvil.AddressAt(data, 7) != venue.Hook || anvil.ToHex(anvil.Word(anvil.WordAt(data, 8))) != l.Pool.ID || anvil.AddressAt(data, 9) != w.Wrapped {
				t.Errorf("%s: hook, pool or paired token are others than in %+v: %x", venue.ID, l.Pool, data)
			}
		}
		before, err := w.BalanceOf(t.Context(), l.Token, w.Wallets[2])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Buy(t.Context(), w, l, w.Wallets[2], world.Units(1, 18)); err != nil {
			t.Fatalf("%s: %v", venue.ID, err)
		}
		after, err := w.BalanceOf(t.Context(), l.Token, w.Wallets[2])
		if err != nil {
			t.Fatal(err)
		}
		// A coin at an opening price of raiseUSD for all tokens, a little less for fee and slippage.
		want := SupplyWhole * w.Native.USD / venues.Kinds[venue.Protocol].RaiseUSD
		if got := world.Float(new(big.Int).Sub(after, before)) / 1e18; got < 0.8*want || got > want {
			t.Errorf("%s: a coin bought %g tokens of some %g", venue.ID, got, want)
		}
		if state := simnettest.PoolNow(t, w, l.Pool); state.Empty() {
			t.Errorf("%s: the pool is empty", venue.ID)
		}
		if _, err := Sell(t.Context(), w, l, w.Wallets[2], after); err != nil {
			t.Errorf("%s: %v", venue.ID, err)
		}
	}
	// The hook lets nobody else open pools.
	clanker := w.Venues[1]
	pool := w.NewPool(world.UniswapV4, w.StableUSD18, w.Wrapped, livePoolFee, clanker.Hook)
	if err := w.Node.Settle(t.Context(), []anvil.Transaction{w.InitializePool(pool, world.SqrtPriceX96(1))}); err == nil {
		t.Error("a stranger opened a pool with the hook")
	}
}

// A first buy goes to the creator in the transaction of the launch.
func TestFirstBuy(t *testing.T) {
	t.Parallel()
	w := startVenues(t, 8453, 23, venues.BoardwalkCurve, venues.FourMemeV1, venues.FourMemeV2, venues.Flap, venues.NadFun, venues.ClankerV3)
	for _, venue := range w.Venues {
		order := Order{Creator: w.Wallets[3], Name: "Early", Symbol: "BIRD", FirstBuy: world.Units(0.2, 18)}
		l, err := Start(t.Context(), w, venue.ID, order)
		if err != nil {
			t.Fatalf("%s: %v", venue.ID, err)
		}
		got, err := w.BalanceOf(t.Context(), l.Token, order.Creator)
		if err != nil {
			t.Fatal(err)
		}
		if !venue.HasCurve() {
			if got.Sign() == 0 {
				t.Errorf("%s: the creator got nothing", venue.ID)
			}
			continue
		}
		fill, _, err := venue.Shape.Buy(venue.Shape.Fresh(), order.FirstBuy)
		if err != nil {
			t.Fatal(err)
		}
		if got.Cmp(fill.Base) != 0 {
			t.Errorf("%s: the creator got %s, not %s", venue.ID, got, fill.Base)
		}
	}
}

// What contracts here are for is said in them, and a stand-in says that it is one.
func TestStandInsSaySo(t *testing.T) {
	t.Parallel()
	sources, err := contracts.Sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range venues.Kinds {
		if kind.Contract == "BoardwalkCurve" {
			continue
		}
		if !strings.HasSuffix(kind.Contract, "StandIn") {
			t.Errorf("%s: its name doesn't say that it stands in", kind.Contract)
		}
		found := false
		for _, source := range sources {
			before, _, defined := strings.Cut(source, "contract "+kind.Contract+" ")
			comment := before[max(0, strings.LastIndex(before, "\n\n")):]
			found = found || defined && strings.Contains(comment, "/// Stands in for ")
		}
		if !found {
			t.Errorf("%s: its documentation doesn't say that it stands in", kind.Contract)
		}
	}
}
