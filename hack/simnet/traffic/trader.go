package traffic

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// Kind is what a transaction was for.
type Kind string

// A long enough history has some of each where the newer contracts are there.
const (
	SwapV2      Kind = "v2 swap"
	SwapV2Path  Kind = "v2 multi-hop swap"
	SwapV2Taxed Kind = "v2 swap of a taxed or rebasing token"
	SwapV3      Kind = "v3 swap"
	SwapV3Path  Kind = "v3 multi-hop swap"
	SwapV4      Kind = "v4 swap"
	SwapPancake Kind = "pancakeswap v3 swap"
	SwapDirect  Kind = "swap through a stand-in's router" // of Solidly or Slipstream
	SwapSplit   Kind = "swap split by the aggregator"
	// SwapPlatform pays the platform's fee.
	SwapPlatform Kind = "swap through the platform's router"
	SwapBundled  Kind = "swap in a bundle of user operations"
	Transfer     Kind = "transfer"
	Wrap         Kind = "wrap"
	Unwrap       Kind = "unwrap"
	AddV2        Kind = "v2 add liquidity"
	RemoveV2     Kind = "v2 remove liquidity"
	AddV3        Kind = "v3 add liquidity"
	RemoveV3     Kind = "v3 remove liquidity"
	AddV4        Kind = "v4 add liquidity"
	RemoveV4     Kind = "v4 remove liquidity"
	Rebase       Kind = "rebase"
)

// Truth is what really happened in a transaction, for tests to compare with what the chain's logs
// are taken to mean. A bundle of user operations has one for each, with the same hash.
type Truth struct {
	TxHash string
	Kind   Kind
	// Sender is the transaction's from; Trader is whose holdings it changes. They differ where a
	// contract acts for somebody.
	Sender string
	Trader string
	// TokenIn is what the trader gave and TokenOut what he got, by address; a transfer has only
	// TokenIn. NativeIn and NativeOut say that it was the native asset. Uniswap V4 takes it as it is, by
	// the address 0; elsewhere it is wrapped on the way and the wrapped token has no Transfer from or
	// to the trader.
	TokenIn, TokenOut   string
	NativeIn, NativeOut bool
	// AmountIn is what the trader gave of TokenIn, in its smallest unit; nil where it isn't a swap.
	AmountIn *big.Int
	// To is the recipient of a transfer.
	To string
	// Pools are the addresses, or Uniswap V4 ids, of the pools swapped through or added to, in order.
	Pools []string
	// Venue is the id of the launch venue of the token, where the transaction is of package desk.
	Venue string
}

// Trader acts for all the world's traders. Prices follow a random walk that returns: each token has
// a target, trades push its pools towards it, and amounts are small parts of pools and of balances,
// so that nobody runs out and pools stay sane for as long as it runs. It is not safe for concurrent use.
type Trader struct {
	world  *world.World
	rng    *rand.Rand
	habits []habit
	// outsiders is how many wallets receive transfers.
	outsiders int
	// coins is how often traders pay or are paid in the native currency, where they can; 1 is usual.
	coins float64
	// drift is the logarithm of target over opening price, by token.
	drift map[string]float64
	// opening is the first price seen of pools whose tokens have none.
	opening map[string]float64
	// index is the logarithm of the rebasing token's index.
	index float64
	// provided is the V2 pool that a trader last added to.
	provided map[string]world.Pool
	// ranges is the V4 position that a trader last opened.
	ranges map[string]v4Position
}

// NewTrader makes a trader. The same seed on the same chain does the same things.
func NewTrader(w *world.World, seed uint64) *Trader {
	t := &Trader{
		world: w, rng: rand.New(rand.NewPCG(seed, 7)), habits: habits, outsiders: Outsiders, coins: 1,
		drift: make(map[string]float64), opening: make(map[string]float64), provided: make(map[string]world.Pool), ranges: make(map[string]v4Position),
	}
	if w.EntryPoint != "" {
		t.habits = slices.Concat(habits, newerHabits)
	}
	return t
}

