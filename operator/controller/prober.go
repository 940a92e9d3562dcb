package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/venue"
)

const (
	// probePause is the time between two rounds, probeTimeout what an indexer may take to answer.
	probePause   = 3 * time.Second
	probeTimeout = 2 * time.Second
	probesAtOnce = 16
	// maxState and maxHeader bound an indexer's answer, in bytes, maxFailure what is told of a bad one, in characters.
	maxState   = 1 << 20
	maxHeader  = 64 << 10
	maxFailure = 200
)

// prober asks all indexers for their state every few seconds, and wakes the controllers when an answer changes something that they would write into a status:
// not with every block. Between two questions controllers read the last answer by look. So a lag that grows meanwhile can't change a status unnoticed.
type prober struct {
	client *http.Client
	now    func() time.Time
	pause  time.Duration
	// chains and venues carry the Chain whose indexer says something new.
	chains, venues chan event.GenericEvent
	lag, up        *prometheus.GaugeVec

	mu      sync.Mutex
	targets map[types.NamespacedName]*target
}

// target is an indexer.
type target struct {
	id, url         string
	maxLag          time.Duration
	since           time.Time
	state           *chainconfig.State
	seenAt, askedAt time.Time
	// failure is why it didn't answer when it was asked last.
	failure string
	// told are the views that the controllers were last woken for.
	toldChain, toldVenue any
}

func newProber(r prometheus.Registerer, now func() time.Time, pause, timeout time.Duration) (*prober, error) {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"chain"})
	}
	p := &prober{
		client: &http.Client{
			Timeout:       timeout,
			Transport:     &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxHeader},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now: now, pause: pause, targets: map[types.NamespacedName]*target{},
		chains: make(chan event.GenericEvent, 1024), venues: make(chan event.GenericEvent, 1024),
		lag: gauge("boardwalk_chain_lag_seconds", "How far a chain's indexer may be behind it."),
		up:  gauge("boardwalk_indexer_up", "Whether a chain's indexer answers the operator (1) or has been silent for too long (0)."),
	}
	return p, errors.Join(r.Register(p.lag), r.Register(p.up))
}

// follow asks the indexer at a URL from now on.
func (p *prober) follow(name types.NamespacedName, id, address string, maxLag time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.targets[name]
	if t == nil || t.url != address || t.id != id {
		p.drop(name)
		t = &target{id: id, url: address, maxLag: maxLag, since: p.now()}
		p.targets[name] = t
	}
	if t.maxLag != maxLag {
		// Somebody may have looked by the new measure already.
		t.maxLag, t.toldChain, t.toldVenue = maxLag, nil, nil
	}
}

func (p *prober) forget(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(name)
}

func (p *prober) drop(name types.NamespacedName) {
	if t := p.targets[name]; t != nil {
		p.lag.DeleteLabelValues(t.id)
		p.up.DeleteLabelValues(t.id)
		delete(p.targets, name)
	}
}

// look fills in what the chain's indexer said last, and why it doesn't answer if it doesn't.
func (p *prober) look(name types.NamespacedName, c *venue.Chain) (failure string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.targets[name]
	if t == nil {
		return ""
	}
	t.fill(c)
	return t.failure
}

// atHead reports whether a chain's indexer said last that it runs with these settings, and is as close to the head as it is to be.
func (p *prober) atHead(name types.NamespacedName, settings string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.targets[name]
	if t == nil || t.state == nil || t.state.Settings != settings {
		return false
	}
	c := venue.Chain{MaxLag: t.maxLag}
	t.fill(&c)
	return !c.Down() && !c.Behind()
}

func (t *target) fill(c *venue.Chain) {
	c.State, c.SeenAt, c.AskedAt, c.Asked = t.state, t.seenAt, t.askedAt, t.askedAt.Sub(t.since) > venue.Patience
}

// Start runs until ctx ends.
func (p *prober) Start(ctx context.Context) error {
	tick := time.NewTicker(p.pause)
	defer tick.Stop()
	defer p.client.CloseIdleConnections()
	for {
		p.round(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// NeedLeaderElection says that whoever writes nothing needs to ask nothing.
func (p *prober) NeedLeaderElection() bool { return true }

func (p *prober) round(ctx context.Context) {
	p.mu.Lock()
	names := make([]types.NamespacedName, 0, len(p.targets))
	urls := make([]string, 0, len(p.targets))
	for name, t := range p.targets {
		names, urls = append(names, name), append(urls, t.url)
	}
	p.mu.Unlock()
	var wg sync.WaitGroup
	slots := make(chan struct{}, probesAtOnce)
	for i := range names {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			state, err := p.ask(ctx, urls[i])
			if ctx.Err() == nil {
				p.record(names[i], urls[i], state, err)
			}
		})
	}
	wg.Wait()
}

func (p *prober) ask(ctx context.Context, address string) (*chainconfig.State, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s, where its state should be", res.Status)
	}
	body := io.LimitedReader{R: res.Body, N: maxState}
	var s chainconfig.State
	switch err := json.NewDecoder(&body).Decode(&s); {
	case err != nil && body.N == 0:
		return nil, fmt.Errorf("its state is longer than %d bytes", maxState)
	case err != nil:
		return nil, fmt.Errorf("its state can't be read: %w", err)
	}
	return &s, nil
}

