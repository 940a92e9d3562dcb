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
// given anew is tried first: the database's address from here, all of it on a few indexers at a time. trial says that the rollout waits for
// this one.
func (r *chainReconciler) mayChange(ctx context.Context, c *v1alpha1.Chain, key types.NamespacedName) (trial bool, err error) {
	settings := r.settings.get()
	f, err := r.fleet(ctx, c.Namespace, settings.Hash())
	if err != nil {
		return false, err
	}
	me := f.find(key.Name)
	if me == nil {
		return false, nil
	}
	if me.updated || !me.runs || isForced(c) {
		return me.updated && me.trial, nil
	}
	if r.tryDatabase != nil {
		if err := r.tryDatabase(ctx); err != nil {
			return false, &waitingError{fmt.Sprintf("key %s of Secret %s: %v", settings.DatabaseKey, settings.DatabaseSecret, err), heldPause}
		}
	}
	trial, why := f.decide(me, cmp.Or(settings.RolloutPercent, workload.DefaultRolloutPercent))
	if why != "" {
		return false, &waitingError{why, heldPause}
	}
	return trial, nil
}

// isForced reports whether a person wants a chain's indexer changed without a trial.
func isForced(c *v1alpha1.Chain) bool {
	value := c.Annotations[v1alpha1.AnnotationForceRollout]
	return value != "" && value != "false"
}

// fleet is all indexers, as far as a rollout looks at them.
type fleet []member

// member is an indexer.
type member struct {
	name string
	// wanted says that it is to run, and runs that it does.
	wanted, runs bool
	// updated says that its Deployment has the newest settings, and proven that it runs with them and is at its chain's head.
	updated, proven bool
	// trial says that it was updated to try the newest settings.
	trial bool
	// ready says that its chain is ready, steady that it has been for steadyTime, and why why it isn't.
	ready, steady bool
	why           string
}

// fleet reads the indexers of a namespace. Nothing that it reads is changed, so that nothing is copied: while hundreds of chains wait for their
// turn, each reads all of them.
func (r *chainReconciler) fleet(ctx context.Context, namespace, settings string) (fleet, error) {
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
	out := make(fleet, 0, len(deployments.Items))
	for i := range deployments.Items {
		d := &deployments.Items[i]
		m := member{
			name: d.Name, wanted: wanted(d), runs: runs(d),
			updated: d.Annotations[workload.AnnotationSettings] == settings, trial: d.Annotations[workload.AnnotationTrial] == settings,
		}
		if owner := metav1.GetControllerOf(d); owner != nil && byName[owner.Name] != nil {
			m.see(byName[owner.Name], r.now())
			m.proven = m.updated && rolledOut(d) && r.prober.atHead(types.NamespacedName{Namespace: namespace, Name: owner.Name}, settings)
		}
		out = append(out, m)
	}
	return out, nil
}

func (m *member) see(c *v1alpha1.Chain, now time.Time) {
	x := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	if x == nil {
		return
	}
	m.trial = m.trial && !isForced(c)
	m.ready = x.Status == metav1.ConditionTrue
	m.steady = m.ready && now.Sub(x.LastTransitionTime.Time) >= steadyTime
	if !m.ready {
		m.why = said(x.Reason, x.Message)
	}
}

func (f fleet) find(name string) *member {
	if i := slices.IndexFunc(f, func(m member) bool { return m.name == name }); i >= 0 {
		return &f[i]
	}
	return nil
}

// decide says whether a running indexer gets the newest settings now, and else why not. At most so many percent of all indexers, and at least
// one, are on trial at a time: changed, and not at the head again. The first ones are those whose chains have been ready for long. A chain that
// isn't ready would prove nothing: its indexer is changed once another one is proven, and nobody waits for it.
func (f fleet) decide(me *member, percent int) (trial bool, why string) {
	var onTrial, next []*member
	total, proven := 0, 0
	for i := range f {
		m := &f[i]
		if !m.wanted {
			continue
		}
		total++
		switch {
		case m.proven:
			proven++
		case m.updated && m.trial:
			onTrial = append(onTrial, m)
		case !m.updated && m.runs && m.ready:
			next = append(next, m)
		}
	}
	if !me.ready {
		if proven > 0 || len(onTrial)+len(next) == 0 {
			return false, ""
		}
		return false, "what is new for all indexers is tried on chains that are ready first"
	}
	slices.SortFunc(next, func(a, b *member) int { return cmp.Or(boolCompare(b.steady, a.steady), cmp.Compare(a.name, b.name)) })
	most := max(1, total*percent/100)
	if place := slices.Index(next, me); place < most-len(onTrial) {
		return true, ""
	}
	why = fmt.Sprintf("what is new for all indexers is tried on %d of them at a time; %d of %d are at the head with it", most, proven, total)
	if len(onTrial) > 0 {
		m := slices.MinFunc(onTrial, func(a, b *member) int { return cmp.Compare(a.name, b.name) })
		why += fmt.Sprintf(". It waits for Deployment %s, which doesn't run with it yet, or isn't at the head", m.name)
		if m.why != "" {
			why += ": " + m.why
		}
	}
	return false, why
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
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
