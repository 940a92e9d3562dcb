package derive_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// boughtBefore is an entry of a time before the index began, 100 dogs a dollar each.
func boughtBefore(wallet market.Address) market.Entry {
	return market.Entry{
		Wallet: wallet, Block: 10, Time: genesis.Time - 1000, Tx: market.EVMTx([32]byte{3}), Token: dog, Kind: market.Bought, Amount: e18(100), NanoUSD: 100e9, HasUSD: true,
	}
}

func TestAPastGivesABasis(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time+12), watched(bob, 1, b.last.Time+12)}, sells(alice, 50, 75), tx(moved(dog, alice, bob, e18(10))))
	if p, _ := b.profit(1); p.Sales != 0 || p.Excluded.Dollars() != 75 {
		t.Fatalf("what nobody knows of has a basis: %+v", p)
	}
	b.next(12, []market.Fact{market.PastFact{Wallet: alice, Before: 50, Entries: []market.Entry{boughtBefore(alice)}}}, sells(bob, 10, 30))
	b.wantPosition("half was sold, and a tenth given to her other wallet", alice, 40, 40, false)
	b.wantPosition("of which it was sold", bob, 0, 0, false)
	b.wantProfit("both sales count", 1, 25+20, 105, 2, 2)
	if p, best := b.profit(1); p.Excluded.Dollars() != 0 || best.Dollars() != 25 {
		t.Errorf("%v USD are excluded, the best sale gained %v", p.Excluded.Dollars(), best.Dollars())
	}
	b.next(12, []market.Fact{market.PastFact{Wallet: alice, Before: 50, Entries: []market.Entry{boughtBefore(alice)}}})
	b.wantPosition("a past that comes twice", alice, 40, 40, false)
	b.next(12, []market.Fact{market.PastFact{Wallet: carol, Before: 50, Entries: []market.Entry{boughtBefore(carol)}}})
	if n := len(b.db.entries); n != 5 {
		t.Errorf("a wallet that isn't watched got a past: %d entries", n)
	}
	b.next(12, []market.Fact{market.HeldFact{PositionKey: market.PositionKey{Wallet: alice, Token: dog}, Known: true, Amount: e18(30)}})
	b.wantPosition("the wallet has less than its past says", alice, 30, 30, false)
}

// TestThePastAndTheIndexsOwnTrades: where the index and a past both have a trade of one transaction, the index's trade counts, once. What the index doesn't have
// comes from the past.
func TestThePastAndTheIndexsOwnTrades(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, nil, buys(alice, 100, 100))
	own := b.lastTrade()
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time+12)})
	same := boughtBefore(alice)
	same.Block, same.Time, same.Tx, same.Seq, same.NanoUSD = own.Block, own.Time, own.Tx, market.PastSeq, 1e9
	sent := same
	sent.Tx, sent.Kind, sent.Amount, sent.Seq, sent.HasUSD = market.EVMTx([32]byte{9}), market.WentOut, e18(40), market.PastSeq+1, false
	b.next(12, []market.Fact{market.PastFact{Wallet: alice, Before: b.last.Number, In: 7, Entries: []market.Entry{same, sent}}})
	b.wantPosition("she bought them once, and sent some away before anybody looked", alice, 60, 60, false)
	if got := b.db.watched[alice].PastIn; got != 7 {
		t.Errorf("it was taken in by block %d, want that of the index before", got)
	}
}

// TestBasisThatWentToAWalletOfBefore: a wallet was its member's, left, and came back. What it received the first time, of which nothing is kept, gives it no basis.
func TestBasisThatWentToAWalletOfBefore(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time+12), watched(bob, 1, b.last.Time+12)}, buys(alice, 100, 100))
	b.next(12, nil, tx(moved(dog, alice, bob, e18(50))))
	b.wantPosition("half of them", bob, 50, 50, true)
	b.db.entries = slices.DeleteFunc(b.db.entries, func(e market.Entry) bool { return e.Wallet == bob }) // forgotten, and watched again
	delete(b.db.positions, market.PositionKey{Wallet: bob, Token: dog})
	b.restart(b.last)
	other := boughtBefore(bob)
	other.Token = cat
	b.next(12, []market.Fact{market.PastFact{Wallet: bob, Before: b.last.Number, Entries: []market.Entry{other}}})
	b.wantPosition("nothing is kept of what it got", bob, 0, 0, false)
	b.wantPosition("the sender has the other half", alice, 50, 50, true)
}

