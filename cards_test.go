package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/renderer"
	"github.com/boardwalkhq/boardwalk/up"
)

// reply is what there is to an answer beside its body.
type reply struct {
	StatusCode int
	Status     string
	Header     http.Header
}

// fetch asks for what isn't JSON.
func (r *running) fetch(t *testing.T, path string, header http.Header) (reply, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Status, res.Header}, body
}

// card fetches a card, which must be one.
func (r *running) card(t *testing.T, path string) (reply, []byte) {
	t.Helper()
	res, body := r.fetch(t, path, nil)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "image/png" {
		t.Fatalf("%s: %s %v %s", path, res.Status, res.Header, body)
	}
	size, err := png.DecodeConfig(bytes.NewReader(body))
	if err != nil || size.Width != sharecard.Width || size.Height != sharecard.Height {
		t.Fatalf("%s: %+v, %v", path, size, err)
	}
	return res, body
}

// TestCards is share cards from end to end: a chain with launches and traders, the indexer, the API, the renderer and its
// browser. They are drawn by `up` itself, and then by a renderer beside it, which is taken away.
func TestCards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, desk := launchChain(t, dir)
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "cards.db")
	r := startUpWith(t, func(p *up.Program) { p.DrawCards = true }, dsn, "config/samples", dir)
	eventually(t, "no card is drawn", func() bool {
		res, _ := r.fetch(t, "/api/pnl-card/trader/"+w.Traders[0]+".png", nil)
		return res.StatusCode == http.StatusOK
	})
	var live contract.MarketLive
	var launches []contract.LaunchCard
	eventually(t, "there are no tokens or no launches", func() bool {
		r.get(t, "/api/market/live?per_chain=50", &live)
		launches = r.board(t, "sort=new")
		return len(live.Tokens) > 0 && len(launches) > 0
	})
	paths := []string{
		"/api/pnl-card/token/" + live.Tokens[0].Mint + ".png", "/api/pnl-card/launch/" + launches[0].Mint + ".png",
		"/api/pnl-card/trader/" + w.Traders[0] + ".png",
	}
	for _, path := range paths {
		eventually(t, path+" never stands still", func() bool { // while blocks are still read, it has reason to change
			if res, _ := r.fetch(t, path, nil); res.StatusCode != http.StatusOK { // a busy machine may not have drawn it in time
				return false
			}
			first, body := r.card(t, path)
			again, same := r.card(t, path)
			tag := first.Header.Get("ETag")
			if unchanged := again.Header.Get("ETag") == tag; unchanged != bytes.Equal(body, same) {
				t.Fatalf("%s: a card and its ETag don't change together", path)
			}
			res, _ := r.fetch(t, path, http.Header{"If-None-Match": {tag}})
			return res.StatusCode == http.StatusNotModified
		})
	}
	for path, slug := range map[string]string{"token": "token-not-found", "launch": "launch-not-found", "trader": "trader-not-found"} {
		res, body := r.fetch(t, "/api/pnl-card/"+path+"/0x00000000000000000000000000000000000000ff.png", nil)
		var p contract.Problem
		if err := json.Unmarshal(body, &p); err != nil || res.StatusCode != http.StatusNotFound ||
			res.Header.Get("Content-Type") != "application/problem+json" || !strings.HasSuffix(p.Type, slug) {
			t.Errorf("an unknown %s: %s %s", path, res.Status, body)
		}
	}
	if res, page := r.fetch(t, "/t/"+live.Tokens[0].Mint, nil); res.StatusCode != http.StatusOK || !strings.Contains(string(page), r.url+paths[0]) {
		t.Errorf("the share page: %s %s", res.Status, page)
	}
	r.stop(t)

	socket, registry, end := drawBeside(t)
	r = startUpWith(t, func(p *up.Program) { p.Renderer = socket }, dsn, "config/samples", dir)
	at := slices.IndexFunc(desk.Launches(), func(l *launch.Launch) bool { return r.launched(t, l.Token).Graduation.State == "curve" })
	if at < 0 {
		t.Fatal("no launch is on its curve")
	}
	launched := desk.Launches()[at]
	path := "/api/pnl-card/launch/" + launched.Token + ".png"
	eventually(t, "no card is drawn", func() bool {
		res, _ := r.fetch(t, path, nil)
		return res.StatusCode == http.StatusOK
	})
	// What the card shows may change at any moment, by its age alone: a render is owed for each of its looks, and only once.
	before, body := r.card(t, path)
	drawn, looks := renders(t, registry), 0
	for tag := before.Header.Get("ETag"); looks < 3; {
		before, body = r.card(t, path)
		now := renders(t, registry)
		if again := before.Header.Get("ETag"); again != tag {
			tag, drawn, looks = again, now, 0
			continue
		}
		if looks++; now != drawn {
			t.Fatalf("the same card was drawn again: %v renders, and then %v", drawn, now)
		}
	}
	end()
	price := *r.launched(t, launched.Token).PriceUSD
	if _, err := launch.Buy(t.Context(), w, launched, w.Wallets[40], new(big.Int).Div(launched.Venue.Target(), big.NewInt(20))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the price stands still", func() bool { return *r.launched(t, launched.Token).PriceUSD > price })
	eventually(t, "the card is not an old one", func() bool {
		stale, old := r.card(t, path)
		return bytes.Equal(old, body) && stale.Header.Get("Cache-Control") == "public, max-age=5" &&
			stale.Header.Get("X-Data-As-Of") == before.Header.Get("X-Data-As-Of")
	})
	if res, body := r.fetch(t, paths[0], nil); res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("one that was never drawn: %s %s", res.Status, body)
	}
}

// drawBeside runs a renderer of its own, until end is called.
func drawBeside(t *testing.T) (socket string, registry *prometheus.Registry, end func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cards") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, registry = filepath.Join(dir, "renderer.sock"), prometheus.NewRegistry()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() {
		done <- (&renderer.Program{
			Options:    renderer.Options{Socket: socket, Log: slog.New(slog.DiscardHandler), Now: time.Now},
			Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"}, Metrics: registry,
		}).Run(ctx)
	}()
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	return socket, registry, end
}

// renders is how many cards a renderer has drawn.
func renders(t *testing.T, r *prometheus.Registry) (n float64) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "boardwalk_renderer_pictures_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			n += m.GetCounter().GetValue()
		}
	}
	return n
}
