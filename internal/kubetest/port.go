//go:build unix

package kubetest

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// reservePort takes a free port of 127.0.0.1 until release is called. Nothing listens on it: a server that asks to share
// the port (SO_REUSEPORT) can, as often as it is restarted, and nobody else is given it in between.
func reservePort() (port int, release func(), err error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("reserve a port: %w", err)
	}
	unix.CloseOnExec(socket)
	release = func() { _ = unix.Close(socket) }
	err = errors.Join(
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	)
	if err == nil {
		var name unix.Sockaddr
		if name, err = unix.Getsockname(socket); err == nil {
			if v4, ok := name.(*unix.SockaddrInet4); ok {
				return v4.Port, release, nil
			}
			err = fmt.Errorf("it has the address %T", name)
		}
	}
	release()
	return 0, nil, fmt.Errorf("reserve a port of 127.0.0.1: %w", err)
}
