package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// In PostgreSQL each index of a chain has its own partition of the big tables. That of a timed table is one table at first. Once it is large it
// is given an end, a full hour of the next day or so, and another table has the rows from that hour on; later that one is split in the same way. Years are
// many tables of days or weeks then: the ones that are written fit into memory, the others are hardly ever vacuumed again, and one that is no longer kept gives its disk back.
// docs/adr/0020 has the reasons.
//
//	trades                            by index
//	├── trades_base                   by time
//	│   ├── trades_base$first         until 2026-11-26 03:00
//	│   └── trades_base$2026112603    from then on
//	└── trades_bsc                    one table yet
//
// Candles of a minute have tables of their own within each time after the first: retention may end earlier for them.

// Partitioned are the tables that have a partition for each index in PostgreSQL.
var Partitioned = []string{"trades", "candles", "balances"}

// timed lists the tables that are split by time, each with the column that has the time (unix seconds).
var timed = []struct{ table, column string }{{"trades", "time"}, {"candles", "open_at"}}

// PartitionOf names an index's partition of a table.
func PartitionOf(table, index string) string {
	return table + "_" + strings.ReplaceAll(index, "-", "_")
}

// Partition makes an index's partitions of the big tables.
func Partition(ctx context.Context, s *database.DB, index string) error {
	if !s.IsPostgres() {
		return nil
	}
	for _, t := range Partitioned {
		q := s.Write.NewRaw("CREATE TABLE IF NOT EXISTS ? PARTITION OF "+t+" FOR VALUES IN (?)", bun.Ident(PartitionOf(t, index)), index)
		_, err := q.Exec(ctx)
		if isMadeMeanwhile(err) {
			_, err = q.Exec(ctx)
		}
		if err != nil {
			return fmt.Errorf("database: make chain %s's part of %s: %w", index, t, err)
		}
	}
	return nil
}

// isMadeMeanwhile reports whether another process has made the same table meanwhile: IF NOT EXISTS looks before it waits for the other one.
func isMadeMeanwhile(err error) bool {
	const duplicateTable, uniqueViolation = "42P07", "23505"
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (refusal.Code == duplicateTable || refusal.Code == uniqueViolation)
}

const (
	// partitionBytes is how large the newest partition of an index's table grows, with its indexes, before it is closed: about 20 million trades.
	partitionBytes = 8 << 30
	// partitionPause is the time between two looks at how large they are, and failedPause that after one that failed: it may have read all of a table.
	partitionPause, failedPause = time.Minute, 30 * time.Minute
	// briefLock is how long what changes partitions waits for a lock that keeps others out, and they behind it.
	briefLock = 200 * time.Millisecond
	// reopenTime bounds the way back from a split that failed.
	reopenTime = 15 * time.Second
	// upgradeTime is how long a program runs before it drops the indexes that the version before asks: while programs are replaced one by one, some are of that version.
	upgradeTime = time.Hour
	// lockTries is how often a lock is asked for, with a second between.
	lockTries = 300
)

// Maintain looks after a PostgreSQL database while others read and write it, until ctx ends: it builds the indexes that are missing, has tables
// vacuumed as they are used, and splits by time what has grown. Of several programs one does it.
func Maintain(ctx context.Context, s *database.DB, log *slog.Logger) {
	if !s.IsPostgres() {
		return
	}
	// A program that was ended in a split may have left a bound. It has to be gone before the chain reaches it, and an index may take hours to build.
	if err := alone(ctx, s, func(*pgx.Conn) error { return reopen(ctx, s.Write) }); err != nil && !errors.Is(err, errOthersBuild) && ctx.Err() == nil {
		log.WarnContext(ctx, "a bound that an earlier split left is still there", "err", err.Error())
	}
	BuildIndexes(ctx, s, log)
	replaced := time.NewTimer(upgradeTime)
	defer replaced.Stop()
	for ctx.Err() == nil {
		pause := partitionPause
		if err := SplitLarge(ctx, s, log, partitionBytes); err != nil && ctx.Err() == nil {
			pause = failedPause
			log.WarnContext(ctx, "large tables are not split by time yet", "retry_in", pause.String(), "err", err.Error())
		}
		select {
		case <-replaced.C:
			if err := DropUnused(ctx, s, log); err != nil {
				replaced.Reset(pause)
				if ctx.Err() == nil && !errors.Is(err, errOthersBuild) {
					log.WarnContext(ctx, "an index that nobody asks any more is still there", "retry_in", pause.String(), "err", err.Error())
				}
			}
		default:
		}
		wait.For(ctx, pause)
	}
}

