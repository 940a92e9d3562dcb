package rpc

import (
	"context"
	"math/bits"
	"sync"
)

const (
	// maxAnswer is the largest answer that is read; a range or a batch with a larger one is asked for in halves.
	maxAnswer = 32 << 20
	// maxWhole is the largest answer about one block, which can't be halved: providers cap theirs at 150 MB.
	maxWhole = 160 << 20
	// maxInFlight is what the answers of all endpoints of a chain may take together, but for one of them.
	maxInFlight = 96 << 20
	// FirstPiece is what is taken for an answer whose length isn't told.
	FirstPiece = 64 << 10
)

// InFlight bounds the bytes of the answers that are read or decoded at the same time, over all endpoints of a chain. A reader takes
// what its buffer needs, waits while the limit is reached, and gives all of it back in the end. One reader at a time may go beyond
// the limit: the first that has to, until it has given everything back. So somebody always gets on, and however many read at once
// the bound is Limit plus Whole, or Limit plus Most while no single block is larger than Most.
type InFlight struct {
	// Limit is what all answers may take together, but for one of them; Most is the longest answer, and Whole the longest one about one block.
	// They stay as they are once something was read.
	Limit, Most, Whole int64
	// Watch is told of every change, and must not wait; it may be nil.
	Watch func(bytes int64)

	mu     sync.Mutex
	used   int64
	beyond *hold         // who may go beyond the limit
	freed  chan struct{} // closed when something is given back
}

// NewInFlight gives the bounds that a chain has: 96 MiB for all answers, 32 MiB for one, and 160 MiB for one about one block.
func NewInFlight(watch func(bytes int64)) *InFlight {
	return &InFlight{Limit: maxInFlight, Most: maxAnswer, Whole: maxWhole, Watch: watch, freed: make(chan struct{})}
}

// hold is what one reader has taken.
type hold struct {
	of    *InFlight
	bytes int64
}

type holdKey struct{}

// holdOf is the hold that a read takes on.
func (f *InFlight) holdOf(ctx context.Context) *hold {
	if h, ok := ctx.Value(holdKey{}).(*hold); ok && h.of == f {
		return h
	}
	return &hold{of: f}
}

// take waits until n more bytes are free and takes them. large says that they are for an answer of more than Most bytes: one such answer is read at a time.
func (h *hold) take(ctx context.Context, n int64, large bool) error {
	f := h.of
	for {
		f.mu.Lock()
		fits := !large && f.used+n <= f.Limit
		if !fits && f.beyond == nil {
			f.beyond = h
		}
		if fits || f.beyond == h {
			h.bytes += n
			f.add(n)
			f.mu.Unlock()
			return nil
		}
		freed := f.freed
		f.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// give gives n bytes back.
func (h *hold) give(n int64) {
	f := h.of
	f.mu.Lock()
	defer f.mu.Unlock()
	h.bytes -= n
	if h.bytes == 0 && f.beyond == h {
		f.beyond = nil
	}
	f.add(-n)
	close(f.freed)
	f.freed = make(chan struct{})
}

func (f *InFlight) add(n int64) {
	f.used += n
	if f.Watch != nil {
		f.Watch(f.used)
	}
}

// Reply is the body of an answer, with the bytes that were taken for it.
type Reply struct {
	// Raw is the body.
	Raw   []byte
	hold  *hold
	taken int64
	// buffer is what Raw lies in, all of it.
	buffer []byte
}

// Within is a context for reads that are made while this answer is held: they take on its account. Else two that each hold what the
// other waits for would wait for ever.
func (r *Reply) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, holdKey{}, r.hold)
}

// Taken is how many bytes are taken for the answer.
func (r *Reply) Taken() int64 { return r.taken }

// Join takes over what another answer took that was read within this one: it is given back with this one.
func (r *Reply) Join(other *Reply) { r.taken, other.taken = r.taken+other.taken, 0 }

// buffers keeps the buffers of answers that are done with. The next answers are read into them: fresh memory has to be cleared, which takes as long
// as reading.
// Their lengths are powers of two; the buffers of one length stand at its exponent.
var buffers [maxKept + 1]sync.Pool

// maxKept is the exponent of the longest buffer that is kept: 32 MiB, twice a block of Solana.
const maxKept = 25

// isKept reports whether buffers of a length are kept, and at which exponent.
func isKept(n int) (exponent int, ok bool) {
	exponent = bits.Len(uint(n)) - 1
	return exponent, n > 0 && exponent <= maxKept && n == 1<<exponent
}

// roundUp is the length of a buffer for n bytes, of at most so many.
func roundUp(n, most int64) int64 {
	if up := int64(1) << bits.Len64(uint64(n-1)); up <= min(most, 1<<maxKept) {
		return up
	}
	return n
}

// bufferOf is a buffer of n bytes.
func bufferOf(n int64) []byte {
	if exponent, ok := isKept(int(n)); ok {
		if b, ok := buffers[exponent].Get().(*[]byte); ok {
			return *b
		}
	}
	return make([]byte, 0, n)
}

// Free keeps the buffer for another answer: nothing of the body is needed any more.
func (r *Reply) Free() {
	if exponent, ok := isKept(cap(r.buffer)); ok {
		b := r.buffer[:0]
		buffers[exponent].Put(&b)
	}
	r.Raw, r.buffer = nil, nil
}

// reserve sees to it that there is room for n bytes and for what there is already.
func (r *Reply) reserve(ctx context.Context, n int64) error {
	if n <= r.taken {
		return nil
	}
	n = roundUp(n, r.hold.of.Most)
	// An answer that is too long is read to one byte beyond the limit: that byte shows that it is.
	if err := r.hold.take(ctx, n-r.taken, n > r.hold.of.Most+1); err != nil {
		return err
	}
	r.taken = n
	before, wider := *r, bufferOf(n)
	r.buffer, r.Raw = wider, wider[:copy(wider[:n], before.Raw)]
	before.Free()
	return nil
}

// Done gives back what was taken: nothing of the body is needed any more.
func (r *Reply) Done() {
	if r == nil || r.taken == 0 {
		return
	}
	r.Free()
	r.hold.give(r.taken)
	r.taken = 0
}
