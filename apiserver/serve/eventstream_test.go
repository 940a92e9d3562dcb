package serve_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/boardwalkhq/boardwalk/apiserver/caller"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
)

// source is what a test sends to each of its readers.
type source struct {
	mu     sync.Mutex
	events [][]byte
	closed atomic.Int64
	// endless is an event that comes again and again.
	endless []byte
}

func (s *source) send(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, []byte(event))
}

// follower is one reader's subscription.
type follower struct {
	of *source
	n  int
}

func (f *follower) Next() ([]byte, bool) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.of.endless != nil {
		return f.of.endless, true
	}
	if f.n == len(f.of.events) {
		return nil, true
	}
	f.n++
	return f.of.events[f.n-1], true
}

func (f *follower) Close() { f.of.closed.Add(1) }

type noSnapshots struct{}

func (noSnapshots) Snapshot() *read.Snapshot { return &read.Snapshot{} }

func (p plain) SetWriteDeadline(at time.Time) error {
	return http.NewResponseController(p.ResponseWriter).SetWriteDeadline(at)
}

// streaming is a server with streams whose time runs so many times as fast as that of the test.
type streaming struct {
	*source

	address  string
	registry *prometheus.Registry
	end      func()
}

// plain hides that the connection can be taken.
type plain struct{ http.ResponseWriter }

func (p plain) Flush() {
	if f, ok := p.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

func startStreams(t *testing.T, taken bool, most, speed int) *streaming {
	t.Helper()
	begun := time.Now()
	now := func() time.Time { return begun.Add(time.Duration(speed) * time.Since(begun)) }
	x := &streaming{source: &source{}, registry: prometheus.NewRegistry()}
	metrics := serve.NewMetrics(x.registry)
	streams := serve.NewEventStreams(serve.EventStreamsOptions{Max: most, Now: now, Log: slog.New(slog.DiscardHandler), Metrics: metrics})
	h, err := serve.New(serve.Config{
		Routes:    []serve.Route{{Operation: "getLiveStream", Handle: func(*serve.Request) (*serve.Answer, error) { return serve.EventStream(&follower{of: x.source}), nil }}},
		Snapshots: noSnapshots{}, Callers: caller.NewResolver([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, nil), Limiter: limit.NewMemory(time.Now, 1000),
		EventStreams: streams, Latencies: &serve.Latencies{}, Now: now, Log: slog.New(slog.DiscardHandler), Metrics: metrics,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		streams.Run(ctx)
	}()
	x.end = func() { cancel(); <-done }
	server := httptest.NewUnstartedServer(h)
	if taken {
		server.Listener = serve.Listener(server.Listener, serve.ListenerOptions{MaxConnections: 1000, Now: now})
	} else {
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(plain{w}, r) })
	}
	server.Start()
	t.Cleanup(func() { x.end(); server.Close() })
	x.address = server.Listener.Addr().String()
	return x
}

// opened is what a client got that asked for a stream.
type opened struct {
	conn   net.Conn
	status int
	header http.Header
	body   io.Reader
}

// open asks for a stream as a client.
func (x *streaming) open(t *testing.T, client string) *opened {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", x.address)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, "GET /api/live/stream HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: "+client+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodGet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Close(), res.Body.Close() }) // in this order: the body is read to its end
	return &opened{conn, res.StatusCode, res.Header, res.Body}
}

// events reads from a stream until it has so much of it, or it ends.
func events(t *testing.T, o *opened, until string) string {
	t.Helper()
	var got strings.Builder
	one := make([]byte, 1)
	for !strings.HasSuffix(got.String(), until) {
		if _, err := o.body.Read(one); err != nil {
			t.Fatalf("after %q: %v; want %q", got.String(), err, until)
		}
		got.Write(one)
	}
	return got.String()
}

func (x *streaming) ended(t *testing.T, why string) float64 {
	t.Helper()
	all, err := x.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == "boardwalk_http_event_streams_ended_total" && l.GetValue() == why {
					return m.GetCounter().GetValue()
				}
			}
		}
	}
	return -1
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came about that " + what)
		}
	}
}

