package derive

import (
	"cmp"
	"math"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// A past block is derived by the same rules as a new one. It gets a State of its own, with the rows of tokens and pools as the database has them today. Of these rows
// only what never changes is used, such as a pool's two tokens. Prices do change: events of that time tell them (PastPrice).

// PastState makes the state on which a block of the past is derived. q are the quotes' prices with which an index begins.
func PastState(b *market.Block, wallet market.Address, q *market.Beginning) *State {
	return NewState(market.Beginning{
		Last: market.Header{Number: b.Number - 1}, Quotes: q.Quotes, OwnCurves: q.OwnCurves,
		Watched: []market.WatchedWallet{{Wallet: wallet, Since: math.MaxInt64}}, // none of it counts
	})
}

// OfWallet makes a block of the transactions that move tokens of a wallet, and leaves out all others.
func OfWallet(b *market.Block, wallet market.Address) market.Block {
	out := market.Block{Header: b.Header}
	for i := range b.Txs {
		if slices.ContainsFunc(b.Txs[i].Logs, func(l market.Log) bool {
			switch e := l.Event.(type) {
			case market.Transfer:
				return e.From == wallet || e.To == wallet
			case market.BalanceChange:
				return e.Owner == wallet
			default:
				return false
			}
		}) {
			out.Txs = append(out.Txs, b.Txs[i])
		}
	}
	return out
}

// PastPrice is an event that tells what a pool's base was worth.
type PastPrice struct {
	Pool  market.Pool
	Event market.Event
}

// PriceSources are, for each quote asset without a peg in whose pools a block trades, the pools that may price it: its reference pool first, then the others, the
// deepest first. The rows that the keys of the block name must have been put in.
func (m *Machine) PriceSources(s *State, b *market.Block) (list [][]market.Pool) {
	seen := map[market.Address]bool{}
	for i := range b.Txs {
		for _, l := range b.Txs[i].Logs {
			id, _ := poolOf(l.Event)
			p := s.pools.get(id)
			if p == nil || seen[p.Quote] || !m.isQuote(p.Quote) || m.quotes[m.quoteRank[p.Quote]].peg > 0 {
				continue
			}
			seen[p.Quote] = true
			if sources := m.priceSources(s, p.Quote); len(sources) > 0 {
				list = append(list, sources)
			}
		}
	}
	return list
}

func (m *Machine) priceSources(s *State, asset market.Address) (list []market.Pool) {
	t := s.tokens.get(asset)
	if t == nil {
		return nil
	}
	for _, id := range s.byBase[asset] {
		if p := s.pools.get(id); p != nil && p.Untrusted == market.Trusted && m.isQuote(p.Quote) && m.quotes[m.quoteRank[p.Quote]].peg > 0 {
			list = append(list, *p)
		}
	}
	depth := func(p *market.Pool) float64 {
		if p.ID == t.Pool {
			return math.Inf(1)
		}
		return p.Depth * s.usd(p.Quote)
	}
	slices.SortFunc(list, func(a, b market.Pool) int { return cmp.Or(cmp.Compare(depth(&b), depth(&a)), a.ID.Compare(b.ID)) })
	return list
}

// LastPriceIn is the last event of a block that tells a pool's price after it; ok is false where there is none.
func LastPriceIn(b *market.Block, pool *market.Pool) (e market.Event, ok bool) {
	for i := range b.Txs {
		for _, l := range b.Txs[i].Logs {
			switch of := l.Event.(type) {
			case market.Swap:
				if of.Pool == pool.ID && pool.Protocol.Concentrated() {
					e, ok = of, true
				}
			case market.Reserves:
				if of.Pool == pool.ID {
					e, ok = of, true
				}
			}
		}
	}
	return e, ok
}

// PastEntries derives what a block of the past did to the wallet of a PastState, whose rows must have been put in. prices are of then, of one of the sources of
// each quote asset; what is traded for a quote asset of which one is missing isn't valued.
func (m *Machine) PastEntries(s *State, b *market.Block, prices []PastPrice) ([]market.Entry, error) {
	for _, q := range m.quotes { // what they are worth by now says nothing
		if t := s.tokens.get(q.asset); t != nil {
			t = s.tokens.edit(q.asset)
			t.Pool = market.Address{}
			noCandidate(t)
		}
		s.byBase[q.asset] = nil
		delete(s.pending, q.asset)
	}
	told := *b
	if len(prices) > 0 {
		tx := market.Tx{}
		for _, p := range prices {
			s.tokens.edit(p.Pool.Base).Pool, s.byBase[p.Pool.Base] = p.Pool.ID, []market.Address{p.Pool.ID}
			tx.Logs = append(tx.Logs, market.Log{Event: p.Event})
		}
		told.Txs = append(slices.Clone(b.Txs), tx)
	}
	if err := m.Apply(s, []market.Block{told}, b.Header); err != nil {
		return nil, err
	}
	out := s.entries
	for i := range out { // the balances of then aren't known
		e := &out[i]
		*e = market.Entry{
			Wallet: e.Wallet, Block: e.Block, Seq: market.PastSeq + e.Seq, Time: e.Time, Tx: e.Tx, Token: e.Token, Kind: e.Kind, Pool: e.Pool, LogIndex: e.LogIndex, Amount: e.Amount,
			NanoUSD: e.NanoUSD, HasUSD: e.HasUSD, Fee: e.Fee,
		}
	}
	return out, nil
}
