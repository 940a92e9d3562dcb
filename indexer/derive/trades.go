package derive

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// trades are the block's trades: who made them, what they are worth, and the candles and windows that they count in.
type trades struct {
	*work
	pools *pools
	// swaps wait for the block's close to be valued.
	swaps []market.Trade
	// byQuote has the places in swaps of those whose trader only the quote tells.
	byQuote map[int]bool
	// liquidity has what the pools of watched wallets' swaps were worth before the block, in USD, by the places in swaps.
	liquidity map[int]float64
	ledger    ledger
}

func (tr *trades) swap(tx *market.Tx, i int, e market.Swap) {
	p := tr.pools.touch(e.Pool)
	if p == nil {
		return
	}
	if p.Protocol.TellsPrice() && !e.SqrtPriceX96.IsZero() {
		p.SqrtPriceX96, p.Liquidity, p.Tick = e.SqrtPriceX96, price.LiquidityAfter(p, &e), e.Tick
	}
	base, quoteSide := e.Amount0, e.Amount1
	if !p.BaseIs0 {
		base, quoteSide = quoteSide, base
	}
	if base.IsZero() || quoteSide.IsZero() || base.Neg == quoteSide.Neg {
		return // a donation or dust that moved one side alone: no trade
	}
	trader, byQuote := tr.trader(tx, i, e, p)
	if byQuote {
		tr.byQuote[len(tr.swaps)] = true
	}
	if tr.s.isWatched(trader) {
		tr.liquidity[len(tr.swaps)] = p.Locked * tr.s.usd(p.Quote)
	}
	tr.swaps = append(tr.swaps, market.Trade{
		Block: tr.b.Number, LogIndex: tx.Logs[i].Index, Time: tr.b.Time, Tx: tx.ID,
		Pool: p.ID, Base: p.Base, Trader: trader, Sell: !base.Neg,
		BaseAmount: base.Abs, QuoteAmount: quoteSide.Abs,
	})
}

// value values the block's swaps at its close and books them: rows, candles, windows. Those of a pool whose liquidity isn't known wait, and those of one
// that has too little are valued for watched wallets alone.
func (tr *trades) value() {
	native := tr.s.usd(tr.wrapped)
	for i := range tr.swaps {
		t := &tr.swaps[i]
		p := tr.s.pools.get(t.Pool)
		quoteToken := tr.s.tokens.get(p.Quote)
		quoteUSD := tr.s.usd(p.Quote)
		if quoteToken == nil || !quoteToken.HasDecimals {
			continue
		}
		enough, undecided := tr.hasEnough(p, quoteUSD), false
		if !enough {
			undecided = tr.isUndecided(p, quoteUSD)
		}
		if !enough && !undecided && !tr.s.isWatched(t.Trader) {
			continue
		}
		t.NanoUSD, t.HasUSD = price.NanoUSD(&t.QuoteAmount, quoteToken.Decimals, quoteUSD)
		t.CloseUSD = p.Price * quoteUSD
		switch {
		case p.Quote == tr.wrapped:
			t.CloseNative = p.Price
		case native > 0:
			t.CloseNative = t.CloseUSD / native
		}
		switch {
		case enough:
			tr.s.trades = append(tr.s.trades, *t)
			tr.book(t)
		case undecided:
			tr.s.waiting.add(t)
		}
	}
}

// hasEnough reports whether a pool's liquidity is as much as a pool has to have whose trades are kept, or whether they are kept all the same.
func (tr *trades) hasEnough(p *market.Pool, quoteUSD float64) bool {
	return p.Locked*quoteUSD >= tr.minUSD || p.Untrusted == market.Trusted && tr.s.Launched(p.Base)
}

// book adds a trade to its pool's candles and window.
func (tr *trades) book(t *market.Trade) {
	p := tr.s.pools.edit(t.Pool)
	var nano market.Amount
	if t.HasUSD {
		nano.SetUint64(uint64(t.NanoUSD))
	}
	for _, interval := range market.StoredIntervals {
		key := candleKey(t.Pool, interval, t.Time)
		fresh := tr.s.candles.get(key) == nil
		c := tr.s.candles.edit(key)
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
			tr.s.minutes[key.Open] = append(tr.s.minutes[key.Open], t.Pool)
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

// closeInQuote is the last price of a minute, in whole quotes; 0 if it isn't known.
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

// traded are the pools in which the block trades.
func (tr *trades) traded() map[market.Address]bool {
	out := make(map[market.Address]bool, len(tr.swaps))
	for i := range tr.swaps {
		out[tr.swaps[i].Pool] = true
	}
	return out
}
