package indexer_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

const (
	// switchable is a contract whose every function answers what its first slot has.
	switchable = "0x5f545f5260205ff3"
	pausable   = "0x00000000000000000000000000000000000a11ce"
	nothing    = "0x0000000000000000000000000000000000000bad"
)

// state asks for the state as the operator does.
func state(t *testing.T, ix *indexer.Indexer) chainconfig.State {
	t.Helper()
	w := httptest.NewRecorder()
	ix.StateHandler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", chainconfig.StatePath, nil))
	var s chainconfig.State
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func awaitState(t *testing.T, ix *indexer.Indexer, what string, is func(s *chainconfig.State) bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		s := state(t, ix)
		if is(&s) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never %s; the state is %+v", what, s)
		}
	}
}

// start runs an indexer until the test ends.
func start(t *testing.T, cfg *chainconfig.Chain, o indexer.Options) *indexer.Indexer {
	t.Helper()
	o.Log, o.Now, o.Holder = logger(t), time.Now, t.Name()
	ix, err := indexer.New(cfg, storetest.Open(t, "sqlite"), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = ix.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return ix
}

func TestStateFollowsTheChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	if err := w.node.Call(t.Context(), nil, "anvil_setCode", pausable, switchable); err != nil {
		t.Fatal(err)
	}
	m, url := w.behind(t, 0)
	cfg := w.config()
	cfg.Endpoints[0].URL = url
	cfg.Venues = []chainconfig.Venue{
		{ID: "ours", Protocol: chainconfig.BoardwalkCurve, Contracts: markettest.Addresses(pausable)},
		{ID: "elsewhere", Protocol: chainconfig.Flap, Contracts: markettest.Addresses(nothing, w.Wrapped)},
	}
	ix := start(t, cfg, indexer.Options{VenuePause: 50 * time.Millisecond})
	awaitState(t, ix, "following at the head", func(s *chainconfig.State) bool {
		return s.Phase == chainconfig.PhaseFollowing && s.Head != nil && s.Indexed != nil && *s.Head == *s.Indexed
	})
	s := state(t, ix)
	if _, hash, err := cfg.Encode(); err != nil || s.Document != hash || s.Chain != "base" {
		t.Errorf("it says that it runs on %s %s, want base %s (%v)", s.Chain, s.Document, hash, err)
	}
	if lag, known := s.Lag(); !known || lag > time.Minute {
		t.Errorf("at the head the lag is %s, %v", lag, known)
	}

	awaitState(t, ix, "every contract asked", func(s *chainconfig.State) bool {
		ours, _ := s.Venue("ours")
		elsewhere, _ := s.Venue("elsewhere")
		return ours.Checked && len(ours.Missing)+len(ours.Paused) == 0 &&
			elsewhere.Checked && len(elsewhere.Missing) == 1 && elsewhere.Missing[0] == nothing && len(elsewhere.Paused) == 0
	})
	pause := func(slot string) {
		t.Helper()
		if err := w.node.Call(t.Context(), nil, "anvil_setStorageAt", pausable, "0x0", "0x"+slot); err != nil {
			t.Fatal(err)
		}
		if err := w.node.Mine(t.Context(), 1, time.Second); err != nil {
			t.Fatal(err)
		}
	}
	zeros := "00000000000000000000000000000000000000000000000000000000000000"
	pause(zeros + "01")
	awaitState(t, ix, "paused", func(s *chainconfig.State) bool {
		v, _ := s.Venue("ours")
		return len(v.Paused) == 1 && v.Paused[0] == pausable
	})
	pause(zeros + "2a") // an answer that is no boolean
	awaitState(t, ix, "open again", func(s *chainconfig.State) bool {
		v, _ := s.Venue("ours")
		return v.Checked && len(v.Paused) == 0
	})

	m.down.Store(true)
	awaitState(t, ix, "failing, with the reason and what was seen last", func(s *chainconfig.State) bool {
		ours, _ := s.Venue("ours")
		return s.Phase == chainconfig.PhaseFailing && s.Message != "" && s.Head != nil && ours.Checked
	})
	first, _ := func() (time.Duration, bool) { s := state(t, ix); return s.Lag() }()
	awaitState(t, ix, "further behind with the time that passes", func(s *chainconfig.State) bool {
		lag, _ := s.Lag()
		return lag > first
	})
	m.down.Store(false)
	awaitState(t, ix, "following again", func(s *chainconfig.State) bool { return s.Phase == chainconfig.PhaseFollowing && s.Message == "" })
}

// TestStateOfAHaltedChain runs an indexer twice on a node of another chain: it must not look as if it had started in between.
func TestStateOfAHaltedChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	cfg := w.config()
	cfg.EVMChainID = 4242
	ix, err := indexer.New(cfg, storetest.Open(t, "sqlite"), indexer.Options{Log: logger(t), Now: time.Now, Holder: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if s := state(t, ix); s.Phase != chainconfig.PhaseStarting {
		t.Errorf("before it runs it is %s", s.Phase)
	}
	for range 2 {
		if err := ix.Run(t.Context()); err == nil {
			t.Fatal("it ran on a node of another chain")
		}
		if s := state(t, ix); s.Phase != chainconfig.PhaseHalted || s.Message == "" {
			t.Errorf("it is %s: %q", s.Phase, s.Message)
		}
	}
	if _, known := func() (time.Duration, bool) { s := state(t, ix); return s.Lag() }(); known {
		t.Error("it knows its lag without having read a block")
	}
}
