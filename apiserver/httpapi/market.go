package httpapi

import (
	"errors"
	"net/url"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

var errNoSnapshot = errors.New("nothing has been read yet")

// figures gathers where a body's figures come from, and why others are unknown.
type figures struct {
	sources contract.FigureSources
	unknown contract.UnknownReasons
	// missing is the reason of what this token just doesn't have.
	missing contract.UnknownReason
}

func newFigures(t *view.Token) figures {
	f := figures{contract.FigureSources{}, contract.UnknownReasons{}, contract.UnknownReasonUnavailable}
	if len(t.Pools) == 0 {
		f.missing = contract.UnknownReasonNotApplicable
	}
	return f
}

// note says of a figure where it comes from, or why it is unknown.
func (f *figures) note(name string, known bool, source contract.FigureSource) {
	switch {
	case !known:
		f.unknown[name] = f.missing
	case source != "":
		f.sources[name] = source
	}
}

// noteOfSupply is note for what follows from a token's price and its supply.
func (f *figures) noteOfSupply(name string, known bool, source contract.FigureSource, of *view.Figures) {
	if !known && of.Price != nil && of.SupplyAwaited {
		f.unknown[name] = contract.UnknownReasonIndexing
		return
	}
	f.note(name, known, source)
}

// image is the picture that a token's metadata names. Where there may be metadata that nobody has fetched yet, launched says
// so.
func (f *figures) image(m *view.Metadata, launched bool) *string {
	switch {
	case m == nil && launched:
		f.unknown["image_url"] = contract.UnknownReasonIndexing
	case m == nil, link(m.ImageURL) == nil:
		f.unknown["image_url"] = contract.UnknownReasonUnavailable
	default:
		return &m.ImageURL
	}
	return nil
}

// maxLink is the longest address that is repeated, in bytes.
const maxLink = 2048

// link is an address of the web that a token's metadata names; nil for what is none, or nothing to send anybody to.
func link(text string) *string {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxLink || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("<>\"\\^`{|}", r) }) {
		return nil
	}
	return &text
}

func priceSource(f view.Figures) contract.FigureSource {
	switch {
	case f.Pegged:
		return "declared_peg"
	case f.OnCurve:
		return curveState
	default:
		return "pool_reserves"
	}
}

// marketToken is the wire form of a token's figures; each unknown one has its reason. A launched token may have metadata.
func marketToken(t *view.Token, f view.Figures, m *view.Metadata, launched bool) contract.MarketToken {
	why := newFigures(t)
	out := contract.MarketToken{
		Mint: t.Token.Mint.String(), Chain: t.Chain, Name: t.Token.Name, Symbol: t.Token.Symbol,
		Price: number(f.Price), Change24HPct: number(f.Change24hPct), Liquidity: number(f.LiquidityUSD),
		Volume: number(f.VolumeUSD), MarketCap: number(f.FDV), FDV: number(f.FDV), Pair: pairOf(t), SupplyBasis: supplyBasis(f),
		FigureSources: why.sources, UnknownReasons: why.unknown,
	}
	price := priceSource(f)
	why.note("price", out.Price != nil, price)
	why.note("change_24h_pct", out.Change24HPct != nil, "chain_swaps")
	why.note("liquidity", out.Liquidity != nil, liquiditySource(f))
	why.note("volume", out.Volume != nil, "chain_swaps")
	why.noteOfSupply("market_cap", out.MarketCap != nil, price, &f)
	why.noteOfSupply("fdv", out.FDV != nil, price, &f)
	why.note("pair", out.Pair != nil, "")
	out.PairKind = why.pairKind(t.Reference())
	why.noteOfSupply("supply_basis", out.SupplyBasis != nil, "", &f)
	out.ImageURL = why.image(m, launched)
	return out
}

func pairOf(t *view.Token) *string {
	if p := t.Reference(); p != nil {
		return new(p.ID.String())
	}
	return nil
}

// pairKind says what a pair is; nil where there is none.
func (f *figures) pairKind(p *market.Pool) *contract.PairKind {
	if p == nil {
		f.note("pair_kind", false, "")
		return nil
	}
	return new(kindOf(p.ID))
}

func kindOf(pair market.Address) contract.PairKind {
	if _, curve := market.CurveMint(pair); curve {
		return contract.PairKindCurve
	}
	return contract.PairKindPool
}

// supplyBasis is the supply behind a market cap. No chain tells which of the supply circulates, so all of it counts, and
// the basis says so.
func supplyBasis(f view.Figures) *contract.SupplyBasis {
	if number(f.FDV) == nil {
		return nil
	}
	return new(contract.SupplyBasisTotal)
}

func (a *API) marketLive(r *request) (*answer, error) {
	perChain := r.number("per_chain")
	list := r.seen.Live
	if list == nil {
		return nil, unavailable(errNoSnapshot)
	}
	return a.live.get(list.Version, perChain, func() (*answer, error) { return encode(a.liveList(r, list, int(perChain))) })
}

