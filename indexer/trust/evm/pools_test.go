package evm_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	report "github.com/boardwalkhq/boardwalk/internal/trust"
)

// TestEveryPoolOfTheWorld trades in each honest pool that the exchanges' real contracts have: all protocols, the native coin and
// tokens of 6, 8 and 18 decimals on the other side.
func TestEveryPoolOfTheWorld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := map[market.Protocol]int{}
	for i := range w.Pools {
		p := &w.Pools[i]
		if p.Trap != "" && p.Trap != world.TrapHook {
			continue
		}
		base := p.Token0
		if base == w.Wrapped || base == w.StableUSDC6 || base == w.StableUSD18 || base == zero {
			base = p.Token1
		}
		if base == w.StableUSDC6 || base == w.StableUSD18 || base == w.Wrapped {
			continue
		}
		token, _ := w.Token(base)
		if token.Behaviour == world.FeeOnTransfer || token.Behaviour == world.Rebasing {
			continue
		}
		pool := w.poolOf(t, p, base)
		k := w.known(t, address(t, base), pool)
		k.First = nil
		r := w.check(t, k)
		seen[pool.Protocol]++
		for _, id := range []string{report.HoneypotSell, report.BuyTax, report.SellTax, report.TransferTax} {
			if c := r.Find(id); c.Result != report.Pass {
				t.Errorf("%s in a %s pool of %s and %s: %s is %s (%s): %s", token.Symbol, p.Protocol, p.Token0, p.Token1, id, c.Result,
					c.UnknownReason, details(r, id))
			}
		}
	}
	for _, protocol := range []market.Protocol{market.UniswapV2, market.UniswapV3, market.UniswapV4, market.PancakeSwapV3, market.Solidly, market.Slipstream} {
		if seen[protocol] == 0 {
			t.Errorf("no pool of %s was traded in", protocol)
		}
	}
}

// TestWorldsTax: of the world's token with a fee on every transfer, 3 % is lost at each step.
func TestWorldsTax(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.TokensLike(world.FeeOnTransfer)[0].Address
	i := slices.IndexFunc(w.Pools, func(p world.Pool) bool { return p.Token0 == token || p.Token1 == token })
	k := w.known(t, address(t, token), w.poolOf(t, &w.Pools[i], token))
	r := w.check(t, k)
	for _, id := range []string{report.BuyTax, report.SellTax, report.TransferTax} {
		value(t, r, id, 3, report.Critical)
	}
	if c := r.Find(report.HoneypotSell); c.Result != report.Pass {
		t.Errorf("%+v", c)
	}
}

// TestWhitelist: the sale of one sender goes through and that of the other doesn't.
func TestWhitelist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, pool := w.listed(t, "Whitelist")
	cfg := w.config()
	for name, test := range map[string]struct {
		senders [2]byte
		want    report.Result
	}{
		"one of both": {[2]byte{0x90, 0xf0}, report.Fail}, "the other": {[2]byte{0xf0, 0x90}, report.Fail},
		"neither": {[2]byte{0xf0, 0xf1}, report.Fail}, "both": {[2]byte{0x90, 0x91}, report.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Each sender's peer stands between them.
			random := slices.Concat(bytes.Repeat(test.senders[:1], 20), bytes.Repeat([]byte{0xaa}, 20), bytes.Repeat(test.senders[1:], 20), bytes.Repeat([]byte{0xbb}, 20))
			c, _ := w.checkerBy(t, cfg, w.source(t, cfg), bytes.NewReader(random), trust.Options{}, w.known(t, token, pool))
			r, err := c.Check(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Find(report.HoneypotSell); got.Result != test.want {
				t.Errorf("%+v", got)
			}
			d := details(r, report.HoneypotSell)
			if name == "one of both" && (!strings.Contains(d, "sender 1, small trade: bought, transferred and sold") ||
				!strings.Contains(d, `sender 2, small trade: bought, the sale was refused with "not on the list"`)) {
				t.Errorf("the evidence lacks one of both: %s", d)
			}
		})
	}
}

