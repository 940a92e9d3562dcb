package indexer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestPurge deletes what was indexed of a chain, with a second generation, beside another chain; then the chain can be indexed again.
func TestPurge(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 60, venues.BoardwalkCurve, venues.PonsV2, venues.FourMemeV2, venues.ClankerV4)
			w.trader.UsePlatform()
			w.desk = desk.New(w.World, desk.Options{Seed: 1, Every: 4 * time.Second})
			dsn := storetest.DSN(t, kind)
			w.enrolTraders(t, dsn)
			st := storetest.OpenAt(t, dsn)
			cfg := w.config()
			stop := run(t, cfg, st, 0)
			w.await(t, st)
			w.trade(t, 20)
			w.await(t, st)
			purge := func(confirmed bool) (string, error) {
				var out strings.Builder
				now := time.Unix(1_800_000_000, 0)
				p := indexer.Purge{Database: dsn, Chain: "base", Confirmed: confirmed, Out: &out, Now: func() time.Time {
					now = now.Add(20 * time.Second) // a running indexer isn't waited for
					return now
				}}
				err := p.Run(t.Context())
				return out.String(), err
			}
			if kind == "postgres" { // another process can't have the file
				if _, err := purge(true); err == nil || !strings.Contains(err.Error(), "an indexer of chain base runs") {
					t.Errorf("while its indexer runs: %v", err)
				}
			}
			stop()
			beside(t, st)
			items, err := st.Stream.Before(t.Context(), 1<<53, market.StreamTrade, market.Address{}, 1000)
			if err != nil || len(items) == 0 {
				t.Fatalf("%d items are in the stream, %v", len(items), err)
			}
			if err := st.Indexes.Begin(t.Context(), "base", 2); err != nil {
				t.Fatal(err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}

			if out, err := purge(false); err == nil || !strings.Contains(err.Error(), "--yes") || strings.Count(out, "would be deleted\n") != 2 {
				t.Errorf("unconfirmed: %v\n%s", err, out)
			}
			out, err := purge(true)
			if err != nil || !strings.HasSuffix(out, "base: everything that was indexed of it is deleted\n") {
				t.Fatalf("%v\n%s", err, out)
			}
			if _, err := purge(true); err == nil || !strings.Contains(err.Error(), `chain "base" isn't in the database, which has bsc`) {
				t.Errorf("a second time: %v", err)
			}

			if st, err = store.Open(t.Context(), dsn); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			for table, rows := range derivedRows(t, st) {
				if len(rows) > 0 {
					t.Errorf("%d rows of %s are left", len(rows), table)
				}
			}
			wantStream(t, "after the purge", st, 0, len(items))
			if facts, err := st.Facts.Between(t.Context(), "bsc", 0, 1<<40); err != nil || len(facts) != 1 {
				t.Errorf("the other chain has %d facts, %v", len(facts), err)
			}
			if s, ok, err := st.Chain(t.Context(), "bsc"); err != nil || !ok || s.Last.Number != 12_345 {
				t.Errorf("the other chain is at %+v, %t, %v", s, ok, err)
			}
			stop = run(t, cfg, st, 0)
			w.await(t, st)
			stop()
			w.compare(t, st, cfg)
		})
	}
}

// TestAPurgeThatWasCutOff is ended by the chain's indexer, should the chain be declared again.
func TestAPurgeThatWasCutOff(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 30)
			st := storetest.Open(t, kind)
			cfg := w.config()
			stop := run(t, cfg, st, 0)
			w.await(t, st)
			stop()
			l, err := st.Leases.Acquire(t.Context(), "base", "purge", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			for done := false; !done; {
				if done, err = st.Indexes.Withdraw(t.Context(), l); err != nil {
					t.Fatal(err)
				}
			}
			if done, err := st.Indexes.Purge(t.Context(), l); err != nil || done {
				t.Fatalf("the first piece: %t, %v", done, err)
			}
			if err := st.Leases.Release(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			stop = run(t, cfg, st, 0)
			w.trade(t, 1) // what is left says that it is at the head
			w.await(t, st)
			stop()
			w.compare(t, st, cfg)
		})
	}
}

// beside has another chain in the database, with a fact.
func beside(t *testing.T, st *store.Store) {
	t.Helper()
	l, err := st.Leases.Acquire(t.Context(), "bsc", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	last := market.Header{Number: 12_345, Hash: market.Hash{1}, Time: 1_700_000_000}
	fact := store.StoredFact{Block: 12_345, Hash: last.Hash, Fact: market.SupplyFact{Token: market.Native}}
	if err := st.Commit(t.Context(), l, &store.Commit{First: 12_345, Last: last, Facts: []store.StoredFact{fact}}); err != nil {
		t.Fatal(err)
	}
}
