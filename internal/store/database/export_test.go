package database

import (
	"context"
	"errors"
	"reflect"

	"github.com/jackc/pgx/v5"
)

// ErrNoForm says that a row type has a column that is left to the driver.
var ErrNoForm = errors.New("a column has no form")

// CopyBinary writes rows into a table in the form of this package.
func CopyBinary[R any](ctx context.Context, db *DB, into string, rows []R) error {
	return db.InTransaction(ctx, func(tx *Transaction) error {
		t := tx.Dialect().Tables().Get(reflect.TypeFor[R]())
		return tx.onConn(func(c *pgx.Conn) error {
			types, err := tx.types.ask(ctx, c, t.Name)
			if err != nil {
				return err
			}
			forms, ok := formsOf(t.Fields, types)
			if !ok {
				return ErrNoForm
			}
			return copyBinary(ctx, c, into, &copied[R]{rows: rows, columns: t.Fields, forms: forms})
		})
	})
}
