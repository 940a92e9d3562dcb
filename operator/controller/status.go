package controller

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/venue"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

const (
	// startPatience is how long an indexer's pod may be unready before that is no start any more. The Deployment's own progress deadline
	// says so of a rollout alone: one that was rolled out once progresses for good, whatever becomes of its pod.
	startPatience = 2 * time.Minute
	// maxNote bounds an Event's text, in bytes: a longer one is refused.
	maxNote = 1024

	// notAccepted leaves open whether one runs: a chain that was accepted before keeps the indexer that it has.
	notAccepted = "the chain isn't accepted: no indexer is started or changed for it"
	notAnswered = "the indexer hasn't answered yet"
	silent      = "the indexer doesn't answer: "
	// notChangedYet begins the message of an indexer that runs as it was before a change.
	notChangedYet = "it isn't changed yet: "
)

// observation is all that a Chain's status depends on besides its spec.
type observation struct {
	// refusal is why the spec isn't accepted. idle says that the chain isn't served either, as it was accepted last.
	refusal *resolve.Refusal
	idle    bool
	// failed is why the indexer's objects couldn't be applied. A waitingError is why the Deployment was left as it is, although it should be
	// another.
	failed     stepErrors
	deployment *appsv1.Deployment
	// unready is for how long the operator has known that the indexer's pod isn't ready, by its own clock; isUnready is false while it is
	// ready, or nobody has said that it isn't.
	unready   time.Duration
	isUnready bool
	// why is what Kubernetes says of the indexer's pod.
	why   cause
	chain *venue.Chain
	// silence is why the indexer didn't answer last.
	silence string
	now     time.Time
}

// chainStatus says how a chain is. What didn't change keeps its time, so that an equal status has nothing to write.
func chainStatus(c *v1alpha1.Chain, o *observation) v1alpha1.ChainStatus {
	out := v1alpha1.ChainStatus{ObservedGeneration: c.Generation, Conditions: slices.Clone(c.Status.Conditions)}
	out.LastAccepted = c.Status.LastAccepted
	if o.refusal == nil {
		out.LastAccepted = specText(c)
	}
	if !c.Spec.Suspend && !o.idle {
		out.Lag = lagRange(o.chain)
		if o.chain.State == nil && !o.chain.Asked {
			out.Lag = c.Status.Lag
		}
	}
	ready := condition{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady, ""}
	synced := o.synced(c)
	if before := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionSynced); synced.status == metav1.ConditionUnknown &&
		before != nil && before.Reason != v1alpha1.ReasonNotAccepted && before.Reason != v1alpha1.ReasonSuspended {
		// As after a start of the operator: what the indexer made known earlier stands until it had time to answer.
		synced.status, synced.reason, synced.message = before.Status, before.Reason, before.Message
	}
	for _, x := range []condition{o.accepted(), o.available(c), synced} {
		x.set(&out, c, o.now)
		if x.name == v1alpha1.ConditionSynced && ready.reason == v1alpha1.ReasonReady {
			ready.message = x.message // what the endpoints allow won't do for long
		}
		switch {
		case x.status == metav1.ConditionTrue || ready.reason != v1alpha1.ReasonReady:
		case x.reason == v1alpha1.ReasonSuspended: // it is as it should be: nothing is to be waited for
			ready.reason, ready.message = x.reason, x.message
		default:
			ready.status, ready.reason, ready.message = metav1.ConditionFalse, x.reason, x.message
		}
	}
	ready.set(&out, c, o.now)
	if ready.status == metav1.ConditionFalse && slices.Contains(stalledReasons, ready.reason) {
		condition{v1alpha1.ConditionStalled, metav1.ConditionTrue, ready.reason, ready.message}.set(&out, c, o.now)
	} else {
		meta.RemoveStatusCondition(&out.Conditions, v1alpha1.ConditionStalled)
	}
	for _, x := range []condition{o.asDeclared(c), o.reindexing(c)} {
		if before := meta.FindStatusCondition(c.Status.Conditions, x.name); x.reason == v1alpha1.ReasonIndexerStarting &&
			before != nil && before.ObservedGeneration == c.Generation {
			x.status, x.reason, x.message = before.Status, before.Reason, before.Message // as with Synced
		}
		x.set(&out, c, o.now)
	}
	return out
}

