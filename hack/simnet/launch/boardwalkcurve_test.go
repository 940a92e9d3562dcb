package launch

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// startCurve is a launch of the own family, with nothing but that.
func startCurve(t *testing.T, seed uint64) (*world.World, *Launch) {
	t.Helper()
	w := startVenues(t, 8453, seed, venues.BoardwalkCurve)
	return w, launchOn(t, w, w.Venues[0], 0)
}

// try mines a transaction with plenty of gas.
func try(t *testing.T, w *world.World, tx anvil.Transaction) error {
	t.Helper()
	tx.Gas = world.CreationGas
	_, err := w.Node.Settled(t.Context(), []anvil.Transaction{tx})
	return err
}

// pause pauses the own family's contract, or lets it go on, and mines that.
func pause(ctx context.Context, w *world.World, paused bool) error {
	venue, found := w.Venue(venues.Kinds[venues.BoardwalkCurve].ID)
	if !found {
		return fmt.Errorf("simnet: chain %d has no launch venue of its own", w.ChainID)
	}
	return w.Node.Settle(ctx, []anvil.Transaction{{
		From: w.VenueOwner, To: venue.Contracts[0], Data: anvil.EncodeCall("setPaused(bool)", paused), Gas: world.TradeGas,
	}})
}

// What is to be refused is refused, and what is not goes on.
func TestBoardwalkCurveRefuses(t *testing.T) {
	t.Parallel()
	w, l := startCurve(t, 31)
	alice, bob := w.Wallets[1], w.Wallets[2]
	call := func(from, signature string, args ...any) anvil.Transaction {
		return anvil.Transaction{From: from, To: l.Curve, Data: anvil.EncodeCall(signature, args...)}
	}
	paying := func(tx anvil.Transaction, value *big.Int) anvil.Transaction {
		tx.Value = value
		return tx
	}
	if _, err := Buy(t.Context(), w, l, alice, world.Units(0.5, 18)); err != nil {
		t.Fatal(err)
	}
	held, err := w.BalanceOf(t.Context(), l.Token, alice)
	if err != nil {
		t.Fatal(err)
	}
	one := world.Units(1, 18)
	if err := w.Node.Settle(t.Context(), []anvil.Transaction{
		world.Approval(l.Token, alice, l.Curve, world.MaxUint256), world.Approval(l.Token, bob, l.Curve, world.MaxUint256),
	}); err != nil {
		t.Fatal(err)
	}
	refused := map[string]anvil.Transaction{
		"a buy of nothing":           call(alice, "buy(address,uint256,address)", l.Token, 0, alice),
		"a buy below its minimum":    paying(call(alice, "buy(address,uint256,address)", l.Token, world.MaxUint256, alice), one),
		"a buy of a stranger":        paying(call(alice, "buy(address,uint256,address)", w.Wrapped, 0, alice), one),
		"a sale of what one lacks":   call(bob, "sell(address,uint256,uint256,address)", l.Token, one, 0, bob),
		"a sale below its minimum":   call(alice, "sell(address,uint256,uint256,address)", l.Token, held, one, alice),
		"a sale of nothing":          call(alice, "sell(address,uint256,uint256,address)", l.Token, 0, 0, alice),
		"an early graduation":        call(alice, "graduate(address)", l.Token),
		"fees of no pool":            call(alice, "collectPoolFees(address)", l.Token),
		"a stranger's pause":         call(alice, "setPaused(bool)", true),
		"a stranger's fee recipient": call(alice, "setFeeRecipient(address)", alice),
		"a stranger's claim":         call(alice, "acceptOwnership()"),
		"a callback":                 call(alice, "unlockCallback(bytes)", anvil.EncodeArgs("(address,bool)", l.Token, true)),
		"coins":                      {From: alice, To: l.Curve, Value: one},
		"a launch without a name":    call(alice, "launch(string,string,string)", "", "X", ""),
		"a launch without a ticker":  call(alice, "launch(string,string,string)", "X", "", ""),
		"a launch with a long text":  call(alice, "launch(string,string,string)", "X", "X", string(make([]byte, 8193))),
	}
	for what, tx := range refused {
		if err := try(t, w, tx); err == nil {
			t.Errorf("%s is not refused", what)
		}
	}
	if err := pause(t.Context(), w, true); err != nil {
		t.Fatal(err)
	}
	for what, tx := range map[string]anvil.Transaction{
		"a buy":    paying(call(alice, "buy(address,uint256,address)", l.Token, 0, alice), one),
		"a launch": call(alice, "launch(string,string,string)", "X", "X", ""),
	} {
		if err := try(t, w, tx); err == nil {
			t.Errorf("%s is not refused while paused", what)
		}
	}
	if _, err := Sell(t.Context(), w, l, alice, one); err != nil {
		t.Errorf("a sale is refused while paused: %v", err)
	}
	if err := pause(t.Context(), w, false); err != nil {
		t.Fatal(err)
	}
	for _, step := range []anvil.Transaction{
		{From: w.VenueOwner, To: l.Curve, Data: anvil.EncodeCall("transferOwnership(address)", bob)},
		call(bob, "acceptOwnership()"),
		call(bob, "setFeeRecipient(address)", bob),
	} {
		if err := try(t, w, step); err != nil {
			t.Errorf("ownership can't be passed on: %v", err)
		}
	}
	if err := pause(t.Context(), w, true); err == nil {
		t.Error("the former owner pauses")
	}
}

