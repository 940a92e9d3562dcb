package renderer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// patience bounds what is waited for. It ends what hangs and is no expectation.
const patience = 2 * time.Minute

// served is a renderer that runs.
type served struct {
	tb     testing.TB
	socket string
	client *http.Client
	stop   context.CancelFunc
	done   chan error

	registry *prometheus.Registry
}

func serve(tb testing.TB, o Options) *served {
	tb.Helper()
	if o.Socket == "" {
		o.Socket = filepath.Join(tb.TempDir(), "renderer.sock")
	}
	registry := prometheus.NewRegistry()
	o.Log, o.Now, o.Registry = slog.New(slog.NewTextHandler(tb.Output(), nil)), time.Now, registry
	if o.Deadline == 0 {
		o.Deadline = patience // of a busy machine
	}
	r, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &served{tb: tb, registry: registry, socket: o.Socket, stop: stop, done: make(chan error, 1), client: &http.Client{
		Timeout: patience,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", o.Socket)
		}},
	}}
	go func() { s.done <- r.Run(ctx) }()
	tb.Cleanup(s.end)
	// A socket is there before it takes connections.
	s.eventually(func() bool {
		c, err := new(net.Dialer).DialContext(ctx, "unix", o.Socket)
		return err == nil && c.Close() == nil
	})
	return s
}

// end stops the renderer; once is enough.
func (s *served) end() {
	s.tb.Helper()
	s.stop()
	if err, runs := <-s.done; runs {
		close(s.done)
		if err != nil {
			s.tb.Error(err)
		}
	}
	s.client.CloseIdleConnections()
}

func (s *served) eventually(is func() bool) {
	s.tb.Helper()
	for until := time.Now().Add(patience); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			s.tb.Fatal("it doesn't come about")
		}
	}
}

// answer is a response that was read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask gives the answer to a request.
func (s *served) ask(method, path string, body io.Reader) answer {
	s.tb.Helper()
	req, err := http.NewRequestWithContext(s.tb.Context(), method, "http://renderer"+path, body)
	if err != nil {
		s.tb.Fatal(err)
	}
	res, err := s.client.Do(req)
	if err != nil {
		s.tb.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		s.tb.Fatal(err)
	}
	return answer{status: res.StatusCode, header: res.Header, body: all}
}

func (s *served) post(c sharecard.Card) answer {
	s.tb.Helper()
	return s.ask(http.MethodPost, "/v1/cards/"+string(c.Kind()), body(s.tb, c))
}

func body(tb testing.TB, c sharecard.Card) io.Reader {
	tb.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.NewReader(raw)
}

// samples are a card of each kind.
func samples() []sharecard.Card {
	asset := sharecard.Asset{Mint: "0x4200000000000000000000000000000000000006", Chain: "Base", Symbol: "RKT", Name: "Rocket 東京 🚀"}
	return []sharecard.Card{
		&sharecard.Token{Asset: asset, PriceUSD: new(0.0421), Change24hPct: new(12.5), Day: []float64{1, 2, 3, 2.5, 4}},
		&sharecard.Launch{Asset: asset, Venue: "Boardwalk", Own: true, Stage: sharecard.StageCurve, Curve: &sharecard.Curve{ProgressPct: 61, Basis: "funds_raised", Raised: "12 ETH"}},
		&sharecard.Trader{Wallet: asset.Mint, Day: sharecard.Profit{RealisedUSD: new(120.5), Sells: 3, Wins: 2}, Line: []float64{0, 10, -5, 120}},
	}
}

