package indexer_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// enrol writes records of members at a time, in unix seconds, later than those of earlier ones.
func enrol(t *testing.T, st *store.Store, at int64, records ...member.Record) {
	t.Helper()
	for i := range records {
		records[i].UpdatedAt = at
	}
	applied, _, err := st.Social.Registry.Apply(t.Context(), records, true, at)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range applied {
		if a.Err != nil {
			t.Fatalf("record %d: %v", i, a.Err)
		}
	}
}

func joins(id string, at int64) member.Record {
	return member.Record{ID: member.ID(id), Handle: id, JoinedAt: at}
}

func has(id, wallet string) member.Record {
	return member.Record{ID: member.ID(id), Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: markettest.Address(wallet)}}
}

// enrolTraders makes half of the world's traders members, two wallets each, before anything is indexed.
func (w *testWorld) enrolTraders(t *testing.T, dsn string) {
	t.Helper()
	st, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	var records []member.Record
	for i := 0; i+1 < len(w.Wallets)/2; i += 2 {
		id := fmt.Sprint("u", i)
		records = append(records, joins(id, 1), has(id, w.Wallets[i]), has(id, w.Wallets[i+1]))
	}
	for i, trader := range w.Traders[:len(w.Traders)/2] { // some of them through the platform's router
		if !slices.Contains(w.Wallets, trader) {
			id := fmt.Sprint("t", i)
			records = append(records, joins(id, 1), has(id, trader))
		}
	}
	enrol(t, st, 1_000, records...)
	w.hasMembers = true
}

// enrolAs gives a store the members of another one.
func enrolAs(t *testing.T, st, of *store.Store) {
	t.Helper()
	changes, err := of.Social.Registry.Changes(t.Context(), 0, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		var r member.Record
		if m, w := c.Member, c.Wallet; m != nil {
			r = member.Record{ID: m.ID, Handle: m.Handle, JoinedAt: m.JoinedAt, UpdatedAt: m.UpdatedAt}
		} else {
			r = member.Record{ID: w.Member, UpdatedAt: w.UpdatedAt, Wallet: &member.WalletRecord{Family: w.Family, Address: w.Address, Since: w.Since}}
		}
		applied, _, err := st.Social.Registry.Apply(t.Context(), []member.Record{r}, false, 1_000)
		if err != nil || applied[0].Err != nil {
			t.Fatal(err, applied)
		}
	}
}

// ofWallets are the rows of the tables about members' wallets.
func ofWallets(t *testing.T, st *store.Store) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for table, rows := range derivedRows(t, st) {
		if strings.HasPrefix(table, "wallet_") || table == "watched_wallets" {
			out[table] = rows
		}
	}
	return out
}

func (w *testWorld) now(t *testing.T) int64 {
	t.Helper()
	latest, err := w.node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return latest.Timestamp.Unix()
}

