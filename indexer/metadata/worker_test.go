package metadata

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func mintOf(n int) market.Address {
	var word [32]byte
	word[30], word[31] = byte(n>>8), byte(n)
	return market.EVMAddress(word)
}

// memory is a queue as a store would be one: jobs without a result first, then those that are due again.
type memory struct {
	mu    sync.Mutex
	jobs  []Job
	rows  map[market.Address]Result
	saves []time.Time
	fail  error // what Due and Save say
}

func newMemory(jobs ...Job) *memory { return &memory{jobs: jobs, rows: map[market.Address]Result{}} }

func (m *memory) Due(_ context.Context, now int64, limit int) ([]Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var fresh, again []Job
	for _, j := range m.jobs {
		r, ok := m.rows[j.Mint]
		switch {
		case !ok:
			fresh = append(fresh, j)
		case r.NextAt > 0 && r.NextAt <= now:
			j.Attempts = r.Attempts
			again = append(again, j)
		}
	}
	list := slices.Concat(fresh, again)
	return list[:min(len(list), limit)], m.fail
}

func (m *memory) Save(_ context.Context, list []Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.saves = append(m.saves, time.Now())
	for _, r := range list {
		m.rows[r.Mint] = r
	}
	return nil
}

func (m *memory) row(mint market.Address) (Result, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.rows[mint]
	return r, ok
}

// script is a fetcher whose references are hosts, and which does as it is told.
type script struct {
	fetch func(ctx context.Context, metadata, image string) (Document, error)
	busy  func(host string) bool

	mu    sync.Mutex
	now   map[string]int
	most  map[string]int // at once, by host; "" counts all
	count map[string]int
}

func newScript(fetch func(ctx context.Context, metadata, image string) (Document, error)) *script {
	return &script{fetch: fetch, now: map[string]int{}, most: map[string]int{}, count: map[string]int{}}
}

func (s *script) Fetch(ctx context.Context, metadata, image string) (Document, error) {
	s.add(metadata, 1)
	defer s.add(metadata, -1)
	return s.fetch(ctx, metadata, image)
}

func (s *script) add(host string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[host] += max(n, 0)
	for _, h := range []string{host, ""} {
		s.now[h] += n
		s.most[h] = max(s.most[h], s.now[h])
	}
}

func (s *script) fetched(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[host]
}

func (s *script) firstHost(metadata, _ string) string {
	if metadata == "unreadable" {
		panic("cannot be read")
	}
	return metadata
}

func (s *script) free(host string) bool { return s.busy == nil || !s.busy(host) }

// work runs a worker for a while.
func work(t *testing.T, f fetcher, q Queue, d time.Duration, o ...func(*WorkerOptions)) {
	t.Helper()
	opts := WorkerOptions{Log: slog.New(slog.DiscardHandler), Now: time.Now}
	for _, change := range o {
		change(&opts)
	}
	w := newWorker(f, q, opts)
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	w.Run(ctx)
	if w.active != 0 || len(w.waiting)+len(w.known)+len(w.waits.hosts)+len(w.waits.domains)+len(w.runs.hosts)+len(w.runs.domains)+len(w.done) != 0 {
		t.Errorf("left behind: %d active, %d waiting, %d known, shares %v and %v", w.active, len(w.waiting), len(w.known), w.waits, w.runs)
	}
}

func TestWorkerIsPolite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newMemory()
		for i := range 600 {
			q.jobs = append(q.jobs, Job{Mint: mintOf(i), Metadata: strconv.Itoa(i%20) + ".test"})
		}
		q.jobs = append(q.jobs, Job{Mint: mintOf(1000), Metadata: "unreadable"})
		s := newScript(func(context.Context, string, string) (Document, error) {
			time.Sleep(time.Second)
			return Document{Description: "d"}, nil
		})
		work(t, s, q, 5*time.Minute)
		if len(q.rows) != len(q.jobs) {
			t.Errorf("%d of %d jobs done", len(q.rows), len(q.jobs))
		}
		for host, n := range s.most {
			if limit := map[bool]int{true: atOnce, false: perHost}[host == ""]; n > limit {
				t.Errorf("%d at once at %q", n, host)
			}
		}
		if s.most[""] != atOnce {
			t.Errorf("%d at once in all", s.most[""])
		}
		for host := range s.count {
			if n, want := s.count[host], 30; host != "unreadable" && n != want {
				t.Errorf("%d fetches at %s, want %d", n, host, want)
			}
		}
		for i := range q.saves[1:] {
			if d := q.saves[i+1].Sub(q.saves[i]); d < savePause {
				t.Errorf("a save %v after another", d)
			}
		}
	})
}

