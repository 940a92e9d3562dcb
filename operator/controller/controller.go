// Package controller is the control plane: it keeps an indexer running for each Chain and says which LaunchVenue is open where.
// operator/workload decides which objects run an indexer, and internal/venue which venue is open. This package reads the resources, applies
// the objects, and writes the status.
package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

const (
	// action is the verb of the operator's Events.
	action = "Observe"
	// retryPause is the longest time between two tries of what failed, stalePause the one before what was decided by an older
	// state of a resource is decided again.
	retryPause = 30 * time.Second
	stalePause = time.Second
)

// LeaseName is the name of the Lease that the acting operator holds.
const LeaseName = "boardwalk-operator"

// Options are an operator's settings and dependencies.
type Options struct {
	// Namespace is the only one that is looked at.
	Namespace string
	// Workload is what the indexers are made of. Without an image they get that of the pod PodName's container "operator".
	Workload workload.Settings
	PodName  string
	// IndexersFile has the part of Workload that platform teams set (YAML), and is read again when it changes; empty for none.
	IndexersFile string
	// LeaderElection is needed where several operators may run.
	LeaderElection bool
	// StateURL is where the state of a chain's indexer is to be had; nil is the Service that is made for it.
	StateURL func(*v1alpha1.Chain) string
	Metrics  prometheus.Registerer
	Now      func() time.Time
	Log      *slog.Logger

	// settingsPause and probePause are other times between two looks at the file and two rounds of the prober, probeTimeout is another time that an
	// indexer may take to answer; 0 is the usual one.
	settingsPause, probePause, probeTimeout time.Duration
}

// Operator runs the controllers.
type Operator struct {
	mgr      ctrl.Manager
	settings *settings
	options  Options
}

// New asks the API server for no more than which resources it knows.
func New(cfg *rest.Config, o Options) (*Operator, error) {
	log := logr.FromSlogHandler(o.Log.Handler())
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("know the resources: %w", err)
	}
	// The API server itself shares out what it can take; client-go's own limit would make a first rollout take minutes.
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme, Logger: log,
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{o.Namespace: {}},
			ByObject: map[client.Object]cache.ByObject{
				&corev1.ConfigMap{}: {Transform: forgetForeign},
				&corev1.Pod{}:       {Label: indexersPods, Transform: forgetSpec},
				&batchv1.Job{}:      {Label: indexersPods},
			},
		},
		Controller:                    config.Controller{SkipNameValidation: new(true)}, // several operators may be in one process
		Metrics:                       metricsserver.Options{BindAddress: "0"},          // they are on the operations listener
		LeaderElection:                o.LeaderElection,
		LeaderElectionID:              LeaseName,
		LeaderElectionNamespace:       o.Namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("make the operator: %w", err)
	}
	if err := indexFields(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return nil, fmt.Errorf("index the resources: %w", err)
	}
	if o.StateURL == nil {
		o.StateURL = serviceURL
	}
	p, err := newProber(o.Metrics, o.Now, cmp.Or(o.probePause, probePause), cmp.Or(o.probeTimeout, probeTimeout))
	if err != nil {
		return nil, fmt.Errorf("register the metrics: %w", err)
	}
	s, err := newSettings(&o, cmp.Or(o.settingsPause, settingsPause))
	if err != nil {
		return nil, err
	}
	if err := o.Metrics.Register(newResourceMetrics(mgr.GetCache())); err != nil {
		return nil, fmt.Errorf("register the metrics: %w", err)
	}
	find := directory{mgr.GetClient()}
	recorder := mgr.GetEventRecorder("boardwalk-operator")
	chains := &chainReconciler{
		Client: mgr.GetClient(), live: mgr.GetAPIReader(), find: find, prober: p, recorder: recorder, settings: s,
		stateURL: o.StateURL, now: o.Now, written: map[types.NamespacedName]time.Time{}, unready: map[types.NamespacedName]unreadyPod{},
	}
	venues := &venueReconciler{Client: mgr.GetClient(), find: find, prober: p, recorder: recorder, now: o.Now}
	if err := errors.Join(mgr.Add(p), mgr.Add(s), chains.setUp(mgr), venues.setUp(mgr)); err != nil {
		return nil, fmt.Errorf("set up the controllers: %w", err)
	}
	return &Operator{mgr: mgr, settings: s, options: o}, nil
}

// options are the options of both controllers. The longest pause is short: without a bound an object that failed for some minutes would wait for many more.
func options() controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: 4,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, retryPause),
	}
}

// SetLog makes the libraries below write to a log. They have one for the process, so main calls it before anything else.
func SetLog(log *slog.Logger) {
	l := logr.FromSlogHandler(log.Handler())
	ctrl.SetLogger(l)
	klog.SetLogger(l)
}

// Run runs until ctx ends.
func (o *Operator) Run(ctx context.Context) error {
	live, s := o.mgr.GetAPIReader(), o.settings.get()
	if err := refuseSecond(ctx, live, o.options.Namespace, s.Instance); err != nil {
		return err
	}
	if s.Image == "" {
		image, err := ownImage(ctx, live, o.options.Namespace, o.options.PodName)
		if err != nil {
			return err
		}
		o.settings.use(image)
	}
	return o.mgr.Start(ctx)
}

// Ready is nil once the resources have been read.
func (o *Operator) Ready(ctx context.Context) error {
	if !o.mgr.GetCache().WaitForCacheSync(ctx) {
		return errors.New("the resources haven't been read yet")
	}
	return nil
}

// forgetForeign keeps of the ConfigMaps that aren't indexers' only that they are there.
func forgetForeign(o any) (any, error) {
	if c, ok := o.(*corev1.ConfigMap); ok && !ours(c) {
		c.Data, c.BinaryData, c.ManagedFields = nil, nil, nil
	}
	return o, nil
}

// indexersPods selects the pods of indexers, and the Jobs and pods of trials.
var indexersPods = labels.SelectorFromSet(labels.Set{workload.LabelManagedBy: workload.ManagedBy, workload.LabelComponent: workload.Indexer})

// forgetSpec keeps of a pod what its status says.
func forgetSpec(o any) (any, error) {
	if p, ok := o.(*corev1.Pod); ok {
		p.Spec, p.ManagedFields = corev1.PodSpec{}, nil
	}
	return o, nil
}

func serviceURL(c *v1alpha1.Chain) string {
	return fmt.Sprintf("http://%s.%s.svc:%d%s", workload.ObjectName(c.Spec.ID), c.Namespace, workload.OperationsPort, chainconfig.StatePath)
}
