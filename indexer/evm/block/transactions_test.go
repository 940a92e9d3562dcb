package block

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// plainTx is a transaction that encoding/json reads.
type plainTx struct {
	Hash, From, Value, Nonce string
	To                       *string
}

func bigOf(tb testing.TB, text string) *big.Int {
	tb.Helper()
	n, ok := new(big.Int).SetString(text, 0)
	if !ok {
		tb.Fatalf("%q is no number", text)
	}
	return n
}

func amountOf(tb testing.TB, n *big.Int) (a market.Amount) {
	tb.Helper()
	if a.SetFromBig(n) {
		tb.Fatalf("%s has more than 256 bits", n)
	}
	return a
}

// party is an account, none for the zero address.
func party(text string) market.Address {
	if a := markettest.Address(text); a != market.Native {
		return a
	}
	return market.Address{}
}

// wantTransactions holds what was read against what encoding/json reads.
func wantTransactions(tb testing.TB, h *chain.Header, body *Transactions, txs []plainTx) {
	tb.Helper()
	if !body.Told || len(body.sent) != len(txs) {
		tb.Fatalf("block %d: read %+v of %d transactions", h.Number, body, len(txs))
	}
	var payments []market.Payment
	for _, tx := range txs {
		hash, err := market.ParseHash(tx.Hash)
		if err != nil {
			tb.Fatal(err)
		}
		got := body.find(hash)
		if got == nil || got.from != party(tx.From) || got.nonce != bigOf(tb, tx.Nonce).Uint64() {
			tb.Errorf("transaction %s is from %s with nonce %s, read as %+v", tx.Hash, tx.From, tx.Nonce, got)
		}
		if value := bigOf(tb, tx.Value); value.Sign() > 0 && tx.To != nil {
			payments = append(payments, market.Payment{From: party(tx.From), To: party(*tx.To), Amount: amountOf(tb, value)})
		}
	}
	if !slices.Equal(body.payments, payments) {
		tb.Errorf("block %d: payments are %v, want %v", h.Number, body.payments, payments)
	}
}

// TestRecordedTransactions holds what is read of each recorded block against what encoding/json reads. A block with hashes alone is read without.
func TestRecordedTransactions(t *testing.T) {
	t.Parallel()
	read, without := 0, 0
	for _, r := range recordedHeaders(t) {
		h, body, err := Parse(r.raw)
		if err != nil {
			t.Fatal(err)
		}
		var block struct{ Transactions []json.RawMessage }
		if err := json.Unmarshal(r.raw, &block); err != nil {
			t.Fatal(err)
		}
		if block.Transactions[0][0] == '"' {
			if body.Told || body.payments != nil || body.sent != nil {
				t.Errorf("%s: block %d has hashes alone, and was read with %+v", r.chain, h.Number, body)
			}
			without++
			continue
		}
		txs := make([]plainTx, len(block.Transactions))
		for i := range txs {
			if err := json.Unmarshal(block.Transactions[i], &txs[i]); err != nil {
				t.Fatal(err)
			}
		}
		wantTransactions(t, &h, &body, txs)
		read++
	}
	if read < 15 || without == 0 {
		t.Errorf("%d blocks have transactions, %d hashes alone: want at least 15 and 1", read, without)
	}
}

