package chain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// inMemory is how many blocks' transactions are kept in memory. Those of older blocks lie in a file, at some 200 bytes a log: two hours of
// a busy chain are a gigabyte.
const inMemory = 1024

// spill is the file with what old blocks have in them. It has no name, so that it goes with the process.
type spill struct {
	file *os.File
	size int64
}

// part is a place in the file.
type part struct{ at, length int64 }

func newSpill() (*spill, error) {
	f, err := os.CreateTemp("", "provider-blocks-")
	if err != nil {
		return nil, fmt.Errorf("provider: a file for old blocks: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("provider: a file for old blocks: %w", err), f.Close())
	}
	return &spill{file: f}, nil
}

// write appends transactions.
func (s *spill) write(txs []Tx) (part, error) {
	raw := encodeTxs(txs)
	p := part{s.size, int64(len(raw))}
	if _, err := s.file.WriteAt(raw, p.at); err != nil {
		return p, fmt.Errorf("provider: write old blocks: %w", err)
	}
	s.size += p.length
	return p, nil
}

func (s *spill) read(p part) ([]Tx, error) {
	raw := make([]byte, p.length)
	if _, err := s.file.ReadAt(raw, p.at); err != nil {
		return nil, fmt.Errorf("provider: read old blocks: %w", err)
	}
	return decodeTxs(raw), nil
}

func encodeTxs(txs []Tx) []byte {
	out := binary.AppendUvarint(nil, uint64(len(txs)))
	for i := range txs {
		t := &txs[i]
		failed := byte(0)
		if t.Failed {
			failed = 1
		}
		out = append(append(append(out, t.Hash[:]...), t.From[:]...), t.To[:]...)
		out = append(out, t.Type, failed)
		out = binary.AppendUvarint(out, t.Gas)
		out = binary.AppendUvarint(out, uint64(len(t.Logs)))
		for k := range t.Logs {
			l := &t.Logs[k]
			out = append(append(out, l.Address[:]...), byte(len(l.Topics)))
			for _, topic := range l.Topics {
				out = append(out, topic[:]...)
			}
			out = append(binary.AppendUvarint(out, uint64(len(l.Data))), l.Data...)
		}
	}
	return out
}

// decodeTxs is the reverse of encodeTxs, whose results alone it is given. What it gives shares the bytes.
func decodeTxs(raw []byte) []Tx {
	next := func(n int) []byte {
		out := raw[:n:n]
		raw = raw[n:]
		return out
	}
	number := func() int {
		n, size := binary.Uvarint(raw)
		raw = raw[size:]
		return int(n)
	}
	txs := make([]Tx, number())
	for i := range txs {
		t := &txs[i]
		t.Hash, t.From, t.To = Hash(next(32)), Address(next(20)), Address(next(20))
		t.Type, t.Failed = next(1)[0], next(1)[0] == 1
		t.Gas = uint64(number())
		if logs := number(); logs > 0 {
			t.Logs = make([]Log, logs)
		}
		for k := range t.Logs {
			l := &t.Logs[k]
			l.Address = Address(next(20))
			l.Topics = make([]Hash, next(1)[0])
			for n := range l.Topics {
				l.Topics[n] = Hash(next(32))
			}
			l.Data = next(number())
		}
	}
	return txs
}
