package block

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// recordedHeader is a header that a node of a chain answered, with its block's transactions.
type recordedHeader struct {
	chain string
	raw   json.RawMessage
}

func recordedHeaders(tb testing.TB) (list []recordedHeader) {
	tb.Helper()
	dir := recorded.Path(tb, "evm")
	paths, err := filepath.Glob(dir + "/*/*/eth_getBlockByNumber.json")
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range paths {
		var answer struct {
			Result json.RawMessage `json:"result"`
		}
		readRecorded(tb, path, &answer)
		list = append(list, recordedHeader{filepath.Base(filepath.Dir(filepath.Dir(path))), answer.Result})
	}
	if len(list) < 20 {
		tb.Fatalf("there are %d recorded headers, want at least 20", len(list))
	}
	return list
}

func readRecorded(tb testing.TB, path string, v any) {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
}

// plainHeader reads a header by encoding/json, field by field.
func plainHeader(raw []byte) (h chain.Header, p Proof, err error) {
	if string(raw) == "null" {
		return h, p, chain.ErrNoBlock
	}
	var w struct {
		Number, Timestamp, GasUsed, TransactionsRoot json.RawMessage
		Hash, ParentHash, LogsBloom                  string
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return h, p, err
	}
	time := uint64(0)
	if h.Number, err = rpc.ParseQuantity(w.Number); err == nil {
		time, err = rpc.ParseQuantity(w.Timestamp)
	}
	if err == nil {
		h.Hash, err = market.ParseHash(w.Hash)
	}
	if err == nil {
		h.Parent, err = market.ParseHash(w.ParentHash)
	}
	if err == nil && (time > maxTime || h.Hash.IsZero()) {
		err = errors.New("no such time, or no hash")
	}
	if h.Time = int64(time); err == nil && len(w.LogsBloom) == 514 {
		p.hasBloom = true
		_, err = hex.Decode(p.bloom[:], []byte(w.LogsBloom[2:]))
	}
	p.idle = string(w.GasUsed) == `"0x0"` || string(w.TransactionsRoot) == noTransactions
	p.sum, p.sumErr = plainSum(raw)
	return h, p, err
}

// plainSum is the hash of a header that encoding/json reads.
func plainSum(raw []byte) (sum market.Hash, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return sum, err
	}
	var parts [][]byte
	for _, f := range headerFields {
		if v, ok := fields[f.name]; !ok || string(v) == "null" {
			break
		}
		var text string
		if err := json.Unmarshal(fields[f.name], &text); err != nil {
			return sum, err
		}
		digits, ok := strings.CutPrefix(text, "0x")
		if !ok {
			return sum, fmt.Errorf("%s has no 0x", f.name)
		}
		if f.number {
			digits = strings.TrimLeft(digits, "0")
			digits = strings.Repeat("0", len(digits)%2) + digits
		}
		b, err := hex.DecodeString(digits)
		if err != nil {
			return sum, err
		}
		parts = append(parts, hash.RLPBytes(b))
	}
	return market.Hash(hash.Keccak256(hash.RLPList(parts...))), nil
}

// isPlain reports whether encoding/json and the scanner have to read the same in a header: it is JSON, no field is told twice or in another
// case, and no field of a header has escapes or bytes that aren't UTF-8. encoding/json takes all these for something else than they are.
func isPlain(raw []byte) bool {
	if !json.Valid(raw) || !utf8.Valid(raw) || bytes.Contains(raw, []byte(`\u`)) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return true
	}
	var names []string
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		if err == nil {
			err = d.Decode(&value)
		}
		name, isText := key.(string)
		if err != nil || !isText || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			return false
		}
		names = append(names, name)
		for known := range headerPlaces {
			if strings.EqualFold(name, known) && (name != known || bytes.ContainsRune(value, '\\')) {
				return false
			}
		}
		if strings.EqualFold(name, "hash") && (name != "hash" || bytes.ContainsRune(value, '\\')) {
			return false
		}
	}
	return true
}

