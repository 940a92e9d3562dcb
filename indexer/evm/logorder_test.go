package evm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func TestRenumbered(t *testing.T) {
	t.Parallel()
	// A log is its transaction's place, its index, and a byte of data that tells it from others.
	type log [3]uint32
	for name, tt := range map[string]struct{ logs, want []log }{
		"a last transaction that counts from 0": {
			[]log{{0, 0, 1}, {0, 1, 2}, {4, 9, 3}, {7, 0, 4}, {7, 1, 5}}, []log{{0, 0, 1}, {0, 1, 2}, {4, 9, 3}, {7, 10, 4}, {7, 11, 5}},
		},
		"transactions that all count from 0": {
			[]log{{0, 0, 1}, {1, 0, 2}, {1, 1, 3}, {2, 0, 4}}, []log{{0, 0, 1}, {1, 1, 2}, {1, 2, 3}, {2, 3, 4}},
		},
		"in no order": {
			[]log{{7, 0, 4}, {0, 0, 1}, {4, 9, 3}, {0, 1, 2}}, []log{{0, 0, 1}, {0, 1, 2}, {4, 9, 3}, {7, 10, 4}},
		},
		"a log that is there twice": {
			[]log{{0, 0, 1}, {0, 1, 2}, {0, 1, 2}, {3, 5, 3}}, []log{{0, 0, 1}, {0, 1, 2}, {3, 5, 3}},
		},
		"two logs of one transaction": {
			[]log{{0, 0, 1}, {0, 0, 2}, {3, 5, 3}}, []log{{0, 0, 1}, {0, 1, 2}, {3, 5, 3}},
		},
		"the highest index there is": {
			[]log{{0, math.MaxUint32, 1}, {1, math.MaxUint32, 2}}, []log{{0, 0, 1}, {1, 1, 2}},
		},
	} {
		var logs []decode.Log
		for _, l := range tt.logs {
			logs = append(logs, decode.Log{TxHash: market.Hash{byte(l[0])}, TxIndex: l[0], Index: l[1], Data: []byte{byte(l[2])}})
		}
		var got []log
		for _, l := range renumbered(logs) {
			got = append(got, log{l.TxIndex, l.Index, uint32(l.Data[0])})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// transferLogs are a node's logs of one block: transfers in transactions of their own, with these indices.
func transferLogs(h chain.Header, indices ...int) string {
	var out []string
	for i, index := range indices {
		out = append(out, fmt.Sprintf(`{"address":"0x%040x","topics":["0x%x","0x%064x","0x%064x"],"data":"0x%064x","blockNumber":"0x%x",`+
			`"blockHash":%q,"transactionHash":"0x%064x","transactionIndex":"0x%x","logIndex":"0x%x","removed":false}`,
			0xabc, decode.TopicTransfer, 1, 2, i+1, h.Number, h.Hash, i+1, i, index))
	}
	return "[" + strings.Join(out, ",") + "]"
}

// TestARepeatedLogIndex reads a block of nodes that give two of its logs one index, alone and beside one that doesn't.
func TestARepeatedLogIndex(t *testing.T) {
	t.Parallel()
	var h chain.Header
	h.Number, h.Hash = 5, market.Hash{5}
	node := func(indices ...int) string {
		return nodetest.New(t, func(string, []json.RawMessage) (string, string) { return transferLogs(h, indices...), "" }).URL
	}
	for name, tt := range map[string]struct {
		urls []string
		want []uint32
	}{
		"one node":                      {[]string{node(0, 3, 0)}, []uint32{0, 3, 4}},
		"two nodes":                     {[]string{node(0, 3, 0), node(0, 3, 0)}, []uint32{0, 3, 4}},
		"the second node is right":      {[]string{node(0, 3, 0), node(0, 3, 7)}, []uint32{0, 3, 7}},
		"the second node isn't reached": {[]string{node(0, 3, 0), "http://127.0.0.1:1"}, []uint32{0, 3, 4}},
	} {
		s := sourceOf(t, time.Now, tt.urls...)
		b, err := s.Block(t.Context(), h)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []uint32
		for i, tx := range b.Txs {
			if moved, ok := tx.Logs[0].Event.(market.Transfer); !ok || len(tx.Logs) != 1 || moved.Amount.Uint64() != uint64(i+1) {
				t.Errorf("%s: transaction %d has the logs %+v", name, i, tx.Logs)
			}
			got = append(got, uint32(tx.Logs[0].Index))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: the logs are %v, want %v", name, got, tt.want)
		}
	}
	if _, err := sourceOf(t, time.Now, "http://127.0.0.1:1").Block(t.Context(), h); err == nil || errors.Is(err, errRepeatedIndex) {
		t.Errorf("without a node: %v", err)
	}
}

// TestBlocksAreOrderedAndGrouped: a node's logs come in any order; a block has its transactions in order, and each transaction its logs.
func TestBlocksAreOrderedAndGrouped(t *testing.T) {
	t.Parallel()
	s := sourceOf(t, time.Now, "http://127.0.0.1:1")
	log := func(tx byte, index uint32) decode.Log {
		return decode.Log{
			TxHash: market.Hash{tx}, Index: index, Topics: [4][32]byte{decode.TopicTransfer, {31: 1}, {31: 2}}, NumTopics: 3, Data: make([]byte, 32),
		}
	}
	nothing := decode.Log{TxHash: market.Hash{3}, Index: 5}
	b, err := s.decode(market.Header{Number: 1}, []decode.Log{log(2, 9), log(1, 0), nothing, log(1, 3), log(4, 12), log(2, 7)}, false)
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]uint32
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			got = append(got, [2]uint32{uint32(tx.ID.AppendTo(nil)[0]), uint32(l.Index)})
		}
	}
	if want := [][2]uint32{{1, 0}, {1, 3}, {2, 7}, {2, 9}, {4, 12}}; !reflect.DeepEqual(got, want) || len(b.Txs) != 3 {
		t.Errorf("transactions and logs %v in %d groups, want %v in 3", got, len(b.Txs), want)
	}
	if _, err := s.decode(market.Header{Number: 1}, []decode.Log{log(1, 3), log(1, 3)}, false); err == nil {
		t.Error("a log that is there twice passed")
	}
}
