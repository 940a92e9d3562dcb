package derive_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// merge ends a holder backfill as the loop does, in slices of two rows and with a commit for each.
func (x *indexer) merge(t fataler, token market.Address, final uint64, balances map[market.Address]market.Amount, broken bool) {
	t.Helper()
	job := market.HolderJob{Token: token, Final: final, Next: final + 1, Broken: broken, Step: market.MergeAccounts}
	if x.db.tokens[token].Holders.Status == market.HoldersUnavailable {
		job.Recount = market.RecountProven
	}
	x.db.jobs[token] = job
	block := x.state.Last().Number
	if broken {
		x.state.Merge(job)
		x.want(token)
		x.machine.EndMerge(x.state, token, block)
	}
	for x.slice(token, balances, 2, block) {
		c := x.state.Flush(x.limit)
		x.db.commit(t, &c)
	}
	c := x.state.Flush(x.limit)
	x.db.commit(t, &c)
}

// want loads what a slice with some accounts needs.
func (x *indexer) want(token market.Address, accounts ...market.Address) {
	w := x.machine.AccountKeys(x.state, token, accounts)
	x.state.Put(w, x.db.load(w))
}

// slice takes a job's next rows in, as part of a block's commit. It reports whether there were any.
func (x *indexer) slice(token market.Address, staged map[market.Address]market.Amount, limit int, block uint64) bool {
	job, ok := x.db.jobs[token]
	if !ok || job.Step == market.MergeEnded || job.Broken && job.Step != market.MergeClear {
		return false
	}
	x.state.Merge(job)
	if job.Step == market.MergeQueue {
		x.sliceQueue(&job, limit, block)
		return true
	}
	has := maps.Clone(staged)
	for k := range x.db.balances {
		if _, ok := has[k.Account]; !ok && k.Token == token {
			has[k.Account] = market.Amount{}
		}
	}
	var rows []market.AccountBalance
	for a, amount := range has {
		if bytes.Compare(a.Bytes(), job.Cursor.Bytes()) > 0 {
			rows = append(rows, market.AccountBalance{Account: a, Amount: amount})
			x.want(token, a)
		}
	}
	x.want(token)
	slices.SortFunc(rows, func(a, b market.AccountBalance) int { return bytes.Compare(a.Account.Bytes(), b.Account.Bytes()) })
	some := rows[:min(limit, len(rows))]
	merge := x.machine.MergeAccounts
	if job.Step == market.MergeClear {
		merge = x.machine.ClearAccounts
	}
	merge(x.state, token, some, len(rows) < limit, block)
	return true
}

func (x *indexer) sliceQueue(job *market.HolderJob, limit int, block uint64) {
	var rows []market.QueuedTransfer
	after, seq := job.QueueFrom()
	for _, q := range x.db.queued {
		if q.Token == job.Token && (q.Block > after || q.Block == after && q.Seq > seq) {
			rows = append(rows, q)
		}
	}
	some := rows[:min(limit, len(rows))]
	for _, q := range some {
		x.want(job.Token, q.From, q.To)
	}
	x.want(job.Token)
	x.machine.MergeQueue(x.state, job.Token, some, len(rows) < limit, block)
}

// slicing is a chain whose indexer merges a token's past while the token is moved.
type slicing struct {
	*chain
	*indexer
	t *rapid.T
	// staged is what accounts had at the end of genesis, has what they have.
	staged, has map[market.Address]market.Amount
	pairs       map[market.Address]bool
	done        []sliced
}

// sliced is what there was before a commit, and the commit.
type sliced struct {
	last    market.Header
	blocks  int
	has     map[market.Address]market.Amount
	pairs   map[market.Address]bool
	changes market.Changes
}

var holding = []market.Address{alice, bob, carol, router, aggregator, v2, poolA, poolB, poolC}

// step commits a block that moves the token and may make a pair of one that holds it, with a slice of the merge before.
func (s *slicing) step(busy bool) {
	s.t.Helper()
	before := sliced{last: s.last, blocks: len(s.blocks), has: maps.Clone(s.has), pairs: maps.Clone(s.pairs)}
	var events []market.Event
	for range rapid.IntRange(0, 3).Draw(s.t, "transfers") {
		from, to := rapid.SampledFrom(holding).Draw(s.t, "from"), rapid.SampledFrom(holding).Draw(s.t, "to")
		amount := s.has[from]
		if rapid.Bool().Draw(s.t, "a part") {
			half := raw(2)
			amount.Div(&amount, &half)
		}
		b := s.has[from]
		b.Sub(&b, &amount)
		s.has[from] = b
		b = s.has[to]
		b.Add(&b, &amount)
		s.has[to] = b
		events = append(events, moved(dog, from, to, amount))
	}
	if p := rapid.SampledFrom([]market.Address{poolA, poolB, {}, {}, {}}).Draw(s.t, "pair"); !p.IsNone() && !s.pairs[p] {
		s.pairs[p] = true
		events = append(events, pair(p, dog, weth))
	}
	b := s.block(12, nil, events)
	if !busy || rapid.IntRange(0, 2).Draw(s.t, "a slice") > 0 {
		s.slice(dog, s.staged, rapid.IntRange(1, 4).Draw(s.t, "rows"), b.Number)
	}
	before.changes = s.apply(s.t, []market.Block{b}, b.Header)
	s.done = append(s.done, before)
}

