package apiserver_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// beatOf is what the heartbeat says of a chain some time after the tests' world stood still. The body is not held to the
// document here: a lag that is known from the clock alone is a number and has its reason beside it.
func beatOf(t *testing.T, st *store.Store, chain string, later time.Duration) (contract.Heartbeat, contract.ChainHeartbeat) {
	t.Helper()
	o := options(t, st)
	o.Now = func() time.Time { return clock.Add(later) }
	c := startWith(t, o)
	res, body := c.send(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/status/heartbeat", nil))
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the heartbeat: %d %s", res.StatusCode, body)
	}
	var beat contract.Heartbeat
	if err := json.Unmarshal(body, &beat); err != nil {
		t.Fatal(err)
	}
	for _, h := range beat.Chains {
		if h.ID == chain {
			return beat, h
		}
	}
	t.Fatalf("the heartbeat has no chain %s: %s", chain, body)
	return beat, contract.ChainHeartbeat{}
}

// TestHeartbeatOfAHaltedChain: nobody reads a halted chain's head any more, so that its lag is the clock less its newest indexed
// block, and says that it is stale. The newest indexed block of the world is two seconds older than its clock.
func TestHeartbeatOfAHaltedChain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		later time.Duration
		lag   float64
		want  contract.HeartbeatStatus
	}{
		"since half a minute":    {28 * time.Second, 30, contract.HeartbeatStatusSlow},
		"since nearly 2 minutes": {117 * time.Second, 119, contract.HeartbeatStatusSlow},
		"since 9 minutes":        {550 * time.Second, 552, contract.HeartbeatStatusDown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, "sqlite")
			setState(t, st, "base", store.ChainHalted, "a reorg reaches too deep")
			_, base := beatOf(t, st, "base", test.later)
			wantLag(t, base, test.lag, contract.UnknownReasonStale)
			// A halted chain needs a human at once, whatever its lag.
			if base.Status == contract.HeartbeatStatusOk || (test.want == contract.HeartbeatStatusDown && base.Status != test.want) {
				t.Errorf("the chain is %s, want %s", base.Status, test.want)
			}
		})
	}
}

// TestHeartbeatWithDeadNodes: while no node answers, the lag of a chain grows with the clock, by way of slow to down, and says
// that it is stale.
func TestHeartbeatWithDeadNodes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		later   time.Duration
		lag     float64
		status  contract.HeartbeatStatus
		overall contract.HeartbeatStatus
	}{
		"since a minute":   {60 * time.Second, 62, contract.HeartbeatStatusSlow, contract.HeartbeatStatusSlow},
		"since 10 minutes": {600 * time.Second, 602, contract.HeartbeatStatusDown, contract.HeartbeatStatusDown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, "sqlite")
			for _, chain := range []string{"base", "bsc"} {
				setState(t, st, chain, store.ChainDegraded, "no endpoint answers")
			}
			beat, base := beatOf(t, st, "base", test.later)
			wantLag(t, base, test.lag, contract.UnknownReasonStale)
			if base.Status != test.status || beat.Status != test.overall {
				t.Errorf("the chain is %s and the platform %s, want %s and %s", base.Status, beat.Status, test.status, test.overall)
			}
		})
	}
}

func setState(t *testing.T, st *store.Store, chain string, state store.ChainState, reason string) {
	t.Helper()
	l, err := st.Leases.Acquire(t.Context(), chain, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.SetState(t.Context(), l, state, reason); err != nil {
		t.Fatal(err)
	}
}

// wantLag holds a chain's lag and its reason; reason is empty for a lag that the nodes told.
func wantLag(t *testing.T, h contract.ChainHeartbeat, lag float64, reason contract.UnknownReason) {
	t.Helper()
	if h.HeadLagS == nil || *h.HeadLagS != lag || h.UnknownReasons["head_lag_s"] != reason {
		got := "null"
		if h.HeadLagS != nil {
			raw, _ := json.Marshal(*h.HeadLagS)
			got = string(raw)
		}
		t.Errorf("head_lag_s is %s with the reason %q, want %v with %q", got, h.UnknownReasons["head_lag_s"], lag, reason)
	}
}
