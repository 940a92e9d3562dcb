package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// writes are all that is written under a lease, by name.
func writes(t *testing.T, s *store.Store, l *store.Lease) map[string]func() error {
	t.Helper()
	ctx := t.Context()
	return map[string]func() error{
		"commit":   func() error { return s.Commit(ctx, l, commitOf(4, 1, map[string]*market.Changes{})) },
		"rewind":   func() error { _, err := s.Rewind(ctx, l, 1); return err },
		"metadata": func() error { return s.Metadata.Save(ctx, l, []store.TokenMetadata{{Mint: address(1)}}) },
		"trust": func() error {
			return s.Trust.Save(ctx, l, []store.TrustRow{{Mint: address(1), Report: []byte("{}")}})
		},
		"new holder jobs": func() error {
			return s.Jobs.Begin(ctx, l, []market.HolderJob{{Token: address(1), Final: 9}})
		},
		"holder job": func() error {
			return s.Jobs.Save(ctx, l, &store.HolderProgress{After: market.HolderJob{Token: address(1), Final: 9, Next: 3}})
		},
		"facts": func() error {
			return s.Inspect.KeepFacts(ctx, l, []store.StoredFact{{Block: 9, Fact: market.TokenFact{Token: address(1)}}})
		},
		"unfollow": func() error {
			_, err := s.Upkeep.Unfollow(ctx, l, nil)
			return err
		},
		"retention": func() error {
			_, err := s.Upkeep.Prune(ctx, l, store.Pruning{TradesBefore: 1, MinutesBefore: 1})
			return err
		},
		"head":    func() error { return s.SetHead(ctx, l, store.HeadStatus{Number: 9}) },
		"state":   func() error { return s.SetState(ctx, l, store.ChainRunning, "") },
		"renewal": func() error { return s.Leases.Renew(ctx, l) },
	}
}

// bare makes commit n of nothing but rows that no launch explains, so that there is something to unfollow.
func bare(n int) *store.Commit {
	c := commitOf(n, 2, map[string]*market.Changes{})
	c.Changes.Launches = nil
	return c
}

// TestDatabaseThatWentBack takes the last write away beneath a writer, a block or what is written beside blocks:
// whatever it writes next is refused and changes nothing, until it takes the chain anew.
func TestDatabaseThatWentBack(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		for what, lose := range map[string]func(t *testing.T, s *store.Store, l *store.Lease) error{
			"block": func(t *testing.T, s *store.Store, l *store.Lease) error {
				t.Helper()
				return s.Commit(t.Context(), l, bare(3))
			},
			"report": func(t *testing.T, s *store.Store, l *store.Lease) error {
				t.Helper()
				return s.Trust.Save(t.Context(), l, []store.TrustRow{{Mint: address(2), Report: []byte("{}")}})
			},
			"holder job": func(t *testing.T, s *store.Store, l *store.Lease) error {
				t.Helper()
				was := market.HolderJob{Token: address(2), Final: 9}
				is := was
				is.Next = 5
				return errors.Join(s.Jobs.Begin(t.Context(), l, []market.HolderJob{was}),
					s.Jobs.Save(t.Context(), l, &store.HolderProgress{Before: was, After: is}))
			},
		} {
			t.Run(kind+" "+what, func(t *testing.T) {
				t.Parallel()
				dsn := storetest.DSN(t, kind)
				s := storetest.OpenAt(t, dsn)
				former := lease(t, s)
				if err := errors.Join(s.Commit(t.Context(), former, bare(1)), s.Commit(t.Context(), former, bare(2))); err != nil {
					t.Fatal(err)
				}
				restore := storetest.Snapshot(t, dsn)
				if err := lose(t, s, former); err != nil {
					t.Fatal(err)
				}
				seen := commitNo(t, s)
				restore()
				was, rows := chain(t, s), derivedRows(t, s)
				for name, write := range writes(t, s, former) {
					if err := write(); !errors.Is(err, store.ErrMoved) {
						t.Errorf("%s on rows that went back: %v; want %v", name, err, store.ErrMoved)
					}
				}
				if is := chain(t, s); is != was || !equalRows(derivedRows(t, s), rows) {
					t.Errorf("the refused writes left the chain at %+v, was %+v, and its rows equal: %v", is, was, equalRows(derivedRows(t, s), rows))
				}
				l := lease(t, s)
				if err := s.Leases.SkipNumbers(t.Context(), l, former); err != nil {
					t.Fatal(err)
				}
				// A reader that has seen the lost numbers must meet whatever is written from here on, and know that
				// rows may be gone.
				if is := chain(t, s); is.CommitNo <= seen || is.Rewinds != was.Rewinds+1 || is.Last != was.Last {
					t.Errorf("the chain goes on from %+v; want commit numbers above %d and a rewind more than %d", is, seen, was.Rewinds)
				}
				if err := s.Commit(t.Context(), l, bare(3)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestTwoHoldersOfOneEpoch has a failover lose a lease, so that the next holder gets the same epoch: the first one can
// write nothing.
func TestTwoHoldersOfOneEpoch(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s := storetest.OpenAt(t, dsn)
			l := lease(t, s)
			if err := errors.Join(s.Commit(t.Context(), l, bare(1)), s.Leases.Release(t.Context(), l)); err != nil {
				t.Fatal(err)
			}
			restore := storetest.Snapshot(t, dsn)
			take := func(holder string) *store.Lease {
				t.Helper()
				l, err := s.Leases.Acquire(t.Context(), "base", holder, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			first := take("first")
			restore()
			second := take("second")
			was, rows := chain(t, s), derivedRows(t, s)
			for name, write := range writes(t, s, first) {
				if err := write(); !errors.Is(err, store.ErrLeaseLost) {
					t.Errorf("%s of the first holder: %v; want %v", name, err, store.ErrLeaseLost)
				}
			}
			if err := s.Leases.Release(t.Context(), first); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("the first holder released the other's lease: %v; want %v", err, store.ErrLeaseLost)
			}
			if is := chain(t, s); is != was || !equalRows(derivedRows(t, s), rows) {
				t.Errorf("the first holder left the chain at %+v, was %+v, and its rows equal: %v", is, was, equalRows(derivedRows(t, s), rows))
			}
			if err := s.Commit(t.Context(), second, bare(2)); err != nil {
				t.Error(err)
			}
		})
	}
}

func chain(t *testing.T, s *store.Store) store.ChainStatus {
	t.Helper()
	status, _, err := s.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	return status
}
