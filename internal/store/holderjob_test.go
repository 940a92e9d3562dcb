package store_test

import (
	"database/sql"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestHolderGaps: a token that was known before its launch is followed since the launch, others since they were first seen.
func TestHolderGaps(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			l := lease(t, s)
			c := &store.Commit{Last: header(90), Blocks: []market.Header{header(90)}}
			token := func(n int, status market.HolderStatus, first uint64) {
				c.Changes.Tokens = append(c.Changes.Tokens, market.Change[market.Address, market.Token]{
					Key: address(n), After: &market.Token{Mint: address(n), FirstBlock: first, Holders: market.Holders{Status: status}},
				})
			}
			launch := func(n int, block uint64) {
				c.Changes.Launches = append(c.Changes.Launches, market.Change[market.Address, market.Launch]{
					Key: address(n), After: &market.Launch{Mint: address(n), Block: block},
				})
			}
			token(1, market.HoldersIndexing, 10)
			token(2, market.HoldersIndexing, 20)
			launch(2, 50)
			token(3, market.HoldersIndexing, 60)
			launch(3, 60)
			token(4, market.HoldersCurrent, 5)
			token(5, market.HoldersIndexing, 5) // has a job
			if err := s.Commit(ctx, l, c); err != nil {
				t.Fatal(err)
			}
			if err := s.Jobs.Begin(ctx, l, []market.HolderJob{{Token: address(5), Final: 4}}); err != nil {
				t.Fatal(err)
			}
			one, two, three := store.HolderGap{Token: address(1), First: 10, Since: 10},
				store.HolderGap{Token: address(2), First: 20, Since: 50}, store.HolderGap{Token: address(3), First: 60, Since: 60}
			for what, test := range map[string]struct {
				final uint64
				only  []market.Address
				limit int64
				want  []store.HolderGap
			}{
				"all":                     {80, nil, 10, []store.HolderGap{one, two, three}},
				"some":                    {80, nil, 2, []store.HolderGap{one, two}},
				"those that are final":    {59, nil, 10, []store.HolderGap{one, two}},
				"not before the launch":   {49, nil, 10, []store.HolderGap{one}},
				"those that are named":    {80, []market.Address{address(2), address(4), address(5)}, 10, []store.HolderGap{two}},
				"none, where none is":     {80, []market.Address{}, 10, nil},
				"none that is not final":  {9, nil, 10, nil},
				"none at the first block": {0, nil, 10, nil},
			} {
				got, err := s.Jobs.Gaps(ctx, "base", test.final, test.only, test.limit)
				if err != nil || !slices.Equal(got, test.want) {
					t.Errorf("%s: %+v, %v; want %+v", what, got, err, test.want)
				}
			}
		})
	}
}

// TestQueuedBefore: the newest block's own transfers are left out, and it is named whether anything waits or not.
func TestQueuedBefore(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			l := lease(t, s)
			queued := func(n int, block uint64, seq uint32) market.QueuedTransfer {
				return market.QueuedTransfer{Token: address(n), From: address(8), To: address(9), Block: block, Seq: seq, Amount: huge(uint64(seq))}
			}
			rows := []market.QueuedTransfer{queued(1, 5, 0), queued(1, 5, 10), queued(1, 6, 2), queued(2, 5, 3), queued(3, 5, 4), queued(1, 7, 5)}
			c := &store.Commit{Last: header(7), Blocks: []market.Header{header(7)}}
			c.Changes.Queued = rows
			if err := s.Commit(ctx, l, c); err != nil {
				t.Fatal(err)
			}
			read := func(tokens ...market.Address) (out []market.QueuedTransfer) {
				t.Helper()
				newest, err := s.Jobs.QueuedBefore(ctx, "base", tokens, func(q *market.QueuedTransfer) { out = append(out, *q) })
				if err != nil || newest != header(7) {
					t.Errorf("the newest block is %+v, %v", newest, err)
				}
				return out
			}
			if got := read(address(1), address(2)); !slices.Equal(got, rows[:4]) {
				t.Errorf("of two tokens: %+v", got)
			}
			if got := read(address(4)); got != nil {
				t.Errorf("of a token without any: %+v", got)
			}
		})
	}
}

