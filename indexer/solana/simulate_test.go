package solana

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestSimulate: what a transaction would come to is one endpoint's word, against which another one's is held where it counts. Only where each that answers doesn't know the method, nobody simulates; an endpoint that fails
// may yet.
func TestSimulate(t *testing.T) {
	w := newWorld(5)
	refuses := func(code int) lie {
		return func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if method == "simulateTransaction" {
				return nil, &solanatest.Refusal{Code: code, Message: "no"}
			}
			return result, nil
		}
	}
	says := func(value any) lie {
		return func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if method == "simulateTransaction" {
				return map[string]any{"context": map[string]any{"slot": 9}, "value": value}, nil
			}
			return result, nil
		}
	}
	frozen := map[string]any{"InstructionError": []any{0, map[string]any{"Custom": 17}}}
	goesThrough, isFrozen := says(map[string]any{"err": nil}), says(map[string]any{"err": frozen})
	const toldFrozen = `{"InstructionError":[0,{"Custom":17}]}`
	for name, c := range map[string]struct {
		nodes      []lie
		want       string
		none, fail bool
	}{
		"it goes through":             {nodes: []lie{goesThrough}},
		"it fails":                    {nodes: []lie{isFrozen}, want: toldFrozen},
		"nobody knows it":             {nodes: []lie{refuses(-32601), refuses(-32601)}, none: true, fail: true},
		"the second knows it":         {nodes: []lie{refuses(-32601), goesThrough}},
		"the second is behind":        {nodes: []lie{refuses(-32601), refuses(-32016)}, fail: true},
		"the only one is behind":      {nodes: []lie{refuses(-32016)}, fail: true},
		"an answer of nothing":        {nodes: []lie{says(nil)}, fail: true},
		"an answer of another form":   {nodes: []lie{says([]int{1})}, fail: true},
		"no word of whether it fails": {nodes: []lie{says(map[string]any{"logs": []string{}})}, fail: true},
	} {
		s, _ := sourceOf(t, nodesOf(t, w, c.nodes...)...)
		got, err := s.Accounts().Simulate(t.Context(), []byte{1}, 3)
		if (err != nil) != c.fail || errors.Is(err, ErrNotSimulated) != c.none || got.Err != c.want || !c.fail && got.Slot != 9 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, c := range map[string]struct {
		nodes       []lie
		want        string
		knows, fail bool
	}{
		"there is no other":           {nodes: []lie{isFrozen}},
		"no other one simulates":      {nodes: []lie{isFrozen, refuses(-32601)}},
		"the other one says the same": {nodes: []lie{isFrozen, isFrozen}, want: toldFrozen, knows: true},
		"the other one doesn't":       {nodes: []lie{isFrozen, goesThrough}, knows: true},
		"the other one is behind":     {nodes: []lie{isFrozen, refuses(-32016)}, knows: true, fail: true},
		"the third one tells":         {nodes: []lie{isFrozen, refuses(-32016), isFrozen}, want: toldFrozen, knows: true},
	} {
		s, _ := sourceOf(t, nodesOf(t, w, c.nodes...)...)
		first := Simulated{by: s.pool.List[0]}
		got, knows, err := s.Accounts().SimulateElsewhere(t.Context(), &first, []byte{1}, 3)
		if knows != c.knows || (err != nil) != c.fail || got.Err != c.want {
			t.Errorf("%s: %+v, %v, %v", name, got, knows, err)
		}
	}
}

