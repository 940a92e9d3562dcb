package lab

import (
	"math"
	"math/rand/v2"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The functions of this file make rows of a world.

// blockAt is the number of the block at a time.
func blockAt(t int64) uint64 { return uint64((t - WorldEnd + WorldAge) / blockTime) }

// RawAmount is an amount of whole units in the smallest ones.
func RawAmount(whole float64, decimals uint8) (a market.Amount) {
	v := whole * math.Pow(10, float64(decimals))
	if v < 1<<53 {
		a.SetUint64(uint64(max(v, 0)))
		return a
	}
	fraction, exponent := math.Frexp(v)
	a.SetUint64(uint64(fraction * (1 << 53)))
	a.Lsh(&a, uint(exponent-53))
	return a
}

func (w *World) header() market.Header {
	return market.Header{Number: blockAt(WorldEnd), Hash: market.Hash{1}, Parent: market.Hash{2}, Time: WorldEnd}
}

func (w *World) chainOf(p *worldPool) *WorldChain { return &worldChains[w.Tokens[p.token].chain] }

func (c *WorldChain) quoteUSD(native bool) float64 {
	if native {
		return c.NativeUSD
	}
	return 1
}

func (w *World) tokenRow(i int) market.Token {
	t := &w.Tokens[i]
	rng := rand.New(rand.NewPCG(w.size.Seed, 4<<40|uint64(i)))
	return market.Token{
		Mint: t.Mint, Name: t.Name, Symbol: t.Symbol, HasDecimals: true, Decimals: t.decimals, HasSupply: true,
		Supply:     RawAmount(math.Pow(10, 6+float64(rng.IntN(7))), t.decimals),
		FirstBlock: blockAt(t.born), FirstSeenAt: t.born, Pool: w.pools[t.firstPool].id,
	}
}

func (w *World) poolRow(i int) market.Pool {
	p := &w.pools[i]
	t, c := &w.Tokens[p.token], w.chainOf(p)
	quote, digits := c.USD, c.USDDigits
	if p.native {
		quote, digits = c.Native, 18
	}
	price := p.price / c.quoteUSD(p.native)
	locked := p.lockedUSD / c.quoteUSD(p.native)
	row := market.Pool{
		ID: p.id, Protocol: market.UniswapV2, Factory: c.V2, Token0: t.Mint, Token1: quote, FeePips: 3000,
		CreatedBlock: blockAt(t.born), CreatedAt: t.born, Base: t.Mint, Quote: quote, BaseIs0: true,
		Price: price, Depth: locked / 100, Locked: locked, LastTradeAt: p.lastTrade, Day: p.day,
		Reserve0: RawAmount(locked/2/price, t.decimals), Reserve1: RawAmount(locked/2, digits),
	}
	if p.v3 {
		row.Protocol, row.Factory, row.TickSpacing = market.UniswapV3, c.V3, 60
		root := math.Sqrt(price * math.Pow(10, float64(digits)-float64(t.decimals)))
		row.SqrtPriceX96, row.Tick = RawAmount(math.Ldexp(root, 96), 0), int32(2*math.Log(root)/math.Log(1.0001))
		row.Liquidity = RawAmount(locked, 15)
	}
	if row.Token1.Compare(row.Token0) < 0 {
		row.Token0, row.Token1, row.BaseIs0 = row.Token1, row.Token0, false
		row.Reserve0, row.Reserve1 = row.Reserve1, row.Reserve0
	}
	return row
}

// tradeRow makes a trade's row, but for its place in the block.
func (w *World) tradeRow(t *worldTrade) market.Trade {
	p := &w.pools[t.pool]
	c, token := w.chainOf(p), &w.Tokens[p.token]
	digits := c.USDDigits
	if p.native {
		digits = 18
	}
	return market.Trade{
		Block: blockAt(t.time()), Time: t.time(), Pool: p.id, Base: token.Mint, Trader: w.address(5, int(t.trader)), Sell: t.sell,
		BaseAmount: RawAmount(float64(t.usd)/t.price, token.decimals), QuoteAmount: RawAmount(float64(t.usd)/c.quoteUSD(p.native), digits),
		NanoUSD: nano(t.usd), HasUSD: true, CloseUSD: t.price, CloseNative: t.price / c.NativeUSD,
	}
}

// Folder makes candles of all stored widths of trades that come in the order of their time.
type Folder struct {
	// Open are the newest candles of each pool.
	Open map[market.Address]*[len(market.StoredIntervals)]market.Candle
	emit func(market.Candle) error
}

// NewFolder gives candles that are closed to emit.
func NewFolder(emit func(market.Candle) error) *Folder {
	return &Folder{map[market.Address]*[len(market.StoredIntervals)]market.Candle{}, emit}
}

// Add takes the next trade.
func (f *Folder) Add(t *market.Trade) error {
	candles := f.Open[t.Pool]
	if candles == nil {
		candles = new([len(market.StoredIntervals)]market.Candle)
		f.Open[t.Pool] = candles
	}
	for i, interval := range market.StoredIntervals {
		c := &candles[i]
		key := market.CandleKey{Pool: t.Pool, Interval: interval, Open: t.Time - t.Time%int64(interval)}
		if c.CandleKey != key {
			if c.Interval != 0 {
				if err := f.emit(*c); err != nil {
					return err
				}
			}
			*c = market.Candle{CandleKey: key}
		}
		fold(c, t)
	}
	return nil
}

// fold adds a trade to a candle.
func fold(c *market.Candle, t *market.Trade) {
	var usd market.Amount
	usd.SetUint64(uint64(t.NanoUSD))
	c.USD.Add(t.CloseUSD)
	c.Native.Add(t.CloseNative)
	c.VolumeUSD.Add(&c.VolumeUSD, &usd)
	c.VolumeQuote.Add(&c.VolumeQuote, &t.QuoteAmount)
	c.VolumeBase.Add(&c.VolumeBase, &t.BaseAmount)
	c.LastBlock = t.Block
	if t.Sell {
		c.Sells++
	} else {
		c.Buys++
	}
}

// flush emits the candles that are still open.
func (f *Folder) flush() error {
	for pool, candles := range f.Open {
		for i := range candles {
			if err := f.emit(candles[i]); err != nil {
				return err
			}
		}
		delete(f.Open, pool)
	}
	return nil
}
