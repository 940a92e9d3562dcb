package main

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve/resolvetest"
	"github.com/boardwalkhq/boardwalk/internal/porttest"
)

// api runs an API server and gives the labels of the chains that it lists.
func (o *operatorSite) api() (labels func() []string) {
	o.t.Helper()
	address := porttest.Address(o.t)
	stop := o.program("apiserver", "--from-cluster", "--listen", address, "--trusted-proxy=127.0.0.1",
		"--db=sqlite:"+filepath.Join(o.t.TempDir(), "api.db"))
	o.t.Cleanup(stop)
	labels = func() (out []string) {
		var s contract.LaunchStatus
		if fetch(o.t, "http://"+address+"/api/launch/status", nil) != http.StatusOK {
			return nil
		}
		fetch(o.t, "http://"+address+"/api/launch/status", &s)
		for _, c := range s.Chains {
			out = append(out, c.Label)
		}
		return out
	}
	o.until("the API answers", func() bool { return labels() != nil })
	return labels
}

// TestAnInvalidEditLeavesWhatWasAccepted: the public goes on reading a chain that an edit made invalid, as it was accepted last, from API
// servers that ran before and from such as start later; and whoever made the edit is told.
func TestAnInvalidEditLeavesWhatWasAccepted(t *testing.T) {
	o := newOperatorSite(t, startCluster(t))
	t.Cleanup(o.program("operator", "--indexer-image=none.invalid/boardwalk", "--database-secret=db"))
	c := o.chain()
	accepted := func(status metav1.ConditionStatus) {
		t.Helper()
		o.until("the chain's condition Accepted is "+string(status), func() bool {
			return o.Get(t.Context(), client.ObjectKeyFromObject(c), c) == nil && c.Status.ObservedGeneration == c.Generation &&
				meta.IsStatusConditionPresentAndEqual(c.Status.Conditions, v1alpha1.ConditionAccepted, status)
		})
	}
	accepted(metav1.ConditionTrue)
	before := o.api()
	if got := before(); !slices.Equal(got, []string{"Base"}) {
		t.Fatalf("the chains are %q", got)
	}
	patch := func(spec string) {
		t.Helper()
		if err := o.Patch(t.Context(), c, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`))); err != nil {
			t.Fatal(err)
		}
	}
	// The API server takes this address. Its checksum is wrong.
	patch(`{"label":"Grundlage","quoteAssets":[{"symbol":"USDC","address":"0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"}]}`)
	accepted(metav1.ConditionFalse)
	if said := o.said(c); !strings.Contains(said, "last accepted") {
		t.Errorf("nobody is told what is served meanwhile: %s", said)
	}
	if got := o.api()(); !slices.Equal(got, []string{"Base"}) {
		t.Errorf("an API server that starts after the edit lists %q", got)
	}
	// A chain that comes later shows that the edit has been seen.
	var later v1alpha1.Chain
	if err := yaml.UnmarshalStrict([]byte(resolvetest.GoodSolana), &later); err != nil {
		t.Fatal(err)
	}
	later.Namespace = o.namespace
	if err := o.Create(t.Context(), &later); err != nil {
		t.Fatal(err)
	}
	o.until("the other chain is listed", func() bool { return slices.Contains(before(), "Solana") })
	if got := before(); !slices.Contains(got, "Base") || slices.Contains(got, "Grundlage") {
		t.Errorf("an API server that ran before lists %q", got)
	}
	patch(`{"quoteAssets":[{"symbol":"USDC","address":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"}]}`)
	accepted(metav1.ConditionTrue)
	o.until("the mended chain is listed", func() bool { return slices.Contains(before(), "Grundlage") })
}