// stalledReasons lists the reasons with which nothing goes on before a person acts.
var stalledReasons = []string{
	v1alpha1.ReasonInvalid, v1alpha1.ReasonDuplicateID, v1alpha1.ReasonDuplicateChainID, v1alpha1.ReasonConflict, v1alpha1.ReasonWrongChain,
	v1alpha1.ReasonHalted,
}

// specText is empty where it would be too long to keep.
func specText(c *v1alpha1.Chain) string {
	text, err := json.Marshal(c.Spec)
	if err != nil || len(text) > v1alpha1.MaxLastAccepted {
		return ""
	}
	return string(text)
}

// condition is one of a Chain's conditions. Its message has no figure that changes with time.
type condition struct {
	name    string
	status  metav1.ConditionStatus
	reason  string
	message string
}

func (x condition) set(s *v1alpha1.ChainStatus, c *v1alpha1.Chain, now time.Time) {
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: x.name, Status: x.status, Reason: x.reason, Message: venue.Clip(x.message, venue.MaxMessage), ObservedGeneration: c.Generation,
		LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
	})
}

func (o *observation) accepted() condition {
	if o.refusal != nil {
		return condition{v1alpha1.ConditionAccepted, metav1.ConditionFalse, o.refusal.Reason, o.refusal.Message}
	}
	return condition{v1alpha1.ConditionAccepted, metav1.ConditionTrue, v1alpha1.ReasonAccepted, ""}
}

func (o *observation) available(c *v1alpha1.Chain) condition {
	no := func(reason, message string) condition {
		return condition{v1alpha1.ConditionAvailable, metav1.ConditionFalse, reason, message}
	}
	d, faults := o.deployment, o.failed.faults()
	stalled, isStalled := errors.AsType[*stalledError](faults)
	switch {
	case o.idle:
		return no(v1alpha1.ReasonNotAccepted, notAccepted)
	case isStalled:
		return no(stalled.reason, faults.Error())
	case faults != nil:
		return no(v1alpha1.ReasonApplyFailed, faults.Error())
	case c.Spec.Suspend:
		return no(v1alpha1.ReasonSuspended, "spec.suspend is true: no indexer runs, what was indexed is still served")
	case d.Status.AvailableReplicas > 0:
		if waits, ok := errors.AsType[*waitingError](o.failed); ok {
			return condition{v1alpha1.ConditionAvailable, metav1.ConditionTrue, v1alpha1.ReasonIndexerRunning, notChangedYet + waits.message}
		}
		return condition{v1alpha1.ConditionAvailable, metav1.ConditionTrue, v1alpha1.ReasonIndexerRunning, ""}
	}
	if why := deploymentSays(d, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue); why != "" {
		return no(v1alpha1.ReasonIndexerUnavailable, why)
	}
	if s := o.chain.State; s != nil && !o.chain.Down() && s.Cause != "" {
		return no(cmp.Or(reasonOf[s.Cause], v1alpha1.ReasonIndexerUnavailable), s.Message)
	}
	if o.why.reason != "" {
		return no(o.why.reason, o.why.message)
	}
	notReady := fmt.Sprintf("the indexer's pod doesn't get ready: "+
		"`kubectl describe pod -l boardwalk.dev/chain=%s` and `kubectl logs -l boardwalk.dev/chain=%s` say why", c.Spec.ID, c.Spec.ID)
	before := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionAvailable)
	// Another operator, or this one before it was started anew, may have waited for startPatience already.
	hasWaited := o.unready >= startPatience || before != nil && before.Message == notReady
	if o.isUnready && hasWaited || deploymentSays(d, appsv1.DeploymentProgressing, corev1.ConditionFalse) != "" {
		return no(v1alpha1.ReasonIndexerUnavailable, notReady)
	}
	return no(v1alpha1.ReasonIndexerStarting, "the indexer's pod isn't ready yet")
}

