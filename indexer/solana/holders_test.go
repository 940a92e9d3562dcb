package solana

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// tokenAccount is the part of an account that is asked for, as a node tells it.
func tokenAccount(owner byte, amount uint64, whole, space int, kind byte) string {
	data := make([]byte, max(whole, 40))
	data[0] = owner
	for i := range 8 {
		data[32+i] = byte(amount >> (8 * i))
	}
	if len(data) > layout.TokenAccountLen-layout.TokenAccountOwnerAt {
		data[layout.TokenAccountLen-layout.TokenAccountOwnerAt] = kind
	}
	return fmt.Sprintf(`{"pubkey":"x","account":{"lamports":1,"data":[%q,"base64"],"owner":"y","executable":false,"rentEpoch":18446744073709551615,"space":%d}}`,
		base64.StdEncoding.EncodeToString(data), space)
}

func TestHoldings(t *testing.T) {
	t.Parallel()
	owner := func(b byte) market.Address { return market.SolanaAddress([32]byte{b}) }
	plain := func(o byte, amount uint64) string { return tokenAccount(o, amount, 40, layout.TokenAccountLen, 0) }
	for what, tt := range map[string]struct {
		accounts []string
		is2022   bool
		most     int64
		want     map[market.Address]uint64
		tooMany  bool
		wrong    bool
	}{
		"none":                        {want: map[market.Address]uint64{}},
		"an owner's sum":              {accounts: []string{plain(1, 5), plain(2, 7), plain(1, 6)}, most: 2, want: map[market.Address]uint64{owner(1): 11, owner(2): 7}},
		"accounts without anything":   {accounts: []string{plain(1, 0), plain(2, 7)}, most: 1, want: map[market.Address]uint64{owner(2): 7}},
		"as much as there can be":     {accounts: []string{plain(1, math.MaxUint64)}, most: 1, want: map[market.Address]uint64{owner(1): math.MaxUint64}},
		"more than there can be":      {accounts: []string{plain(1, math.MaxUint64), plain(1, 1)}, most: 1, wrong: true},
		"as many as are wanted":       {accounts: []string{plain(1, 1), plain(2, 1)}, most: 2, want: map[market.Address]uint64{owner(1): 1, owner(2): 1}},
		"more than are wanted":        {accounts: []string{plain(1, 1), plain(2, 1)}, most: 1, tooMany: true},
		"too short":                   {accounts: []string{strings.Replace(plain(1, 1), "AA", "", 1)}, most: 1, wrong: true},
		"no text":                     {accounts: []string{`{"account":{"data":["!","base64"]}}`}, most: 1, wrong: true},
		"another encoding":            {accounts: []string{`{"account":{"data":["1","base58"]}}`}, most: 1, wrong: true},
		"no account":                  {accounts: []string{`{}`}, most: 1, wrong: true},
		"null":                        {accounts: []string{`null`}, most: 1, wrong: true},
		"of Token-2022":               {accounts: []string{tokenAccount(1, 5, 133, 165, 0), tokenAccount(2, 6, 134, 170, accountTypeHolder)}, is2022: true, most: 2, want: map[market.Address]uint64{owner(1): 5, owner(2): 6}},
		"a mint that begins alike":    {accounts: []string{tokenAccount(1, 5, 134, 234, 1), tokenAccount(1, 5, 50, 82, 0)}, is2022: true, most: 2, want: map[market.Address]uint64{}},
		"signers that begin alike":    {accounts: []string{tokenAccount(1, 5, 134, multisigLen, accountTypeHolder)}, is2022: true, most: 2, want: map[market.Address]uint64{}},
		"half of a list":              {accounts: []string{plain(1, 1) + "]"}, most: 1, wrong: true},
		"a number where a text is":    {accounts: []string{`{"account":{"data":[1,"base64"]}}`}, most: 1, wrong: true},
		"a list where an account is ": {accounts: []string{`[]`}, most: 1, wrong: true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			raw := `{"value":[` + strings.Join(tt.accounts, ",") + `],"more":{"of":[1]},"context":{"slot":77,"apiVersion":"3"}}`
			got, err := holdings(json.RawMessage(raw), tt.is2022, tt.most)
			switch {
			case tt.wrong:
				if err == nil {
					t.Errorf("%+v, want an error", got)
				}
			case err != nil || got.TooMany != tt.tooMany:
				t.Errorf("%+v, error %v", got, err)
			case !tt.tooMany && (got.After != 77 || !maps.Equal(got.Amounts, tt.want)):
				t.Errorf("%+v, want %v", got, tt.want)
			}
		})
	}
	for _, raw := range []string{``, `null`, `[]`, `{}`, `{"context":{"slot":1}}`, `{"value":[]}`, `{"value":null,"context":{"slot":1}}`, `{"context":{"slot":-1},"value":[]}`, `{"context":{"slot":1},"value":[`} {
		if got, err := holdings(json.RawMessage(raw), false, 1); err == nil {
			t.Errorf("%s: %+v, want an error", raw, got)
		}
	}
}

