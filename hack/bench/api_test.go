package main

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

func TestQuantile(t *testing.T) {
	t.Parallel()
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, c := range []struct {
		of   []time.Duration
		q    float64
		want time.Duration
	}{
		{nil, 0.99, 0},
		{[]time.Duration{7}, 0.5, 7},
		{[]time.Duration{7}, 0.99, 7},
		{hundred, 0.5, 50},
		{hundred, 0.99, 99},
		{hundred, 0.995, 100},
		{hundred, 1, 100},
		{hundred, 0, 1},
	} {
		if got := quantile(c.of, c.q); got != c.want {
			t.Errorf("quantile %g of %d values is %d, want %d", c.q, len(c.of), got, c.want)
		}
	}
}

func TestTableIsAligned(t *testing.T) {
	t.Parallel()
	table := newTable("name", ">µs")
	table.add("a", "1.5")
	table.add("longer", "10")
	var b strings.Builder
	if err := table.write(&b); err != nil {
		t.Fatal(err)
	}
	want := "| name   |  µs |\n|--------|----:|\n| a      | 1.5 |\n| longer |  10 |\n\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestPaceChargesAStall has one launch take a second: those after it keep the times at which they were due.
func TestPaceChargesAStall(t *testing.T) {
	t.Parallel()
	began := time.Unix(1000, 0)
	clock := began
	p := pace{
		began: began, interval: 100 * time.Millisecond, count: 20,
		now: func() time.Time {
			clock = clock.Add(time.Microsecond)
			return clock
		},
		sleep: func(d time.Duration) bool {
			clock = clock.Add(d)
			return true
		},
	}
	late := make([]time.Duration, 0, p.count)
	p.run(func(n int, due time.Time) {
		if want := began.Add(time.Duration(n) * p.interval); !due.Equal(want) {
			t.Errorf("request %d was due at %s, want %s", n, due, want)
		}
		late = append(late, clock.Sub(due))
		if n == 4 {
			clock = clock.Add(time.Second)
		}
	})
	for n, d := range late {
		want := time.Duration(0)
		if n > 4 && n < 15 {
			want = time.Second - time.Duration(n-4)*p.interval
		}
		if d < want || d > want+time.Millisecond {
			t.Errorf("request %d was sent %s late, want about %s", n, d, want)
		}
	}
	p.count = 1000
	sent := 0
	p.sleep = func(time.Duration) bool { return false }
	p.began = clock.Add(time.Hour)
	p.run(func(int, time.Time) { sent++ })
	if sent != 0 {
		t.Errorf("%d requests were sent after the end", sent)
	}
}

func TestClientsAreReplacedBeforeTheirLimit(t *testing.T) {
	t.Parallel()
	c := clients{Together: 10, Each: 3}
	sent := map[netip.Addr]int{}
	for n := range 95 {
		sent[c.next()]++
		if turn := n % 30; turn >= 9 && turn < 30 && len(sent) != 10*(n/30+1) {
			t.Fatalf("after %d requests there were %d clients", n+1, len(sent))
		}
	}
	for a, n := range sent {
		if n > 3 || !netip.MustParsePrefix("198.18.0.0/15").Contains(a) {
			t.Errorf("%s sent %d", a, n)
		}
	}
	if c.used() != len(sent) {
		t.Errorf("it says %d clients, there were %d", c.used(), len(sent))
	}
	if last := c.of(1 << 60); !netip.MustParsePrefix("198.18.0.0/15").Contains(last) {
		t.Errorf("in the end it is %s", last)
	}
}

func TestConnectionReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer         string
		status, length int
		wrong          string
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, 3, ""},
		{"HTTP/1.1 503 Service Unavailable\r\nx: y\r\ncontent-length:0\r\n\r\n", 503, 0, ""},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, 0, "Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", 200, 0, "Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", 200, 0, "EOF"},
		{"SSH-2.0-OpenSSH_9.2 or so\r\n", 0, 0, "not HTTP/1.1"},
		{"", 0, 0, "EOF"},
	} {
		here, there := net.Pipe()
		go func() {
			_, _ = io.WriteString(there, c.answer)
			_ = there.Close()
		}()
		status, length, err := newConnection(here).read()
		if c.wrong == "" && (err != nil || status != c.status || length != c.length) {
			t.Errorf("%q: %d, %d bytes, error %v", c.answer, status, length, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%q: error %v, want one with %q", c.answer, err, c.wrong)
		}
	}
}

// echo answers with as many bytes as the path says and refuses what comes from the clients' last address.
func echo(t *testing.T) (address string, seen func() []string) {
	t.Helper()
	from := make(chan string, 10_000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from <- r.Header.Get("X-Forwarded-For")
		n, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			w.Header().Set("Content-Length", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(n))
		_, _ = w.Write(make([]byte, n))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), func() (out []string) {
		for len(from) > 0 {
			out = append(out, <-from)
		}
		return out
	}
}

