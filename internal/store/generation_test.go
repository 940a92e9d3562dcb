package store_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// indexUpTo makes an index of some blocks, with rows in all tables, under its lease.
func indexUpTo(t *testing.T, s *store.Store, index string, last int) *store.Lease {
	t.Helper()
	ctx := t.Context()
	l, err := s.Leases.Acquire(ctx, index, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]*market.Changes{}
	for n := 1; n <= last; n++ {
		c := commitOf(n, 4, before)
		c.Facts = []store.StoredFact{
			{Block: uint64(n), Hash: hash(n), Fact: market.SupplyFact{Token: address(1), Supply: amount(uint64(n))}},
			{Block: uint64(n), Hash: hash(n), Fact: market.SupplyFact{Token: address(2), Supply: amount(1)}, Unsure: true},
		}
		c.Endpoints = []store.EndpointRecord{{Endpoint: [16]byte{1}, Outvoted: 1, OutvotedAt: 1}}
		if err := s.Commit(ctx, l, c); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// told is what a store says of a chain to who serves answers.
func told(t *testing.T, s *store.Store, chain string) map[string]any {
	t.Helper()
	ctx := t.Context()
	out := map[string]any{}
	put := func(name string, v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(name, err)
		}
		out[name] = v
	}
	mints := []market.Address{address(0), address(1)}
	tokens, err := s.Tokens.Now(ctx, mints)
	put("tokens", tokens, err)
	pools, err := s.Pools.Now(ctx, mints)
	put("pools", pools, err)
	byID, err := s.Pools.ByID(ctx, []string{chain}, poolID(1))
	put("pools by id", byID, err)
	at, err := s.Launches.At(ctx, mints)
	put("launches at", at, err)
	quotes, err := s.Pools.Quotes(ctx)
	put("quotes", quotes, err)
	changed, err := s.ChangedSince(ctx, map[string]int64{chain: 2})
	put("changed", changed[chain], err)
	launches, graduated, err := s.Launches.CreatorRecord(ctx, chain, address(1))
	put("creator", []int64{launches, graduated}, err)
	balance, err := s.Balances.Of(ctx, chain, address(1), address(501))
	put("balance", balance, err)
	m, has, err := s.Metadata.At(ctx, chain, address(1))
	put("metadata", []any{m, has}, err)
	image, err := s.Metadata.Image(ctx, chain, address(1))
	put("image", image, err)
	r, has, err := s.Trust.At(ctx, chain, address(1))
	put("trust", []any{r, has}, err)
	ms, err := s.Metadata.Since(ctx, chain, 0)
	put("metadata since", ms, err)
	rs, err := s.Trust.Since(ctx, chain, 0)
	put("trust since", rs, err)
	ticks, err := s.Trades.Ticks(ctx, chain, poolID(1), 0, 2_000_000_000, false, 100)
	put("ticks", ticks, err)
	const opened = 1_700_000_000 - 1_700_000_000%60
	series, err := s.Candles.Series(ctx, chain, poolID(1), 60, 0, 2_000_000_000, false)
	put("series", series, err)
	last, has, err := s.Candles.SeriesBefore(ctx, chain, poolID(1), 60, 2_000_000_000, false)
	put("series before", []any{last, has}, err)
	first, has, err := s.Candles.First(ctx, chain, poolID(1), 60)
	put("first candle", []any{first, has}, err)
	active, err := s.Candles.Activities(ctx, chain, []market.Address{poolID(1)}, []market.CandleSpan{{Interval: 60, From: opened, To: opened + 1}})
	put("activities", active, err)
	closes, err := s.Candles.ClosesBefore(ctx, chain, []store.PoolTime{{Pool: poolID(1), At: 2_000_000_000}})
	put("closes", closes, err)
	traded, err := s.Inspect.WalletTraded(ctx, address(601), []string{chain})
	put("traded", traded, err)
	trades, err := all(s.Trades.OfWallet(ctx, address(601), []string{chain}, 100))
	put("wallet", trades, err)
	walked, err := s.Launches.ByMint(ctx, chain, mints)
	put("launches", walked, err)
	late, err := all(s.Launches.OfLate(ctx, chain, store.OfLate{}))
	put("launches of late", late, err)
	flows, err := all(s.Trades.Flows(ctx, chain, 0, 0))
	put("flows", flows, err)
	listed, err := all(s.Tokens.Listings(ctx, chain))
	put("listings", listed, err)
	some, err := all(s.Tokens.ListingsOf(ctx, chain, mints))
	put("listings of some", some, err)
	return out
}

func all[V any](seq iter.Seq2[V, error]) (list []V, err error) {
	for v, e := range seq {
		if e != nil {
			return nil, e
		}
		list = append(list, v)
	}
	return list, nil
}

// TestGenerations indexes a chain anew beside the index that is served, has the new one take its place, and deletes the former one.
func TestGenerations(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			former := indexUpTo(t, s, "base", 3)
			fetched := []store.TokenMetadata{{Mint: address(1), Status: store.MetadataFetched, Image: []byte("png"), Website: "https://a.example"}}
			checked := []store.TrustRow{{Mint: address(2), CheckedAt: 5, Verdict: "ok", Report: []byte("{}")}}
			if err := errors.Join(s.Metadata.Save(ctx, former, fetched), s.Trust.Save(ctx, former, checked)); err != nil {
				t.Fatal(err)
			}
			served := s.Served()
			alone := look(t, served)
			if alone.ID != "base" || alone.Generation != 1 {
				t.Errorf("one index: %+v", alone)
			}
			before := told(t, served, "base")

			// A second one comes up to the block before.
			if _, err := s.Leases.Acquire(ctx, "base~2", "test", time.Minute); !errors.Is(err, store.ErrReplaced) {
				t.Errorf("the lease of an index that nobody began: %v", err)
			}
			if g, ok, err := s.Indexes.Want(ctx, "base", true); g != 2 || !ok || err != nil {
				t.Errorf("the next generation is %d, %v, %v", g, ok, err)
			}
			if err := s.Indexes.Begin(ctx, "base", 2); err != nil {
				t.Fatal(err)
			}
			next := indexUpTo(t, s, "base~2", 2)
			if got := look(t, served); got != alone {
				t.Errorf("with a second index the chain is at %+v, before at %+v", got, alone)
			}
			if got := told(t, served, "base"); !reflect.DeepEqual(got, before) {
				t.Errorf("with a second index the answers are\n%+v\nbefore\n%+v", got, before)
			}
			list, err := s.Indexes.Of(ctx, "base")
			if err != nil || len(list) != 2 || !list[0].Served || list[0].Wanted != 2 || !list[0].WantedAnew || list[1].Served || list[1].ID != "base~2" {
				t.Errorf("the indexes are %+v, %v", list, err)
			}
			if err := s.Indexes.TakeOver(ctx, next, 0); !errors.Is(err, store.ErrBehind) {
				t.Errorf("an index that is a block behind takes over: %v", err)
			}

			// It takes over what was fetched, and the place of the first one once it is as far.
			c := commitOf(3, 4, map[string]*market.Changes{})
			c.Changes.Queued = nil
			if err := s.Commit(ctx, next, c); err != nil {
				t.Fatal(err)
			}
			var after market.Address
			for n := 0; ; n++ {
				last, ok, err := s.Indexes.Inherit(ctx, next, "base", after, 1)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					if n != 2 {
						t.Errorf("what was fetched of %d tokens was taken over, want 2", n)
					}
					break
				}
				after = last
			}
			if due, err := s.Metadata.Due(ctx, "base~2", 0, 9); err != nil || len(due) != 3 {
				t.Errorf("of the second index metadata is to be fetched of %+v, %v", due, err)
			}
			if got := told(t, served, "base"); !reflect.DeepEqual(got, before) {
				t.Errorf("before it took over the answers are\n%+v\nwant\n%+v", got, before)
			}
			own := told(t, s, "base~2")
			if err := s.Indexes.TakeOver(ctx, next, 0); err != nil {
				t.Fatal(err)
			}
			if got := told(t, served, "base"); !reflect.DeepEqual(got, before) {
				t.Errorf("until the chains are looked at the answers are\n%+v\nwant\n%+v", got, before)
			}
			now := look(t, served)
			if now.ID != "base" || now.Generation != 2 || now.Rewinds <= alone.Rewinds || now.CommitNo <= alone.CommitNo || now.Last != alone.Last {
				t.Errorf("after it took over the chain is at %+v, before at %+v", now, alone)
			}
			got := told(t, served, "base")
			for name, want := range own {
				switch name {
				case "tokens", "pools", "launches at", "quotes", "pools by id", "wallet": // the chain is in them
					if !reflect.DeepEqual(chains(got[name]), []string{"base"}) {
						t.Errorf("%s are of %v", name, chains(got[name]))
					}
				default:
					if !reflect.DeepEqual(got[name], want) {
						t.Errorf("%s: %+v, want those of the second index, %+v", name, got[name], want)
					}
				}
			}
			for _, name := range []string{"metadata", "image"} {
				if !reflect.DeepEqual(got[name], before[name]) {
					t.Errorf("%s was %+v and is %+v", name, before[name], got[name])
				}
			}
			// Its commits go on.
			if err := s.Leases.Renew(ctx, next); err != nil {
				t.Error(err)
			}

			purge(t, s, former)
			if rows, err := s.IndexRows(ctx, "base"); err != nil || len(rows) < 19 || slices.ContainsFunc(values(rows), func(n int) bool { return n != 0 }) {
				t.Errorf("after the purge there are %v, %v", rows, err)
			}
			if again := told(t, served, "base"); !reflect.DeepEqual(again, got) {
				t.Errorf("after the purge the answers are\n%+v\nwant\n%+v", again, got)
			}
			if _, err := s.Indexes.Purge(ctx, next); err == nil {
				t.Error("the index that is served can be purged")
			}
			if _, err := s.Leases.Acquire(ctx, "base", "test", time.Minute); !errors.Is(err, store.ErrReplaced) {
				t.Errorf("the lease of a purged index: %v", err)
			}
			if g, ok, err := s.Indexes.Want(ctx, "base", false); g != 3 || !ok || err != nil {
				t.Errorf("the next generation is %d, %v, %v", g, ok, err)
			}
		})
	}
}

