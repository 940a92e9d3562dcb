package indexer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// lateConfig starts in the middle of the chain and follows a few tokens that are older.
func (w *testWorld) lateConfig() *chainconfig.Chain {
	cfg := w.config()
	cfg.Start.Block = 60
	cfg.Tracking.Holders = chainconfig.HoldersDeclared
	for _, tok := range w.TokensLike(world.Plain)[:3] {
		cfg.Majors = append(cfg.Majors, chainconfig.Major{Asset: tok.Symbol, Address: markettest.Address(tok.Address)})
	}
	return cfg
}

// followed are the tokens whose holders are followed, by state.
func followed(t *testing.T, st *store.Store) map[market.HolderStatus]int {
	t.Helper()
	out := map[market.HolderStatus]int{}
	for _, tok := range tokens(t, st) {
		if tok.Holders.Status != market.HoldersNone {
			out[tok.Holders.Status]++
		}
	}
	return out
}

// TestHoldersAreFilledInFromBeforeTheStart starts late: the past of followed tokens is read apart from the head, while
// trading goes on and the indexer is killed again and again, and ends in the contracts' own balances.
func TestHoldersAreFilledInFromBeforeTheStart(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 120)
			cfg := w.lateConfig()
			dsn := storetest.DSN(t, kind)
			for range 6 {
				kill := startChild(t, cfg, dsn)
				w.trade(t, 4)
				time.Sleep(150 * time.Millisecond)
				kill()
			}
			st, err := store.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			stop := run(t, cfg, st, 0)
			defer stop()
			for deadline := time.Now().Add(60 * time.Second); ; {
				w.trade(t, 2)
				w.await(t, st)
				state := followed(t, st)
				if state[market.HoldersCurrent] == 4 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("the followed tokens' holders are %v; want 4 current", state)
				}
			}
			w.trade(t, 3)
			w.await(t, st)
			var others []string
			for mint, tok := range tokens(t, st) {
				if tok.Holders.Status == market.HoldersNone {
					others = append(others, mint.String())
				}
			}
			if current, _ := w.checkBalances(t, st, others...); current != 4 {
				t.Errorf("%d tokens were checked, want 4", current)
			}
			if jobs, err := st.Jobs.List(t.Context(), "base"); err != nil || len(jobs) != 0 {
				t.Errorf("jobs are left: %+v, %v", jobs, err)
			}
		})
	}
}

// TestHoldersAfterAnotherChoiceOfTokens: what was moved while a token wasn't followed is missed, so whatever is called current later on has
// to be right without it.
func TestHoldersAfterAnotherChoiceOfTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	st := storetest.Open(t, "sqlite")
	honest := map[string]bool{strings.ToLower(w.Wrapped): true} // those whose transfers tell their balances
	for _, tok := range w.TokensLike(world.Plain) {
		honest[strings.ToLower(tok.Address)] = true
	}
	for i, holders := range []chainconfig.Holders{
		chainconfig.HoldersAll, chainconfig.HoldersDeclared, chainconfig.HoldersAll, chainconfig.HoldersDeclared,
		chainconfig.HoldersLaunches,
	} {
		t.Run(fmt.Sprintf("%d %s", i, holders), func(t *testing.T) {
			cfg := w.config()
			cfg.Tracking.Holders = holders
			stop := run(t, cfg, st, 0)
			w.await(t, st)
			w.trade(t, 12)
			w.await(t, st)
			stop()
			var others []string
			for mint, tok := range tokens(t, st) {
				switch {
				case !honest[mint.String()]:
					others = append(others, mint.String())
				case tok.Holders.Status == market.HoldersUnavailable:
					t.Errorf("token %q: its holders are given up for good: %+v", tok.Symbol, tok.Holders)
				case tok.Holders.Status != market.HoldersCurrent:
					others = append(others, mint.String())
				}
			}
			current, _ := w.checkBalances(t, st, others...)
			if none := holders == chainconfig.HoldersLaunches; none != (current == 0) {
				t.Errorf("%d tokens have holders; the major is to have, but where launches alone are followed", current)
			}
		})
	}
}
