// Package derive turns a chain's events into what is served: pools with their prices, trades, candles, balances and
// holders. It is pure: the same events on the same state give the same changes, whatever the size of a batch. It
// reads no clock; time is that of the blocks.
//
// A batch goes through LaunchKeys, Put, Keys, Put, MoreKeys, Put, Apply, Flush. Everything it writes is an absolute value.
package derive

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// Another pool prices a token once it has been referenceRatio times as deep for referenceBlocks and, on chains whose blocks are short,
	// referenceSeconds.
	referenceBlocks  = 10
	referenceSeconds = 20
	referenceRatio   = 1.5
	// quoteDepthUSD is the least depth at which a pool may price a quote asset, or break its peg.
	quoteDepthUSD = 1000
	// launchDepthUSD is the least depth at which a pool that a venue didn't choose may price a token that has left its curve:
	// that of some 10,000 USD over all prices.
	launchDepthUSD = 100
	// movedShare is the least share of what a curve has raised that the pool must be as deep as to which its token moved.
	movedShare    = 0.25
	windowSeconds = 24 * 60 * 60
)

// Machine is the rules of one chain, made from its chainconfig document.
type Machine struct {
	wrapped market.Address
	// coinDecimals are the decimals of the chain's own coin.
	coinDecimals uint8
	quotes       []quote
	quoteRank    map[market.Address]int
	majors       map[market.Address]bool
	factories    map[market.Address]*factory
	followAll    bool
	minUSD       float64
	// countedUSD is the least liquidity, and leastTradeUSD the least trade, that members' trades count for.
	countedUSD, leastTradeUSD float64
	// countsPools is Family.CountsPools, programKeepsSupplies Family.KeepsSupplies.
	countsPools, programKeepsSupplies bool
	// venueContracts has the contracts that launch venues declare, and the accounts that hold the balances of all pools or curves of a program.
	venueContracts map[market.Address]bool
	// feeRecipients are the accounts that the platform's fee goes to, and feeBps is the fee in basis points.
	feeRecipients map[market.Address]bool
	feeBps        uint64
	// reorgBlocks is how many blocks can be taken back.
	reorgBlocks uint64
}

type quote struct {
	asset market.Address
	peg   float64
	bound float64 // as a fraction
}

type factory struct {
	protocol market.Protocol
	hooks    map[market.Address]bool
	feePips  uint32
}

// New checks what derivation needs of a chain document.
func New(c *chainconfig.Chain) (*Machine, error) {
	m := &Machine{
		quoteRank: make(map[market.Address]int), majors: make(map[market.Address]bool),
		factories: make(map[market.Address]*factory), venueContracts: make(map[market.Address]bool),
		wrapped: c.Native.Wrapped, coinDecimals: c.Family.CoinDecimals(), countsPools: c.Family.CountsPools(), programKeepsSupplies: c.Family.KeepsSupplies(),
		followAll: c.Tracking.Holders == chainconfig.HoldersAll, minUSD: c.Tracking.MinLiquidityUSD,
		reorgBlocks: c.ReorgBlocks, countedUSD: c.Tracking.CountedLiquidityUSD, leastTradeUSD: c.MinTradeUSD,
	}
	var errs []error
	for i, q := range c.Quotes {
		if n := len(m.quotes); n > 0 && q.PegUSD > 0 && m.quotes[n-1].peg == 0 {
			errs = append(errs, fmt.Errorf("chain %s: quotes: %s has a peg and stands after %s, which has none: list pegged assets first",
				c.ID, q.Symbol, c.Quotes[i-1].Symbol))
		}
		m.quotes = append(m.quotes, quote{asset: q.Address, peg: q.PegUSD, bound: q.PegBoundPct / 100})
		m.quoteRank[q.Address] = i
	}
	for _, j := range c.Majors {
		if c.Tracking.Holders != chainconfig.HoldersLaunches {
			m.majors[j.Address] = true
		}
	}
	for _, x := range c.Exchanges {
		f := &factory{protocol: x.Protocol, feePips: x.FeePips, hooks: make(map[market.Address]bool)}
		for _, h := range x.Hooks {
			f.hooks[h] = true
		}
		m.factories[x.Factory] = f
		if holder := x.Protocol.Holder(); !holder.IsNone() {
			m.venueContracts[holder] = true
		}
	}
	if f := c.PlatformFee; f != nil {
		m.feeBps, m.feeRecipients = uint64(f.Bps), make(map[market.Address]bool)
		for _, recipient := range f.Recipients {
			m.feeRecipients[recipient] = true
		}
	}
	for _, v := range c.Venues {
		if holder := v.Protocol.Holder(); !holder.IsNone() {
			m.venueContracts[holder] = true
		}
		for _, contract := range v.Contracts {
			m.venueContracts[contract] = true
		}
	}
	return m, errors.Join(errs...)
}

