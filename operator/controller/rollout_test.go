package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
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

// TestARolloutWaitsForTheHead: an indexer that runs and reads nothing any more, as with a broken image, keeps the others from the same.
func TestARolloutWaitsForTheHead(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	ids := []string{"arbitrum", "base", "bsc", "monad"}
	chains := map[string]*v1alpha1.Chain{}
	for i, id := range ids {
		w.indexers.says(id)
		chains[id] = w.chain(id, int64(i+1))
	}
	for _, c := range chains {
		w.become(c, "Ready True Ready")
	}
	if err := op.stop(); err != nil {
		t.Fatal(err)
	}
	w.clock.advance(steadyTime)
	former := w.settingsOf("arbitrum")
	w.indexers.says("bsc", behindBy(time.Hour)) // it is behind anyway: it neither counts nor blocks
	for _, id := range []string{"arbitrum", "base", "monad"} {
		w.indexers.says(id, func(s *chainconfig.State) {
			if s.Settings != former {
				behindBy(time.Hour)(s)
			}
		})
	}
	withNext := func(o *Options) { o.Workload.Image = next }
	op = w.run(withNext)
	first := func() []string { return w.withImage(next, ids) }
	eventually(t, func() error {
		if got := first(); len(got) == 0 {
			return fmt.Errorf("no indexer has the new image")
		}
		return nil
	})
	w.become(chains["arbitrum"], "Ready False Behind")
	for i, id := range []string{"base", "bsc", "monad"} {
		w.lookedAt(chains[id], 200+i)
	}
	if got := first(); !slices.Equal(got, []string{"arbitrum"}) {
		t.Fatalf("the indexers of %v were changed before one of them was at the head; want one, of a ready chain", got)
	}
	w.become(chains["base"], "Available True IndexerRunning It waits for Deployment boardwalk-indexer-arbitrum, which doesn't run with it yet, or isn't at the head: Behind: ")
	w.become(chains["bsc"], "Available True IndexerRunning tried on chains that are ready first")

	// An operator that is killed meanwhile goes on where it was.
	if err := op.stop(); err != nil {
		t.Fatal(err)
	}
	w.run(withNext)
	w.lookedAt(chains["monad"], 300)
	if got := first(); !slices.Equal(got, []string{"arbitrum"}) {
		t.Fatalf("another operator changed the indexers of %v", got)
	}

	// A person knows better of one chain.
	w.patch(chains["monad"], `{"metadata":{"annotations":{"boardwalk.dev/force-rollout":"true"}}}`)
	eventually(t, func() error {
		if got := first(); !slices.Equal(got, []string{"arbitrum", "monad"}) {
			return fmt.Errorf("the indexers of %v were changed; want the forced one too", got)
		}
		return nil
	})
	// And of the one that all wait for, which then is no trial any more: the next one is.
	w.patch(chains["arbitrum"], `{"metadata":{"annotations":{"boardwalk.dev/force-rollout":"true"}}}`)
	eventually(t, func() error {
		if got := first(); !slices.Contains(got, "base") {
			return fmt.Errorf("the indexers of %v were changed; want base too", got)
		}
		return nil
	})
	w.indexers.says("base")
	eventually(t, func() error {
		if got := first(); len(got) != len(ids) {
			return fmt.Errorf("the indexers of %v were changed; want all, since one is at the head", got)
		}
		return nil
	})
}

const next = "none.invalid/boardwalk:next"

// TestRolloutsOfAnyFleet: whatever indexers there are and however slowly they come back, no more than so many are changed at a time, those whose
// chains were ready for long come first, and all are changed in the end unless one doesn't come back.
func TestRolloutsOfAnyFleet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var f fleet
		for i := range rapid.IntRange(1, 40).Draw(t, "indexers") {
			m := member{name: fmt.Sprintf("indexer-%02d", i), wanted: true, runs: rapid.IntRange(0, 9).Draw(t, "runs") > 0}
			m.ready = m.runs && rapid.IntRange(0, 4).Draw(t, "ready") > 0
			m.steady = m.ready && rapid.Bool().Draw(t, "steady")
			f = append(f, m)
		}
		percent := rapid.IntRange(1, 100).Draw(t, "percent")
		most := max(1, len(f)*percent/100)
		stuck := map[string]bool{}
		for i := range f {
			stuck[f[i].name] = rapid.IntRange(0, 30).Draw(t, "stuck") == 0
		}
		for range 40 * len(f) {
			m := &f[rapid.IntRange(0, len(f)-1).Draw(t, "looked at")]
			if m.updated { // its pod may have come up
				m.proven = m.proven || !stuck[m.name] && rapid.Bool().Draw(t, "is back")
				m.ready, m.runs = m.proven, true
				continue
			}
			if !m.runs {
				m.updated, m.proven = true, false // nothing that runs is lost
				continue
			}
			trial, why := f.decide(m, percent)
			if (why == "") != (trial || !m.ready) && m.ready {
				t.Fatalf("%s of a ready chain is changed without being a trial", m.name)
			}
			if why != "" {
				continue
			}
			steady := 0
			for i := range f {
				if !f[i].updated && f[i].steady {
					steady++
				}
			}
			if trial && !m.steady && steady >= most {
				t.Fatalf("%s is tried, and %d other chains have been ready for longer", m.name, steady)
			}
			proven := slices.ContainsFunc(f, func(x member) bool { return x.proven })
			if !m.ready && !proven && slices.ContainsFunc(f, func(x member) bool { return x.runs && x.ready && !x.updated }) {
				t.Fatalf("%s, whose chain isn't ready, is changed before anything is proven", m.name)
			}
			m.updated, m.trial, m.runs, m.ready, m.steady = true, trial, false, false, false
			onTrial := 0
			for i := range f {
				if f[i].trial && !f[i].proven {
					onTrial++
				}
			}
			if onTrial > most {
				t.Fatalf("%d indexers are on trial at a time; want at most %d of %d", onTrial, most, len(f))
			}
		}
		// All that comes back has come back by now; who is left waits for one that is stuck.
		for i := range f {
			if m := &f[i]; m.updated {
				m.proven = !stuck[m.name]
				m.ready = m.proven
			}
		}
		for i := range f {
			if _, why := f.decide(&f[i], percent); !f[i].updated && f[i].runs && why != "" && !strings.Contains(why, "indexer-") &&
				!strings.Contains(why, "at a time") && !strings.Contains(why, "ready first") {
				t.Fatalf("%s waits, and nobody says for what: %s", f[i].name, why)
			}
		}
	})
}
