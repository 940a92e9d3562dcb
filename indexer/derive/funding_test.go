package derive_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// read writes and applies a block that was read with its transactions, of which each is sent by the given account.
func (b *bench) read(seconds int64, sender market.Address, nonce uint64, payments []market.Payment, txs ...[]market.Event) market.Changes {
	b.t.Helper()
	block := b.block(seconds, nil, txs...)
	block.Payments, block.HasPayments = payments, true
	for i := range block.Txs {
		block.Txs[i].Sender, block.Txs[i].Nonce = sender, nonce
	}
	return b.apply(b.t, []market.Block{block}, block.Header)
}

func (b *bench) wantFunding(want market.Funding) {
	b.t.Helper()
	if got := b.lastTrade().Funding; got != want {
		b.t.Errorf("the funding of the trade in block %d is %+v, want %+v", b.last.Number, got, want)
	}
}

func pay(from, to market.Address, n uint64) market.Payment {
	return market.Payment{From: from, To: to, Amount: e18(n)}
}

// TestFundingOfTrades: a trade of a launched token tells who funded the trader, by the payments up to the end of its block, and the trader's age if the trader sent
// the transaction.
func TestFundingOfTrades(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	b.next(12, nil, tx(bought(bob)))
	b.wantFunding(market.Funding{})

	b.read(12, bob, 3, nil, tx(bought(bob)))
	b.wantFunding(market.Funding{}) // whether bob is new isn't known yet
	b.read(12, router, 8, []market.Payment{pay(carol, bob, 2), pay(router, bob, 1)}, tx(bought(bob)))
	funded := market.Funding{State: market.FundingSeen, Funder: carol, At: b.last.Time}
	b.wantFunding(funded)
	b.read(12, bob, 0, []market.Payment{pay(solver, bob, 1)}, tx(pair(poolA, dog, weth), synced(poolA, e18(1000), e18(1000)), moved(weth, bob, poolA, e18(1)), moved(dog, poolA, bob, e18(1)), swapped(poolA, out(e18(1)), in(e18(1)), router, bob)))
	if got := b.lastTrade(); got.Base != dog || got.Trader != bob || got.Funding != (market.Funding{}) {
		t.Errorf("a trade of a token that wasn't launched is %+v", got)
	}
	b.read(12, bob, 0, nil, tx(bought(bob)))
	sent := funded
	sent.Age, sent.First = market.AgeNew, b.last.Time
	b.wantFunding(sent)

	b.read(24*3600, bob, 1, nil, tx(bought(alice)))
	b.wantFunding(market.Funding{State: market.FundingNotSeen})
	b.read(12, alice, 1, nil, tx(bought(alice)))
	b.wantFunding(market.Funding{State: market.FundingNotSeen, Age: market.AgeOld})
	b.next(12, nil, tx(bought(bob)))
	b.wantFunding(market.Funding{}) // read without its transactions
	b.read(12, router, 1, nil, tx(bought(bob)))
	b.wantFunding(market.Funding{State: market.FundingNotSeen}) // the gap was short
	b.next(700, nil)
	b.read(12, router, 1, []market.Payment{pay(bob, alice, 1)}, tx(bought(bob)))
	b.wantFunding(market.Funding{})
	b.read(12, router, 1, nil, tx(bought(alice)))
	b.wantFunding(market.Funding{State: market.FundingSeen, Funder: bob, At: b.last.Time - 12})
}

// TestFundingInTheLaunchesBlock: a purchase in the transaction that launches its token is told of, too.
func TestFundingInTheLaunchesBlock(t *testing.T) {
	t.Parallel()
	b := stage(t)
	block := b.block(12, facts(pup), tx(moved(pup, nobody, pad, e18(1000)), bought(alice), launched()))
	block.Payments, block.HasPayments = []market.Payment{pay(carol, alice, 1)}, true
	block.Txs[0].Sender, block.Firsts = alice, []market.Address{alice}
	c := b.apply(t, []market.Block{block}, block.Header)
	b.wantFunding(market.Funding{State: market.FundingSeen, Funder: carol, At: block.Time, Age: market.AgeNew, First: block.Time})
	if len(c.Payments) != 1 || c.Payments[0].Number != block.Number || c.Payments[0].Hash != block.Hash || len(c.Payments[0].Payments) != 1 ||
		!slices.Equal(c.Payments[0].Firsts, block.Firsts) {
		t.Errorf("the payments of the block are %+v", c.Payments)
	}
}

