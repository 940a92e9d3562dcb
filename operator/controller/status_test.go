package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/venue"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// moves makes an indexer index a block with each answer, at some distance from the head.
func (f *fakeIndexers) moves(id string, lag func(block uint64) time.Duration) {
	var blocks atomic.Uint64
	f.does(id, func(w http.ResponseWriter, _ *http.Request) {
		n := blocks.Add(1)
		s := atHead(id)
		now := s.At.Add(time.Duration(n) * 2 * time.Second)
		s.At, s.HeadReadAt = now, now
		s.Head = &chainconfig.Block{Number: 1000 + n, Time: now}
		s.Indexed = &chainconfig.Block{Number: 1000 + n, Time: now.Add(-lag(n))}
		_ = json.NewEncoder(w).Encode(s)
	})
}

// rest waits until the operator writes nothing while it asks a chain's indexer twenty times.
func (w *world) rest(r *running, id string) {
	w.t.Helper()
	eventually(w.t, func() error {
		before := len(r.all())
		w.indexers.rounds(w.t, id, 20)
		if after := r.all(); len(after) > before {
			return fmt.Errorf("the operator doesn't come to rest: %s", strings.Join(after[before:], ", "))
		}
		return nil
	})
}

func TestNothingIsWrittenWhileBlocksMoveOn(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.moves("base", func(n uint64) time.Duration { return time.Duration(n%5) * time.Second })
	v := w.knownVenue("four-meme", []string{"base", "elsewhere"})
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	w.stand(v, "base Open")
	w.rest(op, "base") // what was woken meanwhile is done
	before := len(op.all())
	w.indexers.rounds(t, "base", 60)
	if after := op.all(); len(after) != before {
		t.Errorf("the operator wrote at rest: %v", after[before:])
	}
}

func TestALagAloneIsWrittenOnceInHalfAMinute(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	w.indexers.rounds(t, "base", 5)
	w.clock.advance(lagPause)
	flap := func(n uint64) time.Duration { return time.Duration(n%2) * 20 * time.Second }
	for range 3 {
		before := op.to("/base/status")
		w.indexers.moves("base", flap)
		eventually(t, func() error {
			if n := op.to("/base/status"); n == before {
				return fmt.Errorf("no lag was written: %d", n)
			}
			return nil
		})
		w.indexers.rounds(t, "base", 40)
		if n := op.to("/base/status") - before; n != 1 {
			t.Errorf("%d writes in a moment; want 1", n)
		}
		w.clock.advance(lagPause)
	}
	if n := op.to("/events"); n != 1 {
		t.Errorf("%d Events; want the one of the first Ready", n)
	}
}

// What had to wait is written later, although nothing else happens.
func TestALagThatHadToWaitIsWritten(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	w.indexers.rounds(t, "base", 5)
	w.indexers.says("base", behindBy(time.Minute))
	w.indexers.rounds(t, "base", 5)
	if err := w.get(c); err != nil || c.Status.Lag != v1alpha1.LagUnder15s {
		t.Errorf("%v: the lag is %s although it was written a moment ago", err, c.Status.Lag)
	}
	w.clock.advance(lagPause)
	eventually(t, func() error {
		if err := w.get(c); err != nil || c.Status.Lag != v1alpha1.LagUnder2m {
			return fmt.Errorf("%w: the lag is %s", err, c.Status.Lag)
		}
		return nil
	})
}

// The clock stands: whatever is written here didn't wait.
func TestAnotherConditionIsWrittenAtOnceAndToldOnce(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	w.indexers.says("base", behindBy(time.Hour))
	w.become(c, "Synced False Behind", "Ready False Behind")
	w.indexers.says("base", inPhase(chainconfig.PhaseHalted, "disk full"))
	w.become(c, "Synced False Halted disk full", "Ready False Halted disk full")
	w.indexers.says("base")
	w.become(c, "Ready True Ready")
	w.told(c, map[string]int{
		"Normal Ready ready": 2, "Warning Behind the indexer is more than 2m0s behind, or hasn't read a block yet": 1,
		"Warning Halted disk full": 1,
	})
	if n := op.to("/base/status"); n > 10 {
		t.Errorf("the status was written %d times", n)
	}
}

