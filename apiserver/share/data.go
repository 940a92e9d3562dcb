package share

import (
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/series"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/plain"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// The shape of a card's day: as fine as a card has room for.
const (
	dayWidth  = 5 * candle.Minute
	dayPoints = sharecard.MaxPoints
	dayS      = 24 * 60 * 60
)

// youngWidths lists the widths of candles from which the line of a token younger than a day is drawn, the finest first.
var youngWidths = []candle.Width{candle.Minute, 3 * candle.Minute, 5 * candle.Minute}

// Rounded is a figure rounded to what a card shows of it, so that cards that look alike are one card. What is no finite number is
// unknown.
func Rounded(v *float64, round func(float64) float64) *float64 {
	if v = wire.Number(v); v == nil {
		return nil
	}
	return new(round(*v))
}

// Subject names what a card is about.
func Subject(kind sharecard.Kind, chain string, mint market.Address) string {
	return string(kind) + " " + chain + " " + mint.String()
}

// NewAsset is a token as cards show it, its names made plain.
func NewAsset(r *serve.Request, chain string, mint market.Address, name, symbol string) sharecard.Asset {
	out := sharecard.Asset{Mint: mint.String(), Chain: chain, Symbol: plain.Text(symbol), Name: plain.Text(name)}
	if c := r.Seen.Catalog.Chain(chain); c != nil {
		out.Chain = c.Label
	}
	return out
}

// Picture is a token's picture. One that is too large to be sent to the renderer is left out; the store's own are far from that.
func (c *Cards) Picture(r *serve.Request, chain string, mint market.Address) ([]byte, error) {
	png, err := c.Pictures.Picture(r.Context(), chain, mint)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	if len(png) > sharecard.MaxPicture {
		return nil, nil
	}
	return png, nil
}

// Day is the shape of the reference pool's last 24 hours: its closes, gaps filled. That of a token which was launched since (launchedAt, unix
// seconds; 0 is unknown) begins at its launch, in the finest buckets that a card has room for.
func (c *Cards) Day(r *serve.Request, t *figures.Token, launchedAt int64) (points []float64, sinceLaunch bool, err error) {
	sinceLaunch = IsYoung(launchedAt, t.AsOf)
	width, from := dayWidth, int64(-1)
	if sinceLaunch {
		from = launchedAt
		for _, width = range youngWidths {
			if (width.Open(t.AsOf)-width.Open(from))/int64(width) < dayPoints {
				break
			}
		}
	}
	bars, err := series.Read(r.Context(), c.Series, t, t.Reference(), series.Window(width, from, -1, dayPoints, t.AsOf), candle.USD)
	if err != nil {
		return nil, false, serve.Unavailable(err)
	}
	if err := bars.FillGaps(); err != nil {
		return nil, false, err
	}
	line := make([]float64, 0, len(bars.List))
	for i := range bars.List {
		line = append(line, bars.List[i].Close)
	}
	return figure.RoundLine(line), sinceLaunch, nil
}

// IsYoung reports whether a token is younger than the day that its change is told over, which then begins at its launch.
func IsYoung(launchedAt, asOf int64) bool { return launchedAt > asOf-dayS }
