package mainnet

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// roundTrips stands before a node and makes a block with each round trip: requests wait until the next block is made, all that are under way
// at the same time for the same one. So a chain's blocks come as fast as answers do, however fast or slow the machine is.
type roundTrips struct {
	forward http.Handler

	mu      sync.Mutex
	waiting int
	made    chan struct{} // closed with the next block
}

func newRoundTrips(t *testing.T, target string) (*roundTrips, string) {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r := &roundTrips{forward: httputil.NewSingleHostReverseProxy(u), made: make(chan struct{})}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return r, s.URL
}

func (r *roundTrips) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Header.Get("Upgrade") != "" {
		http.Error(w, "no WebSocket", http.StatusNotFound)
		return
	}
	r.mu.Lock()
	r.waiting++
	made := r.made
	r.mu.Unlock()
	select {
	case <-made:
	case <-req.Context().Done():
		return
	}
	r.forward.ServeHTTP(w, req)
}

const (
	// glances is how often no further request may have come before those under way count as asked at the same time, and glancePause the time between two
	// glances. They are counted since the machine may give this process no time at all for longer than they take.
	glances     = 5
	glancePause = 3 * time.Millisecond
)

// next waits until all requests that are made at the same time are under way, and lets them go on after one more block.
func (r *roundTrips) next(ctx context.Context, block func() error) error {
	for alike, seen := 0, 0; alike < glances; {
		if !wait.For(ctx, glancePause) {
			return ctx.Err()
		}
		r.mu.Lock()
		if r.waiting == seen && seen > 0 {
			alike++
		} else {
			alike, seen = 0, r.waiting
		}
		r.mu.Unlock()
	}
	if err := block(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.made)
	r.waiting, r.made = 0, make(chan struct{})
	return nil
}

// free lets all further requests through.
func (r *roundTrips) free() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.made)
}

// TestAnIndexKeepsUpWhereAnAnswerTakesABlocksTime indexes a chain on which a block is made with every round trip to its node. It has to come to
// the head and to stay there.
func TestAnIndexKeepsUpWhereAnAnswerTakesABlocksTime(t *testing.T) {
	t.Parallel()
	s := start(t, Options{
		Chain: "robinhood", BlockTime: 100 * time.Millisecond, Txs: 20, Logs: 80, VolumeV2: 24, VolumeV3: 8, Past: 150,
	}, profiles.Profile{Client: "Geth"})
	trips, before := newRoundTrips(t, s.node.URL())
	s.cfg.Endpoints[0].URL = before
	st, stop := s.run(t)
	defer stop()
	made := 0
	behind := func() (blocks uint64) {
		t.Helper()
		err := trips.next(t.Context(), func() error {
			_, err := s.Chain.Extend(time.Now())
			return err
		})
		at, _, err2 := st.Chain(t.Context(), s.cfg.ID)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		made++
		return s.Chain.Head().Number - at.Last.Number
	}
	const near, atMost, staysFor = 16, 600, 300
	for behind() > near {
		if made > atMost {
			t.Fatalf("it is still %d blocks behind after %d blocks", behind(), made)
		}
	}
	t.Logf("near the head after %d blocks", made)
	worst := uint64(0)
	for range staysFor {
		worst = max(worst, behind())
	}
	t.Logf("then at most %d blocks behind", worst)
	if worst > 2*near {
		t.Errorf("it fell %d blocks behind", worst)
	}
	if at, _, err := st.Chain(t.Context(), s.cfg.ID); err != nil || at.State != store.ChainRunning {
		t.Errorf("the chain is %+v, %v; want it running, although its head never stands still", at, err)
	}
	trips.free()
	s.await(t, st)
	trades, err := st.Inspect.Trades(t.Context(), s.cfg.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.compareTrades(t, trades, s.truth(t))
}
