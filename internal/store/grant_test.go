package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// site is a database of an owner's own, who may make no roles, as a managed service gives it.
type site struct {
	t             *testing.T
	admin         string // the administrator's address
	owner, reader string // names
}

var roles atomic.Int64

func newSite(t *testing.T) *site {
	t.Helper()
	n := roles.Add(1)
	s := &site{t: t, admin: storetest.DSN(t, "postgres"), owner: fmt.Sprintf("owner_%d", n), reader: fmt.Sprintf("Reader-%d", n)}
	s.run(s.admin, `CREATE ROLE `+s.owner+` LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB`)
	s.run(s.admin, `ALTER DATABASE `+s.database()+` OWNER TO `+s.owner)
	return s
}

func (s *site) database() string {
	u, err := url.Parse(s.admin)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimPrefix(u.Path, "/")
}

// as is the address of a role.
func (s *site) as(role string) string {
	s.t.Helper()
	u, err := url.Parse(s.admin)
	if err != nil {
		s.t.Fatal(err)
	}
	q := u.Query()
	q.Set("user", role)
	u.RawQuery = q.Encode()
	return u.String()
}

// try runs SQL, which may be several statements.
func (s *site) try(dsn, sql string) error {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(s.t.Context()) }()
	_, err = conn.PgConn().Exec(s.t.Context(), sql).ReadAll()
	return err
}

