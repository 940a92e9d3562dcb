package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/golden"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// holdGolden compares lines with a golden file byte by byte, or writes it.
func holdGolden(t *testing.T, name string, lines []string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	got := []byte(strings.Join(lines, "\n") + "\n")
	if want, same := golden.Hold(t, file, got); !same {
		t.Errorf("%s is a persisted format (docs/adr/0014) and would change. It has\n%s\nand now would have\n%s", file, want, got)
	}
}

// everyRow is a commit of a block that changes a row of each table; full says whether everything optional has a value.
func everyRow(n int, full bool) *store.Commit {
	c := commitOf(n, 1, map[string]*market.Changes{})
	ch := &c.Changes
	token, pool, launch, trade := ch.Tokens[0].After, ch.Pools[0].After, ch.Launches[0].After, &ch.Trades[0]
	if full {
		token.Name, pool.Tick, ch.Quotes[0].After.USD = "a \"b\" \\ <c> é 😀 \u2028", -5, 1e-300
		token.Pool = market.CurveID(token.Mint)
		token.SupplyStrikes, token.SinceCreation, token.CandidateAt = 1, true, 8
		token.Holders = market.Holders{
			Status: market.HoldersCurrent, Reason: "r", Count: 3, Strikes: 1, Gained: market.Growth{Sum: -1.5, At: 6},
		}
		pool.Stable, pool.Unlisted, pool.Day.ReferenceQuote, pool.CountsSince = true, true, 0.1, 9
		pool.Window = market.TickWindow{Lower: -887280, Upper: 60}
		launch.GraduatedTx, launch.Pool, launch.CompletedAt, launch.GraduatedAt = market.EVMTx(hash(5)), poolID(6), 7, 8
		launch.Unvalued = true
		launch.TargetQuote, launch.FeeBps, launch.Reserves.Price = huge(10), 100, amount(11)
		ch.Quotes[0].After.DayUSD = 2
		entry, hour := &ch.Entries[0], ch.Hours[0].After
		entry.MovedOut, hour.Excluded, hour.Fees, hour.Gas, hour.MovedOut = market.NanoUSD(256), market.NanoUSD(1), market.NanoUSD(2), market.NanoUSD(3), market.NanoUSD(4)
		entry.Fee, entry.HasGas, entry.GasNanoUSD, ch.Fees[0].HasUSD, ch.Positions[0].After.IsCopied = market.NanoUSD(257), true, 5, true, true
		hour.Unvalued, hour.Losses, hour.IneligibleSells = 5, 6, 7
		trade.Funding = market.Funding{State: market.FundingSeen, Funder: address(700), At: 1_700_000_000, Age: market.AgeNew, First: 1_700_000_100}
		ch.Waiting[0].After.Funding = trade.Funding
		trade.HasUSD, trade.TraderAmount, trade.TraderBefore, trade.HasTraderBefore = true, amount(258), amount(0), true
		waiting := ch.Waiting[0].After
		waiting.HasUSD, waiting.NanoUSD = true, 7
		waiting.TraderAmount, waiting.TraderBefore, waiting.HasTraderBefore = amount(258), amount(0), true
	} else {
		entry := &ch.Entries[0]
		entry.Pool, entry.To, entry.HasBefore, entry.HasUSD, entry.NanoUSD, entry.Proceeds = market.Address{}, market.Address{}, false, false, 0, market.USD{}
		*ch.Positions[0].After, ch.Hours[0].After.Profit, ch.Hours[0].After.Best = market.Position{}, market.Profit{}, market.BestSale{}
		ch.Waiting[0].After.Trader = market.Address{} // nobody's
		token.Pool, token.Candidate, pool.Hooks = market.Address{}, market.Address{}, market.Address{}
		launch.Creator, launch.Curve, launch.Quote = market.Address{}, market.Address{}, market.Address{}
	}
	ch.Candles[0].After.Native = market.OHLC{Open: 1.0 / 3, High: 1e21, Low: 5e-324, Close: 1}
	return c
}

