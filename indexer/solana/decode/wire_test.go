package decode

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// onTheWire are blocks that a node tells in JSON as Yellowstone gRPC sends them: the plugin's makers' own code encodes them.
func onTheWire(tb testing.TB, slot uint64, blocks ...json.RawMessage) (out [][]byte) {
	tb.Helper()
	packages, err := svm.Packages(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("testdata", "wire.cjs"))
	if err != nil {
		tb.Fatal(err)
	}
	node := exec.CommandContext(tb.Context(), "node", script)
	var failed bytes.Buffer
	node.Env, node.Stderr = append(node.Environ(), "NODE_PATH="+filepath.Join(packages, "node_modules")), &failed
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

// FuzzWire feeds the reader of the wire what no node sends. Whatever it is, it ends in a block or an error.
func FuzzWire(f *testing.F) {
	_, sent := wireBlocks(f)
	for _, b := range sent[:60] {
		f.Add(b)
	}
	d := newDecoder(f, declared())
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := d.ParseWireBlock(raw)
		if err == nil && (b.ParentSlot >= b.Number || b.Time < 0) {
			t.Errorf("%+v", b)
		}
	})
}
