package derive

import (
	"github.com/boardwalkhq/boardwalk/indexer/derive/netchange"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// work is the block that is derived, with the rules and the state that it is derived by.
type work struct {
	*Machine
	s *State
	b *market.Block
}

// run derives one block. Each of its parts keeps what the block did to the rows of its own; a part knows those before it.
type run struct {
	work
	tokens     tokens
	pools      pools
	trades     trades
	launches   launches
	references references
	positions  positions
}

func newRun(m *Machine, s *State, b *market.Block) *run {
	r := &run{work: work{Machine: m, s: s, b: b}}
	r.tokens = tokens{work: &r.work, begun: make(map[market.Address]bool)}
	r.pools = pools{
		work: &r.work, tokens: &r.tokens, isTouched: make(map[market.Address]bool), opened: make(map[market.Address]market.Pool),
		ownTicks: make(map[market.Address]bool),
	}
	r.trades = trades{
		work: &r.work, pools: &r.pools, swaps: s.swaps[:0], byQuote: make(map[int]bool), liquidity: make(map[int]float64),
		ledger: ledger{traded: make(map[market.Address]bool), net: make(map[market.Address]netchange.Changes)},
	}
	r.launches = launches{
		work: &r.work, tokens: &r.tokens, pools: &r.pools, trades: &r.trades,
		named: make(map[market.Address]bool), told: make(map[market.Address]told),
		opening: make(map[market.Address]market.CurveReserves), taken: make(map[market.CurveKey]market.Address),
	}
	r.references = references{work: &r.work, pools: &r.pools, trades: &r.trades}
	r.positions = positions{work: &r.work, trades: &r.trades, touched: make(map[market.PositionKey]bool), charged: make(map[int]int64), gas: make(map[market.GasKey]market.Amount)}
	return r
}

func (m *Machine) apply(s *State, b *market.Block) {
	r := newRun(m, s, b)
	r.launches.announce()
	for _, f := range b.Facts {
		r.fact(f)
	}
	for i := range b.Txs {
		tx := &b.Txs[i]
		swaps := len(r.trades.swaps)
		r.launches.take(tx)
		for j := range tx.Logs {
			r.event(tx, j)
		}
		r.trades.dropIntermediaries(tx, swaps)
		r.trades.settle(tx, swaps)
		r.trades.fund(tx, swaps)
		r.positions.take(tx, swaps)
	}
	for _, f := range b.Facts {
		if f, ok := f.(market.TokenFact); ok && f.HasSupply {
			r.tokens.supply(f.Token, f.Supply)
		}
	}
	r.close()
	s.swaps = r.trades.swaps
	clear(s.announced) // all of them have rows by now
}

// fact takes in what was asked for the state before the block, or about its transactions.
func (r *run) fact(f market.Fact) {
	switch f := f.(type) {
	case market.TokenFact:
		r.tokens.describe(f)
	case market.PoolFact:
		if f.Known {
			r.pools.known(f.Info, false)
		}
	case market.PoolStateFact:
		r.pools.asked(f)
	case market.SupplyFact:
		r.tokens.sampleSupply(f)
	case market.BalanceFact:
		r.tokens.sample(f)
	case market.CurveFact:
		if f.Known {
			r.launches.taken[f.CurveKey] = f.Quote
		}
	case market.WatchFact:
		r.positions.watch(f)
	case market.HeldFact:
		r.positions.held(f)
	case market.PastFact:
		r.positions.takePast(f)
	case market.GasFact:
		if f.Known {
			r.positions.gas[f.GasKey] = f.Amount
		}
	}
}

// event takes in the i-th log of a transaction.
func (r *run) event(tx *market.Tx, i int) {
	switch e := tx.Logs[i].Event.(type) {
	case market.Transfer, market.Wrap, market.BalanceChange:
		if t, ok := r.transferOf(tx, e); ok {
			r.tokens.transfer(t)
		}
	case market.Withheld:
		r.tokens.withheld(e)
	case market.PoolCreated:
		if r.believes(e) {
			r.pools.known(pricedBefore(tx.Logs[:i], e), !e.Seen)
		}
	case market.Reserves:
		r.pools.reserves(e)
	case market.ReservesMoved:
		r.pools.reservesMoved(e)
	case market.PoolPriced:
		r.pools.priced(e)
	case market.RangeLiquidity:
		r.pools.rangeLiquidity(e)
	case market.Swap:
		r.trades.swap(tx, i, e)
	default:
		r.launches.event(tx, i)
	}
}

// close ends the block: pools are priced at its close, then quote assets, then the listed pools and the references are looked at, and
// only then is each trade valued.
func (r *run) close() {
	r.launches.settle()
	bases := newSet(func(market.Address) bool { return false })
	for _, id := range r.pools.touched {
		p := r.s.pools.edit(id)
		r.pools.leave(p)
		r.pools.reprice(p)
		bases.add(p.Base)
	}
	newcomers := r.references.newcomers()
	// Quote assets come first, by rank: what they are worth weighs the depth of everybody else's pools.
	for _, q := range r.quotes {
		if _, ok := bases.seen[q.asset]; ok {
			r.references.list(q.asset, newcomers[q.asset])
			r.references.choose(q.asset)
		} else if due, ok := r.s.pending[q.asset]; ok && due.passed(r.b.Number, r.b.Time) {
			r.adopt(r.s, q.asset)
		}
		r.priceQuote(r.s, q)
	}
	for _, mint := range bases.list {
		if _, isQuote := r.quoteRank[mint]; !isQuote {
			r.references.list(mint, newcomers[mint])
			r.references.choose(mint)
		}
	}
	for _, id := range r.pools.touched {
		r.pools.count(r.s.pools.edit(id))
	}
	r.launches.openWindows()
	r.trades.decideWaiting()
	r.trades.value()
	r.streamLaunches(bases.list)
	r.positions.close()
}