// followUp makes the commit of the block after c's, which changes the same rows again.
func followUp(c *store.Commit) *store.Commit {
	next := commitOf(int(c.Last.Number)+1, 1, map[string]*market.Changes{"last": &c.Changes})
	next.Changes.Trades[0].Block = next.Last.Number
	next.Changes.Entries[0].Block, next.Changes.Fees[0].Block = next.Last.Number, next.Last.Number
	return next
}

// images reads the former images of a block as text.
func images(t *testing.T, kind, dsn string, block int) (lines []string) {
	t.Helper()
	db := raw(t, kind, dsn)
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(t.Context(), fmt.Sprintf("SELECT tbl, existed, image FROM undo WHERE block = %d ORDER BY seq", block))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var table string
		var existed bool
		var image []byte
		if err := rows.Scan(&table, &existed, &image); err != nil {
			t.Fatal(err)
		}
		err := store.EachImage(table, existed, image, func(table string, existed bool, image []byte) {
			state := "absent"
			if existed {
				state = "there"
			}
			lines = append(lines, table+" "+state+" "+string(image))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestImagesAreDeclared holds the former images of every table against golden ones, byte by byte and on both databases, and
// takes them back.
func TestImagesAreDeclared(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s := storetest.OpenAt(t, dsn)
			l := lease(t, s)
			var lines []string
			for _, full := range []bool{true, false} {
				first := everyRow(1, full)
				if err := s.Commit(t.Context(), l, first); err != nil {
					t.Fatal(err)
				}
				job := market.HolderJob{Token: address(0), Final: 100, Next: 101, Broken: full, Step: market.MergeAccounts}
				if full {
					job.Recount, job.Beyond, job.BegunAt, job.Accounts, job.Transfers, job.Ranges = market.RecountProven, market.CapAge, 1, 2, 3, 4
					job.Step, job.Cursor, job.QueueBlock, job.QueueSeq, job.Holders, job.EndedIn = market.MergeQueue, address(10), 5, 6, 7, 8
				}
				if err := s.Jobs.Begin(t.Context(), l, []market.HolderJob{job}); err != nil {
					t.Fatal(err)
				}
				before := derivedRows(t, s)
				second := followUp(first)
				ended := job
				ended.Step = market.MergeEnded
				second.Changes.Jobs = []market.Change[market.Address, market.HolderJob]{{Key: job.Token, Before: &job, After: &ended}}
				if err := s.Commit(t.Context(), l, second); err != nil {
					t.Fatal(err)
				}
				if full {
					lines = append(lines, images(t, kind, dsn, 1)...) // nothing was there before
				}
				lines = append(lines, images(t, kind, dsn, 2)...)
				if _, err := s.Rewind(t.Context(), l, 1); err != nil {
					t.Fatal(err)
				}
				if !equalRows(before, derivedRows(t, s)) {
					t.Error("the rows that came back are others than those that were there")
				}
				if jobs, err := s.Jobs.List(t.Context(), "base"); err != nil || len(jobs) != 1 || jobs[0] != job {
					t.Errorf("the jobs that came back: %+v, %v", jobs, err)
				}
				undoAll(t, kind, dsn)
			}
			for _, table := range store.Tables() {
				if table == "holder_staging" {
					continue // only binaries of before write its images, which images.2.golden has
				}
				if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, table+" ") }) {
					t.Errorf("no image of %s", table)
				}
			}
			slices.Sort(lines)
			holdGolden(t, "images.golden", slices.Compact(lines))
		})
	}
}

