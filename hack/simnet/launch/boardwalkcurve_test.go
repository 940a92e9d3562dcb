package launch

import (
	"math/big"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet"
	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
)

// startCurve is a launch of the own family, with nothing but that.
func startCurve(t *testing.T, seed uint64) (*simnet.World, *Launch) {
	t.Helper()
	world := startVenues(t, 8453, seed, simnet.BoardwalkCurve)
	return world, launchOn(t, world, world.Venues[0], 0)
}

// try mines a transaction with plenty of gas.
func try(t *testing.T, w *simnet.World, tx anvil.Transaction) error {
	t.Helper()
	tx.Gas = simnet.CreationGas
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
	if _, err := Buy(t.Context(), world, l, alice, simnet.Units(0.5, 18)); err != nil {
		t.Fatal(err)
	}
	held, err := world.BalanceOf(t.Context(), l.Token, alice)
	if err != nil {
		t.Fatal(err)
	}
	one := simnet.Units(1, 18)
	if err := world.Node.Settle(t.Context(), []anvil.Transaction{simnet.Approval(l.Token, alice, l.Curve, simnet.MaxUint256), simnet.Approval(l.Token, bob, l.Curve, simnet.MaxUint256)}); err != nil {
		t.Fatal(err)
	}
	refused := map[string]anvil.Transaction{
		"a buy of nothing":           call(alice, "buy(address,uint256,address)", l.Token, 0, alice),
		"a buy below its minimum":    paying(call(alice, "buy(address,uint256,address)", l.Token, simnet.MaxUint256, alice), one),
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
		if err := try(t, world, tx); err == nil {
			t.Errorf("%s is not refused", what)
		}
	}
	if err := Pause(t.Context(), world, true); err != nil {
		t.Fatal(err)
	}
	for what, tx := range map[string]anvil.Transaction{
		"a buy":    paying(call(alice, "buy(address,uint256,address)", l.Token, 0, alice), one),
		"a launch": call(alice, "launch(string,string,string)", "X", "X", ""),
	} {
		if err := try(t, world, tx); err == nil {
			t.Errorf("%s is not refused while paused", what)
		}
	}
	if _, err := Sell(t.Context(), world, l, alice, one); err != nil {
		t.Errorf("a sale is refused while paused: %v", err)
	}
	if err := Pause(t.Context(), world, false); err != nil {
		t.Fatal(err)
	}
	for _, step := range []anvil.Transaction{
		{From: world.VenueOwner, To: l.Curve, Data: anvil.EncodeCall("transferOwnership(address)", bob)},
		call(bob, "acceptOwnership()"),
		call(bob, "setFeeRecipient(address)", bob),
	} {
		if err := try(t, world, step); err != nil {
			t.Errorf("ownership can't be passed on: %v", err)
		}
	}
	if err := Pause(t.Context(), world, true); err == nil {
		t.Error("the former owner pauses")
	}
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
		want := simnettest.Read(t, world, l.Curve, "feesOwed()")
		for _, launch := range launches {
			state, err := Curve(t.Context(), world, launch)
			if err != nil {
				t.Fatal(err)
			}
			want = new(big.Int).Add(want, state.RealQuote)
		}
		if got := simnettest.CoinsOf(t, world, l.Curve); got.Cmp(want) != 0 {
			t.Errorf("%s: the contract has %s, not %s", when, got, want)
		}
	}
	for i, trade := range []float64{0.7, 1.3, 0.01} {
		if _, err := Buy(t.Context(), world, []*Launch{l, other}[i%2], alice, simnet.Units(trade, 18)); err != nil {
			t.Fatal(err)
		}
	}
	check("after buys", l, other)
	if _, err := Sell(t.Context(), world, other, alice, simnet.Units(1_000_000, 18)); err != nil {
		t.Fatal(err)
	}
	check("after a sale", l, other)

	state, err := Curve(t.Context(), world, l)
	if err != nil {
		t.Fatal(err)
	}
	fill, _, err := l.Shape.Buy(state, simnet.Units(1000, 18))
	if err != nil {
		t.Fatal(err)
	}
	before := simnettest.CoinsOf(t, world, bob)
	if _, err := Buy(t.Context(), world, l, bob, simnet.Units(1000, 18)); err != nil {
		t.Fatal(err)
	}
	if paid := new(big.Int).Sub(before, simnettest.CoinsOf(t, world, bob)); paid.Cmp(fill.Paid()) != 0 {
		t.Errorf("the last buyer paid %s, not %s", paid, fill.Paid())
	}
	check("when one is full", l, other)
	if _, err := Graduate(t.Context(), world, l, alice); err != nil {
		t.Fatal(err)
	}
	check("when one has graduated", other)
	if left := simnettest.Read(t, world, l.Token, "balanceOf(address)", l.Curve); left.Sign() != 0 {
		t.Errorf("%s tokens stayed", left)
	}

	// Trades in the pool earn fees, which go the same way. The position stays whole.
	if _, err := Buy(t.Context(), world, l, alice, simnet.Units(1, 18)); err != nil {
		t.Fatal(err)
	}
	if _, err := Sell(t.Context(), world, l, alice, simnet.Units(2_000_000, 18)); err != nil {
		t.Fatal(err)
	}
	owed := simnettest.Read(t, world, l.Curve, "feesOwed()")
	if err := try(t, world, anvil.Transaction{From: bob, To: l.Curve, Data: anvil.EncodeCall("collectPoolFees(address)", l.Token)}); err != nil {
		t.Fatal(err)
	}
	earned := new(big.Int).Sub(simnettest.Read(t, world, l.Curve, "feesOwed()"), owed)
	if want := simnet.Float(simnet.Units(0.003, 18)); simnet.Float(earned) < 0.999*want || simnet.Float(earned) > want {
		t.Errorf("the pool earned %s coins of a purchase for 1", earned)
	}
	if got := simnettest.Read(t, world, l.Token, "balanceOf(address)", world.VenueOwner); simnet.Float(got) < 0.999*6000e18 || simnet.Float(got) > 6000e18 {
		t.Errorf("the pool earned %s tokens of a sale of 2,000,000", got)
	}
	owed, before = simnettest.Read(t, world, l.Curve, "feesOwed()"), simnettest.CoinsOf(t, world, world.VenueOwner)
	if err := try(t, world, anvil.Transaction{From: bob, To: l.Curve, Data: anvil.EncodeCall("withdrawFees()")}); err != nil {
		t.Fatal(err)
	}
	if got := new(big.Int).Sub(simnettest.CoinsOf(t, world, world.VenueOwner), before); got.Cmp(owed) != 0 || owed.Sign() == 0 {
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
		if _, err := Buy(t.Context(), world, l, mallory, simnet.Units(0.5, 18)); err != nil {
			t.Fatal(err)
		}
		pool := world.NewPool(simnet.UniswapV4, l.Token, anvil.ZeroAddress, boardwalkPoolFee, "")
		kept, raised := simnet.Float(simnet.Units(206_900_000, 18)), simnet.Float(l.Venue.Target())
		price := times * kept / raised // token1 is the launched one
		tick := simnet.AlignTick(simnet.TickOf(price), pool.TickSpacing)
		liquidity := simnet.LiquidityFor(price, tick-600, tick+600, 0.2e18, 1e25)
		open := world.InitializePool(pool, simnet.SqrtPriceX96(price))
		open.From = mallory
		if err := world.Node.Settle(t.Context(), []anvil.Transaction{
			open,
			simnet.Approval(l.Token, mallory, world.Routers.UniswapV4, simnet.MaxUint256),
			world.ChangeV4(mallory, pool, tick-600, tick+600, liquidity, simnet.Units(0.2, 18)),
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := Complete(t.Context(), world, l, world.Wallets[5]); err != nil {
			t.Fatal(err)
		}
		receipt, err := Graduate(t.Context(), world, l, world.Wallets[6])
		if err != nil {
			t.Fatal(err)
		}
		state := simnettest.PoolNow(t, world, l.Pool)
		if got := state.Price() / (kept / raised); !near(got, 1) {
			t.Errorf("%s: the pool's price is %g of the curve's", name, got)
		}
		graduated := anvil.FromHex(receipt.Logs[len(receipt.Logs)-1].Data)
		if got := simnet.Float(anvil.WordAt(graduated, 0)) / kept; got < 0.93 || got > 1.07 {
			t.Errorf("%s: %g of the tokens went into the pool", name, got)
		}
		if got := simnet.Float(anvil.WordAt(graduated, 1)) / raised; got < 0.93 || got > 1.07 {
			t.Errorf("%s: %g of the funds went into the pool", name, got)
		}
		if owed, has := simnettest.Read(t, world, l.Curve, "feesOwed()"), simnettest.CoinsOf(t, world, l.Curve); owed.Cmp(has) > 0 {
			t.Errorf("%s: the contract owes %s and has %s", name, owed, has)
		}
		if _, err := Buy(t.Context(), world, l, world.Wallets[7], simnet.Units(0.1, 18)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who is paid can't enter again meanwhile.
func TestBoardwalkCurveIsEnteredOnce(t *testing.T) {
	t.Parallel()
	world, l := startCurve(t, 34)
	mallory := world.Wallets[4]
	nonce, err := world.NextNonce(t.Context(), mallory)
	if err != nil {
		t.Fatal(err)
	}
	creation, contract := world.Creation(mallory, nonce, "Reenterer", "(address,address)", l.Curve, l.Token)
	creation.Value = simnet.Units(1000, 18)
	if err := world.Node.Settle(t.Context(), []anvil.Transaction{
		creation,
		{From: mallory, To: contract, Data: anvil.EncodeCall("buy(uint256)", simnet.Units(1, 18)), Gas: simnet.CreationGas},
		{From: mallory, To: contract, Data: anvil.EncodeCall("sell(uint256)", simnet.Units(1000, 18)), Gas: simnet.CreationGas},
		{From: mallory, To: contract, Data: anvil.EncodeCall("buy(uint256)", simnet.Units(500, 18)), Gas: simnet.CreationGas}, // the rest comes back
	}); err != nil {
		t.Fatal(err)
	}
	if payments := simnettest.Read(t, world, contract, "payments()"); payments.Int64() != 2 {
		t.Errorf("paid %s times", payments)
	}
	if entered := simnettest.Read(t, world, contract, "entered()"); entered.Sign() != 0 {
		t.Errorf("entered again %s times", entered)
	}
}
