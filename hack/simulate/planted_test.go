package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPlantedPatchesApply holds the patches to the code as it is, without running any: whoever changes what one of them changes has to
// bring it along.
func TestPlantedPatchesApply(t *testing.T) {
	t.Chdir("../..")
	patches, err := readPlanted("")
	if err != nil {
		t.Fatal(err)
	}
	var rows []uint64
	for _, p := range patches {
		rows = append(rows, p.row)
		if p.title == "" || len(p.seeds)+len(p.plans) == 0 {
			t.Errorf("%s doesn't say what it is, or what finds it", p.file)
		}
		if out, err := command(t.Context(), ".", "git", "apply", "--check", p.file); err != nil {
			t.Errorf("%s: %v: %s", p.file, err, out)
		}
	}
	if want := []uint64{1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 19, 20, 22, 27, 29, 30, 31, 32}; !slices.Equal(rows, want) {
		t.Errorf("there are patches of rows %v, want %v", rows, want)
	}
}

// TestWrittenPlansAreUnderstood reads each plan beside the patches, and some that no one could run.
func TestWrittenPlansAreUnderstood(t *testing.T) {
	t.Parallel()
	plans, err := filepath.Glob("planted/*.json")
	if err != nil || len(plans) == 0 {
		t.Fatal("no plans", err)
	}
	for _, file := range plans {
		if _, err := readPlan(file); err != nil {
			t.Error(err)
		}
	}
	for name, text := range map[string]string{
		"an unknown fault": `{"seed":1,"database":"sqlite","blocks":9,"nodes":[{"client":"geth","faults":[{"fault":"rain"}]}]}`,
		"an unknown event": `{"seed":1,"database":"sqlite","blocks":9,"nodes":[{"client":"geth"}],"events":[{"at":3,"do":"rain"}]}`,
		"an unknown field": `{"seed":1,"database":"sqlite","blocks":9,"nodes":[{"client":"geth"}],"rain":true}`,
		"no nodes":         `{"seed":1,"database":"sqlite","blocks":9}`,
	} {
		file := filepath.Join(t.TempDir(), "plan.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readPlan(file); err == nil {
			t.Errorf("a plan with %s is taken", name)
		}
	}
}
