// Package redistest gives tests real Redis servers: each on a socket of its own, with no port and nothing on disk that
// outlives it. Nothing of it is linked into the program.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// patience is how long a server may take to answer after its start, on a machine that is busy.
const patience = 30 * time.Second

// Server is a Redis server of a test's own.
type Server struct {
	dir  string
	args []string
	cmd  *exec.Cmd // nil while it is down
}

// Start starts an empty server, which ends with the test or, however that ends, with the process. args are further
// settings of redis-server, as in "--requirepass", "secret". Without a redis-server the test fails.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		tb.Fatal("redis-server is not installed: run make setup")
	}
	dir, err := os.MkdirTemp("", "boardwalk-redis-") //nolint:usetesting // a test's name may not fit the 107 bytes of a socket's path
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{dir: dir, args: args}
	tb.Cleanup(func() {
		s.Kill(tb)
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	s.Restart(tb)
	return s
}

// Socket is the path of the server's socket; it stays the same over restarts.
func (s *Server) Socket() string { return filepath.Join(s.dir, "redis.sock") }

// Address is the server's address as a URL, unix:///….
func (s *Server) Address() string { return (&url.URL{Scheme: "unix", Path: s.Socket()}).String() }

// Kill ends the server as a crash does: at once, with all that it held, and its socket's file stays. It does nothing to
// a server that is down.
func (s *Server) Kill(tb testing.TB) {
	tb.Helper()
	if s.cmd == nil {
		return
	}
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Fatal(err)
	}
	_ = s.cmd.Wait() // it says "killed"
	s.cmd = nil
}

// Restart starts the server again, empty, on the same socket, and returns when it answers.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.Kill(tb)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), patience)
	defer cancel()
	// The server outlives this call: it is ended by Kill.
	args := append([]string{
		"--port", "0", "--unixsocket", s.Socket(), "--unixsocketperm", "700", "--dir", s.dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--logfile", s.log(),
	}, s.args...)
	cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), "redis-server", args...)
	if err := storetest.Start(cmd); err != nil {
		tb.Fatalf("start redis-server: %v", err)
	}
	s.cmd = cmd
	retry := time.NewTicker(5 * time.Millisecond)
	defer retry.Stop()
	for {
		err := s.ping(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(s.log())
			tb.Fatalf("redis-server did not answer within %s: %v; its log:\n%s", patience, err, log)
		case <-retry.C:
		}
	}
}

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// ping asks for any answer: a server that wants a password first is up as well.
func (s *Server) ping(ctx context.Context) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", s.Socket())
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		if err := c.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(c, "PING\r\n"); err != nil {
		return err
	}
	var first [1]byte
	if _, err := io.ReadFull(c, first[:]); err != nil {
		return fmt.Errorf("read its answer: %w", err)
	}
	return nil
}