// TestWatched: the node that carries out a transaction tells what watched accounts have before and after, and an answer of another form is none.
func TestWatched(t *testing.T) {
	w := newWorld(5)
	data := make([]byte, layout.TokenAccountLen)
	data[layout.TokenAccountSumEnd-8] = 7
	account := func(lamports any, owner string) map[string]any {
		return map[string]any{"lamports": lamports, "owner": owner, "data": []any{data, "base64"}, "executable": false, "rentEpoch": uint64(1<<64 - 1)}
	}
	token, system := layout.TokenProgram.String(), "11111111111111111111111111111111"
	watched := []market.Address{market.SolanaAddress([32]byte{1}), market.SolanaAddress([32]byte{2}), market.SolanaAddress([32]byte{3})}
	for name, c := range map[string]struct {
		value any
		fail  bool
		after []Balance
	}{
		"after":                  {value: map[string]any{"err": nil, "accounts": []any{account(5, token), account(6, system), nil}}, after: []Balance{{5, 7}, {6, 0}, {}}},
		"it fails":               {value: map[string]any{"err": "no", "accounts": nil}},
		"it fails, with nothing": {value: map[string]any{"err": "no", "accounts": []any{nil, nil, nil}, "logs": []string{"a", "b"}}},
		"too few":                {value: map[string]any{"err": nil, "accounts": []any{nil, nil}}, fail: true},
		"too many":               {value: map[string]any{"err": nil, "accounts": []any{nil, nil, nil, nil}}, fail: true},
		"none":                   {value: map[string]any{"err": nil}, fail: true},
		"no owner":               {value: map[string]any{"err": nil, "accounts": []any{account(5, ""), nil, nil}}, fail: true},
		"lamports below zero":    {value: map[string]any{"err": nil, "accounts": []any{account(-5, token), nil, nil}}, fail: true},
		"a log that is none":     {value: map[string]any{"err": nil, "accounts": []any{nil, nil, nil}, "logs": 3}, fail: true},
	} {
		var asked map[string]any
		nodes := nodesOf(t, w, func(method string, params []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if method != "simulateTransaction" {
				return result, nil
			}
			_ = json.Unmarshal(params[1], &asked)
			return map[string]any{"context": map[string]any{"slot": 9}, "value": c.value}, nil
		})
		nodes[0].SetAccount(watched[0].String(), solanatest.Account{Owner: token, Data: data})
		s, _ := sourceOf(t, nodes...)
		got, err := s.Accounts().Simulate(t.Context(), []byte{1}, 3, watched...)
		if (err != nil) != c.fail || !c.fail && (!slices.Equal(got.Before, []Balance{{1, 7}, {}, {}}) || !slices.Equal(got.After, c.after) || got.Slot != 9) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if head := w.Blocks[len(w.Blocks)-1].Number; !c.fail && got.BeforeSlot != head || asked["minContextSlot"] != float64(head) {
			t.Errorf("%s: asked for slot %v, before is of slot %d, the head is %d", name, asked["minContextSlot"], got.BeforeSlot, head)
		}
		if len(got.Logs) > 0 && !slices.Equal(got.Logs, []string{"a", "b"}) {
			t.Errorf("%s: the log is %v", name, got.Logs)
		}
	}
	s, _ := sourceOf(t, nodesOf(t, w, nil)...)
	if _, err := s.Accounts().Simulate(t.Context(), []byte{1}, 1<<40, watched...); err == nil {
		t.Error("a node that isn't at the slot yet told of accounts")
	}
}

// TestTransactionIsNone: a node that doesn't take a transaction is at no fault, and the transaction would fail.
func TestTransactionIsNone(t *testing.T) {
	s, _ := sourceOf(t, nodesOf(t, newWorld(5), func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if method == "simulateTransaction" {
			return nil, &solanatest.Refusal{Code: -32602, Message: "failed to deserialize"}
		}
		return result, nil
	})...)
	if got, err := s.Accounts().Simulate(t.Context(), []byte{1}, 3); err != nil || got.Err == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestTransaction: as many nodes tell of a transaction as are wanted, and who lacks it or doesn't answer isn't among them.
func TestTransaction(t *testing.T) {
	w := newWorld(5)
	says := func(value any) lie {
		return func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if method == "getTransaction" {
				return value, nil
			}
			return result, nil
		}
	}
	refuses := func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if method == "getTransaction" {
			return nil, &solanatest.Refusal{Code: -32603, Message: "no"}
		}
		return result, nil
	}
	told := says(map[string]any{"meta": map[string]any{"err": nil}})
	for name, c := range map[string]struct {
		nodes []lie
		most  int
		want  int
		fail  bool
	}{
		"one of one":                {[]lie{told}, 1, 1, false},
		"one of two":                {[]lie{told, told}, 1, 1, false},
		"two of three":              {[]lie{told, told, told}, 2, 2, false},
		"only one has it":           {[]lie{says(nil), told, says(nil)}, 2, 1, false},
		"nobody has it":             {[]lie{says(nil), says(nil)}, 2, 0, false},
		"without what it did":       {[]lie{says(map[string]any{"meta": nil})}, 2, 0, false},
		"what is no transaction":    {[]lie{says("a text")}, 2, 0, false},
		"nobody answers":            {[]lie{refuses, refuses}, 2, 0, true},
		"one doesn't answer":        {[]lie{refuses, told}, 2, 1, false},
		"one doesn't, one lacks it": {[]lie{refuses, says(nil)}, 2, 0, false},
	} {
		s, _ := sourceOf(t, nodesOf(t, w, c.nodes...)...)
		if got, err := s.Accounts().Transaction(t.Context(), market.SolanaTx([64]byte{4}), c.most); len(got) != c.want || (err != nil) != c.fail {
			t.Errorf("%s: %d, %v", name, len(got), err)
		}
	}
}