// SplitLarge has tables vacuumed as they are used, and closes the newest partitions that take limit bytes. It does nothing where another process
// is at it.
func SplitLarge(ctx context.Context, s *database.DB, log *slog.Logger, limit int64) error {
	err := alone(ctx, s, func(conn *pgx.Conn) error {
		return partitioner{conn: conn, db: s.Write, log: log}.splitLarge(ctx, limit)
	})
	if errors.Is(err, errOthersBuild) {
		return nil
	}
	return err
}

// partitioner changes partitions over a connection whose statements take as long as they take, and asks for them over others.
type partitioner struct {
	conn *pgx.Conn
	db   *bun.DB
	log  *slog.Logger
}

func (p partitioner) splitLarge(ctx context.Context, limit int64) error {
	if err := reopen(ctx, p.db); err != nil {
		return fmt.Errorf("database: open what was being closed: %w", err)
	}
	if err := p.tune(ctx); err != nil {
		return fmt.Errorf("database: set when tables are vacuumed: %w", err)
	}
	var indexes []string
	if err := p.db.NewRaw("SELECT id FROM chains ORDER BY id").Scan(ctx, &indexes); err != nil {
		return fmt.Errorf("database: list the indexes: %w", err)
	}
	var errs []error
	for _, index := range indexes {
		for _, t := range timed {
			if err := p.closeIfLarge(ctx, t.table, t.column, index, limit); err != nil {
				errs = append(errs, fmt.Errorf("database: split %s: %w", PartitionOf(t.table, index), err))
			}
		}
		if err := p.joinEmpty(ctx, PartitionOf("trades", index)); err != nil {
			errs = append(errs, fmt.Errorf("database: join the empty partitions of %s: %w", PartitionOf("trades", index), err))
		}
	}
	return errors.Join(errs...)
}

// reopen removes the constraints that closing names, where a split didn't end: no row beyond them could be written. It goes over connections of the pool,
// for the one of a split is closed when its context ends.
func reopen(ctx context.Context, db *bun.DB) error {
	ctx, cancel := context.WithTimeout(ctx, reopenTime)
	defer cancel()
	var left []string
	err := db.NewRaw("SELECT c.relname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace "+
		"WHERE k.conname = ? AND k.coninhcount = 0 AND n.nspname = current_schema()", database.Closing).Scan(ctx, &left)
	if err != nil {
		return err
	}
	for _, table := range left {
		for {
			err := db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
				_, err := tx.NewRaw(SetBriefLock+"; ALTER TABLE ? DROP CONSTRAINT IF EXISTS ?", bun.Ident(table), bun.Ident(database.Closing)).Exec(ctx)
				return err
			})
			if err == nil {
				break
			}
			if !isLocked(err) || !wait.For(ctx, time.Second) {
				return err
			}
		}
	}
	return nil
}

// newest is the partition of an index's table that takes what comes.
type newest struct {
	table, column, index string
	name                 string
	// sole says that the index has no other partition: its name is the one of PartitionOf.
	sole bool
	// from is the time from which on it has rows; 0 if it has all of before.
	from int64
	// bytes is how large it is, with its indexes.
	bytes int64
}

