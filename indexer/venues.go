package indexer

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// venuePause is the time between two looks at the venues' contracts: each costs a call per contract.
const venuePause = 15 * time.Second

// venueWatch asks the venues' contracts, beside the loop, whether they are there and whether they are paused.
type venueWatch struct {
	source source
	log    *slog.Logger
	pause  time.Duration
	venues []watchedVenue
	tell   func([]chainconfig.VenueState)
	// there are the contracts that have been seen to have code. It can't be lost in practice.
	there map[market.Address]bool
}

type watchedVenue struct {
	declared  chainconfig.Venue
	contracts []market.Address
}

func newVenueWatch(cfg *chainconfig.Chain, src source, o Options, tell func([]chainconfig.VenueState)) (*venueWatch, error) {
	w := &venueWatch{source: src, log: o.Log, pause: cmp.Or(o.VenuePause, venuePause), tell: tell, there: map[market.Address]bool{}}
	for _, v := range cfg.Venues {
		watched := watchedVenue{declared: v}
		for _, c := range v.Contracts {
			a, err := market.ParseEVMAddress(c)
			if err != nil {
				return nil, fmt.Errorf("chain %s: venue %s: contract %q: %w", cfg.ID, v.ID, c, err)
			}
			watched.contracts = append(watched.contracts, a)
		}
		w.venues = append(w.venues, watched)
	}
	tell(w.unchecked())
	return w, nil
}

func (w *venueWatch) unchecked() []chainconfig.VenueState {
	out := make([]chainconfig.VenueState, len(w.venues))
	for i, v := range w.venues {
		out[i].ID, out[i].Contracts = v.declared.ID, v.declared.Contracts
	}
	return out
}

// run looks again and again until ctx ends. What was seen last stands while the nodes fail: that they do is told by the lag.
func (w *venueWatch) run(ctx context.Context) {
	if len(w.venues) == 0 {
		return
	}
	for {
		if states, err := w.look(ctx); err == nil {
			w.tell(states)
		} else if ctx.Err() == nil {
			w.log.WarnContext(ctx, "venue contracts not checked", "err", err.Error())
		}
		if !sleep(ctx, w.pause) {
			return
		}
	}
}

func (w *venueWatch) look(ctx context.Context) ([]chainconfig.VenueState, error) {
	head, err := w.source.Head(ctx)
	if err != nil {
		return nil, err
	}
	out := w.unchecked()
	for i, v := range w.venues {
		paused, err := w.source.Paused(ctx, v.contracts)
		if err != nil {
			return nil, err
		}
		out[i].Checked = true
		for j, c := range v.contracts {
			if paused[j] {
				out[i].Paused = append(out[i].Paused, c.String())
			}
			if w.there[c] {
				continue
			}
			exists, known, err := w.source.Exists(ctx, c, head.Number)
			if err != nil {
				return nil, err
			}
			if !known {
				out[i].Checked = false
				continue
			}
			if !exists {
				out[i].Missing = append(out[i].Missing, c.String())
			}
			w.there[c] = exists
		}
	}
	return out, nil
}
