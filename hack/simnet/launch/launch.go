package launch

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// Order is what somebody launches.
type Order struct {
	// Creator is one of the world's wallets, or any account that the node takes transactions from.
	Creator      string
	Name, Symbol string
	// Metadata is what the launch says of the token, usually a data: URI. Image is said by Clanker v4 alone; four.meme and
	// Pons say neither.
	Metadata, Image string
	// FirstBuy is what the creator buys for in the same transaction; nil is nothing. Pons and Clanker v4 don't take it.
	FirstBuy *big.Int
	// Adopted is a token that exists already, of which the creator has the whole supply and which the venue may take.
	// FourMemeV2, Flap, PonsV2 and NadFun know that; it is for tokens that misbehave.
	Adopted string
}

// Launch is a token that was launched on a venue.
type Launch struct {
	Venue venues.Venue
	Order
	Token string
	// Curve is the contract to trade with before graduation: the venue's, on Pons the token's own. Empty on live pools.
	Curve string
	// Pool is where the token trades once it has graduated, on live pools from the first; its key is empty before.
	Pool world.Pool
	// Receipt is that of the launch.
	Receipt anvil.Receipt

	// Shape is the venue's, with the token's own tax.
	Shape venues.Shape
}

// OnCurve tells whether the token trades, or waits, on its curve still, as far as this launch has heard.
func (l *Launch) OnCurve() bool { return l.Curve != "" && l.Pool.Key() == "" }

// Start makes a launch and mines it, in a block a second after the newest one.
func Start(ctx context.Context, w *world.World, venueID string, order Order) (*Launch, error) {
	venue, found := w.Venue(venueID)
	if !found {
		return nil, fmt.Errorf("simnet: no launch venue %q on chain %d", venueID, w.ChainID)
	}
	receipts, err := w.Node.Settled(ctx, []anvil.Transaction{Call(venue, order)})
	if err != nil {
		return nil, err
	}
	return FromReceipt(w, venue, order, receipts[0])
}

// Call is the transaction that launches.
func Call(venue venues.Venue, order Order) anvil.Transaction {
	tx := anvil.Transaction{From: order.Creator, To: venue.Contracts[0], Value: order.FirstBuy, Gas: world.CreationGas}
	switch {
	case order.Adopted != "":
		tx.Data = anvil.EncodeCall("adopt(address,string,string,string)", order.Adopted, order.Name, order.Symbol, order.Metadata)
	case venue.Protocol == venues.ClankerV4:
		tx.Data = anvil.EncodeCall("launch(string,string,string,string)", order.Name, order.Symbol, order.Metadata, order.Image)
	default:
		tx.Data = anvil.EncodeCall("launch(string,string,string)", order.Name, order.Symbol, order.Metadata)
	}
	return tx
}

const (
	mintTopic          = "Transfer(address,address,uint256)"
	ponsLaunchedTopic  = "TokenLaunched(address,address,address,address,uint256,uint256)"
	poolCreatedTopic   = "PoolCreated(address,address,uint24,int24,address)"
	ponsTaxBpsOfConfig = 50
)

// FromReceipt reads from a launch's receipt what came of it.
func FromReceipt(w *world.World, venue venues.Venue, order Order, receipt anvil.Receipt) (*Launch, error) {
	l := &Launch{Venue: venue, Order: order, Token: order.Adopted, Receipt: receipt, Shape: venue.Shape}
	if venue.HasCurve() {
		l.Curve = venue.Contracts[0]
	}
	for _, log := range receipt.Logs {
		switch topicName(log, mintTopic, ponsLaunchedTopic, poolCreatedTopic) {
		case mintTopic: // the supply, to the venue
			if l.Token == "" && anvil.AddressAt(anvil.FromHex(log.Topics[1]), 0) == anvil.ZeroAddress {
				l.Token = log.Address
			}
		case ponsLaunchedTopic:
			l.Curve = anvil.AddressAt(anvil.FromHex(log.Topics[2]), 0)
			l.Shape.FeeBps += ponsTaxBpsOfConfig * anvil.WordAt(anvil.FromHex(log.Data), 1).Int64()
		case poolCreatedTopic:
			if !venue.HasCurve() {
				l.Pool = w.NewPool(world.UniswapV3, l.Token, w.Wrapped, livePoolFee, "")
				l.Pool.Address = anvil.AddressAt(anvil.FromHex(log.Data), 1)
			}
		}
	}
	if l.Token == "" {
		return nil, fmt.Errorf("simnet: %s made no token in %s", venue.ID, receipt.TransactionHash)
	}
	if venue.Protocol == venues.ClankerV4 {
		l.Pool = w.NewPool(world.UniswapV4, l.Token, w.Wrapped, livePoolFee, venue.Hook)
		l.Pool.Trap = ""
	}
	return l, nil
}