// boundsOf finds the bounds of a partition by time in its expression; MINVALUE and MAXVALUE have no digits.
var boundsOf = regexp.MustCompile(`^FOR VALUES FROM \('?(-?\d+|MINVALUE)'?\) TO \('?(-?\d+|MAXVALUE)'?\)$`)

func (p partitioner) newestOf(ctx context.Context, table, column, index string) (n newest, ok bool, err error) {
	n = newest{table: table, column: column, index: index, name: PartitionOf(table, index), sole: true}
	var kind string
	err = p.conn.QueryRow(ctx, "SELECT COALESCE((SELECT relkind::text FROM pg_class WHERE oid = to_regclass($1)), '')", database.Ident(n.name)).Scan(&kind)
	if err != nil || kind != "p" {
		return n, kind == "r", err
	}
	all, err := TimedPartitions(ctx, p.db, n.name)
	for _, t := range all {
		if t.Until == 0 {
			return newest{table: table, column: column, index: index, name: t.Name, from: t.from}, true, err
		}
	}
	return n, false, err
}

// TimedPartition is a partition by time: it has the rows of [from, until), unix seconds; 0 is no bound.
type TimedPartition struct {
	Name        string
	from, Until int64
}

// TimedPartitions lists the partitions by time of a table; it has none where it is one table yet.
func TimedPartitions(ctx context.Context, db bun.IDB, table string) ([]TimedPartition, error) {
	var rows []struct{ Name, Bounds string }
	err := db.NewRaw("SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid "+
		"WHERE h.inhparent = to_regclass(?)", database.Ident(table)).Scan(ctx, &rows)
	if err != nil {
		return nil, err
	}
	list := make([]TimedPartition, len(rows))
	for i, r := range rows {
		m := boundsOf.FindStringSubmatch(r.Bounds)
		if m == nil {
			return nil, fmt.Errorf("partition %s has the bounds %q", r.Name, r.Bounds)
		}
		list[i].Name = r.Name
		list[i].from, _ = strconv.ParseInt(m[1], 10, 64)
		list[i].Until, _ = strconv.ParseInt(m[2], 10, 64)
	}
	return list, nil
}

func (p partitioner) closeIfLarge(ctx context.Context, table, column, index string, limit int64) error {
	n, ok, err := p.newestOf(ctx, table, column, index)
	if err != nil || !ok {
		return err
	}
	var bytes int64
	err = p.conn.QueryRow(ctx, "SELECT COALESCE(sum(pg_total_relation_size(relid)), 0)::bigint FROM pg_partition_tree(to_regclass($1))", database.Ident(n.name)).Scan(&bytes)
	if err != nil || bytes < limit {
		return err
	}
	n.bytes = bytes
	return p.close(ctx, n)
}

// close gives a partition an end ahead, and makes the next one. Others wait for its locks for a moment at most.
func (p partitioner) close(ctx context.Context, n newest) error {
	first, ok, err := p.oldest(ctx, n)
	if err != nil || !ok {
		return err
	}
	var until int64
	err = p.briefly(ctx, func(tx pgx.Tx) (err error) {
		until, err = n.bound(ctx, tx, first)
		return err
	})
	if err != nil || until == 0 {
		return err
	}
	p.log.InfoContext(ctx, "splitting a table by time beside the work", "table", n.name, "until", time.Unix(until, 0).UTC().Format(time.RFC3339))
	table := database.Ident(n.name)
	// A vacuum that lasts would have it wait until the bound is reached: then it is closed another time.
	err = pgx.BeginFunc(ctx, p.conn, execute(ctx, "SET LOCAL lock_timeout = '10s'", "SET LOCAL statement_timeout = '10h'",
		"ALTER TABLE "+table+" VALIDATE CONSTRAINT "+database.Closing))
	if err == nil {
		// The first lock keeps nobody out, and ends a vacuum that it has to wait for.
		swap := append([]string{"SET LOCAL lock_timeout = '10s'", "LOCK TABLE " + table + " IN SHARE UPDATE EXCLUSIVE MODE", SetBriefLock}, n.swap(until)...)
		err = p.briefly(ctx, execute(ctx, swap...))
	}
	if err != nil {
		return errors.Join(err, reopen(context.WithoutCancel(ctx), p.db))
	}
	return nil
}

