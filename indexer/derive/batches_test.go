package derive_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// story draws a chain: pools of every kind that come and trade, transfers, deposits, facts, quiet days.
type story struct {
	t         *rapid.T
	chain     *chain
	mentioned map[market.Address]bool
	known     map[market.Address]bool // pools that were created, or told by a fact
	balances  map[market.BalanceKey]market.Amount
	positions []market.RangeLiquidity
	followed  bool
	// flooded counts the pools of floods: pairs and V4 pools in turn.
	flooded int
}

type poolKind struct {
	market.PoolCreated
	// late is a pool that is older than what is read: a fact tells it.
	late bool
}

var kinds = []poolKind{
	{PoolCreated: created(market.UniswapV2, v2, poolD, weth, usdc)},
	{PoolCreated: created(market.UniswapV2, v2, poolA, dog, weth)},
	{PoolCreated: created(market.UniswapV2, v2, poolB, usdc, dog)},
	{PoolCreated: created(market.UniswapV2, v2, poolC, cat, dog)},            // not tracked
	{PoolCreated: created(market.UniswapV2, v2, address(65), poolA, weth)},   // a pair's own token, traded
	{PoolCreated: created(market.UniswapV2, v2, address(66), usdt, usdc)},    // moves a peg
	{PoolCreated: created(market.UniswapV2, carol, address(67), frog, usdc)}, // nobody's factory
	{PoolCreated: created(market.UniswapV3, v3, address(68), dog, weth)},     // V3
	{PoolCreated: created(market.UniswapV3, v3, address(69), usdc, cat)},     // V3, base is token1
	{PoolCreated: created(market.UniswapV3, v3, address(70), weth, usdt)},    // V3, a second price of WETH
	{PoolCreated: created(market.UniswapV2, v2, address(71), cat, usdt), late: true},
	{PoolCreated: created(market.UniswapV3, v3, address(72), cat, weth), late: true},
	{PoolCreated: created(market.UniswapV3, v3, address(75), dog, usdc), late: true},
	{PoolCreated: market.PoolCreated{Protocol: market.UniswapV4, Factory: v4, Pool: poolID(1), Token0: market.Native, Token1: dog, SqrtPriceX96: sqrtPrice(0), TickSpacing: 60}},
	{PoolCreated: market.PoolCreated{Protocol: market.UniswapV4, Factory: v4, Pool: poolID(2), Token0: market.Native, Token1: usdc, Hooks: badHook, SqrtPriceX96: sqrtPrice(0)}},
	{PoolCreated: market.PoolCreated{Protocol: market.Solidly, Factory: solidly, Pool: address(73), Token0: usdt, Token1: usdc, Stable: true}},
	{PoolCreated: created(market.Slipstream, slipstream, address(74), frog, weth)}, // priced before it is announced
	{PoolCreated: seen(market.PumpSwap, pumpSwap, address(76), dog, weth)},         // told by each trade, with virtual reserves
	{PoolCreated: seen(market.MeteoraDAMMv2, damm, address(77), usdc, cat)},        // told by each trade, with its price
}

// seen is what a trade tells of its pool.
func seen(protocol market.Protocol, factory, pool, token0, token1 market.Address) market.PoolCreated {
	c := created(protocol, factory, pool, token0, token1)
	c.Seen = true
	return c
}

// synced draws a pool's reserves, and sometimes what is virtual of them, or a change of them.
func (s *story) synced(k *poolKind) market.Event {
	if rapid.IntRange(0, 4).Draw(s.t, "a change") == 0 {
		e := market.ReservesMoved{Pool: k.Pool, Change0: in(s.amount("change0")), Change1: in(s.amount("change1"))}
		if rapid.Bool().Draw(s.t, "taken out") {
			e.Change0 = e.Change0.Negate()
		}
		return e
	}
	e := market.Reserves{Pool: k.Pool, Reserve0: s.amount("reserve0"), Reserve1: s.amount("reserve1")}
	if k.Protocol == market.PumpSwap {
		e.TellsVirtual = rapid.Bool().Draw(s.t, "with what is virtual")
		if e.Virtual1 = in(s.amount("virtual")); rapid.Bool().Draw(s.t, "below zero") {
			e.Virtual1 = e.Virtual1.Negate()
		}
	}
	return e
}

