package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// ownImage is the image of the operator's own container: the indexers run the same one.
func ownImage(ctx context.Context, r client.Reader, namespace, pod string) (string, error) {
	if pod == "" {
		return "", errors.New("the indexers' image isn't known: outside a pod give --indexer-image; in a pod set POD_NAME to its name, by a fieldRef of metadata.name")
	}
	var p corev1.Pod
	if err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: pod}, &p); err != nil {
		return "", fmt.Errorf("read the operator's own pod, whose image the indexers get: %w", err)
	}
	i := slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == workload.Operator })
	if i < 0 {
		return "", fmt.Errorf("pod %s has no container called %s, whose image the indexers would get: give --indexer-image", pod, workload.Operator)
	}
	return p.Spec.Containers[i].Image, nil
}

// refuseSecond gives an error where the namespace has the operator of another release that was there before: two would share the Lease and the
// indexers' names, and each would take the other's chains for its own.
func refuseSecond(ctx context.Context, r client.Reader, namespace, instance string) error {
	if instance == "" {
		return nil
	}
	var all appsv1.DeploymentList
	err := r.List(ctx, &all, client.InNamespace(namespace), client.MatchingLabels{workload.LabelName: workload.Name, workload.LabelComponent: workload.Operator})
	if err != nil {
		return fmt.Errorf("look for other operators: %w", err)
	}
	own := slices.IndexFunc(all.Items, func(d appsv1.Deployment) bool { return d.Labels[workload.LabelInstance] == instance })
	for i := range all.Items {
		d := &all.Items[i]
		if d.Labels[workload.LabelInstance] == instance || own >= 0 && !isOlder(d, &all.Items[own]) {
			continue
		}
		return fmt.Errorf("namespace %s has the operator of another release, %q (Deployment %s), and takes one alone: "+
			"install this one in a namespace of its own, or uninstall the other", namespace, d.Labels[workload.LabelInstance], d.Name)
	}
	return nil
}

func isOlder(a, b *appsv1.Deployment) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}
