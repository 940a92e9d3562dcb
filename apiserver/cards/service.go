// Package cards has share cards drawn by the renderer and keeps what was drawn: in memory, and in Redis where there is one. It
// knows what a card shows as plain data (internal/sharecard) and nothing of where that comes from.
package cards

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

const (
	// defaultBytes is what memory keeps by default: some 600 cards.
	defaultBytes = 64 << 20
	// oldest is how much older than the data a card may be that stands in, in seconds.
	oldest = 24 * 60 * 60
	// mostAsked bounds the questions whose answer is remembered.
	mostAsked = 16384
)

// freshFor is how long a card is answered again without a look at its data: a small part of what clients keep it for. A
// trader's needs all of a wallet's trades.
var freshFor = map[sharecard.Kind]time.Duration{
	sharecard.KindToken: 2 * time.Second, sharecard.KindLaunch: 2 * time.Second, sharecard.KindTrader: 15 * time.Second,
}

// Options are what a Service is made of.
type Options struct {
	Renderer Renderer
	// Bytes bounds what is kept in memory; 0 is 64 MiB.
	Bytes int
	// Redis shares cards between API servers; nil is none.
	Redis redis.UniversalClient
	// Metrics may be nil.
	Metrics *Metrics
	Now     func() time.Time
	Log     *slog.Logger
}

// Service draws cards: each once, however many ask for it.
type Service struct {
	o      Options
	memory *pictureCache
	shared *shared

	asks, renders singleflight.Group

	asked *recent.Cache[Ask, known]
}

// known is whose card was the answer to a question, and until when that is so without another look.
type known struct {
	subject string
	until   time.Time
	named   Named
}

// NewService makes a service that has drawn nothing yet.
func NewService(o Options) *Service {
	if o.Bytes == 0 {
		o.Bytes = defaultBytes
	}
	d := &Service{o: o, memory: newPictureCache(o.Bytes), asked: recent.New[Ask, known](mostAsked)}
	if o.Redis != nil {
		d.shared = &shared{rdb: o.Redis, now: o.Now, log: o.Log, patience: sharedTime}
	}
	return d
}

// Ask is what a card is asked by.
type Ask struct {
	Kind sharecard.Kind
	// Of names the card as it was asked for.
	Of string
	// In is what the answer follows from beside the data, as the catalogue: with another one nothing is known. It must be
	// comparable.
	In any
}

// Built is a card that is to be drawn.
type Built struct {
	Card sharecard.Card
	// Subject names what the card is about, in one line: of each the last picture is kept.
	Subject string
	// AsOf is the time of the newest data in it, in Unix seconds.
	AsOf int64
	// Named is the member whom the card names.
	Named Named
}

// subject is the one that pictures are kept by. Another card stands in for one that can't be drawn only if it names the same member: whoever has left
// isn't named by an old picture.
func (b *Built) subject() string {
	if b.Named.Handle == "" {
		return b.Subject
	}
	return b.Subject + " @" + b.Named.Handle
}

// Named is the member whom a card names, with a handle that is empty for nobody. Now tells whom it would name by now; nil is always nobody.
type Named struct {
	Handle string
	Now    func() string
}

func (n Named) isStill() bool { return n.Now == nil || n.Now() == n.Handle }

// Build makes the data of a card. An error that wraps ErrNoData lets the last picture stand in.
type Build func(context.Context) (*Built, error)

// ErrNoData is wrapped by errors of a Build that may be over soon.
var ErrNoData = errors.New("the data of the card can't be read")

// Draw gives the card that is asked for. stale says that it is an older one, because none can be made now. Where there is no
// such card either the error is the Build's, or an *UnavailableError. The end of ctx doesn't end what others wait for too.
func (d *Service) Draw(ctx context.Context, a Ask, build Build) (p *Picture, stale bool, err error) {
	last, fresh := d.known(a)
	if fresh && last != nil {
		d.o.Metrics.answeredFrom(a.Kind, fromMemory)
		return last, false, nil
	}
	r, err := d.ask(ctx, a, last, build)
	if err == nil && !r.named.isStill() { // it was begun for somebody who came before
		r, err = d.ask(ctx, a, nil, build)
	}
	if err != nil {
		d.o.Metrics.answeredFrom(a.Kind, fromNobody)
		return nil, false, err
	}
	d.o.Metrics.answeredFrom(a.Kind, r.from)
	return r.picture, r.from == fromStale, nil
}

