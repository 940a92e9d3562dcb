package evm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// rangeNode has logs of the past, and answers for at most so many blocks at once.
type rangeNode struct {
	*nodetest.Node
	logs []nodetest.Log
	most uint64
	// says are the words with which it refuses more blocks.
	says string
}

func newRangeNode(t *testing.T, most uint64, says string, logs ...nodetest.Log) *rangeNode {
	t.Helper()
	n := &rangeNode{logs: logs, most: most, says: says}
	n.Node = nodetest.New(t, func(method string, params []json.RawMessage) (result, refusal string) {
		if method != "eth_getLogs" {
			return `"0x1"`, ""
		}
		var q struct {
			FromBlock, ToBlock string
			Topics             []json.RawMessage
			Address            *string
		}
		if err := json.Unmarshal(params[0], &q); err != nil {
			t.Error(err)
		}
		from, to := blockNo(q.FromBlock), blockNo(q.ToBlock)
		if to-from >= n.most {
			return "", fmt.Sprintf(`{"code":-32005,"message":%q}`, n.says)
		}
		out := []nodetest.Log{}
		for _, l := range n.logs {
			at := blockNo(l.Block)
			fits := at >= from && at <= to && (q.Address == nil || *q.Address == l.Address)
			for i, raw := range q.Topics {
				var some []string
				if json.Unmarshal(raw, &some) != nil {
					some = []string{""}
					_ = json.Unmarshal(raw, &some[0])
				}
				fits = fits && (some == nil || i < len(l.Topics) && slices.Contains(some, l.Topics[i]))
			}
			if fits {
				out = append(out, l)
			}
		}
		answer, err := json.Marshal(out)
		if err != nil {
			t.Error(err)
		}
		return string(answer), ""
	})
	return n
}

func blockNo(hex string) uint64 {
	n, _ := strconv.ParseUint(hex, 0, 64)
	return n
}

func walletNo(i int) market.Address {
	t := nodetest.TopicNo(i)
	return decode.Address([20]byte(t[12:]))
}

func TestTransfersOfWallets(t *testing.T) {
	t.Parallel()
	ada, bob, stranger := nodetest.TopicText(nodetest.TopicNo(0)), nodetest.TopicText(nodetest.TopicNo(1)), nodetest.TopicText(nodetest.TopicNo(2))
	transfer := func(block int, topics ...string) nodetest.Log {
		return nodetest.LogOf(decode.TopicTransfer, block, 0, topics...)
	}
	n := newRangeNode(t, 5, "query returned more than 10000 results",
		transfer(3, ada, stranger), transfer(4, stranger, bob), transfer(4, ada, bob), transfer(5, stranger, stranger), transfer(5, ada, stranger, ada), // the last is of ERC-721
		nodetest.LogOf(nodetest.TopicNo(7), 4, 1, ada, bob), transfer(9, bob, stranger))
	s := sourceOf(t, time.Now, n.URL)
	wallets := []market.Address{walletNo(0), walletNo(1)}
	found, upTo, err := s.History().TransfersOfWallets(t.Context(), wallets, 1, 8)
	want := []chain.WalletTransfer{{Wallet: wallets[0], Block: 3}, {Wallet: wallets[0], Block: 4}, {Wallet: wallets[1], Block: 4}}
	for i := range found {
		found[i].Token = market.Address{}
	}
	if err != nil || upTo != 4 || !slices.Equal(found, want) {
		t.Errorf("up to block %d, %v: %+v", upTo, err, found)
	}
	if found, upTo, err = s.History().TransfersOfWallets(t.Context(), wallets, 5, 9); err != nil || upTo != 9 || len(found) != 1 || found[0].Block != 9 {
		t.Errorf("up to block %d, %v: %+v", upTo, err, found)
	}
}

// TestTransfersThatOneEndpointNames tells what two endpoints say from what one says, up to the block that both have answered for.
func TestTransfersThatOneEndpointNames(t *testing.T) {
	t.Parallel()
	ada, stranger := nodetest.TopicText(nodetest.TopicNo(0)), nodetest.TopicText(nodetest.TopicNo(2))
	at := func(blocks ...int) (list []nodetest.Log) {
		for _, b := range blocks {
			list = append(list, nodetest.LogOf(decode.TopicTransfer, b, 0, ada, stranger))
		}
		return list
	}
	first, second := newRangeNode(t, 100, "", at(2, 3, 5, 9)...), newRangeNode(t, 6, "more than 6 blocks: limit exceeded", at(3, 4, 5, 9)...)
	for _, order := range [][]string{{first.URL, second.URL}, {second.URL, first.URL}} {
		found, upTo, err := sourceOf(t, time.Now, order...).History().TransfersOfWallets(t.Context(), []market.Address{walletNo(0)}, 1, 10)
		if err != nil || upTo != 5 || len(found) != 4 {
			t.Fatalf("up to block %d, %v: %+v", upTo, err, found)
		}
		for _, f := range found {
			if alone := f.Block == 2 || f.Block == 4; f.Alone != alone {
				t.Errorf("%+v", f)
			}
		}
	}
	silent := nodetest.New(t, func(method string, _ []json.RawMessage) (result, refusal string) {
		if method != "eth_getLogs" {
			return `"0x1"`, ""
		}
		return "", `{"code":-32000,"message":"out of order"}`
	})
	found, upTo, err := sourceOf(t, time.Now, first.URL, silent.URL).History().TransfersOfWallets(t.Context(), []market.Address{walletNo(0)}, 1, 10)
	if err != nil || upTo != 10 || len(found) != 4 || slices.ContainsFunc(found, func(f chain.WalletTransfer) bool { return f.Alone }) {
		t.Errorf("with a second one that fails: up to block %d, %v: %+v", upTo, err, found)
	}
}

