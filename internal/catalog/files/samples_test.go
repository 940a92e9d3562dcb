package files_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
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

// movesTo are the exchanges' protocols that a venue's protocol moves its tokens to, by the instruction or the log that tells it (docs/solana.md, docs/venues.md),
// and those of live pools. BoardwalkCurve isn't there: whoever deploys it chooses.
var movesTo = map[chainconfig.VenueProtocol][]market.Protocol{
	chainconfig.PumpFun:          {market.PumpSwap},
	chainconfig.RaydiumLaunchLab: {market.RaydiumCPMM, market.RaydiumAMMv4},
	chainconfig.MeteoraDBC:       {market.MeteoraDAMMv2},
	chainconfig.FourMemeV2:       {market.UniswapV2},
	chainconfig.Flap:             {market.UniswapV2, market.UniswapV4},
	chainconfig.ClankerV4:        {market.UniswapV4},
}

// TestSamplesDeclareWhereTokensMove: each chain of the samples declares the exchanges to which its venues move their tokens. Without one such a token has no market
// when it has left its curve, and the accounts of the exchange count as its holders and traders.
func TestSamplesDeclareWhereTokensMove(t *testing.T) {
	t.Parallel()
	m, err := files.Load(samples)
	if err != nil {
		t.Fatal(err)
	}
	declared, programs := map[string]map[market.Protocol]bool{}, map[string]string{}
	for i := range m.Chains {
		s := &m.Chains[i].Resource.Spec
		declared[s.ID] = map[market.Protocol]bool{}
		for _, x := range s.Exchanges {
			declared[s.ID][market.Protocol(x.Protocol)] = true
			if s.Family == v1alpha1.FamilySolana {
				programs[string(x.Protocol)] = string(x.Factory)
			}
		}
	}
	for i := range m.Venues {
		s := &m.Venues[i].Resource.Spec
		moves, known := movesTo[chainconfig.VenueProtocol(s.Protocol)]
		if !known && s.Protocol != v1alpha1.VenueProtocol(chainconfig.BoardwalkCurve) {
			t.Errorf("%s: nothing says where tokens of protocol %s move to", s.ID, s.Protocol)
		}
		for _, c := range s.Chains {
			for _, p := range moves {
				if !declared[c.Chain][p] {
					t.Errorf("%s moves its tokens to a pool of %s, which %s doesn't declare", s.ID, p, c.Chain)
				}
			}
		}
	}
	if want := map[string]string{
		"PumpSwap": simnet.PumpSwap.String(), "MeteoraDAMMv2": simnet.DAMM.String(), "RaydiumCPMM": simnet.CPMM.String(), "RaydiumAMMv4": simnet.AMMv4.String(),
	}; !maps.Equal(programs, want) {
		t.Errorf("Solana's programs are %v, want %v", programs, want)
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
	w := world.World{
		ChainID: 8453, Native: world.Native{Symbol: "ETH", WrappedSymbol: "WETH"},
		Wrapped: fake(1), StableUSDC6: fake(2), StableUSD18: fake(3), UniswapV2Factory: fake(4), UniswapV3Factory: fake(5),
		UniswapV4PoolManager: fake(6), PancakeSwapV3Factory: fake(7),
	}
	d := t.TempDir()
	if _, err := w.WriteManifest(d, world.ManifestOptions{ID: "base", Label: "Base", BlockTime: 2 * time.Second, Endpoint: "http://127.0.0.1:18545"}); err != nil {
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
	if base.Native.Wrapped.String() != fake(1) || base.Start != (chainconfig.Start{}) || base.Tracking.Holders != chainconfig.HoldersAll ||
		base.Tracking.MinLiquidityUSD != 100 || base.Quotes[0].PegBoundPct != 5 || len(base.Endpoints) != 1 ||
		len(base.Exchanges) != 4 ||
		base.Exchanges[0].FeePips != 3000 || base.FinalityDepth != 64 {
		t.Errorf("base %+v", base)
	}
}

// TestTheBinaryCarriesTheSamples: what is embedded is what the folder declares, each resource in a file of its own and under a name of its
// own, so that its text can be printed by name.
func TestTheBinaryCarriesTheSamples(t *testing.T) {
	t.Parallel()
	want, err := files.Load(samples)
	if err != nil {
		t.Fatal(err)
	}
	got, err := files.Samples()
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Chains) != len(want.Chains) || len(got.Venues) != len(want.Venues) {
		t.Fatalf("%d chains and %d venues are embedded, the folder has %d and %d", len(got.Chains), len(got.Venues), len(want.Chains), len(want.Venues))
	}
	names, inFile := map[string]bool{}, map[string]bool{}
	see := func(name, file string) {
		t.Helper()
		text, found, err := files.SampleText(name)
		if err != nil || !found {
			t.Errorf("%s: it has no text (%v)", name, err)
		}
		raw, err := os.ReadFile(filepath.Join(samples, filepath.Base(file)))
		if err != nil || !bytes.Equal(text, raw) {
			t.Errorf("%s: its text isn't that of %s (%v)", name, file, err)
		}
		if names[name] || inFile[file] {
			t.Errorf("%s in %s: the name or the file is another resource's too", name, file)
		}
		names[name], inFile[file] = true, true
	}
	for i := range got.Chains {
		see(got.Chains[i].Resource.Name, got.Chains[i].File)
		if !reflect.DeepEqual(got.Chains[i].Resource, want.Chains[i].Resource) {
			t.Errorf("%s differs from the folder's", got.Chains[i].File)
		}
	}
	for i := range got.Venues {
		see(got.Venues[i].Resource.Name, got.Venues[i].File)
		if !reflect.DeepEqual(got.Venues[i].Resource, want.Venues[i].Resource) {
			t.Errorf("%s differs from the folder's", got.Venues[i].File)
		}
	}
	if _, found, err := files.SampleText("nothing"); found || err != nil {
		t.Errorf("a sample that isn't there: found %t, %v", found, err)
	}
}

// TestChosenSamplesRun: a chain of the samples runs on the nodes that are given, with the venues that are on it.
func TestChosenSamplesRun(t *testing.T) {
	t.Parallel()
	m, err := files.LoadWithSamples([]files.SampleChain{
		{Name: "bsc", URLs: []string{"https://one.example", "https://two.example"}}, {Name: "base", URLs: []string{"https://three.example"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Running) != 2 || len(d.Chains) != 2 || d.Running[0].ID != "base" || len(d.Running[1].Endpoints) != 2 || d.Running[1].Endpoints[1].URL != "https://two.example" {
		t.Errorf("running: %+v", d.Running)
	}
	on := map[string][]string{}
	for _, v := range d.Venues {
		for _, c := range v.Spec.Chains {
			on[v.Name] = append(on[v.Name], c.Chain)
		}
	}
	if want := map[string][]string{"boardwalk-curve": {"base", "bsc"}, "clanker": {"base", "bsc"}, "four-meme": {"bsc"}, "flap": {"bsc"}}; !reflect.DeepEqual(on, want) {
		t.Errorf("venues are on %v, want %v", on, want)
	}
}

// TestChosenSamplesBesideFolders: a folder adds chains and replaces venues, and can't declare a chosen chain once more.
func TestChosenSamplesBesideFolders(t *testing.T) {
	t.Parallel()
	chosen := []files.SampleChain{{Name: "base", URLs: []string{"https://one.example"}}}
	curve := `apiVersion: boardwalk.dev/v1alpha1
kind: LaunchVenue
metadata: {name: boardwalk-curve}
spec:
  {id: boardwalk-curve, label: Ours, ownership: Own, protocol: BoardwalkCurve, marketModel: BondingCurve, default: true,
   chains: [{chain: base, wantedState: Open, contracts: ["` + fake(9) + `"], tradesInApp: true}]}
`
	m, err := files.LoadWithSamples(chosen, dir(t, "bsc.yaml", another("bsc", 56), "curve.yaml", curve))
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Running) != 2 || len(d.Venues) != 4 || d.Venues[0].Spec.Label != "Ours" || len(d.Running[0].Venues) != 2 {
		t.Errorf("%d run, venues %+v", len(d.Running), d.Venues)
	}
	for name, c := range map[string]struct {
		chosen []files.SampleChain
		dir    string
		want   string
	}{
		"a chosen chain declared in a folder": {chosen, dir(t, "mine.yaml", resolvetest.Good), "mine.yaml:1 declares the chain base, which is chosen among the samples too"},
		"an unknown sample":                   {[]files.SampleChain{{Name: "nowhere"}}, dir(t, "bsc.yaml", another("bsc", 56)), `no sample is a Chain "nowhere"; there are solana, base, bsc`},
	} {
		if _, err := files.LoadWithSamples(c.chosen, c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
