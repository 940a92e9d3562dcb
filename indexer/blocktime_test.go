package indexer_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// falseClock passes a real node's answers on, with other times in the blocks.
type falseClock struct {
	node string
	time func(number, at uint64) uint64
	told atomic.Int64 // false times
}

func (f *falseClock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, f.node, r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if bytes.HasPrefix(answer, []byte("[")) {
		var list []json.RawMessage
		if json.Unmarshal(answer, &list) == nil {
			for i := range list {
				list[i] = f.block(list[i])
			}
			answer, _ = json.Marshal(list)
		}
	} else {
		answer = f.block(answer)
	}
	_, _ = w.Write(answer)
}

// block changes an answer that is a block.
func (f *falseClock) block(answer json.RawMessage) json.RawMessage {
	var a map[string]json.RawMessage
	var b map[string]json.RawMessage
	if json.Unmarshal(answer, &a) != nil || json.Unmarshal(a["result"], &b) != nil || b["timestamp"] == nil || b["number"] == nil {
		return answer
	}
	quantity := func(name string) uint64 {
		var text string
		_ = json.Unmarshal(b[name], &text)
		n, _ := strconv.ParseUint(text, 0, 64)
		return n
	}
	was := quantity("timestamp")
	is := f.time(quantity("number"), was)
	if is == was {
		return answer
	}
	f.told.Add(1)
	b["timestamp"] = json.RawMessage(`"0x` + strconv.FormatUint(is, 16) + `"`)
	a["result"], _ = json.Marshal(b)
	out, _ := json.Marshal(a)
	return out
}

// TestFalseBlockTimes indexes with retention through an honest node and one whose blocks have times that can't be: the
// other is asked, and every trade and time is that of an index made through the honest one alone.
func TestFalseBlockTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 80)
	for name, lie := range map[string]func(number, at uint64) uint64{
		"far ahead":         func(_, _ uint64) uint64 { return 253402300799 },
		"20 minutes ahead":  func(_, _ uint64) uint64 { return uint64(time.Now().Add(20 * time.Minute).Unix()) },
		"before the parent": func(number, at uint64) uint64 { return at * (number % 2) },
	} {
		t.Run(name, func(t *testing.T) {
			f := &falseClock{node: w.node.URL(), time: lie}
			s := httptest.NewServer(f)
			t.Cleanup(s.Close)
			honest := w.config()
			keep := chainconfig.Duration(26 * time.Hour)
			honest.Retention = chainconfig.Retention{Trades: keep, MinuteCandles: keep}
			cfg := *honest
			cfg.Endpoints = []chainconfig.Endpoint{{URL: s.URL, Weight: 3}, {URL: w.node.URL(), Weight: 1}}
			var c clock
			st, fresh := storetest.Open(t, "sqlite"), storetest.Open(t, "sqlite")
			_, stop := startAt(t, &c, &cfg, st)
			for range 5 {
				w.trade(t, 2)
				w.await(t, st)
				c.ahead.Add(int64(10 * time.Second)) // the final block is asked for again
			}
			w.awaitPruned(t, st, time.Duration(keep))
			stop()
			_, stop = startAt(t, &c, honest, fresh)
			w.await(t, fresh)
			w.awaitPruned(t, fresh, time.Duration(keep))
			stop()
			if f.told.Load() == 0 {
				t.Error("no false time was told: the test shows nothing")
			}
			got := all[market.Trade](t)(st.Inspect.Trades(t.Context(), "base", 0, 0))
			want := all[market.Trade](t)(fresh.Inspect.Trades(t.Context(), "base", 0, 0))
			differ := 0
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i].Tx != want[i].Tx || got[i].Time != want[i].Time {
					differ++
				}
			}
			if differ > 0 {
				t.Errorf("%d trades are missing or have another time (%d trades, a fresh index has %d)", differ, len(got), len(want))
			}
		})
	}
}

// TestOneFalseTimeStopsNothing has a node date some blocks ten minutes late, which can't be told from a wrong clock:
// the blocks above them are indexed all the same, although their times are earlier.
func TestOneFalseTimeStopsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	f := &falseClock{node: w.node.URL(), time: func(number, now uint64) uint64 {
		if number%4 != 0 {
			return now
		}
		return uint64(time.Now().Add(10 * time.Minute).Unix())
	}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: s.URL, Weight: 3}, {URL: w.node.URL(), Weight: 1}}
	st := storetest.Open(t, "sqlite")
	defer run(t, cfg, st, 0)()
	for range 6 {
		w.await(t, st)
		w.trade(t, 3)
	}
	w.await(t, st)
	if f.told.Load() == 0 {
		t.Error("no false time was told: the test shows nothing")
	}
}