func TestCardsAreDrawn(t *testing.T) {
	s := serve(t, Options{})
	s.eventually(func() bool {
		return s.ask(http.MethodGet, "/v1/health", nil).status == http.StatusOK
	})
	for _, c := range samples() {
		t.Run(string(c.Kind()), func(t *testing.T) {
			got := s.post(c)
			if got.status != http.StatusOK || got.header.Get("Content-Type") != "image/png" || got.header.Get(sharecard.VersionHeader) != sharecard.Version {
				t.Fatalf("%d %v: %.200s", got.status, got.header, got.body)
			}
			first := got.body
			if size, err := png.DecodeConfig(bytes.NewReader(first)); err != nil || size.Width != sharecard.Width || size.Height != sharecard.Height {
				t.Errorf("%dx%d: %v", size.Width, size.Height, err)
			}
			if len(first) > 200<<10 {
				t.Errorf("the card has %d bytes, more than links are shown with everywhere", len(first))
			}
			var all sync.WaitGroup
			for range 6 {
				all.Go(func() {
					if !bytes.Equal(first, s.post(c).body) {
						t.Error("the same card has other bytes")
					}
				})
			}
			all.Wait()
		})
	}
}

func TestWhatIsNoCardIsRefused(t *testing.T) {
	s := serve(t, Options{Program: "no-such-chromium"}) // nothing of it gets as far
	for name, c := range map[string]struct {
		path, body string
		status     int
		says       string
	}{
		"an unknown kind":     {"/v1/cards/coin", `{}`, 400, "use token, launch or trader"},
		"no JSON":             {"/v1/cards/token", `price`, 400, "invalid character"},
		"nothing":             {"/v1/cards/token", ``, 400, "EOF"},
		"an unknown field":    {"/v1/cards/token", `{"mint":"m","url":"http://localhost/"}`, 400, `unknown field "url"`},
		"another type":        {"/v1/cards/token", `{"mint":7}`, 400, "mint"},
		"two cards":           {"/v1/cards/token", `{"mint":"m"}{"mint":"n"}`, 400, "one JSON object is allowed"},
		"no mint":             {"/v1/cards/token", `{}`, 400, "mint is empty"},
		"an unknown stage":    {"/v1/cards/launch", `{"mint":"m","stage":"moon"}`, 400, "use curve, completed, graduated or live"},
		"more wins than sold": {"/v1/cards/trader", `{"wallet":"w","day":{"wins":2,"sells":1}}`, 400, "wins are 2 of 1"},
		"too long a body":     {"/v1/cards/token", `{"name":"` + strings.Repeat("x", sharecard.MaxBody) + `"}`, 413, "at most 4194304 bytes"},
		"another path":        {"/v1/cards", `{}`, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.ask(http.MethodPost, c.path, strings.NewReader(c.body))
			if got.status != c.status || !strings.Contains(string(got.body), c.says) {
				t.Errorf("%d: %s", got.status, got.body)
			}
		})
	}
	if got := s.ask(http.MethodGet, "/v1/cards/token", nil); got.status != http.StatusMethodNotAllowed {
		t.Errorf("GET of a card: %d", got.status)
	}
}

func TestWithoutABrowserTheAnswerSaysWhenToComeAgain(t *testing.T) {
	s := serve(t, Options{Program: "no-such-chromium"})
	for what, got := range map[string]answer{"a card": s.post(samples()[0]), "health": s.ask(http.MethodGet, "/v1/health", nil)} {
		if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %v: %s", what, got.status, got.header, got.body)
		}
	}
}

// slow is a request of which a part has been sent.
type slow struct {
	tb   testing.TB
	conn net.Conn
}

const slowBody = `{"mint":"m"}`

// begin sends a request but for the end of its body.
func (s *served) begin() *slow {
	s.tb.Helper()
	conn, err := new(net.Dialer).DialContext(s.tb.Context(), "unix", s.socket)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "POST /v1/cards/token HTTP/1.1\r\nHost: renderer\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(slowBody), slowBody[:5]); err != nil {
		s.tb.Fatal(err)
	}
	return &slow{tb: s.tb, conn: conn}
}

