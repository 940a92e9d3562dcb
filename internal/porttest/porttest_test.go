package porttest_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/boardwalkhq/boardwalk/internal/porttest"
)

// TestReserve listens at a reserved address again and again. In between nobody is there, and nobody who asks for any free port gets this one.
func TestReserve(t *testing.T) {
	t.Parallel()
	address := porttest.Address(t)
	for range 2 {
		if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a connection to a reserved address: %v, %v", c, err)
		}
		if isFree(t, address) {
			t.Error("another may have the port")
		}
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.Close(), l.Close()); err != nil {
			t.Error(err)
		}
	}
}

// isFree reports whether somebody who doesn't share addresses may have one.
func isFree(t *testing.T, address string) bool {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(socket) }()
	return unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: a.Port}) == nil
}
