package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// ErrNotGranted is returned by Migration.Run when a role can't be given its rights by the role that runs it.
var ErrNotGranted = errors.New("the role lacks rights")

// Migration is the program that brings a database's schema up to date and ends.
type Migration struct {
	// Database is the address of the owner: sqlite:PATH or postgres://….
	Database string
	// Reader is a PostgreSQL role that is to read all tables, those of later migrations too, and nothing else; empty is none.
	Reader string
	// Members is a PostgreSQL role that is to read all tables and to write those of members; empty is none.
	Members string
	// Out gets the SQL that an administrator has to run where the owner may not.
	Out io.Writer
	Now func() time.Time
	Log *slog.Logger
}

// Run waits for a database that isn't there yet, migrates it and gives roles their rights.
func (m *Migration) Run(ctx context.Context) error {
	for flag, role := range map[string]string{"--reader": m.Reader, "--members": m.Members} {
		if role != "" && strings.HasPrefix(m.Database, "sqlite:") {
			return errors.New(flag + " is for PostgreSQL: an SQLite file has no roles; leave it out")
		}
	}
	st, err := OpenPatiently(ctx, m.Database, m.Now, func(error) {}, m.Log)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	m.Log.InfoContext(ctx, "the schema is up to date", "schema", Version)
	if m.Reader != "" {
		if err := m.grant(ctx, st.Write, m.Reader, nil); err != nil {
			return err
		}
	}
	if m.Members != "" {
		return m.grant(ctx, st.Write, m.Members, memberTables)
	}
	return nil
}

// memberTables are the tables that the members program writes: what the platform's app says of members, and the counters of streams.
var memberTables = []string{
	"members", "member_wallets", "wallet_challenges", "kept_answers", "presence", "presence_minutes", "program_leases", "released_handles",
	"registry_secret", "sequences", "calls", "posts", "stream", "game_state", "game_days", "game_members", "season_places", "profit_buckets",
}

// privateTables are the tables that no reader needs: the key that hides handles, the hidden handles, and what the intake keeps for callers.
var privateTables = []string{"registry_secret", "released_handles", "kept_answers", "wallet_challenges"}

// grant gives a role the right to read all tables, or all but the private ones, and to write some.
func (m *Migration) grant(ctx context.Context, db *bun.DB, role string, writes []string) error {
	r, err := examineRole(ctx, db, role, writes)
	if err != nil {
		return err
	}
	if len(r.writable) > 0 {
		what := "reader"
		if len(writes) > 0 {
			what = "role for the members program"
		}
		return fmt.Errorf("role %s may write to %d tables, such as %s, so it is no %s: name a role that doesn't own them, "+
			"is no member of their owner, no superuser, and has no right on them but SELECT", role, len(r.writable), r.writable[0], what)
	}
	if r.creates {
		m.Log.WarnContext(ctx, "the role may make tables and functions in the schema, which the owner could run unawares: take that away",
			"sql", "REVOKE CREATE ON SCHEMA "+database.Ident(r.schema)+" FROM PUBLIC, "+database.Ident(role))
	}
	if len(r.missing) == 0 {
		m.Log.InfoContext(ctx, "the role has its rights", "role", role)
		return nil
	}
	wanted := r.missing
	if r.exists {
		if err := runAll(ctx, db.DB, wanted); err != nil {
			return err
		}
		// A statement without the right to it can end in a warning alone.
		if r, err = examineRole(ctx, db, role, writes); err != nil {
			return err
		}
		if len(r.missing) == 0 {
			m.Log.InfoContext(ctx, "the role was given its rights", "role", role)
			return nil
		}
	}
	password := ""
	if !r.exists {
		password = "-- Then give the role a password, in psql by \\password " + database.Ident(role) + ".\n"
	}
	_, err = fmt.Fprintf(m.Out, "-- To be run by an administrator, connected to the database %s:\n%s;\n%s", database.Ident(r.database), strings.Join(wanted, ";\n"), password)
	if err != nil {
		return fmt.Errorf("write the SQL: %w", err)
	}
	why := "doesn't exist, and this program makes no roles"
	if r.exists {
		why = "can't be given its rights by the role " + r.owner
	}
	return fmt.Errorf("%w: role %s %s: have an administrator run the SQL that is written above, then run this again", ErrNotGranted, role, why)
}

