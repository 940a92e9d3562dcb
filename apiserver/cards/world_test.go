package cards

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color/palette"
	"image/png"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// token is a card that differs from others by its price.
func token(price float64) *sharecard.Token {
	return &sharecard.Token{Asset: sharecard.Asset{Mint: "0x1", Chain: "Base", Symbol: "OTTER"}, PriceUSD: &price}
}

// picture is a PNG of a card's size that differs by a text.
func picture(t *testing.T, text string, width, height int) []byte {
	t.Helper()
	drawn := image.NewPaletted(image.Rect(0, 0, width, height), palette.Plan9)
	copy(drawn.Pix, text)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, drawn); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// listen runs a handler on a socket where the renderer's would be.
func listen(t *testing.T, h http.HandlerFunc) (socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cards") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket = filepath.Join(dir, "renderer.sock")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return socket
}

// easel answers as the renderer does, and counts. While held is locked it waits.
type easel struct {
	held  sync.Mutex
	mu    sync.Mutex
	asked map[string]int // by card
	began chan struct{}  // unless it is nil, one for each request
}

func (e *easel) serve(t *testing.T) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := sharecard.New(sharecard.Kind(filepath.Base(r.URL.Path)))
		if err == nil {
			err = json.NewDecoder(r.Body).Decode(c)
		}
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v: %v", r.Method, r.URL.Path, r.Header, err)
		}
		key, err := sharecard.Key(c)
		if err != nil {
			t.Error(err)
		}
		e.mu.Lock()
		if e.asked == nil {
			e.asked = map[string]int{}
		}
		e.asked[key]++
		e.mu.Unlock()
		if e.began != nil {
			e.began <- struct{}{}
		}
		e.held.Lock()
		defer e.held.Unlock()
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set(sharecard.VersionHeader, sharecard.Version)
		_, _ = w.Write(picture(t, key, sharecard.Width, sharecard.Height))
	}
}

func (e *easel) count() (all int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.asked {
		all += n
	}
	return all
}

// clock is moved by the test.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Unix(1_772_625_600, 0)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

var quiet = slog.New(slog.DiscardHandler)

func ask(of string) Ask { return Ask{Kind: sharecard.KindToken, Of: of} }

func building(price float64, asOf int64) Build {
	return func(context.Context) (*Built, error) {
		return &Built{Card: token(price), Subject: "token base 0x1", AsOf: asOf}, nil
	}
}

var errAway = fmt.Errorf("%w: the database is away", ErrNoData)

// answering is a handler that answers with a status and a text.
func answering(status int, contentType string, body []byte, header map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set(sharecard.VersionHeader, sharecard.Version)
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}
}

func isUnavailable(err error) (*UnavailableError, bool) { return errors.AsType[*UnavailableError](err) }
