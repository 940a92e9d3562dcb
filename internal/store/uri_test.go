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

// uriWorld commits what tokens tell of themselves, beside launches.
type uriWorld struct {
	*testing.T

	s     *store.Store
	l     *store.Lease
	truth map[market.Address]market.Launch
}

// tells has a block with facts: of each token, which is a number, the URI.
func (w *uriWorld) tells(n int, uris map[int]string, launches ...market.Launch) {
	w.Helper()
	c := launchCommit(n, w.truth, launches...)
	for token, uri := range uris {
		c.Changes.Tokens = append(c.Changes.Tokens, market.Change[market.Address, market.Token]{Key: address(token), After: &market.Token{Mint: address(token)}})
		c.Facts = append(c.Facts, store.StoredFact{Block: uint64(n), Hash: hash(n), Fact: market.TokenFact{Token: address(token), URI: uri}})
	}
	if err := w.s.Commit(w.Context(), w.l, c); err != nil {
		w.Fatal(err)
	}
}

// due lists what is to be fetched at a time.
func (w *uriWorld) due(now int64, want ...string) []store.MetadataJob {
	w.Helper()
	jobs, err := w.s.Metadata.Due(w.Context(), w.l.Chain, now, 99)
	var got []string
	for _, j := range jobs {
		got = append(got, fmt.Sprintf("%d %s %v %d", int(j.Mint.Bytes()[18])<<8|int(j.Mint.Bytes()[19]), j.Metadata, j.Launched, j.Attempts))
	}
	if err != nil || !slices.Equal(got, want) {
		w.Errorf("due at %d: %q, %v; want %q", now, got, err, want)
	}
	return jobs
}

func (w *uriWorld) save(j *store.MetadataJob, website string, next int64) {
	w.Helper()
	m := store.TokenMetadata{Mint: j.Mint, Website: website, Status: store.MetadataFetched, Attempts: 1, NextAt: next, Job: j}
	if err := w.s.Metadata.Save(w.Context(), w.l, []store.TokenMetadata{m}); err != nil {
		w.Fatal(err)
	}
}

// has holds what each way of reading tells of a token: a website, nothing, or that it is awaited.
func (w *uriWorld) has(token int, website string, awaited bool) {
	w.Helper()
	at, fetched, err := w.s.Metadata.At(w.Context(), w.l.Chain, address(token))
	if err != nil || fetched != (website != "") || at.Website != website {
		w.Errorf("token %d: %+v, %v, %v; want %q", token, at, fetched, err, website)
	}
	since, err := w.s.Metadata.Since(w.Context(), w.l.Chain, 0)
	if listed := slices.ContainsFunc(since, func(m store.TokenMetadata) bool { return m.Mint == address(token) }); err != nil || listed != fetched {
		w.Errorf("token %d is among what was fetched: %v, %v", token, listed, err)
	}
	now, err := w.s.Tokens.Now(w.Context(), []market.Address{address(token)})
	if err != nil || len(now) != 1 || now[0].AwaitsMetadata != awaited || (now[0].Metadata != nil) != fetched || fetched && now[0].Metadata.Website != website {
		w.Errorf("token %d: %+v, %v; want %q, awaited: %v", token, now, err, website, awaited)
	}
}

// TestURIsAreNoted: the commit that tells a token's URI notes that it is to be fetched, once, behind new launches. What was fetched stays through reorgs, and a launch's
// own announcement comes before the URI of its token.
func TestURIsAreNoted(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			w := &uriWorld{t, s, lease(t, s), map[market.Address]market.Launch{}}
			now := time.Now().Unix()
			w.tells(1, map[int]string{9: "uri 9"})
			w.tells(2, map[int]string{8: "", 7: "uri 7"}, announced(2, 0))
			w.has(9, "", true)
			w.has(8, "", false)
			w.tells(3, map[int]string{9: "another"}) // what is there stays
			jobs := w.due(now, "200 ipfs://2.0 true 0", "7 uri 7 false 0", "9 uri 9 false 0")
			if other, err := s.Metadata.Due(t.Context(), "bsc", now, 9); err != nil || len(other) != 0 {
				t.Errorf("due on another chain: %v, %v", other, err)
			}
			w.save(&jobs[2], "https://nine.example", 0)
			w.save(&jobs[1], "https://seven.example", now+5)
			w.has(9, "https://nine.example", false)
			w.due(now, "200 ipfs://2.0 true 0")
			w.due(now+5, "200 ipfs://2.0 true 0", "7 uri 7 false 1")

			// A reorg takes none of it back, and the blocks that come in the place of others tell nothing new.
			for _, block := range []uint64{2, 1} {
				if _, err := s.Rewind(t.Context(), w.l, block); err != nil {
					t.Fatal(err)
				}
			}
			delete(w.truth, announced(2, 0).Mint)
			w.tells(2, map[int]string{9: "uri 9", 7: "another"})
			w.has(9, "https://nine.example", false)
			w.due(now+5, "7 uri 7 false 1")

			// A token that is launched has its announcement's, at once, again and for ever.
			launched := announced(3, 0)
			launched.Mint = address(7)
			stale := w.due(now+5, "7 uri 7 false 1")
			w.tells(3, nil, launched)
			w.due(now+5, "7 ipfs://3.0 true 0")
			w.save(&stale[0], "https://of-the-uri.example", 0) // it was being fetched
			jobs = w.due(now+5, "7 ipfs://3.0 true 0")
			w.save(&jobs[0], "https://launch.example", now+5)
			w.tells(4, map[int]string{7: "uri 7"})
			w.has(7, "https://launch.example", false)
			w.due(now+5, "7 ipfs://3.0 true 1")

			// A token that was launched before its URI was noted isn't fetched by that URI.
			early := announced(5, 0)
			early.Mint = address(6)
			w.tells(5, map[int]string{6: "uri 6"}, early)
			jobs = w.due(now, "6 ipfs://5.0 true 0")
			w.save(&jobs[0], "https://six.example", 0)
			w.due(now)
			w.has(6, "https://six.example", false)
		})
	}
}

