package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// heldPause is the time after which an indexer that was left unchanged is looked at again.
const heldPause = 5 * time.Second

// mayChange gives a waitingError while an indexer is left as it is. An indexer's pod ends before the next one starts, so what all indexers are
// given anew is tried first: the database's address from here, all of it on one indexer.
func (r *chainReconciler) mayChange(ctx context.Context, key types.NamespacedName) error {
	var all appsv1.DeploymentList
	err := r.List(ctx, &all, client.InNamespace(key.Namespace),
		client.MatchingLabels{workload.LabelManagedBy: workload.ManagedBy, workload.LabelComponent: workload.Indexer})
	if err != nil {
		return fmt.Errorf("list the indexers' Deployments: %w", err)
	}
	settings := r.settings.get()
	hash := settings.Hash()
	if !risks(all.Items, key.Name, hash) {
		return nil
	}
	if r.tryDatabase != nil {
		if err := r.tryDatabase(ctx); err != nil {
			return &waitingError{fmt.Sprintf("key %s of Secret %s: %v", settings.DatabaseKey, settings.DatabaseSecret, err), heldPause}
		}
	}
	if why := awaited(all.Items, key.Name, hash); why != "" {
		return &waitingError{why, heldPause}
	}
	return nil
}

// risks reports whether a running indexer would be ended for other settings.
func risks(all []appsv1.Deployment, name, settings string) bool {
	i := slices.IndexFunc(all, func(d appsv1.Deployment) bool { return d.Name == name })
	return i >= 0 && runs(&all[i]) && !has(&all[i], settings)
}

// awaited names the indexer on which the settings are tried first, unless it is the named one, or one runs with them already.
func awaited(all []appsv1.Deployment, name, settings string) (why string) {
	tried := ""
	var candidates []string
	for i := range all {
		switch d := &all[i]; {
		case has(d, settings) && rolledOut(d):
			return ""
		case has(d, settings) && wanted(d):
			tried = cmp.Or(tried, d.Name)
		case runs(d):
			candidates = append(candidates, d.Name)
		}
	}
	if tried == "" && len(candidates) > 0 {
		tried = slices.Min(candidates)
	}
	if tried == "" || tried == name {
		return ""
	}
	return fmt.Sprintf("what is new for all indexers is tried on Deployment %s first, which doesn't run with it yet", tried)
}

func has(d *appsv1.Deployment, settings string) bool {
	return d.Annotations[workload.AnnotationSettings] == settings
}

func wanted(d *appsv1.Deployment) bool { return d.Spec.Replicas == nil || *d.Spec.Replicas > 0 }

func runs(d *appsv1.Deployment) bool { return wanted(d) && d.Status.AvailableReplicas > 0 }

// rolledOut reports whether the pod that runs is of the newest template.
func rolledOut(d *appsv1.Deployment) bool {
	return runs(d) && d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas > 0
}
