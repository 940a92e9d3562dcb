package operator

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

func operatorScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s))
}

// clusterView is what a watch has shown of a namespace. It costs the API server the same whatever is measured.
type clusterView struct {
	mu      sync.Mutex
	objects map[string]client.Object // by keyOf
	// changed has something in it when something was seen.
	changed chan struct{}
}

// keyOf tells objects of a namespace apart.
func keyOf(o client.Object) string { return reflect.TypeOf(o).Elem().Name() + " " + o.GetName() }

// get is the object of a name, which must be there. The caller holds the lock.
func get[T client.Object](v *clusterView, name string) T {
	o, _ := v.objects[reflect.TypeFor[T]().Elem().Name()+" "+name].(T)
	return o
}

// all are the objects of a kind. The caller holds the lock.
func all[T client.Object](v *clusterView) (out []T) {
	for _, o := range v.objects {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

func watchNamespace(ctx context.Context, cfg *rest.Config, scheme *runtime.Scheme, namespace string) (*clusterView, error) {
	c, err := cache.New(cfg, cache.Options{Scheme: scheme, DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	if err != nil {
		return nil, err
	}
	v := &clusterView{objects: map[string]client.Object{}, changed: make(chan struct{}, 1)}
	for _, o := range []client.Object{&v1alpha1.Chain{}, &v1alpha1.LaunchVenue{}, &appsv1.Deployment{}} {
		informer, err := c.GetInformer(ctx, o, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, err
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: v.saw, UpdateFunc: func(_, o any) { v.saw(o) },
		}); err != nil {
			return nil, err
		}
	}
	go func() {
		if err := c.Start(ctx); err != nil {
			lab.Say("the watch ended: %s", err)
		}
	}()
	if !c.WaitForCacheSync(ctx) {
		return nil, errors.New("the namespace couldn't be watched")
	}
	return v, nil
}

func (v *clusterView) saw(seen any) {
	o, ok := seen.(client.Object)
	if !ok {
		return
	}
	v.mu.Lock()
	v.objects[keyOf(o)] = o
	v.mu.Unlock()
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// generation is that of an object as it was seen last.
func (v *clusterView) generation(o client.Object) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.objects[keyOf(o)].GetGeneration()
}

// until waits until nothing is missing any more and has been so for some time, and says when that began.
func (v *clusterView) until(ctx context.Context, what string, patience, settle time.Duration, missing func(*clusterView) string) (time.Time, error) {
	var since time.Time
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		v.mu.Lock()
		not := missing(v)
		v.mu.Unlock()
		var settled <-chan time.Time
		switch {
		case not != "":
			since = time.Time{}
		case since.IsZero():
			since = lab.Now()
			fallthrough
		default:
			settled = time.After(settle - lab.Now().Sub(since))
		}
		select {
		case <-v.changed:
		case <-settled:
			return since, nil
		case <-deadline.C:
			return since, fmt.Errorf("%s: not within %s: %s", what, patience, not)
		case <-ctx.Done():
			return since, ctx.Err()
		}
	}
}

// conditionIs says what is wrong with a condition; empty when it is as wanted and about the present generation.
func conditionIs(o client.Object, conditions []metav1.Condition, name string, want metav1.ConditionStatus, reason string) string {
	c := meta.FindStatusCondition(conditions, name)
	if c != nil && c.Status == want && (reason == "" || c.Reason == reason) && c.ObservedGeneration == o.GetGeneration() {
		return ""
	}
	return fmt.Sprintf("%s: condition %s is %+v for generation %d", keyOf(o), name, c, o.GetGeneration())
}

// converged says what isn't as it should be when all is well.
func (s *operatorSite) converged(v *clusterView) string {
	chains, venues := all[*v1alpha1.Chain](v), all[*v1alpha1.LaunchVenue](v)
	if len(chains) != s.size.chains || len(venues) != s.size.venues {
		return fmt.Sprintf("%d of %d chains and %d of %d venues are there", len(chains), s.size.chains, len(venues), s.size.venues)
	}
	for _, c := range chains {
		if not := conditionIs(c, c.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, ""); not != "" {
			return not
		}
		if c.Status.Lag != v1alpha1.LagUnder15s || c.Status.ObservedGeneration != c.Generation {
			return fmt.Sprintf("Chain %s has lag %q", c.Name, c.Status.Lag)
		}
	}
	for _, x := range venues {
		if not := conditionIs(x, x.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonOpen); not != "" {
			return not
		}
		if n := len(x.Spec.Chains); x.Status.Open != fmt.Sprintf("%d/%d", n, n) || len(x.Status.Chains) != n {
			return fmt.Sprintf("LaunchVenue %s is open on %s", x.Name, x.Status.Open)
		}
	}
	return ""
}
