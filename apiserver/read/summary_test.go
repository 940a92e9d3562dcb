package read

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// TestSummaryAge: memory tells of a token as long as the last look is new enough for who asks, and as long as the database can't be read.
func TestSummaryAge(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	mint := markettest.Address("0xa000000000000000000000000000000000000001")
	w.Commit("base", func(ch *market.Changes) {
		w.Set(ch, "base", mint, 1, readtest.Launch{Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Locked: 5, Volume: 20_000, CreatedAt: w.Now - 3000, Buyers: 20})
	})
	now := time.Unix(w.Now, 0)
	v := New(w.Store, catalog.NewLive(readtest.Catalog()), board.DefaultGate(), func() time.Time { return now }, slog.New(slog.DiscardHandler))
	has := func(what string, after time.Time, want bool) {
		t.Helper()
		s, ok := v.snapshot.Load().Summary("base", mint, after)
		if ok != want || ok && (s.Symbol != "OTR" || s.Price == nil) {
			t.Errorf("%s: %+v, %v; want %v", what, s, ok, want)
		}
	}
	has("before the first look", time.Time{}, false)
	if err := v.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	has("a look of now", now.Add(-time.Nanosecond), true)
	has("a look that is too old", now, false)
	v.lost(t.Context(), errors.New("it is away"))
	has("a look that is too old, while the database is away", now, true)
	w.Commit("base", func(*market.Changes) {})
	now = now.Add(time.Minute)
	has("as of the last look", now, true)
	if err := v.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	has("the database is there again", now.Add(-time.Second), true)
	if _, ok := v.snapshot.Load().Summary("nowhere", mint, time.Time{}); ok {
		t.Error("of a chain that isn't there")
	}
}
