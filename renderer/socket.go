package renderer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// socketMode lets the owner and the group ask for cards.
const socketMode = 0o660

// listen listens on a Unix socket. One that a killed program left is removed; one on which somebody answers is not.
func listen(ctx context.Context, path string) (net.Listener, error) {
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
