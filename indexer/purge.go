package indexer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// Purge deletes what was indexed of a chain that isn't declared any more.
type Purge struct {
	// Database is sqlite:PATH or postgres://….
	Database string
	Chain    string
	// Confirmed says that the rows are to be deleted. Without it Run says what would be.
	Confirmed bool
	// Out is told what comes of it.
	Out io.Writer
	Now func() time.Time
}

// errUnconfirmed says that a purge hasn't deleted anything: nobody confirmed it.
var errUnconfirmed = errors.New("nothing was deleted: run it again with --yes")

const (
	// purgeHolder holds the leases of what is purged.
	purgeHolder = "boardwalk purge"
	// leasePatience is how long a purge waits for the lease of an indexer that has just ended.
	leasePatience = 2 * leaseTTL
	// piecePatience is how long a purge tries to delete one piece.
	piecePatience = 15 * time.Minute
	// progressPause is the time between two lines about how far it has come.
	progressPause = 10 * time.Second
)

// Run deletes all of the chain's indexes. An indexer that runs for the chain has its lease: then nothing is deleted.
func (p *Purge) Run(ctx context.Context) error {
	open := store.Open
	if !p.Confirmed { // it changes nothing, the schema neither
		open = store.OpenReader
	}
	st, err := open(ctx, p.Database)
	if errors.Is(err, store.ErrFileLocked) {
		return fmt.Errorf("%w: end `boardwalk up` first", err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	list, err := st.Indexes.Of(ctx, p.Chain)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return noSuchChain(ctx, st, p.Chain)
	}
	for i := range list {
		size, err := st.Indexes.Size(ctx, list[i].ID)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s, generation %d, up to block %d: %s, %d answers of nodes", p.Chain, list[i].Generation, list[i].Last.Number, chainconfig.Megabytes(size.Bytes), size.Facts)
		if !p.Confirmed {
			text += ", would be deleted"
		}
		if _, err := fmt.Fprintln(p.Out, text); err != nil {
			return err
		}
	}
	if !p.Confirmed {
		return errUnconfirmed
	}
	for i := range list {
		if err := p.purge(ctx, st, &list[i]); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.Out, "%s: everything that was indexed of it is deleted\n", p.Chain)
	return err
}

func (p *Purge) purge(ctx context.Context, st *store.Store, index *store.IndexStatus) error {
	l, err := p.lease(ctx, st, index.ID)
	if errors.Is(err, store.ErrReplaced) {
		return nil // another purge was faster
	}
	if err != nil {
		return err
	}
	for done := !index.Served; !done; {
		if done, err = p.piece(ctx, st, l, st.Indexes.Withdraw); err != nil {
			return fmt.Errorf("withdraw index %s: %w", index.ID, err)
		}
	}
	said := p.Now()
	for done, pieces := false, 1; !done; pieces++ {
		if done, err = p.piece(ctx, st, l, st.Indexes.Purge); err != nil {
			return fmt.Errorf("delete index %s: %w", index.ID, err)
		}
		if now := p.Now(); now.Sub(said) >= progressPause {
			said = now
			if _, err := fmt.Fprintf(p.Out, "%s: %d pieces of generation %d are deleted\n", p.Chain, pieces, index.Generation); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece has do delete a piece. While others have its rows or tables, as a backup does, it is tried again for some minutes.
func (p *Purge) piece(ctx context.Context, st *store.Store, l *store.Lease, do func(context.Context, *store.Lease) (bool, error)) (done bool, err error) {
	pause := retryPause{}
	for until := p.Now().Add(piecePatience); ; {
		done, err = do(ctx, l)
		if done { // the lease may have gone with the index
			return true, nil
		}
		if err != nil && (!errors.Is(err, store.ErrInterrupted) || p.Now().After(until)) {
			return false, err
		}
		if err := st.Leases.Renew(ctx, l); err != nil {
			return false, err
		}
		if err == nil {
			return false, nil
		}
		if !wait.For(ctx, min(pause.next(), leaseTTL/3)) {
			return false, ctx.Err()
		}
	}
}

// lease waits for the lease of an indexer that has just ended.
func (p *Purge) lease(ctx context.Context, st *store.Store, index string) (*store.Lease, error) {
	for until := p.Now().Add(leasePatience); ; {
		l, err := st.Leases.Acquire(ctx, index, purgeHolder, leaseTTL)
		if !errors.Is(err, store.ErrLeaseHeld) {
			return l, err
		}
		if p.Now().After(until) {
			return nil, fmt.Errorf("%w: an indexer of chain %s runs. Delete or suspend its Chain, or end `boardwalk up`, and run this again", err, p.Chain)
		}
		if !wait.For(ctx, time.Second) {
			return nil, ctx.Err()
		}
	}
}
