package launch_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/hack/simnet"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
)

const samples = "../../../config/samples"

// localWorlds are the two chains of `make run`, without nodes.
func localWorlds() map[string]*simnet.World {
	worlds := make(map[string]*simnet.World)
	for id, chainID := range map[string]uint64{"base": 8453, "bsc": 56} {
		world := &simnet.World{ChainID: chainID}
		for i, protocol := range simnet.UsualVenues(chainID) {
			world.Venues = append(world.Venues, simnet.Venue{
				ID: venueIDs[protocol], Protocol: protocol, Contracts: []string{"0x" + strings.Repeat(string("0123456789"[i]), 38) + id[:2]},
			})
		}
		worlds[id] = world
	}
	return worlds
}

var venueIDs = map[simnet.VenueProtocol]string{
	simnet.BoardwalkCurve: "boardwalk-curve", simnet.FourMemeV1: "four-meme-v1", simnet.FourMemeV2: "four-meme", simnet.Flap: "flap",
	simnet.PonsV2: "pons", simnet.NadFun: "nad-fun", simnet.ClankerV3: "clanker-v3", simnet.ClankerV4: "clanker",
}

// Over the samples, the local world's venues are the same but for their contracts on its chains, and those of every other
// protocol come after them.
func TestVenueManifests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	worlds := localWorlds()
	for _, world := range worlds { // contracts are hexadecimal
		for i := range world.Venues {
			world.Venues[i].Contracts[0] = strings.NewReplacer("s", "5").Replace(world.Venues[i].Contracts[0])
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
			if world := worlds[c.Chain]; world != nil {
				if venue, found := world.Venue(spec.ID); found {
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
	path, err := launch.WriteVenueManifests(dir, map[string]*simnet.World{"base": {}})
	if err != nil || path != "" {
		t.Errorf("%q, %v", path, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
