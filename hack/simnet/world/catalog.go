package world

import (
	"math"
	"math/rand/v2"
)

// Behaviour is what is peculiar about a token.
type Behaviour string

// Each of these is in every world; what makes a reader of its logs stumble stands beside it.
const (
	Wrapped       Behaviour = "wrapped native" // deposits and withdrawals emit no Transfer
	Stable        Behaviour = "stable"
	Plain         Behaviour = "plain"
	FeeOnTransfer Behaviour = "fee on transfer" // 3 % of each transfer goes to the deployer
	Rebasing      Behaviour = "rebasing"        // balances change without Transfer events
	Markup        Behaviour = "markup"          // HTML, bidi overrides and emoji in name and symbol
	Collision     Behaviour = "collision"       // one of two tokens with the same symbol
	Bytes32       Behaviour = "bytes32"         // name() and symbol() return bytes32
	NoLiquidity   Behaviour = "no liquidity"    // in no pool at all
	Worthless     Behaviour = "worthless"       // both sides of a pool without any quote asset
)

// Token is an ERC-20 contract of the world.
type Token struct {
	Address  string
	Name     string
	Symbol   string
	Decimals int
	// Behaviour tells what is peculiar about it.
	Behaviour Behaviour
	// USD is what one token is worth when its pools open; 0 if nothing is paid for it.
	USD float64
}

// ordinaryNames are invented; a seed picks among them, so that two chains don't look alike.
var ordinaryNames = []struct{ name, symbol string }{
	{"Harbor Cat", "HCAT"},
	{"Pier Pigeon", "PIGEON"},
	{"Saltwater", "SALT"},
	{"Lantern", "LNTN"},
	{"Gull Money", "GULL"},
	{"Tidepool", "TIDE"},
	{"Carousel", "CRSL"},
	{"Kettle Corn", "KETTLE"},
	{"Driftwood", "DRIFT"},
	{"Anchor Frog", "AFROG"},
	{"Boardshorts", "BRDS"},
	{"Ferris", "FERRIS"},
	{"Moon Jelly", "JELLY"},
	{"Crab Walk", "CRAB"},
	{"Sandbar", "BAR"},
	{"Neon Squid", "SQUID"},
}

type tokenPlan struct {
	Token
	contract string
	// supply is in whole tokens; each trader is given holderShare of it.
	supply float64
}

// holderShare is the part of a token's supply that each trader starts with.
const holderShare = 0.005

// traderDollars is what each trader starts with of each stable. At some thousand dollars a trade and
// 0.3 % a swap it lasts for months.
const traderDollars = 20_000_000

// planTokens is the list of tokens for a seed, the stables first. Addresses come with deployment.
func planTokens(seed uint64) []tokenPlan {
	rng := rand.New(rand.NewPCG(seed, 1))
	plans := []tokenPlan{
		{Token{Name: "USD Coin", Symbol: "USDC", Decimals: 6, Behaviour: Stable, USD: 1}, "Token", 4e9},
		{Token{Name: "Tether USD", Symbol: "USDT", Decimals: 18, Behaviour: Stable, USD: 1}, "Token", 4e9},
	}
	names := rng.Perm(len(ordinaryNames))
	for i, decimals := range []int{18, 18, 18, 18, 6, 8} {
		name := ordinaryNames[names[i]]
		// From a twentieth of a cent to a few cents: a valuation of 0.5 to 30 million dollars.
		usd := 0.0005 * Pow10(rng.Float64()*1.8)
		plans = append(plans, tokenPlan{Token{Name: name.name, Symbol: name.symbol, Decimals: decimals, Behaviour: Plain, USD: usd}, "Token", 1e9})
	}
	return append(plans,
		tokenPlan{Token{Name: "Toll Bridge", Symbol: "TOLL", Decimals: 18, Behaviour: FeeOnTransfer, USD: 0.004}, "FeeToken", 1e9},
		tokenPlan{Token{Name: "Breathing Supply", Symbol: "BREATH", Decimals: 18, Behaviour: Rebasing, USD: 0.9}, "RebasingToken", 5e6},
		tokenPlan{Token{Name: "<img src=x onerror=alert(1)>\u202Eknalb\u202C & \"quoted\" 🐸🏴‍☠️</script>", Symbol: "<b>RUG</b>\u202E🐸", Decimals: 18, Behaviour: Markup, USD: 0.002}, "Token", 1e9},
		tokenPlan{Token{Name: "Twin", Symbol: "TWIN", Decimals: 18, Behaviour: Collision, USD: 0.02}, "Token", 1e9},
		tokenPlan{Token{Name: "Twin Classic", Symbol: "TWIN", Decimals: 18, Behaviour: Collision, USD: 0.0007}, "Token", 1e9},
		tokenPlan{Token{Name: "Governance of 2017", Symbol: "GOV", Decimals: 18, Behaviour: Bytes32, USD: 12}, "Bytes32Token", 1e6},
		tokenPlan{Token{Name: "Shelf Warmer", Symbol: "SHELF", Decimals: 18, Behaviour: NoLiquidity}, "Token", 1e9},
		tokenPlan{Token{Name: "Trillion Dollar Coin", Symbol: "TRIL", Decimals: 18, Behaviour: Worthless}, "Token", 1e9},
		tokenPlan{Token{Name: "Play Money", Symbol: "PLAY", Decimals: 18, Behaviour: Worthless}, "Token", 1e15},
	)
}

