package template

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"sync"
	"unicode"

	"golang.org/x/image/draw"

	"github.com/boardwalkhq/boardwalk/internal/plain"
)

// What bounds the time and memory of decoding, which a deadline can't end. The store's pictures are far below.
const (
	mostPixels = 1 << 20 // 8 MiB of a 16 bit PNG
	mostScans  = 32      // of a JPEG: each passes over all of it for some twenty bytes
)

// badge is a picture, or what stands for one: a letter, or for want of one a few planks.
type badge struct {
	Picture template.URL // a data URL of exactly Size by Size pixels
	Size    int
	Letter  name
	Planks  []plank
	Hue     int // of the monogram, one of hues
}

// hues is how many colours of monograms the style sheet has.
const hues = 8

// plank is an upright rectangle in a badge of 100 by 100 units.
type plank struct{ X, Y, Height int }

// picture makes a badge of an encoded picture; identity decides the look of what stands for it.
func picture(encoded []byte, size int, text, identity string) badge {
	if len(encoded) > 0 {
		if url, err := kept.dataURL(encoded, size); err == nil {
			return badge{Picture: url, Size: size}
		}
	}
	sum := sha256.Sum256([]byte(identity))
	b := badge{Size: size, Hue: int(sum[0]) % hues}
	for _, r := range plain.Text(text) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.Letter = named(string(unicode.ToUpper(r)))
			return b
		}
	}
	const planks, low, span = 4, 22, 40
	for i := range planks {
		h := low + int(sum[1+i])%span
		b.Planks = append(b.Planks, plank{X: 23 + 15*i, Y: 50 - h/2, Height: h})
	}
	return b
}

// quick encodes for a browser on the same machine, to which a few bytes more are nothing.
var quick = png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: new(buffers)}

// buffers keeps the encoder's tables, which are larger than what it writes.
type buffers struct{ pool sync.Pool }

var _ png.EncoderBufferPool = (*buffers)(nil)

// Get implements png.EncoderBufferPool.
func (b *buffers) Get() *png.EncoderBuffer {
	kept, _ := b.pool.Get().(*png.EncoderBuffer)
	return kept
}

// Put implements png.EncoderBufferPool.
func (b *buffers) Put(kept *png.EncoderBuffer) { b.pool.Put(kept) }

// deck is what shows through a picture: --deck of the style sheet. The sheet has no background for pictures: a browser leaves
// it out once it knows that the picture covers it, and from then on the rounded edges of the same card would be others.
var deck = color.RGBA{0x13, 0x1e, 0x27, 0xff}

var errPicture = errors.New("picture")

// dataURL decodes a PNG or JPEG, crops its middle square and scales it: a browser scales a JPEG in one of two ways,
// whichever its cache suggests, and the bytes of the card would differ.
func dataURL(encoded []byte, size int) (template.URL, error) {
	decode, config := jpeg.Decode, jpeg.DecodeConfig
	scans := bytes.Count(encoded, []byte("\xff\xda")) // whose second byte is never data behind the first
	if bytes.HasPrefix(encoded, []byte("\x89PNG")) {
		decode, config, scans = png.Decode, png.DecodeConfig, 1
	}
	c, err := config(bytes.NewReader(encoded))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errPicture, err)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > mostPixels/c.Height {
		return "", fmt.Errorf("%w: %d by %d pixels, at most %d in all are allowed", errPicture, c.Width, c.Height, mostPixels)
	}
	if scans > mostScans {
		return "", fmt.Errorf("%w: %d scans, at most %d are allowed", errPicture, scans, mostScans)
	}
	from, err := decode(bytes.NewReader(encoded))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errPicture, err)
	}
	to := image.NewRGBA(image.Rect(0, 0, size, size))
	draw.Draw(to, to.Bounds(), image.NewUniform(deck), image.Point{}, draw.Src)
	draw.CatmullRom.Scale(to, to.Bounds(), from, middle(from.Bounds()), draw.Over, nil)
	var out bytes.Buffer
	if err := quick.Encode(&out, to); err != nil {
		return "", fmt.Errorf("%w: %w", errPicture, err)
	}
	// #nosec G203 -- nothing but base64 of our own encoder's output
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(out.Bytes())), nil
}

// middle is the largest square in the middle of a rectangle.
func middle(r image.Rectangle) image.Rectangle {
	side := min(r.Dx(), r.Dy())
	corner := r.Min.Add(image.Pt((r.Dx()-side)/2, (r.Dy()-side)/2))
	return image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))}
}
