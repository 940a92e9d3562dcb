package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
)

// TestChainsAreThoseOfSamples reads the chains of the local world from the source: their ids are those of published samples, which
// they take the place of, so that no client of the API meets an id that a deployment doesn't have.
func TestChainsAreThoseOfSamples(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	samples, err := files.Load("../../../../config/samples")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]uint64{}
	for _, c := range samples.Chains {
		if n := c.Resource.Spec.ChainID; n != nil {
			numbers[c.Resource.Spec.ID] = uint64(*n)
		}
	}
	chains := regexp.MustCompile(`ManifestOptions\{ID: "([^"]*)".*chainID: (\d+)`).FindAllStringSubmatch(string(source), -1)
	if len(chains) != 2 {
		t.Fatalf("the source has the chains %q", chains)
	}
	for _, c := range chains {
		if want, ok := numbers[c[1]]; !ok || strconv.FormatUint(want, 10) != c[2] {
			t.Errorf("chain %s with the number %s is none of the samples %v", c[1], c[2], numbers)
		}
	}
}
