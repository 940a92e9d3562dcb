package derive_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// reach is the depth of the deepest reorg of a follower.
const reach = 8

// follower runs a machine over a real database as the program's loop does, one block in each commit.
type follower struct {
	*testing.T
	chain   string
	store   *store.Store
	lease   *store.Lease
	machine *derive.Machine
	state   *derive.State
	limit   int
	rng     *rand.Rand
}

func newFollower(t *testing.T, st *store.Store, chain string, c *chainconfig.Chain, seed uint64) *follower {
	t.Helper()
	f := &follower{T: t, chain: chain, store: st, rng: rand.New(rand.NewPCG(seed, 0))}
	f.limit = []int{0, 10, 100_000}[f.rng.IntN(3)]
	var err error
	if f.lease, err = st.Acquire(t.Context(), chain, "test", time.Minute); err != nil {
		t.Fatal(err)
	}
	if f.machine, err = derive.New(c); err != nil {
		t.Fatal(err)
	}
	first := &store.Commit{Last: genesis, Blocks: []market.Header{genesis}, Horizon: genesis.Number}
	if err := st.Commit(t.Context(), f.lease, first); err != nil {
		t.Fatal(err)
	}
	f.state = derive.NewState(f.beginning())
	return f
}

// beginning is what the database has for a state to begin with.
func (f *follower) beginning() market.Beginning {
	f.Helper()
	b, err := f.store.Beginning(f.Context(), f.chain, f.machine.VenueContracts())
	if err != nil {
		f.Fatal(err)
	}
	status, _, err := f.store.Chain(f.Context(), f.chain)
	if err != nil {
		f.Fatal(err)
	}
	b.Last = status.Last
	for _, j := range f.jobs() {
		if j.Recount != store.NoRecount {
			b.Recounts = append(b.Recounts, j.Token)
		}
	}
	return b
}

func (f *follower) jobs() []store.HolderJob {
	f.Helper()
	jobs, err := f.store.HolderJobs(f.Context(), f.chain)
	if err != nil {
		f.Fatal(err)
	}
	return jobs
}

func (f *follower) rows(w market.Wanted) market.Rows {
	f.Helper()
	rows, err := f.store.Load(f.Context(), f.chain, w)
	if err != nil {
		f.Fatal(err)
	}
	return rows
}

func (f *follower) load(w market.Wanted) {
	f.Helper()
	f.state.Put(w, f.rows(w))
}

// follow commits a block.
func (f *follower) follow(b *market.Block) {
	f.Helper()
	blocks := []market.Block{*b}
	f.load(f.machine.LaunchKeys(f.state, blocks))
	f.load(f.machine.Keys(f.state, blocks, b.Header))
	f.load(f.machine.MoreKeys(f.state, blocks, b.Header))
	f.load(f.machine.MoreKeys(f.state, blocks, b.Header)) // the loop asks again whenever facts came in
	merged := f.merge()
	recount := f.recount()
	if err := f.machine.Apply(f.state, blocks, b.Header); err != nil {
		f.Fatal(err)
	}
	err := f.store.Commit(f.Context(), f.lease, &store.Commit{
		Last: b.Header, Blocks: []market.Header{b.Header}, Undo: true, Horizon: b.Number - reach - 1, Changes: f.state.Flush(f.limit),
		Merged: merged, Recount: recount,
	})
	if err != nil {
		f.Fatal(err)
	}
}

// merge takes finished counts of holders in.
func (f *follower) merge() (merged []market.Address) {
	f.Helper()
	for _, j := range f.jobs() {
		if !j.Done() {
			continue
		}
		balances, err := f.store.Staged(f.Context(), f.chain, j.Token, nil)
		if err != nil {
			f.Fatal(err)
		}
		accounts, err := f.store.Accounts(f.Context(), f.chain, j.Token)
		if err != nil {
			f.Fatal(err)
		}
		for _, a := range accounts {
			if _, has := balances[a]; !has && j.Recount != store.NoRecount {
				balances[a] = market.Amount{}
			}
		}
		queued, err := f.store.Queued(f.Context(), f.chain, j.Token)
		if err != nil {
			f.Fatal(err)
		}
		f.load(f.machine.MergeKeys(f.state, j.Token, balances, queued))
		f.machine.Merge(f.state, j.Token, j.Final, balances, queued, j.Broken)
		merged = append(merged, j.Token)
	}
	return merged
}

