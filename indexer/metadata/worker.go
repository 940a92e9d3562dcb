package metadata

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"runtime/debug"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// atOnce is how many fetches a worker runs at once.
	atOnce = 8
	// pollPause is the time between two looks for jobs, savePause between two saves, and busyPause until a job whose host was busy
	// with others' requests gets another chance.
	pollPause = 3 * time.Second
	savePause = time.Second
	busyPause = 200 * time.Millisecond
	// maxWaiting bounds the jobs in memory, and maxOfHost the jobs of one host, so that other hosts' jobs don't wait behind them. maxDue
	// bounds how many jobs are asked for to see past a host that has its share.
	maxWaiting = 256
	maxOfHost  = 64
	maxDue     = 1024
	// maxOfDomain and perDomain bound the jobs in memory and the fetches of all hosts below one registered domain: whoever has a domain
	// has as many hosts as he likes.
	maxOfDomain = maxWaiting / 2
	perDomain   = atOnce / 2
	// maxAttempts is after how many failures a token is given up, shortestPause and longestPause the time between them.
	maxAttempts   = 8
	shortestPause = time.Minute
	longestPause  = 6 * time.Hour
)

// Job is a token whose metadata is wanted: as launchpads announced it, or its own account says, so Metadata and Image may be anything.
type Job struct {
	Mint            market.Address
	Metadata, Image string
	// Attempts counts the failures so far.
	Attempts int32
}

// Result is the result of a job.
type Result struct {
	Mint market.Address
	// Document has what was got. A failed attempt may have got a part.
	Document Document
	// Fetched says that this is it: there is nothing to fetch, or nothing more. Else the attempt failed.
	Fetched bool
	// Reason says what could not be had; empty when all was.
	Reason string
	// Attempts counts the failures so far. NextAt is when to try again, in unix seconds; 0 is never.
	Attempts int32
	NextAt   int64
	// FetchedAt is when it was tried, in unix seconds.
	FetchedAt int64
}

// Queue is where jobs come from and results go to.
type Queue interface {
	// Due lists at most limit jobs that are due at now, in unix seconds, the most urgent first. Jobs whose result isn't saved yet
	// may be among them.
	Due(ctx context.Context, now int64, limit int) ([]Job, error)
	// Save takes results, all or none.
	Save(ctx context.Context, list []Result) error
}

// Outcome is what is counted of a job: OutcomeFetched, or the kind of its failure.
type Outcome string

// OutcomeFetched is a job with nothing missing.
const OutcomeFetched Outcome = "fetched"

// WorkerOptions are what a worker gets from the program that runs it.
type WorkerOptions struct {
	Log *slog.Logger
	Now func() time.Time
	// Observe is told of every job done; it may be nil.
	Observe func(Outcome)
}

// fetcher is what a worker needs of a Fetcher.
type fetcher interface {
	Fetch(ctx context.Context, metadata, image string) (Document, error)
	firstHost(metadata, image string) string
	free(host string) bool
}

var _ fetcher = (*Fetcher)(nil)

// Worker fetches the metadata of one chain's tokens beside its indexer's loop.
type Worker struct {
	fetcher fetcher
	queue   Queue
	log     *slog.Logger
	now     func() time.Time
	observe func(Outcome)
	// Pauses, shorter in tests.
	poll, save, busy time.Duration

	waiting []hostedJob
	// known are the jobs in memory: waiting, running, or done and not saved.
	known  map[market.Address]bool
	waits  share // waiting jobs
	runs   share // running ones
	active int
	done   []Result
	finish chan finished
	// skipped is how many jobs the last look left out because their host has its share.
	skipped int
	// pollFailed and saveFailed keep a failure that lasts from being logged each time.
	pollFailed, saveFailed bool
}

type hostedJob struct {
	Job

	at origin
}

// origin is where a job's fetching begins: a host and the registered domain that it is below. Both are empty where it needs none or can't
// begin.
type origin struct{ host, domain string }

func originOf(host string) origin {
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		domain = host // an address, or a host that is a public suffix itself
	}
	return origin{host, domain}
}

// share counts jobs by host and by domain.
type share struct{ hosts, domains map[string]int }

func newShare() share { return share{map[string]int{}, map[string]int{}} }

// has reports whether an origin has its share already.
func (s share) has(at origin, ofHost, ofDomain int) bool {
	return at.host != "" && (s.hosts[at.host] >= ofHost || s.domains[at.domain] >= ofDomain)
}

func (s share) add(at origin) {
	s.hosts[at.host]++
	s.domains[at.domain]++
}

func (s share) remove(at origin) {
	for _, of := range []struct {
		counts map[string]int
		name   string
	}{{s.hosts, at.host}, {s.domains, at.domain}} {
		if of.counts[of.name]--; of.counts[of.name] == 0 {
			delete(of.counts, of.name)
		}
	}
}

type finished struct {
	at      origin
	result  Result
	outcome Outcome
}

// NewWorker makes a worker. A fetcher may serve several.
func NewWorker(f *Fetcher, q Queue, o WorkerOptions) *Worker { return newWorker(f, q, o) }

func newWorker(f fetcher, q Queue, o WorkerOptions) *Worker {
	if o.Observe == nil {
		o.Observe = func(Outcome) {}
	}
	return &Worker{
		fetcher: f, queue: q, log: o.Log, now: o.Now, observe: o.Observe, poll: pollPause, save: savePause, busy: busyPause,
		known: map[market.Address]bool{}, waits: newShare(), runs: newShare(), finish: make(chan finished),
	}
}

