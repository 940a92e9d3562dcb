package contracts

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// TestGasOfRecordedReceipts reads mainnet's receipts. What a legacy transaction pays for a unit it says itself, but for Arbitrum, where it says the most.
func TestGasOfRecordedReceipts(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(recorded.Path(t, "evm") + "/*/*/eth_getTransactionReceipt.json")
	if err != nil {
		t.Fatal(err)
	}
	legacy, rollup := 0, 0
	for _, path := range paths {
		var receipt, tx struct{ Result json.RawMessage }
		readRecorded(t, path, &receipt)
		readRecorded(t, filepath.Join(filepath.Dir(path), "eth_getTransactionByHash.json"), &tx)
		var said struct {
			Hash, BlockHash, From, Type, GasPrice, GasUsed, EffectiveGasPrice, L1Fee string
		}
		if err := errors.Join(json.Unmarshal(tx.Result, &said), json.Unmarshal(receipt.Result, &said)); err != nil {
			t.Fatal(err)
		}
		price := said.EffectiveGasPrice
		if said.Type == "0x0" && !strings.Contains(path, "/arbitrum/") {
			price, legacy = said.GasPrice, legacy+1
		}
		want := new(big.Int).Mul(number(t, said.GasUsed), number(t, price))
		if said.L1Fee != "" {
			want.Add(want, number(t, said.L1Fee))
			rollup++
		}
		q := chain.GasQuestion{Tx: txOf(t, said.Hash)}
		if q.At.Hash, err = market.ParseHash(said.BlockHash); err != nil {
			t.Fatal(err)
		}
		got := gasOfReceipt(receipt.Result, &q)
		if !got.Known || got.Amount.ToBig().Cmp(want) != 0 || got.Sender != markettest.Address(said.From) {
			t.Errorf("%s: %+v, want %s of %s", path, got, want, said.From)
		}
		q.At.Hash[0]++
		if got := gasOfReceipt(receipt.Result, &q); got.Known {
			t.Errorf("%s: of another block: %+v", path, got)
		}
	}
	if legacy < 5 || rollup < 5 {
		t.Errorf("%d legacy ones and %d of a rollup were read", legacy, rollup)
	}
}

func number(t *testing.T, hexadecimal string) *big.Int {
	t.Helper()
	v, ok := new(big.Int).SetString(strings.TrimPrefix(hexadecimal, "0x"), 16)
	if !ok {
		t.Fatalf("a number of %q", hexadecimal)
	}
	return v
}

func txOf(t *testing.T, s string) market.TxID {
	t.Helper()
	id, err := market.ParseTx(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestGas asks for more receipts than fit one batch, of nodes that don't have them, don't have them yet, or say something else.
func TestGas(t *testing.T) {
	t.Parallel()
	at := chain.Ref{Number: 5, Hash: market.Hash{7}}
	receipt := func(tx string) string {
		return fmt.Sprintf(`{"transactionHash":%s,"blockHash":%q,"from":"0x0000000000000000000000000000000000000009","gasUsed":"0x2","effectiveGasPrice":"0x3"}`, tx, at.Hash)
	}
	var questions []chain.GasQuestion
	for i := range rpc.CallsAtOnce + 3 {
		questions = append(questions, chain.GasQuestion{At: at, Tx: market.EVMTx([32]byte{30: byte(i >> 8), 31: byte(i)})})
	}
	node := func(answer func(tx string) (result, refusal string)) *nodetest.Node {
		return nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
			if method != "eth_getTransactionReceipt" {
				return `"0x0"`, ""
			}
			return answer(string(params[0]))
		})
	}
	knows := func(tx string) (string, string) { return receipt(tx), "" }
	hasNone := func(string) (string, string) { return "null", "" }
	known := func(list []chain.Gas) (n int) {
		for _, g := range list {
			if g.Known && g.Sender == market.EVMAddress([32]byte{31: 9}) && g.Amount.Uint64() == 6 {
				n++
			}
		}
		return n
	}
	for name, c := range map[string]struct {
		nodes []func(string) (string, string)
		want  int
	}{
		"all":                {[]func(string) (string, string){knows}, len(questions)},
		"none":               {[]func(string) (string, string){hasNone}, 0},
		"the other has them": {[]func(string) (string, string){hasNone, knows}, len(questions)},
		"refused":            {[]func(string) (string, string){func(string) (string, string) { return "", `{"code":-32601,"message":"no such method"}` }}, 0},
		"no receipt":         {[]func(string) (string, string){func(string) (string, string) { return `"0x1"`, "" }}, 0},
		"of another":         {[]func(string) (string, string){func(string) (string, string) { return receipt(`"0x01"`), "" }}, 0},
		"beyond all bounds": {[]func(string) (string, string){func(tx string) (string, string) {
			return strings.Replace(receipt(tx), "0x3", "0x"+strings.Repeat("f", 64), 1), ""
		}}, 0},
		"no price":            {[]func(string) (string, string){func(tx string) (string, string) { return strings.Replace(receipt(tx), "effective", "", 1), "" }}, 0},
		"a rollup's nonsense": {[]func(string) (string, string){func(tx string) (string, string) { return strings.Replace(receipt(tx), "{", `{"l1Fee":"x",`, 1), "" }}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var urls []string
			for _, answer := range c.nodes {
				urls = append(urls, node(answer).URL)
			}
			got, err := sourceOf(t, time.Now, urls...).Contracts().Gas(t.Context(), questions)
			if err != nil || len(got) != len(questions) || known(got) != c.want {
				t.Errorf("%d of %d are known, %v; want %d", known(got), len(got), err, c.want)
			}
		})
	}
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		var asked atomic.Int32
		n := node(func(tx string) (string, string) {
			if asked.Add(1) <= 2 {
				return "null", ""
			}
			return receipt(tx), ""
		})
		if got, err := sourceOf(t, time.Now, n.URL).Contracts().Gas(t.Context(), questions[:1]); err != nil || known(got) != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("asked too often", func(t *testing.T) {
		t.Parallel()
		var asked atomic.Int32
		n := node(func(tx string) (string, string) {
			if asked.Add(1) <= 2 {
				return "", `{"code":429,"message":"too many requests"}`
			}
			return receipt(tx), ""
		})
		s := sourceOf(t, time.Now, n.URL)
		s.seen.Store(at.Number + ethcall.LateBlocks) // of the past nobody is asked twice for what isn't there
		if got, err := s.Contracts().Gas(t.Context(), questions[:2]); err != nil || known(got) != 2 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("of an old block", func(t *testing.T) {
		t.Parallel()
		n := node(hasNone)
		s := sourceOf(t, time.Now, n.URL)
		s.seen.Store(at.Number + ethcall.LateBlocks)
		if got, err := s.Contracts().Gas(t.Context(), questions[:1]); err != nil || known(got) != 0 || n.Count("eth_getTransactionReceipt") != 1 {
			t.Errorf("%+v, %v, asked %d times", got, err, n.Count("eth_getTransactionReceipt"))
		}
	})
}

func readRecorded(t *testing.T, path string, v any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