// oldest is the time of a partition's first row, by the indexes that there are: trades are in the order of their blocks, and each candle of a pool
// is within some of a minute.
func (p partitioner) oldest(ctx context.Context, n newest) (first int64, ok bool, err error) {
	if n.from != 0 {
		return n.from, true, nil
	}
	q := "SELECT time FROM " + database.Ident(n.name) + " ORDER BY chain, block LIMIT 1"
	if n.table == "candles" {
		q = "SELECT open_at FROM " + database.Ident(n.name) + " WHERE interval_s = 60 ORDER BY chain, open_at LIMIT 1"
	}
	err = p.conn.QueryRow(ctx, q).Scan(&first)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return first, err == nil, err
}

// bound adds the constraint that closing names: the full hour at which the partition is to end. That is a day after the clock, and four times what reading
// the partition takes at 200 MB a second. A chain that is behind comes to it sooner, for the blocks of a year may come within a day: there it is a quarter
// of the partition's time after the last block. It is 0 where the chain's last block is before the partition's begin, or more than an hour in the future.
func (n newest) bound(ctx context.Context, tx pgx.Tx, first int64) (until int64, err error) {
	// No row is written from here on, and none of those that are is beyond the chain's last block.
	if _, err := tx.Exec(ctx, "LOCK TABLE "+database.Ident(n.name)+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		return 0, err
	}
	var last, clock int64
	err = tx.QueryRow(ctx, "SELECT block_time, extract(epoch FROM clock_timestamp())::bigint FROM chains WHERE id = $1", n.index).Scan(&last, &clock)
	if err != nil || last < first || last > clock+3600 {
		return 0, err
	}
	const hour, day = 3600, 86400
	until = clock + day + n.bytes/50_000_000
	if last < clock-hour {
		until = min(until, last+max(hour, (last-first)/4))
	}
	until = until/hour*hour + hour
	check := fmt.Sprintf("chain = %s AND %s < %d", database.Literal(n.index), n.column, until)
	if n.from != 0 {
		check += fmt.Sprintf(" AND %s >= %d", n.column, n.from)
	}
	_, err = tx.Exec(ctx, "ALTER TABLE "+database.Ident(n.name)+" ADD CONSTRAINT "+database.Closing+" CHECK ("+check+") NOT VALID")
	return until, err
}

// swap are the statements that give a partition its end, and make the next one.
func (n newest) swap(until int64) []string {
	sole := PartitionOf(n.table, n.index)
	name, from := n.name, "MINVALUE"
	var s []string
	if n.sole {
		name = sole + firstOnly
		s = append(s,
			"ALTER TABLE "+n.table+" DETACH PARTITION "+database.Ident(sole),
			"ALTER TABLE "+database.Ident(sole)+" RENAME TO "+database.Ident(name),
			"CREATE TABLE "+database.Ident(sole)+" PARTITION OF "+n.table+" FOR VALUES IN ("+database.Literal(n.index)+") PARTITION BY RANGE ("+n.column+")")
	} else {
		s = append(s, "ALTER TABLE "+database.Ident(sole)+" DETACH PARTITION "+database.Ident(name))
	}
	if n.from != 0 {
		from = strconv.FormatInt(n.from, 10)
	}
	s = append(s,
		fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%d)", database.Ident(sole), database.Ident(name), from, until),
		"ALTER TABLE "+database.Ident(name)+" DROP CONSTRAINT "+database.Closing)
	next := sole + "$" + time.Unix(until, 0).UTC().Format("2006010215")
	create := fmt.Sprintf("CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (%d) TO (MAXVALUE)", database.Ident(next), database.Ident(sole), until)
	if n.table != "candles" {
		return append(s, create)
	}
	return append(s, create+" PARTITION BY RANGE (interval_s)",
		"CREATE TABLE "+database.Ident(next+MinutesOnly)+" PARTITION OF "+database.Ident(next)+" FOR VALUES FROM (MINVALUE) TO (61)",
		"CREATE TABLE "+database.Ident(next+"_wider")+" PARTITION OF "+database.Ident(next)+" FOR VALUES FROM (61) TO (MAXVALUE)")
}

