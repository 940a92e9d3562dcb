package serve_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/caller"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
)

// BenchmarkStreams has 5,000 open streams and sends an event a second, a second for each iteration, with both ends on the processors of this process
// (-cpu 1: on one). It tells the heap of a stream without its client's (a stream has no goroutine, and so no stack), and how long after it was made an event has come (p50, p99).
func BenchmarkStreams(b *testing.B) {
	const readers = 5_000
	src := &source{}
	streams := serve.NewEventStreams(serve.EventStreamsOptions{Max: readers, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	h, err := serve.New(serve.Config{
		Routes:    []serve.Route{{Operation: "getLiveStream", Handle: func(*serve.Request) (*serve.Answer, error) { return serve.EventStream(&follower{of: src}), nil }}},
		Snapshots: noSnapshots{}, Callers: caller.NewResolver([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, nil), Limiter: limit.NewMemory(time.Now, 2*readers),
		EventStreams: streams, Latencies: &serve.Latencies{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		_ = server.Serve(serve.Listener(l, serve.ListenerOptions{MaxConnections: 2 * readers, Now: time.Now}))
	}()
	ctx, cancel := context.WithCancel(b.Context())
	var g sync.WaitGroup
	g.Go(func() { streams.Run(ctx) })
	defer func() { cancel(); g.Wait(); _ = server.Close() }()

	plain, end := memoryOf(b, readers, acceptor(b), func(conn net.Conn, _ int) { _, _ = conn.Write([]byte("x")) }, nil)
	end()
	var mu sync.Mutex
	var late []time.Duration
	sent := map[int]time.Time{}
	whole, end := memoryOf(b, readers, l.Addr().String(), func(conn net.Conn, i int) {
		_, _ = io.WriteString(conn, "GET /api/live/stream HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: "+netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}).String()+"\r\n\r\n")
	}, func(event int) {
		mu.Lock()
		defer mu.Unlock()
		late = append(late, time.Since(sent[event]))
	})
	defer end()
	n := 0
	for b.Loop() {
		mu.Lock()
		sent[n] = time.Now()
		mu.Unlock()
		src.send("data: " + strconv.Itoa(n) + "\n\n")
		n++
		time.Sleep(time.Second)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(late) != n*readers {
		b.Errorf("of %d events %d came", n*readers, len(late))
	}
	slices.Sort(late)
	b.ReportMetric((whole-plain)/1024, "KiB/stream")
	b.ReportMetric(float64(late[len(late)/2].Milliseconds()), "p50-ms")
	b.ReportMetric(float64(late[len(late)*99/100].Milliseconds()), "p99-ms")
}

// acceptor is the address of a listener that keeps its connections and does nothing.
func acceptor(b *testing.B) string {
	b.Helper()
	l, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	go func() {
		var kept []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range kept {
					_ = c.Close()
				}
				return
			}
			kept = append(kept, c)
		}
	}()
	return l.Addr().String()
}

// memoryOf opens so many connections, each with a goroutine that reads events, and gives the bytes that one takes. end closes them.
func memoryOf(b *testing.B, n int, address string, open func(net.Conn, int), came func(event int)) (bytes float64, end func()) {
	b.Helper()
	var conns []net.Conn
	before := inUse()
	for i := range n {
		conn, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		conns = append(conns, conn)
		open(conn, i)
		go readEvents(conn, came)
	}
	time.Sleep(time.Second)
	return float64(inUse()-before) / float64(n), func() {
		for _, c := range conns {
			_ = c.Close()
		}
		time.Sleep(time.Second)
	}
}

// readEvents reads events whose data is a number.
func readEvents(conn net.Conn, came func(event int)) {
	var buffer [512]byte
	var line []byte
	for {
		n, err := conn.Read(buffer[:])
		if err != nil {
			return
		}
		for _, c := range buffer[:n] {
			if c != '\n' {
				line = append(line, c)
				continue
			}
			if len(line) > 6 && string(line[:6]) == "data: " && came != nil {
				if event, err := strconv.Atoi(string(line[6:])); err == nil {
					came(event)
				}
			}
			line = line[:0]
		}
	}
}

func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
