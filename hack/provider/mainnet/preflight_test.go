package mainnet

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	evmnode "github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/preflight"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// small is a stand-in whose chain is longer than the state that a full node keeps.
func small(t *testing.T, chain string) *standIn {
	t.Helper()
	return start(t, Options{Chain: chain, Txs: 2, Logs: 5, VolumeV2: 2, VolumeV3: 1, Before: 3, Past: 150}, profiles.Profile{Client: "Geth"})
}

func wrappedOf(t *testing.T, c *chainconfig.Chain) market.Address {
	t.Helper()
	a, err := market.ParseEVMAddress(c.Native.Wrapped.String())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestCapabilitiesOfProfiles asks a node of each kind what it can do.
func TestCapabilitiesOfProfiles(t *testing.T) {
	t.Parallel()
	s := small(t, "base")
	want := []struct {
		profile string
		can     evm.Capabilities
	}{
		{"plain", evm.Capabilities{OldState: evmnode.Yes, RecentState: evmnode.Yes, Overrides: evmnode.Yes, LogBlocks: 10_000, BatchCalls: 100, Heads: evmnode.Yes, Finality: evmnode.Yes}},
		{"geth", evm.Capabilities{OldState: evmnode.No, RecentState: evmnode.Yes, Overrides: evmnode.Yes, LogBlocks: 10_000, BatchCalls: 100, Heads: evmnode.Yes, Finality: evmnode.Yes}},
		{"alchemy-free", evm.Capabilities{OldState: evmnode.Yes, RecentState: evmnode.Yes, Overrides: evmnode.Yes, LogBlocks: 10, BatchCalls: 100, Heads: evmnode.Yes, Finality: evmnode.Yes}},
		{"public", evm.Capabilities{OldState: evmnode.No, RecentState: evmnode.Yes, Overrides: evmnode.No, LogBlocks: 50, BatchCalls: 10, Heads: evmnode.No, Finality: evmnode.Yes}},
		{"hyperevm", evm.Capabilities{
			OldState: evmnode.No, RecentState: evmnode.No, Overrides: evmnode.No, LogBlocks: 50, LogTopics: 4, LogFilters: 6, BatchCalls: 100, Heads: evmnode.No, Finality: evmnode.No,
		}},
		{"hyperevm-public", evm.Capabilities{
			OldState: evmnode.No, RecentState: evmnode.Unknown, StateByNewest: true, Overrides: evmnode.No, LogBlocks: 50, LogTopics: 4, LogFilters: 6, BatchCalls: 100,
			Heads: evmnode.No, Finality: evmnode.No,
		}},
	}
	cfg := *s.cfg
	cfg.Endpoints = nil
	for i := range want {
		p, err := profiles.Named(want[i].profile)
		if err != nil {
			t.Fatal(err)
		}
		p.Latency, p.Rate = profiles.Latency{}, profiles.Rate{}
		n, err := node.Start(t.Context(), s.Chain, node.Options{Profile: p})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: n.URL(), Weight: 1})
		c := &want[i].can
		c.LatestState, c.Client, c.Endpoint = evmnode.Yes, p.Client+"/stand-in", rpc.EndpointName(i)
		c.Logs, c.LogFilters = evmnode.Yes, max(c.LogFilters, 1)
		c.ManyCalls = evmnode.Yes // by Multicall3
	}
	source, err := evm.NewSource(&cfg, evm.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range source.Capabilities(t.Context(), wrappedOf(t, &cfg)) {
		// The public endpoint gives a block some time after it was announced.
		if head := s.Chain.Head().Number; got.Head.Number > head || got.Head.Number+20 < head {
			t.Errorf("%s: its head is %d, the chain's %d", want[i].profile, got.Head.Number, head)
		}
		if got.Head = (market.Header{}); got != want[i].can {
			t.Errorf("%s: got %+v\nwant %+v", want[i].profile, got, want[i].can)
		}
	}
}

