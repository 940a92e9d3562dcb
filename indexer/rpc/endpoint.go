package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

const (
	// FirstPause is for how long an endpoint that failed is left aside at first.
	FirstPause = 500 * time.Millisecond
	// LongestPause is for how long it is left aside at most.
	LongestPause = 30 * time.Second
	// CallsAtOnce is the most calls in one batch.
	CallsAtOnce = 100
	// fastest is the latency in seconds below which endpoints count as equally fast; smoothing is the weight of the
	// newest answer in their average.
	fastest   = 0.05
	smoothing = 0.2
	// forgetting is what is left of a latency after each choice among endpoints, and forgettingGiven of the calls that an endpoint was given:
	// one that comes back from an outage isn't given all that it missed.
	forgetting, forgettingGiven = 0.995, 0.9995
	// stretch is how many calls, for each unit of its weight, an endpoint is given in a row: whoever told of a block has it, while another may
	// be late.
	stretch = 20
)

// Endpoint is one node as it has behaved so far: how often it may be asked and how many calls at once, how fast it is, and whether others
// contradicted it.
type Endpoint struct {
	*client
	Name        string
	weight      int
	units       Units // declared
	usualUnits  Units
	pace        *pace
	Now         func() time.Time
	observe     func(endpoint string, spent budget.Spent, err error)
	rateRefused func(error) bool

	mu       sync.Mutex
	checked  bool // it serves the right chain
	wrong    bool // it serves another one, and is left alone
	pause    time.Duration
	until    time.Time // left aside until then
	inFlight int
	spending
	batchLen int // the most calls that it takes at once; 0 while it took all
	// latency is how long its answers took lately, in seconds: a moving average.
	latency float64
	// given is how many calls it was given lately, the older ones counting less.
	given float64
	record
}

// EndpointOptions are what an endpoint is made of.
type EndpointOptions struct {
	Declared chainconfig.Endpoint
	// Reads are the answers that are being read, of all of the chain's endpoints.
	Reads *InFlight
	Now   func() time.Time
	// Observe is told of every request; it may be nil.
	Observe func(endpoint string, spent budget.Spent, err error)
	// RateRefused reports whether an error says that the node is asked too often. It is required.
	RateRefused func(error) bool
	// UsualUnits are the compute units that calls count where the endpoint's own aren't declared.
	UsualUnits Units
}

// EndpointName is what the i-th endpoint of a chain, from 0, is called in logs, errors and metrics: its URL may be secret.
func EndpointName(i int) string { return "endpoint " + strconv.Itoa(i+1) }

// NewEndpoint makes a chain's i-th endpoint, from 0. It opens no connection.
func NewEndpoint(i int, o EndpointOptions) (*Endpoint, error) {
	declared := &o.Declared
	out := &Endpoint{
		Name: EndpointName(i), weight: max(declared.Weight, 1), units: declared.ComputeUnits, usualUnits: o.UsualUnits,
		pace: newPace(declared.RequestsPerSecond), Now: o.Now, observe: o.Observe, rateRefused: o.RateRefused, spending: newSpending(declared),
	}
	var where func() (string, error)
	switch {
	case declared.URL != "":
		u, err := url.Parse(declared.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return nil, fmt.Errorf("%s: its URL must be http:// or https:// with a host", out.Name)
		}
		where = func() (string, error) { return declared.URL, nil }
	case declared.URLFile != "":
		where = func() (string, error) {
			raw, err := os.ReadFile(declared.URLFile)
			if err != nil {
				return "", fmt.Errorf("read the endpoint's URL from its file: %w", err)
			}
			return strings.TrimSpace(string(raw)), nil
		}
	default:
		return nil, fmt.Errorf("%s: it needs a URL or a file with one", out.Name)
	}
	out.client = newClient(where, o.Reads)
	return out, nil
}

// Base is the endpoint itself: what embeds one is a Member of a Pool.
func (e *Endpoint) Base() *Endpoint { return e }

// Do sends calls as far as the day's budget goes, in parts where the answer is too long.
func (e *Endpoint) Do(ctx context.Context, reqs ...*Request) error {
	answered := false
	for n := len(reqs); len(reqs) > 0; {
		n = min(n, len(reqs), e.batchLength())
		err := e.doPart(ctx, e.Reads.Most, answered, reqs[:n]...)
		if errors.Is(err, ErrTooLong) {
			if n > 1 {
				n /= 2
				continue
			}
			if reqs[0].Whole {
				err = e.DoWithin(ctx, e.Reads.Whole, reqs[0])
			}
		}
		if err != nil {
			return err
		}
		answered, reqs = true, reqs[n:]
	}
	return nil
}

// DoWithin is Do for answers of at most so many bytes. A batch of more calls than the endpoint takes is sent in parts. Where it refuses some for
// its rate and has answered others, those alone are sent again: a question of a hundred calls, asked as a whole until all are answered at once,
// takes a small plan many times as many.
func (e *Endpoint) DoWithin(ctx context.Context, most int64, reqs ...*Request) error {
	return e.doPart(ctx, most, false, reqs...)
}

