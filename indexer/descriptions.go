package indexer

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/metadata"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// descriptions is a chain's queue of tokens whose metadata is to be fetched.
type descriptions struct {
	store *store.Store
	lease *store.Lease
	// given are the jobs whose results aren't saved yet.
	given map[market.Address]store.MetadataJob
}

// Due lists the jobs of the chain.
func (d descriptions) Due(ctx context.Context, now int64, limit int) ([]metadata.Job, error) {
	due, err := d.store.Metadata.Due(ctx, d.lease.Chain, now, limit)
	jobs := make([]metadata.Job, len(due))
	for i, j := range due {
		if _, known := d.given[j.Mint]; !known {
			d.given[j.Mint] = j
		}
		jobs[i] = metadata.Job{Mint: j.Mint, Metadata: j.Metadata, Image: j.Image, Attempts: j.Attempts}
	}
	return jobs, err
}

// Save writes what was fetched.
func (d descriptions) Save(ctx context.Context, list []metadata.Result) error {
	rows := make([]store.TokenMetadata, len(list))
	for i := range list {
		r := &list[i]
		rows[i] = store.TokenMetadata{
			Mint: r.Mint, ImageURL: r.Document.ImageURL, Image: r.Document.Image, Website: r.Document.Website, X: r.Document.X,
			Telegram: r.Document.Telegram, Description: r.Document.Description, Status: store.MetadataFailed, Reason: r.Reason,
			Attempts: r.Attempts, NextAt: r.NextAt, FetchedAt: r.FetchedAt,
		}
		if r.Fetched {
			rows[i].Status = store.MetadataFetched
		}
		if j, ok := d.given[r.Mint]; ok {
			rows[i].Job = &j
		}
	}
	err := d.store.Metadata.Save(ctx, d.lease, rows)
	if err == nil {
		for i := range list {
			delete(d.given, list[i].Mint)
		}
	}
	return err
}

// describe fetches metadata while ctx lasts, unless the process or the chain's document says to leave it alone; nothing of it
// holds up the loop.
func (ix *Indexer) describe(ctx context.Context, l *store.Lease) {
	if ix.o.Fetcher == nil || ix.cfg.FetchMetadata != nil && !*ix.cfg.FetchMetadata {
		return
	}
	observe := ix.o.Metrics.metadata(ix.cfg.ID)
	metadata.NewWorker(ix.o.Fetcher, descriptions{ix.store, l, map[market.Address]store.MetadataJob{}}, metadata.WorkerOptions{Log: ix.log, Now: ix.o.Now, Observe: observe}).Run(ctx)
}
