package template

import (
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/plain"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// Heights of the bands: what the rest of a card leaves.
const (
	tokenBand  = 168
	launchBand = 168
	traderBand = 126
)

// How many characters of a figure fit on each step of the scale: of a price that stands left, of one that stands right,
// and of two profits together.
const (
	leftXL, leftL, leftM    = 9, 11, 13
	rightXL, rightL, rightM = 0, 8, 10
	pairXL, pairL, pairM    = 11, 14, 17
	// both bounds a price that isn't small and the move beside it.
	both = 16
)

func tokenSheet(t *sharecard.Token) sheet {
	change := hero{Label: window(t.SinceLaunch, "Last 24 h"), Dir: figure.Flat, Unknown: unknown}
	dir := figure.Flat
	if t.Change24hPct != nil {
		change.Text, dir = figure.Move(*t.Change24hPct)
		change.Dir, change.Size, change.Unknown = dir, sizeM, ""
	}
	cost := priceHero(t.PriceUSD, leftXL, leftL, leftM)
	if utf8.RuneCountInString(cost.Text+change.Text) > both && cost.Size != sizeS {
		cost.Size = sizeM
	}
	if cost.Unknown == "" {
		cost.Note = text(figure.Minute(t.PricedAt))
	}
	liquidity := usdStat("Liquidity", t.LiquidityUSD)
	if t.Pools != nil && *t.Pools >= 0 {
		liquidity.Note = text(things(*t.Pools, "pool", "pools"))
	}
	s := sheet{
		Head:   assetHead(&t.Asset),
		Heroes: []hero{cost, change},
		Band:   priceBand(t.Day, dir, tokenBand),
		Stats: []stat{
			liquidity,
			usdStat("Volume, 24 h", t.Volume24hUSD),
			usdStat("Market cap", t.MarketCapUSD),
		},
	}
	if t.Members != nil {
		s.Stats = append(s.Stats, membersStat(t.Members))
	}
	return s
}

// window is what a move is over: since the launch of a token that is younger than a day, else as it is usually called.
func window(sinceLaunch bool, usually string) string {
	if sinceLaunch {
		return "Since launch"
	}
	return usually
}

func membersStat(m *sharecard.Members) stat {
	s := countStat("Members in it", &m.Count)
	if m.Count == 0 {
		s.Value = text("None yet")
	}
	for _, face := range m.Faces {
		if url, err := kept.dataURL(face, sharecard.FaceSize); err == nil {
			s.Faces = append(s.Faces, badge{Picture: url, Size: sharecard.FaceSize})
		}
	}
	return s
}

// assetHead names a token: by its symbol, else its name, else its address.
func assetHead(a *sharecard.Asset) head {
	symbol, long, short := named(a.Symbol), named(a.Name), plain.ShortAddress(a.Mint)
	h := head{Title: symbol, Facts: []name{long, named(a.Chain), text(short)}}
	switch {
	case symbol.Text != "":
	case long.Text != "":
		h.Title, h.Facts = long, h.Facts[1:]
	default:
		h.Title, h.Facts = text(short), h.Facts[1:2]
	}
	if len(h.Facts) > 0 && h.Facts[0] == h.Title {
		h.Facts = h.Facts[1:]
	}
	h.Badge = picture(a.Picture, sharecard.PictureSize, h.Title.Text, a.Mint)
	h.Facts = present(h.Facts)
	h.Size = sizeFor(h.Title.Text, 10, 14, 18)
	return h
}

func present(names []name) []name {
	var there []name
	for _, n := range names {
		if n.Text != "" {
			there = append(there, n)
		}
	}
	return there
}
