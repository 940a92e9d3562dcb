package database

import (
	"cmp"
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

// Rows that are copied are encoded in PostgreSQL's binary COPY format here, by an encoder for each column that is chosen once for all rows. pgx chooses one for each value
// anew and has each value in an interface. Without that an index of Solana's past takes a tenth less CPU (docs/benchmarks.md). https://www.postgresql.org/docs/current/sql-copy.html has the format.

// encoder appends a column's value to what is copied, its length first. A length of -1 is NULL.
type encoder func(b []byte, v reflect.Value) ([]byte, error)

// encoderOf gives the encoder of a Go type for one of PostgreSQL's column types. ok is false for all other pairs, and for types that implement driver.Valuer.
func encoderOf(t reflect.Type, column uint32) (e encoder, ok bool) {
	switch {
	case t.Implements(reflect.TypeFor[driver.Valuer]()):
		return nil, false
	case t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Pointer:
		value, ok := encoderOf(t.Elem(), column)
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

// columnTypes are the types that a database has for the columns of tables, as far as they were asked for. No migration changes a column's type, so that they stay as they are
// while programs of several versions run. A column that a later version adds has none here, and its table is then left to the driver.
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

// encodersOf gives the columns' encoders. ok is false where one has none.
func encodersOf(columns []*schema.Field, types map[string]uint32) (encoders []encoder, ok bool) {
	encoders = make([]encoder, len(columns))
	for i, f := range columns {
		if encoders[i], ok = encoderOf(f.StructField.Type, types[f.Name]); !ok {
			return nil, false
		}
	}
	return encoders, true
}

// copied is an io.Reader. It gives rows in PostgreSQL's binary COPY format.
type copied[R any] struct {
	columns  []*schema.Field
	encoders []encoder

	mu   sync.Mutex
	rows []R // that aren't encoded yet
	// encoded has the bytes of rows; rest are those that weren't read yet.
	encoded, rest []byte
	begun         bool
	// failed is why a value can't be encoded, or that nothing may be read any more.
	failed error
}

// copyHeader begins what is copied: a signature, flags of 32 bits, and the length of what else stands in the header.
const copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

func (c *copied[R]) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return 0, c.failed
	}
	if len(c.rest) < len(p) {
		if c.failed = c.fill(len(p)); c.failed != nil {
			return 0, c.failed
		}
	}
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// fill encodes rows until n bytes are there, or all rows.
func (c *copied[R]) fill(n int) (err error) {
	if !c.begun {
		c.begun, c.encoded, c.rest = true, make([]byte, 0, 2*n), []byte(copyHeader)
	}
	c.encoded = append(c.encoded[:0], c.rest...)
	b := c.encoded
	for len(b) < n && len(c.rows) > 0 {
		b = binary.BigEndian.AppendUint16(b, uint16(len(c.columns)))
		row := reflect.ValueOf(&c.rows[0]).Elem()
		for i, f := range c.columns {
			if b, err = c.encoders[i](b, f.Value(row)); err != nil {
				return fmt.Errorf("column %s: %w", f.Name, err)
			}
		}
		c.rows = c.rows[1:]
	}
	c.encoded, c.rest = b, b
	return nil
}

// end makes later reads fail. It gives the error of a value that couldn't be encoded, nil without one.
func (c *copied[R]) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	why := c.failed
	c.failed = io.ErrClosedPipe
	return why
}

// copyBinary sends columns of rows by COPY into a table. The tracer gives it the deadline of pgx's own CopyFrom.
func copyBinary[R any](ctx context.Context, c *pgx.Conn, table string, rows *copied[R]) error {
	if t, ok := c.Config().Tracer.(pgx.CopyFromTracer); ok {
		ctx = t.TraceCopyFromStart(ctx, c, pgx.TraceCopyFromStartData{})
		defer t.TraceCopyFromEnd(ctx, c, pgx.TraceCopyFromEndData{})
	}
	_, err := c.PgConn().CopyFrom(ctx, rows, "COPY "+table+" ("+columnList(rows.columns)+") FROM STDIN BINARY")
	// Where the connection broke, a goroutine of the driver may still read. Our own error comes first: for the same copy
	// the server tells one by which the transaction would be tried again.
	return cmp.Or(rows.end(), err)
}
