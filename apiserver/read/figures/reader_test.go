package figures

import (
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestTokensKnowTheirGraduation reads it with the token, and what was read is the answer while the database is away.
func TestTokensKnowTheirGraduation(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	mint := markettest.Address("0xa000000000000000000000000000000000000001")
	away := false
	r := NewReader(w.Store, func() time.Time { return time.Unix(w.Now, 0) }, func() bool { return away })
	launch := readtest.Launch{Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Locked: 5, CreatedAt: w.Now}
	var graduatedAt int64
	for _, look := range []struct {
		state market.LaunchState
		away  bool
	}{{market.LaunchOnCurve, false}, {market.LaunchGraduated, false}, {market.LaunchOnCurve, true}} {
		w.Now += 60 // past what is remembered
		if launch.State = look.state; look.state == market.LaunchGraduated {
			graduatedAt = w.Now
		}
		w.Commit("base", func(ch *market.Changes) { w.Set(ch, "base", mint, 2, launch) })
		away = look.away
		list, err := r.Tokens(t.Context(), mint)
		if err != nil || len(list) != 1 || list[0].GraduatedAt != graduatedAt || list[0].Stale != look.away {
			t.Errorf("want a graduation at %d, stale %v: %+v, %v", graduatedAt, look.away, list, err)
		}
	}
}

// TestTokensWithin: what was read is the answer up to the age with which the caller is content, and no longer.
func TestTokensWithin(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	mint := markettest.Address("0xa000000000000000000000000000000000000001")
	now := time.Unix(w.Now, 0)
	r := NewReader(w.Store, func() time.Time { return now }, func() bool { return false })
	launch := readtest.Launch{Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Locked: 5, CreatedAt: w.Now}
	commit := func() { w.Commit("base", func(ch *market.Changes) { w.Set(ch, "base", mint, 2, launch) }) }
	isGraduated := func(age time.Duration) bool {
		t.Helper()
		found, err := r.TokensWithin(t.Context(), []market.Address{mint}, age)
		if err != nil || len(found[mint]) != 1 {
			t.Fatal(found, err)
		}
		return found[mint][0].GraduatedAt > 0
	}
	commit()
	if isGraduated(time.Second) {
		t.Error("it has graduated before it did")
	}
	launch.State = market.LaunchGraduated
	commit()
	if now = now.Add(time.Second - 1); isGraduated(time.Second) {
		t.Error("it was read again below the age")
	}
	if now = now.Add(1); !isGraduated(time.Second) {
		t.Error("it wasn't read again at the age")
	}
}
