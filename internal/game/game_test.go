package game_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/game"
)

func TestDayXP(t *testing.T) {
	t.Parallel()
	r := game.Default()
	for _, c := range []struct {
		day  game.Day
		want int64
	}{
		{game.Day{}, 0},
		{game.Day{Tokens: 1, Chains: 1}, 12},
		{game.Day{Tokens: 5, Chains: 1}, 20},
		{game.Day{Tokens: 6, Chains: 2}, 20},
		{game.Day{Wins: 1}, 40},
		{game.Day{Tokens: 2, Wins: 2}, 94},
		{game.Day{Tokens: 2, Wins: 3}, 94},
	} {
		if got := r.DayXP(&c.day); got != c.want {
			t.Errorf("%+v is worth %d, want %d", c.day, got, c.want)
		}
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	r := game.Default()
	for xp, want := range map[int64]int{0: 1, 19: 1, 20: 2, 99: 2, 100: 3, 24_999: 8, 25_000: 9, 1_000_000: 9} {
		if got := r.Level(xp); got != want {
			t.Errorf("%d XP are level %d, want %d", xp, got, want)
		}
	}
}

func TestWeeks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1969-12-28", "1969-12-29", "1970-01-01", "1970-01-04", "1970-01-05", "2020-12-31", "2021-01-03", "2021-01-04", "2026-11-29", "2026-11-30"} {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		date := game.DateOf(at.Unix())
		week := game.WeekOf(date)
		year, n := at.ISOWeek()
		if want, _ := time.Parse(time.DateOnly, text); game.Opens(date) != want.Unix() {
			t.Errorf("%s opens at %d", text, game.Opens(date))
		}
		monday := time.Unix(game.Opens(game.FirstDay(week)), 0).UTC()
		if y, w := monday.ISOWeek(); monday.Weekday() != time.Monday || y != year || w != n || date < game.FirstDay(week) || date >= game.FirstDay(week+1) {
			t.Errorf("%s is of the week of %s", text, monday)
		}
	}
	if got := game.WeekID(game.WeekOf(game.DateOf(time.Date(2021, 1, 3, 23, 59, 59, 0, time.UTC).Unix()))); got != "2020-W53" {
		t.Errorf("the week is %s", got)
	}
}

// TestStand adds up a made-up career: what a day and a season bring, and on which day each badge is earned.
func TestStand(t *testing.T) {
	t.Parallel()
	r := game.Default()
	var days []game.Day
	for date := int64(100); date < 107; date++ { // a week without a gap
		days = append(days, game.Day{Date: date, Tokens: 1, Chains: 1})
	}
	days[3].Tokens, days[3].Chains = 5, 3
	days = append(days, game.Day{Date: 110, Wins: 2}, game.Day{Date: 111, Tokens: 1, Chains: 1})
	week := game.WeekOf(106)
	got := r.Stand(days, []game.Place{{Week: week, Place: 2, Score: 1}})
	if want := int64(6*12 + 20 + 80 + 12 + 100); got.XP != want {
		t.Errorf("%d XP, want %d", got.XP, want)
	}
	want := []game.Earned{
		{"first-trade", 100},
		{"full-day", 103},
		{"three-chains", 103},
		{"week-streak", 106},
		{"first-season", game.FirstDay(week + 1)},
		{"podium", game.FirstDay(week + 1)},
		{"first-win", 110},
		{"two-wins", 110},
	}
	if !slices.Equal(got.Badges, want) {
		t.Errorf("the badges are %v, want %v", got.Badges, want)
	}
	if gap := r.Stand(slices.Delete(slices.Clone(days), 2, 3), nil); slices.ContainsFunc(gap.Badges, func(e game.Earned) bool { return e.Badge == "week-streak" }) {
		t.Error("six days with a gap are a week")
	}
}

