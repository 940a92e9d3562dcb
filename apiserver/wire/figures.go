package wire

import (
	"net/url"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Notes gathers where a body's figures come from, and why others are unknown.
type Notes struct {
	Sources contract.FigureSources
	Unknown contract.UnknownReasons
	// missing is the reason of what this token just doesn't have.
	missing contract.UnknownReason
}

// EmptyNotes makes the notes of a token that may have every figure.
func EmptyNotes() *Notes {
	return &Notes{contract.FigureSources{}, contract.UnknownReasons{}, contract.UnknownReasonUnavailable}
}

// NewNotes makes the notes of a token: without a pool it has no figure that follows from a pool.
func NewNotes(t *figures.Token) *Notes {
	n := EmptyNotes()
	if len(t.Pools) == 0 {
		n.missing = contract.UnknownReasonNotApplicable
	}
	return n
}

// Note says of a figure where it comes from, or why it is unknown.
func (n *Notes) Note(name string, known bool, source contract.FigureSource) {
	switch {
	case !known:
		n.Unknown[name] = n.missing
	case source != "":
		n.Sources[name] = source
	}
}

// NoteOfSupply is Note for what follows from a token's price and its supply.
func (n *Notes) NoteOfSupply(name string, known bool, source contract.FigureSource, of *figures.Figures) {
	if !known && of.Price != nil && of.SupplyAwaited {
		n.Unknown[name] = contract.UnknownReasonIndexing
		return
	}
	n.Note(name, known, source)
}

// Image is the picture that a token's metadata names. Where there may be metadata that nobody has fetched yet, awaited says
// so.
func (n *Notes) Image(m *figures.Metadata, awaited bool) *string {
	switch {
	case m == nil && awaited:
		n.Unknown["image_url"] = contract.UnknownReasonIndexing
	case m == nil, Link(m.ImageURL) == nil:
		n.Unknown["image_url"] = contract.UnknownReasonUnavailable
	default:
		return &m.ImageURL
	}
	return nil
}

// maxLink is the longest address that is repeated, in bytes.
const maxLink = 2048

// Link is an address of the web that a token's metadata names; nil for what is none, or nothing to send anybody to.
func Link(text string) *string {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxLink || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("<>\"\\^`{|}", r) }) {
		return nil
	}
	return &text
}

// PriceSource is where a token's price comes from.
func PriceSource(f figures.Figures) contract.FigureSource {
	switch {
	case f.Pegged:
		return "declared_peg"
	case f.OnCurve:
		return CurveState
	default:
		return "pool_reserves"
	}
}

// MarketToken is the wire form of a token's figures; each unknown one has its reason. launched says that the token was launched, and that its metadata may
// still be fetched: a picture is then awaited, and not missing.
func MarketToken(t *figures.Token, f figures.Figures, launched bool) contract.MarketToken {
	why := NewNotes(t)
	out := contract.MarketToken{
		Mint: t.Token.Mint.String(), Chain: t.Chain, Name: t.Token.Name, Symbol: t.Token.Symbol,
		Price: Number(f.Price), Change24HPct: Number(f.Change24hPct), Liquidity: Number(f.LiquidityUSD),
		Volume: Number(f.VolumeUSD), MarketCap: Number(f.FDV), FDV: Number(f.FDV), Pair: PairOf(t), SupplyBasis: SupplyBasis(f),
		FigureSources: why.Sources, UnknownReasons: why.Unknown,
	}
	price := PriceSource(f)
	why.Note("price", out.Price != nil, price)
	why.Note("change_24h_pct", out.Change24HPct != nil, "chain_swaps")
	why.Note("liquidity", out.Liquidity != nil, LiquiditySource(f))
	why.Note("volume", out.Volume != nil, "chain_swaps")
	why.NoteOfSupply("market_cap", out.MarketCap != nil, price, &f)
	why.NoteOfSupply("fdv", out.FDV != nil, price, &f)
	why.Note("pair", out.Pair != nil, "")
	out.PairKind = why.PairKind(t.Reference())
	why.NoteOfSupply("supply_basis", out.SupplyBasis != nil, "", &f)
	out.ImageURL = why.Image(t.Metadata, launched || t.AwaitsMetadata)
	return out
}

// PairOf is the pool that prices a token; nil where none does.
func PairOf(t *figures.Token) *string {
	if p := t.Reference(); p != nil {
		return new(p.ID.String())
	}
	return nil
}

// PairKind says what a pair is; nil where there is none.
func (n *Notes) PairKind(p *market.Pool) *contract.PairKind {
	if p == nil {
		n.Note("pair_kind", false, "")
		return nil
	}
	return new(KindOf(p.ID))
}

// KindOf says what a pair is.
func KindOf(pair market.Address) contract.PairKind {
	if _, curve := market.CurveMint(pair); curve {
		return contract.PairKindCurve
	}
	return contract.PairKindPool
}

// SupplyBasis is the supply behind a market cap. No chain tells which of the supply circulates, so all of it counts, and
// the basis says so.
func SupplyBasis(f figures.Figures) *contract.SupplyBasis {
	if Number(f.FDV) == nil {
		return nil
	}
	return new(contract.SupplyBasisTotal)
}
