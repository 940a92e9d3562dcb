package holders

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// mockHolders answers who has a token, one answer an endpoint; one without amounts or TooMany is a refusal. Real nodes are tried in indexer/solanaholders_test.go.
type mockHolders struct {
	Nodes

	told []chain.Holdings
}

func (*mockHolders) TellsHolders() bool { return true }

func (n *mockHolders) HoldersOf(context.Context, market.Address, uint64, int64) iter.Seq2[chain.Holdings, error] {
	return func(yield func(chain.Holdings, error) bool) {
		for _, h := range n.told {
			var err error
			if h.Amounts == nil && !h.TooMany {
				err = errors.New("not in this plan")
			}
			h.Amounts = maps.Clone(h.Amounts)
			if !yield(h, err) {
				return
			}
		}
	}
}

func key(n byte) market.Address { return market.SolanaAddress([32]byte{n}) }

// snapshotOf makes a backfill of a chain at block 20, of which block 18 is final, with a job of a token that is followed since block 10.
func snapshotOf(t *testing.T, kind string, nodes *mockHolders) (*Backfill, *store.Lease, *market.HolderJob) {
	t.Helper()
	st := storetest.Open(t, kind)
	l, err := st.Leases.Acquire(t.Context(), "solana", t.Name(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	token := key(200)
	c := &store.Commit{First: 1, Last: market.Header{Number: 20, Hash: market.Hash{1}, Time: 9}}
	queue := func(block uint64, from, to byte, amount uint64) {
		q := market.QueuedTransfer{Token: token, Block: block, Seq: uint32(len(c.Changes.Queued))}
		if q.Amount.SetUint64(amount); from > 0 {
			q.From = key(from)
		}
		if to > 0 {
			q.To = key(to)
		}
		c.Changes.Queued = append(c.Changes.Queued, q)
	}
	queue(10, 1, 2, 5)
	queue(11, 1, 2, 5)
	queue(12, 0, 3, 7)
	for range 2*stagedAtOnce + 10 { // one block's transfers are read in parts
		queue(13, 4, 5, 1)
	}
	queue(14, 5, 0, 1)
	if err := st.Commit(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
	job := market.HolderJob{Token: token, Final: 9, Next: 9, BegunAt: 1}
	if err := st.Jobs.Begin(t.Context(), l, []market.HolderJob{job}); err != nil {
		t.Fatal(err)
	}
	h := New(Options{
		Config: &chainconfig.Chain{BlockTime: chainconfig.Duration(time.Millisecond), ReorgBlocks: 2, Tracking: chainconfig.Tracking{Caps: chainconfig.HolderCaps{Accounts: 10}}},
		Jobs:   st.Jobs, Index: func() string { return "solana" }, Nodes: nodes, Now: func() time.Time { return time.Unix(2, 0) }, Log: slog.New(slog.DiscardHandler),
	})
	h.See(20, 18)
	h.Committed(20)
	return h, l, &job
}

// TestSnapshot: of several endpoints two have to say the same, each of a block of its own; what waits between both is booked.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	at := func(block uint64, change func(map[market.Address]uint64)) chain.Holdings {
		a := map[market.Address]uint64{key(1): 15, key(4): 5000}
		move := func(from, to byte, n uint64) {
			if from > 0 {
				a[key(from)] -= n
			}
			if to > 0 {
				a[key(to)] += n
			}
		}
		for _, m := range []struct {
			block, n uint64
			from, to byte
		}{{10, 5, 1, 2}, {11, 5, 1, 2}, {12, 7, 0, 3}, {13, 2*stagedAtOnce + 10, 4, 5}, {14, 1, 5, 0}} {
			if m.block <= block {
				move(m.from, m.to, m.n)
			}
		}
		if change != nil {
			change(a)
		}
		return chain.Holdings{After: block, Amounts: a}
	}
	alone := func(h chain.Holdings) chain.Holdings {
		h.Alone = true
		return h
	}
	more := func(a map[market.Address]uint64) { a[key(9)] = 1 }
	less := func(a map[market.Address]uint64) { delete(a, key(1)) }
	tooMany := chain.Holdings{TooMany: true}
	for what, c := range map[string]struct {
		told   []chain.Holdings
		block  uint64 // of what is staged; 0 is none
		beyond market.HolderCap
	}{
		"the only endpoint":                 {told: []chain.Holdings{alone(at(12, nil))}, block: 12},
		"one of two":                        {told: []chain.Holdings{at(12, nil)}},
		"two of one block":                  {told: []chain.Holdings{at(12, nil), at(12, nil)}, block: 12},
		"of two blocks":                     {told: []chain.Holdings{at(10, nil), at(13, nil)}, block: 13},
		"the later one first":               {told: []chain.Holdings{at(14, nil), at(9, nil)}, block: 14},
		"one says more":                     {told: []chain.Holdings{at(12, nil), at(12, more)}},
		"of two blocks, one says more":      {told: []chain.Holdings{at(10, more), at(13, nil)}},
		"less than was given away":          {told: []chain.Holdings{at(10, less), at(13, nil)}},
		"two say what can't be":             {told: []chain.Holdings{at(10, less), at(11, less), at(14, nil)}},
		"a third decides":                   {told: []chain.Holdings{at(10, more), at(11, nil), at(13, nil)}, block: 13},
		"refused, and two say it":           {told: []chain.Holdings{{}, at(11, nil), at(13, nil)}, block: 13},
		"all refuse":                        {told: []chain.Holdings{{}, {}}},
		"too many for one of two":           {told: []chain.Holdings{tooMany, at(12, nil)}},
		"too many for two":                  {told: []chain.Holdings{tooMany, at(12, nil), tooMany}, beyond: market.CapAccounts},
		"too many for the only one":         {told: []chain.Holdings{alone(tooMany)}, beyond: market.CapAccounts},
		"two of the newest that is final":   {told: []chain.Holdings{at(18, nil), at(18, nil)}, block: 18},
		"others than an earlier try staged": {told: []chain.Holdings{alone(at(14, func(a map[market.Address]uint64) { delete(a, key(3)) }))}, block: 14},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			nodes := &mockHolders{told: c.told}
			h, l, j := snapshotOf(t, "sqlite", nodes)
			var seven market.Amount
			seven.SetUint64(7)
			earlier := &store.HolderProgress{Before: *j, After: *j, Staged: map[market.Address]market.Amount{key(3): seven, key(77): seven}}
			if err := h.Jobs.Save(t.Context(), l, earlier); err != nil {
				t.Fatal(err)
			}
			if _, err := h.takeSnapshot(t.Context(), l, j); err != nil {
				t.Fatal(err)
			}
			jobs, err := h.Jobs.List(t.Context(), "solana")
			if err != nil || len(jobs) != 1 {
				t.Fatal(jobs, err)
			}
			if jobs[0].Beyond != c.beyond || jobs[0].Broken != (c.beyond != "") {
				t.Errorf("job %+v, want it beyond %q", jobs[0], c.beyond)
			}
			if c.block == 0 {
				if jobs[0].IsRead() || c.beyond == "" && h.pauses[j.Token].refused != 1 {
					t.Errorf("job %+v, refused %d times; want nothing of it", jobs[0], h.pauses[j.Token].refused)
				}
				return
			}
			want := at(c.block, nil).Amounts
			if what == "others than an earlier try staged" {
				delete(want, key(3))
			}
			maps.DeleteFunc(want, func(_ market.Address, n uint64) bool { return n == 0 })
			staged, err := h.Jobs.StagedFrom(t.Context(), "solana", j.Token, market.Address{}, 100)
			if err != nil {
				t.Fatal(err)
			}
			got := map[market.Address]uint64{}
			for _, b := range staged {
				got[b.Account] = b.Amount.Uint64()
			}
			if k := jobs[0]; !maps.Equal(got, want) || k.Final != c.block || !k.IsRead() || k.Step != market.MergeAccounts || k.Accounts != int64(len(want)) {
				t.Errorf("staged %v, want %v; job %+v", got, want, k)
			}
		})
	}
}

// TestSnapshotThatIsRefused: a token of which nodes don't tell who has it is asked for ever more rarely, and given up in the end, for a recount.
func TestSnapshotThatIsRefused(t *testing.T) {
	t.Parallel()
	h, l, j := snapshotOf(t, "sqlite", &mockHolders{told: []chain.Holdings{{}, {}}})
	now := int64(2)
	h.Now = func() time.Time { return time.Unix(now, 0) }
	asked := 0
	for ; !j.Broken && now < 4*60*60; now += 10 {
		before := h.pauses[j.Token].refused
		if _, err := h.takeSnapshot(t.Context(), l, j); err != nil {
			t.Fatal(err)
		}
		asked += h.pauses[j.Token].refused - before
		jobs, err := h.Jobs.List(t.Context(), "solana")
		if err != nil {
			t.Fatal(err)
		}
		*j = jobs[0]
	}
	if asked != mostRefused || !j.Broken || j.Beyond != "" || now < 60*60 {
		t.Errorf("asked %d times in %d s; job %+v", asked, now, j)
	}
}
