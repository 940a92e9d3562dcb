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
	types  *columnTypes
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
	if err := f(&Transaction{Tx: tx, conn: conn, Postgres: s.IsPostgres(), types: &s.types}); err != nil {
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
	if !replace {
		return copyInto(ctx, tx, t.Name, t, t.Fields, rows)
	}
	into := "stage_" + t.Name
	// With defaults: a later version may have added a column that this one doesn't name.
	create := "CREATE TEMP TABLE IF NOT EXISTS " + into + " (LIKE " + t.Name + " INCLUDING DEFAULTS) ON COMMIT DELETE ROWS"
	if err := tx.stage(ctx, into, create); err != nil {
		return err
	}
	if err := copyInto(ctx, tx, into, t, t.Fields, rows); err != nil {
		return err
	}
	_, err := tx.Tx.Tx.ExecContext(ctx, insertInto(t)+"SELECT "+columnList(t.Fields)+" FROM "+into+conflict(t, true))
	return err
}

// copyInto sends columns of rows by COPY into a table (into). Its columns have the types of those of the rows' own table (of).
func copyInto[R any](ctx context.Context, tx *Transaction, into string, of *schema.Table, columns []*schema.Field, rows []R) error {
	var values []any // of one row after the other: each is encoded before the next one is asked for
	source := pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		values = appendValues(values[:0], &rows[i], columns)
		return values, nil
	})
	return tx.onConn(func(c *pgx.Conn) error {
		types, err := tx.types.ask(ctx, c, of.Name)
		if err != nil {
			return err
		}
		if encoders, ok := encodersOf(columns, types); ok {
			return copyBinary(ctx, c, into, &copied[R]{rows: rows, columns: columns, encoders: encoders})
		}
		names := make([]string, len(columns))
		for i, f := range columns {
			names[i] = f.Name
		}
		_, err = c.CopyFrom(ctx, pgx.Identifier{into}, names, source)
		return err
	})
}

// stage makes a temporary table where it isn't there, and empties it if this transaction has written to it. The end of the transaction empties the table
// too. So most blocks, which have one piece of rows, need no TRUNCATE, which makes a file and changes the catalog.
func (tx *Transaction) stage(ctx context.Context, table, create string) error {
	statement := create
	if tx.staged[table] {
		statement = "TRUNCATE " + table
	}
	if tx.staged == nil {
		tx.staged = map[string]bool{}
	}
	tx.staged[table] = true
	_, err := tx.Tx.Tx.ExecContext(ctx, statement)
	return err
}

func insertInto(t *schema.Table) string {
	return "INSERT INTO " + t.Name + " (" + columnList(t.Fields) + ") "
}

func columnList(columns []*schema.Field) string {
	names := make([]string, len(columns))
	for i, f := range columns {
		names[i] = f.Name
	}
	return strings.Join(names, ",")
}

func conflict(t *schema.Table, replace bool) string {
	if !replace {
		return ""
	}
	sets := make([]string, len(t.DataFields))
	for i, f := range t.DataFields {
		sets[i] = f.Name + "=excluded." + f.Name
	}
	return " ON CONFLICT (" + columnList(t.PKs) + ") DO UPDATE SET " + strings.Join(sets, ",")
}

// Remove deletes the rows with the keys of rows.
func Remove[R any](ctx context.Context, tx *Transaction, rows []R) error {
	if len(rows) == 0 {
		return nil
	}
	t := tx.Dialect().Tables().Get(reflect.TypeFor[R]())
	var err error
	if tx.Postgres && len(rows) >= copyFrom {
		for piece := range slices.Chunk(rows, PieceRows) {
			if err = removeCopied(ctx, tx, t, piece); err != nil {
				break
			}
			tx.wrotePiece()
		}
	} else {
		for piece := range slices.Chunk(rows, LoadKeys) {
			if err = removeListed(ctx, tx, t, piece); err != nil {
				break
			}
			tx.wrotePiece()
		}
	}
	if err != nil {
		return fmt.Errorf("database: delete %d rows of %s: %w", len(rows), t.Name, err)
	}
	return nil
}

// removeListed deletes rows by a list of their keys.
func removeListed[R any](ctx context.Context, tx *Transaction, t *schema.Table, rows []R) error {
	keys := make([]any, len(rows))
	for i := range rows {
		keys[i] = appendValues(nil, &rows[i], t.PKs)
	}
	_, err := tx.NewDelete().Table(t.Name).Where("("+columnList(t.PKs)+") IN (?)", Among(tx.Postgres, keys)).Exec(ctx)
	return err
}

// removeCopied sends the rows' keys by COPY into a temporary table, and has PostgreSQL look each key up in the primary key. Without that it may read the whole table:
// for 2,000 keys and some hundred thousand rows that takes several times as long. JIT is off, since PostgreSQL may
// take a plan for 20,000 keys to be worth compiling.
func removeCopied[R any](ctx context.Context, tx *Transaction, t *schema.Table, rows []R) error {
	keys := "keys_" + t.Name
	create := "CREATE TEMP TABLE IF NOT EXISTS " + keys + " ON COMMIT DELETE ROWS AS SELECT " + columnList(t.PKs) + " FROM " + t.Name + " WITH NO DATA"
	if err := tx.stage(ctx, keys, create); err != nil {
		return err
	}
	if err := copyInto(ctx, tx, keys, t, t.PKs, rows); err != nil {
		return err
	}
	same := make([]string, len(t.PKs))
	for i, f := range t.PKs {
		same[i] = "t." + f.Name + " = k." + f.Name
	}
	const (
		lookUp = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off; "
		reset  = "; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on"
	)
	statements := lookUp + "DELETE FROM " + t.Name + " t USING " + keys + " k WHERE " + strings.Join(same, " AND ") + reset
	return tx.onConn(func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol) // several statements in one call
		return err
	})
}

// onConn runs f with the transaction's connection to PostgreSQL.
func (tx *Transaction) onConn(f func(*pgx.Conn) error) error {
	return tx.conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the driver is a %T, not pgx", driver)
		}
		return f(c.Conn())
	})
}

// appendValues appends a row's values of some columns.
func appendValues[R any](values []any, row *R, columns []*schema.Field) []any {
	v := reflect.ValueOf(row).Elem()
	for _, f := range columns {
		values = append(values, f.Value(v).Interface())
	}
	return values
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
