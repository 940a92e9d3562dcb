package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// FieldOwner is the operator's name in server-side apply.
const FieldOwner = "boardwalk-operator"

// apiServer is the cluster's API server. The client reads from a cache, which may not have seen the operator's own newest writes yet, and live
// reads from the API server itself.
type apiServer struct {
	client.Client
	live client.Reader
}

// apply makes the objects of an indexer what they should be and gives its Deployment as it was before. An object that is what
// it should be costs no request. A Deployment and a document that aren't given are left as they are; a NetworkPolicy that isn't given goes.
func apply(ctx context.Context, c apiServer, key types.NamespacedName, o *workload.Objects) (deployment *appsv1.Deployment, failed stepErrors) {
	deployment = &appsv1.Deployment{}
	pod := func() error { return c.Get(ctx, key, deployment) }
	document := func() error { return nil }
	if o.Deployment != nil {
		pod = func() error {
			return ensure(ctx, c, key, deployment, &appsv1.DeploymentList{}, o.Deployment, appsv1ac.ExtractDeployment)
		}
		document = func() error {
			return ensure(ctx, c, key, &corev1.ConfigMap{}, &corev1.ConfigMapList{}, o.Document, corev1ac.ExtractConfigMap)
		}
	}
	policy := func() error {
		return ensure(ctx, c, key, &networkingv1.NetworkPolicy{}, &networkingv1.NetworkPolicyList{}, o.NetworkPolicy, networkingv1ac.ExtractNetworkPolicy)
	}
	if o.NetworkPolicy == nil {
		policy = func() error { return removePolicy(ctx, c, key) }
	}
	for _, err := range []error{
		document(),
		ensure(ctx, c, key, &corev1.ServiceAccount{}, &corev1.ServiceAccountList{}, o.ServiceAccount, corev1ac.ExtractServiceAccount),
		ensure(ctx, c, key, &corev1.Service{}, &corev1.ServiceList{}, o.Service, corev1ac.ExtractService),
		policy(),
		ensure(ctx, c, key, &policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudgetList{}, o.Budget, policyv1ac.ExtractPodDisruptionBudget),
		pod(),
	} {
		failed = failed.add(err)
	}
	return deployment, failed
}

// patchStatus writes a resource's status. It waits if the resource has changed since it was read into before, or is gone.
func patchStatus(ctx context.Context, c client.Client, o, before client.Object) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	switch err := c.Status().Patch(ctx, o, patch, client.FieldOwner(FieldOwner)); {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return &waitingError{"the resource changed meanwhile", stalePause}
	case err != nil:
		return fmt.Errorf("write the status: %w", err)
	}
	return nil
}

// ensure applies what is wanted of one object, unless it has that already. has is filled with the object as the cache has it, or, where that
// isn't what is wanted, as the API server has it: the cache may not have seen yet what was applied last. list is an empty list of its kind.
func ensure[L client.Object, A runtime.ApplyConfiguration](ctx context.Context, c apiServer, key types.NamespacedName, has L,
	list client.ObjectList, wanted A, extract func(L, string) (A, error),
) error {
	kind := reflect.TypeOf(has).Elem().Name()
	err := c.Get(ctx, key, has)
	if err == nil && ours(has) && isApplied(has, wanted, extract) {
		return nil
	}
	if err == nil || apierrors.IsNotFound(err) {
		err = getLive(ctx, c.live, key, has, list)
	}
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return requestError("read "+kind+" "+key.Name, err)
	case !ours(has):
		return &stalledError{v1alpha1.ReasonConflict, fmt.Sprintf("%s %s isn't Boardwalk's: rename or delete it", kind, key.Name)}
	case isApplied(has, wanted, extract):
		return nil
	}
	if err := c.Apply(ctx, wanted, client.FieldOwner(FieldOwner), client.ForceOwnership); err != nil {
		return requestError("apply "+kind+" "+key.Name, err)
	}
	return nil
}

// removePolicy deletes the NetworkPolicy of an indexer that is to have none: one that lets everything through would undo those of others.
func removePolicy(ctx context.Context, c apiServer, key types.NamespacedName) error {
	var p networkingv1.NetworkPolicy
	if err := c.Get(ctx, key, &p); err != nil || !ours(&p) {
		return client.IgnoreNotFound(err)
	}
	if err := c.Delete(ctx, &p); client.IgnoreNotFound(err) != nil {
		return requestError("delete NetworkPolicy "+key.Name, err)
	}
	return nil
}

// isApplied reports whether the fields that the operator's earlier applies still own are those that are wanted, with the values that the object
// has now.
func isApplied[L client.Object, A runtime.ApplyConfiguration](o L, wanted A, extract func(L, string) (A, error)) bool {
	owned, err := extract(o, FieldOwner)
	return err == nil && equal(owned, wanted)
}

// getLive reads one object by a list, for which the operator has the verb.
func getLive[L client.Object](ctx context.Context, r client.Reader, key types.NamespacedName, o L, list client.ObjectList) error {
	if err := r.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name}); err != nil {
		return err
	}
	items, err := apimeta.ExtractList(list)
	if err != nil {
		return err
	}
	for _, item := range items {
		if found, ok := item.(L); ok {
			reflect.ValueOf(o).Elem().Set(reflect.ValueOf(found).Elem())
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: reflect.TypeOf(o).Elem().Name()}, key.Name)
}

// ours reports whether an object is an indexer's. Either mark will do: the other may have been taken away by hand.
func ours(o client.Object) bool {
	if o.GetLabels()[workload.LabelManagedBy] == workload.ManagedBy {
		return true
	}
	owner := metav1.GetControllerOf(o)
	return owner != nil && owner.Kind == v1alpha1.ChainKind && owner.APIVersion == v1alpha1.GroupVersion.String()
}

// equal compares what two configurations say.
func equal(a, b any) bool {
	var values [2]any
	for i, v := range []any{a, b} {
		raw, err := json.Marshal(v)
		if err != nil || json.Unmarshal(raw, &values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}
