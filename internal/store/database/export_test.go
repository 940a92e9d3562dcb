package database

import (
	"context"
	"errors"
	"reflect"

	"github.com/jackc/pgx/v5"
)

// ErrNoEncoder says that a row type has a column that is left to the driver.
var ErrNoEncoder = errors.New("a column has no encoder")

// CopyBinary writes rows into a table by the encoders of this package.
func CopyBinary[R any](ctx context.Context, db *DB, into string, rows []R) error {
	return db.InTransaction(ctx, func(tx *Transaction) error {
		t := tx.Dialect().Tables().Get(reflect.TypeFor[R]())
		return tx.onConn(func(c *pgx.Conn) error {
			types, err := tx.types.ask(ctx, c, t.Name)
			if err != nil {
				return err
			}
			encoders, ok := encodersOf(t.Fields, types)
			if !ok {
				return ErrNoEncoder
			}
			return copyBinary(ctx, c, into, &copied[R]{rows: rows, columns: t.Fields, encoders: encoders})
		})
	})
}
