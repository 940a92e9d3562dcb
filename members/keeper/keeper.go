// Package keeper keeps the members' game: it finds out what members did on each day, from the chains' rows and their calls, and writes what they have come to by
// the rules of package game. It closes the seasons.
package keeper

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

const (
	// readAtOnce is how many items of the stream, and changes of calls, are read at once.
	readAtOnce = 1_000
	// membersAtOnce is how many members are written at once. The intake waits meanwhile.
	membersAtOnce = 200
	// saveEvery is how often it is noted how far the chains were read if nothing else changes, in seconds of their time.
	saveEvery = 60
	// silentFor is how long after a season's end a chain is waited for that stands still, in seconds of the clock.
	silentFor = 24 * 60 * 60
	// logEvery is the time between two lines about a long work.
	logEvery = 5 * time.Second
)

// Options are what a keeper works with.
type Options struct {
	// Store goes by chains' ids (store.Served).
	Store *store.Store
	Rules *game.Rules
	Now   func() time.Time
	Log   *slog.Logger
	// Behind tells how many numbers of the stream the game hasn't taken in.
	Behind prometheus.Gauge
}

// Keeper keeps the game. One goroutine calls Look.
type Keeper struct {
	Options

	// state is what was taken in, and saved is that of the database.
	state, saved *social.GameState
	// traded has the tokens that are counted of the days of late.
	traded map[memberDay]*tradedTokens
	// today is the day of the last look.
	today     int64
	forgotten atomic.Bool
}

// New is a keeper that has read nothing yet.
func New(o Options) *Keeper { return &Keeper{Options: o} }

// Forget has everything read anew at the next look: another process may have kept the game meanwhile. Any goroutine may call it.
func (k *Keeper) Forget() {
	k.forgotten.Store(true)
	k.Behind.Set(0)
}

type memberDay struct {
	member member.Number
	date   int64
}

// tradedTokens are tokens of a member's day, as many as count, and all chains of the others.
type tradedTokens struct {
	tokens []store.TokenAt
	chains []string
}

// changesNothing reports whether another trade in a token leaves the day as it is.
func (t *tradedTokens) changesNothing(at store.TokenAt, most int) bool {
	return slices.Contains(t.tokens, at) || len(t.tokens) >= most && slices.Contains(t.chains, at.Chain)
}

func (t *tradedTokens) add(at store.TokenAt, most int) {
	if len(t.tokens) < most {
		t.tokens = append(t.tokens, at)
	}
	if !slices.Contains(t.chains, at.Chain) {
		t.chains = append(t.chains, at.Chain)
	}
}

// Look takes in what the chains and the members' calls brought since the last time, and closes seasons, under the lease.
func (k *Keeper) Look(ctx context.Context, l *social.Lease) error {
	err := k.look(ctx, l)
	if err != nil {
		k.forgotten.Store(true) // a part may have been written
	}
	return err
}

func (k *Keeper) look(ctx context.Context, l *social.Lease) error {
	list, err := k.Store.Chains(ctx)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(c store.ChainStatus) bool { return c.Last.Hash == (market.Hash{}) })
	if k.forgotten.Swap(false) || k.state == nil {
		if err := k.load(ctx, l); err != nil {
			return err
		}
	}
	if today := game.DateOf(k.Now().Unix()); today != k.today {
		k.today = today
		maps.DeleteFunc(k.traded, func(d memberDay, _ *tradedTokens) bool { return d.date < today-1 })
	}
	last, err := k.Store.Stream.Last(ctx)
	if err != nil {
		return err
	}
	first, err := k.Store.Stream.First(ctx, k.Now())
	if err != nil {
		return err
	}
	t := newTodo(k)
	if last < k.state.Stream || first > k.state.Stream+1 { // the database has gone back, or what was taken back isn't known any more
		if err := t.recount(ctx); err != nil {
			return err
		}
		t.next.Stream = min(k.state.Stream, last)
		if first > t.next.Stream+1 {
			t.next.Stream = first - 1
		}
	}
	for {
		k.Behind.Set(float64(max(last-t.next.Stream, 0)))
		more, err := t.read(ctx, list)
		if err != nil {
			return err
		}
		if err := k.write(ctx, l, t, list); err != nil {
			return err
		}
		if !more {
			break
		}
		t = newTodo(k)
	}
	k.Behind.Set(0)
	return k.closeSeasons(ctx, l, list)
}

