package board

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// TestMain is the child that tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(lab.Main("test", lab.Serve(map[string]func() *catalog.Catalog{Name: Catalog})))
	}
	os.Exit(m.Run())
}

// TestServedBoard serves a small board while trades arrive, and measures it for a moment.
func TestServedBoard(t *testing.T) {
	t.Setenv("BOARDWALK_CACHE", t.TempDir())
	o := &lab.Options{Rounds: 1, Duration: 2 * sampledEvery, DB: lab.SQLite, Clients: 1, Size: lab.MarketSize{Launches: 1000, Trades: 1000, Seed: 4}}
	if err := On(t.Context(), o, func(on *Measurement) error {
		m := &cpuMeasurement{Measurement: on, Options: o, runs: map[float64][]cpuRun{}}
		return on.Served(t.Context(), func(api *lab.Served) error {
			before, err := lab.Fetch(t.Context(), api.Address, "/api/launch/launches")
			if err != nil {
				return err
			}
			r := &cpuRun{}
			if r.arrived, err = on.Arrivals.During(t.Context(), 500, func() error { return m.sample(t.Context(), api, 500, r) }); err != nil {
				return err
			}
			m.runs[500] = []cpuRun{*r}
			if r.used.Server <= 0 || r.arrived.trades == 0 || len(m.report([]float64{500}).Rows) != 1 || len(m.judge().Rows) != 2 {
				t.Errorf("it used %s; %s", r.used.Server, r.arrived)
			}
			return changes(t.Context(), api, before.Body)
		})
	}); err != nil {
		t.Fatal(err)
	}
	// Once more, on the kept database.
	again := 0
	if err := On(t.Context(), o, func(*Measurement) error {
		again++
		return nil
	}); err != nil || again != 1 {
		t.Errorf("it was measured %d times again: %v", again, err)
	}
}

// changes waits until the board has other bytes.
func changes(ctx context.Context, api *lab.Served, before []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		now, err := lab.Fetch(ctx, api.Address, "/api/launch/launches")
		if err != nil || !bytes.Equal(now.Body, before) {
			return err
		}
		if !wait.For(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
}