func (s *site) run(dsn, sql string) {
	s.t.Helper()
	if err := s.try(dsn, sql); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// migrate runs the program as a role.
func (s *site) migrate(role, reader string) (out string, err error) {
	s.t.Helper()
	var sql bytes.Buffer
	m := &schema.Migration{Database: s.as(role), Reader: reader, Out: &sql, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	err = m.Run(s.t.Context())
	return sql.String(), err
}

// mayReadAlone checks a store of the reader's: it reads, and can't write.
func (s *site) mayReadAlone() {
	s.t.Helper()
	st, err := store.OpenReader(s.t.Context(), s.as(s.reader))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	if _, err := st.Chains(s.t.Context()); err != nil {
		s.t.Errorf("the reader doesn't read: %v", err)
	}
	for _, reserved := range []*store.Store{st, st.Reserved()} {
		if _, err := reserved.Leases.Acquire(s.t.Context(), "base", "reader", time.Minute); err == nil {
			s.t.Error("the reader took a chain's lease")
		}
	}
	// Whoever takes the process over asks for a transaction that writes.
	for _, sql := range []string{
		"BEGIN READ WRITE; INSERT INTO chains (id) VALUES ('forged'); COMMIT", "SET default_transaction_read_only = off; DELETE FROM chains",
		"BEGIN READ WRITE; UPDATE schema_reader SET oldest = 1000; COMMIT", "BEGIN READ WRITE; DROP TABLE chains; COMMIT",
		"BEGIN READ WRITE; CREATE TABLE mine (n int); COMMIT", "SET ROLE " + s.owner,
	} {
		if err := s.try(s.as(s.reader), sql); err == nil {
			s.t.Errorf("the reader may %s", sql)
		}
	}
}

// TestAReaderIsGivenItsRights by an owner who may make no roles, and keeps them when a later version makes tables and chains their parts.
func TestAReaderIsGivenItsRights(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.run(s.admin, `CREATE ROLE "`+s.reader+`" LOGIN`)
	if _, err := store.OpenReader(t.Context(), s.as(s.reader)); !errors.Is(err, schema.ErrNoSchema) || !strings.Contains(err.Error(), "no tables of Boardwalk") {
		t.Errorf("before the migration: %v", err)
	}
	if out, err := s.migrate(s.owner, ""); err != nil || out != "" {
		t.Fatalf("%v, %s", err, out)
	}
	if _, err := store.OpenReader(t.Context(), s.as(s.reader)); !errors.Is(err, schema.ErrNoSchema) || !strings.Contains(err.Error(), "may not read") {
		t.Errorf("before it was given rights: %v", err)
	}
	for range 2 { // the second one has nothing to do
		if out, err := s.migrate(s.owner, s.reader); err != nil || out != "" {
			t.Fatalf("%v, %s", err, out)
		}
		s.mayReadAlone()
		for _, table := range []string{"registry_secret", "released_handles", "kept_answers", "wallet_challenges"} {
			if s.try(s.as(s.reader), "SELECT 1 FROM "+table) == nil {
				t.Errorf("it reads %s", table)
			}
		}
	}
	indexer := storetest.OpenAt(t, s.as(s.owner))
	if _, err := indexer.Leases.Acquire(t.Context(), "base", "indexer", time.Minute); err != nil {
		t.Fatal(err)
	}
	s.run(s.as(s.owner), "CREATE TABLE of_a_later_version (n int)")
	s.run(s.as(s.reader), "SELECT n FROM of_a_later_version; SELECT count(*) FROM trades")
	s.mayReadAlone()
}

// TestARoleThatIsNotThere is for an administrator to make, by the SQL that is written.
func TestARoleThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out, err := s.migrate(s.owner, s.reader)
	if !errors.Is(err, schema.ErrNotGranted) || !strings.Contains(err.Error(), "doesn't exist") {
		t.Fatalf("%v", err)
	}
	for _, part := range []string{`CREATE ROLE "` + s.reader + `" LOGIN;`, `\password "` + s.reader + `"`, "GRANT SELECT ON", "ALTER DEFAULT PRIVILEGES FOR ROLE"} {
		if !strings.Contains(out, part) {
			t.Errorf("the SQL lacks %s:\n%s", part, out)
		}
	}
	s.run(s.admin, out)
	if out, err := s.migrate(s.owner, s.reader); err != nil || out != "" {
		t.Errorf("after its SQL was run: %v\n%s", err, out)
	}
	s.mayReadAlone()
}

// TestAnOwnerWhoMayNotGrant leaves it to an administrator: the schema isn't its own, or it may only use the tables.
func TestAnOwnerWhoMayNotGrant(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.run(s.admin, `CREATE ROLE "`+s.reader+`" LOGIN; CREATE SCHEMA markets; GRANT USAGE, CREATE ON SCHEMA markets TO `+s.owner+`;
		ALTER DATABASE `+s.database()+` SET search_path = markets; REVOKE CONNECT ON DATABASE `+s.database()+` FROM PUBLIC`)
	s.run(s.admin, `ALTER DATABASE `+s.database()+` OWNER TO postgres; GRANT CONNECT ON DATABASE `+s.database()+` TO `+s.owner)
	out, err := s.migrate(s.owner, s.reader)
	if !errors.Is(err, schema.ErrNotGranted) || !strings.Contains(err.Error(), "can't be given its rights by the role "+s.owner) {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(out, `GRANT USAGE ON SCHEMA "markets"`) || !strings.Contains(out, "GRANT CONNECT ON DATABASE") {
		t.Errorf("the SQL is\n%s", out)
	}
	s.run(s.admin, out)
	if out, err := s.migrate(s.owner, s.reader); err != nil || out != "" {
		t.Errorf("after its SQL was run: %v\n%s", err, out)
	}
	s.mayReadAlone()
}

// TestWhoIsNoReader: a role that may write is refused, whichever way it may.
func TestWhoIsNoReader(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"a superuser":           `CREATE ROLE "READER" LOGIN SUPERUSER`,
		"a member of the owner": `CREATE ROLE "READER" LOGIN NOINHERIT; GRANT OWNER TO "READER"`,
		"one that may delete":   `CREATE ROLE "READER" LOGIN; ALTER DEFAULT PRIVILEGES FOR ROLE OWNER GRANT DELETE ON TABLES TO "READER"`,
		"the owner":             "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			reader := s.reader
			if sql == "" {
				reader = s.owner
			} else {
				s.run(s.admin, strings.NewReplacer("READER", s.reader, "OWNER", s.owner).Replace(sql))
			}
			if out, err := s.migrate(s.owner, reader); err == nil || !strings.Contains(err.Error(), "so it is no reader") || out != "" {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	m := &schema.Migration{Database: storetest.DSN(t, "sqlite"), Reader: "x", Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "SQLite file has no roles") {
		t.Errorf("a role of an SQLite file: %v", err)
	}
}

// TestAReaderWithTheOwnersAddress opens read-only transactions, which is all that keeps it from writing.
func TestAReaderWithTheOwnersAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, err := s.migrate(s.owner, ""); err != nil {
		t.Fatal(err)
	}
	st, err := store.OpenReader(t.Context(), s.as(s.owner))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	for _, one := range []*store.Store{st, st.Reserved()} {
		if _, err := one.Leases.Acquire(t.Context(), "base", "reader", time.Minute); err == nil || !strings.Contains(err.Error(), "read-only transaction") {
			t.Errorf("taking a chain's lease: %v", err)
		}
	}
}

// TestAReaderRefusesWhatItCannotRead tells an older schema, which is about to be migrated, from a newer one.
func TestAReaderRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, err := s.migrate(s.owner, ""); err != nil {
		t.Fatal(err)
	}
	open := func() error {
		st, err := store.OpenReader(t.Context(), s.as(s.owner))
		if err == nil {
			_ = st.Close()
		}
		return err
	}
	s.run(s.as(s.owner), "CREATE TABLE kept AS SELECT * FROM goose_db_version; DELETE FROM goose_db_version WHERE version_id > 6") //nolint:unqueryvet // a copy
	if err := open(); !errors.Is(err, schema.ErrNoSchema) || !strings.Contains(err.Error(), "it has schema 6 and this boardwalk reads") {
		t.Errorf("an older schema: %v", err)
	}
	s.run(s.as(s.owner), "DELETE FROM goose_db_version; INSERT INTO goose_db_version SELECT * FROM kept; UPDATE schema_reader SET oldest = 1000") //nolint:unqueryvet // a copy
	if err := open(); !errors.Is(err, schema.ErrNewerSchema) || errors.Is(err, schema.ErrNoSchema) {
		t.Errorf("a newer schema: %v", err)
	}
	for dsn, want := range map[string]string{"mysql://x": "postgres:// or sqlite:", "postgres://u:secret@127.0.0.1:notaport/x": "its form is"} {
		if _, err := store.OpenReader(t.Context(), dsn); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

// TestWaitingForASchema says so every ten seconds of the program's clock, and ends with what to do.
func TestWaitingForASchema(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	var log bytes.Buffer
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	var looks int
	w := schema.Waiting{Deadline: 25 * time.Second, Log: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time {
		looks++
		return at.Add(time.Duration(looks) * 5 * time.Second)
	}}
	st, err := store.OpenReaderPatiently(t.Context(), dsn, w)
	if err == nil {
		_ = st.Close()
	}
	if !errors.Is(err, schema.ErrNoSchema) || !strings.Contains(err.Error(), "after waiting for 25s") || !strings.Contains(err.Error(), "run `boardwalk migrate`") {
		t.Errorf("at the deadline: %v", err)
	}
	if n := strings.Count(log.String(), "waiting for the database's schema"); n != 2 {
		t.Errorf("in 25 s it said %d times what it waits for, wanted 2:\n%s", n, log.String())
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := store.OpenReaderPatiently(ctx, dsn, w); !errors.Is(err, context.Canceled) {
		t.Errorf("told to end: %v", err)
	}
}

// TestTheMembersRole writes what is of members, and nothing that is of a chain.
func TestTheMembersRole(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.run(s.admin, `CREATE ROLE "`+s.reader+`" LOGIN; REVOKE ALL ON DATABASE `+s.database()+` FROM PUBLIC`)
	m := &schema.Migration{Database: s.as(s.owner), Members: s.reader, Out: io.Discard, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	for range 2 { // the second one has nothing to do
		if err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	st, err := store.OpenMigratedPatiently(t.Context(), s.as(s.reader), store.Waiting{Deadline: time.Minute, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	records := make([]member.Record, 200) // as many as go by way of a temporary table
	for i := range records {
		records[i] = member.Record{ID: member.ID(fmt.Sprintf("u%d", i)), Handle: fmt.Sprintf("h%d", i), JoinedAt: 1, UpdatedAt: 1}
	}
	if applied, _, err := st.Social.Registry.Apply(t.Context(), records, false, 2); err != nil || applied[199].Outcome != member.Written {
		t.Errorf("write members: %v", err)
	}
	lease, err := st.Social.Leases.Acquire(t.Context(), "here", time.Hour.Milliseconds())
	if err != nil || lease == nil {
		t.Fatalf("take the lease: %v", err)
	}
	err = errors.Join(st.Social.Presence.SetOnline(t.Context(), lease, 1), st.Social.Presence.KeepPresent(t.Context(), lease, 60, []member.Number{1}, 0),
		st.Social.Registry.Challenge(t.Context(), "text", 10), st.Social.Answers.Keep(t.Context(), "key", &social.KeptAnswer{Request: []byte{1}, Body: []byte{1}}, 1))
	if _, cleaned := st.Social.Upkeep.Clean(t.Context(), 1<<32); err != nil || cleaned != nil {
		t.Errorf("everything else: %v, %v", err, cleaned)
	}
	if _, err := st.Leases.Acquire(t.Context(), "base", "members", time.Minute); err == nil {
		t.Error("it took a chain's lease")
	}
	for _, sql := range []string{
		"DELETE FROM tokens", "UPDATE trades SET trader = NULL", "INSERT INTO facts (chain) VALUES ('base')", "TRUNCATE pools", "CREATE TABLE x (n int)", "DROP TABLE members",
		"UPDATE schema_reader SET oldest = 1000",
	} {
		if s.try(s.as(s.reader), sql) == nil {
			t.Errorf("it may %s", sql)
		}
	}
	s.run(s.admin, `CREATE ROLE "`+s.reader+`-2" LOGIN; GRANT DELETE ON ALL TABLES IN SCHEMA public TO "`+s.reader+`-2"`)
	m.Members = s.reader + "-2"
	if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no role for the members program") {
		t.Errorf("one that may delete what is of chains: %v", err)
	}
}