// TestPreflightOfSamples finds every declared address of a sample on the stand-in of its mainnet, and says so in three lines.
func TestPreflightOfSamples(t *testing.T) {
	t.Parallel()
	for _, chain := range []string{"base", "bsc", "hyperevm"} {
		t.Run(chain, func(t *testing.T) {
			t.Parallel()
			s := small(t, chain)
			r, err := preflight.Check(t.Context(), s.cfg, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := r.Write(&out); err != nil {
				t.Fatal(err)
			}
			if len(r.Findings) > 0 || strings.Count(out.String(), "\n") != 3 {
				t.Errorf("the report is\n%s", &out)
			}
			for i, want := range []string{
				" is served by 1 of 1 endpoints (Geth/stand-in), whose block ", "state of old blocks (archive): yes; state overrides: yes; logs of ",
				"that means: a day of the past takes ",
			} {
				if !strings.Contains(r.Summary[i], want) {
					t.Errorf("line %d is %q; want %q in it", i+1, r.Summary[i], want)
				}
			}
		})
	}
}

// TestPreflightFindsWrongDeclarations declares addresses as what they are not.
func TestPreflightFindsWrongDeclarations(t *testing.T) {
	t.Parallel()
	s := small(t, "base")
	const nothing = "0x00000000000000000000000000000000000b0a4d"
	good := s.cfg
	factory := map[market.Protocol]string{}
	for _, x := range good.Exchanges {
		factory[x.Protocol] = x.Factory.String()
	}
	token := good.Quotes[0].Address
	exchange := func(p market.Protocol, address string) func(*chainconfig.Chain) {
		return func(c *chainconfig.Chain) {
			c.Exchanges = []chainconfig.Exchange{{Name: "x", Protocol: p, Factory: markettest.Address(address), FeePips: 3000}}
		}
	}
	for name, c := range map[string]struct {
		change func(*chainconfig.Chain)
		wrong  int
		want   string
	}{
		"no factory there":             {exchange(market.UniswapV2, nothing), 1, "wrong: factory of x " + nothing + ": there is no contract at this address. Take"},
		"a token as a V2 factory":      {exchange(market.UniswapV2, token.String()), 1, "doesn't answer allPairsLength() and getPair(address,address) as a factory of protocol UniswapV2 does"},
		"a V2 factory as one of V3":    {exchange(market.UniswapV3, factory[market.UniswapV2]), 1, "as a factory of protocol UniswapV3 does"},
		"a V3 factory as one of V2":    {exchange(market.UniswapV2, factory[market.UniswapV3]), 1, "as a factory of protocol UniswapV2 does"},
		"a V3 factory as a manager":    {exchange(market.UniswapV4, factory[market.UniswapV3]), 1, "as a factory of protocol UniswapV4 does"},
		"a V2 factory as a Solidly's":  {exchange(market.Solidly, factory[market.UniswapV2]), 1, "as a factory of protocol Solidly does"},
		"a V3 factory as Slipstream's": {exchange(market.Slipstream, factory[market.UniswapV3]), 1, "doesn't answer tickSpacingToFee(int24) and getPool(address,address,int24) as a factory of protocol Slipstream does"},
		"Slipstream's as one of V3":    {exchange(market.UniswapV3, factory[market.Slipstream]), 1, "as a factory of protocol UniswapV3 does"},
		"Slipstream's as a Solidly's":  {exchange(market.Solidly, factory[market.Slipstream]), 1, "as a factory of protocol Solidly does"},
		"Slipstream's own":             {exchange(market.Slipstream, factory[market.Slipstream]), 0, "4 of 4 declared addresses are as declared"},
		"a Solidly's own":              {exchange(market.Solidly, factory[market.Solidly]), 0, "4 of 4 declared addresses are as declared"},
		"a factory as a quote":         {func(c *chainconfig.Chain) { c.Quotes[0].Address = markettest.Address(factory[market.UniswapV2]) }, 1, "wrong: quote asset USDC "},
		"a quote of another name":      {func(c *chainconfig.Chain) { c.Quotes[0].Symbol = "USDX" }, 0, `look: quote asset USDX ` + token.String() + `: it has another symbol on the chain, "USDC"`},
		"no position manager there": {
			func(c *chainconfig.Chain) { c.Exchanges[2].PositionManager = markettest.Address(nothing) }, 1, "position manager of uniswap-v4 " + nothing,
		},
		"another position manager": {
			func(c *chainconfig.Chain) { c.Exchanges[2].PositionManager = c.Exchanges[0].Factory }, 1,
			"it doesn't answer poolManager() with the exchange's factory",
		},
		"no hook there":              {func(c *chainconfig.Chain) { c.Exchanges[2].Hooks = markettest.Addresses(nothing) }, 1, "hook of uniswap-v4 " + nothing},
		"no locker there":            {func(c *chainconfig.Chain) { c.Trust.Lockers = markettest.Addresses(nothing) }, 1, "locker " + nothing},
		"a token as a venue's curve": {venue(chainconfig.BoardwalkCurve, token.String()), 1, "contract of venue v " + token.String() + ": it doesn't answer curves(address) as a contract of protocol BoardwalkCurve does"},
		"another chain's id":         {func(c *chainconfig.Chain) { c.EVMChainID = 1 }, 1, "its eth_chainId is 8453, and chain base is declared with chainID 1"},
		"a venue that isn't there":   {venue(chainconfig.Flap, nothing), 1, "contract of venue v " + nothing + ": there is no contract"},
		"nothing":                    {exchange(market.UniswapV2, factory[market.UniswapV2]), 0, "4 of 4 declared addresses are as declared"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := *good
			cfg.Quotes, cfg.Exchanges = append([]chainconfig.Quote(nil), good.Quotes...), append([]chainconfig.Exchange(nil), good.Exchanges...)
			c.change(&cfg)
			r, err := preflight.Check(t.Context(), &cfg, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := r.Write(&out); err != nil {
				t.Fatal(err)
			}
			if r.CountWrong() != c.wrong || !strings.Contains(out.String(), c.want) {
				t.Errorf("%d are wrong, want %d; want %q in\n%s", r.CountWrong(), c.wrong, c.want, &out)
			}
		})
	}
}

func venue(p chainconfig.VenueProtocol, address string) func(*chainconfig.Chain) {
	return func(c *chainconfig.Chain) {
		c.Venues = []chainconfig.Venue{{ID: "v", Protocol: p, Contracts: markettest.Addresses(address)}}
	}
}