// TestImagesOneByOneAreTakenBack: former versions kept each former image in a row of its own. Blocks of both kinds are taken back at once.
func TestImagesOneByOneAreTakenBack(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s := storetest.OpenAt(t, dsn)
			l := lease(t, s)
			first := everyRow(1, true)
			if err := s.Commit(t.Context(), l, first); err != nil {
				t.Fatal(err)
			}
			before := derivedRows(t, s)
			for n := 2; n <= 4; n++ {
				first = followUp(first)
				if err := s.Commit(t.Context(), l, first); err != nil {
					t.Fatal(err)
				}
			}
			unpackBlock(t, kind, dsn, 3)
			if _, err := s.Rewind(t.Context(), l, 1); err != nil {
				t.Fatal(err)
			}
			if !equalRows(before, derivedRows(t, s)) {
				t.Error("the rows that came back are others than those that were there")
			}
		})
	}
}

// unpackBlock writes the former images of a block as former versions did.
func unpackBlock(t *testing.T, kind, dsn string, block int) {
	t.Helper()
	db := raw(t, kind, dsn)
	defer func() { _ = db.Close() }()
	lines := images(t, kind, dsn, block)
	if len(lines) < 10 {
		t.Fatalf("block %d has %d images", block, len(lines))
	}
	must(t, db, fmt.Sprintf("DELETE FROM undo WHERE block = %d", block))
	for seq, line := range lines {
		table, rest, _ := strings.Cut(line, " ")
		state, image, _ := strings.Cut(rest, " ")
		literal := fmt.Sprintf("X'%x'", image)
		if kind == "postgres" {
			literal = fmt.Sprintf("'\\x%x'::bytea", image)
		}
		must(t, db, fmt.Sprintf("INSERT INTO undo (chain, block, seq, tbl, existed, image) VALUES ('base', %d, %d, '%s', %t, %s)", block, seq, table, state == "there", literal))
	}
}

// undoAll empties every table that has images.
func undoAll(t *testing.T, kind, dsn string) {
	t.Helper()
	db := raw(t, kind, dsn)
	defer func() { _ = db.Close() }()
	for _, table := range append(store.Tables(), "undo", "blocks") {
		if _, err := db.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
			t.Fatal(err)
		}
	}
}

// goldenLines lists the lines of every golden file of one format: those of earlier versions stay, and are read too.
func goldenLines(tb testing.TB, pattern string) (lines []string) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no %s: %v", pattern, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	return lines
}

// TestEveryDeclaredImageIsRead reads all golden images, and refuses them when something is missing or of another type.
func TestEveryDeclaredImageIsRead(t *testing.T) {
	t.Parallel()
	for _, line := range goldenLines(t, "images*.golden") {
		words := strings.SplitN(line, " ", 3)
		table, existed, image := words[0], words[1] == "there", words[2]
		again, err := store.RereadImage(table, existed, []byte(image))
		if err != nil {
			t.Errorf("%s: %v", image, err)
		} else if withoutLater(t, image, again) != image {
			t.Errorf("%s\nis written again as\n%s", image, again)
		}
		today := string(again) // with the columns that came later than the image
		loose := strings.NewReplacer(",\"", " ,\n\t\"", "\":", "\" : ").Replace("\r\n" + image + " ")
		newer := `{"a":"\"}","b":null,"c":-1e9,` + image[1:]
		for _, other := range []string{loose, newer} {
			if again, err := store.RereadImage(table, existed, []byte(other)); err != nil || string(again) != today {
				t.Errorf("%s\nis read as\n%s, %v", other, again, err)
			}
		}
		for _, wrong := range []string{
			"", "null", "[]", "{", image[:len(image)-1], image + "}", `{}`, `{"a":{},` + image[1:], `{"a":[],` + image[1:],
			strings.Replace(image, `{"chain":"base"`, `{"chain":7`, 1), strings.Replace(image, `{"chain":"base"`, `{"chain":null`, 1),
			strings.Replace(image, `{"chain":"base"`, `{"Chain":"base"`, 1), strings.Replace(image, `{"chain"`, `{"chain":"x","chain"`, 1),
			strings.Replace(image, `"evm:`, `"sol:`, 1), strings.Replace(image, `"evm:0x`, `"evm:0xz`, 1), strings.Replace(image, `"evm:0x`, `"evm:0x00`, 1),
		} {
			if wrong == image {
				continue // it has no such address
			}
			if _, err := store.RereadImage(table, existed, []byte(wrong)); err == nil {
				t.Errorf("%s of %s was read", wrong, table)
			}
		}
	}
}

