// Package platform has the operations about the service itself: its heartbeat, its fees and minimums, its sign-in providers, its version, and
// the OpenAPI document.
package platform

import (
	"fmt"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
)

// The heartbeat's bounds, in seconds and milliseconds.
const (
	okLagS      = 15
	downLagS    = 120
	okLatencyMS = 500
)

// Options are what the handlers work with.
type Options struct {
	Links wire.Links
	Build serve.Build
	// Site has the deployment's own words.
	Site *site.Site
	// Latencies has the times that all answers took.
	Latencies *serve.Latencies
	Now       func() time.Time
}

// Handlers answer the operations of the service itself.
type Handlers struct {
	Options

	openAPI *serve.Answer
	health  serve.ByCatalog
}

// New makes the handlers.
func New(o Options) (*Handlers, error) {
	document, err := openAPIDocument(o.Build.Short())
	return &Handlers{Options: o, openAPI: document}, err
}

// Routes are the operations of the service itself.
func (h *Handlers) Routes() []serve.Route {
	return []serve.Route{
		{Operation: "getHeartbeat", Handle: h.heartbeat},
		{Operation: "getMobileHealth", Handle: h.mobileHealth},
		{Operation: "getSignInProviders", Handle: h.signInProviders},
		{Operation: "getVersion", Handle: h.version},
		{Operation: "getOpenAPI", Handle: func(*serve.Request) (*serve.Answer, error) { return h.openAPI, nil }},
	}
}

// heartbeat answers 200 in all three states; that the store can't be reached is one of them.
func (h *Handlers) heartbeat(r *serve.Request) (*serve.Answer, error) {
	return serve.Encode(h.Heartbeat(r))
}

// Heartbeat is how the service is doing.
func (h *Handlers) Heartbeat(r *serve.Request) contract.Heartbeat {
	out := contract.Heartbeat{
		Status: contract.HeartbeatStatusOk, Chains: []contract.ChainHeartbeat{}, UnknownReasons: contract.UnknownReasons{},
	}
	now := h.Now()
	p95 := h.Latencies.P95(now)
	if out.LatencyMs = wire.Number(p95); p95 == nil {
		out.UnknownReasons["latency_ms"] = contract.UnknownReasonUnavailable
	}
	slow := p95 != nil && *p95 >= okLatencyMS
	chains, err := r.Seen.Health(now)
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
	out.AsOf = r.AsOf(asOf)
	return out
}

func chainStatus(c read.ChainHealth) contract.HeartbeatStatus {
	switch {
	case !c.Indexed, c.Halted, c.LagS > downLagS:
		return contract.HeartbeatStatusDown
	case c.LagS >= okLagS:
		return contract.HeartbeatStatusSlow
	default:
		return contract.HeartbeatStatusOk
	}
}

// openAPIDocument is the OpenAPI document as it is served.
func openAPIDocument(version string) (*serve.Answer, error) {
	body, err := contract.JSON(version)
	if err != nil {
		return nil, fmt.Errorf("platform: %w", err)
	}
	return serve.NewAnswer(body), nil
}

func (h *Handlers) version(*serve.Request) (*serve.Answer, error) {
	out := contract.Version{Commit: h.Build.Commit, Short: h.Build.Short(), Openapi: "3.1.0", UnknownReasons: contract.UnknownReasons{}}
	if h.Build.Built.IsZero() {
		out.UnknownReasons["built_at"] = contract.UnknownReasonUnavailable
	} else {
		out.BuiltAt = new(contract.At(h.Build.Built))
	}
	return serve.Encode(out)
}

// feeBpsPerLeg is what the platform takes of a buy or a sell.
const feeBpsPerLeg = 80

// constants are what the health operation tells.
func (h *Handlers) constants(in *declared.Catalog) contract.MobileHealth {
	out := contract.MobileHealth{
		FeeBpsPerLeg: feeBpsPerLeg, FeePctPerLeg: feeBpsPerLeg / 100.0, RoundTripPct: 2 * feeBpsPerLeg / 100.0,
		LaunchFeeUSD: wire.LaunchFeeUSD, Chains: []contract.Chain{}, Minimums: map[string]float64{},
		MarketChains: []contract.MarketChain{}, Resources: []contract.Resource{},
	}
	for i := range in.Chains {
		c := &in.Chains[i]
		out.Chains = append(out.Chains, contract.Chain{ID: c.ID, Label: c.Label, MinTradeUSD: c.MinTradeUSD})
		out.Minimums[c.ID] = c.MinTradeUSD
		out.MarketChains = append(out.MarketChains, contract.MarketChain{ID: c.ID, Label: c.Label, MinBuyUSD: c.MinTradeUSD})
	}
	for _, r := range h.Site.Resources {
		out.Resources = append(out.Resources, contract.Resource{ID: r.ID, Label: r.Label, URL: h.Links.Absolute(r.URL), Kind: contract.ResourceKind(r.Kind)})
	}
	for _, e := range h.Site.Changelog {
		out.Resources = append(out.Resources, contract.Resource{
			ID: e.ID, Label: e.Label, Kind: contract.ResourceKindChangelog, URL: h.Links.Absolute(h.Links.Docs + "/changelog#" + e.ID), At: new(contract.At(e.At)),
		})
	}
	return out
}

func (h *Handlers) mobileHealth(r *serve.Request) (*serve.Answer, error) {
	return h.health.Get(r.Seen.Catalog, func() (*serve.Answer, error) { return serve.Encode(h.constants(r.Seen.Catalog)) })
}

func (h *Handlers) signInProviders(*serve.Request) (*serve.Answer, error) {
	out := contract.SignInProviders{Providers: []contract.SignInProvider{}}
	for _, p := range h.Site.Providers() {
		out.Providers = append(out.Providers, contract.SignInProvider{ID: p.ID, Label: p.Label})
	}
	return serve.Encode(out)
}
