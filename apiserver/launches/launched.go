package launches

import (
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// launched is the launch that a request is about.
type launched struct {
	*boards.LaunchNow

	token  figures.Token
	beside *boards.Beside
	card   boards.Shown
	// candidates are the chains that have a launch at the address, when none was asked for and there are several.
	candidates []string
}

func (h *Handlers) launchedToken(r *serve.Request) (*serve.Answer, error) {
	l, err := h.launched(r)
	if err != nil {
		return nil, err
	}
	if !l.card.Listed {
		return nil, notValued()
	}
	t := &l.token
	at := t.Changed.Latest(l.card.On.Ranked) // how it stands is as of the ranking
	out := contract.LaunchedToken{
		LaunchBase: h.launchCards.Base(&l.card, max(at.At-l.CreatedAt, 0)), AsOf: wire.Timestamp(at.At), Stale: t.Stale, Blocks: contract.Blocks{},
		ChainCandidates: l.candidates,
		Creator:         l.creator(wire.CreatorHandle(r.Seen.Members, l.Chain, l.card.Launch)), Graduation: l.graduation(),
	}
	in := r.Seen.TokenMembers
	out.Family, out.Members = wire.MembersOf(in, l.Chain, l.Mint, mostHandles), wire.MembersOf(in, l.Chain, l.Mint, wire.MostCardHandles)
	out.Stale = out.Stale || in.IsFailing()
	wire.NoteBlock(out.Blocks, t.Chain, at.Block)
	if l.card.Launch.HasCurve {
		out.CurveDetail = l.curve(r.Seen.Catalog.Chain(l.Chain))
		out.FigureSources["curve_detail"] = wire.CurveState
	} else {
		out.UnknownReasons["curve_detail"] = contract.UnknownReasonNotApplicable
	}
	return serve.Encode(out)
}

// mostHandles is how many members are named of a launched token's.
const mostHandles = 100

// launched finds the launch that the path names, on the chain of the query or else where its liquidity is deepest.
func (h *Handlers) launched(r *serve.Request) (*launched, error) {
	n, err := r.Named("mint")
	if err != nil {
		return nil, err
	}
	if !n.IsAddress() {
		return nil, launchNotFound(n.Text, n.Chain)
	}
	mint, chain := n.Address, n.Chain
	all, err := h.Readers.Launches.LaunchesAt(r.Context(), mint)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	launches := slices.DeleteFunc(slices.Clone(all), func(l boards.LaunchNow) bool {
		_, declared := r.Seen.Catalog.VenueOn(l.Venue, l.Chain)
		return !declared || (chain != "" && chain != l.Chain)
	})
	if len(launches) == 0 {
		return nil, launchNotFound(mint.String(), chain)
	}
	tokens, err := h.Readers.Tokens.Tokens(r.Context(), mint)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	l := choose(launches, tokens)
	if l == nil {
		return nil, notValued()
	}
	if l.beside, err = h.Readers.Launches.BesideLaunch(r.Context(), l.LaunchNow); err != nil {
		return nil, serve.Unavailable(err)
	}
	var ok bool
	if l.card, ok = h.Readers.Launches.CardNow(r.Seen.Board, r.Seen.Catalog, l.LaunchNow, &l.token, l.beside); !ok {
		return nil, launchNotFound(mint.String(), chain)
	}
	return l, nil
}

// choose picks the first of some tokens, the one with the deepest liquidity, that was launched; nil when none was.
func choose(launches []boards.LaunchNow, tokens []figures.Token) *launched {
	var out *launched
	for i := range tokens {
		j := slices.IndexFunc(launches, func(l boards.LaunchNow) bool { return l.Chain == tokens[i].Chain })
		if j >= 0 && out == nil {
			out = &launched{LaunchNow: &launches[j], token: tokens[i]}
		}
	}
	if out != nil && len(launches) > 1 {
		out.candidates = append(out.candidates, out.Chain)
		for i := range launches {
			if launches[i].Chain != out.Chain {
				out.candidates = append(out.candidates, launches[i].Chain)
			}
		}
	}
	return out
}

// creator is who launched the token, what else, and how much of it is left there.
func (l *launched) creator(handle string) contract.CreatorRecord {
	out := contract.CreatorRecord{
		LaunchCreator: wire.LaunchCreator(l.card.Launch, handle), Launches: l.beside.Launches, Graduated: l.beside.Graduated,
	}
	_, known, status := l.card.Holders(l.card.On)
	t := &l.token.Token
	if known && t.HasSupply && !t.Supply.IsZero() {
		share := 100 * l.beside.Holds.Float64() / t.Supply.Float64()
		out.HoldsPct = wire.Number(&share)
	} else {
		out.UnknownReasons["holds_pct"] = wire.UnknownHolders(false, l.card.On.Stale, status)
	}
	return out
}

func (l *launched) graduation() contract.LaunchGraduation {
	out := contract.LaunchGraduation{Graduation: wire.Graduation(l.card.Launch)}
	switch {
	case !l.GraduatedTx.IsNone():
		out.Tx = new(l.GraduatedTx.String())
	case l.State == market.LaunchGraduated:
		out.UnknownReasons["tx"] = contract.UnknownReasonUnavailable
	default:
		out.UnknownReasons["tx"] = contract.UnknownReasonNotApplicable
	}
	switch {
	case !l.TargetQuote.IsZero():
		out.ThresholdNative = new(l.TargetQuote.Dec())
	case l.card.Launch.HasCurve:
		out.UnknownReasons["threshold_native"] = contract.UnknownReasonUnavailable
	default:
		out.UnknownReasons["threshold_native"] = contract.UnknownReasonNotApplicable
	}
	return out
}

// curve is the state of the launch's curve. Which reserves a curve has follows from its rules.
func (l *launched) curve(on *declared.Chain) *contract.CurveDetail {
	c := &l.Reserves
	out := &contract.CurveDetail{RealQuote: new(c.RealQuote.Dec()), UnknownReasons: contract.UnknownReasons{}}
	if l.Rules.Pricing == market.PriceReserves && !c.VirtualBase.IsZero() {
		out.VirtualBase, out.VirtualQuote = new(c.VirtualBase.Dec()), new(c.VirtualQuote.Dec())
	}
	if !l.SaleBase.IsZero() {
		out.RealBase = new(c.RealBase.Dec())
	}
	if l.FeeBps > 0 {
		out.FeeBps = new(int(l.FeeBps))
	}
	switch {
	case !l.Quote.IsNone() && l.Quote == on.Wrapped && on.NativeSymbol != "":
		out.QuoteSymbol = &on.NativeSymbol
	case l.beside.Quote.Symbol != "":
		out.QuoteSymbol = &l.beside.Quote.Symbol
	}
	for i := range l.token.Pools {
		if p := &l.token.Pools[i]; p.ID == market.CurveID(l.Mint) && p.Price > 0 {
			out.PriceNative = wire.Number(&p.Price)
		}
	}
	for name, known := range map[string]bool{
		"virtual_base": out.VirtualBase != nil, "virtual_quote": out.VirtualQuote != nil, "real_base": out.RealBase != nil,
		"fee_bps": out.FeeBps != nil, "quote_symbol": out.QuoteSymbol != nil, "price_native": out.PriceNative != nil,
	} {
		if !known {
			out.UnknownReasons[name] = contract.UnknownReasonUnavailable
		}
	}
	if l.Rules.Pricing != market.PriceReserves {
		maps.Copy(out.UnknownReasons, contract.UnknownReasons{
			"virtual_base": contract.UnknownReasonNotApplicable, "virtual_quote": contract.UnknownReasonNotApplicable,
		})
	}
	return out
}

func launchNotFound(mint, chain string) error {
	p := serve.NewProblem("launch-not-found", "No indexed chain that was looked at has this launch.")
	p.Mint, p.Chain = mint, chain
	return p
}

// notValued says that a launch has no figures yet: nothing that is declared prices what its curve or pool takes, or nobody has
// traded in it.
func notValued() error {
	p := serve.NewProblem("unavailable", "The launch has no value in USD yet. Try again after the time in Retry-After.")
	p.RetryAfter = 15
	return p
}