// topicName is the one of these events that a log is of; empty if it is of none.
func topicName(log anvil.Log, events ...string) string {
	for _, event := range events {
		if len(log.Topics) > 0 && log.Topics[0] == anvil.ToHex(anvil.Keccak([]byte(event))) {
			return event
		}
	}
	return ""
}

// CurveRequest asks a launch's curve for its state.
func CurveRequest(l *Launch, answer *anvil.HexBytes) anvil.Request {
	return anvil.View(l.Curve, answer, "curves(address)", l.Token)
}

// ReadCurve understands the answer; false if there is no such curve, or no more after a reorg.
func ReadCurve(answer []byte) (venues.CurveState, bool) {
	s := venues.CurveState{
		VirtualBase: anvil.WordAt(answer, 0), VirtualQuote: anvil.WordAt(answer, 1), RealBase: anvil.WordAt(answer, 2), RealQuote: anvil.WordAt(answer, 3),
		Completed: anvil.WordAt(answer, 4).Sign() > 0,
	}
	if pool := anvil.WordAt(answer, 5); pool.Sign() > 0 {
		if s.Pool = anvil.ToHex(anvil.Word(pool)); pool.BitLen() <= 160 {
			s.Pool = anvil.AddressAt(answer, 5)
		}
	}
	return s, s.VirtualBase.Sign() > 0
}

// Curve is the state of a launch's curve at the newest block, by its contract. Of a completed one it is that at completion.
func Curve(ctx context.Context, w *world.World, l *Launch) (venues.CurveState, error) {
	if l.Curve == "" {
		return venues.CurveState{}, fmt.Errorf("simnet: %s is a live pool", l.Symbol)
	}
	var answer anvil.HexBytes
	request := []anvil.Request{CurveRequest(l, &answer)}
	if err := w.Node.Batch(ctx, request); err != nil {
		return venues.CurveState{}, err
	}
	state, found := ReadCurve(answer)
	if request[0].Err != nil || !found {
		return venues.CurveState{}, errors.Join(fmt.Errorf("simnet: %s has no curve at %s", l.Symbol, l.Curve), request[0].Err)
	}
	return state, nil
}

// graduates is what kind of pool the tokens of a venue trade in at last.
var graduates = map[venues.Protocol]world.Protocol{
	venues.BoardwalkCurve: world.UniswapV4, venues.FourMemeV1: world.UniswapV2, venues.FourMemeV2: world.UniswapV2, venues.Flap: world.UniswapV2,
	venues.PonsV2: world.UniswapV3, venues.NadFun: world.UniswapV3, venues.ClankerV3: world.UniswapV3, venues.ClankerV4: world.UniswapV4,
}

// SettlePool notes where a token graduated to.
func SettlePool(w *world.World, l *Launch, state venues.CurveState) {
	if state.Pool == "" || l.Pool.Key() != "" {
		return
	}
	switch protocol := graduates[l.Venue.Protocol]; protocol {
	case world.UniswapV4:
		l.Pool = w.NewPool(world.UniswapV4, l.Token, anvil.ZeroAddress, boardwalkPoolFee, "")
	case world.UniswapV2, world.UniswapV3, world.PancakeSwapV3, world.Solidly, world.Slipstream:
		l.Pool = w.NewPool(protocol, l.Token, w.Wrapped, livePoolFee, "")
		l.Pool.Address = state.Pool
	}
}

