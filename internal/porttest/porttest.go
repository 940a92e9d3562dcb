//go:build unix

// Package porttest reserves ports of this machine for tests.
package porttest

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Address is one that is reserved for the time of a test.
func Address(tb testing.TB) string {
	tb.Helper()
	address, release, err := Reserve()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(release)
	return address
}

// Reserve gives an address of this machine that nobody else is given until release is called, which may be called again. Connections to it are
// refused, unless a program that is told the address listens there, once or again and again. The reservation is a socket that is bound and never
// listens: Linux lets one listener share the address with it that may reuse addresses (SO_REUSEADDR), as Go's and PostgreSQL's may.
func Reserve() (address string, release func(), err error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", nil, fmt.Errorf("reserve a port: %w", err)
	}
	unix.CloseOnExec(socket)
	release = sync.OnceFunc(func() { _ = unix.Close(socket) })
	err = errors.Join(
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	)
	if err == nil {
		var name unix.Sockaddr
		if name, err = unix.Getsockname(socket); err == nil {
			if v4, ok := name.(*unix.SockaddrInet4); ok {
				return net.JoinHostPort("127.0.0.1", strconv.Itoa(v4.Port)), release, nil
			}
			err = fmt.Errorf("it has the address %T", name)
		}
	}
	release()
	return "", nil, fmt.Errorf("reserve a port of 127.0.0.1: %w", err)
}