// finish sends the rest and gives the status.
func (s *slow) finish() int {
	s.tb.Helper()
	if _, err := io.WriteString(s.conn, slowBody[5:]); err != nil {
		s.tb.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(s.conn), nil)
	if err != nil {
		s.tb.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode
}

// queue gives how many cards wait or are drawn.
func (s *served) queue() float64 {
	s.tb.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "boardwalk_renderer_queue" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	s.tb.Fatal("there is no such metric")
	return 0
}

func TestAFullQueueSaysWhenToComeAgain(t *testing.T) {
	s := serve(t, Options{Tabs: 1, Queue: 1})
	first, second := s.begin(), s.begin()
	s.eventually(func() bool { return s.queue() == 2 })
	if got := s.post(samples()[0]); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
		t.Errorf("a third: %d %v: %s", got.status, got.header, got.body)
	}
	for _, had := range []*slow{first, second} {
		if got := had.finish(); got != http.StatusOK {
			t.Errorf("one that had a place: %d", got)
		}
	}
}

func TestACardThatTakesTooLongIsGivenUp(t *testing.T) {
	s := serve(t, Options{Deadline: time.Nanosecond})
	if got := s.post(samples()[0]); got.status != http.StatusGatewayTimeout {
		t.Errorf("%d: %s", got.status, got.body)
	}
}

func TestCardsInFlightHaveTheirWholeTimeAtTheEnd(t *testing.T) {
	for _, deadline := range []time.Duration{0, time.Second, time.Minute} {
		if has := (&Renderer{o: Options{Deadline: deadline}}).drain(); has < 10*time.Second || has <= deadline {
			t.Errorf("a card may take %s and has %s at the end", deadline, has)
		}
	}
}

func TestCardsInFlightAreDrawnAtTheEnd(t *testing.T) {
	s := serve(t, Options{})
	inFlight := s.begin()
	s.eventually(func() bool { return s.queue() == 1 })
	s.stop()
	s.eventually(func() bool { // it takes no more
		conn, err := new(net.Dialer).DialContext(t.Context(), "unix", s.socket)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	if got := inFlight.finish(); got != http.StatusOK {
		t.Errorf("the card in flight: %d", got)
	}
	s.end()
	if _, err := os.Lstat(s.socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

// TestOneOfManyTakesAnAbandonedSocket has renderers that find the socket of a killed one at the same time.
func TestOneOfManyTakesAnAbandonedSocket(t *testing.T) {
	t.Parallel()
	for range 50 {
		path := filepath.Join(t.TempDir(), "renderer.sock")
		abandonSocket(t, path)
		const many = 8
		listeners, errs := make([]net.Listener, many), make([]error, many)
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() { listeners[i], errs[i] = listen(t.Context(), path) })
		}
		all.Wait()
		won := 0
		for i, l := range listeners {
			if l != nil {
				won++
				_ = l.Close()
			} else if !strings.Contains(errs[i].Error(), "another program answers") {
				t.Error(errs[i])
			}
		}
		if won != 1 {
			t.Fatalf("%d of %d renderers have the socket", won, many)
		}
	}
}

// abandonSocket leaves a socket as a killed program does.
func abandonSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTheSocketIsThisProgramsOwn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "renderer.sock")
	abandonSocket(t, path)
	serve(t, Options{Socket: path, Program: "no-such-chromium"}).eventually(func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().Perm() == socketMode
	})
	second := &Program{
		Options:    Options{Socket: path, Log: slog.New(slog.DiscardHandler), Now: time.Now},
		Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"}, Metrics: prometheus.NewRegistry(),
	}
	if err := second.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "another program answers") {
		t.Errorf("a second renderer on the same socket: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	second.Socket, second.Metrics = file, prometheus.NewRegistry()
	if err := second.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a file in the socket's place: %v", err)
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != "kept" {
		t.Errorf("the file is %q: %v", kept, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	whole := Options{Socket: "s", Log: slog.New(slog.DiscardHandler), Now: time.Now}
	for name, change := range map[string]func(*Options){
		"no socket":           func(o *Options) { o.Socket = "" },
		"no log":              func(o *Options) { o.Log = nil },
		"no clock":            func(o *Options) { o.Now = nil },
		"a negative deadline": func(o *Options) { o.Deadline = -1 },
		"a negative queue":    func(o *Options) { o.Queue = -1 },
	} {
		o := whole
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := New(whole); err != nil {
		t.Error(err)
	}
}
