package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// RemoveIndexers deletes everything that the operators of a release have made in a namespace: the objects of its indexers and, unless another
// release's operator has it, the operators' Lease. Without an instance, the release's name, it is everything that any operator has made. Chains stay: the next operator runs their
// indexers again. No operator of the release may be running meanwhile.
func RemoveIndexers(ctx context.Context, cfg *rest.Config, namespace, instance string) error {
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return fmt.Errorf("connect to the API server: %w", err)
	}
	var errs []error
	for _, kind := range []schema.GroupVersionKind{
		appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("Service"),
		corev1.SchemeGroupVersion.WithKind("ConfigMap"), corev1.SchemeGroupVersion.WithKind("ServiceAccount"),
		networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"), policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
		batchv1.SchemeGroupVersion.WithKind("Job"),
	} {
		errs = append(errs, removeIndexers(ctx, c, namespace, instance, kind))
	}
	if others, err := otherOperators(ctx, c, namespace, instance); err != nil || others {
		return errors.Join(append(errs, err)...) // the Lease is another release's
	}
	lease := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: LeaseName}}
	lease.SetGroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("Lease"))
	if err := c.Delete(ctx, lease); client.IgnoreNotFound(err) != nil {
		errs = append(errs, fmt.Errorf("delete Lease %s: %w", LeaseName, err))
	}
	return errors.Join(errs...)
}

// removeIndexers deletes one by one: to delete a collection takes a verb that the operator hasn't got.
func removeIndexers(ctx context.Context, c client.Client, namespace, instance string, kind schema.GroupVersionKind) error {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(kind)
	err := c.List(ctx, &list, client.InNamespace(namespace),
		client.MatchingLabels{workload.LabelManagedBy: workload.ManagedBy, workload.LabelComponent: workload.Indexer})
	if err != nil {
		return fmt.Errorf("list the indexers' %ss: %w", kind.Kind, err)
	}
	for i := range list.Items {
		// Without a label an object is an older version's, which gave it none.
		if of := list.Items[i].Labels[workload.LabelInstance]; instance != "" && of != "" && of != instance {
			continue
		}
		err := c.Delete(ctx, &list.Items[i], client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete %s %s: %w", kind.Kind, list.Items[i].Name, err)
		}
	}
	return nil
}

// otherOperators reports whether the namespace has the operator of another release.
func otherOperators(ctx context.Context, c client.Client, namespace, instance string) (bool, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	err := c.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{workload.LabelName: workload.Name, workload.LabelComponent: workload.Operator})
	if err != nil {
		return false, fmt.Errorf("look for other operators: %w", err)
	}
	return instance != "" && slices.ContainsFunc(list.Items, func(o metav1.PartialObjectMetadata) bool { return o.Labels[workload.LabelInstance] != instance }), nil
}
