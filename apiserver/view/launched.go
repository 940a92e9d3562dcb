package view

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

const (
	// besideTTL is how long what stands beside a launch is used again: counting what a busy creator launched takes a while.
	besideTTL = 3 * time.Second
	// cachedLaunches bounds the launches that are remembered.
	cachedLaunches = 4096
)

// LaunchNow is a launch with its chain.
type LaunchNow = store.LaunchNow

// Beside is what stands beside a launch.
type Beside struct {
	// Launches and Graduated count those of its creator on its chain; Holds is what the creator has of the token, raw.
	Launches, Graduated int64
	Holds               market.Amount
	// Quote is what the curve takes, as far as it is known.
	Quote market.Token
	// Metadata is nil while none was fetched.
	Metadata *Metadata
	// Critical says that a trust check of critical severity failed.
	Critical bool
}

// launchCache remembers launches and what stands beside them.
type launchCache struct {
	rows   *recent.Cache[market.Address, dated[[]LaunchNow]]
	beside *recent.Cache[besideKey, dated[*Beside]]
	flight singleflight.Group
}

type besideKey struct {
	chain string
	mint  market.Address
}

func newLaunchCache() launchCache {
	return launchCache{
		rows:   recent.New[market.Address, dated[[]LaunchNow]](cachedLaunches),
		beside: recent.New[besideKey, dated[*Beside]](cachedLaunches),
	}
}

// LaunchesAt lists the launches of the tokens at an address on all chains. Answers are shared and must not be changed. While
// the database can't be read, what was read last stands in for it.
func (v *View) LaunchesAt(ctx context.Context, mint market.Address) ([]LaunchNow, error) {
	hit, ok := v.launches.rows.Get(mint)
	if ok && (v.now().Sub(hit.at) < tokenTTL || v.snapshot.Load().failing()) {
		return hit.value, nil
	}
	out, err, _ := v.launches.flight.Do("at "+mint.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
		defer cancel()
		list, err := v.store.LaunchesAt(ctx, []market.Address{mint})
		if err == nil && len(list) > 0 {
			v.launches.rows.Put(mint, dated[[]LaunchNow]{list, v.now()})
		}
		return list, err
	})
	list, _ := out.([]LaunchNow)
	if err != nil && ok {
		return hit.value, nil
	}
	return list, err
}

// BesideLaunch reads what stands beside a launch.
func (v *View) BesideLaunch(ctx context.Context, l *LaunchNow) (*Beside, error) {
	key := besideKey{l.Chain, l.Mint}
	hit, ok := v.launches.beside.Get(key)
	if ok && (v.now().Sub(hit.at) < besideTTL || v.snapshot.Load().failing()) {
		return hit.value, nil
	}
	out, err, _ := v.launches.flight.Do("beside "+l.Chain+" "+l.Mint.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
		defer cancel()
		b, err := v.readBeside(ctx, l)
		if err == nil {
			v.launches.beside.Put(key, dated[*Beside]{b, v.now()})
		}
		return b, err
	})
	if err != nil && ok {
		return hit.value, nil
	}
	b, _ := out.(*Beside)
	return b, err
}

func (v *View) readBeside(ctx context.Context, l *LaunchNow) (*Beside, error) {
	b := &Beside{Quote: market.Token{Mint: l.Quote}}
	var err error
	if b.Launches, b.Graduated, err = v.store.CreatorRecord(ctx, l.Chain, l.Creator); err != nil {
		return nil, err
	}
	if b.Holds, err = v.store.BalanceOf(ctx, l.Chain, l.Mint, l.Creator); err != nil {
		return nil, err
	}
	m, fetched, err := v.store.MetadataAt(ctx, l.Chain, l.Mint)
	if err != nil {
		return nil, err
	}
	if fetched {
		b.Metadata = newMetadata(&m)
	}
	report, checked, err := v.store.TrustAt(ctx, l.Chain, l.Mint)
	if err != nil {
		return nil, err
	}
	b.Critical = checked && report.Critical
	if l.Quote.IsNone() {
		return b, nil
	}
	quotes, err := v.store.TokensNow(ctx, []market.Address{l.Quote})
	for i := range quotes {
		if quotes[i].Chain == l.Chain {
			b.Quote = quotes[i].Token
		}
	}
	return b, err
}

// CardNow is the card of a launch as it and its token were just read. How it stands is as of the last ranking; for one that
// the board doesn't keep it is judged here, without trades.
func (v *View) CardNow(s *Snapshot, l *LaunchNow, t *Token, beside *Beside) (c Shown, ok bool) {
	venue, declared := s.Catalog.VenueOn(l.Venue, l.Chain)
	if !declared {
		return c, false
	}
	f := newFacts(t)
	on := &BoardChain{ID: t.Chain, Ranked: s.rankedAt(t), Stale: t.Stale, usd: t.USD}
	if kept := s.Board; kept != nil && kept.chains[t.Chain] != nil {
		on.hourUSD = kept.chains[t.Chain].hourUSD
	}
	c = Shown{
		Card:  &Card{Launch: NewLaunched(&l.Launch), Metadata: beside.Metadata, facts: &f},
		Chain: l.Chain, On: on, Venue: venue, in: s.Catalog, bodies: newCardBodies(),
	}
	w := f.worth(l.Mint, t.USD, t.AsOf)
	if kept, there := s.Launched(l.Chain, l.Mint); there && kept.Listed {
		c.Standing = kept.Standing
	} else {
		e := entry{facts: &f, launch: c.Launch, checked: beside.Critical}
		at := on.Ranked.Latest(t.Changed).At // and not of each block, in which nothing need have happened to it
		judging := chainTokens{chain: l.Chain, status: store.ChainStatus{Last: market.Header{Time: at}}, stale: t.Stale}
		judging.judge(&e, &v.ranks.gate, &measured{w, resting(c.Launch, w.liquidity, at)})
		c.verdict = e.verdict
		c.Standing = c.standing(at, t.Stale)
	}
	c.Listed = w.valued()
	return c, true
}

// rankedAt is the newest block as of which the chain of a token was ranked last. Where it wasn't yet, the token is as of the newest block.
func (s *Snapshot) rankedAt(t *Token) Stamp {
	if s.Board != nil && s.Board.chains[t.Chain] != nil {
		return s.Board.chains[t.Chain].Ranked
	}
	return Stamp{Block: t.Block, At: t.AsOf}
}

// Gate is the quality bar of the launch board.
func (v *View) Gate() board.Gate { return v.ranks.gate }

// LastReport is the trust report of a token that was stored last; ok is false when there is none.
func (v *View) LastReport(ctx context.Context, chain string, mint market.Address) (r *trust.Report, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	row, ok, err := v.store.TrustAt(ctx, chain, mint)
	if err != nil || !ok || string(row.Report) == "null" { // which says that there was nothing to check
		return nil, false, err
	}
	r = &trust.Report{}
	if err := json.Unmarshal(row.Report, r); err != nil {
		return nil, false, fmt.Errorf("view: the report of %s on %s: %w", mint, chain, err)
	}
	return r, true, nil
}
