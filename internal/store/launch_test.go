package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// text has everything that PostgreSQL can hold: not NUL.
var text = rapid.OneOf(rapid.SampledFrom([]string{"", `{"a":"<\u0026>"}`, "\u202e'\"\\?", "line\u2028\r\n\t", "😀", "$1 ? :x"}),
	rapid.StringOf(rapid.RuneFrom(nil, unicode.L, unicode.S, unicode.P, unicode.Zs)))

func genAmount() *rapid.Generator[market.Amount] {
	return rapid.Custom(func(t *rapid.T) (a market.Amount) {
		for i := range a {
			a[i] = rapid.Uint64().Draw(t, "limb")
		}
		return a
	})
}

func genAddress(lengths ...int) *rapid.Generator[market.Address] {
	return rapid.Custom(func(t *rapid.T) (a market.Address) {
		n := rapid.SampledFrom(lengths).Draw(t, "length")
		if n == 0 {
			return a
		}
		stored := rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes")
		if n == market.SolanaLen {
			stored[0] = rapid.SampledFrom([]byte{1, 2}).Draw(t, "kind")
		}
		a, err := market.AddressFromBytes(stored)
		if err != nil {
			t.Fatal(err)
		}
		return a
	})
}

func genTx() *rapid.Generator[market.TxID] {
	return rapid.Custom(func(t *rapid.T) market.TxID {
		n := rapid.SampledFrom([]int{32, 64}).Draw(t, "length")
		id, err := market.TxIDFromBytes(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes"))
		if err != nil {
			t.Fatal(err)
		}
		return id
	})
}

// genLaunch draws any value of every field; a few mints come again and again.
func genLaunch() *rapid.Generator[market.Launch] {
	when := rapid.Int64Range(0, math.MaxInt64)
	return rapid.Custom(func(t *rapid.T) market.Launch {
		return market.Launch{
			Mint:  rapid.OneOf(rapid.Map(rapid.IntRange(0, 3), address), genAddress(20, market.SolanaLen)).Draw(t, "mint"),
			Venue: text.Draw(t, "venue"), Creator: genAddress(0, 20, market.SolanaLen).Draw(t, "creator"),
			Name: text.Draw(t, "name"), Symbol: text.Draw(t, "symbol"), Metadata: text.Draw(t, "metadata"), Image: text.Draw(t, "image"),
			Block: uint64(when.Draw(t, "block")), LogIndex: uint64(when.Draw(t, "log index")), CreatedAt: when.Draw(t, "created"),
			Tx: genTx().Draw(t, "tx"), Curve: genAddress(0, 20, market.SolanaLen).Draw(t, "curve"),
			Rules: market.CurveRules{
				Pricing: rapid.SampledFrom([]market.CurvePricing{"", market.PriceReserves, market.PricePosted, market.PriceExecuted}).Draw(t, "pricing"),
				Basis:   rapid.SampledFrom([]market.ProgressBasis{"", market.TokensSold, market.FundsRaised}).Draw(t, "basis"),
				FillsUp: rapid.Bool().Draw(t, "fills up"),
			},
			Quote:    rapid.OneOf(rapid.Just(market.Native), genAddress(0, 20, market.SolanaLen)).Draw(t, "quote"),
			SaleBase: genAmount().Draw(t, "sale"), TargetQuote: genAmount().Draw(t, "target"), FeeBps: rapid.Uint32().Draw(t, "fee"),
			Reserves: market.CurveReserves{
				VirtualBase: genAmount().Draw(t, "virtual base"), VirtualQuote: genAmount().Draw(t, "virtual quote"),
				RealBase: genAmount().Draw(t, "real base"), RealQuote: genAmount().Draw(t, "real quote"), Price: genAmount().Draw(t, "price"),
			},
			Traded: rapid.Bool().Draw(t, "traded"), Progress: rapid.Float64Range(0, 100).Draw(t, "progress"), HasProgress: rapid.Bool().Draw(t, "known"),
			State: rapid.SampledFrom([]market.LaunchState{market.LaunchLive, market.LaunchOnCurve, market.LaunchCompleted, market.LaunchGraduated}).
				Draw(t, "state"),
			CompletedAt: when.Draw(t, "completed"), GraduatedAt: when.Draw(t, "graduated"),
			GraduatedTx: rapid.OneOf(rapid.Just(market.TxID{}), genTx()).Draw(t, "graduated by"), Pool: genAddress(0, 20, 32, market.SolanaLen).Draw(t, "pool"),
		}
	})
}

// TestLaunchesComeBack writes any launches on top of each other, takes the last block back, and reads every one in each way.
func TestLaunchesComeBack(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			block, truth := 0, map[market.Address]market.Launch{}
			rapid.Check(t, func(r *rapid.T) {
				block++
				list := rapid.SliceOfNDistinct(genLaunch(), 1, 4, func(l market.Launch) market.Address { return l.Mint }).Draw(r, "launches")
				c := launchCommit(block, truth, list...)
				status, _, err := s.Chain(t.Context(), "base")
				if err != nil {
					r.Fatal(err)
				}
				if err := s.Commit(t.Context(), l, c); err != nil {
					r.Fatal(err)
				}
				same(r, s, status.CommitNo, list)
				if block > 1 && rapid.Bool().Draw(r, "reorg") {
					if _, err := s.Rewind(t.Context(), l, uint64(block-1)); err != nil {
						r.Fatal(err)
					}
					block--
					var back []market.Launch
					for _, ch := range c.Changes.Launches {
						delete(truth, ch.Key)
						if ch.Before != nil {
							truth[ch.Key] = *ch.Before
							back = append(back, *ch.Before)
						}
					}
					same(r, s, status.CommitNo+1, back) // what came back counts as changed
				}
				all := make([]market.Launch, 0, len(truth))
				for _, l := range truth {
					all = append(all, l)
				}
				same(r, s, 0, all)
			})
		})
	}
}