// TestPurgeInPieces deletes an index of more rows than one transaction deletes, with another of the same chain beside it.
func TestPurgeInPieces(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			indexUpTo(t, s, "base", 2)
			if err := s.Indexes.Begin(ctx, "base", 2); err != nil {
				t.Fatal(err)
			}
			l, err := s.Leases.Acquire(ctx, "base~2", "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Commit(ctx, l, commitOf(1, 2001, map[string]*market.Changes{})); err != nil {
				t.Fatal(err)
			}
			want, err := s.IndexRows(ctx, "base")
			if err != nil {
				t.Fatal(err)
			}
			if n := purge(t, s, l); n < 14 { // two for each of seven tables
				t.Errorf("it took %d pieces", n)
			}
			if got, err := s.IndexRows(ctx, "base~2"); err != nil || slices.ContainsFunc(values(got), func(n int) bool { return n != 0 }) {
				t.Errorf("after the purge there are %v, %v", got, err)
			}
			got, err := s.IndexRows(ctx, "base")
			if err != nil {
				t.Fatal(err)
			}
			for table, n := range want {
				if after, there := got[table]; there && after != n {
					t.Errorf("%s had %d rows of the other index, and has %d", table, n, after)
				}
			}
		})
	}
}

// TestTakeOverFromHalted replaces an index that is further, and halted.
func TestTakeOverFromHalted(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Both[0])
	former := indexUpTo(t, s, "base", 3)
	if err := s.Indexes.Begin(t.Context(), "base", 2); err != nil {
		t.Fatal(err)
	}
	next := indexUpTo(t, s, "base~2", 1)
	if err := s.SetState(t.Context(), former, store.ChainHalted, "a fork"); err != nil {
		t.Fatal(err)
	}
	if err := s.Indexes.TakeOver(t.Context(), next, 2); err != nil {
		t.Error(err)
	}
	if got := look(t, s.Served()); got.Generation != 2 || got.Last.Number != 1 {
		t.Errorf("the chain is at %+v", got)
	}
}

