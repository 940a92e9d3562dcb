package evm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestInFlight takes up to the limit and beyond: one goes beyond it, the next waits until that one has given everything back.
func TestInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var last int64
		f := newInFlight(func(n int64) { last = n })
		f.limit, f.most, f.whole = 100, 40, 200
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
		want("a read for what is held already", taken(f.holdOf(second.within(ctx)), 5, false), true)
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
		"one piece":           {firstPiece, maxAnswer, true},
		"more than a piece":   {firstPiece + 1, maxAnswer, true},
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
				s := sourceOf(t, time.Now, server.URL)
				e := s.pool.list[0]
				got, err := e.post(t.Context(), []byte("{}"), tt.most)
				switch {
				case tt.fits && (err != nil || int64(len(got.raw)) != tt.bytes || e.reads.used < tt.bytes || e.reads.used > 2*tt.bytes+firstPiece):
					t.Errorf("%v, %d bytes in flight", err, e.reads.used)
				case !tt.fits && !errors.Is(err, errTooLong):
					t.Errorf("%v; want %v", err, errTooLong)
				}
				got.done()
				got.done() // a second time is nothing
				if e.reads.used != 0 {
					t.Errorf("%d bytes are still in flight", e.reads.used)
				}
			})
		}
	}
}

type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) { return len(b), nil }

// longNode has one log a block; logs and headers come with so many bytes more.
func longNode(t *testing.T, data func(block uint64) int, header int) *fakeNode {
	t.Helper()
	log := func(number uint64) string {
		return fmt.Sprintf(`{"address":"0x%040x","topics":["0x%x","0x%064x","0x%064x"],"data":"0x%0*x","blockNumber":"0x%x","blockHash":"0x%064x",`+
			`"blockTimestamp":"0x65000000","transactionHash":"0x%064x","transactionIndex":"0x0","logIndex":"0x0","removed":false,"more":%q}`,
			0xabc, topicTransfer, 1, 2, 64, 7, number, number, number, strings.Repeat("x", data(number)))
	}
	return newFakeNode(t, func(method string, params []json.RawMessage) (string, string) {
		number := func(raw json.RawMessage) uint64 {
			n, err := parseQuantity(raw)
			if err != nil {
				t.Error(err)
			}
			return n
		}
		if method == "eth_getBlockByNumber" {
			n := number(params[0])
			return strings.TrimSuffix(headerOf(n, true, "5208"), "}") + `,"more":"` + strings.Repeat("x", header) + `"}`, ""
		}
		var where struct {
			FromBlock, ToBlock json.RawMessage
			BlockHash          string
		}
		if err := json.Unmarshal(params[0], &where); err != nil {
			t.Error(err)
		}
		if where.BlockHash != "" {
			h, err := market.ParseHash(where.BlockHash)
			if err != nil {
				t.Error(err)
			}
			return "[" + log(uint64(h[31])) + "]", ""
		}
		var out []string
		for n := number(where.FromBlock); n <= number(where.ToBlock); n++ {
			out = append(out, log(n))
		}
		return "[" + strings.Join(out, ",") + "]", ""
	})
}