// A plan that won't do for long is told before the chain falls behind, and once.
func TestASmallPlanIsTold(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	w.clock.advance(lagPause) // a message alone is written once in half a minute
	w.indexers.says("base", beyond("10 calls would suffice"))
	w.become(c, "Synced True AtHead 10 calls would suffice", "Ready True Ready 10 calls would suffice")
	w.clock.advance(lagPause)
	w.indexers.says("base", beyond("20 calls would suffice"))
	w.become(c, "Ready True Ready 20 calls would suffice")
	w.clock.advance(lagPause)
	w.indexers.says("base")
	w.become(c, "Ready True Ready")
	w.told(c, map[string]int{"Normal Ready ready": 1, "Warning Behind 10 calls would suffice": 1})
}

// What is longer than an Event may be must be told all the same.
func TestALongMessageIsTold(t *testing.T) {
	w := newWorld(t)
	w.run()
	long := strings.Repeat("é", 3000)
	w.indexers.says("base")
	v := w.knownVenue("four-meme", []string{"base"})
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	w.stand(v, "base Open")
	w.indexers.says("base", inPhase(chainconfig.PhaseHalted, long))
	w.become(c, "Ready False Halted "+long[:100])
	w.stand(v, "base IndexerHalted "+long[:100])
	told := map[string]int{"Normal Ready ready": 1, "Warning Halted " + strings.Repeat("é", 510) + "…": 1}
	w.told(c, told)
	eventually(t, func() error {
		if got := w.events(v); len(got) != 2 {
			return fmt.Errorf("Events are %v", got)
		}
		return nil
	})
}

func TestNotesAndMessagesAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "short", strings.Repeat("x", 1024), strings.Repeat("é", 511), strings.Repeat("é", 600), "x" + strings.Repeat("…", 700)} {
		if n := note(text); len(n) > maxNote || !utf8.ValidString(n) || len(text) <= maxNote && n != text || len(n) < min(len(text), maxNote-4) {
			t.Errorf("%d bytes become %d: %q", len(text), len(n), n)
		}
		if m := venue.Clip(text, 500); utf8.RuneCountInString(m) != min(500, utf8.RuneCountInString(text)) || !utf8.ValidString(m) {
			t.Errorf("%d characters become %d", utf8.RuneCountInString(text), utf8.RuneCountInString(m))
		}
	}
}

func TestWhatADeploymentSaysOfTheIndexer(t *testing.T) {
	t.Parallel()
	condition := func(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus) appsv1.DeploymentStatus {
		return appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{Type: kind, Status: status, Message: "so it says"}}}
	}
	available := condition(appsv1.DeploymentProgressing, corev1.ConditionFalse)
	available.AvailableReplicas = 1
	for _, tt := range []struct {
		name         string
		status       appsv1.DeploymentStatus
		reason, part string
	}{
		{"new", appsv1.DeploymentStatus{}, v1alpha1.ReasonIndexerStarting, "isn't ready yet"},
		{"progressing", condition(appsv1.DeploymentProgressing, corev1.ConditionTrue), v1alpha1.ReasonIndexerStarting, ""},
		{"stuck", condition(appsv1.DeploymentProgressing, corev1.ConditionFalse), v1alpha1.ReasonIndexerUnavailable, "`kubectl logs -l boardwalk.dev/chain=base`"},
		{"refused", condition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue), v1alpha1.ReasonIndexerUnavailable, "so it says"},
		{"available", available, v1alpha1.ReasonIndexerRunning, ""},
	} {
		c := &v1alpha1.Chain{Spec: v1alpha1.ChainSpec{ID: "base"}}
		o := observation{chain: &venue.Chain{}, deployment: &appsv1.Deployment{Status: tt.status}}
		if got := o.available(c); got.reason != tt.reason || !strings.Contains(got.message, tt.part) {
			t.Errorf("%s: %+v; want %s, …%s…", tt.name, got, tt.reason, tt.part)
		}
	}
}

