// Package picture makes small PNGs of strangers' pictures. It bounds what decoding them takes, in memory and in time, and survives decoders that panic.
package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

const (
	// maxSide and maxPixels bound the pictures that are decoded, maxWork what decoding one takes in bytes of memory.
	maxSide   = 8192
	maxPixels = 16 << 20
	maxWork   = 128 << 20
	// maxScans bounds the scans of a JPEG: each is a pass over the whole picture, for a few bytes. Cameras write up to a dozen.
	maxScans = 64
	// maxImage bounds an encoded picture in bytes.
	maxImage = 64 << 10
	// decodeTime bounds the decoding of a picture: so much of one processor a token may take.
	decodeTime = 3 * time.Second
	// decoders is how many pictures are decoded at once.
	decoders = 1
	// rough is the side to which large pictures are brought in the fast way before they are brought to their size in the good one.
	rough = 1024
)

// Sniffed is how many bytes tell a format.
const Sniffed = 16

// sides are the sizes that are tried until a picture is small enough. The last one is so even for noise.
var sides = []int{256, 224, 192, 160, 128, 112}

// Format is an image format that is decoded; empty for everything else.
type Format string

// The formats that are decoded.
const (
	PNG  Format = "PNG"
	JPEG Format = "JPEG"
	GIF  Format = "GIF"
	WebP Format = "WebP"
)

// Sniff tells a format by its first bytes.
func Sniff(b []byte) Format {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return GIF
	case len(b) >= 16 && string(b[:4]) == "RIFF" && string(b[8:15]) == "WEBPVP8":
		return WebP
	}
	return ""
}

// codec is how a format is decoded. GIF gives the first frame, APNG the picture for decoders that know of one alone.
type codec struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var codecs = map[Format]codec{
	PNG:  {png.DecodeConfig, png.Decode},
	JPEG: {jpeg.DecodeConfig, jpeg.Decode},
	GIF:  {gif.DecodeConfig, gif.Decode},
	WebP: {webp.DecodeConfig, webp.Decode},
}

// Reason is why a picture isn't drawn.
type Reason uint8

// The reasons. A picture that is too slow may be drawn another time.
const (
	// Broken: it is no whole picture of a format that is decoded.
	Broken Reason = iota
	// TooLarge: it takes too much memory, or can't be made small enough.
	TooLarge
	// TooSlow: it takes too long, or didn't get its turn.
	TooSlow
)

// Error says why a picture isn't drawn.
type Error struct {
	Reason Reason
	text   string
	cause  error
}

func (e *Error) Error() string { return e.text }

// Unwrap gives what the encoder reported.
func (e *Error) Unwrap() error { return e.cause }

func newError(r Reason, text string) *Error { return &Error{Reason: r, text: text} }

// Drawer decodes strangers' pictures and encodes them again, a few at once.
type Drawer struct {
	slots  chan struct{}
	codecs map[Format]codec
	time   time.Duration
}

// New makes a drawer. One is enough for a program.
func New() *Drawer {
	return &Drawer{slots: make(chan struct{}, decoders), codecs: codecs, time: decodeTime}
}

// Redraw makes of a picture a PNG of at most 256 by 256 pixels and 64 KiB, aspect kept. It waits for its turn.
func (d *Drawer) Redraw(ctx context.Context, data []byte, f Format) (out []byte, failure *Error) {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return nil, newError(TooSlow, "it takes too long to get its turn to be decoded")
	}
	ctx, cancel := context.WithTimeout(ctx, d.time)
	defer cancel()
	// Decoders of strangers' bytes have panicked before; a token's picture must not end the indexer.
	defer func() {
		if recover() != nil {
			out, failure = nil, newError(Broken, "its "+string(f)+" breaks the decoder")
		}
	}()
	m, failure := d.decode(ctx, data, f)
	if failure != nil {
		return nil, failure
	}
	return shrink(m)
}

