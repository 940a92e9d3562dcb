package cards

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// measured is the card that everybody draws: a token of which everything is known, as in renderer/template's golden images.
func measured() (*sharecard.Token, error) {
	orange, brown := color.RGBA{0xf2, 0xa6, 0x5a, 0xff}, color.RGBA{0x6b, 0x3a, 0x1e, 0xff}
	blue, mint := color.RGBA{0x35, 0x5c, 0xb5, 0xff}, color.RGBA{0xb8, 0xe6, 0xcf, 0xff}
	plum, yellow := color.RGBA{0x6a, 0x2c, 0x5d, 0xff}, color.RGBA{0xf7, 0xe0, 0x7c, 0xff}
	var failed []error
	encoded := func(m image.Image, asJPEG bool) []byte {
		var b bytes.Buffer
		if asJPEG {
			failed = append(failed, jpeg.Encode(&b, m, nil))
		} else {
			failed = append(failed, png.Encode(&b, m))
		}
		return b.Bytes()
	}
	const (
		lastTrade = 1_763_820_300 // 22 Nov 2025, 14:05 UTC
		price     = 2.4187
	)
	t := &sharecard.Token{
		Asset: sharecard.Asset{
			Mint: "EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm", Chain: "Solana", Symbol: "WIF", Name: "dogwifhat",
			Picture: encoded(disc(400, 300, orange, brown), false),
		},
		PriceUSD: new(price), Change24hPct: new(12.37), LiquidityUSD: new(8_412_903.0), Pools: new(14),
		Volume24hUSD: new(146_203_440.0), MarketCapUSD: new(2_416_000_000.0),
		Members: &sharecard.Members{Count: 37, Faces: [][]byte{
			encoded(disc(96, 96, blue, mint), false), encoded(disc(200, 120, plum, yellow), true),
			encoded(disc(44, 44, mint, plum), false), encoded(disc(120, 200, brown, orange), true),
		}},
		Day: priceCourse(sharecard.MaxPoints, 2.1525, price, 0.14), PricedAt: lastTrade,
	}
	return t, errors.Join(failed...)
}

// disc is a picture of a disc on a ground.
func disc(width, height int, ground, disc color.Color) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	radius := min(width, height) * 3 / 10
	for y := range height {
		for x := range width {
			c := ground
			if dx, dy := x-width/2, y-height/2; dx*dx+dy*dy < radius*radius {
				c = disc
			}
			m.Set(x, y, c)
		}
	}
	return m
}

// priceCourse is a price's: a trend with swings.
func priceCourse(points int, from, to, swing float64) []float64 {
	out := make([]float64, points)
	for i := range out {
		x := float64(i) / float64(points-1)
		bend := x * x * (3 - 2*x)
		swings := math.Sin(9*x)*0.5 + math.Sin(23*x+1)*0.3 + math.Sin(61*x+2)*0.14 + math.Sin(131*x)*0.07
		out[i] = from + (to-from)*bend + swing*swings*(1-0.5*x)
	}
	out[points-1] = to
	return out
}