// result is the answer to a question.
type result struct {
	picture *Picture
	from    string
	named   Named
}

// ask answers a question once for all who have it now. last is the picture that may stand in for one whose data can't be read; it may be nil.
func (d *Service) ask(ctx context.Context, a Ask, last *Picture, build Build) (result, error) {
	out, err, _ := d.asks.Do(fmt.Sprintf("%s %s %p", a.Kind, a.Of, a.In), func() (any, error) {
		ctx := context.WithoutCancel(ctx)
		b, err := build(ctx)
		if errors.Is(err, ErrNoData) && last != nil {
			d.o.Log.WarnContext(ctx, "an old card is answered", "kind", string(a.Kind), "err", err.Error())
			return result{last, fromStale, Named{}}, nil
		}
		if err != nil {
			return nil, err
		}
		picture, from, err := d.picture(ctx, b)
		if err != nil {
			return nil, err
		}
		d.remember(a, b, from != fromStale)
		return result{picture, from, b.Named}, nil
	})
	r, _ := out.(result)
	return r, err
}

// picture finds or draws a card. Another of the same subject stands in for one that can't be drawn.
func (d *Service) picture(ctx context.Context, b *Built) (p *Picture, from string, err error) {
	key, err := sharecard.Key(b.Card)
	if err != nil {
		return nil, "", fmt.Errorf("cards: %w", err)
	}
	subject := b.subject()
	last := d.memory.get(subject)
	if last != nil && last.key == key {
		p = last.seenAt(b.AsOf)
		d.keep(subject, p)
		return p, fromMemory, nil
	}
	if other := d.shared.get(ctx, subject); other != nil && (other.key == key || last == nil || other.AsOf > last.AsOf) {
		last = other
	}
	if last != nil && last.key == key {
		p = last.seenAt(b.AsOf)
		d.keep(subject, p)
		return p, fromShared, nil
	}
	out, err, _ := d.renders.Do(key, func() (any, error) {
		began := d.o.Now()
		png, err := d.o.Renderer.Render(ctx, b.Card)
		d.o.Metrics.rendered(b.Card.Kind(), d.o.Now().Sub(began), err)
		if err != nil {
			return nil, err
		}
		return newPicture(key, png, b.AsOf), nil
	})
	if err != nil {
		if last != nil && last.AsOf >= b.AsOf-oldest {
			d.o.Log.WarnContext(ctx, "an old card is answered", "kind", string(b.Card.Kind()), "err", err.Error())
			d.keep(subject, last)
			return last, fromStale, nil
		}
		return nil, "", err
	}
	p, ok := out.(*Picture)
	if !ok {
		return nil, "", fmt.Errorf("cards: a render gave a %T", out)
	}
	d.keep(subject, p)
	d.shared.put(ctx, subject, p)
	return p, fromRender, nil
}

func (d *Service) keep(subject string, p *Picture) {
	d.memory.put(subject, p)
	_, bytes := d.memory.held()
	d.o.Metrics.holds(bytes)
}

// known is the last picture that was the answer to a question, nil when there is none any more, and whether it still is.
func (d *Service) known(a Ask) (p *Picture, fresh bool) {
	k, ok := d.asked.Get(a)
	still := k.named.isStill()
	if !ok || !still && k.named.Handle != "" {
		return nil, false
	}
	return d.memory.get(k.subject), still && d.o.Now().Before(k.until)
}

func (d *Service) remember(a Ask, b *Built, fresh bool) {
	k := known{subject: b.subject(), named: b.Named}
	if fresh {
		k.until = d.o.Now().Add(freshFor[a.Kind])
	}
	d.asked.Put(a, k)
}