// isDeep reports whether a header's value has more brackets within each other than the scanner follows.
func isDeep(raw []byte) bool {
	depth, deepest := 0, 0
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for t, err := d.Token(); err == nil; t, err = d.Token() {
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
			deepest = max(deepest, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return deepest > 30
}

// sameAsPlain holds what is read of a header against what encoding/json reads.
func sameAsPlain(t interface{ Fatalf(string, ...any) }, raw []byte) {
	got, err := ParseHeader(raw)
	sum, sumErr := HeaderHash(raw)
	if !isPlain(raw) || isDeep(raw) {
		return // there it must only not panic
	}
	want, wantProof, wantErr := plainHeader(raw)
	if (err == nil) != (wantErr == nil) || errors.Is(err, chain.ErrNoBlock) != errors.Is(wantErr, chain.ErrNoBlock) {
		t.Fatalf("reading gives %v, by encoding/json %v: %s", err, wantErr, raw)
	}
	if err != nil && !errors.Is(err, chain.ErrNoBlock) && !errors.Is(err, rpc.ErrGarbage) {
		t.Fatalf("%v is no error of a node: %s", err, raw)
	}
	if plain, plainErr := plainSum(raw); string(raw) != "null" && ((sumErr == nil) != (plainErr == nil) || sum != plain) {
		t.Fatalf("the hash is %s, %v; by encoding/json %s, %v: %s", sum, sumErr, plain, plainErr, raw)
	}
	if err != nil {
		return
	}
	p := *ProofOf(&got)
	if (p.sumErr == nil) != (wantProof.sumErr == nil) {
		t.Fatalf("hashing gives %v, by encoding/json %v: %s", p.sumErr, wantProof.sumErr, raw)
	}
	p.sumErr, wantProof.sumErr = nil, nil
	if got.Known = nil; got != want || p != wantProof {
		t.Fatalf("got %+v, %+v\nby encoding/json %+v, %+v\nin %s", got, p, want, wantProof, raw)
	}
}

func TestHeaderHash(t *testing.T) {
	t.Parallel()
	sum, err := HeaderHash(json.RawMessage(blocktest.Genesis))
	if want := "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"; err != nil || sum.String() != want {
		t.Errorf("the hash is %s, %v; want %s", sum, err, want)
	}
	if noTransactions != blocktest.EmptyRoot {
		t.Errorf("the root of no transactions is %s; the first block has %s", noTransactions, blocktest.EmptyRoot)
	}
}

// TestReceiptsRoot reads the root of receipts from a header that has the hash, and from some that don't.
func TestReceiptsRoot(t *testing.T) {
	t.Parallel()
	own, err := HeaderHash(json.RawMessage(blocktest.Genesis))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		raw    string
		want   market.Hash
		proven bool
	}{
		"its hash":                 {blocktest.Genesis, own, true},
		"another hash":             {blocktest.Genesis, market.Hash{1}, false},
		"another root":             {strings.Replace(blocktest.Genesis, `"receiptsRoot":"0x56`, `"receiptsRoot":"0x57`, 1), own, false},
		"a field that is no hex":   {strings.Replace(blocktest.Genesis, `"extraData":"0x11`, `"extraData":"0x1g`, 1), own, false},
		"no header":                {`[]`, own, false},
		"null":                     {`null`, own, false},
		"nothing":                  {``, own, false},
		"a hash that is said, too": {`{"hash":"0x5",` + blocktest.Genesis[1:], own, true},
	} {
		root, err := ReceiptsRoot(json.RawMessage(tt.raw), tt.want)
		if tt.proven && (err != nil || string(root) != blocktest.EmptyRoot) || !tt.proven && (!errors.Is(err, rpc.ErrGarbage) || root != nil) {
			t.Errorf("%s: %s, %v; want that it is proven: %t", name, root, err, tt.proven)
		}
	}
}

// TestRecordedHeaders reads the recorded block headers; each one's bloom must allow the topics of its own logs.
func TestRecordedHeaders(t *testing.T) {
	t.Parallel()
	read := 0
	paths, err := filepath.Glob(recorded.Path(t, "evm") + "/*/*/eth_getBlockByNumber.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		var answer struct {
			Result json.RawMessage `json:"result"`
		}
		readRecorded(t, path, &answer)
		h, err := ParseHeader(answer.Result)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		read++
		var want struct {
			Block uint64 `json:"block"`
			Time  int64  `json:"block_timestamp"`
		}
		var receipt struct {
			Result struct{ Logs json.RawMessage }
		}
		readRecorded(t, filepath.Join(filepath.Dir(path), "expected.json"), &want)
		readRecorded(t, filepath.Join(filepath.Dir(path), "eth_getTransactionReceipt.json"), &receipt)
		if h.Number != want.Block || h.Time != want.Time {
			t.Errorf("%s: block %d of %d, want %d of %d", path, h.Number, h.Time, want.Block, want.Time)
		}
		logs, err := decode.ParseLogs([]byte(`{"result":` + string(receipt.Result.Logs) + `}`))
		if err != nil {
			t.Fatal(err)
		}
		for i := range logs {
			if h.Hash != logs[i].BlockHash {
				t.Errorf("%s: hash %s, its logs say %s", path, h.Hash, logs[i].BlockHash)
			}
			if bytes.Contains(answer.Result, []byte("logsBloom")) && logs[i].NumTopics > 0 && !ProofOf(&h).MayHold(logs[i].Topics[:1]) {
				t.Errorf("%s: the bloom denies topic %x, which log %d has", path, logs[i].Topics[0], logs[i].Index)
			}
		}
	}
	if read < 20 {
		t.Errorf("%d recorded headers were read, want at least 20", read)
	}
}

