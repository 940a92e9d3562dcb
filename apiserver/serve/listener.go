package serve

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// ListenerOptions are what a Listener needs to know.
type ListenerOptions struct {
	DocsURL string
	// MaxConnections bounds the open connections.
	MaxConnections int
	Now            func() time.Time
}

// Listener makes a problem of what net/http answers when what came is no request that could reach the handler: a head
// that is too large, or no HTTP. Such an answer is read by pages of every origin like any other. Where a connection comes on top of
// the most, the one of which nothing was heard for the longest time is closed for it: connections that are held open and do nothing
// take memory, and keep nobody out.
func Listener(l net.Listener, o ListenerOptions) net.Listener {
	return &listener{Listener: l, o: o, open: make(map[*conn]struct{})}
}

type listener struct {
	net.Listener

	o    ListenerOptions
	mu   sync.Mutex
	open map[*conn]struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, l: l}
	c.heard.Store(l.o.Now().UnixNano())
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= max(l.o.MaxConnections, 1) {
		l.closeQuietest()
	}
	l.open[c] = struct{}{}
	return c, nil
}

// closeQuietest closes the connection of which nothing was heard for the longest time. The server that has it notices by itself.
func (l *listener) closeQuietest() {
	var quietest *conn
	for c := range l.open {
		if quietest == nil || c.heard.Load() < quietest.heard.Load() {
			quietest = c
		}
	}
	delete(l.open, quietest)
	_ = quietest.Conn.Close() // it is given up, whatever it says
}

type conn struct {
	net.Conn

	l *listener
	// heard is when something was read or written last, in unix nanoseconds.
	heard atomic.Int64
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.heard.Store(c.l.o.Now().UnixNano())
	return n, err
}

// Close makes room for another connection.
func (c *conn) Close() error {
	c.l.mu.Lock()
	delete(c.l.open, c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}

var (
	httpVersion = []byte("HTTP/1.")
	// plainly is how the head of net/http's own refusals goes on after the status; no handler writes its headers so.
	plainly = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
)

// refused names the problem that a write of net/http's is in its own words; "" for what a handler wrote. Headers that are too
// large and requests that are no HTTP are refused as text, an expectation that net/http doesn't know with an empty 417, which no
// handler answers with.
func refused(b []byte) (slug string) {
	if len(b) > 512 || !bytes.HasPrefix(b, httpVersion) {
		return ""
	}
	status, _, _ := bytes.Cut(bytes.TrimLeft(b[len(httpVersion):], "01"), []byte("\r\n"))
	is := func(code int) bool { return bytes.HasPrefix(status, fmt.Appendf(nil, " %d ", code)) }
	switch {
	case is(http.StatusExpectationFailed):
		return "expectation-failed"
	case !bytes.Contains(b, plainly):
		return ""
	case is(http.StatusRequestHeaderFieldsTooLarge):
		return "headers-too-large"
	default:
		return "malformed-request"
	}
}

// Write replaces the refusals of net/http, each of which is one Write. It reports the bytes that it was given as written.
func (c *conn) Write(b []byte) (int, error) {
	c.heard.Store(c.l.o.Now().UnixNano())
	slug := refused(b)
	if slug == "" {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(refusal(slug, c.l.o.DocsURL)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite lets net/http end its answer before it closes the connection, so that the client gets to read it.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusal is a whole answer with a problem.
func refusal(slug, docsURL string) []byte {
	p := NewProblem(slug, "")
	id := newRequestID()
	body := p.encode(docsURL, "", id)
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", p.Status, http.StatusText(p.Status))
	for name, value := range map[string]string{
		"Access-Control-Allow-Origin": anyone[0], "Access-Control-Expose-Headers": exposed[0], "X-Content-Type-Options": nosniff[0],
		"Cache-Control": "no-store", "Content-Type": "application/problem+json", "X-Request-Id": id, "Connection": "close",
		"Content-Length": strconv.Itoa(len(body)),
	} {
		fmt.Fprintf(&out, "%s: %s\r\n", name, value)
	}
	out.WriteString("\r\n")
	out.Write(body)
	return out.Bytes()
}
