package social

import (
	"context"
	"encoding/json"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/stream"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
)

// cursors are where a client stands in each kind of items; nil where it doesn't say.
type cursors struct{ trade, launch, call *int64 }

func cursorsOf(r *serve.Request) (at cursors) {
	for name, cursor := range map[string]**int64{"trade": &at.trade, "launch": &at.launch, "call": &at.call} {
		if r.Given(name) {
			*cursor = new(r.Number(name))
		}
	}
	return at
}

func (h *Handlers) since(r *serve.Request) (*serve.Answer, error) {
	at := cursorsOf(r)
	if r.Seen.Stream == nil {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	if at == (cursors{}) {
		head := r.Seen.Stream.Head
		return serve.Encode(contract.LiveStart{Cursor: contract.LiveCursor{Trade: head, Launch: head, Call: head}})
	}
	wanted, err := lookup.Tokens(r, h.Readers.Tokens, "mints")
	if err != nil {
		return nil, err
	}
	out, newest, err := h.news(r.Context(), r.Seen, r.Seen.Stream, at, mostSince)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	out.AsOf = r.AsOf(tellPrices(out, wanted, newest))
	return serve.Encode(out)
}

// mostSince is the most that one answer tells of a kind.
const mostSince = 200

// tellPrices puts the prices of tokens into an answer. newest is when the newest data in it is of, before and after; unix seconds.
func tellPrices(out *contract.LiveSince, wanted []lookup.Item, newest int64) int64 {
	for _, q := range wanted {
		if q.Found == nil {
			out.Missing = append(out.Missing, q.Text)
			continue
		}
		out.Prices[q.Text] = wire.PriceView(&q.Found.Token, q.Found.Candidates)
		out.Stale, newest = out.Stale || q.Found.Stale, max(newest, q.Found.Changed.At)
	}
	return newest
}

// newNews has nothing new. seen is nil of what is fresh by itself.
func newNews(seen *read.Snapshot) *contract.LiveSince {
	return &contract.LiveSince{
		Trades: []contract.FeedItem{}, Launches: []contract.FeedItem{}, Calls: []any{}, Prices: map[string]contract.PriceView{}, Missing: []string{},
		Retracted: contract.LiveRetracted{Trades: []int64{}, Launches: []int64{}, Calls: []int64{}}, Stale: seen != nil && seen.Failing(),
	}
}

// news is what came since some cursors up to the head of n, at most so many items of a kind. newest is when the newest data in it is of; unix seconds,
// 0 without any.
func (h *Handlers) news(ctx context.Context, seen *read.Snapshot, n *stream.Newest, at cursors, most int) (out *contract.LiveSince, newest int64, err error) {
	out = newNews(seen)
	if out.Cursor.Trade, out.Reset.Trade, err = h.standing(ctx, n, at.trade); err != nil {
		return nil, 0, err
	}
	if out.Cursor.Launch, out.Reset.Launch, err = h.standing(ctx, n, at.launch); err != nil {
		return nil, 0, err
	}
	if out.Cursor.Call, out.Reset.Call, err = h.standing(ctx, n, at.call); err != nil {
		return nil, 0, err
	}
	if at.trade != nil && *at.trade <= n.Head {
		s := n.TradesSince(*at.trade, most)
		out.Retracted.Trades, out.Truncated.Trade = append(out.Retracted.Trades, s.Retracted...), s.IsTruncated
		if newest, err = h.encodeNewTrades(ctx, seen, s.Items, out); err != nil {
			return nil, 0, err
		}
	}
	if at.launch != nil && *at.launch <= n.Head {
		s := n.LaunchesSince(*at.launch, most)
		out.Retracted.Launches, out.Truncated.Launch = append(out.Retracted.Launches, s.Retracted...), s.IsTruncated
		for i := range s.Items {
			l := &s.Items[i]
			c, ok := showLaunch(seen, l)
			if !ok {
				continue
			}
			body, err := h.launch(seen, l, &c, c.On.Ranked.At)
			if err != nil {
				return nil, 0, err
			}
			out.Launches, newest = append(out.Launches, json.RawMessage(body)), max(newest, c.On.Ranked.At)
		}
	}
	return out, newest, nil
}

// standing is where a client stands after the answer. Another server may have seen higher numbers than this one has yet: a cursor counts as
// ahead where the database doesn't have its number either.
func (h *Handlers) standing(ctx context.Context, n *stream.Newest, cursor *int64) (next int64, isReset bool, err error) {
	if cursor == nil || *cursor <= n.Head {
		return n.Head, false, nil
	}
	last, err := h.Readers.Stream.Last(ctx)
	if err != nil {
		return 0, false, err
	}
	if *cursor <= last {
		return *cursor, false, nil
	}
	return n.Head, true, nil
}

func (h *Handlers) encodeNewTrades(ctx context.Context, seen *read.Snapshot, items []*stream.Trade, out *contract.LiveSince) (newest int64, err error) {
	trades := make([]shownTrade, 0, len(items))
	for _, t := range items {
		if s, ok := showTrade(seen, t); ok {
			trades = append(trades, s)
		}
	}
	l, err := h.lookUp(ctx, seen, trades)
	if err != nil {
		return 0, err
	}
	out.Stale = out.Stale || l.stale
	for i := range trades {
		body, at, err := h.trade(seen, &trades[i], &l)
		if err != nil {
			return 0, err
		}
		if body != nil {
			out.Trades, newest = append(out.Trades, json.RawMessage(body)), max(newest, at)
		}
	}
	return newest, nil
}
