package derive

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

func (r *run) swap(tx *market.Tx, i int, e market.Swap) {
	p := r.touch(e.Pool)
	if p == nil {
		return
	}
	if p.Protocol.Concentrated() && !e.SqrtPriceX96.IsZero() {
		p.SqrtPriceX96, p.Liquidity, p.Tick = e.SqrtPriceX96, e.Liquidity, e.Tick
	}
	base, quoteSide := e.Amount0, e.Amount1
	if !p.BaseIs0 {
		base, quoteSide = quoteSide, base
	}
	if base.IsZero() || quoteSide.IsZero() || base.Neg == quoteSide.Neg {
		return // a donation or dust that moved one side alone: no trade
	}
	trader, byQuote := r.trader(tx, i, e, p)
	if byQuote {
		r.byQuote[len(r.swaps)] = true
	}
	r.swaps = append(r.swaps, market.Trade{
		Block: r.b.Number, LogIndex: tx.Logs[i].Index, Time: r.b.Time, Tx: tx.ID,
		Pool: p.ID, Base: p.Base, Trader: trader, Sell: !base.Neg,
		BaseAmount: base.Abs, QuoteAmount: quoteSide.Abs,
	})
}

// valueSwaps values the block's swaps at its close and books them: rows, candles, windows. Those of a pool whose liquidity isn't known wait.
func (r *run) valueSwaps() {
	native := r.s.usd(r.wrapped)
	for i := range r.swaps {
		t := &r.swaps[i]
		p := r.s.pools.get(t.Pool)
		quoteToken := r.s.tokens.get(p.Quote)
		quoteUSD := r.s.usd(p.Quote)
		if quoteToken == nil || !quoteToken.HasDecimals {
			continue
		}
		enough := r.hasEnough(p, quoteUSD)
		if !enough && !r.isUndecided(p, quoteUSD) {
			continue
		}
		t.NanoUSD, t.HasUSD = price.NanoUSD(&t.QuoteAmount, quoteToken.Decimals, quoteUSD)
		t.CloseUSD = p.Price * quoteUSD
		switch {
		case p.Quote == r.wrapped:
			t.CloseNative = p.Price
		case native > 0:
			t.CloseNative = t.CloseUSD / native
		}
		if !enough {
			r.s.waiting.add(t)
			continue
		}
		r.s.trades = append(r.s.trades, *t)
		r.book(t)
	}
}

// hasEnough reports whether a pool's liquidity is as much as a pool has to have whose trades are kept, or whether they are kept all the same.
func (r *run) hasEnough(p *market.Pool, quoteUSD float64) bool {
	return p.Locked*quoteUSD >= r.minUSD || p.Untrusted == market.Trusted && r.s.Launched(p.Base)
}

// book adds a trade to its pool's candles and window.
func (r *run) book(t *market.Trade) {
	p := r.s.pools.edit(t.Pool)
	var nano market.Amount
	if t.HasUSD {
		nano.SetUint64(uint64(t.NanoUSD))
	}
	for _, interval := range market.StoredIntervals {
		key := candleKey(t.Pool, interval, t.Time)
		fresh := r.s.candles.get(key) == nil
		c := r.s.candles.edit(key)
		c.CandleKey, c.LastBlock = key, t.Block
		if t.CloseUSD > 0 {
			c.USD.Add(t.CloseUSD)
		}
		if t.CloseNative > 0 {
			c.Native.Add(t.CloseNative)
		}
		c.VolumeUSD.Add(&c.VolumeUSD, &nano)
		c.VolumeQuote.Add(&c.VolumeQuote, &t.QuoteAmount)
		c.VolumeBase.Add(&c.VolumeBase, &t.BaseAmount)
		if t.Sell {
			c.Sells++
		} else {
			c.Buys++
		}
		if fresh && interval == 60 {
			r.s.minutes[key.Open] = append(r.s.minutes[key.Open], t.Pool)
		}
	}
	p.LastTradeAt = t.Time
	p.Day.VolumeUSD.Add(&p.Day.VolumeUSD, &nano)
	if t.Sell {
		p.Day.Sells++
	} else {
		p.Day.Buys++
	}
	if p.Day.ReferenceUSD == 0 {
		p.Day.ReferenceUSD = t.CloseUSD
	}
}

// expire takes a minute out of its pool's window.
func (m *Machine) expire(s *State, key market.CandleKey) {
	c := s.candles.get(key)
	if c == nil || s.pools.get(key.Pool) == nil {
		return
	}
	p := s.pools.edit(key.Pool)
	p.Day.VolumeUSD.Sub(&p.Day.VolumeUSD, &c.VolumeUSD)
	p.Day.Buys -= c.Buys
	p.Day.Sells -= c.Sells
	if c.USD.Close > 0 {
		p.Day.ReferenceUSD, p.Day.ReferenceQuote = c.USD.Close, m.closeInQuote(s, p.Quote, c)
	}
}

// closeInQuote is what a minute ended at in whole quotes; 0 when nothing tells that.
func (m *Machine) closeInQuote(s *State, quote market.Address, c *market.Candle) float64 {
	ended := price.Close{USD: c.USD.Close, Native: c.Native.Close, VolumeUSD: c.VolumeUSD.Float64() / 1e9}
	if t := s.tokens.get(quote); t != nil && t.HasDecimals {
		ended.VolumeQuote = price.Whole(&c.VolumeQuote, t.Decimals)
	}
	peg := 0.
	if q := s.quotes.get(quote); q != nil && q.Pegged {
		peg = q.USD
	}
	return ended.InQuote(quote == m.wrapped, peg)
}
