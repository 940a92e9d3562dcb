package attack

import (
	"context"
	"fmt"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// Trick is what is wrong with a token.
type Trick string

// The tricks. The tokens of all but the last three misbehave by their own code (contracts/HostileTokens.sol).
const (
	// TrickHoneypot can be bought by all and sold by exempt accounts alone.
	TrickHoneypot Trick = "honeypot"
	// TrickBackdoor lets its owner make more of it.
	TrickBackdoor Trick = "mint backdoor"
	// TrickSellTax takes 40 % of each sale.
	TrickSellTax Trick = "sell tax"
	// TrickUpgradeable is an ERC-1967 proxy whose admin, an ordinary account, can change what it does.
	TrickUpgradeable Trick = "upgradeable"
	// TrickBlacklist lets its owner stop all transfers, or those of an account.
	TrickBlacklist Trick = "blacklist"
	// TrickUnlocked is a plain token whose owner can take its liquidity away.
	TrickUnlocked Trick = "unlocked liquidity"
	// TrickBurned is a plain token with an owner, whose liquidity is burned.
	TrickBurned Trick = "burned liquidity"
	// TrickNone is a plain token without an owner, whose liquidity is burned.
	TrickNone Trick = "none"
)

// HostileToken is a token with a trick, and what it takes to play it.
type HostileToken struct {
	Trick Trick
	Token string
	// Owner made it. After TrickNone he has renounced.
	Owner string
	// Exempt is an account besides the owner that may sell a honeypot and pays no tax.
	Exempt string
	// Admin can upgrade a TrickUpgradeable, to Upgrade; empty with the others.
	Admin, Upgrade string
	// Pool is its Uniswap V2 pair with the wrapped native asset; its key is empty for a token of a launch.
	Pool world.Pool
	// Launch is the launch that it is the token of, else nil.
	Launch *launch.Launch
}

// burner is where burned things go.
const burner = "0x000000000000000000000000000000000000dead"

var trickContracts = map[Trick]string{
	TrickHoneypot: "HoneypotToken", TrickBackdoor: "BackdoorToken", TrickSellTax: "SellTaxToken", TrickUpgradeable: "UpgradeableToken",
	TrickBlacklist: "BlacklistToken", TrickUnlocked: "OwnedToken", TrickBurned: "OwnedToken", TrickNone: "OwnedToken",
}

// hostile is what creates a token with a trick: the owner's transactions from a nonce on.
func hostile(w *world.World, trick Trick, name, symbol, owner string, nonce uint64) ([]anvil.Transaction, *HostileToken) {
	h := &HostileToken{Trick: trick, Owner: owner, Exempt: w.Spare[1]}
	var made []anvil.Transaction
	create := func(contract, constructor string, args ...any) string {
		tx, address := w.Creation(owner, nonce, contract, constructor, args...)
		made, nonce = append(made, tx), nonce+1
		return address
	}
	if trick == TrickUpgradeable {
		h.Admin = w.Spare[2]
		logic := create("TokenLogic", "")
		h.Upgrade = create("TokenLogicV2", "")
		h.Token = create(trickContracts[trick], "(address,address,bytes)", logic, h.Admin,
			anvil.EncodeCall("initialize(string,string,address)", name, symbol, owner))
	} else {
		h.Token = create(trickContracts[trick], "(string,string,address)", name, symbol, owner)
	}
	return append(made, h.call("setExempt(address,bool)", h.Exempt, true)), h
}

// call is the owner's call of the token.
func (h *HostileToken) call(signature string, args ...any) anvil.Transaction {
	return anvil.Transaction{From: h.Owner, To: h.Token, Data: anvil.EncodeCall(signature, args...), Gas: world.TradeGas}
}

// HostilePool makes a token with a trick and a Uniswap V2 pair with half of its supply and an amount of the native
// coin, and mines them. The pool does not become one of the world's, so that no trader falls for it.
func HostilePool(ctx context.Context, w *world.World, trick Trick, owner string, coins *big.Int) (*HostileToken, error) {
	nonce, err := w.NextNonce(ctx, owner)
	if err != nil {
		return nil, err
	}
	transactions, h := hostile(w, trick, "Token with "+string(trick), "TRICK", owner, nonce)
	pair := anvil.Transaction{
		From: owner, To: w.UniswapV2Factory, Data: anvil.EncodeCall("createPair(address,address)", h.Token, w.Wrapped), Gas: world.CreationGas,
	}
	if err := w.Node.Settle(ctx, append(transactions, pair)); err != nil {
		return nil, err
	}
	pools := []world.Pool{w.NewPool(world.UniswapV2, h.Token, w.Wrapped, 0, "")}
	if err := w.Locate(ctx, pools); err != nil {
		return nil, err
	}
	h.Pool = pools[0]
	half := world.Units(launch.SupplyWhole/2, 18)
	err = w.Node.Settle(ctx, []anvil.Transaction{
		h.call("setMarket(address,bool)", h.Pool.Address, true),
		h.call("approve(address,uint256)", w.Routers.UniswapV2, half),
		{
			From: owner, To: w.Routers.UniswapV2, Value: coins, Gas: world.CreationGas,
			Data: anvil.EncodeCall("addLiquidityETH(address,uint256,uint256,uint256,address,uint256)", h.Token, half, 0, 0, owner, world.Deadline),
		},
	})
	if err != nil {
		return nil, err
	}
	return h, lockUp(ctx, w, h)
}

// lockUp burns the liquidity and renounces the token, where the trick is that there is none.
func lockUp(ctx context.Context, w *world.World, h *HostileToken) error {
	if h.Trick != TrickBurned && h.Trick != TrickNone {
		return nil
	}
	shares, err := w.BalanceOf(ctx, h.Pool.Address, h.Owner)
	if err != nil {
		return err
	}
	transactions := []anvil.Transaction{{
		From: h.Owner, To: h.Pool.Address, Data: anvil.EncodeCall("transfer(address,uint256)", burner, shares), Gas: world.TradeGas,
	}}
	if h.Trick == TrickNone {
		transactions = append(transactions, h.call("renounceOwnership()"))
	}
	return w.Node.Settle(ctx, transactions)
}

// AdoptCalls create a token with a trick and launch it on a venue: the owner's transactions from a nonce on, the launch
// last. The venue's own transfers are exempt, so that the token can graduate.
func AdoptCalls(w *world.World, venue venues.Venue, trick Trick, order *launch.Order, nonce uint64) ([]anvil.Transaction, *HostileToken) {
	transactions, h := hostile(w, trick, order.Name, order.Symbol, order.Creator, nonce)
	order.Adopted = h.Token
	contract := venue.Contracts[0]
	return append(transactions,
		h.call("setExempt(address,bool)", contract, true),
		h.call("setMarket(address,bool)", contract, true),
		h.call("approve(address,uint256)", contract, world.Units(launch.SupplyWhole, 18)),
		launch.Call(venue, *order)), h
}

// HostileLaunch makes a token with a trick and launches it on a venue that adopts tokens (see launch.Order), and
// mines it. Tricks of liquidity make no difference there.
func HostileLaunch(ctx context.Context, w *world.World, trick Trick, venueID string, order launch.Order) (*HostileToken, error) {
	venue, found := w.Venue(venueID)
	if !found {
		return nil, fmt.Errorf("simnet: no launch venue %q on chain %d", venueID, w.ChainID)
	}
	nonce, err := w.NextNonce(ctx, order.Creator)
	if err != nil {
		return nil, err
	}
	transactions, h := AdoptCalls(w, venue, trick, &order, nonce)
	receipts, err := w.Node.Settled(ctx, transactions)
	if err != nil {
		return nil, err
	}
	if h.Launch, err = launch.FromReceipt(w, venue, order, receipts[len(receipts)-1]); err != nil {
		return nil, err
	}
	if h.Launch.Curve == venue.Contracts[0] {
		return h, nil
	}
	return h, markMarket(ctx, w, h, h.Launch.Curve)
}

// markMarket tells the token that people sell to a contract, such as the pool that it graduated to, and mines it.
func markMarket(ctx context.Context, w *world.World, h *HostileToken, contract string) error {
	return w.Node.Settle(ctx, []anvil.Transaction{
		h.call("setMarket(address,bool)", contract, true),
		h.call("setExempt(address,bool)", contract, true),
	})
}

// SpringCalls play the trick: the backdoor makes half as much again for the owner, the proxy gets a logic without
// sales, the blacklisting token stops. Nil for tricks that need nothing.
func (h *HostileToken) SpringCalls() []anvil.Transaction {
	switch h.Trick {
	case TrickBackdoor:
		return []anvil.Transaction{h.call("mint(address,uint256)", h.Owner, world.Units(launch.SupplyWhole/2, 18))}
	case TrickUpgradeable:
		return []anvil.Transaction{{From: h.Admin, To: h.Token, Data: anvil.EncodeCall("upgradeTo(address)", h.Upgrade), Gas: world.TradeGas}}
	case TrickBlacklist:
		return []anvil.Transaction{h.call("pause(bool)", true)}
	case TrickHoneypot, TrickSellTax, TrickUnlocked, TrickBurned, TrickNone:
	}
	return nil
}

// Spring plays the token's trick, and mines it: see SpringCalls. With unlocked liquidity the owner takes it away.
func Spring(ctx context.Context, w *world.World, h *HostileToken) error {
	calls := h.SpringCalls()
	if h.Trick == TrickUnlocked {
		shares, err := w.BalanceOf(ctx, h.Pool.Address, h.Owner)
		if err != nil {
			return err
		}
		calls = []anvil.Transaction{
			world.Approval(h.Pool.Address, h.Owner, w.Routers.UniswapV2, shares),
			{
				From: h.Owner, To: w.Routers.UniswapV2, Gas: world.TradeGas,
				Data: anvil.EncodeCall("removeLiquidityETH(address,uint256,uint256,uint256,address,uint256)", h.Token, shares, 0, 0, h.Owner, world.Deadline),
			},
		}
	}
	if len(calls) == 0 {
		return nil
	}
	return w.Node.Settle(ctx, calls)
}