// The contract has what its curves have raised and the fees that it owes, and nothing else; somebody who gives too much for the
// last tokens gets the rest back; and fees reach their recipient.
func TestBoardwalkCurveKeepsAccounts(t *testing.T) {
	t.Parallel()
	w, l := startCurve(t, 32)
	other := launchOn(t, w, w.Venues[0], 1)
	alice, bob := w.Wallets[2], w.Wallets[3]
	check := func(when string, launches ...*Launch) {
		t.Helper()
		want := simnettest.Read(t, w, l.Curve, "feesOwed()")
		for _, launch := range launches {
			state, err := Curve(t.Context(), w, launch)
			if err != nil {
				t.Fatal(err)
			}
			want = new(big.Int).Add(want, state.RealQuote)
		}
		if got := simnettest.CoinsOf(t, w, l.Curve); got.Cmp(want) != 0 {
			t.Errorf("%s: the contract has %s, not %s", when, got, want)
		}
	}
	for i, trade := range []float64{0.7, 1.3, 0.01} {
		if _, err := Buy(t.Context(), w, []*Launch{l, other}[i%2], alice, world.Units(trade, 18)); err != nil {
			t.Fatal(err)
		}
	}
	check("after buys", l, other)
	if _, err := Sell(t.Context(), w, other, alice, world.Units(1_000_000, 18)); err != nil {
		t.Fatal(err)
	}
	check("after a sale", l, other)

	state, err := Curve(t.Context(), w, l)
	if err != nil {
		t.Fatal(err)
	}
	fill, _, err := l.Shape.Buy(state, world.Units(1000, 18))
	if err != nil {
		t.Fatal(err)
	}
	before := simnettest.CoinsOf(t, w, bob)
	if _, err := Buy(t.Context(), w, l, bob, world.Units(1000, 18)); err != nil {
		t.Fatal(err)
	}
	if paid := new(big.Int).Sub(before, simnettest.CoinsOf(t, w, bob)); paid.Cmp(fill.Paid()) != 0 {
		t.Errorf("the last buyer paid %s, not %s", paid, fill.Paid())
	}
	check("when one is full", l, other)
	if _, err := Graduate(t.Context(), w, l, alice); err != nil {
		t.Fatal(err)
	}
	check("when one has graduated", other)
	if left := simnettest.Read(t, w, l.Token, "balanceOf(address)", l.Curve); left.Sign() != 0 {
		t.Errorf("%s tokens stayed", left)
	}

	// Trades in the pool earn fees, which go the same way. The position stays whole.
	if _, err := Buy(t.Context(), w, l, alice, world.Units(1, 18)); err != nil {
		t.Fatal(err)
	}
	if _, err := Sell(t.Context(), w, l, alice, world.Units(2_000_000, 18)); err != nil {
		t.Fatal(err)
	}
	owed := simnettest.Read(t, w, l.Curve, "feesOwed()")
	if err := try(t, w, anvil.Transaction{From: bob, To: l.Curve, Data: anvil.EncodeCall("collectPoolFees(address)", l.Token)}); err != nil {
		t.Fatal(err)
	}
	earned := new(big.Int).Sub(simnettest.Read(t, w, l.Curve, "feesOwed()"), owed)
	if want := world.Float(world.Units(0.003, 18)); world.Float(earned) < 0.999*want || world.Float(earned) > want {
		t.Errorf("the pool earned %s coins of a purchase for 1", earned)
	}
	if got := simnettest.Read(t, w, l.Token, "balanceOf(address)", w.VenueOwner); world.Float(got) < 0.999*6000e18 || world.Float(got) > 6000e18 {
		t.Errorf("the pool earned %s tokens of a sale of 2,000,000", got)
	}
	owed, before = simnettest.Read(t, w, l.Curve, "feesOwed()"), simnettest.CoinsOf(t, w, w.VenueOwner)
	if err := try(t, w, anvil.Transaction{From: bob, To: l.Curve, Data: anvil.EncodeCall("withdrawFees()")}); err != nil {
		t.Fatal(err)
	}
	if got := new(big.Int).Sub(simnettest.CoinsOf(t, w, w.VenueOwner), before); got.Cmp(owed) != 0 || owed.Sign() == 0 {
		t.Errorf("the recipient got %s of %s", got, owed)
	}
	check("at last", other)
}

