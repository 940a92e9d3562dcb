package schema

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// lateIndex is an index that a later version adds to a table that may be large by then. It is no part of a migration, which would keep
// writers out of the table until the index is built. Requests are answered right without it, only slower.
type lateIndex struct {
	name, table, columns string
	// where is the condition of a partial index; empty is none.
	where string
	// replaces names the index that isn't needed once this one is there; empty is none.
	replaces string
	// replacesKey names the primary key that isn't needed once this one is there, which takes its place: it is an index of PostgreSQL alone.
	// Empty is none.
	replacesKey string
}

var lateIndexes = []lateIndex{
	// The listed pools of a token, which are few. Binaries that don't ask which are listed go by its first column.
	{name: "pools_listed", table: "pools", columns: "base, unlisted", replaces: "pools_base"},
	// The trades of a wallet. Nothing but the trader: SQLite appends the primary key by itself, PostgreSQL folds equal keys.
	{name: "trades_trader", table: "trades", columns: "trader"},
	// A creator's launches before one of them, counted from the index alone.
	{name: "launches_creator_order", table: "launches", columns: "chain, creator, state, block, log_index", replaces: "launches_creator"},
	// The launches that name a contract as their curve's, from the index alone.
	{name: "launches_curve", table: "launches", columns: "chain, curve, mint", where: "curve IS NOT NULL"},
	// The tokens whose balances are kept, from the index alone.
	{name: "tokens_kept", table: "tokens", columns: "holders_status, chain, mint", where: "holders_status IN ('indexing', 'current')"},
	// The tokens whose count of holders was given up.
	{name: "tokens_given_up", table: "tokens", columns: "holders_status, chain, mint", where: "holders_status = 'unavailable'"},
	// The few tokens whose supply is still to be asked for. It begins with what all its rows have: SQLite takes that for a better start
	// than the mint alone.
	{name: "tokens_supply", table: "tokens", columns: "has_supply, mint", where: "has_supply = FALSE AND supply_strikes < 2 AND pool IS NOT NULL"},
	// The few tokens whose supply was contradicted once.
	{name: "tokens_doubted", table: "tokens", columns: "supply_strikes, mint", where: "supply_strikes = 1"},
	// The tokens that told no decimals, by when they came up.
	{name: "tokens_mute", table: "tokens", columns: "has_decimals, first_block", where: "has_decimals = FALSE"},
	// The facts that say that a wallet is a member's (kind watch), found by the wallet.
	{name: "facts_watch", table: "facts", columns: "ref, block", where: "kind = 'watch'"},
	// The facts about members' wallets (kinds held and gas), found by the wallet with which their ref begins.
	{name: "facts_wallet", table: "facts", columns: "ref, block", where: "kind IN ('held', 'gas')"},
	// The facts about what members' wallets did before they were watched (kind past), found by the wallet.
	{name: "facts_past", table: "facts", columns: "ref, block", where: "kind = 'past'"},
	// The watched wallets whose past may have to be read yet.
	{name: "watched_wallets_past", table: "watched_wallets", columns: "chain, since", where: "past_in = 0"},
	// The tokens that have a ticker, whatever its case. A ticker can be too long for an index.
	{name: "tokens_ticker", table: "tokens", columns: "lower(substr(symbol, 1, 40))"},
	// The stream's item of a call.
	{name: "stream_by_call", table: "stream", columns: "call", where: "call > 0"},
	// The trades of a member that count in the game.
	{name: "wallet_entries_player", table: "wallet_entries", columns: "player, time", where: "player > 0"},
	// The same of all members, by the chain's time.
	{name: "wallet_entries_played", table: "wallet_entries", columns: "chain, time", where: "player > 0"},
	// The key of trades with their time, by which they are partitioned. A log index has room for the order of other families than EVM: 63 bits.
	{name: "trades_key", table: "trades", columns: "chain, block, log_index, time", replacesKey: "trades_pkey"},
}

// unusedIndexes are indexes that earlier versions asked, with their tables: what they told stands in the table of commits since schema 30. Without them a change
// of a token or a launch may touch no index at all.
var unusedIndexes = []struct{ name, table string }{{"tokens_commit", "tokens"}, {"pools_commit", "pools"}, {"launches_commit", "launches"}}

// create gives the beginning of the statement that makes the index.
func (x lateIndex) create() string {
	if x.replacesKey != "" {
		return "CREATE UNIQUE INDEX "
	}
	return "CREATE INDEX "
}

// definition gives the statement's part behind the name of the index.
func (x lateIndex) definition(table string) string {
	d := database.Ident(table) + " (" + x.columns + ")"
	if x.where != "" {
		d += " WHERE " + x.where
	}
	return d
}

