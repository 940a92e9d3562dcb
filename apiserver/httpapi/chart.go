package httpapi

import (
	"context"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// widths are the served timeframes, in the order of the document.
var widths = []struct {
	tf contract.Timeframe
	w  candle.Width
}{
	{contract.TimeframeS1, 1},
	{contract.TimeframeS15, 15},
	{contract.TimeframeS30, 30},
	{contract.TimeframeM1, candle.Minute},
	{contract.TimeframeM3, 3 * candle.Minute},
	{contract.TimeframeM5, 5 * candle.Minute},
	{contract.TimeframeM15, 15 * candle.Minute},
	{contract.TimeframeM30, 30 * candle.Minute},
	{contract.TimeframeH1, candle.Hour},
	{contract.TimeframeH2, 2 * candle.Hour},
	{contract.TimeframeH4, 4 * candle.Hour},
	{contract.TimeframeH6, 6 * candle.Hour},
	{contract.TimeframeH12, 12 * candle.Hour},
	{contract.TimeframeD1, candle.Day},
	{contract.TimeframeW1, candle.Week},
}

// ranges are the windows of the candles endpoint with the timeframe that fits each.
var ranges = []struct {
	name  contract.CandleRange
	tf    contract.Timeframe
	w     candle.Width
	count int64
}{
	{contract.CandleRangeH1, contract.TimeframeM1, candle.Minute, 60},
	{contract.CandleRangeH6, contract.TimeframeM5, 5 * candle.Minute, 72},
	{contract.CandleRangeH24, contract.TimeframeM15, 15 * candle.Minute, 96},
	{contract.CandleRangeD7, contract.TimeframeH1, candle.Hour, 168},
	{contract.CandleRangeD30, contract.TimeframeH4, 4 * candle.Hour, 180},
	{contract.CandleRangeD90, contract.TimeframeH12, 12 * candle.Hour, 180},
	{contract.CandleRangeY1, contract.TimeframeD1, candle.Day, 365},
	{contract.CandleRangeAll, contract.TimeframeD1, candle.Day, 0},
}

func pathVar(r *http.Request, name string) string { return mux.Vars(r)[name] }

// latestSecond is the end of the year 9999.
const latestSecond = 253402300799

func (a *API) chart(r *http.Request) (*answer, error) {
	q := newQuery(r)
	names := make([]string, len(widths))
	for i := range widths {
		names[i] = string(widths[i].tf)
	}
	tf := q.choice("tf", string(contract.TimeframeM15), names)
	from, to := q.integer("from", -1, 0, latestSecond), q.integer("to", -1, 0, latestSecond)
	limit, fill := q.integer("limit", 300, 1, candle.MaxBars), q.boolean("fill", true)
	pair := q.values.Get("pair")
	if pair != "" && !pairPattern.MatchString(pair) {
		q.bad("pair", "must be the address of a pair")
	}
	if from >= 0 && to >= 0 && from > to {
		q.bad("from", "must not be after to")
	}
	s, err := a.subject(r, "mint", q)
	if err != nil {
		return nil, err
	}
	pool, err := s.pair(pair)
	if err != nil {
		return nil, err
	}
	var w candle.Width
	for i := range widths {
		if string(widths[i].tf) == tf {
			w = widths[i].w
		}
	}
	from, to = window(w, from, to, limit, s.AsOf)
	series, err := a.series(r.Context(), s, pool, contract.Timeframe(tf), w, from, to, fill)
	if err != nil {
		return nil, err
	}
	out, err := encode(series)
	if err == nil {
		// The default pair and chain can change, an answer of a named pair's past can't.
		out.closed = pair != "" && q.values.Get("chain") != "" && to <= s.finalAt()
	}
	return out, err
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
	switch {
	case to >= 0 && from >= 0:
		end = up(to)
		first = max(w.Open(from), end-limit*width)
	case to >= 0:
		end = up(to)
		first = end - limit*width
	case from >= 0:
		first = w.Open(from)
		end = min(first+limit*width, max(w.Open(now)+width, first))
	default:
		end = w.Open(now) + width
		first = end - limit*width
	}
	return first, end
}

// pair is the pool that is asked for, by default the one that prices the token; nil when there is none.
func (s *subject) pair(id string) (*market.Pool, error) {
	if id == "" {
		return s.Reference(), nil
	}
	want, err := market.ParsePool(id)
	if err == nil {
		for i := range s.Pools {
			if s.Pools[i].ID == want {
				return &s.Pools[i], nil
			}
		}
	}
	return nil, pairNotFound(s.Token.Token.Mint.String(), s.Chain)
}

// finalAt is the time up to which nothing changes any more: final, and indexed.
func (s *subject) finalAt() int64 { return min(s.FinalAt, s.AsOf) }

func (a *API) series(ctx context.Context, s *subject, pool *market.Pool, tf contract.Timeframe, w candle.Width,
	from, to int64, fill bool,
) (contract.CandleSeries, error) {
	out := contract.CandleSeries{
		Mint: s.Token.Token.Mint.String(), Chain: s.Chain, ChainCandidates: s.candidates, Symbol: s.Token.Token.Symbol,
		Currency: contract.CurrencyUSD, Tf: tf, IntervalS: int(w), From: from, To: to, GapsFilled: fill,
		AsOf: timestamp(s.AsOf), Stale: s.Stale, Candles: []contract.Candle{},
		FigureSources: contract.FigureSources{"candles": "chain_swaps"},
	}
	if pool == nil {
		return out, nil
	}
	id := pool.ID.String()
	out.Pair = &id
	// Nothing is known of buckets that have not begun.
	end := min(to, w.Open(s.AsOf)+int64(w))
	bars, before, err := a.Series.Bars(ctx, s.Chain, pool.ID, w, from, end, candle.USD)
	if err != nil {
		return out, unavailable(err)
	}
	if fill && end > from {
		if bars, err = candle.Fill(bars, w, from, end, before); err != nil {
			return out, err
		}
	}
	for _, b := range bars {
		out.Candles = append(out.Candles, contract.Candle{
			T: b.Open, O: rounded(b.OHLC.Open), H: rounded(b.High), L: rounded(b.Low), C: rounded(b.Close),
			V: rounded(b.VolumeUSD), N: int(b.Trades), Fill: b.Filled, Final: b.Open+int64(w) <= s.finalAt(),
		})
	}
	return out, nil
}

func (a *API) tokenCandles(r *http.Request) (*answer, error) {
	q := newQuery(r)
	names := make([]string, len(ranges))
	for i := range ranges {
		names[i] = string(ranges[i].name)
	}
	name := q.choice("range", string(contract.CandleRangeH24), names)
	s, err := a.subject(r, "mint", q)
	if err != nil {
		return nil, err
	}
	pool := s.Reference()
	for _, c := range ranges {
		if string(c.name) != name {
			continue
		}
		tf, w, count := c.tf, c.w, c.count
		if c.name == contract.CandleRangeAll {
			if tf, w, count, err = a.allBuckets(r.Context(), s, pool); err != nil {
				return nil, err
			}
		}
		from, to := window(w, -1, -1, count, s.AsOf)
		series, err := a.series(r.Context(), s, pool, tf, w, from, to, true)
		if err != nil {
			return nil, err
		}
		return encode(contract.TokenCandles{CandleSeries: series, Range: c.name})
	}
	return nil, errInternal
}

// allBuckets is how all of a pool's past is cut: in days, up to 1000 of them, else in weeks.
func (a *API) allBuckets(ctx context.Context, s *subject, pool *market.Pool) (contract.Timeframe, candle.Width, int64, error) {
	if pool == nil {
		return contract.TimeframeD1, candle.Day, 1, nil
	}
	first, ok, err := a.Series.FirstCandle(ctx, s.Chain, pool.ID)
	if err != nil {
		return "", 0, 0, unavailable(err)
	}
	if !ok {
		first = s.AsOf
	}
	tf, w := contract.TimeframeD1, candle.Day
	count := (w.Open(s.AsOf)-w.Open(first))/int64(w) + 1
	if count > candle.MaxBars {
		tf, w = contract.TimeframeW1, candle.Week
		count = min((w.Open(s.AsOf)-w.Open(first))/int64(w)+1, candle.MaxBars)
	}
	return tf, w, count, nil
}