// TestWorkerIsNotHeldUp: one slow host with more jobs than the worker remembers doesn't keep the others waiting.
func TestWorkerIsNotHeldUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newMemory()
		for i := range 2 * maxWaiting {
			q.jobs = append(q.jobs, Job{Mint: mintOf(i), Metadata: "slow.test"})
		}
		other := mintOf(10_000)
		q.jobs = append(q.jobs, Job{Mint: other, Metadata: "quick.test"})
		s := newScript(func(_ context.Context, host, _ string) (Document, error) {
			if host == "slow.test" {
				time.Sleep(fetchTime)
			}
			return Document{}, nil
		})
		work(t, s, q, time.Minute)
		if _, ok := q.row(other); !ok {
			t.Error("the other host's job waits")
		}
		if n := s.fetched("slow.test"); n < 10 {
			t.Errorf("%d fetches of the slow host", n)
		}
	})
}

// TestWorkerIsNotHeldUpByADomain: a stranger with a domain has as many slow hosts below it as he likes, and they don't take all the fetches.
func TestWorkerIsNotHeldUpByADomain(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]func(i int) string{
		"a domain":                func(i int) string { return strconv.Itoa(i) + ".slow.test" },
		"a domain below a suffix": func(i int) string { return strconv.Itoa(i) + ".slow.co.uk" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newMemory()
				for i := range 2 * maxWaiting {
					q.jobs = append(q.jobs, Job{Mint: mintOf(i), Metadata: slow(i)})
				}
				others := 0
				for i := range 8 {
					q.jobs = append(q.jobs, Job{Mint: mintOf(10_000 + i), Metadata: strconv.Itoa(i) + ".co.uk"})
				}
				s := newScript(func(_ context.Context, host, _ string) (Document, error) {
					if strings.Contains(host, ".slow.") {
						time.Sleep(fetchTime)
					}
					return Document{}, nil
				})
				work(t, s, q, 2*fetchTime)
				for i := range 8 {
					if _, ok := q.row(mintOf(10_000 + i)); ok {
						others++
					}
				}
				if others != 8 {
					t.Errorf("%d of 8 jobs of other domains are done; the slow domain has all the fetches", others)
				}
			})
		})
	}
}

func TestWorkerWaitsForBusyHosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		q := newMemory(Job{Mint: mintOf(1), Metadata: "a.test"}, Job{Mint: mintOf(2), Metadata: "b.test"})
		var mu sync.Mutex
		at := map[string]time.Duration{}
		s := newScript(func(_ context.Context, host, _ string) (Document, error) {
			mu.Lock()
			defer mu.Unlock()
			at[host] = time.Since(began)
			return Document{}, nil
		})
		s.busy = func(host string) bool { return host == "a.test" && time.Since(began) < 1500*time.Millisecond }
		work(t, s, q, 10*time.Second)
		if at["b.test"] != 0 || at["a.test"] < 1500*time.Millisecond || at["a.test"] > 1500*time.Millisecond+2*busyPause {
			t.Errorf("asked at %v", at)
		}
	})
}

func TestWorkerTriesAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		doc  Document
		err  error
		want Result // after a day; times apart
		// fetches, and the pauses between them at least
		fetches int
		pauses  []time.Duration
	}{
		{name: "all is well", doc: Document{Description: "d"}, fetches: 1, want: Result{Fetched: true, Document: Document{Description: "d"}}},
		{name: "nothing to fetch", fetches: 1, want: Result{Fetched: true}},
		{name: "never", err: newError(NotFound, "gone"), fetches: 1, want: Result{Reason: "gone", Attempts: 1}},
		{
			name: "never, but a part", doc: Document{Description: "d"}, err: newError(NotPicture, "svg"), fetches: 1,
			want: Result{Fetched: true, Document: Document{Description: "d"}, Reason: "svg", Attempts: 1},
		},
		{
			name: "busy", err: newError(Busy, "busy"), fetches: maxAttempts, want: Result{Reason: "busy", Attempts: maxAttempts},
			pauses: []time.Duration{
				time.Minute, 3 * time.Minute, 9 * time.Minute, 27 * time.Minute, 81 * time.Minute, 243 * time.Minute, 6 * time.Hour,
			},
		},
		{
			name: "busy, but a part", doc: Document{Description: "d"}, err: newError(TooSlow, "slow"), fetches: maxAttempts,
			want: Result{Fetched: true, Document: Document{Description: "d"}, Reason: "slow", Attempts: maxAttempts},
		},
		{name: "an error of no kind", err: errors.New("https://secret"), fetches: maxAttempts, want: Result{Reason: "fetching it went wrong", Attempts: maxAttempts}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newMemory(Job{Mint: mintOf(1), Metadata: "a.test"})
				var at []time.Time
				work(t, newScript(func(context.Context, string, string) (Document, error) {
					at = append(at, time.Now())
					return tt.doc, tt.err
				}), q, 48*time.Hour)
				got, _ := q.row(mintOf(1))
				got.FetchedAt = 0
				tt.want.Mint = mintOf(1)
				if len(at) != tt.fetches || got.Reason != tt.want.Reason || got.Fetched != tt.want.Fetched || got.Attempts != tt.want.Attempts ||
					got.NextAt != 0 || got.Document.Description != tt.want.Document.Description {
					t.Errorf("%d fetches, then %+v, want %d and %+v", len(at), got, tt.fetches, tt.want)
				}
				for i, p := range tt.pauses {
					if d := at[i+1].Sub(at[i]); d < p-time.Second || d > p*5/4+pollPause+2*savePause {
						t.Errorf("attempt %d after %v, want %v and up to a quarter more", i+2, d, p)
					}
				}
			})
		})
	}
}

// TestWorkerHeedsWhatHostsSay: until when to leave them alone, and that a job that was not tried has not failed.
func TestWorkerHeedsWhatHostsSay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(newScript(nil), newMemory(), WorkerOptions{Log: slog.New(slog.DiscardHandler), Now: time.Now})
		until := time.Now().Add(40 * time.Minute)
		tests := []struct {
			name     string
			doc      Document
			err      *Error
			attempts int32
			least    time.Duration
		}{
			{"a host at rest", Document{}, &Error{Kind: Waiting, Until: until}, 3, 40 * time.Minute},
			{"a host with a queue", Document{}, &Error{Kind: Waiting}, 3, 9 * time.Minute},
			{"a host that is gone", Document{}, &Error{Kind: Waiting, Until: until, lost: true}, 4, 40 * time.Minute},
			{"a picture's host at rest", Document{Description: "d"}, &Error{Kind: Waiting, Until: until}, 4, 40 * time.Minute},
			{"a host that asks for it", Document{}, &Error{Kind: Busy, Until: until}, 4, 40 * time.Minute},
			{"a host that asks for little", Document{}, &Error{Kind: Busy, Until: time.Now().Add(time.Second)}, 4, 27 * time.Minute},
		}
		for _, tt := range tests {
			r := w.judge(hostedJob{Job: Job{Mint: mintOf(7), Attempts: 3}}, tt.doc, tt.err).result
			wait := time.Duration(r.NextAt-time.Now().Unix()) * time.Second
			if r.Attempts != tt.attempts || r.Fetched || wait < tt.least || wait > tt.least*5/4 {
				t.Errorf("%s: %d attempts, again in %v", tt.name, r.Attempts, wait)
			}
		}
	})
}

func TestSpreadIsATokensOwn(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for i := range 100 {
		d := spread(mintOf(i), time.Hour)
		if d < 0 || d >= 15*time.Minute || d != spread(mintOf(i), time.Hour) {
			t.Errorf("%v", d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("100 tokens have %d pauses", len(seen))
	}
}

func TestAPanicIsOneFetchsFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newMemory(Job{Mint: mintOf(1), Metadata: "bad.test"}, Job{Mint: mintOf(2), Metadata: "good.test"}, Job{Mint: mintOf(3), Metadata: "unreadable"})
		var log bytes.Buffer
		var mu sync.Mutex
		outcomes := map[Outcome]int{}
		s := newScript(func(_ context.Context, host, _ string) (Document, error) {
			if host != "good.test" {
				panic("index out of range")
			}
			return Document{Description: "d"}, nil
		})
		work(t, s, q, 10*time.Second, func(o *WorkerOptions) {
			o.Log = slog.New(slog.NewTextHandler(&log, nil))
			o.Observe = func(outcome Outcome) { mu.Lock(); outcomes[outcome]++; mu.Unlock() }
		})
		for _, n := range []int{1, 3} {
			if r, ok := q.row(mintOf(n)); !ok || r.Fetched || r.Attempts != 1 || r.NextAt == 0 {
				t.Errorf("%d: %+v", n, r)
			}
		}
		if r, _ := q.row(mintOf(2)); !r.Fetched {
			t.Errorf("%+v", r)
		}
		if n := strings.Count(log.String(), "metadata fetch panicked"); n != 2 {
			t.Errorf("logged %d times: %s", n, log.String())
		}
		if outcomes[OutcomeFetched] != 1 || outcomes[Outcome(Broken)] != 2 || len(outcomes) != 2 {
			t.Errorf("%v", outcomes)
		}
	})
}

