package model

import (
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Job is a row of holder_jobs.
type Job struct {
	bun.BaseModel `bun:"table:holder_jobs"`

	Chain         string `bun:",pk"`
	Token         []byte `bun:",pk" image:"address"`
	FinalBlock    int64
	NextBlock     int64
	Broken        bool
	Recount       string `image:"later"`
	Beyond        string `image:"later"`
	BegunAt       int64  `image:"later"`
	Accounts      int64  `image:"later"`
	Transfers     int64  `image:"later"`
	Ranges        int64  `image:"later"`
	Step          string `image:"later"`
	MergedAccount []byte `image:"address,later"`
	QueueBlock    int64  `image:"later"`
	QueueSeq      int64  `image:"later"`
	Holders       int64  `image:"later"`
	EndedIn       int64  `image:"later"`
}

// OfJob is the row of a holder job.
func OfJob(chain string, j *market.HolderJob) Job {
	return Job{
		Chain: chain, Token: j.Token.Bytes(), FinalBlock: int64(j.Final), NextBlock: int64(j.Next), Broken: j.Broken, Recount: string(j.Recount),
		Beyond: string(j.Beyond), BegunAt: j.BegunAt, Accounts: j.Accounts, Transfers: j.Transfers, Ranges: j.Ranges,
		Step: string(j.Step), MergedAccount: j.Cursor.Bytes(), QueueBlock: int64(j.QueueBlock), QueueSeq: int64(j.QueueSeq),
		Holders: j.Holders, EndedIn: int64(j.EndedIn),
	}
}

// Value is a holder job as the row has it.
func (r *Job) Value() (market.HolderJob, error) {
	c := Columns{Table: "holder_jobs"}
	return market.HolderJob{
		Token: c.Address(r.Token), Final: uint64(r.FinalBlock), Next: uint64(r.NextBlock), Broken: r.Broken,
		Beyond: market.HolderCap(r.Beyond), Recount: market.RecountStep(r.Recount), BegunAt: r.BegunAt,
		Accounts: r.Accounts, Transfers: r.Transfers, Ranges: r.Ranges, Step: market.MergeStep(r.Step), Cursor: c.Address(r.MergedAccount),
		QueueBlock: uint64(r.QueueBlock), QueueSeq: uint32(r.QueueSeq), Holders: r.Holders, EndedIn: uint64(r.EndedIn),
	}, c.Err
}

// Staging is a row of holder_staging.
type Staging struct {
	bun.BaseModel `bun:"table:holder_staging"`

	Chain   string `bun:",pk"`
	Token   []byte `bun:",pk" image:"address"`
	Account []byte `bun:",pk" image:"address"`
	Amount  []byte
}

// Value is a balance that a job has read as the row has it.
func (r *Staging) Value() (market.AccountBalance, error) {
	c := Columns{Table: "holder_staging"}
	return market.AccountBalance{Account: c.Address(r.Account), Amount: c.Amount(r.Amount)}, c.Err
}
