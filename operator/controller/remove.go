package controller

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// RemoveIndexers deletes the objects of all indexers in a namespace. Chains stay: the next operator runs their indexers again.
// None may be running meanwhile.
func RemoveIndexers(ctx context.Context, cfg *rest.Config, namespace string) error {
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return fmt.Errorf("connect to the API server: %w", err)
	}
	var errs []error
	for _, kind := range []client.Object{
		&appsv1.Deployment{}, &corev1.Service{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{}, &networkingv1.NetworkPolicy{},
		&policyv1.PodDisruptionBudget{},
	} {
		err := c.DeleteAllOf(ctx, kind, client.InNamespace(namespace), client.PropagationPolicy(metav1.DeletePropagationBackground),
			client.MatchingLabels{workload.LabelManagedBy: workload.ManagedBy, workload.LabelComponent: workload.Indexer})
		if err != nil {
			errs = append(errs, fmt.Errorf("delete the indexers' objects: %w", err))
		}
	}
	return errors.Join(errs...)
}
