package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

const (
	// heldPause is the time after which an indexer that was left unchanged is looked at again.
	heldPause = 5 * time.Second
	// steadyTime is how long a chain must have been ready to be among the first on which a change is tried: what becomes of it then is the
	// change's doing.
	steadyTime = 10 * time.Minute
)

// mayChange gives a waitingError while an indexer is left as it is. An indexer's pod ends before the next one starts, so what all indexers are
// given anew is tried first: by a Job beside them, then on a few indexers at a time. onTrial says that the rollout waits for this one. A forced change
// waits for nothing.
func (r *chainReconciler) mayChange(ctx context.Context, c *v1alpha1.Chain, key types.NamespacedName) (onTrial bool, err error) {
	settings := r.settings.get()
	hash := settings.Hash()
	var own appsv1.Deployment
	if err := r.Get(ctx, key, &own); err != nil {
		return false, client.IgnoreNotFound(err) // a new one ends none
	}
	if own.Annotations[workload.AnnotationSettings] == hash && own.Annotations[workload.AnnotationTrial] != hash {
		return false, nil // nothing is new for it, and nobody waits for it
	}
	all, err := r.indexers(ctx, c.Namespace, hash)
	if err != nil {
		return false, err
	}
	me := all.find(key.Name)
	switch {
	case me == nil || !me.wanted || !me.updated && isForced(c):
		return false, nil
	case me.updated: // nobody waits again for one that has been at the head, whatever becomes of its chain later
		return me.onTrial && !me.atHead, nil
	}
	onTrial, why := all.decide(me, cmp.Or(settings.RolloutPercent, workload.DefaultRolloutPercent))
	if why != "" {
		return false, &waitingError{why, heldPause}
	}
	if me.runs {
		why, err := r.try(ctx, c.Namespace, settings)
		if err != nil {
			return false, err
		}
		if why != "" {
			return false, &waitingError{why, heldPause}
		}
	}
	return onTrial, nil
}

// isForced reports whether a person wants a chain's indexer changed without a trial.
func isForced(c *v1alpha1.Chain) bool {
	value := c.Annotations[v1alpha1.AnnotationForceRollout]
	return value != "" && value != "false"
}

// indexers are all indexers of a namespace, as far as a rollout looks at them.
type indexers []indexer

type indexer struct {
	name string
	// wanted says that it is to run, and runs that its pod is ready.
	wanted, runs bool
	// updated says that its Deployment has the newest settings, and atHead that it runs with them and is at its chain's head.
	updated, atHead bool
	// onTrial says that it was updated to try the newest settings, and hadTrial that it was to try others, and never came to the head with them.
	onTrial, hadTrial bool
	// ready says that its chain is ready, and readyLong that it has been for steadyTime; why is why it isn't. refused says that the API server
	// refused the newest settings for it, and forced that a person has it changed without a trial.
	ready, readyLong, refused, forced bool
	why                               string
}

// indexers reads those of a namespace. Nothing that it reads is changed, so that nothing is copied: while hundreds of chains wait for their
// turn, each reads all of them.
func (r *chainReconciler) indexers(ctx context.Context, namespace, settings string) (indexers, error) {
	var deployments appsv1.DeploymentList
	err := r.List(ctx, &deployments, client.InNamespace(namespace), client.UnsafeDisableDeepCopy,
		client.MatchingLabels{workload.LabelManagedBy: workload.ManagedBy, workload.LabelComponent: workload.Indexer})
	if err != nil {
		return nil, fmt.Errorf("list the indexers' Deployments: %w", err)
	}
	var chains v1alpha1.ChainList
	if err := r.List(ctx, &chains, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the chains: %w", err)
	}
	byName := map[string]*v1alpha1.Chain{}
	for i := range chains.Items {
		byName[chains.Items[i].Name] = &chains.Items[i]
	}
	out := make(indexers, 0, len(deployments.Items))
	for i := range deployments.Items {
		d := &deployments.Items[i]
		trial := d.Annotations[workload.AnnotationTrial]
		x := indexer{
			name: d.Name, wanted: wanted(d), runs: runs(d), updated: d.Annotations[workload.AnnotationSettings] == settings,
			onTrial: trial == settings, hadTrial: trial != "" && trial != settings,
		}
		if owner := metav1.GetControllerOf(d); owner != nil && byName[owner.Name] != nil {
			x.readStatus(byName[owner.Name], r.now())
			x.atHead = x.updated && rolledOut(d) && r.prober.atHead(types.NamespacedName{Namespace: namespace, Name: owner.Name}, settings)
		}
		out = append(out, x)
	}
	return out, nil
}

