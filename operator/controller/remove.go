package controller

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
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

// RemoveIndexers deletes everything that the operators of a release have made in a namespace: the objects of its indexers and the operators'
// Lease. Without an instance, the release's name, it is everything that any operator has made. Chains stay: the next operator runs their
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
	} {
		errs = append(errs, removeIndexers(ctx, c, namespace, instance, kind))
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
	labels := client.MatchingLabels{workload.LabelManagedBy: workload.ManagedBy, workload.LabelComponent: workload.Indexer}
	if instance != "" {
		labels[workload.LabelInstance] = instance
	}
	err := c.List(ctx, &list, client.InNamespace(namespace), labels)
	if err != nil {
		return fmt.Errorf("list the indexers' %ss: %w", kind.Kind, err)
	}
	for i := range list.Items {
		err := c.Delete(ctx, &list.Items[i], client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete %s %s: %w", kind.Kind, list.Items[i].Name, err)
		}
	}
	return nil
}
