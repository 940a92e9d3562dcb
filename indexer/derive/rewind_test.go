package derive_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/golden"
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
	if f.lease, err = st.Leases.Acquire(t.Context(), chain, "test", time.Minute); err != nil {
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
	if b.Watched, err = f.store.Wallets.Watched(f.Context(), f.chain); err != nil {
		f.Fatal(err)
	}
	status, _, err := f.store.Chain(f.Context(), f.chain)
	if err != nil {
		f.Fatal(err)
	}
	b.Last = status.Last
	for _, j := range f.jobs() {
		if j.Recount != market.NoRecount {
			b.Recounts = append(b.Recounts, j.Token)
		}
		if j.IsMerging() {
			b.Jobs = append(b.Jobs, j)
		}
	}
	return b
}

func (f *follower) jobs() []market.HolderJob {
	f.Helper()
	jobs, err := f.store.Jobs.List(f.Context(), f.chain)
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
	f.merge(b.Number)
	recount := f.recount()
	if err := f.machine.Apply(f.state, blocks, b.Header); err != nil {
		f.Fatal(err)
	}
	err := f.store.Commit(f.Context(), f.lease, &store.Commit{
		Last: b.Header, Blocks: []market.Header{b.Header}, Undo: true, Horizon: b.Number - reach - 1, Changes: f.state.Flush(f.limit),
		Recount: recount,
	})
	if err != nil {
		f.Fatal(err)
	}
}

// merge takes a few rows of finished counts of holders in.
func (f *follower) merge(block uint64) {
	f.Helper()
	for _, j := range f.jobs() {
		if j.Step == market.MergeNone || f.rng.IntN(3) == 0 {
			continue
		}
		f.state.Merge(j)
		limit := 1 + f.rng.IntN(8)
		for range 1 + f.rng.IntN(3) {
			switch job := f.state.Job(j.Token); job.Step {
			case market.MergeClear:
				if j.Step == market.MergeClear { // else the database doesn't have yet what was taken over
					f.mergeAccounts(job, limit, block)
				}
			case market.MergeAccounts:
				f.mergeAccounts(job, limit, block)
			case market.MergeQueue:
				f.mergeQueue(job, limit, block)
			case market.MergeNone, market.MergeEnded:
			}
		}
	}
}

func (f *follower) mergeAccounts(j *market.HolderJob, limit int, block uint64) {
	f.Helper()
	slice, err := f.store.Jobs.Unmerged(f.Context(), f.chain, j.Token, j.Cursor, limit)
	if err != nil {
		f.Fatal(err)
	}
	var accounts []market.Address
	known := market.Wanted{ExpireFrom: 1}
	for _, b := range slice.Staged {
		accounts, known.Balances = append(accounts, b.Account), append(known.Balances, market.BalanceKey{Token: j.Token, Account: b.Account})
	}
	f.state.Put(known, market.Rows{Balances: slice.Rows})
	f.load(f.machine.AccountKeys(f.state, j.Token, accounts))
	merge := f.machine.MergeAccounts
	if j.Step == market.MergeClear {
		merge = f.machine.ClearAccounts
	}
	merge(f.state, j.Token, slice.Staged, slice.Whole, block)
}

func (f *follower) mergeQueue(j *market.HolderJob, limit int, block uint64) {
	f.Helper()
	after, seq := j.QueueFrom()
	queued, err := f.store.Jobs.Queued(f.Context(), f.chain, j.Token, after, seq, limit)
	if err != nil {
		f.Fatal(err)
	}
	var accounts []market.Address
	for _, q := range queued {
		accounts = append(accounts, q.From, q.To)
	}
	f.load(f.machine.AccountKeys(f.state, j.Token, accounts))
	f.machine.MergeQueue(f.state, j.Token, queued, len(queued) < limit, block)
}

// recount begins to count a token's holders anew.
func (f *follower) recount() *store.Recount {
	f.Helper()
	r, ok, err := f.store.Jobs.DueRecount(f.Context(), f.chain, 0, "", market.Native, nil)
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
	gaps, err := f.store.Jobs.Gaps(f.Context(), f.chain, final, nil, 10)
	if err != nil {
		f.Fatal(err)
	}
	var begun []market.HolderJob
	for _, g := range gaps {
		begun = append(begun, market.HolderJob{Token: g.Token, Final: g.First - 1, Next: g.First})
	}
	if err := f.store.Jobs.Begin(f.Context(), f.lease, begun); err != nil {
		f.Fatal(err)
	}
	for _, j := range f.jobs() {
		if j.Step != market.MergeNone || j.Recount == market.RecountBegun && j.Final >= final {
			continue
		}
		p := f.drain(j)
		if p.After.Step = market.MergeAccounts; j.Recount != market.NoRecount {
			p.After.Recount, p.After.Next = market.RecountProven, j.Final+1
		}
		if err := f.store.Jobs.Save(f.Context(), f.lease, &p); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := f.store.Jobs.DropEnded(f.Context(), f.lease); err != nil {
		f.Fatal(err)
	}
}

// drain books a few waiting transfers that no rewind can take back.
func (f *follower) drain(j market.HolderJob) store.HolderProgress {
	f.Helper()
	after, seq := j.QueueFrom()
	queued, err := f.store.Jobs.QueuedForGood(f.Context(), f.chain, j.Token, after, seq, f.rng.IntN(6))
	if err != nil {
		f.Fatal(err)
	}
	p := store.HolderProgress{Before: j, After: j, Staged: map[market.Address]market.Amount{}}
	if len(queued) == 0 || !derive.Book(queued, p.Staged) {
		return store.HolderProgress{Before: j, After: j}
	}
	last := queued[len(queued)-1]
	p.After.QueueBlock, p.After.QueueSeq, p.Taken = last.Block, last.Seq, true
	return p
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
	var payments []market.BlockPayments
	for b, err := range f.store.Payments(f.Context(), f.chain, 0, 1_000_000) {
		if err != nil {
			f.Fatal(err)
		}
		payments = append(payments, b)
	}
	stale := append(f.state.Stale(f.beginning(), f.rows), f.state.StaleFundings(payments, everyAccount())...)
	if len(stale) > 0 {
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

// digests are how many rows each table of a chain has in the end, and a digest of them.
func (f *follower) digests() string {
	f.Helper()
	tables, err := f.store.Inspect.Derived(f.Context(), f.chain)
	if err != nil {
		f.Fatal(err)
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if rows := tables[name]; len(rows) > 0 {
			fmt.Fprintf(&out, "%s %s: %d rows, %x\n", f.chain, name, len(rows), sha256.Sum256([]byte(strings.Join(rows, "\n"))))
		}
	}
	return out.String()
}

// holdRewound holds digests to testdata/rewound.golden. What derives other rows on purpose writes it anew. On other processors than amd64 a
// product and a sum may be rounded once (arm64 has an instruction for both), so that prices differ in their last bits.
func holdRewound(t *testing.T, got string) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Logf("the rows' digests are those of amd64, and aren't compared on %s", runtime.GOARCH)
		return
	}
	if want, same := golden.Hold(t, "testdata/rewound.golden", []byte(got)); !same {
		t.Errorf("other rows are derived than before (go test ./indexer/derive -run RewindForgets -update writes their digests anew):\n%s\nwere\n%s", got, want)
	}
}

// TestRewindForgetsWhatItTouches: after reorgs of any depth, what a state still caches is what the database has, row by row. In the end the
// rows are those that were derived before, on both databases.
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
			var rows strings.Builder
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
				rows.WriteString(f.digests())
			}
			holdRewound(t, rows.String())
		})
	}
}