// sqrtPrice is the X96 square root price of a multiple of 600 ticks, near enough.
func sqrtPrice(tick int32) market.Amount {
	// 1.0001^300 is 1.03044.
	v := new(market.Amount).Lsh(new(raw(1)), 96)
	for range max(tick, -tick) / 600 {
		if tick > 0 {
			v.Mul(v, new(raw(103044)))
			v.Div(v, new(raw(100000)))
		} else {
			v.Mul(v, new(raw(100000)))
			v.Div(v, new(raw(103044)))
		}
	}
	return *v
}

var accounts = []market.Address{alice, bob, carol, router, poolA, poolB, v4, nobody, ownCurve, secondCurve, collector}

// everyAccount lists the accounts of a story.
func everyAccount() []market.Address { return accounts }

func (s *story) mention(b *market.Block, tokens ...market.Address) {
	for _, token := range tokens {
		if token.IsNative() {
			token = weth
		}
		if s.mentioned[token] {
			continue
		}
		s.mentioned[token] = true
		f, _ := fact(token).(market.TokenFact)
		f.FromCreation = rapid.IntRange(0, 3).Draw(s.t, "from creation") > 0
		f.HasDecimals = rapid.IntRange(0, 9).Draw(s.t, "decimals") > 0
		f.HasSupply = rapid.Bool().Draw(s.t, "supply")
		f.Supply = raw(1_000_000)
		b.Facts = append(b.Facts, f)
	}
}

func (s *story) amount(label string) market.Amount {
	return units(uint64(rapid.IntRange(0, 5000).Draw(s.t, label)), rapid.SampledFrom([]uint8{0, 6, 12, 18}).Draw(s.t, label+" unit"))
}

func (s *story) account(label string) market.Address {
	return rapid.SampledFrom(accounts).Draw(s.t, label)
}

var (
	launchable = []market.Address{pup, kit, frog, dog}
	venues     = []string{"pad", "other", ""}
	holders    = []market.Address{pad, otherPad, ownCurve, secondCurve, carol}
)

// launch announces a token, with a curve or as a live pool; now and then one that was launched or traded before.
func (s *story) launch(b *market.Block, tx *market.Tx) {
	token := rapid.SampledFrom(launchable).Draw(s.t, "launched")
	e := market.Launched{
		Venue: rapid.SampledFrom(venues[:2]).Draw(s.t, "venue"), Token: token, Creator: s.account("creator"), Name: "n",
	}
	if rapid.IntRange(0, 3).Draw(s.t, "live") > 0 {
		e.Curve = rapid.SampledFrom(holders[:4]).Draw(s.t, "curve")
		e.Rules = market.CurveRules{
			Pricing: rapid.SampledFrom([]market.CurvePricing{market.PriceReserves, market.PricePosted, market.PriceExecuted}).Draw(s.t, "pricing"),
			Basis:   rapid.SampledFrom([]market.ProgressBasis{market.TokensSold, market.FundsRaised, ""}).Draw(s.t, "basis"),
			FillsUp: rapid.Bool().Draw(s.t, "fills up"),
		}
		e.Quote = rapid.SampledFrom([]market.Address{{}, market.Native, usdc, frog}).Draw(s.t, "quote")
		e.SaleBase, e.TargetQuote = s.amount("sale"), s.amount("target")
		e.Reserves, e.Tells = s.reserves()
		if e.Quote.IsNone() && rapid.Bool().Draw(s.t, "quote answered") {
			b.Facts = append(b.Facts, market.CurveFact{
				CurveKey: market.CurveKey{Curve: e.Curve, Token: token}, Known: true,
				Quote: rapid.SampledFrom([]market.Address{market.Native, usdt, cat}).Draw(s.t, "answer"),
			})
		}
	} else {
		k := &kinds[rapid.IntRange(0, len(kinds)-1).Draw(s.t, "pool")]
		if rapid.Bool().Draw(s.t, "with its pool") {
			s.begin(b, tx, k)
		}
		e.Pool, e.Hooks = k.Pool, k.Hooks
		if rapid.Bool().Draw(s.t, "pool not named") {
			e.Pool = market.Address{}
		}
	}
	s.mention(b, token)
	if rapid.Bool().Draw(s.t, "minted before the log") {
		s.transfer(b, tx, token, nobody, pad, s.amount("minted"))
	}
	s.add(tx, e)
}

