package judge

// A price counts once it was held for so many blocks and for so many seconds.
const (
	holdBlocks  = 10
	holdSeconds = 20
)

// closing is the price at the end of a block.
type closing struct {
	block uint64
	time  int64 // unix seconds
	usd   float64
}

// isOver reports whether the hold time that begins with the closing is over by a block.
func (c *closing) isOver(block uint64, time int64) bool {
	return block >= c.block+holdBlocks && time >= c.time+holdSeconds
}

// held finds the prices that were held in one pool, from the closings of its blocks. A price is held if no block closes lower for holdBlocks blocks and
// holdSeconds seconds, from the block on that closes at it or above. Between two closings the price stays.
type held struct {
	// starts are the closings whose hold time isn't over, in their order. Each has the lowest price since, so that the prices ascend.
	starts []closing
}

// add takes in the next closing. It calls onHeld with each closing whose hold time is over by then; its price is the price that was held.
func (h *held) add(c closing, onHeld func(closing)) {
	h.advance(c.block, c.time, onHeld)
	for i := len(h.starts) - 1; i >= 0 && h.starts[i].usd > c.usd; i-- {
		h.starts[i].usd = c.usd
	}
	h.starts = append(h.starts, c)
}

// advance takes in that no other closing comes before a block.
func (h *held) advance(block uint64, time int64, onHeld func(closing)) {
	n := 0
	for n < len(h.starts) && h.starts[n].isOver(block, time) {
		onHeld(h.starts[n])
		n++
	}
	h.starts = h.starts[n:]
}
