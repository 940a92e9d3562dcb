package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/venue"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// lagPause is the least time between two writes of a Chain's status in which no condition has another status or reason.
const lagPause = 30 * time.Second

// chainReconciler keeps one indexer per Chain running and says how it is.
type chainReconciler struct {
	client.Client

	// live reads from the API server itself.
	live     client.Reader
	find     directory
	prober   *prober
	recorder events.EventRecorder
	settings *settings
	stateURL func(*v1alpha1.Chain) string
	now      func() time.Time

	mu sync.Mutex
	// written is when a chain's status was written last.
	written map[types.NamespacedName]time.Time
	// unready are the chains whose indexer's pod isn't ready.
	unready map[types.NamespacedName]unreadyPod
	// failed is the trial that failed last, and since when that is known.
	failed struct {
		trial types.UID
		since time.Time
	}
}

// unreadyPod says since when an indexer's pod isn't ready: since is by the clock of Kubernetes' own controllers, seenAt by the operator's clock. The clocks
// may disagree, so a time of one is never subtracted from a time of the other.
type unreadyPod struct {
	since  time.Time
	seenAt time.Time
}

// unreadyFor is for how long the operator has known that the pod of a chain's Deployment isn't ready; ok is false where it is.
func (r *chainReconciler) unreadyFor(name types.NamespacedName, d *appsv1.Deployment, now time.Time) (age time.Duration, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	since, ok := time.Time{}, false
	if d != nil {
		since, ok = unreadySince(d)
	}
	if !ok {
		delete(r.unready, name)
		return 0, false
	}
	seen, known := r.unready[name]
	if !known || !seen.since.Equal(since) {
		seen = unreadyPod{since, now}
		r.unready[name] = seen
	}
	return now.Sub(seen.seenAt), true
}

func (r *chainReconciler) setUp(mgr ctrl.Manager) error {
	// A status that was written wakes the one that it is of: by the next look, the cache had not seen it perhaps, and took what
	// it had for right. Nobody else needs to know.
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	named := handler.EnqueueRequestsFromMapFunc(r.chainsOfObject)
	return ctrl.NewControllerManagedBy(mgr).Named("chain").
		For(&v1alpha1.Chain{}).
		Watches(&appsv1.Deployment{}, named).Watches(&corev1.ConfigMap{}, named).Watches(&corev1.ServiceAccount{}, named).
		Watches(&corev1.Service{}, named).Watches(&networkingv1.NetworkPolicy{}, named).Watches(&policyv1.PodDisruptionBudget{}, named).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.chainsOfPod)).
		Watches(&v1alpha1.Chain{}, handler.EnqueueRequestsFromMapFunc(r.namesakes), changed).
		Watches(&v1alpha1.LaunchVenue{}, enqueueLater(r.chainsOfVenue), changed).
		WatchesRawSource(source.Channel(r.prober.chains, &handler.EnqueueRequestForObject{})).
		WatchesRawSource(source.Channel(r.settings.changed, handler.EnqueueRequestsFromMapFunc(r.all))).
		WithOptions(options()).
		Complete(traced("Chain", r))
}

// chainsOfObject are the chains whose indexer's object it would be by its name, whosever it is: one that is in the way counts too.
func (r *chainReconciler) chainsOfObject(ctx context.Context, o client.Object) []reconcile.Request {
	id, ok := strings.CutPrefix(o.GetName(), workload.ObjectName(""))
	if !ok {
		return nil
	}
	return r.chainsWithID(ctx, o, id)
}

// chainsOfPod are the chains whose indexer's pod it is.
func (r *chainReconciler) chainsOfPod(ctx context.Context, o client.Object) []reconcile.Request {
	return r.chainsWithID(ctx, o, o.GetLabels()[workload.LabelChain])
}

func (r *chainReconciler) chainsWithID(ctx context.Context, o client.Object, id string) []reconcile.Request {
	chains, err := r.find.chains(ctx, o.GetNamespace(), byID, id)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the chain of an object not found", "object", o.GetName())
	}
	return requestsFor(chains)
}