// TestHoldersOf asks endpoints one after the other. What they can't tell is no fault of theirs; what isn't of the token is.
func TestHoldersOf(t *testing.T) {
	w := newWorld(20)
	last := w.Blocks[len(w.Blocks)-1].Number
	name := solanatest.Name("a token")
	token, err := market.ParseSolanaAddress(name)
	if err != nil {
		t.Fatal(err)
	}
	refuses := func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if method == "getProgramAccounts" {
			return nil, &solanatest.Refusal{Code: -32010, Message: "excluded from account secondary indexes"}
		}
		return result, nil
	}
	var nodes []*solanatest.Node
	for _, f := range []lie{nil, refuses} {
		n := solanatest.NewNode(t)
		n.Serve(w.Blocks)
		n.SetAccount(name, solanatest.Mint(6, 9))
		n.SetAccount(solanatest.Name("first"), solanatest.TokenAccount(name, solanatest.Name("someone"), 4))
		n.SetAccount(solanatest.Name("second"), solanatest.TokenAccount(name, solanatest.Name("another"), 5))
		n.SetAccount(solanatest.Name("third"), solanatest.TokenAccount(solanatest.WSOL, solanatest.Name("another"), 6))
		n.Lie(f)
		nodes = append(nodes, n)
	}
	s, _ := sourceOf(t, nodes...)
	told, refused := 0, 0
	for got, err := range s.History().HoldersOf(t.Context(), token, last, 2) {
		switch {
		case got.Alone:
			t.Errorf("%+v, error %v", got, err)
		case err != nil && strings.Contains(err.Error(), "secondary indexes"):
			refused++
		case err == nil && len(got.Amounts) == 2 && got.After == last:
			told++
		default:
			t.Errorf("%+v, error %v", got, err)
		}
	}
	if told != 1 || refused != 1 {
		t.Errorf("%d tell it, %d refuse", told, refused)
	}
	_, usage := s.Usage()
	for _, e := range usage {
		if e.Silent {
			t.Errorf("%+v", e)
		}
	}
	s, _ = sourceOf(t, nodes[0])
	for got, err := range s.History().HoldersOf(t.Context(), token, last, 1) {
		if err != nil || !got.TooMany || !got.Alone {
			t.Errorf("%+v, error %v, want too many", got, err)
		}
	}
	for _, err := range s.History().HoldersOf(t.Context(), token, last+1, 2) {
		if err == nil {
			t.Error("a node that isn't there yet tells it")
		}
	}
	nodes[0].Lie(func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if told, ok := result.(map[string]any); ok && method == "getProgramAccounts" {
			told["context"] = map[string]any{"slot": last + ahead + 1}
		}
		return result, nil
	})
	for got, err := range s.History().HoldersOf(t.Context(), token, last, 2) {
		if !errors.Is(err, rpc.ErrGarbage) {
			t.Errorf("%+v, error %v, of a slot that nobody has reached", got, err)
		}
	}
	for _, err := range s.History().HoldersOf(t.Context(), market.SolanaAddress([32]byte{5}), last, 2) {
		if err == nil {
			t.Error("what is no token has holders")
		}
	}
}

func FuzzHoldings(f *testing.F) {
	f.Add(`{"context":{"slot":1},"value":[`+tokenAccount(1, 5, 134, 170, 2)+`]}`, true)
	f.Add(`{"value":[`+tokenAccount(1, 5, 40, 165, 0)+`],"context":{"slot":1}}`, false)
	f.Fuzz(func(t *testing.T, raw string, is2022 bool) {
		got, err := holdings(json.RawMessage(raw), is2022, 3)
		if err == nil && !got.TooMany && (got.Amounts == nil || len(got.Amounts) > 3) {
			t.Errorf("%+v of %q", got, raw)
		}
	})
}