// Buy buys from the curve, or in the pool after graduation, for an amount of the native coin, and mines it. From
// Clanker v4's pools it is the wrapped coin, of which wallets have some.
func Buy(ctx context.Context, w *world.World, l *Launch, wallet string, quote *big.Int) (anvil.Receipt, error) {
	tx := BuyCall(w, l, wallet, quote)
	tx.Gas = world.CreationGas
	return tradeAndLook(ctx, w, l, []anvil.Transaction{tx})
}

// Sell approves and sells an amount of the token, for the native coin, and mines both. The receipt is the sale's.
func Sell(ctx context.Context, w *world.World, l *Launch, wallet string, base *big.Int) (anvil.Receipt, error) {
	return tradeAndLook(ctx, w, l, SellCalls(w, l, wallet, base))
}

// Complete fills the curve by one purchase of a wallet's, and mines it. It graduates the token on venues that don't wait.
func Complete(ctx context.Context, w *world.World, l *Launch, wallet string) (anvil.Receipt, error) {
	state, err := Curve(ctx, w, l)
	if err != nil {
		return anvil.Receipt{}, err
	}
	return Buy(ctx, w, l, wallet, l.Shape.ValueFor(state, state.RealBase))
}

// Graduate moves a full curve to its pool, and mines it. l.Pool is where it went.
func Graduate(ctx context.Context, w *world.World, l *Launch, wallet string) (anvil.Receipt, error) {
	return tradeAndLook(ctx, w, l, []anvil.Transaction{GraduateCall(l, wallet)})
}

// GraduateCall is the transaction that graduates.
func GraduateCall(l *Launch, wallet string) anvil.Transaction {
	return anvil.Transaction{From: wallet, To: l.Curve, Data: anvil.EncodeCall("graduate(address)", l.Token), Gas: world.CreationGas}
}

// tradeAndLook mines transactions and notes whether the token has graduated.
func tradeAndLook(ctx context.Context, w *world.World, l *Launch, transactions []anvil.Transaction) (anvil.Receipt, error) {
	receipts, err := w.Node.Settled(ctx, transactions)
	if err != nil {
		return anvil.Receipt{}, err
	}
	if l.OnCurve() {
		state, err := Curve(ctx, w, l)
		if err != nil {
			return anvil.Receipt{}, err
		}
		SettlePool(w, l, state)
	}
	return receipts[len(receipts)-1], nil
}

// BuyCall buys without a minimum, as nobody races anybody.
func BuyCall(w *world.World, l *Launch, wallet string, quote *big.Int) anvil.Transaction {
	tx := anvil.Transaction{From: wallet, Value: quote, Gas: world.TradeGas}
	switch {
	case l.OnCurve() && l.Venue.Protocol == venues.PonsV2:
		tx.To, tx.Data = l.Curve, anvil.EncodeCall("buy(uint256,address)", 0, wallet)
	case l.OnCurve():
		tx.To, tx.Data = l.Curve, anvil.EncodeCall("buy(address,uint256,address)", l.Token, 0, wallet)
	default:
		tx = w.PoolBuy(l.Pool, l.Token, wallet, quote)
	}
	return tx
}

// SellCalls approve and sell; the sale is the last.
func SellCalls(w *world.World, l *Launch, wallet string, base *big.Int) []anvil.Transaction {
	if !l.OnCurve() {
		return w.PoolSell(l.Pool, l.Token, wallet, base)
	}
	sale := anvil.Transaction{From: wallet, To: l.Curve, Gas: world.TradeGas}
	if l.Venue.Protocol == venues.PonsV2 {
		sale.Data = anvil.EncodeCall("sell(uint256,uint256,address)", base, 0, wallet)
	} else {
		sale.Data = anvil.EncodeCall("sell(address,uint256,uint256,address)", l.Token, base, 0, wallet)
	}
	return []anvil.Transaction{world.Approval(l.Token, wallet, l.Curve, base), sale}
}
