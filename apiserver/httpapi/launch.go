package httpapi

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
)

// declared are the answers that follow from the catalogue alone.
type declared struct {
	in                   *view.Catalog
	health, launchStatus *answer
}

// declaredIn makes the answers once for each catalogue.
func (a *API) declaredIn(c *view.Catalog) (*declared, error) {
	if d := a.declared.Load(); d != nil && d.in == c {
		return d, nil
	}
	d := &declared{in: c}
	var err error
	if d.health, err = encode(a.constants(c)); err != nil {
		return d, err
	}
	if d.launchStatus, err = encode(a.launchVenues(c)); err != nil {
		return d, err
	}
	a.declared.Store(d)
	return d, nil
}

func (a *API) launchStatus(r *request) (*answer, error) {
	d, err := a.declaredIn(r.seen.Catalog)
	return d.launchStatus, err
}

// launchVenues has a row for each venue and chain, and every chain: one is open when a venue is open on it.
func (a *API) launchVenues(c *view.Catalog) contract.LaunchStatus {
	out := contract.LaunchStatus{
		AsOf: contract.At(a.started), LaunchFeeUSD: launchFeeUSD, Venues: []contract.LaunchVenue{}, Chains: []contract.LaunchChain{},
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
