package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// floodedToken and floodedQuote are the tokens of a flood's pools.
const floodedToken, floodedQuote = 1, 2

// flood commits a token with listed pools of liquidity, a pair without, and empty V4 pools, the n-th as poolID(n). The n-th listed one is
// address(1000 + n).
func flood(tb testing.TB, s *store.Store, l *store.Lease, listed, empty int, unlisted bool) {
	tb.Helper()
	set := func(ch *market.Changes, p *market.Pool) {
		p.Factory, p.Token0, p.Token1, p.Base, p.Quote = address(900), address(floodedToken), address(floodedQuote), address(floodedToken), address(floodedQuote)
		p.Price = 1
		ch.Pools = append(ch.Pools, market.Change[market.Address, market.Pool]{Key: p.ID, After: p})
	}
	c := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}}
	c.Changes.Tokens = []market.Change[market.Address, market.Token]{
		{Key: address(floodedToken), After: &market.Token{Mint: address(floodedToken), Symbol: "T", FirstBlock: 1, Pool: address(1000)}},
	}
	c.Changes.Quotes = []market.Change[market.Address, market.QuotePrice]{
		{Key: address(floodedQuote), After: &market.QuotePrice{Asset: address(floodedQuote), USD: 1}},
	}
	for n := range listed {
		set(&c.Changes, &market.Pool{ID: address(1000 + n), Protocol: market.UniswapV2, Locked: 5})
	}
	set(&c.Changes, &market.Pool{ID: address(999), Protocol: market.Solidly, Unlisted: true})
	for n := range empty {
		set(&c.Changes, &market.Pool{ID: poolID(n), Protocol: market.UniswapV4, SqrtPriceX96: amount(1), Unlisted: unlisted})
	}
	if err := s.Commit(tb.Context(), l, c); err != nil {
		tb.Fatal(err)
	}
}

// TestUnlistedPoolsAreNotRead has a token with many empty pools: what is read of it are its listed ones, by their index alone.
func TestUnlistedPoolsAreNotRead(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s := open(t, dsn)
			flood(t, s, lease(t, s), market.ListedPools, 20_000, true)
			base := []market.Address{address(floodedToken)}
			rows, err := s.Load(t.Context(), "base", market.Wanted{ExpireFrom: 1, PoolsOf: base, PairsOf: base, Pools: []market.Address{poolID(7)}})
			if err != nil {
				t.Fatal(err)
			}
			if len(rows.Pools) != market.ListedPools+1 {
				t.Errorf("%d pools are loaded, want the %d listed ones and the one that is named", len(rows.Pools), market.ListedPools)
			}
			for _, p := range rows.Pools {
				if p.Unlisted != (p.ID == poolID(7)) {
					t.Errorf("pool %s came back unlisted: %v", p.ID, p.Unlisted)
				}
			}
			if len(rows.Pairs) != market.ListedPools+1 || !slices.Contains(rows.Pairs, market.Pair{ID: address(999), Base: base[0]}) {
				t.Errorf("%d pools with an account are loaded, want the listed ones and the empty pair", len(rows.Pairs))
			}
			now, err := s.Pools.Now(t.Context(), base)
			if err != nil || len(now) != market.ListedPools {
				t.Errorf("%d pools are told, %v; want %d", len(now), err, market.ListedPools)
			}
			for l, err := range s.Tokens.ListingsOf(t.Context(), "base", base) {
				if err != nil || l.LiquidityUSD != 5*market.ListedPools {
					t.Errorf("the search has it with %v USD, %v", l.LiquidityUSD, err)
				}
			}
			db := raw(t, kind, dsn)
			t.Cleanup(func() { _ = db.Close() })
			for name, q := range s.PoolReads("base", address(floodedToken), address(4), address(5)) {
				wantIndexed(t, db, kind, name+", without statistics", q)
			}
			if kind == "postgres" {
				must(t, db, "ANALYZE")
			}
			for name, q := range s.PoolReads("base", address(floodedToken), address(4), address(5)) {
				wantIndexed(t, db, kind, name, q)
			}
		})
	}
}

