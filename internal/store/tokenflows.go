package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// TxFlow is a trade as far as a ranking goes, with its transaction. CloseUSD is left out.
type TxFlow struct {
	Flow

	Tx market.TxID
}

// poolFlows reads by the index of trades by their pool and time. CROSS JOIN has SQLite go by the pools: for several of them at once it would read all trades of the chain.
const poolFlows = "SELECT t.block, t.time, t.tx, t.trader, t.sell, t.nano_usd, t.funding, t.funder, t.funded_at, t.age, t.first_at FROM pools p CROSS JOIN trades t " +
	"WHERE p.chain = ? AND p.id IN (?) AND t.chain = p.chain AND t.pool = p.id AND t.time >= ? AND t.nano_usd IS NOT NULL " +
	"ORDER BY t.time DESC, t.block DESC, t.log_index DESC LIMIT ?"

// FlowsOf lists the valued trades in some pools of one base token with a time of at least since, oldest first: the newest limit of them.
func (s Trades) FlowsOf(ctx context.Context, chain string, base market.Address, pools []market.Address, since int64, limit int) ([]TxFlow, error) {
	if len(pools) == 0 {
		return nil, nil
	}
	keys := make([]any, len(pools))
	for i := range pools {
		keys[i] = pools[i].Bytes()
	}
	q := s.db.Read.NewRaw(poolFlows, s.served.indexOf(chain), database.Among(s.db.IsPostgres(), keys), since, limit)
	var out []TxFlow
	for f, err := range database.Walk(ctx, s.db.Read, q, "trades", func(rows *sql.Rows) (TxFlow, error) {
		var tx, trader, funder []byte
		var funding, fundedAt, age, first *int64
		var number int64
		f := TxFlow{Flow: Flow{Base: base}}
		if err := rows.Scan(&number, &f.Time, &tx, &trader, &f.Sell, &f.NanoUSD, &funding, &funder, &fundedAt, &age, &first); err != nil {
			return f, err
		}
		c := model.Columns{Table: "trades"}
		f.Block, f.Tx, f.Trader = uint64(number), c.Tx(tx), c.Address(trader)
		f.Funding = c.Funding(funding, funder, fundedAt, age, first)
		return f, c.Err
	}) {
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	slices.Reverse(out)
	return out, nil
}
