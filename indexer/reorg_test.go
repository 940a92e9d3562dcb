package indexer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// The test binary becomes an indexer of its own when these are set, so that a test can kill it.
const (
	childConfig = "BOARDWALK_TEST_CHILD_CONFIG"
	childDSN    = "BOARDWALK_TEST_CHILD_DSN"
	// childFileSize is the largest file that it may write, in bytes: a disk that fills up.
	childFileSize = "BOARDWALK_TEST_CHILD_FILE_SIZE"
)

func child() {
	var cfg chainconfig.Chain
	if err := json.Unmarshal([]byte(os.Getenv(childConfig)), &cfg); err != nil {
		panic(err)
	}
	if limit, err := strconv.ParseUint(os.Getenv(childFileSize), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			panic(err)
		}
	}
	// The one before may have been killed a moment ago, or the database may be starting anew.
	var st *store.Store
	var err error
	for range 100 {
		if st, err = store.Open(context.Background(), os.Getenv(childDSN)); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		panic(err)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ix, err := indexer.New(&cfg, st, indexer.Options{Log: log, Now: time.Now, Holder: "child", CachedRows: 1000})
	if err != nil {
		panic(err)
	}
	if err := ix.Run(context.Background()); err != nil {
		panic(err)
	}
}

// startChild runs an indexer as a process of its own.
func startChild(t *testing.T, cfg *chainconfig.Chain, dsn string, env ...string) (kill func()) {
	t.Helper()
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	cmd.Env = append(append(os.Environ(), childConfig+"="+string(raw), childDSN+"="+dsn), env...)
	var out strings.Builder
	cmd.Stderr = &out
	if err := storetest.Start(cmd); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if strings.Contains(out.String(), "panic") {
			t.Errorf("the indexer failed: %s", out.String())
		}
		if os.Getenv("BOARDWALK_TEST_LOGS") != "" {
			t.Logf("the killed indexer's log:\n%s", out.String())
		}
	}
}

func seed(t *testing.T) uint64 {
	t.Helper()
	s := uint64(time.Now().UnixNano())
	if env := os.Getenv("BOARDWALK_TEST_SEED"); env != "" {
		var err error
		if s, err = strconv.ParseUint(env, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed: BOARDWALK_TEST_SEED=%d", s)
	return s
}

// compare holds an index against one that was made from scratch.
func (w *testWorld) compare(t *testing.T, got *store.Store, cfg *chainconfig.Chain) {
	t.Helper()
	fresh := storetest.Open(t, "sqlite")
	enrolAs(t, fresh, got)
	stop := run(t, cfg, fresh, 0)
	w.await(t, fresh)
	stop()
	// No sample need have found the rebasing token out yet.
	rebasing := w.TokensLike(world.Rebasing)[0].Address
	t.Run("balances of the fresh index", func(t *testing.T) { w.checkBalances(t, fresh, rebasing) })
	t.Run("balances", func(t *testing.T) { w.checkBalances(t, got, rebasing) })
	want := derivedRows(t, fresh)
	w.compareTables(t, derivedRows(t, got), want, slices.Collect(maps.Keys(want))...)
}

// compareTables holds tables of an index against those of a fresh one.
func (w *testWorld) compareTables(t *testing.T, have, want map[string][]string, tables ...string) {
	t.Helper()
	for _, table := range tables {
		// No trade waits where every pool was seen made, and most worlds have no members.
		isOfWallets := strings.HasPrefix(table, "wallet_") || table == "watched_wallets"
		if len(want[table]) == 0 && table != "waiting_trades" && (table != "launches" || len(w.Venues) > 0) && (!isOfWallets || w.hasMembers) {
			t.Errorf("a fresh index has no rows of %s: the comparison shows nothing", table)
		}
		differ := 0
		for i := range max(len(want[table]), len(have[table])) {
			a, b := at(have[table], i), at(want[table], i)
			if a != b {
				if differ++; differ <= 2 {
					t.Errorf("%s row %d is\n  %s\na fresh index has\n  %s", table, i, a, b)
				}
			}
		}
		if differ > 0 {
			t.Errorf("%d rows of %s differ (%d rows, fresh %d)", differ, table, len(have[table]), len(want[table]))
		}
	}
}

func at(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "(none)"
}

func derivedRows(t *testing.T, st *store.Store) map[string][]string {
	t.Helper()
	rows, err := st.Inspect.Derived(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestSurvivesReorgsAndKills plays a random sequence of trading, reorgs, rollbacks and kill -9 against a running
// indexer with a small cache, and wants the rows of a fresh index at the end.
func TestSurvivesReorgsAndKills(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed(t), 0))
			w := newWorld(t, 60, venues.BoardwalkCurve, venues.PonsV2, venues.FourMemeV2, venues.ClankerV4)
			w.trader.UsePlatform()
			w.desk = desk.New(w.World, desk.Options{Seed: 1, Every: 4 * time.Second})
			cfg := w.config()
			dsn := storetest.DSN(t, kind)
			w.enrolTraders(t, dsn)
			kill := startChild(t, cfg, dsn)
			var played []string
			top := uint64(0)
			for range 25 {
				// However the steps add up, the fork stays within what the highest block allows to be undone.
				var head string
				if err := w.node.Call(t.Context(), &head, "eth_blockNumber"); err != nil {
					t.Fatal(err)
				}
				number, err := strconv.ParseUint(head, 0, 64)
				if err != nil {
					t.Fatal(err)
				}
				top = max(top, number)
				room := int(number - (top - cfg.ReorgBlocks))
				n := rng.IntN(10)
				if n >= 4 && n < 7 && room < 1 {
					n = 0
				}
				switch {
				case n < 4:
					w.trade(t, 1+rng.IntN(4))
					played = append(played, "trade")
				case n < 6:
					depth := 1 + rng.IntN(room)
					if err := w.node.Reorg(t.Context(), depth); err != nil {
						t.Fatal(err)
					}
					played = append(played, fmt.Sprint("reorg ", depth))
				case n < 7:
					depth := 1 + rng.IntN(room)
					if err := w.node.Rollback(t.Context(), depth); err != nil {
						t.Fatal(err)
					}
					w.trade(t, 1+rng.IntN(depth+3))
					played = append(played, fmt.Sprint("rollback ", depth))
				case n < 8:
					kill()
					kill = startChild(t, cfg, dsn)
					played = append(played, "kill")
				case n < 9 && kind == "postgres":
					cutConnections(t, dsn)
					played = append(played, "cut connections")
				default:
					time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
					played = append(played, "wait")
				}
			}
			t.Log(strings.Join(played, ", "))
			w.trade(t, 40) // whatever the last step was, the chain is longer than ever now
			func() {
				// A second connection to the file would be refused while the child has it.
				deadline := time.Now().Add(3 * time.Minute)
				for given := 2 * time.Second; time.Now().Before(deadline); given *= 2 { // a busy machine needs long to start it
					time.Sleep(given)
					kill()
					st, err := store.Open(t.Context(), dsn)
					if err != nil {
						t.Fatal(err)
					}
					s, _, err := st.Chain(t.Context(), "base")
					if err != nil {
						t.Fatal(err)
					}
					var head struct{ Hash string }
					if err := w.node.Call(t.Context(), &head, "eth_getBlockByNumber", "latest", false); err != nil {
						t.Fatal(err)
					}
					if s.Last.Hash.String() == head.Hash {
						defer func() { _ = st.Close() }()
						w.compare(t, st, cfg)
						return
					}
					_ = st.Close()
					kill = startChild(t, cfg, dsn)
				}
				t.Error("the indexer did not arrive at the head")
			}()
		})
	}
}

