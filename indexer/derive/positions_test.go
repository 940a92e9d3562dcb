package derive_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
)

func watched(wallet market.Address, member, since int64) market.Fact {
	return market.WatchFact{WatchedWallet: market.WatchedWallet{Wallet: wallet, Member: member, Change: 1, Since: since}}
}

// counted has the chain count trades from a liquidity on.
func counted(usd float64) func(*chainconfig.Chain) {
	return func(c *chainconfig.Chain) { c.Tracking.CountedLiquidityUSD, c.MinTradeUSD = usd, 2 }
}

// dogPool has a pair of dog and USDC with 10,000 USD on either side, at one USD.
func dogPool(t *testing.T, change ...func(*chainconfig.Chain)) *bench {
	t.Helper()
	b := stage(t, append([]func(*chainconfig.Chain){counted(5_000)}, change...)...)
	b.next(12, nil, tx(pair(poolA, dog, usdc), moved(dog, nobody, poolA, e18(10_000)), synced(poolA, e18(10_000), e6(10_000))))
	return b
}

func buys(wallet market.Address, tokens, dollars uint64) []market.Event {
	return tx(moved(dog, poolA, wallet, e18(tokens)), swapped(poolA, out(e18(tokens)), in(e6(dollars)), router, wallet))
}

func sells(wallet market.Address, tokens, dollars uint64) []market.Event {
	return tx(moved(dog, wallet, poolA, e18(tokens)), swapped(poolA, in(e18(tokens)), out(e6(dollars)), router, wallet))
}

// wantPosition wants what a wallet has with a basis in dog, in whole tokens and USD.
func (b *bench) wantPosition(what string, wallet market.Address, tokens, cost uint64, isIn bool) {
	b.t.Helper()
	p := b.db.positions[market.PositionKey{Wallet: wallet, Token: dog}]
	if p.Quantity != e18(tokens) || p.Cost != market.NanoUSD(int64(cost)*1e9) || p.IsIn != isIn {
		b.t.Errorf("%s: %s at %s, in it: %v; want %d for %d USD, %v", what, p.Quantity.Dec(), p.Cost.Big(), p.IsIn, tokens, cost, isIn)
	}
}

// profit is what a member's hours come to.
func (b *bench) profit(member int64) (p market.Profit, best market.USD) {
	for _, h := range b.db.hours {
		if h.Member == member {
			p.Add(&h.Profit)
			if h.Best.Gain.Cmp(best) > 0 {
				best = h.Best.Gain
			}
		}
	}
	return p, best
}

func (b *bench) wantProfit(what string, member int64, realised, volume float64, sales, wins int) {
	b.t.Helper()
	p, _ := b.profit(member)
	if got := p.Realised(); got.Dollars() != realised || p.Volume.Dollars() != volume || p.Sales != sales || p.Wins != wins {
		b.t.Errorf("%s: realised %v of a volume of %v in %d sales with %d wins; want %v, %v, %d, %d", what, got.Dollars(), p.Volume.Dollars(), p.Sales, p.Wins,
			realised, volume, sales, wins)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, nil, buys(alice, 100, 100)) // before she joins: a basis, and no more
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time+12)}, sells(alice, 50, 75))
	b.wantPosition("half of what she had bought before", alice, 50, 50, false)
	b.wantProfit("a sale of it", 1, 25, 75, 1, 1)
	b.next(12, nil, buys(alice, 10, 1))
	b.wantPosition("a purchase below the least trade", alice, 60, 51, false)
	b.next(12, nil, buys(alice, 40, 49))
	b.wantPosition("a purchase that counts", alice, 100, 100, true)
	b.next(12, nil, tx(moved(dog, alice, bob, e18(25))))
	b.wantPosition("what is sent to a stranger takes its cost along", alice, 75, 75, true)
	if p, _ := b.profit(1); p.MovedOut.Dollars() != 25 {
		t.Errorf("%v USD were moved out", p.MovedOut.Dollars())
	}
	b.next(12, nil, tx(moved(dog, bob, alice, e18(25)), moved(cat, bob, alice, e18(25)), moved(frog, bob, alice, e18(25))))
	b.wantPosition("what comes has no basis", alice, 75, 75, true)
	if n := len(slices.DeleteFunc(slices.Clone(b.db.entries), func(e market.Entry) bool { return e.Kind != market.CameIn })); n != 2 {
		t.Errorf("%d receipts are kept: want those of the two tokens that the index knows", n)
	}
	b.next(12, nil, sells(alice, 100, 200))
	b.wantPosition("all is sold", alice, 0, 0, false)
	b.wantProfit("of 100 three quarters had a basis", 1, 100, 325, 2, 2)
	if p, best := b.profit(1); p.Excluded.Dollars() != 50 || best.Dollars() != 75 {
		t.Errorf("%v USD are excluded, the best sale gained %v", p.Excluded.Dollars(), best.Dollars())
	}
	if p := b.db.positions; len(p) != 0 {
		t.Errorf("positions that say nothing are kept: %v", p)
	}
}

