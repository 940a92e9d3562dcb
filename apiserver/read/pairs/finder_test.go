package pairs

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/apiserver/read/search"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestAnotherDatabase walks all listings again when a chain has fewer commits than were seen of it.
func TestAnotherDatabase(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	w.Commit("base", func(ch *market.Changes) {
		w.Set(ch, "base", markettest.Address("0xa000000000000000000000000000000000000001"), 1, readtest.Launch{
			Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Locked: 5, Volume: 20_000, CreatedAt: w.Now,
		})
	})
	now := func() time.Time { return time.Unix(w.Now, 0) }
	f := NewFinder(Options{
		Store: w.Store, Looks: w.Store, Tokens: figures.NewReader(w.Store, now, func() bool { return false }), Now: now, Log: slog.New(slog.DiscardHandler),
	})
	status, _, err := w.Store.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	seen := status.CommitNo
	f.chains["base"] = searchedChain{seen: seen + 100, walked: now()}
	if err := f.takeAll(t.Context(), map[string]store.ChainStatus{"base": status}); err != nil {
		t.Fatal(err)
	}
	if got := f.chains["base"].seen; got != seen || f.index.Len() == 0 {
		t.Errorf("it is at %d of %d, with %d tokens", got, seen, f.index.Len())
	}
}

// TestWhatIsNotTold: where nobody tells which listings changed all are walked, but not more often than once a minute.
func TestWhatIsNotTold(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	mint := func(n int) market.Address { return markettest.Address(fmt.Sprintf("0xa0%038x", n)) }
	launch := func(n int) {
		w.Commit("base", func(ch *market.Changes) {
			w.Set(ch, "base", mint(n), 1, readtest.Launch{Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Locked: 5, Volume: 20_000, CreatedAt: w.Now})
		})
	}
	began := time.Unix(w.Now, 0)
	now := began
	clock := func() time.Time { return now }
	f := NewFinder(Options{
		Store: w.Store, Looks: w.Store, Tokens: figures.NewReader(w.Store, clock, func() bool { return false }), Now: clock, Log: slog.New(slog.DiscardHandler),
	})
	listed := func(when string, after time.Duration, want ...int) {
		t.Helper()
		now = began.Add(after)
		status, _, err := w.Store.Chain(t.Context(), "base")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.takeAll(t.Context(), map[string]store.ChainStatus{"base": status}); err != nil {
			t.Fatal(err)
		}
		var got []int
		for n := range 9 {
			if len(f.index.At(mint(n), search.MaxHits)) > 0 {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v are listed, want %v", when, got, want)
		}
	}
	launch(1)
	listed("at first", 0, 1)
	launch(2)
	listed("what is told", time.Second, 1, 2)
	launch(3)
	w.Untell("base")
	listed("what isn't", 2*time.Second, 1, 2)
	launch(4)
	listed("a moment before it is walked", walkPause-1, 1, 2)
	listed("a minute after the last walk", walkPause, 1, 2, 3, 4)
	launch(5)
	listed("what is told again", walkPause+1, 1, 2, 3, 4, 5)
}