func (s *story) reserves() (market.CurveReserves, market.CurveField) {
	return market.CurveReserves{
		VirtualBase: s.amount("virtual base"), VirtualQuote: s.amount("virtual quote"), RealBase: s.amount("real base"),
		RealQuote: s.amount("real quote"), Price: s.amount("price"),
	}, market.CurveField(rapid.IntRange(0, 15).Draw(s.t, "tells"))
}

// curve adds what a curve logs, true or not.
func (s *story) curve(b *market.Block, tx *market.Tx) {
	token := rapid.SampledFrom(launchable).Draw(s.t, "launched")
	venue := rapid.SampledFrom(venues).Draw(s.t, "venue")
	contract := rapid.SampledFrom(holders).Draw(s.t, "curve")
	switch rapid.IntRange(0, 6).Draw(s.t, "logged") {
	case 0:
		e := market.CurveSet{
			Venue: venue, Curve: contract, Token: token, Quote: rapid.SampledFrom([]market.Address{{}, market.Native, usdt, frog}).Draw(s.t, "quote"),
			SaleBase: s.amount("sale"), TargetQuote: s.amount("target"),
		}
		e.State, e.Tells = s.reserves()
		s.add(tx, e)
	case 1:
		s.add(tx, market.CurveCompleted{Venue: venue, Curve: contract, Token: token})
	case 2:
		e := market.Graduated{Venue: venue, Curve: contract, Token: token}
		k := &kinds[rapid.IntRange(0, len(kinds)-1).Draw(s.t, "pool")]
		if rapid.Bool().Draw(s.t, "with its pool") {
			s.begin(b, tx, k)
		}
		if rapid.Bool().Draw(s.t, "pool named") {
			e.Pool = k.Pool
		}
		s.add(tx, e)
	default:
		e := market.CurveTrade{
			Venue: venue, Curve: contract, Token: token, Trader: s.account("trader"), Sell: rapid.Bool().Draw(s.t, "sell"),
			BaseAmount: s.amount("base"), QuoteAmount: s.amount("quote"), Raised: s.amount("raised"),
			Buyback: rapid.IntRange(0, 9).Draw(s.t, "buyback") == 0,
		}
		e.After, e.Tells = s.reserves()
		if rapid.Bool().Draw(s.t, "paid in a token") {
			s.transfer(b, tx, rapid.SampledFrom([]market.Address{usdc, cat}).Draw(s.t, "paid"), e.Trader, contract, e.QuoteAmount)
		}
		if rapid.Bool().Draw(s.t, "delivered") {
			s.transfer(b, tx, token, contract, e.Trader, e.BaseAmount)
		}
		s.add(tx, e)
	}
}

// begin makes a pool known, by its factory's event or by a fact.
func (s *story) begin(b *market.Block, tx *market.Tx, k *poolKind) {
	if s.known[k.Pool] {
		return
	}
	s.known[k.Pool] = true
	if k.late {
		b.Facts = append(b.Facts, market.PoolFact{Pool: k.Pool, Known: true, Info: k.PoolCreated})
	} else {
		if k.Protocol == market.Slipstream {
			s.add(tx, market.PoolPriced{Pool: k.Pool, SqrtPriceX96: sqrtPrice(-600), Tick: -600})
		}
		s.add(tx, k.PoolCreated)
	}
	s.mention(b, k.Token0, k.Token1)
}

// flood makes many pools of one token, more than can be listed, with something in most of them.
func (s *story) flood(b *market.Block, tx *market.Tx) {
	s.mention(b, dog, usdc)
	base := rapid.SampledFrom([]market.Address{dog, weth}).Draw(s.t, "flooded token")
	s.mention(b, base)
	for range rapid.SampledFrom([]int{3, 33, 70}).Draw(s.t, "flood") {
		n := s.flooded
		s.flooded++
		if n%2 == 0 {
			s.add(tx, pair(crowd(n), base, usdc))
		} else {
			hook := []market.Address{{}, goodHook, badHook}[n%3]
			s.add(tx, market.PoolCreated{
				Protocol: market.UniswapV4, Factory: v4, Pool: idOf(n), Token0: base, Token1: usdc, Hooks: hook, SqrtPriceX96: sqrtPrice(0), TickSpacing: 60,
			})
		}
		if n%5 > 0 {
			s.fill(tx, n, uint64(1+n*7%13))
		}
	}
}

