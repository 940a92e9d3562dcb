package chain

import (
	"encoding/binary"
	"sync/atomic"
	"time"
)

// Hash is a Keccak-256.
type Hash [32]byte

// Address is an account's.
type Address [20]byte

// Log is one log of a transaction.
type Log struct {
	Address Address
	Topics  []Hash
	Data    []byte
}

// Tx is a transaction with its receipt. Made-up ones have no input and move no coins.
type Tx struct {
	Hash     Hash
	From, To Address
	Type     byte
	Failed   bool
	Gas      uint64
	Logs     []Log
}

// Bloom tells which addresses and topics a block's or a receipt's logs may have (yellow paper, section 4.3.1).
type Bloom [256]byte

// Block is a block of the chain. Nobody changes it once it is made.
type Block struct {
	Number       uint64
	Hash, Parent Hash
	Time         uint64
	// State is the block of anvil's whose state this block's is.
	State uint64
	// Count is how many transactions the block has, Logs how many logs they have together.
	Count, Logs  int
	Bloom        Bloom
	GasUsed      uint64
	TxRoot       Hash
	ReceiptsRoot Hash
	StateRoot    Hash
	// Made is when the block was made, by the machine's clock.
	Made time.Time
	// Real is how many of the transactions anvil has mined.
	Real int

	// batches are the real transactions by the anvil block that they were mined in, volume is the state of the pools before the block.
	batches []Batch
	volume  *poolStates
	// txs are the transactions; nil once they lie in the file, at a place.
	txs    atomic.Pointer[[]Tx]
	stored part
}

// Batch is what anvil mined in a block.
type Batch struct {
	State uint64
	Txs   []Tx
}

const (
	gasLimit = 400_000_000
	// baseFee is a gwei in wei.
	baseFee = 1_000_000_000
)

var (
	noUncles      = keccak([]byte{0xc0})
	emptyRoot     = keccak([]byte{0x80})
	feeCollector  = Address{0x57, 0xa9, 0xd1} // the stand-in's own
	extraData     = []byte("stand-in, no mainnet")
	standInSource = []byte("boardwalk stand-in provider")
)

// seal computes what follows from the transactions, and the hash.
func (b *Block) seal(txs []Tx, blooms *bloomCache) {
	b.txs.Store(&txs)
	receipts, hashes := make([][]byte, len(txs)), make([][]byte, len(txs))
	cumulative := uint64(0)
	b.Logs, b.Count = 0, len(txs)
	for i := range txs {
		t := &txs[i]
		cumulative += t.Gas
		bloom := blooms.of(t.Logs)
		for k := range bloom {
			b.Bloom[k] |= bloom[k]
		}
		receipts[i], hashes[i] = t.receipt(cumulative, &bloom), t.Hash[:]
		b.Logs += len(t.Logs)
	}
	b.GasUsed, b.TxRoot, b.ReceiptsRoot = cumulative, listRoot(hashes), listRoot(receipts)
	var seed [16]byte
	binary.BigEndian.PutUint64(seed[:], b.Number)
	binary.BigEndian.PutUint64(seed[8:], b.State)
	b.StateRoot = keccak(standInSource, b.TxRoot[:], seed[:])
	b.Hash = keccak(b.header())
}

// header is the header in RLP (EIPs 1559, 4895, 4844 and 4788 included).
func (b *Block) header() []byte {
	body := appendString(nil, b.Parent[:])
	body = appendString(body, noUncles[:])
	body = appendString(body, feeCollector[:])
	body = appendString(body, b.StateRoot[:])
	body = appendString(body, b.TxRoot[:])
	body = appendString(body, b.ReceiptsRoot[:])
	body = appendString(body, b.Bloom[:])
	body = appendUint(body, 0) // difficulty
	body = appendUint(body, b.Number)
	body = appendUint(body, gasLimit)
	body = appendUint(body, b.GasUsed)
	body = appendUint(body, b.Time)
	body = appendString(body, extraData)
	body = appendString(body, make([]byte, 32)) // mixHash
	body = appendString(body, make([]byte, 8))  // nonce
	body = appendUint(body, baseFee)
	body = appendString(body, emptyRoot[:])     // withdrawalsRoot
	body = appendUint(body, 0)                  // blobGasUsed
	body = appendUint(body, 0)                  // excessBlobGas
	body = appendString(body, make([]byte, 32)) // parentBeaconBlockRoot
	return appendList(nil, body)
}

// receipt is the receipt as it stands in the trie (EIP-2718).
func (t *Tx) receipt(cumulative uint64, bloom *Bloom) []byte {
	var logs, one []byte
	for i := range t.Logs {
		l := &t.Logs[i]
		var topics []byte
		for k := range l.Topics {
			topics = appendString(topics, l.Topics[k][:])
		}
		one = appendString(one[:0], l.Address[:])
		one = appendList(one, topics)
		one = appendString(one, l.Data)
		logs = appendList(logs, one)
	}
	status := uint64(1)
	if t.Failed {
		status = 0
	}
	body := appendUint(nil, status)
	body = appendUint(body, cumulative)
	body = appendString(body, bloom[:])
	body = appendList(body, logs)
	if t.Type == 0 {
		return appendList(nil, body)
	}
	return appendList([]byte{t.Type}, body)
}

// bloomCache keeps the bits of addresses and topics, which come again and again.
type bloomCache struct {
	addresses map[Address][3]uint16
	topics    map[Hash][3]uint16
}

// mostCached bounds the cache: topics that are random fill it.
const mostCached = 200_000

func newBloomCache() *bloomCache {
	return &bloomCache{map[Address][3]uint16{}, map[Hash][3]uint16{}}
}

func bitsOf(item []byte) (out [3]uint16) {
	sum := keccak(item)
	for i := range out {
		out[i] = binary.BigEndian.Uint16(sum[2*i:]) & 2047
	}
	return out
}

func (c *bloomCache) of(logs []Log) (b Bloom) {
	set := func(places [3]uint16) {
		for _, p := range places {
			b[255-p/8] |= 1 << (p % 8)
		}
	}
	for i := range logs {
		l := &logs[i]
		places, ok := c.addresses[l.Address]
		if !ok {
			places = bitsOf(l.Address[:])
			if len(c.addresses) < mostCached {
				c.addresses[l.Address] = places
			}
		}
		set(places)
		for _, t := range l.Topics {
			places, ok := c.topics[t]
			if !ok {
				places = bitsOf(t[:])
				if len(c.topics) < mostCached {
					c.topics[t] = places
				}
			}
			set(places)
		}
	}
	return b
}
