package derive_test

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// withFee declares a fee of 80 basis points, of which router tells.
func withFee(c *chainconfig.Chain) {
	c.PlatformFee = &chainconfig.PlatformFee{Recipients: []market.Address{collector}, Routers: []market.Address{router}, Bps: 80}
}

// feePaid is what the router says of a fee.
func feePaid(payer, asset market.Address, amount market.Amount) market.Event {
	return market.FeePaid{Router: router, Payer: payer, Recipient: collector, Asset: asset, Amount: amount}
}

// feePool has a pair of dog and USDC, and two members.
func feePool(t *testing.T) *bench {
	t.Helper()
	b := dogPool(t, withFee)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time), watched(bob, 2, b.last.Time)})
	return b
}

// fees gives what is known of the fees since the last call.
func (b *bench) newFees() []market.Fee {
	out := b.db.fees
	b.db.fees = nil
	return out
}

// wantFees wants so many thousandths of a USD, whose fee each is, and whether they are as declared.
func (b *bench) wantFees(what string, want ...market.Fee) {
	b.t.Helper()
	got := b.newFees()
	if !slices.EqualFunc(got, want, func(g, w market.Fee) bool {
		return g.Wallet == w.Wallet && g.Asset == w.Asset && g.Amount == w.Amount && g.NanoUSD == w.NanoUSD && g.HasUSD == w.HasUSD && g.AsDeclared == w.AsDeclared &&
			g.Recipient == collector && g.Block == b.last.Number && g.Time == b.last.Time
	}) {
		b.t.Errorf("%s: fees are %+v\nwant %+v", what, got, want)
	}
}

func fee(wallet, asset market.Address, amount market.Amount, nano int64, asDeclared bool) market.Fee {
	return market.Fee{Wallet: wallet, Asset: asset, Amount: amount, NanoUSD: nano, HasUSD: nano > 0, AsDeclared: asDeclared}
}

// TestFeesBesideTrades: what reaches a recipient in a quote asset is cost of a purchase, and is taken from a sale; the docs' figures.
func TestFeesBesideTrades(t *testing.T) {
	t.Parallel()
	b := feePool(t)
	b.next(12, nil, append(buys(alice, 100, 100), moved(usdc, alice, collector, units(80, 4))))
	b.wantFees("of a purchase", fee(alice, usdc, units(80, 4), 8e8, true))
	p := b.db.positions[market.PositionKey{Wallet: alice, Token: dog}]
	if p.Cost != market.NanoUSD(100.8e9) {
		t.Errorf("100 tokens cost %v USD", p.Cost.Dollars())
	}
	b.next(12, nil, append(sells(alice, 100, 110), moved(usdc, alice, collector, units(88, 4))))
	b.wantFees("of a sale", fee(alice, usdc, units(88, 4), 88e7, true))
	profit, _ := b.profit(1)
	if got := profit.Realised(); got != market.NanoUSD(8.32e9) || profit.Fees != market.NanoUSD(1.68e9) {
		t.Errorf("%v USD are realised, and %v are fees", got.Dollars(), profit.Fees.Dollars())
	}
	if e := b.db.entries[len(b.db.entries)-1]; e.Fee != market.NanoUSD(0.88e9) {
		t.Errorf("the entry's fee is %v", e.Fee.Dollars())
	}
	b.next(12, nil, append(buys(carol, 100, 100), moved(usdc, carol, collector, units(80, 4))))
	b.next(12, nil, append(buys(alice, 100, 100), moved(usdc, alice, bob, units(80, 4))))
	b.wantFees("of a stranger, and to one")
}

// TestFeesInTheToken: they change the quantity that arrives or leaves, and aren't subtracted again. What the payer doesn't trade is no fee.
func TestFeesInTheToken(t *testing.T) {
	t.Parallel()
	b := feePool(t)
	b.next(12, nil, append(buys(alice, 1000, 1000), moved(dog, alice, collector, e18(8)), moved(cat, alice, collector, e18(1))))
	b.wantFees("in what was bought", fee(alice, dog, e18(8), 0, true))
	b.wantPosition("less what was sent on", alice, 992, 1000, true)
	if profit, _ := b.profit(1); profit.Fees.Sign() != 0 || profit.MovedOut.Sign() != 0 {
		t.Errorf("fees %v, moved out %v", profit.Fees.Dollars(), profit.MovedOut.Dollars())
	}
	b.next(12, nil, tx(moved(dog, alice, collector, e18(8)), moved(usdc, alice, collector, e6(1))))
	b.wantFees("without a trade a quote asset alone is kept", fee(alice, usdc, e6(1), 1e9, false))
}

// TestAFloodOfFees: a token's contract may log any number of transfers to a recipient; a quote asset's transfers are all kept.
func TestAFloodOfFees(t *testing.T) {
	t.Parallel()
	b := feePool(t)
	events := buys(alice, 1000, 1000)
	for range 17 {
		events = append(events, moved(dog, alice, collector, raw(1)), moved(usdc, alice, collector, raw(1)))
	}
	b.next(12, nil, events)
	of := map[market.Address]int{}
	for _, f := range b.newFees() {
		of[f.Asset]++
	}
	if of[dog] != 16 || of[usdc] != 17 {
		t.Errorf("%d fees in the token and %d in the quote are kept", of[dog], of[usdc])
	}
}