// TestLiquidity: shares that somebody has can be taken out.
func TestLiquidity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	locker := address(t, "0x00000000000000000000000000000000000000c1")
	for name, test := range map[string]struct {
		shares market.Address
		burn   uint64 // percent of them, sent on
		want   report.Result
		value  float64
	}{
		"all burned":          {burned, 0, report.Pass, 100},
		"all with a locker":   {locker, 0, report.Pass, 100},
		"all with the maker":  {address(t, w.Deployer), 0, report.Fail, 0},
		"four fifths burned":  {address(t, w.Deployer), 80, report.Warn, 80},
		"two fifths burned":   {address(t, w.Deployer), 40, report.Fail, 40},
		"nearly all burned":   {address(t, w.Deployer), 98, report.Pass, 98},
		"all at another name": {address(t, w.Spare[2]), 0, report.Fail, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := w.deploy(t, "Clean")
			pool := w.pair(t, token, test.shares)
			if test.burn > 0 {
				has := new(market.Amount).SetBytes(w.call(t, pool.ID, "balanceOf(address)", probe.Address(test.shares)))
				has.Div(has.Mul(has, new(market.Amount).SetUint64(test.burn)), new(market.Amount).SetUint64(100))
				word := has.Bytes32()
				w.send(t, map[string]string{"to": pool.ID.String(), "data": calldata("transfer(address,uint256)", probe.Address(burned), word[:])})
			}
			cfg := w.config()
			cfg.Trust.Lockers = markettest.Addresses(locker.String())
			c, _ := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{}, w.known(t, token, pool))
			r, err := c.Check(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, r, want{report.LPBurnedLocked: test.want})
			value(t, r, report.LPBurnedLocked, test.value, report.High)
		})
	}
}

// TestLockersOfTheDocument: which contracts are lockers is said of each chain, in its document.
func TestLockersOfTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	locker := address(t, "0x00000000000000000000000000000000000000c1")
	cfg := w.config()
	if err := json.Unmarshal([]byte(`{"trust":{"lockers":["`+locker.String()+`"]}}`), cfg); err != nil {
		t.Fatal(err)
	}
	token := w.deploy(t, "Clean")
	pool := w.pair(t, token, locker)
	c, _ := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{}, w.known(t, token, pool))
	r, err := c.Check(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, want{report.LPBurnedLocked: report.Pass})
}

// approve lets a router take what the deployer has of a token.
func approve(token, router string) map[string]string {
	return map[string]string{"to": token, "data": calldata("approve(address,uint256)", probe.Address(mustAddress(router)), bytes.Repeat([]byte{0xff}, 32))}
}

func mustAddress(text string) market.Address {
	a, err := market.ParseEVMAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}

// atPrice is a square root price (Q64.96) at which one wrapped coin is worth 2^20 tokens; the tick of it is 138,629 in size.
func atPrice(tokenIs0 bool) []byte {
	var v market.Amount
	v.SetUint64(1)
	if tokenIs0 {
		v.Lsh(&v, 96-10)
	} else {
		v.Lsh(&v, 96+10)
	}
	word := v.Bytes32()
	return word[:]
}

// fullRange opens a Uniswap V3 or Slipstream pool or, with protocol V4, one of the native coin, with the deployer's liquidity over all prices.
func (w *testWorld) fullRange(t *testing.T, protocol market.Protocol, token market.Address) market.Pool {
	t.Helper()
	const fee, spacing, most = 3000, 60, maxTick / 60 * 60
	wrapped := address(t, w.Wrapped)
	quote := wrapped
	if protocol == market.UniswapV4 {
		quote = market.Native
	}
	low, high := token, quote
	tokenIs0 := low.Compare(high) < 0
	if !tokenIs0 {
		low, high = high, low
	}
	if protocol == market.UniswapV4 {
		key := [][]byte{probe.Address(low), probe.Address(high), probe.Uint(fee), probe.Int(spacing), probe.Address(market.Native)}
		const keyType = "(address,address,uint24,int24,address)"
		w.send(t, approve(token.String(), w.Routers.UniswapV4),
			map[string]string{"to": w.UniswapV4PoolManager, "data": calldata("initialize("+keyType+",uint160)", append(slices.Clone(key), atPrice(tokenIs0))...)},
			map[string]string{
				"to": w.Routers.UniswapV4, "value": "0x8ac7230489e80000", // ten coins, of which some come back
				"data": calldata("modifyLiquidity("+keyType+",int24,int24,int256)", append(slices.Clone(key), probe.Int(-most), probe.Int(most), tokens(5000))...),
			})
		id := market.PoolID([32]byte(w.hashOf(t, bytes.Join(key, nil))))
		p := w.pool(t, protocol, address(t, w.UniswapV4PoolManager), id, token, quote)
		p.FeePips, p.TickSpacing = fee, spacing
		return p
	}
	if protocol == market.Slipstream {
		return w.fullRangeOfSlipstream(t, token, low, high)
	}
	words := append(append([][]byte{}, probe.Address(low), probe.Address(high), probe.Uint(fee), probe.Int(-most), probe.Int(most)), amounts(tokenIs0)...)
	words = append(words, tokens(0), tokens(0), probe.Address(address(t, w.Deployer)), tokens(1))
	w.send(t, approve(token.String(), w.Routers.V3Positions),
		map[string]string{"to": w.Routers.V3Positions, "data": calldata("createAndInitializePoolIfNecessary(address,address,uint24,uint160)",
			probe.Address(low), probe.Address(high), probe.Uint(fee), atPrice(tokenIs0))},
		map[string]string{"to": w.Routers.V3Positions, "data": calldata(
			"mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))", words...)})
	factory := address(t, w.UniswapV3Factory)
	id := market.EVMAddress([32]byte(w.call(t, factory, "getPool(address,address,uint24)", probe.Address(low), probe.Address(high), probe.Uint(fee))))
	p := w.pool(t, protocol, factory, id, token, wrapped)
	p.FeePips, p.TickSpacing = fee, spacing
	return p
}

