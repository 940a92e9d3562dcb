package launch_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
)

const samples = "../../../config/samples"

// localWorlds are the two EVM chains of `make run`, without nodes.
func localWorlds() map[string]*world.World {
	worlds := make(map[string]*world.World)
	for id, chainID := range map[string]uint64{"base": 8453, "bsc": 56} {
		w := &world.World{ChainID: chainID}
		for i, protocol := range venues.Usual(chainID) {
			w.Venues = append(w.Venues, venues.Venue{
				ID: venueIDs[protocol], Protocol: protocol, Contracts: []string{"0x" + strings.Repeat(string("0123456789"[i]), 38) + id[:2]},
			})
		}
		worlds[id] = w
	}
	return worlds
}

var venueIDs = map[venues.Protocol]string{
	venues.BoardwalkCurve: "boardwalk-curve", venues.FourMemeV1: "four-meme-v1", venues.FourMemeV2: "four-meme", venues.Flap: "flap",
	venues.PonsV2: "pons", venues.NadFun: "nad-fun", venues.ClankerV3: "clanker-v3", venues.ClankerV4: "clanker",
}

// Over the samples, the local world's venues are the same but for their contracts on its chains, and those of every other
// protocol come after them.
func TestVenueManifests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	worlds := localWorlds()
	for _, w := range worlds { // contracts are hexadecimal
		for i := range w.Venues {
			w.Venues[i].Contracts[0] = strings.NewReplacer("s", "5").Replace(w.Venues[i].Contracts[0])
		}
	}
	path, err := launch.WriteVenueManifests(dir, worlds)
	if err != nil || path != filepath.Join(dir, "venues.yaml") {
		t.Fatalf("%q, %v", path, err)
	}
	before, err := files.Load(samples)
	if err != nil {
		t.Fatal(err)
	}
	after, err := files.Load(samples, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := after.Resolve(); err != nil {
		t.Fatal(err)
	}
	for i, sample := range before.Venues {
		spec := after.Venues[i].Resource.Spec
		for j := range spec.Chains {
			c := &spec.Chains[j]
			if w := worlds[c.Chain]; w != nil {
				if venue, found := w.Venue(spec.ID); found {
					if len(c.Contracts) != 1 || string(c.Contracts[0]) != venue.Contracts[0] {
						t.Errorf("%s on %s has %v", spec.ID, c.Chain, c.Contracts)
					}
					c.Contracts = sample.Resource.Spec.Chains[j].Contracts
				}
			}
		}
		if !reflect.DeepEqual(spec, sample.Resource.Spec) {
			t.Errorf("%+v\nreplaces %+v", spec, sample.Resource.Spec)
		}
	}
	var further []string
	for _, m := range after.Venues[len(before.Venues):] {
		spec := m.Resource.Spec
		further = append(further, spec.ID)
		for _, c := range spec.Chains {
			if len(c.Contracts) != 1 || c.WantedState != v1alpha1.VenueOpen {
				t.Errorf("%s on %s: %+v", spec.ID, c.Chain, c)
			}
			if outside := spec.Ownership == v1alpha1.OwnershipOutside && c.Chain != "bsc"; outside == c.TradesInApp {
				t.Errorf("%s on %s trades in the app: %t", spec.ID, c.Chain, c.TradesInApp)
			}
		}
	}
	slices.Sort(further)
	if want := []string{"clanker-v3", "four-meme-v1", "nad-fun", "pons"}; !slices.Equal(further, want) {
		t.Errorf("further venues %v", further)
	}
}

// A world without venues leaves the samples alone.
func TestVenueManifestsOfNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, err := launch.WriteVenueManifests(dir, map[string]*world.World{"base": {}})
	if err != nil || path != "" {
		t.Errorf("%q, %v", path, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
