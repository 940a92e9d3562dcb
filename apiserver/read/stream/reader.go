package stream

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

const (
	// atOnce is how many rows are read at once.
	atOnce = 5_000
	// checkedAgain is the age from which on it is read anew whether a critical check of a token failed, and closedAgain the same of a minute's close.
	checkedAgain, closedAgain = 30 * time.Second, time.Second
	// callTTL is how long a call that was read is used again.
	callTTL = time.Second
	// keptTokens, keptMinutes and keptCalls are how many of each are remembered.
	keptTokens, keptMinutes, keptCalls = 4_096, 16_384, 4_096
)

// Follower keeps the newest items. One goroutine calls it.
type Follower struct {
	stream store.Stream
	newest *Newest
	// servers counts how often the database's server was another one.
	servers func() int64
	now     func() time.Time
	last    int64
	// kept is how many items of a kind are kept.
	kept int
	// awaited is a trade whose entries weren't there in the last looks.
	awaited int64
	looks   int
}

// keptItems is how many items of a kind are kept in memory.
const keptItems = 10_000

// NewFollower has no items yet. servers counts how often the database's server was another one, which may lack the newest numbers of the last.
func NewFollower(s store.Stream, servers func() int64, now func() time.Time) *Follower {
	return &Follower{stream: s, servers: servers, now: now, kept: keptItems}
}

// Newest are the newest items; nil before the first look.
func (f *Follower) Newest() *Newest { return f.newest }

// Follow takes in what came since the last time. A stream that has gone back is read anew.
func (f *Follower) Follow(ctx context.Context) error {
	servers := f.servers() // before the number: it may be another server's already, and then differs the next time
	last, err := f.stream.Last(ctx)
	if err != nil {
		return err
	}
	if f.newest == nil || last < f.newest.Head || servers != f.last {
		n, err := f.load(ctx, last)
		if err != nil {
			return err
		}
		f.newest, f.last = n, servers
	}
	if last == f.newest.Head {
		return nil
	}
	next := f.newest
	for {
		rows, err := f.stream.After(ctx, next.Head, atOnce)
		if err != nil {
			return err
		}
		trades, err := f.stream.Trades(ctx, rows)
		if err != nil {
			return err
		}
		known := f.known(rows, trades)
		if next = next.with(rows[:known], trades); known < len(rows) {
			f.newest = next
			return nil
		}
		if len(rows) < atOnce {
			break
		}
	}
	if next.Head < last { // the newest were pruned, or belong to nothing that is kept
		at := *next
		at.Head, next = last, &at
	}
	f.newest = next
	return nil
}

// known counts the rows, from the first on, that can be taken in now. A trade whose entries aren't there and that isn't retracted is waited for: its
// index may have taken another one's place a moment ago.
func (f *Follower) known(rows []store.StreamItem, trades map[int64]store.StreamTrade) int {
	retracted := map[int64]bool{}
	for i := range rows {
		retracted[rows[i].Retracts] = true
	}
	for i := range rows {
		it := &rows[i]
		if _, ok := trades[it.Number]; ok || it.Kind != market.StreamTrade || it.Retracts > 0 || retracted[it.Number] {
			continue
		}
		if f.awaited != it.Number {
			f.awaited, f.looks = it.Number, 0
		}
		if f.looks++; f.looks <= awaitedLooks {
			return i
		}
	}
	return len(rows)
}

// awaitedLooks is in how many looks a trade is waited for whose entries aren't there.
const awaitedLooks = 20

