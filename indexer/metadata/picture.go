package metadata

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
	// sniffed is how many bytes tell a format.
	sniffed = 16
	// rough is the side to which large pictures are brought in the fast way before they are brought to their size in the good one.
	rough = 1024
)

// sides are the sizes that are tried until a picture is small enough. The last one is so even for noise.
var sides = []int{256, 224, 192, 160, 128, 112}

// format is an image format that is decoded; empty for everything else.
type format string

const (
	formatPNG  format = "PNG"
	formatJPEG format = "JPEG"
	formatGIF  format = "GIF"
	formatWebP format = "WebP"
)

// sniff tells a format by its first bytes.
func sniff(b []byte) format {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return formatPNG
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return formatJPEG
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return formatGIF
	case len(b) >= 16 && string(b[:4]) == "RIFF" && string(b[8:15]) == "WEBPVP8":
		return formatWebP
	}
	return ""
}

// codec is how a format is decoded. GIF gives the first frame, APNG the picture for decoders that know of one alone.
type codec struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var codecs = map[format]codec{
	formatPNG:  {png.DecodeConfig, png.Decode},
	formatJPEG: {jpeg.DecodeConfig, jpeg.Decode},
	formatGIF:  {gif.DecodeConfig, gif.Decode},
	formatWebP: {webp.DecodeConfig, webp.Decode},
}

// pictures decodes strangers' pictures and encodes them again, a few at once.
type pictures struct {
	slots  chan struct{}
	codecs map[format]codec
	time   time.Duration
}

func newPictures() *pictures {
	return &pictures{slots: make(chan struct{}, decoders), codecs: codecs, time: decodeTime}
}

// redraw makes a small PNG of a picture.
func (p *pictures) redraw(ctx context.Context, b blob) (out []byte, failure *Error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, newError(TooSlow, "it takes too long to get its turn to be decoded")
	}
	ctx, cancel := context.WithTimeout(ctx, p.time)
	defer cancel()
	// Decoders of strangers' bytes have panicked before; a token's picture must not end the indexer.
	defer func() {
		if recover() != nil {
			out, failure = nil, newError(NotPicture, "its "+string(b.format)+" breaks the decoder")
		}
	}()
	m, failure := p.decode(ctx, b)
	if failure != nil {
		return nil, failure
	}
	return shrink(m)
}

// decode looks at the header before it decodes the rest.
func (p *pictures) decode(ctx context.Context, b blob) (image.Image, *Error) {
	c := p.codecs[b.format]
	bad := newError(NotPicture, "it is no whole "+string(b.format))
	config, err := c.config(bytes.NewReader(b.data))
	switch {
	case err != nil || config.Width <= 0 || config.Height <= 0 || !whole(b):
		return nil, bad
	case tooMuch(b, config):
		return nil, newError(TooLarge, "its picture takes too much to decode")
	}
	m, err := c.decode(&hurried{ctx, bytes.NewReader(b.data)})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, newError(TooSlow, "its picture takes too long to decode")
	case err != nil, m.Bounds().Empty():
		return nil, bad
	}
	return m, nil
}

// tooMuch reports whether a picture takes more to decode than a token's may.
func tooMuch(b blob, c image.Config) bool {
	if c.Width > maxSide || c.Height > maxSide || c.Width*c.Height > maxPixels {
		return true
	}
	scans := 0
	if b.format == formatJPEG {
		scans = bytes.Count(b.data, []byte("\xff\xda"))
	}
	return c.Width*c.Height*bytesPerPixel(b, c) > maxWork || scans > maxScans
}

// whole reports whether a file has all the bytes that its first ones announce, where the decoder would make room for them.
func whole(b blob) bool {
	return b.format != formatWebP || int64(binary.LittleEndian.Uint32(b.data[4:]))+8 <= int64(len(b.data))+1 // some leave the padding out
}

// bytesPerPixel is what decoding takes at most, for the result and on the way to it.
func bytesPerPixel(b blob, c image.Config) int {
	switch b.format {
	case formatPNG:
		n := 8 // 16 bits a channel
		if len(b.data) > 28 && b.data[24] <= 8 {
			n = 4
		}
		if len(b.data) > 28 && b.data[28] != 0 { // interlaced: its last pass is a picture of half the size
			n += n / 2
		}
		return n
	case formatJPEG:
		n := 4
		if c.ColorModel == color.CMYKModel {
			n = 8 // converted from planes
		}
		if progressive(b.data) {
			n += 16 // a coefficient of 4 bytes for each sample
		}
		return n
	case formatGIF:
		return 2
	case formatWebP:
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
			return nil, &Error{Kind: NotPicture, text: "its picture can't be encoded", cause: err}
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
