package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func sample(n int) string {
	return fmt.Sprintf(`<!doctype html><meta charset="utf-8"><body style="margin:0;background:#101418;color:#e8eef2;font:600 64px Inter">
		<p>%d &#x30ed;&#x30b1;&#x30c3;&#x30c8; &#x1f680; <svg width="400" height="80"><path d="M0 80 L100 %d L200 40 L400 0" stroke="#3ddc97" fill="none" stroke-width="4"/></svg>`, n, n%80)
}

func TestTheSameDocumentGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 2, RecycleAfter: 40})
	first := make([][]byte, 6)
	for n := range first {
		first[n] = w.mustDraw(sample(n))
	}
	if bytes.Equal(first[0], first[1]) {
		t.Fatal("two documents gave one picture")
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 3 {
				for n := range first {
					png, err := w.picture(sample(n))
					if err != nil || string(png) != string(first[n]) {
						t.Errorf("document %d was drawn otherwise: %v", n, err)
					}
				}
			}
		})
	}
	all.Wait()
	if w.replaced(reasonCards) == 0 {
		t.Error("no browser was replaced meanwhile")
	}
}

func TestABrowserThatIsKilledCostsNoPicture(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 2})
	expected := w.mustDraw(sample(1))
	i := w.running()
	w.signal(syscall.SIGSTOP, w.kind(i, "renderer")...)
	drawn := make(chan error, 1)
	go func() {
		png, err := w.picture(sample(1))
		if err == nil && string(png) != string(expected) {
			err = errors.New("another picture")
		}
		drawn <- err
	}()
	w.atWork(i)
	w.signal(syscall.SIGKILL, i.pid)
	if err := <-drawn; err != nil {
		t.Fatal(err)
	}
	if w.running().pid == i.pid {
		t.Error("it is the same browser")
	}
	if n := w.replaced(reasonEnded); n != 1 {
		t.Errorf("%v browsers were replaced for it", n)
	}
}

func TestATabThatIsKilledCostsNoPicture(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1})
	w.mustDraw(sample(1))
	i := w.running()
	renderers := w.kind(i, "renderer")
	w.signal(syscall.SIGSTOP, renderers...)
	drawn := make(chan error, 1)
	go func() {
		_, err := w.picture(sample(1))
		drawn <- err
	}()
	w.atWork(i)
	w.signal(syscall.SIGKILL, renderers...)
	if err := <-drawn; err != nil {
		t.Fatal(err)
	}
	if w.running().pid != i.pid {
		t.Error("the browser itself was well, and was replaced")
	}
	for range 4 {
		w.mustDraw(sample(2))
	}
}

func TestABrowserThatHangsCostsNoPicture(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 2, Deadline: 40 * time.Second, Patience: 20 * time.Second, HealthEvery: time.Hour}) // another browser starts within it
	i := w.running()
	w.mustDraw(sample(1))
	w.signal(syscall.SIGSTOP, i.pid)
	w.mustDraw(sample(1))
	if w.running().pid == i.pid {
		t.Error("it is the same browser")
	}
	if n := w.replaced(reasonHung); n != 1 {
		t.Errorf("%v browsers were replaced for it", n)
	}
}

func TestATabThatHangsCostsNoPicture(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1, Deadline: 40 * time.Second, HealthEvery: time.Hour}) // another tab is opened within it
	i := w.running()
	w.mustDraw(sample(1))
	renderers := w.kind(i, "renderer")
	w.signal(syscall.SIGSTOP, renderers...)
	w.mustDraw(sample(1))
	if w.running().pid != i.pid {
		t.Error("the browser itself was well, and was replaced")
	}
	w.eventually(func() bool {
		now := w.kind(i, "renderer")
		return !slices.ContainsFunc(renderers, func(pid int) bool { return slices.Contains(now, pid) })
	})
}

