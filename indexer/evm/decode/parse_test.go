package decode

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	anAddress = `"0x00112233445566778899aabbccddeeff00112233"`
	aTopic    = `"0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"`
	aHash     = `"0x1111111111111111111111111111111111111111111111111111111111111111"`
)

const aLog = `{"address":` + anAddress + `,"topics":[` + aTopic + `],"data":"0x0102","blockNumber":"0x10",` +
	`"blockHash":` + aHash + `,"blockTimestamp":"0x65","transactionHash":` + aHash + `,"transactionIndex":"0x2",` +
	`"logIndex":"0x3","removed":false}`

func parsedLog(t *testing.T) Log {
	t.Helper()
	l := Log{
		NumTopics: 1, Data: []byte{1, 2}, Block: 16, BlockTime: 0x65, TxIndex: 2, Index: 3,
		BlockHash: market.Hash(bytes.Repeat([]byte{0x11}, 32)), TxHash: market.Hash(bytes.Repeat([]byte{0x11}, 32)),
	}
	l.Topics[0] = TopicTransfer
	raw, err := hex.DecodeString("00112233445566778899aabbccddeeff00112233")
	if err != nil {
		t.Fatal(err)
	}
	copy(l.Address[:], raw)
	return l
}

func TestParseLogs(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"plain":             `{"jsonrpc":"2.0","id":1,"result":[` + aLog + `]}`,
		"result first":      `{"result":[` + aLog + `],"id":1,"jsonrpc":"2.0"}`,
		"odd whitespace":    " \r\n\t{ \"jsonrpc\" :\t\"2.0\" , \"result\" : [ " + strings.ReplaceAll(aLog, ",", " ,\n\t") + " ] } \n",
		"a null error":      `{"jsonrpc":"2.0","id":1,"error":null,"result":[` + aLog + `]}`,
		"upper-case digits": `{"result":[` + strings.ReplaceAll(aLog, "0xddf252ad", "0xDDF252aD") + `]}`,
		"other key order": `{"result":[{"removed":false,"logIndex":"0x3","transactionIndex":"0x2","transactionHash":` + aHash +
			`,"blockTimestamp":"0x65","blockHash":` + aHash + `,"blockNumber":"0x10","data":"0x0102","topics":[` + aTopic +
			`],"address":` + anAddress + `}]}`,
		"unknown fields": `{"id":{"a":[1,"]}\"",null]},"result":[{"x":[[],{},{"y":"\\"},-1.5e9,true],"l1Fee":null,"s":"}],\"",` +
			aLog[1:] + `],"more":[{"result":[]}]}`,
	}
	want := []Log{parsedLog(t)}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !json.Valid([]byte(in)) {
				t.Fatal("the test's own input is no JSON")
			}
			got, err := ParseLogs([]byte(in))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestParseLogsWithoutAny(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		`{"result":[]}`, `{"jsonrpc":"2.0","id":1,"result": [ ] }`, `{"result":null}`, `{"result": null ,"id":1}`,
	} {
		if got, err := ParseLogs([]byte(in)); err != nil || len(got) != 0 {
			t.Errorf("%s: %d logs, error %v; want none", in, len(got), err)
		}
	}
}

func TestParseLogsSparse(t *testing.T) {
	t.Parallel()
	got, err := ParseLogs([]byte(`{"result":[{},{"topics":[],"data":"0x"},{"topics":[` +
		strings.Repeat(aTopic+",", 3) + aTopic + `],"removed":true,"blockNumber":"0xffffffffffffffff"}]}`))
	if err != nil || len(got) != 3 {
		t.Fatalf("%d logs, error %v; want 3", len(got), err)
	}
	if got[0].NumTopics != 0 || got[1].NumTopics != 0 || len(got[1].Data) != 0 {
		t.Errorf("empty logs came out as %+v", got[:2])
	}
	if got[2].NumTopics != 4 || got[2].Topics[3] != TopicTransfer || !got[2].Removed || got[2].Block != 1<<64-1 {
		t.Errorf("got %+v", got[2])
	}
}

