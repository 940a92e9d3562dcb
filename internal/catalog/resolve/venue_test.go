package resolve_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

func TestVenueAccepts(t *testing.T) {
	t.Parallel()
	for _, manifest := range []string{resolvetest.GoodVenue, resolvetest.GoodOwnVenue, resolvetest.GoodFurtherVenue} {
		if err := resolve.Venue(readVenue(t, manifest)); err != nil {
			t.Error(err)
		}
	}
}

func TestVenueRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range resolvetest.Venues() {
		t.Run(tt.Name, func(t *testing.T) {
			t.Parallel()
			refuses(t, tt, func() error { return resolve.Venue(readVenue(t, tt.Manifest)) })
		})
	}
}

func TestVenueNamesEverythingAtOnce(t *testing.T) {
	t.Parallel()
	v := readVenue(t, resolvetest.GoodVenue)
	v.Spec.Label, v.Spec.Badge, v.Spec.Chains[1].LinkTemplate = "", "", ""
	err := resolve.Venue(v)
	for _, want := range []string{"spec.label: ", "spec.badge: ", "spec.chains[1].linkTemplate: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

// Every protocol is of one family and has one market model; the kinds of contracts follow.
func TestVenueOfEveryProtocol(t *testing.T) {
	t.Parallel()
	for _, p := range chainconfig.VenueProtocols {
		v := readVenue(t, resolvetest.GoodVenue)
		v.Spec.Protocol, v.Spec.MarketModel = v1alpha1.VenueProtocol(p), v1alpha1.MarketModelLivePool
		if p.HasCurve() {
			v.Spec.MarketModel = v1alpha1.MarketModelBondingCurve
		}
		contracts := resolve.Venue(v)
		for i := range v.Spec.Chains {
			v.Spec.Chains[i].Contracts = nil
			v.Spec.Chains[i].ProgramAccounts = []v1alpha1.SolanaAddress{"So11111111111111111111111111111111111111112"}
		}
		accounts := resolve.Venue(v)
		if evm := p.Family() == chainconfig.EVM; (contracts == nil) != evm || (accounts == nil) == evm {
			t.Errorf("%s: with contracts %v, with program accounts %v", p, contracts, accounts)
		}
	}
}

func TestChainHasItsVenues(t *testing.T) {
	t.Parallel()
	fourMeme, dbc, clanker := readVenue(t, resolvetest.GoodVenue), readVenue(t, resolvetest.GoodOwnVenue), readVenue(t, resolvetest.GoodFurtherVenue)
	// Closed, and without contracts as yet: there is nothing to index.
	curve := readVenue(t, resolvetest.GoodFurtherVenue)
	curve.Spec.ID, curve.Spec.Protocol = "boardwalk-curve", "BoardwalkCurve"
	curve.Spec.Chains[0].WantedState, curve.Spec.Chains[0].Contracts = v1alpha1.VenueClosed, nil
	// A slip: it isn't of the chain's family.
	wrong := readVenue(t, resolvetest.GoodOwnVenue)
	wrong.Spec.ID, wrong.Spec.Chains[0].Chain = "wrong", "base"
	fourMeme.Spec.Chains[1].Contracts = []v1alpha1.EVMAddress{
		"0xF251F83e40a78868FcfA3FA4599Dad6494E46034", "0xec4549cadce5da21df6e6422d448034b5233bfbc",
	}
	venues := []v1alpha1.LaunchVenue{*fourMeme, *wrong, *dbc, *clanker, *curve}
	want := []chainconfig.Venue{
		{ID: "clanker", Protocol: chainconfig.ClankerV4, Contracts: markettest.Addresses("0xe85a59c628f7d27878aceb4bf3b35733630083a9")},
		{ID: "four-meme", Protocol: chainconfig.FourMemeV2, Contracts: markettest.Addresses(
			"0xec4549cadce5da21df6e6422d448034b5233bfbc", "0xf251f83e40a78868fcfa3fa4599dad6494e46034",
		)},
	}
	for range venues { // whatever their order
		got, err := resolve.Chain(read(t, resolvetest.Good), venues, "")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Venues, want) {
			t.Errorf("base: got %+v\nwant %+v", got.Venues, want)
		}
		venues = slices.Concat(venues[1:], venues[:1])
	}

	got, err := resolve.Chain(read(t, resolvetest.GoodSolana), venues, "")
	if err != nil {
		t.Fatal(err)
	}
	want = []chainconfig.Venue{
		{ID: "boardwalk-dbc", Protocol: chainconfig.MeteoraDBC, Contracts: markettest.Addresses("So11111111111111111111111111111111111111112")},
	}
	if !reflect.DeepEqual(got.Venues, want) {
		t.Errorf("solana: got %+v\nwant %+v", got.Venues, want)
	}
}

// The document is what an indexer is restarted for: nothing that it doesn't need of a chain or a venue is in it.
func TestDocumentKeepsWhenAVenueIsRenamed(t *testing.T) {
	t.Parallel()
	c, v := read(t, resolvetest.Good), readVenue(t, resolvetest.GoodVenue)
	hash := func() string {
		doc, err := resolve.Chain(c, []v1alpha1.LaunchVenue{*v}, "")
		if err != nil {
			t.Fatal(err)
		}
		_, hash, err := doc.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	before := hash()
	v.Spec.Label, v.Spec.Badge, v.Spec.Chains[1].WantedState = "Four", "4", v1alpha1.VenueClosed
	slices.Reverse(v.Spec.Chains)
	c.Spec.Label, *c.Spec.Order = "Base Mainnet", 99
	if hash() != before {
		t.Error("the document has changed")
	}
	v.Spec.Chains[0].Contracts = nil
	if hash() == before {
		t.Error("the document hasn't changed with the contracts")
	}
}