// bomb is a document that takes for ever to lay out, and all the memory there is.
func bomb() string {
	var b strings.Builder
	b.WriteString(`<!doctype html><svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630"><defs><g id="a0"><rect width="9" height="9"/></g>`)
	for n := 1; n < 12; n++ {
		fmt.Fprintf(&b, `<g id="a%d">%s</g>`, n, strings.Repeat(fmt.Sprintf(`<use href="#a%d"/>`, n-1), 10))
	}
	b.WriteString(`</defs><use href="#a11"/></svg>`)
	return b.String()
}

func TestAnEndlessDocumentEndsAtTheDeadline(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 2, HealthEvery: time.Hour})
	w.mustDraw(sample(1))
	i := w.running()
	before := w.kind(i, "renderer")
	usual := w.o.Deadline
	w.o.Deadline = 5 * time.Second // the other pictures wait for a start, and for the tab that comes in the place of this one's
	_, err := w.picture(bomb())
	w.o.Deadline = usual
	if !errors.Is(err, ErrDeadline) && !errors.Is(err, ErrFailed) {
		t.Fatalf("it ended with %v", err)
	}
	w.mustDraw(sample(1))
	w.eventually(func() bool { // nobody lays it out any more
		now := w.kind(i, "renderer")
		return len(now) == w.o.Tabs && slices.ContainsFunc(before, func(pid int) bool { return !slices.Contains(now, pid) })
	})
	if w.running().pid != i.pid {
		t.Error("the browser itself was well, and was replaced")
	}
}

func TestABrowserThatGrowsIsReplaced(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1, MaxMemory: 1, HealthEvery: 50 * time.Millisecond})
	expected := w.mustDraw(sample(1))
	i := w.running()
	w.eventually(func() bool { return w.running() != i })
	if !bytes.Equal(expected, w.mustDraw(sample(1))) {
		t.Error("the next browser draws otherwise")
	}
	if w.replaced(reasonMemory) == 0 {
		t.Error("it was replaced for another reason")
	}
	if held := w.metric("boardwalk_renderer_browser_memory_bytes", ""); held < 20<<20 || held > 2<<30 {
		t.Errorf("a browser holds %.0f bytes", held)
	}
}

// TestALongQueueCostsNoTab has more wait than can be drawn in time, so that some get their turn when it is nearly over.
func TestALongQueueCostsNoTab(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1, Queue: 100, Deadline: 6 * time.Second})
	i := w.running()
	before := w.kind(i, "renderer")
	var all sync.WaitGroup
	var drawn, late atomic.Int64
	for range 90 {
		all.Go(func() {
			place, err := w.Enter()
			if err != nil {
				t.Error(err)
				return
			}
			defer place.Leave()
			_, err = place.Draw(t.Context(), func() ([]byte, error) {
				time.Sleep(100 * time.Millisecond) // of work, so that the last wait too long
				return []byte(sample(1)), nil
			})
			switch {
			case err == nil:
				drawn.Add(1)
			case errors.Is(err, ErrDeadline):
				late.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if drawn.Load() == 0 || late.Load() == 0 {
		t.Errorf("%d were drawn and %d were too late, both are wanted", drawn.Load(), late.Load())
	}
	w.mustDraw(sample(1))                       // a tab that is replaced has been by then
	for _, pid := range w.kind(i, "renderer") { // the browser's first tab, which isn't needed, may yet end
		if !slices.Contains(before, pid) {
			t.Errorf("the tab was replaced: process %d is none of %v", pid, before)
		}
	}
}

func TestAFullQueueIsSaid(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1, Queue: 2})
	var places []*Place
	for range 3 {
		place, err := w.Enter()
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, place)
	}
	if _, err := w.Enter(); !errors.Is(err, ErrBusy) {
		t.Fatalf("a fourth place: %v", err)
	}
	if d := w.RetryAfter(); d != time.Second {
		t.Errorf("try again after %s", d)
	}
	places[1].Leave()
	w.mustDraw(sample(1))
	places[0].Leave()
	places[2].Leave()
	if n := w.metric("boardwalk_renderer_queue", ""); n != 0 {
		t.Errorf("%v wait", n)
	}
}