// wantStream wants so many trades in the stream that stand, each with its entries, and so many that were taken back.
func wantStream(t *testing.T, what string, st *store.Store, trades, gone int) {
	t.Helper()
	items, err := st.Stream.Before(t.Context(), 1<<53, market.StreamTrade, market.Address{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	back, err := st.Stream.Retractions(t.Context(), 1<<53, 1000)
	if err != nil {
		t.Fatal(err)
	}
	back = slices.DeleteFunc(back, func(it store.StreamItem) bool { return it.Kind != market.StreamTrade })
	sums, err := st.Stream.Trades(t.Context(), items)
	if err != nil || len(items) != trades || len(sums) != trades || len(back) != gone {
		t.Errorf("%s: %d trades are in the stream, %d of them with entries, and %d were taken back, %v; want %d and %d", what, len(items), len(sums), len(back), err, trades, gone)
	}
}

// TestMembersWallets: wallets are watched from when they join, through a reorg, in a fresh index with the facts of the first, and until their member is
// erased.
func TestMembersWallets(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 40)
			cfg := w.config()
			cfg.Quotes[2].PegUSD = 2500
			cfg.Tracking.CountedLiquidityUSD = 100
			a, b, late := &dealer{testWorld: w, wallet: w.Spare[3]}, &dealer{testWorld: w, wallet: w.Spare[4]}, &dealer{testWorld: w, wallet: w.Spare[2]}
			pool, token := a.pool(t, world.UniswapV2)
			late.swapBuy(t, pool, token, 500)
			late.send(t, token, w.Spare[1], 2) // before anybody looks
			late.deals = late.deals[:1]
			st := storetest.Open(t, kind)
			stop := run(t, cfg, st, 0)
			defer func() { stop() }()
			w.await(t, st)
			enrol(t, st, w.now(t), joins("ada", 1), joins("bob", 1), has("ada", a.wallet), has("ada", b.wallet))
			w.quiet(t, st)
			watched, err := st.Wallets.Watched(t.Context(), "base")
			if err != nil || len(watched) != 2 {
				t.Fatalf("%d wallets are watched, %v", len(watched), err)
			}
			a.swapBuy(t, pool, token, 1000)
			a.swapSell(t, pool, token, 4)
			half := new(big.Int).Rsh(a.has(t, token), 1)
			a.transfer(t, token, a.wallet, b.wallet, half)
			b.swapSell(t, pool, token, 1)
			enrol(t, st, w.now(t), has("bob", late.wallet))
			w.quiet(t, st)
			late.swapSell(t, pool, token, 2)
			w.await(t, st)
			a.holdBook(t, st, b, late, token)
			wantStream(t, "of members since they joined", st, 4, 0)

			// A reorg takes back that the third wallet was watched, and the two sales about it.
			if err := w.node.Reorg(t.Context(), 4); err != nil {
				t.Fatal(err)
			}
			w.quiet(t, st)
			if rows := ofWallets(t, st); len(rows["wallet_entries"]) != 5 || len(rows["watched_wallets"]) != 3 { // it is watched again
				t.Errorf("after the reorg there are %d entries of %d wallets", len(rows["wallet_entries"]), len(rows["watched_wallets"]))
			}
			wantStream(t, "after the reorg", st, 2, 2)
			b.deals, late.deals = nil, late.deals[:1]
			b.swapSell(t, pool, token, 1)
			late.swapSell(t, pool, token, 2)
			w.await(t, st)
			a.holdBook(t, st, b, late, token)
			wantStream(t, "after two more sales", st, 4, 2)

			facts, err := st.Facts.Between(t.Context(), "base", 0, 1<<40)
			if err != nil {
				t.Fatal(err)
			}
			w.holdFresh(t, cfg, st, facts)

			// A member who leaves is hidden, and may come back for an hour; then nothing is left of them, and a reorg brings nothing back.
			enrol(t, st, w.now(t)+1, member.Record{ID: "ada", Deleted: true})
			w.quiet(t, st)
			if got := ofWallets(t, st); len(got["watched_wallets"]) != 3 {
				t.Errorf("at once %d wallets are watched", len(got["watched_wallets"]))
			}
			if n, err := st.Social.Upkeep.Clean(t.Context(), w.now(t)+4000); n != 1 || err != nil {
				t.Fatalf("%d are erased, %v", n, err)
			}
			w.quiet(t, st)
			gone := func() {
				t.Helper()
				rows := derivedRows(t, st)
				for _, wallet := range []string{a.wallet, b.wallet} {
					for table, list := range ofWallets(t, st) {
						if of := ofWallet(t, list, wallet); of > 0 {
							t.Errorf("%d rows of %s are left in %s", of, wallet, table)
						}
					}
				}
				if len(rows["watched_wallets"]) != 1 {
					t.Errorf("%d wallets are watched", len(rows["watched_wallets"]))
				}
			}
			gone()
			wantStream(t, "after a member was erased", st, 1, 5)
			if err := w.node.Reorg(t.Context(), 5); err != nil {
				t.Fatal(err)
			}
			w.trade(t, 1)
			w.await(t, st)
			gone()
			if facts, err = st.Facts.Between(t.Context(), "base", 0, 1<<40); err != nil {
				t.Fatal(err)
			}
			for _, f := range facts {
				var of market.Address
				switch f := f.Fact.(type) {
				case market.WatchFact:
					of = f.Wallet
				case market.HeldFact:
					of = f.Wallet
				case market.GasFact:
					of = f.Wallet
				default:
					continue
				}
				if of != markettest.Address(late.wallet) {
					t.Errorf("a fact about %s is left: %+v", of, f.Fact)
				}
			}
		})
	}
}

