package attack

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// hostileWorld is a chain of a test's own with launch venues.
func hostileWorld(t *testing.T, chainID, seed uint64, protocols ...venues.Protocol) *world.World {
	t.Helper()
	w, err := launch.Deploy(t.Context(), simnettest.Node(t, chainID), world.DeployOptions{Seed: seed}, protocols...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// tricks are all of them.
var tricks = []Trick{
	TrickHoneypot, TrickBackdoor, TrickSellTax, TrickUpgradeable, TrickBlacklist, TrickUnlocked, TrickBurned, TrickNone,
}

// ownerOf asks a token that has the function.
func ownerOf(t *testing.T, w *world.World, token string) string {
	t.Helper()
	return anvil.AddressAt(anvil.Word(simnettest.Read(t, w, token, "owner()")), 0)
}

// slotOf reads a contract's storage.
func slotOf(t *testing.T, w *world.World, contract, slot string) string {
	t.Helper()
	var value anvil.HexBytes
	if err := w.Node.Call(t.Context(), &value, "eth_getStorageAt", contract, slot, "latest"); err != nil {
		t.Fatal(err)
	}
	return anvil.AddressAt(value, 0)
}

// Every token with a trick can be bought in its pool, and does what the trick says and nothing else.
func TestHostilePools(t *testing.T) {
	t.Parallel()
	w := hostileWorld(t, 56, 41, venues.BoardwalkCurve)
	buyer := w.Wallets[50]
	for i, trick := range tricks {
		h, err := HostilePool(t.Context(), w, trick, w.Wallets[i], world.Units(20, 18))
		if err != nil {
			t.Fatalf("%s: %v", trick, err)
		}
		if _, err := world.SwapBuy(t.Context(), w, h.Pool, h.Token, buyer, world.Units(1, 18)); err != nil {
			t.Fatalf("%s: can't be bought: %v", trick, err)
		}
		held, err := w.BalanceOf(t.Context(), h.Token, buyer)
		if err != nil {
			t.Fatal(err)
		}
		quarter := world.Portion(held, 0.25)
		arrived, sold := sellIn(t, w, h, buyer, quarter)
		if sold == (trick == TrickHoneypot) {
			t.Errorf("%s: sold %t", trick, sold)
		}
		want := quarter
		if trick == TrickSellTax {
			tax := new(big.Int).Mul(quarter, big.NewInt(40))
			want = new(big.Int).Sub(quarter, tax.Div(tax, big.NewInt(100)))
		}
		if sold && arrived.Cmp(want) != 0 {
			t.Errorf("%s: %s of %s arrived in the pool", trick, arrived, quarter)
		}
		if err := w.Node.Settle(t.Context(), []anvil.Transaction{
			{From: buyer, To: h.Token, Data: anvil.EncodeCall("transfer(address,uint256)", h.Exempt, quarter), Gas: world.TradeGas},
		}); err != nil {
			t.Errorf("%s: can't be sent: %v", trick, err)
		}
		if arrived, sold := sellIn(t, w, h, h.Exempt, quarter); !sold || arrived.Cmp(quarter) != 0 {
			t.Errorf("%s: the exempt account sold %t, %s arrived", trick, sold, arrived)
		}
		checkSprung(t, w, h, buyer)
	}
}

// sellIn sells in the token's pool and tells how much of it arrived there.
func sellIn(t *testing.T, w *world.World, h *HostileToken, account string, amount *big.Int) (arrived *big.Int, sold bool) {
	t.Helper()
	before, err := w.BalanceOf(t.Context(), h.Token, h.Pool.Address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := world.SwapSell(t.Context(), w, h.Pool, h.Token, account, amount); err != nil {
		if !strings.Contains(err.Error(), "reverted") {
			t.Fatal(err)
		}
		return nil, false
	}
	after, err := w.BalanceOf(t.Context(), h.Token, h.Pool.Address)
	if err != nil {
		t.Fatal(err)
	}
	return after.Sub(after, before), true
}

// The slots of ERC-1967.
const (
	logicSlot = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
	adminSlot = "0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103"
)

// checkSprung plays the trick and sees what came of it.
func checkSprung(t *testing.T, w *world.World, h *HostileToken, buyer string) {
	t.Helper()
	supply, shares := simnettest.Read(t, w, h.Token, "totalSupply()"), simnettest.Read(t, w, h.Pool.Address, "balanceOf(address)", burner)
	logic := slotOf(t, w, h.Token, logicSlot)
	if err := Spring(t.Context(), w, h); err != nil {
		t.Fatalf("%s: %v", h.Trick, err)
	}
	held := simnettest.Read(t, w, h.Token, "balanceOf(address)", buyer)
	_, sold := sellIn(t, w, h, buyer, world.Portion(held, 0.1))
	stops := []Trick{TrickHoneypot, TrickUpgradeable, TrickBlacklist, TrickUnlocked} // the last as nothing to speak of is left
	if sold == slices.Contains(stops, h.Trick) && h.Trick != TrickUnlocked {
		t.Errorf("%s: sold %t after the trick", h.Trick, sold)
	}
	if more := simnettest.Read(t, w, h.Token, "totalSupply()"); (more.Cmp(supply) > 0) != (h.Trick == TrickBackdoor) {
		t.Errorf("%s: the supply went from %s to %s", h.Trick, supply, more)
	}
	if burned := h.Trick == TrickBurned || h.Trick == TrickNone; (shares.Sign() > 0) != burned {
		t.Errorf("%s: %s shares of the pool are burned", h.Trick, shares)
	}
	if owner := ownerOf(t, w, h.Token); (owner == anvil.ZeroAddress) != (h.Trick == TrickNone) {
		t.Errorf("%s: its owner is %s", h.Trick, owner)
	}
	proxy := h.Trick == TrickUpgradeable
	if (logic != anvil.ZeroAddress) != proxy || (slotOf(t, w, h.Token, adminSlot) == h.Admin) != proxy {
		t.Errorf("%s: logic %s, admin %s", h.Trick, logic, slotOf(t, w, h.Token, adminSlot))
	}
	if after := slotOf(t, w, h.Token, logicSlot); proxy && (after == logic || after != h.Upgrade) {
		t.Errorf("%s: the logic went from %s to %s", h.Trick, logic, after)
	}
	if state := simnettest.PoolNow(t, w, h.Pool); (state.Reserve1 < 1e15) != (h.Trick == TrickUnlocked) {
		t.Errorf("%s: the pool has %+v", h.Trick, state)
	}
}

// A token with a trick can be a launch, goes all the way to a pool, and keeps its trick there.
func TestHostileLaunches(t *testing.T) {
	t.Parallel()
	w := hostileWorld(t, 8453, 42, venues.FourMemeV2, venues.Flap, venues.PonsV2, venues.NadFun)
	buyer := w.Wallets[50]
	for i, venue := range w.Venues {
		for j, trick := range []Trick{TrickHoneypot, TrickSellTax} {
			order := launch.Order{Creator: w.Wallets[2*i+j], Name: "Trap", Symbol: "TRAP"}
			h, err := HostileLaunch(t.Context(), w, trick, venue.ID, order)
			if err != nil {
				t.Fatalf("%s on %s: %v", trick, venue.ID, err)
			}
			if _, err := launch.Buy(t.Context(), w, h.Launch, buyer, world.Units(0.5, 18)); err != nil {
				t.Fatalf("%s on %s: can't be bought: %v", trick, venue.ID, err)
			}
			held := simnettest.Read(t, w, h.Token, "balanceOf(address)", buyer)
			before := simnettest.CoinsOf(t, w, buyer)
			if _, err := launch.Sell(t.Context(), w, h.Launch, buyer, world.Portion(held, 0.1)); (err == nil) == (trick == TrickHoneypot) {
				t.Errorf("%s on %s: sale: %v", trick, venue.ID, err)
			}
			if trick == TrickSellTax { // the dearest tenth of what 0.5 bought, less two fees and the tax
				if got := world.Float(new(big.Int).Sub(simnettest.CoinsOf(t, w, buyer), before)) / 1e18; got < 0.05*0.6 || got > 0.06*0.6 {
					t.Errorf("%s on %s: a sale gave %g", trick, venue.ID, got)
				}
			}
			if _, err := launch.Complete(t.Context(), w, h.Launch, buyer); err != nil {
				t.Fatalf("%s on %s: %v", trick, venue.ID, err)
			}
			if venue.Waits() {
				if _, err := launch.Graduate(t.Context(), w, h.Launch, buyer); err != nil {
					t.Fatalf("%s on %s: %v", trick, venue.ID, err)
				}
			}
			if err := markMarket(t.Context(), w, h, h.Launch.Pool.Address); err != nil {
				t.Fatal(err)
			}
			// Uniswap V3 takes no token of which less arrives than was sent.
			stuck := trick == TrickHoneypot || h.Launch.Pool.Protocol == world.UniswapV3
			if _, err := launch.Sell(t.Context(), w, h.Launch, buyer, world.Portion(held, 0.1)); (err != nil) != stuck {
				t.Errorf("%s on %s: sale in the pool: %v", trick, venue.ID, err)
			}
		}
	}
}