// withoutLater leaves out of an image that was written again the columns that the image didn't have, at their zero values.
func withoutLater(t *testing.T, image string, again []byte) string {
	t.Helper()
	var had, has map[string]json.RawMessage
	if json.Unmarshal([]byte(image), &had) != nil || json.Unmarshal(again, &has) != nil {
		t.Fatalf("no JSON:\n%s\n%s", image, again)
	}
	out := string(again)
	for column, value := range has {
		if _, ok := had[column]; !ok && slices.Contains([]string{`""`, "0", "false", "null"}, string(value)) {
			out = strings.Replace(out, fmt.Sprintf(",%q:%s", column, value), "", 1)
		}
	}
	return out
}

// FuzzReadImage: whatever stands in an image, it is refused or means one row.
func FuzzReadImage(f *testing.F) {
	for _, line := range goldenLines(f, "images*.golden") {
		words := strings.SplitN(line, " ", 3)
		f.Add(words[0], words[1] == "there", []byte(words[2]))
	}
	f.Fuzz(func(t *testing.T, table string, existed bool, image []byte) {
		once, err := store.RereadImage(table, existed, image)
		if err != nil {
			return
		}
		twice, err := store.RereadImage(table, existed, once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q means %s and then %s, %v", image, once, twice, err)
		}
	})
}

// everyFact has each kind of fact, with and without what may be unknown.
func everyFact() []market.Fact {
	info := market.PoolCreated{
		Protocol: market.UniswapV4, Factory: address(3), Pool: poolID(2), Token0: address(4), Token1: address(5), FeePips: 3000,
		TickSpacing: -60, Hooks: address(6), Stable: true, SqrtPriceX96: huge(1), Tick: -887272,
	}
	return []market.Fact{
		market.TokenFact{
			Token: address(1), Name: "a \"b\" \\ <c> é 😀 \u2028", Symbol: "S", HasDecimals: true, Decimals: 0, HasSupply: true,
			Supply: huge(0), FromCreation: true,
		},
		market.TokenFact{Token: address(1)},
		market.TokenFact{Token: address(2), Name: "n", Symbol: "S", URI: "https://a.example/\"<é>\u2028"},
		market.PoolFact{Pool: poolID(2), Known: true, Info: info},
		market.PoolFact{Pool: address(2), Reason: market.PoolMute},
		market.PoolStateFact{
			Pool: address(2), SqrtPriceX96: huge(4), Tick: -887272, Liquidity: huge(5),
			Ticks: string(market.TickMap{}.AddRange(-60, 120, market.SignedAmount{Abs: amount(7)}).Marshal()),
		},
		market.PoolStateFact{
			Pool: address(2), SqrtPriceX96: huge(4), Tick: -887272, Liquidity: huge(5), Window: market.TickWindow{Lower: -887280, Upper: 60},
			Ticks: string(market.TickMap{}.AddRange(-887280, 60, market.SignedAmount{Abs: amount(7)}).Marshal()),
		},
		market.PoolStateFact{Pool: address(2), Reserve0: huge(6), Reserve1: amount(1)},
		market.SupplyFact{Token: address(1), Supply: amount(0)},
		market.BalanceFact{Token: address(1), Account: address(6), Amount: huge(3)},
		market.CurveFact{CurveKey: market.CurveKey{Curve: address(7), Token: address(1)}, Known: true, Quote: market.Native},
		market.CurveFact{CurveKey: market.CurveKey{Curve: address(7), Token: address(1)}, Reason: "no record"},
		market.WatchFact{WatchedWallet: market.WatchedWallet{Wallet: address(6), Member: 7, Change: 8, Since: 9}},
		market.HeldFact{PositionKey: market.PositionKey{Wallet: address(6), Token: address(1)}, Known: true, Amount: huge(2)},
		market.HeldFact{PositionKey: market.PositionKey{Wallet: address(6), Token: address(1)}},
		market.GasFact{GasKey: market.GasKey{Wallet: address(6), Tx: market.EVMTx(hash(3))}, Known: true, Amount: amount(0)},
		market.GasFact{GasKey: market.GasKey{Wallet: address(6), Tx: market.EVMTx(hash(3))}},
		market.PastFact{Wallet: address(6), Before: 50, In: 60, Entries: []market.Entry{
			{
				Wallet: address(6), Block: 10, Seq: 1, Time: 11, Tx: market.EVMTx(hash(3)), Token: address(1), Kind: market.Sold, Pool: poolID(2), LogIndex: 7, Amount: huge(2),
				NanoUSD: 0, HasUSD: true, Fee: market.NanoUSD(3),
			},
			{Wallet: address(6), Block: 10, Seq: 2, Time: 11, Tx: market.EVMTx(hash(3)), Token: address(1), Kind: market.WentOut, Amount: amount(1)},
		}},
		market.PastFact{Wallet: address(6), Before: 50},
	}
}

