package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
	// fastest is the latency in seconds below which endpoints count as equally fast; smoothing is the weight of the
	// newest answer in their average.
	fastest   = 0.05
	smoothing = 0.2
	// forgetting is what is left of a latency after each choice among endpoints, and forgettingGiven of the calls that an endpoint was given:
	// one that comes back from an outage isn't given all that it missed.
	forgetting, forgettingGiven = 0.995, 0.9995
	// stretch is how many calls, for each unit of its weight, an endpoint is given in a row: whoever told of a block has it, while another may
	// be late.
	stretch      = 20
	firstRange   = 64
	longestRange = 10_000
	// wantedLogs is how many logs an answer to a range should have: enough to spread a request's cost, few enough for
	// every provider's limit.
	wantedLogs = 8_000
)

// endpoint is one node as it has behaved so far.
type endpoint struct {
	*rpc.Client
	name   string
	weight int
	units  units
	pace   *pace
	now    func() time.Time
	// observe is told of every request; it may be nil.
	observe func(endpoint string, spent budget.Spent, err error)

	mu       sync.Mutex
	checked  bool // it answered the right chain id
	wrong    bool // it answered another chain's, and is left alone
	pause    time.Duration
	until    time.Time // left aside until then
	inFlight int
	spending
	rangeLen uint64
	batchLen int // the most calls that it takes at once; 0 while it took all
	// topicsLen is the most topics that it takes in one filter; 0 while it took all, anyTopics where its refusals are about something else.
	topicsLen int
	// latency is how long its answers took lately, in seconds: a moving average.
	latency float64
	// given is how many calls it was given lately, the older ones counting less.
	given float64
	// outvoted counts what others contradicted of what it said, distrust how many agreements it is away from being trusted, outvotedAt is
	// when they contradicted it last.
	outvoted, distrust int
	outvotedAt         time.Time
	// probation counts the first ranges of the past that it gave, which are held against another endpoint's.
	probation int
	// wrapped is the chain's wrapped coin, by whose balance it shows whether the endpoint looks at the block that a question names.
	wrapped market.Address
	silence silence
	// slowUntil is until when it isn't asked to vouch for another's answers to calls.
	slowUntil time.Time
	// told is the newest head that it told; headUntil is until when it is asked for the head last, and headPause for how long that was.
	told      toldHead
	headUntil time.Time
	headPause time.Duration
}

// ErrWrongChain means that an endpoint serves another chain than the declared one.
var ErrWrongChain = errors.New("the endpoint serves another chain")

// ErrUnanswered means that no endpoint answers a question. It may be asked again: what the index holds stays good.
var ErrUnanswered = errors.New("no endpoint answers")

// EndpointName is what the i-th endpoint of a chain, from 0, is called in logs, errors and metrics: its URL may be secret.
func EndpointName(i int) string { return "endpoint " + strconv.Itoa(i+1) }

func newEndpoint(i int, e chainconfig.Endpoint, reads *rpc.InFlight) (*endpoint, error) {
	out := &endpoint{
		name: EndpointName(i), weight: max(e.Weight, 1), rangeLen: firstRange, units: e.ComputeUnits, spending: newSpending(&e),
		pace: newPace(e.RequestsPerSecond),
	}
	var where func() (string, error)
	switch {
	case e.URL != "":
		u, err := url.Parse(e.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return nil, fmt.Errorf("%s: its URL must be http:// or https:// with a host", out.name)
		}
		where = func() (string, error) { return e.URL, nil }
	case e.URLFile != "":
		where = func() (string, error) {
			raw, err := os.ReadFile(e.URLFile)
			if err != nil {
				return "", fmt.Errorf("read the endpoint's URL from its file: %w", err)
			}
			return strings.TrimSpace(string(raw)), nil
		}
	default:
		return nil, fmt.Errorf("%s: it needs a URL or a file with one", out.name)
	}
	out.Client = rpc.NewClient(where, reads)
	return out, nil
}

// do sends calls as far as the day's budget goes, in parts where the answer is too long.
func (e *endpoint) do(ctx context.Context, reqs ...*rpc.Request) error {
	answered := false
	for n := len(reqs); len(reqs) > 0; {
		n = min(n, len(reqs), e.batchLength())
		err := e.doPart(ctx, e.Reads.Most, answered, reqs[:n]...)
		if errors.Is(err, rpc.ErrTooLong) {
			if n > 1 {
				n /= 2
				continue
			}
			if reqs[0].Whole {
				err = e.doWithin(ctx, e.Reads.Whole, reqs[0])
			}
		}
		if err != nil {
			return err
		}
		answered, reqs = true, reqs[n:]
	}
	return nil
}