// quiet mines blocks without trades, and waits for the index.
func (w *testWorld) quiet(t *testing.T, st *store.Store) {
	t.Helper()
	if err := w.node.Mine(t.Context(), 2, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	w.await(t, st)
}

// ofWallet counts the rows that have a wallet's address.
func ofWallet(t *testing.T, rows []string, wallet string) (n int) {
	t.Helper()
	address := markettest.Address(wallet)
	for _, row := range rows {
		if strings.Contains(row, hex.EncodeToString(address.Bytes())) {
			n++
		}
	}
	return n
}

// holdBook holds what the index has of the wallets against what their own balances did.
func (d *dealer) holdBook(t *testing.T, st *store.Store, b, late *dealer, token string) {
	t.Helper()
	entries, err := st.Inspect.Entries(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	of := func(d *dealer) (list []market.Entry) {
		for _, e := range entries {
			if e.Wallet == markettest.Address(d.wallet) && e.Token == markettest.Address(token) {
				list = append(list, e)
			}
		}
		return list
	}
	ada, second, bob := of(d), of(b), of(late)
	if len(ada) != 3 || len(second) != 2 || len(bob) != 3 {
		t.Fatalf("entries are\n%+v\n%+v\n%+v", ada, second, bob)
	}
	amount := func(e market.Entry, want *big.Int, kind market.EntryKind, counts bool) {
		t.Helper()
		if e.Amount.ToBig().Cmp(want) != 0 || e.Kind != kind || e.Counts != counts {
			t.Errorf("an entry is %+v; want %s", e, want)
		}
	}
	amount(ada[0], d.deals[0].base, market.Bought, true)
	amount(ada[1], d.deals[1].base, market.Sold, true)
	amount(bob[0], late.deals[0].base, market.Bought, false)
	amount(bob[2], late.deals[1].base, market.Sold, true)
	left := new(big.Int).Sub(d.deals[0].base, d.deals[1].base)
	amount(ada[2], new(big.Int).Rsh(left, 1), market.WentOut, false)
	amount(second[0], new(big.Int).Rsh(left, 1), market.CameIn, false)
	amount(second[1], new(big.Int).Rsh(left, 1), market.Sold, true)
	if ada[2].To != markettest.Address(b.wallet) || ada[2].MovedOut.Sign() != 0 {
		t.Errorf("to the member's other wallet: %+v", ada[2])
	}
	quarter := ada[1].Cost.Add(ada[1].Cost).Add(ada[1].Cost).Add(ada[1].Cost).Sub(market.NanoUSD(ada[0].NanoUSD)).Dollars()
	if quarter < -1e-8 || quarter > 1e-8 {
		t.Errorf("a quarter had cost %s of %d", ada[1].Cost.Big(), ada[0].NanoUSD)
	}
	// Three eighths of what was bought went to the other wallet with what they had cost.
	if got, want := second[1].Cost.Dollars(), float64(ada[0].NanoUSD)*3/8/1e9; got-want < -1e-8 || got-want > 1e-8 {
		t.Errorf("what was sent had cost %v, want %v", got, want)
	}
	// Half of what was bought before the wallet was watched was sent away then; half of the rest is sold.
	if got, want := bob[2].Cost.Dollars(), float64(bob[0].NanoUSD)/4/1e9; bob[1].Kind != market.Held || got-want < -1e-8 || got-want > 1e-8 {
		t.Errorf("what was bought before the wallet was watched had cost %v, want %v", got, want)
	}
	for _, e := range entries {
		if isTrade := e.Kind == market.Bought || e.Kind == market.Sold; e.HasGas != isTrade || e.GasNanoUSD != 0 { // this chain takes none
			t.Errorf("gas of %+v", e)
		}
	}
}

// holdFresh wants a fresh index with the facts of the first to have the same rows.
func (w *testWorld) holdFresh(t *testing.T, cfg *chainconfig.Chain, first *store.Store, facts []store.StoredFact) {
	t.Helper()
	fresh := storetest.Open(t, "sqlite")
	l, err := fresh.Leases.Acquire(t.Context(), "base", t.Name(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := fresh.Inspect.KeepFacts(t.Context(), l, facts); err != nil {
		t.Fatal(err)
	}
	changes, err := first.Social.Registry.Changes(t.Context(), 0, 100)
	if err != nil || len(changes) == 0 {
		t.Fatal(err)
	}
	enrol(t, fresh, 1_000, joins("ada", 1), joins("bob", 1), joins("nobody", 1)) // their wallets the facts tell
	stop := run(t, cfg, fresh, 10)
	w.await(t, fresh)
	stop()
	want, got := ofWallets(t, first), ofWallets(t, fresh)
	for table := range want {
		if !slices.Equal(want[table], got[table]) {
			t.Errorf("a fresh index has others of %s: %d rows, want %d", table, len(got[table]), len(want[table]))
		}
	}
}

// TestWalletsOfAnIndexWithoutFacts: an index that begins with nothing, while there are members, has what they did from its first block on.
func TestWalletsOfAnIndexWithoutFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	cfg := w.config()
	d := &dealer{testWorld: w, wallet: w.Spare[3]}
	pool, token := d.pool(t, world.UniswapV2)
	d.swapBuy(t, pool, token, 500)
	d.transfer(t, token, d.wallet, w.Spare[4], new(big.Int).Rsh(d.has(t, token), 1))
	d.swapSell(t, pool, token, 1)
	st := storetest.Open(t, "sqlite")
	enrol(t, st, 1_000, joins("ada", 1), has("ada", d.wallet))
	stop := run(t, cfg, st, 0)
	w.await(t, st)
	stop()
	entries, err := st.Inspect.Entries(t.Context(), "base")
	if err != nil || len(entries) != 3 {
		t.Fatalf("entries are %+v, %v; want a purchase, a sending and a sale", entries, err)
	}
	for i, kind := range []market.EntryKind{market.Bought, market.WentOut, market.Sold} {
		if entries[i].Kind != kind {
			t.Errorf("entry %d is %+v", i, entries[i])
		}
	}
}

// TestManyMembersJoin: of many wallets at once a commit takes some, and all are watched in the end; what the registry had before it was restored isn't
// followed on.
func TestManyMembersJoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	st := storetest.Open(t, "sqlite")
	stop := run(t, w.config(), st, 0)
	defer func() { stop() }()
	w.await(t, st)
	records := []member.Record{joins("ada", 1)}
	const many = 1200
	for i := range many {
		address := market.EVMAddress([32]byte{12: 7, 30: byte(i >> 8), 31: byte(i)})
		records = append(records, member.Record{ID: "ada", Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: address}})
	}
	enrol(t, st, w.now(t), records...)
	for _, want := range []int{500, 1000, many} {
		if err := w.node.Mine(t.Context(), 1, 2*time.Second); err != nil {
			t.Fatal(err)
		}
		w.await(t, st)
		if watched, err := st.Wallets.Watched(t.Context(), "base"); err != nil || len(watched) != want {
			t.Errorf("%d wallets are watched, %v; want %d", len(watched), err, want)
		}
	}
}

// TestRegistryAway: while the registry can't be read the chain is indexed all the same.
func TestRegistryAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	dsn := storetest.DSN(t, "postgres")
	st := storetest.OpenAt(t, dsn)
	enrol(t, st, 1_000, joins("ada", 1), has("ada", w.Spare[3]))
	db := st.Inspect.Database().Write
	if _, err := db.ExecContext(t.Context(), "ALTER TABLE member_wallets RENAME TO away"); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	ix, err := indexer.New(w.config(), st, indexer.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now, Holder: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	w.await(t, st)
	w.quiet(t, st)
	if _, err := db.ExecContext(t.Context(), "ALTER TABLE away RENAME TO member_wallets"); err != nil {
		t.Fatal(err)
	}
	w.quiet(t, st)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "registry can't be read"); n != 1 {
		t.Errorf("it is said %d times", n)
	}
	if watched, err := st.Wallets.Watched(t.Context(), "base"); err != nil || len(watched) != 1 {
		t.Errorf("%d wallets are watched, %v", len(watched), err)
	}
}

