package apiserver_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

// connection is one to the server, kept open.
type connection struct {
	net.Conn

	r *bufio.Reader
}

func dial(t *testing.T, address string) *connection {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &connection{c, bufio.NewReader(c)}
}

// ask reports whether the connection still answers.
func (c *connection) ask() bool {
	if _, err := fmt.Fprint(c, "GET /api/version HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false
	}
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return false
	}
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, res.Body)
	return err == nil && res.StatusCode == http.StatusOK
}

// isClosed waits until the server closes a connection that is quiet; it reports false where that doesn't happen for long. The server takes connections after they were made, so that
// a question at once might come before the next one is taken.
func (c *connection) isClosed() bool {
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return true
	}
	_, err := c.r.ReadByte()
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// TestOpenConnectionsAreBounded: of connections that are held open the one that was quiet for the longest time makes room for the next, so
// that nobody is kept out, and nobody who asks is cut off.
func TestOpenConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	const most = 4
	o := options(t, seeded(t, "sqlite"))
	o.MaxConnections, o.Now = most, time.Now
	address := listening(t, o)
	held := make([]*connection, most)
	for i := range held {
		held[i] = dial(t, address)
		if !held[i].ask() {
			t.Fatalf("connection %d of %d isn't answered", i+1, most)
		}
	}
	if !held[0].ask() { // so that the second is the quietest
		t.Fatal("the first connection isn't answered any more")
	}
	for range 3 * most { // strangers who say nothing
		dial(t, address)
		if !held[0].ask() {
			t.Fatal("a connection that asks again and again was closed")
		}
	}
	for i, c := range held[1:] {
		if !c.isClosed() {
			t.Errorf("connection %d was quiet and is still open beside %d others", i+2, 3*most)
		}
	}
	if !dial(t, address).ask() {
		t.Error("a new connection isn't answered")
	}
}