func TestNoMoreAreDrawnThanThereAreTabs(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 2})
	var begun, now, most atomic.Int32
	two := make(chan struct{})
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			place, err := w.Enter()
			if err != nil {
				t.Error(err)
				return
			}
			defer place.Leave()
			_, err = place.Draw(t.Context(), func() ([]byte, error) {
				for n := now.Add(1); ; {
					if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				// The first document waits for another one, so that two are seen however slow the machine is.
				if begun.Add(1) == 2 {
					close(two)
				}
				select {
				case <-two:
				case <-t.Context().Done():
				case <-time.After(time.Minute):
				}
				time.Sleep(5 * time.Millisecond) // so that others could come in between
				now.Add(-1)
				return []byte(sample(1)), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := most.Load(); n != 2 {
		t.Errorf("%d documents were made at a time", n)
	}
}

func TestWhatADocumentsMakerFailsWithIsTheAnswer(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1})
	wrong := errors.New("no such picture")
	draw := func(document func() ([]byte, error)) error {
		place, err := w.Enter()
		if err != nil {
			t.Fatal(err)
		}
		defer place.Leave()
		_, err = place.Draw(t.Context(), document)
		return err
	}
	if err := draw(func() ([]byte, error) { return nil, wrong }); !errors.Is(err, wrong) {
		t.Errorf("it is %v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic was swallowed")
			}
		}()
		_ = draw(func() ([]byte, error) { panic("a decoder's fault") })
	}()
	w.mustDraw(sample(1)) // the one tab is free again
}

func TestWhoGoesAwayWaitsNoLonger(t *testing.T) {
	t.Parallel()
	w := begin(t, Options{Tabs: 1})
	expected := w.mustDraw(sample(1))
	i := w.running()
	renderers := w.kind(i, "renderer")
	w.signal(syscall.SIGSTOP, renderers...)
	ctx, leave := context.WithCancel(t.Context())
	draw := func(document func() ([]byte, error)) error {
		place, err := w.Enter()
		if err != nil {
			return err
		}
		defer place.Leave()
		_, err = place.Draw(ctx, document)
		return err
	}
	drawn := make(chan error, 1)
	go func() { drawn <- draw(func() ([]byte, error) { return []byte(sample(2)), nil }) }()
	w.atWork(i)
	leave()
	if err := <-drawn; !errors.Is(err, context.Canceled) {
		t.Errorf("whose picture was being drawn: %v", err)
	}
	if err := draw(func() ([]byte, error) { return nil, errors.New("it is nobody's turn") }); !errors.Is(err, context.Canceled) {
		t.Errorf("who waited for a turn: %v", err)
	}
	w.signal(syscall.SIGCONT, renderers...)
	if !bytes.Equal(expected, w.mustDraw(sample(1))) {
		t.Error("the tab draws otherwise afterwards")
	}
	if w.running() != i {
		t.Error("the browser was replaced")
	}
}

func TestAHelperOfTheBrowserThatIsKilledCostsNoPicture(t *testing.T) {
	t.Parallel()
	// The picture in work may hang, is then tried again after half of its time, and a new browser may have to start for it:
	// on a busy machine that takes several seconds.
	w := begin(t, Options{Tabs: 2, Patience: 20 * time.Second, Deadline: 40 * time.Second})
	expected := w.mustDraw(sample(1))
	for _, kind := range []string{"gpu-process", "utility", "zygote"} {
		w.signal(syscall.SIGKILL, w.kind(w.running(), kind)...)
		for range 6 {
			if !bytes.Equal(expected, w.mustDraw(sample(1))) {
				t.Fatalf("another picture after the end of a %s", kind)
			}
		}
	}
}
