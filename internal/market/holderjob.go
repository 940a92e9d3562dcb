package market

import "math"

// HolderJob finds what the accounts of a token had before its transfers were followed: it reads the token's past transfers beside the head, and
// is then merged, slice by slice, with the transfers that waited meanwhile (docs/adr/0017).
type HolderJob struct {
	Token Address
	// Final is the last block that the job reads, beyond the reach of reorgs; transfers after it wait in the queue.
	Final uint64
	// Next is the first block not read yet; the past is read when it is above Final.
	Next uint64
	// Broken says that the job has no result: a staged balance went below zero, a recount wasn't proven, or there is more than is read.
	Broken bool
	// Beyond is the cap that the token is beyond, of a broken job; empty where it is broken for another reason.
	Beyond  HolderCap
	Recount RecountStep
	// BegunAt is when the reading began, in unix seconds; 0 where that isn't known.
	BegunAt int64
	// Accounts is how many accounts have a staged balance. Transfers and Ranges are what was read: transfers, of nodes and of the queue,
	// and ranges of blocks.
	Accounts, Transfers, Ranges int64
	Step                        MergeStep
	// Cursor is the last account that was merged, in the order of the accounts' bytes; none before the first.
	Cursor Address
	// QueueBlock and QueueSeq are the last transfer of the queue that was taken; 0 and 0 where it is none.
	QueueBlock uint64
	QueueSeq   uint32
	// Holders is how many of the merged accounts count as holders.
	Holders int64
	// EndedIn is the block whose commit ended the job.
	EndedIn uint64
}

// IsRead reports whether the past is read, as far as nodes have it.
func (j *HolderJob) IsRead() bool { return j.Next > j.Final }

// IsMerging reports whether a merge has begun and not ended.
func (j *HolderJob) IsMerging() bool {
	return j.Step == MergeQueue || j.Step == MergeClear || j.Step == MergeAccounts && !j.Cursor.IsNone()
}

// QueueFrom is behind which transfer of which block the waiting ones begin that the job has not taken.
func (j *HolderJob) QueueFrom() (block uint64, seq uint32) {
	if j.QueueBlock > j.Final {
		return j.QueueBlock, j.QueueSeq
	}
	return j.Final, math.MaxUint32
}

// EndAt ends a job that is beyond a cap.
func (j *HolderJob) EndAt(c HolderCap) { j.Broken, j.Beyond = true, c }

// HolderCap is a bound of what is read of a token's past.
type HolderCap string

// The caps on a HolderJob.
const (
	CapAccounts  HolderCap = "accounts"
	CapTransfers HolderCap = "transfers"
	CapRanges    HolderCap = "ranges"
	CapAge       HolderCap = "age"
)

// MergeStep is how far a job's merge has come.
type MergeStep string

// The steps of a merge. Up to MergeNone the job is changed beside the head alone, from MergeAccounts on by the loop's commits alone.
const (
	MergeNone MergeStep = ""
	// MergeAccounts takes over the accounts' staged balances.
	MergeAccounts MergeStep = "accounts"
	// MergeQueue takes over the transfers that wait, until none is left and the token is counted.
	MergeQueue MergeStep = "queue"
	// MergeClear takes back what a merge without a result took over.
	MergeClear MergeStep = "clear"
	// MergeEnded has a result, or none: what is left of the job goes when no reorg can take the end back.
	MergeEnded MergeStep = "ended"
)

// RecountStep is how far a recount has come.
type RecountStep string

// The steps of a recount. NoRecount is a job that counts a token's holders for the first time.
const (
	NoRecount RecountStep = ""
	// RecountBegun waits until no reorg can move the first block of its queue.
	RecountBegun RecountStep = "begun"
	// RecountReading reads the token's past, and is then to be proven.
	RecountReading RecountStep = "reading"
	// RecountProven has been held against the token's contract.
	RecountProven RecountStep = "proven"
)

// AccountBalance is what one account has of a token.
type AccountBalance struct {
	Account Address
	Amount  Amount
}
