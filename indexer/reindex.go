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
	// Out is told what comes of it.
	Out io.Writer
}

// pastRange is the number of blocks that most nodes give the logs of at once.
const pastRange = 1000

// Run writes the wish down, and says what it takes.
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
	first, _, err := st.Indexes.FirstBlock(ctx, served.ID)
	if err != nil {
		return err
	}
	size, err := st.Indexes.Size(ctx, served.ID)
	if err != nil {
		return err
	}
	generation, _, err := st.Indexes.Want(ctx, r.Chain, r.AskAnew)
	if err != nil {
		return err
	}
	blocks := served.Last.Number - min(first, served.Last.Number) + 1
	facts := fmt.Sprintf("What nodes told of tokens and pools is used again, %d answers", size.Facts)
	if r.AskAnew {
		facts = fmt.Sprintf("What nodes told of tokens and pools is asked again, %d answers: that takes nodes which have the states of that time", size.Facts)
	}
	_, err = fmt.Fprintf(r.Out, `%s: generation %d is indexed when the chain's indexer runs, beside generation %d, which is served until the new one is at the head.
It reads blocks %d to %d (%d): some %d calls where a node gives the logs of %d blocks at once.
%s.
On the disk it takes about as much again as the chain has now, %s, until the former rows are deleted.
`,
		r.Chain, generation, served.Generation, first, served.Last.Number, blocks, 2*((blocks+pastRange-1)/pastRange), pastRange, facts, megabytes(size.Bytes))
	return err
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

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }
