package resolve

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// Catalog gives the catalogue of all chains and venues of a namespace that are accepted, of chains that were in the form of then,
// and, joined, why the others aren't: the catalogue is of use with an error too. It is in the order of spec.order, then of age, then of the arguments: whoever has
// them in no order of their own sorts them by name. Venues are open where their status says so.
func Catalog(chains []v1alpha1.Chain, venues []v1alpha1.LaunchVenue) (*catalog.Catalog, error) {
	out := &catalog.Catalog{}
	served, errs := serveChains(out, chains)
	return out, errors.Join(append(errs, serveVenues(out, venues, served)...)...)
}

// serveChains gives the documents of the chains that are served by the names of their resources.
func serveChains(out *catalog.Catalog, chains []v1alpha1.Chain) (served map[string]*chainconfig.Chain, errs []error) {
	served = map[string]*chainconfig.Chain{}
	sameID, sameChainID := group(chains, func(c *v1alpha1.Chain) string { return c.Spec.ID }), group(chains, chainID)
	orderOf := func(c *v1alpha1.Chain) *int32 { return c.Spec.Order }
	var forms []v1alpha1.Chain
	for _, c := range listed(chains, orderOf) {
		peers := sameID[c.Spec.ID]
		if c.Spec.ChainID != nil {
			peers = slices.Concat(peers, sameChainID[chainID(c)])
		}
		form, doc, no := serveChain(c, peers)
		if no != nil {
			errs = append(errs, fmt.Errorf("chain %s: %s", displayName(c), no.Message))
		}
		if form != nil {
			served[c.Name] = doc
			forms = append(forms, *form)
		}
	}
	for _, c := range listed(forms, orderOf) {
		out.Chains = append(out.Chains, servedChain(c, served[c.Name]))
		out.ChangedAt = later(out.ChangedAt, writtenAt(c))
	}
	return served, errs
}

func servedChain(c *v1alpha1.Chain, doc *chainconfig.Chain) catalog.Chain {
	out := catalog.Chain{
		ID: doc.ID, Label: c.Spec.Label, Family: doc.Family, EVMChainID: doc.EVMChainID, MinTradeUSD: doc.MinTradeUSD,
		Suspended: c.Spec.Suspend, Native: doc.Native, Quotes: doc.Quotes, Majors: doc.Majors,
	}
	for _, x := range doc.Exchanges {
		out.Exchanges = append(out.Exchanges, catalog.Exchange{Name: x.Name, Protocol: x.Protocol, Factory: x.Factory})
	}
	return out
}

func serveVenues(out *catalog.Catalog, venues []v1alpha1.LaunchVenue, served map[string]*chainconfig.Chain) (errs []error) {
	sameID := group(venues, func(v *v1alpha1.LaunchVenue) string { return v.Spec.ID })
	defaults := slices.DeleteFunc(slices.Clone(venues), func(v v1alpha1.LaunchVenue) bool { return !v.Spec.Default })
	for _, v := range listed(venues, func(v *v1alpha1.LaunchVenue) *int32 { return v.Spec.Order }) {
		if no := RefuseVenue(v, sameID[v.Spec.ID]); no != nil {
			errs = append(errs, fmt.Errorf("venue %s: %s", displayName(v), no.Message))
			continue
		}
		isDefault := v.Spec.Default
		if isDefault {
			if other := OlderDefault(v, defaults); other != nil {
				isDefault = false
				errs = append(errs, fmt.Errorf("venue %s: %s is the default of family %s already: leave spec.default out of one of them",
					displayName(v), displayName(other), DefaultFamily(v)))
			}
		}
		out.Venues = append(out.Venues, servedVenue(v, served, isDefault))
		out.ChangedAt = later(out.ChangedAt, venueWrittenAt(v))
	}
	return errs
}

var ownershipOf = map[v1alpha1.Ownership]catalog.Ownership{
	v1alpha1.OwnershipOwn: catalog.Own, v1alpha1.OwnershipFurther: catalog.Further, v1alpha1.OwnershipOutside: catalog.Outside,
}

// servedVenue has a row for each chain that is served and of the protocol's family.
func servedVenue(v *v1alpha1.LaunchVenue, served map[string]*chainconfig.Chain, isDefault bool) catalog.Venue {
	s := &v.Spec
	protocol := chainconfig.VenueProtocol(s.Protocol)
	out := catalog.Venue{
		ID: s.ID, Label: s.Label, Ownership: ownershipOf[s.Ownership], Protocol: protocol,
		Filter: cmp.Or(s.FilterValue, catalog.FilterOurs), Badge: s.Badge,
	}
	for i := range s.Chains {
		c := &s.Chains[i]
		chain, ok := served[c.Chain]
		if !ok || chain.Family != protocol.Family() {
			continue
		}
		open := slices.ContainsFunc(v.Status.Chains, func(st v1alpha1.VenueChainStatus) bool {
			return st.Chain == c.Chain && st.State == v1alpha1.VenueOpen
		})
		out.Chains = append(out.Chains, catalog.VenueChain{
			Chain: chain.ID, Open: open, Default: isDefault, TradesInApp: c.TradesInApp, LinkTemplate: c.LinkTemplate,
		})
	}
	return out
}

// listed gives pointers to the items in the order in which they are listed.
func listed[T any, P object[T]](items []T, order func(P) *int32) []P {
	out := make([]P, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	slices.SortStableFunc(out, func(a, b P) int {
		return cmp.Or(cmp.Compare(placeOf(order(a)), placeOf(order(b))),
			a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time))
	})
	return out
}

func placeOf(order *int32) int32 {
	if order == nil {
		return v1alpha1.DefaultOrder
	}
	return *order
}

func group[T any](items []T, key func(*T) string) map[string][]T {
	out := map[string][]T{}
	for i := range items {
		k := key(&items[i])
		out[k] = append(out[k], items[i])
	}
	return out
}

// chainID is empty where there is none.
func chainID(c *v1alpha1.Chain) string {
	if c.Spec.ChainID == nil {
		return ""
	}
	return strconv.FormatInt(*c.Spec.ChainID, 10)
}

func displayName(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return fmt.Sprintf("%q", o.GetName())
	}
	return fmt.Sprintf("%q", o.GetNamespace()+"/"+o.GetName())
}