// doWithin is do for answers of at most so many bytes. A batch of more calls than the endpoint takes is sent in parts. Where it refuses some for
// its rate and has answered others, those alone are sent again: a question of a hundred calls, asked as a whole until all are answered at once,
// takes a small plan many times as many.
func (e *endpoint) doWithin(ctx context.Context, most int64, reqs ...*rpc.Request) error {
	return e.doPart(ctx, most, false, reqs...)
}

// doPart is doWithin for a part of a question. Answered says that another part was answered.
func (e *endpoint) doPart(ctx context.Context, most int64, answered bool, reqs ...*rpc.Request) error {
	refusals, waits := 0, 0
	for len(reqs) > 0 {
		n := min(len(reqs), e.batchLength())
		err := e.send(ctx, most, reqs[:n]...)
		if n > 1 && tooManyCalls(err) {
			e.shorten(fewerCalls(err, n))
			continue
		}
		left := refusedOf(reqs[:n], err)
		if len(left) < n && (err == nil || len(left) > 0) {
			answered, refusals = true, 0
		}
		if len(left) > 0 && answered && refusals+1 < refusedRounds && waits < mostWaitsRefused && e.waitRefused(ctx) {
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
func refusedOf(batch []*rpc.Request, err error) (left []*rpc.Request) {
	if err != nil && !rateRefused(err) {
		return nil
	}
	for _, r := range batch {
		if !r.Answered && (err != nil || rateRefused(r.Err)) {
			left = append(left, r)
		}
	}
	return left
}

// tooManyCalls reports whether a node refused a batch for its number of calls. What a contract answers can't bring that about.
func tooManyCalls(err error) bool {
	refused, ok := errors.AsType[rpc.BatchError](err)
	return ok && strings.Contains(strings.ToLower(refused.Message), "batch") && !rateRefused(err)
}

// fewerCalls is the number of calls to send instead of a batch of n: the number that the refusal names, or half of n.
func fewerCalls(err error, n int) int {
	refused, _ := errors.AsType[rpc.BatchError](err)
	for _, digits := range wholeNumber.FindAllString(refused.Message, -1) {
		if allowed, err := strconv.Atoi(digits); err == nil && allowed > 1 && allowed < n {
			return allowed
		}
	}
	return n / 2
}

var wholeNumber = regexp.MustCompile(`\b\d+\b`)

// batchLength is how many calls the endpoint takes at once, as far as it is known.
func (e *endpoint) batchLength() int {
	paced := cmp.Or(e.pace.atOnce(), callsAtOnce)
	e.mu.Lock()
	defer e.mu.Unlock()
	return min(cmp.Or(e.batchLen, callsAtOnce), paced)
}

func (e *endpoint) shorten(batch int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.batchLen = batch
}

// send sends one batch.
func (e *endpoint) send(ctx context.Context, most int64, reqs ...*rpc.Request) error {
	took, err := e.take(ctx, methodsOf(reqs)...)
	if err != nil {
		return err
	}
	err = e.Do(ctx, most, reqs...)
	e.sent(took, err)
	return err
}

func (e *endpoint) sent(spent budget.Spent, err error) {
	if e.observe != nil {
		e.observe(e.name, spent, err)
	}
}

// take reserves calls of the day's budget, and waits until the endpoint's pace allows them.
func (e *endpoint) take(ctx context.Context, methods ...string) (budget.Spent, error) {
	want := budget.Spent{Calls: int64(len(methods)), Units: e.units.of(methods...)}
	e.mu.Lock()
	err := e.reserve(e.now(), want, purposeOf(ctx))
	if err == nil {
		e.given += float64(want.Calls)
	}
	e.mu.Unlock()
	if err != nil {
		return want, err
	}
	beat(ctx)
	return want, e.pace.wait(ctx, len(methods), e.now())
}

// failed leaves the endpoint aside for a while, longer each time; first says that it was well before.
func (e *endpoint) failed(now time.Time) (pause time.Duration, first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	first = e.pause == 0
	if e.failedSince.IsZero() {
		e.failedSince = now
	}
	e.pause = min(max(2*e.pause, firstPause), longestPause)
	e.until = now.Add(e.pause)
	return e.pause, first
}

// took notes how long an answer, or the lack of one, took: an endpoint that limps is asked less.
func (e *endpoint) took(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.latency += smoothing * (d.Seconds() - e.latency)
}

func (e *endpoint) worked() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pause, e.until, e.failedSince = 0, time.Time{}, time.Time{}
}

// endpoints share the calls to a chain's nodes.
type endpoints struct {
	chain   string
	chainID uint64
	list    []*endpoint
	now     func() time.Time
	log     *slog.Logger
}

// candidates are the endpoints to try now, best first: healthy ones by load, latency and weight, then those that are distrusted
// or left aside, or whose day is spent, so that a chain with nothing else still gets an answer.
func (p *endpoints) candidates(except *endpoint) []*endpoint {
	now := p.now()
	var ready, aside []*endpoint
	load := map[*endpoint]float64{}
	for _, e := range p.list {
		e.mu.Lock()
		e.forgive()
		load[e] = e.load()
		e.latency *= forgetting // so that one slow moment is not held against it for good
		e.given *= forgettingGiven
		healthy, wrong := !now.Before(e.until) && e.distrust == 0 && !e.isSpent(now), e.wrong
		e.mu.Unlock()
		if e == except || wrong {
			continue
		}
		if healthy {
			ready = append(ready, e)
		} else {
			aside = append(aside, e)
		}
	}
	slices.SortStableFunc(ready, func(a, b *endpoint) int { return cmp.Compare(load[a], load[b]) })
	return append(ready, aside...)
}

// load is how much an endpoint has to do for its weight: what it was given lately, in stretches, and what it is asked now. One that is twice as
// slow as another gets a quarter of what the other gets; all that answer within the time of fastest count as equally fast.
func (e *endpoint) load() float64 {
	weight, slowness := float64(e.weight), max(e.latency/fastest, 1)
	return (1 + math.Floor(e.given/weight/stretch) + float64(e.inFlight)/weight) * slowness * slowness
}

// try runs call on one endpoint after the other until one answers.
func (p *endpoints) try(ctx context.Context, call func(context.Context, *endpoint) error) error {
	return p.tryOf(ctx, p.candidates(nil), call)
}

// tryOf is try for a list of endpoints, in its order. Where one of them refuses for its rate and none answers, they are asked again in a while.
func (p *endpoints) tryOf(ctx context.Context, list []*endpoint, call func(context.Context, *endpoint) error) error {
	for round := 1; ; round++ {
		refusing, err := p.tryOnce(ctx, list, call)
		if err == nil || len(refusing) == 0 || round == refusedRounds {
			return err
		}
		if !wait.For(ctx, untilReady(refusing, p.now())) {
			return ctx.Err()
		}
	}
}

// tryOnce asks the endpoints of a list until one answers. Refusing are those that are asked too often.
func (p *endpoints) tryOnce(ctx context.Context, list []*endpoint, call func(context.Context, *endpoint) error) (refusing []*endpoint, err error) {
	var errs []error
	for _, e := range list {
		err := p.on(ctx, e, call)
		if err == nil {
			return nil, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if rateRefused(err) {
			refusing = append(refusing, e)
		}
		errs = append(errs, fmt.Errorf("%s: %w", e.name, err))
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("chain %s: no endpoint is left to ask", p.chain)
	}
	return refusing, fmt.Errorf("chain %s: %w: %w", p.chain, ErrUnanswered, errors.Join(errs...))
}

// on runs call on one endpoint and remembers how it went.
func (p *endpoints) on(ctx context.Context, e *endpoint, call func(context.Context, *endpoint) error) error {
	e.mu.Lock()
	e.inFlight++
	checked := e.checked
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.inFlight--
		e.mu.Unlock()
	}()
	began := p.now()
	err := error(nil)
	if !checked {
		err = p.check(ctx, e)
	}
	if err == nil {
		err = call(ctx, e)
	}
	if _, ok := errors.AsType[budgetError](err); ok {
		if e.logSpent() {
			p.log.WarnContext(ctx, "endpoint left alone for the day", "endpoint", e.name, "err", err.Error())
		}
		return err
	}
	e.took(p.now().Sub(began))
	var narrow *rangeError
	_, isDenied := asDenied(err)
	switch {
	case err == nil, errors.As(err, &narrow), errors.Is(err, ErrNoBlock), errors.Is(err, errReplaced), stateMissing(err, false),
		errors.Is(err, errRepeatedIndex), isDenied:
		e.worked() // what it doesn't have, or doesn't keep, is no fault; what its logs are worth is judged elsewhere
	case ctx.Err() == nil:
		fails := e.failed
		if rateRefused(err) {
			fails = e.refused
		}
		pause, first := fails(p.now())
		level := slog.LevelDebug
		if first {
			level = slog.LevelWarn
		}
		p.log.Log(ctx, level, "endpoint left aside", "endpoint", e.name, "for_s", pause.Seconds(), "err", err.Error())
	}
	return err
}

// check holds an endpoint's chain id against the declared one, once.
func (p *endpoints) check(ctx context.Context, e *endpoint) error {
	var id uint64
	if err := e.do(ctx, &rpc.Request{Method: "eth_chainId", Take: rpc.Quantity(&id)}); err != nil {
		return err
	}
	if id != p.chainID {
		e.mu.Lock()
		e.wrong = true
		e.mu.Unlock()
		return fmt.Errorf("%w: its eth_chainId is %d, and chain %s is declared with chainID %d: mend the URL or the manifest",
			ErrWrongChain, id, p.chain, p.chainID)
	}
	e.mu.Lock()
	e.checked = true
	e.mu.Unlock()
	return nil
}