// all are all chains.
func (r *chainReconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	var l v1alpha1.ChainList
	if err := r.List(ctx, &l); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the chains can't be listed")
	}
	return requestsFor(l.Items)
}

func requestsFor(chains []v1alpha1.Chain) (out []reconcile.Request) {
	for i := range chains {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&chains[i])})
	}
	return out
}

// namesakes lists the other chains with the same id: which of them is accepted depends on whether this one comes, changes or goes.
func (r *chainReconciler) namesakes(ctx context.Context, o client.Object) []reconcile.Request {
	c, ok := o.(*v1alpha1.Chain)
	if !ok {
		return nil
	}
	same, err := r.find.namesakes(ctx, c)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "chains with the same id not found", "chain", c.Name)
	}
	var out []reconcile.Request
	for i := range same {
		if same[i].Name != c.Name {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&same[i])})
		}
	}
	return out
}

// venuePause is the time that changes of venues are gathered for: each new document starts an indexer anew, and venues are often
// applied many at once.
const venuePause = time.Second

// enqueueLater enqueues, venuePause after a change, the objects that it concerns: once for all changes of that time.
func enqueueLater(concerned handler.MapFunc) handler.EventHandler {
	add := func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request], objects ...client.Object) {
		for _, o := range objects {
			for _, req := range concerned(ctx, o) {
				q.AddAfter(req, venuePause)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(ctx, q, e.Object)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(ctx, q, e.ObjectOld, e.ObjectNew)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			add(ctx, q, e.Object)
		},
	}
}

// chainsOfVenue are the chains in whose documents the venue is, or its namesakes are.
func (r *chainReconciler) chainsOfVenue(ctx context.Context, o client.Object) []reconcile.Request {
	v, ok := o.(*v1alpha1.LaunchVenue)
	if !ok {
		return nil
	}
	same, err := r.find.venues(ctx, v.Namespace, byID, v.Spec.ID)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "venues with the same id not found", "venue", v.Name)
	}
	var out []reconcile.Request
	for _, name := range chainsOf(v) {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: v.Namespace, Name: name}})
	}
	for i := range same {
		for _, name := range chainsOf(&same[i]) {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: v.Namespace, Name: name}})
		}
	}
	return out
}

// Reconcile makes one chain's indexer what the Chain says.
func (r *chainReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var c v1alpha1.Chain
	if err := r.Get(ctx, req.NamespacedName, &c); apierrors.IsNotFound(err) || err == nil && !c.DeletionTimestamp.IsZero() {
		r.gone(req.NamespacedName) // the garbage collector takes what it owned
		return reconcile.Result{}, nil
	} else if err != nil {
		return reconcile.Result{}, err
	}
	form, refusal, err := r.find.served(ctx, &c)
	if err != nil {
		return reconcile.Result{}, err
	}
	if form == nil || c.Spec.Suspend {
		r.prober.forget(req.NamespacedName)
	} else {
		r.prober.follow(req.NamespacedName, c.Spec.ID, r.stateURL(form), form.MaxLag())
	}
	seen := observation{refusal: refusal, idle: form == nil, now: r.now(), chain: declaredChain(&c, form, refusal)}
	seen.silence = r.prober.look(req.NamespacedName, seen.chain)
	switch {
	case form != nil:
		seen.deployment, seen.failed = r.run(ctx, form)
		if seen.why, err = r.podCause(ctx, form); err != nil {
			return reconcile.Result{}, err
		}
	case c.Spec.Suspend:
		seen.failed = seen.failed.add(r.stop(ctx, &c))
	}
	seen.unready, seen.isUnready = r.unreadyFor(req.NamespacedName, seen.deployment, seen.now)
	if seen.failed.saysNothing() {
		return seen.failed.result(0)
	}
	failed := seen.failed.add(r.write(ctx, &c, chainStatus(&c, &seen)))
	return failed.result(seen.patience())
}