// Follows reports whether the token's balances are followed: of launched tokens, and of majors or of all where the chain document
// says so.
func (m *Machine) Follows(s *State, token market.Address) bool {
	return m.FollowsUnlaunched(token) || s.Launched(token)
}

// FollowsUnlaunched reports whether the token's balances are followed from its first transfer on, launched or not.
func (m *Machine) FollowsUnlaunched(token market.Address) bool { return m.followAll || m.majors[token] }

// Majors are the tokens that the chain document names whose balances are followed, in no order.
func (m *Machine) Majors() []market.Address { return slices.Collect(maps.Keys(m.majors)) }

// VenueContracts are the contracts that launch venues declare, in no order.
func (m *Machine) VenueContracts() []market.Address {
	return slices.Collect(maps.Keys(m.venueContracts))
}

// isOfVenues reports whether an account is an exchange's, a launch venue's or a curve's, whatever the token. Pools are marked when they are made.
func (m *Machine) isOfVenues(s *State, account market.Address) bool {
	return m.factories[account] != nil || m.venueContracts[account] || s.curves.get(account) != nil
}

// Believes reports whether a pool's creation is from a declared factory of its protocol. Any contract can log one.
func (m *Machine) Believes(e market.PoolCreated) bool { return m.believes(e) }

func (m *Machine) believes(e market.PoolCreated) bool {
	f := m.factories[e.Factory]
	return f != nil && f.protocol == e.Protocol
}

// IsQuote reports whether a token is a declared quote asset; the native coin counts as its wrapped form.
func (m *Machine) IsQuote(token market.Address) bool { return m.isQuote(m.Canonical(token)) }

func (m *Machine) isQuote(token market.Address) bool {
	_, ok := m.quoteRank[token]
	return ok
}

// Tracked reports whether a pool of these tokens is tracked: one side is a declared quote asset, and the other is something else.
// Uniswap V4 has pools of the native coin and its wrapped form, which exchange a coin for itself.
func (m *Machine) Tracked(token0, token1 market.Address) bool {
	return m.Canonical(token0) != m.Canonical(token1) && (m.IsQuote(token0) || m.IsQuote(token1))
}

// Canonical is the token that stands for an address: the wrapped form for the native coin, which Uniswap V4
// trades as it is.
func (m *Machine) Canonical(token market.Address) market.Address {
	if token.IsNative() {
		return m.wrapped
	}
	return token
}

// Apply derives blocks, which are in order and newer than the state's last block, and then moves the state on to
// until. The rows that LaunchKeys, Keys and MoreKeys name must have been put in. Blocks that were read with their transactions are all among them.
func (m *Machine) Apply(s *State, blocks []market.Block, until market.Header) error {
	s.funding.Pass(s.last.Number, s.last.Time)
	s.funding.Forget(s.last.Number - min(s.last.Number, m.reorgBlocks))
	for i := range blocks {
		b := &blocks[i]
		if b.Number <= s.last.Number && !s.last.Hash.IsZero() {
			return fmt.Errorf("derive block %d after block %d", b.Number, s.last.Number)
		}
		s.takePayments(b)
		if len(b.Txs) == 0 && len(b.Facts) == 0 {
			continue
		}
		m.advance(s, b.Number-1, b.Time)
		m.apply(s, b)
		s.last = b.Header
	}
	m.advance(s, until.Number, until.Time)
	s.last = until
	s.funding.Pass(until.Number, until.Time)
	return nil
}

// advance does what blocks and time do by passing: candles leave the window, trades have waited too long, and candidates become reference
// pools. Both change what quotes are worth, now or before the window.
func (m *Machine) advance(s *State, through uint64, now int64) {
	if s.last.Time > 0 {
		for open := minute(s.last.Time) - windowSeconds + 60; open <= minute(now)-windowSeconds; open += 60 {
			for _, id := range s.minutes[open] {
				m.expire(s, market.CandleKey{Pool: id, Interval: 60, Open: open})
			}
			delete(s.minutes, open)
			if len(s.minutes) == 0 {
				break
			}
		}
	}
	s.waiting.expire(now)
	adopted := false
	for mint, due := range s.pending {
		if due.passed(through, now) {
			m.adopt(s, mint)
			adopted = adopted || m.isQuote(mint)
		}
	}
	if adopted {
		for _, q := range m.quotes {
			m.priceQuote(s, q)
		}
	}
	m.priceQuotesOfThen(s) // by the reference pools as they are by now
}
