package picture

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The smallest pictures in WebP, with loss and without.
const (
	webpLossy    = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"
	webpLossless = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="
)

func unbase64(t *testing.T, s string) []byte {
	t.Helper()
	out, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// plainPNG is a picture of one colour.
func plainPNG(t *testing.T, width, height int) []byte {
	t.Helper()
	return encodePNG(t, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.RGBA{R: 200, A: 255}, color.White}))
}

func encodePNG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, m); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// noise is what compresses worst.
func noise(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	x := uint32(1)
	for i := range m.Pix {
		x = x*1664525 + 1013904223
		m.Pix[i] = byte(x >> 24)
	}
	return m
}

func encodeJPEG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, m, nil); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// encodeGIF has n frames: the first is red, the others are white.
func encodeGIF(t *testing.T, n int) []byte {
	t.Helper()
	g := &gif.GIF{}
	for i := range n {
		m := image.NewPaletted(image.Rect(0, 0, 8, 6), color.Palette{color.RGBA{R: 255, A: 255}, color.White})
		for p := range m.Pix {
			m.Pix[p] = byte(min(i, 1))
		}
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 0)
	}
	var buf bytes.Buffer
	if err := gif.EncodeAll(&buf, g); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func pngChunk(name string, data []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(append(out, name...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// headerOf is the beginning of a PNG that says how large it is.
func headerOf(width, height uint32, depth, colour, interlaced byte) []byte {
	h := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	out := append([]byte("\x89PNG\r\n\x1a\n"), pngChunk("IHDR", append(h, depth, colour, 0, 0, interlaced))...)
	return append(out, pngChunk("IDAT", []byte("\x78\x9c\x00"))...)
}

// insertChunk puts a chunk behind a PNG's header.
func insertChunk(data []byte, name string, content []byte) []byte {
	const header = 8 + 25
	return append(append(bytes.Clone(data[:header]), pngChunk(name, content)...), data[header:]...)
}

func redraw(t *testing.T, data []byte) ([]byte, *Error) {
	t.Helper()
	return New().Redraw(t.Context(), data, Sniff(data))
}

func TestPicturesAreDrawnAnew(t *testing.T) {
	t.Parallel()
	animated := insertChunk(plainPNG(t, 8, 6), "acTL", []byte("\xff\xff\xff\xff\x00\x00\x00\x00"))
	tests := []struct {
		name          string
		data          []byte
		width, height int
	}{
		{"PNG", plainPNG(t, 8, 6), 8, 6},
		{"PNG of one pixel", plainPNG(t, 1, 1), 1, 1},
		{"PNG that just fits", plainPNG(t, 256, 256), 256, 256},
		{"PNG that just doesn't", plainPNG(t, 257, 257), 256, 256},
		{"wide PNG", plainPNG(t, 1000, 10), 256, 3},
		{"line", plainPNG(t, maxSide, 1), 256, 1},
		{"column", plainPNG(t, 1, maxSide), 1, 256},
		{"large PNG", plainPNG(t, 4096, 4096), 256, 256},
		{"PNG in grey of 16 bits", encodePNG(t, image.NewGray16(image.Rect(0, 0, 2000, 1000))), 256, 128},
		{"PNG in colours of 16 bits", encodePNG(t, image.NewNRGBA64(image.Rect(0, 0, 300, 300))), 256, 256},
		{"APNG that says to have endless frames", animated, 8, 6},
		{"JPEG", encodeJPEG(t, image.NewNRGBA(image.Rect(0, 0, 300, 600))), 128, 256},
		{"JPEG in grey", encodeJPEG(t, image.NewGray(image.Rect(0, 0, 512, 512))), 256, 256},
		{"GIF", encodeGIF(t, 1), 8, 6},
		{"GIF with many frames", encodeGIF(t, 1000), 8, 6},
		{"GIF cut off in its second frame", encodeGIF(t, 2)[:len(encodeGIF(t, 2))-10], 8, 6},
		{"WebP with loss", unbase64(t, webpLossy), 1, 1},
		{"WebP without loss", unbase64(t, webpLossless), 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := redraw(t, tt.data)
			if err != nil {
				t.Fatal(err)
			}
			m, bad := png.Decode(bytes.NewReader(out))
			if bad != nil {
				t.Fatal(bad)
			}
			if s := m.Bounds().Size(); s != image.Pt(tt.width, tt.height) || len(out) > maxImage {
				t.Errorf("%v in %d bytes, want %d×%d", s, len(out), tt.width, tt.height)
			}
			if strings.HasPrefix(tt.name, "GIF") {
				if r, g, _, _ := m.At(0, 0).RGBA(); r != 0xffff || g != 0 {
					t.Error("not the first frame")
				}
			}
		})
	}
}

// TestNoiseFitsToo: what compresses worst is made smaller until it fits.
func TestNoiseFitsToo(t *testing.T) {
	t.Parallel()
	for _, side := range []int{sides[len(sides)-1], 200, 256, 600} {
		out, err := redraw(t, encodePNG(t, noise(side, side)))
		if err != nil {
			t.Fatal(err)
		}
		if c, bad := png.DecodeConfig(bytes.NewReader(out)); bad != nil || len(out) > maxImage || c.Width > 256 || c.Width < sides[len(sides)-1] {
			t.Errorf("%d pixels of noise became %d in %d bytes, %v", side, c.Width, len(out), bad)
		}
	}
}

// TestPicturesKeepTheirColours looks at a transparent left half and a red right one, in every way to store them.
func TestPicturesKeepTheirColours(t *testing.T) {
	t.Parallel()
	half := image.NewNRGBA64(image.Rect(0, 0, 600, 600))
	for y := range 600 {
		for x := 300; x < 600; x++ {
			half.Set(x, y, color.NRGBA{R: 255, A: 255})
		}
	}
	paletted := image.NewPaletted(half.Bounds(), color.Palette{color.Transparent, color.NRGBA{R: 255, A: 255}})
	for i := range paletted.Pix {
		paletted.Pix[i] = byte(i % 600 / 300)
	}
	for name, m := range map[string]image.Image{"16 bits": half, "palette": paletted} {
		out, err := redraw(t, encodePNG(t, m))
		if err != nil {
			t.Fatal(err)
		}
		got, bad := png.Decode(bytes.NewReader(out))
		if bad != nil {
			t.Fatal(bad)
		}
		if _, _, _, a := got.At(20, 128).RGBA(); a != 0 {
			t.Errorf("%s: what was transparent isn't", name)
		}
		if r, g, b, a := got.At(230, 128).RGBA(); r != 0xffff || g != 0 || b != 0 || a != 0xffff {
			t.Errorf("%s: what was red isn't", name)
		}
	}
}

// TestNothingElseOfAFileIsKept: texts, places and profiles stay behind.
func TestNothingElseOfAFileIsKept(t *testing.T) {
	t.Parallel()
	data := insertChunk(plainPNG(t, 8, 6), "tEXt", []byte("Comment\x00secret"))
	out, err := redraw(t, append(data, []byte("<script>secret</script>")...))
	if err != nil || bytes.Contains(out, []byte("secret")) || bytes.Contains(out, []byte("tEXt")) {
		t.Errorf("%q, %v", out, err)
	}
}

func jpegHeader(width, height uint16, marker byte) []byte {
	h := []byte{0xff, 0xd8, 0xff, marker, 0, 17, 8, byte(height >> 8), byte(height), byte(width >> 8), byte(width), 3}
	return append(h, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 0xff, 0xda, 0, 12)
}

func riff(chunks string) []byte {
	out := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(chunks)))
	return append(append(out, "WEBP"...), chunks...)
}