// load reads the newest items up to a number, and the newest of what was taken back.
func (f *Follower) load(ctx context.Context, last int64) (*Newest, error) {
	first, err := f.stream.First(ctx, f.now())
	if err != nil {
		return nil, err
	}
	n := &Newest{Head: last, RetractionsFrom: first - 1, Oldest: first - 1, kept: f.kept}
	trades, from, err := f.newestOf(ctx, market.StreamTrade, last, first)
	if err != nil {
		return nil, err
	}
	n.TradesFrom = from
	sums, err := f.stream.Trades(ctx, trades)
	if err != nil {
		return nil, err
	}
	for i := range trades {
		if sum, ok := sums[trades[i].Number]; ok {
			n.Trades = append(n.Trades, newTrade(&trades[i], sum))
		}
	}
	if n.Launches, n.LaunchesFrom, err = newestAs(ctx, f, market.StreamLaunch, last, first, newLaunch); err != nil {
		return nil, err
	}
	if n.Running, n.RunningFrom, err = newestAs(ctx, f, market.StreamRunning, last, first, newLaunch); err != nil {
		return nil, err
	}
	if n.Calls, n.CallsFrom, err = newestAs(ctx, f, market.StreamCall, last, first, newCall); err != nil {
		return nil, err
	}
	resets, err := f.stream.Before(ctx, last+1, market.StreamReset, market.Address{}, 1)
	if err != nil {
		return nil, err
	}
	for _, r := range resets {
		n.ResetAt = r.Number
	}
	gone, err := f.stream.Retractions(ctx, last+1, f.kept)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(gone) {
		n.Retractions = append(n.Retractions, Retraction{r.Number, r.Kind, r.Retracts})
	}
	if len(gone) == f.kept {
		n.RetractionsFrom = gone[f.kept-1].Number - 1
	}
	return n, nil
}

// newestOf reads the newest items of a kind up to number last, in the order of their numbers. All above number from are among them. first is the lowest number from which on
// the database has all.
func (f *Follower) newestOf(ctx context.Context, kind market.StreamKind, last, first int64) (items []store.StreamItem, from int64, err error) {
	items, err = f.stream.Before(ctx, last+1, kind, market.Address{}, f.kept)
	slices.Reverse(items)
	if len(items) == f.kept {
		return items, items[0].Number - 1, err
	}
	return items, first - 1, err
}

// newestAs is newestOf for items that need nothing else to be read.
func newestAs[T any](ctx context.Context, f *Follower, kind market.StreamKind, last, first int64, as func(*store.StreamItem) T) (list []T, from int64, err error) {
	items, from, err := f.newestOf(ctx, kind, last, first)
	for i := range items {
		list = append(list, as(&items[i]))
	}
	return list, from, err
}

// Reader reads what isn't in memory. Any number of goroutines may ask.
type Reader struct {
	stream  store.Stream
	social  *social.Store
	trust   store.Trust
	candles store.Candles
	now     func() time.Time
	checked *recent.Cache[store.TokenAt, recent.Dated[bool]]
	closes  *recent.Cache[Minute, minuteClose]
	calls   *recent.Cache[int64, recent.Dated[member.Call]]
	notes   notes
	flight  singleflight.Group
}

// NewReader makes a reader.
func NewReader(st *store.Store, now func() time.Time) *Reader {
	return &Reader{
		stream: st.Stream, social: st.Social, trust: st.Trust, candles: st.Candles, now: now,
		calls: recent.New[int64, recent.Dated[member.Call]](keptCalls), notes: newNotes(),
		checked: recent.New[store.TokenAt, recent.Dated[bool]](keptTokens), closes: recent.New[Minute, minuteClose](keptMinutes),
	}
}

// Last is the highest number that was taken.
func (r *Reader) Last(ctx context.Context) (int64, error) {
	out, err, _ := r.flight.Do("last", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), figures.ReadTime)
		defer cancel()
		return r.stream.Last(ctx)
	})
	last, _ := out.(int64)
	return last, err
}

// OlderTrades lists trades with numbers below one, the newest first, of up to limit items. token, if it isn't none, asks for those of the token at an
// address, on whichever chain. next is the number below which older ones are; 0 where there are none.
func (r *Reader) OlderTrades(ctx context.Context, below int64, token market.Address, limit int) (list []*Trade, next int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	items, err := r.stream.Before(ctx, below, market.StreamTrade, token, limit)
	if err != nil {
		return nil, 0, err
	}
	sums, err := r.stream.Trades(ctx, items)
	if err != nil {
		return nil, 0, err
	}
	for i := range items {
		if sum, ok := sums[items[i].Number]; ok {
			list = append(list, newTrade(&items[i], sum))
		}
	}
	if len(items) == limit {
		next = items[limit-1].Number
	}
	return list, next, nil
}

// OlderRunning is OlderTrades for launches in Running.
func (r *Reader) OlderRunning(ctx context.Context, below int64, limit int) (list []Launch, next int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	items, err := r.stream.Before(ctx, below, market.StreamRunning, market.Address{}, limit)
	if err != nil {
		return nil, 0, err
	}
	for i := range items {
		list = append(list, newLaunch(&items[i]))
	}
	if len(items) == limit {
		next = items[limit-1].Number
	}
	return list, next, nil
}

