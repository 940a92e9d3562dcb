package evm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// longNode has one log a block; logs and headers come with so many bytes more.
func longNode(t *testing.T, data func(number uint64) int, header int) *nodetest.Node {
	t.Helper()
	log := func(number uint64) string {
		return fmt.Sprintf(`{"address":"0x%040x","topics":["0x%x","0x%064x","0x%064x"],"data":"0x%0*x","blockNumber":"0x%x","blockHash":"0x%064x",`+
			`"blockTimestamp":"0x65000000","transactionHash":"0x%064x","transactionIndex":"0x0","logIndex":"0x0","removed":false,"more":%q}`,
			0xabc, decode.TopicTransfer, 1, 2, 64, 7, number, number, number, strings.Repeat("x", data(number)))
	}
	return nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
		number := func(raw json.RawMessage) uint64 {
			n, err := rpc.ParseQuantity(raw)
			if err != nil {
				t.Error(err)
			}
			return n
		}
		if method == "eth_getBlockByNumber" {
			n := number(params[0])
			return strings.TrimSuffix(blocktest.Header(n, true, "5208"), "}") + `,"more":"` + strings.Repeat("x", header) + `"}`, ""
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
	bulky := func(number uint64) int {
		if number == 7 {
			return 4 * most
		}
		return most / 3
	}
	type reads struct{ now, peak int64 } // bytes of answers
	source := func(t *testing.T, nodes, header int, data func(uint64) int) (*Source, *reads) {
		t.Helper()
		var urls []string
		for range nodes {
			urls = append(urls, longNode(t, data, header).URL)
		}
		s := sourceOf(t, time.Now, urls...)
		f := s.pool.List[0].Reads
		var got reads
		f.Limit, f.Most, f.Whole = limit, most, whole
		f.Watch = func(n int64) { got.now, got.peak = n, max(got.peak, n) }
		return s, &got
	}
	over := func(t *testing.T, got *reads) {
		t.Helper()
		if got.peak > limit+whole+1 || got.peak == 0 {
			t.Errorf("up to %d bytes were in flight", got.peak)
		}
		if got.now != 0 {
			t.Errorf("%d bytes are still in flight", got.now)
		}
	}
	t.Run("a past", func(t *testing.T) {
		t.Parallel()
		s, got := source(t, 4, 0, bulky)
		next := uint64(1)
		for b, err := range s.Backfill(t.Context(), market.Header{}, 1, 40) {
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range b.Blocks {
				if found.Number != next || len(found.Txs) != 1 {
					t.Errorf("block %d has %d transactions; want block %d with one", found.Number, len(found.Txs), next)
				}
				next++
			}
		}
		if next != 41 {
			t.Errorf("the blocks before %d were read; want 40", next)
		}
		over(t, got)
	})
	t.Run("transfers of a token", func(t *testing.T) {
		t.Parallel()
		s, got := source(t, 4, 0, bulky)
		count := 0
		for from := uint64(1); from <= 20; {
			txs, upTo, err := s.History().TransfersOf(t.Context(), decode.Address([20]byte{18: 0xa, 19: 0xbc}), from, 20)
			if err != nil {
				t.Fatal(err)
			}
			count, from = count+len(txs), upTo+1
		}
		if count != 20 {
			t.Errorf("%d transfers, want 20", count)
		}
		over(t, got)
	})
	t.Run("blocks at the head", func(t *testing.T) {
		t.Parallel()
		s, got := source(t, 4, 0, bulky)
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				h, err := block.ParseHeader(json.RawMessage(blocktest.Header(uint64(i+1), true, "5208")))
				if err != nil {
					t.Error(err)
				}
				if b, err := s.Block(t.Context(), h); err != nil || len(b.Txs) != 1 {
					t.Errorf("block %d: %d transactions, %v", h.Number, len(b.Txs), err)
				}
			})
		}
		all.Wait()
		over(t, got)
	})
	t.Run("headers", func(t *testing.T) {
		t.Parallel()
		s, got := source(t, 1, most/3, bulky)
		if headers, err := s.Headers(t.Context(), market.Header{}, 1, 20); err != nil || len(headers) != 20 || headers[19].Number != 20 {
			t.Errorf("%d headers, %v", len(headers), err)
		}
		over(t, got)
	})
	t.Run("a block that is too long as a whole", func(t *testing.T) {
		t.Parallel()
		s, got := source(t, 2, 0, func(uint64) int { return whole })
		h, err := block.ParseHeader(json.RawMessage(blocktest.Header(7, true, "5208")))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Block(t.Context(), h); !errors.Is(err, rpc.ErrTooLong) {
			t.Errorf("%v; want %v", err, rpc.ErrTooLong)
		}
		over(t, got)
	})
}