// TestGiveUp asks for generations and gives them up. One that is given up takes no place, its rows go, and its number isn't used again.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			giveUp := func(want int64) {
				t.Helper()
				if g, err := s.Indexes.GiveUp(ctx, "base"); g != want || err != nil {
					t.Errorf("given up is %d, %v; want %d", g, err, want)
				}
			}
			want := func(want int64) {
				t.Helper()
				if g, ok, err := s.Indexes.Want(ctx, "base", true); g != want || !ok || err != nil {
					t.Errorf("the next generation is %d, %v, %v; want %d", g, ok, err, want)
				}
			}
			giveUp(0)
			indexUpTo(t, s, "base", 2)
			giveUp(0)
			before := told(t, s.Served(), "base")
			want(2) // no indexer has begun with it
			giveUp(2)
			giveUp(0)
			list, err := s.Indexes.Of(ctx, "base")
			if err != nil || len(list) != 1 || list[0].Wanted != 0 || list[0].WantedAnew || list[0].GivenUp != 2 {
				t.Errorf("after generation 2 was given up the indexes are %+v, %v", list, err)
			}
			want(3)
			want(3) // it is wanted already
			if err := s.Indexes.Begin(ctx, "base", 3); err != nil {
				t.Fatal(err)
			}
			next := indexUpTo(t, s, "base~3", 2)
			giveUp(3)
			for _, declared := range []int64{0, 1, 2, 4} {
				if err := s.Indexes.TakeOver(ctx, next, declared); !errors.Is(err, store.ErrUnwanted) {
					t.Errorf("generation 3 takes over after it was given up, with generation %d declared: %v", declared, err)
				}
			}
			if got := told(t, s.Served(), "base"); !reflect.DeepEqual(got, before) {
				t.Errorf("after generation 3 was given up the answers are\n%+v\nwant\n%+v", got, before)
			}
			want(4)
			if err := s.Indexes.TakeOver(ctx, next, 3); !errors.Is(err, store.ErrUnwanted) {
				t.Errorf("generation 3 takes over where 4 is wanted: %v", err)
			}
			purge(t, s, next)
			if rows, err := s.IndexRows(ctx, "base~3"); err != nil || slices.ContainsFunc(values(rows), func(n int) bool { return n != 0 }) {
				t.Errorf("after the purge there are %v, %v", rows, err)
			}
			giveUp(4)
			want(5)
			if err := s.Indexes.Begin(ctx, "base", 5); err != nil {
				t.Fatal(err)
			}
			if err := s.Indexes.TakeOver(ctx, indexUpTo(t, s, "base~5", 2), 0); err != nil {
				t.Errorf("the generation that is wanted takes over: %v", err)
			}
			giveUp(0) // it is served
			want(6)
			giveUp(6)
			// Programs that ask for one at the same time are given the same number.
			var both sync.WaitGroup
			for range 4 {
				both.Go(func() { want(7) })
			}
			both.Wait()
			giveUp(7)
		})
	}
}

