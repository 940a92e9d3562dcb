package tokens

import (
	"cmp"
	"context"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/read/series"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
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

func (h *Handlers) chart(r *serve.Request) (*serve.Answer, error) {
	from, to := optional(r, "from"), optional(r, "to")
	if from >= 0 && to >= 0 && from > to {
		return nil, serve.BadParameters(contract.ParameterError{
			In: contract.ParameterErrorInQuery, Name: "from", Reason: "must not be after to", Max: new(float64(to)),
		})
	}
	s, err := lookup.Named(r, h.Readers.Tokens, "mint")
	if err != nil {
		return nil, err
	}
	pool, err := pairOfSubject(s, r.Text("pair"))
	if err != nil {
		return nil, err
	}
	tf := contract.Timeframe(r.Text("tf"))
	over := series.Window(widths[tf], from, to, r.Number("limit"), s.AsOf)
	over.Fill = r.Flag("fill")
	in := candle.USD
	if contract.Currency(r.Text("currency")) == contract.CurrencyNative {
		in = candle.Native
	}
	bars, err := h.readBars(r.Context(), s, pool, tf, over, in)
	if err != nil {
		return nil, err
	}
	body := any(bars.json(s))
	if r.Text("format") == "udf" {
		body = bars.udf()
	}
	out, err := serve.Encode(body)
	// The default pair and chain can change, an answer of a named pair's past can't.
	if err == nil && r.Given("pair") && r.Given("chain") && bars.IsClosed() {
		out.Freshness = serve.Closed
	}
	return out, err
}

// optional is a number that may be left out, then -1.
func optional(r *serve.Request, name string) int64 {
	if !r.Given(name) {
		return -1
	}
	return r.Number(name)
}

// pairOfSubject is the pool that is asked for, by default the one that prices the token; nil when there is none.
func pairOfSubject(s *lookup.Token, id string) (*market.Pool, error) {
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

// bars are bars with the name of their width.
type bars struct {
	*series.Bars
	tf contract.Timeframe
}

// readBars reads the bars of one of a subject's pools in USD or the chain's own coin.
func (h *Handlers) readBars(ctx context.Context, s *lookup.Token, pool *market.Pool, tf contract.Timeframe, over series.Span, in candle.Currency) (*bars, error) {
	list, err := series.Read(ctx, h.Readers.Series, &s.Token, pool, over, in)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	return &bars{list, tf}, list.FillGaps()
}

// asOf is the time and the block of what a series reflects. A closed one's are those of its last bucket, whatever happens later; an
// open one's are those of the pair's last trade, or the token's where none is known. A closed one has no block where none is known of
// a trade before its end.
func (b *bars) asOf() (contract.Timestamp, contract.Blocks) {
	newest := b.Before.LastBlock
	for i := range b.List {
		newest = max(newest, b.List[i].LastBlock)
	}
	if b.Pool == nil || (newest == 0 && !b.IsClosed()) {
		return wire.Timestamp(b.Token.Changed.At), wire.Blocks(b.Token)
	}
	out := contract.Blocks{}
	wire.NoteBlock(out, b.Token.Chain, newest)
	if !b.IsClosed() {
		return wire.Timestamp(cmp.Or(b.Pool.LastTradeAt, b.Pool.CreatedAt, b.Token.Token.FirstSeenAt)), out
	}
	if ref, ok := out[b.Token.Chain]; ok {
		ref.Finality = contract.FinalityFinal
		out[b.Token.Chain] = ref
	}
	return wire.Timestamp(b.To), out
}

// json is the series in the API's own shape.
func (b *bars) json(s *lookup.Token) contract.CandleSeries {
	why := wire.NewNotes(&s.Token)
	out := contract.CandleSeries{
		Mint: s.Token.Token.Mint.String(), Chain: s.Chain, ChainCandidates: s.Candidates, Symbol: s.Token.Token.Symbol,
		Currency: contract.CurrencyUSD, Tf: b.tf, IntervalS: int(b.Width), From: b.From, To: b.To, GapsFilled: b.Fill,
		Stale: s.Stale, Candles: make([]contract.Candle, 0, len(b.List)),
		FigureSources: why.Sources, UnknownReasons: why.Unknown,
	}
	if b.In == candle.Native {
		out.Currency = contract.CurrencyNative
	}
	out.AsOf, out.Blocks = b.asOf()
	why.Note("candles", true, "chain_swaps")
	if b.Pool != nil {
		out.Pair = new(b.Pool.ID.String())
	}
	why.Note("pair", out.Pair != nil, "")
	out.PairKind = why.PairKind(b.Pool)
	for i := range b.List {
		bar := &b.List[i]
		out.Candles = append(out.Candles, contract.Candle{
			T: bar.Open, O: wire.Rounded(bar.OHLC.Open), H: wire.Rounded(bar.High), L: wire.Rounded(bar.Low), C: wire.Rounded(bar.Close),
			V: wire.Rounded(bar.VolumeUSD), N: int(bar.Trades), Fill: bar.Filled, Final: bar.Open+int64(b.Width) <= b.FinalAt(),
		})
	}
	return out
}

// udf is the series in the columns of the Universal Data Feed.
func (b *bars) udf() contract.UDFHistory {
	out := contract.UDFHistory{
		S: contract.UDFHistorySNoData, T: []int64{}, O: []float64{}, H: []float64{}, L: []float64{}, C: []float64{}, V: []float64{},
	}
	for i := range b.List {
		bar := &b.List[i]
		out.S = contract.UDFHistorySOk
		out.T = append(out.T, bar.Open)
		out.O = append(out.O, wire.Rounded(bar.OHLC.Open))
		out.H = append(out.H, wire.Rounded(bar.High))
		out.L = append(out.L, wire.Rounded(bar.Low))
		out.C = append(out.C, wire.Rounded(bar.Close))
		out.V = append(out.V, wire.Rounded(bar.VolumeUSD))
	}
	if len(b.List) == 0 && b.Before.Close > 0 {
		out.NextTime = &b.Before.Open
	}
	return out
}

func (h *Handlers) candles(r *serve.Request) (*serve.Answer, error) {
	s, err := lookup.Named(r, h.Readers.Tokens, "mint")
	if err != nil {
		return nil, err
	}
	name, pool := contract.CandleRange(r.Text("range")), s.Reference()
	fits, count := ranges[name].tf, ranges[name].count
	if name == contract.CandleRangeAll {
		if fits, count, err = h.allBuckets(r.Context(), s, pool); err != nil {
			return nil, err
		}
	}
	bars, err := h.readBars(r.Context(), s, pool, fits, series.Window(widths[fits], -1, -1, count, s.AsOf), candle.USD)
	if err != nil {
		return nil, err
	}
	return serve.Encode(contract.TokenCandles{CandleSeries: bars.json(s), Range: name})
}

// allBuckets is how all of a pool's past is cut: in days, up to 1000 of them, else in weeks.
func (h *Handlers) allBuckets(ctx context.Context, s *lookup.Token, pool *market.Pool) (contract.Timeframe, int64, error) {
	if pool == nil {
		return contract.TimeframeD1, 1, nil
	}
	first, ok, err := h.Readers.Series.FirstCandle(ctx, s.Chain, pool.ID)
	if err != nil {
		return "", 0, serve.Unavailable(err)
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

func pairNotFound(mint, chain, detail string) error {
	p := serve.NewProblem("pair-not-found", detail)
	p.Mint, p.Chain = mint, chain
	return p
}
