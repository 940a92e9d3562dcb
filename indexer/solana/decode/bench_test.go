package decode

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// voteTransaction is a vote of a validator, of which a block of the mainnet has a thousand.
var voteTransaction = json.RawMessage(`{"meta":{"computeUnitsConsumed":2100,"err":null,"fee":5000,"innerInstructions":[],"loadedAddresses":{"readonly":[],"writable":[]},` +
	`"logMessages":["Program Vote111111111111111111111111111111111111111 invoke [1]","Program Vote111111111111111111111111111111111111111 success"],` +
	`"postBalances":[64706311963,15886107809,1,1,1],"postTokenBalances":[],"preBalances":[64706316963,15886107809,1,1,1],"preTokenBalances":[],"rewards":[],"status":{"Ok":null}},` +
	`"transaction":{"message":{"accountKeys":["9EMAuLNk1h2VnXHDrNvDMLeVxpG5CVjYs8jUxZuYgYTi","8aumHXHGuPJzgXqtHTBtmn9JhV3NvEqjHUsYJXoLD6dc","Vote111111111111111111111111111111111111111"],` +
	`"header":{"numReadonlySignedAccounts":0,"numReadonlyUnsignedAccounts":1,"numRequiredSignatures":1},"instructions":[{"accounts":[1,0],` +
	`"data":"67MGmwZ1qxJPoRSZ4jEmHrLWzGyKwQFQbbf6jjZ2ZgVqM4hHYzPRBqXCZ7n4U8Ld5ZBbgvtRAqKFwZ6mp1Fn5fKKXgXGF8PCiZ7Gv5bTnBhKPeD6uXS9CRoHrT7bsJk4AqK1Dcz1g6yfiNE","programIdIndex":2,"stackHeight":1}],` +
	`"recentBlockhash":"4sGjMW1sUnHzSxGspuhpqLDx6wiyjNtZAMdL4VZHirAn"},"signatures":["5dVjcpHWkGD6Hh9VGx4Mh4FrwXVSvBXTzGVA3Pyr4MSNsAwGFwWSGdQ1FTjGnUdQYWxKkYLbMzgKAY9YfCNMFvUw"]},"version":"legacy"}`)

// benchBlock is a block of a shape as the mainnet's: of 2,500 transactions 1,000 are votes, 500 failed and 450 trade with a known program; the others are
// recorded ones that mean nothing here, but for what they do to balances.
func benchBlock(b *testing.B) []byte {
	b.Helper()
	var trades, others []json.RawMessage
	d := newDecoder(b, declared())
	for _, tx := range solanatest.Recorded(b) {
		if told(decodeOne(b, d, tx.Raw)) != nil {
			trades = append(trades, tx.Raw)
		} else {
			others = append(others, tx.Raw)
		}
	}
	var txs []json.RawMessage
	for i := range 2500 {
		switch {
		case i%5 < 2:
			txs = append(txs, voteTransaction)
		case i%5 == 2:
			txs = append(txs, failed(b, trades[i/5%len(trades)]))
		case i%5 == 3 && i%10 != 3 || i%50 >= 10 && i%5 == 4:
			txs = append(txs, trades[i%len(trades)])
		default:
			txs = append(txs, others[i%len(others)])
		}
	}
	return solanatest.Block(b, market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}, 1, txs...)
}

func failed(tb testing.TB, raw json.RawMessage) json.RawMessage {
	tb.Helper()
	var tx struct {
		Meta        map[string]any  `json:"meta"`
		Transaction json.RawMessage `json:"transaction"`
	}
	if err := json.Unmarshal(raw, &tx); err != nil {
		tb.Fatal(err)
	}
	tx.Meta["err"] = map[string]any{"InstructionError": []any{2, map[string]any{"Custom": 6001}}}
	out, err := json.Marshal(map[string]any{"meta": tx.Meta, "transaction": tx.Transaction})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// BenchmarkParseBlock reads a block of the mainnet's shape. It reports transactions per second of one core.
func BenchmarkParseBlock(b *testing.B) {
	d, raw := newDecoder(b, declared()), benchBlock(b)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		block, err := d.ParseBlock(2, raw)
		if err != nil {
			b.Fatal(err)
		}
		n += block.Transactions
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "tx/s")
}

// BenchmarkParseQuietBlock reads one whose transactions touch nothing that means anything.
func BenchmarkParseQuietBlock(b *testing.B) {
	d := newDecoder(b, declared())
	raw := solanatest.Block(b, market.Header{Hash: market.Hash{2}, Parent: market.Hash{1}, Time: 1}, 1,
		slices.Repeat([]json.RawMessage{failed(b, solanatest.Recorded(b)[0].Raw)}, 1000)...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.ParseBlock(2, raw); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseWireBlock reads the same block as Yellowstone gRPC sends it.
func BenchmarkParseWireBlock(b *testing.B) {
	d := newDecoder(b, declared())
	raw := onTheWire(b, 2, benchBlock(b))[0]
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		block, err := d.ParseWireBlock(raw)
		if err != nil {
			b.Fatal(err)
		}
		n += block.Transactions
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "tx/s")
}
