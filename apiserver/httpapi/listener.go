package httpapi

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// Listener makes a problem of what net/http answers when what came is no request that could reach the handler: a head
// that is too large, or no HTTP. Such an answer is read by pages of every origin like any other.
func Listener(l net.Listener, docsURL string) net.Listener { return &listener{l, docsURL} }

type listener struct {
	net.Listener

	docsURL string
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{c, l.docsURL}, nil
}

type conn struct {
	net.Conn

	docsURL string
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
	slug := refused(b)
	if slug == "" {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(refusal(slug, c.docsURL)); err != nil {
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
	p := newProblem(slug, "")
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
