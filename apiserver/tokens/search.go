package tokens

import (
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/pairs"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// searchPairs answers in DexScreener's shape, in which what is unknown is left out.
func (h *Handlers) searchPairs(r *serve.Request) (*serve.Answer, error) {
	found, err := h.Readers.Pairs.Search(r.Context(), r.Seen.Catalog, norm.NFKC.String(r.Text("q")))
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	out := contract.DexSearch{SchemaVersion: "1.0.0", Pairs: make([]contract.DexPair, 0, len(found.Pairs))}
	for i := range found.Pairs {
		out.Pairs = append(out.Pairs, h.dexPair(r.Seen, &found.Pairs[i]))
	}
	ans, err := serve.Encode(out)
	if err == nil {
		ans.AsOf = []string{r.AsOf(found.AsOf).Format(time.RFC3339)}
	}
	return ans, err
}

// versions are the labels of the protocols that DexScreener's clients tell apart.
var versions = map[market.Protocol]string{
	market.UniswapV2: "v2", market.UniswapV3: "v3", market.UniswapV4: "v4", market.PancakeSwapV3: "v3",
}

func (h *Handlers) dexPair(seen *read.Snapshot, p *pairs.Pair) contract.DexPair {
	t, pool := &p.Token, p.Pool
	mint := t.Token.Mint.String()
	out := contract.DexPair{
		ChainID: t.Chain, DexID: exchangeName(seen.Catalog.Chain(t.Chain), pool), PairAddress: pool.ID.String(),
		URL:         h.Links.Token(mint, t.Chain),
		BaseToken:   contract.DexToken{Address: mint, Name: t.Token.Name, Symbol: t.Token.Symbol},
		QuoteToken:  contract.DexToken{Address: pool.Quote.String(), Name: p.Quote.Name, Symbol: p.Quote.Symbol},
		PriceNative: wire.Decimal(pool.Price), PairCreatedAt: pool.CreatedAt * 1000,
	}
	out.Info = dexInfo(t.Metadata)
	if v := versions[pool.Protocol]; v != "" {
		out.Labels = []string{v}
	}
	if c, ok := seen.Board.Launched(t.Chain, t.Token.Mint); ok && pool.Protocol == market.BondingCurve {
		out.DexID = c.Venue.ID
	}
	txns := [...]*contract.DexTxns{&out.Txns.M5, &out.Txns.H1, &out.Txns.H6, &out.Txns.H24}
	volume := [...]*float64{&out.Volume.M5, &out.Volume.H1, &out.Volume.H6, &out.Volume.H24}
	change := [...]*float64{&out.PriceChange.M5, &out.PriceChange.H1, &out.PriceChange.H6, &out.PriceChange.H24}
	for i, w := range p.Windows {
		*txns[i] = contract.DexTxns{Buys: int(w.Buys), Sells: int(w.Sells)}
		*volume[i] = wire.Rounded(w.VolumeUSD)
		if w.ChangePct != nil { // else 0: clients of this shape read a number
			*change[i] = wire.Rounded(*w.ChangePct)
		}
	}
	usd := p.PriceUSD()
	if usd == nil {
		return out
	}
	out.PriceUSD = wire.Decimal(*usd)
	out.Liquidity = liquidity(p)
	if t.Token.HasSupply && t.Token.HasDecimals {
		fdv := price.Whole(&t.Token.Supply, t.Token.Decimals) * *usd
		out.FDV, out.MarketCap = wire.Number(&fdv), wire.Number(&fdv)
	}
	return out
}

// dexInfo is what a token's metadata says; nil when that is nothing.
func dexInfo(m *figures.Metadata) *contract.DexInfo {
	if m == nil {
		return nil
	}
	var out contract.DexInfo
	out.ImageURL = wire.Link(m.ImageURL)
	if website := wire.Link(m.Website); website != nil {
		out.Websites = &[]contract.DexLink{{Label: "Website", URL: *website}}
	}
	var socials []contract.DexSocial
	if x := wire.Link(m.X); x != nil {
		socials = append(socials, contract.DexSocial{Type: "twitter", URL: *x})
	}
	if telegram := wire.Link(m.Telegram); telegram != nil {
		socials = append(socials, contract.DexSocial{Type: "telegram", URL: *telegram})
	}
	if socials != nil {
		out.Socials = &socials
	}
	if out == (contract.DexInfo{}) {
		return nil
	}
	return &out
}

// liquidity gives the amounts of both tokens in a pair. In a pool of ranges its positions hold them; a row from before that was kept doesn't tell them.
func liquidity(p *pairs.Pair) *contract.DexLiquidity {
	out := &contract.DexLiquidity{USD: wire.Rounded(p.LiquidityUSD)}
	base, quote := &p.Pool.Reserve0, &p.Pool.Reserve1
	if !p.Pool.BaseIs0 {
		base, quote = quote, base
	}
	if p.Quote.HasDecimals && (!p.Pool.Protocol.Concentrated() || !base.IsZero() || !quote.IsZero() || p.Pool.Locked == 0) {
		b, q := price.Whole(base, p.Token.Token.Decimals), price.Whole(quote, p.Quote.Decimals)
		out.Base, out.Quote = wire.Number(&b), wire.Number(&q)
	}
	return out
}

// exchangeName is the name under which a pool's exchange is declared; failing that its protocol's.
func exchangeName(on *declared.Chain, pool *market.Pool) string {
	if name := on.Exchanges[pool.Factory]; name != "" {
		return name
	}
	return strings.ToLower(string(pool.Protocol))
}
