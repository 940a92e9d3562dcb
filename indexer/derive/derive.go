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
	wrapped   market.Address
	quotes    []quote
	quoteRank map[market.Address]int
	majors    map[market.Address]bool
	factories map[market.Address]*factory
	followAll bool
	minUSD    float64
	// venueContracts are those that launch venues declare. They hold tokens without being holders.
	venueContracts map[market.Address]bool
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
		wrapped: c.Native.Wrapped, followAll: c.Tracking.Holders == chainconfig.HoldersAll, minUSD: c.Tracking.MinLiquidityUSD,
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
	}
	for _, v := range c.Venues {
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

// uncounted reports whether an account holds tokens without being a holder, whatever the token: pools have their own mark.
func (m *Machine) uncounted(s *State, account market.Address) bool {
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
// until. The rows that LaunchKeys, Keys and MoreKeys name must have been put in.
func (m *Machine) Apply(s *State, blocks []market.Block, until market.Header) error {
	for i := range blocks {
		b := &blocks[i]
		if b.Number <= s.last.Number && !s.last.Hash.IsZero() {
			return fmt.Errorf("derive block %d after block %d", b.Number, s.last.Number)
		}
		if len(b.Txs) == 0 && len(b.Facts) == 0 {
			continue
		}
		m.advance(s, b.Number-1, b.Time)
		m.apply(s, b)
		s.last = b.Header
	}
	m.advance(s, until.Number, until.Time)
	s.last = until
	return nil
}

// advance does what the passing of blocks and time does by itself: buckets leave the window, trades have waited too long, and reference pools that were waited for change
// hands; with either quotes are worth something else, now or before the window.
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

// run is the work of one block.
type run struct {
	*Machine
	s *State
	b *market.Block
	// touched are the pools whose state changed, in the order of their first change.
	touched   []market.Address
	isTouched map[market.Address]bool
	// begun are the tokens whose transfers are followed from this block on.
	begun map[market.Address]bool
	// swaps wait for the block's close to be valued.
	swaps []market.Trade
	// byQuote has the places in swaps of those whose trader only the quote tells.
	byQuote   map[int]bool
	transfers uint32
	ledger    ledger
	announced []announced
	vouched   []vouched
	named     map[market.Address]bool // tokens with a graduation whose log names the pool
	placed    []market.Address        // tokens whose launch may have got a pool in the block
	told      map[market.Address]told
	// opening are the states of curves before their first trade, of those that were launched or first traded in the block.
	opening map[market.Address]market.CurveReserves
	// opened are the states of pools with their first liquidity, of those that got it in the block.
	opened map[market.Address]market.Pool
	// ownTicks are the pools whose tick maps the block has copied.
	ownTicks map[market.Address]bool
	// taken is what curves take, as their contracts answered.
	taken map[market.CurveKey]market.Address
}

func (m *Machine) apply(s *State, b *market.Block) {
	r := &run{
		Machine: m, s: s, b: b, isTouched: make(map[market.Address]bool), told: make(map[market.Address]told),
		opening: make(map[market.Address]market.CurveReserves), opened: make(map[market.Address]market.Pool),
		ownTicks: make(map[market.Address]bool),
		byQuote:  make(map[int]bool),
		begun:    make(map[market.Address]bool), named: make(map[market.Address]bool),
		taken: make(map[market.CurveKey]market.Address),
	}
	r.announce()
	for _, f := range b.Facts {
		switch f := f.(type) {
		case market.TokenFact:
			r.tokenFact(f)
		case market.PoolFact:
			if f.Known {
				r.poolKnown(f.Info, false)
			}
		case market.PoolStateFact:
			r.poolState(f)
		case market.SupplyFact:
			r.sampleSupply(f)
		case market.BalanceFact:
			r.sample(f)
		case market.CurveFact:
			if f.Known {
				r.taken[f.CurveKey] = f.Quote
			}
		}
	}
	for i := range b.Txs {
		tx := &b.Txs[i]
		swaps := len(r.swaps)
		r.launches(tx)
		for j := range tx.Logs {
			r.event(tx, j)
		}
		r.dropIntermediaries(tx, swaps)
		r.settle(tx, swaps)
	}
	for _, f := range b.Facts {
		if f, ok := f.(market.TokenFact); ok && f.HasSupply {
			r.supply(f.Token, f.Supply)
		}
	}
	r.close()
	clear(s.announced) // all of them have rows by now
}

func (r *run) event(tx *market.Tx, i int) {
	switch e := tx.Logs[i].Event.(type) {
	case market.Transfer:
		r.transfer(e)
	case market.Wrap:
		r.wrap(tx, e)
	case market.PoolCreated:
		if r.believes(e) {
			r.poolKnown(pricedBefore(tx.Logs[:i], e), true)
		}
	case market.Reserves:
		if p := r.touch(e.Pool); p != nil {
			first := p.Reserve0.IsZero() && p.Reserve1.IsZero()
			p.Reserve0, p.Reserve1 = e.Reserve0, e.Reserve1
			if first {
				r.opened[e.Pool] = *p
			}
		}
	case market.PoolPriced:
		if p := r.touch(e.Pool); p != nil {
			p.SqrtPriceX96, p.Tick = e.SqrtPriceX96, e.Tick
		}
	case market.RangeLiquidity:
		r.rangeLiquidity(e)
	case market.Swap:
		r.swap(tx, i, e)
	default:
		r.launchEvent(tx, i)
	}
}

// touch is the tracked pool for changing; nil for one that isn't tracked.
func (r *run) touch(id market.Address) *market.Pool {
	if r.s.pools.get(id) == nil {
		return nil
	}
	if !r.isTouched[id] {
		r.isTouched[id] = true
		r.touched = append(r.touched, id)
	}
	return r.s.pools.edit(id)
}

// token is the token's row for changing; it is made on the token's first mention.
func (r *run) token(mint market.Address) *market.Token {
	if t := r.s.tokens.get(mint); t != nil {
		return r.s.tokens.edit(mint)
	}
	t := r.s.tokens.edit(mint)
	*t = market.Token{Mint: mint, FirstBlock: r.b.Number, FirstSeenAt: r.b.Time}
	if r.Follows(r.s, mint) {
		r.follow(t)
	}
	return t
}

// follow begins to queue a token's transfers, with this block's first.
func (r *run) follow(t *market.Token) {
	t.Holders.Status = market.HoldersIndexing
	r.begun[t.Mint] = true
}

func (r *run) tokenFact(f market.TokenFact) {
	t := r.token(f.Token)
	t.Name, t.Symbol, t.HasDecimals, t.Decimals = f.Name, f.Symbol, f.HasDecimals, f.Decimals
	if r.begun[f.Token] && f.FromCreation && t.Holders.Status == market.HoldersIndexing {
		t.Holders.Status, t.SinceCreation = market.HoldersCurrent, true
	}
}