// TestRegistryReadAgain: a connection that breaks while the registry is read costs no wallet a block: it is read again.
func TestRegistryReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	dsn := storetest.DSN(t, "postgres")
	st := storetest.OpenAt(t, dsn)
	stop := run(t, w.config(), st, 0)
	defer stop()
	w.await(t, st)
	before, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	w.enrolTraders(t, dsn)
	db := st.Inspect.Database().Write
	lock, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback() }()
	if _, err := lock.ExecContext(t.Context(), "LOCK TABLE member_wallets IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	w.trade(t, 1)
	reader := 0
	for deadline := time.Now().Add(60 * time.Second); reader == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody reads the registry")
		}
		err := db.QueryRowContext(t.Context(), "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND "+
			"wait_event_type = 'Lock' AND query LIKE '%member_wallets%'").Scan(&reader)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	w.trade(t, 2)
	w.await(t, st)
	facts, err := st.Wallets.WatchFacts(t.Context(), "base", 0)
	if err != nil || len(facts) == 0 {
		t.Fatalf("%d facts, %v", len(facts), err)
	}
	for _, f := range facts {
		if f.Block != before.Last.Number+1 {
			t.Errorf("a wallet is watched from block %d on, want %d: %+v", f.Block, before.Last.Number+1, f.Fact)
		}
	}
}