// lines reads a recording with a JSON value in each line.
func lines[T any](t *testing.T, name string) (list []T) {
	t.Helper()
	f, err := os.Open(recorded.Path(t, "evm-blocks", "ethereum-17173049-17173050", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		var v T
		d := json.NewDecoder(bytes.NewReader(s.Bytes()))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return list
}

// TestTransactionsOfWholeBlocks writes two whole blocks of Ethereum, of which ethereum-etl recorded the transactions and logs, as a node answers
// them, and holds what a block gets against ethereum-etl's rows: each log's transaction has its sender and nonce.
func TestTransactionsOfWholeBlocks(t *testing.T) {
	t.Parallel()
	type row struct {
		Hash     string      `json:"hash"`
		From     string      `json:"from_address"`
		To       *string     `json:"to_address"`
		Input    string      `json:"input"`
		Block    uint64      `json:"block_number"`
		In       string      `json:"block_hash"`
		Nonce    json.Number `json:"nonce"`
		Value    json.Number `json:"value"`
		LogsTx   string      `json:"transaction_hash"`
		LogIndex uint32      `json:"log_index"`
	}
	blocks := map[uint64][]row{}
	for _, r := range lines[row](t, "expected_transactions.json") {
		blocks[r.Block] = append(blocks[r.Block], r)
	}
	logs := lines[row](t, "expected_logs.json")
	paid, sent := 0, 0
	for block, rows := range blocks {
		var list []string
		var txs []plainTx
		for _, r := range rows {
			tx := plainTx{r.Hash, r.From, "0x" + bigOf(t, r.Value.String()).Text(16), "0x" + bigOf(t, r.Nonce.String()).Text(16), r.To}
			to := "null"
			if r.To != nil {
				to = `"` + *r.To + `"`
			}
			txs = append(txs, tx)
			list = append(list, fmt.Sprintf(`{"blockHash":%q,"from":%q,"input":%q,"nonce":%q,"to":%s,"hash":%q,"value":%q,"type":"0x2"}`,
				r.In, r.From, r.Input, tx.Nonce, to, r.Hash, tx.Value))
		}
		h, body, err := Parse(json.RawMessage(blocktest.Block(block, rows[0].In, strings.Join(list, ","))))
		if err != nil {
			t.Fatal(err)
		}
		wantTransactions(t, &h, &body, txs)
		out := market.Block{Header: h.Header}
		for _, l := range logs {
			hash, err := market.ParseHash(l.LogsTx)
			if err != nil {
				t.Fatal(err)
			}
			if l.Block != block {
				continue
			}
			if !body.Has(hash) {
				t.Errorf("block %d is read without the transaction %s", block, hash)
			}
			if id := market.EVMTx(hash); len(out.Txs) == 0 || out.Txs[len(out.Txs)-1].ID != id {
				out.Txs = append(out.Txs, market.Tx{ID: id})
			}
		}
		body.AddTo(&out)
		if !out.HasPayments {
			t.Errorf("block %d is read without its transactions", block)
		}
		for _, tx := range out.Txs {
			at := slices.IndexFunc(rows, func(r row) bool { return r.Hash == tx.ID.String() })
			if tx.Sender != party(rows[at].From) || tx.Nonce != bigOf(t, rows[at].Nonce.String()).Uint64() {
				t.Errorf("%s is from %s with nonce %s, and has %s and %d", tx.ID, rows[at].From, rows[at].Nonce, tx.Sender, tx.Nonce)
			}
		}
		paid, sent = paid+len(out.Payments), sent+len(out.Txs)
	}
	t.Logf("%d transactions with logs, %d payments", sent, paid)
	if paid < 50 || sent < 50 {
		t.Errorf("%d transactions with logs and %d payments were compared, want at least 50 of each", sent, paid)
	}
}

// TestUnreadableTransactions reads lists that no honest node tells: they are garbage, while the header alone is read.
func TestUnreadableTransactions(t *testing.T) {
	t.Parallel()
	without := func(name string) string {
		list := slices.DeleteFunc(fieldsOf(t, []byte(blocktest.Transaction(1, ""))), func(f field) bool { return f.name == name })
		return string(written(list))
	}
	for name, list := range map[string]string{
		"no hash":                       without("hash"),
		"no sender":                     without("from"),
		"no recipient":                  without("to"),
		"no value":                      without("value"),
		"no nonce":                      without("nonce"),
		"a hash and a transaction":      `"` + blocktest.Hash(1) + `",` + blocktest.Transaction(2, ""),
		"a transaction and a hash":      blocktest.Transaction(2, "") + `,"` + blocktest.Hash(1) + `"`,
		"null in place of one":          `null`,
		"a number in place of one":      `5`,
		"a list in place of one":        `[]`,
		"the same hash twice":           blocktest.Transaction(1, "") + "," + blocktest.Transaction(2, "") + "," + blocktest.Transaction(1, ""),
		"a hash that is too short":      blocktest.Transaction(1, `,"hash":"0x12"`),
		"a hash that is null":           blocktest.Transaction(1, `,"hash":null`),
		"a sender that is null":         blocktest.Transaction(1, `,"from":null`),
		"a sender of 21 bytes":          blocktest.Transaction(1, `,"from":"0x`+strings.Repeat("1", 42)+`"`),
		"a sender of other letters":     blocktest.Transaction(1, `,"from":"0x`+strings.Repeat("g", 40)+`"`),
		"a sender with escapes":         blocktest.Transaction(1, `,"from":"\u0030x`+strings.Repeat("1", 35)+`"`),
		"a recipient that is empty":     blocktest.Transaction(1, `,"to":""`),
		"a recipient that is a number":  blocktest.Transaction(1, `,"to":2`),
		"a value that is a number":      blocktest.Transaction(1, `,"value":5`),
		"a value that is null":          blocktest.Transaction(1, `,"value":null`),
		"a value of 2^256":              blocktest.Transaction(1, `,"value":"0x1`+strings.Repeat("0", 64)+`"`),
		"a value below zero":            blocktest.Transaction(1, `,"value":"-0x5"`),
		"a value without digits":        blocktest.Transaction(1, `,"value":"0x"`),
		"a value of a million digits":   blocktest.Transaction(1, `,"value":"0x`+strings.Repeat("1", 1_000_000)+`"`),
		"a nonce of 2^64":               blocktest.Transaction(1, `,"nonce":"0x10000000000000000"`),
		"a nonce that is null":          blocktest.Transaction(1, `,"nonce":null`),
		"the block's hash of another":   blocktest.Transaction(1, `,"blockHash":"`+blocktest.Hash(99)+`"`),
		"the hashes of two blocks":      blocktest.Transaction(1, `,"blockHash":"`+blocktest.Hash(99)+`"`) + "," + blocktest.Transaction(2, `,"blockHash":"`+blocktest.Hash(5)+`"`),
		"a block's hash that is short":  blocktest.Transaction(1, `,"blockHash":"0x5"`),
		"the fields' names in capitals": strings.ToUpper(blocktest.Transaction(1, "")),
		"a field's name with escapes":   strings.Replace(blocktest.Transaction(1, ""), `"from"`, `"fr\u006fm"`, 1),
	} {
		raw := json.RawMessage(blocktest.Block(5, blocktest.Hash(5), list))
		if _, body, err := Parse(raw); !errors.Is(err, ErrTransactions) || !errors.Is(err, rpc.ErrGarbage) || body.Told || body.Omitted || body.sent != nil {
			t.Errorf("%s: it gave %+v, %v; want %v", name, body, err, ErrTransactions)
		}
		if h, err := ParseHeader(raw); err != nil || h.Number != 5 {
			t.Errorf("%s: the header alone gave block %d, %v", name, h.Number, err)
		}
	}
	for name, list := range map[string]string{"a text": `"x"`, "a number": `5`, "an object": `{}`} {
		raw := strings.Replace(blocktest.Block(5, blocktest.Hash(5), ""), `"transactions":[]`, `"transactions":`+list, 1)
		if _, _, err := Parse(json.RawMessage(raw)); !errors.Is(err, ErrTransactions) {
			t.Errorf("%s in place of the list: %v", name, err)
		}
	}
	for _, raw := range []string{"", "null"} {
		if _, _, err := Parse(json.RawMessage(raw)); !errors.Is(err, chain.ErrNoBlock) {
			t.Errorf("%q: %v", raw, err)
		}
	}
	if _, _, err := Parse(json.RawMessage(`{"transactions":[]}`)); !errors.Is(err, rpc.ErrGarbage) || errors.Is(err, ErrTransactions) {
		t.Errorf("a block without a header: %v", err)
	}
}

// TestReadableTransactions reads lists at the edges of what is allowed.
func TestReadableTransactions(t *testing.T) {
	t.Parallel()
	pays := market.Payment{From: markettest.Address(blocktest.Address(1)), To: markettest.Address(blocktest.Address(2)), Amount: *new(market.Amount).SetUint64(5)}
	most := pays
	most.Amount.SetAllOne()
	for name, tt := range map[string]struct {
		list string
		want []market.Payment
		sent int
	}{
		"none":                             {"", nil, 0},
		"a payment":                        {blocktest.Transaction(1, ""), []market.Payment{pays}, 1},
		"of two values the last counts":    {blocktest.Transaction(1, `,"value":"0x0"`), nil, 1},
		"of two recipients the last":       {blocktest.Transaction(1, `,"to":null`), nil, 1},
		"a recipient after null":           {blocktest.Transaction(1, `,"to":null,"to":"`+blocktest.Address(2)+`"`), []market.Payment{pays}, 1},
		"names in capitals are nobody's":   {blocktest.Transaction(1, `,"Value":"0x9","FROM":7`), []market.Payment{pays}, 1},
		"the greatest value":               {blocktest.Transaction(1, `,"value":"0x`+strings.Repeat("f", 64)+`"`), []market.Payment{most}, 1},
		"zeros before the value":           {blocktest.Transaction(1, `,"value":"0x`+strings.Repeat("0", 63)+`5"`), []market.Payment{pays}, 1},
		"the greatest nonce":               {blocktest.Transaction(1, `,"nonce":"0xffffffffffffffff"`), []market.Payment{pays}, 1},
		"of this block":                    {blocktest.Transaction(1, `,"blockHash":"`+blocktest.Hash(5)+`"`), []market.Payment{pays}, 1},
		"of a block that isn't told":       {blocktest.Transaction(1, `,"blockHash":null`), []market.Payment{pays}, 1},
		"a sender that is the zero one":    {blocktest.Transaction(1, `,"from":"`+blocktest.Address(0)+`"`), []market.Payment{{To: pays.To, Amount: pays.Amount}}, 1},
		"many fields that nobody knows":    {blocktest.Transaction(1, `,"input":"0x`+strings.Repeat("ab", 100_000)+`","accessList":[{"storageKeys":[]}]`), []market.Payment{pays}, 1},
		"two, in the order of the list":    {blocktest.Transaction(9, `,"value":"0x`+strings.Repeat("f", 64)+`"`) + "," + blocktest.Transaction(1, ""), []market.Payment{most, pays}, 2},
		"spaces and other orders of field": {` { "nonce":"0x7", "value" : "0x5","to":"` + blocktest.Address(2) + `","from":"` + blocktest.Address(1) + `","hash":"` + blocktest.Hash(1) + `"} `, []market.Payment{pays}, 1},
	} {
		_, body, err := Parse(json.RawMessage(blocktest.Block(5, blocktest.Hash(5), tt.list)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !body.Told || !slices.Equal(body.payments, tt.want) || len(body.sent) != tt.sent {
			t.Errorf("%s: it gave %+v, want %v", name, body, tt.want)
		}
	}
	withList := func(list string) string {
		return strings.Replace(blocktest.Block(5, blocktest.Hash(5), ""), `"transactions":[]`, list, 1)
	}
	for name, raw := range map[string]string{
		"hashes alone":                          blocktest.Block(5, blocktest.Hash(5), `"`+blocktest.Hash(1)+`","`+blocktest.Hash(2)+`"`),
		"no list":                               withList(`"x":1`),
		"null":                                  withList(`"transactions":null`),
		"null after a list":                     withList(`"transactions":[` + blocktest.Transaction(1, "") + `],"transactions":null`),
		"none, where the header says there are": withList(`"transactions":[],"transactionsRoot":"` + blocktest.Hash(1) + `"`),
		"some, where the header says that none are": withList(`"transactions":[` + blocktest.Transaction(1, "") + `],"transactionsRoot":` + noTransactions),
	} {
		_, body, err := Parse(json.RawMessage(raw))
		if err != nil || body.Told || body.sent != nil {
			t.Errorf("%s: it gave %+v, %v; want a block that is read without transactions", name, body, err)
		}
	}
	raw := withList(`"transactions":["` + blocktest.Hash(1) + `"],"transactions":[` + blocktest.Transaction(1, "") + `]`)
	if _, body, err := Parse(json.RawMessage(raw)); err != nil || !body.Told {
		t.Errorf("of two lists the last counts: %+v, %v", body, err)
	}
}

// TestSoManyTransactions reads as many payments and transactions as are kept, and one more.
func TestSoManyTransactions(t *testing.T) {
	t.Parallel()
	list := func(n int, more string) string {
		out := make([]string, n)
		for i := range out {
			out[i] = blocktest.Transaction(i+1, fmt.Sprintf(`,"nonce":"0x%x"`, i)+more)
		}
		return strings.Join(out, ",")
	}
	for _, tt := range []struct{ txs, payments int }{
		{maxPayments - 1, maxPayments - 1}, {maxPayments, maxPayments}, {maxPayments + 1, maxPayments}, {maxTransactions, maxPayments},
	} {
		_, body, err := Parse(json.RawMessage(blocktest.Block(5, blocktest.Hash(5), list(tt.txs, ""))))
		if err != nil {
			t.Fatal(err)
		}
		if !body.Told || len(body.payments) != tt.payments || len(body.sent) != tt.txs || body.sent[tt.txs-1].nonce != uint64(tt.txs-1) {
			t.Errorf("%d transactions gave %d with %d payments, want %d payments", tt.txs, len(body.sent), len(body.payments), tt.payments)
		}
	}
	_, body, err := Parse(json.RawMessage(blocktest.Block(5, blocktest.Hash(5), list(maxTransactions+1, ""))))
	if err != nil || body.Told {
		t.Errorf("a block with a transaction too many is read with them, %v", err)
	}
}

// TestReadTransactionsOutliveTheAnswer overwrites an answer after it was read.
func TestReadTransactionsOutliveTheAnswer(t *testing.T) {
	t.Parallel()
	raw := []byte(blocktest.Block(5, blocktest.Hash(5), blocktest.Transaction(1, "")+","+blocktest.Transaction(2, "")))
	_, a, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	_, b, err := Parse(bytes.Clone(raw))
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		raw[i] = 'x'
	}
	if !slices.Equal(a.payments, b.payments) || !slices.Equal(a.sent, b.sent) {
		t.Errorf("what was read changed with the answer: %+v, want %+v", a, b)
	}
}

// FuzzTransactions reads blocks with transactions: reading never panics, an unreadable list is garbage, what is kept is bounded, and the header is
// the same as without them.
func FuzzTransactions(f *testing.F) {
	for _, r := range recordedHeaders(f) {
		if len(r.raw) < 20_000 {
			f.Add([]byte(r.raw))
		}
	}
	f.Add([]byte(blocktest.Block(5, blocktest.Hash(5), blocktest.Transaction(1, "")+","+blocktest.Transaction(2, ""))))
	f.Add([]byte(blocktest.Block(5, blocktest.Hash(5), blocktest.Transaction(1, "")+","+blocktest.Transaction(1, ""))))
	f.Add([]byte(blocktest.Block(5, blocktest.Hash(5), `"`+blocktest.Hash(1)+`"`)))
	f.Add([]byte(blocktest.Block(5, blocktest.Hash(5), blocktest.Transaction(1, `,"to":null,"blockHash":"`+blocktest.Hash(4)+`"`))))
	f.Add([]byte(`{"transactions":[{"hash":"\"}"}],"transactions":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, body, err := Parse(raw)
		alone, aloneErr := ParseHeader(raw)
		if err != nil {
			if errors.Is(err, ErrTransactions) != (aloneErr == nil) {
				t.Fatalf("with transactions %v, the header alone %v: %s", err, aloneErr, raw)
			}
			if !errors.Is(err, rpc.ErrGarbage) && !errors.Is(err, chain.ErrNoBlock) {
				t.Fatalf("%v is no error of a node: %s", err, raw)
			}
			return
		}
		if aloneErr != nil || h.Header != alone.Header || ProofOf(&h).sum != ProofOf(&alone).sum {
			t.Fatalf("with transactions %+v, alone %+v, %v: %s", h, alone, aloneErr, raw)
		}
		if len(body.payments) > maxPayments || len(body.payments) > len(body.sent) || len(body.sent) > maxTransactions || !body.Told && body.sent != nil {
			t.Fatalf("%d payments of %d transactions, told %t: %s", len(body.payments), len(body.sent), body.Told, raw)
		}
		for i := range body.sent {
			if got := body.find(body.sent[i].hash); got != &body.sent[i] {
				t.Fatalf("transaction %s isn't found: %s", body.sent[i].hash, raw)
			}
		}
		for _, p := range body.payments {
			if p.Amount.IsZero() {
				t.Fatalf("a payment of nothing: %s", raw)
			}
		}
	})
}

// BenchmarkBlock reads the answer with a block of 400 transactions, by its header alone and with the transactions.
func BenchmarkBlock(b *testing.B) {
	var list []field
	for _, r := range recordedHeaders(b) {
		if r.chain == "ethereum" {
			list = fieldsOf(b, r.raw)
		}
	}
	at := slices.IndexFunc(list, func(f field) bool { return f.name == "transactions" })
	var txs []map[string]any
	if err := json.Unmarshal(list[at].value, &txs); err != nil {
		b.Fatal(err)
	}
	var all []json.RawMessage
	for i := range 400 {
		tx := txs[i%len(txs)]
		tx["hash"] = blocktest.Hash(i + 1)
		raw, err := json.Marshal(tx)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, raw)
	}
	value, err := json.Marshal(all)
	if err != nil {
		b.Fatal(err)
	}
	list[at].value = value
	answer := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":0,"result":%s}`, written(list))
	whole := func(raw json.RawMessage) (chain.Header, error) {
		h, _, err := Parse(raw)
		return h, err
	}
	for name, parse := range map[string]func(json.RawMessage) (chain.Header, error){"header": ParseHeader, "transactions": whole} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(answer)))
			b.ReportAllocs()
			for b.Loop() {
				raw, err := rpc.ResultOf(answer)
				if err != nil {
					b.Fatal(err)
				}
				if h, err := parse(raw); err != nil {
					b.Fatal(h.Number, err)
				}
			}
		})
	}
}

