package rpc

import (
	"bytes"
	"encoding/json"
	"math"
)

// Scanner walks JSON. After the first mistake it is failed and every method returns at once.
type Scanner struct {
	b      []byte
	i      int
	depth  int
	failed bool
	arena  []byte
}

// NewScanner begins at the text's first byte.
func NewScanner(text []byte) *Scanner { return &Scanner{b: text} }

// End reports whether the text was read to its end without a mistake, and else where it was left.
func (p *Scanner) End() (ok bool, at int) {
	p.space()
	return !p.failed && p.i == len(p.b), p.i
}

// Peek is the next byte that is no space, or 0 at the end.
func (p *Scanner) Peek() byte {
	p.space()
	if p.failed || p.i >= len(p.b) {
		return 0
	}
	return p.b[p.i]
}

// Reserve makes room for n bytes of what Bytes will read.
func (p *Scanner) Reserve(n int) { p.arena = make([]byte, 0, n) }

// Fail makes the text one with a mistake.
func (p *Scanner) Fail() { p.failed = true }

func (p *Scanner) space() {
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\n', '\t', '\r':
			p.i++
		default:
			return
		}
	}
}

// next takes c, if it is the next byte that is no space.
func (p *Scanner) next(c byte) bool {
	p.space()
	if p.failed || p.i >= len(p.b) || p.b[p.i] != c {
		return false
	}
	p.i++
	return true
}

// Object reads an object; field reads the value of each of its keys.
func (p *Scanner) Object(field func(key []byte)) {
	if !p.next('{') {
		p.Fail()
		return
	}
	if p.next('}') {
		return
	}
	for !p.failed {
		key := p.str()
		if !p.next(':') {
			p.Fail()
			return
		}
		field(key)
		if p.next(',') {
			continue
		}
		if !p.next('}') {
			p.Fail()
		}
		return
	}
}

// Array reads an array; item reads each of its values.
func (p *Scanner) Array(item func()) {
	if !p.next('[') {
		p.Fail()
		return
	}
	if p.next(']') {
		return
	}
	for !p.failed {
		item()
		if p.next(',') {
			continue
		}
		if !p.next(']') {
			p.Fail()
		}
		return
	}
}

// str is the inside of a string, escapes left as they are: nothing that matters here has any.
func (p *Scanner) str() []byte {
	if !p.next('"') {
		p.Fail()
		return nil
	}
	start := p.i
	for p.i < len(p.b) {
		n := bytes.IndexByte(p.b[p.i:], '"')
		if n < 0 {
			break
		}
		escapes := 0
		for escapes < p.i+n-start && p.b[p.i+n-1-escapes] == '\\' {
			escapes++
		}
		p.i += n + 1
		if escapes%2 == 0 {
			return p.b[start : p.i-1]
		}
	}
	p.Fail()
	return nil
}

// Raw is the next value as it stands.
func (p *Scanner) Raw() []byte {
	p.space()
	start := p.i
	p.Skip()
	if p.failed {
		return nil
	}
	return p.b[start:p.i]
}

// Leap passes over the next value by its brackets and strings alone, and gives it as it stands: many times as fast as Skip, and what isn't JSON within it
// goes unseen.
func (p *Scanner) Leap() []byte {
	p.space()
	b, i, start, depth := p.b, p.i, p.i, 0
	for !p.failed && i < len(b) {
		c := b[i]
		i++
		switch c {
		case '"':
			n := bytes.IndexByte(b[i:], '"')
			if n > 0 && b[i+n-1] == '\\' {
				p.i = i - 1
				p.str()
				i = p.i
			} else if i += n + 1; n < 0 {
				p.Fail()
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 { // the end of what the value stands in
				return p.leapt(start, i-1)
			}
		case ',':
			if depth > 0 {
				continue
			}
			return p.leapt(start, i-1)
		default:
			continue
		}
		if depth == 0 {
			return p.leapt(start, i)
		}
	}
	if depth > 0 {
		p.Fail()
	}
	return p.leapt(start, i)
}

// leapt is the value between two places, which has to have a byte.
func (p *Scanner) leapt(start, end int) []byte {
	if p.failed || end <= start {
		p.Fail()
		return nil
	}
	p.i = end
	return p.b[start:end]
}

// Text is the inside of a string, with its escapes as they stand.
func (p *Scanner) Text() []byte { return p.str() }

// IsNull takes null, if it is the next value.
func (p *Scanner) IsNull() bool {
	const null = "null"
	if p.Peek() != null[0] {
		return false
	}
	if !bytes.HasPrefix(p.b[p.i:], []byte(null)) {
		p.Fail()
		return false
	}
	p.i += len(null)
	return true
}

// Uint reads a decimal number without a sign, fraction or exponent.
func (p *Scanner) Uint() (n uint64) {
	p.space()
	start := p.i
	for ; p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9'; p.i++ {
		d := uint64(p.b[p.i] - '0')
		if n > (math.MaxUint64-d)/10 {
			p.Fail()
			return 0
		}
		n = n*10 + d
	}
	if p.failed || p.i == start {
		p.Fail()
		return 0
	}
	return n
}

