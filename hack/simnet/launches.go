package simnet

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// LaunchOrder is what somebody launches.
type LaunchOrder struct {
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
	Venue Venue
	LaunchOrder
	Token string
	// Curve is the contract to trade with before graduation: the venue's, on Pons the token's own. Empty on live pools.
	Curve string
	// Pool is where the token trades once it has graduated, on live pools from the first; its key is empty before.
	Pool Pool
	// Receipt is that of the launch.
	Receipt anvil.Receipt

	shape curveShape // with the token's own tax
}

// OnCurve tells whether the token trades, or waits, on its curve still, as far as this launch has heard.
func (l *Launch) OnCurve() bool { return l.Curve != "" && l.Pool.key() == "" }

const (
	// tradeGas covers a trade with a curve or a pool.
	tradeGas = 1_500_000
	// launchGas covers what creates contracts: launches, graduations and the buys that fill a curve.
	launchGas = 12_000_000
)

// Launch makes a launch and mines it, in a block a second after the newest one.
func (w *World) Launch(ctx context.Context, venueID string, order LaunchOrder) (*Launch, error) {
	venue, found := w.Venue(venueID)
	if !found {
		return nil, fmt.Errorf("simnet: no launch venue %q on chain %d", venueID, w.ChainID)
	}
	receipts, err := w.Node.Settled(ctx, []anvil.Transaction{launchCall(venue, order)})
	if err != nil {
		return nil, err
	}
	return w.launched(venue, order, receipts[0])
}