// pod is the indexer's one pod.
func (w *world) pod(id string) *corev1.Pod {
	w.t.Helper()
	var pods corev1.PodList
	if err := w.List(w.t.Context(), &pods, client.InNamespace(w.namespace), client.MatchingLabels{workload.LabelChain: id}); err != nil {
		w.t.Fatal(err)
	}
	if len(pods.Items) != 1 {
		w.t.Fatalf("the indexer of %s has %d pods", id, len(pods.Items))
	}
	return &pods.Items[0]
}

// unready makes an indexer's pod run without being ready, as one whose database is away, and waits until its chain says so.
func (w *world) unready(c *v1alpha1.Chain) {
	w.t.Helper()
	patch := []byte(`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`)
	if err := w.Status().Patch(w.t.Context(), w.pod(c.Spec.ID), client.RawPatch(types.StrategicMergePatchType, patch)); err != nil {
		w.t.Fatal(err)
	}
	w.become(c, "Available False IndexerStarting isn't ready yet", "Ready False IndexerStarting")
}

// A Deployment that was rolled out once says for good that it progresses, whatever becomes of its pod.
func TestAnIndexerThatRanAndStaysUnreadyIsUnavailable(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	w.unready(c)
	w.clock.advance(time.Minute)
	w.patch(c, `{"spec":{"order":7}}`) // somebody looks
	w.become(c, "Available False IndexerStarting")
	w.clock.advance(2 * time.Minute)
	w.patch(c, `{"spec":{"order":8}}`)
	w.become(c, "Available False IndexerUnavailable `kubectl logs -l boardwalk.dev/chain=base`", "Ready False IndexerUnavailable")
}

// Nothing happens in a cluster when the two minutes are over, so the controller has to look again by itself.
func TestAnUnreadyIndexerIsLookedAtAgain(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	w.unready(c)
	p, err := newProber(prometheus.NewRegistry(), w.clock.Now, time.Hour, probeTimeout)
	if err != nil {
		t.Fatal(err)
	}
	cached := op.operator.mgr.GetClient()
	r := &chainReconciler{
		Client: cached, live: w.Client, find: directory{cached}, prober: p, recorder: noEvents{}, stateURL: w.indexers.url, now: w.clock.Now,
		settings: &settings{now: workload.Settings{Image: "none.invalid/boardwalk", DatabaseSecret: "database", DatabaseKey: "uri"}},
		written:  map[types.NamespacedName]time.Time{}, unready: map[types.NamespacedName]unreadyPod{},
	}
	result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)})
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > 2*time.Minute {
		t.Errorf("it is looked at again after %s, %v; want within two minutes", result.RequeueAfter, err)
	}
}

// A chain that never gets ready is what people look for Events of.
func TestAChainThatNeverGetsReadyIsTold(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("halted", inPhase(chainconfig.PhaseHalted, "the nodes answer chain id 1"))
	w.indexers.says("behind", behindBy(time.Hour), inPhase(chainconfig.PhaseFailing, "no node answers"))
	w.indexers.says("past", behindBy(time.Hour), inPhase(chainconfig.PhaseBackfilling, ""))
	halted, behind, silent, past := w.chain("halted", 1), w.chain("behind", 2), w.chain("silent", 3), w.chain("past", 4)
	w.told(halted, map[string]int{"Warning Halted the nodes answer chain id 1": 1})
	w.told(behind, map[string]int{"Warning Behind the indexer is more than 2m0s behind, or hasn't read a block yet: no node answers": 1})
	w.become(silent, "Available True IndexerRunning", "Ready False IndexerStarting")
	w.runOutOfPatience("silent")
	w.told(silent, map[string]int{"Warning Unreachable the indexer doesn't answer: EOF": 1})
	// A start that goes on is no warning.
	w.become(past, "Ready False CatchingUp")
	for event := range w.events(past) {
		if strings.HasPrefix(event, corev1.EventTypeWarning) {
			t.Errorf("a chain that reads its past is told of as %q", event)
		}
	}
}

