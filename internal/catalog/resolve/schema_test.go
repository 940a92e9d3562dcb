package resolve_test

import (
	"os"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The CRDs say in their schema what resolve says in Go: the lists of choices and the defaults are compared here, the rest
// by resolvetest's cases.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	chain, venue := specSchema(t, "chains"), specSchema(t, "launchvenues")
	for name, pair := range map[string][2][]string{
		"a chain's families": {chain.Properties["family"].Enum, texts([]chainconfig.Family{chainconfig.EVM, chainconfig.Solana})},
		"protocols":          {chain.Properties["exchanges"].Items.Properties["protocol"].Enum, texts(market.Protocols)},
		"venue protocols":    {venue.Properties["protocol"].Enum, texts(chainconfig.VenueProtocols)},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: the schema has %v, Go has %v", name, pair[0], pair[1])
		}
	}
	tracking := chain.Properties["tracking"].Properties
	for name, pair := range map[string][2]any{
		"reorgBlocks":     {chain.Properties["reorgBlocks"].Default, int(v1alpha1.DefaultReorgBlocks)},
		"finalityDepth":   {chain.Properties["finalityDepth"].Default, int(v1alpha1.DefaultFinalityDepth)},
		"minLiquidityUSD": {tracking["minLiquidityUSD"].Default, string(v1alpha1.DefaultMinLiquidityUSD)},
		"holders":         {tracking["holders"].Default, string(v1alpha1.DefaultHolders)},
		"weight": {
			chain.Properties["rpc"].Properties["endpoints"].Items.Properties["weight"].Default, int(v1alpha1.DefaultWeight),
		},
		"a chain's order": {chain.Properties["order"].Default, int(v1alpha1.DefaultOrder)},
		"a venue's order": {venue.Properties["order"].Default, int(v1alpha1.DefaultOrder)},
		"wantedState":     {venue.Properties["chains"].Items.Properties["wantedState"].Default, string(v1alpha1.VenueOpen)},
		"tradesInApp":     {venue.Properties["chains"].Items.Properties["tradesInApp"].Default, false},
	} {
		if pair[0] != pair[1] {
			t.Errorf("default of %s: the schema has %v, Go has %v", name, pair[0], pair[1])
		}
	}
}

type schema struct {
	Properties map[string]schema
	Items      *schema
	Enum       []string
	Default    any
}

func specSchema(t *testing.T, resource string) schema {
	t.Helper()
	raw, err := os.ReadFile("../../../config/crd/bases/boardwalk.dev_" + resource + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema schema `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		t.Fatal(err)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
