package indexer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Reindex asks for the next generation of a chain's index, which the chain's indexer makes when it runs.
type Reindex struct {
	// Database is sqlite:PATH or postgres://….
	Database string
	Chain    string
	// AskAnew has nodes asked again what they told before.
	AskAnew bool
	// GiveUp takes back what was asked for. DryRun says what it would take, and asks for nothing.
	GiveUp, DryRun bool
	// Out is told what comes of it.
	Out io.Writer
}

// Run asks for the next generation, and says what it takes. With DryRun it says that alone, and with GiveUp it takes back what was asked for.
func (r *Reindex) Run(ctx context.Context) error {
	st, err := store.Open(ctx, r.Database)
	if errors.Is(err, store.ErrFileLocked) {
		return fmt.Errorf("%w: end `boardwalk up`, run this again, and start it anew", err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	served, err := r.served(ctx, st)
	if err != nil {
		return err
	}
	if r.GiveUp {
		return r.giveUp(ctx, st)
	}
	first, _, err := st.Indexes.FirstBlock(ctx, served.ID)
	if err != nil {
		return err
	}
	size, err := st.Indexes.Size(ctx, served.ID)
	if err != nil {
		return err
	}
	family, err := st.Indexes.Family(ctx, served.ID)
	if err != nil {
		return err
	}
	what := "the next generation would be indexed; nothing is asked for yet. It would be made"
	if !r.DryRun {
		generation, ok, err := st.Indexes.Want(ctx, r.Chain, r.AskAnew)
		if err != nil {
			return err
		}
		if !ok { // it was purged meanwhile
			return noSuchChain(ctx, st, r.Chain)
		}
		what = fmt.Sprintf("generation %d is indexed", generation)
	}
	effort := chainconfig.EffortOf(family, first, served.Last.Number, size.Bytes)
	facts := fmt.Sprintf("What nodes told of tokens and pools is used again, %d answers", size.Facts)
	if r.AskAnew {
		facts = fmt.Sprintf("What nodes told of tokens and pools is asked again, %d answers", size.Facts)
		if family.HasPastStates() {
			facts += ": that takes nodes which have the states of that time"
		}
	}
	_, err = fmt.Fprintf(r.Out, `%s: %s when the chain's indexer runs, beside generation %d, which is served until the new one is at the head.
It reads blocks %d to %d: %s.
%s.
On the disk it takes about as much again as the chain has now, %s, until the former rows are deleted.
`,
		r.Chain, what, served.Generation, first, served.Last.Number, effort.Reading(), facts, chainconfig.Megabytes(effort.Bytes))
	return err
}

// giveUp takes back what was asked for, and says what becomes of it.
func (r *Reindex) giveUp(ctx context.Context, st *store.Store) error {
	generation, err := st.Indexes.GiveUp(ctx, r.Chain)
	if err != nil {
		return err
	}
	list, err := st.Indexes.Of(ctx, r.Chain)
	if err != nil {
		return err
	}
	served, latest, former := int64(0), int64(0), int64(0)
	for i := range list {
		latest = max(latest, list[i].Generation)
		if list[i].Served {
			served, former = list[i].Generation, list[i].GivenUp
		}
	}
	if generation > 0 {
		_, err = fmt.Fprintf(r.Out, `%s: generation %d is given up; generation %d stays served.
The chain's indexer stops making it within seconds, or doesn't begin with it, and deletes its rows from a minute later on, while it runs.
The next boardwalk reindex %s makes generation %d. What spec.indexer.generation asks for is made all the same: put %d there to give that up too.
`, r.Chain, generation, served, r.Chain, max(generation, latest)+1, served)
		return err
	}
	text := fmt.Sprintf("nothing is given up: generation %d of chain %q is served, and boardwalk reindex asks for no other one", served, r.Chain)
	if former > 0 {
		text += fmt.Sprintf(". Generation %d was given up before", former)
	}
	if latest > served {
		text += fmt.Sprintf(". Generation %d still has rows: the chain's indexer deletes them while it runs, unless spec.indexer.generation asks for it: put %d there "+
			"to give it up", latest, served)
	}
	return errors.New(text)
}

// served is the index that is served.
func (r *Reindex) served(ctx context.Context, st *store.Store) (*store.IndexStatus, error) {
	list, err := st.Indexes.Of(ctx, r.Chain)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Served {
			return &list[i], nil
		}
	}
	return nil, noSuchChain(ctx, st, r.Chain)
}

// noSuchChain says that the database doesn't have a chain, and which ones it has.
func noSuchChain(ctx context.Context, st *store.Store, chain string) error {
	all, err := st.Chains(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("chain %q isn't in the database, which has none", chain)
	}
	names := make([]string, len(all))
	for i := range all {
		names[i], _ = chainconfig.ChainOfIndex(all[i].ID)
	}
	slices.Sort(names)
	return fmt.Errorf("chain %q isn't in the database, which has %s", chain, strings.Join(slices.Compact(names), ", "))
}
