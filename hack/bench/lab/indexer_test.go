package lab

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestWatched(t *testing.T) {
	t.Parallel()
	w, err := StartWatched(exec.CommandContext(t.Context(), "sh", "-c", "echo it lives; exec sleep 60"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Running(); err != nil {
		t.Errorf("it has just begun: %v", err)
	}
	// A first look may find the fork before it has become the program.
	for deadline := time.Now().Add(10 * time.Second); w.Peak.Load() < 100_000 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	w.Stop()
	if peak := w.Peak.Load(); peak < 100_000 {
		t.Errorf("its peak was %d bytes", peak)
	}
	if err := w.Running(); err == nil || !strings.Contains(err.Error(), "it lives") || !strings.Contains(err.Error(), "before it was done") {
		t.Errorf("it was stopped: %v", err)
	}
	if _, err := StartWatched(exec.CommandContext(t.Context(), "/no/such/program"), t.TempDir()); err == nil {
		t.Error("what isn't there was started")
	}
}

// used is a process that has used more each time.
type used struct{ cpu time.Duration }

func (u *used) Usage() (UsageNow, error) {
	u.cpu += time.Second
	return UsageNow{CPU: u.cpu}, nil
}

func TestMeter(t *testing.T) {
	t.Parallel()
	r, err := Meter(&used{}, nil, func() error {
		time.Sleep(time.Millisecond)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Server != time.Second || r.Begun.CPU != time.Second || r.Ended.CPU != 2*time.Second || r.Wall < time.Millisecond || r.Database != 0 ||
		r.Load < 0 || r.Own < 0 || r.All < 0 || r.Others() < 0 {
		t.Errorf("it reads %+v", r)
	}
	both := Joined([]*Reading{
		{Wall: time.Second, Server: 3, Own: time.Second, All: 2 * time.Second, Begun: UsageNow{Heap: 1}},
		{Wall: 3 * time.Second, Server: 4, Own: time.Second, All: 4 * time.Second, Ended: UsageNow{Heap: 2}},
	})
	if both.Server != 7 || both.Wall != 4*time.Second || both.Others() != 1 || both.Begun.Heap != 1 || both.Ended.Heap != 2 {
		t.Errorf("together they are %+v with %g cores of others", both, both.Others())
	}
	failed := errors.New("failed")
	if _, err := Meter(nil, nil, func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("it failed: %v", err)
	}
}
