package indexer

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// mergesAtOnce bounds the tokens that one commit merges.
	mergesAtOnce = 100
	// mergeTime is how long a commit may take, in which a merge goes on: the rows that it takes over are as many as keep it below.
	mergeTime = 100 * time.Millisecond
	// Each commit of a merge takes over leastRows up to mostRows rows, and the first commit firstRows.
	leastRows, firstRows, mostRows = 500, 1_000, 2_000
	// mergeShare is for how many times as long as such a commit took the loop then goes on without a merge.
	mergeShare = 4
)

// mergePace says how many rows of finished holder backfills the next commit takes over, by the time that the last ones took.
type mergePace struct {
	now   func() time.Time
	fixed int // rows; 0 is by time
	rows  int
	until time.Time // without a merge
	// began is when the merge of the commit that is being made began, taken how many rows it takes over.
	began time.Time
	taken int
}

// allowed is how many rows the next commit may take over.
func (p *mergePace) allowed() int {
	switch {
	case p.fixed > 0:
		return p.fixed
	case p.now().Before(p.until):
		return 0
	case p.rows == 0:
		p.rows = firstRows
	}
	return p.rows
}

// learn takes in how long a commit took since its merge began.
func (p *mergePace) learn(took time.Duration) {
	switch {
	case took > mergeTime:
		p.rows = max(p.rows/2, leastRows)
	case took < mergeTime/2 && p.taken >= p.rows:
		p.rows = min(2*p.rows, mostRows)
	}
	p.until = p.now().Add(mergeShare * took)
}

// merged is called when a commit is written with the jobs that it changed. It wakes the backfill where jobs have ended.
func (ix *Indexer) merged(ctx context.Context, jobs []market.Change[market.Address, market.HolderJob]) {
	for i := range jobs {
		if j := jobs[i].After; j.Step == market.MergeEnded {
			ix.log.InfoContext(ctx, "holder backfill merged", "token", j.Token.String(), "holders", j.Holders, "result", !j.Broken)
			ix.holders.Nudge()
		}
	}
	if ix.merges.taken > 0 {
		took := ix.o.Now().Sub(ix.merges.began)
		ix.log.DebugContext(ctx, "holders merged", "rows", ix.merges.taken, "took_us", took.Microseconds())
		ix.merges.learn(took)
	}
}

// mergeHolders takes a slice of finished backfills into the state, as part of the commit of a block that follows, and ends those without a
// result. Only a commit that can be taken back merges: others have time for nothing else.
func (ix *Indexer) mergeHolders(ctx context.Context, block uint64, undo bool) error {
	ix.merges.began, ix.merges.taken = ix.o.Now(), 0
	jobs, err := ix.store.Jobs.List(ctx, ix.rows.id())
	if err != nil {
		return err
	}
	left := 0
	if undo {
		left = ix.merges.allowed()
	}
	merged := 0
	for i := range jobs {
		j := &jobs[i]
		if merged == mergesAtOnce {
			break
		}
		switch {
		case j.Broken && j.Step != market.MergeClear:
			err = ix.endJob(ctx, j, block)
		case j.Step == market.MergeNone || left <= 0 || ix.state.Last().Number < j.Final:
			continue
		default:
			left, err = ix.mergeJob(ctx, j, left, block)
		}
		if err != nil {
			return err
		}
		merged++
	}
	return nil
}

// endJob ends a job without a result.
func (ix *Indexer) endJob(ctx context.Context, j *market.HolderJob, block uint64) error {
	ix.state.Merge(*j)
	if err := ix.load(ctx, ix.machine.AccountKeys(ix.state, j.Token, nil)); err != nil {
		return err
	}
	ix.machine.EndMerge(ix.state, j.Token, block)
	return nil
}

// mergeJob takes a job's next rows into the state, as many as are left of what the commit may take, and gives how many are left then.
func (ix *Indexer) mergeJob(ctx context.Context, j *market.HolderJob, left int, block uint64) (int, error) {
	ix.state.Merge(*j)
	for job := ix.state.Job(j.Token); left > 0 && job.Step != market.MergeEnded; ix.pulse.beat() {
		if job.Step == market.MergeClear && j.Step != market.MergeClear {
			break // what this commit took over isn't in the database yet
		}
		merge := ix.mergeAccounts
		if job.Step == market.MergeQueue {
			merge = ix.mergeQueue
		}
		n, err := merge(ctx, job, left, block)
		if err != nil {
			return 0, err
		}
		left -= max(n, 1)
		ix.merges.taken += n
	}
	return left, nil
}

// mergeAccounts takes over a slice of the accounts, or takes it back.
func (ix *Indexer) mergeAccounts(ctx context.Context, j *market.HolderJob, limit int, block uint64) (rows int, err error) {
	slice, err := ix.store.Jobs.Unmerged(ctx, ix.rows.id(), j.Token, j.Cursor, limit)
	if err != nil {
		return 0, err
	}
	accounts := make([]market.Address, len(slice.Staged))
	known := market.Wanted{Balances: make([]market.BalanceKey, len(slice.Staged)), ExpireFrom: 1}
	for i, b := range slice.Staged {
		accounts[i], known.Balances[i] = b.Account, market.BalanceKey{Token: j.Token, Account: b.Account}
	}
	ix.state.Put(known, market.Rows{Balances: slice.Rows})
	if err := ix.load(ctx, ix.machine.AccountKeys(ix.state, j.Token, accounts)); err != nil {
		return 0, err
	}
	merge := ix.machine.MergeAccounts
	if j.Step == market.MergeClear {
		merge = ix.machine.ClearAccounts
	}
	merge(ix.state, j.Token, slice.Staged, slice.Whole, block)
	return len(slice.Staged), nil
}

// mergeQueue takes over a slice of the transfers that wait.
func (ix *Indexer) mergeQueue(ctx context.Context, j *market.HolderJob, limit int, block uint64) (rows int, err error) {
	after, seq := j.QueueFrom()
	queued, err := ix.store.Jobs.Queued(ctx, ix.rows.id(), j.Token, after, seq, limit)
	if err != nil {
		return 0, err
	}
	accounts := make([]market.Address, 0, 2*len(queued))
	for i := range queued {
		accounts = append(accounts, queued[i].From, queued[i].To)
	}
	if err := ix.load(ctx, ix.machine.AccountKeys(ix.state, j.Token, accounts)); err != nil {
		return 0, err
	}
	ix.machine.MergeQueue(ix.state, j.Token, queued, len(queued) < limit, block)
	return len(queued), nil
}
