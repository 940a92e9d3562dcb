package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// essence is an object without what the API server keeps of its history.
func essence(t *testing.T, o client.Object) map[string]any {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	delete(out, "status")
	metadata, ok := out["metadata"].(map[string]any)
	if !ok {
		t.Fatalf("%s has no metadata", raw)
	}
	for _, k := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "annotations"} {
		delete(metadata, k)
	}
	return out
}

func TestDriftIsPutRight(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	edits := []struct {
		name string
		do   func(o client.Object)
	}{
		{"contents", func(o client.Object) {
			switch o := o.(type) {
			case *corev1.ConfigMap:
				o.Data["chain.json"] = "{}"
			case *corev1.ServiceAccount:
				yes := true
				o.AutomountServiceAccountToken = &yes
			case *corev1.Service:
				o.Spec.Selector["boardwalk.dev/chain"] = "bsc"
			case *networkingv1.NetworkPolicy:
				o.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}}
			case *policyv1.PodDisruptionBudget:
				none := intstr.FromInt32(0)
				o.Spec.MaxUnavailable = &none
			case *appsv1.Deployment:
				replicas := int32(3)
				o.Spec.Replicas = &replicas
				o.Spec.Template.Spec.Containers[0].Image = "none.invalid/other"
			}
		}},
		{"labels", func(o client.Object) { o.SetLabels(map[string]string{}) }},
		{"owner", func(o client.Object) { o.SetOwnerReferences(nil) }},
	}
	for i, o := range w.objectsOf("base") {
		if err := w.get(o); err != nil {
			t.Fatal(err)
		}
		want := essence(t, o)
		right := func(what string) {
			t.Helper()
			eventually(t, func() error {
				live := w.objectsOf("base")[i]
				if err := w.get(live); err != nil {
					return err
				}
				if got := essence(t, live); !reflect.DeepEqual(got, want) {
					return fmt.Errorf("after %s the %T is %v; want %v", what, live, got, want)
				}
				return nil
			})
		}
		for _, edit := range edits {
			eventually(t, func() error { // Kubernetes' own controllers write too
				live := w.objectsOf("base")[i]
				if err := w.get(live); err != nil {
					return err
				}
				edit.do(live)
				return w.Update(t.Context(), live)
			})
			right(edit.name)
		}
		w.remove(o)
		eventually(t, func() error {
			live := w.objectsOf("base")[i]
			if err := w.get(live); err != nil {
				return err
			}
			if live.GetUID() == o.GetUID() {
				return errors.New("it is still there")
			}
			return nil
		})
		right("deletion")
	}
	w.become(c, "Ready True Ready")
}

