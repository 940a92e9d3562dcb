package social

import (
	"context"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/stream"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// feedQuery is what a page of the feed is of.
type feedQuery struct {
	filter contract.FeedFilter
	limit  int
	// below is the number below which items are told.
	below int64
	// isAhead says that memory doesn't have all below it yet.
	isAhead bool
	// mint, if it isn't none, asks for trades of the tokens at an address, on one chain if that isn't empty.
	mint  market.Address
	chain string
	// launches puts launches among the trades, each where it passed the quality bar for the first time.
	launches bool
}

func (h *Handlers) feed(r *serve.Request) (*serve.Answer, error) {
	if !r.Seen.HasStream() {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	q := feedQuery{filter: contract.FeedFilter(r.Text("filter")), limit: int(r.Number("limit")), below: r.Seen.Stream.Head + 1}
	if before := r.Text("before"); before != "" {
		number, ok := parseCursor(before)
		if !ok {
			return nil, serve.NewProblem("cursor-invalid", "before is no cursor of the feed.")
		}
		if number > q.below { // another server may have told it, which has seen more
			last, err := h.Readers.Stream.Last(r.Context())
			if err != nil {
				return nil, serve.Unavailable(err)
			}
			q.isAhead = last >= number
		}
		if number < q.below || q.isAhead {
			q.below = number
		}
	}
	named, given, err := lookup.Query(r, "mint")
	if err != nil {
		return nil, err
	}
	q.mint, q.chain = named.Address, named.Chain
	q.launches = r.Number("launches") == 1 && q.filter == contract.FeedFilterForYou && !given
	out := contract.TradeFeed{Filter: q.filter, Items: []contract.FeedItem{}, UnknownReasons: contract.UnknownReasons{}}
	page := feedPage{}
	if !given || named.IsAddress() { // base58 that is no address is of no token
		if page, err = h.feedPage(r.Context(), r.Seen, &q); err != nil {
			return nil, serve.Unavailable(err)
		}
	}
	bodies, newest, stale, err := h.encodeItems(r.Context(), r.Seen, page.items, withTexts)
	if err != nil {
		return nil, err
	}
	if told := within(bodies); told < len(bodies) {
		bodies, page.next = bodies[:told], page.items[told-1].number()
	}
	out.Stale, out.AsOf = stale, r.AsOf(newest)
	if page.next > 0 {
		out.NextBefore = new(cursorOf(page.next))
	} else {
		out.UnknownReasons["next_before"] = contract.UnknownReasonNotApplicable
	}
	frame, err := serve.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("social: encode a page of the feed: %w", err)
	}
	body, err := serve.Splice(frame, `"items":[]`, slices.DeleteFunc(bodies, func(b []byte) bool { return b == nil }))
	if err != nil {
		return nil, err
	}
	ans := serve.NewAnswer(append(body, '\n'))
	if r.Given("before") {
		ans.Freshness = serve.Older
	}
	return ans, nil
}

// feedPage is a page, the newest item first. next is the number below which older items follow; 0 at the end.
type feedPage struct {
	items []item
	next  int64
}

const (
	// feedStep is how many items are looked at in one step, and mostSteps how many steps a page takes: of a filter that fits few, a page has what was found by then.
	feedStep, mostSteps = 200, 10
)

// feedPage looks for what fits, from the newest item on.
func (h *Handlers) feedPage(ctx context.Context, seen *read.Snapshot, q *feedQuery) (p feedPage, err error) {
	trades := newTrades(seen.Stream, h.Readers.Stream, q)
	launches := newRunning(seen.Stream, h.Readers.Stream, q)
	last := q.below
	for range mostSteps {
		var step []item
		looked := 0
		for ; looked < feedStep; looked++ {
			next, number, shown, err := nextItem(ctx, seen, trades, launches)
			if err != nil {
				return p, err
			}
			if number == 0 {
				break
			}
			if last = number; shown {
				step = append(step, next)
			}
		}
		fit, err := h.filterItems(ctx, step, q)
		if err != nil {
			return p, err
		}
		p.items = append(p.items, fit...)
		if len(p.items) > q.limit {
			p.items = p.items[:q.limit]
			p.next = p.items[q.limit-1].number()
			return p, nil
		}
		if looked < feedStep {
			return p, nil
		}
	}
	p.next = last
	return p, nil
}

// nextItem takes the next item, of both kinds the one with the higher number; shown is false of one that may not be shown. number is 0 where there are no more.
func nextItem(ctx context.Context, seen *read.Snapshot, trades *descending[*stream.Trade], launches *descending[stream.Launch],
) (next item, number int64, shown bool, err error) {
	t, hasTrade, err := trades.peek(ctx)
	if err != nil {
		return next, 0, false, err
	}
	l, hasLaunch, err := launches.peek(ctx)
	switch {
	case err != nil || !hasTrade && !hasLaunch:
		return next, 0, false, err
	case hasTrade && (!hasLaunch || t.Number > l.Number):
		trades.take()
		next.trade, shown = showTrade(seen, t)
		return next, t.Number, shown, nil
	default:
		launches.take()
		next.launch = &l
		next.card, shown = showLaunch(seen, &l)
		return next, l.Number, shown, nil
	}
}

// filterItems gives the items of some that fit a query.
func (h *Handlers) filterItems(ctx context.Context, items []item, q *feedQuery) ([]item, error) {
	var critical map[read.TokenAt]bool
	if q.filter == contract.FeedFilterForYou {
		var tokens []read.TokenAt
		for i := range items {
			tokens = append(tokens, items[i].token())
		}
		var err error
		if critical, err = h.Readers.Stream.Critical(ctx, tokens); err != nil {
			return nil, err
		}
	}
	out := items[:0]
	for i := range items {
		if items[i].launch != nil { // for-you alone has launches
			if !critical[items[i].token()] {
				out = append(out, items[i])
			}
			continue
		}
		t := items[i].trade
		usd := t.shownUSD()
		fits := q.chain == "" || q.chain == t.Chain
		switch q.filter {
		case contract.FeedFilterNew:
		case contract.FeedFilterForYou:
			fits = fits && usd >= t.on.MinTradeUSD && !critical[items[i].token()]
		case contract.FeedFilterBuys:
			fits = fits && !t.Sell
		case contract.FeedFilterSells:
			fits = fits && t.Sell
		case contract.FeedFilterBig:
			fits = fits && usd >= h.BigTradeUSD
		}
		if fits {
			out = append(out, items[i])
		}
	}
	return out, nil
}

// descending walks items from the newest on: those in memory, and then those that have to be read.
type descending[T any] struct {
	memory []T
	read   []T
	// below is the number below which the next are read; 0 where there are none.
	below int64
	older func(ctx context.Context, below int64) (list []T, next int64, err error)
}

// peek is the next item; ok is false where there is none.
func (d *descending[T]) peek(ctx context.Context) (item T, ok bool, err error) {
	if n := len(d.memory); n > 0 {
		return d.memory[n-1], true, nil
	}
	for len(d.read) == 0 {
		if d.below == 0 {
			return item, false, nil
		}
		if d.read, d.below, err = d.older(ctx, d.below); err != nil {
			return item, false, err
		}
	}
	return d.read[0], true, nil
}

// take passes over the item that peek gave.
func (d *descending[T]) take() {
	if n := len(d.memory); n > 0 {
		d.memory = d.memory[:n-1]
		return
	}
	d.read = d.read[1:]
}

func newTrades(n *stream.Newest, older read.Stream, q *feedQuery) *descending[*stream.Trade] {
	d := &descending[*stream.Trade]{
		memory: n.TradesBelow(q.below), below: n.OlderThan(n.TradesFrom, q.below),
		older: func(ctx context.Context, below int64) ([]*stream.Trade, int64, error) {
			return older.OlderTrades(ctx, below, q.mint, feedStep)
		},
	}
	if q.isAhead {
		d.memory, d.below = nil, q.below
		return d
	}
	if q.mint.IsNone() {
		return d
	}
	var of []*stream.Trade
	for _, t := range d.memory {
		if t.Token == q.mint {
			of = append(of, t)
		}
	}
	d.memory = of
	return d
}

func newRunning(n *stream.Newest, older read.Stream, q *feedQuery) *descending[stream.Launch] {
	if !q.launches {
		return &descending[stream.Launch]{}
	}
	d := &descending[stream.Launch]{
		memory: n.RunningBelow(q.below), below: n.OlderThan(n.RunningFrom, q.below),
		older: func(ctx context.Context, below int64) ([]stream.Launch, int64, error) {
			return older.OlderRunning(ctx, below, feedStep)
		},
	}
	if q.isAhead {
		d.memory, d.below = nil, q.below
	}
	return d
}