// TestRecordedHashes takes the hash of each recorded header. Of every recorded chain it follows from the fields by Ethereum's rules.
func TestRecordedHashes(t *testing.T) {
	t.Parallel()
	for _, r := range recordedHeaders(t) {
		sameAsPlain(t, r.raw)
		h, err := ParseHeader(r.raw)
		if err != nil {
			t.Fatal(err)
		}
		if p := ProofOf(&h); p.sumErr != nil || p.sum != h.Hash {
			t.Errorf("%s: block %d has the hash %s, its fields have %s, %v", r.chain, h.Number, h.Hash, p.sum, p.sumErr)
		}
	}
}

// field is a field of a header, in the order in which a node told it.
type field struct {
	name  string
	value json.RawMessage
}

func fieldsOf(tb interface{ Fatal(...any) }, raw []byte) (list []field) {
	d := json.NewDecoder(bytes.NewReader(raw))
	_, err := d.Token()
	for err == nil && d.More() {
		var f field
		var name json.Token
		if name, err = d.Token(); err == nil {
			f.name = fmt.Sprint(name)
			err = d.Decode(&f.value)
		}
		list = append(list, f)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

func written(list []field) []byte {
	var out bytes.Buffer
	for i, f := range list {
		out.WriteByte("{,"[min(i, 1)])
		fmt.Fprintf(&out, "%q:%s", f.name, f.value)
	}
	if len(list) == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes()
}

// otherValues are those that a field may be given, most of which no honest node gives.
var otherValues = []string{
	`null`, `true`, `0`, `-1.5e300`, strings.Repeat("9", 516), `""`, `"0x"`, `"0x0"`, `"0x00"`, `"0X1"`, `"0x1"`, `"0x000000000000000000000000001"`,
	`"0x10000000000000000"`, `"-0x1"`, `"0x-1"`, `"0x_1"`, `"12"`, `"0xzz"`, `"0xabc"`, `"0xABCD"`, `"é"`, `"0x3afff4417f"`, `"0x3afff44180"`, `"\\"`, `"\"0x1"`,
	`"0x` + strings.Repeat("0", 64) + `"`, `"0x` + strings.Repeat("F", 64) + `"`, `"0X` + strings.Repeat("1", 64) + `"`, `"0y` + strings.Repeat("1", 64) + `"`,
	`"0x` + strings.Repeat("f", 512) + `"`, `"zz` + strings.Repeat("f", 512) + `"`, `"0x` + strings.Repeat("g", 512) + `"`, noTransactions,
	`[]`, `{}`, `["0x1"]`, `{"hash":"0x1","a":[1,{"b":null}]}`, `[[[[]]]]`, strings.Repeat("[", 40) + strings.Repeat("]", 40),
}

// TestMutatedHeaders changes recorded headers: it takes fields away, gives them other values, tells them twice or in another order, adds
// unknown ones, and cuts the text off.
func TestMutatedHeaders(t *testing.T) {
	t.Parallel()
	headers := recordedHeaders(t)
	rapid.Check(t, func(t *rapid.T) {
		list := fieldsOf(t, rapid.SampledFrom(headers).Draw(t, "header").raw)
		list = slices.DeleteFunc(list, func(f field) bool { return f.name == "transactions" && len(f.value) > 5_000 })
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			if len(list) == 0 {
				break
			}
			i := rapid.IntRange(0, len(list)-1).Draw(t, "place")
			value := json.RawMessage(rapid.SampledFrom(otherValues).Draw(t, "value"))
			switch rapid.IntRange(0, 5).Draw(t, "change") {
			case 0:
				list = slices.Delete(list, i, i+1)
			case 1, 2:
				list[i].value = value
			case 3:
				list = append(list, field{list[i].name, value})
			case 4:
				list = slices.Insert(list, i, field{rapid.SampledFrom([]string{"", "l1BlockNumber", "Hash", "TIMESTAMP", "é"}).Draw(t, "name"), value})
			case 5:
				list[0], list[i] = list[i], list[0]
			}
		}
		raw := written(list)
		if rapid.IntRange(0, 9).Draw(t, "how") == 0 {
			raw = raw[:rapid.IntRange(0, len(raw)-1).Draw(t, "length")]
		}
		sameAsPlain(t, raw)
	})
}

// FuzzHeader holds the reading of headers against encoding/json.
func FuzzHeader(f *testing.F) {
	for _, r := range recordedHeaders(f) {
		f.Add(written(slices.DeleteFunc(fieldsOf(f, r.raw), func(f field) bool { return f.name == "transactions" })))
	}
	f.Add([]byte(blocktest.Genesis))
	f.Add([]byte(blocktest.Header(5, true, "0")))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"hash":"0x1","transactions":[{"hash":"\"}"}],"number":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) { sameAsPlain(t, raw) })
}

