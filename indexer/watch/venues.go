package watch

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// venuePause is the time between two looks at the venues' contracts: each costs a call per contract.
const venuePause = 15 * time.Second

// codesAtOnce bounds how many contracts are asked for their code in one look. Missing ones are asked each time.
const codesAtOnce = 100

// VenueNodes are the node calls that Venues makes.
type VenueNodes interface {
	chain.HeadReader
	chain.ContractSource
}

// Venues asks the venues' contracts, beside the loop, whether they are there and whether they are paused.
type Venues struct {
	nodes  VenueNodes
	log    *slog.Logger
	pause  time.Duration
	venues []chainconfig.Venue
	tell   func([]chainconfig.VenueState)
	// there are the contracts that have been seen to have code, which they don't lose in practice.
	there map[market.Address]bool
}

// VenueOptions are what a watch works with.
type VenueOptions struct {
	Venues []chainconfig.Venue
	Nodes  VenueNodes
	// Pause is the time between two looks; 0 is 15 s.
	Pause time.Duration
	// Tell is told how the venues stand, at once for the first time.
	Tell func([]chainconfig.VenueState)
	Log  *slog.Logger
}

// NewVenues makes a watch that has asked nobody yet, and says so.
func NewVenues(o VenueOptions) *Venues {
	w := &Venues{venues: o.Venues, nodes: o.Nodes, log: o.Log, pause: cmp.Or(o.Pause, venuePause), tell: o.Tell, there: map[market.Address]bool{}}
	w.tell(Unchecked(w.venues))
	return w
}

// Unchecked are venues of which nothing has been asked yet.
func Unchecked(venues []chainconfig.Venue) []chainconfig.VenueState {
	out := make([]chainconfig.VenueState, len(venues))
	for i, v := range venues {
		out[i].ID, out[i].Contracts = v.ID, v.Contracts
	}
	return out
}

// Run looks again and again until ctx ends. What was seen last stands while the nodes fail: that they do is told by the lag.
func (w *Venues) Run(ctx context.Context) {
	if len(w.venues) == 0 {
		return
	}
	failing := false
	for {
		states, err := w.look(ctx)
		switch {
		case err == nil:
			w.tell(states)
		case ctx.Err() == nil && !failing:
			w.log.WarnContext(ctx, "venue contracts not checked", "err", err.Error())
		}
		failing = err != nil
		if !wait.For(ctx, w.pause) {
			return
		}
	}
}

// look asks all contracts at once whether they are paused, and those whose code hasn't been seen yet for it.
func (w *Venues) look(ctx context.Context) ([]chainconfig.VenueState, error) {
	var contracts []market.Address
	for _, v := range w.venues {
		contracts = append(contracts, v.Contracts...)
	}
	paused, err := w.nodes.Paused(ctx, contracts)
	if err != nil {
		return nil, err
	}
	unknown, err := w.lookForCode(ctx, contracts)
	if err != nil {
		return nil, err
	}
	out := Unchecked(w.venues)
	i := 0
	for n, v := range w.venues {
		out[n].Checked = true
		for _, c := range v.Contracts {
			switch {
			case unknown[c]:
				out[n].Checked = false
			case !w.there[c]:
				out[n].Missing = append(out[n].Missing, c.String())
			case paused[i]:
				out[n].Paused = append(out[n].Paused, c.String())
			}
			i++
		}
	}
	return out, nil
}

// lookForCode notes which contracts have code. It gives the contracts of which the nodes can't say, or weren't asked in this look.
func (w *Venues) lookForCode(ctx context.Context, contracts []market.Address) (unknown map[market.Address]bool, err error) {
	unknown = map[market.Address]bool{}
	var head uint64
	asked := 0
	for _, c := range contracts {
		if w.there[c] {
			continue
		}
		if asked++; asked > codesAtOnce {
			unknown[c] = true
			continue
		}
		if head == 0 {
			h, err := w.nodes.Head(ctx)
			if err != nil {
				return nil, err
			}
			head = h.Number
		}
		exists, known, err := w.nodes.Exists(ctx, c, head)
		if err != nil {
			return nil, err
		}
		unknown[c], w.there[c] = !known, exists
	}
	return unknown, nil
}