// TestWhatWasSoldWholly: a position that is empty at the end of a block is forgotten with its balance, as it is while blocks come.
func TestWhatWasSoldWholly(t *testing.T) {
	t.Parallel()
	b := dogPool(t, followAll)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time+12)}, buys(alice, 100, 100), buys(bob, 10, 10))
	b.next(12, nil, sells(alice, 100, 100))
	b.next(12, nil, tx(moved(dog, bob, alice, e18(10))))
	k := market.PositionKey{Wallet: alice, Token: dog}
	if _, ok := b.db.positions[k]; ok || !b.db.entries[0].HasBefore {
		t.Fatalf("%+v, after %+v", b.db.positions[k], b.db.entries)
	}
	other := boughtBefore(alice)
	other.Token = cat
	b.next(12, []market.Fact{market.PastFact{Wallet: alice, Before: 50, Entries: []market.Entry{other}}})
	if p, ok := b.db.positions[k]; ok {
		t.Errorf("a past of another token makes %+v of what wasn't there", p)
	}
}

// TestPricesOfThen: what was traded for a quote asset without a peg has the value that an event of that time tells. Without such an event its value is unknown.
func TestPricesOfThen(t *testing.T) {
	t.Parallel()
	b := stage(t, counted(5_000)) // where weth is at 2,000 USD by a pool with usdc
	b.next(12, nil, tx(pair(poolA, dog, weth), moved(dog, nobody, poolA, e18(1000)), synced(poolA, e18(1000), e18(10))))
	past := (&chain{last: market.Header{Number: 9, Time: genesis.Time - 5000}}).block(12, nil,
		tx(moved(weth, alice, poolA, e18(1)), moved(dog, poolA, alice, e18(90)), synced(poolA, e18(910), e18(11)), swapped(poolA, out(e18(90)), in(e18(1)), router, alice)),
		tx(moved(dog, bob, carol, e18(1))))
	begin := b.db.beginning(b.machine, b.last)
	derived := func(prices ...derive.PastPrice) []market.Entry {
		t.Helper()
		of := derive.OfWallet(&past, alice)
		s := derive.PastState(&of, alice, &begin)
		x := &indexer{machine: b.machine, state: s, db: b.db}
		x.load([]market.Block{of}, of.Header)
		sources := b.machine.PriceSources(s, &of)
		if len(of.Txs) != 1 || len(sources) != 1 || sources[0][0].Base != weth {
			t.Fatalf("%d transactions are hers, prices are of %+v", len(of.Txs), sources)
		}
		for i := range prices {
			prices[i].Pool = sources[0][0]
		}
		list, err := b.machine.PastEntries(s, &of, prices)
		if err != nil || len(list) != 1 || list[0].Kind != market.Bought || list[0].Amount != e18(90) || list[0].Seq != market.PastSeq || list[0].Counts {
			t.Fatalf("%+v, %v", list, err)
		}
		return list
	}
	if e := derived()[0]; e.HasUSD {
		t.Errorf("without a price of then it is valued: %+v", e)
	}
	pool := b.db.tokens[weth].Pool
	if e := derived(derive.PastPrice{Event: synced(pool, e18(1000), e6(500_000))})[0]; !e.HasUSD || e.NanoUSD != 500e9 {
		t.Errorf("at 500 USD it is valued so: %+v", e)
	}
}

// TestALongBookStaysAsItIs: a past is taken in while the member has at most MostReworked entries with it. With one more, the member's positions stay as they are.
func TestALongBookStaysAsItIs(t *testing.T) {
	t.Parallel()
	for more, quantity := range []uint64{100, 0} { // at the bound, and one beyond it
		b := dogPool(t)
		b.next(12, []market.Fact{watched(alice, 1, b.last.Time+12)})
		for i := range market.MostReworked - 1 + more {
			e := market.Entry{Wallet: alice, Block: 1000 + uint64(i), Time: b.last.Time + 1, Token: cat, Kind: market.CameIn, Amount: raw(1)}
			b.db.entries = append(b.db.entries, e)
		}
		b.next(12, []market.Fact{market.PastFact{Wallet: alice, Before: 50, Entries: []market.Entry{boughtBefore(alice)}}})
		b.wantPosition("a long book", alice, quantity, quantity, false)
		if b.db.watched[alice].PastIn != b.last.Number {
			t.Errorf("the past isn't noted: it would be tried again and again")
		}
	}
}

