package lab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// connection is a kept-alive HTTP/1.1 connection that sends rendered requests one after the other and reads of an answer
// what a measurement needs: status and length. It does as little as it can, since it shares the machine with the server.
type connection struct {
	net.Conn

	in  *bufio.Reader
	out []byte
}

func dial(ctx context.Context, address string) (*connection, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return newConnection(c), nil
}

func newConnection(c net.Conn) *connection {
	return &connection{Conn: c, in: bufio.NewReaderSize(c, 64<<10)}
}

// Render is a GET request up to the client's address, with the headers that every client sends.
func Render(host, target string) []byte {
	return []byte("GET " + target + " HTTP/1.1\r\nHost: " + host +
		"\r\nUser-Agent: bench\r\nAccept: application/json\r\nX-Forwarded-For: ")
}

// do sends a rendered request in the name of a client and reads the answer, whose body it drops.
func (c *connection) do(head []byte, client netip.Addr) (status, length int, err error) {
	c.out = append(c.out[:0], head...)
	c.out = client.AppendTo(c.out)
	c.out = append(c.out, "\r\n\r\n"...)
	if _, err := c.Write(c.out); err != nil {
		return 0, 0, err
	}
	return c.read()
}

var contentLength = []byte("content-length:")

func (c *connection) read() (status, length int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	if len(line) < len("HTTP/1.1 200\r\n") || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, 0, fmt.Errorf("the answer begins with %.40q, which is not HTTP/1.1", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, fmt.Errorf("the answer begins with %.40q, which has no status", line)
	}
	length = -1
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return status, 0, err
		}
		if len(line) <= 2 {
			break
		}
		if len(line) > len(contentLength) && bytes.EqualFold(line[:len(contentLength)], contentLength) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(contentLength):]))); err != nil {
				return status, 0, fmt.Errorf("the answer's Content-Length is %q", line)
			}
		}
	}
	if length < 0 {
		return status, 0, errors.New("the answer has no Content-Length")
	}
	_, err = c.in.Discard(length)
	return status, length, err
}