// back takes some commits back.
func (s *slicing) back(n int) {
	s.t.Helper()
	for range n {
		u := s.done[len(s.done)-1]
		s.done = s.done[:len(s.done)-1]
		s.db.undo(s.t, &u.changes)
		s.last, s.blocks, s.has, s.pairs = u.last, s.blocks[:u.blocks], u.has, u.pairs
		s.rewind(s.t, u.last, []market.Changes{u.changes})
	}
}

// TestMergeInSlices: whatever happens between the slices of a merge (transfers, pairs of accounts that hold the token, reorgs, restarts), the
// balances and the count are in the end those that transfers give.
func TestMergeInSlices(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &slicing{
			chain: newChain(), indexer: newIndexer(t, config(followAll), rapid.SampledFrom([]int{0, 100_000}).Draw(t, "cached rows")), t: t,
			staged: map[market.Address]market.Amount{}, pairs: map[market.Address]bool{},
		}
		for _, a := range holding {
			if n := rapid.Uint64Range(0, 3).Draw(t, "has"); n > 0 {
				s.staged[a] = raw(n)
			}
		}
		s.has = maps.Clone(s.staged)
		first := s.block(12, []market.Fact{market.TokenFact{Token: dog, HasDecimals: true, Decimals: 18}, fact(weth)}, tx(moved(dog, alice, bob, raw(0))))
		s.apply(t, []market.Block{first}, first.Header)
		job := market.HolderJob{Token: dog, Final: genesis.Number, Next: genesis.Number + 1, Step: market.MergeAccounts}
		s.db.jobs[dog] = job
		for range rapid.IntRange(1, 24).Draw(t, "steps") {
			switch n := rapid.IntRange(0, 7).Draw(t, "what"); {
			case n == 0:
				s.restart(s.last)
			case n == 1 && len(s.done) > 0:
				s.back(rapid.IntRange(1, len(s.done)).Draw(t, "commits"))
			default:
				s.step(true)
			}
		}
		for n := 0; s.db.jobs[dog].Step != market.MergeEnded; n++ {
			if n == 100 {
				t.Fatalf("the merge doesn't end: %+v", s.db.jobs[dog])
			}
			s.step(n < 20)
		}
		count := int64(0)
		for _, a := range holding {
			row, ok := s.db.balances[market.BalanceKey{Token: dog, Account: a}]
			excluded := a == v2 && ok || s.pairs[a]
			if has := s.has[a]; row.Amount != has || row.IsPool != excluded || ok && row.Amount.IsZero() && !excluded {
				t.Fatalf("%s is %+v (there: %v), has %s, excluded %v", who(a), row, ok, has.Dec(), excluded)
			}
			if amount := s.has[a]; !amount.IsZero() && !excluded {
				count++
			}
		}
		if h := s.db.tokens[dog].Holders; h.Status != market.HoldersCurrent || h.Count != count {
			t.Fatalf("the holders are %+v, want %d", h, count)
		}
	})
}

// TestMergeThatBreaks: a queue that doesn't add up ends a merge that is half done, and nothing of it is left, whatever is taken back meanwhile.
func TestMergeThatBreaks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &slicing{
			chain: newChain(), indexer: newIndexer(t, config(followAll), 100_000), t: t,
			staged: map[market.Address]market.Amount{alice: raw(5), bob: raw(6), poolA: raw(7)}, pairs: map[market.Address]bool{},
		}
		s.has = maps.Clone(s.staged)
		first := s.block(12, []market.Fact{market.TokenFact{Token: dog, HasDecimals: true, Decimals: 18}, fact(weth)},
			tx(pair(poolC, dog, weth), moved(dog, carol, poolC, raw(9)))) // carol has none
		s.apply(t, []market.Block{first}, first.Header)
		s.db.jobs[dog] = market.HolderJob{Token: dog, Final: genesis.Number, Next: genesis.Number + 1, Step: market.MergeAccounts}
		for n := 0; s.db.jobs[dog].Step != market.MergeEnded; n++ {
			s.step(n < 40)
			if n < 40 && rapid.IntRange(0, 3).Draw(t, "reorg") == 0 {
				s.back(rapid.IntRange(1, len(s.done)).Draw(t, "commits"))
			}
		}
		if h := s.db.tokens[dog].Holders; h != (market.Holders{Status: market.HoldersUnavailable, Reason: market.ReasonNegative}) {
			t.Fatalf("the holders are %+v", h)
		}
		for k, b := range s.db.balances {
			if k.Token == dog && (!b.IsPool || !b.Amount.IsZero()) {
				t.Fatalf("%s is left with %+v", who(k.Account), b)
			}
		}
	})
}
