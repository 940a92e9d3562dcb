package files_test

import (
	"maps"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/operator/api/v1alpha1"
)

const samples = "../../../config/samples"

// The samples are the chains of the service document, in its order, with its minimums.
func TestSampleChains(t *testing.T) {
	t.Parallel()
	m, err := files.Load(samples)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := m.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	if len(declared.Running) != 0 {
		t.Errorf("%d samples run, without a node", len(declared.Running))
	}
	served, err := declared.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		id, label string
		minTrade  float64
	}{
		{"solana", "Solana", 2},
		{"base", "Base", 2},
		{"bsc", "BNB Chain", 2},
		{"arbitrum", "Arbitrum", 2},
		{"polygon", "Polygon", 2},
		{"robinhood", "Robinhood", 2},
		{"ethereum", "Ethereum", 25},
		{"monad", "Monad", 2},
		{"hyperevm", "HyperEVM", 2},
	}
	if len(served.Chains) != len(want) {
		t.Fatalf("%d chains", len(served.Chains))
	}
	for i, w := range want {
		c := served.Chains[i]
		if order := m.Chains[i].Resource.Spec.Order; order == nil || int(*order) != 10*(i+1) {
			t.Errorf("%s: its order isn't %d", w.id, 10*(i+1))
		}
		if c.ID != w.id || c.Label != w.label || c.MinTradeUSD != w.minTrade || !c.Suspended {
			t.Errorf("%d: got %s, %q, %v, suspended %t; want %+v", i, c.ID, c.Label, c.MinTradeUSD, c.Suspended, w)
		}
		if last := c.Quotes[len(c.Quotes)-1]; last.Address != c.Native.Wrapped || last.PegUSD != 0 {
			t.Errorf("%s: the wrapped coin is no quote asset: %+v", c.ID, c.Quotes)
		}
		for _, q := range c.Quotes[:len(c.Quotes)-1] {
			if q.PegUSD != 1 || q.PegBoundPct != 2 {
				t.Errorf("%s: %s has peg %v ± %v %%", c.ID, q.Symbol, q.PegUSD, q.PegBoundPct)
			}
		}
	}
}

// The samples are the venues of the service document in their published states: two own ones on Solana, one of them the
// default, the own family on EVM chains, closed on HyperEVM, the further family, and three outside curve launchpads whose
// tokens trade in the app on BNB Chain and Robinhood Chain alone.
func TestSampleVenues(t *testing.T) {
	t.Parallel()
	m, err := files.Load(samples)
	if err != nil {
		t.Fatal(err)
	}
	const inApp = true
	want := []struct {
		id, ownership, protocol, filter string
		isDefault                       bool
		on                              map[string]row
	}{
		{"boardwalk-dbc", "Own", "MeteoraDBC", "", true, map[string]row{"solana": {"Open", inApp, 0}}},
		{"boardwalk-launchlab", "Own", "RaydiumLaunchLab", "", false, map[string]row{"solana": {"Open", inApp, 0}}},
		{"boardwalk-curve", "Own", "BoardwalkCurve", "", true, map[string]row{
			"base": {"Open", inApp, 0}, "bsc": {"Open", inApp, 0}, "robinhood": {"Open", inApp, 0}, "hyperevm": {"Closed", inApp, 0},
		}},
		{"clanker", "Further", "ClankerV4", "clanker", false, map[string]row{
			"base": {"Open", inApp, 1}, "robinhood": {"Open", inApp, 1}, "bsc": {"Open", inApp, 1},
		}},
		{"pump-fun", "Outside", "PumpFun", "pump-fun", false, map[string]row{"solana": {"Open", !inApp, 1}}},
		{"four-meme", "Outside", "FourMemeV2", "four-meme", false, map[string]row{"bsc": {"Open", inApp, 1}}},
		{"flap", "Outside", "Flap", "flap", false, map[string]row{"bsc": {"Open", inApp, 1}, "robinhood": {"Open", inApp, 1}}},
	}
	if len(m.Venues) != len(want) {
		t.Fatalf("venues %v", venueIDs(m))
	}
	published := map[string]v1alpha1.VenueState{}
	for i, w := range want {
		s := m.Venues[i].Resource.Spec
		if s.ID != w.id || string(s.Ownership) != w.ownership || string(s.Protocol) != w.protocol || s.FilterValue != w.filter || s.Default != w.isDefault {
			t.Errorf("%d: got %+v\nwant %+v", i, s, w)
		}
		if s.Order == nil || int(*s.Order) != 10*(i+1) {
			t.Errorf("%s: its order isn't %d", w.id, 10*(i+1))
		}
		got := map[string]row{}
		for _, c := range s.Chains {
			got[c.Chain] = row{c.WantedState, c.TradesInApp, len(c.Contracts) + len(c.ProgramAccounts)}
			if published[c.Chain] != v1alpha1.VenueOpen {
				published[c.Chain] = c.WantedState
			}
		}
		if !maps.Equal(got, w.on) {
			t.Errorf("%s: is on %v\nwant %v", w.id, got, w.on)
		}
	}
	if want := map[string]v1alpha1.VenueState{"solana": "Open", "hyperevm": "Closed", "bsc": "Open", "robinhood": "Open", "base": "Open"}; !maps.Equal(published, want) {
		t.Errorf("chains are %v, want %v", published, want)
	}
}

// row is a venue on a chain: the wanted state, whether it trades in the app, and how many contracts are declared.
type row struct {
	state     v1alpha1.VenueState
	inApp     bool
	contracts int
}

// A local world's chains take the place of the samples, as in `make run`.
func TestSamplesUnderSimnet(t *testing.T) {
	t.Parallel()
	world := simnet.World{
		Node: &simnet.Node{}, ChainID: 8453, Native: simnet.Native{Symbol: "ETH", WrappedSymbol: "WETH"},
		Wrapped: fake(1), StableUSDC6: fake(2), StableUSD18: fake(3), UniswapV2Factory: fake(4), UniswapV3Factory: fake(5),
		UniswapV4PoolManager: fake(6), PancakeSwapV3Factory: fake(7),
	}
	d := t.TempDir()
	if _, err := world.WriteManifest(d, simnet.ManifestOptions{ID: "base", Label: "Base", BlockTime: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	m, err := files.Load(samples, d)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := m.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	served, err := declared.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	if len(declared.Running) != 1 || len(served.Chains) != 9 || served.Chains[1].ID != "base" || served.Chains[1].Suspended {
		t.Fatalf("%d run, %v are served", len(declared.Running), served.IDs())
	}
	base := declared.Running[0]
	if len(base.Venues) != 1 || base.Venues[0].ID != "clanker" { // the others have no contracts there
		t.Errorf("venues on base: %+v", base.Venues)
	}
	if base.Native.Wrapped != fake(1) || base.Start != (chainconfig.Start{}) || base.Tracking.Holders != chainconfig.HoldersAll ||
		base.Tracking.MinLiquidityUSD != 100 || base.Quotes[0].PegBoundPct != 5 || len(base.Endpoints) != 1 ||
		len(base.Exchanges) != 4 ||
		base.Exchanges[0].FeePips != 3000 || base.FinalityDepth != 64 {
		t.Errorf("base %+v", base)
	}
}
