package manifest_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/manifest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
)

// TestManifest: the world's resources can be loaded beside the samples, in whose places they come, and declare what the world has.
func TestManifest(t *testing.T) {
	t.Parallel()
	chain, err := svm.Start(t.Context(), svm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chain.Close() })
	w, err := solana.Deploy(t.Context(), chain, solana.Options{Seed: 2, People: 1})
	if err != nil {
		t.Fatal(err)
	}
	dir, hash := t.TempDir(), ""
	if err := chain.Call(t.Context(), &hash, "getGenesisHash"); err != nil {
		t.Fatal(err)
	}
	if _, err := world.WriteFile(dir, "solana", manifest.YAML(w, hash)); err != nil {
		t.Fatal(err)
	}
	all, err := files.Load("../../../../config/samples", dir)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := all.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	if len(declared.Running) != 1 {
		t.Fatalf("%d chains run", len(declared.Running))
	}
	c := declared.Running[0]
	venues := map[string]bool{}
	for _, v := range c.Venues {
		venues[v.ID] = len(v.Contracts) == 1
	}
	if c.ID != "solana" || c.GenesisHash != hash || len(c.Exchanges) != 4 || len(c.Endpoints) != 1 || c.Endpoints[0].URL != chain.URL() ||
		!venues["boardwalk-dbc"] || !venues["boardwalk-launchlab"] || !venues["pump-fun"] {
		t.Errorf("declared: %+v, venues %v", c, venues)
	}
}
