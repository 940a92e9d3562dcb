package database

import (
	"context"
	"database/sql"
	"fmt"
	"math/bits"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/uptrace/bun"
)

// prepared are the statements that requests come down to. A text that is asked again and again is read and planned once
// for each connection, which costs more than most of these statements do themselves.
type prepared struct {
	mu  sync.Mutex
	all map[string]*sql.Stmt
}

// Ask runs a fixed statement, with ? for its arguments, on the readers. The rows are the caller's to close.
func (s *DB) Ask(ctx context.Context, text string, args ...any) (rows *sql.Rows, err error) {
	ctx, asked := s.startAsk(ctx, text)
	defer func() { endRead(asked, err) }()
	stmt, err := s.statement(ctx, text) //nolint:sqlclosecheck // it lives as long as the store
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.WithValue(ctx, lookupKey{}, true), args...) //nolint:sqlclosecheck // the caller closes them
}

// AskOne is Ask for a statement that gives one row at most; without any the error is sql.ErrNoRows.
func (s *DB) AskOne(ctx context.Context, dest []any, text string, args ...any) (err error) {
	ctx, asked := s.startAsk(ctx, text)
	defer func() { endRead(asked, err) }()
	stmt, err := s.statement(ctx, text) //nolint:sqlclosecheck // it lives as long as the store
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(context.WithValue(ctx, lookupKey{}, true), args...).Scan(dest...)
}

func (s *DB) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	s.prepared.mu.Lock()
	stmt := s.prepared.all[text]
	s.prepared.mu.Unlock()
	if stmt != nil {
		return stmt, nil
	}
	// Without the lock: what waits for a connection here must not hold up who has a statement already.
	made, err := s.Read.DB.PrepareContext(context.WithValue(ctx, lookupKey{}, true), s.Numbered(text))
	if err != nil {
		return nil, err
	}
	s.prepared.mu.Lock()
	defer s.prepared.mu.Unlock()
	if stmt := s.prepared.all[text]; stmt != nil { // another was faster
		return stmt, made.Close() //nolint:sqlclosecheck // only one of the two is kept
	}
	if s.prepared.all == nil {
		s.prepared.all = make(map[string]*sql.Stmt)
	}
	s.prepared.all[text] = made
	return made, nil
}

// Numbered writes the arguments as the database wants them.
func (s *DB) Numbered(text string) string {
	if !s.IsPostgres() {
		return text
	}
	var b strings.Builder
	n := 0
	for _, r := range text {
		if r == '?' {
			n++
			b.WriteString("$" + strconv.Itoa(n))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// List makes the ?s and the arguments of a list of keys. Its length is rounded up to a power of two by repeating the last
// key, so that lists of any length come down to few statements.
func List(keys []any) (marks string, args []any) {
	n := 1 << bits.Len(uint(len(keys)-1))
	args = append(make([]any, 0, n), keys...)
	for len(args) < n {
		args = append(args, keys[len(keys)-1])
	}
	return strings.Repeat("?,", n-1) + "?", args
}

// ColumnsOf names the columns of a model, each behind the alias of its table.
func ColumnsOf[R any](db *bun.DB, alias string) string {
	var names []string
	for _, f := range db.Table(reflect.TypeFor[R]()).Fields {
		names = append(names, alias+"."+f.Name)
	}
	return strings.Join(names, ", ")
}

// Targets are where rows.Scan puts the columns that ColumnsOf names: a row's fields, and the bytes among them as they are until the next row. It is for many rows, of which
// each would take bun several times as long.
func Targets[R any](db *bun.DB, row *R) []any {
	v := reflect.ValueOf(row).Elem()
	fields := db.Table(v.Type()).Fields
	out := make([]any, len(fields))
	for i, f := range fields {
		out[i] = f.Value(v).Addr().Interface()
		if raw, ok := out[i].(*[]byte); ok {
			out[i] = (*sql.RawBytes)(raw)
		}
	}
	return out
}

// ScanAll reads the rows of a statement into models, and closes them.
func ScanAll[R any](ctx context.Context, db *bun.DB, rows *sql.Rows, err error) ([]R, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []R
	if err := db.ScanRows(ctx, rows, &out); err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	return out, nil
}
