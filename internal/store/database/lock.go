package database

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// lockFile holds path for this process until the returned function is called; the kernel frees it when the process
// dies.
func lockFile(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrFileLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return sync.OnceValue(func() error {
		// To close the file isn't enough: a child that is being started has a copy of the descriptor for a moment, and would hold the lock.
		return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
	}), nil
}
