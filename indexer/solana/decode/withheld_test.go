package decode

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/spltoken"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// tokenCall is an instruction of Token-2022 about the token, which is the transaction's fourth account.
func tokenCall(accounts []int, kind []byte, amount uint64, rest ...byte) map[string]any {
	data := append(binary.LittleEndian.AppendUint64(kind, amount), rest...)
	return map[string]any{"programIdIndex": 4, "accounts": accounts, "data": base58.Encode(data), "stackHeight": nil}
}

// tokenTx is a transaction of Token-2022 with two token accounts of two owners, which have so much before and after it.
func tokenTx(t *testing.T, program string, before, after [2]uint64, instructions []map[string]any, inner any) json.RawMessage {
	t.Helper()
	token := solanatest.Name("a token")
	balances := func(amounts [2]uint64) (out []map[string]any) {
		for i, n := range amounts {
			out = append(out, map[string]any{
				"accountIndex": i + 1, "mint": token, "owner": solanatest.Name("owner %d", i), "programId": program,
				"uiTokenAmount": map[string]any{"amount": strconv.FormatUint(n, 10), "decimals": 6, "uiAmount": nil, "uiAmountString": strconv.FormatUint(n, 10)},
			})
		}
		return out
	}
	raw, err := json.Marshal(map[string]any{
		"version": "legacy",
		"meta": map[string]any{
			"err": nil, "status": map[string]any{"Ok": nil}, "fee": 5000, "innerInstructions": inner, "logMessages": []string{}, "rewards": []any{},
			"preBalances": []uint64{9, 9, 9, 9, 9}, "postBalances": []uint64{9, 9, 9, 9, 9}, "preTokenBalances": balances(before), "postTokenBalances": balances(after),
		},
		"transaction": map[string]any{
			"signatures": []string{market.SolanaTx([64]byte{7}).String()},
			"message": map[string]any{
				"header":          map[string]any{"numRequiredSignatures": 1, "numReadonlySignedAccounts": 0, "numReadonlyUnsignedAccounts": 1},
				"accountKeys":     []string{solanatest.Name("payer"), solanatest.Name("first account"), solanatest.Name("second account"), token, program},
				"recentBlockhash": solanatest.Name("a hash"), "instructions": instructions,
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestWithheld: of a token of Token-2022, what leaves all balances and isn't burnt, or comes to them and isn't minted, is withheld or was. Where the node doesn't tell
// all instructions, or one isn't known, nobody can say, and nothing is emitted; a program that isn't there crashes nothing.
func TestWithheld(t *testing.T) {
	t.Parallel()
	move := tokenCall([]int{1, 3, 2, 0}, []byte{12}, 100, 6)
	nowhere := tokenCall([]int{1, 3, 2, 0}, []byte{12}, 100, 6)
	nowhere["programIdIndex"] = 200
	calls := func(list ...map[string]any) []any {
		for _, call := range list {
			call["stackHeight"] = 2
		}
		return []any{map[string]any{"index": 0, "instructions": list}}
	}
	const classic = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	for name, c := range map[string]struct {
		program       string // Token-2022 unless it is set
		before, after [2]uint64
		instructions  []map[string]any
		inner         any
		want          int64
	}{
		"a transfer":                 {before: [2]uint64{100, 0}, after: [2]uint64{0, 100}, instructions: []map[string]any{move}, inner: []any{}},
		"a transfer with a fee":      {before: [2]uint64{100, 0}, after: [2]uint64{0, 95}, instructions: []map[string]any{move}, inner: []any{}, want: 5},
		"another program's fee":      {program: classic, before: [2]uint64{100, 0}, after: [2]uint64{0, 95}, instructions: []map[string]any{move}, inner: []any{}},
		"a mint":                     {after: [2]uint64{7, 0}, instructions: []map[string]any{tokenCall([]int{3, 1, 0}, []byte{7}, 7)}, inner: []any{}},
		"a checked mint":             {after: [2]uint64{7, 0}, instructions: []map[string]any{tokenCall([]int{3, 1, 0}, []byte{14}, 7, 6)}, inner: []any{}},
		"a mint that another calls":  {after: [2]uint64{7, 0}, instructions: []map[string]any{move}, inner: calls(tokenCall([]int{3, 1, 0}, []byte{7}, 7))},
		"a burn":                     {before: [2]uint64{9, 0}, after: [2]uint64{2, 0}, instructions: []map[string]any{tokenCall([]int{1, 3, 0}, []byte{8}, 7)}, inner: []any{}},
		"a checked burn":             {before: [2]uint64{9, 0}, after: [2]uint64{2, 0}, instructions: []map[string]any{tokenCall([]int{1, 3, 0}, []byte{15}, 7, 6)}, inner: []any{}},
		"a burn with more behind it": {before: [2]uint64{9, 0}, after: [2]uint64{2, 0}, instructions: []map[string]any{tokenCall([]int{1, 3, 0}, []byte{8}, 7, make([]byte, 100)...)}, inner: []any{}},
		"a permitted burn":           {before: [2]uint64{9, 0}, after: [2]uint64{2, 0}, instructions: []map[string]any{tokenCall([]int{1, 3, 0, 0}, []byte{46, 1}, 7)}, inner: []any{}},
		"what was withheld is taken": {before: [2]uint64{9, 0}, after: [2]uint64{9, 5}, instructions: []map[string]any{tokenCall([]int{3, 2, 0, 1}, []byte{26, 3}, 1)}, inner: []any{}, want: -5},
		"it is taken and burnt":      {instructions: []map[string]any{tokenCall([]int{3, 2, 0, 1}, []byte{26, 3}, 1), tokenCall([]int{2, 3, 0}, []byte{8}, 5)}, inner: []any{}, want: -5},
		"an instruction of later on": {before: [2]uint64{9, 0}, after: [2]uint64{2, 0}, instructions: []map[string]any{tokenCall([]int{1, 3, 0}, []byte{47}, 7)}, inner: []any{}},
		"a fee beside a name": {
			before: [2]uint64{100, 0}, after: [2]uint64{0, 95}, inner: []any{}, want: 5,
			instructions: []map[string]any{move, {"programIdIndex": 4, "accounts": []int{3}, "data": base58.Encode([]byte{210, 225, 30, 162, 88, 184, 77, 141, 1, 0, 0, 0, 65})}},
		},
		"a mint of no amount":        {after: [2]uint64{7, 0}, instructions: []map[string]any{{"programIdIndex": 4, "accounts": []int{3, 1, 0}, "data": base58.Encode([]byte{7, 1})}}, inner: []any{}},
		"no data":                    {after: [2]uint64{7, 0}, instructions: []map[string]any{{"programIdIndex": 4, "accounts": []int{3, 1, 0}, "data": ""}}, inner: []any{}},
		"a node that tells no calls": {before: [2]uint64{9, 0}, after: [2]uint64{2, 0}, instructions: []map[string]any{move}},
		"a program that isn't there": {before: [2]uint64{100, 0}, after: [2]uint64{0, 95}, instructions: []map[string]any{nowhere}, inner: []any{}},
		"one beyond, after others":   {before: [2]uint64{100, 0}, after: [2]uint64{0, 95}, instructions: []map[string]any{move, nowhere}, inner: []any{}},
	} {
		program := spltoken.Program2022
		if c.program != "" {
			program = c.program
		}
		raw := solanatest.Block(t, market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}, 1, tokenTx(t, program, c.before, c.after, c.instructions, c.inner))
		d := newDecoder(t, everything())
		wire := onTheWire(t, 2, raw)
		for form, parse := range map[string]func() (Block, error){
			"JSON": func() (Block, error) { return d.ParseBlock(2, raw) }, "the wire": func() (Block, error) { return d.ParseWireBlock(wire[0]) },
		} {
			b, err := parse()
			if err != nil {
				t.Errorf("%s, in %s: %v", name, form, err)
				continue
			}
			var got []int64
			for _, tx := range b.Txs {
				for _, l := range tx.Logs {
					if w, ok := l.Event.(market.Withheld); ok {
						n := int64(w.Change.Abs.Uint64())
						if w.Change.Neg {
							n = -n
						}
						got = append(got, n)
					}
				}
			}
			want := []int64{c.want}
			if c.want == 0 {
				want = nil
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, in %s: withheld %v, want %v", name, form, got, want)
			}
		}
	}
}

// TestMintsForReadingAlone: a transaction that can't change a mint mints and burns nothing of it, whatever its instructions are.
func TestMintsForReadingAlone(t *testing.T) {
	t.Parallel()
	instructions := []map[string]any{tokenCall([]int{1, 3, 2, 0}, []byte{12}, 100, 6), tokenCall([]int{1, 3, 0}, []byte{47}, 7)} // the second isn't known
	told := solanatest.Block(t, market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}, 1,
		tokenTx(t, spltoken.Program2022, [2]uint64{100, 0}, [2]uint64{0, 95}, instructions, []any{}))
	const whole = `{"numReadonlySignedAccounts":0,"numReadonlyUnsignedAccounts":1,"numRequiredSignatures":1}`
	if !strings.Contains(string(told), whole) {
		t.Fatalf("there is no header: %s", told)
	}
	d := newDecoder(t, everything())
	for header, want := range map[string]int{
		whole:  0,
		`null`: 0,
		`{"numReadonlySignedAccounts":0,"numReadonlyUnsignedAccounts":2,"numRequiredSignatures":1}`: 1,
		`{"numReadonlySignedAccounts":0,"numReadonlyUnsignedAccounts":0,"numRequiredSignatures":4}`: 0,
		`{"numReadonlySignedAccounts":1,"numReadonlyUnsignedAccounts":0,"numRequiredSignatures":4}`: 1,
		`{"numReadonlySignedAccounts":0,"numReadonlyUnsignedAccounts":9,"numRequiredSignatures":1}`: 0, // of five keys
		`{"numReadonlySignedAccounts":0,"numReadonlyUnsignedAccounts":4,"numRequiredSignatures":1}`: 1,
		`{"numReadonlySignedAccounts":0,"numReadonlyUnsignedAccounts":2,"numRequiredSignatures":0}`: 0,
		`{"numReadonlySignedAccounts":8,"numReadonlyUnsignedAccounts":0,"numRequiredSignatures":9}`: 0,
		`{"numReadonlySignedAccounts":1,"numReadonlyUnsignedAccounts":2,"numRequiredSignatures":1}`: 0,
	} {
		raw := json.RawMessage(strings.Replace(string(told), whole, header, 1))
		wire := onTheWire(t, 2, raw)
		for form, parse := range map[string]func() (Block, error){
			"JSON": func() (Block, error) { return d.ParseBlock(2, raw) }, "the wire": func() (Block, error) { return d.ParseWireBlock(wire[0]) },
		} {
			b, err := parse()
			if err != nil {
				t.Errorf("%s, in %s: %v", header, form, err)
				continue
			}
			got := 0
			for _, l := range b.Txs[0].Logs {
				if w, ok := l.Event.(market.Withheld); ok && !w.Change.Neg && w.Change.Abs.Uint64() == 5 {
					got++
				}
			}
			if got != want {
				t.Errorf("%s, in %s: %d changes, want %d", header, form, got, want)
			}
		}
	}
}
