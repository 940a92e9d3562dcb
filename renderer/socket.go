package renderer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socketMode lets the owner and the group ask for cards.
const socketMode = 0o660

// lockPatience is how long a renderer waits for another one that begins to listen in the same folder.
const lockPatience = 5 * time.Second

// listen listens on a Unix socket. One that a killed program left is removed; one on which somebody answers is not.
func listen(ctx context.Context, path string) (net.Listener, error) {
	// Of two that find the same abandoned socket, the second would else remove the socket that the first has just made.
	unlock, err := lockFolder(ctx, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("renderer: listen: %w", err)
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(fmt.Errorf("renderer: listen: %w", err), l.Close())
	}
	return l, nil
}

// lockFolder locks a folder against other renderers that begin to listen there. The kernel gives the lock up with the program.
func lockFolder(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("renderer: listen: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("renderer: lock the socket's folder %s: %w", dir, err), f.Close())
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("renderer: another program keeps the folder %s locked: end it, or give the socket a folder of its own", dir), f.Close())
		}
	}
}

func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("renderer: listen: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("renderer: %s is no socket: choose another path, or remove it", path)
	}
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("renderer: another program answers on %s: end it, or choose another path", path), conn.Close())
	case !errors.Is(err, syscall.ECONNREFUSED):
		// Somebody may be there who has too much to do, or whom this program may not ask.
		return fmt.Errorf("renderer: can't tell whether another program uses %s: %w", path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("renderer: remove a socket that nobody answers on: %w", err)
	}
	return nil
}