// TestOneAccountTwice: a member may have an account on every chain and on one besides. It is watched once, and as long as either is theirs.
func TestOneAccountTwice(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 10)
			st := storetest.Open(t, kind)
			stop := run(t, w.config(), st, 0)
			defer func() { stop() }()
			w.await(t, st)
			here := has("ada", w.Spare[3])
			here.Wallet.Chain, here.Wallet.Since = "base", 1
			everywhere := has("ada", w.Spare[3])
			everywhere.Wallet.Since = 2
			enrol(t, st, w.now(t), joins("ada", 1), joins("bob", 1), here, everywhere)
			since := func(want ...int64) {
				t.Helper()
				w.quiet(t, st)
				stop() // whatever a session takes in, the next looks at all of it again
				stop = run(t, w.config(), st, 0)
				w.quiet(t, st)
				list, err := st.Wallets.Watched(t.Context(), "base")
				if err != nil {
					t.Fatal(err)
				}
				var got []int64
				for _, x := range list {
					got = append(got, x.Since)
				}
				if !slices.Equal(got, want) {
					t.Errorf("watched since %v, want %v", got, want)
				}
			}
			since(1)
			facts, err := st.Facts.Between(t.Context(), "base", 0, 1<<40)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(slices.DeleteFunc(facts, func(f store.StoredFact) bool { _, ok := f.Fact.(market.WatchFact); return !ok })); n != 1 {
				t.Errorf("there are %d facts of it", n)
			}
			here.Deleted = true
			enrol(t, st, w.now(t)+1, here)
			since(2)
			// It goes to another member between two blocks.
			everywhere.Deleted = true
			enrol(t, st, w.now(t)+2, everywhere)
			enrol(t, st, w.now(t)+3, has("bob", w.Spare[3]))
			w.quiet(t, st)
			list, err := st.Wallets.Watched(t.Context(), "base")
			bob, _, err2 := st.Social.Registry.Member(t.Context(), "bob")
			if err != nil || err2 != nil || len(list) != 1 || list[0].Member != int64(bob.Number) {
				t.Errorf("it is watched as %+v, and bob's number is %+v: %v, %v", list, bob, err, err2)
			}
		})
	}
}