// wantIndexed sees that a query finds its rows in pools_listed and throws few of them away.
func wantIndexed(t *testing.T, db *sql.DB, kind, name string, q store.PoolRead) {
	t.Helper()
	explain := "EXPLAIN QUERY PLAN "
	if kind == "postgres" {
		explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) "
	}
	text := planOf(t, db, explain+q.Text, q.Args...)
	if !strings.Contains(text, "pools_listed") {
		t.Errorf("%s doesn't go by pools_listed:\n%s", name, text)
	}
	if kind == "sqlite" && !strings.Contains(text, "pools_listed (base=? AND unlisted=?") {
		t.Errorf("%s doesn't search pools_listed by both columns:\n%s", name, text)
	}
	for line := range strings.Lines(text) {
		var removed int
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "Rows Removed by Filter: %d", &removed); err == nil && removed > 2*market.ListedPools {
			t.Errorf("%s reads %d rows for nothing:\n%s", name, removed, text)
		}
	}
}

// planOf is the plan that an EXPLAIN answers, as lines.
func planOf(t *testing.T, db *sql.DB, explain string, args ...any) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), explain, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan []string
	for rows.Next() {
		line := ""
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		values[len(values)-1] = &line
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

// TestMigrationListsPools begins with a database of before pools were listed.
func TestMigrationListsPools(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s := open(t, dsn)
			c := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}}
			add := func(n, base int, p market.Pool) {
				p.ID, p.Factory, p.Token0, p.Token1, p.Base, p.Quote = poolID(n), address(900), address(base), address(2), address(base), address(2)
				c.Changes.Pools = append(c.Changes.Pools, market.Change[market.Address, market.Pool]{Key: p.ID, After: &p})
			}
			one := amount(1)
			wantUnlisted := []int{10, 11}
			add(10, 1, market.Pool{Protocol: market.UniswapV4, SqrtPriceX96: one, Price: 1})
			add(11, 1, market.Pool{Protocol: market.UniswapV2, Reserve0: one})
			add(20, 1, market.Pool{Protocol: market.UniswapV2, Reserve0: one, Reserve1: one})
			add(21, 1, market.Pool{Protocol: market.UniswapV4, Liquidity: one})
			add(22, 1, market.Pool{Protocol: market.UniswapV3})
			c.Changes.Ticks = []market.Change[market.Address, market.TickMap]{{Key: poolID(22), After: &market.TickMap{}}}
			add(23, 1, market.Pool{Protocol: market.UniswapV4, LastTradeAt: 5})
			add(24, 1, market.Pool{Protocol: market.UniswapV2}) // the reference
			add(25, 1, market.Pool{Protocol: market.UniswapV2}) // waits to be it
			add(26, 1, market.Pool{Protocol: market.UniswapV2}) // the launch's
			add(27, 1, market.Pool{Protocol: market.BondingCurve})
			// 70 of a token with liquidity: those that may price it come first, the deepest of them first, but for its reference.
			for n := range 70 {
				p := market.Pool{Protocol: market.UniswapV2, Locked: 1, Depth: float64(n)}
				if n >= 60 {
					p.Untrusted, p.Depth = market.UntrustedHook, 1e6
				}
				add(100+n, 3, p)
			}
			wantUnlisted = append(wantUnlisted, 164, 165, 166, 167, 168, 169) // the untrusted are alike, and go by their ids
			for base, pools := range map[int][2]int{1: {24, 25}, 3: {100, 0}} {
				token := market.Token{Mint: address(base), FirstBlock: 1, Pool: poolID(pools[0])}
				if pools[1] > 0 {
					token.Candidate = poolID(pools[1])
				}
				c.Changes.Tokens = append(c.Changes.Tokens, market.Change[market.Address, market.Token]{Key: token.Mint, After: &token})
			}
			c.Changes.Launches = []market.Change[market.Address, market.Launch]{{Key: address(1), After: &market.Launch{Mint: address(1), Block: 1, Pool: poolID(26)}}}
			c.Changes.Quotes = []market.Change[market.Address, market.QuotePrice]{{Key: address(2), After: &market.QuotePrice{Asset: address(2), USD: 1}}}
			if err := s.Commit(t.Context(), lease(t, s), c); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			db := raw(t, kind, dsn)
			dropJobColumns(t, db)
			dropMembers(t, db)
			for _, q := range []string{
				"DROP INDEX pools_listed", "ALTER TABLE pools DROP COLUMN unlisted", "CREATE INDEX pools_base ON pools (base)",
				"ALTER TABLE blocks DROP COLUMN logs_hash", "DROP TABLE unsure_facts",
				"ALTER TABLE chains DROP COLUMN served", "ALTER TABLE chains DROP COLUMN wanted", "ALTER TABLE chains DROP COLUMN wanted_anew", "ALTER TABLE chains DROP COLUMN followed",
				"ALTER TABLE tokens DROP COLUMN candidate_at", "ALTER TABLE launches DROP COLUMN unvalued", "ALTER TABLE token_metadata DROP COLUMN uri",
				"DROP TABLE holder_recounts", "DROP TABLE endpoint_records", "DROP TABLE waiting_trades", "DELETE FROM goose_db_version WHERE version_id > 7",
			} {
				must(t, db, q)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dsn)
			schema.BuildIndexes(t.Context(), s.Inspect.Database(), slog.New(slog.DiscardHandler))
			w := market.Wanted{ExpireFrom: 1}
			for n := 10; n < 170; n++ {
				w.Pools = append(w.Pools, poolID(n))
			}
			rows, err := s.Load(t.Context(), "base", w)
			if err != nil || len(rows.Pools) != len(c.Changes.Pools) {
				t.Fatalf("%d pools, %v; want %d", len(rows.Pools), err, len(c.Changes.Pools))
			}
			for _, p := range rows.Pools {
				want := slices.ContainsFunc(wantUnlisted, func(n int) bool { return poolID(n) == p.ID })
				if p.Unlisted != want {
					t.Errorf("pool %s is unlisted: %v, want %v", p.ID, p.Unlisted, want)
				}
			}
			if kind == "postgres" {
				db := raw(t, kind, dsn)
				t.Cleanup(func() { _ = db.Close() })
				wantWholeIndex(t, db, "pools_listed", 0)
			}
		})
	}
}

