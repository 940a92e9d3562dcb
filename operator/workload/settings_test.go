package workload_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// An indexer reads nothing of how its chain is called.
func TestAnotherLabelStartsNoPod(t *testing.T) {
	t.Parallel()
	document := func(label string) string {
		c := good(t)
		c.Spec.Label = label
		return read[appsv1.Deployment](t, build(t, c).Deployment).Spec.Template.Annotations["boardwalk.dev/document"]
	}
	same(t, "document that the pod runs on", document("Base Mainnet"), document("Base"))
}

// TestLockersAndFetchingAreSettingsOfTheChain: a team declares a chain's lockers and whether metadata is fetched, and the indexer gets both.
func TestLockersAndFetchingAreSettingsOfTheChain(t *testing.T) {
	t.Parallel()
	c := good(t) // it names a locker and fetches nothing
	o := build(t, c)
	document := read[corev1.ConfigMap](t, o.Document).Data["chain.json"]
	if !strings.Contains(document, `"0x663a5c229c09b049e36dcc11a9b0d4a8eb9db214"`) {
		t.Errorf("the indexer isn't told of the locker: %s", document)
	}
	if !strings.Contains(document, `"fetch_metadata": false`) {
		t.Errorf("the indexer isn't told to leave metadata alone: %s", document)
	}
	c.Spec.Trust, c.Spec.FetchMetadata = v1alpha1.Trust{}, new(true)
	document = read[corev1.ConfigMap](t, build(t, c).Document).Data["chain.json"]
	if strings.Contains(document, "lockers") || strings.Contains(document, "fetch_metadata") {
		t.Errorf("the document has settings at their defaults: %s", document)
	}
}