// TestUnreadableHeaders reads answers that are no header.
func TestUnreadableHeaders(t *testing.T) {
	t.Parallel()
	whole := blocktest.Header(5, true, "5208")
	with := func(field, value string) string {
		return strings.TrimSuffix(whole, "}") + `,"` + field + `":` + value + `}`
	}
	for name, raw := range map[string]string{
		"a list":                         `[` + whole + `]`,
		"a string":                       `"0x5"`,
		"nothing but space":              ` `,
		"two headers":                    whole + whole,
		"a comma too many":               strings.TrimSuffix(whole, "}") + `,}`,
		"a word that is no JSON":         with("x", `nope`),
		"brackets without an end":        with("x", strings.Repeat("[", 1_000_000)),
		"very many brackets":             with("x", strings.Repeat("[", 1_000_000)+strings.Repeat("]", 1_000_000)),
		"a hash that is a number":        with("hash", `5`),
		"a parent that is a list":        with("parentHash", `["0x5"]`),
		"a bloom that is a long number":  with("logsBloom", "1"+strings.Repeat("0", 515)),
		"a bloom of other letters":       with("logsBloom", `"0x`+strings.Repeat("g", 512)+`"`),
		"a number that is a number":      with("number", `5`),
		"a number of more than 64 bits":  with("number", `"0x10000000000000000"`),
		"a number of a million digits":   with("number", `"0x`+strings.Repeat("1", 1_000_000)+`"`),
		"a time after the year 9999":     with("timestamp", `"0x3afff44180"`),
		"a hash that is null":            with("hash", `null`),
		"a number that is null":          with("number", `null`),
		"a header in another header":     `{"result":` + whole + `}`,
		"the fields' names in capitals":  strings.ToUpper(whole),
		"a first field that has no name": `{` + whole[1:2] + `":1,` + whole[1:] + `,`,
	} {
		if h, err := ParseHeader(json.RawMessage(raw)); !errors.Is(err, rpc.ErrGarbage) {
			t.Errorf("%s: it gave block %d, %v; want %v", name, h.Number, err, rpc.ErrGarbage)
		}
	}
	for n := range len(whole) {
		if h, err := ParseHeader(json.RawMessage(whole[:n])); err == nil {
			t.Errorf("the first %d bytes of a header gave block %d", n, h.Number)
		}
	}
	for _, raw := range []string{``, `null`} {
		if _, err := ParseHeader(json.RawMessage(raw)); !errors.Is(err, chain.ErrNoBlock) {
			t.Errorf("%q: %v; want %v", raw, err, chain.ErrNoBlock)
		}
	}
}