// launchCommit is a commit of block n that writes launches, whose former rows are in truth, which it brings up to date.
func launchCommit(n int, truth map[market.Address]market.Launch, list ...market.Launch) *store.Commit {
	c := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}, Undo: true}
	for _, l := range list {
		ch := market.Change[market.Address, market.Launch]{Key: l.Mint, After: &l}
		if before, ok := truth[l.Mint]; ok {
			ch.Before = &before
		}
		truth[l.Mint] = l
		c.Changes.Launches = append(c.Changes.Launches, ch)
	}
	return c
}

// same reads the launches that changed after seen, by all ways, and wants exactly some.
func same(t *rapid.T, s *store.Store, seen int64, want []market.Launch) {
	changed, err := s.ChangedSince(t.Context(), map[string]int64{"base": seen})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.Inspect.Launches(t.Context(), "base", seen)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if !slices.Contains(changed["base"].Launches, rows[i].Mint) {
			t.Fatalf("no commit since %d tells that launch %s changed", seen, rows[i].Mint)
		}
	}
	got, err := s.Launches.ByMint(t.Context(), "base", changed["base"].Launches)
	if err != nil {
		t.Fatal(err)
	}
	byMint := func(a, b market.Launch) int { return bytes.Compare(a.Mint.Bytes(), b.Mint.Bytes()) }
	slices.SortFunc(got, byMint)
	slices.SortFunc(want, byMint)
	if !slices.Equal(got, want) {
		t.Fatalf("changed since %d: %+v, want %+v", seen, got, want)
	}
	w := market.Wanted{ExpireFrom: 1, Launches: []market.Address{address(12345)}}
	for _, l := range want {
		w.Launches = append(w.Launches, l.Mint)
	}
	loaded, err := s.Load(t.Context(), "base", w)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(loaded.Launches, byMint)
	if !slices.Equal(loaded.Launches, want) {
		t.Fatalf("loaded %+v, want %+v", loaded.Launches, want)
	}
	at, err := s.Launches.At(t.Context(), w.Launches)
	if err != nil || !slices.EqualFunc(at, want, func(n store.LaunchNow, l market.Launch) bool { return n.Chain == "base" && n.Launch == l }) {
		t.Fatalf("at their addresses: %+v, %v; want %+v", at, err, want)
	}
}