// run applies the objects of a chain, in the form in which it is served, and gives its Deployment. Where that has to wait it is left as it is,
// and with it the document: a pod that is started anew takes no other one than its own.
func (r *chainReconciler) run(ctx context.Context, c *v1alpha1.Chain) (*appsv1.Deployment, stepErrors) {
	venues, err := r.find.acceptedOn(ctx, c.Namespace, c.Name)
	if err != nil {
		return nil, stepErrors{err}
	}
	doc, err := resolve.Chain(c, venues, workload.SecretDir)
	if err != nil {
		return nil, stepErrors{err}
	}
	objects, err := workload.Build(c, doc, r.settings.get())
	if err != nil {
		return nil, stepErrors{err}
	}
	key := types.NamespacedName{Namespace: c.Namespace, Name: workload.ObjectName(doc.ID)}
	onTrial := false
	if !c.Spec.Suspend {
		onTrial, err = r.mayChange(ctx, c, key)
	}
	if onTrial {
		objects.MarkTrial()
	}
	switch {
	case isA[*waitingError](err):
		objects.Document, objects.Deployment = nil, nil
	case err != nil:
		return nil, stepErrors{err}
	}
	d, failed := apply(ctx, apiServer{r.Client, r.live}, key, objects)
	return d, failed.add(err)
}

func (r *chainReconciler) podCause(ctx context.Context, c *v1alpha1.Chain) (cause, error) {
	var pods corev1.PodList
	err := r.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels{workload.LabelChain: c.Spec.ID})
	return podCause(pods.Items, r.now()), err
}

// stop ends the indexer of a chain that ran and whose spec makes no sense any more: no document is needed for that.
func (r *chainReconciler) stop(ctx context.Context, c *v1alpha1.Chain) error {
	var d appsv1.Deployment
	err := r.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: workload.ObjectName(c.Spec.ID)}, &d)
	if apierrors.IsNotFound(err) || err == nil && (!metav1.IsControlledBy(&d, c) || d.Spec.Replicas != nil && *d.Spec.Replicas == 0) {
		return nil
	} else if err != nil {
		return err
	}
	before := d.DeepCopy()
	d.Spec.Replicas = new(int32(0))
	err = r.Patch(ctx, &d, client.MergeFrom(before), client.FieldOwner(FieldOwner))
	if client.IgnoreNotFound(err) != nil {
		return requestError("stop Deployment "+d.Name, err)
	}
	return nil
}

// write patches the status if it differs. It waits after another write in which no condition changed.
func (r *chainReconciler) write(ctx context.Context, c *v1alpha1.Chain, status v1alpha1.ChainStatus) error {
	if equality.Semantic.DeepEqual(c.Status, status) {
		return nil
	}
	key := client.ObjectKeyFromObject(c)
	now := r.now()
	r.mu.Lock()
	wait := r.written[key].Add(lagPause).Sub(now)
	r.mu.Unlock()
	if wait > 0 && sameVerdicts(c.Status.Conditions, status.Conditions) && c.Status.ObservedGeneration == status.ObservedGeneration {
		return &waitingError{"the status was written a moment ago", wait}
	}
	before := c.DeepCopy()
	c.Status = status
	if err := patchStatus(ctx, r.Client, c, before); err != nil {
		return err
	}
	r.mu.Lock()
	r.written[key] = now
	r.mu.Unlock()
	announce(r.recorder, c, before.Status.Conditions, status.Conditions)
	return nil
}

func (r *chainReconciler) gone(name types.NamespacedName) {
	r.prober.forget(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.written, name)
	delete(r.unready, name)
}

// declaredChain makes the checks' view of a chain from its resource alone, without its indexer's state. form is the resource as it was accepted, or nil.
func declaredChain(c, form *v1alpha1.Chain, refusal *resolve.Refusal) *venue.Chain {
	maxLag := c.MaxLag()
	if form != nil {
		maxLag = form.MaxLag()
	}
	out := &venue.Chain{Name: c.Name, Family: chainconfig.Family(c.Spec.Family), Suspended: c.Spec.Suspend, MaxLag: maxLag}
	if form == nil {
		out.Refused = fmt.Sprintf("Chain %s isn't accepted: %s", c.Name, strings.TrimSpace(refusal.Message))
	}
	return out
}
