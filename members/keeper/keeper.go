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
	// anewAtOnce is how many members are written at once with all of their days.
	anewAtOnce = 20
	// saveEvery is how often it is noted how far the chains were read if nothing else changes, in seconds of their time.
	saveEvery = 60
	// silentFor is how old the newest block of a chain is that isn't waited for any more, if the chain hasn't moved for stillFor; both in seconds.
	silentFor = 24 * 60 * 60
	stillFor  = 10 * 60
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

	// state is what was taken in, and saved is what of it was written last; nil is nothing yet.
	state, saved *social.GameState
	// traded has the tokens that are counted of the days of late.
	traded map[memberDay]*tradedTokens
	// seen is what was seen of each chain last.
	seen map[string]chainSeen
	// opens is when the next bucket of each width opens that isn't closed, and first when the first hour of a member opens, which was read at firstAt; 0 without
	// any. Nothing is closed before bucketsAt, after an error. Unix seconds.
	opens                     map[int64]int64
	first, firstAt, bucketsAt int64
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

// chainSeen is how far a chain was, and since when it has been there; unix seconds of the clock.
type chainSeen struct {
	number           uint64
	finalTime, since int64
}

type memberDay struct {
	member member.Number
	date   int64
}

// tradedTokens has the tokens that a member traded on a day, up to the number that counts, and all chains on which the member traded on that day.
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
	chains, err := k.look(ctx, l)
	if err != nil {
		k.forgotten.Store(true) // a part may have been written
		return err
	}
	return k.closeBuckets(ctx, l, chains)
}

// look gives the chains of which everything was taken in.
func (k *Keeper) look(ctx context.Context, l *social.Lease) ([]store.ChainStatus, error) {
	stored, err := k.Store.Social.Game.GameState(ctx)
	if err != nil {
		return nil, err
	}
	if k.forgotten.Swap(false) || k.state == nil || !reflect.DeepEqual(stored, k.saved) { // the database has lost what was written last
		if err := k.load(ctx, l, stored); err != nil {
			return nil, err
		}
	}
	if today := game.DateOf(k.Now().Unix()); today != k.today {
		k.today = today
		maps.DeleteFunc(k.traded, func(d memberDay, _ *tradedTokens) bool { return d.date < today-1 })
	}
	for last := newestOf(k.state.Chains); ; {
		chains, err := k.chains(ctx) // anew each time: another index may be served by then
		if err != nil {
			return nil, err
		}
		t := newTodo(k, last)
		more, err := t.read(ctx, chains)
		if err != nil {
			return nil, err
		}
		if err := k.write(ctx, l, t, chains); err != nil {
			return nil, err
		}
		if !more {
			return chains, k.closeSeasons(ctx, l, chains)
		}
	}
}

// newestOf is the newest of the times up to which chains were read; 0 without any.
func newestOf(chains map[string]int64) (at int64) {
	for _, t := range chains {
		at = max(at, t)
	}
	return at
}

// chains reads the chains that have blocks, and notes which of them got new ones.
func (k *Keeper) chains(ctx context.Context) ([]store.ChainStatus, error) {
	list, err := k.Store.Chains(ctx)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(c store.ChainStatus) bool { return c.Last.Hash == (market.Hash{}) })
	for i := range list {
		c := &list[i]
		now := chainSeen{c.Last.Number, c.Head.FinalTime, k.seen[c.ID].since}
		if k.seen[c.ID] != now || now.since == 0 {
			now.since = k.Now().Unix()
			k.seen[c.ID] = now
		}
	}
	return list, nil
}