// TestGiveUpBesideATakeOver has one program give a generation up while another has it take over, again and again: one of the two succeeds, and both
// say which.
func TestGiveUpBesideATakeOver(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			indexUpTo(t, s, "base", 2)
			served := int64(1)
			for range 12 {
				generation, _, err := s.Indexes.Want(ctx, "base", false)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Indexes.Begin(ctx, "base", generation); err != nil {
					t.Fatal(err)
				}
				next := indexUpTo(t, s, chainconfig.IndexID("base", generation), 2)
				var took error
				var gaveUp [2]int64
				var both sync.WaitGroup
				both.Go(func() { took = s.Indexes.TakeOver(ctx, next, 0) })
				for i := range gaveUp {
					both.Go(func() {
						var err error
						if gaveUp[i], err = s.Indexes.GiveUp(ctx, "base"); err != nil {
							t.Error(err)
						}
					})
				}
				both.Wait()
				switch {
				case took == nil && gaveUp == [2]int64{}:
					served = generation
				case errors.Is(took, store.ErrUnwanted) && max(gaveUp[0], gaveUp[1]) == generation && min(gaveUp[0], gaveUp[1]) == 0:
				default:
					t.Fatalf("generation %d takes over with %v, and is given up as %v", generation, took, gaveUp)
				}
				if got := look(t, s.Served()); got.Generation != served {
					t.Fatalf("generation %d is served, want %d", got.Generation, served)
				}
			}
		})
	}
}

