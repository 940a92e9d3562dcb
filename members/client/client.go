// Package client writes records to an intake and reads them from it, as boardwalk import and export do.
package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// Client is a client of an intake.
type Client struct {
	// Address is the intake's address, as in http://127.0.0.1:8090.
	Address string
	Token   string
	HTTP    *http.Client
	// Tries is how often a request is sent that the intake doesn't take for now, or doesn't answer, a second and more apart: another process may be taking
	// over. Every request may be sent again. 0 is 5.
	Tries int
}

const (
	// linesAtOnce and bytesAtOnce are what an intake takes in one batch.
	linesAtOnce, bytesAtOnce = 1000, 1 << 20
	// usualTries is the default of Client.Tries.
	usualTries = 5
)

func (c *Client) tries() int { return cmp.Or(c.Tries, usualTries) }

// Refused is a line that the intake refused.
type Refused struct {
	// Line counts from 1.
	Line int
	// Why names the field and what is allowed.
	Why string
}

// Imported is what became of the lines of an import.
type Imported struct {
	Lines, Written, Unchanged, Older int
	Refused                          int
}

// Import writes the lines of a file, as Export makes them, in batches. read is told how many bytes are done, and refused of each line that the intake
// refused. The intake ignores what it has already, so that an import that broke off is begun anew.
func (c *Client) Import(ctx context.Context, in io.Reader, read func(n int64), refused func(Refused)) (Imported, error) {
	var sum Imported
	b := batch{client: c, sum: &sum, refused: refused}
	lines := bufio.NewReaderSize(in, 1<<16)
	var done int64
	for {
		line, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return sum, fmt.Errorf("line %d: %w", sum.Lines+b.lines+1, err)
		}
		if len(line) == 0 && errors.Is(err, io.EOF) {
			break
		}
		done += int64(len(line))
		if b.lines == linesAtOnce || b.body.Len()+len(line)+1 > bytesAtOnce {
			if err := b.send(ctx); err != nil {
				return sum, err
			}
		}
		b.lines++
		b.body.Write(line)
		if !bytes.HasSuffix(line, []byte("\n")) {
			b.body.WriteByte('\n')
		}
		read(done)
	}
	return sum, b.send(ctx)
}

// readLine reads a line with its end. One that no batch has room for is an error.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > bytesAtOnce-1 {
			return nil, fmt.Errorf("has more than %d bytes", bytesAtOnce-1)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// batch are lines that are sent together.
type batch struct {
	client  *Client
	body    bytes.Buffer
	lines   int
	sum     *Imported
	refused func(Refused)
}

type result struct {
	Line    int
	Result  string
	Problem problem
}

type problem struct {
	Type, Title, Detail string
	Errors              []struct{ Field, Reason string }
}

func (p *problem) String() string {
	parts := []string{p.Title}
	if p.Detail != "" {
		parts = append(parts, p.Detail)
	}
	for _, e := range p.Errors {
		parts = append(parts, strings.TrimSpace(e.Field+" "+e.Reason))
	}
	return strings.Join(parts, ": ")
}

func (b *batch) send(ctx context.Context) error {
	if b.lines == 0 {
		return nil
	}
	answer, err := b.client.do(ctx, http.MethodPost, "/v1/batch", b.body.Bytes())
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(answer)
	if err := errors.Join(err, answer.Close()); err != nil {
		return fmt.Errorf("read the intake's answer: %w", err)
	}
	n := 0
	for line := range bytes.Lines(raw) {
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("the intake answers with a line that isn't its own: %w", err)
		}
		n++
		switch r.Result {
		case "written":
			b.sum.Written++
		case "unchanged":
			b.sum.Unchanged++
		case "older":
			b.sum.Older++
		default:
			b.sum.Refused++
			b.refused(Refused{b.sum.Lines + r.Line, r.Problem.String()})
		}
	}
	if n != b.lines {
		return fmt.Errorf("the intake answers %d lines of %d", n, b.lines)
	}
	b.sum.Lines += b.lines
	b.lines = 0
	b.body.Reset()
	return nil
}

// Export writes all members and wallets, a line each.
func (c *Client) Export(ctx context.Context, out io.Writer) error {
	answer, err := c.do(ctx, http.MethodGet, "/v1/export", nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, answer)
	return errors.Join(err, answer.Close())
}

// Do sends a request with a JSON body, or without one where body is nil, and reads the answer into out, which may be nil.
func (c *Client) Do(ctx context.Context, method, path string, body, out any) error {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	answer, err := c.do(ctx, method, path, raw)
	if err != nil {
		return err
	}
	if out != nil {
		err = json.NewDecoder(answer).Decode(out)
	}
	return errors.Join(err, answer.Close())
}

// do sends a request until the intake takes it, and gives the body of its 200.
func (c *Client) do(ctx context.Context, method, path string, body []byte) (io.ReadCloser, error) {
	for try := 1; ; try++ {
		req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Address, "/")+path, bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("the intake's address: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+c.Token)
		res, err := c.HTTP.Do(req)
		away := err != nil || res.StatusCode == http.StatusServiceUnavailable
		switch {
		case err != nil:
			err = fmt.Errorf("the intake doesn't answer: %w", err)
		case res.StatusCode == http.StatusOK:
			return res.Body, nil
		default:
			err = refusal(res)
		}
		if !away || try == c.tries() || !wait.For(ctx, time.Duration(try)*time.Second) {
			return nil, err
		}
	}
}

// longestProblem is the most bytes that are read of a refusal.
const longestProblem = 1 << 16

// RefusedError is a request that an intake understood and refused.
type RefusedError struct {
	// Status is the HTTP status, and Type the last part of the problem's type, as in handle-taken.
	Status int
	Type   string
	text   string
}

func (e *RefusedError) Error() string { return e.text }

func refusal(res *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(res.Body, longestProblem))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("the intake answers %s: %w", res.Status, err)
	}
	var p problem
	if json.Unmarshal(raw, &p) != nil || p.Title == "" {
		return fmt.Errorf("the intake answers %s: is this its address?", res.Status)
	}
	return &RefusedError{Status: res.StatusCode, Type: p.Type[strings.LastIndex(p.Type, "/")+1:], text: fmt.Sprintf("the intake answers %s: %s", res.Status, p.String())}
}
