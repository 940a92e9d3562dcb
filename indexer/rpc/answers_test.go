package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// plainAnswer is an answer as encoding/json reads it.
type plainAnswer struct {
	ID     *int            `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *NodeError      `json:"error"`
}

// plainAnswers splits what a node answered by encoding/json.
func plainAnswers(raw []byte, calls int) (list []wireAnswer, err error) {
	var plain []plainAnswer
	if trimmed := strings.TrimLeft(string(raw), " \t\r\n"); calls == 1 || strings.HasPrefix(trimmed, "{") {
		plain = make([]plainAnswer, 1)
		err = json.Unmarshal(raw, &plain[0])
	} else {
		err = json.Unmarshal(raw, &plain)
	}
	for _, a := range plain {
		list = append(list, wireAnswer(a))
	}
	return list, err
}

// tellsApart reports whether encoding/json takes a text for something else than the scanner: it folds the case of keys, resolves escapes in
// them, merges values of the same key, and takes null for an empty object or list.
func tellsApart(raw []byte) bool {
	text := string(raw)
	for _, key := range []string{`"id"`, `"result"`, `"error"`} {
		if folded := strings.ToLower(text); strings.Count(folded, key) != strings.Count(text, key) {
			return true
		}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		list = []json.RawMessage{bytes.TrimSpace(raw)}
	}
	for _, one := range list {
		if string(one) == "null" {
			return true
		}
		seen := map[string]bool{}
		d := json.NewDecoder(strings.NewReader(string(one)))
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			continue
		}
		for d.More() {
			var value json.RawMessage
			key, err := d.Token()
			if name, _ := key.(string); err != nil || seen[name] || d.Decode(&value) != nil {
				return true
			} else {
				seen[name] = true
			}
		}
	}
	return !utf8.Valid(raw) || strings.Contains(text, `\u`) || strings.ContainsAny(text, "ſK") || strings.Count(text, "[")+strings.Count(text, "{") > 30
}

// FuzzAnswers holds the splitting of answers against encoding/json.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":0,"result":"0x2a"}`, `{"jsonrpc":"2.0","id":0,"result": null }`, `{"id":0}`, ` [ ] `, `null`, `[null]`,
		`[{"id":0,"result":{"a":["}]\"",1.5e3,true,{}]}},{"id":1,"error":{"code":-32005,"message":"no\n","data":["x"]}}]`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch"}}`, `{"id":"0","result":1}`, `{"id":-1,"error":{}}`, `{"id":1.0}`,
		`{"error":"unauthorised"}`, `{"error":null,"id":0,"result":[]}`, `{"id":18446744073709551616}`, `{"id":0,"result":tru}`, `<html>`, `[{},{},{},{}]`,
	} {
		f.Add([]byte(text), 1)
		f.Add([]byte(text), 3)
	}
	f.Fuzz(func(t *testing.T, raw []byte, calls int) {
		calls = max(calls%4, -calls%4, 1)
		got, err := readAnswers(raw, calls)
		if err != nil && !errors.Is(err, ErrGarbage) {
			t.Fatalf("%v is no error of a node", err)
		}
		if !json.Valid(raw) || tellsApart(raw) {
			return
		}
		want, wantErr := plainAnswers(raw, calls)
		if (err == nil) != (wantErr == nil && len(want) <= calls) {
			t.Fatalf("to %d calls %s gives %v, by encoding/json %v", calls, raw, err, wantErr)
		}
		if err == nil && len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("to %d calls %s gives %+v, by encoding/json %+v", calls, raw, got, want)
		}
	})
}

// TestAnswersThatAreNone splits what no node that speaks JSON-RPC answers.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"nothing":                  ``,
		"a page":                   `<html>502 Bad Gateway</html>`,
		"null":                     `null`,
		"a list in a list":         `[[{"id":0,"result":1}]]`,
		"an unclosed answer":       `{"id":0,"result":"0x2a"`,
		"an unclosed result":       `{"id":0,"result":[{"a":1}`,
		"an unclosed text":         `{"id":0,"result":"0x2a`,
		"a result that is no JSON": `{"id":0,"result":nope}`,
		"no result behind its key": `{"id":0,"result":}`,
		"more behind the answer":   `{"id":0,"result":1}{"id":0,"result":2}`,
		"a number of a text":       `{"id":"0","result":1}`,
		"an error that is a text":  `{"id":0,"error":"no"}`,
		"very many brackets":       `{"id":0,"result":` + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + `}`,
		"brackets beside a result": `{"id":0,"result":1,"x":` + strings.Repeat(`{"x":`, 1_000_000),
		"too many answers":         `[` + strings.Repeat(`{},`, 1_000_000) + `{}]`,
	} {
		for _, calls := range []int{1, 2, CallsAtOnce} {
			if list, err := readAnswers([]byte(raw), calls); !errors.Is(err, ErrGarbage) || len(err.Error()) > 200 {
				t.Errorf("%s: %d answers to %d calls, %v; want %v", name, len(list), calls, err, ErrGarbage)
			}
		}
	}
	whole := `[{"jsonrpc":"2.0","id":0,"result":{"a":[1,"}"]}},{"id":1,"error":{"code":1,"message":"no"}}]`
	for n := range len(whole) {
		if list, err := readAnswers([]byte(whole[:n]), 2); err == nil {
			t.Errorf("the first %d bytes gave %+v", n, list)
		}
	}
}
