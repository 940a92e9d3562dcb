package launch

import (
	"bytes"
	"maps"
	"slices"
	"text/template"

	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// declaredVenue is what a LaunchVenue resource says besides the contracts.
type declaredVenue struct {
	protocol venues.Protocol
	// Label, Ownership, Filter and Badge are as in the samples, where they have the venue.
	Label, Ownership, Filter, Badge string
	Order                           int
	Default                         bool
	// link is where tokens trade that don't trade in the app; empty says that they do.
	link string
	// elsewhere are the sample venue's other chains, as config/samples has them: a later folder's resource replaces the
	// whole of an earlier one.
	elsewhere []venueChain
}

// venueChain is an entry of a LaunchVenue's spec.chains.
type venueChain struct {
	Chain     string
	State     string
	Contracts []string
	Link      string
	InApp     bool
}

var declaredVenues = []declaredVenue{
	{
		protocol: venues.BoardwalkCurve, Label: "Boardwalk Curve", Ownership: "Own", Order: 30, Default: true,
		elsewhere: []venueChain{
			{Chain: "base", State: "Open", InApp: true},
			{Chain: "bsc", State: "Open", InApp: true},
			{Chain: "robinhood", State: "Open", InApp: true},
			{Chain: "hyperevm", State: "Closed", InApp: true},
		},
	},
	{
		protocol: venues.ClankerV4, Label: "Clanker", Ownership: "Further", Filter: "clanker", Badge: "Clanker", Order: 40,
		elsewhere: []venueChain{
			{Chain: "base", State: "Open", Contracts: []string{"0xE85A59c628F7d27878ACeB4bf3b35733630083a9"}, InApp: true},
			{Chain: "robinhood", State: "Open", Contracts: []string{"0xD3f2cC1731b7Fd17f28798835C2E02f0a1839A94"}, InApp: true},
			{Chain: "bsc", State: "Open", Contracts: []string{"0xea30438E0B5f99096cb05A8Da63be55A6A298F6a"}, InApp: true},
		},
	},
	{
		protocol: venues.FourMemeV2, Label: "four.meme", Ownership: "Outside", Filter: "four-meme", Badge: "four.meme", Order: 60,
		elsewhere: []venueChain{{
			Chain: "bsc", State: "Open", Contracts: []string{"0x5c952063c7fc8610FFDB798152D69F0B9550762b"}, InApp: true,
			Link: "https://four.meme/token/{mint}",
		}},
	},
	{
		protocol: venues.Flap, Label: "Flap", Ownership: "Outside", Filter: "flap", Badge: "Flap", Order: 70,
		elsewhere: []venueChain{
			{Chain: "bsc", State: "Open", Contracts: []string{"0xe2cE6ab80874Fa9Fa2aAE65D277Dd6B8e65C9De0"}, InApp: true},
			{Chain: "robinhood", State: "Open", Contracts: []string{"0x26605f322f7fF986f381bB9A6e3f5DAb0bEaEb09"}, InApp: true},
		},
	},
	// The samples have none of these.
	{protocol: venues.FourMemeV1, Label: "four.meme V1", Ownership: "Outside", Filter: "four-meme", Badge: "four.meme", Order: 65},
	{protocol: venues.ClankerV3, Label: "Clanker v3", Ownership: "Further", Filter: "clanker", Badge: "Clanker", Order: 45},
	{protocol: venues.PonsV2, Label: "Pons", Ownership: "Outside", Filter: "pons", Badge: "Pons", Order: 80, link: "https://pons.example.com/token/{mint}"},
	{protocol: venues.NadFun, Label: "nad.fun", Ownership: "Outside", Filter: "nad-fun", Badge: "nad.fun", Order: 90, link: "https://nadfun.example.com/token/{mint}"},
}

var venueManifest = template.Must(template.New("venue").Parse(`---
apiVersion: boardwalk.dev/v1alpha1
kind: LaunchVenue
metadata: {name: {{.ID}}}
spec:
  id: {{.ID}}
  label: {{printf "%q" .Label}}
  order: {{.Order}}
  ownership: {{.Ownership}}
  protocol: {{.Protocol}}
{{- if .Filter}}
  filterValue: {{.Filter}}
{{- end}}
{{- if .Badge}}
  badge: {{printf "%q" .Badge}}
{{- end}}
  marketModel: {{.Model}}
{{- if .Default}}
  default: true
{{- end}}
  chains:
{{- range .Chains}}
  - chain: {{.Chain}}
    wantedState: {{.State}}
{{- if .Contracts}}
    contracts:{{range .Contracts}}
    - "{{.}}"{{end}}
{{- end}}
    tradesInApp: {{.InApp}}
{{- if .Link}}
    linkTemplate: {{.Link}}
{{- end}}
{{- end}}
`))

// VenueManifests is the LaunchVenue resources of worlds, by the ids of their Chain resources, as YAML. A venue of
// config/samples keeps its entries for chains without a world of its own; it stays closed there, as they don't run here.
func VenueManifests(worlds map[string]*world.World) ([]byte, error) {
	var out bytes.Buffer
	for _, declared := range declaredVenues {
		chains := slices.Clone(declared.elsewhere)
		deployed := false
		for _, id := range slices.Sorted(maps.Keys(worlds)) {
			venue, found := worlds[id].Venue(venues.Kinds[declared.protocol].ID)
			if !found {
				continue
			}
			deployed = true
			here := venueChain{Chain: id, State: "Open", Contracts: venue.Contracts, Link: declared.link, InApp: declared.link == ""}
			at := slices.IndexFunc(chains, func(c venueChain) bool { return c.Chain == id })
			if at < 0 {
				chains = append(chains, here)
				continue
			}
			here.Link = chains[at].Link
			chains[at] = here
		}
		if !deployed {
			continue
		}
		model := "LivePool"
		if venues.Kinds[declared.protocol].SaleBase > 0 {
			model = "BondingCurve"
		}
		err := venueManifest.Execute(&out, struct {
			declaredVenue
			ID, Model string
			Protocol  venues.Protocol
			Chains    []venueChain
		}{declared, venues.Kinds[declared.protocol].ID, model, declared.protocol, chains})
		if err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// WriteVenueManifests writes them to venues.yaml in a directory, at once, so that a reader never sees half of it. The path
// is empty when there are none.
func WriteVenueManifests(dir string, worlds map[string]*world.World) (path string, err error) {
	content, err := VenueManifests(worlds)
	if err != nil || len(content) == 0 {
		return "", err
	}
	return world.WriteFile(dir, "venues", content)
}