// TestOnlyProvenFieldsCount tells a header's fields once more, with other values: in capitals they are nobody's, and where both names are the
// same the value that is used is the one that is hashed.
func TestOnlyProvenFieldsCount(t *testing.T) {
	t.Parallel()
	for _, r := range recordedHeaders(t) {
		want, err := ParseHeader(r.raw)
		if err != nil {
			t.Fatal(err)
		}
		more := map[string]string{
			"timestamp": `"0x1"`, "parentHash": `"0x` + strings.Repeat("ab", 32) + `"`, "logsBloom": `"0x` + strings.Repeat("00", 256) + `"`, "gasUsed": `"0x0"`,
			"transactionsRoot": noTransactions,
		}
		for name, value := range more {
			for _, said := range []string{strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:]} {
				raw := strings.TrimSuffix(strings.TrimSpace(string(r.raw)), "}") + `,"` + said + `":` + value + `}`
				got, err := ParseHeader(json.RawMessage(raw))
				if err != nil || got.Header != want.Header || *ProofOf(&got) != *ProofOf(&want) {
					t.Errorf("%s: with %s it gave %+v, %v; want %+v", r.chain, said, got, err, want)
				}
			}
			raw := strings.TrimSuffix(strings.TrimSpace(string(r.raw)), "}") + `,"` + name + `":` + value + `}`
			if got, err := ParseHeader(json.RawMessage(raw)); err != nil || ProofOf(&got).sum == want.Hash {
				t.Errorf("%s: with another %s the hash is still proven, %v", r.chain, name, err)
			}
		}
	}
}

// BenchmarkHeader reads the answer with a header, from its bytes to the hash of its fields: one without transactions, one with the hashes of
// 400, and one with 400 in full.
func BenchmarkHeader(b *testing.B) {
	var list []field
	for _, r := range recordedHeaders(b) {
		if r.chain == "ethereum" {
			list = fieldsOf(b, r.raw)
		}
	}
	at := slices.IndexFunc(list, func(f field) bool { return f.name == "transactions" })
	var txs, full, hashes []json.RawMessage
	if err := json.Unmarshal(list[at].value, &txs); err != nil {
		b.Fatal(err)
	}
	for i := range 400 {
		var tx struct{ Hash json.RawMessage }
		if err := json.Unmarshal(txs[i%len(txs)], &tx); err != nil {
			b.Fatal(err)
		}
		full, hashes = append(full, txs[i%len(txs)]), append(hashes, tx.Hash)
	}
	for _, bench := range []struct {
		name string
		txs  []json.RawMessage
	}{{"alone", []json.RawMessage{}}, {"hashes", hashes}, {"full", full}} {
		txs, err := json.Marshal(bench.txs)
		if err != nil {
			b.Fatal(err)
		}
		list[at].value = txs
		answer := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":0,"result":%s}`, written(list))
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(answer)))
			b.ReportAllocs()
			for b.Loop() {
				raw, err := rpc.ResultOf(answer)
				if err != nil {
					b.Fatal(err)
				}
				if h, err := ParseHeader(raw); err != nil || ProofOf(&h).sum != h.Hash {
					b.Fatal(h.Number, err)
				}
			}
		})
	}
}