// stir changes some of a flood's pools.
func (s *story) stir(tx *market.Tx) {
	if s.flooded == 0 {
		return
	}
	for range rapid.IntRange(1, 4).Draw(s.t, "stirred") {
		s.fill(tx, rapid.IntRange(0, s.flooded-1).Draw(s.t, "stirred pool"), uint64(rapid.IntRange(0, 20).Draw(s.t, "filled")))
	}
}

func (s *story) fill(tx *market.Tx, n int, amount uint64) {
	if n%2 == 0 {
		s.add(tx, synced(crowd(n), e18(amount), e6(1000*amount)))
	} else {
		s.add(tx, positioned(idOf(n), -600, 600, units(amount, 15)))
	}
}

func (s *story) add(tx *market.Tx, e market.Event) {
	tx.Logs = append(tx.Logs, market.Log{Event: e})
}

func (s *story) trade(b *market.Block, tx *market.Tx, k *poolKind) {
	switch {
	case k.Seen && s.known[k.Pool]:
		s.add(tx, k.PoolCreated)
	case k.Seen || !s.known[k.Pool] && rapid.Bool().Draw(s.t, "known first"):
		s.begin(b, tx, k)
	}
	a0, a1 := in(s.amount("amount0")), out(s.amount("amount1"))
	if rapid.Bool().Draw(s.t, "the other way") {
		a0, a1 = a0.Negate(), a1.Negate()
	}
	trader := s.account("trader")
	for i, token := range []market.Address{k.Token0, k.Token1} {
		if a := []market.SignedAmount{a0, a1}[i]; rapid.Bool().Draw(s.t, "with its transfer") && !token.IsNative() {
			from, to := trader, k.Pool
			if a.Neg {
				from, to = to, from
			}
			s.transfer(b, tx, token, from, to, a.Abs)
		}
	}
	e := market.Swap{Pool: k.Pool, Sender: router, Recipient: trader, Amount0: a0, Amount1: a1}
	if k.Protocol.Concentrated() {
		e.Tick = int32(rapid.IntRange(-5, 5).Draw(s.t, "tick")) * 600
		e.SqrtPriceX96, e.Liquidity = sqrtPrice(e.Tick), s.amount("liquidity")
	} else if rapid.IntRange(0, 4).Draw(s.t, "synced") > 0 {
		s.add(tx, s.synced(k))
	}
	if k.Protocol == market.MeteoraDAMMv2 {
		e.SqrtPriceX96 = sqrtPrice(int32(rapid.IntRange(-5, 5).Draw(s.t, "told price")) * 600)
		e.Crossed = s.amount("crossed")
	}
	s.add(tx, e)
}

func (s *story) liquidity(tx *market.Tx, k *poolKind) {
	if !k.Protocol.Concentrated() {
		s.add(tx, s.synced(k))
		if k.Protocol == market.MeteoraDAMMv2 {
			s.add(tx, market.RangeLiquidity{Pool: k.Pool, Delta: market.SignedAmount{Abs: s.amount("liquidity"), Neg: rapid.Bool().Draw(s.t, "taken")}})
		}
		s.add(tx, market.PairLiquidity{Pool: k.Pool})
		return
	}
	if n := len(s.positions); n > 0 && rapid.Bool().Draw(s.t, "burn") {
		p := s.positions[rapid.IntRange(0, n-1).Draw(s.t, "position")]
		p.Delta = p.Delta.Negate()
		s.add(tx, p)
		return
	}
	lower := int32(rapid.IntRange(-6, 5).Draw(s.t, "lower"))
	p := market.RangeLiquidity{
		Pool: k.Pool, TickLower: lower * 600, TickUpper: (lower + int32(rapid.IntRange(1, 6).Draw(s.t, "width"))) * 600,
		Delta: in(e18(uint64(rapid.IntRange(1, 1000).Draw(s.t, "delta")))),
	}
	s.positions = append(s.positions, p)
	s.add(tx, p)
}

