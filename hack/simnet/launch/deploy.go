package launch

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

const (
	// WalletCount is how many wallets trade on launches.
	WalletCount = 260
	// walletEther is what each of them has.
	walletEther = 100_000
	// walletWrapped is what each wraps of it: Clanker's pools on Uniswap V4 take nothing else.
	walletWrapped = 5_000
	// SupplyWhole is what there is of every launch's token.
	SupplyWhole = 1_000_000_000
)

// Deploy does what world.Deploy does, and deploys launch venues of these protocols besides, with the wallets that trade on
// their launches. A classic world can have none.
func Deploy(ctx context.Context, node *anvil.Node, options world.DeployOptions, protocols ...venues.Protocol) (*world.World, error) {
	w, err := world.Deploy(ctx, node, options)
	if err != nil || len(protocols) == 0 {
		return w, err
	}
	if options.Classic {
		return nil, world.ErrClassic
	}
	if err := openVenues(ctx, w, protocols); err != nil {
		return nil, fmt.Errorf("simnet: deploy venues: %w", err)
	}
	return w, nil
}

// openVenues deploys the protocols' contracts and gives the wallets their funds. Contracts have other addresses on every
// chain, and so have the tokens that they make.
func openVenues(ctx context.Context, w *world.World, protocols []venues.Protocol) error {
	if err := w.Node.Call(ctx, nil, "anvil_autoImpersonateAccount", true); err != nil {
		return err
	}
	w.VenueOwner = world.MadeUpAddress("simnet venue owner", w.ChainID)
	here := *w
	here.Deployer = w.VenueOwner
	owner := world.NewDeployment(&here, 0)
	for _, protocol := range protocols {
		w.Venues = append(w.Venues, deployVenue(owner, protocol))
	}
	if err := owner.Flush(ctx); err != nil {
		return err
	}
	return fundWallets(ctx, w)
}

// deployVenue deploys a protocol's contracts.
func deployVenue(d *world.Deployment, protocol venues.Protocol) venues.Venue {
	kind := venues.Kinds[protocol]
	venue := venues.Venue{ID: kind.ID, Protocol: protocol}
	var contract string
	switch protocol {
	case venues.BoardwalkCurve:
		venue.Shape = shapeOf(d.World, kind)
		contract = d.Create(kind.Contract, "(address,uint256,address)", d.UniswapV4PoolManager, venue.Shape.VirtualQuote, d.VenueOwner)
	case venues.ClankerV3:
		contract = d.Create(kind.Contract, "((address,int24,uint160),address,address)",
			livePool(d.World, kind), d.Routers.V3Positions, d.Routers.UniswapV3)
	case venues.ClankerV4:
		contract = clankerV4(d, &venue, kind)
	case venues.FourMemeV1, venues.FourMemeV2, venues.Flap, venues.PonsV2, venues.NadFun:
		venue.Shape = shapeOf(d.World, kind)
		contract = d.Create(kind.Contract, "((uint256,uint256,uint256,address,address,address,address))", anvil.Tuple{
			venue.Shape.VirtualBase, venue.Shape.VirtualQuote, venue.Shape.SaleBase,
			d.VenueOwner, d.Wrapped, d.UniswapV2Factory, d.Routers.V3Positions,
		})
	}
	venue.Contracts = []string{contract}
	return venue
}

// fundWallets gives the wallets their coins as a genesis block would: nobody sends them.
func fundWallets(ctx context.Context, w *world.World) error {
	var requests []anvil.Request
	var transactions []anvil.Transaction
	for i := range WalletCount {
		account := world.MadeUpAddress("simnet wallet", uint64(i))
		w.Wallets = append(w.Wallets, account)
		requests = append(requests, anvil.Request{Method: "anvil_setBalance", Params: []any{account, "0x" + world.Units(walletEther, 18).Text(16)}})
		transactions = append(transactions,
			anvil.Transaction{From: account, To: w.Wrapped, Data: anvil.EncodeCall("deposit()"), Value: world.Units(walletWrapped, 18)},
			anvil.Transaction{From: account, To: w.Wrapped, Data: anvil.EncodeCall("approve(address,uint256)", w.Routers.UniswapV4, world.MaxUint256)})
	}
	if err := w.Node.Batch(ctx, requests); err != nil {
		return err
	}
	if err := anvil.FirstError(requests); err != nil {
		return err
	}
	return w.Node.Settle(ctx, transactions)
}

// shapeOf rounds the quote to thousandths of a coin.
func shapeOf(w *world.World, kind venues.Kind) venues.Shape {
	ratio := kind.SaleBase / (kind.VirtualBase - kind.SaleBase)
	thousandths := int64(1000 * kind.RaiseUSD / ratio / w.Native.USD)
	quote := new(big.Int).Mul(big.NewInt(thousandths), world.Units(0.001, 18))
	return venues.Shape{
		VirtualBase: world.Units(kind.VirtualBase, 18), VirtualQuote: quote, SaleBase: world.Units(kind.SaleBase, 18), FeeBps: venues.FeeBps,
	}
}

// livePool is the tick at which the supply is worth what the kind says, and a price just below it.
func livePool(w *world.World, kind venues.Kind) anvil.Tuple {
	tick := world.AlignTick(world.TickOf(kind.RaiseUSD/SupplyWhole/w.Native.USD), world.TickSpacings[livePoolFee])
	return anvil.Tuple{w.Wrapped, tick, world.SqrtPriceX96(world.PriceAtTick(tick) * (1 - 1e-9))}
}

const (
	// livePoolFee is that of all pools of Uniswap V3 here, and of Clanker's on V4.
	livePoolFee = 10000
	// boardwalkPoolFee is that of the own family's pools on V4.
	boardwalkPoolFee = 3000
	// v4BeforeInitialize is the flag of the one occasion of ClankerHookStandIn (V4's Hooks.sol).
	v4BeforeInitialize = 1 << 13
)

// clankerV4 deploys Clanker's factory and the hook of its pools.
func clankerV4(d *world.Deployment, venue *venues.Venue, kind venues.Kind) string {
	// The hook knows its factory, which comes right after it.
	factory := anvil.CreateAddress(d.Deployer, d.Nonce+1)
	code := slices.Concat(d.Node.Tools.Code["ClankerHookStandIn"], anvil.EncodeArgs("(address)", factory))
	salt, hook := world.HookSalt(anvil.Keccak(code), v4BeforeInitialize)
	d.Add(anvil.Transaction{To: world.Create2Deployer, Data: append(salt, code...)})
	venue.Hook = hook
	return d.Create(kind.Contract, "((address,int24,uint160),address,address)", livePool(d.World, kind), d.UniswapV4PoolManager, hook)
}
