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
// node. Where states were refused, it has none but the newest, and the facts are held as well: see states.go.
func (r *run) compare(ctx context.Context) (differences []string, err error) {
	left, err := store.Open(ctx, r.system.direct)
	if err != nil {
		return nil, err
	}
	defer func() { _ = left.Close() }()
	fresh, err := r.openFresh(ctx, "fresh.db")
	if err != nil {
		return nil, err
	}
	defer func() { _ = fresh.Close() }()
	url, differences, err := r.beginFresh(ctx, left, fresh)
	if err != nil {
		return nil, err
	}
	if err := r.indexAnew(ctx, fresh, url); err != nil {
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
		return append(differences, fmt.Sprintf("the index ended at block %d %s, a fresh one at %d %s", was.Last.Number, was.Last.Hash, is.Last.Number, is.Last.Hash)), nil
	}
	have, err := left.Inspect.Derived(ctx, r.chain.id())
	if err != nil {
		return nil, err
	}
	want, err := fresh.Inspect.Derived(ctx, r.chain.id())
	if err != nil {
		return nil, err
	}
	differences = append(differences, differ.Tables(have, want)...)
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

// openFresh opens the database of a fresh index.
func (r *run) openFresh(ctx context.Context, name string) (*store.Store, error) {
	return store.Open(ctx, "sqlite:"+filepath.Join(r.dir, name))
}

// beginFresh says behind which node a fresh index is made, and gives it the other one's facts where it would learn others.
func (r *run) beginFresh(ctx context.Context, left, fresh *store.Store) (url string, differences []string, err error) {
	url = r.chain.URL()
	if r.refused.any() {
		if differences, err = r.holdFacts(ctx, left); err != nil {
			return "", nil, err
		}
		n, err := r.statelessNode(ctx)
		if err != nil {
			return "", nil, err
		}
		url = n.url
	}
	if r.plan.Family == familySolana || r.refused.any() {
		err = r.keepFacts(ctx, left, fresh)
	}
	return url, differences, err
}

// keepFacts gives a fresh index the facts of the other one. Nodes of Solana tell only what holds now, so that it would learn others, at other blocks, as it would behind any node without older states.
func (r *run) keepFacts(ctx context.Context, left, fresh *store.Store) error {
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
func (r *run) indexAnew(ctx context.Context, st *store.Store, url string) error {
	cfg := *r.system.document
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
	if r.refused.any() { // an index asks for supplies later at blocks without events, too, and those come near the head alone
		cfg.ReorgBlocks = math.MaxInt32
	}
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
