package cards

import (
	"bytes"
	"context"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

func TestClientRenders(t *testing.T) {
	t.Parallel()
	e := &easel{}
	c := NewClient(listen(t, e.serve(t)), newClock().now)
	for _, drawn := range []sharecard.Card{
		token(1), &sharecard.Launch{Asset: sharecard.Asset{Mint: "0x1"}, Stage: sharecard.StageLive}, &sharecard.Trader{Wallet: "0x2"},
	} {
		key, err := sharecard.Key(drawn)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Render(t.Context(), drawn); err != nil || !bytes.Equal(got, picture(t, key, sharecard.Width, sharecard.Height)) {
			t.Errorf("a %s: %v", drawn.Kind(), err)
		}
	}
	if _, err := c.Render(t.Context(), token(math.Inf(1))); err == nil || e.count() != 3 {
		t.Errorf("a card that can't be drawn: %v, and %d requests", err, e.count())
	}
}

// TestClientTakesCardsAlone has a renderer that answers otherwise.
func TestClientTakesCardsAlone(t *testing.T) {
	t.Parallel()
	good := picture(t, "x", sharecard.Width, sharecard.Height)
	for name, c := range map[string]struct {
		handler    http.HandlerFunc
		wait       time.Duration // of an *UnavailableError; 0 is another error
		busy       bool
		mentioning string
	}{
		"busy":           {answering(503, "text/plain", []byte("the queue is full"), map[string]string{"Retry-After": "7"}), 7 * time.Second, true, "queue"},
		"busy for long":  {answering(503, "text/plain", nil, map[string]string{"Retry-After": "86400"}), time.Minute, true, "503"},
		"busy, unsaid":   {answering(503, "text/plain", nil, nil), time.Second, true, "503"},
		"broken":         {answering(500, "text/plain", []byte("a fault"), nil), time.Second, false, "a fault"},
		"refused":        {answering(400, "text/plain", []byte("stage is wrong"), nil), 0, false, "stage is wrong"},
		"another type":   {answering(200, "text/html", good, nil), 0, false, "text/html"},
		"another size":   {answering(200, "image/png", picture(t, "x", 100, 100), nil), 0, false, "100 x 100"},
		"no PNG":         {answering(200, "image/png", []byte("<html>"), nil), 0, false, "no card"},
		"nothing":        {answering(200, "image/png", nil, nil), 0, false, "no card"},
		"another look":   {answering(200, "image/png", good, map[string]string{sharecard.VersionHeader: "0"}), 0, false, "version"},
		"too slow":       {answering(504, "text/plain", nil, nil), time.Second, false, "504"},
		"without an end": {answering(200, "image/png", append(bytes.Clone(good), make([]byte, maxPicture)...), nil), 0, false, "larger"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set(sharecard.VersionHeader, sharecard.Version)
			_, _ = w.Write(good[:100])
		}, time.Second, false, "EOF"},
	} {
		_, err := NewClient(listen(t, c.handler), newClock().now).Render(t.Context(), token(1))
		away, ok := isUnavailable(err)
		if err == nil || ok != (c.wait > 0) || ok && (away.RetryAfter != c.wait || away.Busy != c.busy) || !strings.Contains(err.Error(), c.mentioning) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestClientLeavesTheAbsentAlone: a renderer that is away is asked once a second, by one request.
func TestClientLeavesTheAbsentAlone(t *testing.T) {
	t.Parallel()
	now := newClock()
	if _, err := NewClient(filepath.Join(t.TempDir(), "none.sock"), now.now).Render(t.Context(), token(1)); err == nil {
		t.Error("nobody drew a card")
	}
	var asked atomic.Int64
	answer := atomic.Pointer[http.HandlerFunc]{}
	var broken http.HandlerFunc = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	whole := answering(200, "image/png", picture(t, "x", sharecard.Width, sharecard.Height), nil)
	slow := answering(504, "text/plain", nil, nil)
	answer.Store(&broken)
	c := NewClient(listen(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		(*answer.Load())(w, r)
	}), now.now)
	try := func(times int) (drawn int) {
		for range times {
			_, err := c.Render(t.Context(), token(1))
			if away, ok := isUnavailable(err); err != nil && (!ok || away.RetryAfter != time.Second) {
				t.Errorf("it failed with %v", err)
			}
			if err == nil {
				drawn++
			}
		}
		return drawn
	}
	if try(5) != 0 {
		t.Error("a broken renderer drew a card")
	}
	if asked.Load() != 1 {
		t.Errorf("it was asked %d times within a second", asked.Load())
	}
	now.add(time.Second)
	if try(2) != 0 || asked.Load() != 2 {
		t.Errorf("a second later it was asked %d times in all", asked.Load())
	}
	now.add(time.Second)
	answer.Store(&whole)
	if try(2) != 2 || asked.Load() != 4 {
		t.Errorf("when it is back it was asked %d times in all", asked.Load())
	}
	answer.Store(&slow)
	if try(2) != 0 || asked.Load() != 6 {
		t.Errorf("one card that can't be drawn keeps others from it: it was asked %d times in all", asked.Load())
	}
}

// TestClientLetsFewWait: what comes on top of those that wait is told so at once.
func TestClientLetsFewWait(t *testing.T) {
	t.Parallel()
	began, held := make(chan struct{}, atOnce+1), make(chan struct{})
	drawn := answering(200, "image/png", picture(t, "x", sharecard.Width, sharecard.Height), nil)
	c := NewClient(listen(t, func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-held
		drawn(w, r)
	}), newClock().now)
	var waiting sync.WaitGroup
	for range atOnce {
		waiting.Go(func() {
			if _, err := c.Render(t.Context(), token(1)); err != nil {
				t.Error(err)
			}
		})
	}
	for range atOnce {
		<-began
	}
	if _, err := c.Render(t.Context(), token(1)); err == nil {
		t.Error("one more was let in")
	} else if away, ok := isUnavailable(err); !ok || !away.Busy {
		t.Errorf("one more was answered %v", err)
	}
	close(held)
	waiting.Wait()
	if _, err := c.Render(t.Context(), token(1)); err != nil {
		t.Errorf("with places free again: %v", err)
	}
}

// TestClientWaitsNoLonger than its caller does.
func TestClientWaitsNoLonger(t *testing.T) {
	t.Parallel()
	e := &easel{began: make(chan struct{}, 1)}
	e.held.Lock()
	defer e.held.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	c := NewClient(listen(t, e.serve(t)), newClock().now)
	go func() {
		_, err := c.Render(ctx, token(1))
		done <- err
	}()
	<-e.began
	cancel()
	if away, ok := isUnavailable(<-done); !ok || away.Busy {
		t.Errorf("it ended with %v", away)
	}
}
