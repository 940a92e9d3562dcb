package httpapi

import (
	"net/url"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Notes gathers where a body's figures come from, and why others are unknown.
type Notes struct {
	sources contract.FigureSources
	unknown contract.UnknownReasons
	// missing is the reason of what this token just doesn't have.
	missing contract.UnknownReason
}

// emptyNotes are those of a token that may have everything.
func emptyNotes() *Notes {
	return &Notes{contract.FigureSources{}, contract.UnknownReasons{}, contract.UnknownReasonUnavailable}
}

// newNotes are those of a token, which without a pool can't have what follows from one.
func newNotes(t *figures.Token) *Notes {
	n := emptyNotes()
	if len(t.Pools) == 0 {
		n.missing = contract.UnknownReasonNotApplicable
	}
	return n
}

// note says of a figure where it comes from, or why it is unknown.
func (n *Notes) note(name string, known bool, source contract.FigureSource) {
	switch {
	case !known:
		n.unknown[name] = n.missing
	case source != "":
		n.sources[name] = source
	}
}

// noteOfSupply is note for what follows from a token's price and its supply.
func (n *Notes) noteOfSupply(name string, known bool, source contract.FigureSource, of *figures.Figures) {
	if !known && of.Price != nil && of.SupplyAwaited {
		n.unknown[name] = contract.UnknownReasonIndexing
		return
	}
	n.note(name, known, source)
}

// image is the picture that a token's metadata names. Where there may be metadata that nobody has fetched yet, launched says
// so.
func (n *Notes) image(m *boards.Metadata, launched bool) *string {
	switch {
	case m == nil && launched:
		n.unknown["image_url"] = contract.UnknownReasonIndexing
	case m == nil, link(m.ImageURL) == nil:
		n.unknown["image_url"] = contract.UnknownReasonUnavailable
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

func priceSource(f figures.Figures) contract.FigureSource {
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
func marketToken(t *figures.Token, f figures.Figures, m *boards.Metadata, launched bool) contract.MarketToken {
	why := newNotes(t)
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

func pairOf(t *figures.Token) *string {
	if p := t.Reference(); p != nil {
		return new(p.ID.String())
	}
	return nil
}

// pairKind says what a pair is; nil where there is none.
func (n *Notes) pairKind(p *market.Pool) *contract.PairKind {
	if p == nil {
		n.note("pair_kind", false, "")
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
func supplyBasis(f figures.Figures) *contract.SupplyBasis {
	if number(f.FDV) == nil {
		return nil
	}
	return new(contract.SupplyBasisTotal)
}