func TestClosedLoop(t *testing.T) {
	t.Parallel()
	address, seen := echo(t)
	c := &clients{Together: 5, Each: 2}
	heads := [][]byte{render(address, "/10"), render(address, "/100000"), render(address, "/no")}
	r, err := closedLoop(t.Context(), address, 3, 30*time.Millisecond, c, func(n uint64) []byte { return heads[n%3] })
	if err != nil {
		t.Fatal(err)
	}
	if r.requests == 0 || len(r.took) != r.requests || r.statuses[200]+r.statuses[503] != r.requests {
		t.Errorf("%d requests, %d times, %s", r.requests, len(r.took), r.statuses)
	}
	for length := range r.lengths {
		if !slices.Contains([]int{0, 10, 100000}, length) {
			t.Errorf("an answer of %d bytes", length)
		}
	}
	if got := seen(); len(got) != r.requests || got[0] == "" {
		t.Errorf("the server saw %d of %d requests", len(got), r.requests)
	}
	if r.statuses[503] > 0 && (r.statuses.only(200) == nil || r.statuses.only(200, 503) != nil) {
		t.Errorf("%s were judged wrongly", r.statuses)
	}
}

func TestOpenLoop(t *testing.T) {
	t.Parallel()
	address, seen := echo(t)
	loop := openLoop{
		address: address, rate: 2000, length: 50 * time.Millisecond, most: 4, clients: &clients{Together: 5, Each: 2}, grace: 20 * time.Second,
		next: func(n int) (int, []byte) {
			if n%4 == 3 {
				return 1, render(address, "/no")
			}
			return 0, render(address, "/7")
		},
	}
	r, err := loop.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.shots) != 100 || len(r.of(-1, 200)) != 75 || len(r.of(1, 503)) != 25 || len(r.of(1, 200)) != 0 || len(seen()) != 100 {
		t.Errorf("%d requests: %s", len(r.shots), r.statuses())
	}
	if r.answered() == nil || len(r.late()) != 100 || len(r.part(2, 3).shots) != 34 {
		t.Errorf("it is judged wrongly: %v", r.answered())
	}
	for i, s := range r.shots {
		if want := time.Duration(i) * time.Second / 2000; s.due != want || s.took < s.late || s.late < 0 {
			t.Fatalf("request %d: due %s (want %s), late %s, took %s", i, s.due, want, s.late, s.took)
		}
	}
	loop.address = "127.0.0.1:1"
	if _, err := loop.run(t.Context()); err == nil {
		t.Error("nobody listens, and that is no error")
	}
}

func TestZipf(t *testing.T) {
	t.Parallel()
	z := newZipf(4, 1) // 12/25, 6/25, 4/25, 3/25
	for u, want := range map[float64]int{0: 0, 0.47: 0, 0.49: 1, 0.71: 1, 0.73: 2, 0.9: 3, 1: 3} {
		if got := z.at(u); got != want {
			t.Errorf("at %g is %d, want %d", u, got, want)
		}
	}
	if s := z.share(1); s < 0.2399 || s > 0.2401 {
		t.Errorf("the second has a share of %g", s)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		if r := z.draw(rng); r < 0 || r > 3 {
			t.Fatalf("drew %d", r)
		}
	}
}

func TestMisspelt(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"a", "犬", "Pepe Inu", "犬Zumo 🐸"} {
		for range 50 {
			if got := misspelt(rng, name); got == strings.ToLower(name) && len(name) < 4 || got == "" {
				t.Errorf("%q became %q", name, got)
			}
		}
	}
}

func TestTheSameSeedMakesTheSameWorld(t *testing.T) {
	t.Parallel()
	size := marketSize{Tokens: 300, Trades: 5000, Seed: 7}
	a, b := newWorld(size), newWorld(size)
	trades := 0
	for chain := range worldChains {
		of := a.tradesOf(chain)
		if !slices.Equal(of, b.tradesOf(chain)) {
			t.Fatalf("chain %d has other trades", chain)
		}
		trades += len(of)
		for i := range of {
			if at := of[i].time(); at < worldEnd-worldSpan || at > worldEnd || of[i].price <= 0 || of[i].usd <= 0 {
				t.Fatalf("a trade %+v", of[i])
			}
			if token := a.tokens[a.pools[of[i].pool].token]; int(token.chain) != chain || of[i].time() < token.born-blockTime {
				t.Fatalf("a trade of a token of chain %d before its birth", token.chain)
			}
		}
	}
	if !slices.Equal(a.tokens, b.tokens) || trades < 4900 || trades > 5300 {
		t.Errorf("the tokens differ, or there are %d trades", trades)
	}
	if other := newWorld(marketSize{Tokens: 300, Trades: 5000, Seed: 8}); other.tokens[100].mint == a.tokens[100].mint {
		t.Error("another seed makes the same tokens")
	}
}