// TestWorkerOutlivesTheStore: nothing is lost while it fails, and the log isn't filled.
func TestWorkerOutlivesTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newMemory()
		for i := range 2 * maxWaiting {
			q.jobs = append(q.jobs, Job{Mint: mintOf(i)})
		}
		var log bytes.Buffer
		s := newScript(func(context.Context, string, string) (Document, error) { return Document{}, nil })
		go func() {
			time.Sleep(pollPause + pollPause/2) // jobs are read, and results on their way
			for range 2 {
				q.mu.Lock()
				q.fail = errors.New("no store")
				q.mu.Unlock()
				time.Sleep(time.Minute)
				q.mu.Lock()
				q.fail = nil
				q.mu.Unlock()
				time.Sleep(time.Minute)
			}
		}()
		work(t, s, q, 5*time.Minute, func(o *WorkerOptions) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		if len(q.rows) != len(q.jobs) || s.fetched("") != len(q.jobs) {
			t.Errorf("%d of %d jobs done by %d fetches", len(q.rows), len(q.jobs), s.fetched(""))
		}
		if n := strings.Count(log.String(), "not read"); n > 2 {
			t.Errorf("logged %d times", n)
		}
	})
}

// TestWorkerEnds with fetches under way that end when they are told to.
func TestWorkerEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newMemory()
		for i := range 50 {
			q.jobs = append(q.jobs, Job{Mint: mintOf(i), Metadata: strconv.Itoa(i)})
		}
		s := newScript(func(ctx context.Context, _, _ string) (Document, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // a decoder that takes its time
			return Document{}, newError(Waiting, "ended")
		})
		work(t, s, q, 10*time.Second)
		if s.now[""] != 0 || s.most[""] != atOnce || len(q.rows) != 0 {
			t.Errorf("%d still running, %d at once, %d results", s.now[""], s.most[""], len(q.rows))
		}
	})
}

// TestWorkerFetches runs the real fetcher.
func TestWorkerFetches(t *testing.T) {
	t.Parallel()
	world := newOutside(t)
	world.serve("/meta", `{"description":"d","image":"`+world.url("good.test", "/logo")+`"}`)
	world.serve("/logo", string(plainPNG(t, 4, 4)))
	q := newMemory(
		Job{Mint: mintOf(1), Metadata: world.url("good.test", "/meta")},
		Job{Mint: mintOf(2), Metadata: world.url("bad.test", "/meta")},
	)
	w := NewWorker(world.fetcher(t), q, WorkerOptions{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	w.save = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() { defer close(ended); w.Run(ctx) }()
	for {
		if _, ok := q.row(mintOf(1)); ok {
			if _, ok = q.row(mintOf(2)); ok {
				break
			}
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-ended
	if r, _ := q.row(mintOf(1)); !r.Fetched || r.Document.Description != "d" || r.Document.Image == nil || r.Reason != "" {
		t.Errorf("%+v", r)
	}
	if r, _ := q.row(mintOf(2)); r.Fetched || r.NextAt != 0 || !strings.Contains(r.Reason, "not public") {
		t.Errorf("%+v", r)
	}
	world.untouched(t)
}

func TestKindsOfErrors(t *testing.T) {
	t.Parallel()
	for _, k := range []Kind{BadReference, Unsupported, Refused, NotFound, Denied, TooLarge, NotJSON, NotPicture} {
		if newError(k, "").Passing() {
			t.Errorf("%s passes", k)
		}
	}
	if !slices.Equal(passing, []Kind{Unreachable, TooSlow, Busy, Waiting, Broken}) {
		t.Errorf("%v", passing)
	}
	a, b := newError(NotJSON, "a"), newError(Busy, "b")
	if err := joined(a, b); err.Error() != "metadata: a; picture: b" || !errors.Is(err, b) {
		t.Error(err)
	}
	if joined(nil, nil) != nil {
		t.Error("nothing failed, and that is an error")
	}
}
