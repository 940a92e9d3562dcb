package resolve_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

const weth = "0x4200000000000000000000000000000000000006"

func load(t *testing.T, manifest string) files.Manifests {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "one.yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := files.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func read(t *testing.T, manifest string) *v1alpha1.Chain {
	t.Helper()
	return &load(t, manifest).Chains[0].Resource
}

func readVenue(t *testing.T, manifest string) *v1alpha1.LaunchVenue {
	t.Helper()
	return &load(t, manifest).Venues[0].Resource
}

func TestChainGivesEveryField(t *testing.T) {
	t.Parallel()
	got, err := resolve.Chain(read(t, resolvetest.Good), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	want := &chainconfig.Chain{
		ID: "base", Generation: 1_000_000, AskAnew: true, Family: chainconfig.EVM, EVMChainID: 8453, MinTradeUSD: 2,
		BlockTime: chainconfig.Duration(2 * time.Second),
		Native:    chainconfig.Native{Symbol: "ETH", Wrapped: markettest.Address(weth)},
		Quotes: []chainconfig.Quote{
			{Symbol: "USDC", Address: markettest.Address("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"), PegUSD: 1, PegBoundPct: 2.5},
			{Symbol: "WETH", Address: markettest.Address(weth)},
		},
		Majors: []chainconfig.Major{{Asset: "ETH", Address: markettest.Address(weth)}},
		Exchanges: []chainconfig.Exchange{
			{Name: "uniswap-v2", Protocol: market.UniswapV2, Factory: markettest.Address("0x8909dc15e40173ff4699343b6eb8132c65e18ec6"), FeePips: 2500},
			{
				Name: "uniswap-v4", Protocol: market.UniswapV4, Factory: markettest.Address("0x498581ff718922c3f8e6a244956af099b2652b2b"),
				PositionManager: markettest.Address("0x7c5f5a4bbd8fd63184577525326123b519429bdc"), Hooks: markettest.Addresses("0x33128a8fc17869897dce68ed026d694621f6fdfd"),
			},
		},
		Endpoints: []chainconfig.Endpoint{{
			URL: "https://node.example/rpc", Weight: 3, RequestsPerSecond: 50, RequestsPerDay: 100_000, ComputeUnitsPerDay: 1_000_000,
			ComputeUnits: map[string]int64{"eth_call": 30, "eth_getLogs": 75, "eth_getBlockByNumber": 16, "eth_getBlockReceipts": 0, "other": 15},
		}},
		Start: chainconfig.Start{Block: 17},
		Tracking: chainconfig.Tracking{
			MinLiquidityUSD: 500.5, CountedLiquidityUSD: 7500, Holders: chainconfig.HoldersAll,
			Caps: chainconfig.HolderCaps{Accounts: 100_000_000, Transfers: 10_000_000_000, Days: 365}, PastDays: 3650,
		},
		Retention: chainconfig.Retention{
			Trades: chainconfig.Duration(720 * time.Hour), MinuteCandles: chainconfig.Duration(48 * time.Hour),
		},
		ReorgBlocks: 32, FinalityDepth: 600,
		Trust: chainconfig.Trust{Lockers: markettest.Addresses("0x663a5c229c09b049e36dcc11a9b0d4a8eb9db214")},
		PlatformFee: &chainconfig.PlatformFee{
			Recipients: markettest.Addresses("0x1111111111111111111111111111111111111111"),
			Routers:    markettest.Addresses("0x2222222222222222222222222222222222222222"), Bps: 85,
		},
		FetchMetadata: new(false),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestKeysThatDifferByCase: two keys of Solana that are the same but for the case of a letter are two.
func TestKeysThatDifferByCase(t *testing.T) {
	t.Parallel()
	c, err := resolve.Chain(read(t, resolvetest.GoodSolanaKeys), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]market.Address{
		"exchanges": {c.Exchanges[0].Factory, c.Exchanges[1].Factory}, "quote assets": {c.Quotes[0].Address, c.Quotes[1].Address},
		"majors": {c.Majors[0].Address, c.Majors[1].Address}, "lockers": {c.Trust.Lockers[0], c.Trust.Lockers[1]},
		"recipients": {c.PlatformFee.Recipients[0], c.PlatformFee.Recipients[1]}, "routers": {c.PlatformFee.Routers[1], c.PlatformFee.Routers[2]},
	} {
		if pair[0] == pair[1] || !strings.EqualFold(pair[0].String(), pair[1].String()) {
			t.Errorf("%s: %v", name, pair)
		}
	}
}

func TestChainFillsInDefaults(t *testing.T) {
	t.Parallel()
	c := read(t, resolvetest.Good)
	c.Spec.Start, c.Spec.Tracking, c.Spec.Retention = nil, v1alpha1.Tracking{}, v1alpha1.Retention{}
	c.Spec.ReorgBlocks, c.Spec.FinalityDepth, c.Spec.Exchanges[0].FeePips = nil, nil, nil
	c.Spec.RPC.Endpoints = []v1alpha1.Endpoint{{URL: "http://127.0.0.1:8545"}}
	got, err := resolve.Chain(c, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Start != (chainconfig.Start{Now: true}) {
		t.Errorf("start %+v", got.Start)
	}
	if got.Tracking != (chainconfig.Tracking{MinLiquidityUSD: 1000, CountedLiquidityUSD: 5000, Holders: chainconfig.HoldersLaunches, PastDays: 90}) {
		t.Errorf("tracking %+v", got.Tracking)
	}
	if got.Retention != (chainconfig.Retention{}) {
		t.Errorf("retention %+v", got.Retention)
	}
	if got.ReorgBlocks != 64 || got.FinalityDepth != 64 || got.Exchanges[0].FeePips != 3000 || got.Endpoints[0].Weight != 1 {
		t.Errorf("reorg %d, finality %d, fee %d, weight %d", got.ReorgBlocks, got.FinalityDepth, got.Exchanges[0].FeePips,
			got.Endpoints[0].Weight)
	}
}

// TestFirstGeneration has a chain that asks for its first index have the document of one that asks for none, whatever it says of facts.
func TestFirstGeneration(t *testing.T) {
	t.Parallel()
	c := read(t, resolvetest.Good)
	c.Spec.Indexer.Generation = new(int64(1))
	got, err := resolve.Chain(c, nil, "")
	if err != nil || got.Generation != 0 || got.AskAnew {
		t.Errorf("generation %d, asked anew %v, %v", got.Generation, got.AskAnew, err)
	}
	c.Spec.Indexer.Generation, c.Spec.Indexer.Facts = new(int64(2)), v1alpha1.FactsKept
	if got, err = resolve.Chain(c, nil, ""); err != nil || got.Generation != 2 || got.AskAnew {
		t.Errorf("generation %d, asked anew %v, %v", got.Generation, got.AskAnew, err)
	}
}

func TestChainRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range resolvetest.Chains() {
		t.Run(tt.Name, func(t *testing.T) {
			t.Parallel()
			refuses(t, tt, func() error {
				_, err := resolve.Chain(read(t, tt.Manifest), nil, "secrets")
				return err
			})
		})
	}
}

// refuses checks that one slip gives one line with everything that is wanted of it.
func refuses(t *testing.T, tt resolvetest.Refused, try func() error) {
	t.Helper()
	if slices.Contains(resolvetest.AllGood(), tt.Manifest) {
		t.Fatal("the case changes nothing")
	}
	err := try()
	if err == nil {
		t.Fatal("it was accepted")
	}
	for _, want := range tt.Want {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines > 1 {
		t.Errorf("one slip gave %d lines:\n%v", lines, err)
	}
}

func TestChainNamesEverythingAtOnce(t *testing.T) {
	t.Parallel()
	c := read(t, resolvetest.Good)
	c.Spec.ID, c.Spec.MinTradeUSD, c.Spec.Exchanges[1].Protocol = "", "x", "y"
	_, err := resolve.Chain(c, nil, "")
	for _, want := range []string{"spec.id: ", "spec.minTradeUSD: ", "spec.exchanges[1].protocol: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestChainKeepsURLsOutOfMessages(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"ftp://u:hunter2@node.example", "https://node.example/hunter2 x", "http://%hunter2", "hunter2"} {
		c := read(t, resolvetest.Good)
		c.Spec.RPC.Endpoints[0].URL = url
		if _, err := resolve.Chain(c, nil, ""); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestChainWithSecret(t *testing.T) {
	t.Parallel()
	c := read(t, resolvetest.Good)
	ref := v1alpha1.SecretKeyRef{Name: "rpc-base", Key: "url"}
	c.Spec.RPC.Endpoints = []v1alpha1.Endpoint{{URLFrom: &v1alpha1.URLSource{SecretKeyRef: ref}}}

	doc, err := resolve.Chain(c, nil, "/etc/boardwalk/rpc")
	if err != nil {
		t.Fatal(err)
	}
	if want := (chainconfig.Endpoint{URLFile: "/etc/boardwalk/rpc/rpc-base/url", Weight: 1}); !reflect.DeepEqual(doc.Endpoints[0], want) {
		t.Errorf("got %+v, want %+v", doc.Endpoints[0], want)
	}

	_, err = resolve.Chain(c, nil, "")
	if err == nil || !strings.Contains(err.Error(), "spec.rpc.endpoints[0].urlFrom: ") || !strings.Contains(err.Error(), "write url instead") {
		t.Errorf("outside a cluster: %v", err)
	}

	c.Spec.Suspend = true
	if doc, err = resolve.Chain(c, nil, ""); err != nil || len(doc.Endpoints) != 0 {
		t.Errorf("suspended outside a cluster: %+v, %v", doc, err)
	}
}

func TestDeepCopyIsApart(t *testing.T) {
	t.Parallel()
	a := read(t, resolvetest.Good)
	b := a.DeepCopy()
	*b.Spec.ChainID, b.Spec.Retention.Trades.Duration = 1, time.Hour
	b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{})
	if *a.Spec.ChainID != 8453 || a.Spec.Retention.Trades.Duration != 720*time.Hour || len(a.Status.Conditions) != 0 {
		t.Error("a change of the copy changed the original")
	}
	v := readVenue(t, resolvetest.GoodVenue)
	w := v.DeepCopy()
	w.Spec.Chains[0].Contracts[0] = "0x"
	if v.Spec.Chains[0].Contracts[0] == "0x" {
		t.Error("a change of the copied venue changed the original")
	}
}