// brief is why there is no answer within a time, without the ports that differ each time.
func brief(err error, within time.Duration) string {
	var dns *net.DNSError
	var op *net.OpError
	var timeout interface{ Timeout() bool }
	var request *url.Error
	text := err.Error()
	switch {
	case errors.As(err, &dns):
		text = dns.Name + ": " + dns.Err
	case errors.As(err, &timeout) && timeout.Timeout():
		text = "no answer within " + within.String()
	case errors.As(err, &op):
		text = op.Err.Error()
	case errors.As(err, &request):
		text = request.Err.Error()
	}
	return venue.Clip(text, maxFailure)
}

// chainView is what the controller of chains writes. It is woken when that changes.
type chainView struct {
	synced condition
	cause  cause
	lag    v1alpha1.Lag
	// document is the hash of the one that the indexer runs on, declared what it found of that.
	document   string
	declared   condition
	reindexing condition
}

// venueView is all that venues depend on.
type venueView struct {
	down, behind bool
	halted       string
	venues       string
}

func (p *prober) record(name types.NamespacedName, address string, state *chainconfig.State, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.targets[name]
	if t == nil || t.url != address {
		return // it was forgotten in the meantime
	}
	now := p.now()
	t.askedAt = now
	switch {
	case err != nil:
		t.failure = brief(err, p.client.Timeout)
	case state.Chain != t.id:
		t.failure = fmt.Sprintf("another one answers in its place: it says that its chain is %.40q", state.Chain)
	default:
		t.failure, t.state, t.seenAt = "", state, now
	}
	c := venue.Chain{MaxLag: t.maxLag}
	t.fill(&c)
	if c.State == nil && !c.Asked {
		return // too early to say anything
	}
	p.measure(t, &c)
	chain, venues := t.views(&c)
	object := &v1alpha1.Chain{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	if chain != t.toldChain && wake(p.chains, object) {
		t.toldChain = chain
	}
	if venues != t.toldVenue && wake(p.venues, object) {
		t.toldVenue = venues
	}
}

func (t *target) views(c *venue.Chain) (chain, venues any) {
	v := venueView{down: c.Down(), behind: c.Behind()}
	w := chainView{synced: syncedBy(c, t.failure), lag: lagRange(c)}
	if c.State != nil {
		if c.State.Cause != "" {
			w.cause = cause{reason: reasonOf[c.State.Cause], message: c.State.Message}
		}
		w.document, w.declared, w.reindexing = c.State.Document, declaredBy(&c.State.Declaration), reindexingBy(c.State)
		v.venues = fmt.Sprint(c.State.Venues)
		if c.State.Phase == chainconfig.PhaseHalted {
			v.halted = "halted: " + c.State.Message
		}
	}
	return w, v
}

// wake reports whether the controller could be told; else it is told in the next round.
func wake(ch chan<- event.GenericEvent, c *v1alpha1.Chain) bool {
	select {
	case ch <- event.GenericEvent{Object: c}:
		return true
	default:
		return false
	}
}

func (p *prober) measure(t *target, c *venue.Chain) {
	if lag, known := c.Lag(); known {
		p.lag.WithLabelValues(t.id).Set(lag.Seconds())
	} else {
		p.lag.DeleteLabelValues(t.id)
	}
	up := 1.0
	if c.Down() {
		up = 0
	}
	p.up.WithLabelValues(t.id).Set(up)
}

// lagRange gives the range of the lag that a status has; it is empty if the lag isn't known.
func lagRange(c *venue.Chain) v1alpha1.Lag {
	switch lag, known := c.Lag(); {
	case !known:
		return ""
	case lag < 15*time.Second:
		return v1alpha1.LagUnder15s
	case lag < 2*time.Minute:
		return v1alpha1.LagUnder2m
	default:
		return v1alpha1.LagMore
	}
}
