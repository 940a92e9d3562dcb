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
			ask := func(r indexer.Reindex) (string, error) {
				var out strings.Builder
				r.Database, r.Out = dsn, &out
				err := r.Run(t.Context())
				return out.String(), err
			}
			run := func(chain string, anew bool) (string, error) {
				return ask(indexer.Reindex{Chain: chain, AskAnew: anew})
			}
			giveUp := func(chain string) (string, error) { return ask(indexer.Reindex{Chain: chain, GiveUp: true}) }
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
			if _, err := giveUp("bsc"); err == nil || !strings.Contains(err.Error(), `chain "bsc" isn't in the database, which has base`) {
				t.Errorf("given up of a chain that isn't there: %v", err)
			}
			nothing := `nothing is given up: generation 1 of chain "base" is served, and boardwalk reindex asks for no other one`
			if _, err := giveUp("base"); err == nil || err.Error() != nothing {
				t.Errorf("given up before one was asked for: %v", err)
			}
			would, err := ask(indexer.Reindex{Chain: "base", DryRun: true})
			if err != nil || !strings.HasPrefix(would, "base: the next generation would be indexed; nothing is asked for yet. ") || !strings.Contains(would, "some 26 calls for 12001 blocks") {
				t.Errorf("what it would take: %q, %v", would, err)
			}
			if _, err := giveUp("base"); err == nil || err.Error() != nothing {
				t.Errorf("given up after it was asked what it would take: %v", err)
			}
			for _, c := range []struct {
				anew bool
				want []string
			}{
				{false, []string{
					"base: generation 2 is indexed when the chain's indexer runs, beside generation 1", "It reads blocks 345 to 12345: some 26 calls for 12001 blocks, where a node gives the logs of 1000 at once (20 times ",
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
			said, err := giveUp("base")
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"base: generation 2 is given up; generation 1 stays served.\n", "The next boardwalk reindex base makes generation 3. ", "put 1 there"} {
				if !strings.Contains(said, want) {
					t.Errorf("it says %q, want %q in it", said, want)
				}
			}
			if _, err := giveUp("base"); err == nil || err.Error() != nothing+". Generation 2 was given up before" {
				t.Errorf("given up a second time: %v", err)
			}
			if said, err := run("base", false); err != nil || !strings.HasPrefix(said, "base: generation 3 is indexed") {
				t.Errorf("after generation 2 was given up it says %q, %v", said, err)
			}
			if _, err := giveUp("base"); err != nil {
				t.Error(err)
			}
			if st, err = store.Open(t.Context(), dsn); err != nil {
				t.Fatal(err)
			}
			if err := st.Indexes.Begin(t.Context(), "base", 4); err != nil { // as spec.indexer.generation has it begun
				t.Fatal(err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			ofAnother := nothing + ". Generation 3 was given up before. Generation 4 still has rows: the chain's indexer deletes them while it runs, unless " +
				"spec.indexer.generation asks for it: put 1 there to give it up"
			if _, err := giveUp("base"); err == nil || err.Error() != ofAnother {
				t.Errorf("given up where another generation is declared: %v", err)
			}
		})
	}
}

// TestReindexOfSolana reads what the command says of a chain whose past is read block by block.
func TestReindexOfSolana(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			st := storetest.OpenAt(t, dsn)
			l, err := st.Leases.Acquire(t.Context(), "solana", "test", 1)
			if err != nil {
				t.Fatal(err)
			}
			mint := market.SolanaAddress([32]byte{7})
			token := market.Change[market.Address, market.Token]{Key: mint, After: &market.Token{Mint: mint}}
			commit := &store.Commit{First: 1001, Last: market.Header{Number: 2024, Hash: market.Hash{1}, Time: 1_700_000_000}}
			commit.Changes.Tokens = append(commit.Changes.Tokens, token)
			if err := st.Commit(t.Context(), l, commit); err != nil {
				t.Fatal(err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := (&indexer.Reindex{Database: dsn, Chain: "solana", AskAnew: true, Out: &out}).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if text := out.String(); !strings.Contains(text, "asked again, 0 answers.\n") { // without a word of old states
				t.Errorf("of what is asked again it says %q", text)
			}
			want := "It reads blocks 1001 to 2024: some 1026 calls for 1024 slots (one for each slot that has a block, one for each 512 slots, "
			if !strings.Contains(out.String(), want) {
				t.Errorf("it says %q, want %q in it", out.String(), want)
			}
		})
	}
}
