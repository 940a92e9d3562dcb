package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// Try finds out whether an indexer of this version could work with a PostgreSQL database, and changes nothing in it: the database answers and takes
// writes, its schema is one that this version reads or may migrate, and the role has the rights.
func Try(ctx context.Context, dsn string) error {
	if strings.HasPrefix(dsn, "sqlite:") {
		return errors.New("database: --try is for PostgreSQL: leave it out")
	}
	d, err := database.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(try(ctx, d), d.Close())
}

func try(ctx context.Context, d *database.DB) error {
	var role, schemas string
	var readOnly, makes, there bool
	err := d.Write.QueryRowContext(ctx, "SELECT current_user, array_to_string(current_schemas(false), ', '), current_setting('transaction_read_only')::bool, "+
		"COALESCE(has_schema_privilege(current_schema(), 'CREATE'), false), to_regclass('schema_reader') IS NOT NULL").
		Scan(&role, &schemas, &readOnly, &makes, &there)
	switch {
	case err != nil:
		return fmt.Errorf("database: look at the role: %w", err)
	case readOnly:
		return errors.New("database: it takes no writes: the address leads to a standby, or transactions are read-only by default; give that of the primary")
	case !makes:
		return fmt.Errorf("database: role %s may make no tables in the schemas that it uses (%s): grant it CREATE on one, or give the owner's address", role, schemas)
	}
	if !there {
		return nil
	}
	return tryTables(ctx, d, role)
}

// tryTables looks at a schema that is there already. A role that isn't the owner's can't migrate it, now or after the next upgrade.
func tryTables(ctx context.Context, d *database.DB, role string) error {
	if err := checkReader(ctx, d, d.Read); err != nil {
		return err
	}
	tables, err := ownTables(ctx, d.Read, "NOT pg_has_role(c.relowner, 'USAGE')")
	if err != nil {
		return err
	}
	if n := len(tables); n > 0 {
		return fmt.Errorf("database: role %s doesn't own %d of its tables, such as %s: indexers need the address of the owner", role, n, tables[0].name)
	}
	return nil
}