func (w *testWorld) fullRangeOfSlipstream(t *testing.T, token, low, high market.Address) market.Pool {
	t.Helper()
	const spacing, most = 200, maxTick / 200 * 200
	factory, router := address(t, w.Slipstream[0].Factory), w.Slipstream[0].Router
	pair := [][]byte{probe.Address(low), probe.Address(high), probe.Int(spacing)}
	w.send(t, approve(token.String(), router),
		map[string]string{"to": factory.String(), "data": calldata("createPool(address,address,int24,uint160)",
			append(slices.Clone(pair), atPrice(token == low))...)},
		map[string]string{"to": router, "data": calldata("mint(address,address,int24,int24,int24,uint128)",
			append(slices.Clone(pair), probe.Int(-most), probe.Int(most), tokens(5000))...)})
	id := market.EVMAddress([32]byte(w.call(t, factory, "getPool(address,address,int24)", pair...)))
	p := w.pool(t, market.Slipstream, factory, id, token, address(t, w.Wrapped))
	p.TickSpacing = spacing
	return p
}

// TestSlipstreamLiquidity: a position that a locker holds itself is found in the pool.
func TestSlipstreamLiquidity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.deploy(t, "Clean")
	pool := w.fullRange(t, market.Slipstream, token)
	cfg := w.config()
	cfg.Trust.Lockers = markettest.Addresses(w.Deployer)
	c, _ := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{}, w.known(t, token, pool))
	r, err := c.Check(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, want{report.LPBurnedLocked: report.Pass})
	value(t, r, report.LPBurnedLocked, 100, report.High)
}

const maxTick = 887272

// amounts are at most how much goes into a V3 pool: some five million tokens and five coins.
func amounts(tokenIs0 bool) [][]byte {
	if tokenIs0 {
		return [][]byte{tokens(5 << 20), tokens(5)}
	}
	return [][]byte{tokens(5), tokens(5 << 20)}
}

func (w *testWorld) hashOf(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var out string
	if err := w.Node.Call(tb.Context(), &out, "web3_sha3", "0x"+hex.EncodeToString(data)); err != nil {
		tb.Fatal(err)
	}
	b, err := hex.DecodeString(strings.TrimPrefix(out, "0x"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestConcentratedPools: a tax on the way into such a pool makes it refuse the sale, and a plain transfer tells the tax.
func TestConcentratedPools(t *testing.T) {
	t.Parallel()
	for _, protocol := range []market.Protocol{market.UniswapV3, market.UniswapV4, market.Slipstream} {
		for _, test := range []struct {
			contract string
			want     want
		}{
			{"Clean", nil},
			{"Honeypot", want{report.HoneypotSell: report.Fail, report.SellTax: report.Unknown}},
			{"SellTax", want{report.HoneypotSell: report.Fail, report.SellTax: report.Fail}},
			{"BuyTax", want{report.BuyTax: report.Fail}},
			{"Megabyte", want{report.HoneypotSell: report.Fail, report.SellTax: report.Unknown}},
			{"Burner", want{report.HoneypotSell: report.Fail, report.SellTax: report.Unknown}},
		} {
			t.Run(string(protocol)+" "+test.contract, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				token := w.deploy(t, test.contract)
				pool := w.fullRange(t, protocol, token)
				at := pool.ID
				if protocol == market.UniswapV4 {
					at = pool.Factory
				}
				w.setPair(t, token, at)
				r := w.check(t, w.known(t, token, pool))
				all := want{report.LPBurnedLocked: report.Unknown}
				maps.Copy(all, test.want)
				expect(t, r, all)
				if test.contract == "SellTax" {
					value(t, r, report.SellTax, 40, report.Critical)
				}
				if c := r.Find(report.LPBurnedLocked); c.UnknownReason != report.PositionOwnerUnknown {
					t.Errorf("%+v", c)
				}
			})
		}
	}
}