// unreadySince is since when a Deployment's pod isn't ready, by the clock of Kubernetes' own controllers; ok is false when it is ready, or when nobody
// has said so yet.
func unreadySince(d *appsv1.Deployment) (since time.Time, ok bool) {
	for i := range d.Status.Conditions {
		if x := &d.Status.Conditions[i]; x.Type == appsv1.DeploymentAvailable && x.Status == corev1.ConditionFalse {
			return x.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}

// patience is after how long the status says something else although nothing happens; 0 is never.
func (o *observation) patience() time.Duration {
	if o.deployment == nil || !o.isUnready {
		return 0
	}
	unready := max(0, startPatience-o.unready)
	if o.why.until.IsZero() {
		return unready
	}
	return sooner(unready, min(endedLately, max(time.Second, o.why.until.Sub(o.now))))
}

func deploymentSays(d *appsv1.Deployment, t appsv1.DeploymentConditionType, s corev1.ConditionStatus) string {
	for i := range d.Status.Conditions {
		if x := &d.Status.Conditions[i]; x.Type == t && x.Status == s {
			return x.Message
		}
	}
	return ""
}

func (o *observation) synced(c *v1alpha1.Chain) condition {
	switch {
	case o.idle:
		return condition{v1alpha1.ConditionSynced, metav1.ConditionFalse, v1alpha1.ReasonNotAccepted, notAccepted}
	case c.Spec.Suspend:
		return condition{v1alpha1.ConditionSynced, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "spec.suspend is true: nothing new is read"}
	default:
		return syncedBy(o.chain, o.silence)
	}
}

// syncedBy is what is said of an indexer that should run: Unknown while nothing can be said. silence is why it didn't answer
// last.
func syncedBy(c *venue.Chain, silence string) condition {
	with := func(status metav1.ConditionStatus, reason, message string) condition {
		return condition{v1alpha1.ConditionSynced, status, reason, venue.Clip(message, venue.MaxMessage)}
	}
	switch {
	case c.State == nil && !c.Asked:
		return with(metav1.ConditionUnknown, v1alpha1.ReasonIndexerStarting, notAnswered)
	case c.Down():
		return with(metav1.ConditionFalse, v1alpha1.ReasonUnreachable, silent+silence)
	case c.State.Phase == chainconfig.PhaseHalted:
		return with(metav1.ConditionFalse, cmp.Or(reasonOf[c.State.Cause], v1alpha1.ReasonHalted), c.State.Message)
	case c.State.Missing != nil:
		m := c.State.Missing
		return with(metav1.ConditionFalse, v1alpha1.ReasonRangeMissing, fmt.Sprintf("no endpoint has the blocks %d to %d, although later ones follow: add one that has them. "+
			"To leave them behind, write spec.start.block: %d and raise spec.indexer.generation", m.First, m.Last, m.Last+1))
	case !c.Behind():
		return with(metav1.ConditionTrue, v1alpha1.ReasonAtHead, c.State.Plan.Behind)
	case c.Unread() && c.State.Cause == "":
		return with(metav1.ConditionFalse, v1alpha1.ReasonIndexerStarting, "the indexer hasn't read a block yet")
	case c.State.Phase == chainconfig.PhaseBackfilling && c.State.Plan.Behind == "":
		return with(metav1.ConditionFalse, v1alpha1.ReasonCatchingUp, "the indexer reads the chain's past")
	}
	message := fmt.Sprintf("the indexer is more than %s behind, or hasn't read a block yet", c.MaxLag)
	switch {
	case c.State.Plan.Behind != "": // that no endpoint answers is what comes of it
		return with(metav1.ConditionFalse, v1alpha1.ReasonBehind, message+": "+c.State.Plan.Behind)
	case c.State.Message != "":
		message += ": " + c.State.Message
	}
	return with(metav1.ConditionFalse, cmp.Or(reasonOf[c.State.Cause], v1alpha1.ReasonBehind), message)
}

func (o *observation) asDeclared(c *v1alpha1.Chain) condition {
	unknown := func(reason, message string) condition {
		return condition{v1alpha1.ConditionAsDeclared, metav1.ConditionUnknown, reason, message}
	}
	switch {
	case o.idle:
		return unknown(v1alpha1.ReasonNotAccepted, notAccepted)
	case c.Spec.Suspend:
		return unknown(v1alpha1.ReasonSuspended, "spec.suspend is true: no indexer runs that would ask")
	case o.chain.State == nil && !o.chain.Asked:
		return unknown(v1alpha1.ReasonIndexerStarting, notAnswered)
	case o.chain.State == nil:
		return unknown(v1alpha1.ReasonUnreachable, silent+o.silence)
	case o.deployment == nil || o.chain.State.Document != o.deployment.Spec.Template.Annotations[workload.AnnotationDocument]:
		return unknown(v1alpha1.ReasonNotAsked, "the indexer isn't running on this declaration yet")
	}
	return declaredBy(&o.chain.State.Declaration)
}

// declaredBy is what is said of a declaration by what its indexer found.
func declaredBy(d *chainconfig.Declaration) condition {
	with := func(status metav1.ConditionStatus, reason, message string) condition {
		return condition{v1alpha1.ConditionAsDeclared, status, reason, venue.Clip(message, venue.MaxMessage)}
	}
	switch {
	case len(d.Wrong) > 0:
		return with(metav1.ConditionFalse, v1alpha1.ReasonWrongDeclaration, strings.Join(d.Wrong, "; "))
	case !d.Checked:
		return with(metav1.ConditionUnknown, v1alpha1.ReasonNotAsked, cmp.Or(d.Unasked, "the chain's nodes haven't been asked yet"))
	case len(d.Look) > 0:
		return with(metav1.ConditionTrue, v1alpha1.ReasonAsDeclared, "see whether this is right: "+strings.Join(d.Look, "; "))
	}
	return with(metav1.ConditionTrue, v1alpha1.ReasonAsDeclared, "")
}

func (o *observation) reindexing(c *v1alpha1.Chain) condition {
	unknown := func(reason, message string) condition {
		return condition{v1alpha1.ConditionReindexing, metav1.ConditionUnknown, reason, message}
	}
	switch {
	case o.idle:
		return unknown(v1alpha1.ReasonNotAccepted, notAccepted)
	case c.Spec.Suspend:
		return unknown(v1alpha1.ReasonSuspended, "spec.suspend is true: nothing is indexed")
	case o.chain.State == nil && !o.chain.Asked, o.chain.State != nil && o.chain.State.Generation == 0:
		return unknown(v1alpha1.ReasonIndexerStarting, notAnswered)
	case o.chain.State == nil:
		return unknown(v1alpha1.ReasonUnreachable, silent+o.silence)
	}
	return reindexingBy(o.chain.State)
}

// reindexingBy is what is said of another generation of an index.
func reindexingBy(s *chainconfig.State) condition {
	with := func(status metav1.ConditionStatus, reason, message string) condition {
		return condition{v1alpha1.ConditionReindexing, status, reason, venue.Clip(message, venue.MaxMessage)}
	}
	next := s.Reindexing
	if next == nil {
		return with(metav1.ConditionFalse, v1alpha1.ReasonServed, fmt.Sprintf("generation %d is served", s.Generation))
	}
	message := fmt.Sprintf("generation %d is indexed beside generation %d, which is served: ", next.Generation, s.Generation)
	switch next.Phase {
	case chainconfig.PhaseHalted:
		return with(metav1.ConditionTrue, v1alpha1.ReasonHalted, message+next.Message)
	case chainconfig.PhaseFailing, chainconfig.PhaseWaiting:
		return with(metav1.ConditionTrue, v1alpha1.ReasonInterrupted, message+cmp.Or(next.Message, "it waits for another process"))
	case chainconfig.PhaseStarting, chainconfig.PhaseBackfilling, chainconfig.PhaseFollowing: // it comes along
	}
	message += fmt.Sprintf("it has about %d %% of the blocks", tenths(s)*10)
	if e := next.Effort; e != nil {
		message += fmt.Sprintf(". In all it takes %s, and about %s on the disk until the former rows are deleted", e.Reading(), chainconfig.Megabytes(e.Bytes))
	}
	return with(metav1.ConditionTrue, v1alpha1.ReasonIndexing, message)
}

// tenths is how many tenths of its blocks the next generation has: a message isn't to change with each of them.
func tenths(s *chainconfig.State) uint64 {
	next := s.Reindexing
	if next.Indexed == nil || s.Head == nil || next.Indexed.Number < next.First || s.Head.Number <= next.First {
		return 0
	}
	return min((next.Indexed.Number-next.First)*10/(s.Head.Number-next.First), 10)
}

// sameVerdicts reports whether the conditions say the same, for the same reasons.
func sameVerdicts(a, b []metav1.Condition) bool {
	return slices.EqualFunc(a, b, func(a, b metav1.Condition) bool {
		return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason
	})
}

// announce writes an Event when Ready became true or false, or is false for another reason, or true with a message where it had none. That an
// indexer starts, and reads the chain's past, is told only where the chain was ready before. That something declared is wrong is told as well,
// that another generation of the index has halted, and which generation is served once no other is indexed: Ready doesn't say so. A generation that is
// interrupted is no Event: it is tried again after seconds, and may be interrupted again and again.
func announce(r events.EventRecorder, o runtime.Object, before, after []metav1.Condition) {
	declared := meta.FindStatusCondition(after, v1alpha1.ConditionAsDeclared)
	if declared != nil && declared.Status == metav1.ConditionFalse && !meta.IsStatusConditionFalse(before, v1alpha1.ConditionAsDeclared) {
		r.Eventf(o, nil, corev1.EventTypeWarning, declared.Reason, action, "%s", note(declared.Message))
	}
	anew := meta.FindStatusCondition(after, v1alpha1.ConditionReindexing)
	former := meta.FindStatusCondition(before, v1alpha1.ConditionReindexing)
	if anew != nil && anew.Reason == v1alpha1.ReasonHalted && (former == nil || former.Reason != v1alpha1.ReasonHalted) {
		r.Eventf(o, nil, corev1.EventTypeWarning, anew.Reason, action, "%s", note(anew.Message))
	}
	if meta.IsStatusConditionTrue(before, v1alpha1.ConditionReindexing) && anew != nil && anew.Status == metav1.ConditionFalse {
		r.Eventf(o, nil, corev1.EventTypeNormal, anew.Reason, action, "%s", note(anew.Message))
	}
	was, is := meta.FindStatusCondition(before, v1alpha1.ConditionReady), meta.FindStatusCondition(after, v1alpha1.ConditionReady)
	if is != nil && is.Status == metav1.ConditionTrue && is.Reason == v1alpha1.ReasonReady && is.Message != "" && (was == nil || was.Status != is.Status || was.Message == "") {
		r.Eventf(o, nil, corev1.EventTypeWarning, v1alpha1.ReasonBehind, action, "%s", note(is.Message))
	}
	if is == nil || was != nil && was.Status == is.Status && was.Reason == is.Reason {
		return
	}
	wasReady := was != nil && was.Status == metav1.ConditionTrue
	starts := is.Reason == v1alpha1.ReasonIndexerStarting || is.Reason == v1alpha1.ReasonCatchingUp
	switch {
	case is.Reason == v1alpha1.ReasonSuspended:
		r.Eventf(o, nil, corev1.EventTypeNormal, is.Reason, action, "%s", note(is.Message))
	case is.Status == metav1.ConditionTrue:
		r.Eventf(o, nil, corev1.EventTypeNormal, is.Reason, action, "ready")
	case wasReady || !starts:
		r.Eventf(o, nil, corev1.EventTypeWarning, is.Reason, action, "%s", note(cmp.Or(is.Message, "not ready")))
	}
}

// note is a text that an Event may have.
func note(text string) string {
	if len(text) <= maxNote {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:maxNote-len(more)], "") + more
}