// TestRecounts: of the tokens whose count was given up the one that was counted anew least often comes first, from an address on; a token waits
// for its time and while a job of it runs. A rewind takes a recount's job back, and no recount of a token goes on that isn't followed any more.
func TestRecounts(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			l := lease(t, s)
			c := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}}
			for n, status := range map[int]market.HolderStatus{
				1: market.HoldersUnavailable, 2: market.HoldersUnavailable, 3: market.HoldersUnavailable, 4: market.HoldersCurrent,
			} {
				c.Changes.Tokens = append(c.Changes.Tokens, market.Change[market.Address, market.Token]{
					Key: address(n), After: &market.Token{Mint: address(n), FirstBlock: 1, SinceCreation: n == 2, Holders: market.Holders{Status: status}},
				})
			}
			launch := market.Launch{Mint: address(3), Block: 1}
			c.Changes.Launches = []market.Change[market.Address, market.Launch]{{Key: launch.Mint, After: &launch}}
			if err := s.Commit(ctx, l, c); err != nil {
				t.Fatal(err)
			}
			due := func(want int, at int64, from int, beside []market.Address) store.Recount {
				t.Helper()
				r, ok, err := s.Jobs.DueRecount(ctx, "base", at, "few", address(from), beside)
				if err != nil || ok != (want > 0) || ok && r.Token != address(want) {
					t.Errorf("due at %d from %d beside %v: %+v, %v, %v; want %d", at, from, beside, r, ok, err, want)
				}
				return r
			}
			if r := due(1, 10, 1, nil); r.First != 0 || r.Times != 1 {
				t.Errorf("a token that was older than the index is counted anew so: %+v", r)
			}
			if r := due(2, 10, 2, nil); r.First != 1 || r.Times != 1 {
				t.Errorf("a token that was followed since its creation is counted anew so: %+v", r)
			}
			due(1, 10, 4, nil)
			due(3, 10, 1, []market.Address{})
			due(2, 10, 1, []market.Address{address(2)})

			begin := func(block uint64, n int) {
				t.Helper()
				c := &store.Commit{Last: header(int(block)), Blocks: []market.Header{header(int(block))}, Undo: true}
				c.Recount = &store.Recount{Token: address(n), First: 1, Times: 1, NextAt: 20}
				if err := s.Commit(ctx, l, c); err != nil {
					t.Fatal(err)
				}
			}
			jobs := func(want ...market.HolderJob) {
				t.Helper()
				if got, err := s.Jobs.List(ctx, "base"); err != nil || !slices.Equal(got, want) {
					t.Errorf("the jobs are %+v, %v; want %+v", got, err, want)
				}
			}
			begin(2, 1)
			job := market.HolderJob{Token: address(1), Final: 1, Next: 1, Recount: market.RecountBegun}
			jobs(job)
			due(2, 30, 1, nil) // the first has a job
			if _, err := s.Rewind(ctx, l, 1); err != nil {
				t.Fatal(err)
			}
			jobs()
			due(2, 30, 1, nil) // the first was counted anew once, whatever became of it
			begin(2, 3)
			ofLaunch := market.HolderJob{Token: address(3), Final: 1, Next: 1, Recount: market.RecountBegun}
			due(0, 19, 1, []market.Address{address(1)})
			if r := due(1, 20, 1, []market.Address{address(1)}); r.Times != 2 {
				t.Errorf("a token that was counted anew once is counted anew so: %+v", r)
			}
			begin(3, 1)
			job.Final = 2
			if err := s.Jobs.EndRecounts(ctx, l, []market.Address{address(1)}); err != nil {
				t.Fatal(err)
			}
			jobs(job, ofLaunch)
			if err := s.Jobs.EndRecounts(ctx, l, nil); err != nil {
				t.Fatal(err)
			}
			job.Broken = true
			jobs(job, ofLaunch)
			if n, err := s.Upkeep.Unfollow(ctx, l, nil); err != nil || n != 1 {
				t.Errorf("%d tokens aren't followed any more, %v; want the one whose count is there", n, err)
			}
			jobs(job, ofLaunch) // those are the loop's to end
		})
	}
}

// dropJobColumns makes holder_jobs what it was in schema 9.
func dropJobColumns(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, column := range []string{
		"recount", "beyond", "begun_at", "accounts", "transfers", "ranges", "step", "merged_account", "queue_block", "queue_seq", "holders", "ended_in",
	} {
		must(t, db, "ALTER TABLE holder_jobs DROP COLUMN "+column)
	}
}