// doPart is DoWithin for a part of a question. Answered says that another part was answered.
func (e *Endpoint) doPart(ctx context.Context, most int64, answered bool, reqs ...*Request) error {
	refusals, waits := 0, 0
	for len(reqs) > 0 {
		n := min(len(reqs), e.batchLength())
		err := e.Send(ctx, most, reqs[:n]...)
		if n > 1 && e.tooManyCalls(err) {
			e.Shorten(fewerCalls(err, n))
			continue
		}
		left := e.refusedOf(reqs[:n], err)
		if len(left) < n && (err == nil || len(left) > 0) {
			answered, refusals = true, 0
		}
		if len(left) > 0 && answered && refusals+1 < RefusedRounds && waits < MostWaitsRefused && e.WaitRefused(ctx) {
			reqs, refusals, waits = append(left, reqs[n:]...), refusals+1, waits+1
			continue
		}
		if err != nil {
			return err
		}
		reqs = reqs[n:]
	}
	return nil
}

// refusedOf are the calls of a batch that the endpoint refused for its rate. Err is what became of the batch.
func (e *Endpoint) refusedOf(batch []*Request, err error) (left []*Request) {
	if err != nil && !e.rateRefused(err) {
		return nil
	}
	for _, r := range batch {
		if !r.answered && (err != nil || e.rateRefused(r.Err)) {
			left = append(left, r)
		}
	}
	return left
}

// tooManyCalls reports whether a node refused a batch for its number of calls. What a contract answers can't bring that about.
func (e *Endpoint) tooManyCalls(err error) bool {
	refused, ok := errors.AsType[BatchError](err)
	return ok && strings.Contains(strings.ToLower(refused.Message), "batch") && !e.rateRefused(err)
}

// fewerCalls is the number of calls to send instead of a batch of n: the number that the refusal names, or half of n.
func fewerCalls(err error, n int) int {
	refused, _ := errors.AsType[BatchError](err)
	for _, allowed := range refused.Numbers() {
		if allowed > 1 && allowed < n {
			return allowed
		}
	}
	return n / 2
}

// batchLength is how many calls the endpoint takes at once, as far as it is known.
func (e *Endpoint) batchLength() int {
	paced := cmp.Or(e.pace.atOnce(), CallsAtOnce)
	e.mu.Lock()
	defer e.mu.Unlock()
	return min(cmp.Or(e.batchLen, CallsAtOnce), paced)
}

// Shorten sends at most so many calls in a batch from now on.
func (e *Endpoint) Shorten(batch int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.batchLen = batch
}

// Send sends one batch.
func (e *Endpoint) Send(ctx context.Context, most int64, reqs ...*Request) error {
	methods := methodsOf(reqs)
	took, err := e.take(ctx, methods...)
	if err != nil {
		return err
	}
	ctx, sending := e.startSpan(ctx, methods...)
	err = e.do(ctx, most, reqs...)
	span.End(sending, err)
	e.sent(took, err)
	return err
}

// PostCall sends one call, and gives the whole answer as the node sent it, of at most so many bytes. What it says may have parts of the URL,
// until Redact takes them out of it.
func (e *Endpoint) PostCall(ctx context.Context, method string, params []any, most int64) (*Reply, error) {
	body, err := encodeCall(method, params)
	if err != nil {
		return nil, err
	}
	took, err := e.take(ctx, method)
	if err != nil {
		return nil, err
	}
	ctx, sending := e.startSpan(ctx, method)
	got, err := e.post(ctx, body, most)
	span.End(sending, err)
	e.sent(took, err)
	return got, err
}

// sent reports a request that take allowed.
func (e *Endpoint) sent(spent budget.Spent, err error) {
	if e.observe != nil {
		e.observe(e.Name, spent, err)
	}
}

// take reserves calls of the day's budget, and waits until the endpoint's pace allows them.
func (e *Endpoint) take(ctx context.Context, methods ...string) (budget.Spent, error) {
	want := budget.Spent{Calls: int64(len(methods)), Units: e.usualUnits.of(e.units, methods...)}
	e.mu.Lock()
	err := e.reserve(e.Now(), want, PurposeOf(ctx))
	if err == nil {
		e.given += float64(want.Calls)
	}
	e.mu.Unlock()
	if err != nil {
		return want, err
	}
	beat(ctx)
	return want, e.pace.wait(ctx, len(methods), e.Now())
}

// Failed leaves the endpoint aside for a while, longer each time; first says that it was well before.
func (e *Endpoint) Failed(now time.Time) (pause time.Duration, first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	first = e.pause == 0
	if e.failedSince.IsZero() {
		e.failedSince = now
	}
	e.pause = min(max(2*e.pause, FirstPause), LongestPause)
	e.until = now.Add(e.pause)
	return e.pause, first
}

// took notes how long an answer, or the lack of one, took: an endpoint that limps is asked less.
func (e *Endpoint) took(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.latency += smoothing * (d.Seconds() - e.latency)
}

func (e *Endpoint) worked() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pause, e.until, e.failedSince = 0, time.Time{}, time.Time{}
}

// load is how much an endpoint has to do for its weight: what it was given lately, in stretches, and what it is asked now. One that is twice as
// slow as another gets a quarter of what the other gets; all that answer within the time of fastest count as equally fast.
func (e *Endpoint) load() float64 {
	weight, slowness := float64(e.weight), max(e.latency/fastest, 1)
	return (1 + math.Floor(e.given/weight/stretch) + float64(e.inFlight)/weight) * slowness * slowness
}

func (e *Endpoint) isWrong() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wrong
}

// begin begins a call; checked says that the endpoint is known to serve the right chain. Each begin has its end.
func (e *Endpoint) begin() (checked bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inFlight++
	return e.checked
}

func (e *Endpoint) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inFlight--
}

// noteCheck notes what became of a check. Only an answer changes what is known.
func (e *Endpoint) noteCheck(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		e.checked = true
	case errors.Is(err, ErrWrongChain):
		e.wrong = true
	}
}
