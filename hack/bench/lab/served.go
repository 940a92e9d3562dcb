package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// Served is a server that runs as a child of this process.
type Served struct {
	// Address is what it said when it was ready: where it listens.
	Address string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	log     string
}

// StartChild starts this program again with another command, and waits until it says where it is. what is what it is called in
// errors and in the name of its log.
func StartChild(ctx context.Context, dir, what string, args ...string) (*Served, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return StartProcess(dir, what, exec.CommandContext(ctx, self, args...))
}

// StartProcess is startChild with another program, which says a line of JSON when it is ready and ends with its input.
func StartProcess(dir, what string, cmd *exec.Cmd) (_ *Served, err error) {
	log, err := os.CreateTemp(dir, what+"-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has it by then
	s := &Served{cmd: cmd, log: log.Name()}
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
	if err := s.out.Decode(&s.Address); err != nil {
		return nil, errors.Join(fmt.Errorf("the %s did not start: %w", what, err), s.Stop())
	}
	return s, nil
}

// PID is its process.
func (s *Served) PID() int { return s.cmd.Process.Pid }

// Ask sends a line and reads the answer.
func (s *Served) Ask(line string, answer any) error {
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		return fmt.Errorf("the server is gone: %w; it said last:\n%s", err, tail(s.log))
	}
	if err := s.out.Decode(answer); err != nil {
		return fmt.Errorf("the server did not answer %q: %w; it said last:\n%s", line, err, tail(s.log))
	}
	return nil
}

// Usage is what it has used.
func (s *Served) Usage() (u UsageNow, err error) { return u, s.Ask("usage", &u) }

// Stop ends the server.
func (s *Served) Stop() error {
	_ = s.in.Close() // it ends with its input
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("the server ended by itself: %w; it said last:\n%s", err, tail(s.log))
	}
	return nil
}

// Silent fails when the server complained of something.
func (s *Served) Silent() error {
	if said := tail(s.log); len(said) > 0 {
		return fmt.Errorf("the server complained:\n%s", said)
	}
	return nil
}

// End runs f, ends the server, and fails when it complained meanwhile.
func (s *Served) End(f func() error) error {
	return errors.Join(f(), s.Silent(), s.Stop())
}

// Answer is a whole answer, for comparing and for writing it elsewhere.
type Answer struct {
	Header http.Header
	Body   []byte
}

// Fetch asks a server once, as a client that the measurement doesn't count. Any answer but 200 is an error.
func Fetch(ctx context.Context, address, target string) (*Answer, error) {
	return FetchAs(ctx, address, target, "198.51.100.1")
}

// FetchAs is Fetch as a client with an IP address.
func FetchAs(ctx context.Context, address, target, client string) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+target, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Forwarded-For", client)
	once := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	res, err := once.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %d: %.300s", target, res.StatusCode, body)
	}
	return &Answer{res.Header, body}, err
}
