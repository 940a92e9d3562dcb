package decode

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// onTheWire are blocks that a node tells in JSON as Yellowstone gRPC sends them: the plugin's makers' own code encodes them.
func onTheWire(tb testing.TB, slot uint64, blocks ...json.RawMessage) (out [][]byte) {
	tb.Helper()
	node, err := svm.Script(tb.Context(), filepath.Join("testdata", "wire.cjs"))
	if err != nil {
		tb.Fatal(err)
	}
	var failed bytes.Buffer
	node.Stderr = &failed
	if node.Stdin, err = encoded(map[string]any{"slot": slot, "blocks": blocks}); err != nil {
		tb.Fatal(err)
	}
	answer, err := node.Output()
	if err != nil {
		tb.Fatalf("%v: %s", err, &failed)
	}
	if err := json.Unmarshal(answer, &out); err != nil || len(out) != len(blocks) {
		tb.Fatalf("%d of %d blocks: %v", len(out), len(blocks), err)
	}
	return out
}

func encoded(v any) (*bytes.Reader, error) {
	raw, err := json.Marshal(v)
	return bytes.NewReader(raw), err
}

// wireBlocks are a block for each recorded transaction, one with all of them, an empty one, and a made-up world's, in JSON and on the wire.
func wireBlocks(tb testing.TB) (told []json.RawMessage, sent [][]byte) {
	tb.Helper()
	at := market.Header{Number: 2, Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1_700_000_000}
	var all []json.RawMessage
	for _, tx := range solanatest.Recorded(tb) {
		told = append(told, solanatest.Block(tb, at, 1, tx.Raw))
		all = append(all, tx.Raw)
	}
	told = append(told, solanatest.Block(tb, at, 1, all...), solanatest.Block(tb, at, 1))
	w := solanatest.NewWorld(5)
	w.Grow(300)
	for i := range w.Blocks {
		told = append(told, solanatest.Block(tb, at, 1, w.Blocks[i].Txs...))
	}
	return told, onTheWire(tb, at.Number, told...)
}

// TestWire holds blocks that came over the wire against the same ones in JSON: recorded transactions and a made-up world's.
func TestWire(t *testing.T) {
	t.Parallel()
	told, sent := wireBlocks(t)
	d := newDecoder(t, everything())
	events := 0
	for i := range told {
		want, err := d.ParseBlock(2, told[i])
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.ParseWireBlock(sent[i])
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("block %d: error %v, got\n%+v, want\n%+v", i, err, got, want)
		}
		for _, tx := range want.Txs {
			events += len(tx.Logs)
		}
	}
	if events < 1000 {
		t.Errorf("%d events in all", events)
	}
}

// TestWireShuffled: transactions may come in any order, and each of them has to be there once.
func TestWireShuffled(t *testing.T) {
	t.Parallel()
	at := market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}
	var all []json.RawMessage
	for _, tx := range solanatest.Recorded(t) {
		all = append(all, tx.Raw)
	}
	block := onTheWire(t, 2, solanatest.Block(t, at, 1, all...))[0]
	var head []byte
	var txs [][]byte
	for rest := block; len(rest) > 0; {
		number, kind, tag := protowire.ConsumeTag(rest)
		n := tag + protowire.ConsumeFieldValue(number, kind, rest[tag:])
		if number == 6 {
			txs = append(txs, rest[:n])
		} else {
			head = append(head, rest[:n]...)
		}
		rest = rest[n:]
	}
	d := newDecoder(t, declared())
	want, err := d.ParseWireBlock(block)
	if err != nil || len(want.Txs) == 0 {
		t.Fatal(err)
	}
	slices.Reverse(txs)
	if got, err := d.ParseWireBlock(slices.Concat(head, slices.Concat(txs...))); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("turned around: error %v, got\n%+v, want\n%+v", err, got, want)
	}
	for name, list := range map[string][][]byte{"one is missing": txs[1:], "one is there twice": append(slices.Clone(txs[1:]), txs[1]), "one too many": append(slices.Clone(txs), txs[0])} {
		if got, err := d.ParseWireBlock(slices.Concat(head, slices.Concat(list...))); err == nil {
			t.Errorf("%s: %d transactions", name, got.Transactions)
		}
	}
}

// TestWireBadFields: what no account's key and no amount is makes the whole block bad. Nothing is left out of it, which would shift the accounts after it.
func TestWireBadFields(t *testing.T) {
	t.Parallel()
	field := func(number protowire.Number, contents ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), slices.Concat(contents...))
	}
	number := func(number protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
	}
	hash, key := []byte(base58.Encode(make([]byte, 32))), bytes.Repeat([]byte{7}, 32)
	block := func(accounts [][]byte, amount string, decimals uint64, loaded []byte) []byte {
		var message []byte
		for _, a := range accounts {
			message = append(message, field(2, a)...)
		}
		balance := field(8, number(1, 1), field(2, []byte(base58.Encode(key))), field(3, number(2, decimals), field(3, []byte(amount))), field(4, []byte(base58.Encode(key))))
		transaction := field(6, field(1, make([]byte, 64)), field(3, field(2, message)), field(4, balance, field(12, loaded)))
		return slices.Concat(number(1, 9), field(2, hash), field(8, hash), number(7, 8), number(9, 1), transaction)
	}
	d := newDecoder(t, declared())
	if b, err := d.ParseWireBlock(block([][]byte{key, key}, "5", 6, key)); err != nil || len(b.Txs) != 1 {
		t.Fatalf("%+v, error %v", b, err)
	}
	for name, raw := range map[string][]byte{
		"a short key":        block([][]byte{key[:31], key, key}, "5", 6, key),
		"an empty key":       block([][]byte{nil, key, key}, "5", 6, key),
		"too many keys":      block(slices.Repeat([][]byte{key}, mostKeys+1), "5", 6, key),
		"a short loaded key": block([][]byte{key, key}, "5", 6, key[:31]),
		"no amount":          block([][]byte{key, key}, "five", 6, key),
		"a negative amount":  block([][]byte{key, key}, "-5", 6, key),
		"300 decimals":       block([][]byte{key, key}, "5", 300, key),
	} {
		if b, err := d.ParseWireBlock(raw); err == nil {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// FuzzWire feeds the reader of the wire what no node sends. Whatever it is, it ends in a block or an error.
func FuzzWire(f *testing.F) {
	if !isFuzzWorker() {
		_, sent := wireBlocks(f)
		for _, b := range slices.Concat(sent[:60], onTheWire(f, 2, fuzzed(f)...)) {
			f.Add(b)
		}
	}
	d := newDecoder(f, everything())
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := d.ParseWireBlock(raw)
		if err == nil && (b.ParentSlot >= b.Number || b.Time < 0) {
			t.Errorf("%+v", b)
		}
	})
}
