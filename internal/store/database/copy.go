package database

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/uptrace/bun/schema"
)

// Rows that are copied are written in PostgreSQL's binary form here, where each column's type is known beforehand: pgx looks for an encoding of each value anew and
// has each value in an interface, which takes a tenth of what an index of the past takes. https://www.postgresql.org/docs/current/sql-copy.html has the form.

// columnForm appends a column's value to what is copied, its length first. A length of -1 is NULL.
type columnForm func(b []byte, v reflect.Value) ([]byte, error)

// formOf is the form of a Go type's values in a column of one of PostgreSQL's types; ok is false where there is none here, as for a type that says by itself what the
// database is to have of it.
func formOf(t reflect.Type, column uint32) (f columnForm, ok bool) {
	switch {
	case t.Implements(reflect.TypeFor[driver.Valuer]()):
		return nil, false
	case t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Pointer:
		value, ok := formOf(t.Elem(), column)
		return func(b []byte, v reflect.Value) ([]byte, error) {
			if v.IsNil() {
				return appendNull(b), nil
			}
			return value(b, v.Elem())
		}, ok
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && column == pgtype.ByteaOID:
		return func(b []byte, v reflect.Value) ([]byte, error) {
			if v.IsNil() {
				return appendNull(b), nil
			}
			return append(binary.BigEndian.AppendUint32(b, uint32(v.Len())), v.Bytes()...), nil
		}, true
	case t.Kind() == reflect.String && column == pgtype.TextOID:
		return func(b []byte, v reflect.Value) ([]byte, error) {
			return append(binary.BigEndian.AppendUint32(b, uint32(v.Len())), v.String()...), nil
		}, true
	case t.Kind() == reflect.Int64 && column == pgtype.Int8OID:
		return func(b []byte, v reflect.Value) ([]byte, error) {
			return binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), uint64(v.Int())), nil
		}, true
	case t.Kind() == reflect.Int32 && column == pgtype.Int4OID:
		return func(b []byte, v reflect.Value) ([]byte, error) {
			return binary.BigEndian.AppendUint32(append(b, 0, 0, 0, 4), uint32(v.Int())), nil
		}, true
	case t.Kind() == reflect.Int64 && column == pgtype.Int2OID:
		return func(b []byte, v reflect.Value) ([]byte, error) {
			if n := v.Int(); n != int64(int16(n)) {
				return b, fmt.Errorf("%d is beyond a smallint", n)
			}
			return binary.BigEndian.AppendUint16(append(b, 0, 0, 0, 2), uint16(v.Int())), nil
		}, true
	case t.Kind() == reflect.Float64 && column == pgtype.Float8OID:
		return func(b []byte, v reflect.Value) ([]byte, error) {
			return binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), math.Float64bits(v.Float())), nil
		}, true
	case t.Kind() == reflect.Bool && column == pgtype.BoolOID:
		return func(b []byte, v reflect.Value) ([]byte, error) {
			if v.Bool() {
				return append(b, 0, 0, 0, 1, 1), nil
			}
			return append(b, 0, 0, 0, 1, 0), nil
		}, true
	}
	return nil, false
}

func appendNull(b []byte) []byte { return append(b, 0xff, 0xff, 0xff, 0xff) }

// columnTypes are the types that a database has for the columns of tables, as far as they were asked for.
type columnTypes struct {
	mu sync.Mutex
	of map[string]map[string]uint32
}

// ask gives the types of a table's columns, by their names.
func (t *columnTypes) ask(ctx context.Context, c *pgx.Conn, table string) (map[string]uint32, error) {
	t.mu.Lock()
	known := t.of[table]
	t.mu.Unlock()
	if known != nil {
		return known, nil
	}
	rows, err := c.Query(ctx, "SELECT attname::text, atttypid::oid FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped", table)
	if err != nil {
		return nil, err
	}
	known = map[string]uint32{}
	var name string
	var oid uint32
	if _, err := pgx.ForEachRow(rows, []any{&name, &oid}, func() error { known[name] = oid; return nil }); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]map[string]uint32{}
	}
	t.of[table] = known
	return known, nil
}

// formsOf are the forms of columns; ok is false where one has none.
func formsOf(columns []*schema.Field, types map[string]uint32) (forms []columnForm, ok bool) {
	forms = make([]columnForm, len(columns))
	for i, f := range columns {
		if forms[i], ok = formOf(f.StructField.Type, types[f.Name]); !ok {
			return nil, false
		}
	}
	return forms, true
}

// copied reads as rows in PostgreSQL's binary form.
type copied[R any] struct {
	rows    []R
	columns []*schema.Field
	forms   []columnForm
	// ready is what is written and wasn't read yet.
	ready []byte
	begun bool
}

// copyHeader begins what is copied: a signature, flags of 32 bits, and the length of what else stands in the header.
const copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

func (c *copied[R]) Read(p []byte) (int, error) {
	if !c.begun {
		c.begun, c.ready = true, append(make([]byte, 0, 2*len(p)), copyHeader...)
	}
	for len(c.ready) < len(p) && len(c.rows) > 0 {
		c.ready = binary.BigEndian.AppendUint16(c.ready, uint16(len(c.columns)))
		row := reflect.ValueOf(&c.rows[0]).Elem()
		for i, f := range c.columns {
			var err error
			if c.ready, err = c.forms[i](c.ready, f.Value(row)); err != nil {
				return 0, fmt.Errorf("column %s: %w", f.Name, err)
			}
		}
		c.rows = c.rows[1:]
	}
	n := copy(p, c.ready)
	c.ready = c.ready[:copy(c.ready, c.ready[n:])]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// copyBinary sends columns of rows by COPY into a table. Its time to end in is that of pgx's COPY.
func copyBinary[R any](ctx context.Context, c *pgx.Conn, table string, rows *copied[R]) error {
	if t, ok := c.Config().Tracer.(pgx.CopyFromTracer); ok {
		ctx = t.TraceCopyFromStart(ctx, c, pgx.TraceCopyFromStartData{})
		defer t.TraceCopyFromEnd(ctx, c, pgx.TraceCopyFromEndData{})
	}
	_, err := c.PgConn().CopyFrom(ctx, rows, "COPY "+table+" ("+columnList(rows.columns)+") FROM STDIN BINARY")
	return err
}
