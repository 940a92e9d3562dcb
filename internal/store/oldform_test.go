package store_test

import (
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// oldHead is the newest block of the databases in testdata/c9acfc3, oldOldest the one that they can be taken back to.
const oldHead, oldOldest = 54, 46

func unzip(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "c9acfc3", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// oldDatabase is the address of a database as the indexer of c9acfc3 left it.
func oldDatabase(t *testing.T, kind string) string {
	t.Helper()
	dsn := storetest.DSN(t, kind)
	if kind == "sqlite" {
		if err := os.WriteFile(strings.TrimPrefix(dsn, "sqlite:"), unzip(t, "sqlite.db.gz"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dsn
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.PgConn().Exec(t.Context(), string(unzip(t, "postgres.sql.gz"))).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// openOld opens such a database with this version.
func openOld(t *testing.T, kind string) (*store.Store, *store.Lease, *sql.DB) {
	t.Helper()
	dsn := oldDatabase(t, kind)
	s := storetest.OpenAt(t, dsn)
	if kind == "sqlite" {
		dsn += "?_pragma=busy_timeout(10000)"
	}
	db := raw(t, kind, dsn)
	t.Cleanup(func() { _ = db.Close() })
	return s, lease(t, s), db
}

// TestOldDatabaseIsRewound takes databases that c9acfc3 wrote back block by block, each with a block of today's on top, and wants
// the rows that c9acfc3's own rewind left.
func TestOldDatabaseIsRewound(t *testing.T) {
	t.Parallel()
	want := strings.Split(strings.TrimSpace(string(unzip(t, "rewound.gz"))), "\n")
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, l, db := openOld(t, kind)
			var forms int
			of := len(store.Tables()) - 6 // waiting_trades and the five of members' wallets are younger
			if err := db.QueryRowContext(t.Context(), "SELECT count(DISTINCT tbl) FROM undo").Scan(&forms); err != nil || forms != of {
				t.Fatalf("images of %d tables, %v; want all %d", forms, err, of)
			}
			rows := oldRows(t, db)
			for n := oldHead + 1; n < oldHead+3; n++ {
				if err := s.Commit(t.Context(), l, everyRow(n, true)); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Rewind(t.Context(), l, oldHead); err != nil {
					t.Fatal(err)
				}
				if change := oldChange(rows, oldRows(t, db)); len(change) > 0 {
					t.Fatalf("a block of today was not taken back: %s", change)
				}
			}
			if err := s.Commit(t.Context(), l, everyRow(oldHead+1, true)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for block := oldHead - 1; block >= oldOldest; block-- {
				if _, err := s.Rewind(t.Context(), l, uint64(block)); err != nil {
					t.Fatal(err)
				}
				after := oldRows(t, db)
				got = append(append(got, fmt.Sprintf("rewound to %d", block)), oldChange(rows, after)...)
				rows = after
			}
			if i := firstDifference(got, want); i >= 0 {
				t.Errorf("line %d of what the rewinds changed is\n%s\nc9acfc3's own rewinds have\n%s", i+1, at(got, i), at(want, i))
			}
		})
	}
}

func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if at(a, i) != at(b, i) {
			return i
		}
	}
	return -1
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(none)"
}

// TestOldDatabaseIsRewoundAtOnce goes back over all blocks in one transaction, as a deep reorg does.
func TestOldDatabaseIsRewoundAtOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var ends [2][]string
			for i, steps := range [][]uint64{{oldOldest}, {oldHead - 1, oldHead - 4, oldOldest}} {
				s, l, db := openOld(t, kind)
				for _, to := range steps {
					if _, err := s.Rewind(t.Context(), l, to); err != nil {
						t.Fatal(err)
					}
				}
				ends[i] = oldRows(t, db)
			}
			if change := oldChange(ends[0], ends[1]); len(change) > 0 {
				t.Errorf("at once and in steps differ: %s", change)
			}
		})
	}
}

// TestOldFactsAreReplayed reads the facts that c9acfc3 kept, hands them to a new database, and wants them unchanged from there.
func TestOldFactsAreReplayed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "c9acfc3", "facts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			old, _, _ := openOld(t, kind)
			fresh := storetest.Open(t, kind)
			facts, err := old.Facts.Between(t.Context(), "base", 0, 1<<40)
			if err != nil {
				t.Fatal(err)
			}
			if err := fresh.Inspect.KeepFacts(t.Context(), lease(t, fresh), facts); err != nil {
				t.Fatal(err)
			}
			again, err := fresh.Facts.Between(t.Context(), "base", 0, 1<<40)
			if err != nil {
				t.Fatal(err)
			}
			for name, list := range map[string][]store.StoredFact{"the old database": facts, "the new one": again} {
				var got []string
				for _, f := range list {
					got = append(got, oldFact(f))
				}
				if i := firstDifference(got, want); i >= 0 {
					t.Errorf("%s: fact %d is\n%s\nit was\n%s", name, i+1, at(got, i), at(want, i))
				}
			}
			for _, f := range facts {
				token, ok := f.Fact.(market.TokenFact)
				if !ok {
					continue
				}
				if first, ok, err := old.Facts.FirstOfToken(t.Context(), "base", token.Token); err != nil || !ok || first != token {
					t.Errorf("the first fact of %s is %+v, %v, %v", token.Token, first, ok, err)
				}
			}
		})
	}
}

