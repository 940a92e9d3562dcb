package chainconfig

import "fmt"

// Effort is about what indexing a chain anew takes.
type Effort struct {
	// Family is the family whose rule Calls follows. It is empty in the answer of an older indexer, which knew EVM's rule alone.
	Family Family `json:"family,omitempty"`
	// Blocks is how many blocks are read, on Solana how many slots. Calls is how many calls that takes.
	Blocks uint64 `json:"blocks"`
	Calls  uint64 `json:"calls"`
	// Bytes is the room on the disk that the new index takes until the former rows are deleted: the size of the served index, on SQLite of the whole database.
	Bytes int64 `json:"bytes"`
}

const (
	// PastRange is the number of blocks of the past that most EVM nodes give the logs of at once.
	PastRange = 1000
	// PastSlots is the number of slots of Solana's past that a node is asked for at once, to list those that have a block.
	PastSlots = 512
	// solanaBlockMB is the length of a block of Solana's mainnet, in megabytes of JSON, as docs/costs.md has it.
	solanaBlockMB = 16
)

// EffortOf is what reading the blocks from first to last again takes on a chain of a family, if the served index has some bytes. An unknown family is taken for
// EVM.
func EffortOf(f Family, first, last uint64, bytes int64) Effort {
	e := Effort{Family: f, Blocks: last - min(first, last) + 1, Bytes: bytes}
	if f == Solana {
		e.Calls = e.Blocks + ranges(e.Blocks, PastSlots) // each block is a call, as is each list of slots
	} else {
		e.Calls = 2 * ranges(e.Blocks, PastRange) // the logs, and the header of the range's last block
	}
	return e
}

// ranges is how many ranges of some length blocks make.
func ranges(blocks, length uint64) uint64 { return (blocks-1)/length + 1 }

// Reading says how many calls for how many blocks the effort is, and what that figure rests on.
func (e Effort) Reading() string {
	if e.Family == Solana {
		return fmt.Sprintf("some %d calls for %d slots (one for each slot that has a block, one for each %d slots, and a tenth more where there are several endpoints), "+
			"which bring some %d GB where blocks are as long as on the mainnet, or a fifth of that where nodes compress",
			e.Calls, e.Blocks, PastSlots, (e.Blocks*solanaBlockMB+999)/1000)
	}
	return fmt.Sprintf("some %d calls for %d blocks, where a node gives the logs of %d at once (20 times as many where it gives those of %d, and more where it takes few topics)",
		e.Calls, e.Blocks, PastRange, PastRange/20)
}

// Megabytes is a number of bytes as people read it.
func Megabytes(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }
