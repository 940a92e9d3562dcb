package template

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/golden"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// Two pictures are the same if at most mostDiffering of their pixels differ by more than mostDifference of 255 in any
// channel. The same browser gives equal bytes; another version of it or of a font smooths edges in another way.
const (
	mostDifference = 40
	mostDiffering  = 0.0001 // a digit of the smallest text
	mostBytes      = 200 << 10
)

func TestCardsLookAsTheyDid(t *testing.T) {
	t.Parallel()
	draw := drawer(t)
	for called, c := range drawnCards(t) {
		t.Run(called, func(t *testing.T) {
			t.Parallel()
			got := draw(t, c)
			if again := draw(t, c); !bytes.Equal(got, again) {
				t.Error("the same card has other bytes the second time")
			}
			if len(got) > mostBytes {
				t.Errorf("%d bytes, at most %d are wanted", len(got), mostBytes)
			}
			if want, same := golden.Hold(t, filepath.Join("testdata", called+".png"), got); !same {
				compare(t, called, want, got)
			}
		})
	}
}

// compare leaves the picture and what differs in a folder that outlives the test.
func compare(t *testing.T, called string, want, got []byte) {
	t.Helper()
	wanted, actual := decoded(t, want), decoded(t, got)
	if wanted.Bounds() != actual.Bounds() {
		t.Fatalf("a picture of %v, %v is wanted", actual.Bounds(), wanted.Bounds())
	}
	diff, share := difference(wanted, actual)
	if share <= mostDiffering {
		return
	}
	dir, err := os.MkdirTemp("", "boardwalk-cards-*") //nolint:usetesting // it outlives the test, to be looked at
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{called + ".png": got, called + "-diff.png": asPNG(t, diff)} {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("%.3f %% of the pixels differ by more than %d, at most %.3f %% may: look at %s and at %s-diff.png beside it, where red "+
		"differs. If it is meant so, raise sharecard.Version and run go test ./renderer/template -update. If all cards differ: make setup "+
		"installs the faces that they are drawn with", 100*share, mostDifference, 100*mostDiffering,
		filepath.Join(dir, called+".png"), called)
}

// difference is a dimmed picture with all that differs in red, and the share of it.
func difference(a, b image.Image) (image.Image, float64) {
	size := a.Bounds()
	out := image.NewRGBA(size)
	differing := 0
	for y := size.Min.Y; y < size.Max.Y; y++ {
		for x := size.Min.X; x < size.Max.X; x++ {
			p, q := rgb(a.At(x, y)), rgb(b.At(x, y))
			if max(apart(p.R, q.R), apart(p.G, q.G), apart(p.B, q.B)) > mostDifference {
				out.Set(x, y, color.RGBA{R: 255, A: 255})
				differing++
				continue
			}
			out.Set(x, y, color.RGBA{R: p.R / 4, G: p.G / 4, B: p.B / 4, A: 255})
		}
	}
	return out, float64(differing) / float64(size.Dx()*size.Dy())
}

func rgb(c color.Color) color.RGBA {
	r, g, b, _ := c.RGBA()
	return color.RGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: 255}
}

func apart(a, b uint8) int { return max(int(a), int(b)) - min(int(a), int(b)) }

func decoded(t *testing.T, encoded []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// document is a card's document, or the end of the test.
func document(t *testing.T, c sharecard.Card) []byte {
	t.Helper()
	html, err := Document(c)
	if err != nil {
		t.Fatal(err)
	}
	return html
}

// A glyph's worth of pixels is a difference, a smoothed edge is none.
func TestDifference(t *testing.T) {
	t.Parallel()
	a := portrait(t, sharecard.Width, sharecard.Height, blue, yellow)
	same := portrait(t, sharecard.Width, sharecard.Height, color.RGBA{blue.R + 9, blue.G, blue.B, 255}, yellow)
	if _, share := difference(a, same); share != 0 {
		t.Errorf("a shade differs: %v", share)
	}
	changed, ok := portrait(t, sharecard.Width, sharecard.Height, blue, yellow).(*image.RGBA)
	if !ok {
		t.Fatal("no picture to draw on")
	}
	for i := range 100 {
		changed.Set(100+i%10, 100+i/10, yellow)
	}
	diff, share := difference(a, changed)
	if share <= mostDiffering || share > 0.0002 {
		t.Errorf("a share of %v, 100 pixels are wanted and noticed", share)
	}
	if got := rgb(diff.At(105, 105)); got != (color.RGBA{R: 255, A: 255}) {
		t.Errorf("what differs is drawn %v", got)
	}
}
