package simnet

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// VenueProtocol is how a launch venue's contracts speak, spelled as in a LaunchVenue's spec.protocol.
type VenueProtocol string

// The protocols that a world can have contracts of. All but BoardwalkCurve are stand-ins: they log the
// launchpad's events over curves and pools of their own, see contracts/.
const (
	BoardwalkCurve VenueProtocol = "BoardwalkCurve"
	FourMemeV1     VenueProtocol = "FourMemeV1"
	FourMemeV2     VenueProtocol = "FourMemeV2"
	Flap           VenueProtocol = "Flap"
	PonsV2         VenueProtocol = "PonsV2"
	NadFun         VenueProtocol = "NadFun"
	ClankerV3      VenueProtocol = "ClankerV3"
	ClankerV4      VenueProtocol = "ClankerV4"
)

// AllVenues are all of them.
var AllVenues = []VenueProtocol{BoardwalkCurve, FourMemeV1, FourMemeV2, Flap, PonsV2, NadFun, ClankerV3, ClankerV4}

// UsualVenues are those of a chain in `make run`: between BNB Chain and any other, each protocol is on
// one, and the own family and Clanker are on both.
func UsualVenues(chainID uint64) []VenueProtocol {
	if chainID == 56 {
		return []VenueProtocol{BoardwalkCurve, FourMemeV2, Flap, ClankerV4, FourMemeV1}
	}
	return []VenueProtocol{BoardwalkCurve, ClankerV4, PonsV2, NadFun, ClankerV3}
}

// venueKind is what the venues of a protocol have in common.
type venueKind struct {
	id       string
	contract string
	// raiseUSD is about what a full curve has raised; on live pools what all tokens are worth at first.
	raiseUSD float64
	// virtualBase and saleBase are in whole tokens.
	virtualBase, saleBase float64
	// graduates is where a full curve goes, or what a live pool is.
	graduates Protocol
	// waits says that a full curve stays until somebody graduates it.
	waits bool
}

// A curve that sells s of 10^9 tokens ends at its pool's price when virtualBase is s²/(2s-10^9).
const (
	pumpVirtualBase, pumpSaleBase = 1_073_000_000, 793_100_000
	fourVirtualBase, fourSaleBase = 1_066_666_667, 800_000_000
)

var venueKinds = map[VenueProtocol]venueKind{
	BoardwalkCurve: {"boardwalk-curve", "BoardwalkCurve", 45_000, pumpVirtualBase, pumpSaleBase, UniswapV4, true},
	FourMemeV1:     {"four-meme-v1", "FourMemeV1StandIn", 38_000, fourVirtualBase, fourSaleBase, UniswapV2, true},
	FourMemeV2:     {"four-meme", "FourMemeV2StandIn", 48_000, fourVirtualBase, fourSaleBase, UniswapV2, true},
	Flap:           {"flap", "FlapStandIn", 42_000, fourVirtualBase, fourSaleBase, UniswapV2, false},
	PonsV2:         {"pons", "PonsV2StandIn", 36_000, fourVirtualBase, fourSaleBase, UniswapV3, false},
	NadFun:         {"nad-fun", "NadFunStandIn", 45_000, pumpVirtualBase, pumpSaleBase, UniswapV3, true},
	ClankerV3:      {id: "clanker-v3", contract: "ClankerV3StandIn", raiseUSD: 30_000, graduates: UniswapV3},
	ClankerV4:      {id: "clanker", contract: "ClankerV4StandIn", raiseUSD: 35_000, graduates: UniswapV4},
}

// Venue is a launch venue's contracts on the world's chain.
type Venue struct {
	// ID is the spec.id of its LaunchVenue.
	ID       string
	Protocol VenueProtocol
	// Contracts are those that its LaunchVenue declares.
	Contracts []string

	shape curveShape
	hook  string
}

// HasCurve tells whether its tokens start on a bonding curve; the others are live pools from the first block.
func (v Venue) HasCurve() bool { return venueKinds[v.Protocol].saleBase > 0 }

// Waits tells whether a full curve stays until somebody graduates it. Elsewhere the buy that fills it does.
func (v Venue) Waits() bool { return venueKinds[v.Protocol].waits }

// Target is what a full curve has raised, net of fees; nil for live pools.
func (v Venue) Target() *big.Int {
	if !v.HasCurve() {
		return nil
	}
	return v.shape.target()
}

// Venue finds a venue by id.
func (w *World) Venue(id string) (Venue, bool) {
	for _, venue := range w.Venues {
		if venue.ID == id {
			return venue, true
		}
	}
	return Venue{}, false
}

const (
	// walletCount is how many wallets trade on launches.
	walletCount = 260
	// walletEther is what each of them has.
	walletEther = 100_000
	// walletWrapped is what each wraps of it: Clanker's pools on Uniswap V4 take nothing else.
	walletWrapped = 5_000
	// supplyWhole is what there is of every launch's token.
	supplyWhole = 1_000_000_000
)

// madeUp is an address of a kind; nobody has its key.
func madeUp(kind string, i uint64) string {
	return anvil.ToHex(anvil.Keccak([]byte(kind), binary.BigEndian.AppendUint64(nil, i))[12:])
}

