package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/venue"
)

// venueReconciler says of a LaunchVenue on which of its chains it is open.
type venueReconciler struct {
	client.Client

	find     directory
	prober   *prober
	recorder events.EventRecorder
	now      func() time.Time
}

func (r *venueReconciler) setUp(mgr ctrl.Manager) error {
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).Named("launchvenue").
		For(&v1alpha1.LaunchVenue{}). // with its status, as for Chains
		Watches(&v1alpha1.LaunchVenue{}, handler.EnqueueRequestsFromMapFunc(r.namesakes), changed).
		Watches(&v1alpha1.Chain{}, handler.EnqueueRequestsFromMapFunc(r.venuesOn), changed).
		WatchesRawSource(source.Channel(r.prober.venues, handler.EnqueueRequestsFromMapFunc(r.venuesOn))).
		WithOptions(options()).
		Complete(traced("LaunchVenue", r))
}

// namesakes are the other venues for which it matters that this one comes, changes or goes.
func (r *venueReconciler) namesakes(ctx context.Context, o client.Object) []reconcile.Request {
	v, ok := o.(*v1alpha1.LaunchVenue)
	if !ok {
		return nil
	}
	same, err := r.find.venues(ctx, v.Namespace, byID, v.Spec.ID)
	for i := range same { // which of them is accepted decides who has the contracts of each
		more, err := r.find.rivals(ctx, &same[i])
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "venues with the same contract not found", "venue", same[i].Name)
		}
		same = append(same, more...)
	}
	// Whether or not this one is a default now, it may have been.
	defaults, err2 := r.find.venues(ctx, v.Namespace, byDefault, string(resolve.DefaultFamily(v)))
	rivals, err3 := r.find.rivals(ctx, v)
	if err := errors.Join(err, err2, err3); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "venues with the same id, default or contract not found", "venue", v.Name)
	}
	var out []reconcile.Request
	for _, list := range [][]v1alpha1.LaunchVenue{same, defaults, rivals} {
		for i := range list {
			if list[i].Name != v.Name {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list[i])})
			}
		}
	}
	return out
}

// venuesOn are the venues on a chain, and on those that have its id: which of them is accepted may have changed.
func (r *venueReconciler) venuesOn(ctx context.Context, o client.Object) []reconcile.Request {
	c, ok := o.(*v1alpha1.Chain)
	if !ok {
		return nil
	}
	names := map[string]bool{c.Name: true}
	if c.Spec.ID != "" { // what the prober sends is only a name
		same, err := r.find.namesakes(ctx, c)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "chains with the same id not found", "chain", c.Name)
		}
		for i := range same {
			names[same[i].Name] = true
		}
	}
	var out []reconcile.Request
	for name := range names {
		venues, err := r.find.venues(ctx, c.Namespace, byChain, name)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "venues on a chain not found", "chain", name)
		}
		for i := range venues {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&venues[i])})
		}
	}
	return out
}

// Reconcile decides where one venue is open.
func (r *venueReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var v v1alpha1.LaunchVenue
	if err := r.Get(ctx, req.NamespacedName, &v); apierrors.IsNotFound(err) || err == nil && !v.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	} else if err != nil {
		return reconcile.Result{}, err
	}
	w, err := r.world(ctx, &v)
	if err != nil {
		return reconcile.Result{}, err
	}
	status := venue.Status(&v, w, r.now())
	if equality.Semantic.DeepEqual(v.Status, status) {
		return reconcile.Result{}, nil
	}
	before := v.DeepCopy()
	v.Status = status
	if err := patchStatus(ctx, r.Client, &v, before); err != nil {
		return stepErrors{err}.result(0)
	}
	r.announce(&v, before.Status.Chains, status.Chains)
	return reconcile.Result{}, nil
}

func (r *venueReconciler) world(ctx context.Context, v *v1alpha1.LaunchVenue) (w venue.World, err error) {
	if w.Refusal, err = r.find.refuseVenue(ctx, v); err != nil {
		return w, err
	}
	if v.Spec.Default {
		peers, err := r.find.venues(ctx, v.Namespace, byDefault, string(resolve.DefaultFamily(v)))
		if err != nil {
			return w, err
		}
		if older := resolve.OlderDefault(v, peers); older != nil {
			w.OlderDefault = older.Name
		}
	}
	rivals, err := r.find.rivals(ctx, v)
	if err != nil {
		return w, err
	}
	if w.Rivals, err = r.find.accepted(ctx, rivals); err != nil {
		return w, err
	}
	chains := map[string]*venue.Chain{}
	for _, name := range chainsOf(v) {
		key := types.NamespacedName{Namespace: v.Namespace, Name: name}
		var c v1alpha1.Chain
		if err := r.Get(ctx, key, &c); apierrors.IsNotFound(err) || err == nil && !c.DeletionTimestamp.IsZero() {
			continue
		} else if err != nil {
			return w, err
		}
		form, refusal, err := r.find.served(ctx, &c)
		if err != nil {
			return w, err
		}
		chains[name] = declaredChain(&c, form, refusal)
		r.prober.look(key, chains[name])
	}
	w.Chain = func(name string) *venue.Chain { return chains[name] }
	return w, nil
}

// on is what an Event of the venue is related to: those that are alike in that too are told as one.
func on(v *v1alpha1.LaunchVenue, chain string) *v1alpha1.Chain {
	return &v1alpha1.Chain{ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: chain}}
}

// announce writes an Event for each chain on which the venue opened or closed.
func (r *venueReconciler) announce(v *v1alpha1.LaunchVenue, before, after []v1alpha1.VenueChainStatus) {
	was := map[string]v1alpha1.VenueState{}
	for _, s := range before {
		was[s.Chain] = s.State
	}
	for _, s := range after {
		switch old, known := was[s.Chain]; {
		case known && old == s.State:
		case s.State == v1alpha1.VenueOpen:
			r.recorder.Eventf(v, on(v, s.Chain), corev1.EventTypeNormal, "Opened", action, "open on %s", s.Chain)
		case known:
			r.recorder.Eventf(v, on(v, s.Chain), corev1.EventTypeWarning, "Closed", action, "%s",
				note(fmt.Sprintf("closed on %s: %s: %s", s.Chain, s.Reason, s.Message)))
		}
	}
}
