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
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// eventsEvery is how often events are made of what is new.
	eventsEvery = 100 * time.Millisecond
	// pricesEvery is how often prices are read that readers want.
	pricesEvery = time.Second
	// eventItems is how many items of each kind one event has, and how many are told to who comes back: some 40 KiB.
	eventItems = 12
	// oldEvent is the age of an event from which on a reader who hasn't got it is too far behind.
	oldEvent = 30 * time.Second
	// mostWatched is how many tokens' prices are read for all readers.
	mostWatched = 4_000
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
	to     int64
	body   []byte
	madeAt time.Time
	// isReset says that the stream begins anew, below what was told.
	isReset bool
	next    atomic.Pointer[event]
}

// Run makes the events until ctx ends.
func (h *Handlers) Run(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.live.prices.run(ctx, h.live.h)
	}()
	turn := time.NewTicker(eventsEvery)
	defer turn.Stop()
	failing := false
	for ctx.Err() == nil {
		err := h.live.safely(ctx)
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

// safely is makeEvents, whose panic is an error.
func (l *live) safely(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("social: a panic: %v", p)
		}
	}()
	return l.makeEvents(ctx)
}

// makeEvents makes the events of what came since the last time.
func (l *live) makeEvents(ctx context.Context) error {
	seen := l.h.Readers.Snapshots.Snapshot()
	if !seen.HasStream() {
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
	for last.to < seen.Stream.Head {
		part := seen.Stream.Next(last.to, eventItems)
		at := last.to
		news, err := l.h.collectNews(ctx, seen, part, cursors{&at, &at, &at}, eventItems, withoutTexts)
		if err != nil {
			return err
		}
		body, err := encodeEvent(news, seen)
		if err != nil {
			return err
		}
		next := &event{to: part.Head, body: body, madeAt: l.h.Now()}
		last.next.Store(next)
		last = &tail{event: next, seen: seen}
		l.tail.Store(last)
	}
	return nil
}

// reset tells the readers that their cursors are ahead of everything.
func (l *live) reset(last *tail, seen *read.Snapshot) error {
	out := noNews()
	head := seen.Stream.Head
	out.Cursor = contract.LiveCursor{Trade: head, Launch: head, Call: head}
	out.Reset = contract.LiveFlags{Trade: true, Launch: true, Call: true}
	body, err := encodeEvent(out, seen)
	if err != nil {
		return err
	}
	told := &event{to: head, body: body, madeAt: l.h.Now(), isReset: true}
	last.next.Store(told)
	l.tail.Store(&tail{event: told, seen: seen})
	return nil
}

// encodeEvent is the server-sent event of what is new.
func encodeEvent(n *news, seen *read.Snapshot) ([]byte, error) {
	body, err := n.encode(seen)
	if err != nil {
		return nil, err
	}
	return eventOf(n.Cursor, body), nil
}

// eventOf is a server-sent event with some data.
func eventOf(at contract.LiveCursor, data []byte) []byte {
	return fmt.Appendf(nil, "id: %d-%d-%d\ndata: %s\n\n", at.Trade, at.Launch, at.Call, data)
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
	if last == nil || !r.Seen.HasStream() {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	wanted, err := lookup.Tokens(r, h.Readers.Tokens, "mints")
	if err != nil {
		return nil, err
	}
	cursor := contract.LiveCursor{Trade: last.to, Launch: last.to, Call: last.to}
	sub := &subscription{live: &h.live, at: last.event}
	if at == (cursors{}) && len(wanted) == 0 {
		data, err := serve.Marshal(contract.LiveStart{Cursor: cursor})
		if err != nil {
			return nil, fmt.Errorf("social: encode cursors: %w", err)
		}
		sub.pending = eventOf(cursor, data)
	} else {
		news, err := h.collectNews(r.Context(), last.seen, last.seen.Stream.At(last.to), at, eventItems, withoutTexts)
		if err != nil {
			return nil, serve.Unavailable(err)
		}
		if err := news.addPrices(wanted); err != nil {
			return nil, err
		}
		if sub.pending, err = encodeEvent(news, last.seen); err != nil {
			return nil, err
		}
		cursor = news.Cursor
	}
	sub.cursor, sub.skipTo = cursor, min(cursor.Trade, cursor.Launch, cursor.Call)
	return serve.EventStream(sub), sub.watch(wanted)
}

// subscription is where a reader of the stream stands.
type subscription struct {
	live *live
	at   *event
	// pending is the first event.
	pending []byte
	cursor  contract.LiveCursor
	// skipTo is the number up to which everything was told, by another server that was ahead of this one.
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
func (s *subscription) Next() (event []byte, ok bool) {
	if s.pending != nil {
		event, s.pending = s.pending, nil
		return event, true
	}
	for {
		next := s.at.next.Load()
		if next == nil {
			return s.nextPrices(), true
		}
		if s.live.h.Now().Sub(next.madeAt) >= oldEvent { // so that what nobody has any more isn't kept, and names aren't told late
			return nil, false
		}
		s.at = next
		if next.isReset || next.to > s.skipTo {
			s.skipTo, s.cursor = 0, contract.LiveCursor{Trade: next.to, Launch: next.to, Call: next.to}
			return next.body, true
		}
	}
}

// nextPrices is an event with the prices that have changed.
func (s *subscription) nextPrices() []byte {
	if len(s.mints) == 0 {
		return nil
	}
	now := s.live.h.Now()
	if now.Sub(s.priced) < pricesEvery {
		return nil
	}
	s.priced = now
	out := noNews()
	for i := range s.mints {
		m := &s.mints[i]
		if body := m.of.body.Load(); body != m.told {
			m.told = body
			out.addPrice(m.text, *body)
		}
	}
	if len(out.prices) == 0 {
		return nil
	}
	out.Cursor = s.cursor
	body, err := encodeEvent(out, s.live.h.Readers.Snapshots.Snapshot())
	if err != nil { // of numbers and texts that were encoded before
		return nil
	}
	return body
}

// watch has the prices of tokens read, which have been told as they are.
func (s *subscription) watch(wanted []lookup.Item) error {
	for i := range wanted {
		t := wanted[i].Found
		if t == nil {
			continue
		}
		body, err := serve.Marshal(wire.PriceView(&t.Token, nil))
		if err != nil {
			s.Close()
			return fmt.Errorf("social: encode a price: %w", err)
		}
		w, ok := s.live.prices.watch(priceKey{t.Chain, t.Token.Token.Mint}, &body)
		if !ok {
			s.Close()
			return serve.TooBusy()
		}
		told := &body
		if now := w.body.Load(); bytes.Equal(*now, body) {
			told = now
		}
		s.mints = append(s.mints, watchedMint{text: wanted[i].Text, of: w, told: told})
	}
	return nil
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

// watch has a price read, which is now what a body says; ok is false where as many are read as may be.
func (p *prices) watch(k priceKey, now *[]byte) (w *watchedPrice, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watched == nil {
		p.watched = map[priceKey]*watchedPrice{}
	}
	if w = p.watched[k]; w == nil {
		if len(p.watched) >= mostWatched {
			return nil, false
		}
		w = &watchedPrice{key: k}
		w.body.Store(now)
		p.watched[k] = w
	}
	w.readers++
	return w, true
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

// run reads the prices until ctx ends.
func (p *prices) run(ctx context.Context, h *Handlers) {
	turn := time.NewTicker(pricesEvery)
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
			h.refreshPrices(ctx, part)
		}
	}
}

// refreshPrices encodes the prices that have changed. Where they can't be read, they stay as they are.
func (h *Handlers) refreshPrices(ctx context.Context, list []*watchedPrice) {
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
		if err == nil && !bytes.Equal(*w.body.Load(), body) {
			w.body.Store(&body)
		}
	}
}
