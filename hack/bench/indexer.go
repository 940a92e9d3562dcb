package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// watched is a program whose output is kept and whose memory is watched.
type watched struct {
	cmd    *exec.Cmd
	output string
	ended  chan struct{} // closed when it has
	err    error         // how it ended
	peak   atomic.Int64
}

// startWatched starts a program with its output in a folder.
func startWatched(cmd *exec.Cmd, dir string) (*watched, error) {
	output, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }() // the program has it by then
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := dbserver.Start(cmd); err != nil {
		return nil, fmt.Errorf("start it: %w", err)
	}
	w := &watched{cmd: cmd, output: output.Name(), ended: make(chan struct{})}
	go func() {
		w.err = cmd.Wait()
		close(w.ended)
	}()
	go w.watch()
	return w, nil
}

// watch reads the peak of memory. The kernel's own figure, of rusage, has in it what this program used when it started the
// process.
func (w *watched) watch() {
	for {
		if _, peak := memoryOf(w.cmd.Process.Pid); peak > 0 {
			w.peak.Store(peak)
		}
		select {
		case <-w.ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// running fails once the program has ended.
func (w *watched) running() error {
	select {
	case <-w.ended:
		return w.failed(errors.Join(errors.New("it ended before it was done"), w.err))
	default:
		return nil
	}
}

// failed adds what the program said last.
func (w *watched) failed(err error) error {
	return fmt.Errorf("%w; it said last:\n%s", err, tail(w.output))
}

// stop ends the program, unless it has ended.
func (w *watched) stop() {
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	<-w.ended
}

// tail is the end of what a program printed.
func tail(path string) []byte {
	raw, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-15):], []byte("\n"))
}

// buildBoardwalk builds the program of this checkout into a folder.
func buildBoardwalk(ctx context.Context, dir string) (string, error) {
	say("boardwalk: building it")
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/boardwalkhq/boardwalk").Output()
	if err != nil {
		return "", fmt.Errorf("find this module: %w (run it in Boardwalk's checkout, or name a binary with --boardwalk)", err)
	}
	binary := filepath.Join(dir, "boardwalk")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
	build.Dir = strings.TrimSpace(string(root))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build boardwalk: %w\n%s", err, out)
	}
	return binary, nil
}

// indexerOn is the command of an indexer on a chain document. operations is where it answers for its profile.
func indexerOn(ctx context.Context, binary, document, dsn string) (cmd *exec.Cmd, operations string, err error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, "", err
	}
	operations = fmt.Sprintf("127.0.0.1:%d", port)
	cmd = exec.CommandContext(ctx, binary, "indexer", "--config", document, "--operations", operations, "--pprof")
	cmd.Env = append(os.Environ(), "BOARDWALK_DB="+dsn)
	return cmd, operations, nil
}

// indexed is the newest block that an indexer has committed; 0 before the first.
func indexed(ctx context.Context, conn *pgx.Conn) (number uint64, err error) {
	err = conn.QueryRow(ctx, "SELECT number FROM chains").Scan(&number)
	return number, notYet(err)
}

// notYet passes over that a table or its row is not there yet.
func notYet(err error) error {
	var state interface{ SQLState() string }
	const undefinedTable, undefinedSchema = "42P01", "3F000"
	if errors.Is(err, pgx.ErrNoRows) || errors.As(err, &state) && (state.SQLState() == undefinedTable || state.SQLState() == undefinedSchema) {
		return nil
	}
	return err
}

// cpuProfile saves a profile of some seconds of a program that answers for it at an address, as soon as that listens.
func cpuProfile(ctx context.Context, operations string, seconds int, path string) error {
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", operations, seconds)
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		res, err := (&http.Client{}).Do(req) // ctx bounds it
		if err != nil {
			if !wait.For(ctx, 10*time.Millisecond) {
				return err
			}
			continue
		}
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode != http.StatusOK {
			return errors.New("profile: the program answered " + res.Status)
		}
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		say("profile: writing %s; read it with: go tool pprof -top %s", path, path)
		return os.WriteFile(path, raw, 0o600)
	}
}