// poolPlan is a pool to open: a token against a quote, by their places in the token list.
type poolPlan struct {
	protocol Protocol
	// quote may be coin.
	token, quote int
	// fee is in hundredths of a basis point; 0 for V2.
	fee int
	// depthUSD is what the pool holds on each side.
	depthUSD float64
	hooked   bool
}

// coin is the native currency itself, which has no place in the token list.
const coin = -1

// planPools opens every token that has a price against the native asset or a stable.
func planPools(tokens []tokenPlan, seed uint64) []poolPlan {
	rng := rand.New(rand.NewPCG(seed, 2))
	const native, usdc, usdt = 0, 1, 2 // their places in the list
	plans := []poolPlan{
		{protocol: UniswapV2, token: native, quote: usdc, depthUSD: 1_500_000},
		{protocol: UniswapV3, token: native, quote: usdc, fee: 500, depthUSD: 3_000_000},
		{protocol: UniswapV3, token: native, quote: usdc, fee: 3000, depthUSD: 1_000_000},
		{protocol: UniswapV2, token: native, quote: usdt, depthUSD: 600_000},
		{protocol: UniswapV3, token: native, quote: usdt, fee: 500, depthUSD: 1_200_000},
		{protocol: UniswapV3, token: usdc, quote: usdt, fee: 100, depthUSD: 2_000_000},
		{protocol: UniswapV4, token: usdc, quote: coin, fee: 500, depthUSD: 2_000_000},
		{protocol: PancakeSwapV3, token: native, quote: usdt, fee: 500, depthUSD: 1_000_000},
	}
	add := func(protocol Protocol, token, quote, fee int, depthUSD float64) {
		plans = append(plans, poolPlan{protocol: protocol, token: token, quote: quote, fee: fee, depthUSD: depthUSD})
	}
	plain := 0
	for i, token := range tokens {
		// 40,000 to 400,000 dollars, but no more than the deployer's part of a small token allows.
		depth := min(40_000*Pow10(rng.Float64()), 0.12*token.USD*token.supply)
		switch token.Behaviour {
		case Plain:
			add(UniswapV2, i, native, 0, depth)
			switch {
			case token.Decimals == 6:
				add(UniswapV3, i, usdc, 3000, depth*1.3)
			case token.Decimals == 8:
				add(UniswapV2, i, usdt, 0, depth*0.6)
			case plain%2 == 0:
				add(UniswapV3, i, native, 3000, depth*1.5)
			default:
				add(UniswapV3, i, native, 10000, depth*0.8)
			}
			// The fourth and the fifth stay on Uniswap V2 and V3.
			switch plain {
			case 0:
				add(UniswapV4, i, coin, 3000, depth*1.2)
				add(PancakeSwapV3, i, native, 2500, depth)
			case 1:
				add(UniswapV4, i, usdc, 3000, depth*0.7)
			case 2:
				add(PancakeSwapV3, i, usdt, 2500, depth*0.9)
			case 5:
				add(UniswapV4, i, coin, 10000, depth*0.5)
			}
			plain++
		case FeeOnTransfer, Rebasing, Markup:
			add(UniswapV2, i, native, 0, depth)
		case Collision:
			if token.Name == "Twin" {
				add(UniswapV2, i, native, 0, depth)
				plans = append(plans, poolPlan{protocol: UniswapV4, token: i, quote: coin, fee: 3000, depthUSD: depth, hooked: true})
			} else {
				add(UniswapV3, i, native, 10000, depth)
			}
		case Bytes32:
			add(UniswapV2, i, usdc, 0, depth)
			add(UniswapV3, i, native, 3000, depth)
		case Wrapped, Stable: // their pools stand above
		case NoLiquidity, Worthless: // in no pool, or only in one with each other
		}
	}
	return plans
}

// Pow10 is ten to the power of a number.
func Pow10(exponent float64) float64 { return math.Pow(10, exponent) }