// TestEveryBadge: each of the default badges can be earned, and each rank reached.
func TestEveryBadge(t *testing.T) {
	t.Parallel()
	r := game.Default()
	if len(r.Ranks) < 8 || len(r.Badges) < 12 {
		t.Errorf("%d ranks, %d badges", len(r.Ranks), len(r.Badges))
	}
	var days []game.Day
	var places []game.Place
	for date := int64(4); date < 4+7*60; date++ {
		days = append(days, game.Day{Date: date, Tokens: 5, Chains: 3, Wins: 2})
		if game.WeekOf(date+1) != game.WeekOf(date) {
			places = append(places, game.Place{Week: game.WeekOf(date), Place: 1, Score: 100})
		}
	}
	got := r.Stand(days, places)
	if len(got.Badges) != len(r.Badges) {
		t.Errorf("%d badges of %d were earned: %v", len(got.Badges), len(r.Badges), got.Badges)
	}
	if r.Level(got.XP) != len(r.Ranks) {
		t.Errorf("%d XP are level %d", got.XP, r.Level(got.XP))
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	const whole = `
xp: {activeDay: 1, token: 1, tokensADay: 1, win: 1, winsADay: 1}
season: {bonus: [{places: 1, xp: 5}, {places: 500, xp: 1}]}
ranks: [{id: a, name: A, minXP: 0}, {id: b, name: B, minXP: 1}]
badges: [{id: x, name: X, for: days, count: 1, image: "https://example.com/x.png"}]
`
	r, err := game.Parse("rules", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again game.Rules
	if err := json.Unmarshal(raw, &again); err != nil || !reflect.DeepEqual(r, &again) {
		t.Errorf("%+v is stored as %s", r, raw)
	}
	for _, c := range []struct{ from, to, want string }{
		{"activeDay: 1", "activeDay: -1", "xp.activeDay is -1; allowed: 0 to 1000000"},
		{"tokensADay: 1", "tokensADay: 0", "xp.tokensADay is 0; allowed: 1 to 50"},
		{"tokensADay: 1", "tokensADay: 51", "xp.tokensADay is 51; allowed: 1 to 50"},
		{"winsADay: 1", "winADay: 1", "field winADay not found"},
		{"win: 1", "win: 1000001", "xp.win is 1000001"},
		{"places: 500", "places: 501", "season.bonus[1].places is 501; allowed: 2 to 500"},
		{"places: 500", "places: 1", "season.bonus[1].places is 1; allowed: 2 to 500"},
		{"ranks: [{id: a, name: A, minXP: 0}, {id: b, name: B, minXP: 1}]", "ranks: []", "the number of ranks is 0; allowed: 1 to 100"},
		{"name: A, minXP: 0", "name: A, minXP: 1", "ranks[0].minXP is 1; allowed: 0 to 0"},
		{"name: B, minXP: 1", "name: B, minXP: 0", "ranks[1].minXP is 0; allowed: 1 to 1000000000"},
		{"id: b", "id: a", `ranks[1].id is "a", which another one has`},
		{"id: b", "id: B!", `ranks[1].id is "B!"; allowed: up to 32 of a-z, 0-9 and -`},
		{"name: B", "name: ''", "ranks[1].name: allowed is one line of 1 to 60 characters"},
		{"for: days", "for: luck", `badges[0].for is "luck"; allowed: days, streak, fullDays, chains, wins, winsADay, seasons, place, xp`},
		{"count: 1", "count: 0", "badges[0].count is 0"},
		{"https://example.com", "http://example.com", "badges[0].image: allowed is https:// with a host"},
		{"\nseason", "\n---\nseason", "more than one document"},
	} {
		_, err := game.Parse("rules", []byte(strings.Replace(whole, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "rules: ") {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
	if _, err := game.Parse("rules", []byte(strings.Repeat("#", 64<<10+1))); err == nil {
		t.Error("a file that is too large was read")
	}
	if _, err := game.Parse("rules", nil); err == nil {
		t.Error("an empty file are rules")
	}
	if _, err := game.Read("/does/not/exist"); err == nil || !strings.Contains(err.Error(), "the rules of the game") {
		t.Errorf("a file that isn't there: %v", err)
	}
}
