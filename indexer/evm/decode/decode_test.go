package decode

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// hexWord is a 32-byte word from hexadecimal digits, padded on the left.
func hexWord(tb testing.TB, digits string) (w [32]byte) {
	tb.Helper()
	raw, err := hex.DecodeString(strings.Repeat("0", 64-len(digits)) + digits)
	if err != nil {
		tb.Fatal(err)
	}
	copy(w[:], raw)
	return w
}

func hexAddress(tb testing.TB, s string) market.Address {
	tb.Helper()
	a, err := market.ParseAddress(s)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// testLog is a log of a contract with topics and data words given as hexadecimal digits.
func testLog(tb testing.TB, contract string, topic0 [32]byte, topics, data []string) *Log {
	tb.Helper()
	l := &Log{NumTopics: 1 + len(topics)}
	copy(l.Address[:], hexAddress(tb, contract).Bytes())
	l.Topics[0] = topic0
	for i, s := range topics {
		l.Topics[i+1] = hexWord(tb, s)
	}
	for _, s := range data {
		w := hexWord(tb, s)
		l.Data = append(l.Data, w[:]...)
	}
	return l
}

func number(n uint64) (v market.Amount) {
	v.SetUint64(n)
	return v
}

func plus(n uint64) market.SignedAmount { return market.SignedAmount{Abs: number(n)} }

func minus(n uint64) market.SignedAmount { return market.SignedAmount{Abs: number(n), Neg: true} }

const (
	tokenA   = "00000000000000000000000000000000000000aa"
	tokenB   = "00000000000000000000000000000000000000bb"
	aPool    = "0x00000000000000000000000000000000000000cc"
	anybody  = "0x00000000000000000000000000000000000000dd"
	someID   = "11111111111111111111111111111111111111111111111111111111111111ff"
	negative = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff" // and one more byte
)

func TestDecode(t *testing.T) {
	t.Parallel()
	const (
		v2        = "0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f"
		v3        = "0x1F98431c8aD98523631AE4a59f267346ea31F984"
		pancake   = "0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865"
		manager   = "0x000000000004444c5dc75cB358380D2e3dE08A90"
		solidly   = "0x420DD381b31aEf6683db6B902084cB0FFECe40Da"
		clFactory = "0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A"
		weth      = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
	)
	a, b := hexAddress(t, "0x"+tokenA), hexAddress(t, "0x"+tokenB)
	pool, nobody := hexAddress(t, aPool), hexAddress(t, anybody)
	id := hexAddress(t, "0x"+someID)
	created := func(protocol market.Protocol, factory string, fee uint32, spacing int32) market.PoolCreated {
		return market.PoolCreated{
			Protocol: protocol, Factory: hexAddress(t, factory), Pool: pool, Token0: a, Token1: b, FeePips: fee, TickSpacing: spacing,
		}
	}
	v4 := market.PoolCreated{
		Protocol: market.UniswapV4, Factory: hexAddress(t, manager), Pool: id, Token0: market.Native, Token1: b,
		FeePips: 3000, TickSpacing: 60, SqrtPriceX96: number(99), Tick: -7,
	}
	hooked := v4
	hooked.Hooks, hooked.FeePips = nobody, 0
	stable := created(market.Solidly, solidly, 0, 0)
	stable.Stable = true
	tests := []struct {
		name string
		log  *Log
		want market.Event
	}{
		{"PairCreated", testLog(t, v2, topicPairCreated, []string{tokenA, tokenB}, []string{aPool[2:], "01"}), created(market.UniswapV2, v2, 0, 0)},
		{"PairCreated by anybody", testLog(t, anybody, topicPairCreated, []string{tokenA, tokenB}, []string{aPool[2:], "01"}), nil},
		{"V3 PoolCreated", testLog(t, v3, topicV3PoolCreated, []string{tokenA, tokenB, "0bb8"}, []string{"3c", aPool[2:]}), created(market.UniswapV3, v3, 3000, 60)},
		{"PancakeSwap V3 PoolCreated", testLog(t, pancake, topicV3PoolCreated, []string{tokenA, tokenB, "64"}, []string{"01", aPool[2:]}), created(market.PancakeSwapV3, pancake, 100, 1)},
		{"V3 PoolCreated by anybody", testLog(t, anybody, topicV3PoolCreated, []string{tokenA, tokenB, "0bb8"}, []string{"3c", aPool[2:]}), nil},
		{"V3 PoolCreated of a fee beyond 24 bits", testLog(t, v3, topicV3PoolCreated, []string{tokenA, tokenB, "01000000"}, []string{"3c", aPool[2:]}), nil},
		{"Solidly PoolCreated, stable", testLog(t, solidly, topicSolidlyPoolCreated, []string{tokenA, tokenB, "01"}, []string{aPool[2:], "05"}), stable},
		{"Solidly PoolCreated, volatile", testLog(t, solidly, topicSolidlyPoolCreated, []string{tokenA, tokenB, "00"}, []string{aPool[2:], "05"}), created(market.Solidly, solidly, 0, 0)},
		{"Slipstream PoolCreated", testLog(t, clFactory, topicSlipstreamPoolCreated, []string{tokenA, tokenB, "64"}, []string{aPool[2:]}), created(market.Slipstream, clFactory, 0, 100)},
		{"Slipstream PoolCreated of the narrowest spacing", testLog(t, clFactory, topicSlipstreamPoolCreated, []string{tokenA, tokenB, "01"}, []string{aPool[2:]}), created(market.Slipstream, clFactory, 0, 1)},
		{"Slipstream PoolCreated of no spacing", testLog(t, clFactory, topicSlipstreamPoolCreated, []string{tokenA, tokenB, "00"}, []string{aPool[2:]}), nil},
		{"Slipstream PoolCreated of a spacing below nothing", testLog(t, clFactory, topicSlipstreamPoolCreated, []string{tokenA, tokenB, negative + "ff"}, []string{aPool[2:]}), nil},
		{"Slipstream PoolCreated of a spacing beyond 24 bits", testLog(t, clFactory, topicSlipstreamPoolCreated, []string{tokenA, tokenB, "800000"}, []string{aPool[2:]}), nil},
		{"Slipstream PoolCreated without a pool", testLog(t, clFactory, topicSlipstreamPoolCreated, []string{tokenA, tokenB, "64"}, nil), nil},
		{"Slipstream PoolCreated whose spacing isn't indexed", testLog(t, clFactory, topicSlipstreamPoolCreated, []string{tokenA, tokenB}, []string{"64", aPool[2:]}), nil},
		{"Slipstream PoolCreated by anybody", testLog(t, anybody, topicSlipstreamPoolCreated, []string{tokenA, tokenB, "64"}, []string{aPool[2:]}), nil},
		{"V3 PoolCreated by a Slipstream factory", testLog(t, clFactory, topicV3PoolCreated, []string{tokenA, tokenB, "0bb8"}, []string{"3c", aPool[2:]}), nil},
		{"V4 Initialize", testLog(t, manager, TopicV4Initialize, []string{someID, "00", tokenB}, []string{"0bb8", "3c", "00", "63", negative + "f9"}), v4},
		{"V4 Initialize with a hook and a dynamic fee", testLog(t, manager, TopicV4Initialize, []string{someID, "00", tokenB}, []string{"800000", "3c", anybody[2:], "63", negative + "f9"}), hooked},
		{"V4 Initialize of a fee beyond 24 bits", testLog(t, manager, TopicV4Initialize, []string{someID, "00", tokenB}, []string{"01000000", "3c", "00", "63", "07"}), nil},
		{"V4 Initialize by anybody", testLog(t, anybody, TopicV4Initialize, []string{someID, "00", tokenB}, []string{"0bb8", "3c", "00", "63", "07"}), nil},
		{
			"V4 Swap turns the amounts round",
			testLog(t, manager, topicV4Swap, []string{someID, anybody[2:]}, []string{negative + "f6", "09", "63", "64", negative + "fe", "0bb8"}),
			market.Swap{Pool: id, Sender: nobody, Recipient: nobody, Amount0: plus(10), Amount1: minus(9), SqrtPriceX96: number(99), Liquidity: number(100), Tick: -2, FeePips: 3000},
		},
		{"V4 Swap of a fee beyond 24 bits", testLog(t, manager, topicV4Swap, []string{someID, anybody[2:]}, []string{negative + "f6", "09", "63", "64", "02", "01000000"}), nil},
		{"V4 Swap by anybody", testLog(t, anybody, topicV4Swap, []string{someID, anybody[2:]}, []string{negative + "f6", "09", "63", "64", "02", "0bb8"}), nil},
		{
			"V4 ModifyLiquidity",
			testLog(t, manager, topicV4ModifyLiquidity, []string{someID, anybody[2:]}, []string{negative + "c4", "3c", negative + "9c", "00"}),
			market.RangeLiquidity{Pool: id, TickLower: -60, TickUpper: 60, Delta: minus(100)},
		},
		{"V4 ModifyLiquidity by nothing", testLog(t, manager, topicV4ModifyLiquidity, []string{someID, anybody[2:]}, []string{negative + "c4", "3c", "00", "00"}), nil},
		{"V4 ModifyLiquidity of an empty range", testLog(t, manager, topicV4ModifyLiquidity, []string{someID, anybody[2:]}, []string{"3c", "3c", "64", "00"}), nil},
		{"V3 Initialize", testLog(t, aPool, topicV3Initialize, nil, []string{"63", negative + "fd"}), market.PoolPriced{Pool: pool, SqrtPriceX96: number(99), Tick: -3}},
		{
			"V3 Mint", testLog(t, aPool, topicV3Mint, []string{anybody[2:], negative + "c4", "3c"}, []string{anybody[2:], "64", "01", "02"}),
			market.RangeLiquidity{Pool: pool, TickLower: -60, TickUpper: 60, Delta: plus(100)},
		},
		{
			"V3 Burn", testLog(t, aPool, topicV3Burn, []string{anybody[2:], negative + "c4", "3c"}, []string{"64", "01", "02"}),
			market.RangeLiquidity{Pool: pool, TickLower: -60, TickUpper: 60, Delta: minus(100)},
		},
		{"V3 Burn of nothing, which collects fees", testLog(t, aPool, topicV3Burn, []string{anybody[2:], negative + "c4", "3c"}, []string{"00", "00", "00"}), nil},
		{"V3 Mint of an empty range", testLog(t, aPool, topicV3Mint, []string{anybody[2:], "3c", "3c"}, []string{anybody[2:], "64", "01", "02"}), nil},
		{
			"V3 Swap", testLog(t, aPool, topicV3Swap, []string{anybody[2:], tokenA}, []string{"0a", negative + "f7", "63", "64", negative + "fe"}),
			market.Swap{Pool: pool, Sender: nobody, Recipient: a, Amount0: plus(10), Amount1: minus(9), SqrtPriceX96: number(99), Liquidity: number(100), Tick: -2},
		},
		{"V3 Swap of a tick that is none", testLog(t, aPool, topicV3Swap, []string{anybody[2:], tokenA}, []string{"0a", negative + "f7", "63", "64", "01000000"}), nil},
		{
			"V2 Swap with the same token in and out",
			testLog(t, aPool, topicV2Swap, []string{anybody[2:], tokenA}, []string{"64", "05", "14", "09"}),
			market.Swap{Pool: pool, Sender: nobody, Recipient: a, Amount0: plus(80), Amount1: minus(4)},
		},
		{"V2 Swap with fewer words", testLog(t, aPool, topicV2Swap, []string{anybody[2:], tokenA}, []string{"64", "05", "14"}), nil},
		{"V2 Mint", testLog(t, aPool, topicV2Mint, []string{anybody[2:]}, []string{"01", "02"}), market.PairLiquidity{Pool: pool, Amount0: number(1), Amount1: number(2)}},
		{"V2 Burn", testLog(t, aPool, topicV2Burn, []string{anybody[2:], tokenA}, []string{"01", "02"}), market.PairLiquidity{Pool: pool, Amount0: number(1), Amount1: number(2), Burn: true}},
		{"Solidly Sync", testLog(t, aPool, topicSolidlySync, nil, []string{"01", "02"}), market.Reserves{Pool: pool, Reserve0: number(1), Reserve1: number(2)}},
		{"Transfer", testLog(t, "0x"+tokenA, TopicTransfer, []string{anybody[2:], aPool[2:]}, []string{"07"}), market.Transfer{Token: a, From: nobody, To: pool, Amount: number(7)}},
		{"ERC-721 Transfer", testLog(t, "0x"+tokenA, TopicTransfer, []string{anybody[2:], aPool[2:], "07"}, nil), nil},
		{"Transfer without a value", testLog(t, "0x"+tokenA, TopicTransfer, []string{anybody[2:], aPool[2:]}, nil), nil},
		{"Transfer that indexes nothing", testLog(t, "0x"+tokenA, TopicTransfer, nil, []string{anybody[2:], aPool[2:], "07"}), nil},
		{"Deposit", testLog(t, weth, TopicDeposit, []string{anybody[2:]}, []string{"07"}), market.Wrap{Token: hexAddress(t, weth), Account: nobody, Amount: number(7)}},
		{"Withdrawal", testLog(t, weth, TopicWithdrawal, []string{anybody[2:]}, []string{"07"}), market.Wrap{Token: hexAddress(t, weth), Account: nobody, Amount: number(7), Unwrap: true}},
		{"Deposit into anything else", testLog(t, anybody, TopicDeposit, []string{anybody[2:]}, []string{"07"}), nil},
		{"an anonymous log", &Log{}, nil},
	}
	d := testDecoder(t, "ethereum")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := d.Decode(tt.log); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestInt24(t *testing.T) {
	t.Parallel()
	tests := []struct {
		digits string
		want   int32
		ok     bool
	}{
		{"00", 0, true},
		{"01", 1, true},
		{"0d89e8", 887272, true},
		{"7fffff", 1<<23 - 1, true},
		{negative + "ff", -1, true},
		{strings.Repeat("f", 58) + "f27618", -887272, true},
		{strings.Repeat("f", 58) + "800000", -1 << 23, true},
		{"800000", 0, false}, // 2^23 is no int24
		{"800001", 0, false},
		{strings.Repeat("f", 58) + "7fffff", 0, false},
		{"ffffffff", 0, false},
		{"010000000000000001", 0, false},
		{"80" + strings.Repeat("0", 62), 0, false},
	}
	for _, tt := range tests {
		got, ok := Int24(hexWord(t, tt.digits))
		if ok != tt.ok || (ok && got != tt.want) {
			t.Errorf("int24 of %s: %d, %v; want %d, %v", tt.digits, got, ok, tt.want, tt.ok)
		}
	}
}

// FuzzDecode gives every decoder topics and data at random. None may panic, and what comes out keeps what derivation
// relies on.
func FuzzDecode(f *testing.F) {
	d := testDecoder(f, "ethereum")
	topics := d.Topics()
	contracts := make([]string, 0, len(d.at))
	for s := range d.at {
		contracts = append(contracts, string(s.contract[:]))
	}
	// What a map lists in any order is sorted, so that an input means the same in every run.
	slices.Sort(contracts)
	slices.SortFunc(topics, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	for i := range topics {
		f.Add(uint8(i), uint8(i), uint8(3), []byte{}, []byte{})
		f.Add(uint8(i), uint8(0), uint8(4), make([]byte, 96), make([]byte, 256))
	}
	f.Fuzz(func(t *testing.T, which, contract, n uint8, indexed, data []byte) {
		l := &Log{NumTopics: int(n % 5), Data: data}
		l.Topics[0] = topics[int(which)%len(topics)]
		copy(l.Address[:], contracts[int(contract)%len(contracts)])
		for i := 1; i < len(l.Topics) && len(indexed) >= 32; i++ {
			copy(l.Topics[i][:], indexed)
			indexed = indexed[32:]
		}
		checkEvent(t, d.Decode(l))
		binary.BigEndian.PutUint64(l.Topics[0][:], uint64(which)) // an unknown topic
		if e := d.Decode(l); e != nil {
			t.Fatalf("an unknown topic gave %+v", e)
		}
	})
}

func checkEvent(t *testing.T, e market.Event) {
	t.Helper()
	tick := func(ticks ...int32) {
		for _, n := range ticks {
			if n < -1<<23 || n >= 1<<23 {
				t.Fatalf("%+v has the tick %d, which is no int24", e, n)
			}
		}
	}
	signed := func(amounts ...market.SignedAmount) {
		for i := range amounts {
			if amounts[i].Abs.IsZero() && amounts[i].Neg {
				t.Fatalf("%+v has a negative nought", e)
			}
		}
	}
	switch e := e.(type) {
	case market.Swap:
		tick(e.Tick)
		signed(e.Amount0, e.Amount1)
	case market.RangeLiquidity:
		tick(e.TickLower, e.TickUpper)
		signed(e.Delta)
		if e.TickLower >= e.TickUpper || e.Delta.IsZero() {
			t.Fatalf("%+v changes nothing", e)
		}
	case market.PoolCreated:
		tick(e.Tick, e.TickSpacing)
		if e.FeePips >= 1<<24 || e.Pool.IsNone() || e.Hooks.IsNative() {
			t.Fatalf("%+v is no pool", e)
		}
	case market.PoolPriced:
		tick(e.Tick)
	}
}
