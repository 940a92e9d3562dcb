package database

import (
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout is a hint: without it the kernel takes longer to give up.
func setUserTimeout(fd uintptr, d time.Duration) {
	_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
}