// liveList deals the chains' tokens round-robin by their rank on their chain.
func (a *API) liveList(r *request, list *view.Live, perChain int) contract.MarketLive {
	out := contract.MarketLive{
		PerChain: perChain, Stale: list.Stale, EmptyChains: []string{}, Tokens: []contract.LiveToken{},
		Blocks: contract.Blocks{},
	}
	var newest int64
	for _, c := range list.Chains {
		if len(c.Tokens) == 0 {
			out.EmptyChains = append(out.EmptyChains, c.ID)
		}
		if c.Indexed {
			noteBlock(out.Blocks, c.ID, c.Ranked.Block)
			newest = max(newest, c.Ranked.At)
		}
	}
	for rank := range perChain {
		for i := range list.Chains {
			if tokens := list.Chains[i].Tokens; rank < len(tokens) {
				t := &tokens[rank]
				noteBlock(out.Blocks, t.Chain, t.Changed.Block)
				newest = max(newest, t.Changed.At)
				out.Tokens = append(out.Tokens, contract.LiveToken{
					MarketToken: marketToken(&t.Token, t.Figures, t.Metadata, t.Metadata != nil), Rank: len(out.Tokens) + 1, ChainRank: rank + 1,
					Traction: liveTraction(t),
				})
			}
		}
	}
	out.AsOf = a.asOf(r, newest)
	return out
}

func liveTraction(t *view.Ranked) contract.Traction {
	status := t.Token.Token.Holders.Status
	return tractionOf(&t.Parts, rounded(t.Score), unknownHolders(status == market.HoldersCurrent && !t.Stale, t.Stale, status))
}

// tractionOf is a score with its parts; noHolders is why the holders are unknown, empty where they aren't.
func tractionOf(p *traction.Parts, score float64, noHolders contract.UnknownReason) contract.Traction {
	out := contract.Traction{
		Score: score,
		Parts: contract.TractionParts{
			Buyers: number(&p.Buyers), VolumeUSD: number(&p.VolumeUSD), LiquidityUSD: number(&p.LiquidityUSD), AgeS: new(int64(p.AgeS)),
			Wash: number(&p.Wash), Concentration: number(&p.Concentration),
			UnknownReasons: contract.UnknownReasons{"members": contract.UnknownReasonUnavailable},
		},
		UnknownReasons: contract.UnknownReasons{},
	}
	if noHolders == "" {
		out.Parts.NewHolders = number(&p.NewHolders)
	} else {
		out.Parts.UnknownReasons["new_holders"] = noHolders
	}
	return out
}

// unknownHolders is why a token's holders are unknown; empty where they are known.
func unknownHolders(known, stale bool, status market.HolderStatus) contract.UnknownReason {
	switch {
	case known:
		return ""
	case stale:
		return contract.UnknownReasonStale
	case status == market.HoldersIndexing:
		return contract.UnknownReasonIndexing
	default:
		return contract.UnknownReasonUnavailable
	}
}

func (a *API) tokenInfo(r *request) (*answer, error) {
	const param = "mint_address"
	if isEVM(r.text(param)) && !r.given("chain") {
		return nil, r.unsupportedAddress(contract.ParameterErrorInPath, param,
			"is no Solana mint, and without chain Solana is meant: name its chain", onEVM)
	}
	s, err := a.subject(r, param)
	if err != nil {
		return nil, err
	}
	f := s.Figures()
	c, launched := r.seen.Board.Launched(s.Chain, s.Token.Token.Mint)
	var metadata *view.Metadata
	if launched {
		metadata = c.Metadata
	}
	out := contract.TokenInfo{
		MarketToken: marketToken(&s.Token, f, metadata, launched), LiquidityPairs: f.Pairs, AsOf: timestamp(s.Changed.At), Stale: s.Stale,
		Blocks: blocks(&s.Token), Links: links(metadata, launched),
	}
	if s.Token.Token.HasDecimals {
		out.Decimals = new(int(s.Token.Token.Decimals))
	} else {
		out.UnknownReasons["decimals"] = contract.UnknownReasonUnavailable
	}
	if launched {
		out.CreatedAt = new(timestamp(c.Launch.CreatedAt))
		out.Launch = &contract.TokenLaunch{Launchpad: launchpadOf(c.Venue), Graduation: graduation(c.Launch)}
	} else {
		out.UnknownReasons["created_at"] = contract.UnknownReasonUnavailable
		out.UnknownReasons["launch"] = contract.UnknownReasonNotApplicable
	}
	return encode(out)
}

// links are those that a token's metadata names.
func links(m *view.Metadata, launched bool) contract.TokenLinks {
	out := contract.TokenLinks{UnknownReasons: contract.UnknownReasons{}}
	none := contract.UnknownReasonUnavailable
	if m == nil {
		if m = (&view.Metadata{}); launched {
			none = contract.UnknownReasonIndexing
		}
	}
	for _, l := range []struct {
		name, url string
		into      **string
	}{{"website", m.Website, &out.Website}, {"x", m.X, &out.X}, {"telegram", m.Telegram, &out.Telegram}} {
		if *l.into = link(l.url); *l.into == nil {
			out.UnknownReasons[l.name] = none
		}
	}
	return out
}
