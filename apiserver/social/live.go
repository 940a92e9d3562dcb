package social

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/stream"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// lookAgain is how often it is looked whether the stream has anything new.
	lookAgain = 100 * time.Millisecond
	// pricesAgain is how often prices are looked at that readers of the stream want.
	pricesAgain = time.Second
	// eventItems is how many items one event has, and how many of each kind are told to who comes back: some 50 KiB.
	eventItems = 25
	// pricesAtOnce is how many tokens' prices are read at once.
	pricesAtOnce = 500
)

// live makes the events of the stream, each once for all readers.
type live struct {
	h *Handlers

	// tail is where whoever joins begins.
	tail   atomic.Pointer[tail]
	prices prices
}

// tail is the newest event with the snapshot that it was made of.
type tail struct {
	*event

	seen *read.Snapshot
}

// event is what came up to a number of the stream. Its readers go on to the next one, so that none is kept that everybody has.
type event struct {
	to   int64
	body []byte
	next atomic.Pointer[event]
}

// Run makes the events until ctx ends.
func (h *Handlers) Run(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.live.prices.run(ctx, h)
	}()
	turn := time.NewTicker(lookAgain)
	defer turn.Stop()
	failing := false
	for ctx.Err() == nil {
		err := h.live.look(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			h.Log.WarnContext(ctx, "the stream's events can't be made: they come late", "err", err.Error())
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-turn.C:
		}
	}
	<-done
}

// look makes the events of what came since the last look.
func (l *live) look(ctx context.Context) error {
	seen := l.h.Readers.Snapshots.Snapshot()
	if seen.Stream == nil {
		return nil
	}
	last := l.tail.Load()
	switch {
	case last == nil:
		l.tail.Store(&tail{event: &event{to: seen.Stream.Head}, seen: seen})
		return nil
	case seen.Stream.Head < last.to: // the database has gone back
		return l.reset(last, seen)
	case seen.Stream.Head == last.to:
		return nil
	}
	for at := last.to; at < seen.Stream.Head; {
		n := seen.Stream.UpTo(at, eventItems)
		body, err := l.event(ctx, seen, n, at)
		if err != nil {
			return err
		}
		next := &event{to: n.Head, body: body}
		last.next.Store(next)
		last = &tail{event: next, seen: seen}
		l.tail.Store(last)
		at = n.Head
	}
	return nil
}

// reset tells the readers that their cursors are ahead of everything.
func (l *live) reset(last *tail, seen *read.Snapshot) error {
	out := newNews(seen)
	head := seen.Stream.Head
	out.Cursor = contract.LiveCursor{Trade: head, Launch: head, Call: head}
	out.Reset, out.AsOf = contract.LiveFlags{Trade: true, Launch: true, Call: true}, asOf(seen, 0)
	body, err := encodeEvent(out.Cursor, out)
	if err != nil {
		return err
	}
	told := &event{to: head, body: body}
	last.next.Store(told)
	l.tail.Store(&tail{event: told, seen: seen})
	return nil
}

// event is the event of what came after a number, up to the head of n.
func (l *live) event(ctx context.Context, seen *read.Snapshot, n *stream.Newest, after int64) ([]byte, error) {
	out, newest, err := l.h.news(ctx, seen, n, cursors{&after, &after, &after}, eventItems)
	if err != nil {
		return nil, err
	}
	out.AsOf = asOf(seen, newest)
	return encodeEvent(out.Cursor, out)
}

// asOf is when the newest data of an event is of (unix seconds); of one without any (0), the newest indexed block.
func asOf(seen *read.Snapshot, newest int64) contract.Timestamp {
	if newest == 0 {
		newest = seen.Newest()
	}
	return wire.Timestamp(newest)
}

// encodeEvent is a server-sent event.
func encodeEvent(at contract.LiveCursor, data any) ([]byte, error) {
	body, err := serve.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("social: encode an event: %w", err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "id: %d-%d-%d\ndata: %s\n\n", at.Trade, at.Launch, at.Call, body)
	return out.Bytes(), nil
}

// parseEventID reads the cursors that an event's id has.
func parseEventID(id string) (at cursors, ok bool) {
	parts := strings.Split(id, "-")
	if len(parts) != 3 {
		return at, false
	}
	for i, into := range []**int64{&at.trade, &at.launch, &at.call} {
		n, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil || n < 0 || n > mostNumber {
			return cursors{}, false
		}
		*into = &n
	}
	return at, true
}

