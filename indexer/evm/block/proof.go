package block

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Proof is what a header says of its block's logs, and of its own hash: chain.Header's Known, as *Proof. Of a header that was made up from a row there is
// none.
type Proof struct {
	bloom    [256]byte
	hasBloom bool
	// idle says that no transaction is in the block, or none that burned gas.
	idle bool
	// sum is the hash that follows from the header's fields; sumErr says why there is none.
	sum    market.Hash
	sumErr error
}

// noTransactions is the root of an empty trie: the Keccak-256 of the RLP of an empty string.
const noTransactions = `"0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"`

// ProofOf is what a header says of its block's logs; where there is no Proof it allows all.
func ProofOf(h *chain.Header) *Proof {
	if p, ok := h.Known.(*Proof); ok {
		return p
	}
	return &Proof{}
}

// Hash is the hash that follows from the header's fields by Ethereum's rules, whatever hash the node told. It is an error, an rpc.ErrGarbage, where a field
// can't be hashed.
func (p *Proof) Hash() (market.Hash, error) { return p.sum, p.sumErr }

// MayHold reports whether the header allows a log with one of the topics: by its gas, by the root of its transactions, and
// by its bloom (yellow paper, section 4.3.1).
func (p *Proof) MayHold(topics [][32]byte) bool {
	if p.idle {
		return false
	}
	if !p.hasBloom {
		return true
	}
	return slices.ContainsFunc(topics, func(t [32]byte) bool { return p.Allows(t[:]) })
}

// MayHoldOf is MayHold for logs of one contract.
func (p *Proof) MayHoldOf(contract market.Address, topics [][32]byte) bool {
	return p.MayHold(topics) && p.Allows(contract.Bytes())
}

// Allows reports whether the bloom allows a log of an address, of 20 bytes, or with a topic, of 32. A header without a bloom allows all.
func (p *Proof) Allows(item []byte) bool {
	if !p.hasBloom {
		return true
	}
	sum := hash.Keccak256(item)
	for j := 0; j < 6; j += 2 {
		bit := (uint(sum[j])<<8 | uint(sum[j+1])) & 2047
		if p.bloom[255-bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}