// TestOldFormOfFacts reads bodies by Go's names of the kinds that the databases lack; c9acfc3 wrote them.
func TestOldFormOfFacts(t *testing.T) {
	t.Parallel()
	for fact, want := range oldBodies {
		kind, body, _ := strings.Cut(fact, " ")
		if got, err := store.ReadFact(kind, []byte(body)); err != nil || got != want {
			t.Errorf("%s %s\nis read as %+v, %v", kind, body, got, err)
		}
	}
}

// TestUnfollowDropsOldImages: no image by old names brings back balances of tokens that aren't followed any more.
func TestUnfollowDropsOldImages(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, l, db := openOld(t, kind)
			if n, err := s.Upkeep.Unfollow(t.Context(), l, nil); err != nil || n == 0 {
				t.Fatalf("%d tokens were unfollowed, %v", n, err)
			}
			if _, err := s.Rewind(t.Context(), l, oldOldest); err != nil {
				t.Fatal(err)
			}
			kept := slices.DeleteFunc(oldRows(t, db), func(row string) bool {
				table, _, _ := strings.Cut(row, " ")
				return !slices.Contains([]string{"holder_queue", "holder_jobs", "holder_staging"}, table)
			})
			if len(kept) > 0 {
				t.Errorf("%d rows came back, the first is %s", len(kept), kept[0])
			}
		})
	}
}

// TestTheBinaryBeforeIsRefused: a binary that doesn't know declared formats would misread them.
func TestTheBinaryBeforeIsRefused(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		_, _, db := openOld(t, kind)
		var oldest int
		if err := db.QueryRowContext(t.Context(), "SELECT oldest FROM schema_reader").Scan(&oldest); err != nil || oldest != 9 {
			t.Errorf("%s: the oldest schema that a binary must know is %d, %v; want 9", kind, oldest, err)
		}
	}
}

// oldBodies are facts as c9acfc3's factsToRows wrote them.
var oldBodies = map[string]market.Fact{
	`pool {"Pool":"0x0000000000000000000000000000000000000002","Known":false,"Reason":"it gives no answer","Info":{"Protocol":"","Factory":"",` +
		`"Pool":"","Token0":"","Token1":"","FeePips":0,"TickSpacing":0,"Hooks":"","Stable":false,"SqrtPriceX96":"0","Tick":0}}`: market.PoolFact{
		Pool: small(2), Reason: market.PoolMute,
	},
	`pool {"Pool":"0x0102000000000000000000000000000000000000000000000000000000000000","Known":true,"Reason":"","Info":{"Protocol":"UniswapV4",` +
		`"Factory":"0x0000000000000000000000000000000000000003","Pool":"0x0102000000000000000000000000000000000000000000000000000000000000",` +
		`"Token0":"0x0000000000000000000000000000000000000004","Token1":"0x0000000000000000000000000000000000000005","FeePips":3000,` +
		`"TickSpacing":-60,"Hooks":"0x0000000000000000000000000000000000000006","Stable":true,` +
		`"SqrtPriceX96":"115792089237316195423570985008687907853269984665640564039457584007913129639935","Tick":-1}}`: market.PoolFact{
		Pool: market.PoolID([32]byte{1, 2}), Known: true, Info: market.PoolCreated{
			Protocol: market.UniswapV4, Factory: small(3), Pool: market.PoolID([32]byte{1, 2}), Token0: small(4), Token1: small(5), FeePips: 3000,
			TickSpacing: -60, Hooks: small(6), Stable: true, SqrtPriceX96: huge(0), Tick: -1,
		},
	},
	`curve {"Curve":"0x0000000000000000000000000000000000000007","Token":"0x0000000000000000000000000000000000000001","Known":false,` +
		`"Reason":"no \"record\"","Quote":""}`: market.CurveFact{
		CurveKey: market.CurveKey{Curve: small(7), Token: small(1)}, Reason: `no "record"`,
	},
	`token {"Token":"0x0000000000000000000000000000000000000001","Name":"","Symbol":"","HasDecimals":false,"Decimals":0,"HasSupply":false,` +
		`"Supply":"0","FromCreation":false}`: market.TokenFact{Token: small(1)},
}

// small is the address that is a small number.
func small(n byte) market.Address { return market.EVMAddress([32]byte{31: n}) }
