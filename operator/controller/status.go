package controller

import (
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/operator/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/operator/venue"
)

// maxMessage bounds a condition's message, in characters.
const maxMessage = 1024

// observation is all that a Chain's status depends on besides its spec.
type observation struct {
	refusal *resolve.Refusal
	// failed is why the indexer's objects couldn't be applied.
	failed     error
	deployment *appsv1.Deployment
	chain      *venue.Chain
	// silence is why the indexer didn't answer last.
	silence string
	now     time.Time
}

// chainStatus says how a chain is. What didn't change keeps its time, so that an equal status has nothing to write.
func chainStatus(c *v1alpha1.Chain, o *observation) v1alpha1.ChainStatus {
	out := v1alpha1.ChainStatus{ObservedGeneration: c.Generation, Conditions: slices.Clone(c.Status.Conditions)}
	if !c.Spec.Suspend && o.refusal == nil {
		out.Lag = coarse(o.chain, o.now)
		if o.chain.State == nil && !o.chain.Asked {
			out.Lag = c.Status.Lag
		}
	}
	ready := condition{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady, ""}
	synced := o.synced(c)
	if before := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionSynced); synced.status == metav1.ConditionUnknown && before != nil {
		// As after a start of the operator: what was decided earlier stands until the indexer had time to answer.
		synced.status, synced.reason, synced.message = before.Status, before.Reason, before.Message
	}
	for _, x := range []condition{o.accepted(), o.available(c), synced} {
		x.set(&out, c, o.now)
		if x.status != metav1.ConditionTrue && ready.status == metav1.ConditionTrue {
			ready.status, ready.reason, ready.message = metav1.ConditionFalse, x.reason, x.message
		}
	}
	ready.set(&out, c, o.now)
	return out
}

// condition is one of a Chain's conditions. Its message has no figure that changes with time.
type condition struct {
	name    string
	status  metav1.ConditionStatus
	reason  string
	message string
}

func (x condition) set(s *v1alpha1.ChainStatus, c *v1alpha1.Chain, now time.Time) {
	if r := []rune(x.message); len(r) > maxMessage {
		x.message = string(r[:maxMessage-1]) + "…"
	}
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: x.name, Status: x.status, Reason: x.reason, Message: x.message, ObservedGeneration: c.Generation,
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
	d := o.deployment
	switch {
	case o.refusal != nil:
		return no(v1alpha1.ReasonNotAccepted, "no indexer is run for a chain that isn't accepted")
	case errors.Is(o.failed, errForeign):
		return no(v1alpha1.ReasonConflict, o.failed.Error())
	case o.failed != nil:
		return no(v1alpha1.ReasonApplyFailed, o.failed.Error())
	case c.Spec.Suspend:
		return no(v1alpha1.ReasonSuspended, "spec.suspend is true: no indexer runs, what was indexed is still served")
	case d.Status.ObservedGeneration >= d.Generation && d.Status.AvailableReplicas > 0:
		return condition{v1alpha1.ConditionAvailable, metav1.ConditionTrue, v1alpha1.ReasonIndexerRunning, ""}
	}
	if why := deploymentSays(d, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue); why != "" {
		return no(v1alpha1.ReasonIndexerUnavailable, why)
	}
	if deploymentSays(d, appsv1.DeploymentProgressing, corev1.ConditionFalse) != "" {
		return no(v1alpha1.ReasonIndexerUnavailable, fmt.Sprintf("the indexer's pod doesn't get ready: "+
			"`kubectl describe pod -l boardwalk.dev/chain=%s` and `kubectl logs -l boardwalk.dev/chain=%s` say why", c.Spec.ID, c.Spec.ID))
	}
	return no(v1alpha1.ReasonIndexerStarting, "the indexer's pod isn't ready yet")
}

func deploymentSays(d *appsv1.Deployment, t appsv1.DeploymentConditionType, s corev1.ConditionStatus) string {
	for i := range d.Status.Conditions {
		if x := &d.Status.Conditions[i]; x.Type == t && x.Status == s {
			return x.Message
		}
	}
	return ""
}

// synced is Unknown while nothing can be said.
func (o *observation) synced(c *v1alpha1.Chain) condition {
	with := func(status metav1.ConditionStatus, reason, message string) condition {
		return condition{v1alpha1.ConditionSynced, status, reason, message}
	}
	state := o.chain.State
	switch {
	case o.refusal != nil:
		return with(metav1.ConditionFalse, v1alpha1.ReasonNotAccepted, "no indexer is run for a chain that isn't accepted")
	case c.Spec.Suspend:
		return with(metav1.ConditionFalse, v1alpha1.ReasonSuspended, "spec.suspend is true: nothing new is read")
	case state == nil && !o.chain.Asked:
		return with(metav1.ConditionUnknown, v1alpha1.ReasonIndexerStarting, "the indexer hasn't answered yet")
	case o.chain.Down(o.now):
		return with(metav1.ConditionFalse, v1alpha1.ReasonUnreachable, "the indexer doesn't answer: "+o.silence)
	case state.Phase == chainconfig.PhaseHalted:
		return with(metav1.ConditionFalse, v1alpha1.ReasonHalted, state.Message)
	case !o.chain.Behind(o.now):
		return with(metav1.ConditionTrue, v1alpha1.ReasonAtHead, "")
	case state.Phase == chainconfig.PhaseBackfilling:
		return with(metav1.ConditionFalse, v1alpha1.ReasonCatchingUp, "the indexer reads the chain's past")
	}
	message := fmt.Sprintf("the indexer is more than %s behind, or hasn't read a block yet", o.chain.MaxLag)
	if state.Message != "" {
		message += ": " + state.Message
	}
	return with(metav1.ConditionFalse, v1alpha1.ReasonBehind, message)
}

// sameTruths reports whether the same conditions are true.
func sameTruths(a, b []metav1.Condition) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if x := meta.FindStatusCondition(b, a[i].Type); x == nil || x.Status != a[i].Status {
			return false
		}
	}
	return true
}

// announce writes an Event when Ready became true or false, or when the first verdict is a bad one.
func announce(r events.EventRecorder, o runtime.Object, before, after []metav1.Condition) {
	was, is := meta.FindStatusCondition(before, v1alpha1.ConditionReady), meta.FindStatusCondition(after, v1alpha1.ConditionReady)
	if is == nil || was != nil && was.Status == is.Status {
		return
	}
	switch {
	case is.Status == metav1.ConditionTrue:
		r.Eventf(o, nil, corev1.EventTypeNormal, is.Reason, "Observe", "%s", orElse(is.Message, "ready"))
	case was != nil || is.Reason != v1alpha1.ReasonIndexerStarting:
		r.Eventf(o, nil, corev1.EventTypeWarning, is.Reason, "Observe", "%s", orElse(is.Message, "not ready"))
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
