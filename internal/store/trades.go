package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// Ticks lists the newest trades of a pool with a time in [from, to), oldest first and at most limit of them, with prices
// in USD or in the native coin.
func (s Trades) Ticks(ctx context.Context, chain string, pool market.Address, from, to int64, native bool, limit int) ([]market.Tick, error) {
	chain = s.served.indexOf(chain)
	name := "close_usd"
	if native {
		name = "close_native"
	}
	rows, err := s.db.Ask(ctx, "SELECT time, "+name+", COALESCE(nano_usd, 0), block FROM trades WHERE chain = ? AND pool = ? AND time >= ? "+
		"AND time < ? ORDER BY time DESC, block DESC, log_index DESC LIMIT ?", chain, pool.Bytes(), from, to, limit)
	if err != nil {
		return nil, fmt.Errorf("database: read trades: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []market.Tick
	for rows.Next() {
		var t market.Tick
		if err := rows.Scan(&t.Time, &t.Price, &t.NanoUSD, &t.Block); err != nil {
			return nil, fmt.Errorf("database: read trades: %w", err)
		}
		out = append(out, t)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("database: read trades: %w", err)
	}
	slices.Reverse(out)
	return out, nil
}

// Of lists a pool's trades with a time in [from, to), oldest first, at most limit of them.
func (s Trades) Of(ctx context.Context, chain string, pool market.Address, from, to, limit int64,
) ([]market.Trade, error) {
	var rows []model.Trade
	err := s.db.Read.NewSelect().Model(&rows).Where("chain = ? AND pool = ? AND time >= ? AND time < ?", chain, pool.Bytes(),
		from, to).Order("time", "block", "log_index").Limit(limit).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read trades: %w", err)
	}
	return model.To(rows, (*model.Trade).Value)
}

// Flow is a trade as far as a ranking goes.
type Flow struct {
	Block   uint64
	Time    int64 // unix seconds
	Base    market.Address
	Trader  market.Address
	Sell    bool
	NanoUSD int64 // in 1e-9 USD
	// CloseUSD is the token's price when its block ended; 0 while unknown, and for trades of pools that don't price it.
	CloseUSD float64
	// Funding is where the trader's coins came from.
	Funding market.Funding
}

// Flows walks a chain's valued trades in trusted pools, oldest first: from a block on, or, with block 0, those with a
// time of at least since. Untrusted pools are left out, because their owner can make them log any price.
func (s Trades) Flows(ctx context.Context, chain string, block uint64, since int64) iter.Seq2[Flow, error] {
	chain = s.served.indexOf(chain)
	return func(yield func(Flow, error) bool) {
		first := int64(block)
		if block == 0 {
			var err error
			if first, err = firstTradeBlock(ctx, s.db.Read, chain, since); err != nil {
				yield(Flow{}, err)
				return
			}
		}
		// CROSS JOIN has SQLite go by the trades' order.
		q := s.db.Read.NewRaw("SELECT t.block, t.time, t.base, t.trader, t.sell, t.nano_usd, "+
			"CASE WHEN p.id = k.pool OR p.protocol = ? THEN t.close_usd ELSE 0 END, t.funding, t.funder, t.funded_at, t.age, t.first_at FROM trades t CROSS JOIN pools p "+
			"CROSS JOIN tokens k WHERE t.chain = ? AND t.block >= ? AND t.nano_usd IS NOT NULL AND p.chain = t.chain AND p.id = t.pool "+
			"AND p.untrusted = '' AND k.chain = t.chain AND k.mint = t.base ORDER BY t.block, t.log_index", string(market.BondingCurve), chain, first)
		var base, trader, funder sql.RawBytes // these and the others are one for all rows: what a row is read into lives on the heap
		var funding, fundedAt, age, firstAt *int64
		number, f := int64(0), Flow{}
		database.Walk(ctx, s.db.Read, q, "trades", func(rows *sql.Rows) (Flow, error) {
			if err := rows.Scan(&number, &f.Time, &base, &trader, &f.Sell, &f.NanoUSD, &f.CloseUSD, &funding, &funder, &fundedAt, &age, &firstAt); err != nil {
				return f, err
			}
			c := model.Columns{Table: "trades"}
			f.Block, f.Base, f.Trader = uint64(number), c.Address(base), c.Address(trader)
			f.Funding = c.Funding(funding, funder, fundedAt, age, firstAt)
			return f, c.Err
		})(yield)
	}
}

// firstTradeBlock is the first block with a trade of at least time t, or the one after the last trade. Trades are
// ordered by block and time rises with it, so that a bisection by the primary key spares an index on time.
func firstTradeBlock(ctx context.Context, db bun.IDB, chain string, t int64) (int64, error) {
	var low, high sql.NullInt64
	err := db.NewRaw("SELECT (SELECT min(block) FROM trades WHERE chain = ?), "+
		"(SELECT max(block) + 1 FROM trades WHERE chain = ?)", chain, chain).Scan(ctx, &low, &high)
	if err != nil {
		return 0, fmt.Errorf("database: find the first trade of a time: %w", err)
	}
	for low.Int64 < high.Int64 {
		mid := low.Int64 + (high.Int64-low.Int64)/2
		var block, time int64
		err := db.NewRaw("SELECT block, time FROM trades WHERE chain = ? AND block >= ? ORDER BY block LIMIT 1", chain, mid).
			Scan(ctx, &block, &time)
		if errors.Is(err, sql.ErrNoRows) { // a reorg took them meanwhile
			high.Int64 = mid
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("database: find the first trade of a time: %w", err)
		}
		if time >= t {
			high.Int64 = mid
		} else {
			low.Int64 = block + 1
		}
	}
	return high.Int64, nil
}

// BlockClose is the price of a pool's base in USD at the end of a block in which it was traded.
type BlockClose struct {
	Block uint64
	Time  int64 // unix seconds
	USD   float64
}

// BlockCloses lists the closes of a pool's blocks, oldest first: of the blocks from one number to another, with a time of at least since. It reads limit trades at
// most; upTo is the last block that it has read. All trades of a block have the block's close. It leaves out blocks whose price in USD isn't known.
func (s Trades) BlockCloses(ctx context.Context, chain string, pool market.Address, from uint64, since int64, to uint64, limit int,
) (closes []BlockClose, upTo uint64, err error) {
	rows, err := s.db.Ask(ctx, "SELECT block, time, close_usd FROM trades WHERE chain = ? AND pool = ? AND time >= ? AND block >= ? AND block <= ? "+
		"ORDER BY time, block, log_index LIMIT ?", s.served.indexOf(chain), pool.Bytes(), since, int64(from), int64(to), limit)
	if err != nil {
		return nil, 0, fmt.Errorf("database: read trades: %w", err)
	}
	defer func() { _ = rows.Close() }()
	n := 0
	var block int64
	for ; rows.Next(); n++ {
		var c BlockClose
		if err := rows.Scan(&block, &c.Time, &c.USD); err != nil {
			return nil, 0, fmt.Errorf("database: read trades: %w", err)
		}
		c.Block = uint64(block)
		if c.USD > 0 && (len(closes) == 0 || closes[len(closes)-1].Block < c.Block) {
			closes = append(closes, c)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, 0, fmt.Errorf("database: read trades: %w", err)
	}
	if n < limit {
		return closes, to, nil
	}
	return closes, uint64(block), nil
}