const (
	// driftStep and driftReturn give a token's target a standard deviation of 25 % around its opening
	// price (step/√(2·return)) and a memory of some thousand steps.
	driftStep   = 0.005
	driftReturn = 0.0002
	// nativeCalm makes the native asset an eighth as volatile.
	nativeCalm = 0.125
	// stableCalm keeps a pool of two stables within some tenths of a percent.
	stableCalm = 50
	// largestPart bounds an amount, as a part of the pool's depth: 1.2 % moves the price by 2.4 %.
	largestPart = 0.012
	// balancePart bounds an amount, as a part of the trader's balance.
	balancePart = 0.25
)

// Step submits about n transactions without mining them. A transaction that the node refuses is an
// error; that a mined one is reverted is not expected and shows in its receipt only.
func (t *Trader) Step(ctx context.Context, n int) ([]Truth, error) {
	t.wander()
	intents := make([]*intent, n)
	for i := range intents {
		intents[i] = t.intend()
	}
	m, err := t.look(ctx, intents)
	if err != nil {
		return nil, err
	}
	var transactions []anvil.Transaction
	var truths []Truth
	var last []int // the transaction that a truth is about
	for _, in := range intents {
		sent, told, err := in.act(ctx, t, m, in)
		if err != nil {
			return nil, fmt.Errorf("simnet: %w", err)
		}
		transactions = append(transactions, sent...)
		for _, truth := range told {
			truth.Sender = sent[len(sent)-1].From
			truths, last = append(truths, truth), append(last, len(transactions)-1)
		}
	}
	hashes, err := t.world.Node.Send(ctx, transactions)
	if err != nil {
		return nil, err
	}
	for i := range truths {
		truths[i].TxHash = hashes[last[i]]
	}
	return truths, nil
}

// wander moves the targets one step.
func (t *Trader) wander() {
	for _, token := range t.world.Tokens {
		step := driftStep * t.rng.NormFloat64()
		switch token.Behaviour {
		case world.Stable:
			continue
		case world.Wrapped:
			step *= nativeCalm
		case world.Plain, world.FeeOnTransfer, world.Rebasing, world.Markup, world.Collision, world.Bytes32, world.NoLiquidity, world.Worthless:
		}
		t.drift[token.Address] += step - driftReturn*t.drift[token.Address]
	}
}

// intent is a transaction before its amounts are known.
type intent struct {
	act    action
	trader string
	pool   world.Pool
	second world.Pool  // of a multi-hop or split swap
	token  world.Token // of a transfer
	// accounts are the smart ones of a bundle.
	accounts []string
}

// action turns an intent into transactions of one sender, of which the last is what the truths are
// about; none when there is nothing to do.
type action func(context.Context, *Trader, *market, *intent) ([]anvil.Transaction, []Truth, error)

// habit is how often something happens.
type habit struct {
	weight int
	choose func(*Trader) *intent
}

// habits are of ordinary days.
var habits = []habit{
	{70, (*Trader).intendSwap},
	{8, (*Trader).intendPath},
	{11, (*Trader).intendTransfer},
	{3, func(t *Trader) *intent { return &intent{act: actWrap, pool: t.world.Pools[0]} }},
	{3, func(t *Trader) *intent { return t.intendLiquidity(world.UniswapV2, actLiquidityV2) }},
	{2, func(t *Trader) *intent { return t.intendLiquidity(world.UniswapV3, actLiquidityV3) }},
	{1, func(*Trader) *intent { return &intent{act: actRebase} }},
}

// newerHabits come on top where the contracts are there.
var newerHabits = []habit{
	{5, (*Trader).intendSplit},
	{4, (*Trader).intendBundle},
	{2, func(t *Trader) *intent { return t.intendLiquidity(world.UniswapV4, actLiquidityV4) }},
}

