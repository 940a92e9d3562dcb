package resolve

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// linkPattern is that of the CRD's schema: no braces but those of {mint}, so that a slip isn't served as a link.
var linkPattern = regexp.MustCompile(`^https://[^\x00-\x20\x7f/?#{}]+/([^\x00-\x20\x7f{}]|\{mint\})*$`)

// The words that a LaunchVenue's fields allow.
var (
	ownerships   = []string{string(v1alpha1.OwnershipOwn), string(v1alpha1.OwnershipFurther), string(v1alpha1.OwnershipOutside)}
	marketModels = []string{string(v1alpha1.MarketModelBondingCurve), string(v1alpha1.MarketModelLivePool)}
	venueStates  = []string{string(v1alpha1.VenueOpen), string(v1alpha1.VenueClosed)}
)

// Venue checks a venue alone.
func Venue(v *v1alpha1.LaunchVenue) error {
	r := &report{}
	s := &v.Spec
	r.name("spec.id", s.ID)
	r.label("spec.label", s.Label, 48)
	if r.choice("spec.ownership", string(s.Ownership), ownerships) {
		checkOwnership(r, s)
	}
	if s.Badge != "" {
		r.label("spec.badge", s.Badge, 16)
	}
	r.integer("spec.order", widen(s.Order), 0, 10_000, 0)
	model := r.choice("spec.marketModel", string(s.MarketModel), marketModels)
	if !r.choice("spec.protocol", string(s.Protocol), venueProtocols()) {
		return r.err()
	}
	protocol := chainconfig.VenueProtocol(s.Protocol)
	if curve := s.MarketModel == v1alpha1.MarketModelBondingCurve; model && curve != protocol.HasCurve() {
		r.add("spec.marketModel", "is %s, which doesn't fit protocol %s: tokens of ClankerV3 and ClankerV4 are live pools without a "+
			"curve (LivePool), those of every other protocol start on a curve (BondingCurve)", s.MarketModel, protocol)
	}
	checkVenueChains(r, s, protocol)
	return r.err()
}

func checkOwnership(r *report, s *v1alpha1.LaunchVenueSpec) {
	own := s.Ownership == v1alpha1.OwnershipOwn
	switch {
	case own && s.FilterValue != "":
		r.add("spec.filterValue", "is for venues that aren't own ones, those stand under ours; leave it out")
	case own:
	case s.FilterValue == "all" || s.FilterValue == "ours":
		r.add("spec.filterValue", "%q has a meaning of its own in the public API; choose another", s.FilterValue)
	default:
		r.name("spec.filterValue", s.FilterValue)
	}
	switch {
	case own && s.Badge != "":
		r.add("spec.badge", "is for venues that aren't own ones; leave it out")
	case s.Ownership == v1alpha1.OwnershipOutside && s.Badge == "":
		r.add("spec.badge", "is missing: an outside venue's tokens carry its badge, 1 to 16 characters")
	}
	if s.Default && !own {
		r.add("spec.default", "is for own venues alone; leave it out")
	}
}

func checkVenueChains(r *report, s *v1alpha1.LaunchVenueSpec, protocol chainconfig.VenueProtocol) {
	if len(s.Chains) == 0 {
		r.add("spec.chains", "is empty; name at least one Chain on which the venue is")
	}
	r.length("spec.chains", len(s.Chains), 32)
	names := r.unique()
	for i := range s.Chains {
		c := &s.Chains[i]
		at := fmt.Sprintf("spec.chains[%d]", i)
		r.object(at+".chain", "a Chain", c.Chain)
		names.see(at+".chain", c.Chain)
		if c.WantedState != "" {
			r.choice(at+".wantedState", string(c.WantedState), venueStates)
		}
		checkContracts(r, at, protocol, c)
		if ours := s.Ownership == v1alpha1.OwnershipOwn || s.Ownership == v1alpha1.OwnershipFurther; ours && !c.TradesInApp {
			r.add(at+".tradesInApp", "is false, but tokens of own and further venues trade in the app on every chain; write true")
		}
		checkLink(r, at+".linkTemplate", c)
	}
}

func checkLink(r *report, path string, c *v1alpha1.VenueChain) {
	switch link := c.LinkTemplate; {
	case link == "" && !c.TradesInApp:
		r.add(path, "is missing: tokens that don't trade in the app need a place to trade, such as https://four.meme/token/{mint}")
	case link == "":
	case utf8.RuneCountInString(link) > 256 || !linkPattern.MatchString(link) || !strings.Contains(link, "{mint}"):
		r.add(path, "%.80q is no template; allowed: https:// with a host and a path, up to 256 characters, with {mint} where the "+
			"token's address goes and no other braces", link)
	}
}

