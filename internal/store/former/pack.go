package former

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// A pack is many former images in one row of undo, in the order of their making: lines, compressed by zstd (RFC 8878). A line has the name of the row's
// table, a blank, "+" if the row was there or "-" if it wasn't, and the image. A block of 450 trades changes some 3,300 rows; as many rows of undo took a
// fifth of the time that its commit takes (docs/adr/0038).

// PackTable is what a pack has for the name of a table.
const PackTable = "pack"

const (
	// packBytes is the length from which on lines make a pack.
	packBytes = 512 << 10
	// longestPack is what the lines of a pack may take, which go beyond packBytes by one image: of a pool's ticks that may be
	// some megabytes.
	longestPack = 64 << 20
)

var errNoPack = errors.New("no pack of images")

// Pack collects images. The zero Pack is empty.
type Pack struct{ lines []byte }

// Add adds the image of a row; existed says whether the row was there.
func (p *Pack) Add(form *model.ImageForm, row reflect.Value, existed bool) error {
	lines, err := form.Append(p.begin(form.Table, existed), row, existed)
	if err != nil {
		return err
	}
	lines = append(lines, '\n')
	p.lines = lines
	return nil
}

// AddImage adds an image that was made before.
func (p *Pack) AddImage(table string, existed bool, image []byte) error {
	if strings.ContainsAny(table, " \n") || bytes.IndexByte(image, '\n') >= 0 || !json.Valid(image) {
		return fmt.Errorf("%w: an image of %q isn't JSON in one line", errNoPack, table)
	}
	p.lines = append(append(p.begin(table, existed), image...), '\n')
	return nil
}

func (p *Pack) begin(table string, existed bool) []byte {
	sign := byte('-')
	if existed {
		sign = '+'
	}
	return append(append(p.lines, table...), ' ', sign)
}

// IsFull reports whether the pack is long enough to be written.
func (p *Pack) IsFull() bool { return len(p.lines) >= packBytes }

// IsEmpty reports whether the pack has no image.
func (p *Pack) IsEmpty() bool { return len(p.lines) == 0 }

// Take gives the pack as a column has it, and empties it.
func (p *Pack) Take() []byte {
	out := packer.EncodeAll(p.lines, nil)
	p.lines = p.lines[:0]
	return out
}

// EachImage gives the images of a pack, in the order of their making. They are as they were added, since the pack has a sum of all its bytes, and lie within
// memory of their own, which nothing changes.
func EachImage(pack []byte, each func(table string, existed bool, image []byte)) error {
	lines, err := unpacker.DecodeAll(pack, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoPack, err)
	}
	for len(lines) > 0 {
		line, rest, ended := bytes.Cut(lines, []byte{'\n'})
		table, image, named := bytes.Cut(line, []byte{' '})
		if !ended || !named || len(image) == 0 || image[0] != '+' && image[0] != '-' {
			return fmt.Errorf("%w: a line of it can't be read", errNoPack)
		}
		each(string(table), image[0] == '+', image[1:len(image):len(image)])
		lines = rest
	}
	return nil
}

// packer and unpacker may be used by several goroutines. They fail with wrong options alone.
var (
	packer, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packBytes))

	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(longestPack))
)
