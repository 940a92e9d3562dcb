package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
)

// The heartbeat's bounds, in seconds and milliseconds.
const (
	okLagS        = 15
	downLagS      = 120
	okLatencyMS   = 500
	keptLatencies = 1024
)

// heartbeat answers 200 in all three states; that the store can't be reached is one of them.
func (a *API) heartbeat(r *request) (*answer, error) { return encode(a.heartbeatNow(r)) }

func (a *API) heartbeatNow(r *request) contract.Heartbeat {
	out := contract.Heartbeat{
		Status: contract.HeartbeatStatusOk, Chains: []contract.ChainHeartbeat{}, UnknownReasons: contract.UnknownReasons{},
	}
	now := a.Now()
	p95 := a.latencies.p95(now)
	if out.LatencyMs = number(p95); p95 == nil {
		out.UnknownReasons["latency_ms"] = contract.UnknownReasonUnavailable
	}
	slow := p95 != nil && *p95 >= okLatencyMS
	chains, err := r.seen.Health(now)
	var asOf int64
	down := 0
	for _, c := range chains {
		status := chainStatus(c)
		if err != nil {
			status = contract.HeartbeatStatusDown
		}
		h := contract.ChainHeartbeat{ID: c.ID, Status: status, UnknownReasons: contract.UnknownReasons{}}
		if c.Indexed {
			h.HeadLagS = new(float64(c.LagS))
			if c.Silent {
				h.UnknownReasons["head_lag_s"] = contract.UnknownReasonStale
			}
		} else {
			h.UnknownReasons["head_lag_s"] = contract.UnknownReasonIndexing
		}
		out.Chains = append(out.Chains, h)
		asOf = max(asOf, c.AsOf)
		slow = slow || status != contract.HeartbeatStatusOk
		if status == contract.HeartbeatStatusDown {
			down++
		}
	}
	switch {
	case err != nil, 2*down > len(chains):
		out.Status = contract.HeartbeatStatusDown
	case slow:
		out.Status = contract.HeartbeatStatusSlow
	}
	out.AsOf = a.asOf(r, asOf)
	return out
}

func chainStatus(c view.ChainHealth) contract.HeartbeatStatus {
	switch {
	case !c.Indexed, c.Halted, c.LagS > downLagS:
		return contract.HeartbeatStatusDown
	case c.LagS >= okLagS:
		return contract.HeartbeatStatusSlow
	default:
		return contract.HeartbeatStatusOk
	}
}

func (a *API) version(*request) (*answer, error) {
	out := contract.Version{Commit: a.Build.Commit, Short: a.Build.short(), Openapi: "3.1.0", UnknownReasons: contract.UnknownReasons{}}
	if a.Build.Built.IsZero() {
		out.UnknownReasons["built_at"] = contract.UnknownReasonUnavailable
	} else {
		out.BuiltAt = new(contract.At(a.Build.Built))
	}
	return encode(out)
}

// document is the OpenAPI document as it is served.
func document(version string) (*answer, error) {
	body, err := contract.JSON(version)
	if err != nil {
		return nil, fmt.Errorf("httpapi: %w", err)
	}
	return newAnswer(body), nil
}

func (a *API) openAPIDocument(*request) (*answer, error) { return a.openAPI, nil }

// The platform's fees. A leg is a buy or a sell.
const (
	feeBpsPerLeg = 80
	launchFeeUSD = 0
)

// constants are what the health operation tells.
func (a *API) constants(in *view.Catalog) contract.MobileHealth {
	out := contract.MobileHealth{
		FeeBpsPerLeg: feeBpsPerLeg, FeePctPerLeg: feeBpsPerLeg / 100.0, RoundTripPct: 2 * feeBpsPerLeg / 100.0,
		LaunchFeeUSD: launchFeeUSD, Chains: []contract.Chain{}, Minimums: map[string]float64{},
		MarketChains: []contract.MarketChain{}, Resources: []contract.Resource{},
	}
	for i := range in.Chains {
		c := &in.Chains[i]
		out.Chains = append(out.Chains, contract.Chain{ID: c.ID, Label: c.Label, MinTradeUSD: c.MinTradeUSD})
		out.Minimums[c.ID] = c.MinTradeUSD
		out.MarketChains = append(out.MarketChains, contract.MarketChain{ID: c.ID, Label: c.Label, MinBuyUSD: c.MinTradeUSD})
	}
	for _, r := range a.Site.Resources {
		out.Resources = append(out.Resources, contract.Resource{ID: r.ID, Label: r.Label, URL: a.absolute(r.URL), Kind: contract.ResourceKind(r.Kind)})
	}
	for _, e := range a.Site.Changelog {
		out.Resources = append(out.Resources, contract.Resource{
			ID: e.ID, Label: e.Label, Kind: contract.ResourceKindChangelog, URL: a.absolute(a.DocsURL + "/changelog#" + e.ID), At: new(contract.At(e.At)),
		})
	}
	return out
}

// absolute is an address as apps need it, which have no page that it could be relative to.
func (a *API) absolute(address string) string {
	if strings.HasPrefix(address, "/") {
		return a.BaseURL + address
	}
	return address
}

func (a *API) mobileHealth(r *request) (*answer, error) {
	d, err := a.declaredIn(r.seen.Catalog)
	return d.health, err
}

func (a *API) signInProviders(*request) (*answer, error) {
	out := contract.SignInProviders{Providers: []contract.SignInProvider{}}
	for _, p := range a.Site.Providers() {
		out.Providers = append(out.Providers, contract.SignInProvider{ID: p.ID, Label: p.Label})
	}
	return encode(out)
}

// latencies remembers how long the answers of the last minute took, the newest keptLatencies of them.
type latencies struct {
	mu   sync.Mutex
	kept []latency
	next int
}

type latency struct {
	at   time.Time
	took time.Duration
}

func (l *latencies) add(at time.Time, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) < keptLatencies {
		l.kept = append(l.kept, latency{at, took})
		return
	}
	l.kept[l.next] = latency{at, took}
	l.next = (l.next + 1) % keptLatencies
}

// p95 is the 95th percentile in milliseconds; nil when there was no answer lately.
func (l *latencies) p95(now time.Time) *float64 {
	l.mu.Lock()
	var lately []time.Duration
	for _, k := range l.kept {
		if now.Sub(k.at) < time.Minute {
			lately = append(lately, k.took)
		}
	}
	l.mu.Unlock()
	if len(lately) == 0 {
		return nil
	}
	slices.Sort(lately)
	ms := float64(lately[(len(lately)*95-1)/100].Microseconds()) / 1000
	return &ms
}