func checkContracts(r *report, at string, protocol chainconfig.VenueProtocol, c *v1alpha1.VenueChain) {
	evm := protocol.Family() == chainconfig.EVM
	switch {
	case evm && len(c.ProgramAccounts) > 0:
		r.add(at+".programAccounts", "are of Solana, protocol %s is of EVM chains; write contracts instead", protocol)
	case !evm && len(c.Contracts) > 0:
		r.add(at+".contracts", "are of EVM chains, protocol %s is of Solana; write programAccounts instead", protocol)
	}
	seen := r.unique()
	r.length(at+".contracts", len(c.Contracts), 16)
	for i, a := range c.Contracts {
		path := fmt.Sprintf("%s.contracts[%d]", at, i)
		seen.see(path, r.evmAddress(path, string(a)).String())
	}
	r.length(at+".programAccounts", len(c.ProgramAccounts), 16)
	for i, a := range c.ProgramAccounts {
		path := fmt.Sprintf("%s.programAccounts[%d]", at, i)
		seen.see(path, r.address(path, chainconfig.Solana, string(a)).String())
	}
}

func venueProtocols() []string {
	out := make([]string, len(chainconfig.VenueProtocols))
	for i, p := range chainconfig.VenueProtocols {
		out[i] = string(p)
	}
	return out
}

// venuesOn gives what an indexer needs of the venues on a chain, by id, so that equal declarations give equal documents. One without
// contracts there has nothing to index, nor has one whose contracts all are another's.
func venuesOn(chain string, family chainconfig.Family, venues []v1alpha1.LaunchVenue) []chainconfig.Venue {
	var out []chainconfig.Venue
	owners := owners(chain, venues)
	for i := range venues {
		v := &venues[i]
		protocol := chainconfig.VenueProtocol(v.Spec.Protocol)
		if protocol.Family() != family {
			continue
		}
		contracts := slices.DeleteFunc(contractsOn(v, chain), func(a market.Address) bool { return owners[a].Name != v.Name })
		if len(contracts) > 0 {
			out = append(out, chainconfig.Venue{ID: v.Spec.ID, Protocol: protocol, Contracts: contracts})
		}
	}
	slices.SortFunc(out, func(a, b chainconfig.Venue) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Taken gives the contracts of a venue on a chain that another venue has, with the other venue's name: the oldest of the accepted venues that
// declare a contract on a chain has it. rivals are the venues that declare a contract of this one, and may be others besides.
func Taken(v *v1alpha1.LaunchVenue, chain string, rivals []v1alpha1.LaunchVenue) map[market.Address]string {
	out := map[market.Address]string{}
	owners := owners(chain, rivals)
	for _, a := range contractsOn(v, chain) {
		if owner := owners[a]; owner != nil && owner.Name != v.Name && older(owner, v) {
			out[a] = owner.Name
		}
	}
	return out
}

// owners are the oldest venues that declare a contract on a chain, by contract.
func owners(chain string, venues []v1alpha1.LaunchVenue) map[market.Address]*v1alpha1.LaunchVenue {
	out := map[market.Address]*v1alpha1.LaunchVenue{}
	for i := range venues {
		v := &venues[i]
		for _, a := range contractsOn(v, chain) {
			if owner := out[a]; owner == nil || older(v, owner) {
				out[a] = v
			}
		}
	}
	return out
}

func contractsOn(v *v1alpha1.LaunchVenue, chain string) []market.Address {
	for i := range v.Spec.Chains {
		if c := &v.Spec.Chains[i]; c.Chain == chain {
			return Contracts(c)
		}
	}
	return nil
}

// Contracts are a venue's contracts or program accounts on a chain, in order, as a document has them. What is no address is in no document.
func Contracts(c *v1alpha1.VenueChain) []market.Address {
	var out []market.Address
	add := func(text string) {
		if a, err := market.ParseAddress(text); err == nil {
			out = append(out, a)
		}
	}
	for _, a := range c.Contracts {
		add(string(a))
	}
	for _, a := range c.ProgramAccounts {
		add(string(a))
	}
	slices.SortFunc(out, market.Address.Compare)
	return out
}
