package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/operator/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/operator/venue"
)

const (
	// probePause is the time between two rounds, probeTimeout what an indexer may take to answer.
	probePause   = 3 * time.Second
	probeTimeout = 2 * time.Second
	probesAtOnce = 16
	// maxState bounds an indexer's answer, in bytes.
	maxState = 1 << 20
)

// prober asks the indexers for their state, all at one pace, and wakes the controllers when something changed that they would
// write: not with every block.
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
	id, url string
	maxLag  time.Duration
	since   time.Time
	state   *chainconfig.State
	seenAt  time.Time
	failure string
	// told are the views that the controllers were last woken for.
	toldChain, toldVenue any
}

func newProber(r prometheus.Registerer, now func() time.Time, pause time.Duration) *prober {
	gauge := func(name, help string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"chain"})
		r.MustRegister(g)
		return g
	}
	return &prober{
		client: &http.Client{
			Timeout:       probeTimeout,
			Transport:     &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now: now, pause: pause, targets: map[types.NamespacedName]*target{},
		chains: make(chan event.GenericEvent, 1024), venues: make(chan event.GenericEvent, 1024),
		lag: gauge("boardwalk_chain_lag_seconds", "How far a chain's indexer may be behind it."),
		up:  gauge("boardwalk_indexer_up", "Whether a chain's indexer answers the operator (1) or has been silent for too long (0)."),
	}
}

// follow asks the indexer at a URL from now on.
func (p *prober) follow(name types.NamespacedName, id, url string, maxLag time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.targets[name]
	if t == nil || t.url != url {
		t = &target{url: url, since: p.now()}
		p.targets[name] = t
	}
	t.id, t.maxLag = id, maxLag
}

func (p *prober) forget(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
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
	t.fill(c, p.now())
	return t.failure
}

func (t *target) fill(c *venue.Chain, now time.Time) {
	c.State, c.SeenAt, c.Asked = t.state, t.seenAt, now.Sub(t.since) > venue.Patience
}

// Start runs until ctx ends.
func (p *prober) Start(ctx context.Context) error {
	tick := time.NewTicker(p.pause)
	defer tick.Stop()
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

func (p *prober) ask(ctx context.Context, url string) (*chainconfig.State, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the indexer answers %s", res.Status)
	}
	var s chainconfig.State
	if err := json.NewDecoder(io.LimitReader(res.Body, maxState)).Decode(&s); err != nil {
		return nil, fmt.Errorf("the indexer's state can't be read: %w", err)
	}
	return &s, nil
}

// brief is why nobody answered, without the ports that differ each time.
func brief(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &dns):
		return dns.Name + ": " + dns.Err
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer within " + probeTimeout.String()
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}

// chainView is what the controller of chains writes something about. It is woken when that changes.
type chainView struct {
	down    bool
	phase   chainconfig.Phase
	message string
	lag     v1alpha1.Lag
	behind  bool
}

func (p *prober) record(name types.NamespacedName, url string, state *chainconfig.State, err error) {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.targets[name]
	if t == nil || t.url != url {
		return // it was forgotten in the meantime
	}
	switch {
	case err != nil:
		t.failure = brief(err)
	case state.Chain != t.id:
		t.failure = fmt.Sprintf("another program answers at %s: it says that its chain is %.40q", url, state.Chain)
	default:
		t.failure, t.state, t.seenAt = "", state, now
	}
	c := venue.Chain{MaxLag: t.maxLag}
	t.fill(&c, now)
	p.measure(t, &c, now)
	if c.State == nil && !c.Asked {
		return // too early to say anything
	}
	chain, venues := views(&c, now)
	object := &v1alpha1.Chain{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	if chain != t.toldChain && wake(p.chains, object) {
		t.toldChain = chain
	}
	if venues != t.toldVenue && wake(p.venues, object) {
		t.toldVenue = venues
	}
}

func views(c *venue.Chain, now time.Time) (chain, venues any) {
	v := chainView{down: c.Down(now), behind: c.Behind(now), lag: coarse(c, now)}
	told := ""
	if c.State != nil {
		v.phase, v.message = c.State.Phase, c.State.Message
		told = fmt.Sprint(c.State.Venues)
	}
	halted := ""
	if v.phase == chainconfig.PhaseHalted {
		halted = "halted: " + v.message
	}
	return v, fmt.Sprint(v.down, v.behind, halted, told)
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

func (p *prober) measure(t *target, c *venue.Chain, now time.Time) {
	if lag, known := c.Lag(now); known {
		p.lag.WithLabelValues(t.id).Set(lag.Seconds())
	}
	up := 1.0
	if c.Down(now) {
		up = 0
	}
	p.up.WithLabelValues(t.id).Set(up)
}

// coarse is the lag that is written down; empty when it isn't known.
func coarse(c *venue.Chain, now time.Time) v1alpha1.Lag {
	switch lag, known := c.Lag(now); {
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
