// Package resolve turns resources into plain documents: a Chain and the LaunchVenues on it into the chainconfig document that
// its indexer runs on, all of them into the catalogue that is served. It checks in Go what the CRDs state in their schema and
// CEL rules, because manifests that are read from files pass no API server, and what those can't state: checksums, and rules
// across resources.
//
// Errors are joined, and each names the field, what is wrong with it and what is allowed.
package resolve

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Chain checks a chain and gives its document with the defaults filled in. Of the venues, which are checked already, it takes
// those that are on the chain and speak a protocol of its family.
//
// secretDir is where the Secrets of spec.rpc are mounted (see SecretFile). With an empty one, as outside a cluster, an
// endpoint with urlFrom is an error on a running chain and left out of a suspended one.
func Chain(c *v1alpha1.Chain, venues []v1alpha1.LaunchVenue, secretDir string) (*chainconfig.Chain, error) {
	r := &report{}
	out := resolveSpec(r, &c.Spec, secretDir)
	if err := r.err(); err != nil {
		return nil, err
	}
	out.Venues = venuesOn(c.Name, out.Family, venues)
	return out, nil
}

func resolveSpec(r *report, s *v1alpha1.ChainSpec, secretDir string) *chainconfig.Chain {
	family := resolveFamily(r, s.Family)
	out := &chainconfig.Chain{
		ID:            resolveID(r, s.ID),
		Generation:    resolveGeneration(r, s.Indexer.Generation),
		Family:        family,
		EVMChainID:    resolveChainID(r, family, s.ChainID),
		GenesisHash:   resolveGenesisHash(r, family, s.GenesisHash),
		MinTradeUSD:   r.decimal("spec.minTradeUSD", s.MinTradeUSD, bounds{max: 1e6}),
		BlockTime:     chainconfig.Duration(s.BlockTime.Duration),
		Native:        resolveNative(r, family, s.NativeAsset),
		Quotes:        resolveQuotes(r, family, s.QuoteAssets),
		Majors:        resolveMajors(r, family, s.Majors),
		Exchanges:     resolveExchanges(r, family, s.Exchanges),
		Endpoints:     resolveEndpoints(r, s, secretDir),
		Start:         resolveStart(r, s.Start),
		Tracking:      resolveTracking(r, s.ID, s.Tracking),
		Retention:     resolveRetention(r, s.Retention),
		ReorgBlocks:   r.natural("spec.reorgBlocks", s.ReorgBlocks, 1, 10_000, v1alpha1.DefaultReorgBlocks),
		FinalityDepth: r.natural("spec.finalityDepth", s.FinalityDepth, 1, 1_000_000, v1alpha1.DefaultFinalityDepth),
		Trust:         resolveTrust(r, family, s.Trust),
		PlatformFee:   resolvePlatformFee(r, family, s.PlatformFee),
	}
	out.AskAnew = out.Generation > 0 && s.Indexer.Facts == v1alpha1.FactsAsked
	if fetch := s.FetchMetadata; fetch != nil && !*fetch {
		out.FetchMetadata = fetch // the default is left out
	}
	r.label("spec.label", s.Label, 48)
	if d := s.BlockTime.Duration; d < 50*time.Millisecond || d > 5*time.Minute {
		r.add("spec.blockTime", "is %s; allowed: 50ms to 5m, such as 2s", d)
	}
	checkIndexer(r, &s.Indexer)
	r.integer("spec.order", widen(s.Order), 0, 10_000, 0)
	return out
}

// resolveGeneration leaves the first one out, so that a chain which was never indexed anew has the document that it always had.
func resolveGeneration(r *report, generation *int64) int64 {
	if n := r.integer("spec.indexer.generation", generation, 1, 1_000_000, 1); n != 1 {
		return n
	}
	return 0
}

func resolveID(r *report, id string) string {
	r.name("spec.id", id)
	if id == "all" {
		r.add("spec.id", "\"all\" means every chain in the public API; choose another id")
	}
	return id
}

var families = []string{string(chainconfig.EVM), string(chainconfig.Solana)}

func resolveFamily(r *report, f v1alpha1.Family) chainconfig.Family {
	r.choice("spec.family", string(f), families)
	return chainconfig.Family(f)
}

func resolveChainID(r *report, family chainconfig.Family, id *int64) uint64 {
	const path = "spec.chainID"
	switch {
	case family == chainconfig.EVM && id == nil:
		r.add(path, "is missing: an EVM chain needs the number that its nodes answer to eth_chainId, 8453 for Base")
	case family == chainconfig.Solana && id != nil:
		r.add(path, "is for family EVM alone; leave it out")
	case id != nil:
		return r.natural(path, id, 1, maxInteger, 0)
	}
	return 0
}

func resolveGenesisHash(r *report, family chainconfig.Family, hash string) string {
	const path = "spec.genesisHash"
	switch {
	case hash == "":
		return ""
	case family != chainconfig.Solana:
		r.add(path, "is for family Solana alone; leave it out")
	case !base58.Decode(make([]byte, len(market.Hash{})), hash):
		r.add(path, "%.80q is no hash; allowed: base58 of 32 bytes, as nodes answer getGenesisHash", hash)
	}
	return hash
}

