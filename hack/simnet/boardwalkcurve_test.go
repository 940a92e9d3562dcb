package simnet

import (
	"math/big"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// startCurve is a launch of the own family, with nothing but that.
func startCurve(t *testing.T, seed uint64) (*World, *Launch) {
	t.Helper()
	world := startVenues(t, 8453, seed, BoardwalkCurve)
	return world, launchOn(t, world, world.Venues[0], 0)
}

func (w *World) try(t *testing.T, tx anvil.Transaction) error {
	t.Helper()
	tx.Gas = launchGas
	_, err := w.Node.Settled(t.Context(), []anvil.Transaction{tx})
	return err
}

// What is to be refused is refused, and what is not goes on.
func TestBoardwalkCurveRefuses(t *testing.T) {
	t.Parallel()
	world, l := startCurve(t, 31)
	alice, bob := world.Wallets[1], world.Wallets[2]
	call := func(from, signature string, args ...any) anvil.Transaction {
		return anvil.Transaction{From: from, To: l.Curve, Data: anvil.EncodeCall(signature, args...)}
	}
	paying := func(tx anvil.Transaction, value *big.Int) anvil.Transaction {
		tx.Value = value
		return tx
	}
	if _, err := world.Buy(t.Context(), l, alice, units(0.5, 18)); err != nil {
		t.Fatal(err)
	}
	held, err := world.BalanceOf(t.Context(), l.Token, alice)
	if err != nil {
		t.Fatal(err)
	}
	one := units(1, 18)
	if err := world.Node.Settle(t.Context(), []anvil.Transaction{approval(l.Token, alice, l.Curve, maxUint256), approval(l.Token, bob, l.Curve, maxUint256)}); err != nil {
		t.Fatal(err)
	}
	refused := map[string]anvil.Transaction{
		"a buy of nothing":           call(alice, "buy(address,uint256,address)", l.Token, 0, alice),
		"a buy below its minimum":    paying(call(alice, "buy(address,uint256,address)", l.Token, maxUint256, alice), one),
		"a buy of a stranger":        paying(call(alice, "buy(address,uint256,address)", world.Wrapped, 0, alice), one),
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
		if err := world.try(t, tx); err == nil {
			t.Errorf("%s is not refused", what)
		}
	}
	if err := world.Pause(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	for what, tx := range map[string]anvil.Transaction{
		"a buy":    paying(call(alice, "buy(address,uint256,address)", l.Token, 0, alice), one),
		"a launch": call(alice, "launch(string,string,string)", "X", "X", ""),
	} {
		if err := world.try(t, tx); err == nil {
			t.Errorf("%s is not refused while paused", what)
		}
	}
	if _, err := world.Sell(t.Context(), l, alice, one); err != nil {
		t.Errorf("a sale is refused while paused: %v", err)
	}
	if err := world.Pause(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for _, step := range []anvil.Transaction{
		{From: world.VenueOwner, To: l.Curve, Data: anvil.EncodeCall("transferOwnership(address)", bob)},
		call(bob, "acceptOwnership()"),
		call(bob, "setFeeRecipient(address)", bob),
	} {
		if err := world.try(t, step); err != nil {
			t.Errorf("ownership can't be passed on: %v", err)
		}
	}
	if err := world.Pause(t.Context(), true); err == nil {
		t.Error("the former owner pauses")
	}
}

// coinsOf is the native balance of an account.
func coinsOf(t *testing.T, world *World, account string) *big.Int {
	t.Helper()
	var balance anvil.HexBytes
	if err := world.Node.Call(t.Context(), &balance, "eth_getBalance", account, "latest"); err != nil {
		t.Fatal(err)
	}
	return new(big.Int).SetBytes(balance)
}

func read(t *testing.T, world *World, to, signature string, args ...any) *big.Int {
	t.Helper()
	var answer anvil.HexBytes
	request := []anvil.Request{anvil.View(to, &answer, signature, args...)}
	if err := world.Node.Batch(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if request[0].Err != nil {
		t.Fatal(request[0].Err)
	}
	return anvil.WordAt(answer, 0)
}

// The contract has what its curves have raised and the fees that it owes, and nothing else; somebody who gives too much for the
// last tokens gets the rest back; and fees reach their recipient.
func TestBoardwalkCurveKeepsAccounts(t *testing.T) {
	t.Parallel()
	world, l := startCurve(t, 32)
	other := launchOn(t, world, world.Venues[0], 1)
	alice, bob := world.Wallets[2], world.Wallets[3]
	check := func(when string, launches ...*Launch) {
		t.Helper()
		want := read(t, world, l.Curve, "feesOwed()")
		for _, launch := range launches {
			state, err := world.Curve(t.Context(), launch)
			if err != nil {
				t.Fatal(err)
			}
			want = new(big.Int).Add(want, state.RealQuote)
		}
		if got := coinsOf(t, world, l.Curve); got.Cmp(want) != 0 {
			t.Errorf("%s: the contract has %s, not %s", when, got, want)
		}
	}
	for i, trade := range []float64{0.7, 1.3, 0.01} {
		if _, err := world.Buy(t.Context(), []*Launch{l, other}[i%2], alice, units(trade, 18)); err != nil {
			t.Fatal(err)
		}
	}
	check("after buys", l, other)
	if _, err := world.Sell(t.Context(), other, alice, units(1_000_000, 18)); err != nil {
		t.Fatal(err)
	}
	check("after a sale", l, other)

	state, err := world.Curve(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	fill, _, err := l.shape.buy(state, units(1000, 18))
	if err != nil {
		t.Fatal(err)
	}
	before := coinsOf(t, world, bob)
	if _, err := world.Buy(t.Context(), l, bob, units(1000, 18)); err != nil {
		t.Fatal(err)
	}
	if paid := new(big.Int).Sub(before, coinsOf(t, world, bob)); paid.Cmp(fill.Paid()) != 0 {
		t.Errorf("the last buyer paid %s, not %s", paid, fill.Paid())
	}
	check("when one is full", l, other)
	if _, err := world.Graduate(t.Context(), l, alice); err != nil {
		t.Fatal(err)
	}
	check("when one has graduated", other)
	if left := read(t, world, l.Token, "balanceOf(address)", l.Curve); left.Sign() != 0 {
		t.Errorf("%s tokens stayed", left)
	}

	// Trades in the pool earn fees, which go the same way. The position stays whole.
	if _, err := world.Buy(t.Context(), l, alice, units(1, 18)); err != nil {
		t.Fatal(err)
	}
	if _, err := world.Sell(t.Context(), l, alice, units(2_000_000, 18)); err != nil {
		t.Fatal(err)
	}
	owed := read(t, world, l.Curve, "feesOwed()")
	if err := world.try(t, anvil.Transaction{From: bob, To: l.Curve, Data: anvil.EncodeCall("collectPoolFees(address)", l.Token)}); err != nil {
		t.Fatal(err)
	}
	earned := new(big.Int).Sub(read(t, world, l.Curve, "feesOwed()"), owed)
	if want := toFloat(units(0.003, 18)); toFloat(earned) < 0.999*want || toFloat(earned) > want {
		t.Errorf("the pool earned %s coins of a purchase for 1", earned)
	}
	if got := read(t, world, l.Token, "balanceOf(address)", world.VenueOwner); toFloat(got) < 0.999*6000e18 || toFloat(got) > 6000e18 {
		t.Errorf("the pool earned %s tokens of a sale of 2,000,000", got)
	}
	owed, before = read(t, world, l.Curve, "feesOwed()"), coinsOf(t, world, world.VenueOwner)
	if err := world.try(t, anvil.Transaction{From: bob, To: l.Curve, Data: anvil.EncodeCall("withdrawFees()")}); err != nil {
		t.Fatal(err)
	}
	if got := new(big.Int).Sub(coinsOf(t, world, world.VenueOwner), before); got.Cmp(owed) != 0 || owed.Sign() == 0 {
		t.Errorf("the recipient got %s of %s", got, owed)
	}
	check("at last", other)
}

// Somebody who opened the pool before, at an absurd price and with money of his own in it, doesn't change the price at which
// it begins, and gets no more of what goes into it than he offered for.
func TestBoardwalkCurveGraduatesIntoOpenPool(t *testing.T) {
	t.Parallel()
	world, _ := startCurve(t, 33)
	mallory := world.Wallets[4]
	for name, times := range map[string]float64{"far above": 1e4, "far below": 1e-4, "slightly above": 1.01, "slightly below": 0.99} {
		l := launchOn(t, world, world.Venues[0], 0)
		if _, err := world.Buy(t.Context(), l, mallory, units(0.5, 18)); err != nil {
			t.Fatal(err)
		}
		pool := world.newPool(UniswapV4, l.Token, anvil.ZeroAddress, boardwalkPoolFee, "")
		kept, raised := toFloat(units(206_900_000, 18)), toFloat(l.Venue.Target())
		price := times * kept / raised // token1 is the launched one
		tick := alignTick(tickOf(price), pool.TickSpacing)
		liquidity := liquidityFor(price, tick-600, tick+600, 0.2e18, 1e25)
		open := world.initialize(pool, sqrtPriceX96(price))
		open.From = mallory
		if err := world.Node.Settle(t.Context(), []anvil.Transaction{
			open,
			approval(l.Token, mallory, world.Routers.UniswapV4, maxUint256),
			world.changeV4(mallory, pool, tick-600, tick+600, liquidity, units(0.2, 18)),
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := world.Complete(t.Context(), l, world.Wallets[5]); err != nil {
			t.Fatal(err)
		}
		receipt, err := world.Graduate(t.Context(), l, world.Wallets[6])
		if err != nil {
			t.Fatal(err)
		}
		state := poolNow(t, world, l.Pool)
		if got := state.price() / (kept / raised); !near(got, 1) {
			t.Errorf("%s: the pool's price is %g of the curve's", name, got)
		}
		graduated := anvil.FromHex(receipt.Logs[len(receipt.Logs)-1].Data)
		if got := toFloat(anvil.WordAt(graduated, 0)) / kept; got < 0.93 || got > 1.07 {
			t.Errorf("%s: %g of the tokens went into the pool", name, got)
		}
		if got := toFloat(anvil.WordAt(graduated, 1)) / raised; got < 0.93 || got > 1.07 {
			t.Errorf("%s: %g of the funds went into the pool", name, got)
		}
		if owed, has := read(t, world, l.Curve, "feesOwed()"), coinsOf(t, world, l.Curve); owed.Cmp(has) > 0 {
			t.Errorf("%s: the contract owes %s and has %s", name, owed, has)
		}
		if _, err := world.Buy(t.Context(), l, world.Wallets[7], units(0.1, 18)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who is paid can't enter again meanwhile.
func TestBoardwalkCurveIsEnteredOnce(t *testing.T) {
	t.Parallel()
	world, l := startCurve(t, 34)
	mallory := world.Wallets[4]
	nonce, err := world.nonce(t.Context(), mallory)
	if err != nil {
		t.Fatal(err)
	}
	creation, contract := world.creation(mallory, nonce, "Reenterer", "(address,address)", l.Curve, l.Token)
	creation.Value = units(1000, 18)
	if err := world.Node.Settle(t.Context(), []anvil.Transaction{
		creation,
		{From: mallory, To: contract, Data: anvil.EncodeCall("buy(uint256)", units(1, 18)), Gas: launchGas},
		{From: mallory, To: contract, Data: anvil.EncodeCall("sell(uint256)", units(1000, 18)), Gas: launchGas},
		{From: mallory, To: contract, Data: anvil.EncodeCall("buy(uint256)", units(500, 18)), Gas: launchGas}, // the rest comes back
	}); err != nil {
		t.Fatal(err)
	}
	if payments := read(t, world, contract, "payments()"); payments.Int64() != 2 {
		t.Errorf("paid %s times", payments)
	}
	if entered := read(t, world, contract, "entered()"); entered.Sign() != 0 {
		t.Errorf("entered again %s times", entered)
	}
}
