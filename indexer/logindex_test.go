package indexer_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// repeating stands before a node and gives the last log of each block the index of the block's first, as erigon does
// with Polygon's state synchronisation.
func (w *testWorld) repeating(t *testing.T) (url string, repeated *atomic.Int64) {
	t.Helper()
	repeated = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, w.node.URL(), bytes.NewReader(body))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = res.Body.Close() }()
		if !bytes.Contains(body, []byte(`"eth_getLogs"`)) {
			_, _ = io.Copy(rw, res.Body)
			return
		}
		var answer struct {
			Version string           `json:"jsonrpc"`
			ID      int              `json:"id"`
			Result  []map[string]any `json:"result"`
		}
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
			panic(http.ErrAbortHandler)
		}
		logs, first := answer.Result, 0
		for i := range logs {
			if logs[i]["blockNumber"] != logs[first]["blockNumber"] {
				first = i
			}
			if last := i+1 == len(logs) || logs[i+1]["blockNumber"] != logs[i]["blockNumber"]; last && i > first {
				logs[i]["logIndex"] = logs[first]["logIndex"]
				repeated.Add(1)
			}
		}
		_ = json.NewEncoder(rw).Encode(answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, repeated
}

// TestRepeatedLogIndices indexes, as the past and at the head, through a node that repeats indices: beside an honest
// node the rows are those of an honest index, and alone the node holds nothing up and loses no trade.
func TestRepeatedLogIndices(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	url, repeated := w.repeating(t)
	alone, beside := w.config(), w.config()
	alone.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
	beside.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 3}, {URL: w.node.URL(), Weight: 1}}
	stAlone, stBeside := storetest.Open(t, "sqlite"), storetest.Open(t, "sqlite")
	stopAlone, stopBeside := run(t, alone, stAlone, 0), run(t, beside, stBeside, 0)
	w.await(t, stAlone)
	w.await(t, stBeside)
	w.trade(t, 6)
	w.await(t, stAlone)
	w.await(t, stBeside)
	stopAlone()
	stopBeside()
	if repeated.Load() < 20 {
		t.Errorf("only %d indices were repeated: the test shows little", repeated.Load())
	}
	w.compare(t, stBeside, w.config())
	want, got := len(derivedRows(t, stBeside)["trades"]), len(derivedRows(t, stAlone)["trades"])
	if got != want || want == 0 {
		t.Errorf("%d trades by the node that repeats indices, %d by an honest one", got, want)
	}
}
