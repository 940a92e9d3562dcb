// Package cluster keeps the catalogue as the Chain and LaunchVenue resources of one namespace of a Kubernetes cluster say.
// It needs list and watch on these two kinds there, and nothing else.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
)

const (
	// together is how long changes are gathered: who applies a directory makes one catalogue of it, or a few.
	together = 50 * time.Millisecond
	// remindEvery is the pace at which Start says what it waits for.
	remindEvery = 5 * time.Second
)

// Options say which resources a source reads, and give its clock, log and metrics.
type Options struct {
	// Namespace is the one whose resources are read.
	Namespace string
	Now       func() time.Time
	Log       *slog.Logger
	Metrics   prometheus.Registerer
}

// Source reads the resources and follows their changes. While the API server is away the last catalogue stays.
type Source struct {
	Options

	chains  *resources[v1alpha1.Chain, *v1alpha1.Chain]
	venues  *resources[v1alpha1.LaunchVenue, *v1alpha1.LaunchVenue]
	live    *catalog.Live
	metrics *metrics

	changed chan struct{}   // has something while a catalogue is to be made
	synced  chan struct{}   // closed when the first one is made
	faults  map[string]bool // of the newest catalogue
}

// New makes a source that connects as config says; Start starts it.
func New(config *rest.Config, o Options) (*Source, error) {
	plain := dynamic.ConfigFor(config)
	plain.APIPath, plain.GroupVersion = "/apis", &v1alpha1.GroupVersion
	client, err := rest.RESTClientFor(plain)
	if err != nil {
		return nil, fmt.Errorf("connect to Kubernetes: %w", err)
	}
	s := &Source{
		Options: o, live: catalog.NewLive(&catalog.Catalog{}), changed: make(chan struct{}, 1), synced: make(chan struct{}),
	}
	s.metrics = newMetrics(o.Metrics, s.age)
	line := func(plural string) *line {
		return &line{
			plural: plural, namespace: o.Namespace, client: client, now: o.Now, log: o.Log, errors: s.metrics.errors, lostAt: o.Now(),
		}
	}
	s.chains = newResources[v1alpha1.Chain](v1alpha1.ChainKind, line("chains"), s.note)
	s.venues = newResources[v1alpha1.LaunchVenue](v1alpha1.LaunchVenueKind, line("launchvenues"), s.note)
	return s, nil
}

// Catalog is empty before Start returns.
func (s *Source) Catalog() *catalog.Live { return s.live }

// Start returns once the catalogue is read, which then follows the resources until ctx ends. Until then it waits, whatever is
// wrong, because whoever installs the rest may come later; the log says what is wrong and what to do. When ctx
// ends first, that is the error.
func (s *Source) Start(ctx context.Context) error {
	// What client-go has to say is counted and told here, in this program's words.
	quiet := logr.NewContext(ctx, logr.Discard())
	go s.chains.follow(quiet)
	go s.venues.follow(quiet)
	go s.renewals(ctx)
	remind := time.NewTicker(remindEvery)
	defer remind.Stop()
	for {
		select {
		case <-s.synced:
			return nil
		case <-ctx.Done():
			return s.Ready()
		case <-remind.C:
			if err := s.Ready(); err != nil {
				s.Log.WarnContext(ctx, "waiting for the catalogue", "err", err.Error())
			}
		}
	}
}

// Ready says why the catalogue isn't read yet; nil once it is, though the API server be away.
func (s *Source) Ready() error {
	select {
	case <-s.synced:
		return nil
	default:
	}
	why := errors.Join(s.chains.fault(), s.venues.fault())
	if why == nil {
		why = errors.New("there was no answer so far")
	}
	return fmt.Errorf("the catalogue of namespace %s isn't read yet: %w", s.Namespace, why)
}

// age is how long the catalogue may have been out of date.
func (s *Source) age() time.Duration { return max(s.chains.lostFor(), s.venues.lostFor()) }

// note has a catalogue made soon.
func (s *Source) note() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// renewals makes a catalogue after each change, or several at once, until ctx ends.
func (s *Source) renewals(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		gather := time.NewTimer(together)
		select {
		case <-ctx.Done():
			gather.Stop()
			return
		case <-gather.C:
		}
		s.renew(ctx)
	}
}

// renew makes a catalogue of everything that makes sense. What doesn't is left out and told, once while it stays so.
func (s *Source) renew(ctx context.Context) {
	chains, badChains, read := s.chains.list()
	venues, badVenues, too := s.venues.list()
	if !read || !too {
		return
	}
	next, err := resolve.Catalog(chains, venues)
	faults := make(map[string]bool)
	for _, fault := range append(append(badChains, badVenues...), each(err)...) {
		text := fault.Error()
		faults[text] = true
		if !s.faults[text] {
			s.Log.WarnContext(ctx, "a resource isn't served, or not all of it", "err", text)
		}
	}
	s.faults = faults
	s.metrics.faults.Set(float64(len(faults)))
	changed := s.live.Replace(next)
	if s.Ready() != nil {
		close(s.synced)
		changed = true
		if len(next.Chains) == 0 {
			s.Log.WarnContext(ctx, "there is no chain: apply Chain resources, or name the namespace that has them", "namespace", s.Namespace)
		}
	}
	if changed {
		s.metrics.changed.Set(float64(s.Now().UnixMilli()) / 1000)
		s.Log.InfoContext(ctx, "the catalogue changed", "chains", len(next.Chains), "venues", len(next.Venues))
	}
}

// each takes joined errors apart.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
