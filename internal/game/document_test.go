package game_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/game"
)

// TestDocument replays the example of docs/game.md, and holds its rules to the default ones.
func TestDocument(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/game.md")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), string(rules)) {
		t.Error("docs/game.md doesn't have the default rules")
	}
	r := game.Default()
	for _, rank := range r.Ranks[1:] {
		if said := rank.Name + " " + thousands(rank.MinXP); !strings.Contains(string(doc), said) {
			t.Errorf("docs/game.md doesn't say %q", said)
		}
	}
	var days []game.Day
	var places []game.Place
	score := map[int64]int64{}
	rows := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "|")
		if len(cells) != 9 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		at, err := time.Parse(time.DateOnly, cells[1])
		if err != nil {
			continue
		}
		rows++
		number := func(i int) int64 {
			n, err := strconv.ParseInt(cells[i], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		d := game.Day{Date: game.DateOf(at.Unix()), Tokens: int(number(2)), Wins: int(number(3))}
		week := game.WeekOf(d.Date)
		if n := len(days); n > 0 && game.WeekOf(days[n-1].Date) != week {
			places = append(places, game.Place{Week: week - 1, Place: 3})
		}
		days = append(days, d)
		xp := r.DayXP(&d)
		score[week] += xp
		all := r.Stand(days, places).XP
		if rank := r.Ranks[r.Level(all)-1].Name; xp != number(4) || all != number(5) || rank != cells[6] || score[week] != number(7) {
			t.Errorf("%s: %d XP, %d in all, %s, a score of %d; the page says %q", cells[1], xp, all, rank, score[week], cells[4:8])
		}
	}
	if rows != 6 {
		t.Errorf("%d rows were read", rows)
	}
}

func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	if len(text) > 3 {
		return text[:len(text)-3] + "," + text[len(text)-3:]
	}
	return text
}
