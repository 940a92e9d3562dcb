package httpapi

import (
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/candle"
)

// majorsKey selects majors.
type majorsKey struct{ query, chain string }

// majorsOrCandles is the list, or with a pair and a timeframe the candles of one major.
func (a *API) majorsOrCandles(r *request) (*answer, error) {
	list := r.seen.Majors
	if list == nil {
		return nil, unavailable(errNoSnapshot)
	}
	chain := r.text("chain")
	if chain != "" && r.seen.Catalog.Chain(chain) == nil {
		return nil, r.unsupportedChain("chain", chain)
	}
	if r.given("pair") || r.given("tf") {
		return a.majorCandles(r, list)
	}
	key := majorsKey{strings.ToLower(r.text("q")), chain}
	return a.majors.get(list.Version, key, func() (*answer, error) { return encode(a.majorsList(r, list, key)) })
}

func (a *API) majorsList(r *request, list *view.Majors, key majorsKey) contract.Majors {
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
	out.AsOf = a.asOf(r, newest)
	return out
}

// contains reports whether one of some texts contains a query, which is in lower case.
func contains(query string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), query) })
}

// major is the wire form of a major. One that the index has not met has no figures yet.
func major(m *view.Major) contract.Major {
	out := contract.Major{MarketToken: marketToken(&m.Token, m.Figures, nil, false), Asset: m.Asset, Wrapped: true, Stale: m.Stale}
	if !m.Known {
		for name := range out.UnknownReasons {
			out.UnknownReasons[name] = contract.UnknownReasonIndexing
		}
	}
	return out
}

func (a *API) majorCandles(r *request, list *view.Majors) (*answer, error) {
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
	i := slices.IndexFunc(list.List, func(m view.Major) bool { return m.Chain == chain && strings.EqualFold(m.Asset, asset) })
	if i < 0 || !list.List[i].Known {
		return nil, pairNotFound("", chain, "The chain has no such major.")
	}
	s, err := a.find(r, list.List[i].Token.Token.Mint, chain)
	if err != nil {
		return nil, err
	}
	over := newSpan(r.text("tf"))
	over.from, over.to = window(over.width, -1, -1, r.number("limit"), s.AsOf)
	bars, err := a.bars(r.Context(), s, s.Reference(), over, candle.USD)
	if err != nil {
		return nil, err
	}
	out, err := encode(contract.MajorCandles{CandleSeries: bars.json(), Asset: list.List[i].Asset})
	if err == nil {
		out.freshness = series
	}
	return out, err
}