// TestBetweenOnesOwnWallets: the basis goes with what a member sends to another wallet of theirs, from when both are theirs.
func TestBetweenOnesOwnWallets(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	now := b.last.Time
	b.next(12, []market.Fact{watched(alice, 1, now), watched(bob, 1, now+30), watched(carol, 2, now)}, buys(alice, 100, 100))
	b.next(12, nil, tx(moved(dog, alice, bob, e18(10)), moved(dog, alice, carol, e18(10))))
	b.wantPosition("sent", alice, 80, 80, true)
	b.wantPosition("before it was theirs", bob, 0, 0, false)
	b.wantPosition("to another member", carol, 0, 0, false)
	b.next(12, nil, tx(moved(dog, alice, bob, e18(40))))
	b.wantPosition("sent", alice, 40, 40, true)
	b.wantPosition("the basis travelled", bob, 40, 40, true)
	// In one transaction all of it goes through bob to where it was bought.
	b.next(12, nil, append(tx(moved(dog, alice, bob, e18(40))), sells(bob, 80, 160)...))
	b.wantPosition("all went", alice, 0, 0, false)
	b.wantPosition("the sale came first, for what was there", bob, 40, 40, true)
	if p, _ := b.profit(1); p.MovedOut.Dollars() != 20 {
		t.Errorf("%v USD were moved out", p.MovedOut.Dollars())
	}
}

// TestWhatCountsForNobody: sales in pools that are too shallow, or between two wallets of one member, move the position and count for nothing.
func TestWhatCountsForNobody(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	facts := []market.Fact{watched(alice, 1, b.last.Time), watched(bob, 1, b.last.Time), watched(carol, 2, b.last.Time)}
	b.next(12, facts, buys(alice, 100, 100))
	b.next(12, nil, buys(bob, 10, 10), sells(alice, 10, 30))
	b.wantProfit("between own wallets", 1, 0, 140, 0, 0)
	b.wantPosition("it is sold all the same", alice, 90, 90, true)
	b.next(12, nil, buys(carol, 10, 10), sells(alice, 10, 30))
	b.wantProfit("with another", 1, 20, 170, 1, 1)
	b.next(12, nil, buys(bob, 1, 1), sells(alice, 10, 30))
	b.wantProfit("beside a purchase below the least trade, which a stranger could make", 1, 40, 201, 2, 2)
	b.next(12, nil, tx(synced(poolA, e18(100), e6(100))))
	b.next(12, nil, sells(alice, 40, 80))
	b.wantProfit("in a pool that is too shallow", 1, 40, 281, 2, 2)
	b.next(12, nil, tx(synced(poolA, e18(10_000), e6(10_000))), sells(alice, 20, 80))
	b.wantProfit("in one that was before the block", 1, 40, 361, 2, 2)
	b.next(12, nil, tx(synced(poolA, e18(100), e6(100))), sells(alice, 10, 80))
	b.wantProfit("in one that is after it", 1, 40, 441, 2, 2)
	if p, _ := b.profit(1); p.IneligibleSells != 4 {
		t.Errorf("%d sales are left out", p.IneligibleSells)
	}
}