// openVenues deploys the protocols' contracts and gives the wallets their funds. Contracts have other addresses on every
// chain, and so have the tokens that they make.
func (d *deployment) openVenues(ctx context.Context, options DeployOptions) error {
	if len(options.Venues) == 0 {
		return nil
	}
	if options.Classic {
		return errClassic
	}
	if err := d.Node.Call(ctx, nil, "anvil_autoImpersonateAccount", true); err != nil {
		return err
	}
	d.VenueOwner = madeUp("simnet venue owner", d.ChainID)
	here := *d.World
	here.Deployer = d.VenueOwner
	owner := &deployment{World: &here}
	for _, protocol := range options.Venues {
		d.Venues = append(d.Venues, owner.venue(protocol))
	}
	if err := owner.flush(ctx); err != nil {
		return err
	}
	return d.fundWallets(ctx)
}

// venue deploys a protocol's contracts.
func (d *deployment) venue(protocol VenueProtocol) Venue {
	kind := venueKinds[protocol]
	venue := Venue{ID: kind.id, Protocol: protocol}
	var contract string
	switch protocol {
	case BoardwalkCurve:
		venue.shape = d.shapeOf(kind)
		contract = d.create(kind.contract, "(address,uint256,address)", d.UniswapV4PoolManager, venue.shape.virtualQuote, d.VenueOwner)
	case ClankerV3:
		contract = d.create(kind.contract, "((address,int24,uint160),address,address)",
			d.livePool(kind), d.Routers.V3Positions, d.Routers.UniswapV3)
	case ClankerV4:
		contract = d.clankerV4(&venue, kind)
	case FourMemeV1, FourMemeV2, Flap, PonsV2, NadFun:
		venue.shape = d.shapeOf(kind)
		contract = d.create(kind.contract, "((uint256,uint256,uint256,address,address,address,address))", anvil.Tuple{
			venue.shape.virtualBase, venue.shape.virtualQuote, venue.shape.saleBase,
			d.VenueOwner, d.Wrapped, d.UniswapV2Factory, d.Routers.V3Positions,
		})
	}
	venue.Contracts = []string{contract}
	return venue
}

// Pause pauses the own family's contract, or lets it go on, and mines that.
func (w *World) Pause(ctx context.Context, paused bool) error {
	venue, found := w.Venue(venueKinds[BoardwalkCurve].id)
	if !found {
		return fmt.Errorf("simnet: chain %d has no launch venue of its own", w.ChainID)
	}
	return w.Node.Settle(ctx, []anvil.Transaction{{
		From: w.VenueOwner, To: venue.Contracts[0], Data: anvil.EncodeCall("setPaused(bool)", paused), Gas: tradeGas,
	}})
}

// fundWallets gives the wallets their coins as a genesis block would: nobody sends them.
func (d *deployment) fundWallets(ctx context.Context) error {
	var requests []anvil.Request
	var transactions []anvil.Transaction
	for i := range walletCount {
		account := madeUp("simnet wallet", uint64(i))
		d.Wallets = append(d.Wallets, account)
		requests = append(requests, anvil.Request{Method: "anvil_setBalance", Params: []any{account, "0x" + units(walletEther, 18).Text(16)}})
		transactions = append(transactions,
			anvil.Transaction{From: account, To: d.Wrapped, Data: anvil.EncodeCall("deposit()"), Value: units(walletWrapped, 18)},
			anvil.Transaction{From: account, To: d.Wrapped, Data: anvil.EncodeCall("approve(address,uint256)", d.Routers.UniswapV4, maxUint256)})
	}
	if err := d.Node.Batch(ctx, requests); err != nil {
		return err
	}
	if err := anvil.FirstError(requests); err != nil {
		return err
	}
	return d.Node.Settle(ctx, transactions)
}

// shapeOf rounds the quote to thousandths of a coin.
func (w *World) shapeOf(kind venueKind) curveShape {
	ratio := kind.saleBase / (kind.virtualBase - kind.saleBase)
	thousandths := int64(1000 * kind.raiseUSD / ratio / w.Native.USD)
	quote := new(big.Int).Mul(big.NewInt(thousandths), units(0.001, 18))
	return curveShape{units(kind.virtualBase, 18), quote, units(kind.saleBase, 18), launchFeeBps}
}

// livePool is the tick at which the supply is worth what the kind says, and a price just below it.
func (w *World) livePool(kind venueKind) anvil.Tuple {
	tick := alignTick(tickOf(kind.raiseUSD/supplyWhole/w.Native.USD), tickSpacings[livePoolFee])
	return anvil.Tuple{w.Wrapped, tick, sqrtPriceX96(priceAtTick(tick) * (1 - 1e-9))}
}

const (
	// livePoolFee is that of all pools of Uniswap V3 here, and of Clanker's on V4.
	livePoolFee = 10000
	// boardwalkPoolFee is that of the own family's pools on V4.
	boardwalkPoolFee = 3000
	// v4BeforeInitialize is the flag of the one occasion of ClankerHookStandIn (V4's Hooks.sol).
	v4BeforeInitialize = 1 << 13
)

func (d *deployment) clankerV4(venue *Venue, kind venueKind) string {
	// The hook knows its factory, which comes right after it.
	factory := anvil.CreateAddress(d.Deployer, d.nonce+1)
	code := slices.Concat(d.Node.Tools.Code["ClankerHookStandIn"], anvil.EncodeArgs("(address)", factory))
	salt, hook := findHookSalt(anvil.Keccak(code), v4BeforeInitialize)
	d.add(anvil.Transaction{To: create2Deployer, Data: append(salt, code...)})
	venue.hook = hook
	return d.create(kind.contract, "((address,int24,uint160),address,address)", d.livePool(kind), d.UniswapV4PoolManager, hook)
}

// Hooks is the Uniswap V4 hook of the venue's pools; empty if they have none.
func (v Venue) Hooks() string { return v.hook }
