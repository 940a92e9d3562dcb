package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestInFlight takes up to the limit and beyond: one goes beyond it, the next waits until that one has given everything back.
func TestInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var last int64
		f := NewInFlight(func(n int64) { last = n })
		f.Limit, f.Most, f.Whole = 100, 40, 200
		ctx := t.Context()
		taken := func(h *hold, n int64, large bool) *atomic.Bool {
			var done atomic.Bool
			go func() {
				if err := h.take(ctx, n, large); err != nil {
					t.Error(err)
				}
				done.Store(true)
			}()
			synctest.Wait()
			return &done
		}
		want := func(what string, got *atomic.Bool, done bool) {
			t.Helper()
			synctest.Wait()
			if got.Load() != done {
				t.Errorf("%s: %v, want %v", what, got.Load(), done)
			}
		}
		first, second, third, large := f.holdOf(ctx), f.holdOf(ctx), f.holdOf(ctx), f.holdOf(ctx)
		want("up to the limit", taken(first, 100, false), true)
		want("the first beyond it", taken(second, 1, false), true)
		want("more of the same", taken(second, 39, false), true)
		waits := taken(third, 1, false)
		want("the second beyond it", waits, false)
		want("a read for what is held already", taken(f.holdOf(context.WithValue(ctx, holdKey{}, second)), 5, false), true)
		second.give(40)
		want("a part is given back", waits, false)
		second.give(5)
		want("all is given back", waits, true)
		alone := taken(large, 1, true)
		want("a large one while another is beyond", alone, false)
		third.give(1)
		want("a large one", alone, true)
		another := taken(third, 1, true)
		want("a second large one", another, false)
		first.give(100)
		want("a second large one when there is room", another, false)
		small := taken(first, 99, false)
		want("a small one beside a large one", small, true)
		gone, cancel := context.WithCancel(ctx)
		failed := make(chan error, 1)
		go func() { failed <- f.holdOf(ctx).take(gone, 1, true) }()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("who gives up waiting gets %v", err)
		}
		large.give(1)
		want("the second large one after the first", another, true)
		third.give(1)
		first.give(99)
		if f.used != 0 || last != 0 || f.beyond != nil {
			t.Errorf("%d bytes are left, the metric says %d", f.used, last)
		}
	})
}

// TestAnAnswersLength reads answers at the edges of what is read, told of their length or not.
func TestAnAnswersLength(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bytes, most int64
		fits        bool
	}{
		"none":                {0, maxAnswer, true},
		"one piece":           {FirstPiece, maxAnswer, true},
		"more than a piece":   {FirstPiece + 1, maxAnswer, true},
		"the longest":         {maxAnswer, maxAnswer, true},
		"too long":            {maxAnswer + 1, maxAnswer, false},
		"the longest whole":   {maxWhole, maxWhole, true},
		"too long as a whole": {maxWhole + 1, maxWhole, false},
	} {
		for _, told := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " told ", told), func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if told {
						w.Header().Set("Content-Length", strconv.FormatInt(tt.bytes, 10))
					} else {
						w.(http.Flusher).Flush() //nolint:forcetypeassert,errcheck // a server's writer is one
					}
					_, _ = io.CopyN(w, zeroes{}, tt.bytes)
				}))
				defer server.Close()
				reads := NewInFlight(nil)
				c := newClient(func() (string, error) { return server.URL, nil }, reads)
				got, err := c.post(t.Context(), []byte("{}"), tt.most)
				switch {
				case tt.fits && (err != nil || int64(len(got.Raw)) != tt.bytes || reads.used < tt.bytes || reads.used > 2*tt.bytes+FirstPiece):
					t.Errorf("%v, %d bytes in flight", err, reads.used)
				case !tt.fits && !errors.Is(err, ErrTooLong):
					t.Errorf("%v; want %v", err, ErrTooLong)
				}
				got.Done()
				got.Done() // a second time is nothing
				if reads.used != 0 {
					t.Errorf("%d bytes are still in flight", reads.used)
				}
			})
		}
	}
}

// TestTheNextBlockFindsRoom: a block whose length isn't told is read into a buffer of the length of the one before, of at most so many bytes as are
// kept. The room is taken once the node answers: one that keeps silent takes none from the others. Other answers are as long as they are.
func TestTheNextBlockFindsRoom(t *testing.T) {
	t.Parallel()
	const block = 3 << 20
	length := int64(block)
	var used atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n := used.Load(); n != FirstPiece {
			t.Errorf("%d bytes are taken before the node says anything, want %d", n, FirstPiece)
		}
		w.(http.Flusher).Flush() //nolint:forcetypeassert,errcheck // a server's writer is one
		_, _ = io.CopyN(w, zeroes{}, length)
	}))
	defer server.Close()
	steps := 0
	reads := NewInFlight(func(n int64) { used.Store(n); steps++ })
	c := newClient(func() (string, error) { return server.URL, nil }, reads)
	read := func(most int64) (steppedUp int, taken int64) {
		steps = 0
		got, err := c.post(t.Context(), []byte("{}"), most)
		if err != nil || int64(len(got.Raw)) != length {
			t.Fatalf("%d bytes, %v", len(got.Raw), err)
		}
		defer got.Done()
		return steps, got.Taken()
	}
	if n, _ := read(maxWhole); n <= 2 {
		t.Errorf("the first block was read in %d steps, though nobody knew its length", n)
	}
	if n, taken := read(maxWhole); n != 2 || taken != 4<<20 {
		t.Errorf("the next block took %d steps and %d bytes, want 2 and 4 MiB", n, taken)
	}
	if n, _ := read(maxAnswer); n <= 2 {
		t.Errorf("another answer took %d steps: it has nothing to do with blocks", n)
	}
	length = 1<<maxKept + 1
	read(maxWhole)
	for range 100 {
		length = 5
		if _, taken := read(maxWhole); taken != 1<<maxKept {
			t.Fatalf("after a long block, and short answers, %d bytes are taken, want %d, the longest buffer that is kept", taken, 1<<maxKept)
		}
	}
	length = FirstPiece + 1
	for range 100 {
		read(maxWhole)
	}
	if _, taken := read(maxWhole); taken != 2*FirstPiece {
		t.Errorf("after many shorter blocks %d bytes are taken, want %d", taken, 2*FirstPiece)
	}
}

type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) { return len(b), nil }

// TestBuffersBelongToOneAnswer reads answers of many lengths at once into buffers that others are done with. Each keeps its own bytes, and has
// no room beyond what was taken for it.
func TestBuffersBelongToOneAnswer(t *testing.T) {
	t.Parallel()
	reads := NewInFlight(nil)
	var running sync.WaitGroup
	for worker := range 8 {
		running.Go(func() {
			for i := range 60 {
				want := bytes.Repeat([]byte{byte(worker), byte(i)}, 1+(i*7919+worker*104729)%150_000)
				r := &Reply{hold: &hold{of: reads}}
				err := r.reserve(t.Context(), FirstPiece)
				if err == nil {
					err = r.readAll(t.Context(), bytes.NewReader(want), maxAnswer)
				}
				if err != nil {
					t.Error(err)
					return
				}
				if !bytes.Equal(r.Raw, want) {
					t.Errorf("an answer of %d bytes is another's", len(want))
				}
				if int64(cap(r.Raw)) > r.taken {
					t.Errorf("an answer has room for %d bytes, taken were %d", cap(r.Raw), r.taken)
				}
				r.Done()
			}
		})
	}
	running.Wait()
	if reads.used != 0 {
		t.Errorf("%d bytes are still taken", reads.used)
	}
}