// TestCopiedTradesKeepTheirBasis: of a purchase in two pools before a wallet joined, the first trade alone tells the balance before.
func TestCopiedTradesKeepTheirBasis(t *testing.T) {
	t.Parallel()
	b := dogPool(t, followAll)
	b.next(12, nil, tx(pair(poolC, dog, usdc), moved(dog, nobody, poolC, e18(10_000)), synced(poolC, e18(10_000), e6(10_000))))
	b.next(12, nil, tx(moved(dog, poolA, alice, e18(60)), swapped(poolA, out(e18(60)), in(e6(60)), router, alice),
		moved(dog, poolC, alice, e18(40)), swapped(poolC, out(e18(40)), in(e6(40)), router, alice)))
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time+12)}, sells(alice, 100, 150))
	b.wantProfit("all of it had a basis", 1, 50, 150, 1, 1)
}

// TestWhatOnlyPassesThrough: a trader whom the quote alone shows doesn't have what they bought.
func TestWhatOnlyPassesThrough(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time)}, tx(
		moved(usdc, alice, poolA, e6(50)), swapped(poolA, out(e18(50)), in(e6(50)), router, poolB)))
	if got := b.db.trades[len(b.db.trades)-1].Trader; got != alice {
		t.Fatalf("the trader is %s: the test shows nothing", got)
	}
	b.wantPosition("what went on to another pool", alice, 0, 0, false)
	if len(b.db.entries) != 2 || b.db.entries[1].Kind != market.WentOut {
		t.Errorf("entries are %+v", b.db.entries)
	}
}

// TestAFloodOfTransfers: what goes between two wallets of a member in one transaction is one entry of each, however often the token says so.
func TestAFloodOfTransfers(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time), watched(bob, 1, b.last.Time)}, buys(alice, 1000, 1000))
	var events []market.Event
	for range 500 {
		events = append(events, moved(dog, alice, bob, e18(1)))
	}
	b.next(12, nil, events)
	if n := len(b.db.entries); n != 3 {
		t.Errorf("there are %d entries", n)
	}
	b.wantPosition("half of it", alice, 500, 500, true)
	b.wantPosition("the other half", bob, 500, 500, true)
}

// TestAnAirdropOfUnknownTokens: what the index doesn't know is nobody's position, however much of it a watched wallet gets at once. None of it is kept, neither as rows nor
// in memory.
func TestAnAirdropOfUnknownTokens(t *testing.T) { //nolint:paralleltest // it measures the heap
	b := dogPool(t)
	b.limit = 1_000
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time)}, buys(alice, 100, 100))
	b.next(12, nil, tx(moved(dog, alice, bob, e18(10))))
	token, told := uint32(0), false
	airdrop := func(txs, logs int) {
		t.Helper()
		list := make([][]market.Event, txs)
		for i := range list {
			for range logs {
				token++
				a, err := market.AddressFromBytes([]byte{0xda, 16: byte(token >> 24), byte(token >> 16), byte(token >> 8), byte(token)})
				if err != nil {
					t.Fatal(err)
				}
				list[i] = append(list[i], moved(a, bob, alice, e18(1)))
			}
		}
		tokens, positions, entries, hours := len(b.db.tokens), len(b.db.positions), len(b.db.entries), len(b.db.hours)
		c := b.next(12, nil, list...)
		b.blocks = nil // or the test itself keeps the logs
		if n := len(c.Tokens) + len(c.Positions) + len(c.Entries) + len(c.Hours) + len(c.Stream) + len(c.Balances); n != 0 && !told {
			t.Errorf("%d transactions of %d transfers: %d rows are written: %+v", txs, logs, n, c)
			told = true
		}
		if len(b.db.tokens) != tokens || len(b.db.positions) != positions || len(b.db.entries) != entries || len(b.db.hours) != hours {
			t.Errorf("there are %d tokens, %d positions, %d entries and %d hours; before there were %d, %d, %d and %d", len(b.db.tokens), len(b.db.positions), len(b.db.entries),
				len(b.db.hours), tokens, positions, entries, hours)
		}
	}
	heap := func() uint64 {
		b.idle(2, 12) // what the last commit used is kept until the next
		b.blocks = nil
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(b)
		return m.HeapAlloc
	}
	airdrop(1, 50_000)
	airdrop(50, 1_000)
	before := heap() // the caches keep the room that they had for 100,000 absent rows, and no row
	airdrop(1, 50_000)
	airdrop(50, 1_000)
	if after := heap(); after > before+8<<20 {
		t.Errorf("after another 100,000 transfers %d KiB more are in memory than after the first", (after-before)>>10)
	}
	b.wantPosition("what was bought", alice, 90, 90, true)
}