// runAll runs statements in one transaction. That the role has no right to one of them is no error.
func runAll(ctx context.Context, db *sql.DB, statements []string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("database: give a role its rights: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit there is nothing to roll back
	for _, s := range statements {
		const insufficientPrivilege = "42501"
		_, err := tx.ExecContext(ctx, s)
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == insufficientPrivilege {
			return nil
		}
		if err != nil {
			return fmt.Errorf("database: %s: %w", s, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("database: give a role its rights: %w", err)
	}
	return nil
}

// isPrivate is the condition that a table, c, is a private one.
var isPrivate = "c.relname IN ('" + strings.Join(privateTables, "', '") + "')"

// rights is what a role may do with the tables.
type rights struct {
	owner, database, schema string
	exists                  bool
	// writable are the tables that it may change and should not.
	writable []table
	// creates reports whether it may make objects in the schema.
	creates bool
	// missing are the statements that give it what it lacks.
	missing []string
}

func examineRole(ctx context.Context, db *bun.DB, role string, writes []string) (r rights, err error) {
	err = db.QueryRowContext(ctx, "SELECT current_user, current_database(), n.nspname, EXISTS (SELECT 1 FROM pg_roles WHERE rolname = ?0) "+
		"FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('schema_reader')", role).
		Scan(&r.owner, &r.database, &r.schema, &r.exists)
	if err != nil {
		return r, fmt.Errorf("database: look for role %s: %w", role, err)
	}
	connects, uses, later, temporary := false, false, false, false
	unread := "TRUE"
	var args []any
	if r.exists {
		// Rights on later tables are those that tables of the current role begin with.
		if err = db.QueryRowContext(ctx, "SELECT has_database_privilege(?0, current_database(), 'CONNECT'), "+
			"has_database_privilege(?0, current_database(), 'TEMPORARY'), has_schema_privilege(?0, ?1, 'USAGE'), "+
			"has_schema_privilege(?0, ?1, 'CREATE'), EXISTS (SELECT 1 FROM pg_default_acl d, aclexplode(d.defaclacl) a "+
			"WHERE d.defaclrole = (SELECT oid FROM pg_roles WHERE rolname = current_user) AND d.defaclobjtype = 'r' "+
			"AND d.defaclnamespace IN (0, (SELECT oid FROM pg_namespace WHERE nspname = ?1)) "+
			"AND a.grantee = (SELECT oid FROM pg_roles WHERE rolname = ?0) AND a.privilege_type = 'SELECT')", role, r.schema).
			Scan(&connects, &temporary, &uses, &r.creates, &later); err != nil {
			return r, fmt.Errorf("database: look for the rights of role %s: %w", role, err)
		}
		if r.writable, err = ownTables(ctx, db, "pg_has_role(?0, c.relowner, 'MEMBER') OR "+
			"(has_table_privilege(?0, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') AND c.relname NOT IN (?1))", role, bun.List(append(writes, ""))); err != nil {
			return r, err
		}
		unread, args = "NOT has_table_privilege(?0, c.oid, 'SELECT')", []any{role}
	}
	if len(writes) == 0 {
		unread += " AND NOT " + isPrivate
	}
	tables, err := ownTables(ctx, db, unread, args...)
	if err != nil {
		return r, err
	}
	to := " TO " + database.Ident(role)
	if !r.exists {
		r.missing = append(r.missing, "CREATE ROLE "+database.Ident(role)+" LOGIN") // without a password, which somebody could leave as it is here
	}
	if !connects {
		r.missing = append(r.missing, "GRANT CONNECT ON DATABASE "+database.Ident(r.database)+to)
	}
	if !uses {
		r.missing = append(r.missing, "GRANT USAGE ON SCHEMA "+database.Ident(r.schema)+to)
	}
	if len(tables) > 0 {
		r.missing = append(r.missing, "GRANT SELECT ON "+listed(tables)+to)
	}
	if len(writes) == 0 && r.exists { // rights on later tables are given as they are made
		read, err := ownTables(ctx, db, isPrivate+" AND has_table_privilege(?0, c.oid, 'SELECT')", role)
		if err != nil {
			return r, err
		}
		if len(read) > 0 {
			r.missing = append(r.missing, "REVOKE SELECT ON "+listed(read)+" FROM "+database.Ident(role))
		}
	}
	if len(writes) > 0 {
		more, err := r.missingToWrite(ctx, db, role, temporary, writes)
		if err != nil {
			return r, err
		}
		r.missing = append(r.missing, more...)
	}
	if !later {
		r.missing = append(r.missing, "ALTER DEFAULT PRIVILEGES FOR ROLE "+database.Ident(r.owner)+" IN SCHEMA "+database.Ident(r.schema)+" GRANT SELECT ON TABLES"+to)
	}
	return r, nil
}

// missingToWrite are the statements that give a role what it lacks to write tables, and the temporary ones that bulk writes need.
func (r *rights) missingToWrite(ctx context.Context, db *bun.DB, role string, temporary bool, writes []string) (missing []string, err error) {
	to := " TO " + database.Ident(role)
	if !temporary {
		missing = append(missing, "GRANT TEMPORARY ON DATABASE "+database.Ident(r.database)+to)
	}
	unwritten := "c.relname IN (?0)"
	if r.exists {
		unwritten += " AND NOT (has_table_privilege(?1, c.oid, 'INSERT') AND has_table_privilege(?1, c.oid, 'UPDATE') AND has_table_privilege(?1, c.oid, 'DELETE'))"
	}
	tables, err := ownTables(ctx, db, unwritten, bun.List(writes), role)
	if err != nil {
		return nil, err
	}
	if len(tables) > 0 {
		missing = append(missing, "GRANT INSERT, UPDATE, DELETE ON "+listed(tables)+to)
	}
	return missing, nil
}

// listed are tables as a statement lists them.
func listed(tables []table) string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}