// TestLaunchesOfSeveralChains keeps chains apart, and a creator's record with them.
func TestLaunchesOfSeveralChains(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			for _, chain := range []string{"robinhood", "base", "bsc"} {
				l, err := s.Leases.Acquire(ctx, chain, "test", time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				var list []market.Launch
				for i := range 4 {
					launch := market.Launch{Mint: address(i), Venue: "on-" + chain, Creator: address(i % 2), Block: 1, LogIndex: uint64(9 - i), State: market.LaunchOnCurve}
					if i > 1 {
						launch.State, launch.Curve = market.LaunchGraduated, address(90+i)
					}
					list = append(list, launch)
				}
				if err := s.Commit(ctx, l, launchCommit(1, map[market.Address]market.Launch{}, list...)); err != nil {
					t.Fatal(err)
				}
			}
			at, err := s.Launches.At(ctx, []market.Address{address(2), address(77), address(0)})
			var got []string
			for _, l := range at {
				got = append(got, fmt.Sprint(l.Chain, " ", l.Venue, " ", l.LogIndex))
			}
			want := []string{
				"base on-base 9", "base on-base 7", "bsc on-bsc 9", "bsc on-bsc 7", "robinhood on-robinhood 9", "robinhood on-robinhood 7",
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("launches at two addresses: %q, %v; want %q", got, err, want)
			}
			if none, err := s.Launches.At(ctx, nil); err != nil || none != nil {
				t.Errorf("launches at no address: %v, %v", none, err)
			}
			for creator, want := range map[market.Address][2]int64{address(0): {2, 1}, address(5): {}} {
				launches, graduated, err := s.Launches.CreatorRecord(ctx, "base", creator)
				if err != nil || [2]int64{launches, graduated} != want {
					t.Errorf("the record of %s is %d, %d, %v; want %v", creator, launches, graduated, err, want)
				}
			}
		})
	}
}

// TestHoldersOfAToken reads the largest ones and single balances, and the oldest fact of the token.
func TestHoldersOfAToken(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			l := lease(t, s)
			c := &store.Commit{Last: header(7), Blocks: []market.Header{header(7)}}
			for account, b := range map[int]market.Balance{
				1: {Amount: amount(255)}, 2: {Amount: huge(0), IsPool: true}, 3: {Amount: amount(256)}, 4: {Amount: huge(1)}, 6: {Amount: amount(255)},
				5: {IsPool: true},
			} {
				for token := range 2 {
					c.Changes.Balances = append(c.Changes.Balances, market.Change[market.BalanceKey, market.Balance]{
						Key: market.BalanceKey{Token: address(token), Account: address(account)}, After: &b,
					})
				}
			}
			for block, supply := range map[uint64]uint64{5: 50, 3: 30, 4: 40} {
				c.Facts = append(c.Facts,
					store.StoredFact{Block: block, Fact: market.TokenFact{Token: address(1), HasSupply: true, Supply: amount(supply)}},
					store.StoredFact{Block: block - 1, Fact: market.SupplyFact{Token: address(1), Supply: amount(1)}},
					store.StoredFact{Block: block - 2, Fact: market.TokenFact{Token: address(2), Name: "another"}})
			}
			c.Facts = append(c.Facts, store.StoredFact{Block: 2, Fact: market.TokenFact{Token: address(1), Name: "not there yet"}})
			if err := s.Commit(ctx, l, c); err != nil {
				t.Fatal(err)
			}
			want := []store.HolderShare{
				{Account: address(4), Amount: huge(1)},
				{Account: address(3), Amount: amount(256)},
				{Account: address(1), Amount: amount(255)},
				{Account: address(6), Amount: amount(255)},
			}
			for n := range 6 {
				got, err := s.Balances.Top(ctx, "base", address(1), n)
				if err != nil || !slices.Equal(got, want[:min(n, len(want))]) {
					t.Errorf("the %d largest: %v, %v; want %v", n, got, err, want[:min(n, len(want))])
				}
			}
			for account, want := range map[int]market.Amount{4: huge(1), 2: huge(0), 5: {}, 99: {}} {
				if got, err := s.Balances.Of(ctx, "base", address(1), address(account)); err != nil || got != want {
					t.Errorf("account %d holds %v, %v; want %v", account, got, err, want)
				}
			}
			f, ok, err := s.Facts.FirstOfToken(ctx, "base", address(1))
			if err != nil || !ok || f.Token != address(1) || f.Supply != amount(30) {
				t.Errorf("the first fact is %+v, %v, %v", f, ok, err)
			}
			if f, ok, err := s.Facts.FirstOfToken(ctx, "base", address(2)); err != nil || !ok || f.Name != "another" || f.HasSupply {
				t.Errorf("the first fact of a token without a supply is %+v, %v, %v", f, ok, err)
			}
			if _, ok, err := s.Facts.FirstOfToken(ctx, "bsc", address(1)); ok || err != nil {
				t.Errorf("the first fact of a token without any: %v, %v", ok, err)
			}
		})
	}
}