// load takes over what was taken in, as it is stored; nil is nothing yet. Other rules than before are applied to all that was counted.
func (k *Keeper) load(ctx context.Context, l *social.Lease, stored *social.GameState) error {
	k.traded, k.state, k.saved = map[memberDay]*tradedTokens{}, nil, stored
	if k.seen == nil {
		k.seen = map[string]chainSeen{}
	}
	if stored == nil {
		last, err := k.Store.Stream.Last(ctx)
		if err != nil {
			return err
		}
		// Trades of earlier weeks count for XP. Nobody gets a place in the seasons of those weeks.
		k.state = &social.GameState{Stream: last, Chains: map[string]int64{}, Season: k.week() - 1, Rules: k.Rules}
		return nil
	}
	if stored.IsApplying || !reflect.DeepEqual(stored.Rules, k.Rules) {
		k.Log.InfoContext(ctx, "the rules of the game have changed: what members have come to is computed anew")
		stored = cloneOf(stored)
		stored.IsApplying = true // whoever begins anew before all are computed computes all of them, by whatever rules
		if err := k.Store.Social.Game.KeepGame(ctx, l, nil, stored, k.Now().Unix()); err != nil {
			return err
		}
		if err := k.standAll(ctx, l, stored); err != nil {
			return err
		}
		stored.Rules, stored.IsApplying = k.Rules, false
		if err := k.Store.Social.Game.KeepGame(ctx, l, nil, stored, k.Now().Unix()); err != nil {
			return err
		}
	}
	k.state, k.saved = cloneOf(stored), cloneOf(stored)
	return k.standPlaced(ctx, l, stored.Season) // it may have been closed just before the process ended
}

func cloneOf(s *social.GameState) *social.GameState {
	out := *s
	out.Chains = maps.Clone(s.Chains)
	return &out
}

// standAll computes anew what all members have come to.
func (k *Keeper) standAll(ctx context.Context, l *social.Lease, state *social.GameState) error {
	all, err := k.Store.Social.Registry.CountMembers(ctx)
	if err != nil {
		return err
	}
	began, said, done := k.Now(), k.Now(), 0
	for above := member.Number(0); ; {
		list, err := k.Store.Social.Game.GameMembers(ctx, above, anewAtOnce)
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
			p, isNew := r.standing(n, k.Rules, k.week())
			if allDays {
				p.Days = k.valued(r.days[n])
			}
			if isNew || len(p.Days) > 0 {
				played = append(played, p)
			}
		}
		if err := k.Store.Social.Game.KeepGame(ctx, l, played, state, k.Now().Unix()); err != nil {
			return err
		}
	}
	return nil
}

// valued says what days are worth.
func (k *Keeper) valued(days []game.Day) []social.PlayedDay {
	out := make([]social.PlayedDay, len(days))
	for i := range days {
		out[i] = social.PlayedDay{Day: days[i], XP: k.Rules.DayXP(&days[i])}
	}
	return out
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
	if r.days, err = k.Store.Social.Game.GameDays(ctx, members); err != nil {
		return r, err
	}
	if r.places, err = k.Store.Social.Game.SeasonPlaces(ctx, members); err != nil {
		return r, err
	}
	r.standings, err = k.Store.Social.Game.GameStandings(ctx, members)
	return r, err
}

// standing is what a member has come to by their days; isNew says that something else is stored. week is this week, by a clock that a chain may be ahead of.
func (r *records) standing(n member.Number, rules *game.Rules, week int64) (p social.Played, isNew bool) {
	was, had := r.standings[n]
	if days := r.days[n]; len(days) > 0 {
		week = max(week, game.WeekOf(days[len(days)-1].Date))
	}
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
		if err := k.Store.Social.Game.KeepGame(ctx, l, played, k.state, k.Now().Unix()); err != nil {
			return err
		}
		k.saved = cloneOf(k.state)
		members = members[membersAtOnce:]
	}
	t.next.Revision = k.state.Revision
	played, err := k.count(ctx, members, t, chains)
	if err != nil {
		return err
	}
	if len(played) > 0 || k.saved == nil || k.isFarther(t.next) {
		if err := k.Store.Social.Game.KeepGame(ctx, l, played, t.next, k.Now().Unix()); err != nil {
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
		p, isNew := r.standing(n, k.Rules, k.week())
		p.Days = k.valued(changedDays(before[n], r.days[n]))
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
	most := k.Rules.XP.TokensADay
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
	wins, err := k.Store.Social.Game.Wins(ctx, callers, game.Opens(oldest))
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