// decode looks at the header before it decodes the rest.
func (d *Drawer) decode(ctx context.Context, data []byte, f Format) (image.Image, *Error) {
	c := d.codecs[f]
	bad := newError(Broken, "it is no whole "+string(f))
	config, err := c.config(bytes.NewReader(data))
	switch {
	case err != nil || config.Width <= 0 || config.Height <= 0 || !whole(data, f):
		return nil, bad
	case tooMuch(data, f, config):
		return nil, newError(TooLarge, "its picture takes too much to decode")
	}
	m, err := c.decode(&hurried{ctx, bytes.NewReader(data)})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, newError(TooSlow, "its picture takes too long to decode")
	case err != nil, m.Bounds().Empty():
		return nil, bad
	}
	return m, nil
}

// tooMuch reports whether a picture takes more to decode than a token's may.
func tooMuch(data []byte, f Format, c image.Config) bool {
	if c.Width > maxSide || c.Height > maxSide || c.Width*c.Height > maxPixels {
		return true
	}
	scans := 0
	if f == JPEG {
		scans = bytes.Count(data, []byte("\xff\xda"))
	}
	return c.Width*c.Height*bytesPerPixel(data, f, c) > maxWork || scans > maxScans
}

// whole reports whether a file has all the bytes that its first ones announce, where the decoder would make room for them.
func whole(data []byte, f Format) bool {
	return f != WebP || int64(binary.LittleEndian.Uint32(data[4:]))+8 <= int64(len(data))+1 // some leave the padding out
}

// bytesPerPixel is what decoding takes at most, for the result and on the way to it.
func bytesPerPixel(data []byte, f Format, c image.Config) int {
	switch f {
	case PNG:
		n := 8 // 16 bits a channel
		if len(data) > 28 && data[24] <= 8 {
			n = 4
		}
		if len(data) > 28 && data[28] != 0 { // interlaced: its last pass is a picture of half the size
			n += n / 2
		}
		return n
	case JPEG:
		n := 4
		if c.ColorModel == color.CMYKModel {
			n = 8 // converted from planes
		}
		if progressive(data) {
			n += 16 // a coefficient of 4 bytes for each sample
		}
		return n
	case GIF:
		return 2
	case WebP:
		return 8
	}
	return 8
}

// progressive reports whether a JPEG has the header of a frame that comes in several passes.
func progressive(data []byte) bool { return bytes.Contains(data, []byte("\xff\xc2")) }

// hurried is a reader that ends with its context: decoders can't be stopped otherwise. It has nothing but Read, so that they
// come back for more every few kilobytes.
type hurried struct {
	ctx context.Context //nolint:containedctx // a reader has no other way to know
	r   io.Reader
}

func (h *hurried) Read(p []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	return h.r.Read(p)
}

// shrink encodes a picture as a PNG that fits, aspect kept, never enlarged.
func shrink(m image.Image) ([]byte, *Error) {
	if s := m.Bounds().Size(); s.X > rough || s.Y > rough {
		m = scale(m, fit(s, rough), draw.ApproxBiLinear)
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	for _, side := range sides {
		small := scale(m, fit(m.Bounds().Size(), side), draw.CatmullRom)
		var buf bytes.Buffer
		if err := encoder.Encode(&buf, small); err != nil {
			return nil, &Error{Reason: Broken, text: "its picture can't be encoded", cause: err}
		}
		if buf.Len() <= maxImage {
			return buf.Bytes(), nil
		}
	}
	return nil, newError(TooLarge, "its picture can't be made small enough")
}

// fit is the largest size of the same aspect whose sides are at most side, and at least 1.
func fit(s image.Point, side int) image.Point {
	most := max(s.X, s.Y)
	if most <= side {
		return s
	}
	return image.Pt(max(1, (s.X*side+most/2)/most), max(1, (s.Y*side+most/2)/most))
}

func scale(m image.Image, to image.Point, by draw.Scaler) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: to})
	if to == m.Bounds().Size() {
		draw.Draw(out, out.Bounds(), m, m.Bounds().Min, draw.Src)
		return out
	}
	by.Scale(out, out.Bounds(), m, m.Bounds(), draw.Src, nil)
	return out
}