// TestTooLongAnswersAreSplit reads from nodes whose answers are too long: ranges and batches are halved, and a block whose own logs are
// too long is read as a whole. No more is ever in flight than the limit and the longest answer.
func TestTooLongAnswersAreSplit(t *testing.T) {
	t.Parallel()
	const most, whole, limit = 40_000, 200_000, 60_000
	bulky := func(block uint64) int {
		if block == 7 {
			return 4 * most
		}
		return most / 3
	}
	source := func(t *testing.T, nodes, header int, data func(uint64) int) (*Source, *int64) {
		t.Helper()
		var urls []string
		for range nodes {
			urls = append(urls, longNode(t, data, header).URL)
		}
		s := sourceOf(t, time.Now, urls...)
		f := s.pool.list[0].reads
		peak := int64(0)
		f.limit, f.most, f.whole = limit, most, whole
		f.watch = func(n int64) { peak = max(peak, n) }
		return s, &peak
	}
	over := func(t *testing.T, s *Source, peak *int64) {
		t.Helper()
		if *peak > limit+whole+1 || *peak == 0 {
			t.Errorf("up to %d bytes were in flight", *peak)
		}
		if used := s.pool.list[0].reads.used; used != 0 {
			t.Errorf("%d bytes are still in flight", used)
		}
	}
	t.Run("a past", func(t *testing.T) {
		t.Parallel()
		s, peak := source(t, 4, 0, bulky)
		next := uint64(1)
		for b, err := range s.Backfill(t.Context(), market.Header{}, 1, 40) {
			if err != nil {
				t.Fatal(err)
			}
			for _, block := range b.Blocks {
				if block.Number != next || len(block.Txs) != 1 {
					t.Errorf("block %d has %d transactions; want block %d with one", block.Number, len(block.Txs), next)
				}
				next++
			}
		}
		if next != 41 {
			t.Errorf("the blocks before %d were read; want 40", next)
		}
		over(t, s, peak)
	})
	t.Run("transfers of a token", func(t *testing.T) {
		t.Parallel()
		s, peak := source(t, 4, 0, bulky)
		count := 0
		for from := uint64(1); from <= 20; {
			txs, upTo, err := s.TransfersOf(t.Context(), addressOf([20]byte{18: 0xa, 19: 0xbc}), from, 20)
			if err != nil {
				t.Fatal(err)
			}
			count, from = count+len(txs), upTo+1
		}
		if count != 20 {
			t.Errorf("%d transfers, want 20", count)
		}
		over(t, s, peak)
	})
	t.Run("blocks at the head", func(t *testing.T) {
		t.Parallel()
		s, peak := source(t, 4, 0, bulky)
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				h, err := parseHeader(json.RawMessage(headerOf(uint64(i+1), true, "5208")))
				if err != nil {
					t.Error(err)
				}
				if b, err := s.Block(t.Context(), h); err != nil || len(b.Txs) != 1 {
					t.Errorf("block %d: %d transactions, %v", h.Number, len(b.Txs), err)
				}
			})
		}
		all.Wait()
		over(t, s, peak)
	})
	t.Run("headers", func(t *testing.T) {
		t.Parallel()
		s, peak := source(t, 1, most/3, bulky)
		if headers, err := s.Headers(t.Context(), market.Header{}, 1, 20); err != nil || len(headers) != 20 || headers[19].Number != 20 {
			t.Errorf("%d headers, %v", len(headers), err)
		}
		over(t, s, peak)
	})
	t.Run("a block that is too long as a whole", func(t *testing.T) {
		t.Parallel()
		s, peak := source(t, 2, 0, func(uint64) int { return whole })
		h, err := parseHeader(json.RawMessage(headerOf(7, true, "5208")))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Block(t.Context(), h); !errors.Is(err, errTooLong) {
			t.Errorf("%v; want %v", err, errTooLong)
		}
		over(t, s, peak)
	})
}

// TestTooManyLogsForTheirBytes: a list of empty logs would take a hundred times its bytes in memory.
func TestTooManyLogsForTheirBytes(t *testing.T) {
	t.Parallel()
	list := func(n int) string { return `{"result":[` + strings.Repeat("{},", n-1) + `{}]}` }
	if logs, err := parseLogs([]byte(list(mostSparse))); err != nil || len(logs) != mostSparse {
		t.Errorf("%d empty logs: %v", mostSparse, err)
	}
	if _, err := parseLogs([]byte(list(100_000))); !errors.Is(err, errGarbage) {
		t.Errorf("100,000 empty logs: %v; want %v", err, errGarbage)
	}
	if logs, err := parseLogs([]byte(`{"result":[` + strings.Repeat(aLog+",", 99_999) + aLog + `]}`)); err != nil || len(logs) != 100_000 {
		t.Errorf("100,000 whole logs: %d, %v", len(logs), err)
	}
}

// TestBuffersBelongToOneAnswer reads answers of many lengths at once into buffers that others are done with. Each keeps its own bytes, and has
// no room beyond what was taken for it.
func TestBuffersBelongToOneAnswer(t *testing.T) {
	t.Parallel()
	reads := newInFlight(nil)
	var running sync.WaitGroup
	for worker := range 8 {
		running.Go(func() {
			for i := range 60 {
				want := bytes.Repeat([]byte{byte(worker), byte(i)}, 1+(i*7919+worker*104729)%150_000)
				r := &reply{hold: &hold{of: reads}}
				err := r.reserve(t.Context(), firstPiece)
				if err == nil {
					err = r.readAll(t.Context(), bytes.NewReader(want), maxAnswer)
				}
				if err != nil {
					t.Error(err)
					return
				}
				if !bytes.Equal(r.raw, want) {
					t.Errorf("an answer of %d bytes is another's", len(want))
				}
				if int64(cap(r.raw)) > r.bytes {
					t.Errorf("an answer has room for %d bytes, taken were %d", cap(r.raw), r.bytes)
				}
				r.done()
			}
		})
	}
	running.Wait()
	if reads.used != 0 {
		t.Errorf("%d bytes are still taken", reads.used)
	}
}