// TestDust: who is sent a token isn't in it.
func TestDust(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time)}, tx(moved(dog, bob, alice, e18(500))))
	b.wantPosition("dust", alice, 0, 0, false)
	if len(b.db.positions) != 0 || len(b.db.entries) != 1 {
		t.Errorf("positions %v, entries %v", b.db.positions, b.db.entries)
	}
}

// TestAWalletChangesHands: what was realised stays the former member's, the position goes along.
func TestAWalletChangesHands(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time)}, buys(alice, 100, 100))
	b.next(12, nil, sells(alice, 10, 20))
	b.next(12, []market.Fact{watched(alice, 2, b.last.Time+12)}, sells(alice, 10, 30))
	b.wantProfit("the former", 1, 10, 120, 1, 1)
	b.wantProfit("the new one", 2, 20, 30, 1, 1)
	b.wantPosition("what is left", alice, 80, 80, true)
}

// TestTwoMembersAreJoined: wallets that come together later are one member's from then on. What was before stays as it is: the one got what they did by no basis, and
// what each realised is the member's who had the wallet then.
func TestTwoMembersAreJoined(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time), watched(bob, 2, b.last.Time)}, buys(alice, 100, 100), buys(bob, 10, 20))
	b.next(12, nil, tx(moved(dog, alice, bob, e18(40))))
	b.next(12, nil, sells(bob, 5, 15))
	b.wantPosition("sent away", alice, 60, 60, true)
	b.wantPosition("what came from another member has no basis", bob, 5, 10, true)
	b.wantProfit("before", 2, 5, 35, 1, 1)
	entries, positions, hours := slices.Clone(b.db.entries), maps.Clone(b.db.positions), maps.Clone(b.db.hours)
	b.next(12, []market.Fact{watched(bob, 1, b.last.Time+12)}) // the app has merged the two accounts
	if !reflect.DeepEqual(b.db.entries, entries) || !reflect.DeepEqual(b.db.positions, positions) || !reflect.DeepEqual(b.db.hours, hours) {
		t.Errorf("joining them rewrote what was:\n%+v\n%+v\n%+v\nbefore\n%+v\n%+v\n%+v", b.db.entries, b.db.positions, b.db.hours, entries, positions, hours)
	}
	b.next(12, nil, tx(moved(dog, alice, bob, e18(20))))
	b.wantPosition("half of it", alice, 40, 40, true)
	b.wantPosition("now the basis goes along", bob, 25, 30, true)
	b.next(12, nil, sells(bob, 45, 90))
	b.wantProfit("the former member keeps what was realised", 2, 5, 35, 1, 1)
	if p, _ := b.profit(1); p.Sales != 1 || p.Cost.Dollars() != 30 {
		t.Errorf("the joined member has %d sales of %v USD cost", p.Sales, p.Cost.Dollars())
	}
	if !slices.EqualFunc(b.db.entries[:len(entries)], entries, func(x, y market.Entry) bool { return reflect.DeepEqual(x, y) }) {
		t.Error("entries from before were rewritten later")
	}
}

