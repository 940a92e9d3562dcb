package model

import (
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Balance is a row of balances.
type Balance struct {
	bun.BaseModel `bun:"table:balances"`

	Chain    string `bun:",pk"`
	Token    []byte `bun:",pk" image:"address"`
	Account  []byte `bun:",pk" image:"address"`
	Amount   []byte
	Excluded bool
}

// OfBalance is the row of a balance.
func OfBalance(chain string, k market.BalanceKey, b *market.Balance) Balance {
	return Balance{
		Chain: chain, Token: k.Token.Bytes(), Account: k.Account.Bytes(), Amount: BytesOf(&b.Amount), Excluded: b.IsPool,
	}
}

// Value is a balance as the row has it.
func (r *Balance) Value() (market.BalanceKey, market.Balance, error) {
	c := Columns{Table: "balances"}
	return market.BalanceKey{Token: c.Address(r.Token), Account: c.Address(r.Account)},
		market.Balance{Amount: c.Amount(r.Amount), IsPool: r.Excluded}, c.Err
}

// Queued is a row of holder_queue.
type Queued struct {
	bun.BaseModel `bun:"table:holder_queue"`

	Chain     string `bun:",pk"`
	Token     []byte `bun:",pk" image:"address"`
	Block     int64  `bun:",pk"`
	Seq       int64  `bun:",pk"`
	Sender    []byte `image:"address"`
	Recipient []byte `image:"address"`
	Amount    []byte
}

// OfQueued is the row of a transfer that waits for a job.
func OfQueued(chain string, q *market.QueuedTransfer) Queued {
	return Queued{
		Chain: chain, Token: q.Token.Bytes(), Block: int64(q.Block), Seq: int64(q.Seq),
		Sender: partyBytes(q.From), Recipient: partyBytes(q.To), Amount: BytesOf(&q.Amount),
	}
}

// Value is a transfer that waits for a job as the row has it.
func (r *Queued) Value() (market.QueuedTransfer, error) {
	c := Columns{Table: "holder_queue"}
	return market.QueuedTransfer{
		Token: c.Address(r.Token), Block: uint64(r.Block), Seq: uint32(r.Seq),
		From: c.party(r.Sender), To: c.party(r.Recipient), Amount: c.Amount(r.Amount),
	}, c.Err
}
