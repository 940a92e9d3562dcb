package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// ErrTooManyTrades means that a wallet has more trades than are to be read.
var ErrTooManyTrades = errors.New("the wallet has too many trades")

// WalletTrade is a trade of a wallet. It has no Funding.
type WalletTrade struct {
	Chain string
	market.Trade
	// Untrusted is set where the trade's pool may not price its base, so that nobody need believe what was paid.
	Untrusted bool
}

// The chain is written so that it can't be looked up: SQLite would walk all trades of it, as they are in the wanted order.
// walletTraded asks for an ordered range of one trader: for an equal one PostgreSQL would collect all trades before the first.
const (
	walletTraded = "SELECT 1 FROM trades t WHERE t.trader BETWEEN ? AND ? AND t.chain || '' IN "
	walletTrades = "SELECT t.chain, t.block, t.log_index, t.time, t.tx, t.pool, t.base, t.sell, t.base_amount, t.quote_amount, t.nano_usd, " +
		"t.close_usd, t.close_native, t.trader_amount, t.trader_before, p.untrusted <> '' FROM trades t CROSS JOIN pools p " +
		"WHERE t.trader = ? AND p.chain = t.chain AND p.id = t.pool AND t.chain || '' IN "
	walletBeyond = " ORDER BY t.trader LIMIT 1 OFFSET ?"
	walletOrder  = " ORDER BY t.chain, t.block, t.log_index LIMIT ?"
)

// walletHas reports whether a wallet has more than n trades.
func (s Trades) walletHas(ctx context.Context, wallet market.Address, chains []string, n int) (bool, error) {
	if len(chains) == 0 {
		return false, nil
	}
	marks, args := database.List(s.served.indexesOf(chains))
	var one int
	err := s.db.AskOne(ctx, []any{&one}, walletTraded+"("+marks+")"+walletBeyond,
		slices.Concat([]any{wallet.Bytes(), wallet.Bytes()}, args, []any{n})...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("database: look for a wallet's trades: %w", err)
	}
	return true, nil
}

// OfWallet walks a wallet's trades on some chains, chain by chain, each in the chain's order. A wallet with more than limit
// gives ErrTooManyTrades, however many more: before any of them, unless the one too many came just then. That costs a look at
// so many entries of an index.
func (s Trades) OfWallet(ctx context.Context, wallet market.Address, chains []string, limit int) iter.Seq2[WalletTrade, error] {
	return func(yield func(WalletTrade, error) bool) {
		beyond, err := s.walletHas(ctx, wallet, chains, limit)
		if err == nil && beyond {
			err = tooMany(limit)
		}
		if err != nil {
			yield(WalletTrade{}, err)
			return
		}
		if len(chains) == 0 {
			return
		}
		q := s.db.Read.NewRaw(walletTrades+"(?)"+walletOrder, wallet.Bytes(), database.Among(false, s.served.indexesOf(chains)), limit+1)
		n := 0
		for trade, err := range database.Walk(ctx, s.db.Read, q, "trades", func(rows *sql.Rows) (WalletTrade, error) {
			t, err := scanWalletTrade(rows, wallet)
			t.Chain, _ = s.served.chainOf(t.Chain)
			return t, err
		}) {
			if n++; n > limit && err == nil { // it came since the look
				trade, err = WalletTrade{}, tooMany(limit)
			}
			if !yield(trade, err) {
				return
			}
		}
	}
}

func tooMany(limit int) error {
	return fmt.Errorf("database: %w: more than %d", ErrTooManyTrades, limit)
}

func scanWalletTrade(rows *sql.Rows, wallet market.Address) (WalletTrade, error) {
	t := WalletTrade{Trade: market.Trade{Trader: wallet}}
	var tx, pool, base, baseAmount, quoteAmount, traderAmount, traderBefore sql.RawBytes
	var number, index int64
	var nano sql.NullInt64
	err := rows.Scan(&t.Chain, &number, &index, &t.Time, &tx, &pool, &base, &t.Sell, &baseAmount, &quoteAmount, &nano,
		&t.CloseUSD, &t.CloseNative, &traderAmount, &traderBefore, &t.Untrusted)
	if err != nil {
		return t, err
	}
	c := model.Columns{Table: "trades"}
	t.Block, t.LogIndex, t.Tx, t.Pool, t.Base = uint64(number), uint64(index), c.Tx(tx), c.Address(pool), c.Address(base)
	t.BaseAmount, t.QuoteAmount, t.NanoUSD, t.HasUSD = c.Amount(baseAmount), c.Amount(quoteAmount), nano.Int64, nano.Valid
	t.TraderAmount, _ = c.ShortAmount(traderAmount)
	t.TraderBefore, t.HasTraderBefore = c.ShortAmount(traderBefore)
	return t, c.Err
}