// firstOnly ends the name of the partition whose time has no begin.
const firstOnly = "$first"

// MinutesOnly ends the name of a partition of candles of a minute alone.
const MinutesOnly = "_minutes"

// joinedAtOnce bounds the partitions of one join, each of which others wait for.
const joinedAtOnce = 8

// joinEmpty makes one partition of a table's oldest ones that have no rows any more. A query without a time looks into each partition, and after years most
// would be empty; what comes late for their time has its place in the one.
func (p partitioner) joinEmpty(ctx context.Context, table string) error {
	all, err := TimedPartitions(ctx, p.db, table)
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b TimedPartition) int { return cmp.Compare(a.from, b.from) })
	var names []string
	var until int64
	for _, t := range all {
		var bytes int64 // of a table that a purge has just dropped, as if it had rows
		if err := p.db.NewRaw("SELECT COALESCE(pg_relation_size(to_regclass(?)), 1)", database.Ident(t.Name)).Scan(ctx, &bytes); err != nil {
			return err
		}
		if t.Until == 0 || bytes > 0 || len(names) == joinedAtOnce {
			break
		}
		names, until = append(names, database.Ident(t.Name)), t.Until
	}
	if len(names) < 2 {
		return nil
	}
	err = p.atOnce(ctx, func(tx pgx.Tx) error {
		// The parent comes first, as it does for whoever reads and writes: else each would hold what the other waits for.
		if err := execute(ctx, "LOCK TABLE ONLY "+database.Ident(table))(tx); err != nil {
			return err
		}
		for _, name := range names {
			var filled bool
			if err := execute(ctx, "LOCK TABLE "+name)(tx); err != nil {
				return err
			}
			if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+name+")").Scan(&filled); err != nil || filled {
				return err
			}
		}
		return execute(ctx, "DROP TABLE "+strings.Join(names, ", "),
			fmt.Sprintf("CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (MINVALUE) TO (%d)", database.Ident(table+firstOnly), database.Ident(table), until))(tx)
	})
	if isLocked(err) { // somebody reads from one of them: the next look tries again
		return nil
	}
	return err
}