// Somebody who opened the pool before, at an absurd price and with money of his own in it, doesn't change the price at which
// it begins, and gets no more of what goes into it than he offered for.
func TestBoardwalkCurveGraduatesIntoOpenPool(t *testing.T) {
	t.Parallel()
	w, _ := startCurve(t, 33)
	mallory := w.Wallets[4]
	for name, times := range map[string]float64{"far above": 1e4, "far below": 1e-4, "slightly above": 1.01, "slightly below": 0.99} {
		l := launchOn(t, w, w.Venues[0], 0)
		if _, err := Buy(t.Context(), w, l, mallory, world.Units(0.5, 18)); err != nil {
			t.Fatal(err)
		}
		pool := w.NewPool(world.UniswapV4, l.Token, anvil.ZeroAddress, boardwalkPoolFee, "")
		kept, raised := world.Float(world.Units(206_900_000, 18)), world.Float(l.Venue.Target())
		price := times * kept / raised // token1 is the launched one
		tick := world.AlignTick(world.TickOf(price), pool.TickSpacing)
		liquidity := world.LiquidityFor(price, tick-600, tick+600, 0.2e18, 1e25)
		open := w.InitializePool(pool, world.SqrtPriceX96(price))
		open.From = mallory
		if err := w.Node.Settle(t.Context(), []anvil.Transaction{
			open,
			world.Approval(l.Token, mallory, w.Routers.UniswapV4, world.MaxUint256),
			w.ChangeV4(mallory, pool, tick-600, tick+600, liquidity, world.Units(0.2, 18)),
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := Complete(t.Context(), w, l, w.Wallets[5]); err != nil {
			t.Fatal(err)
		}
		receipt, err := Graduate(t.Context(), w, l, w.Wallets[6])
		if err != nil {
			t.Fatal(err)
		}
		state := simnettest.PoolNow(t, w, l.Pool)
		if got := state.Price() / (kept / raised); !near(got, 1) {
			t.Errorf("%s: the pool's price is %g of the curve's", name, got)
		}
		graduated := anvil.FromHex(receipt.Logs[len(receipt.Logs)-1].Data)
		if got := world.Float(anvil.WordAt(graduated, 0)) / kept; got < 0.93 || got > 1.07 {
			t.Errorf("%s: %g of the tokens went into the pool", name, got)
		}
		if got := world.Float(anvil.WordAt(graduated, 1)) / raised; got < 0.93 || got > 1.07 {
			t.Errorf("%s: %g of the funds went into the pool", name, got)
		}
		if owed, has := simnettest.Read(t, w, l.Curve, "feesOwed()"), simnettest.CoinsOf(t, w, l.Curve); owed.Cmp(has) > 0 {
			t.Errorf("%s: the contract owes %s and has %s", name, owed, has)
		}
		if _, err := Buy(t.Context(), w, l, w.Wallets[7], world.Units(0.1, 18)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who is paid can't enter again meanwhile.
func TestBoardwalkCurveIsEnteredOnce(t *testing.T) {
	t.Parallel()
	w, l := startCurve(t, 34)
	mallory := w.Wallets[4]
	nonce, err := w.NextNonce(t.Context(), mallory)
	if err != nil {
		t.Fatal(err)
	}
	creation, contract := w.Creation(mallory, nonce, "Reenterer", "(address,address)", l.Curve, l.Token)
	creation.Value = world.Units(1000, 18)
	if err := w.Node.Settle(t.Context(), []anvil.Transaction{
		creation,
		{From: mallory, To: contract, Data: anvil.EncodeCall("buy(uint256)", world.Units(1, 18)), Gas: world.CreationGas},
		{From: mallory, To: contract, Data: anvil.EncodeCall("sell(uint256)", world.Units(1000, 18)), Gas: world.CreationGas},
		{From: mallory, To: contract, Data: anvil.EncodeCall("buy(uint256)", world.Units(500, 18)), Gas: world.CreationGas}, // the rest comes back
	}); err != nil {
		t.Fatal(err)
	}
	if payments := simnettest.Read(t, w, contract, "payments()"); payments.Int64() != 2 {
		t.Errorf("paid %s times", payments)
	}
	if entered := simnettest.Read(t, w, contract, "entered()"); entered.Sign() != 0 {
		t.Errorf("entered again %s times", entered)
	}
}