func (h *Handlers) stream(r *serve.Request) (*serve.Answer, error) {
	at := cursorsOf(r)
	if given, ok := parseEventID(r.Header.Get("Last-Event-ID")); ok {
		at = given // one that is no event's is as none
	}
	last := h.live.tail.Load()
	if last == nil {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	wanted, err := lookup.Tokens(r, h.Readers.Tokens, "mints")
	if err != nil {
		return nil, err
	}
	sub := &subscription{live: &h.live, at: last.event}
	n := last.seen.Stream.UpTo(last.to, 0)
	cursor := contract.LiveCursor{Trade: last.to, Launch: last.to, Call: last.to}
	var first any = contract.LiveStart{Cursor: cursor}
	if at != (cursors{}) || len(wanted) > 0 {
		out, newest, err := h.news(r.Context(), last.seen, n, at, eventItems)
		if err != nil {
			return nil, serve.Unavailable(err)
		}
		newest = tellPrices(out, wanted, newest)
		out.AsOf, cursor, first = asOf(last.seen, newest), out.Cursor, out
	}
	if sub.pending, err = encodeEvent(cursor, first); err != nil {
		return nil, err
	}
	sub.cursor, sub.skipTo = cursor, min(cursor.Trade, cursor.Launch, cursor.Call)
	sub.watch(wanted)
	return serve.Stream(sub), nil
}

// subscription is where a reader of the stream stands.
type subscription struct {
	live *live
	at   *event
	// pending is the first event.
	pending []byte
	cursor  contract.LiveCursor
	// skipTo is the number up to which another server has told everything.
	skipTo int64
	mints  []watchedMint
	priced time.Time
}

// watchedMint is a token whose prices a reader wants.
type watchedMint struct {
	text string
	of   *watchedPrice
	told *[]byte
}

// Next gives the next event.
func (s *subscription) Next() []byte {
	if s.pending != nil {
		out := s.pending
		s.pending = nil
		return out
	}
	for {
		next := s.at.next.Load()
		if next == nil {
			return s.nextPrices()
		}
		s.at = next
		if next.to > s.skipTo || next.to < s.cursor.Trade { // lower than before: the stream was reset
			s.skipTo, s.cursor = 0, contract.LiveCursor{Trade: next.to, Launch: next.to, Call: next.to}
			return next.body
		}
	}
}

// nextPrices is an event with the prices that have changed.
func (s *subscription) nextPrices() []byte {
	if len(s.mints) == 0 {
		return nil
	}
	now := s.live.h.Now()
	if now.Sub(s.priced) < pricesAgain {
		return nil
	}
	var changed []byte
	for i := range s.mints {
		m := &s.mints[i]
		body := m.of.body.Load()
		if body == m.told || body == nil {
			continue
		}
		m.told = body
		if changed != nil {
			changed = append(changed, ',')
		}
		changed = append(strconv.AppendQuote(changed, m.text), ':')
		changed = append(changed, *body...)
	}
	if changed == nil {
		return nil
	}
	s.priced = now
	out := newNews(nil)
	out.Cursor, out.AsOf = s.cursor, asOf(s.live.h.Readers.Snapshots.Snapshot(), 0)
	whole, err := encodeEvent(s.cursor, out)
	head, tail, ok := bytes.Cut(whole, noPrices)
	if err != nil || !ok {
		return nil
	}
	return bytes.Join([][]byte{head, noPrices[:len(noPrices)-1], changed, []byte("}"), tail}, nil)
}

var noPrices = []byte(`"prices":{}`)

// watch has the prices of tokens looked at, which have been told as they are.
func (s *subscription) watch(wanted []lookup.Item) {
	for i := range wanted {
		if t := wanted[i].Found; t != nil {
			w := s.live.prices.watch(priceKey{t.Chain, t.Token.Token.Mint})
			s.mints = append(s.mints, watchedMint{text: wanted[i].Text, of: w, told: w.body.Load()})
		}
	}
}

// Close has nobody look at the prices for the reader any more.
func (s *subscription) Close() {
	for i := range s.mints {
		s.live.prices.unwatch(s.mints[i].of)
	}
}

// prices are those that readers of the stream want.
type prices struct {
	mu      sync.Mutex
	watched map[priceKey]*watchedPrice
}

type priceKey struct {
	chain string
	mint  market.Address
}

// watchedPrice is a token's price, encoded once for each change.
type watchedPrice struct {
	key     priceKey
	readers int
	body    atomic.Pointer[[]byte]
}

func (p *prices) watch(k priceKey) *watchedPrice {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watched == nil {
		p.watched = map[priceKey]*watchedPrice{}
	}
	w := p.watched[k]
	if w == nil {
		w = &watchedPrice{key: k}
		p.watched[k] = w
	}
	w.readers++
	return w
}

func (p *prices) unwatch(w *watchedPrice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.readers--; w.readers == 0 {
		delete(p.watched, w.key)
	}
}

func (p *prices) all() []*watchedPrice {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*watchedPrice, 0, len(p.watched))
	for _, w := range p.watched {
		out = append(out, w)
	}
	return out
}

// run looks at the prices until ctx ends.
func (p *prices) run(ctx context.Context, h *Handlers) {
	turn := time.NewTicker(pricesAgain)
	defer turn.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-turn.C:
		}
		list := p.all()
		for len(list) > 0 {
			part := list[:min(len(list), pricesAtOnce)]
			list = list[len(part):]
			h.lookAtPrices(ctx, part)
		}
	}
}

// lookAtPrices encodes the prices that have changed. Where they can't be read, they stay as they are.
func (h *Handlers) lookAtPrices(ctx context.Context, list []*watchedPrice) {
	mints := make([]market.Address, len(list))
	for i, w := range list {
		mints[i] = w.key.mint
	}
	seen := h.Readers.Snapshots.Snapshot()
	found, err := h.Readers.Tokens.TokensAt(ctx, mints)
	if err != nil {
		return
	}
	for _, w := range list {
		t := lookup.Choose(seen.Catalog, found[w.key.mint], w.key.chain)
		if t == nil {
			continue
		}
		body, err := serve.Marshal(wire.PriceView(&t.Token, nil))
		if last := w.body.Load(); err == nil && (last == nil || !bytes.Equal(*last, body)) {
			w.body.Store(&body)
		}
	}
}
