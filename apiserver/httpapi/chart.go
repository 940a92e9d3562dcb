package httpapi

import (
	"cmp"
	"context"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// widths are the widths of the timeframes.
var widths = map[contract.Timeframe]candle.Width{
	contract.TimeframeS1: 1, contract.TimeframeS15: 15, contract.TimeframeS30: 30,
	contract.TimeframeM1: candle.Minute, contract.TimeframeM3: 3 * candle.Minute, contract.TimeframeM5: 5 * candle.Minute,
	contract.TimeframeM15: 15 * candle.Minute, contract.TimeframeM30: 30 * candle.Minute,
	contract.TimeframeH1: candle.Hour, contract.TimeframeH2: 2 * candle.Hour, contract.TimeframeH4: 4 * candle.Hour,
	contract.TimeframeH6: 6 * candle.Hour, contract.TimeframeH12: 12 * candle.Hour,
	contract.TimeframeD1: candle.Day, contract.TimeframeW1: candle.Week,
}

// ranges are the windows of the candles endpoint: the timeframe that fits each, and how many buckets that makes.
var ranges = map[contract.CandleRange]struct {
	tf    contract.Timeframe
	count int64
}{
	contract.CandleRangeH1:  {contract.TimeframeM1, 60},
	contract.CandleRangeH6:  {contract.TimeframeM5, 72},
	contract.CandleRangeH24: {contract.TimeframeM15, 96},
	contract.CandleRangeD7:  {contract.TimeframeH1, 168},
	contract.CandleRangeD30: {contract.TimeframeH4, 180},
	contract.CandleRangeD90: {contract.TimeframeH12, 180},
	contract.CandleRangeY1:  {contract.TimeframeD1, 365},
}

// span is what a series is to cover: whole buckets in [from, to), unix seconds.
type span struct {
	tf       contract.Timeframe
	width    candle.Width
	from, to int64
	fill     bool
}

// newSpan is a filled span of a documented timeframe, its ends still open.
func newSpan(tf string) span {
	return span{tf: contract.Timeframe(tf), width: widths[contract.Timeframe(tf)], fill: true}
}

func (a *API) chart(r *request) (*answer, error) {
	from, to := optional(r, "from"), optional(r, "to")
	if from >= 0 && to >= 0 && from > to {
		return nil, badParameters(contract.ParameterError{
			In: contract.ParameterErrorInQuery, Name: "from", Reason: "must not be after to", Max: new(float64(to)),
		})
	}
	s, err := a.subject(r, "mint")
	if err != nil {
		return nil, err
	}
	pool, err := s.pair(r.text("pair"))
	if err != nil {
		return nil, err
	}
	over := newSpan(r.text("tf"))
	over.from, over.to = window(over.width, from, to, r.number("limit"), s.AsOf)
	over.fill = r.flag("fill")
	in := candle.USD
	if contract.Currency(r.text("currency")) == contract.CurrencyNative {
		in = candle.Native
	}
	bars, err := a.bars(r.Context(), s, pool, over, in)
	if err != nil {
		return nil, err
	}
	body := any(bars.json())
	if r.text("format") == "udf" {
		body = bars.udf()
	}
	out, err := encode(body)
	// The default pair and chain can change, an answer of a named pair's past can't.
	if err == nil && r.given("pair") && r.given("chain") && bars.closed() {
		out.freshness = closed
	}
	return out, err
}

// optional is a number that may be left out, then -1.
func optional(r *request, name string) int64 {
	if !r.given(name) {
		return -1
	}
	return r.number(name)
}

// window is the range of whole buckets that is meant, at most limit of them; -1 is not given.
func window(w candle.Width, from, to, limit, now int64) (first, end int64) {
	width := int64(w)
	up := func(t int64) int64 {
		if open := w.Open(t); open < t {
			return open + width
		} else {
			return open
		}
	}
	newest := w.Open(now) + width // the end of the bucket of now: nothing is known of what comes after it
	switch {
	case to >= 0 && from >= 0:
		end = min(up(to), newest)
		first = max(w.Open(from), end-limit*width)
	case to >= 0:
		end = min(up(to), newest)
		first = end - limit*width
	case from >= 0:
		first = w.Open(from)
		end = min(first+limit*width, max(newest, first))
	default:
		end = newest
		first = end - limit*width
	}
	first = max(first, w.Open(0)) // which for weeks is the Monday before
	return first, max(end, first)
}

// pair is the pool that is asked for, by default the one that prices the token; nil when there is none.
func (s *subject) pair(id string) (*market.Pool, error) {
	if id == "" {
		return s.Reference(), nil
	}
	want, err := market.ParseAddress(id)
	if err == nil {
		for i := range s.Pools {
			if s.Pools[i].ID == want {
				return &s.Pools[i], nil
			}
		}
	}
	return nil, pairNotFound(s.Token.Token.Mint.String(), s.Chain, "The token has no such pair.")
}

// finalAt is the time up to which nothing changes any more: final, and indexed.
func (s *subject) finalAt() int64 { return min(s.FinalAt, s.AsOf) }

// bars are the bars of a subject's pool over a span.
type bars struct {
	span

	of   *subject
	pool *market.Pool // nil when the token has none
	in   candle.Currency
	list []candle.Bar
	// before is the newest bar before the span; its close is 0 when there is none.
	before candle.Bar
}

func (a *API) bars(ctx context.Context, s *subject, pool *market.Pool, over span, in candle.Currency) (*bars, error) {
	out := &bars{span: over, of: s, pool: pool, in: in}
	if pool == nil {
		return out, nil
	}
	// Nothing is known of buckets that have not begun.
	end := min(over.to, over.width.Open(s.AsOf)+int64(over.width))
	if ticks, ok := view.TicksFrom(over.width, s.AsOf); ok {
		out.from = max(over.from, min(ticks, over.to))
		if over.to <= ticks {
			return out, nil // trades as old as that aren't kept, nor what was before them
		}
	}
	var err error
	out.list, out.before, err = a.Series.Bars(ctx, s.Chain, pool.ID, over.width, min(out.from, end), end, in)
	if err != nil {
		return nil, unavailable(err)
	}
	if over.fill && out.from < end {
		out.list, err = candle.Fill(out.list, over.width, out.from, end, out.before.Close)
	}
	return out, err
}

// closed reports whether nothing in the span can change any more.
func (b *bars) closed() bool {
	return b.to <= b.of.finalAt() && b.width >= candle.Minute && !b.of.Stale && !b.mayGetTrades()
}

// mayGetTrades reports whether earlier trades of the pool may come in yet: those of a pool that is older than the index wait until its liquidity
// is known.
func (b *bars) mayGetTrades() bool {
	p := b.pool
	return p != nil && p.CreatedBlock == 0 && p.Protocol.Concentrated() && p.Untrusted == market.UntrustedTicks
}

// asOf is the time and the block of what a series reflects. A closed one's are those of its last bucket, whatever happens later; an
// open one's are those of the pair's last trade, or the token's where none is known. A closed one has no block where none is known of
// a trade before its end.
func (b *bars) asOf() (contract.Timestamp, contract.Blocks) {
	newest := b.before.LastBlock
	for i := range b.list {
		newest = max(newest, b.list[i].LastBlock)
	}
	if b.pool == nil || (newest == 0 && !b.closed()) {
		return timestamp(b.of.Changed.At), blocks(&b.of.Token)
	}
	out := contract.Blocks{}
	noteBlock(out, b.of.Chain, newest)
	if !b.closed() {
		return timestamp(cmp.Or(b.pool.LastTradeAt, b.pool.CreatedAt, b.of.Token.Token.FirstSeenAt)), out
	}
	if ref, ok := out[b.of.Chain]; ok {
		ref.Finality = contract.FinalityFinal
		out[b.of.Chain] = ref
	}
	return timestamp(b.to), out
}

// json is the series in the API's own shape.
func (b *bars) json() contract.CandleSeries {
	s := b.of
	why := newFigures(&s.Token)
	out := contract.CandleSeries{
		Mint: s.Token.Token.Mint.String(), Chain: s.Chain, ChainCandidates: s.candidates, Symbol: s.Token.Token.Symbol,
		Currency: contract.CurrencyUSD, Tf: b.tf, IntervalS: int(b.width), From: b.from, To: b.to, GapsFilled: b.fill,
		Stale: s.Stale, Candles: make([]contract.Candle, 0, len(b.list)),
		FigureSources: why.sources, UnknownReasons: why.unknown,
	}
	if b.in == candle.Native {
		out.Currency = contract.CurrencyNative
	}
	out.AsOf, out.Blocks = b.asOf()
	why.note("candles", true, "chain_swaps")
	if b.pool != nil {
		out.Pair = new(b.pool.ID.String())
	}
	why.note("pair", out.Pair != nil, "")
	out.PairKind = why.pairKind(b.pool)
	for i := range b.list {
		bar := &b.list[i]
		out.Candles = append(out.Candles, contract.Candle{
			T: bar.Open, O: rounded(bar.OHLC.Open), H: rounded(bar.High), L: rounded(bar.Low), C: rounded(bar.Close),
			V: rounded(bar.VolumeUSD), N: int(bar.Trades), Fill: bar.Filled, Final: bar.Open+int64(b.width) <= s.finalAt(),
		})
	}
	return out
}

// udf is the series in the columns of the Universal Data Feed.
func (b *bars) udf() contract.UDFHistory {
	out := contract.UDFHistory{
		S: contract.UDFHistorySNoData, T: []int64{}, O: []float64{}, H: []float64{}, L: []float64{}, C: []float64{}, V: []float64{},
	}
	for i := range b.list {
		bar := &b.list[i]
		out.S = contract.UDFHistorySOk
		out.T = append(out.T, bar.Open)
		out.O = append(out.O, rounded(bar.OHLC.Open))
		out.H = append(out.H, rounded(bar.High))
		out.L = append(out.L, rounded(bar.Low))
		out.C = append(out.C, rounded(bar.Close))
		out.V = append(out.V, rounded(bar.VolumeUSD))
	}
	if len(b.list) == 0 && b.before.Close > 0 {
		out.NextTime = &b.before.Open
	}
	return out
}

func (a *API) tokenCandles(r *request) (*answer, error) {
	s, err := a.subject(r, "mint")
	if err != nil {
		return nil, err
	}
	name, pool := contract.CandleRange(r.text("range")), s.Reference()
	fits, count := ranges[name].tf, ranges[name].count
	if name == contract.CandleRangeAll {
		if fits, count, err = a.allBuckets(r.Context(), s, pool); err != nil {
			return nil, err
		}
	}
	over := newSpan(string(fits))
	over.from, over.to = window(over.width, -1, -1, count, s.AsOf)
	bars, err := a.bars(r.Context(), s, pool, over, candle.USD)
	if err != nil {
		return nil, err
	}
	return encode(contract.TokenCandles{CandleSeries: bars.json(), Range: name})
}

// allBuckets is how all of a pool's past is cut: in days, up to 1000 of them, else in weeks.
func (a *API) allBuckets(ctx context.Context, s *subject, pool *market.Pool) (contract.Timeframe, int64, error) {
	if pool == nil {
		return contract.TimeframeD1, 1, nil
	}
	first, ok, err := a.Series.FirstCandle(ctx, s.Chain, pool.ID)
	if err != nil {
		return "", 0, unavailable(err)
	}
	if !ok {
		first = s.AsOf
	}
	buckets := func(w candle.Width) int64 { return (w.Open(s.AsOf)-w.Open(first))/int64(w) + 1 }
	if days := buckets(candle.Day); days <= candle.MaxBars {
		return contract.TimeframeD1, days, nil
	}
	return contract.TimeframeW1, min(buckets(candle.Week), candle.MaxBars), nil
}
