package tokens

import (
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/series"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/candle"
)

// majorsKey selects majors.
type majorsKey struct{ query, chain string }

// majorsOrCandles is the list, or with a pair and a timeframe the candles of one major.
func (h *Handlers) majorsOrCandles(r *serve.Request) (*serve.Answer, error) {
	list := r.Seen.Majors
	if list == nil {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	chain := r.Text("chain")
	if chain != "" && r.Seen.Catalog.Chain(chain) == nil {
		return nil, r.UnsupportedChain("chain", chain)
	}
	if r.Given("pair") || r.Given("tf") {
		return h.majorCandles(r, list)
	}
	key := majorsKey{strings.ToLower(r.Text("q")), chain}
	return h.majors.Get(list.Version, key, func() (*serve.Answer, error) { return serve.Encode(majorsList(r, list, key)) })
}

func majorsList(r *serve.Request, list *read.Majors, key majorsKey) contract.Majors {
	out := contract.Majors{Stale: list.Stale, Majors: []contract.Major{}, Blocks: contract.Blocks{}}
	var newest int64
	for i := range list.List {
		m := &list.List[i]
		if (key.chain != "" && key.chain != m.Chain) || !contains(key.query, m.Asset, m.Token.Token.Symbol, m.Token.Token.Name) {
			continue
		}
		out.Majors = append(out.Majors, major(m))
		if m.Known {
			wire.NoteBlock(out.Blocks, m.Chain, m.Changed.Block)
			newest = max(newest, m.Changed.At)
		}
	}
	out.AsOf = r.AsOf(newest)
	return out
}

// contains reports whether one of some texts contains a query, which is in lower case.
func contains(query string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), query) })
}

// major is the wire form of a major. One that the index has not met has no figures yet.
func major(m *read.Major) contract.Major {
	out := contract.Major{MarketToken: wire.MarketToken(&m.Token, m.Figures, false), Asset: m.Asset, Wrapped: true, Stale: m.Stale}
	if !m.Known {
		for name := range out.UnknownReasons {
			out.UnknownReasons[name] = contract.UnknownReasonIndexing
		}
	}
	return out
}

func (h *Handlers) majorCandles(r *serve.Request, list *read.Majors) (*serve.Answer, error) {
	var missing []contract.ParameterError
	for _, name := range []string{"pair", "tf", "chain"} {
		if !r.Given(name) {
			missing = append(missing, contract.ParameterError{
				In: contract.ParameterErrorInQuery, Name: name, Reason: "is needed for candles, which take pair, tf and chain",
			})
		}
	}
	if len(missing) > 0 {
		return nil, serve.Faults(serve.MissingParameter, missing)
	}
	asset, chain := r.Text("pair"), r.Text("chain")
	i := slices.IndexFunc(list.List, func(m read.Major) bool { return m.Chain == chain && strings.EqualFold(m.Asset, asset) })
	if i < 0 || !list.List[i].Known {
		return nil, pairNotFound("", chain, "The chain has no such major.")
	}
	s, err := lookup.Find(r.Context(), h.Readers.Tokens, r.Seen.Catalog, list.List[i].Token.Token.Mint, chain)
	if err != nil {
		return nil, err
	}
	tf := contract.Timeframe(r.Text("tf"))
	bars, err := h.readBars(r.Context(), s, s.Reference(), tf, series.Window(widths[tf], -1, -1, r.Number("limit"), s.AsOf), candle.USD)
	if err != nil {
		return nil, err
	}
	out, err := serve.Encode(contract.MajorCandles{CandleSeries: bars.json(s), Asset: list.List[i].Asset})
	if err == nil {
		out.Freshness = serve.OfSeries
	}
	return out, err
}
