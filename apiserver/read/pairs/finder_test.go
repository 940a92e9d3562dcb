package pairs

import (
	"log/slog"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
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