// indexEmpty builds the late indexes of tables without rows, which takes no time. On SQLite it builds all of them: there one process
// writes, and it has not begun to. It calls beat before each of them.
func indexEmpty(ctx context.Context, s *database.DB, db *bun.DB, beat func()) error {
	return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if s.IsPostgres() {
			// Programs that start together would each find no index and make it.
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(?)", emptyIndexLock); err != nil {
				return fmt.Errorf("database: lock the building of indexes: %w", err)
			}
		}
		for _, x := range lateIndexes {
			if x.replacesKey != "" && !s.IsPostgres() {
				continue
			}
			beat()
			if err := x.buildIfEmpty(ctx, tx, !s.IsPostgres()); err != nil {
				return fmt.Errorf("database: build index %s: %w", x.name, err)
			}
		}
		for _, x := range unusedIndexes {
			if err := dropIfEmpty(ctx, tx, x.name, x.table, !s.IsPostgres()); err != nil {
				return fmt.Errorf("database: drop index %s: %w", x.name, err)
			}
		}
		return nil
	})
}

// dropIfEmpty drops an index of a table without rows, or always.
func dropIfEmpty(ctx context.Context, tx bun.Tx, index, table string, always bool) error {
	if !always {
		var kept bool
		if err := tx.QueryRowContext(ctx, "SELECT to_regclass("+database.Literal(index)+") IS NULL OR EXISTS (SELECT 1 FROM "+table+")").Scan(&kept); err != nil || kept {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "DROP INDEX IF EXISTS "+index)
	return err
}

// buildIfEmpty builds an index on a table without rows, or always.
func (x lateIndex) buildIfEmpty(ctx context.Context, tx bun.Tx, always bool) error {
	if !always {
		var filled bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+x.table+")").Scan(&filled); err != nil || filled {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, x.create()+"IF NOT EXISTS "+x.name+" ON "+x.definition(x.table))
	if err == nil && x.replacesKey != "" {
		var there bool
		if err = tx.QueryRowContext(ctx, x.hasKey()).Scan(&there); err == nil && there {
			_, err = tx.ExecContext(ctx, x.dropKey())
		}
	}
	if err == nil && x.replaces != "" {
		_, err = tx.ExecContext(ctx, "DROP INDEX IF EXISTS "+x.replaces)
	}
	return err
}

// hasKey asks whether the key is there that the index replaces: to drop one that isn't locks the table as well.
func (x lateIndex) hasKey() string {
	return "SELECT EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass(" + database.Literal(x.table) + ") AND conname = " + database.Literal(x.replacesKey) + ")"
}

func (x lateIndex) dropKey() string {
	return "ALTER TABLE " + database.Ident(x.table) + " DROP CONSTRAINT " + database.Ident(x.replacesKey)
}

// indexRetry is the pause after a failure, and between two looks at whether another process is done.
const indexRetry = 5 * time.Second

// BuildIndexes builds the indexes that a PostgreSQL database lacks, while others read and write its tables. What an earlier build left
// unfinished is built anew. It ends when all are there or with ctx, and tries again while something fails.
func BuildIndexes(ctx context.Context, s *database.DB, log *slog.Logger) {
	for s.IsPostgres() && ctx.Err() == nil {
		err := buildIndexes(ctx, s, log)
		if err == nil {
			return
		}
		if !errors.Is(err, errOthersBuild) && ctx.Err() == nil {
			log.WarnContext(ctx, "indexes are not built; what needs them is slow", "retry_in", indexRetry.String(), "err", err.Error())
		}
		t := time.NewTimer(indexRetry)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

// errOthersBuild means that another process builds the indexes.
var errOthersBuild = errors.New("database: another process builds the indexes")

// The numbers of the advisory locks that whoever builds indexes has: "boardwlk", and the one after it for tables without rows.
const (
	indexLock      = 0x626f617264776c6b
	emptyIndexLock = indexLock + 1
)

func buildIndexes(ctx context.Context, s *database.DB, log *slog.Logger) error {
	return alone(ctx, s, func(conn *pgx.Conn) error {
		b := indexBuilder{conn: conn, log: log}
		for _, x := range lateIndexes {
			if err := b.build(ctx, x); err != nil {
				return fmt.Errorf("database: build index %s: %w", x.name, err)
			}
		}
		return nil
	})
}

// alone runs f with a connection of its own, without timeouts, while no other process builds indexes or splits tables; errOthersBuild says that one
// does.
func alone(ctx context.Context, s *database.DB, f func(*pgx.Conn) error) error {
	conn, err := s.ConnectAlone(ctx)
	if err != nil {
		return fmt.Errorf("database: connect to look after its tables: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	// Whoever waited for the lock inside PostgreSQL would be waited for by the build.
	var mine bool
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", indexLock).Scan(&mine); err != nil {
		return fmt.Errorf("database: lock the look after its tables: %w", err)
	}
	if !mine {
		return errOthersBuild
	}
	err = f(conn)
	// The end of the connection frees it as well, a moment later.
	if _, unlock := conn.Exec(ctx, "SELECT pg_advisory_unlock($1)", indexLock); err == nil && unlock != nil {
		err = fmt.Errorf("database: unlock the look after its tables: %w", unlock)
	}
	return err
}

// DropUnused drops the indexes that nobody asks any more, beside the work. It fails with errOthersBuild where another process looks after the database.
func DropUnused(ctx context.Context, s *database.DB, log *slog.Logger) error {
	return alone(ctx, s, func(conn *pgx.Conn) error {
		for _, x := range unusedIndexes {
			var there bool
			if err := conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", x.name).Scan(&there); err != nil || !there {
				if err != nil {
					return err
				}
				continue
			}
			// It waits for all who use the table, and a dump may use it for hours. A drop that the time limit ends is tried again later.
			if _, err := conn.Exec(ctx, "SET statement_timeout = '60s'"); err != nil {
				return err
			}
			if _, err := conn.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+database.Ident(x.name)); err != nil {
				return fmt.Errorf("database: drop index %s: %w", x.name, err)
			}
			log.InfoContext(ctx, "dropped an index that nobody asks any more", "index", x.name, "table", x.table)
		}
		return nil
	})
}

// indexBuilder builds indexes over one connection. Nothing of it is in a transaction.
type indexBuilder struct {
	conn *pgx.Conn
	log  *slog.Logger
}

// build builds an index that isn't there or isn't whole.
func (b indexBuilder) build(ctx context.Context, x lateIndex) error {
	valid, err := b.isValid(ctx, x.name)
	if err != nil {
		return err
	}
	if !valid {
		if err := b.buildParts(ctx, x); err != nil {
			return err
		}
	}
	if x.replacesKey != "" {
		var there bool
		if err := b.conn.QueryRow(ctx, x.hasKey()).Scan(&there); err != nil || !there {
			return err
		}
		return b.briefly(ctx, x.dropKey())
	}
	if x.replaces == "" {
		return nil
	}
	return b.run(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+database.Ident(x.replaces))
}

// buildParts builds an index on a table, or on each part of a table that has some.
func (b indexBuilder) buildParts(ctx context.Context, x lateIndex) error {
	b.log.InfoContext(ctx, "building an index beside the work", "index", x.name, "table", x.table)
	return b.buildTree(ctx, x, x.name, x.table)
}

// buildTree builds an index on a table with all its parts, and theirs.
func (b indexBuilder) buildTree(ctx context.Context, x lateIndex, index, table string) error {
	var hasParts bool
	if err := b.conn.QueryRow(ctx, "SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass($1)", database.Ident(table)).Scan(&hasParts); err != nil {
		return err
	}
	if !hasParts {
		return b.buildOn(ctx, x, index, table)
	}
	// The parent's index has no rows, but the lock that it takes for a moment waits for those who write, and others wait for it.
	if err := b.briefly(ctx, x.create()+"IF NOT EXISTS "+database.Ident(index)+" ON ONLY "+x.definition(table)); err != nil {
		return err
	}
	parts, err := b.unindexed(ctx, table, index)
	if err != nil {
		return err
	}
	for i, part := range parts {
		of := x.name + "_" + strings.TrimPrefix(part, x.table+"_")
		if err := b.buildTree(ctx, x, of, part); err != nil {
			return err
		}
		if err := b.briefly(ctx, "ALTER INDEX "+database.Ident(index)+" ATTACH PARTITION "+database.Ident(of)); err != nil {
			return err
		}
		b.log.InfoContext(ctx, "a part of an index is built", "index", x.name, "table", part, "percent", 100*(i+1)/len(parts))
	}
	return nil
}

// unindexed lists the parts of a table that have no part of its index.
func (b indexBuilder) unindexed(ctx context.Context, table, index string) ([]string, error) {
	rows, err := b.conn.Query(ctx, "SELECT c.relname FROM pg_inherits t JOIN pg_class c ON c.oid = t.inhrelid WHERE t.inhparent = to_regclass($1) "+
		"AND NOT EXISTS (SELECT 1 FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indexrelid "+
		"WHERE i.indrelid = c.oid AND h.inhparent = to_regclass($2)) ORDER BY c.relname", database.Ident(table), database.Ident(index))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// buildOn builds an index on one table, while others write to it. A build that was cut off leaves an index that isn't valid.
func (b indexBuilder) buildOn(ctx context.Context, x lateIndex, index, table string) error {
	valid, err := b.isValid(ctx, index)
	if err != nil || valid {
		return err
	}
	if err := b.run(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+database.Ident(index)); err != nil {
		return err
	}
	return b.run(ctx, x.create()+"CONCURRENTLY "+database.Ident(index)+" ON "+x.definition(table))
}

// isValid reports whether an index is there and whole.
func (b indexBuilder) isValid(ctx context.Context, index string) (valid bool, err error) {
	err = b.conn.QueryRow(ctx, "SELECT COALESCE((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)), FALSE)", database.Ident(index)).Scan(&valid)
	return valid, err
}

// briefly runs what locks a table for a moment, and gives up rather than have others wait behind it for long.
func (b indexBuilder) briefly(ctx context.Context, statement string) error {
	if err := b.run(ctx, "SET lock_timeout = '1s'"); err != nil {
		return err
	}
	return errors.Join(b.run(ctx, statement), b.run(ctx, "RESET lock_timeout"))
}

func (b indexBuilder) run(ctx context.Context, statement string) error {
	_, err := b.conn.Exec(ctx, statement)
	return err
}
