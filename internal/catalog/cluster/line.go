package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"reflect"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
)

// listTime bounds one request for a list, so that an API server that takes it and never answers is noticed.
const listTime = 30 * time.Second

// ended is what client-go gives for a watch whose connection was cut before there was an answer.
var ended = reflect.TypeOf(watch.NewEmptyWatch())

// line is the way to one kind of resources at the API server, and knows whether it is open.
type line struct {
	plural, namespace string
	client            rest.Interface
	now               func() time.Time
	log               *slog.Logger
	errors            *prometheus.CounterVec

	mu sync.Mutex
	// lostAt is since when nothing is heard; zero while something is.
	lostAt time.Time
	// last is what the last request failed with; nil when it didn't.
	last error
}

func (l *line) requestList(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	listing, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	list := &unstructured.UnstructuredList{}
	err := l.request(&o).Do(listing).Into(list)
	l.heard(ctx, err)
	return list, err
}

func (l *line) requestWatch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	w, err := l.request(&o).Watch(ctx)
	if o.SendInitialEvents != nil && apierrors.IsInvalid(err) {
		return nil, err // an older API server knows no such watch, and is asked for a list next
	}
	if err == nil && reflect.TypeOf(w) == ended {
		w, err = nil, io.ErrUnexpectedEOF
	}
	l.heard(ctx, err)
	return w, err
}

// request asks once: how often to try again, and when, is decided in one place.
func (l *line) request(o *metav1.ListOptions) *rest.Request {
	return l.client.Get().Namespace(l.namespace).Resource(l.plural).
		SpecificallyVersionedParams(o, metav1.ParameterCodec, metav1.Unversioned).MaxRetries(0)
}

// heard notes how a request went. Of failures, it logs the first and those with another cause.
func (l *line) heard(ctx context.Context, err error) {
	if ctx.Err() != nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return // the end, or a list from long ago, which is read anew
	}
	l.mu.Lock()
	before := l.last
	l.last = err
	if err == nil {
		l.lostAt = time.Time{}
	} else if l.lostAt.IsZero() {
		l.lostAt = l.now()
	}
	l.mu.Unlock()
	was, is := causeOf(before), causeOf(err)
	if err != nil {
		l.errors.WithLabelValues(l.plural, string(is)).Inc()
	}
	switch {
	case is == was:
	case err == nil:
		l.log.InfoContext(ctx, "Kubernetes can be read", "resources", l.plural)
	default:
		l.log.WarnContext(ctx, "Kubernetes can't be read, and is tried again", "err", l.explain(err).Error())
	}
}

// fault is what the last request failed with, and what to do about it; nil when it didn't.
func (l *line) fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		return nil
	}
	return l.explain(l.last)
}

// lostFor is how long nothing was heard; 0 while something is.
func (l *line) lostFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lostAt.IsZero() {
		return 0
	}
	return l.now().Sub(l.lostAt)
}

// cause is why a request failed.
type cause string

const (
	none         cause = ""
	forbidden    cause = "forbidden"
	unauthorized cause = "unauthorized"
	undefined    cause = "undefined"
	refused      cause = "refused" // by the API server, for a reason of its own
	unreachable  cause = "unreachable"
)

func causeOf(err error) cause {
	_, answered := errors.AsType[*apierrors.StatusError](err)
	switch {
	case err == nil:
		return none
	case apierrors.IsForbidden(err):
		return forbidden
	case apierrors.IsUnauthorized(err):
		return unauthorized
	case apierrors.IsNotFound(err):
		return undefined
	case answered:
		return refused
	default:
		return unreachable
	}
}

// explain says what to do about an error. Of one that has an address in it, the rest is told.
func (l *line) explain(err error) error {
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	switch causeOf(err) {
	case forbidden:
		return fmt.Errorf("%w: bind a Role in namespace %s that allows list and watch on chains and launchvenues of %s",
			err, l.namespace, v1alpha1.GroupVersion.Group)
	case unauthorized:
		return fmt.Errorf("list %s: %w: Kubernetes doesn't know the token or certificate; it may have expired, or be another cluster's",
			l.plural, err)
	case undefined:
		return fmt.Errorf("list %s: %w: install the custom resource definitions of %s, config/crd in the source",
			l.plural, err, v1alpha1.GroupVersion)
	case unreachable:
		return fmt.Errorf("list %s: the API server can't be reached: %w: is it up, its address right, and the way to it open?", l.plural, err)
	case none, refused:
	}
	return fmt.Errorf("list %s: %w", l.plural, err)
}
