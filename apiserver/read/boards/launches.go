package boards

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// besideTTL is how long what stands beside a launch is used again: counting what a busy creator launched takes a while.
	besideTTL = 3 * time.Second
	// launchTTL is how long what is known of one launch is used again: about the pace of the fastest blocks.
	launchTTL = 250 * time.Millisecond
	// cachedLaunches bounds the launches that are remembered.
	cachedLaunches = 4096
)

// LaunchNow is a launch with its chain.
type LaunchNow = store.LaunchNow

// Beside has the data that an answer shows with a launch, and that are not in the launch's own row.
type Beside struct {
	// Launches and Graduated count those of its creator on its chain; Holds is what the creator has of the token, raw.
	Launches, Graduated int64
	Holds               market.Amount
	// Quote is what the curve takes, as far as it is known.
	Quote market.Token
	// Metadata is nil while none was fetched.
	Metadata *figures.Metadata
	// Critical says that a trust check of critical severity failed.
	Critical bool
}

// Launches reads launches for requests, and remembers them and what stands beside them for a moment.
type Launches struct {
	store *store.Store
	gate  board.Gate
	now   func() time.Time
	// away reports whether the database is known to be away.
	away   func() bool
	rows   *recent.Cache[market.Address, recent.Dated[[]LaunchNow]]
	beside *recent.Cache[besideKey, recent.Dated[*Beside]]
	buyers *recent.Cache[besideKey, recent.Dated[*Buyers]]
	flight singleflight.Group
}

type besideKey struct {
	chain string
	mint  market.Address
}

// NewLaunches makes a reader of launches, which are held to a quality bar. away reports whether the database is known to be away: then what was
// read last is the answer.
func NewLaunches(st *store.Store, gate board.Gate, now func() time.Time, away func() bool) *Launches {
	return &Launches{
		store: st, gate: gate, now: now, away: away,
		rows:   recent.New[market.Address, recent.Dated[[]LaunchNow]](cachedLaunches),
		beside: recent.New[besideKey, recent.Dated[*Beside]](cachedLaunches),
		buyers: recent.New[besideKey, recent.Dated[*Buyers]](cachedLaunches),
	}
}

// LaunchesAt lists the launches of the tokens at an address on all chains. Answers are shared and must not be changed. While
// the database can't be read, what was read last stands in for it.
func (r *Launches) LaunchesAt(ctx context.Context, mint market.Address) ([]LaunchNow, error) {
	hit, ok := r.rows.Get(mint)
	if ok && (r.now().Sub(hit.At) < launchTTL || r.away()) {
		return hit.Value, nil
	}
	out, err, _ := r.flight.Do("at "+mint.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), figures.ReadTime)
		defer cancel()
		list, err := r.store.Launches.At(ctx, []market.Address{mint})
		if err == nil && len(list) > 0 {
			r.rows.Put(mint, recent.Dated[[]LaunchNow]{Value: list, At: r.now()})
		}
		return list, err
	})
	list, _ := out.([]LaunchNow)
	if err != nil && ok {
		return hit.Value, nil
	}
	return list, err
}

// BesideLaunch reads what stands beside a launch.
func (r *Launches) BesideLaunch(ctx context.Context, l *LaunchNow) (*Beside, error) {
	key := besideKey{l.Chain, l.Mint}
	hit, ok := r.beside.Get(key)
	if ok && (r.now().Sub(hit.At) < besideTTL || r.away()) {
		return hit.Value, nil
	}
	out, err, _ := r.flight.Do("beside "+l.Chain+" "+l.Mint.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), figures.ReadTime)
		defer cancel()
		b, err := r.readBeside(ctx, l)
		if err == nil {
			r.beside.Put(key, recent.Dated[*Beside]{Value: b, At: r.now()})
		}
		return b, err
	})
	if err != nil && ok {
		return hit.Value, nil
	}
	b, _ := out.(*Beside)
	return b, err
}

func (r *Launches) readBeside(ctx context.Context, l *LaunchNow) (*Beside, error) {
	b := &Beside{Quote: market.Token{Mint: l.Quote}}
	var err error
	if b.Launches, b.Graduated, err = r.store.Launches.CreatorRecord(ctx, l.Chain, l.Creator); err != nil {
		return nil, err
	}
	if b.Holds, err = r.store.Balances.Of(ctx, l.Chain, l.Mint, l.Creator); err != nil {
		return nil, err
	}
	m, fetched, err := r.store.Metadata.At(ctx, l.Chain, l.Mint)
	if err != nil {
		return nil, err
	}
	if fetched {
		b.Metadata = figures.NewMetadata(&m)
	}
	report, checked, err := r.store.Trust.At(ctx, l.Chain, l.Mint)
	if err != nil {
		return nil, err
	}
	b.Critical = checked && report.Critical
	if l.Quote.IsNone() {
		return b, nil
	}
	quotes, err := r.store.Tokens.Now(ctx, []market.Address{l.Quote})
	for i := range quotes {
		if quotes[i].Chain == l.Chain {
			b.Quote = quotes[i].Token
		}
	}
	return b, err
}

// CardNow makes the card of a launch from the newest rows of the launch and its token; ok is false when its venue
// isn't declared. It takes score, gate and rank from the board of the last ranking, kept. A launch that isn't on that board is
// judged here, as one without trades. kept is nil before the first ranking.
func (r *Launches) CardNow(kept *Board, in *declared.Catalog, l *LaunchNow, t *figures.Token, beside *Beside) (c Shown, ok bool) {
	venue, isDeclared := in.VenueOn(l.Venue, l.Chain)
	if !isDeclared {
		return c, false
	}
	f := figures.NewFacts(t)
	// Before the chain is ranked, the token is as of the newest block.
	on := &BoardChain{ID: t.Chain, Ranked: figures.Stamp{Block: t.Block, At: t.AsOf}, Stale: t.Stale, usd: t.USD}
	if ranked := kept.chain(t.Chain); ranked != nil {
		on.Ranked, on.hourUSD = ranked.Ranked, ranked.hourUSD
	}
	c = Shown{
		Card:  &Card{Launch: NewLaunched(&l.Launch), Metadata: beside.Metadata, facts: &f},
		Chain: l.Chain, On: on, Venue: venue, in: in, bodies: newCardBodies(),
	}
	w := f.Worth(l.Mint, t.USD, t.AsOf)
	if ranked, there := kept.Launched(l.Chain, l.Mint); there && ranked.Listed {
		c.Standing = ranked.Standing
	} else {
		e := entry{facts: &f, launch: c.Launch, checked: beside.Critical}
		at := on.Ranked.Latest(t.Changed).At // and not of each block, in which nothing need have happened to it
		judging := chainTokens{chain: l.Chain, status: store.ChainStatus{Last: market.Header{Time: at}}, stale: t.Stale}
		judging.judge(&e, &r.gate, &Measured{w, resting(c.Launch, w.Liquidity, at)})
		c.verdict = e.verdict
		c.Standing = c.standing(on, at)
	}
	c.Listed = w.Valued()
	return c, true
}