// TestPlans has SQLite, which keeps no statistics here, say that it goes by the index that each query is meant for.
func TestPlans(t *testing.T) {
	t.Parallel()
	plans, err := storetest.Open(t, "sqlite").Plans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]string{
		"changed":        {"SEARCH commits USING PRIMARY KEY (chain=? AND number>? AND number<?)", "SEARCH chains USING"},
		"own curves":     {"COVERING INDEX launches_curve (chain=? AND curve=?)"},
		"next curve":     {"COVERING INDEX launches_curve (chain=? AND curve>?)"},
		"creator":        {"COVERING INDEX launches_creator_order (chain=? AND creator=?)"},
		"curves before":  {"COVERING INDEX launches_creator_order (chain=? AND creator=?)"},
		"unfollowed":     {"INDEX tokens_kept (holders_status=? AND chain=?)"},
		"kept among":     {"COVERING INDEX tokens_kept (holders_status=? AND chain=? AND mint=?)"},
		"launched among": {"COVERING INDEX launches_mint (mint=? AND chain=?)"},
		"pending":        {"INDEX tokens_pending"},
		"recount":        {"INDEX tokens_given_up (holders_status=?)", "SEARCH r USING PRIMARY KEY (chain=? AND token=?)", "SEARCH j USING PRIMARY KEY (chain=? AND token=?)"},
		"without supply": {"INDEX tokens_supply (has_supply=? AND mint>?)"},
		"doubted supply": {"INDEX tokens_doubted (supply_strikes=?)"},
		"mute":           {"INDEX tokens_mute (has_decimals=? AND first_block>? AND first_block<?)"},
		"metadata new":   {"INDEX launches_waiting (chain=?)"},
		"metadata again": {"INDEX token_metadata_next (chain=? AND next_at>? AND next_at<?)", "SEARCH l USING"},
		"metadata noted": {"INDEX token_metadata_next (chain=? AND next_at>? AND next_at<?)", "SEARCH l USING"},
		"trust":          {"INDEX pools_traded (chain=? AND last_trade_at>?)", "SEARCH l USING"},
		"ticker":         {"INDEX tokens_ticker (<expr>=?)"},
		"first fact":     {"INDEX facts_token (ref=?)"},
		"wallet traded":  {"COVERING INDEX trades_trader (trader>? AND trader<?)"},
		"pool flows":     {"SEARCH p USING PRIMARY KEY (chain=? AND id=?)", "INDEX trades_pool (chain=? AND pool=? AND time>?)"},
		"wallet trades":  {"INDEX trades_trader (trader=?)", "SEARCH p USING PRIMARY KEY (chain=? AND id=?)"},
	} {
		for _, part := range want {
			if !strings.Contains(plans[query], part) {
				t.Errorf("%s: the plan has no %q:\n%s", query, part, plans[query])
			}
		}
	}
	for _, query := range []string{"launches all", "own curves", "next curve", "metadata new", "first fact", "wallet traded", "wallet trades"} {
		if strings.Contains(plans[query], "TEMP B-TREE") {
			t.Errorf("%s is sorted:\n%s", query, plans[query])
		}
	}
}