// A status is decided by what the cache has. If that is old, the decision must not be written over a newer one.
func TestAStatusIsNotWrittenOverANewerOne(t *testing.T) {
	w := newWorld(t)
	c := w.chain("base", 8453)
	old := c.DeepCopy()
	r := &chainReconciler{Client: w.Client, now: w.clock.Now, written: map[types.NamespacedName]time.Time{}, recorder: noEvents{}}
	status := func(c *v1alpha1.Chain, value metav1.ConditionStatus) v1alpha1.ChainStatus {
		out := v1alpha1.ChainStatus{}
		condition{v1alpha1.ConditionReady, value, "Because", ""}.set(&out, c, w.clock.Now())
		return out
	}
	if err := r.write(t.Context(), c, status(c, metav1.ConditionTrue)); err != nil {
		t.Fatalf("first write: %v", err)
	}
	w.clock.advance(time.Minute)
	if waits, ok := errors.AsType[*waitingError](r.write(t.Context(), old, status(old, metav1.ConditionFalse))); !ok || waits.after != stalePause {
		t.Errorf("write by an old one: %+v; want another look in %s", waits, stalePause)
	}
	w.become(c, "Ready True Because")
	w.remove(c)
	w.clock.advance(time.Minute)
	if waits, ok := errors.AsType[*waitingError](r.write(t.Context(), c, status(c, metav1.ConditionFalse))); !ok || waits.after != stalePause {
		t.Errorf("write of one that is gone: %+v; want another look in %s", waits, stalePause)
	}
}

// The time to wait is what is left of the pause.
func TestTheThrottleSaysWhenToLookAgain(t *testing.T) {
	w := newWorld(t)
	c := w.chain("base", 8453)
	r := &chainReconciler{Client: w.Client, now: w.clock.Now, written: map[types.NamespacedName]time.Time{}, recorder: noEvents{}}
	for _, tt := range []struct {
		after  time.Duration
		lag    v1alpha1.Lag
		wait   time.Duration
		inside v1alpha1.Lag
	}{
		{0, v1alpha1.LagUnder15s, 0, v1alpha1.LagUnder15s},
		{10 * time.Second, v1alpha1.LagUnder2m, 20 * time.Second, v1alpha1.LagUnder15s},
		{10 * time.Second, v1alpha1.LagUnder15s, 0, v1alpha1.LagUnder15s}, // nothing to write any longer
		{9 * time.Second, v1alpha1.LagMore, time.Second, v1alpha1.LagUnder15s},
		{time.Second, v1alpha1.LagMore, 0, v1alpha1.LagMore},
		{29 * time.Second, v1alpha1.LagUnder2m, time.Second, v1alpha1.LagMore},
	} {
		w.clock.advance(tt.after)
		again, err := stepErrors(nil).add(r.write(t.Context(), c, v1alpha1.ChainStatus{Lag: tt.lag})).result(0)
		if err != nil || again.RequeueAfter != tt.wait {
			t.Errorf("%+v: another look in %s, %v", tt, again.RequeueAfter, err)
		}
		if err := w.get(c); err != nil || c.Status.Lag != tt.inside {
			t.Errorf("%+v: %v, %s is written", tt, err, c.Status.Lag)
		}
	}
}

// The cache may be behind what the operator itself has written: what looks right there may be wrong.
func TestAStatusThatIsSpoiltIsPutRight(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	v := w.venue("four-meme", []string{"base"})
	w.become(c, "Ready True Ready")
	w.stand(v, "base Open")
	w.indexers.rounds(t, "base", 20) // nothing else wakes anybody
	w.clock.advance(lagPause)
	for _, o := range []client.Object{c, v} {
		if err := w.Status().Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(`{"status":null}`))); err != nil {
			t.Fatal(err)
		}
	}
	w.become(c, "Ready True Ready")
	w.become(v, "Ready True Open")
	w.stand(v, "base Open")
}
