package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
)

// The heartbeat's bounds, in seconds and milliseconds.
const (
	okLagS       = 15
	downLagS     = 120
	okLatencyMS  = 500
	keptDuration = 1024
)

// heartbeat answers 200 in all three states; that the store can't be reached is one of them.
func (a *API) heartbeat(r *http.Request) (*answer, error) {
	out := contract.Heartbeat{Status: contract.HeartbeatStatusOk, Chains: []contract.ChainHeartbeat{}}
	p95 := a.latencies.p95()
	out.LatencyMs = number(p95)
	slow := p95 != nil && *p95 >= okLatencyMS
	chains, err := a.Health.Health(r.Context())
	if err != nil {
		if r.Context().Err() == nil {
			a.Log.WarnContext(r.Context(), "store not reached", "request_id", requestID(r), "err", err.Error())
		}
		out.Status, out.AsOf = contract.HeartbeatStatusDown, timestamp(a.Now().Unix())
		return encode(out)
	}
	var asOf int64
	down := 0
	for _, c := range chains {
		status := chainStatus(c)
		h := contract.ChainHeartbeat{ID: c.ID, Status: status}
		if c.Indexed {
			lag := float64(c.LagS)
			h.HeadLagS = &lag
		}
		out.Chains = append(out.Chains, h)
		asOf = max(asOf, c.AsOf)
		slow = slow || status != contract.HeartbeatStatusOk
		if status == contract.HeartbeatStatusDown {
			down++
		}
	}
	switch {
	case 2*down > len(chains):
		out.Status = contract.HeartbeatStatusDown
	case slow:
		out.Status = contract.HeartbeatStatusSlow
	}
	if asOf == 0 {
		asOf = a.Now().Unix()
	}
	out.AsOf = timestamp(asOf)
	return encode(out)
}

func chainStatus(c view.ChainHealth) contract.HeartbeatStatus {
	switch {
	case !c.Indexed, c.Silent, c.LagS > downLagS:
		return contract.HeartbeatStatusDown
	case c.LagS >= okLagS:
		return contract.HeartbeatStatusSlow
	default:
		return contract.HeartbeatStatusOk
	}
}

func (a *API) version(*http.Request) (*answer, error) {
	out := contract.Version{Commit: a.Build.Commit, Short: a.Build.short(), Openapi: "3.1.0"}
	if !a.Build.Built.IsZero() {
		at := contract.At(a.Build.Built)
		out.BuiltAt = &at
	}
	return encode(out)
}

// document is the OpenAPI document as it is served.
type document struct{ *answer }

func (d *document) load(version string) error {
	body, err := contract.JSON(version)
	if err != nil {
		return fmt.Errorf("httpapi: %w", err)
	}
	d.answer = newAnswer(body)
	return nil
}

func (a *API) openAPIDocument(*http.Request) (*answer, error) { return a.openAPI.answer, nil }

// latencies remembers how long the last answers took.
type latencies struct {
	mu   sync.Mutex
	kept []time.Duration
	next int
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) < keptDuration {
		l.kept = append(l.kept, d)
		return
	}
	l.kept[l.next] = d
	l.next = (l.next + 1) % keptDuration
}

// p95 is the 95th percentile in milliseconds; nil before the first answer.
func (l *latencies) p95() *float64 {
	l.mu.Lock()
	sorted := slices.Clone(l.kept)
	l.mu.Unlock()
	if len(sorted) == 0 {
		return nil
	}
	slices.Sort(sorted)
	ms := float64(sorted[(len(sorted)*95-1)/100].Microseconds()) / 1000
	return &ms
}
