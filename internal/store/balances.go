package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

type balanceRow struct {
	bun.BaseModel `bun:"table:balances"`

	Chain    string `bun:",pk"`
	Token    []byte `bun:",pk" image:"address"`
	Account  []byte `bun:",pk" image:"address"`
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

// HolderShare is what one account holds of a token.
type HolderShare struct {
	Account market.Address
	Amount  market.Amount
}

// Top lists a token's n largest holders, the largest first; accounts that don't count as holders are left out.
func (s Balances) Top(ctx context.Context, chain string, token market.Address, n int) ([]HolderShare, error) {
	rows, err := s.Ask(ctx, "SELECT "+database.ColumnsOf[balanceRow](s.Read, "b")+" FROM balances b WHERE b.chain = ? AND b.token = ? "+
		"AND NOT b.excluded ORDER BY b.amount DESC, b.account LIMIT ?", chain, token.Bytes(), n)
	found, err := database.ScanAll[balanceRow](ctx, s.Read, rows, err)
	if err != nil {
		return nil, fmt.Errorf("database: read a token's largest holders: %w", err)
	}
	return rowsTo(found, func(r *balanceRow) (HolderShare, error) {
		k, b, err := r.balance()
		return HolderShare{Account: k.Account, Amount: b.Amount}, err
	})
}

// Of is an account's derived balance of a token; 0 when it has none or the token's balances aren't kept.
func (s Balances) Of(ctx context.Context, chain string, token, account market.Address) (market.Amount, error) {
	chain = s.served.indexOf(chain)
	var raw []byte
	err := s.AskOne(ctx, []any{&raw}, "SELECT amount FROM balances WHERE chain = ? AND token = ? AND account = ?",
		chain, token.Bytes(), account.Bytes())
	if errors.Is(err, sql.ErrNoRows) {
		return market.Amount{}, nil
	}
	if err != nil {
		return market.Amount{}, fmt.Errorf("database: read a balance: %w", err)
	}
	c := columns{table: "balances"}
	return c.amount(raw), c.err
}

type queuedRow struct {
	bun.BaseModel `bun:"table:holder_queue"`

	Chain     string `bun:",pk"`
	Token     []byte `bun:",pk" image:"address"`
	Block     int64  `bun:",pk"`
	Seq       int64  `bun:",pk"`
	Sender    []byte `image:"address"`
	Recipient []byte `image:"address"`
	Amount    []byte
}

func queuedToRow(chain string, q *market.QueuedTransfer) queuedRow {
	return queuedRow{
		Chain: chain, Token: q.Token.Bytes(), Block: int64(q.Block), Seq: int64(q.Seq),
		Sender: partyBytes(q.From), Recipient: partyBytes(q.To), Amount: bytesOf(&q.Amount),
	}
}

func (r *queuedRow) queued() (market.QueuedTransfer, error) {
	c := columns{table: "holder_queue"}
	return market.QueuedTransfer{
		Token: c.address(r.Token), Block: uint64(r.Block), Seq: uint32(r.Seq),
		From: c.party(r.Sender), To: c.party(r.Recipient), Amount: c.amount(r.Amount),
	}, c.err
}

// All lists a token's accounts with their derived balances.
func (s Balances) All(ctx context.Context, chain string, token market.Address) (map[market.Address]market.Balance, error) {
	var rows []balanceRow
	err := s.Read.NewSelect().Model(&rows).Where("chain = ? AND token = ?", chain, token.Bytes()).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read balances: %w", err)
	}
	out := make(map[market.Address]market.Balance, len(rows))
	for i := range rows {
		k, b, err := rows[i].balance()
		if err != nil {
			return nil, err
		}
		out[k.Account] = b
	}
	return out, nil
}
