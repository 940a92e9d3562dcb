package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/differ"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// compare holds the rows that the run left behind against those of a fresh index of the chain as it is now, made through one honest
// node.
func (r *run) compare(ctx context.Context) (differences []string, err error) {
	left, err := store.Open(ctx, r.system.direct)
	if err != nil {
		return nil, err
	}
	defer func() { _ = left.Close() }()
	fresh, err := store.Open(ctx, "sqlite:"+filepath.Join(r.dir, "fresh.db"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = fresh.Close() }()
	if err := r.keepFacts(ctx, left, fresh); err != nil {
		return nil, err
	}
	if err := r.indexAnew(ctx, fresh); err != nil {
		return nil, err
	}
	was, _, err := left.Chain(ctx, r.chain.id())
	if err != nil {
		return nil, err
	}
	is, _, err := fresh.Chain(ctx, r.chain.id())
	if err != nil {
		return nil, err
	}
	if was.Last.Hash != is.Last.Hash {
		return []string{fmt.Sprintf("the index ended at block %d %s, a fresh one at %d %s", was.Last.Number, was.Last.Hash, is.Last.Number, is.Last.Hash)}, nil
	}
	have, err := left.Inspect.Derived(ctx, r.chain.id())
	if err != nil {
		return nil, err
	}
	want, err := fresh.Inspect.Derived(ctx, r.chain.id())
	if err != nil {
		return nil, err
	}
	differences = differ.Tables(have, want)
	switch c := r.chain.(type) {
	case *solanaChain:
		wrong, err := c.holdSupplies(ctx, left)
		return append(differences, wrong...), err
	case *evmChain:
		wrong, kept, told, err := c.holdPayments(ctx, left)
		r.log.add("payments of %d blocks are kept; %d trades say something of their traders' coins", kept, told)
		if err == nil && kept == 0 {
			wrong = append(wrong, "the index keeps no payments, and blocks were made without any fault at the end")
		}
		return append(differences, wrong...), err
	}
	return differences, nil
}

// keepFacts gives a fresh index of Solana the facts of the other one. Nodes of Solana tell only what holds now, so that it would learn others, at other blocks.
func (r *run) keepFacts(ctx context.Context, left, fresh *store.Store) error {
	if r.plan.Family != familySolana {
		return nil
	}
	facts, err := left.Facts.Between(ctx, r.chain.id(), 0, math.MaxInt32)
	if err != nil {
		return err
	}
	lease, err := fresh.Leases.Acquire(ctx, r.chain.id(), "fresh", 1)
	if err != nil {
		return err
	}
	return fresh.Inspect.KeepFacts(ctx, lease, facts)
}

// indexAnew indexes the chain from its start, without any fault.
func (r *run) indexAnew(ctx context.Context, st *store.Store) error {
	cfg := *r.system.document
	cfg.Endpoints = []chainconfig.Endpoint{{URL: r.chain.URL(), Weight: 1}}
	clock := func() time.Time { return time.Now().Add(r.ahead) }
	ix, err := indexer.New(&cfg, st, indexer.Options{Log: slog.New(slog.DiscardHandler), Now: clock, Holder: "fresh"})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	head, err := r.chain.newest(ctx)
	for deadline := time.Now().Add(headBound); err == nil; time.Sleep(50 * time.Millisecond) {
		var s store.ChainStatus
		if s, _, err = st.Chain(ctx, r.chain.id()); err == nil && s.Last.Number == head.number {
			break
		}
		if time.Now().After(deadline) {
			err = fmt.Errorf("a fresh index of the chain did not reach its head %d", head.number)
		}
	}
	cancel()
	if e := <-done; err == nil {
		err = e
	}
	return err
}