func (x *indexer) readStatus(c *v1alpha1.Chain, now time.Time) {
	x.forced = isForced(c)
	x.onTrial = x.onTrial && !x.forced
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return
	}
	// A refusal says nothing of the chain, and is no reason to try the next one.
	x.refused = ready.Reason == v1alpha1.ReasonApplyFailed
	x.ready = ready.Status == metav1.ConditionTrue || x.refused
	x.readyLong = x.ready && now.Sub(ready.LastTransitionTime.Time) >= steadyTime
	if !x.ready || x.refused {
		x.why = said(ready.Reason, ready.Message)
	}
}

func (all indexers) find(name string) *indexer {
	if i := slices.IndexFunc(all, func(x indexer) bool { return x.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// decide says whether an indexer gets the newest settings now, and else why not. At most so many percent of all indexers, and at least one, are
// on trial at a time: changed, and not at the head again. The first ones are those whose chains have been ready for long. One that doesn't run, or
// whose chain isn't ready, would prove nothing: it is changed once another one is at the head with the newest settings, or where none can be tried,
// and the others wait until its pod is ready, no longer. So that a repair isn't held up, one on which former settings were tried in vain is changed at
// once.
func (all indexers) decide(me *indexer, percent int) (onTrial bool, why string) {
	var tried, next []*indexer
	total, atHead, starting := 0, 0, 0
	for i := range all {
		x := &all[i]
		if !x.wanted {
			continue
		}
		total++
		switch {
		case x.atHead:
			atHead++
		case x.updated && x.onTrial:
			tried = append(tried, x)
		case x.updated && !x.runs && !x.forced:
			starting++
		case !x.updated && x.runs && x.ready && !x.forced:
			next = append(next, x)
		}
	}
	if me.hadTrial && (!me.runs || !me.ready) {
		return true, ""
	}
	most := max(1, total*percent/100)
	why = fmt.Sprintf("what is new for all indexers reaches %d of them at a time", most)
	if !me.runs || !me.ready {
		switch {
		case atHead == 0 && len(tried)+len(next) > 0:
			return false, "what is new for all indexers is tried on chains that are ready first"
		case starting >= most:
			return false, why
		}
		return false, ""
	}
	slices.SortFunc(next, func(a, b *indexer) int {
		return cmp.Or(trueFirst(a.refused, b.refused), trueFirst(a.readyLong, b.readyLong), cmp.Compare(a.name, b.name))
	})
	if place := slices.Index(next, me); place < most-len(tried) {
		return true, ""
	}
	waitsFor := next[:min(1, len(next))] // one that is refused it, or is about to get it
	if len(tried) > 0 {
		waitsFor = []*indexer{slices.MinFunc(tried, func(a, b *indexer) int { return cmp.Compare(a.name, b.name) })}
	}
	for _, x := range waitsFor {
		why += fmt.Sprintf(". It waits for Deployment %s, which doesn't run with it yet, or isn't at the head", x.name)
		if x.why != "" {
			why += ": " + x.why
		}
	}
	return false, why
}

func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func wanted(d *appsv1.Deployment) bool { return d.Spec.Replicas == nil || *d.Spec.Replicas > 0 }

func runs(d *appsv1.Deployment) bool { return wanted(d) && d.Status.AvailableReplicas > 0 }

// rolledOut reports whether the pod that runs is of the newest template.
func rolledOut(d *appsv1.Deployment) bool {
	return runs(d) && d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas > 0
}
