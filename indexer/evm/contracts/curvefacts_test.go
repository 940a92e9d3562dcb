package contracts

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestFourMemeQuotes: what a curve takes is the second word of its token's record, if the first is the token.
func TestFourMemeQuotes(t *testing.T) {
	t.Parallel()
	if callFourInfo != "0xe684626b" { // as public readers of the contract have it
		t.Errorf("_tokenInfos is %s", callFourInfo)
	}
	const other = "00000000000000000000000000000000000000bb"
	word := func(low string) string { return strings.Repeat("0", 64-len(low)) + low }
	record := func(base, quote string) string {
		return `"0x` + word(base) + word(quote) + strings.Repeat(word("7"), 11) + `"`
	}
	const mint = "00000000000000000000000000000000000000aa"
	token, manager := addressIn(t, mint), addressIn(t, "00000000000000000000000000000000000000f2")
	key := market.CurveKey{Curve: manager, Token: token}
	for name, c := range map[string]struct {
		answer string
		quote  market.Address
		known  bool
	}{
		"a token":                     {record(mint, other), addressIn(t, other), true},
		"the native coin":             {record(mint, "00"), market.Native, true},
		"two words alone":             {`"0x` + word(mint) + word("00") + `"`, market.Native, true},
		"another token's record":      {record(other, "00"), market.Address{}, false},
		"no record":                   {record("00", "00"), market.Address{}, false},
		"a quote that is no address":  {record(mint, "01"+other), market.Address{}, false},
		"a token with words above it": {record("01"+mint, "00"), market.Address{}, false},
		"the token itself":            {record(mint, mint), market.Address{}, false},
		"one word":                    {`"0x` + word(mint) + `"`, market.Address{}, false},
		"a word and a half":           {`"0x` + word(mint) + word("00")[:32] + `"`, market.Address{}, false},
		"nothing":                     {`"0x"`, market.Address{}, false},
		"a refusal":                   {"", market.Address{}, false},
	} {
		node := nodetest.New(t, func(_ string, params []json.RawMessage) (result, refusal string) {
			var asked struct{ To, Data string }
			if json.Unmarshal(params[0], &asked) != nil || asked.To != manager.String() || asked.Data != "0xe684626b"+word(mint) {
				t.Errorf("asked %s", params[0])
			}
			if c.answer == "" {
				return "", `{"code":3,"message":"execution reverted"}`
			}
			return c.answer, ""
		})
		got, _, err := sourceOf(t, time.Now, node.URL).Contracts().CurveFacts(t.Context(), chain.Ref{Number: 5}, []market.CurveKey{key})
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		if f := got[0]; f.CurveKey != key || f.Known != c.known || f.Quote != c.quote || (f.Reason == "") != c.known {
			t.Errorf("%s: %+v, want %q known %v", name, f, c.quote, c.known)
		}
	}
}

// TestFourMemeQuotesOfAnOldBlock: a curve's quote doesn't change, so that the newest answer does where old state is gone; more
// tokens than go into one batch keep their order.
func TestFourMemeQuotesOfAnOldBlock(t *testing.T) {
	t.Parallel()
	node := nodetest.New(t, func(_ string, params []json.RawMessage) (result, refusal string) {
		if string(params[1]) != `"latest"` {
			return "", `{"code":-32000,"message":"missing trie node 0xabc (path )"}`
		}
		var asked struct{ Data string }
		if err := json.Unmarshal(params[0], &asked); err != nil {
			t.Error(err)
		}
		token := asked.Data[len("0xe684626b"):]
		quote := strings.Repeat("0", 62) + token[62:] // tells the token
		return `"0x` + token + quote + `"`, ""
	})
	keys := make([]market.CurveKey, rpc.CallsAtOnce+1)
	for i := range keys {
		w := [32]byte{12: 0xaa, 31: byte(i)}
		keys[i] = market.CurveKey{Curve: market.Native, Token: market.EVMAddress(w)}
	}
	got, _, err := sourceOf(t, time.Now, node.URL).Contracts().CurveFacts(t.Context(), chain.Ref{Number: 5}, keys)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, keys, func(f market.CurveFact, k market.CurveKey) bool {
		return f.CurveKey == k && f.Known && f.Quote.Bytes()[19] == k.Token.Bytes()[19]
	}) {
		t.Errorf("%+v", got)
	}
}

func addressIn(t *testing.T, digits string) market.Address {
	t.Helper()
	a, err := market.ParseEVMAddress("0x" + digits)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
