package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestChangedSince changes rows of each kind on one of two chains, and asks for both at once.
func TestChangedSince(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			leases := map[string]*store.Lease{}
			for _, chain := range []string{"base", "bsc"} {
				l, err := s.Leases.Acquire(ctx, chain, "test", time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				leases[chain] = l
			}
			now := func() map[string]int64 {
				out := map[string]int64{}
				for chain := range leases {
					status, _, err := s.Chain(ctx, chain)
					if err != nil {
						t.Fatal(err)
					}
					out[chain] = status.CommitNo
				}
				return out
			}
			block := 0
			commit := func(change func(*market.Changes)) error {
				block++
				c := &store.Commit{Last: header(block), Blocks: []market.Header{header(block)}}
				change(&c.Changes)
				return s.Commit(ctx, leases["bsc"], c)
			}
			began := now()
			for _, step := range []struct {
				name, want string
				do         func() error
			}{
				{"nothing", "[] trades false launches false quotes false metadata false trust false", func() error { return commit(func(*market.Changes) {}) }},
				{"a token", "[1] trades false launches false quotes false metadata false trust false", func() error {
					return commit(func(c *market.Changes) {
						c.Tokens = append(c.Tokens, market.Change[market.Address, market.Token]{Key: address(1), After: &market.Token{Mint: address(1)}})
					})
				}},
				{"a pool", "[2] trades true launches false quotes false metadata false trust false", func() error {
					return commit(func(c *market.Changes) {
						c.Pools = append(c.Pools, market.Change[market.Address, market.Pool]{
							Key: poolID(1), After: &market.Pool{ID: poolID(1), Factory: address(9), Token0: address(2), Token1: address(3), Base: address(2), Quote: address(3)},
						})
					})
				}},
				{"a launch", "[] trades false launches true quotes false metadata false trust false", func() error {
					return commit(func(c *market.Changes) {
						c.Launches = append(c.Launches, market.Change[market.Address, market.Launch]{Key: address(1), After: &market.Launch{Mint: address(1)}})
					})
				}},
				{"a quote", "[] trades false launches false quotes true metadata false trust false", func() error {
					return commit(func(c *market.Changes) {
						c.Quotes = append(c.Quotes, market.Change[market.Address, market.QuotePrice]{
							Key: address(3), After: &market.QuotePrice{Asset: address(3), USD: 2},
						})
					})
				}},
				{"metadata", "[] trades false launches false quotes false metadata true trust false", func() error {
					return s.Metadata.Save(ctx, leases["bsc"], []store.TokenMetadata{{Mint: address(1)}})
				}},
				{"a report", "[] trades false launches false quotes false metadata false trust true", func() error {
					return s.Trust.Save(ctx, leases["bsc"], []store.TrustRow{{Mint: address(1), Report: []byte("null")}})
				}},
			} {
				before := now()
				if err := step.do(); err != nil {
					t.Fatal(step.name, err)
				}
				got, err := s.ChangedSince(ctx, before)
				if err != nil || len(got) != 2 || saysChanged(got["base"]) != "[] trades false launches false quotes false metadata false trust false" {
					t.Fatalf("%s: %v, %v", step.name, got, err)
				}
				if says := saysChanged(got["bsc"]); says != step.want {
					t.Errorf("after %s changed it says %s", step.name, says)
				}
			}
			got, err := s.ChangedSince(ctx, map[string]int64{"bsc": began["bsc"]})
			if says := saysChanged(got["bsc"]); err != nil || says != "[1 2] trades true launches true quotes true metadata true trust true" {
				t.Errorf("since the beginning: %s, %v", says, err)
			}
			if none, err := s.ChangedSince(ctx, nil); err != nil || len(none) != 0 {
				t.Errorf("of no chain: %v, %v", none, err)
			}
		})
	}
}

func saysChanged(c *store.Changed) string {
	var tokens []int
	for n := range 5 {
		if slices.Contains(c.Tokens, address(n)) {
			tokens = append(tokens, n)
		}
	}
	return fmt.Sprint(tokens, " trades ", c.Trades, " launches ", c.Launches, " quotes ", c.Quotes, " metadata ", c.Metadata, " trust ", c.Trust)
}