// recount begins to count a token's holders anew.
func (f *follower) recount() *store.Recount {
	f.Helper()
	r, ok, err := f.store.DueRecount(f.Context(), f.chain, 0, market.ZeroEVM, nil)
	if err != nil {
		f.Fatal(err)
	}
	if !ok || f.state.Recounts() > 0 {
		return nil
	}
	f.state.Recount(r.Token)
	return &r
}

// count brings counts of holders forward beside the blocks: all that there was before is what was queued.
func (f *follower) count() {
	f.Helper()
	final := f.state.Last().Number - reach
	gaps, err := f.store.HolderGaps(f.Context(), f.chain, final, nil, 10)
	if err != nil {
		f.Fatal(err)
	}
	var begun []store.HolderJob
	for _, g := range gaps {
		begun = append(begun, store.HolderJob{Token: g.Token, Final: g.First - 1, Next: g.First})
	}
	if err := f.store.BeginHolderJobs(f.Context(), f.lease, begun); err != nil {
		f.Fatal(err)
	}
	for _, j := range f.jobs() {
		if j.Recount == store.RecountBegun && j.Final < final {
			j.Recount, j.Next = store.RecountProven, j.Final+1
			if err := f.store.SaveHolderJob(f.Context(), f.lease, &j, nil); err != nil {
				f.Fatal(err)
			}
		}
	}
}

// rewind goes back to a block and holds the state against the database.
func (f *follower) rewind(to market.Header) {
	f.Helper()
	from := f.state.Last()
	touched, err := f.store.Rewind(f.Context(), f.lease, to.Number)
	if err != nil {
		f.Fatal(err)
	}
	f.state.Rewind(f.beginning(), &touched)
	if stale := f.state.Stale(f.beginning(), f.rows); len(stale) > 0 {
		f.Fatalf("back from block %d to %d, with a limit of %d cached rows:\n%s", from.Number, to.Number, f.limit, strings.Join(stale, "\n"))
	}
}

// fork is what another branch has of a block: the same transactions or some of them.
func (f *follower) fork(b market.Block, branch byte) market.Block {
	b.Hash[31] = branch
	if f.rng.IntN(2) == 0 {
		var some []market.Tx
		for _, tx := range b.Txs {
			if f.rng.IntN(2) == 0 {
				some = append(some, tx)
			}
		}
		b.Txs = some
	}
	return b
}

// TestRewindForgetsWhatItTouches: after reorgs of any depth, what a state still caches is what the database has, row by row.
func TestRewindForgetsWhatItTouches(t *testing.T) {
	t.Parallel()
	type history struct {
		blocks []market.Block
		cfg    *chainconfig.Chain
	}
	histories := rapid.Custom(func(t *rapid.T) (h history) {
		h.blocks, h.cfg = drawStory(t)
		return h
	})
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t, kind)
			for seed := range 16 {
				h := histories.Example(seed)
				f := newFollower(t, st, fmt.Sprintf("chain%d", seed), h.cfg, uint64(seed))
				way := []market.Header{genesis}
				top := 0
				for branch := byte(0); len(way) <= len(h.blocks); {
					b := h.blocks[len(way)-1]
					if branch > 0 {
						b = f.fork(b, branch)
					}
					f.follow(&b)
					way = append(way, b.Header)
					top = max(top, len(way))
					room := len(way) - max(1, top-reach) // below the horizon of the highest block nothing can be undone
					switch n := f.rng.IntN(5); {
					case n == 0 && room > 0:
						way = way[:len(way)-1-f.rng.IntN(room)]
						f.rewind(way[len(way)-1])
						branch++
					case n == 1:
						f.count()
					}
				}
			}
		})
	}
}
