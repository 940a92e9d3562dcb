package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
)

// TestTry: an indexer's database is looked at before indexers get its address, and nothing is changed by that.
func TestTry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	wants := func(when, dsn, part string) {
		t.Helper()
		err := schema.Try(t.Context(), dsn)
		if part == "" && err != nil || part != "" && (err == nil || !strings.Contains(err.Error(), part)) {
			t.Errorf("%s: %v; want %q", when, err, part)
		}
	}
	s.run(s.admin, `CREATE ROLE "`+s.reader+`" LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT CREATE ON SCHEMA public TO `+s.owner)
	wants("an empty database, of its owner", s.as(s.owner), "")
	if err := s.try(s.as(s.owner), "SELECT FROM schema_reader"); err == nil {
		t.Error("the trial made tables")
	}
	wants("an empty database, of a reader", s.as(s.reader), fmt.Sprintf("role %s may make no tables in the schemas that it uses (public)", s.reader))
	if _, err := s.migrate(s.owner, s.reader); err != nil {
		t.Fatal(err)
	}
	wants("a migrated one, of its owner", s.as(s.owner), "")
	wants("a migrated one, of a reader", s.as(s.reader), "may make no tables")
	s.run(s.admin, `GRANT CREATE ON SCHEMA public TO "`+s.reader+`"`)
	wants("of a role that may make tables", s.as(s.reader), fmt.Sprintf("role %s doesn't own", s.reader))
	s.run(s.as(s.owner), fmt.Sprintf("UPDATE schema_reader SET oldest = %d", schema.Version+1))
	wants("of a newer version", s.as(s.owner), schema.ErrNewerSchema.Error())
	s.run(s.as(s.owner), fmt.Sprintf("UPDATE schema_reader SET oldest = %d", schema.Version))
	s.run(s.admin, "ALTER DATABASE "+s.database()+" SET default_transaction_read_only = on")
	wants("read-only, as a standby", s.as(s.owner), "it takes no writes")
	wants("a wrong name", strings.Replace(s.admin, s.database(), "nosuchdatabase", 1), "nosuchdatabase")
	if err := schema.Try(t.Context(), strings.Replace(s.admin, s.database(), "nosuchdatabase", 1)); !store.Unreachable(err) {
		t.Errorf("a wrong name isn't told as the database's fault: %v", err)
	}
}
