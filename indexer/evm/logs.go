package evm

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Log is one log as a node reports it. Data points into a buffer that the batch of logs shares.
type Log struct {
	Address   [20]byte
	Topics    [4][32]byte
	NumTopics int
	Data      []byte
	Block     uint64
	BlockHash market.Hash
	// BlockTime is in unix seconds; 0 where the node doesn't say.
	BlockTime int64
	TxHash    market.Hash
	TxIndex   uint32
	Index     uint32
	Removed   bool
}

// word is the i-th 32-byte word of the data; ok is false beyond its end.
func (l *Log) word(i int) (w [32]byte, ok bool) {
	if len(l.Data) < (i+1)*32 {
		return w, false
	}
	copy(w[:], l.Data[i*32:])
	return w, true
}

// parseLogs reads a whole JSON-RPC answer to eth_getLogs. Reading logs is the largest part of a backfill's work (see
// docs/benchmarks.md), so this reads the one shape it needs by hand; fields that it doesn't know are skipped.
func parseLogs(raw []byte) ([]Log, error) {
	p := &scanner{b: raw}
	var logs []Log
	var nodeErr json.RawMessage
	found := false
	p.object(func(key []byte) {
		switch string(key) {
		case "result":
			logs, found = p.logs(), true
		case "error":
			nodeErr = p.raw()
		default:
			p.skip()
		}
	})
	if p.space(); p.failed || p.i != len(raw) {
		return nil, fmt.Errorf("%w: bad JSON near byte %d", errGarbage, p.i)
	}
	if len(nodeErr) > 0 && string(nodeErr) != "null" {
		var e RPCError
		if err := json.Unmarshal(nodeErr, &e); err != nil {
			return nil, fmt.Errorf("%w: an unreadable error", errGarbage)
		}
		return nil, &e
	}
	if !found {
		return nil, fmt.Errorf("%w: no result", errGarbage)
	}
	return logs, nil
}

// scanner walks JSON. After the first mistake it is failed and every method returns at once.
type scanner struct {
	b      []byte
	i      int
	depth  int
	failed bool
	arena  []byte
}

func (p *scanner) fail() { p.failed = true }

func (p *scanner) space() {
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
func (p *scanner) next(c byte) bool {
	p.space()
	if p.failed || p.i >= len(p.b) || p.b[p.i] != c {
		return false
	}
	p.i++
	return true
}

func (p *scanner) object(field func(key []byte)) {
	if !p.next('{') {
		p.fail()
		return
	}
	if p.next('}') {
		return
	}
	for !p.failed {
		key := p.str()
		if !p.next(':') {
			p.fail()
			return
		}
		field(key)
		if p.next(',') {
			continue
		}
		if !p.next('}') {
			p.fail()
		}
		return
	}
}

func (p *scanner) array(item func()) {
	if !p.next('[') {
		p.fail()
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
			p.fail()
		}
		return
	}
}

// str is the inside of a string, escapes left as they are: nothing that matters here has any.
func (p *scanner) str() []byte {
	if !p.next('"') {
		p.fail()
		return nil
	}
	start := p.i
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case '"':
			p.i++
			return p.b[start : p.i-1]
		case '\\':
			p.i++
		}
		p.i++
	}
	p.fail()
	return nil
}

// raw is the next value as it stands.
func (p *scanner) raw() []byte {
	p.space()
	start := p.i
	p.skip()
	if p.failed {
		return nil
	}
	return p.b[start:p.i]
}

const maxDepth = 32

func (p *scanner) skip() {
	p.space()
	if p.failed || p.i >= len(p.b) {
		p.fail()
		return
	}
	if p.depth++; p.depth > maxDepth {
		p.fail()
		return
	}
	defer func() { p.depth-- }()
	switch p.b[p.i] {
	case '"':
		p.str()
	case '{':
		p.object(func([]byte) { p.skip() })
	case '[':
		p.array(p.skip)
	default:
		start := p.i
		for p.i < len(p.b) && !bytes.ContainsRune([]byte(",}] \n\t\r"), rune(p.b[p.i])) {
			p.i++
		}
		if !json.Valid(p.b[start:p.i]) {
			p.fail()
		}
	}
}

// A whole log has more than leastLog bytes of JSON, and takes some 270 once it is read; mostSparse shorter ones are taken all the same.
const leastLog, mostSparse = 128, 1024

func (p *scanner) logs() []Log {
	p.space()
	if p.i < len(p.b) && p.b[p.i] == 'n' {
		if string(p.raw()) != "null" {
			p.fail()
		}
		return nil
	}
	// A log is some 700 bytes of JSON.
	logs := make([]Log, 0, len(p.b)/640+1)
	p.arena = make([]byte, 0, len(p.b)/4)
	p.array(func() {
		if len(logs) > mostSparse+len(p.b)/leastLog {
			p.fail() // each would take far more memory than it has bytes
			return
		}
		logs = append(logs, Log{})
		l := &logs[len(logs)-1]
		p.object(func(key []byte) { p.logField(l, key) })
	})
	return logs
}

func (p *scanner) logField(l *Log, key []byte) {
	switch string(key) {
	case "address":
		p.fixed(l.Address[:])
	case "topics":
		p.array(func() {
			if l.NumTopics >= len(l.Topics) {
				p.fail()
				return
			}
			p.fixed(l.Topics[l.NumTopics][:])
			l.NumTopics++
		})
	case "data":
		l.Data = p.bytes()
	case "blockNumber":
		l.Block = p.number()
	case "blockHash":
		p.fixed(l.BlockHash[:])
	case "blockTimestamp":
		l.BlockTime = int64(p.number())
	case "transactionHash":
		p.fixed(l.TxHash[:])
	case "transactionIndex":
		l.TxIndex = uint32(p.number())
	case "logIndex":
		l.Index = uint32(p.number())
	case "removed":
		l.Removed = string(p.raw()) == "true"
	default:
		p.skip()
	}
}

// fixed reads a hexadecimal string of exactly len(dst) bytes.
func (p *scanner) fixed(dst []byte) {
	s := p.str()
	if p.failed || len(s) != 2+2*len(dst) || s[0] != '0' || s[1] != 'x' || !unhex(dst, s[2:]) {
		p.fail()
	}
}

// bytes reads a hexadecimal string of any length into the shared buffer.
func (p *scanner) bytes() []byte {
	s := p.str()
	if p.failed || len(s) < 2 || len(s)%2 != 0 || s[0] != '0' || s[1] != 'x' {
		p.fail()
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
		p.fail()
	}
	return dst
}

// number reads a "0x…" quantity.
func (p *scanner) number() uint64 {
	s := p.str()
	if p.failed || len(s) < 3 || len(s) > 18 || s[0] != '0' || s[1] != 'x' {
		p.fail()
		return 0
	}
	var n uint64
	for _, c := range s[2:] {
		d := nibbles[c]
		if d > 15 {
			p.fail()
			return 0
		}
		n = n<<4 | uint64(d)
	}
	return n
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
