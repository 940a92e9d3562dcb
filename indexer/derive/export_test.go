package derive

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/funding"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// CachedRows counts what a state holds, by table.
func (s *State) CachedRows() map[string]int {
	return map[string]int{
		"tokens": s.tokens.size(), "pools": s.pools.size(), "ticks": s.ticks.size(), "candles": s.candles.size(), "balances": s.balances.size(),
		"launches": s.launches.size(), "curves": s.curves.size(), "bases": len(s.byBase),
	}
}

// Bases are the tokens whose listed pools are cached, in order.
func (s *State) Bases() []market.Address {
	return slices.SortedFunc(maps.Keys(s.byBase), market.Address.Compare)
}

// Stale tells where a state between two commits differs from one that begins anew with b and loads the same rows.
func (s *State) Stale(b market.Beginning, load func(market.Wanted) market.Rows) (out []string) {
	w := market.Wanted{
		Pools: append(s.pools.keys(), s.ticks.keys()...), PoolsOf: slices.Collect(maps.Keys(s.byBase)), Tokens: s.tokens.keys(),
		Candles: s.candles.keys(), Balances: s.balances.keys(), Launches: s.launches.keys(), Curves: s.curves.keys(), ExpireFrom: 1,
		Positions: s.positions.keys(), Hours: s.hours.keys(),
	}
	anew := NewState(b)
	anew.Put(w, load(w))
	out = slices.Concat(
		s.tokens.stale("token", anew.tokens), s.pools.stale("pool", anew.pools), s.ticks.stale("ticks", anew.ticks),
		s.candles.stale("candle", anew.candles), s.balances.stale("balance", anew.balances), s.quotes.stale("quote", anew.quotes),
		s.launches.stale("launch", anew.launches), s.curves.stale("curve", anew.curves), s.jobs.stale("job", anew.jobs),
		s.waiting.trades.stale("waiting trade", anew.waiting.trades), s.watched.stale("watched wallet", anew.watched),
		s.positions.stale("position", anew.positions), s.hours.stale("hour", anew.hours),
	)
	for base, listed := range s.byBase {
		is := slices.SortedFunc(slices.Values(listed), market.Address.Compare)
		if should := slices.SortedFunc(slices.Values(anew.byBase[base]), market.Address.Compare); !slices.Equal(is, should) {
			out = append(out, fmt.Sprintf("the listed pools of %v are %v, should be %v", base, is, should))
		}
		for _, id := range listed {
			if s.pools.look(id) == nil {
				out = append(out, fmt.Sprintf("pool %v of %v is listed and not cached", id, base))
			}
		}
	}
	always := func(s *State) []any {
		return []any{
			s.last, s.ownCurves, s.pending, s.recounts, slices.Sorted(maps.Keys(s.minutes)), len(s.pairs), len(s.announced), len(s.trades), len(s.queued), len(s.entries), len(s.past),
			slices.SortedFunc(slices.Values(s.quotes.keys()), market.Address.Compare), s.waiting.count, s.waiting.of, s.waiting.dropped,
		}
	}
	if is, should := always(s), always(anew); !reflect.DeepEqual(is, should) {
		out = append(out, fmt.Sprintf("what is always there is %v, should be %v", is, should))
	}
	return out
}

// StaleFundings tells of which accounts a state between two commits says another funding than one that begins anew with the same payments.
func (s *State) StaleFundings(payments []market.BlockPayments, accounts []market.Address) (out []string) {
	anew := NewState(market.Beginning{})
	for i := range payments {
		anew.RecallPayments(&payments[i], 0)
	}
	anew.funding.Pass(s.last.Number, s.last.Time)
	for _, a := range accounts {
		for _, isSender := range []bool{false, true} {
			trade := funding.Trade{Trader: a, Sent: isSender, Before: 1}
			if is, should := s.funding.Of(&trade), anew.funding.Of(&trade); is != should {
				out = append(out, fmt.Sprintf("the funding of %v is %+v, should be %+v", a, is, should))
			}
		}
	}
	return out
}

func (t *table[K, V]) keys() []K {
	return slices.AppendSeq(slices.Collect(maps.Keys(t.rows)), maps.Keys(t.absent))
}

// look is get that doesn't keep the row from being trimmed.
func (t *table[K, V]) look(k K) *V {
	if r, ok := t.rows[k]; ok && r.exists {
		return &r.v
	}
	return nil
}

// stale tells which rows of a table aren't as in one that has all of them.
func (t *table[K, V]) stale(what string, anew *table[K, V]) (out []string) {
	for _, k := range t.keys() {
		is, should := t.look(k), anew.look(k)
		if (is == nil) != (should == nil) || is != nil && !t.equal(is, should) {
			out = append(out, fmt.Sprintf("%s %v is %+v, should be %+v", what, k, is, should))
		}
		if r, ok := t.rows[k]; ok && (r.changed || !r.exists) {
			out = append(out, fmt.Sprintf("%s %v waits for a flush: %+v", what, k, r))
		}
	}
	return out
}

// WaitingKeys is how many keys of trades are kept that wait or waited.
func (s *State) WaitingKeys() int { return len(s.waiting.order) }