func hostilePictures(t *testing.T) map[string]struct {
	data []byte
	want Reason
} {
	t.Helper()
	return map[string]struct {
		data []byte
		want Reason
	}{
		"50,000 pixels a side":         {headerOf(50_000, 50_000, 8, 6, 0), TooLarge},
		"as many as there can be":      {headerOf(1<<31-1, 1<<31-1, 8, 6, 0), Broken},
		"a long line":                  {headerOf(maxSide+1, 1, 1, 0, 0), TooLarge},
		"a long column":                {headerOf(1, maxSide+1, 1, 0, 0), TooLarge},
		"too many pixels":              {headerOf(4097, 4096, 1, 0, 0), TooLarge},
		"interlaced, of 16 bits":       {headerOf(4096, 4096, 16, 6, 1), TooLarge},
		"no pixels":                    {headerOf(0, 0, 8, 6, 0), Broken},
		"a header alone":               {headerOf(4096, 4096, 8, 6, 0), Broken},
		"PNG and nothing":              {[]byte("\x89PNG\r\n\x1a\n"), Broken},
		"half a PNG":                   {plainPNG(t, 64, 64)[:60], Broken},
		"a huge JPEG":                  {jpegHeader(65_535, 65_535, 0xc0), TooLarge},
		"a progressive JPEG":           {jpegHeader(4096, 4096, 0xc2), TooLarge},
		"a JPEG with too many scans":   {append(encodeJPEG(t, noise(16, 16)), bytes.Repeat([]byte("\xff\xda"), maxScans)...), TooLarge},
		"half a JPEG":                  {encodeJPEG(t, noise(64, 64))[:700], Broken},
		"a huge GIF":                   {[]byte("GIF89a\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\xff\xff\xff,"), TooLarge},
		"a GIF with a larger frame":    {[]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02"), Broken},
		"a GIF without a frame":        {[]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff;"), Broken},
		"a GIF of extensions":          {append([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00"), bytes.Repeat([]byte("!\xfe\x01x\x00"), 800_000)...), Broken},
		"a huge WebP":                  {riff("VP8X\x0a\x00\x00\x00\x10\x00\x00\x00\xff\x7f\x00\xff\x3f\x00"), TooLarge},
		"a WebP that says to be long":  {[]byte("RIFF\xff\xff\xff\x7fWEBPVP8 \xf0\xff\xff\x7f\x30\x01\x00\x9d\x01\x2a\x01\x00\x01\x00"), Broken},
		"an animated WebP":             {riff("VP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x01\x00\x00ANIM\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00"), Broken},
		"half a WebP":                  {unbase64(t, webpLossless)[:25], Broken},
		"an alpha that isn't there":    {riff("VP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x01\x00\x00\x01\x00\x00ALPH\x01\x00\x00\x00\x01\x00"), Broken},
		"a WebP without a picture":     {riff("VP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x01\x00\x00"), Broken},
		"a lossless WebP of the limit": {riff("VP8L\x08\x00\x00\x00\x2f\xff\xff\xff\x0f\x00\x00\x00"), TooLarge},
	}
}

func TestHostilePictures(t *testing.T) {
	t.Parallel()
	for name, tt := range hostilePictures(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := redraw(t, tt.data)
			if err == nil || err.Reason != tt.want || out != nil {
				t.Errorf("%d bytes, %v, want reason %d", len(out), err, tt.want)
			}
		})
	}
}

// TestBrokenPictures cuts pictures everywhere and turns every byte: an error or a picture, nothing else.
func TestBrokenPictures(t *testing.T) {
	t.Parallel()
	for _, data := range [][]byte{
		plainPNG(t, 3, 2), encodeJPEG(t, noise(3, 2)), encodeGIF(t, 2), unbase64(t, webpLossy), unbase64(t, webpLossless),
	} {
		for i := range data {
			cut, turned := data[:i], bytes.Clone(data)
			turned[i] ^= 0x55
			for _, b := range [][]byte{cut, turned} {
				out, err := redraw(t, b)
				switch {
				case err == nil && Sniff(b) == "":
					t.Fatalf("%s: drawn without a format", Sniff(data))
				case err == nil && (Sniff(out) != PNG || len(out) > maxImage):
					t.Fatalf("%s: became %q", Sniff(data), out)
				}
			}
		}
	}
}

func TestSniff(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		"", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "<?xml version=\"1.0\"?><svg/>", "<!doctype html>", "BM\x00\x00", "II*\x00", "MM\x00*",
		"RIFF\x00\x00\x00\x00AVI LIST", "RIFF\x00\x00\x00\x00WEBP", "\x00\x00\x00\x20ftypavif", "\x1f\x8b\x08", "GIF88a", "\x89PNG\n", "\xff\xd8",
		"\x00\x00\x01\x00", "%PDF-1.7", "PK\x03\x04", "{}",
	} {
		if got := Sniff([]byte(data)); got != "" {
			t.Errorf("%q is taken for %s", data, got)
		}
	}
}

// withCodec decodes PNG with a decoder of the test's own.
func withCodec(decode func(io.Reader) (image.Image, error)) *Drawer {
	p := New()
	p.codecs = map[Format]codec{PNG: {png.DecodeConfig, decode}}
	return p
}

func TestDecodersMayPanic(t *testing.T) {
	t.Parallel()
	p := withCodec(func(io.Reader) (image.Image, error) { panic("index out of range") })
	data := plainPNG(t, 4, 4)
	for range 2 * decoders { // each gives its slot back
		out, err := p.Redraw(t.Context(), data, PNG)
		if err == nil || err.Reason != Broken || out != nil {
			t.Errorf("%v, %v", out, err)
		}
	}
}

func TestDecodingEnds(t *testing.T) {
	t.Parallel()
	p := withCodec(func(r io.Reader) (image.Image, error) {
		for { // as a decoder does that makes much of every byte
			if n, err := r.Read(nil); err != nil {
				return nil, err
			} else if n > 0 {
				t.Error("something out of nothing")
			}
			runtime.Gosched()
		}
	})
	p.time = time.Millisecond
	if _, err := p.Redraw(t.Context(), plainPNG(t, 4, 4), PNG); err == nil || err.Reason != TooSlow {
		t.Error(err)
	}
}

func TestDecodersAreFew(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	p := withCodec(func(r io.Reader) (image.Image, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		runtime.Gosched()
		return png.Decode(r)
	})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := p.Redraw(t.Context(), plainPNG(t, 4, 4), PNG); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() > decoders {
		t.Errorf("%d decoders at once", most.Load())
	}
	p.slots <- struct{}{} // all are taken
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Redraw(ctx, plainPNG(t, 4, 4), PNG); err == nil || err.Reason != TooSlow {
		t.Error(err)
	}
}

// allocated is how many bytes f has allocated. Tests that run at the same time would count too.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBombsTakeLittleMemory is not parallel, so that it measures nothing but itself.
func TestBombsTakeLittleMemory(t *testing.T) {
	const little, much = 24 << 20, 160 << 20
	for name, tt := range hostilePictures(t) {
		limit := uint64(little)
		if name == "a header alone" { // 64 MiB of pixels are within the bounds, before the rest turns out to be missing
			limit = much
		}
		if n := allocated(func() { _, _ = redraw(t, tt.data) }); n > limit {
			t.Errorf("%s takes %d bytes", name, n)
		}
	}
	largest := encodePNG(t, image.NewPaletted(image.Rect(0, 0, 4096, 4096), color.Palette{color.Black}))
	if n := allocated(func() {
		if _, err := redraw(t, largest); err != nil {
			t.Error(err)
		}
	}); n > much {
		t.Errorf("the largest picture takes %d bytes", n)
	}
}
