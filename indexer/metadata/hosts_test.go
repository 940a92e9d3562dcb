package metadata

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestHostsAreAskedPolitely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(time.Now)
		var now, most atomic.Int32
		var mu sync.Mutex
		var starts []time.Time
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if err := h.enter(t.Context(), "a.test"); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				starts = append(starts, time.Now())
				most.Store(max(most.Load(), now.Add(1)))
				mu.Unlock()
				time.Sleep(3 * hostPause)
				now.Add(-1)
				h.leave("a.test", answered, 0)
			})
		}
		wg.Wait()
		if most.Load() != perHost {
			t.Errorf("%d requests at once", most.Load())
		}
		for i := range starts[1:] {
			if d := starts[i+1].Sub(starts[i]); d < hostPause {
				t.Errorf("a request %v after another", d)
			}
		}
		if one := h.m["a.test"]; one.users != 0 || len(one.slots) != 0 || !h.free("a.test") {
			t.Errorf("left behind: %+v", one)
		}
	})
}

func TestHostsRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(time.Now)
		ask := func(v verdict, after time.Duration) *Error {
			time.Sleep(hostPause)
			err := h.enter(t.Context(), "a.test")
			if err == nil {
				h.leave("a.test", v, after)
			}
			return err
		}
		rests := func(what string, want time.Duration) {
			t.Helper()
			err := h.enter(t.Context(), "a.test")
			if err == nil || err.Kind != Waiting || time.Until(err.Until) != want || err.lost != (want >= longestRest) {
				t.Fatalf("%s: %v, until %v", what, err, time.Until(err.Until))
			}
			time.Sleep(want)
		}
		for range 10 { // with an answer in between it is not in a row
			for range failuresToRest - 1 {
				if err := ask(failed, 0); err != nil {
					t.Fatal(err)
				}
			}
			if err := ask(answered, 0); err != nil {
				t.Fatal(err)
			}
		}
		for range failuresToRest {
			if err := ask(failed, 0); err != nil {
				t.Fatal(err)
			}
		}
		for want := shortestRest; want < longestRest; want *= 2 {
			rests("a host that fails", want)
			if err := ask(failed, 0); err != nil {
				t.Fatal(err)
			}
		}
		rests("a host that fails for long", longestRest)
		if err := ask(answered, 0); err != nil {
			t.Fatal(err)
		}
		if err := ask(overloaded, 5*time.Minute); err != nil {
			t.Fatal(err)
		}
		rests("a host that asks for it", 5*time.Minute)
		if err := ask(overloaded, 100*time.Hour); err != nil {
			t.Fatal(err)
		}
		err := h.enter(t.Context(), "a.test")
		if err == nil || time.Until(err.Until) != longestRest {
			t.Errorf("a host that asks for too much: %v", err)
		}
		for range perHost { // requests that fail together count once
			if err := h.enter(t.Context(), "b.test"); err != nil {
				t.Fatalf("another host: %v", err)
			}
		}
		for range perHost {
			h.leave("b.test", overloaded, 0)
		}
		if err := h.enter(t.Context(), "b.test"); err == nil || time.Until(err.Until) != shortestRest {
			t.Errorf("requests that failed together: %v", err)
		}
	})
}

// TestWaitingForAHostEnds: with the context, and with a rest that began in the meantime.
func TestWaitingForAHostEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(time.Now)
		for range perHost {
			if err := h.enter(t.Context(), "a.test"); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.enter(ctx, "a.test"); err == nil || err.Kind != Waiting {
			t.Error(err)
		}
		late := make(chan *Error)
		go func() { late <- h.enter(t.Context(), "a.test") }()
		synctest.Wait()
		h.leave("a.test", overloaded, 0)
		if err := <-late; err == nil || err.Kind != Waiting || err.Until.IsZero() {
			t.Error(err)
		}
		h.leave("a.test", answered, 0)
		if one := h.m["a.test"]; one.users != 0 || len(one.slots) != 0 {
			t.Errorf("left behind: %+v", one)
		}
	})
}

func TestHostsAreForgotten(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	h := newHosts(func() time.Time { return now })
	if err := h.enter(t.Context(), "busy.test"); err != nil {
		t.Fatal(err)
	}
	for range failuresToRest {
		if err := h.enter(t.Context(), "resting.test"); err != nil {
			t.Fatal(err)
		}
		h.leave("resting.test", failed, 0)
		now = now.Add(hostPause)
	}
	for i := range 3 * manyHosts {
		name := strconv.Itoa(i) + ".test"
		if err := h.enter(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		h.leave(name, answered, 0)
		now = now.Add(time.Microsecond)
	}
	if len(h.m) > manyHosts {
		t.Errorf("%d hosts", len(h.m))
	}
	if h.m["busy.test"] == nil {
		t.Error("a host in use was forgotten")
	}
}

// TestFailuresOfAStrangersMaking: what a token's creator can cause at a host that others use doesn't count against it.
func TestFailuresOfAStrangersMaking(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	w.mux.HandleFunc("/{code}", func(r http.ResponseWriter, req *http.Request) {
		code, _ := strconv.Atoi(req.PathValue("code"))
		r.WriteHeader(code)
	})
	w.serve("/html", "<html>")
	w.mux.HandleFunc("/ipfs/{cid}", func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	f := w.fetcher(t)
	for range 2 * failuresToRest {
		for _, path := range []string{"/404", "/403", "/500", "/502", "/504"} {
			if _, err := f.Fetch(t.Context(), w.url("good.test", path), ""); kindOf(t, err) == Waiting {
				t.Fatalf("%s: %v", path, err)
			}
		}
	}
	f.timeout = 20 * time.Millisecond
	for range 2 * failuresToRest {
		if _, err := f.Fetch(t.Context(), w.url("good.test", "/ipfs/nobody-has-it"), ""); kindOf(t, err) != TooSlow {
			t.Fatal(err)
		}
	}
	f.timeout = fetchTime
	if _, err := f.Fetch(t.Context(), w.url("good.test", "/429"), ""); kindOf(t, err) != Busy {
		t.Error(err)
	}
	if _, err := f.Fetch(t.Context(), w.url("good.test", "/404"), ""); kindOf(t, err) != Waiting {
		t.Errorf("asked on although it asked to be spared: %v", err)
	}
}
