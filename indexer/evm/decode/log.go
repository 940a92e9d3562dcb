package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

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
