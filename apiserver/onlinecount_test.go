package apiserver_test

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestOnlineCount is null where nobody counts, the last count while somebody does, and stale once they have stopped.
func TestOnlineCount(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			lease, err := st.Social.Leases.Acquire(t.Context(), "test", time.Hour.Milliseconds())
			if err != nil || lease == nil {
				t.Fatalf("take the lease: %v", err)
			}
			count := func(later time.Duration) contract.OnlineCount {
				t.Helper()
				o := options(t, st)
				// Each time that is told is so much later than the one before: a look at the database may come before the request.
				var passed, step atomic.Int64
				o.Now = func() time.Time { return clock.Add(time.Duration(passed.Add(step.Load()))) }
				c := startWith(t, o)
				step.Store(int64(later))
				res, body := c.do(t, http.MethodGet, "/api/online-count", nil)
				var out contract.OnlineCount
				if err := json.Unmarshal(body, &out); err != nil || res.StatusCode != http.StatusOK {
					t.Fatalf("%d %s", res.StatusCode, body)
				}
				return out
			}
			if out := count(0); out.Online != nil || out.UnknownReasons["online"] != contract.UnknownReasonUnavailable || out.Stale || out.WindowS != 180 {
				t.Errorf("where nobody counts: %+v", out)
			}
			if err := st.Social.Presence.SetOnline(t.Context(), lease, 12); err != nil {
				t.Fatal(err)
			}
			if out := count(0); out.Online == nil || *out.Online != 12 || out.Stale || len(out.UnknownReasons) > 0 {
				t.Errorf("while somebody counts: %+v", out)
			}
			if out := count(11 * time.Second); out.Online == nil || *out.Online != 12 || !out.Stale {
				t.Errorf("when they have stopped: %+v", out)
			}
		})
	}
}
