package contracts

import (
	"context"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// declaredAsked is a declared address with the questions to its contract.
type declaredAsked struct {
	chain.Declared
	hasCode bool
	calls   []*ethcall.Call
	// judge takes the answers in; it is nil where nothing but code is expected.
	judge func(*declaredAsked)
	// pools lists the pools that a factory names for pairs of the chain's quotes.
	pools []market.Address
}

// These calls are made by CheckDeclared alone; the others are the index's, too.
var (
	callPairs       = hash.SelectorHex("allPairsLength()")
	callPools       = hash.SelectorHex("allPoolsLength()")
	callSpacingOf   = hash.SelectorHex("feeAmountTickSpacing(uint24)")
	callPoolManager = hash.SelectorHex("poolManager()")
	callFeeOf       = hash.SelectorHex("tickSpacingToFee(int24)")
	callExtsload    = hash.SelectorHex("extsload(bytes32)")
	callCurves      = hash.SelectorHex("curves(address)")
	commonFees      = []uint64{500, 2500, 3000, 10_000} // in pips; 2,500 is PancakeSwap's, 3,000 Uniswap's
	mostPairedToken = 2
)

// CheckDeclared asks the newest block whether there is a contract at every declared address, and whether it answers as its protocol does.
func (cs Contracts) CheckDeclared(ctx context.Context, c *chainconfig.Chain) ([]chain.Declared, error) {
	asked := declaredOf(c)
	if err := cs.askForCode(ctx, asked); err != nil {
		return nil, err
	}
	var calls []*ethcall.Call
	for _, a := range asked {
		if a.hasCode {
			calls = append(calls, a.calls...)
		}
	}
	if err := cs.calls.CallNewest(ctx, calls); err != nil {
		return nil, err
	}
	for _, a := range asked {
		switch {
		case !a.hasCode:
			a.Wrong = "there is no contract at this address"
		case slices.ContainsFunc(a.calls, (*ethcall.Call).IsMute):
			a.Unknown = "its contract could not be asked"
		case a.judge != nil:
			a.judge(a)
		}
	}
	if err := cs.proveFactories(ctx, c.Exchanges, asked); err != nil {
		return nil, err
	}
	out := make([]chain.Declared, len(asked))
	for i, a := range asked {
		out[i] = a.Declared
	}
	return out, nil
}

// declaredOf lists the document's addresses, tokens that are declared several times once.
func declaredOf(c *chainconfig.Chain) (out []*declaredAsked) {
	add := func(what string, address market.Address) *declaredAsked {
		out = append(out, &declaredAsked{Declared: chain.Declared{What: what, Address: address}})
		return out[len(out)-1]
	}
	token := func(what string, address market.Address) *declaredAsked {
		for _, known := range out {
			if known.Address == address {
				known.What += ", " + what
				return known
			}
		}
		t := add(what, address)
		t.calls = []*ethcall.Call{{To: t.Address, Data: callDecimals}, {To: t.Address, Data: callSymbol}}
		t.judge = judgeToken("")
		return t
	}
	for _, q := range c.Quotes {
		token("quote asset "+q.Symbol, q.Address).judge = judgeToken(q.Symbol)
	}
	token("wrapped "+c.Native.Symbol, c.Native.Wrapped)
	for _, m := range c.Majors {
		token("major "+m.Asset, m.Address)
	}
	quotes := pairedTokens(c)
	for _, x := range c.Exchanges {
		a := add("factory of "+x.Name, x.Factory)
		a.askFactory(x.Protocol, quotes)
		if !x.PositionManager.IsNone() {
			add("position manager of "+x.Name, x.PositionManager).askPositionManager(a.Address)
		}
		for _, h := range x.Hooks {
			add("hook of "+x.Name, h)
		}
	}
	for _, v := range c.Venues {
		for _, address := range v.Contracts {
			add("contract of venue "+v.ID, address).askVenue(v.Protocol)
		}
	}
	for _, l := range c.Trust.Lockers {
		add("locker", l)
	}
	if c.PlatformFee != nil {
		for _, r := range c.PlatformFee.Routers {
			add("router of the platform", r)
		}
	}
	return out
}

// pairedTokens are the wrapped coin and other quotes, of which factories should have pools.
func pairedTokens(c *chainconfig.Chain) (out []market.Address) {
	out = append(out, c.Native.Wrapped)
	for _, q := range c.Quotes {
		if q.Address != c.Native.Wrapped && len(out) <= mostPairedToken {
			out = append(out, q.Address)
		}
	}
	return out
}

// askForCode asks for the contracts' code after the newest block: some nodes have no other state.
func (cs Contracts) askForCode(ctx context.Context, asked []*declaredAsked) error {
	for part := range slices.Chunk(asked, rpc.CallsAtOnce) {
		err := cs.pool.Try(ctx, func(ctx context.Context, e *node.Endpoint) error {
			reqs := make([]*rpc.Request, len(part))
			for i, a := range part {
				reqs[i] = node.CodeRequest(a.Address, node.Newest, &a.hasCode)
			}
			return e.Do(ctx, reqs...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// judgeToken holds a token against its declared symbol, if there is one: a token without decimals has no price.
func judgeToken(symbol string) func(*declaredAsked) {
	return func(a *declaredAsked) {
		if d, ok := a.calls[0].Uint(); !ok || !d.IsUint64() || d.Uint64() > maxDecimals {
			a.Wrong = "it doesn't answer decimals() as a token does"
			return
		}
		if got := a.calls[1].Text(); symbol != "" && got != symbol {
			a.Note, a.Symbol = "it has another symbol on the chain", got
		}
	}
}

// askFactory asks a factory for what every one of its protocol has, and for pools of the chain's own quotes.
func (a *declaredAsked) askFactory(p market.Protocol, quotes []market.Address) {
	ask := func(calls ...string) {
		for _, data := range calls {
			a.calls = append(a.calls, &ethcall.Call{To: a.Address, Data: data})
		}
	}
	pairs := func(ask func(pair string)) {
		for _, other := range quotes[min(1, len(quotes)):] {
			ask(word(quotes[0]) + word(other))
		}
	}
	name := ""
	switch p {
	case market.UniswapV2:
		name = "allPairsLength() and getPair(address,address)"
		ask(callPairs)
		pairs(func(pair string) { ask(callGetPair + pair) })
	case market.UniswapV3, market.PancakeSwapV3:
		name = "feeAmountTickSpacing(uint24) and getPool(address,address,uint24)"
		ask(callSpacingOf + fmt.Sprintf("%064x", commonFees[0]))
		pairs(func(pair string) {
			for _, fee := range commonFees {
				ask(callGetPoolFee + pair + fmt.Sprintf("%064x", fee))
			}
		})
	case market.Slipstream:
		name = "tickSpacingToFee(int24) and getPool(address,address,int24)"
		ask(callFeeOf + fmt.Sprintf("%064x", slipstreamSpacings[0]))
		pairs(func(pair string) { ask(slipstreamPoolsOf(pair)...) })
	case market.Solidly:
		name = "allPoolsLength() and getPool(address,address,bool)"
		ask(callPools)
		pairs(func(pair string) {
			for stable := range 2 {
				ask(callGetPoolKind + pair + fmt.Sprintf("%064x", stable))
			}
		})
	case market.UniswapV4:
		name = "extsload(bytes32)"
		ask(callExtsload + fmt.Sprintf("%064x", 0))
	case market.BondingCurve, market.PumpSwap, market.RaydiumAMMv4, market.RaydiumCPMM, market.MeteoraDAMMv2: // a launch venue's, no exchange's
		return
	}
	a.judge = func(a *declaredAsked) {
		for i, c := range a.calls {
			pool, ok := c.Address()
			if !ok || i > 0 && !decode.IsAddress([32]byte(c.Answer[:32])) {
				a.Wrong = "it doesn't answer " + name + " as a factory of protocol " + string(p) + " does"
				return
			}
			if i > 0 && !pool.IsNative() {
				a.pools = append(a.pools, pool)
			}
		}
		if len(a.calls) > 1 && len(a.pools) == 0 {
			a.Note = "it has no pool of two of the declared quote assets"
		}
	}
}

// askPositionManager asks whose positions it manages (ImmutableState.sol).
func (a *declaredAsked) askPositionManager(poolManager market.Address) {
	a.calls = []*ethcall.Call{{To: a.Address, Data: callPoolManager}}
	a.judge = func(a *declaredAsked) {
		if manages, ok := a.calls[0].Address(); !ok || manages != poolManager {
			a.Wrong = "it doesn't answer poolManager() with the exchange's factory"
		}
	}
}

// askVenue asks a venue's contract for what its protocol has as a view, where that is known.
func (a *declaredAsked) askVenue(p chainconfig.VenueProtocol) {
	view, name, words := "", "", 0
	switch p {
	case chainconfig.BoardwalkCurve:
		view, name, words = callCurves, "curves(address)", 6
	case chainconfig.FourMemeV2:
		view, name, words = callFourInfo, "_tokenInfos(address)", 13
	case chainconfig.FourMemeV1, chainconfig.Flap, chainconfig.PonsV2, chainconfig.NadFun, chainconfig.ClankerV3, chainconfig.ClankerV4,
		chainconfig.PumpFun, chainconfig.MeteoraDBC, chainconfig.RaydiumLaunchLab:
		return
	}
	a.calls = []*ethcall.Call{{To: a.Address, Data: view + word(a.Address)}} // of a token that it doesn't have
	a.judge = func(a *declaredAsked) {
		if c := a.calls[0]; !c.OK || len(c.Answer) < 32*words {
			a.Wrong = "it doesn't answer " + name + " as a contract of protocol " + string(p) + " does"
		}
	}
}

// proveFactories asks one pool of each factory for its tokens and its factory, by the rules by which the index believes pools.
func (cs Contracts) proveFactories(ctx context.Context, exchanges []chainconfig.Exchange, asked []*declaredAsked) error {
	var factories []*declaredAsked
	var pools []poolAsked
	var list []*ethcall.Call
	for _, a := range asked {
		if a.Wrong != "" || len(a.pools) == 0 {
			continue
		}
		p := poolAsked{pool: a.pools[0]}
		for _, data := range poolCalls {
			p.own = append(p.own, &ethcall.Call{To: p.pool, Data: data})
		}
		factories, pools, list = append(factories, a), append(pools, p), append(list, p.own...)
	}
	if err := cs.calls.CallNewest(ctx, list); err != nil {
		return err
	}
	var confirm []*ethcall.Call
	for i := range pools {
		if q := pools[i].describe(exchanges); q != nil {
			confirm = append(confirm, q)
		}
	}
	if err := cs.calls.CallNewest(ctx, confirm); err != nil {
		return err
	}
	for i, a := range factories {
		switch f := pools[i].fact(); {
		case f.Known && f.Info.Factory == a.Address:
		case f.Known:
			a.Wrong = "its pool " + f.Pool.String() + " is of another declared factory"
		default:
			a.Note = "its pool " + f.Pool.String() + " can't be believed: " + f.Reason
		}
	}
	return nil
}
