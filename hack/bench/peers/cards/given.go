package cards

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"image/png"
	"regexp"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/renderer/template"
)

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