// transfer moves what is there, and sometimes more.
func (s *story) transfer(b *market.Block, tx *market.Tx, token, from, to market.Address, amount market.Amount) {
	fromKey, toKey := market.BalanceKey{Token: token, Account: from}, market.BalanceKey{Token: token, Account: to}
	if have := s.balances[fromKey]; have.Lt(&amount) && !from.IsNone() {
		if rapid.IntRange(0, 19).Draw(s.t, "out of nothing") > 0 {
			s.transfer(b, tx, token, nobody, from, amount)
		}
	}
	if s.followed {
		s.mention(b, token)
	}
	have := s.balances[fromKey]
	s.balances[fromKey] = *have.Sub(&have, &amount)
	have = s.balances[toKey]
	s.balances[toKey] = *have.Add(&have, &amount)
	s.add(tx, moved(token, from, to, amount))
}

func (s *story) wrap(b *market.Block, tx *market.Tx) {
	account := rapid.SampledFrom([]market.Address{alice, router}).Draw(s.t, "wrapper")
	amount := s.amount("wrapped")
	unwrap := rapid.Bool().Draw(s.t, "unwrap")
	k := market.BalanceKey{Token: weth, Account: account}
	have := s.balances[k]
	if unwrap && have.Lt(&amount) {
		unwrap = false
	}
	if s.followed {
		s.mention(b, weth)
	}
	from, to := nobody, account
	if unwrap {
		from, to = to, from
		s.balances[k] = *have.Sub(&have, &amount)
		s.add(tx, unwrapped(account, amount))
	} else {
		s.balances[k] = *have.Add(&have, &amount)
		s.add(tx, wrapped(account, amount))
	}
	if rapid.IntRange(0, 2).Draw(s.t, "logged as a transfer too") == 0 {
		s.add(tx, moved(weth, from, to, amount))
	}
}

func (s *story) event(b *market.Block, tx *market.Tx) {
	k := &kinds[rapid.IntRange(0, len(kinds)-1).Draw(s.t, "pool")]
	switch rapid.SampledFrom([]string{"begin", "trade", "trade", "trade", "liquidity", "liquidity", "transfer", "wrap", "priced", "launch", "curve", "curve", "flood", "stir", "fee"}).Draw(s.t, "event") {
	case "begin":
		s.begin(b, tx, k)
	case "trade":
		s.trade(b, tx, k)
	case "liquidity":
		s.liquidity(tx, k)
	case "transfer":
		token := rapid.SampledFrom([]market.Address{dog, cat, frog, weth, poolA, pup, kit}).Draw(s.t, "token")
		s.transfer(b, tx, token, s.account("from"), s.account("to"), s.amount("moved"))
	case "wrap":
		s.wrap(b, tx)
	case "launch":
		s.launch(b, tx)
	case "flood":
		s.flood(b, tx)
	case "stir":
		s.stir(tx)
	case "fee":
		s.fee(b, tx)
	case "curve":
		s.curve(b, tx)
	case "priced":
		if k.Protocol == market.UniswapV3 || k.Protocol == market.Slipstream {
			s.add(tx, market.PoolPriced{Pool: k.Pool, SqrtPriceX96: sqrtPrice(600), Tick: 600})
		}
	}
}

// fee pays something to a recipient of the platform's fee, or has a router say so.
func (s *story) fee(b *market.Block, tx *market.Tx) {
	payer, amount := s.account("payer"), s.amount("fee")
	asset := rapid.SampledFrom([]market.Address{usdc, weth, market.Native, dog, cat}).Draw(s.t, "asset")
	if !asset.IsNative() && rapid.IntRange(0, 3).Draw(s.t, "sent") > 0 {
		s.transfer(b, tx, asset, rapid.SampledFrom([]market.Address{payer, router}).Draw(s.t, "sender"), collector, amount)
	}
	if rapid.Bool().Draw(s.t, "said") {
		s.add(tx, feePaid(payer, asset, amount))
	}
}