// BenchmarkPoolsOfAToken reads the pools of a token that has 64 listed ones and 20,000 empty ones, for an indexer and for the API. Without
// "unlisted" the empty ones are listed, as all pools were once.
func BenchmarkPoolsOfAToken(b *testing.B) {
	for _, kind := range storetest.Both {
		for _, unlisted := range []bool{false, true} {
			dsn := storetest.DSN(b, kind)
			s, err := store.Open(b.Context(), dsn)
			if err != nil {
				b.Fatal(err)
			}
			l, err := s.Leases.Acquire(b.Context(), "base", "bench", 1<<40)
			if err != nil {
				b.Fatal(err)
			}
			flood(b, s, l, market.ListedPools, 20_000, unlisted)
			base := []market.Address{address(floodedToken)}
			for name, read := range map[string]func(context.Context) error{
				"index": func(ctx context.Context) error {
					_, err := s.Load(ctx, "base", market.Wanted{ExpireFrom: 1, PoolsOf: base})
					return err
				},
				"API": func(ctx context.Context) error {
					_, err := s.Pools.Now(ctx, base)
					return err
				},
			} {
				b.Run(fmt.Sprintf("%s/%s/unlisted=%v", kind, name, unlisted), func(b *testing.B) {
					for b.Loop() {
						if err := read(b.Context()); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// TestAColumnOfALaterVersion has a newer version add a column beneath a writer that doesn't know it, as in a rolling upgrade.
func TestAColumnOfALaterVersion(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s := open(t, dsn)
			l := lease(t, s)
			db := raw(t, kind, dsn)
			must(t, db, "ALTER TABLE pools ADD COLUMN later BOOLEAN NOT NULL DEFAULT FALSE")
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			flood(t, s, l, 1, 200, true)
		})
	}
}

// dropMembers takes the tables of members away, which later versions have.
func dropMembers(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, table := range []string{
		"members", "member_wallets", "wallet_challenges", "kept_answers", "presence", "presence_minutes", "program_leases", "released_handles", "registry_secret",
		"watched_wallets", "wallet_entries", "wallet_fees", "wallet_pasts", "wallet_positions", "wallet_hours", "stream", "calls", "posts", "game_state", "game_days", "game_members", "season_places", "profit_buckets",
	} {
		must(t, db, "DROP TABLE "+table)
	}
	must(t, db, "ALTER TABLE pools DROP COLUMN counts_since")
	must(t, db, "ALTER TABLE pools DROP COLUMN virtual1")
	must(t, db, "ALTER TABLE pools DROP COLUMN window_lower")
	must(t, db, "ALTER TABLE pools DROP COLUMN window_upper")
	must(t, db, "DROP TABLE payments")
	must(t, db, "DROP TABLE commits")
	for _, column := range []string{"funding", "funder", "funded_at", "age", "first_at"} {
		must(t, db, "ALTER TABLE trades DROP COLUMN "+column)
	}
}
