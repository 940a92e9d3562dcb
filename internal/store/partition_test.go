package store_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// blockTime is the time of the nth block of the chains of these tests, which have one every twenty minutes.
func blockTime(n int) int64 { return 1_700_000_000 + int64(n)*1200 }

// commitTrades is a commit of a block with a trade in each of two pools, and candles of three widths.
func commitTrades(n int) *store.Commit {
	h := header(n)
	h.Time = blockTime(n)
	c := &store.Commit{Last: h, Blocks: []market.Header{h}, Undo: true}
	for i := range 2 {
		c.Changes.Trades = append(c.Changes.Trades, market.Trade{
			Block: uint64(n), LogIndex: uint64(i), Time: h.Time, Tx: market.EVMTx(hash(n)), Pool: poolID(i), Base: address(i), Trader: address(9), CloseUSD: float64(n),
		})
		for _, interval := range []int32{60, 300, 3600} {
			k := market.CandleKey{Pool: poolID(i), Interval: interval, Open: h.Time / int64(interval) * int64(interval)}
			c.Changes.Candles = append(c.Changes.Candles, market.Change[market.CandleKey, market.Candle]{
				Key: k, After: &market.Candle{CandleKey: k, Buys: int64(n), LastBlock: uint64(n)},
			})
		}
	}
	return c
}

func commitUpTo(t *testing.T, s *store.Store, l *store.Lease, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		err := s.Commit(t.Context(), l, commitTrades(n))
		for tries := 0; errors.Is(err, database.ErrInterrupted) && tries < 100; tries++ { // as an indexer does
			time.Sleep(20 * time.Millisecond)
			err = s.Commit(t.Context(), l, commitTrades(n))
		}
		if err != nil {
			t.Fatalf("block %d: %v", n, err)
		}
	}
}

// onPostgres opens a new database, as a store and as it is.
func onPostgres(t *testing.T) (*store.Store, *sql.DB) {
	t.Helper()
	dsn := storetest.DSN(t, "postgres")
	db := raw(t, "postgres", dsn)
	t.Cleanup(func() { _ = db.Close() })
	return storetest.OpenAt(t, dsn), db
}

// split closes the newest partitions, whatever their size.
func split(t *testing.T, s *store.Store) {
	t.Helper()
	if err := schema.SplitLarge(t.Context(), s.Inspect.Database(), slog.New(slog.NewTextHandler(t.Output(), nil)), 1); err != nil {
		t.Error(err)
	}
}