// TestURIsOfAnotherIndex: an index that takes over from another one has what that fetched by the same URIs, and fetches others itself.
func TestURIsOfAnotherIndex(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			w := &uriWorld{t, s, lease(t, s), map[market.Address]market.Launch{}}
			now := time.Now().Unix()
			w.tells(1, map[int]string{9: "uri 9"})
			w.tells(2, map[int]string{8: "uri 8"})
			w.tells(3, map[int]string{7: "uri 7"})
			w.tells(4, map[int]string{6: "uri 6"})
			jobs := w.due(now, "6 uri 6 false 0", "7 uri 7 false 0", "8 uri 8 false 0", "9 uri 9 false 0")
			w.save(&jobs[3], "https://nine.example", 0)
			w.save(&jobs[2], "https://eight.example", 0)
			w.save(&jobs[1], "https://seven.example", now)
			if err := s.Indexes.Begin(t.Context(), "base", 2); err != nil {
				t.Fatal(err)
			}
			l, err := s.Leases.Acquire(t.Context(), "base~2", "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			w.l = l
			w.tells(1, map[int]string{9: "uri 9"})
			w.tells(2, map[int]string{8: "another", 7: "uri 7"})
			for after, more := (market.Address{}), true; more; {
				if after, more, err = s.Indexes.Inherit(t.Context(), l, "base", after, 2); err != nil {
					t.Fatal(err)
				}
			}
			w.due(now, "7 uri 7 false 1", "6 uri 6 false 0", "8 another false 0")
			if at, ok, err := s.Metadata.At(t.Context(), "base~2", address(9)); err != nil || !ok || at.Website != "https://nine.example" {
				t.Errorf("it has %+v, %v, %v", at, ok, err)
			}
		})
	}
}

// TestNotedURIsAndRetries: many of the one don't keep the others out.
func TestNotedURIsAndRetries(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := &uriWorld{t, storetest.Open(t, kind), nil, map[market.Address]market.Launch{}}
			w.l = lease(t, w.s)
			now := time.Now().Unix()
			uris := map[int]string{}
			for token := range 1200 { // more than are noted by one statement
				uris[token] = fmt.Sprintf("uri %d", token)
			}
			w.tells(1, uris)
			count := func(limit, retries, noted int) {
				t.Helper()
				jobs, err := w.s.Metadata.Due(t.Context(), w.l.Chain, now, limit)
				got := map[int32]int{}
				for _, j := range jobs {
					got[j.Attempts]++
				}
				if err != nil || got[1] != retries || got[0] != noted {
					t.Errorf("of %d there are %d retries and %d noted, want %d and %d; %v", limit, got[1], got[0], retries, noted, err)
				}
			}
			count(1199, 0, 1199)
			count(1300, 0, 1200)
			for token := range 100 {
				w.save(&store.MetadataJob{Mint: address(token), Metadata: uris[token]}, "", now)
			}
			for limit, want := range map[int][2]int{0: {0, 0}, 1: {1, 0}, 2: {1, 1}, 200: {100, 100}, 201: {100, 101}, 150: {75, 75}, 1199: {100, 1099}, 1300: {100, 1100}} {
				count(limit, want[0], want[1])
			}
			for token := 100; token < 1190; token++ {
				w.save(&store.MetadataJob{Mint: address(token), Metadata: uris[token]}, "", now)
			}
			for limit, want := range map[int][2]int{10: {5, 5}, 20: {10, 10}, 30: {20, 10}, 2000: {1190, 10}} {
				count(limit, want[0], want[1])
			}
		})
	}
}
