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
