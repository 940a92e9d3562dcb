package solana

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
)

// TestSimulate: what a transaction would come to is one endpoint's word. Only where each that answers doesn't know the method, nobody simulates; an endpoint that fails
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
	for name, c := range map[string]struct {
		nodes      []lie
		want       string
		none, fail bool
	}{
		"it goes through":             {nodes: []lie{says(map[string]any{"err": nil})}},
		"it fails":                    {nodes: []lie{says(map[string]any{"err": frozen})}, want: `{"InstructionError":[0,{"Custom":17}]}`},
		"nobody knows it":             {nodes: []lie{refuses(-32601), refuses(-32601)}, none: true, fail: true},
		"the second knows it":         {nodes: []lie{refuses(-32601), says(map[string]any{"err": nil})}},
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
}
