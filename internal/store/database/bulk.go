package database

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// Transaction is one write transaction with a bulk path: COPY on PostgreSQL, prepared multi-row statements on SQLite.
type Transaction struct {
	bun.Tx
	conn     bun.Conn
	Postgres bool
	// Beat, if set, is called after each piece of a bulk write.
	Beat func()
	// staged are the temporary tables that have rows.
	staged map[string]bool
}

func (tx *Transaction) wrotePiece() {
	if tx.Beat != nil {
		tx.Beat()
	}
}

// InTransaction runs f and commits; it rolls back when f fails. ErrInterrupted says that the same may go through
// another time. It leaves everything as it was, unless the connection broke while the commit was under way: then nobody
// knows.
func (s *DB) InTransaction(ctx context.Context, f func(*Transaction) error) error {
	return Interruption(ctx, s.transact(ctx, f))
}

func (s *DB) transact(ctx context.Context, f func(*Transaction) error) (err error) {
	conn, err := s.Write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("database: begin: %w", err)
	}
	if err := f(&Transaction{Tx: tx, conn: conn, Postgres: s.IsPostgres()}); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("database: commit: %w", err)
	}
	return nil
}

// LoadKeys is the number of keys in one query.
const LoadKeys = 2000

// copyFrom is the number of rows from which on COPY beats one statement.
const copyFrom = 64

// PieceRows is how many rows are made and written at once: a statement has a time to end in, and so has a transaction
// between two.
const PieceRows = 20_000

// sqliteRows is the number of rows per statement on SQLite; its parameters stay far below the limit of 32,766.
const sqliteRows = 50

// Insert adds rows that are not there yet.
func Insert[R any](ctx context.Context, tx *Transaction, rows []R) error {
	return writeRows(ctx, tx, rows, false)
}

// Upsert adds rows or replaces those with the same key.
func Upsert[R any](ctx context.Context, tx *Transaction, rows []R) error {
	return writeRows(ctx, tx, rows, true)
}

func writeRows[R any](ctx context.Context, tx *Transaction, rows []R, replace bool) error {
	if len(rows) == 0 {
		return nil
	}
	t := tx.Dialect().Tables().Get(reflect.TypeFor[R]())
	var err error
	switch {
	case !tx.Postgres:
		err = writeStatements(ctx, tx, t, rows, replace, sqliteRows, func(int) string { return "?" })
	case len(rows) < copyFrom:
		err = writeStatements(ctx, tx, t, rows, replace, copyFrom, func(n int) string { return fmt.Sprintf("$%d", n) })
	default:
		for piece := range slices.Chunk(rows, PieceRows) {
			if err = copyRows(ctx, tx, t, piece, replace); err != nil {
				break
			}
			tx.wrotePiece()
		}
	}
	if err != nil {
		return fmt.Errorf("database: write %d rows of %s: %w", len(rows), t.Name, err)
	}
	return nil
}

func writeStatements[R any](ctx context.Context, tx *Transaction, t *schema.Table, rows []R, replace bool, chunk int,
	mark func(int) string,
) error {
	args := make([]any, 0, min(chunk, len(rows))*len(t.Fields))
	for len(rows) > 0 {
		n := min(chunk, len(rows))
		var q strings.Builder
		q.WriteString(insertInto(t) + "VALUES ")
		args = args[:0]
		for i := range n {
			v := reflect.ValueOf(&rows[i]).Elem()
			for j, f := range t.Fields {
				switch {
				case j > 0:
					q.WriteString(",")
				case i > 0:
					q.WriteString("),(")
				default:
					q.WriteString("(")
				}
				args = append(args, f.Value(v).Interface())
				q.WriteString(mark(len(args)))
			}
		}
		q.WriteString(")" + conflict(t, replace))
		if _, err := tx.Tx.Tx.ExecContext(ctx, q.String(), args...); err != nil {
			return err
		}
		tx.wrotePiece()
		rows = rows[n:]
	}
	return nil
}

// copyRows sends rows by COPY: straight into the table, or by way of a temporary one where they may replace others.
func copyRows[R any](ctx context.Context, tx *Transaction, t *schema.Table, rows []R, replace bool) error {
	into := t.Name
	if replace {
		into = "stage_" + t.Name
		// With defaults: a later version may have added a column that this one doesn't name.
		create := "CREATE TEMP TABLE IF NOT EXISTS " + into + " (LIKE " + t.Name + " INCLUDING DEFAULTS) ON COMMIT DELETE ROWS" //nolint:gosec // t is a row type of this package
		if _, err := tx.Tx.Tx.ExecContext(ctx, create); err != nil {
			return err
		}
		if err := tx.emptyStage(ctx, into); err != nil {
			return err
		}
	}
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	source := pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		v := reflect.ValueOf(&rows[i]).Elem()
		out := make([]any, len(t.Fields))
		for j, f := range t.Fields {
			out[j] = f.Value(v).Interface()
		}
		return out, nil
	})
	err := tx.conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the driver is a %T, not pgx", driver)
		}
		_, err := c.Conn().CopyFrom(ctx, pgx.Identifier{into}, names, source)
		return err
	})
	if err != nil || !replace {
		return err
	}
	_, err = tx.Tx.Tx.ExecContext(ctx, insertInto(t)+"SELECT "+columnList(t, "")+" FROM "+into+conflict(t, true))
	return err
}