// TestPurgeIsCutOff ends a purge after each of its pieces: whoever takes the lease then learns that the index can't be gone on with.
func TestPurgeIsCutOff(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			served := indexUpTo(t, s, "base", 2)
			if _, err := s.Indexes.Purge(ctx, served); err == nil {
				t.Error("the index that is served can be purged")
			}
			if at, _, err := s.Chain(ctx, "base"); err != nil || at.State == store.ChainDeleting || served.IsDeleting() {
				t.Errorf("the index that is served is said to be deleted: %+v, %v", at, err)
			}
			if err := s.Indexes.Begin(ctx, "base", 2); err != nil {
				t.Fatal(err)
			}
			if l := indexUpTo(t, s, "base~2", 2); l.IsDeleting() {
				t.Error("an index is said to be deleted before its purge")
			}
			for pieces, done := 0, false; !done; pieces++ {
				l, err := s.Leases.Acquire(ctx, "base~2", "test", time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				if l.IsDeleting() != (pieces > 0) {
					t.Errorf("after %d pieces the lease says %v", pieces, l.IsDeleting())
				}
				if err := s.Indexes.Begin(ctx, "base", 2); err != nil { // as where it is wanted once more
					t.Fatal(err)
				}
				if done, err = s.Indexes.Purge(ctx, l); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Indexes.Begin(ctx, "base", 2); err != nil {
				t.Fatal(err)
			}
			if l := indexUpTo(t, s, "base~2", 2); l.IsDeleting() {
				t.Error("an index that was begun after the purge is said to be deleted")
			}
		})
	}
}

// TestSureFacts reads facts, and leaves out those that are unsure.
func TestSureFacts(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		s := storetest.Open(t, kind)
		indexUpTo(t, s, "base", 2)
		list, err := s.Facts.Sure(t.Context(), "base", 1, 1)
		want := []store.StoredFact{{Block: 1, Hash: hash(1), Fact: market.SupplyFact{Token: address(1), Supply: amount(1)}}}
		if err != nil || !reflect.DeepEqual(list, want) {
			t.Errorf("%s: sure are %+v, %v; want %+v", kind, list, err, want)
		}
	}
}

func look(t *testing.T, s *store.Store) store.ChainStatus {
	t.Helper()
	list, err := s.Chains(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("the chains are %+v, %v", list, err)
	}
	return list[0]
}

// purge deletes an index, and counts the pieces.
func purge(t *testing.T, s *store.Store, l *store.Lease) (pieces int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		done, err := s.Indexes.Purge(ctx, l)
		if err != nil {
			t.Fatal(err)
		}
		if pieces++; done {
			return pieces
		}
	}
}

func values(m map[string]int) (list []int) {
	for _, n := range m {
		list = append(list, n)
	}
	return list
}

// chains are those that some answers name.
func chains(answers any) (list []string) {
	switch v := answers.(type) {
	case map[string][]store.QuoteNow:
		for c := range v {
			list = append(list, c)
		}
		return list
	default:
		rows := reflect.ValueOf(answers)
		for i := range rows.Len() {
			list = append(list, fmt.Sprint(rows.Index(i).FieldByName("Chain")))
		}
		return slices.Compact(list)
	}
}
