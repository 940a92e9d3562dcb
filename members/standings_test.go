package members_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// standingAnswer is a member's progress, as the intake answers.
type standingAnswer struct {
	Member string
	XP     int64
	Rank   struct {
		ID, Name string
		Level    int
	}
	Badges []struct {
		ID, Name string
		EarnedOn string `json:"earned_on"`
	}
	Change int64
}

// TestStandings has a member's call win: the app is told of that member's progress once, and of nobody else's.
func TestStandings(t *testing.T) {
	t.Parallel()
	w := newPriced(t)
	w.member("u1", "ada")
	w.member("u2", "bob")
	var told struct {
		Standings []standingAnswer
		Last      int64
	}
	w.get("/v1/standings", &told)
	if told.Standings == nil || len(told.Standings) > 0 || told.Last != 0 {
		t.Errorf("before anybody did anything: %+v", told)
	}
	if got := w.put("/v1/calls/c1", w.body("u1", w.Token, "")); got != "written" {
		t.Fatal(got)
	}
	won := w.win(t, "c1")
	if !wait.Until(t.Context(), 20*time.Millisecond, func() bool {
		w.get("/v1/standings?limit=1000", &told)
		return len(told.Standings) > 0
	}) {
		t.Fatal("nobody has come to anything")
	}
	rules := game.Default()
	first, rank, day := told.Standings[0], rules.Ranks[rules.Level(rules.XP.Win)-1], (*won.DecidedAt)[:len(time.DateOnly)]
	if len(told.Standings) != 1 || first.Member != "u1" || first.XP != rules.XP.Win || first.Rank.ID != rank.ID || first.Rank.Name != rank.Name ||
		first.Rank.Level != rules.Level(rules.XP.Win) || told.Last != first.Change {
		t.Errorf("told is %+v", told)
	}
	if len(first.Badges) != 1 || first.Badges[0].ID == "" || first.Badges[0].Name == "" || first.Badges[0].EarnedOn != day {
		t.Errorf("the badges are %+v, want the first win's, of %s", first.Badges, day)
	}
	w.get(fmt.Sprintf("/v1/standings?after=%d", told.Last), &told)
	if len(told.Standings) > 0 {
		t.Errorf("what is known is told again: %+v", told)
	}
}
