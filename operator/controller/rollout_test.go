package controller

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// deployment is that of a chain's indexer.
func (w *world) deployment(id string) *appsv1.Deployment {
	w.t.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: workload.ObjectName(id)}}
	if err := w.get(d); err != nil {
		w.t.Fatal(err)
	}
	return d
}

// withImage are the chains whose indexers are to run an image.
func (w *world) withImage(image string, ids []string) (out []string) {
	w.t.Helper()
	for _, id := range ids {
		if w.deployment(id).Spec.Template.Spec.Containers[0].Image == image {
			out = append(out, id)
		}
	}
	return out
}

// lookedAt waits until the operator has decided about a chain since now.
func (w *world) lookedAt(c *v1alpha1.Chain, order int) {
	w.t.Helper()
	w.patch(c, fmt.Sprintf(`{"spec":{"order":%d}}`, order))
	eventually(w.t, func() error {
		if err := w.get(c); err != nil || c.Status.ObservedGeneration != c.Generation {
			return fmt.Errorf("%w: chain %s is seen at generation %d of %d", err, c.Name, c.Status.ObservedGeneration, c.Generation)
		}
		return nil
	})
}

// TestAChangeOfAllIndexersIsTriedOnOne: an image, a Secret or a user that no indexer can start with must cost one chain, not all. The
// others follow once the first one runs.
func TestAChangeOfAllIndexersIsTriedOnOne(t *testing.T) {
	w := newWorld(t)
	first := w.run()
	ids := []string{"arbitrum", "base", "bsc"}
	var chains []*v1alpha1.Chain
	for i, id := range ids {
		w.indexers.says(id)
		chains = append(chains, w.chain(id, int64(i+1)))
	}
	for _, c := range chains {
		w.become(c, "Ready True Ready")
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	none := w.quota("pods") // pods that run stay, and no other one starts

	const image = "none.invalid/boardwalk:next"
	w.run(func(o *Options) { o.Workload.Image = image })
	eventually(t, func() error {
		if len(w.withImage(image, ids)) == 0 {
			return fmt.Errorf("no indexer has the image %s", image)
		}
		return nil
	})
	for i, c := range chains {
		w.lookedAt(c, 100+i)
	}
	changed := w.withImage(image, ids)
	if len(changed) != 1 {
		t.Errorf("the indexers of %v were changed before any of them ran; want one", changed)
	}
	available := 0
	for _, id := range ids {
		available += int(w.deployment(id).Status.AvailableReplicas)
	}
	if available < len(ids)-1 {
		t.Errorf("%d of %d indexers run", available, len(ids))
	}

	w.remove(none)
	eventually(t, func() error {
		if changed := w.withImage(image, ids); len(changed) != len(ids) {
			return fmt.Errorf("only the indexers of %v have the image %s", changed, image)
		}
		return nil
	})
	for _, c := range chains {
		w.become(c, "Ready True Ready")
	}
}

// TestAChangeOfOneChainWaitsForNobody: it is no trial of what all indexers have.
func TestAChangeOfOneChainWaitsForNobody(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	w.indexers.says("bsc")
	down := w.chain("base", 8453, func(c *v1alpha1.Chain) { c.Spec.Indexer.NodeSelector = map[string]v1alpha1.LabelValue{"nowhere": "x"} })
	c := w.chain("bsc", 56)
	w.become(down, "Available False IndexerStarting")
	w.become(c, "Ready True Ready")
	w.patch(c, `{"spec":{"rpc":{"endpoints":[{"url":"https://other.example"}]}}}`)
	eventually(t, func() error {
		if got := w.document("bsc").Endpoints[0].URL; got != "https://other.example" {
			return fmt.Errorf("the document says %s", got)
		}
		return nil
	})
	w.become(c, "Ready True Ready")
}
