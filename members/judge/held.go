package judge

// A price counts once it was held for both.
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

// isOver reports whether by a block the time is over for which a price has to be held from the closing on.
func (c *closing) isOver(block uint64, time int64) bool {
	return block >= c.block+holdBlocks && time >= c.time+holdSeconds
}

// held finds the prices that were held in one pool, from the closings of its blocks. A price is held if no block closes lower for holdBlocks blocks and
// holdSeconds seconds, from the block on that closes at it or above. Between two closings the price stays.
type held struct {
	// starts are the closings from which on it isn't known yet which price is held, in their order. The price of each is the lowest since, so that they rise.
	starts []closing
}

// add takes in the next closing. onHeld is called with each earlier closing whose time is over by then, with the price that was held from there on.
func (h *held) add(c closing, onHeld func(closing)) {
	h.advance(c.block, c.time, onHeld)
	for i := len(h.starts) - 1; i >= 0 && h.starts[i].usd > c.usd; i-- {
		h.starts[i].usd = c.usd
	}
	h.starts = append(h.starts, c)
}

// advance takes in that there is no other closing before a block.
func (h *held) advance(block uint64, time int64, onHeld func(closing)) {
	n := 0
	for n < len(h.starts) && h.starts[n].isOver(block, time) {
		onHeld(h.starts[n])
		n++
	}
	h.starts = h.starts[n:]
}