// TestRoutedFees: a router names the payer of what it sends, and what nothing else shows of the chain's own coin; nobody else does.
func TestRoutedFees(t *testing.T) {
	t.Parallel()
	b := feePool(t)
	coin := units(4, 14) // 0.8 USD
	b.next(12, nil, append(buys(alice, 100, 100), feePaid(alice, market.Native, coin)))
	b.wantFees("in the chain's own coin", fee(alice, market.Native, coin, 8e8, false))
	b.next(12, nil, append(buys(alice, 100, 100), moved(usdc, router, collector, units(80, 4)), feePaid(alice, usdc, units(80, 4))))
	b.wantFees("sent by the router", fee(alice, usdc, units(80, 4), 8e8, true))
	b.next(12, nil, append(buys(alice, 100, 100), moved(usdc, router, collector, units(80, 4))))
	b.wantFees("of which nobody says whose it is")
	b.next(12, nil, append(buys(alice, 100, 100), feePaid(alice, usdc, units(80, 4))))
	b.wantFees("that reached nobody")
	b.next(12, nil, append(buys(alice, 100, 100), moved(usdc, alice, collector, units(80, 4)), feePaid(alice, usdc, units(80, 4))))
	b.wantFees("that was sent and told of, once", fee(alice, usdc, units(80, 4), 8e8, true))
	// Two members in one transaction, with the same amount: either has its own.
	both := append(append(buys(alice, 100, 100), buys(bob, 100, 100)...), moved(usdc, alice, collector, units(80, 4)), moved(usdc, router, collector, units(80, 4)),
		feePaid(bob, usdc, units(80, 4)), feePaid(bob, usdc, units(80, 4)))
	b.next(12, nil, both)
	got := b.newFees()
	if len(got) != 2 || got[0].Wallet == got[1].Wallet {
		t.Errorf("both paid one: %+v", got)
	}
	b.next(12, nil, append(buys(alice, 100, 100), market.FeePaid{Router: router, Payer: alice, Recipient: bob, Asset: market.Native, Amount: coin}))
	b.wantFees("to a recipient that isn't declared")
}

// TestSharedFees: a fee is divided among its payer's trades of the transaction by their values, to the unit; a trade is charged its value at most.
func TestSharedFees(t *testing.T) {
	t.Parallel()
	b := feePool(t)
	b.next(12, nil, append(append(append(buys(alice, 1, 1), buys(alice, 2, 2)...), buys(bob, 7, 7)...), moved(usdc, alice, collector, raw(100))))
	b.wantFees("of two trades", fee(alice, usdc, raw(100), 1e5, false))
	var parts []int64
	for _, e := range b.db.entries {
		parts = append(parts, e.Fee.Big().Int64())
	}
	if want := []int64{33_333, 66_667, 0}; !slices.Equal(parts, want) {
		t.Errorf("the parts are %v, want %v", parts, want)
	}
	b.next(12, nil, append(sells(alice, 3, 3), moved(usdc, alice, collector, e6(500))))
	if e := b.db.entries[len(b.db.entries)-1]; e.Fee != market.NanoUSD(3e9) || e.Proceeds.Sign() != 0 {
		t.Errorf("a sale for 3 USD is charged %v and brings %v", e.Fee.Dollars(), e.Proceeds.Dollars())
	}
}

// TestDeclaredShare: with the fee or without it in what was traded, to a unit for each trade and no more.
func TestDeclaredShare(t *testing.T) {
	t.Parallel()
	b := feePool(t)
	for _, c := range []struct {
		raw uint64
		is  bool
	}{{800_000, true}, {800_001, true}, {800_002, false}, {799_999, true}, {799_998, false}, {806_451, true}, {806_449, false}, {806_454, false}} {
		b.next(12, nil, append(buys(alice, 100, 100), moved(usdc, alice, collector, raw(c.raw))))
		if got := b.newFees(); len(got) != 1 || got[0].AsDeclared != c.is {
			t.Errorf("%d of 100,000,000: %+v, want %v", c.raw, got, c.is)
		}
	}
	b.next(12, nil, append(buys(alice, 100, 100), moved(usdc, alice, collector, raw(500_000)), moved(usdc, alice, collector, raw(300_000))))
	if got := b.newFees(); len(got) != 2 || !got[0].AsDeclared || !got[1].AsDeclared {
		t.Errorf("in two parts: %+v", got)
	}
}

// TestWithoutADeclaredFee keeps nothing.
func TestWithoutADeclaredFee(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time)}, append(buys(alice, 100, 100), moved(usdc, alice, collector, units(80, 4)), feePaid(alice, market.Native, e18(1))))
	b.wantFees("undeclared")
	b.wantPosition("no part of its cost", alice, 100, 100, true)
}
