package decode

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// readLines reads a file of one JSON document per line.
func readLines[T any](t *testing.T, path string) (out []T) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d := json.NewDecoder(bufio.NewReader(f))
	for {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, v)
	}
}

// etlLog is a log in ethereum-etl's row format: numbers are decimal.
type etlLog struct {
	Index     uint64   `json:"log_index"`
	TxHash    string   `json:"transaction_hash"`
	TxIndex   uint64   `json:"transaction_index"`
	Address   string   `json:"address"`
	Data      string   `json:"data"`
	Topics    []string `json:"topics"`
	Block     uint64   `json:"block_number"`
	Time      uint64   `json:"block_timestamp"`
	BlockHash string   `json:"block_hash"`
}

// wireLog is a log as a node reports it.
type wireLog struct {
	Address   string   `json:"address"`
	Topics    []string `json:"topics"`
	Data      string   `json:"data"`
	Block     string   `json:"blockNumber"`
	TxHash    string   `json:"transactionHash"`
	TxIndex   string   `json:"transactionIndex"`
	BlockHash string   `json:"blockHash"`
	Index     string   `json:"logIndex"`
	Time      string   `json:"blockTimestamp,omitempty"`
	Removed   bool     `json:"removed"`
}

func (l *etlLog) wire() wireLog {
	topics := l.Topics
	if topics == nil {
		topics = []string{}
	}
	return wireLog{
		Address: l.Address, Topics: topics, Data: l.Data, Block: rpc.HexQuantity(l.Block), TxHash: l.TxHash,
		TxIndex: rpc.HexQuantity(l.TxIndex), BlockHash: l.BlockHash, Index: rpc.HexQuantity(l.Index), Time: rpc.HexQuantity(l.Time),
	}
}

const twoBlocks = "evm-blocks/ethereum-17173049-17173050"

// TestRecordedBlocks decodes two whole blocks. Their transfers were listed by ethereum-etl, their swaps by the
// recordings' own decoder.
func TestRecordedBlocks(t *testing.T) {
	t.Parallel()
	var want struct {
		Logs      int `json:"log_count"`
		Transfers int `json:"token_transfer_rows_by_ethereum_etl"`
		Swaps     int `json:"swap_count"`
		ByTx      []struct {
			Tx    string     `json:"tx"`
			Swaps []wantSwap `json:"swaps"`
		} `json:"swaps_by_tx"`
	}
	readJSON(t, recorded.Path(t, twoBlocks, "expected.json"), &want)
	rows := readLines[etlLog](t, recorded.Path(t, twoBlocks, "expected_logs.json"))
	if len(rows) != want.Logs || want.Logs < 681 || want.Swaps < 79 {
		t.Fatalf("%d logs, want %d and at least 681; %d swaps, want at least 79", len(rows), want.Logs, want.Swaps)
	}
	wire := make([]wireLog, len(rows))
	for i := range rows {
		wire[i] = rows[i].wire()
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "result": wire})
	if err != nil {
		t.Fatal(err)
	}
	logs, err := ParseLogs(body)
	if err != nil {
		t.Fatal(err)
	}
	d := testDecoder(t, "ethereum")
	byTx := map[string][]market.Log{}
	for i := 0; i < len(logs); {
		j := i
		for j < len(logs) && logs[j].Block == logs[i].Block {
			j++
		}
		b := d.Block(market.Header{Number: logs[i].Block, Time: logs[i].BlockTime}, logs[i:j])
		for _, tx := range b.Txs {
			if _, again := byTx[tx.ID.String()]; again {
				t.Errorf("transaction %s was decoded twice", tx.ID)
			}
			byTx[tx.ID.String()] = tx.Logs
		}
		i = j
	}
	swaps := 0
	for _, w := range want.ByTx {
		compareSwaps(t, w.Swaps, byTx[w.Tx])
		swaps += len(w.Swaps)
	}
	got := 0
	for _, l := range byTx {
		got += len(swapsOf(l))
	}
	if swaps != want.Swaps || got != want.Swaps {
		t.Errorf("%d swaps compared and %d decoded, want %d", swaps, got, want.Swaps)
	}
	compareTransfers(t, rows, byTx, want.Transfers)
}

// compareTransfers holds every ERC-20 transfer against ethereum-etl's. Its rows of ERC-721 transfers, which have four
// topics, are the ones that must not be decoded.
func compareTransfers(t *testing.T, rows []etlLog, byTx map[string][]market.Log, total int) {
	t.Helper()
	type key struct {
		tx    string
		index uint32
	}
	topics := map[key]int{}
	for i := range rows {
		topics[key{rows[i].TxHash, uint32(rows[i].Index)}] = len(rows[i].Topics)
	}
	got := map[key]market.Transfer{}
	for tx, logs := range byTx {
		for _, l := range logs {
			if e, ok := l.Event.(market.Transfer); ok {
				got[key{tx, uint32(l.Index)}] = e
			}
		}
	}
	type etlTransfer struct {
		Token string      `json:"token_address"`
		From  string      `json:"from_address"`
		To    string      `json:"to_address"`
		Value json.Number `json:"value"`
		Tx    string      `json:"transaction_hash"`
		Index uint32      `json:"log_index"`
	}
	want := readLines[etlTransfer](t, recorded.Path(t, twoBlocks, "expected_token_transfers.json"))
	if len(want) != total || total < 291 {
		t.Fatalf("%d recorded transfers, want %d and at least 291", len(want), total)
	}
	nfts := 0
	for _, w := range want {
		k := key{w.Tx, w.Index}
		e, ok := got[k]
		if topics[k] == 4 {
			nfts++
			if ok {
				t.Errorf("%s log %d: an ERC-721 transfer was decoded as ERC-20", w.Tx, w.Index)
			}
			continue
		}
		for _, party := range []*string{&w.From, &w.To} {
			*party = strings.TrimPrefix(*party, market.Native.String()) // nobody
		}
		if !ok || e.Token.String() != w.Token || e.From.String() != w.From || e.To.String() != w.To || e.Amount.Dec() != w.Value.String() {
			t.Errorf("%s log %d: got %+v, want %+v", w.Tx, w.Index, e, w)
		}
		delete(got, k)
	}
	for k, e := range got {
		t.Errorf("%s log %d: %+v, which ethereum-etl does not list", k.tx, k.index, e)
	}
	t.Logf("%d transfers compared, %d of them ERC-721", len(want), nfts)
}