// sizes are the bytes of rows by table, of those whose names match.
func sizes(t *testing.T, db *sql.DB, names string) map[string]int64 {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]int64{}
	for rows.Next() {
		var name string
		var bytes int64
		if err := rows.Scan(&name, &bytes); err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile("^(" + names + ")$").MatchString(name) {
			out[name] = bytes
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func wantSameRows(t *testing.T, when string, split, whole *store.Store) {
	t.Helper()
	got, want := derivedRows(t, split), derivedRows(t, whole)
	for table := range want {
		if !slices.Equal(got[table], want[table]) {
			t.Errorf("%s: %d rows of %s, want %d", when, len(got[table]), table, len(want[table]))
		}
	}
	for i := range 2 {
		a, err := split.Trades.Of(t.Context(), "base", poolID(i), 0, math.MaxInt64, math.MaxInt32)
		b, err2 := whole.Trades.Of(t.Context(), "base", poolID(i), 0, math.MaxInt64, math.MaxInt32)
		if err != nil || err2 != nil || !slices.Equal(a, b) {
			t.Errorf("%s: %d trades of a pool, want %d: %v, %v", when, len(a), len(b), err, err2)
		}
		for _, interval := range []int32{60, 300, 3600} {
			a, err := split.Inspect.Candles(t.Context(), "base", poolID(i), interval, 0, math.MaxInt64)
			b, err2 := whole.Inspect.Candles(t.Context(), "base", poolID(i), interval, 0, math.MaxInt64)
			if err != nil || err2 != nil || !slices.Equal(a, b) {
				t.Errorf("%s: %d candles of %d s, want %d: %v, %v", when, len(a), interval, len(b), err, err2)
			}
		}
	}
}

// TestSplitByTime has a chain's tables split as they grow, taken back over the bounds, pruned and purged. They have the rows of tables that are
// whole.
func TestSplitByTime(t *testing.T) {
	t.Parallel()
	s, db := onPostgres(t)
	whole := storetest.Open(t, "sqlite")
	l, lw := lease(t, s), lease(t, whole)
	both := func(from, to int) {
		commitUpTo(t, s, l, from, to)
		commitUpTo(t, whole, lw, from, to)
	}
	both(1, 10)
	split(t, s)
	wantSameRows(t, "split once", s, whole)
	both(11, 30) // beyond the first bound
	split(t, s)
	both(31, 70)
	split(t, s)
	both(71, 75)
	wantSameRows(t, "split three times", s, whole)
	for names, want := range map[string]int{`trades_base.*`: 4, `candles_base.*`: 7} {
		if got := sizes(t, db, names); len(got) != want {
			t.Errorf("partitions %v, want %d", got, want)
		}
	}
	wantWholeIndex(t, db, "trades_trader", 1)
	// The index's size is that of all its partitions.
	if size, err := s.Indexes.Size(t.Context(), "base"); err != nil || size.Bytes < 200_000 {
		t.Errorf("the index takes %d bytes, %v", size.Bytes, err)
	}

	// Over a bound back, and on again.
	for st, lease := range map[*store.Store]*store.Lease{s: l, whole: lw} {
		if _, err := st.Rewind(t.Context(), lease, 20); err != nil {
			t.Fatal(err)
		}
	}
	wantSameRows(t, "after a reorg", s, whole)
	both(21, 75)

	// The first partition can go whole, a part of the second one row by row.
	prune := store.Pruning{TradesBefore: blockTime(30), MinutesBefore: blockTime(60), Final: 70}
	for st, lease := range map[*store.Store]*store.Lease{s: l, whole: lw} {
		for more := true; more; {
			var err error
			if more, err = st.Upkeep.Prune(t.Context(), lease, prune); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantSameRows(t, "pruned", s, whole)
	var empty int
	for name, bytes := range sizes(t, db, `trades_base\$.*|candles_base\$[0-9]*_minutes`) {
		if bytes == 0 {
			empty++
			t.Logf("%s is empty", name)
		}
	}
	if empty < 2 {
		t.Errorf("%d partitions are empty; want one of trades and one of minutes", empty)
	}
	// A row of a time whose partition was emptied can still be written.
	late := commitTrades(76)
	late.Changes.Trades = append(late.Changes.Trades, commitTrades(2).Changes.Trades...)
	late.Changes.Candles = append(late.Changes.Candles, commitTrades(2).Changes.Candles...)
	if err := s.Commit(t.Context(), l, late); err != nil {
		t.Errorf("a trade of long ago: %v", err)
	}
	if _, err := s.Rewind(t.Context(), l, 75); err != nil {
		t.Error(err)
	}

	if _, err := db.ExecContext(t.Context(), "UPDATE chains SET served = FALSE"); err != nil {
		t.Fatal(err)
	}
	purge(t, s, l)
	if left := sizes(t, db, `(trades|candles|balances)_base.*`); len(left) != 0 {
		t.Errorf("after the purge there are %v", left)
	}
}

// TestEmptyPartitionsAreJoined has two partitions emptied, and one partition in their place then, which takes what comes late; one that has a row stays.
func TestEmptyPartitionsAreJoined(t *testing.T) {
	t.Parallel()
	s, db := onPostgres(t)
	l := lease(t, s)
	ends := []int{10, 30, 70, 110}
	from := 1
	for _, to := range ends {
		commitUpTo(t, s, l, from, to)
		split(t, s)
		from = to + 1
	}
	commitUpTo(t, s, l, from, 160)
	before := len(sizes(t, db, `trades_base.*`))
	prune := func(p store.Pruning) {
		for more := true; more; {
			var err error
			if more, err = s.Upkeep.Prune(t.Context(), l, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	prune(store.Pruning{TradesBefore: blockTime(31), Final: 160})
	split(t, s)
	if got := len(sizes(t, db, `trades_base.*`)); got != before+1 { // the newest was split
		t.Errorf("with one empty partition there are %d of trades, want %d", got, before+1)
	}
	prune(store.Pruning{TradesBefore: blockTime(150), Final: 160})
	split(t, s)
	after := sizes(t, db, `trades_base.*`)
	if len(after) >= before {
		t.Errorf("with all but the newest empty there are the partitions %v", after)
	}
	if bytes, there := after["trades_base$first"]; !there || bytes != 0 {
		t.Errorf("of the partitions %v there is no empty one for all times before", after)
	}
	late := commitTrades(161)
	late.Changes.Trades = append(late.Changes.Trades, commitTrades(2).Changes.Trades...)
	if err := s.Commit(t.Context(), l, late); err != nil {
		t.Errorf("a trade of long ago: %v", err)
	}
	split(t, s)
	trades, err := s.Trades.Of(t.Context(), "base", poolID(1), 0, math.MaxInt64, 1000)
	if err != nil || len(trades) != 13 || trades[0].Block != 2 {
		t.Errorf("%d trades of a pool, the first of block %d, %v; want that of block 2 and those from block 150 on", len(trades), trades[0].Block, err)
	}
	wantWholeIndex(t, db, "trades_key", 1)
}

// TestOnlyFinalPartitionsAreEmptied keeps what is old enough and not final.
func TestOnlyFinalPartitionsAreEmptied(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, "postgres")
	l := lease(t, s)
	commitUpTo(t, s, l, 1, 10)
	split(t, s)
	commitUpTo(t, s, l, 11, 30)
	for more := true; more; {
		var err error
		if more, err = s.Upkeep.Prune(t.Context(), l, store.Pruning{TradesBefore: blockTime(29), Final: 5}); err != nil {
			t.Fatal(err)
		}
	}
	if trades, err := s.Inspect.Trades(t.Context(), "base", 0, 0); err != nil || trades[0].Block != 6 {
		t.Errorf("the oldest trade is of block %d, %v; want 6, the first that isn't final", trades[0].Block, err)
	}
}

// TestSplitBesideTheWork splits tables while one chain commits and rewinds and others read: nothing fails, and nothing is missing.
func TestSplitBesideTheWork(t *testing.T) {
	t.Parallel()
	s, whole := storetest.Open(t, "postgres"), storetest.Open(t, "sqlite")
	l, lw := lease(t, s), lease(t, whole)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read := make(chan error)
	go func() {
		var failed error
		for ctx.Err() == nil && failed == nil {
			if _, err := s.Trades.Of(ctx, "base", poolID(1), 0, math.MaxInt64, 1000); err != nil && ctx.Err() == nil {
				failed = err
			}
		}
		read <- failed
	}()
	var rounds atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			err := schema.SplitLarge(ctx, s.Inspect.Database(), slog.New(slog.DiscardHandler), 1)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				t.Errorf("split %d: %v", rounds.Load(), err)
			}
			rounds.Add(1)
		}
	}()
	// The commits go on until three rounds of splitting have ended beside them, however long a round takes.
	blocks := 0
	for blocks < 150 || rounds.Load() < 3 {
		blocks++
		n := blocks
		commitUpTo(t, s, l, n, n)
		if n%40 == 0 {
			if _, err := s.Rewind(ctx, l, uint64(n-3)); err != nil {
				t.Fatal(err)
			}
			commitUpTo(t, s, l, n-2, n)
		}
	}
	cancel()
	if err := <-read; err != nil {
		t.Errorf("a reader failed: %v", err)
	}
	<-ended
	commitUpTo(t, whole, lw, 1, blocks)
	wantSameRows(t, "split beside the work", s, whole)
}

// TestSplitWaitsForAReader has a reader in the middle of a transaction: the split waits for it, but nobody else waits behind the split.
func TestSplitWaitsForAReader(t *testing.T) {
	t.Parallel()
	s, db := onPostgres(t)
	l := lease(t, s)
	commitUpTo(t, s, l, 1, 5)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT count(*) FROM trades"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		split(t, s)
	}()
	// Each commit would wait until its deadline if the split kept others out while it waits for the reader.
	for n := 6; n <= 30; n++ {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		c := commitTrades(n)
		c.Last.Time = blockTime(5) // before the bound
		for i := range c.Changes.Trades {
			c.Changes.Trades[i].Time = c.Last.Time
		}
		c.Changes.Candles = commitTrades(5).Changes.Candles
		if err := s.Commit(ctx, l, c); err != nil {
			t.Fatal(err)
		}
		cancel()
		select {
		case <-done:
			t.Fatal("the split didn't wait for the reader")
		case <-time.After(20 * time.Millisecond):
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	<-done
	if got := sizes(t, db, `trades_base.*`); len(got) != 2 {
		t.Errorf("partitions %v", got)
	}
}

// TestASplitThatIsCutOff ends a program while its split waits for a reader of another chain: the bound is gone at once.
func TestASplitThatIsCutOff(t *testing.T) {
	t.Parallel()
	s, db := onPostgres(t)
	l := lease(t, s)
	if _, err := s.Leases.Acquire(t.Context(), "bsc", "test", time.Minute); err != nil {
		t.Fatal(err)
	}
	commitUpTo(t, s, l, 1, 5)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "SELECT count(*) FROM trades WHERE chain = 'bsc'"); err != nil {
		t.Fatal(err)
	}
	bounds := func() (n int) {
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_constraint WHERE conname = 'closing'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() { done <- schema.SplitLarge(ctx, s.Inspect.Database(), slog.New(slog.DiscardHandler), 1) }()
	for bounds() == 0 {
		select {
		case err := <-done:
			t.Fatalf("the split didn't wait for the reader: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the split ended with %v", err)
	}
	if n := bounds(); n != 0 {
		t.Errorf("%d bounds are left", n)
	}
}

// TestBoundsAreNear splits tables whose first trade is three years old. A table ends about a day after the clock. Where the chain is years behind it ends
// long before that. Where the last block is hours in the future it gets no end.
func TestBoundsAreNear(t *testing.T) {
	t.Parallel()
	const year = 365 * 86400
	now := time.Now().Unix()
	for _, tt := range []struct {
		name               string
		last               int64
		earliest, farthest int64
	}{
		{"at the head", now, now + 86400, now + 86400 + 2*3600},
		{"a day behind", now - 86400, now + 86400, now + 86400 + 2*3600},
		{"two years behind", now - 2*year, now - 2*year + year/4 - 3600, now - 2*year + year/4 + 2*3600},
		{"an hour ahead of the clock", now + 3500, now + 86400, now + 86400 + 2*3600},
		{"ahead of the clock", now + 3*3600, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, db := onPostgres(t)
			l := lease(t, s)
			for n, at := range []int64{now - 3*year, tt.last} {
				c := commitTrades(n + 1)
				c.Last.Time = at
				for i := range c.Changes.Trades {
					c.Changes.Trades[i].Time = at
				}
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
			}
			split(t, s)
			var until int64
			err := db.QueryRowContext(t.Context(), `SELECT COALESCE((SELECT (regexp_match(pg_get_expr(relpartbound, oid), 'TO \(''(\d+)''\)'))[1]::bigint
				FROM pg_class WHERE relname = 'trades_base$first'), 0)`).Scan(&until)
			if err != nil || until < tt.earliest || until > tt.farthest {
				t.Errorf("it ends at %d, %v; want %d to %d", until, err, tt.earliest, tt.farthest)
			}
		})
	}
}

// TestAnUnfinishedSplit has what a process leaves that ends in the middle of a split: a bound that later rows would break.
func TestAnUnfinishedSplit(t *testing.T) {
	t.Parallel()
	s, db := onPostgres(t)
	l := lease(t, s)
	commitUpTo(t, s, l, 1, 5)
	must(t, db, "ALTER TABLE trades_base ADD CONSTRAINT closing CHECK (chain = 'base' AND time < 1700006001) NOT VALID")
	if err := s.Commit(t.Context(), l, commitTrades(6)); !errors.Is(err, database.ErrInterrupted) {
		t.Fatalf("a block beyond the bound: %v; want it to be tried again", err)
	}
	if err := schema.SplitLarge(t.Context(), s.Inspect.Database(), slog.New(slog.DiscardHandler), 1<<40); err != nil {
		t.Fatal(err)
	}
	commitUpTo(t, s, l, 6, 10)
}

// TestAnEarlierDatabaseIsSplit has tables as they were when the key of trades had no time, with rows of two chains in them.
func TestAnEarlierDatabaseIsSplit(t *testing.T) {
	t.Parallel()
	dsn, db := earlier(t)
	must(t, db, "ALTER TABLE trades ADD CONSTRAINT trades_pkey PRIMARY KEY (chain, block, log_index)")
	must(t, db, "DROP INDEX trades_key")
	must(t, db, "UPDATE chains SET number = 500, block_time = 500")
	// A binary of before writes while the key is built, and after.
	const insert = `INSERT INTO trades (chain, block, log_index, pool, time, trader, sell, base, base_amount, quote_amount, close_usd, close_native, tx)
		VALUES ('base', $1, 1, '\x01', $1, '\x00', false, '\x02', '\x03', '\x04', 5, 5, '\x06')`
	s := open(t, dsn)
	done := make(chan struct{})
	go func() {
		defer close(done)
		schema.BuildIndexes(t.Context(), s.Inspect.Database(), slog.New(slog.DiscardHandler))
		split(t, s)
	}()
	const bound = 7200 // at which the newest partition is to end: the first full hour that is more than an hour after the chain's last block
	n := 501
	for busy := true; busy; n++ {
		if n == bound-1 {
			<-done
		}
		if _, err := db.ExecContext(t.Context(), insert, n); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			busy = false
		default:
		}
	}
	wantWholeIndex(t, db, "trades_key", 2)
	var keys, rows int
	err := db.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM pg_constraint WHERE conname = 'trades_pkey'), (SELECT count(*) FROM trades)").Scan(&keys, &rows)
	if err != nil || keys != 0 || rows != 1000+n-501 {
		t.Errorf("%d former keys, %d rows, %v; want 0 and %d", keys, rows, err, 1000+n-501)
	}
	if got := sizes(t, db, `trades_(base|bsc).*`); len(got) != 4 {
		t.Errorf("partitions %v, want two for each chain", got)
	}
	if _, err := db.ExecContext(t.Context(), insert, n-1); err == nil {
		t.Error("a trade can be there twice")
	}
	must(t, db, "DELETE FROM trades WHERE (chain, block, log_index) IN (VALUES ('base', 7, 0), ('bsc', 8, 0))") // as a rewind does
}

// TestVacuumSettings sees that tables and partitions get theirs, and an operator's stay; and that rows of trades can be published.
func TestVacuumSettings(t *testing.T) {
	t.Parallel()
	s, db := onPostgres(t)
	l := lease(t, s)
	must(t, db, "ALTER TABLE pools SET (autovacuum_vacuum_scale_factor = 0.5)")
	must(t, db, "ALTER TABLE launches SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)") // as a former version did
	commitUpTo(t, s, l, 1, 5)
	split(t, s)
	split(t, s) // the newest partition is there by now
	for table, want := range map[string]string{
		"tokens": "0.02", "pools": "0.5", "undo": "0", "balances_base": "0.02", "candles_base$first": "0.02", "trades_base$first": "",
	} {
		var got string
		err := db.QueryRowContext(t.Context(), `SELECT COALESCE((SELECT option_value FROM pg_class c, pg_options_to_table(c.reloptions)
			WHERE c.relname = $1 AND option_name = 'autovacuum_vacuum_scale_factor'), '')`, table).Scan(&got)
		if err != nil || got != want {
			t.Errorf("%s is vacuumed at a part of %q, %v; want %q", table, got, err, want)
		}
	}
	var filled string
	err := db.QueryRowContext(t.Context(), `SELECT string_agg(c.relname || ' ' || option_value, ', ' ORDER BY c.relname)
		FROM pg_class c, pg_options_to_table(c.reloptions) WHERE option_name = 'fillfactor'`).Scan(&filled)
	if want := "launches 90, tokens 90"; err != nil || filled != want {
		t.Errorf("pages are filled to %q, %v; want %q", filled, err, want)
	}
	var published int
	err = db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid
		WHERE c.relname LIKE 'trades\_base%' AND c.relkind = 'r' AND c.relreplident = 'i' AND i.indisreplident`).Scan(&published)
	if err != nil || published != 2 {
		t.Errorf("%d partitions of trades say how rows are told apart, %v; want 2", published, err)
	}
}