// UsePlatform has traders go through the platform's router, too, where there is one.
func (t *Trader) UsePlatform() {
	if t.world.Routers.Platform == "" {
		return
	}
	t.habits = slices.Concat(t.habits, []habit{{20, (*Trader).intendPlatform}})
}

func (t *Trader) intend() *intent {
	total := 0
	for _, entry := range t.habits {
		total += entry.weight
	}
	at := t.rng.IntN(total)
	for _, entry := range t.habits {
		if at -= entry.weight; at < 0 {
			in := entry.choose(t)
			// Squared, so that some wallets trade much more than others.
			in.trader = t.world.Traders[int(math.Pow(t.rng.Float64(), 2)*float64(len(t.world.Traders)))]
			return in
		}
	}
	panic("unreachable")
}

func (t *Trader) intendSwap() *intent {
	return t.swapOn(t.choosePool(func(world.Pool) bool { return true }))
}

func (t *Trader) intendSwapOn(protocol world.Protocol) *intent {
	return t.swapOn(t.choosePool(func(pool world.Pool) bool { return pool.Protocol == protocol }))
}

func (t *Trader) swapOn(pool world.Pool) *intent {
	act := map[world.Protocol]action{
		world.UniswapV2: actSwapV2, world.UniswapV3: actSwapV3, world.UniswapV4: actSwapV4,
		world.PancakeSwapV3: actSwapPancake, world.Solidly: actSwapDirect, world.Slipstream: actSwapDirect,
	}
	return &intent{act: act[pool.Protocol], pool: pool}
}

// intendPath goes from one token to another through the wrapped native asset.
func (t *Trader) intendPath() *intent {
	protocol, act := world.UniswapV2, action(actPathV2)
	if t.rng.IntN(2) == 0 {
		protocol, act = world.UniswapV3, actPathV3
	}
	through := func(pool world.Pool) bool {
		return pool.Factory == t.world.FactoryOf(protocol) && pool.Has(t.world.Wrapped) && !t.taxed(pool)
	}
	first := t.choosePool(through)
	second := t.choosePool(func(pool world.Pool) bool {
		return through(pool) && pool.Other(t.world.Wrapped) != first.Other(t.world.Wrapped)
	})
	return &intent{act: act, pool: first, second: second}
}

func (t *Trader) intendTransfer() *intent {
	return &intent{act: actTransfer, token: t.world.Tokens[t.rng.IntN(len(t.world.Tokens))]}
}

func (t *Trader) intendLiquidity(protocol world.Protocol, act action) *intent {
	return &intent{act: act, pool: t.choosePool(func(pool world.Pool) bool { return pool.Protocol == protocol && !t.taxed(pool) })}
}

// choosePool takes an ordinary pool, evenly, and the trap of two undeclared tokens now and then.
func (t *Trader) choosePool(fits func(world.Pool) bool) world.Pool {
	pools := slices.DeleteFunc(slices.Clone(t.world.Pools), func(pool world.Pool) bool {
		rare := pool.Trap != "" && t.rng.IntN(4) > 0
		return rare || !fits(pool)
	})
	return pools[t.rng.IntN(len(pools))]
}

// taxed tells whether a pool's token arrives in other amounts than were sent.
func (t *Trader) taxed(pool world.Pool) bool {
	for _, address := range []string{pool.Token0, pool.Token1} {
		if token := t.world.Asset(address); token.Behaviour == world.FeeOnTransfer || token.Behaviour == world.Rebasing {
			return true
		}
	}
	return false
}

// pegged tells whether both sides of a pool are stables.
func (t *Trader) pegged(pool world.Pool) bool {
	token0, token1 := t.world.Asset(pool.Token0), t.world.Asset(pool.Token1)
	return token0.Behaviour == world.Stable && token1.Behaviour == world.Stable
}

// market is what the traders see before they act.
type market struct {
	pools    map[string]world.PoolState // by address or V4 id
	balances map[[2]string]*big.Int
}

