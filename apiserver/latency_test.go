package apiserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	cardservice "github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// stopwatch is a clock that stands still until something takes time.
type stopwatch struct {
	mu  sync.Mutex
	now time.Time
}

func (s *stopwatch) read() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *stopwatch) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// slowReader is a client that reads slowly: time passes in each write to it.
type slowReader struct {
	*httptest.ResponseRecorder

	watch *stopwatch
	took  time.Duration
}

func (r *slowReader) Write(b []byte) (int, error) {
	r.watch.pass(r.took)
	return r.ResponseRecorder.Write(b)
}

// slowPainter draws slowly.
type slowPainter struct {
	painter

	watch *stopwatch
	took  time.Duration
}

func (p slowPainter) Render(ctx context.Context, c sharecard.Card) ([]byte, error) {
	p.watch.pass(p.took)
	return p.painter.Render(ctx, c)
}

// slowChecks checks slowly.
type slowChecks struct {
	checks

	watch *stopwatch
	took  time.Duration
}

func (c *slowChecks) Check(ctx context.Context, chain string, mint market.Address) (*trust.Report, error) {
	c.watch.pass(c.took)
	return c.checks.Check(ctx, chain, mint)
}

// TestLatencyIsTheTimeToTheFirstByte asks for the heartbeat after answers that took long. What a client is slow to read and
// what is slow to draw say nothing of the service; a JSON answer that is slow to begin does.
func TestLatencyIsTheTimeToTheFirstByte(t *testing.T) {
	t.Parallel()
	watched := func(t *testing.T, change func(*apiserver.Options, *stopwatch)) (*client, *stopwatch) {
		t.Helper()
		o, watch := options(t, seeded(t, "sqlite")), &stopwatch{now: clock}
		o.Now = watch.read
		change(&o, watch)
		return startWith(t, o), watch
	}
	beat := func(t *testing.T, c *client) contract.Heartbeat {
		t.Helper()
		return get[contract.Heartbeat](t, c, "/api/status/heartbeat")
	}
	t.Run("slow readers", func(t *testing.T) {
		t.Parallel()
		c, watch := watched(t, func(*apiserver.Options, *stopwatch) {})
		for range 3 {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil)
			req.Header.Set("X-Forwarded-For", stranger())
			c.h.ServeHTTP(&slowReader{httptest.NewRecorder(), watch, 3 * time.Second}, req)
		}
		if b := beat(t, c); b.Status != contract.HeartbeatStatusOk || b.LatencyMs == nil || *b.LatencyMs >= 500 {
			t.Errorf("after three slow readers it is %s: %+v", b.Status, b)
		}
	})
	t.Run("cards", func(t *testing.T) {
		t.Parallel()
		c, _ := watched(t, func(o *apiserver.Options, watch *stopwatch) {
			o.Cards = cardservice.NewService(cardservice.Options{Renderer: slowPainter{watch: watch, took: time.Second}, Now: watch.read, Log: o.Log})
		})
		for _, target := range []string{
			"/api/pnl-card/token/" + token + ".png", "/api/pnl-card/token/" + token + ".png?chain=bsc", "/api/pnl-card/launch/" + token + ".png",
		} {
			if res, body := c.do(t, http.MethodGet, target, nil); res.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d %s", target, res.StatusCode, body)
			}
		}
		if b := beat(t, c); b.Status != contract.HeartbeatStatusOk || (b.LatencyMs != nil && *b.LatencyMs >= 500) {
			t.Errorf("after three cold cards it is %s: %+v", b.Status, b)
		}
	})
	t.Run("a slow answer", func(t *testing.T) {
		t.Parallel()
		c, _ := watched(t, func(o *apiserver.Options, watch *stopwatch) { o.Checker = &slowChecks{watch: watch, took: time.Second} })
		c.do(t, http.MethodGet, "/api/token/"+token+"/trust?chain=base", nil)
		if b := beat(t, c); b.Status != contract.HeartbeatStatusSlow || b.LatencyMs == nil || *b.LatencyMs < 1000 {
			t.Errorf("after a check that took a second it is %s: %+v", b.Status, b)
		}
	})
}