// launchCall is the transaction that launches.
func launchCall(venue Venue, order LaunchOrder) anvil.Transaction {
	tx := anvil.Transaction{From: order.Creator, To: venue.Contracts[0], Value: order.FirstBuy, Gas: launchGas}
	switch {
	case order.Adopted != "":
		tx.Data = anvil.EncodeCall("adopt(address,string,string,string)", order.Adopted, order.Name, order.Symbol, order.Metadata)
	case venue.Protocol == ClankerV4:
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

// launched reads from a launch's receipt what came of it.
func (w *World) launched(venue Venue, order LaunchOrder, receipt anvil.Receipt) (*Launch, error) {
	l := &Launch{Venue: venue, LaunchOrder: order, Token: order.Adopted, Receipt: receipt, shape: venue.shape}
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
			l.shape.feeBps += ponsTaxBpsOfConfig * anvil.WordAt(anvil.FromHex(log.Data), 1).Int64()
		case poolCreatedTopic:
			if !venue.HasCurve() {
				l.Pool = w.newPool(UniswapV3, l.Token, w.Wrapped, livePoolFee, "")
				l.Pool.Address = anvil.AddressAt(anvil.FromHex(log.Data), 1)
			}
		}
	}
	if l.Token == "" {
		return nil, fmt.Errorf("simnet: %s made no token in %s", venue.ID, receipt.TransactionHash)
	}
	if venue.Protocol == ClankerV4 {
		l.Pool = w.newPool(UniswapV4, l.Token, w.Wrapped, livePoolFee, venue.hook)
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

// curveRequest asks a launch's curve for its state.
func curveRequest(l *Launch, answer *anvil.HexBytes) anvil.Request {
	return anvil.View(l.Curve, answer, "curves(address)", l.Token)
}

// readCurve understands the answer; false if there is no such curve, or no more after a reorg.
func readCurve(answer []byte) (CurveState, bool) {
	s := CurveState{
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
func (w *World) Curve(ctx context.Context, l *Launch) (CurveState, error) {
	if l.Curve == "" {
		return CurveState{}, fmt.Errorf("simnet: %s is a live pool", l.Symbol)
	}
	var answer anvil.HexBytes
	request := []anvil.Request{curveRequest(l, &answer)}
	if err := w.Node.Batch(ctx, request); err != nil {
		return CurveState{}, err
	}
	state, found := readCurve(answer)
	if request[0].Err != nil || !found {
		return CurveState{}, errors.Join(fmt.Errorf("simnet: %s has no curve at %s", l.Symbol, l.Curve), request[0].Err)
	}
	return state, nil
}

// settlePool notes where a token graduated to.
func (w *World) settlePool(l *Launch, state CurveState) {
	if state.Pool == "" || l.Pool.key() != "" {
		return
	}
	switch protocol := venueKinds[l.Venue.Protocol].graduates; protocol {
	case UniswapV4:
		l.Pool = w.newPool(UniswapV4, l.Token, anvil.ZeroAddress, boardwalkPoolFee, "")
	case UniswapV2, UniswapV3, PancakeSwapV3, Solidly, Slipstream:
		l.Pool = w.newPool(protocol, l.Token, w.Wrapped, livePoolFee, "")
		l.Pool.Address = state.Pool
	}
}

// Buy buys from the curve, or in the pool after graduation, for an amount of the native coin, and mines it. From
// Clanker v4's pools it is the wrapped coin, of which wallets have some.
func (w *World) Buy(ctx context.Context, l *Launch, wallet string, quote *big.Int) (anvil.Receipt, error) {
	tx := w.buyCall(l, wallet, quote)
	tx.Gas = launchGas
	return w.tradeAndLook(ctx, l, []anvil.Transaction{tx})
}

// Sell approves and sells an amount of the token, for the native coin, and mines both. The receipt is the sale's.
func (w *World) Sell(ctx context.Context, l *Launch, wallet string, base *big.Int) (anvil.Receipt, error) {
	return w.tradeAndLook(ctx, l, w.sellCalls(l, wallet, base))
}

// Complete fills the curve by one purchase of a wallet's, and mines it. It graduates the token on venues that don't wait.
func (w *World) Complete(ctx context.Context, l *Launch, wallet string) (anvil.Receipt, error) {
	state, err := w.Curve(ctx, l)
	if err != nil {
		return anvil.Receipt{}, err
	}
	return w.Buy(ctx, l, wallet, l.shape.valueFor(state, state.RealBase))
}

// Graduate moves a full curve to its pool, and mines it. l.Pool is where it went.
func (w *World) Graduate(ctx context.Context, l *Launch, wallet string) (anvil.Receipt, error) {
	return w.tradeAndLook(ctx, l, []anvil.Transaction{graduateCall(l, wallet)})
}

func graduateCall(l *Launch, wallet string) anvil.Transaction {
	return anvil.Transaction{From: wallet, To: l.Curve, Data: anvil.EncodeCall("graduate(address)", l.Token), Gas: launchGas}
}

// tradeAndLook mines transactions and notes whether the token has graduated.
func (w *World) tradeAndLook(ctx context.Context, l *Launch, transactions []anvil.Transaction) (anvil.Receipt, error) {
	receipts, err := w.Node.Settled(ctx, transactions)
	if err != nil {
		return anvil.Receipt{}, err
	}
	if l.OnCurve() {
		state, err := w.Curve(ctx, l)
		if err != nil {
			return anvil.Receipt{}, err
		}
		w.settlePool(l, state)
	}
	return receipts[len(receipts)-1], nil
}

// buyCall buys without a minimum, as nobody races anybody.
func (w *World) buyCall(l *Launch, wallet string, quote *big.Int) anvil.Transaction {
	tx := anvil.Transaction{From: wallet, Value: quote, Gas: tradeGas}
	switch {
	case l.OnCurve() && l.Venue.Protocol == PonsV2:
		tx.To, tx.Data = l.Curve, anvil.EncodeCall("buy(uint256,address)", 0, wallet)
	case l.OnCurve():
		tx.To, tx.Data = l.Curve, anvil.EncodeCall("buy(address,uint256,address)", l.Token, 0, wallet)
	default:
		tx = w.poolBuy(l.Pool, l.Token, wallet, quote)
	}
	return tx
}

// poolBuy buys a token for the native coin where the pool's router takes it, else for the wrapped one.
func (w *World) poolBuy(pool Pool, token, wallet string, quote *big.Int) anvil.Transaction {
	tx := anvil.Transaction{From: wallet, Value: quote, Gas: tradeGas}
	switch in := pool.other(token); pool.Protocol {
	case UniswapV2:
		tx.To = w.Routers.UniswapV2
		tx.Data = anvil.EncodeCall("swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)",
			0, []string{in, token}, wallet, deadline)
	case UniswapV3:
		tx.To, tx.Data = w.swapCall(pool, in, quote, wallet)
	case UniswapV4, PancakeSwapV3, Solidly, Slipstream:
		tx.To, tx.Data = w.swapCall(pool, in, quote, wallet)
		if in != anvil.ZeroAddress {
			tx.Value = nil
		}
	}
	return tx
}

// sellCalls approve and sell; the sale is the last.
func (w *World) sellCalls(l *Launch, wallet string, base *big.Int) []anvil.Transaction {
	if !l.OnCurve() {
		return w.poolSell(l.Pool, l.Token, wallet, base)
	}
	sale := anvil.Transaction{From: wallet, To: l.Curve, Gas: tradeGas}
	if l.Venue.Protocol == PonsV2 {
		sale.Data = anvil.EncodeCall("sell(uint256,uint256,address)", base, 0, wallet)
	} else {
		sale.Data = anvil.EncodeCall("sell(address,uint256,uint256,address)", l.Token, base, 0, wallet)
	}
	return []anvil.Transaction{approval(l.Token, wallet, l.Curve, base), sale}
}

func approval(token, from, spender string, amount *big.Int) anvil.Transaction {
	return anvil.Transaction{From: from, To: token, Data: anvil.EncodeCall("approve(address,uint256)", spender, amount), Gas: tradeGas}
}

// poolSell sells a token for the native coin, on Uniswap V4 for what the pool has.
func (w *World) poolSell(pool Pool, token, wallet string, base *big.Int) []anvil.Transaction {
	sale := anvil.Transaction{From: wallet, Gas: tradeGas}
	switch pool.Protocol {
	case UniswapV2:
		sale.To = w.Routers.UniswapV2
		sale.Data = anvil.EncodeCall("swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)",
			base, 0, []string{token, pool.other(token)}, wallet, deadline)
	case UniswapV3:
		swap := anvil.EncodeCall("exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
			anvil.Tuple{token, pool.other(token), pool.Fee, anvil.ZeroAddress, deadline, base, 0, 0})
		sale.To = w.Routers.UniswapV3
		sale.Data = anvil.EncodeCall("multicall(bytes[])", [][]byte{swap, anvil.EncodeCall("unwrapWETH9(uint256,address)", 0, wallet)})
	case UniswapV4, PancakeSwapV3, Solidly, Slipstream:
		sale.To, sale.Data = w.swapCall(pool, token, base, wallet)
	}
	return []anvil.Transaction{approval(token, wallet, sale.To, base), sale}
}

// BalanceOf is what an account has of a token at the newest block.
func (w *World) BalanceOf(ctx context.Context, token, account string) (*big.Int, error) {
	var answer anvil.HexBytes
	request := []anvil.Request{anvil.View(token, &answer, "balanceOf(address)", account)}
	if err := w.Node.Batch(ctx, request); err != nil {
		return nil, err
	}
	return anvil.WordAt(answer, 0), request[0].Err
}
