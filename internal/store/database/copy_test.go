package database_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// connected is a connection to an empty PostgreSQL with a table.
func connected(t *testing.T, create string) *database.DB {
	t.Helper()
	db, err := database.Connect(t.Context(), storetest.DSN(t, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Write.ExecContext(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	return db
}

// valued has a column of each type that is copied.
type valued struct {
	bun.BaseModel `bun:"table:valued"`

	ID     int64 `bun:",pk"`
	Word   string
	Bytes  []byte
	Small  int32
	Real   float64
	Sold   bool
	Maybe  *int64
	Often  *float64
	Common *bool
	Few    *int64
}

const valuedTable = "CREATE TABLE valued (id bigint PRIMARY KEY, word text NOT NULL, bytes bytea, small integer NOT NULL, real double precision NOT NULL, " +
	"sold boolean NOT NULL, maybe bigint, often double precision, common boolean, few smallint)"

// TestCopiedValues writes rows and reads them back. Among them are the least and the greatest value of each type, empty and missing values, rows that are longer than the piece that is sent at
// once, and 3,000 short rows, of which some are divided between two pieces.
func TestCopiedValues(t *testing.T) {
	t.Parallel()
	db := connected(t, valuedTable)
	least, most, no, few := int64(math.MinInt64), math.MaxFloat64, false, int64(math.MinInt16)
	rows := []valued{
		{},
		{Word: "π 🜨\tone\\N", Bytes: []byte{}, Small: math.MinInt32, Real: math.Inf(-1), Sold: true, Maybe: &least, Often: &most, Common: &no, Few: &few},
		{Word: strings.Repeat("long ", 40_000), Bytes: make([]byte, 200_000), Small: math.MaxInt32, Real: math.SmallestNonzeroFloat64},
		{Bytes: []byte("PGCOPY\n\xff\r\n\x00\xff\xff"), Real: math.Copysign(0, -1)},
	}
	for n := range 3000 {
		rows = append(rows, valued{Word: strings.Repeat("x", n%97), Bytes: []byte(strings.Repeat("y", n%89))})
	}
	for i := range rows {
		rows[i].ID = int64(i) + math.MinInt64
	}
	for _, list := range [][]valued{rows[:0], rows} {
		if err := database.CopyBinary(t.Context(), db, "valued", list); err != nil {
			t.Fatal(err)
		}
	}
	var got []valued
	if err := db.Read.NewSelect().Model(&got).Order("id").Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(rows) {
		t.Fatalf("%d rows are there, want %d", len(got), len(rows))
	}
	for i := range rows {
		if !reflect.DeepEqual(got[i], rows[i]) {
			t.Errorf("row %d is %.200v, want %.200v", i, got[i], rows[i])
		}
	}
}

// TestOtherColumnTypes writes rows into columns of other types than the rows' fields suggest: the driver converts what it can, and nothing is written that would be
// read as another type.
func TestOtherColumnTypes(t *testing.T) {
	t.Parallel()
	db := connected(t, strings.NewReplacer("small integer", "small bigint", "real double precision", "real numeric", "word text", "word varchar").Replace(valuedTable))
	if err := database.CopyBinary(t.Context(), db, "valued", make([]valued, 1)); !errors.Is(err, database.ErrNoEncoder) {
		t.Fatalf("columns of other types have an encoder: %v", err)
	}
	rows := make([]valued, 100)
	for i := range rows {
		rows[i] = valued{ID: int64(i), Word: "t", Small: 7, Real: 1.5}
	}
	for range 2 { // into the table itself, then by way of a temporary one
		if err := db.InTransaction(t.Context(), func(tx *database.Transaction) error { return database.Upsert(t.Context(), tx, rows) }); err != nil {
			t.Fatal(err)
		}
	}
	var sum float64
	if err := db.Read.NewRaw("SELECT sum(small + real) FROM valued WHERE word = 't'").Scan(t.Context(), &sum); err != nil || sum != 850 {
		t.Errorf("the rows sum up to %v, want 850; %v", sum, err)
	}
}

// TestRefusedRows copies rows that can't be: the error says why, and the connection goes on.
func TestRefusedRows(t *testing.T) {
	t.Parallel()
	db := connected(t, valuedTable)
	beyond := int64(math.MaxInt16 + 1)
	for want, rows := range map[string][]valued{
		"duplicate key": make([]valued, 100_000), "invalid byte sequence": {{Word: "\x00"}}, "0xff": {{Word: "\xff"}},
		"column few: 32768 is beyond a smallint": {{Few: &beyond}},
	} {
		err := database.CopyBinary(t.Context(), db, "valued", rows)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
		if errors.Is(err, database.ErrInterrupted) {
			t.Errorf("it is to be tried again, and can't be: %v", err)
		}
	}
	if n, err := db.Write.NewSelect().Model((*valued)(nil)).Count(t.Context()); err != nil || n != 0 {
		t.Errorf("%d rows are there, want none; %v", n, err)
	}
}

// TestRowsOfTheIndexAreCopied holds the rows that an indexer writes against the columns that the database has for them: none of them is left to the driver.
func TestRowsOfTheIndexAreCopied(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	storetest.OpenAt(t, dsn)
	db, err := database.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for what, err := range map[string]error{
		"tokens":      database.CopyBinary(t.Context(), db, "tokens", []model.Token(nil)),
		"pools":       database.CopyBinary(t.Context(), db, "pools", []model.Pool(nil)),
		"ticks":       database.CopyBinary(t.Context(), db, "pool_ticks", []model.Ticks(nil)),
		"quotes":      database.CopyBinary(t.Context(), db, "quote_prices", []model.Quote(nil)),
		"candles":     database.CopyBinary(t.Context(), db, "candles", []model.Candle(nil)),
		"balances":    database.CopyBinary(t.Context(), db, "balances", []model.Balance(nil)),
		"launches":    database.CopyBinary(t.Context(), db, "launches", []model.Launch(nil)),
		"trades":      database.CopyBinary(t.Context(), db, "trades", []model.Trade(nil)),
		"waiting":     database.CopyBinary(t.Context(), db, "waiting_trades", []model.Waiting(nil)),
		"queued":      database.CopyBinary(t.Context(), db, "holder_queue", []model.Queued(nil)),
		"staging":     database.CopyBinary(t.Context(), db, "holder_staging", []model.Staging(nil)),
		"payments":    database.CopyBinary(t.Context(), db, "payments", []model.Payments(nil)),
		"entries":     database.CopyBinary(t.Context(), db, "wallet_entries", []model.Entry(nil)),
		"fees":        database.CopyBinary(t.Context(), db, "wallet_fees", []model.Fee(nil)),
		"positions":   database.CopyBinary(t.Context(), db, "wallet_positions", []model.Position(nil)),
		"hours":       database.CopyBinary(t.Context(), db, "wallet_hours", []model.Hour(nil)),
		"former rows": database.CopyBinary(t.Context(), db, "undo", []former.Row(nil)),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestNoMigrationChangesAType holds the migrations to what programs rely on that have asked for the columns' types once.
func TestNoMigrationChangesAType(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../schema/migrations/*.sql")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d migrations; %v", len(files), err)
	}
	changes := regexp.MustCompile(`(?i)ALTER\s+(COLUMN\s+)?\w+\s+(SET\s+DATA\s+)?TYPE\b`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if found := changes.Find(text); found != nil {
			t.Errorf("%s changes a column's type: %q", filepath.Base(f), found)
		}
	}
}