// TestMigrationKeepsWhatIsThere begins with a database of the schema before launches.
func TestMigrationKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s, err := store.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			old := map[string]*market.Changes{}
			c := commitOf(1, 3, old)
			c.Changes.Launches, c.Changes.Waiting = nil, nil
			c.Changes.Watched, c.Changes.Positions, c.Changes.Hours, c.Changes.Entries, c.Changes.Fees = nil, nil, nil, nil, nil
			c.Facts = []store.StoredFact{{Block: 1, Hash: hash(1), Fact: market.TokenFact{Token: address(2), Name: "old"}}}
			if err := s.Commit(t.Context(), lease(t, s), c); err != nil {
				t.Fatal(err)
			}
			before := derivedRows(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			db := raw(t, kind, dsn)
			dropJobColumns(t, db)
			dropMembers(t, db)
			for _, table := range []string{"tokens", "pools", "quote_prices"} {
				for _, column := range []string{"changed_block", "changed_at"} {
					if _, err := db.ExecContext(t.Context(), "ALTER TABLE "+table+" DROP COLUMN "+column); err != nil {
						t.Fatal(table, column, err)
					}
				}
			}
			for _, q := range []string{
				"DROP TABLE launches", "DROP TABLE token_metadata", "DROP TABLE trust_reports", "DROP INDEX pools_traded", "DROP INDEX facts_token",
				"DROP INDEX trades_trader", "ALTER TABLE trades DROP COLUMN trader_amount", "ALTER TABLE trades DROP COLUMN trader_before",
				"ALTER TABLE tokens DROP COLUMN candidate_at",
				"ALTER TABLE tokens DROP COLUMN since_creation", "DROP INDEX tokens_supply", "DROP INDEX tokens_doubted", "ALTER TABLE tokens DROP COLUMN supply_strikes",
				"ALTER TABLE chains DROP COLUMN silent_from",
				"ALTER TABLE chains DROP COLUMN served", "ALTER TABLE chains DROP COLUMN wanted", "ALTER TABLE chains DROP COLUMN wanted_anew", "ALTER TABLE chains DROP COLUMN followed",
				"DROP INDEX pools_listed", "ALTER TABLE pools DROP COLUMN unlisted",
				"ALTER TABLE pools DROP COLUMN day_reference_quote", "ALTER TABLE quote_prices DROP COLUMN day_usd",
				"ALTER TABLE tokens DROP COLUMN holders_gained", "ALTER TABLE tokens DROP COLUMN holders_gained_at",
				"ALTER TABLE blocks DROP COLUMN logs_hash", "DROP TABLE unsure_facts",
				"DROP TABLE holder_recounts", "DROP TABLE endpoint_records", "DROP TABLE waiting_trades", "DELETE FROM goose_db_version WHERE version_id > 2",
			} {
				if _, err := db.ExecContext(t.Context(), q); err != nil {
					t.Fatal(q, err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = store.Open(t.Context(), dsn); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			if got := derivedRows(t, s); !equalRows(got, before) {
				t.Error("the rows of before are not there any more")
			}
			old["last"].Launches = make([]market.Change[market.Address, market.Launch], 3)
			old["last"].Waiting = make([]market.Change[market.TradeKey, market.Trade], 3)
			old["last"].Watched = make([]market.Change[market.Address, market.WatchedWallet], 3)
			old["last"].Positions = make([]market.Change[market.PositionKey, market.Position], 3)
			old["last"].Hours = make([]market.Change[market.HourKey, market.WalletHour], 3)
			l := lease(t, s)
			if err := s.Commit(t.Context(), l, commitOf(2, 3, old)); err != nil {
				t.Fatal(err)
			}
			if due, err := s.Trust.Due(t.Context(), "base", 1, 2, market.Amount{}, 9); err != nil || len(due) != 3 {
				t.Errorf("to be checked: %v, %v; want three", due, err)
			}
			if f, ok, err := s.Facts.FirstOfToken(t.Context(), "base", address(2)); err != nil || !ok || f.Name != "old" {
				t.Errorf("the first fact is %+v, %v, %v", f, ok, err)
			}
			for _, to := range []uint64{1, 0} {
				if _, err := s.Rewind(t.Context(), l, to); err != nil && (to > 0 || !errors.Is(err, store.ErrBelowHorizon)) {
					t.Fatal(err)
				}
			}
			if got := derivedRows(t, s); !equalRows(got, before) {
				t.Error("going back over the migration gives other rows")
			}
		})
	}
}