// Run works until ctx ends, and leaves nothing running. What isn't saved by then is fetched again by the next run.
func (w *Worker) Run(ctx context.Context) {
	defer w.drain()
	poll, save, busy := time.NewTimer(0), time.NewTimer(w.save), time.NewTimer(w.busy)
	defer poll.Stop()
	defer save.Stop()
	defer busy.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-w.finish:
			w.take(f)
		case <-poll.C:
			w.look(ctx)
			poll.Reset(w.poll)
		case <-save.C:
			w.flush(ctx)
			save.Reset(w.save)
		case <-busy.C:
		}
		if w.start(ctx); len(w.waiting) > 0 {
			busy.Reset(w.busy)
		}
	}
}

// drain waits for the fetches under way, which end with the context, and forgets what a next run would be in the way of.
func (w *Worker) drain() {
	for w.active > 0 {
		w.take(<-w.finish)
	}
	w.waiting, w.done = nil, nil
	clear(w.known)
	w.waits = newShare()
}

// look asks for jobs. Those that are known already come again until their results are saved.
func (w *Worker) look(ctx context.Context) {
	if len(w.known) >= maxWaiting {
		return
	}
	list, err := w.queue.Due(ctx, w.now().Unix(), min(maxWaiting+w.skipped, maxDue))
	if err != nil {
		if !w.pollFailed && ctx.Err() == nil {
			w.log.WarnContext(ctx, "metadata jobs not read", "err", err.Error())
		}
		w.pollFailed = true
		return
	}
	w.pollFailed = false
	w.skipped = 0
	for _, j := range list {
		if w.known[j.Mint] {
			continue
		}
		at := originOf(w.hostOf(j))
		if len(w.known) >= maxWaiting || w.waits.has(at, maxOfHost, maxOfDomain) {
			w.skipped++
			continue
		}
		w.known[j.Mint] = true
		w.waits.add(at)
		w.waiting = append(w.waiting, hostedJob{j, at})
	}
}

// hostOf is the host that a job begins with. What a stranger wrote is read here for the first time: if that panics, the fetch will
// do so too, and tell.
func (w *Worker) hostOf(j Job) (host string) {
	defer func() {
		if recover() != nil {
			host = ""
		}
	}()
	return w.fetcher.firstHost(j.Metadata, j.Image)
}

// start begins the waiting jobs whose hosts are free, in their order.
func (w *Worker) start(ctx context.Context) {
	rest := w.waiting[:0]
	for _, j := range w.waiting {
		if w.active >= atOnce || w.runs.has(j.at, perHost, perDomain) || !w.fetcher.free(j.at.host) {
			rest = append(rest, j)
			continue
		}
		w.waits.remove(j.at)
		w.active++
		w.runs.add(j.at)
		go func() { w.finish <- w.work(ctx, j) }()
	}
	clear(w.waiting[len(rest):])
	w.waiting = rest
}

func (w *Worker) take(f finished) {
	w.active--
	w.runs.remove(f.at)
	w.done = append(w.done, f.result)
	w.observe(f.outcome)
}

// flush saves what is done. What can't be saved stays for the next time.
func (w *Worker) flush(ctx context.Context) {
	if len(w.done) == 0 {
		return
	}
	if err := w.queue.Save(ctx, w.done); err != nil {
		if !w.saveFailed && ctx.Err() == nil {
			w.log.WarnContext(ctx, "metadata not saved", "err", err.Error())
		}
		w.saveFailed = true
		return
	}
	w.saveFailed = false
	for _, r := range w.done {
		delete(w.known, r.Mint)
	}
	w.done = nil
}

// work fetches one job. Its panic is its own failure.
func (w *Worker) work(ctx context.Context, j hostedJob) (f finished) {
	defer func() {
		if p := recover(); p != nil {
			w.log.ErrorContext(ctx, "metadata fetch panicked", "mint", j.Mint.String(), "err", fmt.Sprint(p), "stack", string(debug.Stack()))
			f = w.judge(j, Document{}, newError(Broken, "fetching it went wrong"))
		}
	}()
	doc, err := w.fetcher.Fetch(ctx, j.Metadata, j.Image)
	return w.judge(j, doc, err)
}

// judge decides whether and when a job is tried again.
func (w *Worker) judge(j hostedJob, doc Document, err error) finished {
	now := w.now()
	f := finished{at: j.at, outcome: OutcomeFetched}
	f.result = Result{Mint: j.Mint, Document: doc, Fetched: true, Attempts: j.Attempts, FetchedAt: now.Unix()}
	if err == nil {
		return f
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = newError(Broken, "fetching it went wrong")
	}
	f.outcome, f.result.Reason = Outcome(e.Kind), e.text
	if e.Kind != Waiting || e.lost || !doc.empty() { // else nothing was tried
		f.result.Attempts++
	}
	if !e.Passing() || f.result.Attempts >= maxAttempts {
		f.result.Fetched = !doc.empty()
		return f
	}
	f.result.Fetched = false
	next := now.Add(pauseAfter(f.result.Attempts))
	if e.Until.After(next) {
		next = e.Until
	}
	f.result.NextAt = next.Add(spread(j.Mint, next.Sub(now))).Unix()
	return f
}

// pauseAfter grows threefold from failure to failure.
func pauseAfter(attempts int32) time.Duration {
	pause := shortestPause
	for range attempts - 1 {
		pause = min(3*pause, longestPause)
	}
	return pause
}

// spread is a token's own share, up to a quarter, of a pause: those that failed together are not tried again together.
func spread(mint market.Address, pause time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(mint.String()))
	return pause / 4 * time.Duration(h.Sum32()%256) / 256
}