func resolveNative(r *report, family chainconfig.Family, n v1alpha1.NativeAsset) chainconfig.Native {
	r.symbol("spec.nativeAsset.symbol", n.Symbol)
	return chainconfig.Native{
		Symbol:  string(n.Symbol),
		Wrapped: r.address("spec.nativeAsset.wrapped", family, string(n.Wrapped)),
	}
}

func resolveQuotes(r *report, family chainconfig.Family, list []v1alpha1.QuoteAsset) []chainconfig.Quote {
	const path = "spec.quoteAssets"
	if len(list) == 0 {
		r.add(path, "is empty; declare at least one asset against which tokens are priced, such as the wrapped native coin")
	}
	r.length(path, len(list), 16)
	symbols, addresses := r.unique(), r.unique()
	out := make([]chainconfig.Quote, 0, len(list))
	for i, q := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.symbol(at+".symbol", q.Symbol)
		symbols.see(at+".symbol", string(q.Symbol))
		quote := chainconfig.Quote{Symbol: string(q.Symbol), Address: r.address(at+".address", family, string(q.Address))}
		addresses.see(at+".address", quote.Address.String())
		if q.Peg != nil {
			quote.PegUSD = r.decimal(at+".peg.usd", q.Peg.USD, bounds{above0: true, max: 1e6})
			quote.PegBoundPct = r.decimal(at+".peg.maxDeviationPct", q.Peg.MaxDeviationPct, bounds{above0: true, max: 50})
			if i > 0 && list[i-1].Peg == nil {
				r.add(at, "has a peg and stands after one that has none; list pegged assets first: the others are priced in them")
			}
		}
		out = append(out, quote)
	}
	return out
}

func resolveMajors(r *report, family chainconfig.Family, list []v1alpha1.Major) []chainconfig.Major {
	const path = "spec.majors"
	r.length(path, len(list), 64)
	assets, addresses := r.unique(), r.unique()
	out := make([]chainconfig.Major, 0, len(list))
	for i, m := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.symbol(at+".asset", m.Asset)
		assets.see(at+".asset", strings.ToLower(string(m.Asset)))
		major := chainconfig.Major{Asset: string(m.Asset), Address: r.address(at+".address", family, string(m.Address))}
		addresses.see(at+".address", major.Address.String())
		out = append(out, major)
	}
	return out
}

func resolveExchanges(r *report, family chainconfig.Family, list []v1alpha1.Exchange) []chainconfig.Exchange {
	const path = "spec.exchanges"
	r.length(path, len(list), 32)
	names, factories := r.unique(), r.unique()
	out := make([]chainconfig.Exchange, 0, len(list))
	for i, x := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.name(at+".name", x.Name)
		names.see(at+".name", x.Name)
		exchange := chainconfig.Exchange{
			Name: x.Name, Protocol: market.Protocol(x.Protocol), Factory: r.address(at+".factory", family, string(x.Factory)),
		}
		factories.see(at+".factory", exchange.Factory.String())
		if r.choice(at+".protocol", string(x.Protocol), protocols(family)) {
			exchange.Hooks = resolveHooks(r, at+".hooks", exchange.Protocol, x.Hooks)
			exchange.PositionManager = resolvePositionManager(r, at+".positionManager", exchange.Protocol, x.PositionManager)
			exchange.FeePips = resolveFee(r, at+".feePips", exchange.Protocol, x.FeePips)
		}
		out = append(out, exchange)
	}
	return out
}

// protocols are those of the exchanges of a family.
func protocols(family chainconfig.Family) (out []string) {
	for _, p := range market.Protocols {
		if p.OfSolana() == (family == chainconfig.Solana) {
			out = append(out, string(p))
		}
	}
	return out
}

func resolveHooks(r *report, path string, p market.Protocol, list []v1alpha1.EVMAddress) []market.Address {
	if len(list) > 0 && p != market.UniswapV4 {
		r.add(path, "are for protocol UniswapV4 alone, this is %s; leave them out", p)
		return nil
	}
	r.length(path, len(list), 64)
	seen := r.unique()
	var out []market.Address
	for i, h := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		out = append(out, r.address(at, chainconfig.EVM, string(h)))
		seen.see(at, out[i].String())
	}
	return out
}

func resolvePositionManager(r *report, path string, p market.Protocol, address *v1alpha1.EVMAddress) market.Address {
	switch {
	case address == nil:
		return market.Address{}
	case p != market.UniswapV4:
		r.add(path, "is for protocol UniswapV4 alone, this is %s; leave it out", p)
		return market.Address{}
	}
	return r.address(path, chainconfig.EVM, string(*address))
}