// Critical says of which of some tokens a critical trust check failed the last time. Where that can't be read, what is known is told.
func (r *Reader) Critical(ctx context.Context, tokens []store.TokenAt) (map[store.TokenAt]bool, error) {
	out := make(map[store.TokenAt]bool, len(tokens))
	var unread []store.TokenAt
	hasAll := true
	for _, t := range tokens {
		hit, ok := r.checked.Get(t)
		out[t] = hit.Value
		if !ok || r.now().Sub(hit.At) >= checkedAgain {
			unread, hasAll = append(unread, t), hasAll && ok
		}
	}
	if len(unread) == 0 {
		return out, nil
	}
	at := r.now()
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	found, err := r.trust.CriticalAt(ctx, unread)
	if err != nil {
		if hasAll {
			return out, nil
		}
		return nil, err
	}
	for _, t := range unread {
		out[t] = found[t]
		r.checked.Put(t, recent.Dated[bool]{Value: found[t], At: at})
	}
	return out, nil
}

// Calls reads how some calls stand, by the calls' own numbers. It leaves out calls that aren't there. While the database can't be read, it gives the calls as
// they were read last. The memory goes by the numbers of the items, so that a call that is told anew is read anew.
func (r *Reader) Calls(ctx context.Context, list []Call) (map[int64]member.Call, error) {
	out := make(map[int64]member.Call, len(list))
	var unread []Call
	hasAll := true
	for _, c := range list {
		hit, ok := r.calls.Get(c.Number)
		if ok {
			out[c.Call] = hit.Value
		}
		if !ok || r.now().Sub(hit.At) >= callTTL {
			unread, hasAll = append(unread, c), hasAll && ok
		}
	}
	if len(unread) == 0 {
		return out, nil
	}
	at := r.now()
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	numbers := make([]int64, len(unread))
	for i := range unread {
		numbers[i] = unread[i].Call
	}
	found, err := r.social.Calls.CallsByNumber(ctx, numbers)
	if err != nil {
		if hasAll {
			return out, nil
		}
		return nil, err
	}
	for _, item := range unread {
		c, ok := found[item.Call]
		if !ok {
			delete(out, item.Call)
			continue
		}
		out[item.Call] = c
		r.calls.Put(item.Number, recent.Dated[member.Call]{Value: c, At: at})
	}
	return out, nil
}

// Minute names a minute of a pool.
type Minute struct {
	Chain string
	Pool  market.Address
	// At is the unix second at which it begins.
	At int64
}

// minuteClose is the close of a minute in USD; 0 where it has none.
type minuteClose struct {
	usd     float64
	readAt  time.Time
	isFinal bool
}

// Closes are the closes of some minutes in USD, as far as they are known. Of a minute that hasn't ended by its chain's time it is the close before it, so that
// no close tells a trade of the minute. ended says whether a minute has, and final is the time (unix seconds) before which no close changes any more.
func (r *Reader) Closes(ctx context.Context, minutes []Minute, ended func(Minute) bool, final int64) (map[Minute]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	out := make(map[Minute]float64, len(minutes))
	unread := map[string][]store.PoolTime{}
	for _, m := range minutes {
		hit, ok := r.closes.Get(m)
		if ok && (hit.isFinal || r.now().Sub(hit.readAt) < closedAgain) {
			if hit.usd > 0 {
				out[m] = hit.usd
			}
			continue
		}
		unread[m.Chain] = append(unread[m.Chain], store.PoolTime{Pool: m.Pool, At: m.end(ended(m))})
	}
	for chain, moments := range unread {
		at := r.now()
		found, err := r.candles.ClosesBefore(ctx, chain, moments)
		if err != nil {
			return nil, err
		}
		for _, m := range minutes {
			isOver := ended(m)
			k := store.PoolTime{Pool: m.Pool, At: m.end(isOver)}
			if m.Chain != chain || !slices.Contains(moments, k) {
				continue
			}
			if c, ok := found[k]; ok && c.USD > 0 && (!isOver || c.Open == m.At) {
				out[m] = c.USD
			}
			r.closes.Put(m, minuteClose{usd: out[m], readAt: at, isFinal: isOver && final >= k.At})
		}
	}
	return out, nil
}

// end is the time before which the candle opens whose close is told.
func (m Minute) end(isOver bool) int64 {
	if isOver {
		return m.At + minuteSeconds
	}
	return m.At
}

const minuteSeconds = 60
