package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// readyChains makes chains, and waits until all are ready.
func (w *world) readyChains(ids []string) (out []*v1alpha1.Chain) {
	w.t.Helper()
	for i, id := range ids {
		w.indexers.says(id)
		out = append(out, w.chain(id, int64(i+1)))
	}
	for _, c := range out {
		w.become(c, "Ready True Ready")
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

// TestAChangeOfAllIndexersIsTriedByAJob: an image, a Secret or a user that no pod can start with costs no chain anything. Once the trial has ended
// well, all indexers are changed.
func TestAChangeOfAllIndexersIsTriedByAJob(t *testing.T) {
	w := newWorld(t)
	first := w.run()
	ids := []string{"arbitrum", "base", "bsc"}
	chains := w.readyChains(ids)
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	none := w.quota("pods") // pods that run stay, and no other one starts

	const image = "none.invalid/boardwalk:next"
	w.run(func(o *Options) { o.Workload.Image = image })
	w.becomes(chains[0], v1alpha1.ConditionAvailable, "what is new for all indexers is tried first, by Job boardwalk-trial-")
	for i, c := range chains {
		w.lookedAt(c, 100+i)
	}
	if changed := w.withImage(image, ids); len(changed) > 0 {
		t.Errorf("the indexers of %v were changed before anything ran", changed)
	}
	for _, id := range ids {
		if w.deployment(id).Status.AvailableReplicas != 1 {
			t.Errorf("the indexer of %s doesn't run", id)
		}
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

// trial is the pod of the newest trial that isn't being deleted, but for one that is known.
func (w *world) trial(but types.UID) (pod *corev1.Pod) {
	w.t.Helper()
	eventually(w.t, func() error {
		var list corev1.PodList
		if err := w.List(w.t.Context(), &list, client.InNamespace(w.namespace), client.HasLabels{workload.LabelTrial}); err != nil {
			return err
		}
		for i := range list.Items {
			if p := &list.Items[i]; p.DeletionTimestamp == nil && p.UID != but && p.Status.Phase == corev1.PodRunning {
				pod = p
				return nil
			}
		}
		return errors.New("there is no pod of a trial")
	})
	return pod
}

// tell makes a pod's only container what a kubelet would say of it.
func (w *world) tell(pod *corev1.Pod, phase corev1.PodPhase, state corev1.ContainerState) {
	w.t.Helper()
	pod.Status.Phase = phase
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: state}}
	if err := w.Status().Update(w.t.Context(), pod); err != nil {
		w.t.Fatal(err)
	}
}

// TestATrialFailsAndIsMadeAgain: why it doesn't start, or failed, is told of the chains that wait for it. What it lacked may come later.
func TestATrialFailsAndIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	first := w.run()
	chains := w.readyChains([]string{"base"})
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	const image = "none.invalid/boardwalk:next"
	w.run(func(o *Options) {
		o.Workload.Image, o.Workload.Labels = image, map[string]string{"kubetest": "by-hand"}
	})
	pod := w.trial("")
	if c := &pod.Spec.Containers[0]; c.Image != image || !slices.Equal(c.Args, []string{"migrate", "--try", "--log-json"}) {
		t.Errorf("the trial runs %v of %s", c.Args, c.Image)
	}
	w.tell(pod, corev1.PodRunning, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}})
	w.becomes(chains[0], v1alpha1.ConditionAvailable, ": ImageUnavailable: no such image")
	w.tell(pod, corev1.PodFailed, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 1, Reason: "Error", FinishedAt: metav1.Now(), Message: "{\"level\":\"INFO\"}\nboardwalk: database: role reader doesn't own 3 of its tables\n",
	}})
	w.becomes(chains[0], v1alpha1.ConditionAvailable, ", in vain: database: role reader doesn't own 3 of its tables")
	if changed := w.withImage(image, []string{"base"}); len(changed) > 0 {
		t.Error("an indexer was changed after a trial that failed")
	}
	w.clock.advance(triedAgain)
	again := w.trial(pod.UID)
	w.tell(again, corev1.PodSucceeded, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: metav1.Now()}})
	eventually(t, func() error {
		if len(w.withImage(image, []string{"base"})) == 0 {
			return errors.New("the indexer doesn't have the image that was tried")
		}
		return nil
	})
	w.become(chains[0], "Ready True Ready")
}

// becomes waits until the message of a chain's condition has some words. Its clock goes on, since messages alone aren't written at once.
func (w *world) becomes(c *v1alpha1.Chain, condition, words string) {
	w.t.Helper()
	eventually(w.t, func() error {
		w.clock.advance(lagPause + time.Second)
		if err := w.get(c); err != nil {
			return err
		}
		if x := meta.FindStatusCondition(c.Status.Conditions, condition); x == nil || !strings.Contains(x.Message, words) {
			return fmt.Errorf("chain %s says %+v; want %q", c.Name, x, words)
		}
		return nil
	})
}

