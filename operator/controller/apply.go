package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/operator/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// FieldOwner is the operator's name in server-side apply.
const FieldOwner = "boardwalk-operator"

// errForeign means that an object of the name isn't the operator's.
var errForeign = errors.New("isn't Boardwalk's")

// applyErrors are all that went wrong with an indexer's objects, in one line: conditions are read in tables.
type applyErrors []error

func (e applyErrors) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (e applyErrors) Unwrap() []error { return e }

// apply makes the objects of an indexer what they should be and gives its Deployment as it was before. An object that is what
// it should be costs no request; one that isn't given is left as it is.
func apply(ctx context.Context, c client.Client, key types.NamespacedName, o *workload.Objects) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	var failed applyErrors
	pod := func() error { return c.Get(ctx, key, deployment) }
	document := func() error { return nil }
	if o.Deployment != nil {
		pod = func() error { return ensure(ctx, c, key, deployment, o.Deployment, appsv1ac.ExtractDeployment) }
		document = func() error { return ensure(ctx, c, key, &corev1.ConfigMap{}, o.Document, corev1ac.ExtractConfigMap) }
	}
	for _, err := range []error{
		document(),
		ensure(ctx, c, key, &corev1.ServiceAccount{}, o.ServiceAccount, corev1ac.ExtractServiceAccount),
		ensure(ctx, c, key, &corev1.Service{}, o.Service, corev1ac.ExtractService),
		ensure(ctx, c, key, &networkingv1.NetworkPolicy{}, o.NetworkPolicy, networkingv1ac.ExtractNetworkPolicy),
		ensure(ctx, c, key, &policyv1.PodDisruptionBudget{}, o.Budget, policyv1ac.ExtractPodDisruptionBudget),
		pod(),
	} {
		if err != nil {
			failed = append(failed, err)
		}
	}
	if failed == nil {
		return deployment, nil
	}
	return deployment, failed
}

// onlyForeign reports whether all that failed is what a human has to mend.
func onlyForeign(err error) bool {
	all, ok := errors.AsType[applyErrors](err)
	return ok && !slices.ContainsFunc(all, func(err error) bool { return !errors.Is(err, errForeign) })
}

// passing reports whether something failed that says nothing of the chain: the API server is away or overloaded, rather than
// against it.
func passing(err error) bool {
	if err == nil {
		return false
	}
	if all, ok := errors.AsType[applyErrors](err); ok {
		return slices.ContainsFunc(all, passing)
	}
	var status apierrors.APIStatus
	return !errors.Is(err, errForeign) && !errors.As(err, &status) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
}

// patchStatus writes a resource's status, unless the resource has changed since it was read into before, or is gone: then wait says
// when to look again.
func patchStatus(ctx context.Context, c client.Client, o, before client.Object) (wait time.Duration, err error) {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	switch err := c.Status().Patch(ctx, o, patch, client.FieldOwner(FieldOwner)); {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return stalePause, nil
	case err != nil:
		return 0, fmt.Errorf("write the status: %w", err)
	}
	return 0, nil
}

// ensure applies what is wanted of one object, unless the live one has it already. live is filled with the object as the cache
// has it.
func ensure[L client.Object, A runtime.ApplyConfiguration](ctx context.Context, c client.Client, key types.NamespacedName, live L,
	wanted A, extract func(L, string) (A, error),
) error {
	kind := reflect.TypeOf(live).Elem().Name()
	switch err := c.Get(ctx, key, live); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("read %s %s: %w", kind, key.Name, err)
	case !ours(live):
		return fmt.Errorf("%s %s %w: rename or delete it", kind, key.Name, errForeign)
	default:
		// What the operator's earlier applies still own, with the values that the object has now.
		has, err := extract(live, FieldOwner)
		if err == nil && equal(has, wanted) {
			return nil
		}
	}
	if err := c.Apply(ctx, wanted, client.FieldOwner(FieldOwner), client.ForceOwnership); err != nil {
		return fmt.Errorf("apply %s %s: %w", kind, key.Name, err)
	}
	return nil
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
