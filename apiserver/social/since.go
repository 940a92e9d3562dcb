package social

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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
	if !r.Seen.HasStream() {
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
	news, err := h.collectNews(r.Context(), r.Seen, r.Seen.Stream, at, mostSince, withTexts)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	if err := news.addPrices(wanted); err != nil {
		return nil, err
	}
	body, err := news.encode(r.Seen)
	if err != nil {
		return nil, err
	}
	return serve.NewAnswer(append(body, '\n')), nil
}

// mostSince is the most that one answer tells of a kind.
const mostSince = 200

// news is what came since some cursors, its items and prices encoded.
type news struct {
	contract.LiveSince

	trades, launches, prices [][]byte
	// newest is when the newest data in it is of; unix seconds, 0 without any.
	newest int64
}

// noNews has nothing new. Its body has a null where trades and launches go: lists of the same names are empty elsewhere.
func noNews() *news {
	return &news{LiveSince: contract.LiveSince{
		Trades: []contract.FeedItem{nil}, Launches: []contract.FeedItem{nil}, Calls: []contract.Call{}, Prices: map[string]contract.PriceView{}, Missing: []string{},
		Retracted: contract.LiveRetracted{Trades: []int64{}, Launches: []int64{}, Calls: []int64{}},
	}}
}

// addPrices adds the prices of tokens.
func (n *news) addPrices(wanted []lookup.Item) error {
	for _, q := range wanted {
		if q.Found == nil {
			n.Missing = append(n.Missing, q.Text)
			continue
		}
		body, err := serve.Marshal(wire.PriceView(&q.Found.Token, q.Found.Candidates))
		if err != nil {
			return fmt.Errorf("social: encode a price: %w", err)
		}
		n.addPrice(q.Text, body)
		n.Stale, n.newest = n.Stale || q.Found.Stale, max(n.newest, q.Found.Changed.At)
	}
	return nil
}

// addPrice adds a price that is encoded already, under the text that asked for it, which has no character that JSON would escape.
func (n *news) addPrice(text string, body []byte) {
	n.prices = append(n.prices, slices.Concat([]byte(`"`+text+`":`), body))
}

// encode makes the body, which is as of the newest indexed block where it has no data.
func (n *news) encode(seen *read.Snapshot) ([]byte, error) {
	n.AsOf = wire.Timestamp(cmp.Or(n.newest, seen.Newest()))
	body, err := serve.Marshal(n.LiveSince)
	if err != nil {
		return nil, fmt.Errorf("social: encode what is new: %w", err)
	}
	if body, err = serve.Splice(body, `"prices":{}`, n.prices); err != nil {
		return nil, err
	}
	if body, err = serve.Splice(body, `"launches":[null]`, n.launches); err != nil {
		return nil, err
	}
	return serve.Splice(body, `"trades":[null]`, n.trades) // the longest, which is copied once
}

// collectNews collects what came since some cursors up to the head of a stream, at most so many items of a kind.
func (h *Handlers) collectNews(ctx context.Context, seen *read.Snapshot, s *stream.Newest, at cursors, most int, texts texts) (out *news, err error) {
	out = noNews()
	if out.Cursor.Trade, out.Reset.Trade, err = h.nextCursor(ctx, s, at.trade); err != nil {
		return nil, err
	}
	if out.Cursor.Launch, out.Reset.Launch, err = h.nextCursor(ctx, s, at.launch); err != nil {
		return nil, err
	}
	if out.Cursor.Call, out.Reset.Call, err = h.nextCursor(ctx, s, at.call); err != nil {
		return nil, err
	}
	var items []item
	if at.trade != nil && *at.trade <= s.Head && !out.Reset.Trade {
		items = out.takeTrades(seen, s.TradesSince(*at.trade, most))
	}
	if at.launch != nil && *at.launch <= s.Head && !out.Reset.Launch {
		launches, err := h.takeLaunches(ctx, seen, out, s.LaunchesSince(*at.launch, most))
		if err != nil {
			return nil, err
		}
		items = append(items, launches...)
	}
	var bodies [][]byte
	if bodies, out.newest, out.Stale, err = h.encodeItems(ctx, seen, items, texts); err != nil {
		return nil, err
	}
	if at.call != nil && *at.call <= s.Head && !out.Reset.Call {
		if err := h.takeCalls(ctx, seen, out, s.CallsSince(*at.call, most), texts); err != nil {
			return nil, err
		}
	}
	for i, body := range bodies {
		switch {
		case body == nil:
		case items[i].launch != nil:
			out.launches = append(out.launches, body)
		default:
			out.trades = append(out.trades, body)
		}
	}
	newest := slices.Clone(out.trades)
	slices.Reverse(newest)
	if told := within(newest); told < len(newest) {
		out.trades, out.Truncated.Trade = out.trades[len(newest)-told:], true
	}
	return out, nil
}

// takeTrades adds which trades were retracted, and gives the new trades that are shown.
func (n *news) takeTrades(seen *read.Snapshot, since stream.Since[*stream.Trade]) (items []item) {
	n.Retracted.Trades, n.Truncated.Trade = append(n.Retracted.Trades, since.Retracted...), since.IsTruncated
	for _, t := range since.Items {
		if shown, ok := showTrade(seen, t); ok {
			items = append(items, item{trade: shown})
		}
	}
	return items
}

// takeLaunches is takeTrades for launches.
func (h *Handlers) takeLaunches(ctx context.Context, seen *read.Snapshot, out *news, since stream.Since[stream.Launch]) (items []item, err error) {
	out.Retracted.Launches, out.Truncated.Launch = append(out.Retracted.Launches, since.Retracted...), since.IsTruncated
	for i := range since.Items {
		card, ok, err := h.showNewLaunch(ctx, seen, &since.Items[i])
		if err != nil {
			return nil, err
		}
		if ok {
			items = append(items, item{launch: &since.Items[i], card: card})
		}
	}
	return items, nil
}

// takeCalls adds which calls were retracted, and the new calls that are shown.
func (h *Handlers) takeCalls(ctx context.Context, seen *read.Snapshot, out *news, since stream.Since[stream.Call], texts texts) error {
	out.Retracted.Calls, out.Truncated.Call = append(out.Retracted.Calls, since.Retracted...), since.IsTruncated
	shown, err := h.showCalls(ctx, seen, since.Items, texts)
	if err != nil {
		return err
	}
	out.Truncated.Call = out.Truncated.Call || shown.first > 0
	out.Calls, out.newest, out.Stale = append(out.Calls, shown.calls...), max(out.newest, shown.newest), out.Stale || shown.stale
	return nil
}

// nextCursor is where a client stands after the answer. Another server may have seen higher numbers than this one has yet: a cursor counts as
// ahead where the database doesn't have its number either.
func (h *Handlers) nextCursor(ctx context.Context, n *stream.Newest, cursor *int64) (next int64, isReset bool, err error) {
	if cursor == nil || *cursor <= n.Head {
		return n.Head, cursor != nil && *cursor < n.ResetAt, nil
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
