package store_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// resting is the address of the nth token, pool and launch of BenchmarkCommitBesideRest; restingSQL is the same of g.
func resting(n int) market.Address {
	h := sha256.Sum256([]byte(strconv.Itoa(n)))
	var w [32]byte
	copy(w[12:], h[12:])
	return market.EVMAddress(w)
}

const restingSQL = "substring(sha256(g::text::bytea) FROM 13 FOR 20)"

// BenchmarkCommitBesideRest commits blocks of 50 trades in 20,000 pools, which are strewn over the tables, beside so many more tokens, pools and launches
// in PostgreSQL that have no trade any more. It tells the p50 and p99 of a commit, the p99 of reading one token's pools, which is what the API asks, and how long
// a vacuum of the three tables takes after 200,000 changed rows.
func BenchmarkCommitBesideRest(b *testing.B) {
	for _, rest := range []int{0, 1_000_000, 5_000_000} {
		b.Run(fmt.Sprintf("rest=%d", rest), func(b *testing.B) {
			dsn := storetest.DSN(b, "postgres")
			s, err := store.Open(b.Context(), dsn)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			db, err := sql.Open("pgx", dsn)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			const traded = 20_000
			l, err := s.Leases.Acquire(b.Context(), "base", "bench", 1<<40)
			if err != nil {
				b.Fatal(err)
			}
			if err := s.Commit(b.Context(), l, restingCommit(1, []int{-1}, nil)); err != nil {
				b.Fatal(err)
			}
			for table, own := range map[string][]string{
				"tokens": {"mint"}, "pools": {"id", "base", "token0"}, "launches": {"mint"},
			} {
				if err := multiply(b.Context(), db, table, traded+rest, own...); err != nil {
					b.Fatal(err)
				}
			}
			r := rand.New(rand.NewPCG(1, 1))
			hot := make([]int, traded)
			for i := range hot {
				hot[i] = i * (traded + rest) / traded
			}
			before := map[int]*store.Commit{}
			var took, reads []time.Duration
			block := 1
			for b.Loop() {
				block++
				r.Shuffle(len(hot), func(i, j int) { hot[i], hot[j] = hot[j], hot[i] })
				c := restingCommit(block, hot[:50], before)
				began := time.Now()
				if err := s.Commit(b.Context(), l, c); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
				began = time.Now()
				if pools, err := s.Pools.Now(b.Context(), []market.Address{resting(hot[0])}); err != nil || len(pools) != 1 {
					b.Fatal(len(pools), err)
				}
				reads = append(reads, time.Since(began))
			}
			began := time.Now()
			if _, err := db.ExecContext(b.Context(), "VACUUM tokens, pools, launches"); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(time.Since(began).Seconds(), "vacuum-s")
			slices.Sort(took)
			slices.Sort(reads)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "commit-p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "commit-p99-ms")
			b.ReportMetric(float64(reads[len(reads)*99/100].Microseconds())/1000, "read-p99-ms")
		})
	}
}

// multiply makes n copies of a table's only row, each with an address of its own in some columns.
func multiply(ctx context.Context, db *sql.DB, table string, n int, own ...string) error {
	var list string
	err := db.QueryRowContext(ctx, "SELECT string_agg(column_name, ',') FROM information_schema.columns WHERE table_name = $1", table).Scan(&list)
	if err != nil {
		return err
	}
	columns := strings.Split(list, ",")
	values := slices.Clone(columns)
	for i, c := range columns {
		if slices.Contains(own, c) {
			values[i] = restingSQL
		}
	}
	_, err = db.ExecContext(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") SELECT "+strings.Join(values, ", ")+
		" FROM "+table+" CROSS JOIN generate_series(0, $1) g", n-1)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM ANALYZE "+table)
	return err
}

// restingCommit is a block with a trade in the pool of each of some tokens, by their numbers; before has their last rows, and is kept so.
func restingCommit(block int, tokens []int, before map[int]*store.Commit) *store.Commit {
	c := &store.Commit{Last: header(block), Blocks: []market.Header{header(block)}, Undo: true, Head: store.HeadStatus{Number: uint64(block)}}
	c.Horizon = uint64(max(block-100, 0))
	for i, n := range tokens {
		id := resting(n)
		token := &market.Token{
			Mint: id, Name: "A token that rests", Symbol: "REST", HasDecimals: true, Decimals: 18, HasSupply: true, Supply: amount(1 << 60),
			FirstBlock: 1, FirstSeenAt: 2, Pool: id, Holders: market.Holders{Status: market.HoldersCurrent, Count: int64(block)},
		}
		pool := &market.Pool{
			ID: id, Protocol: market.UniswapV2, Factory: address(900), Token0: id, Token1: address(1), FeePips: 3000, CreatedBlock: 1, CreatedAt: 2,
			Base: id, Quote: address(1), BaseIs0: true, Reserve0: amount(1 << 60), Reserve1: amount(uint64(block)), Price: 1, Depth: 1000, Locked: 1000,
			LastTradeAt: int64(block), Day: market.Window{VolumeUSD: amount(9), Buys: 1, Sells: 2, ReferenceUSD: 1},
		}
		launch := &market.Launch{
			Mint: id, Venue: "four-meme", Creator: address(3), Name: "A token that rests", Symbol: "REST", Metadata: "ipfs://m", Block: 1, CreatedAt: 3,
			Tx: market.EVMTx(hash(1)), Curve: address(800), Quote: market.Native, SaleBase: amount(1 << 40), Pool: id, State: market.LaunchGraduated,
		}
		tokenChange := market.Change[market.Address, market.Token]{Key: id, After: token}
		poolChange := market.Change[market.Address, market.Pool]{Key: id, After: pool}
		launchChange := market.Change[market.Address, market.Launch]{Key: id, After: launch}
		if before != nil {
			if last := before[n]; last != nil {
				tokenChange.Before, poolChange.Before, launchChange.Before = last.Changes.Tokens[0].After, last.Changes.Pools[0].After, last.Changes.Launches[0].After
			}
			before[n] = &store.Commit{Changes: market.Changes{
				Tokens: []market.Change[market.Address, market.Token]{tokenChange}, Pools: []market.Change[market.Address, market.Pool]{poolChange},
				Launches: []market.Change[market.Address, market.Launch]{launchChange},
			}}
		}
		c.Changes.Tokens = append(c.Changes.Tokens, tokenChange)
		c.Changes.Pools = append(c.Changes.Pools, poolChange)
		c.Changes.Launches = append(c.Changes.Launches, launchChange)
		c.Changes.Trades = append(c.Changes.Trades, market.Trade{
			Block: uint64(block), LogIndex: uint64(i), Time: header(block).Time, Tx: market.EVMTx(hash(block)), Pool: id, Base: id, Trader: address(9), CloseUSD: 1,
		})
	}
	return c
}