// look reads all pools, and the balances that the intents may need, in one batch.
func (t *Trader) look(ctx context.Context, intents []*intent) (*market, error) {
	m := &market{make(map[string]world.PoolState), make(map[[2]string]*big.Int)}
	pools := t.world.Pools
	answers := make([]anvil.HexBytes, 2*len(pools))
	var requests []anvil.Request
	for i, pool := range pools {
		requests = append(requests, world.StateRequests(pool, &answers[2*i], &answers[2*i+1])...)
	}
	balances := make(map[[2]string]*anvil.HexBytes)
	for _, in := range intents {
		for _, holder := range append([]string{in.trader}, in.accounts...) {
			for _, token := range []string{in.pool.Token0, in.pool.Token1, in.token.Address} {
				key := [2]string{holder, token}
				if token == "" || balances[key] != nil {
					continue
				}
				balances[key] = new(anvil.HexBytes)
				if token == anvil.ZeroAddress {
					requests = append(requests, anvil.Request{Method: "eth_getBalance", Params: []any{holder, "latest"}, Result: balances[key]})
				} else {
					requests = append(requests, anvil.View(token, balances[key], "balanceOf(address)", holder))
				}
			}
		}
	}
	if err := t.world.Node.Batch(ctx, requests); err != nil {
		return nil, err
	}
	if err := anvil.FirstError(requests); err != nil {
		return nil, err
	}
	for i, pool := range pools {
		m.pools[pool.Key()] = world.ReadState(pool, answers[2*i], answers[2*i+1])
	}
	for key, answer := range balances {
		m.balances[key] = new(big.Int).SetBytes(*answer)
	}
	return m, nil
}

// target is the price that a pool should have, token1 per token0 in smallest units.
func (t *Trader) target(pool world.Pool, state world.PoolState) float64 {
	token0, token1 := t.world.Asset(pool.Token0), t.world.Asset(pool.Token1)
	ratio := world.Pow10(float64(token1.Decimals-token0.Decimals)) * token0.USD / token1.USD
	if token0.USD == 0 || token1.USD == 0 {
		if t.opening[pool.Key()] == 0 {
			t.opening[pool.Key()] = state.Price()
		}
		ratio = t.opening[pool.Key()]
	}
	return ratio * math.Exp(t.driftOf(pool.Token0)-t.driftOf(pool.Token1))
}

func (t *Trader) driftOf(token string) float64 {
	if token == anvil.ZeroAddress {
		token = t.world.Wrapped
	}
	return t.drift[token]
}

// decide chooses which token a trader gives to a pool and how much. The amount is nil if he has
// neither.
func (t *Trader) decide(m *market, pool world.Pool, trader string) (tokenIn, tokenOut string, amount *big.Int) {
	state := m.pools[pool.Key()]
	if state.Empty() {
		return "", "", nil
	}
	gap := math.Log(t.target(pool, state) / state.Price())
	part := min(largestPart, 0.002*math.Exp(t.rng.NormFloat64()))
	if t.pegged(pool) {
		gap, part = gap*stableCalm, part/stableCalm
	}
	give1 := t.rng.Float64() < 0.5+max(-0.45, min(0.45, 10*gap))
	for range 2 {
		tokenIn, tokenOut, reserve := pool.Token0, pool.Token1, state.Reserve0
		if give1 {
			tokenIn, tokenOut, reserve = pool.Token1, pool.Token0, state.Reserve1
		}
		wish := part * reserve
		have := balancePart * world.Float(m.balances[[2]string{trader, tokenIn}])
		if have > wish/20 {
			amount, _ := big.NewFloat(min(wish, have)).Int(nil)
			m.spend(trader, tokenIn, amount)
			return tokenIn, tokenOut, amount
		}
		give1 = !give1
	}
	return "", "", nil
}

// spend takes an amount off what is known of a balance, for further intents in the same step.
func (m *market) spend(trader, token string, amount *big.Int) {
	key := [2]string{trader, token}
	m.balances[key] = new(big.Int).Sub(m.balances[key], amount)
}