// resolveFee gives the fee of pools whose creation event carries none; 0 where it carries one, on Solidly, whose pools have fees of
// their own, and on Slipstream, whose pools' fees change.
func resolveFee(r *report, path string, p market.Protocol, fee *int32) uint32 {
	var absent int64
	switch p {
	case market.UniswapV2:
		absent = int64(v1alpha1.DefaultUniswapV2FeePips)
	case market.Solidly:
	case market.UniswapV3, market.UniswapV4, market.PancakeSwapV3, market.Slipstream, market.BondingCurve, market.PumpSwap,
		market.RaydiumAMMv4, market.RaydiumCPMM, market.MeteoraDAMMv2:
		if fee != nil {
			r.add(path, "is for protocols UniswapV2 and Solidly alone, pools of %s say their fee; leave it out", p)
			return 0
		}
	}
	return uint32(r.integer(path, widen(fee), 1, 100_000, absent))
}

func resolveStart(r *report, s *v1alpha1.Start) chainconfig.Start {
	switch {
	case s == nil || s.Now && s.Block == nil:
		return chainconfig.Start{Now: true}
	case s.Block == nil || s.Now:
		r.add("spec.start", "needs exactly one of its two: write {block: N} or {now: true}")
		return chainconfig.Start{}
	default:
		return chainconfig.Start{Block: r.natural("spec.start.block", s.Block, 0, maxInteger, 0)}
	}
}

var holders = []string{string(chainconfig.HoldersLaunches), string(chainconfig.HoldersDeclared), string(chainconfig.HoldersAll)}

func resolveTracking(r *report, chain string, t v1alpha1.Tracking) chainconfig.Tracking {
	if t.MinLiquidityUSD == "" {
		t.MinLiquidityUSD = v1alpha1.DefaultMinLiquidityUSD
	}
	if t.Holders == "" {
		t.Holders = v1alpha1.DefaultHolders
	}
	r.choice("spec.tracking.holders", string(t.Holders), holders)
	gate := board.DefaultGate()
	counted := gate.LiquidityMin(chain)
	if t.CountedLiquidityUSD != "" {
		counted = r.decimal("spec.tracking.countedLiquidityUSD", t.CountedLiquidityUSD, bounds{above0: true, max: 1e9})
	}
	return chainconfig.Tracking{
		CountedLiquidityUSD: counted,
		MinLiquidityUSD:     r.decimal("spec.tracking.minLiquidityUSD", t.MinLiquidityUSD, bounds{max: 1e9}),
		Holders:             chainconfig.Holders(t.Holders),
		Caps: chainconfig.HolderCaps{
			Accounts:  r.integer("spec.tracking.holderCaps.accounts", t.HolderCaps.Accounts, 1, 100_000_000, 0),
			Transfers: r.integer("spec.tracking.holderCaps.transfers", t.HolderCaps.Transfers, 1, 10_000_000_000, 0),
			Days:      r.integer("spec.tracking.holderCaps.days", t.HolderCaps.Days, 1, 365, 0),
		},
		PastDays: r.integer("spec.tracking.pastDays", t.PastDays, 0, 3650, v1alpha1.DefaultPastDays),
	}
}

func resolvePlatformFee(r *report, family chainconfig.Family, f *v1alpha1.PlatformFee) *chainconfig.PlatformFee {
	if f == nil {
		return nil
	}
	const path, most = "spec.platformFee", 16
	seen := r.unique()
	list := func(name string, addresses []v1alpha1.Address) (out []market.Address) {
		r.length(path+"."+name, len(addresses), most)
		for i, a := range addresses {
			at := fmt.Sprintf("%s.%s[%d]", path, name, i)
			out = append(out, r.address(at, family, string(a)))
			seen.see(at, out[i].String())
		}
		return out
	}
	out := &chainconfig.PlatformFee{Recipients: list("recipients", f.Recipients), Routers: list("routers", f.Routers)}
	if len(f.Recipients) == 0 {
		r.add(path+".recipients", "is empty: name the accounts that the fee goes to, or leave platformFee out")
	}
	out.Bps = uint32(r.integer(path+".bps", widen(f.Bps), 1, 1_000, int64(v1alpha1.DefaultPlatformFeeBps)))
	return out
}

func resolveTrust(r *report, family chainconfig.Family, t v1alpha1.Trust) chainconfig.Trust {
	const path = "spec.trust.lockers"
	r.length(path, len(t.Lockers), 32)
	seen := r.unique()
	var out chainconfig.Trust
	for i, a := range t.Lockers {
		at := fmt.Sprintf("%s[%d]", path, i)
		out.Lockers = append(out.Lockers, r.address(at, family, string(a)))
		seen.see(at, out.Lockers[i].String())
	}
	return out
}

func resolveRetention(r *report, t v1alpha1.Retention) chainconfig.Retention {
	return chainconfig.Retention{
		Trades:        r.retention("spec.retention.trades", t.Trades),
		MinuteCandles: r.retention("spec.retention.minuteCandles", t.MinuteCandles),
	}
}

func (r *report) choice(path, value string, allowed []string) bool {
	switch {
	case slices.Contains(allowed, value):
		return true
	case value == "":
		r.add(path, "is missing; allowed: %s", strings.Join(allowed, ", "))
	default:
		r.add(path, "%.80q is not known; allowed: %s", value, strings.Join(allowed, ", "))
	}
	return false
}
