package store

import (
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

type balanceRow struct {
	bun.BaseModel `bun:"table:balances"`

	Chain    string `bun:",pk"`
	Token    []byte `bun:",pk"`
	Account  []byte `bun:",pk"`
	Amount   []byte
	Excluded bool
}

func balanceToRow(chain string, k market.BalanceKey, b *market.Balance) balanceRow {
	return balanceRow{
		Chain: chain, Token: k.Token.Bytes(), Account: k.Account.Bytes(), Amount: bytesOf(&b.Amount), Excluded: b.Excluded,
	}
}

func (r *balanceRow) balance() (market.BalanceKey, market.Balance, error) {
	c := columns{table: "balances"}
	return market.BalanceKey{Token: c.address(r.Token), Account: c.address(r.Account)},
		market.Balance{Amount: c.amount(r.Amount), Excluded: r.Excluded}, c.err
}

type queuedRow struct {
	bun.BaseModel `bun:"table:holder_queue"`

	Chain     string `bun:",pk"`
	Token     []byte `bun:",pk"`
	Block     int64  `bun:",pk"`
	Seq       int64  `bun:",pk"`
	Sender    []byte
	Recipient []byte
	Amount    []byte
}

func queuedToRow(chain string, q *market.QueuedTransfer) queuedRow {
	return queuedRow{
		Chain: chain, Token: q.Token.Bytes(), Block: int64(q.Block), Seq: int64(q.Seq),
		Sender: q.From.Bytes(), Recipient: q.To.Bytes(), Amount: bytesOf(&q.Amount),
	}
}

func (r *queuedRow) queued() (market.QueuedTransfer, error) {
	c := columns{table: "holder_queue"}
	return market.QueuedTransfer{
		Token: c.address(r.Token), Block: uint64(r.Block), Seq: uint32(r.Seq),
		From: c.address(r.Sender), To: c.address(r.Recipient), Amount: c.amount(r.Amount),
	}, c.err
}