// load reads what was taken in. Other rules than before are applied to all that was counted.
func (k *Keeper) load(ctx context.Context, l *social.Lease) error {
	k.traded, k.state = map[memberDay]*tradedTokens{}, nil
	state, err := k.Store.Social.GameState(ctx)
	if err != nil {
		return err
	}
	isNew := state == nil
	if isNew {
		last, err := k.Store.Stream.Last(ctx)
		if err != nil {
			return err
		}
		state = &social.GameState{Stream: last, Chains: map[string]int64{}, Season: math.MinInt64, Rules: k.Rules}
	}
	if !reflect.DeepEqual(state.Rules, k.Rules) {
		k.Log.InfoContext(ctx, "the rules of the game have changed: what members have come to is computed anew")
		state.Rules = k.Rules
		if err := k.standAll(ctx, l, state); err != nil {
			return err
		}
	}
	k.state, k.saved = state, cloneOf(state)
	if isNew {
		k.saved = &social.GameState{}
		return nil
	}
	return k.standPlaced(ctx, l, state.Season) // it may have been closed just before the process ended
}

func cloneOf(s *social.GameState) *social.GameState {
	out := *s
	out.Chains = maps.Clone(s.Chains)
	return &out
}

// standAll computes anew what all members have come to.
func (k *Keeper) standAll(ctx context.Context, l *social.Lease, state *social.GameState) error {
	all, err := k.Store.Social.CountMembers(ctx)
	if err != nil {
		return err
	}
	began, said, done := k.Now(), k.Now(), 0
	for above := member.Number(0); ; {
		list, err := k.Store.Social.GameMembers(ctx, above, membersAtOnce)
		if err != nil || len(list) == 0 {
			return err
		}
		above = list[len(list)-1]
		if err := k.stand(ctx, l, list, state, true); err != nil {
			return err
		}
		done += len(list)
		if now := k.Now(); now.Sub(said) >= logEvery {
			said = now
			left := time.Duration(float64(now.Sub(began)) * float64(all-done) / float64(done))
			k.Log.InfoContext(ctx, "the game is computed anew", "percent", 100*done/max(all, 1), "left", left.Round(time.Second).String())
		}
	}
}

// stand computes anew what some members have come to, from their days and places as they are stored. allDays has their days valued anew, too.
func (k *Keeper) stand(ctx context.Context, l *social.Lease, members []member.Number, state *social.GameState, allDays bool) error {
	for some := range slices.Chunk(members, membersAtOnce) {
		r, err := k.readRecords(ctx, some)
		if err != nil {
			return err
		}
		var played []social.Played
		for _, n := range some {
			p, isNew := r.standing(n, state.Rules, k.week())
			if allDays {
				p.Days = r.days[n]
			}
			if isNew || len(p.Days) > 0 {
				played = append(played, p)
			}
		}
		if err := k.Store.Social.KeepGame(ctx, l, played, state, k.Now().Unix()); err != nil {
			return err
		}
	}
	return nil
}

// week is this week.
func (k *Keeper) week() int64 { return game.WeekOf(game.DateOf(k.Now().Unix())) }

// records are what is stored of some members.
type records struct {
	days      map[member.Number][]game.Day
	places    map[member.Number][]game.Place
	standings map[member.Number]social.GameStanding
}

func (k *Keeper) readRecords(ctx context.Context, members []member.Number) (r records, err error) {
	if r.days, err = k.Store.Social.GameDays(ctx, members); err != nil {
		return r, err
	}
	if r.places, err = k.Store.Social.SeasonPlaces(ctx, members); err != nil {
		return r, err
	}
	r.standings, err = k.Store.Social.GameStandings(ctx, members)
	return r, err
}

// standing is what a member has come to by their days; isNew says that something else is stored.
func (r *records) standing(n member.Number, rules *game.Rules, week int64) (p social.Played, isNew bool) {
	was, had := r.standings[n]
	p.Member, p.Standing, p.Week = n, rules.Stand(r.days[n], r.places[n]), week
	for i := range r.days[n] {
		if d := &r.days[n][i]; game.WeekOf(d.Date) == week {
			p.WeekXP += rules.DayXP(d)
		}
	}
	if !had && p.XP == 0 && len(p.Badges) == 0 {
		return p, false
	}
	wasWeekXP := was.WeekXP
	if was.Week != week {
		wasWeekXP = 0
	}
	return p, was.XP != p.XP || wasWeekXP != p.WeekXP || !slices.Equal(was.Badges, p.Badges)
}

// write counts anew what a todo names, and stores it with how far everything was read by that.
func (k *Keeper) write(ctx context.Context, l *social.Lease, t *todo, chains []store.ChainStatus) error {
	members := slices.Sorted(maps.Keys(t.days))
	for len(members) > membersAtOnce {
		played, err := k.count(ctx, members[:membersAtOnce], t, chains)
		if err != nil {
			return err
		}
		if err := k.Store.Social.KeepGame(ctx, l, played, k.state, k.Now().Unix()); err != nil {
			return err
		}
		members = members[membersAtOnce:]
	}
	played, err := k.count(ctx, members, t, chains)
	if err != nil {
		return err
	}
	if len(played) > 0 || k.isFarther(t.next) {
		if err := k.Store.Social.KeepGame(ctx, l, played, t.next, k.Now().Unix()); err != nil {
			return err
		}
		k.saved = cloneOf(t.next)
	}
	k.state = t.next
	return nil
}

