package cards

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"
)

// TestGivenOf takes the real document apart.
func TestGivenOf(t *testing.T) {
	t.Parallel()
	c, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	g, err := givenOf(c, 2, "chromium")
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range g.Pictures {
		if !strings.HasPrefix(url, "data:image/png;base64,") || strings.Contains(url, "&#") {
			t.Errorf("no data URL: %.40q", url)
		}
	}
	if len(g.Pictures) != 5 || g.Workers != 2 || !strings.Contains(g.HTML, "dogwifhat") {
		t.Errorf("%d pictures, %d workers", len(g.Pictures), g.Workers)
	}
	for name, path := range map[string]string{"planks": g.Chart.Planks, "gaps": g.Chart.Gaps, "level": g.Chart.Level, "line": g.Chart.Line} {
		if !strings.HasPrefix(path, "M") {
			t.Errorf("the path of %s is %.40q", name, path)
		}
	}
	if g.Chart.DotX == "" || g.Chart.DotY == "" {
		t.Errorf("the dot is at %q, %q", g.Chart.DotX, g.Chart.DotY)
	}
	c.Day = nil
	if g, err := givenOf(c, 2, "chromium"); err == nil {
		t.Errorf("a card without a chart has %+v", g.Chart)
	}
}

func TestUnlike(t *testing.T) {
	t.Parallel()
	encoded := func(m image.Image) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	disc := func(width, height int, ground, disc color.Color) image.Image {
		m := image.NewRGBA(image.Rect(0, 0, width, height))
		for y := range height {
			for x := range width {
				c := ground
				if dx, dy := x-width/2, y-height/2; dx*dx+dy*dy < 15*15 {
					c = disc
				}
				m.Set(x, y, c)
			}
		}
		return m
	}
	blue, lighter := color.RGBA{0x20, 0x40, 0x80, 0xff}, color.RGBA{0x20, 0x50, 0x90, 0xff}
	small, large := encoded(disc(100, 50, blue, color.White)), encoded(disc(100, 50, lighter, color.White))
	if share, err := unlike(small, large); err != nil || share != 0 {
		t.Errorf("a shade counts: %v, %v", share, err)
	}
	// The disc's radius is 15.
	if share, err := unlike(small, encoded(disc(100, 50, blue, blue))); err != nil || share < 0.13 || share > 0.15 {
		t.Errorf("without its disc %v of it differs: %v", share, err)
	}
	for what, other := range map[string][]byte{"another size": encoded(disc(99, 50, blue, blue)), "no picture": []byte("PNG")} {
		if share, err := unlike(small, other); err == nil {
			t.Errorf("%s: %v of it differs", what, share)
		}
	}
}

func TestCardRatios(t *testing.T) {
	t.Parallel()
	m := measurement{runs: map[string][]cardsRun{}}
	for name, ms := range map[string][]int{cardsRenderer: {40, 50, 60}, cardsTakumi: {20, 20, 20}, cardsSatori: {40, 50, 60}} {
		for _, n := range ms {
			m.runs[name] = append(m.runs[name], cardsRun{cpu: time.Duration(n) * time.Millisecond})
		}
	}
	var out bytes.Buffer
	if err := m.ratios().Write(&out); err != nil {
		t.Fatal(err)
	}
	// As much as satori isn't below it; nobody measured playwright or the browser alone.
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")[2:]
	if len(rows) != 2 || !strings.Contains(rows[0], "1.00") || !strings.Contains(rows[0], "missed") ||
		!strings.Contains(rows[1], "2.50") || !strings.Contains(rows[1], "missed") {
		t.Errorf("the ratios are\n%s", out.String())
	}
}

func TestCardsFlags(t *testing.T) {
	t.Parallel()
	good := measurement{rounds: 1, cards: 1, workers: 1}
	for says, spoil := range map[string]func(*measurement){
		"":                            func(*measurement) {},
		`"photoshop" is no contender`: func(m *measurement) { m.only = "takumi,photoshop" },
		"must be positive":            func(m *measurement) { m.cards = 0 },
		"not negative":                func(m *measurement) { m.warmUp = -1 },
	} {
		m := good
		spoil(&m)
		if err := m.check(); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%v, %q is expected", err, says)
		}
	}
}