// TestHeld: the basis of copied trades is bounded, once, by what the wallet had before its first touch. What went unseen counts for nobody.
func TestHeld(t *testing.T) {
	t.Parallel()
	join := func(b *bench) {
		b.next(12, nil, buys(alice, 100, 100))
		b.next(12, []market.Fact{watched(alice, 1, b.last.Time+12)})
	}
	held := func(known bool, tokens uint64) market.Fact {
		return market.HeldFact{PositionKey: market.PositionKey{Wallet: alice, Token: dog}, Known: known, Amount: e18(tokens)}
	}
	some := dogPool(t)
	join(some)
	some.next(12, []market.Fact{held(true, 25)}, sells(alice, 50, 100))
	some.wantProfit("25 of 50 had a basis", 1, 25, 100, 1, 1)
	some.wantPosition("nothing is left", alice, 0, 0, false)
	if p, _ := some.profit(1); p.Excluded.Dollars() != 50 || p.MovedOut.Sign() != 0 {
		t.Errorf("%v USD are excluded, %v moved out", p.Excluded.Dollars(), p.MovedOut.Dollars())
	}
	for _, c := range []struct {
		what   string
		fact   market.Fact
		tokens uint64
	}{{"as much", held(true, 100), 100}, {"more", held(true, 101), 100}, {"nothing", held(true, 0), 0}, {"unknown", held(false, 0), 100}} {
		b := dogPool(t)
		join(b)
		b.next(12, []market.Fact{c.fact}, tx(moved(dog, bob, alice, e18(5))))
		b.wantPosition(c.what, alice, c.tokens, c.tokens, false)
		b.next(12, []market.Fact{held(true, 1)}, tx(moved(dog, bob, alice, e18(5))))
		b.wantPosition(c.what+", and asked again", alice, c.tokens, c.tokens, false)
	}
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time)}, buys(alice, 100, 100))
	b.next(12, []market.Fact{held(true, 1)}, tx(moved(dog, bob, alice, e18(5))))
	b.wantPosition("what was bought since is known", alice, 100, 100, true)
}

// TestGas: the first trade of a transaction has all that its wallet paid for it; what isn't told isn't known.
func TestGas(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time), watched(bob, 2, b.last.Time)})
	n := b.last.Number + 1
	id := func(i byte) market.TxID { return market.EVMTx([32]byte{2, byte(n >> 8), byte(n), i}) }
	gas := func(wallet market.Address, i byte, known bool, coins uint64) market.Fact {
		return market.GasFact{GasKey: market.GasKey{Wallet: wallet, Tx: id(i)}, Known: known, Amount: units(coins, 14)}
	}
	b.next(12, []market.Fact{gas(alice, 0, true, 5), gas(alice, 1, true, 10), gas(alice, 2, false, 10), gas(bob, 0, false, 0)},
		append(append(buys(alice, 10, 10), buys(alice, 20, 20)...), buys(bob, 10, 10)...), buys(alice, 10, 10), buys(alice, 10, 10))
	var told []string
	for _, e := range b.db.entries {
		told = append(told, fmt.Sprint(e.HasGas, e.GasNanoUSD))
	}
	if want := []string{"true 1000000000", "true 0", "false 0", "true 2000000000", "false 0"}; !slices.Equal(told, want) { // at 2,000 USD a coin
		t.Errorf("gas is %v, want %v", told, want)
	}
	of, _ := b.profit(1)
	other, _ := b.profit(2)
	if of.Gas != market.NanoUSD(3e9) || of.WithoutGas != 1 || other.WithoutGas != 1 {
		t.Errorf("%v USD, %d and %d trades without", of.Gas.Dollars(), of.WithoutGas, other.WithoutGas)
	}
}

// TestGasOfTradesThatCountForNothing: who trades dust, or in a shallow pool, for a wallet of somebody else doesn't make its gas unknown.
func TestGasOfTradesThatCountForNothing(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time)}, buys(alice, 1, 1))
	if p, _ := b.profit(1); p.WithoutGas != 0 || p.Trades != 1 {
		t.Errorf("below the least trade: %d of %d trades are without gas", p.WithoutGas, p.Trades)
	}
	b.next(12, nil, buys(alice, 2, 2))
	if p, _ := b.profit(1); p.WithoutGas != 1 {
		t.Errorf("of the least trade: %d are without gas", p.WithoutGas)
	}
	b.next(12, nil, tx(synced(poolA, e18(100), e6(100))), buys(alice, 2, 2))
	if p, _ := b.profit(1); p.WithoutGas != 1 {
		t.Errorf("in a shallow pool: %d are without gas", p.WithoutGas)
	}
}

