package indexer_test

import (
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestReindex asks for generations of a chain, and reads what the command says of them.
func TestReindex(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			st := storetest.OpenAt(t, dsn)
			run := func(chain string, anew bool) (string, error) {
				var out strings.Builder
				r := indexer.Reindex{Database: dsn, Chain: chain, AskAnew: anew, Out: &out}
				err := r.Run(t.Context())
				return out.String(), err
			}
			if kind == "sqlite" {
				if _, err := run("base", false); err == nil || !strings.Contains(err.Error(), "end `boardwalk up`") {
					t.Errorf("beside a process that has the file: %v", err)
				}
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := run("base", false); err == nil || !strings.Contains(err.Error(), `chain "base" isn't in the database, which has none`) {
				t.Errorf("without a chain: %v", err)
			}
			st, err := store.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			l, err := st.Leases.Acquire(t.Context(), "base", "test", 1)
			if err != nil {
				t.Fatal(err)
			}
			last := market.Header{Number: 12_345, Hash: market.Hash{1}, Time: 1_700_000_000}
			fact := store.StoredFact{Block: 12_345, Hash: last.Hash, Fact: market.SupplyFact{Token: market.Native}}
			if err := st.Commit(t.Context(), l, &store.Commit{First: 345, Last: last, Facts: []store.StoredFact{fact}}); err != nil {
				t.Fatal(err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := run("bsc", false); err == nil || !strings.Contains(err.Error(), `chain "bsc" isn't in the database, which has base`) {
				t.Errorf("of a chain that isn't there: %v", err)
			}
			for _, c := range []struct {
				anew bool
				want []string
			}{
				{false, []string{
					"base: generation 2 is indexed when the chain's indexer runs, beside generation 1", "reads blocks 345 to 12345 (12001): some 26 calls",
					"used again, 1 answers", " MB, until the former rows are deleted",
				}},
				{true, []string{"base: generation 2 ", "asked again, 1 answers: that takes nodes"}},
			} {
				said, err := run("base", c.anew)
				if err != nil {
					t.Fatal(err)
				}
				for _, want := range c.want {
					if !strings.Contains(said, want) {
						t.Errorf("it says %q, want %q in it", said, want)
					}
				}
			}
		})
	}
}