// TestAChangeOfOneChainWaitsForNobody: it is no trial of what all indexers have.
func TestAChangeOfOneChainWaitsForNobody(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	w.indexers.says("bsc")
	down := w.chain("base", 8453, func(c *v1alpha1.Chain) { c.Spec.Indexer.NodeSelector = map[string]v1alpha1.LabelValue{"nowhere": "x"} })
	c := w.chain("bsc", 56)
	w.become(down, "Available False Unschedulable")
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
	for i, c := range w.readyChains(ids) {
		chains[ids[i]] = c
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
			return errors.New("no indexer has the new image")
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
	w.become(chains["base"], "Available True IndexerRunning It waits for Deployment boardwalk-indexer-arbitrum, which doesn't run with it yet, or isn't at the head")
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

// TestRolloutsOfAnyIndexers makes up indexers, has some of them fail meanwhile and some never come back, and sees that
//   - no more than the allowed number are on trial at a time,
//   - those whose chains were ready for long come first,
//   - an indexer that doesn't run for a moment isn't changed without a limit,
//   - all are changed in the end, unless the allowed number are on trial and never come back.
func TestRolloutsOfAnyIndexers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all indexers
		for i := range rapid.IntRange(1, 40).Draw(t, "indexers") {
			x := indexer{name: fmt.Sprintf("indexer-%02d", i), wanted: true, runs: rapid.IntRange(0, 9).Draw(t, "runs") > 0}
			x.ready = x.runs && rapid.IntRange(0, 4).Draw(t, "ready") > 0
			x.readyLong = x.ready && rapid.Bool().Draw(t, "ready for long")
			all = append(all, x)
		}
		percent := rapid.IntRange(1, 100).Draw(t, "percent")
		most := max(1, len(all)*percent/100)
		stuck := map[string]bool{}
		for i := range all {
			stuck[all[i].name] = rapid.IntRange(0, 30).Draw(t, "stuck") == 0
		}
		count := func(is func(x *indexer) bool) (n int) {
			for i := range all {
				if is(&all[i]) {
					n++
				}
			}
			return n
		}
		look := func(x *indexer) {
			onTrial, why := all.decide(x, percent)
			if why != "" {
				return
			}
			provable := count(func(x *indexer) bool { return !x.updated && x.runs && x.ready })
			if atHead := count(func(x *indexer) bool { return x.atHead }); !x.ready || !x.runs {
				if onTrial || atHead == 0 && provable+count(func(x *indexer) bool { return x.updated && x.onTrial }) > 0 {
					t.Fatalf("%s doesn't run, or its chain isn't ready, and it is changed before anything is at the head", x.name)
				}
			} else if !onTrial {
				t.Fatalf("%s of a ready chain is changed without a trial", x.name)
			}
			starting := count(func(x *indexer) bool { return x.updated && !x.atHead && !x.onTrial && !x.runs })
			if !onTrial && starting >= most {
				t.Fatalf("%s is changed, and %d others that are no trials haven't started yet; want fewer than %d", x.name, starting, most)
			}
			if long := count(func(x *indexer) bool { return !x.updated && x.runs && x.readyLong }); onTrial && !x.readyLong && long >= most {
				t.Fatalf("%s is tried, and %d other chains have been ready for longer", x.name, long)
			}
			x.updated, x.onTrial, x.runs, x.ready, x.readyLong = true, onTrial, false, false, false
			if n := count(func(x *indexer) bool { return x.onTrial }); n > most {
				t.Fatalf("%d indexers are on trial at a time; want at most %d of %d", n, most, len(all))
			}
		}
		comesBack := func(x *indexer) {
			x.runs = true
			if !stuck[x.name] {
				x.ready, x.atHead, x.onTrial = true, true, false
			}
		}
		for range 20 * len(all) {
			x := &all[rapid.IntRange(0, len(all)-1).Draw(t, "looked at")]
			switch {
			case rapid.IntRange(0, 9).Draw(t, "fails") == 0: // its endpoint, its node or the database does, for a while
				x.runs, x.ready, x.readyLong, x.atHead = rapid.Bool().Draw(t, "still runs"), false, false, false
			case !x.updated:
				look(x)
			case rapid.Bool().Draw(t, "is back"):
				comesBack(x)
			}
		}
		for range 2 * len(all) { // time goes by, and nothing else fails
			for i := range all {
				if x := &all[i]; x.updated {
					comesBack(x)
				} else {
					x.runs, x.ready = true, true
					look(x)
				}
			}
		}
		left := count(func(x *indexer) bool { return !x.updated })
		if waitedFor := count(func(x *indexer) bool { return x.onTrial }); left > 0 && waitedFor < most {
			t.Fatalf("%d of %d indexers were never changed, and %d of at most %d are on trial", left, len(all), waitedFor, most)
		}
	})
}

// TestARefusedChangeReachesNobody: what the API server refuses for the trial it would refuse for all, and nobody is to hear of it again and again.
func TestARefusedChangeReachesNobody(t *testing.T) {
	w := newWorld(t)
	f := newSettingsFile(t, "logLevel: info\n")
	op := w.run(f.options)
	ids := []string{"arbitrum", "base", "bsc"}
	chains := w.readyChains(ids)
	f.write("volumes: [{name: a, emptyDir: {}, hostPath: {path: /}}]\nvolumeMounts: [{name: a, mountPath: /a}]\n") // a volume of two kinds
	w.becomes(chains[0], v1alpha1.ConditionAvailable, "may not specify more than 1 volume type")
	before := len(op.all())
	for i, c := range chains[1:] {
		w.lookedAt(c, 100+i)
	}
	time.Sleep(2 * time.Second) // it would be told many times by then
	for _, c := range chains[1:] {
		w.become(c, "Ready True Ready", "Available True IndexerRunning reaches 1 of them at a time")
	}
	w.become(chains[0], "Ready True Ready")
	if writes := len(op.all()) - before; writes > 20 {
		t.Errorf("a refused change made %d writes in two seconds: %v", writes, op.all()[before:])
	}
	f.write("logLevel: debug\n")
	for _, id := range ids {
		eventually(t, func() error {
			if args := w.deployment(id).Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--log-level=debug") {
				return fmt.Errorf("the indexer of %s runs with %v", id, args)
			}
			return nil
		})
	}
}
