// Package standin has a small program for Solana's runtime that stands at the address of a protocol's program in a local chain: it does what the caller of an
// instruction writes behind the instruction's own data. So tokens move by the real token programs, events are told the way the protocol tells them, and the
// arithmetic is the caller's. It proves nothing about the protocol's own logic.
package standin

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// The steps of a script, by their first byte.
const (
	stepCall  = 1
	stepData  = 2
	stepLine  = 3
	stepPay   = 4
	stepWrite = 5
)

// A script ends with its length and a mark, of two bytes each.
const (
	trailerLen = 4
	scriptMark = 0x5742 // "BW"
)

// An instruction has its script packed: each key of the instruction's own accounts takes one byte, its place among them. So a script fits into a transaction that the network
// would take, and a sale that another holder makes again has the other holder's keys. A packed script is pieces: a length of one byte, as many bytes, and the place of the key
// that follows them, or noKey.
const (
	noKey        = 255
	longestPiece = 255
	// longestScript is the room that the program has for an unpacked script.
	longestScript = heap + 0x8000 - script
)

// The bits of an account's flags in a script: the called program may write the account, and the account signs the call.
const (
	flagWritable = 1
	flagSigner   = 2
)

// Script is what the stand-in shall do, step after step. Accounts are given by their places among the instruction's.
type Script struct {
	steps []byte
	err   error
}

// Meta is an account of a call.
type Meta struct {
	Place            int
	Writable, Signer bool
}

// Call calls a program. With seeds, the address that they and the stand-in's own make signs it besides.
func (s *Script) Call(program int, accounts []Meta, data []byte, seeds ...[]byte) {
	s.place(stepCall)
	s.place(program)
	s.place(len(accounts))
	for _, m := range accounts {
		s.place(m.Place)
		var flags byte
		if m.Writable {
			flags |= flagWritable
		}
		if m.Signer {
			flags |= flagSigner
		}
		s.steps = append(s.steps, flags)
	}
	s.place(len(seeds))
	for _, seed := range seeds {
		s.place(len(seed))
		s.steps = append(s.steps, seed...)
	}
	s.bytes(data)
}

// Data logs bytes, as programs do that tell events in their logs ("Program data: …").
func (s *Script) Data(b []byte) {
	s.place(stepData)
	s.bytes(b)
}

// Line logs a line ("Program log: …").
func (s *Script) Line(line string) {
	s.place(stepLine)
	s.bytes([]byte(line))
}

// Pay moves lamports from an account that the stand-in owns.
func (s *Script) Pay(from, to int, lamports uint64) {
	s.place(stepPay)
	s.place(from)
	s.place(to)
	s.steps = binary.LittleEndian.AppendUint64(s.steps, lamports)
}

// Write writes an account that the stand-in owns, from an offset on.
func (s *Script) Write(account, offset int, b []byte) {
	s.place(stepWrite)
	s.place(account)
	s.short(offset)
	s.bytes(b)
}

// Behind is the data of an instruction that names the accounts, with the script behind it.
func (s *Script) Behind(data []byte, accounts ...svm.Key) ([]byte, error) {
	if s.err == nil && len(s.steps) > longestScript {
		s.err = fmt.Errorf("standin: a script of %d bytes, more than %d", len(s.steps), longestScript)
	}
	if s.err != nil {
		return nil, s.err
	}
	packed := pack(s.steps, accounts[:min(len(accounts), noKey)])
	out := append(append([]byte(nil), data...), packed...)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(packed)))
	return binary.LittleEndian.AppendUint16(out, scriptMark), nil
}

// pack writes steps as the program unpacks them.
func pack(steps []byte, accounts []svm.Key) (out []byte) {
	end := func(piece []byte, place int) {
		out = append(append(append(out, byte(len(piece))), piece...), byte(place))
	}
	begin, at := 0, 0
	for at < len(steps) {
		place := -1
		if at+len(svm.Key{}) <= len(steps) {
			place = slices.Index(accounts, svm.Key(steps[at:at+len(svm.Key{})]))
		}
		switch {
		case place >= 0:
			end(steps[begin:at], place)
			at += len(svm.Key{})
			begin = at
		case at-begin == longestPiece:
			end(steps[begin:at], noKey)
			begin = at
		default:
			at++
		}
	}
	end(steps[begin:], noKey)
	return out
}

func (s *Script) place(n int) {
	if n < 0 || n > 0xff {
		s.err = fmt.Errorf("standin: %d doesn't fit into a byte", n)
	}
	s.steps = append(s.steps, byte(n))
}

func (s *Script) short(n int) {
	if n < 0 || n > 0xffff {
		s.err = fmt.Errorf("standin: %d doesn't fit into two bytes", n)
	}
	s.steps = binary.LittleEndian.AppendUint16(s.steps, uint16(n))
}

func (s *Script) bytes(b []byte) {
	s.short(len(b))
	s.steps = append(s.steps, b...)
}