// TestFactsAreDeclared holds the body of every kind of fact against a golden one, and reads them all.
func TestFactsAreDeclared(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, f := range everyFact() {
		kind, body, err := store.WriteFact(f)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, kind+" "+string(body))
		if got, err := store.ReadFact(kind, body); err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%s\nis read as %+v, %v; it was %+v", body, got, err, f)
		}
	}
	holdGolden(t, "facts.golden", lines)
	for _, line := range goldenLines(t, "facts*.golden") {
		kind, body, _ := strings.Cut(line, " ")
		f, err := store.ReadFact(kind, []byte(body))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !slices.ContainsFunc(everyFact(), func(of market.Fact) bool { return reflect.DeepEqual(of, f) }) {
			t.Errorf("%s is read as %+v", line, f)
		}
		newer := strings.Replace(body, `{"v":1,`, `{"v":1,"later":{"x":[1]},`, 1)
		if got, err := store.ReadFact(kind, []byte(newer)); err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%s is read as %+v, %v", newer, got, err)
		}
		for _, wrong := range []string{
			"", "[]", strings.Replace(body, `"v":1`, `"v":2`, 1), strings.Replace(body, `"v":1`, `"v":"1"`, 1),
			strings.Replace(body, `"evm:`, `"sol:`, 1), strings.Replace(body, `"evm:0x`, `"0x`, 1),
		} {
			if _, err := store.ReadFact(kind, []byte(wrong)); err == nil {
				t.Errorf("%s %s was read", kind, wrong)
			}
		}
	}
	if _, err := store.ReadFact("gossip", []byte(`{"v":1}`)); err == nil {
		t.Error("a fact of an unknown kind was read")
	}
}

// TestAColumnThatCameLater reads images from before a column, as a binary does after an upgrade, and with it.
func TestAColumnThatCameLater(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		`{"id":1,"first":"a"}`:                       `{"id":1,"first":"a","since":0}`,
		`{"id":1,"first":"a","since":5}`:             `{"id":1,"first":"a","since":5}`,
		`{"id":1,"first":"a","since":5,"newer":"x"}`: `{"id":1,"first":"a","since":5}`,
		`{"id":1,"since":5}`:                         "", // the other column must be there
	} {
		got, err := store.RereadLater(true, []byte(image))
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s is read as %s, %v; want %s", image, got, err, want)
		}
	}
	if got, err := store.RereadLater(false, []byte(`{"id":1}`)); err != nil || string(got) != `{"id":1}` {
		t.Errorf("a key alone is read as %s, %v", got, err)
	}
	if got, err := store.WriteOdd(); err == nil {
		t.Errorf("a list was written as %s", got)
	}
}
