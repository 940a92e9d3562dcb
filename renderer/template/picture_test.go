package template

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

// read decodes a badge's picture.
func read(t *testing.T, b badge) image.Image {
	t.Helper()
	encoded, found := strings.CutPrefix(string(b.Picture), "data:image/png;base64,")
	if !found {
		t.Fatalf("no data URL of a PNG: %.40q", b.Picture)
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, raw)
}

func TestAPictureHasTheDrawnSizeAndItsMiddle(t *testing.T) {
	t.Parallel()
	for called, encoded := range map[string][]byte{
		"wide PNG":   asPNG(t, portrait(t, 900, 300, blue, yellow)),
		"tall JPEG":  asJPEG(t, portrait(t, 60, 180, blue, yellow)),
		"tiny PNG":   asPNG(t, portrait(t, 20, 20, blue, yellow)),
		"exact JPEG": asJPEG(t, portrait(t, 64, 64, blue, yellow)),
	} {
		m := read(t, picture(encoded, 64, "", ""))
		if m.Bounds() != image.Rect(0, 0, 64, 64) {
			t.Errorf("%s: a picture of %v", called, m.Bounds())
		}
		near := func(x, y int, want color.RGBA) {
			got := rgb(m.At(x, y))
			if max(apart(got.R, want.R), apart(got.G, want.G), apart(got.B, want.B)) > 20 { // JPEG blurs
				t.Errorf("%s: %v at %d, %d, %v is wanted", called, got, x, y, want)
			}
		}
		near(32, 32, yellow)
		near(3, 32, blue)
		near(60, 32, blue)
	}
}

// What is clear is filled: see deck.
func TestAPictureCoversItsBadge(t *testing.T) {
	t.Parallel()
	m := read(t, picture(asPNG(t, portrait(t, 64, 64, color.Transparent, yellow)), 64, "", ""))
	if got := rgb(m.At(2, 32)); got != deck {
		t.Errorf("%v where the picture is clear, %v is wanted", got, deck)
	}
	if got := rgb(m.At(32, 32)); got != yellow {
		t.Errorf("%v in the middle, %v is wanted", got, yellow)
	}
	if _, opaque := m.(*image.RGBA); !opaque {
		t.Errorf("a %T, which has an alpha channel", m)
	}
}

func TestWhatIsNoPictureGivesAMonogram(t *testing.T) {
	t.Parallel()
	whole := asPNG(t, portrait(t, 30, 30, blue, yellow))
	for called, encoded := range map[string][]byte{
		"nothing":       nil,
		"text":          []byte("<svg onload=alert(1)>"),
		"cut off":       whole[:len(whole)/2],
		"a bomb":        bomb(t, whole, 1<<15, 1<<15),
		"a flat bomb":   bomb(t, whole, 1<<30, 1),
		"no width":      bomb(t, whole, 0, 10),
		"start of JPEG": {0xff, 0xd8, 0xff},
		"many passes":   passes(mostScans + 1),
	} {
		got := picture(encoded, 64, "wif", wif)
		if got.Picture != "" || got.Letter.Text != "W" || got.Hue < 0 || got.Hue >= hues {
			t.Errorf("%s: %+v, a monogram is wanted", called, got)
		}
	}
	if b := picture(nil, 64, "🚀🚀", base); b.Letter.Text != "" || len(b.Planks) != 4 {
		t.Errorf("without a letter: %+v, planks are wanted", b)
	}
	if a, b := picture(nil, 64, "", base), picture(nil, 64, "", wallet); a.Hue == b.Hue && a.Planks[0] == b.Planks[0] && a.Planks[1] == b.Planks[1] {
		t.Errorf("two addresses look alike: %+v", a)
	}
}

func TestAJPEGMayComeInPasses(t *testing.T) {
	t.Parallel()
	read(t, picture(passes(mostScans), 64, "", ""))
}

// passes is a JPEG of 8 by 8 pixels that comes in so many scans, which are as cheap to write for any size.
func passes(n int) []byte {
	table := func(class byte) []byte { // with one code, of one bit, that says: nothing
		return append([]byte{0xff, 0xc4, 0, 20, class << 4, 1}, make([]byte, 16)...)
	}
	out := []byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0}
	out = append(out, bytes.Repeat([]byte{1}, 64)...)
	out = append(out, 0xff, 0xc2, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0)
	out = append(append(out, table(0)...), table(1)...)
	out = append(out, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 1, 0x7f)
	for range n - 1 {
		out = append(out, 0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0, 0x7f)
	}
	return append(out, 0xff, 0xd9)
}

// bomb is a PNG whose header tells another size.
func bomb(t *testing.T, whole []byte, width, height uint32) []byte {
	t.Helper()
	out := bytes.Clone(whole)
	const header = 12 // behind the signature and the chunk's length
	binary.BigEndian.PutUint32(out[header+4:], width)
	binary.BigEndian.PutUint32(out[header+8:], height)
	binary.BigEndian.PutUint32(out[header+17:], crc32.ChecksumIEEE(out[header:header+17]))
	if _, err := png.DecodeConfig(bytes.NewReader(out)); width > 0 && err != nil {
		t.Fatalf("the header is not valid: %v", err)
	}
	return out
}