func (s *story) endFacts(b *market.Block) {
	token := rapid.SampledFrom([]market.Address{dog, cat, weth}).Draw(s.t, "sampled")
	account := rapid.SampledFrom([]market.Address{alice, bob, router}).Draw(s.t, "sampled account")
	for i := range b.Txs {
		if rapid.IntRange(0, 3).Draw(s.t, "gas told") == 0 {
			b.Facts = append(b.Facts, market.GasFact{GasKey: market.GasKey{Wallet: account, Tx: b.Txs[i].ID}, Known: rapid.Bool().Draw(s.t, "gas known"), Amount: s.amount("gas")})
		}
	}
	switch rapid.IntRange(0, 14).Draw(s.t, "fact") {
	case 0:
		b.Facts = append(b.Facts, market.SupplyFact{Token: token, Supply: s.amount("supply")})
	case 1:
		b.Facts = append(b.Facts, market.BalanceFact{
			Token: token, Account: account, Amount: s.balances[market.BalanceKey{Token: token, Account: account}],
		})
	case 13, 14:
		b.Facts = append(b.Facts, market.HeldFact{PositionKey: market.PositionKey{Wallet: account, Token: token}, Known: rapid.Bool().Draw(s.t, "held known"), Amount: s.amount("held")})
	case 2, 3, 4:
		liquidity := s.amount("liquidity of then")
		state := market.PoolStateFact{
			Pool: rapid.SampledFrom([]market.Address{address(72), address(75)}).Draw(s.t, "state of"), SqrtPriceX96: sqrtPrice(600), Tick: 600,
			Liquidity: liquidity, Ticks: string(market.TickMap{}.AddRange(-3000, 3000, in(liquidity)).Marshal()),
		}
		if rapid.Bool().Draw(s.t, "a window of its ticks") {
			state.Window = market.TickWindow{Lower: -600 * rapid.Int32Range(0, 2).Draw(s.t, "window below"), Upper: 600 * rapid.Int32Range(2, 4).Draw(s.t, "window above")}
			state.Ticks = string(market.TickMap{}.AddRange(state.Window.Lower, state.Window.Upper, in(liquidity)).Marshal())
		}
		b.Facts = append(b.Facts, state)
	}
}

// watch begins to watch a wallet, or gives one to another member.
func (s *story) watch(b *market.Block) {
	if len(b.Txs) == 0 || rapid.IntRange(0, 3).Draw(s.t, "a wallet joins") > 0 {
		return
	}
	b.Facts = append(b.Facts, market.WatchFact{WatchedWallet: market.WatchedWallet{
		Wallet: rapid.SampledFrom([]market.Address{alice, bob, carol}).Draw(s.t, "wallet"), Member: rapid.Int64Range(1, 2).Draw(s.t, "member"),
		Change: int64(b.Number), Since: b.Time + rapid.SampledFrom([]int64{-100_000, -60, 0, 60}).Draw(s.t, "since"),
	}})
}

// past tells what a wallet did before the chain's first block here.
func (s *story) past(b *market.Block) {
	if len(b.Txs) == 0 || rapid.IntRange(0, 3).Draw(s.t, "a past is read") > 0 {
		return
	}
	f := market.PastFact{Wallet: rapid.SampledFrom([]market.Address{alice, bob, carol}).Draw(s.t, "past of"), Before: 50}
	for i := range rapid.IntRange(0, 4).Draw(s.t, "past entries") {
		e := market.Entry{
			Wallet: f.Wallet, Block: uint64(10 + i/2), Seq: market.PastSeq + uint32(i%2), Time: genesis.Time - 1000 + int64(i/2), Tx: market.EVMTx([32]byte{3, byte(i / 2)}),
			Token: rapid.SampledFrom([]market.Address{dog, cat}).Draw(s.t, "past token"), Amount: s.amount("past amount"),
			Kind: rapid.SampledFrom([]market.EntryKind{market.Bought, market.Bought, market.Sold, market.CameIn, market.WentOut}).Draw(s.t, "past kind"),
		}
		if e.Kind == market.Bought || e.Kind == market.Sold {
			e.NanoUSD, e.HasUSD = rapid.Int64Range(0, 1e12).Draw(s.t, "past value"), rapid.IntRange(0, 3).Draw(s.t, "past valued") > 0
		}
		f.Entries = append(f.Entries, e)
	}
	b.Facts = append(b.Facts, f)
}

