package evm

import (
	"math"
	"math/big"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// curveKinds are the venue protocols whose curves the probe trades with. nad.fun's is traded through a router that no venue
// declares.
var curveKinds = map[chainconfig.VenueProtocol]probe.Kind{
	chainconfig.BoardwalkCurve: probe.Boardwalk,
	chainconfig.FourMemeV2:     probe.FourMeme,
	chainconfig.Flap:           probe.Flap,
	chainconfig.PonsV2:         probe.Pons,
}

var poolKinds = map[market.Protocol]probe.Kind{
	market.UniswapV2:     probe.Pair,
	market.Solidly:       probe.Solidly,
	market.UniswapV3:     probe.Pool,
	market.PancakeSwapV3: probe.Pool,
	market.Slipstream:    probe.Pool,
	market.UniswapV4:     probe.Manager,
}

const (
	// largeShare is the part of a pool's quote that the larger trade takes, largeTimes how many times the small one it is at
	// least and largestUSD what it is at most.
	largeShare = 0.01
	largeTimes = 4
	largestUSD = 10_000
	// leastUSD is the small trade where the chain has no smallest one, leastNative where nothing has a price.
	leastUSD    = 1
	leastNative = 0.001
	// ofWhatIsLeft bounds both trades on a curve: one that fills up takes no sale.
	ofWhatIsLeft = 0.25
	// fullBelow is what a curve takes at least if it isn't as good as full, in whole native coins.
	fullBelow = 1e-6
	// unknownFeePips is a pair's fee where none is declared. More than the pair takes is no harm: the buyer gets a little less.
	unknownFeePips = 10_000
	// dynamicFee marks a V4 pool whose hook sets the fee.
	dynamicFee = 1 << 23
	// nativeUnit is a whole native coin of any EVM chain.
	nativeUnit = 1e18
)

// findMarket says where the token is to be traded, or why it can't be.
func (l *look) findMarket() {
	if launch := l.known.Launch; launch != nil && launch.OnCurve() {
		l.findCurve(launch)
		return
	}
	l.pool = l.mainPool()
	if l.pool == nil {
		l.noMarket = trust.NoPool
		return
	}
	l.target, _ = place(l.pool, l.mint)
	if quote := l.target.Quote; quote != market.Native && quote != l.c.wrapped {
		var ok bool
		if l.funding, ok = l.findFunding(quote); !ok {
			l.noMarket = trust.NoRoute
			return
		}
	}
	l.chooseSizes(0)
}

func (l *look) findCurve(launch *market.Launch) {
	id := market.CurveID(l.mint)
	if i := slices.IndexFunc(l.known.Pools, func(p market.Pool) bool { return p.ID == id }); i >= 0 {
		l.pool = &l.known.Pools[i]
	}
	kind, ok := curveKinds[l.c.venues[launch.Venue].protocol]
	native := launch.Quote.IsNative() || launch.Quote == l.c.wrapped
	switch {
	case launch.State == market.LaunchCompleted:
		l.noMarket = trust.NoPool // full, and the pool isn't there yet
	case !ok || !native:
		l.noMarket = trust.VenueNotSimulated
	default:
		left, known := l.leftOnCurve(launch)
		if known && left < fullBelow {
			l.noMarket = trust.NoPool // all but full
			return
		}
		l.target = probe.Market{Kind: kind, Venue: launch.Curve, Base: l.mint, Quote: market.Native}
		l.chooseSizes(left)
	}
}

// leftOnCurve is about what the curve still takes, in whole native coins.
func (l *look) leftOnCurve(launch *market.Launch) (coins float64, known bool) {
	c := &launch.Reserves
	switch {
	case !launch.TargetQuote.IsZero():
		return max(0, launch.TargetQuote.Float64()-c.RealQuote.Float64()) / nativeUnit, true
	case c.RealBase.IsZero():
		return 0, !launch.SaleBase.IsZero()
	case l.pool == nil || l.pool.Price <= 0 || !l.known.Token.HasDecimals:
		return 0, false
	}
	return c.RealBase.Float64() / math.Pow10(int(l.known.Token.Decimals)) * l.pool.Price, true
}

// mainPool is the one of its pools that the token is traded in; nil when there is none that the probe could trade in.
func (l *look) mainPool() *market.Pool {
	return l.known.MainPool(func(p *market.Pool) bool { _, ok := place(p, l.mint); return ok })
}

// findFunding is the pool with the most in it that takes the native coin, wrapped or not, for a quote asset.
func (l *look) findFunding(quote market.Address) (probe.Market, bool) {
	var best probe.Market
	most := -1.0
	for i := range l.known.NativePools {
		p := &l.known.NativePools[i]
		m, ok := place(p, quote)
		if !ok || (m.Quote != market.Native && m.Quote != l.c.wrapped) || p.Untrusted != market.Trusted {
			continue
		}
		if usd := l.lockedUSD(p); usd > most {
			best, most = m, usd
		}
	}
	return best, most >= 0
}

func (l *look) lockedUSD(p *market.Pool) float64 { return p.Locked * l.known.USD[p.Quote] }

// place is a pool as the probe trades in it, with base bought; ok is false for a pool without that token or of a protocol that
// it doesn't trade in.
func place(p *market.Pool, base market.Address) (m probe.Market, ok bool) {
	m = probe.Market{Kind: poolKinds[p.Protocol], Venue: p.ID, Base: base, FeePips: p.FeePips, TickSpacing: p.TickSpacing}
	switch base {
	case p.Token0:
		m.Quote = p.Token1
	case p.Token1:
		m.Quote = p.Token0
	default:
		return m, false
	}
	switch m.Kind {
	case probe.Pair:
		if m.FeePips == 0 {
			m.FeePips = unknownFeePips
		}
	case probe.Manager:
		m.Venue, m.Hooks = p.Factory, p.Hooks
		// The index has no figure for a fee that a hook sets: the pool's id tells which it is.
		if v4ID(&m) != p.ID {
			m.FeePips = dynamicFee
		}
		return m, v4ID(&m) == p.ID
	case probe.None, probe.Solidly, probe.Pool, probe.Boardwalk, probe.FourMeme, probe.Flap, probe.Pons:
	}
	return m, m.Kind != probe.None
}

// v4ID is the hash of a pool's key (Uniswap V4, PoolId.sol).
func v4ID(m *probe.Market) market.Address {
	low, high := m.Base, m.Quote
	if low.Compare(high) > 0 {
		low, high = high, low
	}
	return market.PoolID(hash.Keccak256(probe.Address(low), probe.Address(high), probe.Uint(uint64(m.FeePips)), probe.Int(int64(m.TickSpacing)),
		probe.Address(m.Hooks)))
}

// chooseSizes sets what the two trades spend of the native coin. left is what a curve still takes, in whole native coins; 0 is
// no bound.
func (l *look) chooseSizes(left float64) {
	native := l.known.USD[l.c.wrapped]
	small, large := leastNative, leastNative*largeTimes
	switch {
	case native > 0:
		inUSD := max(l.c.cfg.MinTradeUSD, leastUSD)
		most := 0.0
		if l.pool != nil {
			most = largeShare * l.lockedUSD(l.pool) / 2
		}
		small, large = inUSD/native, max(min(most, largestUSD), inUSD*largeTimes)/native
	case l.pool != nil && l.pool.Locked > 0 && (l.target.Quote.IsNative() || l.target.Quote == l.c.wrapped):
		large = largeShare * l.pool.Locked / 2
		small = large / largeTimes
	}
	if left > 0 {
		large = min(large, left*ofWhatIsLeft)
		small = min(small, large/2)
	}
	l.sizes = [2]market.Amount{wei(small), wei(large)}
}

// wei is an amount of whole native coins in their smallest unit.
func wei(whole float64) (v market.Amount) {
	n, _ := new(big.Float).SetFloat64(whole * nativeUnit).Int(nil)
	if n.Sign() > 0 {
		v.SetFromBig(n)
	}
	return v
}