// emptyStage empties a temporary table if this transaction has written to it, and notes that it is written to now. The end of the transaction empties the table
// too. So most blocks, which have one piece of rows, need no TRUNCATE, which makes a file and changes the catalog.
func (tx *Transaction) emptyStage(ctx context.Context, table string) error {
	if tx.staged[table] {
		_, err := tx.Tx.Tx.ExecContext(ctx, "TRUNCATE "+table)
		return err
	}
	if tx.staged == nil {
		tx.staged = map[string]bool{}
	}
	tx.staged[table] = true
	return nil
}

func insertInto(t *schema.Table) string {
	return "INSERT INTO " + t.Name + " (" + columnList(t, "") + ") "
}

func columnList(t *schema.Table, prefix string) string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = prefix + f.Name
	}
	return strings.Join(names, ",")
}

func conflict(t *schema.Table, replace bool) string {
	if !replace {
		return ""
	}
	keys := make([]string, len(t.PKs))
	for i, f := range t.PKs {
		keys[i] = f.Name
	}
	sets := make([]string, len(t.DataFields))
	for i, f := range t.DataFields {
		sets[i] = f.Name + "=excluded." + f.Name
	}
	return " ON CONFLICT (" + strings.Join(keys, ",") + ") DO UPDATE SET " + strings.Join(sets, ",")
}

// Remove deletes the rows with the keys of rows.
func Remove[R any](ctx context.Context, tx *Transaction, rows []R) error {
	if len(rows) == 0 {
		return nil
	}
	t := tx.Dialect().Tables().Get(reflect.TypeFor[R]())
	names := make([]string, len(t.PKs))
	for i, f := range t.PKs {
		names[i] = f.Name
	}
	keys := make([]any, 0, len(rows))
	for i := range rows {
		v := reflect.ValueOf(&rows[i]).Elem()
		key := make([]any, len(t.PKs))
		for j, f := range t.PKs {
			key[j] = f.Value(v).Interface()
		}
		keys = append(keys, key)
	}
	return tx.byKey(ctx, len(keys), func() error {
		for some := range slices.Chunk(keys, LoadKeys) {
			q := tx.NewDelete().Table(t.Name).Where("("+strings.Join(names, ",")+") IN (?)", Among(tx.Postgres, some))
			if _, err := q.Exec(ctx); err != nil {
				return fmt.Errorf("database: delete rows of %s: %w", t.Name, err)
			}
			tx.wrotePiece()
		}
		return nil
	})
}

// byKey runs statements about n keys. PostgreSQL looks each of many up in an index then: where a table has up to some hundred thousand rows, it would read all of
// them, which takes several times as long.
func (tx *Transaction) byKey(ctx context.Context, n int, statements func() error) error {
	if !tx.Postgres || n < copyFrom {
		return statements()
	}
	const set = "SELECT set_config('enable_hashjoin', ?0, true), set_config('enable_mergejoin', ?0, true)" // until the transaction ends
	if _, err := tx.NewRaw(set, "off").Exec(ctx); err != nil {
		return fmt.Errorf("database: have keys looked up: %w", err)
	}
	if err := statements(); err != nil { // by which the transaction ends
		return err
	}
	if _, err := tx.NewRaw(set, "on").Exec(ctx); err != nil {
		return fmt.Errorf("database: have keys no longer looked up: %w", err)
	}
	return nil
}

// Among formats a list of keys for IN (?). A key of several columns is a []any and stands behind VALUES: SQLite takes it
// nowhere else, and PostgreSQL joins against VALUES where it would try 2,000 alternatives one by one. It has to be told
// there what a literal of bytes is.
func Among(postgres bool, keys []any) schema.QueryAppender {
	return keyList{casts: postgres, keys: keys}
}

type keyList struct {
	casts bool
	keys  []any
}

// AppendQuery writes the list as SQL.
func (l keyList) AppendQuery(gen schema.QueryGen, b []byte) ([]byte, error) {
	for i, k := range l.keys {
		row, isRow := k.([]any)
		switch {
		case i > 0:
			b = append(b, ',')
		case isRow:
			b = append(b, "VALUES "...)
		}
		if !isRow {
			b = gen.Append(b, k)
			continue
		}
		for j, v := range row {
			b = append(b, "(,"[min(j, 1)])
			b = gen.Append(b, v)
			if _, isBytes := v.([]byte); isBytes && i == 0 && l.casts {
				b = append(b, "::bytea"...)
			}
		}
		b = append(b, ')')
	}
	return b, nil
}