// bothWays runs a test on connections that are taken from net/http, and on those that can't be.
func bothWays(t *testing.T, test func(t *testing.T, taken bool)) {
	t.Helper()
	for name, taken := range map[string]bool{"taken": true, "not taken": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, taken)
		})
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, taken bool) {
		t.Helper()
		x := startStreams(t, taken, 10, 100)
		o := x.open(t, "10.0.0.1")
		if o.status != http.StatusOK || o.header.Get("Content-Type") != "text/event-stream" || o.header.Get("Cache-Control") != "no-store" ||
			o.header.Get("Access-Control-Allow-Origin") != "*" || o.header.Get("X-Request-Id") == "" || !strings.HasPrefix(o.header.Get("RateLimit"), `"getLiveStream";r=59`) {
			t.Errorf("%d %v", o.status, o.header)
		}
		x.send("data: 1\n\n")
		got := events(t, o, "data: 1\n\n")
		if !strings.HasPrefix(got, "retry: ") {
			t.Errorf("it begins with %q", got)
		}
		events(t, o, ":\n\n") // nothing comes for a while
		x.send("data: 2\n\n")
		x.send("data: 3\n\n")
		if got := strings.ReplaceAll(events(t, o, "data: 3\n\n"), ":\n\n", ""); got != "data: 2\n\ndata: 3\n\n" {
			t.Errorf("two events came as %q", got)
		}
		if n := testutil.CollectAndCount(x.registry); n == 0 {
			t.Error("no metric is told")
		}
		x.end()
		rest, err := io.ReadAll(o.body)
		if err != nil || !strings.Contains(string(rest), "retry: ") {
			t.Errorf("at the end: %q, %v", rest, err)
		}
		eventually(t, "it is counted", func() bool { return x.ended(t, "service") == 1 && x.closed.Load() == 1 })
	})
}

// TestStreamLimits: one more stream than a client may have open is refused, and so is one more than all clients together may have.
func TestStreamLimits(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, taken bool) {
		t.Helper()
		x := startStreams(t, taken, 22, 1)
		want := func(client string, status int) net.Conn {
			t.Helper()
			o := x.open(t, client)
			if o.status != status || status == http.StatusServiceUnavailable && o.header.Get("Retry-After") != "15" {
				t.Errorf("%s: %d %v; want %d", client, o.status, o.header, status)
			}
			return o.conn
		}
		first := want("10.0.0.1", http.StatusOK)
		for range 19 {
			want("10.0.0.1", http.StatusOK)
		}
		want("10.0.0.1", http.StatusServiceUnavailable)
		want("10.0.0.2", http.StatusOK)
		want("10.0.0.3", http.StatusOK)
		want("10.0.0.4", http.StatusServiceUnavailable)
		_ = first.Close()
		eventually(t, "the one that went is seen to have gone", func() bool { return x.ended(t, "client") == 1 })
		want("10.0.0.1", http.StatusOK)
		want("10.0.0.4", http.StatusServiceUnavailable)
	})
}

// TestStreamLimitOfANetwork opens streams from each of many networks of one site.
func TestStreamLimitOfANetwork(t *testing.T) {
	t.Parallel()
	x := startStreams(t, true, 1000, 1)
	for i := range limit.PerNetwork * 20 {
		if o := x.open(t, "2001:db8:1:"+strconv.FormatInt(int64(i), 16)+"::1"); o.status != http.StatusOK {
			t.Fatalf("stream %d: %d", i, o.status)
		}
	}
	if o := x.open(t, "2001:db8:1:ffff::1"); o.status != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", o.status)
	}
	if o := x.open(t, "2001:db8:2::1"); o.status != http.StatusOK {
		t.Errorf("from another site: %d", o.status)
	}
}

// TestSlowReader has a reader that reads nothing, beside one that does.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, taken bool) {
		t.Helper()
		speed, size := 5, 60_000
		if !taken {
			speed, size = 1, 2_000_000 // the kernel keeps the deadline, and an event comes ten times a second
		}
		x := startStreams(t, taken, 10, speed)
		x.open(t, "10.0.0.1") // and reads nothing
		quick := x.open(t, "10.0.0.2")
		go func() { _, _ = io.Copy(io.Discard, quick.body) }()
		x.mu.Lock()
		x.endless = []byte("data: " + strings.Repeat("x", size) + "\n\n")
		x.mu.Unlock()
		eventually(t, "the slow one is cut off", func() bool {
			if taken {
				return x.ended(t, "slow") == 1
			}
			return x.ended(t, "client") == 1
		})
		x.mu.Lock()
		x.endless = nil
		x.mu.Unlock()
		if x.closed.Load() != 1 {
			t.Errorf("%d streams ended", x.closed.Load())
		}
	})
}

// TestTricklingReader has a reader that takes a little all the time, and far too little: the events that it hasn't got may not be kept for it.
func TestTricklingReader(t *testing.T) {
	t.Parallel()
	x := startStreams(t, true, 10, 50)
	o := x.open(t, "10.0.0.1")
	if tcp, ok := o.conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4_096)
	}
	go func() {
		for one := make([]byte, 100); ; time.Sleep(10 * time.Millisecond) {
			if _, err := o.body.Read(one); err != nil {
				return
			}
		}
	}()
	x.mu.Lock()
	x.endless = []byte("data: " + strings.Repeat("x", 60_000) + "\n\n")
	x.mu.Unlock()
	eventually(t, "it is cut off", func() bool { return x.ended(t, "slow") == 1 })
}

// TestStreamHead asks for the head alone.
func TestStreamHead(t *testing.T) {
	t.Parallel()
	x := startStreams(t, true, 10, 1)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://"+x.address+"/api/live/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" || x.closed.Load() != 1 {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
}
