package evm

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// TestHeadersWithoutAHash reads headers from a node that says a hash of zeros.
func TestHeadersWithoutAHash(t *testing.T) {
	t.Parallel()
	hash := regexp.MustCompile(`"hash":"0x[0-9a-f]{64}"`)
	node := newFakeNode(t, func(_ string, params []json.RawMessage) (string, string) {
		number, err := rpc.ParseQuantity(params[0])
		if err != nil {
			t.Error(err)
		}
		return hash.ReplaceAllString(headerOf(number, true, "5208"), `"hash":"0x`+strings.Repeat("0", 64)+`"`), ""
	})
	got, err := sourceOf(t, time.Now, node.URL).Headers(t.Context(), market.Header{}, 5, 6)
	if !errors.Is(err, rpc.ErrGarbage) {
		t.Errorf("it gave %+v, %v; want an error", got, err)
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
		h, err := parseHeader(answer.Result)
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
			if bytes.Contains(answer.Result, []byte("logsBloom")) && logs[i].NumTopics > 0 && !proofOf(&h).mayHold(logs[i].Topics[:1]) {
				t.Errorf("%s: the bloom denies topic %x, which log %d has", path, logs[i].Topics[0], logs[i].Index)
			}
		}
	}
	if read < 20 {
		t.Errorf("%d recorded headers were read, want at least 20", read)
	}
}

func readRecorded(t *testing.T, path string, v any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