func TestParseLogsNodeError(t *testing.T) {
	t.Parallel()
	tests := map[string]rpc.NodeError{
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"query returned more than 10000 results"}}`: {
			Code: -32005, Message: "query returned more than 10000 results",
		},
		`{"error": { "message" : "a \"quoted\" word", "code" : -32602 } , "result":null}`: {
			Code: -32602, Message: `a "quoted" word`,
		},
		`{"result":[` + aLog + `],"error":{"code":1,"message":"both"}}`: {Code: 1, Message: "both"},
	}
	for in, want := range tests {
		_, err := ParseLogs([]byte(in))
		var got *rpc.NodeError
		if !errors.As(err, &got) || got.Code != want.Code || got.Message != want.Message {
			t.Errorf("%s: error %v, want %v", in, err, &want)
		}
	}
}

func TestParseLogsGarbage(t *testing.T) {
	t.Parallel()
	log := func(field, value string) string { return `{"result":[{"` + field + `":` + value + `}]}` }
	deep := strings.Repeat("[", 100_000)
	tests := map[string]string{
		"nothing":                     ``,
		"whitespace":                  " \n",
		"a word":                      `<html>502 Bad Gateway</html>`,
		"an array":                    `[]`,
		"a number":                    `7`,
		"null":                        `null`,
		"no result":                   `{"jsonrpc":"2.0","id":1}`,
		"a batch":                     `[{"result":[]}]`,
		"an unclosed object":          `{"result":[]`,
		"an unclosed array":           `{"result":[` + aLog,
		"an unclosed string":          `{"result":[{"address":"0x00`,
		"a backslash at the end":      `{"res\`,
		"a missing colon":             `{"result"[]}`,
		"a missing comma":             `{"result":[` + aLog + aLog + `]}`,
		"a comma too many":            `{"result":[` + aLog + `,]}`,
		"a field comma too many":      `{"result":[],}`,
		"result is a string":          `{"result":"0x"}`,
		"result is an object":         `{"result":{}}`,
		"a log is a string":           `{"result":["0x"]}`,
		"a log is null":               `{"result":[null]}`,
		"an error that is a string":   `{"error":"unauthorised"}`,
		"an error that is an array":   `{"error":[]}`,
		"a short address":             log("address", `"0x00"`),
		"a long address":              log("address", `"0x`+strings.Repeat("0", 42)+`"`),
		"an address without 0x":       log("address", `"`+strings.Repeat("0", 42)+`"`),
		"an address of other letters": log("address", `"0x`+strings.Repeat("g", 40)+`"`),
		"an address that is null":     log("address", `null`),
		"an address that is a number": log("address", `12`),
		"five topics":                 log("topics", `[`+strings.Repeat(aTopic+",", 4)+aTopic+`]`),
		"topics that are a string":    log("topics", aTopic),
		"a short topic":               log("topics", `["0xdd"]`),
		"a topic that is null":        log("topics", `[null]`),
		"data of an odd length":       log("data", `"0x0"`),
		"data without 0x":             log("data", `"00"`),
		"empty data":                  log("data", `""`),
		"data of other letters":       log("data", `"0xzz"`),
		"non-ASCII data":              log("data", `"0xéé"`),
		"a decimal block":             log("blockNumber", `16`),
		"an empty quantity":           log("blockNumber", `"0x"`),
		"a quantity beyond 64 bits":   log("blockNumber", `"0x10000000000000000"`),
		"a negative quantity":         log("blockNumber", `"-0x1"`),
		"a block that is null":        log("blockNumber", `null`),
		"a short hash":                log("blockHash", `"0x11"`),
		"depth":                       `{"x":` + deep + strings.Repeat("]", 100_000) + `,"result":[]}`,
		"depth without an end":        `{"x":` + deep,
		"depth of objects":            strings.Repeat(`{"x":`, 100_000),
		"depth in a log":              log("x", deep),
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseLogs([]byte(in))
			if err == nil {
				t.Fatalf("no error, and the logs %+v", got)
			}
			if !errors.Is(err, rpc.ErrGarbage) {
				t.Errorf("error %v, want one that is rpc.ErrGarbage", err)
			}
		})
	}
}

// Every prefix of an answer is an error: an answer that was cut off must never pass for a shorter one.
func TestParseLogsTruncated(t *testing.T) {
	t.Parallel()
	whole := `{"jsonrpc":"2.0","id":1,"result":[` + aLog + `,` + aLog + `]}`
	for n := range len(whole) {
		if got, err := ParseLogs([]byte(whole[:n])); err == nil {
			t.Fatalf("the first %d bytes passed as %d logs: %s", n, len(got), whole[:n])
		}
	}
}

// What is no JSON must not pass for an answer without logs: the blocks' events would be lost without a word.
func TestParseLogsNoJSON(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		`{"result":nope}`, `{"result":n}`, `{"result":nullnull}`, `{"result":[]}{"result":[`, `{"result":[]} trailing`,
		`{"id":,"result":[]}`, `{"result":[{"removed":}]}`, `{"id":bare word,"result":[]}`,
	} {
		if json.Valid([]byte(in)) {
			t.Fatalf("%s is JSON", in)
		}
		if got, err := ParseLogs([]byte(in)); err == nil {
			t.Errorf("%s: passed as %d logs", in, len(got))
		}
	}
}

func TestParseLogsHuge(t *testing.T) {
	t.Parallel()
	// One log's data is larger than the buffer that the parser begins with, and the many small ones behind it must
	// not share its bytes.
	big := strings.Repeat("ab", 1<<20)
	var in strings.Builder
	in.WriteString(`{"result":[{"data":"0x` + big + `"}`)
	const many = 20_000
	for i := range many {
		fmt.Fprintf(&in, `,{"logIndex":"%s","data":"0x%08x"}`, rpc.HexQuantity(uint64(i)), i)
	}
	in.WriteString(`]}`)
	got, err := ParseLogs([]byte(in.String()))
	if err != nil || len(got) != many+1 {
		t.Fatalf("%d logs, error %v; want %d", len(got), err, many+1)
	}
	if hex.EncodeToString(got[0].Data) != big {
		t.Error("the large log's data changed")
	}
	for i := range many {
		l := got[i+1]
		if hex.EncodeToString(l.Data) != fmt.Sprintf("%08x", i) || int(l.Index) != i {
			t.Fatalf("log %d has data %x and index %d", i, l.Data, l.Index)
		}
		if cap(l.Data) != len(l.Data) {
			t.Fatalf("log %d: appending to its data would overwrite its neighbour's", i)
		}
	}
}

// TestParseLogsAgrees generates logs, writes them with encoding/json, and reads them back.
func TestParseLogsAgrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hexOf := func(n int, label string) string {
			return "0x" + hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, label))
		}
		n := rapid.IntRange(0, 6).Draw(t, "logs")
		wire := make([]wireLog, n)
		for i := range wire {
			topics := make([]string, rapid.IntRange(0, 4).Draw(t, "topics"))
			for k := range topics {
				topics[k] = hexOf(32, "topic")
			}
			wire[i] = wireLog{
				Address: hexOf(20, "address"), Topics: topics, Data: hexOf(rapid.IntRange(0, 200).Draw(t, "len"), "data"),
				Block: rpc.HexQuantity(rapid.Uint64().Draw(t, "block")), TxHash: hexOf(32, "tx"), BlockHash: hexOf(32, "hash"),
				TxIndex: rpc.HexQuantity(uint64(rapid.Uint32().Draw(t, "tx index"))),
				Index:   rpc.HexQuantity(uint64(rapid.Uint32().Draw(t, "index"))),
				Time:    rpc.HexQuantity(rapid.Uint64Range(0, 253402300799).Draw(t, "time")), Removed: rapid.Bool().Draw(t, "removed"),
			}
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": rapid.Int().Draw(t, "id"), "result": wire}
		var body []byte
		var err error
		if rapid.Bool().Draw(t, "indented") {
			body, err = json.MarshalIndent(answer, "\t", " \t")
		} else {
			body, err = json.Marshal(answer)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseLogs(body)
		if err != nil || len(got) != n {
			t.Fatalf("%d logs, error %v; want %d", len(got), err, n)
		}
		for i := range got {
			if back := toWire(&got[i]); !reflect.DeepEqual(back, wire[i]) {
				t.Fatalf("got %+v\nwant %+v", back, wire[i])
			}
		}
	})
}

func toWire(l *Log) wireLog {
	topics := make([]string, l.NumTopics)
	for i := range topics {
		topics[i] = "0x" + hex.EncodeToString(l.Topics[i][:])
	}
	return wireLog{
		Address: "0x" + hex.EncodeToString(l.Address[:]), Topics: topics, Data: "0x" + hex.EncodeToString(l.Data),
		Block: rpc.HexQuantity(l.Block), TxHash: l.TxHash.String(), BlockHash: l.BlockHash.String(),
		TxIndex: rpc.HexQuantity(uint64(l.TxIndex)), Index: rpc.HexQuantity(uint64(l.Index)),
		Time: rpc.HexQuantity(uint64(l.BlockTime)), Removed: l.Removed,
	}
}

// looseAnswer is an answer as encoding/json reads it, with any JSON for the fields of a log.
type looseAnswer struct {
	Result *[]map[string]json.RawMessage `json:"result"`
	Error  json.RawMessage               `json:"error"`
}

// FuzzParseLogs holds the hand-written scanner against encoding/json: whatever the one takes for an answer, the other
// takes for JSON with the same logs in it.
func FuzzParseLogs(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":[` + aLog + `]}`))
	f.Add([]byte(`{"result":[],"x":[{"a":"\"","b":[1,2,{"c":null}]}]}`))
	f.Add([]byte(`{"error":{"code":-32005,"message":"range"}}`))
	f.Add([]byte(`{"result":null}`))
	f.Add([]byte(`{"result":[{"data":"0x"},{"topics":[]}]}`))
	f.Add([]byte(`{"res\`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := ParseLogs(in)
		if !json.Valid(in) {
			return // what it does with what is no JSON is TestParseLogsNoJSON's to say; here it must not panic
		}
		var want looseAnswer
		d := json.NewDecoder(bytes.NewReader(in))
		if e := d.Decode(&want); e != nil || repeatsKeys(in) {
			return // another shape, or keys twice, where the two may differ
		}
		if len(want.Error) > 0 && string(want.Error) != "null" {
			if err == nil {
				t.Fatalf("an answer with an error passed: %s", in)
			}
			return
		}
		if err != nil {
			return // stricter than JSON; that valid logs pass is TestParseLogsAgrees' to say
		}
		if want.Result == nil {
			if len(got) > 0 {
				t.Fatalf("%d logs where there are none: %s", len(got), in)
			}
			return
		}
		if len(got) != len(*want.Result) {
			t.Fatalf("%d logs, encoding/json sees %d: %s", len(got), len(*want.Result), in)
		}
		for i := range got {
			compareLoose(t, &got[i], (*want.Result)[i])
		}
	})
}

func compareLoose(t *testing.T, got *Log, want map[string]json.RawMessage) {
	t.Helper()
	back := toWire(got)
	text := func(key string) (s string, ok bool) {
		raw, ok := want[key]
		if !ok {
			return "", false
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatalf("%s: %s was taken for a string", key, raw)
		}
		return s, true
	}
	for key, g := range map[string]string{
		"address": back.Address, "data": back.Data, "blockHash": back.BlockHash, "transactionHash": back.TxHash,
	} {
		if w, ok := text(key); ok && !strings.EqualFold(w, g) {
			t.Fatalf("%s: got %s, want %s", key, g, w)
		}
	}
	for key, g := range map[string]uint64{"blockNumber": got.Block} {
		if w, ok := text(key); ok {
			if n, err := strconv.ParseUint(strings.TrimPrefix(w, "0x"), 16, 64); err != nil || n != g {
				t.Fatalf("%s: got %d, want %s", key, g, w)
			}
		}
	}
	if raw, ok := want["topics"]; ok {
		var topics []string
		if err := json.Unmarshal(raw, &topics); err != nil || len(topics) != got.NumTopics {
			t.Fatalf("topics: got %d, want %s", got.NumTopics, raw)
		}
		for i := range topics {
			if !strings.EqualFold(topics[i], back.Topics[i]) {
				t.Fatalf("topic %d: got %s, want %s", i, back.Topics[i], topics[i])
			}
		}
	}
	if raw, ok := want["removed"]; ok && got.Removed != (string(raw) == "true") {
		t.Fatalf("removed: got %v, want %s", got.Removed, raw)
	}
}

// repeatsKeys reports whether some object names a key twice, or in a case or with escapes that encoding/json folds.
func repeatsKeys(in []byte) bool {
	if bytes.ContainsRune(in, '\\') {
		return true
	}
	d := json.NewDecoder(bytes.NewReader(in))
	type frame struct {
		object, wantKey bool
		keys            map[string]bool
	}
	var stack []frame
	value := func() {
		if n := len(stack); n > 0 && stack[n-1].object {
			stack[n-1].wantKey = true
		}
	}
	for {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		if delim, ok := tok.(json.Delim); ok {
			switch delim {
			case '{':
				stack = append(stack, frame{object: true, wantKey: true, keys: map[string]bool{}})
			case '[':
				stack = append(stack, frame{})
			default:
				stack = stack[:len(stack)-1]
				value()
			}
			continue
		}
		if n := len(stack); n > 0 && stack[n-1].wantKey {
			key := tok.(string) //nolint:errcheck,forcetypeassert // a key is a string
			folded := strings.ToLower(key)
			if stack[n-1].keys[folded] {
				return true
			}
			stack[n-1].keys[folded] = true
			if key != folded && (folded == "result" || folded == "error") {
				return true
			}
			stack[n-1].wantKey = false
			continue
		}
		value()
	}
}

// TestTooManyLogsForTheirBytes: a list of empty logs would take a hundred times its bytes in memory.
func TestTooManyLogsForTheirBytes(t *testing.T) {
	t.Parallel()
	list := func(n int) string { return `{"result":[` + strings.Repeat("{},", n-1) + `{}]}` }
	if logs, err := ParseLogs([]byte(list(mostSparse))); err != nil || len(logs) != mostSparse {
		t.Errorf("%d empty logs: %v", mostSparse, err)
	}
	if _, err := ParseLogs([]byte(list(100_000))); !errors.Is(err, rpc.ErrGarbage) {
		t.Errorf("100,000 empty logs: %v; want %v", err, rpc.ErrGarbage)
	}
	if logs, err := ParseLogs([]byte(`{"result":[` + strings.Repeat(aLog+",", 99_999) + aLog + `]}`)); err != nil || len(logs) != 100_000 {
		t.Errorf("100,000 whole logs: %d, %v", len(logs), err)
	}
}

// TestTheMostLogsForTheirBytes finds where a list of empty logs has too many.
func TestTheMostLogsForTheirBytes(t *testing.T) {
	t.Parallel()
	for n := mostSparse; n < mostSparse+100; n++ {
		list := `{"result":[` + strings.Repeat("{},", n-1) + `{}]}`
		logs, err := ParseLogs([]byte(list))
		if fits := n <= mostSparse+len(list)/leastLog+1; fits != (err == nil) || fits && len(logs) != n {
			t.Errorf("%d empty logs of %d bytes: %d, %v", n, len(list), len(logs), err)
		}
	}
}
