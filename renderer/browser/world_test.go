package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// patience bounds what is waited for. It ends what hangs and is no expectation.
const patience = 2 * time.Minute

// TestMain sees that nothing is left of all browsers together, not even the dead who wait to be reaped.
func TestMain(m *testing.M) {
	code := m.Run()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	all, err := processes()
	if err != nil {
		log.Error("the processes can't be listed", "err", err)
		code = 1
	}
	for _, p := range all {
		if p.parent == os.Getpid() {
			log.Error("a process is left", "pid", p.pid, "group", p.group, "command", commandLine(p.pid))
			code = 1
		}
	}
	os.Exit(code)
}

// world is a Supervisor at work.
type world struct {
	*Supervisor

	tb       testing.TB
	registry *prometheus.Registry
}

// begin runs a Supervisor until the test ends, and then sees that no process and no file of it is left.
func begin(tb testing.TB, o Options) *world {
	tb.Helper()
	w := &world{tb: tb, registry: prometheus.NewRegistry()}
	if o.Dir == "" {
		o.Dir = filepath.Join(tb.TempDir(), "browsers")
	}
	// The browser's user passes through the test's folders.
	for dir := filepath.Dir(o.Dir); dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil {
			tb.Fatal(err)
		}
	}
	o.Log = slog.New(slog.NewTextHandler(tb.Output(), nil))
	o.Now = time.Now
	o.Metrics = NewMetrics(w.registry)
	if o.Deadline == 0 {
		o.Deadline = patience // of a busy machine
	}
	if o.Patience == 0 {
		o.Patience = patience
	}
	s, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	w.Supervisor = s
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	tb.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			tb.Error(err)
		}
		if left := w.left(); len(left) > 0 {
			tb.Errorf("processes are left: %q", left)
		}
		for _, dir := range s.o.folders.all() {
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				tb.Errorf("the folder %s is left: %v", dir, err)
			}
		}
	})
	return w
}

// picture draws a document.
func (w *world) picture(html string) ([]byte, error) {
	place, err := w.Enter()
	if err != nil {
		return nil, err
	}
	defer place.Leave()
	return place.Draw(w.tb.Context(), func() ([]byte, error) { return []byte(html), nil })
}

func (w *world) mustDraw(html string) []byte {
	w.tb.Helper()
	drawn, err := w.picture(html)
	if err != nil {
		w.tb.Fatal(err)
	}
	if size, err := png.DecodeConfig(bytes.NewReader(drawn)); err != nil || size.Width != w.o.Width || size.Height != w.o.Height {
		w.tb.Fatalf("no picture of %dx%d: %v, %v", w.o.Width, w.o.Height, size, err)
	}
	return drawn
}

// running gives the browser of the moment once there is one.
func (w *world) running() *instance {
	w.tb.Helper()
	i, err := w.acquire(w.tb.Context())
	if err != nil {
		w.tb.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	i.drawing--
	return i
}

// atWork waits until a browser draws.
func (w *world) atWork(i *instance) {
	w.tb.Helper()
	w.eventually(func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return i.drawing > 0
	})
}

func (w *world) eventually(is func() bool) {
	w.tb.Helper()
	for until := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			w.tb.Fatal("it doesn't come about")
		}
	}
}

// left lists the processes of this world's browsers.
func (w *world) left() []string {
	w.tb.Helper()
	all, err := processes()
	if err != nil {
		w.tb.Fatal(err)
	}
	var left []string
	for _, p := range all {
		if line := commandLine(p.pid); strings.Contains(line, w.o.Dir) {
			left = append(left, fmt.Sprint(p.pid, " ", line))
		}
	}
	return left
}

func commandLine(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(raw), "\x00", " ")
}

// kind gives a browser's processes of a kind, such as renderer.
func (w *world) kind(i *instance, kind string) []int {
	w.tb.Helper()
	all, err := processes()
	if err != nil {
		w.tb.Fatal(err)
	}
	var pids []int
	for _, p := range all {
		if p.group == i.pid && strings.Contains(commandLine(p.pid), "--type="+kind) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// signal sends a signal to processes of a browser, one of which is there at least: others may have ended since they were listed, as the browser's first
// tab does, which isn't needed, and as some do with the one before.
func (w *world) signal(sig syscall.Signal, pids ...int) {
	w.tb.Helper()
	reached := false
	for _, pid := range pids {
		err := syscall.Kill(pid, sig)
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			w.tb.Fatal(err)
		}
		reached = reached || err == nil
	}
	if !reached {
		w.tb.Fatal("there is no such process")
	}
}

// metric gives a counter or gauge.
func (w *world) metric(name, label string) float64 {
	w.tb.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			if l := m.GetLabel(); label == "" || l[0].GetValue() == label {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	w.tb.Fatalf("no metric %s %s", name, label)
	return 0
}

// replaced counts the browsers that were replaced for a reason.
func (w *world) replaced(why reason) float64 {
	w.tb.Helper()
	return w.metric("boardwalk_renderer_browser_replaced_total", string(why))
}
