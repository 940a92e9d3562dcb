package httpapi

import (
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/series"
	"github.com/boardwalkhq/boardwalk/internal/candle"
)

// majorsKey selects majors.
type majorsKey struct{ query, chain string }

// majorsOrCandles is the list, or with a pair and a timeframe the candles of one major.
func (h *TokenHandlers) majorsOrCandles(r *request) (*answer, error) {
	list := r.seen.Majors
	if list == nil {
		return nil, unavailable(errNoSnapshot)
	}
	chain := r.text("chain")
	if chain != "" && r.seen.Catalog.Chain(chain) == nil {
		return nil, r.UnsupportedChain("chain", chain)
	}
	if r.given("pair") || r.given("tf") {
		return h.majorCandles(r, list)
	}
	key := majorsKey{strings.ToLower(r.text("q")), chain}
	return h.majors.Get(list.Version, key, func() (*answer, error) { return encode(majorsList(r, list, key)) })
}

func majorsList(r *request, list *read.Majors, key majorsKey) contract.Majors {
	out := contract.Majors{Stale: list.Stale, Majors: []contract.Major{}, Blocks: contract.Blocks{}}
	var newest int64
	for i := range list.List {
		m := &list.List[i]
		if (key.chain != "" && key.chain != m.Chain) || !contains(key.query, m.Asset, m.Token.Token.Symbol, m.Token.Token.Name) {
			continue
		}
		out.Majors = append(out.Majors, major(m))
		if m.Known {
			noteBlock(out.Blocks, m.Chain, m.Changed.Block)
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
	out := contract.Major{MarketToken: marketToken(&m.Token, m.Figures, nil, false), Asset: m.Asset, Wrapped: true, Stale: m.Stale}
	if !m.Known {
		for name := range out.UnknownReasons {
			out.UnknownReasons[name] = contract.UnknownReasonIndexing
		}
	}
	return out
}

func (h *TokenHandlers) majorCandles(r *request, list *read.Majors) (*answer, error) {
	var missing []contract.ParameterError
	for _, name := range []string{"pair", "tf", "chain"} {
		if !r.given(name) {
			missing = append(missing, contract.ParameterError{
				In: contract.ParameterErrorInQuery, Name: name, Reason: "is needed for candles, which take pair, tf and chain",
			})
		}
	}
	if len(missing) > 0 {
		return nil, faults(missingParameter, missing)
	}
	asset, chain := r.text("pair"), r.text("chain")
	i := slices.IndexFunc(list.List, func(m read.Major) bool { return m.Chain == chain && strings.EqualFold(m.Asset, asset) })
	if i < 0 || !list.List[i].Known {
		return nil, pairNotFound("", chain, "The chain has no such major.")
	}
	s, err := findSubject(r.Context(), h.Readers.Tokens, r.seen.Catalog, list.List[i].Token.Token.Mint, chain)
	if err != nil {
		return nil, err
	}
	tf := contract.Timeframe(r.text("tf"))
	bars, err := h.readBars(r.Context(), s, s.Reference(), tf, series.Window(widths[tf], -1, -1, r.number("limit"), s.AsOf), candle.USD)
	if err != nil {
		return nil, err
	}
	out, err := encode(contract.MajorCandles{CandleSeries: bars.json(s), Asset: list.List[i].Asset})
	if err == nil {
		out.freshness = ofSeries
	}
	return out, err
}