const maxDepth = 32

// Skip passes over the next value.
func (p *Scanner) Skip() {
	p.space()
	if p.failed || p.i >= len(p.b) {
		p.Fail()
		return
	}
	if p.depth++; p.depth > maxDepth {
		p.Fail()
		return
	}
	defer func() { p.depth-- }()
	switch p.b[p.i] {
	case '"':
		p.str()
	case '{':
		p.Object(func([]byte) { p.Skip() })
	case '[':
		p.Array(p.Skip)
	default:
		start := p.i
		for p.i < len(p.b) && !bytes.ContainsRune([]byte(",}] \n\t\r"), rune(p.b[p.i])) {
			p.i++
		}
		if !json.Valid(p.b[start:p.i]) {
			p.Fail()
		}
	}
}

// Fixed reads a hexadecimal string of exactly len(dst) bytes.
func (p *Scanner) Fixed(dst []byte) {
	s := p.str()
	if p.failed || len(s) != 2+2*len(dst) || s[0] != '0' || s[1] != 'x' || !unhex(dst, s[2:]) {
		p.Fail()
	}
}

// Bytes reads a hexadecimal string of any length into the shared buffer.
func (p *Scanner) Bytes() []byte {
	s := p.str()
	if p.failed || len(s) < 2 || len(s)%2 != 0 || s[0] != '0' || s[1] != 'x' {
		p.Fail()
		return nil
	}
	n := (len(s) - 2) / 2
	start := len(p.arena)
	if start+n > cap(p.arena) {
		p.arena = make([]byte, 0, max(n, cap(p.arena), 4096))
		start = 0
	}
	p.arena = p.arena[:start+n]
	dst := p.arena[start : start+n : start+n]
	if !unhex(dst, s[2:]) {
		p.Fail()
	}
	return dst
}

// Number reads a "0x…" quantity.
func (p *Scanner) Number() uint64 {
	s := p.str()
	if p.failed || len(s) < 3 || len(s) > 18 || s[0] != '0' || s[1] != 'x' {
		p.Fail()
		return 0
	}
	var n uint64
	for _, c := range s[2:] {
		d := nibbles[c]
		if d > 15 {
			p.Fail()
			return 0
		}
		n = n<<4 | uint64(d)
	}
	return n
}

// Word reads a "0x…" quantity of at most 256 bits.
func (p *Scanner) Word() (w [32]byte) {
	s := p.str()
	if p.failed || len(s) < 3 || len(s) > 2+2*len(w) || s[0] != '0' || s[1] != 'x' {
		p.Fail()
		return w
	}
	var bad byte
	for i, at := len(s)-1, 2*len(w)-1; i >= 2; i, at = i-1, at-1 {
		d := nibbles[s[i]]
		bad |= d & 0xf0
		w[at/2] |= d << (4 * (1 - at%2))
	}
	if bad != 0 {
		p.Fail()
		return [32]byte{}
	}
	return w
}

var nibbles = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i := range 10 {
		t['0'+i] = byte(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = byte(10+i), byte(10+i)
	}
	return t
}()

func unhex(dst, src []byte) bool {
	var bad byte
	for i := range dst {
		hi, lo := nibbles[src[2*i]], nibbles[src[2*i+1]]
		bad |= (hi | lo) & 0xf0
		dst[i] = hi<<4 | lo
	}
	return bad == 0
}