// cutConnections ends every connection to a PostgreSQL database, as a restart of the server does.
func cutConnections(t *testing.T, dsn string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "+
		"WHERE datname = current_database() AND pid <> pg_backend_pid()")
	if err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk lets the database's files grow no further, makes room again, and wants the rows of a fresh index.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	cfg := w.config()
	dsn := storetest.DSN(t, "sqlite")
	kill := startChild(t, cfg, dsn, childFileSize+"="+strconv.Itoa(400<<10))
	w.trade(t, 10)
	time.Sleep(2 * time.Second)
	kill()
	func() {
		st, err := store.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		var head string
		if err := w.node.Call(t.Context(), &head, "eth_blockNumber"); err != nil {
			t.Fatal(err)
		}
		number, err := strconv.ParseUint(head, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		if s, _, err := st.Chain(t.Context(), "base"); err != nil || s.Last.Number >= number {
			t.Fatalf("the disk never was full: the index is at %+v, %v", s, err)
		}
		stop := run(t, cfg, st, 0)
		w.await(t, st)
		stop()
		w.compare(t, st, cfg)
	}()
}

// TestReorgBelowTheHorizonHalts makes a reorg that can't be undone: the chain stops and says so.
func TestReorgBelowTheHorizonHalts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	cfg := w.config()
	cfg.ReorgBlocks = 4
	st := storetest.Open(t, "sqlite")
	ix, err := indexer.New(cfg, st, indexer.Options{Log: logger(t), Now: time.Now, Holder: "test"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- ix.Run(t.Context()) }()
	w.await(t, st)
	if err := w.node.Reorg(t.Context(), 12); err != nil {
		t.Fatal(err)
	}
	w.trade(t, 2)
	select {
	case err := <-done:
		if !errors.Is(err, indexer.ErrHalted) || !strings.Contains(err.Error(), "raise reorgBlocks") {
			t.Errorf("it ended with %v; want ErrHalted and what to do", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it goes on as if nothing had happened")
	}
	s, _, err := st.Chain(t.Context(), "base")
	if err != nil || s.State != store.ChainHalted || !strings.Contains(s.Reason, "reorg") {
		t.Errorf("the chain's state is %+v, %v", s, err)
	}
}
