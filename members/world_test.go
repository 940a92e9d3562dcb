package members_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/members"
	"github.com/boardwalkhq/boardwalk/members/client"
	"github.com/boardwalkhq/boardwalk/members/contract"
)

const (
	token      = "the token"
	deployment = "https://app.example.com"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// intake is a members program on a database of its own, and a client of it. Every answer is held to the document.
type intake struct {
	t       testing.TB
	dsn     string
	address string
	clock   *clock
	ends    context.CancelFunc
	ended   chan error
	tokens  string
	// listen is the address that the program listens on; empty is any.
	listen string
	// api is the address of the API server that it asks; empty is none.
	api     string
	metrics *prometheus.Registry
	// started is when the program was started last, in unix milliseconds.
	started int64
}

// document checks answers against the intake's document.
var document = sync.OnceValues(func() (validator.Validator, error) {
	doc, err := libopenapi.NewDocument(contract.Document())
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(doc, config.WithFormatAssertions())
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return v, nil
})

func open(t *testing.T, kind string) *intake {
	t.Helper()
	return openAt(t, storetest.DSN(t, kind), &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)})
}

// openBench is an intake on PostgreSQL for a benchmark.
func openBench(b *testing.B) *client.Client {
	b.Helper()
	return openAt(b, storetest.DSN(b, "postgres"), &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}).client()
}

func openAt(tb testing.TB, dsn string, c *clock) *intake {
	tb.Helper()
	sum := sha256.Sum256([]byte(token))
	in := &intake{t: tb, dsn: dsn, clock: c, tokens: filepath.Join(tb.TempDir(), "tokens")}
	if err := os.WriteFile(in.tokens, []byte(hex.EncodeToString(sum[:])+" the app\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	if st, err := store.Open(tb.Context(), dsn); err != nil { // makes the schema
		tb.Fatal(err)
	} else if err := st.Close(); err != nil {
		tb.Fatal(err)
	}
	in.start()
	tb.Cleanup(in.stop)
	return in
}

// start runs the program until stop.
func (in *intake) start() {
	in.t.Helper()
	in.started = time.Now().UnixMilli()
	in.metrics = telemetry.NewRegistry()
	ready := make(chan net.Addr, 1)
	p := &members.Program{
		Listen: cmp.Or(in.listen, "127.0.0.1:0"), TokensFile: in.tokens, Deployment: deployment, API: in.api, Database: in.dsn, Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"},
		Ready: func(a net.Addr) { ready <- a }, Metrics: in.metrics, Now: in.clock.Now, Log: slog.New(slog.DiscardHandler),
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(in.t.Context()))
	in.ends, in.ended = cancel, make(chan error, 1)
	go func() { in.ended <- p.Run(ctx) }()
	select {
	case a := <-ready:
		in.address = "http://" + a.String()
	case err := <-in.ended:
		in.t.Fatalf("it ended: %v", err)
	case <-time.After(time.Minute):
		in.t.Fatal("it is not ready")
	}
}

// stop ends the program; a second time it does nothing.
func (in *intake) stop() {
	if in.ends == nil {
		return
	}
	in.ends()
	if err := <-in.ended; err != nil {
		in.t.Error(err)
	}
	in.ends = nil
}

// answer is what the intake answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// problem is the last part of the type of the problem that it is; empty for another answer.
func (a *answer) problem() string {
	var p struct{ Type string }
	if json.Unmarshal(a.body, &p) != nil {
		return ""
	}
	return strings.TrimPrefix(p.Type, "/problems/")
}

// do sends a request. Headers come in pairs.
func (in *intake) do(method, path string, body []byte, headers ...string) *answer {
	in.t.Helper()
	req, err := http.NewRequestWithContext(in.t.Context(), method, in.address+path, bytes.NewReader(body))
	if err != nil {
		in.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if path == "/v1/batch" || strings.HasPrefix(path, "/v1/batch?") {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		in.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		in.t.Fatal(err)
	}
	in.check(req, res, raw)
	return &answer{res.StatusCode, res.Header, raw}
}

// check holds an answer to the document. A route or method that isn't there stands in none.
func (in *intake) check(req *http.Request, res *http.Response, raw []byte) {
	in.t.Helper()
	slug := (&answer{body: raw}).problem()
	if slug == "route-not-found" || slug == "method-not-allowed" {
		return
	}
	v, err := document()
	if err != nil {
		in.t.Fatal(err)
	}
	asked := req.Clone(in.t.Context())
	asked.Body = http.NoBody
	held := &http.Response{StatusCode: res.StatusCode, Header: res.Header.Clone(), Body: io.NopCloser(bytes.NewReader(raw))}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/x-ndjson") {
		return // its lines are JSON, which the validator doesn't read
	}
	if ok, findings := v.ValidateHttpResponse(asked, held); !ok {
		for _, f := range findings {
			in.t.Errorf("%s %s answers %d: %s: %s\n%s", req.Method, req.URL.Path, res.StatusCode, f.Message, f.Reason, raw)
			for _, s := range f.SchemaValidationErrors {
				in.t.Errorf("  %s at %s", s.Reason, s.FieldPath)
			}
		}
	}
}

// put writes and gives the result, or the problem.
func (in *intake) put(path, body string, headers ...string) string {
	in.t.Helper()
	return resultOf(in.do(http.MethodPut, path, []byte(body), headers...))
}

func (in *intake) delete(path string) string {
	in.t.Helper()
	return resultOf(in.do(http.MethodDelete, path, nil))
}

func resultOf(a *answer) string {
	var w struct{ Result string }
	if a.status == http.StatusOK && json.Unmarshal(a.body, &w) == nil {
		return w.Result
	}
	return a.problem()
}

// member writes a member at a time of its own.
func (in *intake) member(id, handle string) {
	in.t.Helper()
	if got := in.put("/v1/members/"+id, `{"handle":"`+handle+`","joined_at":"2026-01-01T00:00:00Z","updated_at":"`+in.tick()+`"}`); got != "written" {
		in.t.Fatalf("write %s: %s", id, got)
	}
}

// tick moves the clock on by a millisecond and gives its time.
func (in *intake) tick() string {
	in.clock.add(time.Millisecond)
	return in.clock.Now().Format(time.RFC3339Nano)
}

// get reads JSON.
func (in *intake) get(path string, v any) {
	in.t.Helper()
	a := in.do(http.MethodGet, path, nil)
	if a.status != http.StatusOK {
		in.t.Fatalf("GET %s: %d %s", path, a.status, a.body)
	}
	if err := json.Unmarshal(a.body, v); err != nil {
		in.t.Fatal(err)
	}
}

// memberAnswer is a member as the intake answers.
type memberAnswer struct {
	ID      member.ID
	Handle  string
	Wallets []struct {
		Family, Address, Since string
		Chain                  *string
		Public, Attested       bool
		Proof                  *struct{ Text, Signature string }
	}
}

// both runs a test on either database.
func both(t *testing.T, f func(in *intake)) {
	t.Helper()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f(open(t, kind))
		})
	}
}