// What others manage of the operator's fields is taken back, what they add stays.
func TestAnotherFieldManagerIsOverruled(t *testing.T) {
	w := newWorld(t)
	op := w.run()
	w.indexers.says("base")
	c := w.chain("base", 8453)
	w.become(c, "Ready True Ready")
	name := workload.ObjectName("base")
	other := fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q,"annotations":{"example.com/note":"mine"}},
		"spec":{"replicas":3,"template":{"metadata":{"annotations":{"example.com/note":"mine"}}}}}`, name)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	err := w.Patch(t.Context(), d, client.RawPatch(types.ApplyPatchType, []byte(other)), client.FieldOwner("other"), client.ForceOwnership)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if err := w.get(d); err != nil {
			return err
		}
		if *d.Spec.Replicas != 1 {
			return fmt.Errorf("%d replicas", *d.Spec.Replicas)
		}
		return nil
	})
	if d.Annotations["example.com/note"] != "mine" || d.Spec.Template.Annotations["example.com/note"] != "mine" {
		t.Errorf("what another one added is gone: %v, %v", d.Annotations, d.Spec.Template.Annotations)
	}
	w.become(c, "Ready True Ready")
	before := op.to("/deployments/" + name)
	w.indexers.rounds(t, "base", 10)
	if after := op.to("/deployments/" + name); before != 2 || after != before {
		t.Errorf("the Deployment was applied %d times, then %d times; want it made and put right once", before, after)
	}
}

// staleClient is a client whose cache has an object as it was; nil is not yet there. It counts what is applied.
type staleClient struct {
	client.Client
	has     *corev1.ServiceAccount
	applied int
}

func (c *staleClient) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	account, ok := o.(*corev1.ServiceAccount)
	if !ok || c.has == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccounts"}, key.Name)
	}
	c.has.DeepCopyInto(account)
	return nil
}

func (c *staleClient) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	c.applied++
	return c.Client.Apply(ctx, o, opts...)
}

// TestAStaleCacheCostsNoApply makes an object and puts it right, each while the cache has it as it was before.
func TestAStaleCacheCostsNoApply(t *testing.T) {
	w := newWorld(t)
	key := types.NamespacedName{Namespace: w.namespace, Name: "stale"}
	c := &staleClient{Client: w.Client}
	want := func(applied int, what string) {
		t.Helper()
		wanted := corev1ac.ServiceAccount(key.Name, key.Namespace).WithLabels(map[string]string{workload.LabelManagedBy: workload.ManagedBy}).
			WithAutomountServiceAccountToken(false)
		var has corev1.ServiceAccount
		err := ensure(t.Context(), apiServer{c, w.Client}, key, &has, &corev1.ServiceAccountList{}, wanted, corev1ac.ExtractServiceAccount)
		if err != nil || c.applied != applied {
			t.Errorf("%s: applied %d times, %v; want %d", what, c.applied, err, applied)
		}
	}
	live := func() *corev1.ServiceAccount {
		t.Helper()
		var o corev1.ServiceAccount
		if err := w.Get(t.Context(), key, &o); err != nil {
			t.Fatal(err)
		}
		return &o
	}
	want(1, "not there")
	want(1, "made, and not in the cache")
	o := live()
	o.AutomountServiceAccountToken = new(true)
	if err := w.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	c.has = live()
	want(2, "changed by another")
	want(2, "put right, and in the cache as it was")
	c.has = live()
	want(2, "put right, and in the cache as it is")
	w.remove(c.has)
	c.has = nil
	want(3, "deleted")
}

// TestErrorsDecideWhatIsWrittenAndWhenTheControllerLooksAgain: a person, the clock, the API server's rules and an API server that is away ask for
// different things.
func TestErrorsDecideWhatIsWrittenAndWhenTheControllerLooksAgain(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "deployments"}
	apply := func(err error) error { return requestError("apply Deployment x", err) }
	refused := apply(apierrors.NewForbidden(resource, "x", errors.New("exceeded quota")))
	foreign, waits := &stalledError{"Conflict", "ConfigMap x isn't Boardwalk's"}, &waitingError{"not yet", 5 * time.Second}
	const never = 0
	for _, tt := range []struct {
		name         string
		errs         stepErrors
		saysNothing  bool // of the resource: its status isn't written
		retried      bool
		after, again time.Duration
	}{
		{"nothing", nil, false, false, never, never},
		{"nothing, at a time that was set anyhow", nil, false, false, time.Minute, time.Minute},
		{"foreign", stepErrors{foreign, foreign}, false, false, never, never},
		{"waits", stepErrors{waits}, false, false, never, 5 * time.Second},
		{"waits longer than to the time that was set anyhow", stepErrors{waits}, false, false, time.Second, time.Second},
		{"waits, and foreign", stepErrors{foreign, waits}, false, false, time.Minute, 5 * time.Second},
		{"refused", stepErrors{refused}, false, true, never, never},
		{"foreign, and refused", stepErrors{foreign, refused}, false, true, time.Minute, never},
		{"away", stepErrors{refused, apply(errors.New("connection refused"))}, true, true, never, never},
		{"overloaded", stepErrors{apply(apierrors.NewTooManyRequests("later", 1))}, true, true, never, never},
		{"timeout", stepErrors{apply(apierrors.NewTimeoutError("slow", 1))}, true, true, never, never},
		{"slow", stepErrors{apply(apierrors.NewServerTimeout(resource, "patch", 1))}, true, true, never, never},
		{"going down", stepErrors{apply(apierrors.NewServiceUnavailable("down"))}, true, true, never, never},
		{"a webhook that fails", stepErrors{apply(apierrors.NewInternalError(errors.New("failed calling webhook")))}, false, true, never, never},
		{"before anything was applied", stepErrors{errors.New("the cache isn't there")}, true, true, never, never},
	} {
		if got := tt.errs.saysNothing(); got != tt.saysNothing {
			t.Errorf("%s: says nothing of the resource: %v", tt.name, got)
		}
		got, err := tt.errs.result(tt.after)
		if (err != nil) != tt.retried || got.RequeueAfter != tt.again {
			t.Errorf("%s: the controller looks again after %s, and is told %v; want %s, and an error: %v", tt.name, got.RequeueAfter, err, tt.again, tt.retried)
		}
	}
	_, err := stepErrors{foreign, waits, refused}.result(never)
	if text := err.Error(); strings.Contains(text, "\n") || text != refused.Error() {
		t.Errorf("what is tried again is %q; want the refusal alone", text)
	}
	if got := (stepErrors{foreign, waits}).add(refused).add(nil).add(stepErrors{waits}); len(got) != 4 || got.faults().Error() != foreign.message+"; "+refused.Error() {
		t.Errorf("the faults of %v are %v", got, got.faults())
	}
}
