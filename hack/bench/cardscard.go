package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"regexp"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/renderer/template"
)

// measuredCard is the card that everybody draws: a token of which everything is known, as in renderer/template's golden images.
func measuredCard() (*sharecard.Token, error) {
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
		Day: course(sharecard.MaxPoints, 2.1525, price, 0.14), PricedAt: lastTrade,
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

// course is a price's: a trend with swings.
func course(points int, from, to, swing float64) []float64 {
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

// given is what contenders that aren't this project's get: all of the card that needs work is made already.
type given struct {
	Width   int `json:"width"`
	Height  int `json:"height"`
	Workers int `json:"workers"`
	// HTML is the whole document, for browsers.
	HTML string `json:"html"`
	// Browser is the path of the browser.
	Browser string `json:"browser"`
	// Pictures are the token's and the faces, as data URLs of the drawn size.
	Pictures []string `json:"pictures"`
	Chart    chart    `json:"chart"`
	// Body and Display are the paths of the two faces that the card's texts are set in.
	Body    string `json:"body"`
	Display string `json:"display"`
}

// chart is the drawing across the card, by the attributes of its SVG.
type chart struct {
	Planks string `json:"planks"`
	Gaps   string `json:"gaps"`
	Level  string `json:"level"`
	Line   string `json:"line"`
	DotX   string `json:"dotX"`
	DotY   string `json:"dotY"`
}

// The two faces that the card is set in, from Debian's fonts-inter.
const (
	bodyFace    = "/usr/share/fonts/opentype/inter/Inter-Medium.otf"
	displayFace = "/usr/share/fonts/opentype/inter/InterDisplay-Bold.otf"
)

var (
	pictureIn = regexp.MustCompile(`src="(data:image/png;base64,[^"]+)"`)
	dotIn     = regexp.MustCompile(`class="dot" cx="([^"]+)" cy="([^"]+)"`)
)

// givenOf takes a token's card apart.
func givenOf(t *sharecard.Token, workers int, browser string) (*given, error) {
	document, err := template.Document(t)
	if err != nil {
		return nil, err
	}
	text := string(document)
	g := &given{
		Width: sharecard.Width, Height: sharecard.Height, Workers: workers, HTML: text, Browser: browser, Body: bodyFace, Display: displayFace,
	}
	for _, m := range pictureIn.FindAllStringSubmatch(text, -1) {
		g.Pictures = append(g.Pictures, html.UnescapeString(m[1]))
	}
	if want := 1 + len(t.Members.Faces); len(g.Pictures) != want {
		return nil, fmt.Errorf("the card's document has %d pictures, %d are expected", len(g.Pictures), want)
	}
	for class, to := range map[string]*string{"planks": &g.Chart.Planks, "gaps": &g.Chart.Gaps, "level": &g.Chart.Level, "line": &g.Chart.Line} {
		m := regexp.MustCompile(`<path class="` + class + `" d="([^"]+)"`).FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("the card's document has no path %q", class)
		}
		*to = m[1]
	}
	dot := dotIn.FindStringSubmatch(text)
	if dot == nil {
		return nil, errors.New("the card's document has no dot")
	}
	g.Chart.DotX, g.Chart.DotY = dot[1], dot[2]
	return g, nil
}

// unlike is the share of the pixels in which two PNGs differ clearly: smoothed edges, of which everybody has others, are
// told apart from what is missing or elsewhere.
func unlike(a, b []byte) (float64, error) {
	const clearly = 64 << 8 // of 16 bits
	p, errP := png.Decode(bytes.NewReader(a))
	q, errQ := png.Decode(bytes.NewReader(b))
	if err := errors.Join(errP, errQ); err != nil {
		return 1, err
	}
	if p.Bounds() != q.Bounds() {
		return 1, fmt.Errorf("it is %v, not %v", q.Bounds().Size(), p.Bounds().Size())
	}
	far := func(x, y uint32) bool { return max(x, y)-min(x, y) > clearly }
	n := 0
	for y := p.Bounds().Min.Y; y < p.Bounds().Max.Y; y++ {
		for x := p.Bounds().Min.X; x < p.Bounds().Max.X; x++ {
			pr, pg, pb, _ := p.At(x, y).RGBA()
			qr, qg, qb, _ := q.At(x, y).RGBA()
			if far(pr, qr) || far(pg, qg) || far(pb, qb) {
				n++
			}
		}
	}
	return float64(n) / float64(p.Bounds().Dx()*p.Bounds().Dy()), nil
}