// isFarther reports whether it has to be noted how far everything was read.
func (k *Keeper) isFarther(next *social.GameState) bool {
	if next.Stream != k.saved.Stream || next.CallChange != k.saved.CallChange || next.Season != k.saved.Season {
		return true
	}
	for chain, at := range next.Chains {
		if was, ok := k.saved.Chains[chain]; !ok || at < was || at-was >= saveEvery {
			return true
		}
	}
	return false
}

// count says of some members what has changed by the days that a todo names.
func (k *Keeper) count(ctx context.Context, members []member.Number, t *todo, chains []store.ChainStatus) ([]social.Played, error) {
	r, err := k.readRecords(ctx, members)
	if err != nil {
		return nil, err
	}
	before := make(map[member.Number][]game.Day, len(members))
	for _, n := range members {
		before[n] = slices.Clone(r.days[n])
	}
	if err := k.countTokens(ctx, members, t, &r, chains); err != nil {
		return nil, err
	}
	if err := k.countWins(ctx, members, t, &r); err != nil {
		return nil, err
	}
	var out []social.Played
	for _, n := range members {
		r.days[n] = slices.DeleteFunc(r.days[n], func(d game.Day) bool { return d.IsEmpty() })
		p, isNew := r.standing(n, k.state.Rules, k.week())
		p.Days = changedDays(before[n], r.days[n])
		if isNew || len(p.Days) > 0 {
			out = append(out, p)
		}
	}
	return out, nil
}

// changedDays are the days that differ; those that are gone are empty. Both lists are in the order of the days.
func changedDays(before, now []game.Day) (out []game.Day) {
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(before) > 0 && before[0].Date < now[0].Date:
			out, before = append(out, game.Day{Date: before[0].Date}), before[1:]
		case len(before) == 0 || now[0].Date < before[0].Date:
			out, now = append(out, now[0]), now[1:]
		default:
			if now[0] != before[0] {
				out = append(out, now[0])
			}
			before, now = before[1:], now[1:]
		}
	}
	return out
}

// day is a member's day for changing.
func (r *records) day(n member.Number, date int64) *game.Day {
	i, ok := slices.BinarySearchFunc(r.days[n], date, func(d game.Day, date int64) int { return int(d.Date - date) })
	if !ok {
		r.days[n] = slices.Insert(r.days[n], i, game.Day{Date: date})
	}
	return &r.days[n][i]
}

// countTokens counts the tokens of the days on which something was traded or taken back.
func (k *Keeper) countTokens(ctx context.Context, members []member.Number, t *todo, r *records, chains []store.ChainStatus) error {
	on := map[int64][]int64{}
	for _, n := range members {
		for date := range t.days[n].traded {
			on[date] = append(on[date], int64(n))
		}
	}
	ids := make([]string, len(chains))
	for i := range chains {
		ids[i] = chains[i].ID
	}
	most := k.state.Rules.XP.TokensADay
	for date, list := range on {
		traded, err := k.Store.Wallets.PlayedBy(ctx, ids, list, date)
		if err != nil {
			return err
		}
		of := make(map[member.Number]*tradedTokens, len(list))
		for _, n := range list {
			of[member.Number(n)] = &tradedTokens{}
		}
		for _, p := range traded {
			of[member.Number(p.Member)].add(p.TokenAt, most)
		}
		for n, tokens := range of {
			d := r.day(n, date)
			d.Tokens, d.Chains = len(tokens.tokens), len(tokens.chains)
			if date >= k.today-1 {
				k.traded[memberDay{n, date}] = tokens
			}
		}
	}
	return nil
}

// countWins counts the calls that won, of the members whose calls have changed, from the day of the oldest such call on.
func (k *Keeper) countWins(ctx context.Context, members []member.Number, t *todo, r *records) error {
	oldest := int64(math.MaxInt64)
	var callers []member.Number
	for _, n := range members {
		if from := t.days[n].calledFrom; from != noDay {
			oldest, callers = min(oldest, from), append(callers, n)
		}
	}
	if len(callers) == 0 {
		return nil
	}
	for _, n := range callers {
		for i := range r.days[n] {
			if d := &r.days[n][i]; d.Date >= t.days[n].calledFrom {
				d.Wins = 0
			}
		}
	}
	wins, err := k.Store.Social.Wins(ctx, callers, game.Opens(oldest))
	if err != nil {
		return err
	}
	for _, w := range wins {
		if date := game.DateOf(w.At); date >= t.days[w.Member].calledFrom {
			r.day(w.Member, date).Wins++
		}
	}
	return nil
}
