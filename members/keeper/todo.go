package keeper

import (
	"context"
	"math"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// todo lists the days that have to be counted anew, and says how far stream, calls and chains are read when that is done.
type todo struct {
	*Keeper

	next *social.GameState
	days map[member.Number]*todoDays
	// lastRead is the newest of the times up to which the chains were read before this look; unix seconds.
	lastRead    int64
	isRecounted bool
}

// todoDays are a member's days to be counted anew.
type todoDays struct {
	// traded has the days on which a trade was added or taken back.
	traded map[int64]bool
	// calledFrom is the first day on which the number of winning calls may have changed; noDay is none.
	calledFrom int64
}

const noDay = math.MinInt64

func newTodo(k *Keeper, lastRead int64) *todo {
	return &todo{Keeper: k, next: cloneOf(k.state), days: map[member.Number]*todoDays{}, lastRead: lastRead}
}

func (t *todo) of(n member.Number) *todoDays {
	d := t.days[n]
	if d == nil {
		d = &todoDays{traded: map[int64]bool{}, calledFrom: noDay}
		t.days[n] = d
	}
	return d
}

// recount has the days of late be counted anew, which may have lost trades, and the chains be read again from them on. What a reorg or a failover takes is less
// than a day old.
func (t *todo) recount(ctx context.Context) error {
	if t.isRecounted || t.lastRead == 0 {
		return nil
	}
	t.isRecounted = true
	from := game.DateOf(t.lastRead) - 1
	list, err := t.Store.Social.Game.GameDaysSince(ctx, from)
	if err != nil {
		return err
	}
	clear(t.traded)
	for n, days := range list {
		for _, date := range days {
			t.of(n).traded[date] = true
		}
		t.calls(n, from)
	}
	for chain := range t.next.Chains {
		t.readFrom(chain, game.Opens(from))
	}
	return nil
}

// readFrom has a chain be read again from a time on.
func (t *todo) readFrom(chain string, at int64) {
	if read, ok := t.next.Chains[chain]; ok {
		t.next.Chains[chain] = min(read, at)
	}
}

// trade takes in a trade that counts.
func (t *todo) trade(n member.Number, date int64, at store.TokenAt) {
	if known := t.traded[memberDay{n, date}]; known == nil || !known.changesNothing(at, t.Rules.XP.TokensADay) {
		t.of(n).traded[date] = true
	}
}

// calls has a member's calls be looked at that won on a day or later.
func (t *todo) calls(n member.Number, from int64) {
	if d := t.of(n); d.calledFrom == noDay || from < d.calledFrom {
		d.calledFrom = from
	}
}

// read takes in a piece of what is new; more says that there may be more.
func (t *todo) read(ctx context.Context, chains []store.ChainStatus) (more bool, err error) {
	for _, read := range []func(context.Context) (bool, error){
		t.readStream,
		t.readCalls,
		func(ctx context.Context) (bool, error) { return t.readChains(ctx, chains) },
	} {
		some, err := read(ctx)
		if err != nil {
			return false, err
		}
		more = more || some
	}
	return more, nil
}

// readStream takes in what members traded near the heads of the chains, and what reorgs took back.
func (t *todo) readStream(ctx context.Context) (more bool, err error) {
	last, err := t.Store.Stream.Last(ctx)
	if err != nil {
		return false, err
	}
	first, err := t.Store.Stream.First(ctx, t.Now())
	if err != nil {
		return false, err
	}
	t.Behind.Set(float64(max(last-t.next.Stream, 0)))
	if last < t.next.Stream || first > t.next.Stream+1 { // the database has gone back, or what was taken back isn't known any more
		if err := t.recount(ctx); err != nil {
			return false, err
		}
		t.next.Stream = max(min(t.next.Stream, last), first-1)
	}
	list, err := t.Store.Stream.After(ctx, t.next.Stream, readAtOnce)
	if err != nil {
		return false, err
	}
	for i := range list {
		it := &list[i]
		t.next.Stream = it.Number
		switch {
		case it.Kind == market.StreamReset:
			if err := t.recount(ctx); err != nil {
				return false, err
			}
		case it.Kind != market.StreamTrade:
		case it.Retracts == 0:
			t.trade(member.Number(it.Trade.Member), game.DateOf(it.Time), store.TokenAt{Chain: it.Chain, Mint: it.Token})
		case it.RetractedMember > 0:
			t.of(member.Number(it.RetractedMember)).traded[game.DateOf(it.RetractedTime)] = true
			t.readFrom(it.Chain, it.RetractedTime) // the blocks that take its place may be ones of the past, in no stream
		}
	}
	return len(list) == readAtOnce, nil
}

// readCalls takes in which calls have won, or not any more.
func (t *todo) readCalls(ctx context.Context) (more bool, err error) {
	last, err := t.Store.Social.Calls.LastCallChange(ctx)
	if err != nil {
		return false, err
	}
	if last < t.next.CallChange { // the database has gone back
		if err := t.recount(ctx); err != nil {
			return false, err
		}
		t.next.CallChange = last
	}
	list, err := t.Store.Social.Calls.CallChanges(ctx, t.next.CallChange, readAtOnce)
	if err != nil {
		return false, err
	}
	for i := range list {
		c := &list[i]
		t.next.CallChange = c.Change
		t.calls(c.Member, game.DateOf(c.CalledAt))
	}
	return len(list) == readAtOnce, nil
}

// readChains takes in what members traded in blocks that are in no stream: those that an index reads of the past.
func (t *todo) readChains(ctx context.Context, chains []store.ChainStatus) (more bool, err error) {
	for i := range chains {
		c := &chains[i]
		from, had := t.next.Chains[c.ID]
		if had && from >= c.Last.Time {
			t.next.Chains[c.ID] = c.Last.Time // it may have gone back
			continue
		}
		list, next, err := t.Store.Wallets.PlayedFrom(ctx, c.ID, from)
		if err != nil {
			return false, err
		}
		for _, p := range list {
			t.trade(member.Number(p.Member), p.Day, p.TokenAt)
		}
		if next == 0 || next > c.Last.Time {
			next = c.Last.Time
		} else {
			more = true
		}
		t.next.Chains[c.ID] = next
	}
	return more, nil
}