// briefly runs f in a transaction that keeps others out, as soon as its locks are to be had at once: whoever comes behind one that waits for a lock
// waits, too.
func (p partitioner) briefly(ctx context.Context, f func(pgx.Tx) error) error {
	for try := 1; ; try++ {
		err := p.atOnce(ctx, f)
		if try == lockTries || !isLocked(err) {
			return err
		}
		if !wait.For(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

func (p partitioner) atOnce(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, p.conn, func(tx pgx.Tx) error {
		if err := execute(ctx, SetBriefLock, "SET LOCAL statement_timeout = '15s'")(tx); err != nil {
			return err
		}
		return f(tx)
	})
}

// execute runs statements.
func execute(ctx context.Context, statements ...string) func(pgx.Tx) error {
	return func(tx pgx.Tx) error {
		for _, q := range statements {
			if _, err := tx.Exec(ctx, q); err != nil {
				return err
			}
		}
		return nil
	}
}

// SetBriefLock has a transaction wait for locks no longer than briefLock.
var SetBriefLock = fmt.Sprintf("SET LOCAL lock_timeout = %d", briefLock.Milliseconds())

// isLocked says of an error that a lock wasn't free in time.
func isLocked(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == database.LockNotAvailable
}

// The settings by which PostgreSQL vacuums and fills pages. By its default it does so when a fifth of a table's rows are dead: of ten million pools two million
// would be before it begins.
const (
	// changing is for tables whose rows change.
	changing = "autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02"
	// widelyIndexed is for tables with many indexes whose rows change with each trade: where its page has room for the changed row, PostgreSQL leaves the
	// indexes alone.
	widelyIndexed = changing + ", fillfactor = 90"
	// shortLived is for tables whose rows come and go, so that nearly all that ever were are dead.
	shortLived = "autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000"
)

var vacuumed = []struct {
	settings string
	// formerly is what former versions set, as PostgreSQL keeps it: an operator's own settings are others.
	formerly string
	tables   []string
}{
	{widelyIndexed, "{autovacuum_vacuum_scale_factor=0.02,autovacuum_analyze_scale_factor=0.02}", []string{"tokens", "launches"}},
	{changing, "{}", []string{"pools", "pool_ticks", "quote_prices", "token_metadata", "trust_reports", "candles", "balances"}},
	{shortLived, "{}", []string{"blocks", "undo", "commits", "unsure_facts", "waiting_trades", "payments", "holder_queue", "holder_staging"}},
}

// tune gives tables, and partitions with rows, the settings by which they are vacuumed, where they have none: an operator's own stay.
func (p partitioner) tune(ctx context.Context) error {
	for _, v := range vacuumed {
		names := make([]any, len(v.tables))
		for i, t := range v.tables {
			names[i] = t
		}
		var plain []string
		err := p.db.NewRaw("SELECT r.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "+
			"CROSS JOIN LATERAL (SELECT c.oid UNION SELECT relid FROM pg_partition_tree(c.oid)) t JOIN pg_class r ON r.oid = t.oid "+
			"WHERE n.nspname = current_schema() AND c.relname IN (?) AND r.relkind = 'r' AND (r.reloptions IS NULL OR r.reloptions = ?::text[])",
			database.Among(true, names), v.formerly).Scan(ctx, &plain)
		if err != nil {
			return err
		}
		for _, table := range plain {
			// The lock isn't to be had while the table is being vacuumed: the next look, a minute later, tries again.
			if err := p.atOnce(ctx, execute(ctx, "ALTER TABLE "+database.Ident(table)+" SET ("+v.settings+")")); err != nil && !isLocked(err) {
				return err
			}
		}
	}
	return p.identify(ctx)
}

// identify names the index by which a logical replication tells the rows of trades apart, which have no primary key: without it none could be deleted in
// a database that publishes them.
func (p partitioner) identify(ctx context.Context) error {
	var leaves []struct{ Leaf, Key string }
	err := p.db.NewRaw("SELECT l.relname AS leaf, k.relname AS key FROM pg_partition_tree(to_regclass('trades')) t "+
		"JOIN pg_class l ON l.oid = t.relid AND l.relkind = 'r' AND l.relreplident = 'd' "+
		"JOIN pg_partition_tree(to_regclass('trades_key')) s ON TRUE JOIN pg_index i ON i.indexrelid = s.relid AND i.indrelid = l.oid AND i.indisvalid "+
		"JOIN pg_class k ON k.oid = i.indexrelid WHERE NOT EXISTS (SELECT 1 FROM pg_index x WHERE x.indrelid = l.oid AND x.indisprimary)").Scan(ctx, &leaves)
	if err != nil {
		return err
	}
	for _, l := range leaves {
		err := p.atOnce(ctx, execute(ctx, "ALTER TABLE "+database.Ident(l.Leaf)+" REPLICA IDENTITY USING INDEX "+database.Ident(l.Key)))
		if err != nil && !isLocked(err) {
			return err
		}
	}
	return nil
}
