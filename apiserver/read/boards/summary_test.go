package boards

import (
	"math"
	"reflect"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// TestSummary: what the board's memory tells of a token is what a reading of the token tells, as long as nothing of its chain has changed.
func TestSummary(t *testing.T) {
	t.Parallel()
	w, v, mint := oneLaunch(t)
	status := func() store.ChainStatus {
		t.Helper()
		list, err := w.Store.Chains(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.ID == "base" {
				return s
			}
		}
		t.Fatal("base isn't indexed")
		return store.ChainStatus{}
	}
	hold := func(what string, price float64) {
		t.Helper()
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		at := status()
		got, ok := v.board().Summary(&at, mint)
		read, err := figures.Read(t.Context(), w.Store, v.now(), []market.Address{mint})
		if !ok || err != nil || len(read[mint]) != 1 {
			t.Fatalf("%s: in memory: %v; %d tokens are read, %v", what, ok, len(read[mint]), err)
		}
		if want := read[mint][0].Summary(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: in memory %+v, read %+v", what, got, want)
		}
		var raw market.Amount
		raw.SetUint64(2e18)
		if got.Price == nil || math.Abs(*got.Price-price) > 1e-9 || got.Whole(&raw) != 2 {
			t.Errorf("%s: %+v; want a price of %v", what, got, price)
		}
	}
	gone := func(what string) {
		t.Helper()
		at := status()
		if s, ok := v.board().Summary(&at, mint); ok {
			t.Errorf("%s, which the board hasn't read: %+v", what, s)
		}
	}
	hold("a launch", 0.02)
	w.Commit("base", func(ch *market.Changes) {
		ch.Quotes = append(ch.Quotes, market.Change[market.Address, market.QuotePrice]{
			Key: markettest.Address(readtest.Wrapped), After: &market.QuotePrice{Asset: markettest.Address(readtest.Wrapped), USD: 3000},
		})
	})
	gone("a commit")
	hold("what its quote is worth has changed", 0.03)
	w.Commit("base", func(ch *market.Changes) {
		w.Set(ch, "base", mint, 1, readtest.Launch{Name: "Heron", Symbol: "HRN", Venue: "four-meme", State: market.LaunchOnCurve, Progress: 50, Locked: 6, Volume: 20_000, CreatedAt: w.Now - 3000, Buyers: 20})
	})
	gone("another commit")
	hold("the token has changed", 0.03)
	at := status()
	at.Rewinds++
	if s, ok := v.board().Summary(&at, mint); ok {
		t.Errorf("after a reorg: %+v", s)
	}
	w.Rewind("base", 2)
	gone("a reorg")
	at = status()
	if s, ok := v.board().Summary(&at, markettest.Address("0xa00000000000000000000000000000000000dead")); ok {
		t.Errorf("an unknown token: %+v", s)
	}
	if s, ok := (*Board)(nil).Summary(&at, mint); ok {
		t.Errorf("no board: %+v", s)
	}
}