// TestPaymentsThatAreNeeded: a chain whose blocks are read without transactions needs no row of payments, and says nothing about them. On others the rows go that
// no block can need any more, whatever is taken back.
func TestPaymentsThatAreNeeded(t *testing.T) {
	t.Parallel()
	b := stage(t)
	if c := b.next(12, nil, tx(synced(poolD, e18(10_000), e6(20_000_000)))); c.Payments != nil || c.HasPaymentsFrom {
		t.Errorf("without transactions %d rows are written, and block %d is said to be needed", len(c.Payments), c.PaymentsFrom)
	}
	first := b.last.Number + 1
	var c market.Changes
	for range 30 {
		c = b.read(3600, bob, 0, []market.Payment{pay(carol, bob, 1)})
	}
	// The window of the block that is 8 below the one before the last begins 24 blocks before it, and one more shows that it is a whole one.
	if want := max(first, b.last.Number-1-reach-25); !c.HasPaymentsFrom || c.PaymentsFrom != want || len(b.db.payments) != int(b.last.Number-want)+1 {
		t.Errorf("block %d is the oldest that is needed, want %d; there are %d rows", c.PaymentsFrom, want, len(b.db.payments))
	}
	for range 2 + reach {
		c = b.next(700, nil) // a gap that nothing goes on after
	}
	if !c.HasPaymentsFrom || c.PaymentsFrom != b.last.Number+1 || len(b.db.payments) != 0 {
		t.Errorf("without transactions block %d is said to be needed, and there are %d rows", c.PaymentsFrom, len(b.db.payments))
	}
}

// drawPaid draws a chain on whose curve few accounts trade, and pay each other.
func drawPaid(t *rapid.T) []market.Block {
	c := newChain()
	c.block(12, facts(usdc, usdt, weth), tx(pair(poolD, weth, usdc), synced(poolD, e18(10_000), e6(20_000_000))))
	c.block(12, facts(pup), tx(moved(pup, nobody, pad, e18(1000)), launched()))
	who := func(label string) market.Address {
		return rapid.SampledFrom([]market.Address{alice, bob, carol, solver}).Draw(t, label)
	}
	for range rapid.IntRange(1, 40).Draw(t, "blocks") {
		var txs [][]market.Event
		for range rapid.IntRange(0, 2).Draw(t, "trades") {
			txs = append(txs, tx(bought(who("trader"))))
		}
		c.block(rapid.SampledFrom([]int64{1, 12, 3600, 40_000, day}).Draw(t, "seconds"), nil, txs...)
		b := &c.blocks[len(c.blocks)-1]
		if b.HasPayments = rapid.IntRange(0, 14).Draw(t, "with transactions") > 0; !b.HasPayments {
			continue
		}
		for range rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "payments") {
			b.Payments = append(b.Payments, pay(who("payer"), who("paid"), rapid.Uint64Range(0, 3).Draw(t, "amount")))
		}
		for i := range b.Txs {
			b.Txs[i].Sender, b.Txs[i].Nonce = who("sender"), rapid.Uint64Range(0, 1).Draw(t, "nonce")
		}
		if rapid.IntRange(0, 4).Draw(t, "first") == 0 {
			b.Firsts = append(b.Firsts, who("sends its first"))
		}
	}
	return c.blocks
}

// TestFundingWhateverTheBatches: the trades of a chain tell the same of their traders' coins, however it is cut into batches, however often the program starts again, and
// whatever is taken back and read again.
func TestFundingWhateverTheBatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		blocks := drawPaid(t)
		straight := newIndexer(t, config(), 100_000)
		batched(t, straight, blocks, func() int { return 1 }, false)
		for _, restart := range []bool{false, true} {
			x := newIndexer(t, config(), 10)
			batched(t, x, blocks, func() int { return rapid.IntRange(1, 9).Draw(t, "batch") }, restart)
			if d := straight.db.differences(x.db); len(d) > 0 {
				t.Fatalf("block by block and in batches (restarting: %v) the rows differ:\n%s", restart, strings.Join(d, "\n"))
			}
		}
		if d := straight.db.differences(reorganised(t, config(), blocks, 10).db); len(d) > 0 {
			t.Fatalf("straight on and after reorgs the rows differ:\n%s", strings.Join(d, "\n"))
		}
	})
}

// pay draws which blocks are read with their transactions, whom these pay, and who sends those that have events.
func (s *story) pay() {
	covered := rapid.SampledFrom([]int{0, 1, 10}).Draw(s.t, "blocks with transactions")
	for i := range s.chain.blocks {
		b := &s.chain.blocks[i]
		if b.HasPayments = rapid.IntRange(0, 10).Draw(s.t, "without transactions") < covered; !b.HasPayments {
			continue
		}
		for range rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(s.t, "payments") {
			b.Payments = append(b.Payments, market.Payment{From: s.account("payer"), To: s.account("paid"), Amount: s.amount("paid amount")})
		}
		for j := range b.Txs {
			b.Txs[j].Sender, b.Txs[j].Nonce = s.account("sender"), rapid.Uint64Range(0, 3).Draw(s.t, "nonce")
			if b.Txs[j].Nonce == 0 {
				b.Firsts = append(b.Firsts, b.Txs[j].Sender)
			}
		}
	}
}
