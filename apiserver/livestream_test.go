package apiserver_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// answering is a server that answers on a port of its own.
func answering(t *testing.T, st *store.Store, change func(*apiserver.Options)) (address string) {
	t.Helper()
	o := options(t, st)
	begun := time.Now()
	o.Now = func() time.Time { return clock.Add(time.Since(begun)) }
	if change != nil {
		change(&o)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, o, l)
	return l.Addr().String()
}

// liveStream is an open stream of events.
type liveStream struct {
	res   *http.Response
	lines *bufio.Scanner
	all   bytes.Buffer
}

// follow opens a stream and has the kit check what came of it when the test ends.
func follow(t *testing.T, address, query string, header http.Header) *liveStream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/live/stream"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	req.Header.Set("X-Forwarded-For", stranger())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	for deadline := time.Now().Add(20 * time.Second); err == nil && res.StatusCode == http.StatusServiceUnavailable && time.Now().Before(deadline); {
		_ = res.Body.Close() // the first events aren't there yet
		time.Sleep(20 * time.Millisecond)
		res, err = client.Do(req)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &liveStream{res: res}
	s.lines = bufio.NewScanner(io.TeeReader(res.Body, &s.all))
	s.lines.Buffer(nil, 1<<20)
	t.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
		whole := s.all.Bytes()
		kit.Check(t, req, res, whole[:bytes.LastIndex(whole, []byte("\n\n"))+2])
	})
	return s
}

// next reads the next event with data.
func (s *liveStream) next(t *testing.T) (id string, data []byte) {
	t.Helper()
	for s.lines.Scan() {
		line := s.lines.Text()
		if rest, ok := strings.CutPrefix(line, "id: "); ok {
			id = rest
		}
		if rest, ok := strings.CutPrefix(line, "data: "); ok {
			s.lines.Scan()
			return id, []byte(rest)
		}
	}
	t.Fatalf("the stream ended: %v", errors.Join(s.lines.Err(), io.ErrUnexpectedEOF))
	return "", nil
}

// news reads events until one fits.
func (s *liveStream) news(t *testing.T, fits func(contract.LiveSince) bool) (id string, e contract.LiveSince) {
	t.Helper()
	for range 100 {
		var data []byte
		if id, data = s.next(t); fits(parse[contract.LiveSince](t, data)) {
			return id, parse[contract.LiveSince](t, data)
		}
	}
	t.Fatal("no event fits")
	return "", e
}

// TestLiveStream: events have what live/since has, and who comes back gets what they missed.
func TestLiveStream(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			x := newTraders(t, st)
			address := answering(t, st, nil)
			s := follow(t, address, "", nil)
			if id, data := s.next(t); id != "0-0-0" || string(data) != `{"cursor":{"call":0,"launch":0,"trade":0}}` {
				t.Errorf("the first event is %s %s", id, data)
			}
			x.block(t, []trade{{adasWallet, token, false, 1, 5}, {gracesWallet, token, false, 1, 5}}, token)
			some := func(e contract.LiveSince) bool { return len(e.Trades)+len(e.Launches)+len(e.Retracted.Trades) > 0 }
			id, e := s.news(t, some)
			if id != "3-3-3" || len(e.Trades) != 2 || len(e.Launches) != 1 || parse[contract.FeedTrade](t, e.Trades[0]).Handle != "ada" {
				t.Errorf("a block brought %s %+v", id, e)
			}
			if _, err := st.Rewind(t.Context(), x.lease, 100); err != nil {
				t.Fatal(err)
			}
			if id, e = s.news(t, some); id != "6-6-6" || !slices.Equal(e.Retracted.Trades, []int64{1, 2}) || !slices.Equal(e.Retracted.Launches, []int64{3}) {
				t.Errorf("a reorg brought %s %+v", id, e)
			}

			// Who was away since the block hears of the reorg, whatever the query says.
			back := follow(t, address, "?trade=6&launch=6&call=6", http.Header{"Last-Event-Id": {"3-3-3"}})
			if id, e := back.news(t, some); id != "6-6-6" || !slices.Equal(e.Retracted.Trades, []int64{1, 2}) {
				t.Errorf("to who comes back: %s %+v", id, e)
			}
			// An id of something else is none.
			if _, data := follow(t, address, "?trade=6&launch=6&call=6", http.Header{"Last-Event-Id": {"x-3-3"}}).next(t); len(parse[contract.LiveSince](t, data).Retracted.Trades) != 0 {
				t.Errorf("by the query alone: %s", data)
			}
			if _, data := follow(t, address, "?trade=7&launch=6&call=6", nil).next(t); !parse[contract.LiveSince](t, data).Reset.Trade {
				t.Errorf("a cursor ahead: %s", data)
			}

			x.last = market.Header{Number: 100, Hash: market.Hash{1}, Time: clock.Unix() - 2}
			many := make([]trade, 60)
			for i := range many {
				many[i] = trade{adasWallet, token, false, 1, 5}
			}
			x.block(t, many)
			var ids []int64
			for len(ids) < 60 {
				_, e := s.news(t, some)
				if len(e.Trades) > 12 || e.Truncated.Trade {
					t.Fatalf("an event has %d trades, truncated: %v", len(e.Trades), e.Truncated.Trade)
				}
				for _, raw := range e.Trades {
					ids = append(ids, parse[contract.FeedTrade](t, raw).ID)
				}
			}
			if ids[0] != 7 || ids[59] != 66 || !slices.IsSorted(ids) {
				t.Errorf("of 60 trades %v came", ids)
			}
			late := follow(t, address, "", http.Header{"Last-Event-Id": {"6-6-6"}})
			if id, e := late.news(t, some); id != "66-66-66" || len(e.Trades) != 12 || !e.Truncated.Trade || parse[contract.FeedTrade](t, e.Trades[0]).ID != 55 {
				t.Errorf("to who missed many: %s with %d trades, truncated: %v", id, len(e.Trades), e.Truncated.Trade)
			}
			// Both go on.
			x.block(t, many[:1])
			for _, s := range []*liveStream{s, late} {
				if id, e := s.news(t, some); id != "67-67-67" || len(e.Trades) != 1 {
					t.Errorf("then %s %+v", id, e)
				}
			}
		})
	}
}

