package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// manyInstructions is the recorded purchase in which something else is called as well, so that its message has n instructions in all, or so many instructions are
// called by those of its message. A node tells the latter in groups, one for each instruction of the message; where split is true the first of two groups
// has all but one of those that are added.
func manyInstructions(tb testing.TB, n int, called, split bool) json.RawMessage {
	tb.Helper()
	return change(tb, pumpBuy, func(tx map[string]any) {
		add := func(to map[string]any, more int) {
			list := items(to["instructions"])
			for range more {
				list = append(list, map[string]any{"programIdIndex": 0, "accounts": []int{0}, "data": "", "stackHeight": 2})
			}
			to["instructions"] = list
		}
		if !called {
			m := message(tx)
			add(m, n-len(items(m["instructions"])))
			return
		}
		groups := items(meta(tx)["innerInstructions"])
		for _, g := range groups {
			n -= len(items(fields(g)["instructions"]))
		}
		last := fields(groups[len(groups)-1])
		if split {
			add(fields(groups[0]), n-1)
			n = 1
		}
		add(last, n)
	})
}

// TestManyInstructions: a transaction with up to 512 instructions in its message, and as many that these call, means what it means without those that mean
// nothing here. With one more, or 10,000, a block in which it calls a program that is known here is none; nothing is read of one that calls none.
func TestManyInstructions(t *testing.T) {
	t.Parallel()
	d := newDecoder(t, everything())
	at := market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}
	want := told(decodeOne(t, d, change(t, pumpBuy, same)))
	type made struct {
		name string
		raw  json.RawMessage
		want []string // nil of a block that is refused
	}
	var blocks []made
	for _, kind := range []struct {
		name          string
		called, split bool
	}{{"in the message", false, false}, {"in one group", true, false}, {"in two groups", true, true}} {
		for _, n := range []int{512, 513, 10_000} {
			raw := manyInstructions(t, n, kind.called, kind.split)
			b := made{name: fmt.Sprintf("%d instructions %s", n, kind.name), raw: solanatest.Block(t, at, 1, raw)}
			if n == 512 {
				b.want = want
			}
			unknown := rename(t, raw, PumpFun, solanatest.Name("another program"))
			blocks = append(blocks, b, made{b.name + " without a known program", solanatest.Block(t, at, 1, unknown), []string{}})
		}
	}
	raws := make([]json.RawMessage, len(blocks))
	for i := range blocks {
		raws[i] = blocks[i].raw
	}
	wire := onTheWire(t, 2, raws...)
	for i, b := range blocks {
		for form, parse := range map[string]func() (Block, error){
			"JSON": func() (Block, error) { return d.ParseBlock(2, b.raw) }, "the wire": func() (Block, error) { return d.ParseWireBlock(wire[i]) },
		} {
			got, err := parse()
			switch {
			case b.want == nil && (!errors.Is(err, rpc.ErrGarbage) || len(got.Txs) > 0):
				t.Errorf("%s, in %s: error %v, %d transactions", b.name, form, err, len(got.Txs))
			case b.want != nil && (err != nil || !slices.Equal(told(got), b.want)):
				t.Errorf("%s, in %s: error %v, got %v, want %v", b.name, form, err, told(got), b.want)
			}
		}
	}
}

// TestQuietTransactionsTakeNoMemory: a vote, a transaction that failed, and one that moves no token and calls no known program are walked over; what a block of them
// takes is for the block.
func TestQuietTransactionsTakeNoMemory(t *testing.T) {
	const count = 200
	d := newDecoder(t, everything())
	at := market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}
	// quiet is the recorded purchase by another name, with all its instructions and lines, and without balances of tokens.
	quiet := change(t, pumpBuy, func(tx map[string]any) {
		meta(tx)["preTokenBalances"], meta(tx)["postTokenBalances"] = []any{}, []any{}
	})
	kinds := map[string]json.RawMessage{
		"votes":                              voteTransaction,
		"failed transactions":                failed(t, change(t, pumpBuy, same)),
		"transactions of other programs":     rename(t, quiet, PumpFun, solanatest.Name("another program")),
		"transactions with the same balance": rename(t, change(t, pumpBuy, func(tx map[string]any) { meta(tx)["postTokenBalances"] = meta(tx)["preTokenBalances"] }), PumpFun, solanatest.Name("another program")),
	}
	for name, raw := range kinds {
		block := solanatest.Block(t, at, 1, slices.Repeat([]json.RawMessage{raw}, count)...)
		wire := onTheWire(t, 2, block)[0]
		for form, parse := range map[string]func() (Block, error){
			"JSON": func() (Block, error) { return d.ParseBlock(2, block) }, "the wire": func() (Block, error) { return d.ParseWireBlock(wire) },
		} {
			if b, err := parse(); err != nil || b.Transactions != count || len(b.Txs) > 0 {
				t.Fatalf("%s, in %s: %d transactions, of which %d mean something, error %v", name, form, b.Transactions, len(b.Txs), err)
			}
			allocations := testing.AllocsPerRun(5, func() {
				if _, err := parse(); err != nil {
					t.Error(err)
				}
			})
			if each := allocations / count; each >= 1 {
				t.Errorf("%s, in %s, take %.2f allocations each", name, form, each)
			} else {
				t.Logf("%s, in %s: %.3f allocations each", name, form, each)
			}
		}
	}
}
