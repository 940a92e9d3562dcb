package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// PoolNow is a pool with the price of its quote, both of one moment.
type PoolNow struct {
	Chain string
	market.Pool
	QuotePrice market.QuotePrice // USD 0 while unknown
	// Changed is when the pool or the price of its quote last changed.
	Changed model.Stamp
}

// quoteOf lists the columns that a query which joins quote_prices as q reads into quoteColumns.
const quoteOf = "q.usd AS quote_usd, q.pegged AS quote_pegged, q.day_usd AS quote_day_usd, " +
	"COALESCE(q.changed_block, 0) AS quote_block, COALESCE(q.changed_at, 0) AS quote_at"

// quoteColumns are a quote asset's price beside another row; USD, Pegged and DayUSD are nil without one.
type quoteColumns struct {
	QuoteUSD    *float64 `bun:"quote_usd"`
	QuotePegged *bool
	QuoteDayUSD *float64 `bun:"quote_day_usd"`
	QuoteBlock  int64
	QuoteAt     int64
}

func (c *quoteColumns) quotePrice(asset market.Address) (q market.QuotePrice, ok bool) {
	q.Asset = asset
	if ok = c.QuoteUSD != nil && c.QuotePegged != nil && c.QuoteDayUSD != nil; ok {
		q.USD, q.Pegged, q.DayUSD = *c.QuoteUSD, *c.QuotePegged, *c.QuoteDayUSD
	}
	return q, ok
}

func (c *quoteColumns) quoteChanged() model.Stamp {
	return model.Stamp{Block: uint64(c.QuoteBlock), At: c.QuoteAt}
}

// PoolsOfToken bounds the pools of one token that are read: anyone can make thousands.
const PoolsOfToken = market.ListedPools

// Now lists the listed pools of some base tokens on every chain, of each token the one that prices it and the
// most liquid trusted ones, PoolsOfToken at most; by chain and id.
func (s Pools) Now(ctx context.Context, bases []market.Address) ([]PoolNow, error) {
	if len(bases) == 0 {
		return nil, nil
	}
	text, args := s.nowOf(bases)
	return s.now(ctx, text, args)
}

func (s Pools) nowOf(bases []market.Address) (text string, args []any) {
	marks, args := database.List(addressKeys(bases))
	// Ranked where they are read: a second look at the table by key would leave the planner a choice.
	inner := "SELECT " + database.ColumnsOf[model.Pool](s.db.Read, "p") + ", " + quoteOf + ", " +
		"ROW_NUMBER() OVER (PARTITION BY p.chain, p.base ORDER BY p.id = t.pool DESC, p.untrusted = '' DESC, " +
		"p.locked * COALESCE(q.usd, 0) DESC, p.id) AS place FROM pools p JOIN tokens t ON t.chain = p." + poolsChain + " AND t.mint = p.base " +
		"LEFT JOIN quote_prices q ON q.chain = p.chain AND q.asset = p.quote WHERE p.base IN (" + marks + ") AND p." + listedOnly
	return "SELECT " + database.ColumnsOf[model.Pool](s.db.Read, "r") + ", r.quote_usd, r.quote_pegged, r.quote_day_usd, r.quote_block, r.quote_at FROM (" + inner +
		") r WHERE r.place <= " + strconv.Itoa(PoolsOfToken) + " ORDER BY r.chain, r.id", args
}

// ByID lists the pools with an id on some chains, by chain.
func (s Pools) ByID(ctx context.Context, chains []string, id market.Address) ([]PoolNow, error) {
	if len(chains) == 0 {
		return nil, nil
	}
	marks, args := database.List(s.served.indexesOf(chains))
	return s.now(ctx, "SELECT "+database.ColumnsOf[model.Pool](s.db.Read, "p")+", "+quoteOf+" "+
		"FROM pools p LEFT JOIN quote_prices q ON q.chain = p.chain AND q.asset = p.quote WHERE p.chain IN ("+marks+") AND p.id = ? "+
		"ORDER BY p.chain, p.id", append(args, id.Bytes()))
}

func (s Pools) now(ctx context.Context, text string, args []any) ([]PoolNow, error) {
	type row struct {
		model.Pool `bun:",extend"`

		quoteColumns `bun:",extend"`
	}
	rows, err := s.db.Ask(ctx, text, args...)
	found, err := database.ScanAll[row](ctx, s.db.Read, rows, err)
	if err != nil {
		return nil, fmt.Errorf("database: read pools: %w", err)
	}
	found = onlyServed(s.served, found, func(r *row) *string { return &r.Chain })
	return model.To(found, func(r *row) (PoolNow, error) {
		p, err := r.Value()
		out := PoolNow{Chain: r.Chain, Pool: p, Changed: r.Changed(p.CreatedAt, p.LastTradeAt).Latest(r.quoteChanged())}
		out.QuotePrice, _ = r.quotePrice(p.Quote)
		return out, err
	})
}

// listedOnly is the condition on pools by which pools_listed is searched, and withAccount leaves out what anyone can make any number of.
const listedOnly = "unlisted = FALSE"

// poolsChain is the chain of pools that are looked up by their base, as what no index is searched by. Without statistics SQLite would take the
// primary key's chain for a better start than several bases, and PostgreSQL the chain and the base of pools_traded for a better one than
// pools_listed: either reads pools by the thousand that aren't listed.
const poolsChain = "chain || ''"

var withAccount = func() string {
	var names []string
	for _, p := range market.Protocols {
		if p.HasAccount() {
			names = append(names, "'"+string(p)+"'")
		}
	}
	return "protocol IN (" + strings.Join(names, ", ") + ")"
}()

// QuoteNow is the price of a quote asset and when it last changed.
type QuoteNow struct {
	market.QuotePrice
	Changed model.Stamp
}

// Quotes are the quote prices of every chain.
func (s Pools) Quotes(ctx context.Context) (map[string][]QuoteNow, error) {
	var rows []model.Quote
	if err := s.db.Read.NewSelect().Model(&rows).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read quote prices: %w", err)
	}
	rows = onlyServed(s.served, rows, func(r *model.Quote) *string { return &r.Chain })
	out := make(map[string][]QuoteNow)
	for i := range rows {
		q, err := rows[i].Value()
		if err != nil {
			return nil, err
		}
		out[rows[i].Chain] = append(out[rows[i].Chain], QuoteNow{q, rows[i].Changed()})
	}
	return out, nil
}