// TestPositionsFollowFromEntries holds the positions and hours of any chain against what its entries come to, one by one.
func TestPositionsFollowFromEntries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		blocks, c := drawStory(t)
		x := newIndexer(t, c, 10)
		batched(t, x, blocks, func() int { return rapid.IntRange(1, 5).Draw(t, "batch") }, false)
		positions := map[market.PositionKey]market.Position{}
		entries := slices.Clone(x.db.entries)
		arrived := map[market.EntryKey]bool{} // the other sides of what went between a member's wallets
		for i := range entries {
			e := &entries[i]
			if arrived[e.Key()] {
				continue
			}
			if !e.To.IsNone() {
				arrived[market.EntryKey{Wallet: e.To, Block: e.Block, Seq: e.Seq + 1}] = true
			}
			k := market.PositionKey{Wallet: e.Wallet, Token: e.Token}
			p := positions[k]
			f := pnl.Apply(&p, &pnl.Entry{
				Kind: e.Kind, At: e.Time, Tx: e.Tx, Amount: e.Amount, Before: e.Before, HasBefore: e.HasBefore, NanoUSD: e.NanoUSD, HasUSD: e.HasUSD, To: e.To,
				FeeNanoUSD: e.Fee.Big().Int64(),
			})
			positions[k] = p
			if !e.To.IsNone() {
				to := market.PositionKey{Wallet: e.To, Token: e.Token}
				q := positions[to]
				pnl.Receive(&q, &f.Carried, f.CarriedCost, &e.Amount)
				positions[to] = q
			}
			if e.Kind == market.Sold && (f.Proceeds != e.Proceeds || f.Cost != e.Cost) || f.MovedOut != e.MovedOut {
				t.Fatalf("entry %+v\nrealises %+v", e, f)
			}
		}
		for k, p := range positions {
			got := x.db.positions[k]
			got.IsIn, got.IsCopied = false, false
			if p.IsIn = false; p != got && !p.IsEmpty() {
				t.Fatalf("%v is %+v, its entries come to %+v", k, got, p)
			}
		}
		for k := range x.db.positions {
			if _, ok := positions[k]; !ok {
				t.Fatalf("%v has no entries", k)
			}
		}
		holdHours(t, x.db)
	})
}

// holdHours adds up what counts, hour by hour.
func holdHours(t *rapid.T, d *database) {
	sums := map[[2]any]market.Profit{}
	for _, e := range d.entries {
		if e.Kind == market.Sold && e.Counts && e.HasUSD {
			k := [2]any{e.Wallet, e.Time - e.Time%3600}
			p := sums[k]
			p.Proceeds, p.Cost = p.Proceeds.Add(e.Proceeds), p.Cost.Add(e.Cost)
			sums[k] = p
		}
	}
	got := map[[2]any]market.Profit{}
	for _, h := range d.hours {
		if h.Sales != h.Wins+h.Losses && h.Sales < h.Wins+h.Losses || h.Sales > 0 && h.Trades == 0 {
			t.Fatalf("%+v", h)
		}
		k := [2]any{h.Wallet, h.Open}
		p := got[k]
		p.Proceeds, p.Cost = p.Proceeds.Add(h.Proceeds), p.Cost.Add(h.Cost)
		if p != (market.Profit{}) {
			got[k] = p
		}
	}
	maps.DeleteFunc(sums, func(_ [2]any, p market.Profit) bool { return p == market.Profit{} })
	if !reflect.DeepEqual(got, sums) {
		t.Fatalf("hours come to\n%+v\nentries to\n%+v", got, sums)
	}
	if !slices.IsSortedFunc(d.entries, func(a, b market.Entry) int {
		if a.Wallet != b.Wallet {
			return 0
		}
		return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Seq, b.Seq))
	}) {
		t.Fatalf("a wallet's entries aren't in their order")
	}
}