// TestATradeInTheBlockThatBegins: what a wallet has left of what it traded before is asked for even where it sells in the very block in which it begins to be
// watched.
func TestATradeInTheBlockThatBegins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	cfg := w.config()
	cfg.Quotes[2].PegUSD = 2500
	cfg.Tracking.CountedLiquidityUSD = 100
	cfg.Tracking.Holders = chainconfig.HoldersLaunches
	d := &dealer{testWorld: w, wallet: w.Spare[3]}
	pool, token := d.pool(t, world.UniswapV2)
	st := storetest.Open(t, "sqlite")
	stop := run(t, cfg, st, 0)
	defer func() { stop() }()
	d.swapBuy(t, pool, token, 500)
	d.send(t, token, w.Spare[1], 2)
	w.await(t, st)
	enrol(t, st, w.now(t), joins("ada", 1), has("ada", d.wallet))
	d.swapSell(t, pool, token, 1)
	w.await(t, st)
	entries, err := st.Inspect.Entries(t.Context(), "base")
	if err != nil || len(entries) != 3 || entries[1].Kind != market.Held || entries[2].Kind != market.Sold {
		t.Fatalf("entries are %+v, %v; want a purchase, what was held, and a sale", entries, err)
	}
	if got, want := entries[2].Cost.Dollars(), float64(entries[0].NanoUSD)/2/1e9; got-want < -1e-8 || got-want > 1e-8 {
		t.Errorf("what was sold had cost %v, want %v", got, want)
	}
}

// TestANodeWithoutReceipts: a node that gives no receipts, however it says so, holds up no block in which members trade.
func TestANodeWithoutReceipts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	node := httptest.NewServer(before(w.node.URL(), func(rw http.ResponseWriter, body []byte) bool {
		if !bytes.Contains(body, []byte(`"eth_getTransactionReceipt"`)) {
			return false
		}
		http.Error(rw, "not in your plan", http.StatusForbidden)
		return true
	}))
	defer node.Close()
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: node.URL, Weight: 1}}
	d := &dealer{testWorld: w, wallet: w.Spare[3]}
	pool, token := d.pool(t, world.UniswapV2)
	st := storetest.Open(t, "sqlite")
	enrol(t, st, 1_000, joins("ada", 1), has("ada", d.wallet))
	stop := run(t, cfg, st, 0)
	defer func() { stop() }()
	w.await(t, st)
	d.swapBuy(t, pool, token, 500)
	w.await(t, st)
	d.swapBuy(t, pool, token, 500)
	w.await(t, st)
	entries, err := st.Inspect.Entries(t.Context(), "base")
	if err != nil || len(entries) != 2 || entries[0].HasGas || entries[1].HasGas {
		t.Errorf("entries are %+v, %v; want two without gas", entries, err)
	}
}

// TestANodeAwayWhileAMemberJoins: a block that had to be prepared again begins to watch whom the registry told the first time.
func TestANodeAwayWhileAMemberJoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10, venues.BoardwalkCurve)
	var away atomic.Bool
	node := httptest.NewServer(before(w.node.URL(), func(rw http.ResponseWriter, body []byte) bool {
		if !away.Load() || !bytes.Contains(body, []byte(`"eth_call"`)) {
			return false
		}
		http.Error(rw, "away", http.StatusBadGateway)
		return true
	}))
	defer node.Close()
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: node.URL, Weight: 1}}
	st := storetest.Open(t, "sqlite")
	stop := run(t, cfg, st, 0)
	defer func() { stop() }()
	w.await(t, st)
	away.Store(true)
	enrol(t, st, w.now(t), joins("ada", 1), has("ada", w.Spare[3]))
	w.launch(t, w.Venues[0]) // the token is asked about itself
	time.Sleep(3 * time.Second)
	away.Store(false)
	w.await(t, st)
	if watched, err := st.Wallets.Watched(t.Context(), "base"); err != nil || len(watched) != 1 {
		t.Errorf("%d wallets are watched, %v", len(watched), err)
	}
}
