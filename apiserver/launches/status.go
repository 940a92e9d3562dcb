package launches

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
)

func (h *Handlers) launchStatus(r *serve.Request) (*serve.Answer, error) {
	return h.status.Get(r.Seen.Catalog, func() (*serve.Answer, error) { return serve.Encode(launchVenues(r)) })
}

// launchVenues has a row for each venue and chain, and every chain: one is open when a venue is open on it.
func launchVenues(r *serve.Request) contract.LaunchStatus {
	c := r.Seen.Catalog
	out := contract.LaunchStatus{
		AsOf: contract.At(r.Started), LaunchFeeUSD: wire.LaunchFeeUSD, Venues: []contract.LaunchVenue{}, Chains: []contract.LaunchChain{},
	}
	if !c.ChangedAt.IsZero() {
		out.AsOf = contract.At(c.ChangedAt)
	}
	open := make(map[string]bool, len(c.Chains))
	for i := range c.Venues {
		v := &c.Venues[i]
		for j := range v.Chains {
			on := &v.Chains[j]
			open[on.Chain] = open[on.Chain] || on.Open
			out.Venues = append(out.Venues, contract.LaunchVenue{
				ID: v.ID, Label: v.Label, Family: contract.VenueFamily(v.Ownership), Chain: on.Chain, State: launchState(on.Open),
				Default: on.Default, TradesInApp: on.TradesInApp,
			})
		}
	}
	for i := range c.Chains {
		chain := &c.Chains[i]
		out.Chains = append(out.Chains, contract.LaunchChain{ID: chain.ID, Label: chain.Label, State: launchState(open[chain.ID])})
	}
	return out
}

func launchState(open bool) contract.LaunchState {
	if open {
		return contract.LaunchStateOpen
	}
	return contract.LaunchStateClosed
}
