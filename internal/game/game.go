// Package game has the rules of the members' game: what earns experience points (XP), which ranks and badges follow, and what a season is. It is pure; the keeper
// of the members program applies it, and the API server shows what came of it. docs/game.md has the rules in words.
package game

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Day is what a member did on one day in UTC.
type Day struct {
	// Date counts days from 1970-01-01 on.
	Date int64
	// Tokens are how many tokens the member traded by trades that count, up to XP.TokensADay; Chains are on how many chains.
	Tokens, Chains int
	// Wins are how many of their calls won.
	Wins int
}

// IsEmpty reports whether the member did nothing.
func (d *Day) IsEmpty() bool { return d.Tokens == 0 && d.Wins == 0 }

// isActive reports whether the member traded.
func (d *Day) isActive() bool { return d.Tokens > 0 }

// Place is where a member ended a season.
type Place struct {
	// Week is the season's.
	Week int64
	// Place is 1 for the highest score. Members with equal scores have the last of their places: three who share the highest have place 3.
	Place int
	Score int64
}

// Earned is a badge that a member has.
type Earned struct {
	// Badge is the badge's id.
	Badge string `json:"badge"`
	// Date is the day on which it was earned.
	Date int64 `json:"date"`
}

// Standing is what a member has come to.
type Standing struct {
	XP int64
	// Badges are in the order in which they were earned.
	Badges []Earned
}

// DayXP is what a day is worth.
func (r *Rules) DayXP(d *Day) int64 {
	var xp int64
	if d.isActive() {
		xp = r.XP.ActiveDay
	}
	return xp + r.XP.Token*int64(min(d.Tokens, r.XP.TokensADay)) + r.XP.Win*int64(min(d.Wins, r.XP.WinsADay))
}

// Bonus is what a place in a season is worth. It counts for no season's score.
func (r *Rules) Bonus(place int) int64 {
	for _, b := range r.Season.Bonus {
		if place <= b.Places {
			return b.XP
		}
	}
	return 0
}

// Stand adds up a member's days and places. Both are in their order; no two days have one date.
func (r *Rules) Stand(days []Day, places []Place) Standing {
	c := career{rules: r}
	for len(days) > 0 || len(places) > 0 {
		if len(days) == 0 || len(places) > 0 && endOf(places[0].Week) <= days[0].Date {
			c.place(&places[0])
			places = places[1:]
			continue
		}
		c.day(&days[0])
		days = days[1:]
	}
	return c.standing
}

// endOf is the day after a week.
func endOf(week int64) int64 { return FirstDay(week + 1) }

// career is a member's time in the game, up to some day.
type career struct {
	rules    *Rules
	standing Standing

	last                           int64 // the last day on which they traded
	days, streak, fullDays, chains int
	wins, winsADay                 int
	seasons, place1                int
}

func (c *career) day(d *Day) {
	if d.isActive() {
		if c.days++; d.Date != c.last+1 {
			c.streak = 0
		}
		c.streak++
		c.last = d.Date
	}
	if d.Tokens >= c.rules.XP.TokensADay {
		c.fullDays++
	}
	c.chains = max(c.chains, d.Chains)
	c.wins += d.Wins
	c.winsADay = max(c.winsADay, d.Wins)
	c.standing.XP += c.rules.DayXP(d)
	c.award(d.Date)
}

func (c *career) place(p *Place) {
	c.seasons++
	if c.place1 == 0 || p.Place < c.place1 {
		c.place1 = p.Place
	}
	c.standing.XP += c.rules.Bonus(p.Place)
	c.award(endOf(p.Week))
}

// award gives the badges that are earned by a day and weren't before.
func (c *career) award(date int64) {
	for i := range c.rules.Badges {
		b := &c.rules.Badges[i]
		if c.has(b) && !slices.ContainsFunc(c.standing.Badges, func(e Earned) bool { return e.Badge == b.ID }) {
			c.standing.Badges = append(c.standing.Badges, Earned{b.ID, date})
		}
	}
}

func (c *career) has(b *Badge) bool {
	switch b.For {
	case ForDays:
		return int64(c.days) >= b.Count
	case ForStreak:
		return int64(c.streak) >= b.Count
	case ForFullDays:
		return int64(c.fullDays) >= b.Count
	case ForChains:
		return int64(c.chains) >= b.Count
	case ForWins:
		return int64(c.wins) >= b.Count
	case ForWinsADay:
		return int64(c.winsADay) >= b.Count
	case ForSeasons:
		return int64(c.seasons) >= b.Count
	case ForPlace:
		return c.place1 > 0 && int64(c.place1) <= b.Count
	case ForXP:
		return c.standing.XP >= b.Count
	}
	return false
}

// Level is the rank of a number of XP, from 1 on: the place of it in Ranks, plus one.
func (r *Rules) Level(xp int64) int {
	n, ok := slices.BinarySearchFunc(r.Ranks, xp, func(k Rank, xp int64) int { return cmp.Compare(k.MinXP, xp) })
	if ok {
		n++
	}
	return max(n, 1)
}

const (
	daySeconds = 24 * 60 * 60
	// thursday is how many days the first Monday before it lies from 1970-01-01, a Thursday.
	thursday = 3
)

// DateOf is the day of a time in unix seconds.
func DateOf(at int64) int64 { return floor(at, daySeconds) }

// Opens is when a day begins, in unix seconds.
func Opens(date int64) int64 { return date * daySeconds }

// WeekOf counts the weeks up to a day's, which begin on Mondays; the one of 1970-01-01 is 0.
func WeekOf(date int64) int64 { return floor(date+thursday, 7) }

// FirstDay is the Monday of a week.
func FirstDay(week int64) int64 { return week*7 - thursday }

// WeekID names a week as ISO 8601 does: 2026-W09.
func WeekID(week int64) string {
	year, n := time.Unix(Opens(FirstDay(week)), 0).UTC().ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, n)
}

// floor divides towards minus infinity.
func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