// TestFirstTransactions reads the first transactions of accounts: those of Arbitrum Nitro's own types are none, nor are two of one account.
func TestFirstTransactions(t *testing.T) {
	t.Parallel()
	first := func(hash, from int, more string) string {
		return blocktest.Transaction(hash, fmt.Sprintf(`,"nonce":"0x0","from":%q`, blocktest.Address(from))+more)
	}
	other := blocktest.Transaction(9, "")
	for name, tt := range map[string]struct {
		list string
		want []int
		// told says that the sender and nonce of the transaction 1 are told.
		told bool
	}{
		"one":                           {first(1, 5, ""), []int{5}, true},
		"with nonce 1":                  {first(1, 5, `,"nonce":"0x1"`), nil, true},
		"an OP deposit":                 {first(1, 5, `,"type":"0x7e"`), []int{5}, true},
		"a legacy one":                  {first(1, 5, `,"type":"0x0"`), []int{5}, true},
		"the type before Nitro's":       {first(1, 5, `,"type":"0x63"`), []int{5}, true},
		"a Nitro deposit":               {first(1, 5, `,"type":"0x64"`), nil, false},
		"a Nitro unsigned one":          {first(1, 5, `,"type":"0x65"`), nil, false},
		"a Nitro contract's":            {first(1, 5, `,"type":"0x66"`), nil, false},
		"a Nitro retry":                 {first(1, 5, `,"type":"0x68"`), nil, false},
		"a Nitro retryable one":         {first(1, 5, `,"type":"0x69"`), nil, false},
		"a Nitro internal one":          {first(1, 5, `,"type":"0x6a"`), nil, false},
		"in capitals":                   {first(1, 5, `,"type":"0x6A"`), nil, false},
		"the type after Nitro's":        {first(1, 5, `,"type":"0x6b"`), []int{5}, true},
		"of two types the last counts":  {first(1, 5, `,"type":"0x6a","type":"0x2"`), []int{5}, true},
		"a type that is null":           {first(1, 5, `,"type":null`), []int{5}, true},
		"a type that is a number":       {first(1, 5, `,"type":106`), []int{5}, true},
		"a type that is a word":         {first(1, 5, `,"type":"legacy"`), []int{5}, true},
		"a type that is an object":      {first(1, 5, `,"type":{"a":[1]}`), []int{5}, true},
		"a type of 2^64":                {first(1, 5, `,"type":"0x10000000000000000"`), []int{5}, true},
		"no type":                       {strings.ReplaceAll(first(1, 5, ""), `,"type":"0x7e"`, ""), []int{5}, true},
		"two accounts, in their order":  {first(2, 6, "") + "," + first(1, 5, ""), []int{6, 5}, true},
		"two of one account":            {first(1, 5, "") + "," + first(2, 5, ""), nil, false},
		"two of one, one of another":    {first(1, 5, "") + "," + first(2, 6, "") + "," + first(3, 5, ""), []int{6}, false},
		"three of one":                  {first(1, 5, "") + "," + first(2, 5, "") + "," + first(3, 5, ""), nil, false},
		"one, and a second transaction": {first(1, 5, "") + "," + first(2, 5, `,"nonce":"0x1"`), []int{5}, true},
		"one, and Nitro's of it":        {first(1, 5, "") + "," + first(2, 5, `,"type":"0x69"`), []int{5}, true},
		"two of the zero address":       {first(1, 0, "") + "," + first(2, 0, ""), nil, false},
	} {
		_, body, err := Parse(json.RawMessage(blocktest.Block(5, blocktest.Hash(5), tt.list+","+other)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var want []market.Address
		for _, account := range tt.want {
			want = append(want, markettest.Address(blocktest.Address(account)))
		}
		hash := market.Hash{31: 1}
		b := market.Block{Txs: []market.Tx{{ID: market.EVMTx(hash)}}}
		body.AddTo(&b)
		if !body.Has(hash) || !b.HasPayments || !slices.Equal(b.Firsts, want) {
			t.Errorf("%s: the first transactions are those of %v, want %v", name, b.Firsts, want)
		}
		if tx := b.Txs[0]; tx.Sender.IsNone() == tt.told || !tt.told && tx.Nonce != 0 {
			t.Errorf("%s: the sender is %s with nonce %d; want that they are told: %t", name, tx.Sender, tx.Nonce, tt.told)
		}
	}
}

// TestDepositsThatPay: a rollup's deposit is a payment if it mints what it pays. Others are in their blocks whether their senders have the coins or not.
func TestDepositsThatPay(t *testing.T) {
	t.Parallel()
	for more, counts := range map[string]bool{
		`,"type":"0x7e","mint":"0x5"`: true, `,"type":"0x7e","mint":"0x6"`: true, `,"mint":"0x5","type":"0x7e"`: true,
		`,"type":"0x7e","mint":"0x4"`: false, `,"type":"0x7e"`: false, `,"type":"0x7e","mint":null`: false, `,"type":"0x7e","mint":"much"`: false, `,"type":"0x7e","mint":5`: false,
		`,"type":"0x2"`: true, `,"type":"0x2","mint":"0x0"`: true, `,"type":"0x7d"`: true, `,"type":"0x7f"`: true,
	} {
		_, body, err := Parse(json.RawMessage(blocktest.Block(5, blocktest.Hash(5), blocktest.Transaction(1, more))))
		if err != nil {
			t.Errorf("%s: %v", more, err)
			continue
		}
		if (len(body.payments) == 1) != counts || len(body.sent) != 1 {
			t.Errorf("%s: there are the payments %v; one counts: %t", more, body.payments, counts)
		}
	}
}
