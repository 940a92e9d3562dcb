package lab

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

// Watched is a program whose output is kept and whose memory is watched.
type Watched struct {
	Cmd    *exec.Cmd
	output string
	Ended  chan struct{} // closed when it has
	Err    error         // how it ended
	Peak   atomic.Int64
}

// StartWatched starts a program with its output in a folder.
func StartWatched(cmd *exec.Cmd, dir string) (*Watched, error) {
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
	w := &Watched{Cmd: cmd, output: output.Name(), Ended: make(chan struct{})}
	go func() {
		w.Err = cmd.Wait()
		close(w.Ended)
	}()
	go w.watch()
	return w, nil
}

// watch reads the peak of memory. The kernel's own figure, of rusage, has in it what this program used when it started the
// process.
func (w *Watched) watch() {
	for {
		if _, peak := memoryOf(w.Cmd.Process.Pid); peak > 0 {
			w.Peak.Store(peak)
		}
		select {
		case <-w.Ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Running fails once the program has ended.
func (w *Watched) Running() error {
	select {
	case <-w.Ended:
		return w.Failed(errors.Join(errors.New("it ended before it was done"), w.Err))
	default:
		return nil
	}
}

// Failed adds what the program said last.
func (w *Watched) Failed(err error) error {
	return fmt.Errorf("%w; it said last:\n%s", err, tail(w.output))
}

// Stop ends the program, unless it has ended.
func (w *Watched) Stop() {
	_ = w.Cmd.Process.Signal(syscall.SIGTERM)
	<-w.Ended
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

// BuildBoardwalk builds the program of this checkout into a folder.
func BuildBoardwalk(ctx context.Context, dir string) (string, error) {
	Say("boardwalk: building it")
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

// IndexerOn is the command of an indexer on a chain document. operations is where it answers for its profile.
func IndexerOn(ctx context.Context, binary, document, dsn string) (cmd *exec.Cmd, operations string, err error) {
	port, err := FreePort(ctx)
	if err != nil {
		return nil, "", err
	}
	operations = "127.0.0.1:" + port
	cmd = exec.CommandContext(ctx, binary, "indexer", "--config", document, "--operations", operations, "--pprof")
	cmd.Env = append(os.Environ(), "BOARDWALK_DB="+dsn)
	return cmd, operations, nil
}

// Indexed is the newest block that an indexer has committed; 0 before the first.
func Indexed(ctx context.Context, conn *pgx.Conn) (number uint64, err error) {
	err = conn.QueryRow(ctx, "SELECT number FROM chains").Scan(&number)
	return number, NotYet(err)
}

// NotYet passes over that a table or its row is not there yet.
func NotYet(err error) error {
	var state interface{ SQLState() string }
	const undefinedTable, undefinedSchema = "42P01", "3F000"
	if errors.Is(err, pgx.ErrNoRows) || errors.As(err, &state) && (state.SQLState() == undefinedTable || state.SQLState() == undefinedSchema) {
		return nil
	}
	return err
}

// CPUProfile saves a profile of some seconds of a program that answers for it at an address, as soon as that listens.
func CPUProfile(ctx context.Context, operations string, seconds int, path string) error {
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
		Say("profile: writing %s; read it with: go tool pprof -top %s", path, path)
		return os.WriteFile(path, raw, 0o600)
	}
}