// TestSeedIsWhatAnIndexWouldBe seeds a database in both orders and holds its rows against each other.
func TestSeedIsWhatAnIndexWouldBe(t *testing.T) {
	t.Parallel()
	var derived [2]map[string][]string
	size := marketSize{Tokens: 100, Trades: 3000, Seed: 1}
	for i, byTime := range []bool{false, true} {
		st, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "market.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		w := newWorld(size)
		if err := seed(t.Context(), w, st, byTime, "test"); err != nil {
			t.Fatal(err)
		}
		if derived[i], err = st.Inspect.Derived(t.Context(), worldChains[0].id); err != nil {
			t.Fatal(err)
		}
		candlesAreOfTheTrades(t.Context(), t, st, w)
	}
	for table, lines := range derived[0] {
		if !slices.Equal(lines, derived[1][table]) {
			t.Errorf("%s depends on the order in which it is written", table)
		}
	}
	if len(derived[0]["trades"]) < 900 || len(derived[0]["tokens"]) != 34 {
		t.Errorf("there are %d trades, %d tokens", len(derived[0]["trades"]), len(derived[0]["tokens"]))
	}
}

// candlesAreOfTheTrades adds both up for the pool that trades most.
func candlesAreOfTheTrades(ctx context.Context, t *testing.T, st *store.Store, w *world) {
	t.Helper()
	pool := w.pools[w.tokens[0].firstPool].id
	trades, err := st.Trades.Of(ctx, worldChains[0].id, pool, 0, worldEnd+1, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	var want market.Amount
	for i := range trades {
		want.Add(&want, &trades[i].BaseAmount)
	}
	for _, interval := range market.StoredIntervals {
		candles, err := st.Inspect.Candles(ctx, worldChains[0].id, pool, interval, 0, worldEnd+1)
		if err != nil {
			t.Fatal(err)
		}
		var got market.Amount
		n := int64(0)
		for i := range candles {
			got.Add(&got, &candles[i].VolumeBase)
			n += candles[i].Buys + candles[i].Sells
		}
		if n != int64(len(trades)) || got != want || candles[len(candles)-1].USD.Close != trades[len(trades)-1].CloseUSD {
			t.Errorf("the candles of %d s have %d trades and a volume of %s; there were %d with %s", interval, n, got.Dec(), len(trades), want.Dec())
		}
	}
}

func TestRawAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		whole    float64
		decimals uint8
		want     string
	}{
		{0, 18, "0"},
		{1.5, 6, "1500000"},
		{1, 18, "1000000000000000000"},
		{1e12, 18, "1000000000000000019884624838656"}, // the nearest float64
		{-1, 6, "0"},
	} {
		got := raw(c.whole, c.decimals)
		if got.Dec() != c.want {
			t.Errorf("%g with %d decimals is %s, want %s", c.whole, c.decimals, got.Dec(), c.want)
		}
	}
}

func TestKindsOf(t *testing.T) {
	t.Parallel()
	if both, err := kindsOf("both"); err != nil || len(both) != 2 {
		t.Errorf("both are %v, %v", both, err)
	}
	if _, err := kindsOf("mysql"); err == nil {
		t.Error("mysql passed")
	}
}

// TestBareHandler writes the headers and the body that it was given.
func TestBareHandler(t *testing.T) {
	t.Parallel()
	sample := &answerOf{200, http.Header{"Content-Type": {"application/json"}, "Date": {"then"}, "Etag": {"x"}}, []byte("{}\n")}
	for name, want := range map[string]string{hotBare: "", hotHeader: "x"} {
		a := bareOf(name, "/api/market/live?per_chain=3", sample)
		h := bareAnswerHandler(a)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/market/live?per_chain=3", nil))
		if w.Code != 200 || w.Body.String() != "{}\n" || w.Header().Get("Etag") != want || w.Header().Get("Date") != "" ||
			w.Header().Get("Content-Length") != "3" {
			t.Errorf("%s: %d %v %q", name, w.Code, w.Header(), w.Body)
		}
	}
	if sample.header.Get("Date") == "" {
		t.Error("the sample was changed")
	}
}

func TestObey(t *testing.T) {
	t.Parallel()
	profile := filepath.Join(t.TempDir(), "cpu.out")
	var out strings.Builder
	if err := obey(strings.NewReader("usage\nprofile "+profile+"\nprofiled\n"), &out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(out.String(), "\n"); len(lines) != 4 || !strings.Contains(lines[0], `"CPU":`) {
		t.Errorf("it answered %q", out.String())
	}
	if err := obey(strings.NewReader("dance\n"), io.Discard); err == nil {
		t.Error("it danced")
	}
}
