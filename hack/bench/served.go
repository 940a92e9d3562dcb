package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// served is a server that runs as a child of this process.
type served struct {
	address string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	log     string
}

// serveAPI starts the API server on a database. Its clock begins when the newest block is a second old.
func serveAPI(ctx context.Context, dir, dsn string, more ...string) (*served, error) {
	return startServed(ctx, dir, append([]string{"--db", dsn, "--now", strconv.FormatInt(worldEnd+1, 10)}, more...)...)
}

// serveBoard starts the API server on a database of the board's world. Its clock begins with the chains'.
func serveBoard(ctx context.Context, dir, dsn string, clock *boardClock) (*served, error) {
	clock.start()
	return startServed(ctx, dir, "--board", "--db", dsn, "--now", strconv.FormatInt(clock.now().Unix(), 10))
}

// serveBare starts a router with one route that writes an answer.
func serveBare(ctx context.Context, dir string, a *bareAnswer) (*served, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "answer.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return nil, err
	}
	return startServed(ctx, dir, "--bare", path)
}

func startServed(ctx context.Context, dir string, args ...string) (*served, error) {
	return startChild(ctx, dir, "server", append([]string{"serve"}, args...)...)
}

// startChild starts this program again with another command, and waits until it says where it is. what is what it is called in
// errors and in the name of its log.
func startChild(ctx context.Context, dir, what string, args ...string) (*served, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return startProcess(dir, what, exec.CommandContext(ctx, self, args...))
}

// startProcess is startChild with another program, which says a line of JSON when it is ready and ends with its input.
func startProcess(dir, what string, cmd *exec.Cmd) (_ *served, err error) {
	log, err := os.CreateTemp(dir, what+"-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has it by then
	s := &served{cmd: cmd, log: log.Name()}
	s.cmd.Stderr = log
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = json.NewDecoder(out)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", what, err)
	}
	if err := s.out.Decode(&s.address); err != nil {
		return nil, errors.Join(fmt.Errorf("the %s did not start: %w", what, err), s.stop())
	}
	return s, nil
}

// ask sends a line and reads the answer.
func (s *served) ask(line string, answer any) error {
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		return fmt.Errorf("the server is gone: %w; it said last:\n%s", err, tail(s.log))
	}
	if err := s.out.Decode(answer); err != nil {
		return fmt.Errorf("the server did not answer %q: %w; it said last:\n%s", line, err, tail(s.log))
	}
	return nil
}

func (s *served) usage() (u usageNow, err error) { return u, s.ask("usage", &u) }

// profiled runs f while the server's CPU profile is taken.
func (s *served) profiled(path string, f func() error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	var done string
	if err := s.ask("profile "+path, &done); err != nil {
		return err
	}
	err = f()
	if err := errors.Join(err, s.ask("profiled", &done)); err != nil {
		return err
	}
	say("profile: wrote %s; read it with: go tool pprof -top %s", path, path)
	return nil
}

// heap writes a profile of what lives on the server's heap.
func (s *served) heap(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	var done string
	if err := s.ask("heap "+path, &done); err != nil {
		return err
	}
	say("profile: wrote %s; read it with: go tool pprof -sample_index=inuse_space -top %s", path, path)
	return nil
}

// maybeProfiled is f, with the server's CPU profile when a file is named for it.
func (s *served) maybeProfiled(path string, f func() error) func() error {
	if path == "" {
		return f
	}
	return func() error { return s.profiled(path, f) }
}

// stop ends the server.
func (s *served) stop() error {
	_ = s.in.Close() // it ends with its input
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("the server ended by itself: %w; it said last:\n%s", err, tail(s.log))
	}
	return nil
}

// silent fails when the server complained of something.
func (s *served) silent() error {
	if said := tail(s.log); len(said) > 0 {
		return fmt.Errorf("the server complained:\n%s", said)
	}
	return nil
}

// answerOf is a whole answer, for comparing and for writing it elsewhere.
type answerOf struct {
	status int
	header http.Header
	body   []byte
}

// fetch asks a server once, as the first client.
func fetch(ctx context.Context, address, target string) (*answerOf, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+target, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Forwarded-For", "198.51.100.1") // no client of the measurement
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	return &answerOf{res.StatusCode, res.Header, body}, nil
}

// notRouted reports whether an answer says that the server has no such path.
func (a *answerOf) notRouted() bool {
	var p struct{ Type string }
	return a.status == http.StatusNotFound && json.Unmarshal(a.body, &p) == nil && filepath.Base(p.Type) == "route-not-found"
}
