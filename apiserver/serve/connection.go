package serve

import (
	"errors"
	"io"
	"syscall"
)

// tryWrite writes what the kernel takes at once.
func (c *conn) tryWrite(b []byte) (n int, err error) {
	raw, err := c.raw()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		n, failed = syscall.Write(int(fd), b)
		return true
	})
	if failed != nil {
		n = 0
	}
	if errors.Is(failed, syscall.EAGAIN) || errors.Is(failed, syscall.EINTR) {
		failed = nil
	}
	if n > 0 {
		c.heard.Store(c.l.o.Now().UnixNano())
	}
	return n, errors.Join(err, failed)
}

// isGone reports whether the other side has closed the connection.
func (c *conn) isGone() bool {
	raw, err := c.raw()
	if err != nil {
		return true
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		var n int
		var one [1]byte
		n, _, failed = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if n == 0 && failed == nil {
			failed = io.EOF
		}
		return true
	})
	return err != nil || failed != nil && !errors.Is(failed, syscall.EAGAIN) && !errors.Is(failed, syscall.EINTR)
}

func (c *conn) raw() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.New("serve: the connection has no descriptor")
	}
	return s.SyscallConn()
}