// TestTransfersThatWerentAskedFor refuses a node's logs of other blocks or wallets.
func TestTransfersThatWerentAskedFor(t *testing.T) {
	t.Parallel()
	ada := nodetest.TopicText(nodetest.TopicNo(0))
	for what, l := range map[string]nodetest.Log{
		"another block":  nodetest.LogOf(decode.TopicTransfer, 9, 0, ada, ada),
		"another wallet": nodetest.LogOf(decode.TopicTransfer, 3, 0, nodetest.TopicText(nodetest.TopicNo(5)), nodetest.TopicText(nodetest.TopicNo(6))),
		"another event":  nodetest.LogOf(nodetest.TopicNo(7), 3, 0, ada, ada),
	} {
		answer, err := json.Marshal([]nodetest.Log{l})
		if err != nil {
			t.Fatal(err)
		}
		n := nodetest.New(t, func(method string, _ []json.RawMessage) (result, refusal string) {
			if method != "eth_getLogs" {
				return `"0x1"`, ""
			}
			return string(answer), ""
		})
		if _, _, err := sourceOf(t, time.Now, n.URL).History().TransfersOfWallets(t.Context(), []market.Address{walletNo(0)}, 1, 4); !errors.Is(err, rpc.ErrGarbage) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestLastPrice(t *testing.T) {
	t.Parallel()
	swap, ok := decode.PriceTopic(market.UniswapV4)
	if !ok {
		t.Fatal("no topic")
	}
	id := nodetest.TopicNo(3)
	n := newRangeNode(t, 10, "block range is too wide", nodetest.LogOf(swap, 12, 0, nodetest.TopicText(id)), nodetest.LogOf(swap, 17, 0, nodetest.TopicText(id)), nodetest.LogOf(swap, 19, 0, nodetest.TopicText(nodetest.TopicNo(4))))
	s := sourceOf(t, time.Now, n.URL)
	pool := &market.Pool{ID: market.PoolID(id), Protocol: market.UniswapV4, Factory: decode.Address([20]byte{})}
	if factory := n.logs[0].Address; factory != pool.Factory.String() {
		for i := range n.logs {
			n.logs[i].Address = pool.Factory.String()
		}
	}
	for _, c := range []struct {
		first, last uint64
		block, from uint64
		ok          bool
	}{{11, 20, 17, 11, true}, {1, 20, 17, 11, true}, {1, 16, 12, 7, true}, {1, 11, 0, 2, false}, {17, 17, 17, 17, true}, {18, 18, 0, 18, false}} {
		block, ok, from, err := s.History().LastPrice(t.Context(), pool, c.first, c.last)
		if err != nil || ok != c.ok || block != c.block || from != c.from {
			t.Errorf("from %d to %d: block %d, %v, of those from %d on, %v; want %+v", c.first, c.last, block, ok, from, err, c)
		}
	}
	if _, ok, _, err := s.History().LastPrice(t.Context(), &market.Pool{Protocol: market.BondingCurve}, 1, 2); ok || err != nil {
		t.Errorf("a curve has a price: %v", err)
	}
}

// TestPastBlock wants the same block of two endpoints where there are several, and no block where one alone has it.
func TestPastBlock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		nodes []int // how many logs each has, -1 where it fails
		logs  int   // -1 is an error
	}{
		"one": {[]int{2}, 2}, "two agree": {[]int{2, 2}, 2}, "one of three forges": {[]int{3, 2, 2}, 2}, "two differ": {[]int{3, 2}, -1},
		"the second fails": {[]int{2, -1}, -1}, "one drops all": {[]int{2, 0}, -1}, "three differ": {[]int{1, 2, 3}, -1}, "one of three fails": {[]int{-1, 2, 2}, 2},
	} {
		var urls []string
		for _, n := range c.nodes {
			urls = append(urls, pastNode(t, n, n).URL)
		}
		b, err := sourceOf(t, time.Now, urls...).History().PastBlock(t.Context(), 7, market.Address{})
		logs := 0
		for i := range b.Txs {
			logs += len(b.Txs[i].Logs)
		}
		if failed := err != nil; failed != (c.logs < 0) || !failed && (logs != c.logs || b.Number != 7 || b.Time == 0) {
			t.Errorf("%s: %d logs of block %d at %d, %v", name, logs, b.Number, b.Time, err)
		}
	}
}