// TestAPastIsAsGoodAsTradesOfTheIndex: an index that has no trades of before some block, and is told of them later, ends up as one that had them.
func TestAPastIsAsGoodAsTradesOfTheIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		blocks, c := drawStory(t)
		began := map[market.Address]uint64{}
		for i := range blocks {
			blocks[i].Facts = slices.DeleteFunc(blocks[i].Facts, func(f market.Fact) bool {
				switch f := f.(type) {
				case market.WatchFact: // who has a wallet stays the same
					_, twice := began[f.Wallet]
					if !twice {
						began[f.Wallet] = blocks[i].Number
					}
					return twice
				case market.HeldFact, market.PastFact:
					return true
				}
				return false
			})
		}
		whole := newIndexer(t, c, 100_000)
		batched(t, whole, blocks, func() int { return 1 }, false)

		cut := rapid.SampledFrom(blocks).Draw(t, "first block").Number
		late := newIndexer(t, c, 100_000)
		late.db.firstTrade = cut
		pasts := map[market.Address]*market.PastFact{}
		for wallet := range began {
			pasts[wallet] = &market.PastFact{Wallet: wallet, Before: min(cut, began[wallet])}
		}
		for _, e := range whole.db.entries {
			if f := pasts[e.Wallet]; e.Block < f.Before {
				e.Proceeds, e.Cost, e.MovedOut, e.Seq = market.USD{}, market.USD{}, market.USD{}, market.PastSeq+e.Seq
				f.Entries = append(f.Entries, e)
			}
		}
		for wallet, from := range began {
			places := slices.DeleteFunc(slices.Clone(blocks), func(b market.Block) bool { return b.Number <= from })
			if len(places) == 0 {
				continue
			}
			at := rapid.SampledFrom(places).Draw(t, "the past comes").Number
			i := slices.IndexFunc(blocks, func(b market.Block) bool { return b.Number == at })
			blocks[i].Facts = append(slices.Clone(blocks[i].Facts), *pasts[wallet])
			delete(pasts, wallet)
		}
		end := market.Block{Header: market.Header{Number: blocks[len(blocks)-1].Number + 1, Hash: market.Hash{8}, Time: blocks[len(blocks)-1].Time}}
		for _, f := range pasts {
			end.Facts = append(end.Facts, *f)
		}
		batched(t, late, append(blocks, end), func() int { return rapid.IntRange(1, 5).Draw(t, "batch") }, false)
		for _, db := range []*database{whole.db, late.db} {
			for k, p := range db.positions {
				p.IsIn, p.IsCopied = false, false
				db.positions[k] = p
			}
		}
		for i := range late.db.entries {
			late.db.entries[i].Seq %= market.PastSeq
		}
		slices.SortFunc(late.db.entries, inOrder) // of one block those of a past stood behind the others
		out := rowDifferences("position", whole.db.positions, late.db.positions)
		out = append(out, rowDifferences("hour", whole.db.hours, late.db.hours)...)
		for i := range max(len(whole.db.entries), len(late.db.entries)) {
			if i >= len(whole.db.entries) || i >= len(late.db.entries) || whole.db.entries[i] != late.db.entries[i] {
				t.Fatalf("entry %d differs:\n%+v\n%+v\n%s", i, whole.db.entries, late.db.entries, strings.Join(out, "\n"))
			}
		}
		if len(out) > 0 {
			t.Fatalf("%s", strings.Join(out, "\n"))
		}
	})
}

// BenchmarkRework works out the longest book that a past is taken in for.
func BenchmarkRework(b *testing.B) {
	c := config(counted(5_000))
	m, err := derive.New(c)
	if err != nil {
		b.Fatal(err)
	}
	rows := market.Rows{Positions: map[market.PositionKey]market.Position{}}
	for i := range market.MostReworked - 1 {
		e := market.Entry{
			Wallet: alice, Block: 100 + uint64(i/4), Seq: uint32(i % 4), Time: genesis.Time + int64(i), Tx: market.EVMTx([32]byte{byte(i >> 16), byte(i >> 8), byte(i)}),
			Token: address(byte(100 + i%50)), Kind: market.EntryKind(i / 50 % 2), Amount: e18(uint64(1 + i%7)), NanoUSD: int64(i) * 1e6, HasUSD: true, Counts: true,
		}
		rows.Entries = append(rows.Entries, e)
	}
	block := market.Block{
		Header: market.Header{Number: 50_000, Hash: market.Hash{7}, Time: genesis.Time + 200_000},
		Facts:  []market.Fact{market.PastFact{Wallet: alice, Before: 50, Entries: []market.Entry{boughtBefore(alice)}}},
	}
	for b.Loop() {
		s := derive.NewState(market.Beginning{Last: genesis, Watched: []market.WatchedWallet{{Wallet: alice, Member: 1, Since: 1}}})
		s.Put(market.Wanted{BooksOf: [][]market.Address{{alice}}, ExpireFrom: 1}, rows)
		if err := m.Apply(s, []market.Block{block}, block.Header); err != nil {
			b.Fatal(err)
		}
		if c := s.Flush(0); len(c.Reworked) < 1000 || c.Watched[0].After.PastIn == 0 {
			b.Fatalf("%d entries are reworked", len(c.Reworked))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
}