// write draws the whole chain, quiet blocks included.
func (s *story) write() {
	steps := []int64{0, 1, 12, 12, 12, 45, 61, 3600, 40_000, 90_000, 200_000}
	for range rapid.IntRange(1, 25).Draw(s.t, "blocks") {
		seconds := rapid.SampledFrom(steps).Draw(s.t, "seconds")
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 4, 12}).Draw(s.t, "quiet blocks") {
			s.chain.block(1, nil)
		}
		b := s.chain.block(seconds, nil)
		index := uint64(0)
		for i := range rapid.IntRange(0, 3).Draw(s.t, "transactions") {
			tx := market.Tx{ID: market.EVMTx([32]byte{2, byte(b.Number >> 8), byte(b.Number), byte(i)})}
			for range rapid.IntRange(1, 3).Draw(s.t, "events") {
				s.event(&b, &tx)
			}
			for k := range tx.Logs {
				tx.Logs[k].Index = index
				index++
			}
			if len(tx.Logs) > 0 {
				b.Txs = append(b.Txs, tx)
			}
		}
		s.endFacts(&b)
		s.watch(&b)
		s.past(&b)
		s.chain.blocks[len(s.chain.blocks)-1] = b
	}
}

func drawStory(t *rapid.T) ([]market.Block, *chainconfig.Chain) {
	s := &story{
		t: t, chain: newChain(), mentioned: map[market.Address]bool{}, known: map[market.Address]bool{},
		balances: map[market.BalanceKey]market.Amount{}, followed: rapid.Bool().Draw(t, "all holders"),
	}
	c := config(func(c *chainconfig.Chain) {
		if s.followed {
			c.Tracking.Holders = chainconfig.HoldersAll
		} else if rapid.Bool().Draw(t, "major") {
			c.Majors = []chainconfig.Major{{Asset: "ETH", Address: weth}}
		}
		if rapid.Bool().Draw(t, "minimum liquidity") {
			c.Tracking.MinLiquidityUSD = 100
		}
		withFee(c)
		ofSolana(c)
		c.Tracking.CountedLiquidityUSD = rapid.SampledFrom([]float64{1, 5_000}).Draw(t, "counted liquidity")
	})
	s.write()
	s.pay()
	return s.chain.blocks, c
}

// batched applies blocks in batches of the given lengths (the last one repeats). Blocks without events are left out of
// batches of more than one, as a source of the past does.
func batched(t fataler, x *indexer, blocks []market.Block, lengths func() int, restart bool) {
	t.Helper()
	for len(blocks) > 0 {
		n := min(max(lengths(), 1), len(blocks))
		batch := blocks[:n]
		blocks = blocks[n:]
		until := batch[n-1].Header
		var withEvents []market.Block
		for i := range batch {
			if n == 1 || len(batch[i].Txs) > 0 || len(batch[i].Facts) > 0 || batch[i].HasPayments {
				withEvents = append(withEvents, batch[i])
			}
		}
		x.apply(t, withEvents, until)
		if restart {
			x.restart(until)
		}
	}
}

// TestBatchesDoNotMatter: the same chain gives the same rows, however it is cut into batches, however small the cache
// is, and however often the program starts again.
func TestBatchesDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		blocks, c := drawStory(t)
		whole := newIndexer(t, c, 100_000)
		batched(t, whole, blocks, func() int { return len(blocks) }, false)
		some := func() int { return rapid.IntRange(1, 9).Draw(t, "batch") }
		one := func() int { return 1 }
		for _, variant := range []struct {
			name    string
			limit   int
			lengths func() int
			restart bool
		}{
			{"block by block", 100_000, one, false},
			{"block by block with 10 rows", 10, one, false},
			{"block by block with no rows", 0, one, false},
			{"block by block, restarting", 100_000, one, true},
			{"in some batches", 100_000, some, false},
			{"in some batches with 10 rows", 10, some, false},
			{"in some batches, restarting", 10, some, true},
		} {
			x := newIndexer(t, c, variant.limit)
			batched(t, x, blocks, variant.lengths, variant.restart)
			if d := whole.db.differences(x.db); len(d) > 0 {
				t.Fatalf("all at once and %s give other rows:\n%s", variant.name, strings.Join(d, "\n"))
			}
		}
	})
}