// TestLiveStreamPrices: prices come with the first event, and when they change.
func TestLiveStreamPrices(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	x := newTraders(t, st)
	s := follow(t, answering(t, st, nil), "?mints=base:"+token+","+unmet, nil)
	_, data := s.next(t)
	first := parse[contract.LiveSince](t, data)
	if *first.Prices["base:"+token].Price != 2 || !slices.Equal(first.Missing, []string{unmet}) {
		t.Errorf("the first event: %s", data)
	}
	for _, price := range []float64{0.002, 0.003} {
		pool := market.Pool{
			ID: address(t, pairID), Protocol: market.UniswapV2, Factory: address(t, native), Token0: address(t, token), Token1: address(t, weth),
			Base: address(t, token), Quote: address(t, weth), BaseIs0: true, Price: price, Depth: 1, Locked: 100,
		}
		next := market.Header{Number: x.last.Number + 1, Hash: market.Hash{byte(x.last.Number)}, Parent: x.last.Hash, Time: clock.Unix()}
		c := &store.Commit{Last: next, Blocks: []market.Header{next}, Head: store.HeadStatus{Number: next.Number, Time: next.Time, SilentFrom: next.Time + 3600}}
		c.Changes.Pools = []market.Change[market.Address, market.Pool]{set(pool.ID, pool)}
		if err := st.Commit(t.Context(), x.lease, c); err != nil {
			t.Fatal(err)
		}
		x.last = next
		id, e := s.news(t, func(e contract.LiveSince) bool {
			return len(e.Prices) > 0 && *e.Prices["base:"+token].Price == 2000*price
		})
		if id != "0-0-0" || len(e.Trades) != 0 {
			t.Errorf("a change of the price: %s %+v", id, e)
		}
	}
}

// TestLiveStreamLimits has no room for a stream, and asks too often.
func TestLiveStreamLimits(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	res, body := c.do(t, http.MethodPost, "/api/live/stream", nil)
	if res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d %s", res.StatusCode, body)
	}
	from := http.Header{"X-Forwarded-For": {stranger()}}
	eventually(t, "the first events are there", func() bool {
		res, _ := c.do(t, http.MethodHead, "/api/live/stream", nil)
		return res.StatusCode == http.StatusOK
	})
	for n := range 60 {
		if res, _ := c.do(t, http.MethodHead, "/api/live/stream", from); res.StatusCode != http.StatusOK || res.Header.Get("RateLimit") != fmt.Sprintf(`"getLiveStream";r=%d;t=60`, 59-n) {
			t.Fatalf("%d: %d %v", n, res.StatusCode, res.Header)
		}
	}
	if res, body := c.do(t, http.MethodGet, "/api/live/stream", from); res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("beyond the limit: %d %s", res.StatusCode, body)
	}
	full := startWith(t, func() apiserver.Options {
		o := options(t, seeded(t, "sqlite"))
		o.MaxEventStreams = -1
		return o
	}())
	eventually(t, "there is no room", func() bool {
		res, _ := full.do(t, http.MethodGet, "/api/live/stream", nil)
		return res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "15"
	})
}
