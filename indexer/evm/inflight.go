package evm

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
	// firstPiece is what is taken for an answer whose length isn't told.
	firstPiece = 64 << 10
)

// inFlight bounds the bytes of the answers that are read or decoded at the same time, over all endpoints of a chain. A reader takes
// what its buffer needs, waits while the limit is reached, and gives all of it back in the end. One reader at a time may go beyond
// the limit: the first that has to, until it has given everything back. So somebody always gets on, and however many read at once
// the bound is limit plus whole, or limit plus most while no single block is larger than most.
type inFlight struct {
	limit       int64
	most, whole int64 // of one answer: at all, and of one block
	// watch is told of every change; it may be nil.
	watch func(bytes int64)

	mu     sync.Mutex
	used   int64
	beyond *hold         // who may go beyond the limit
	freed  chan struct{} // closed when something is given back
}

func newInFlight(watch func(bytes int64)) *inFlight {
	return &inFlight{limit: maxInFlight, most: maxAnswer, whole: maxWhole, watch: watch, freed: make(chan struct{})}
}

// hold is what one reader has taken.
type hold struct {
	of    *inFlight
	bytes int64
}

type holdKey struct{}

// within is a context for reads that are made while this hold lasts: they take on its account. Else two that each hold what the
// other waits for would wait for ever.
func (h *hold) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, holdKey{}, h)
}

// holdOf is the hold that a read takes on.
func (f *inFlight) holdOf(ctx context.Context) *hold {
	if h, ok := ctx.Value(holdKey{}).(*hold); ok && h.of == f {
		return h
	}
	return &hold{of: f}
}

// take takes n bytes more; large says that they are for an answer beyond most, of which there is one at a time.
func (h *hold) take(ctx context.Context, n int64, large bool) error {
	f := h.of
	for {
		f.mu.Lock()
		fits := !large && f.used+n <= f.limit
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

func (f *inFlight) add(n int64) {
	f.used += n
	if f.watch != nil {
		f.watch(f.used)
	}
}

// reply is the body of an answer, with the bytes that were taken for it.
type reply struct {
	raw   []byte
	hold  *hold
	bytes int64
	// buffer is what raw lies in, all of it.
	buffer []byte
}

// buffers are those of answers that are done with. The next answers are read into them: fresh memory has to be cleared, which takes as long
// as reading.
// Their lengths are powers of two; those of one length are at its exponent.
var buffers [maxKept + 1]sync.Pool

// maxKept is the exponent of the longest buffer that is kept: 8 MiB.
const maxKept = 23

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

// free keeps the buffer for another answer: nothing of the body is needed any more.
func (r *reply) free() {
	if exponent, ok := isKept(cap(r.buffer)); ok {
		b := r.buffer[:0]
		buffers[exponent].Put(&b)
	}
	r.raw, r.buffer = nil, nil
}

// reserve sees to it that there is room for n bytes and for what there is already.
func (r *reply) reserve(ctx context.Context, n int64) error {
	if n <= r.bytes {
		return nil
	}
	n = roundUp(n, r.hold.of.most)
	// An answer that is too long is read to one byte beyond the limit: that byte shows that it is.
	if err := r.hold.take(ctx, n-r.bytes, n > r.hold.of.most+1); err != nil {
		return err
	}
	r.bytes = n
	before, wider := *r, bufferOf(n)
	r.buffer, r.raw = wider, wider[:copy(wider[:n], before.raw)]
	before.free()
	return nil
}

// done gives back what was taken: nothing of the body is needed any more.
func (r *reply) done() {
	if r == nil || r.bytes == 0 {
		return
	}
	r.free()
	r.hold.give(r.bytes)
	r.bytes = 0
}
