package place

import (
	"math"
	"math/rand/v2"
)

// population has the figures of those who launch and trade on a board when nobody attacks it: honest people, and the snipers, bundlers and bots of other
// launches. docs/place.md has them with their sources; most are assumed, as it says. They were set before any formula but traction-v1 was measured with
// them.
type population struct {
	name string
	// launchesADay are all, traded the share of them that anybody but the creator trades.
	launchesADay, traded float64
	// buyers is the distribution of how many wallets buy a launch, buyUSD of what one purchase is worth, holdS of how long a buyer holds (seconds).
	buyers tailed
	buyUSD lognormal
	holdS  lognormal
	// neverSell is the share of buyers who never sell, again the share of buyers who buy a second time.
	neverSell, again float64
	// sniped is the share of launches with snipers in their first two blocks, snipers how many there are then in the mean.
	sniped, snipers float64
	sniperUSD       lognormal
	// bundled is the share of launches of which accounts of the creator buy bundleSupply in the first block: bundleFrom to bundleTo of them.
	bundled, bundleSupply float64
	bundleFrom, bundleTo  int
	// washed is the share of launches with bots that trade to and fro, so that the board's volume has the share of wash trades.
	washed float64
	// terminals is the share of trades by wallets that trade many tokens a day, and perDay how many tokens another wallet trades.
	terminals, perDay float64
	smart             float64 // the share of wallets that are contracts
}

// The same on all boards.
const (
	// routed is the share of trades that pass an aggregator's contract, rangedShare the share of launches into a pool.
	routed, rangedShare = 0.2, 0.5
	// fromExchange is the share of wallets whose first coins come from an exchange's wallet, fromBridge that from a bridge; others pay the rest.
	fromExchange, fromBridge = 0.35, 0.25
	// payments is how many wallets get their first coins on the chain for each that buys: the others trade no launches.
	payments = 2
	// exchangeWallets is how many of the exchanges' wallets pay out.
	exchangeWallets = 60
	// diesInHour and diesInDay are the shares of launches whose last trade is within an hour and a day of the launch.
	diesInHour, diesInDay = 0.45, 0.69
	// wealthShare is which part of the spread of trades is the wallet's own.
	wealthShare = 0.67
	// creatorBuys is the share of creators who buy first, for creatorUSD, and creatorSells of those who sell it all.
	creatorBuys, creatorSells = 0.6, 0.6
	// terminalTokens is how many tokens a terminal's wallet trades a day.
	terminalTokens = 15
	// leastBuyers is of how many buyers a launch must have on average to be simulated: one with fewer can't have the 50 holders of the quality bar.
	leastBuyers = 40
)

var (
	creatorUSD  = lognormal{100, 1}
	creatorHold = lognormal{1800, 2}
	sniperHold  = lognormal{60, 1.55}
	firstCoins  = lognormal{150, 1.5}
	// transactionsADay is how many a wallet sent before anything is known of it.
	transactionsADay = lognormal{0.5, 1.5}
	walletAge        = lognormal{48 * day, 3.7}
	// oldest is the most that a wallet's age can be.
	oldest = 1000.0 * day
)

const (
	hour = 3600
	day  = 24 * hour
)

// populations are the boards.
var populations = []population{
	{
		name: "thin", launchesADay: 300, traded: 0.6, buyers: tailed{lognormal{3, 1.3}, 0.01, 60, 1.1, 3000}, buyUSD: lognormal{25, 1.3},
		holdS: lognormal{1800, 2.2}, neverSell: 0.3, again: 0.2, sniped: 0.2, snipers: 3, sniperUSD: lognormal{60, 1},
		bundled: 0.1, bundleSupply: 0.15, bundleFrom: 5, bundleTo: 20, washed: 0.2, terminals: 0.15, perDay: 2, smart: 0.1,
	},
	{
		name: "usual", launchesADay: 7000, traded: 0.6, buyers: tailed{lognormal{6, 1.4}, 0.02, 100, 1.1, 20_000}, buyUSD: lognormal{40, 1.3},
		holdS: lognormal{300, 2.2}, neverSell: 0.25, again: 0.25, sniped: 0.35, snipers: 3, sniperUSD: lognormal{60, 1},
		bundled: 0.15, bundleSupply: 0.25, bundleFrom: 10, bundleTo: 20, washed: 0.1, terminals: 0.25, perDay: 3, smart: 0.1,
	},
	{
		name: "busy", launchesADay: 50_000, traded: 0.3, buyers: tailed{lognormal{8, 1.5}, 0.025, 150, 1.1, 40_000}, buyUSD: lognormal{60, 1.4},
		holdS: lognormal{100, 2.2}, neverSell: 0.2, again: 0.3, sniped: 0.5, snipers: 4, sniperUSD: lognormal{100, 1},
		bundled: 0.2, bundleSupply: 0.365, bundleFrom: 16, bundleTo: 50, washed: 0.1, terminals: 0.5, perDay: 3, smart: 0.15,
	},
}

// lognormal is a distribution by its median and the standard deviation of its logarithm.
type lognormal struct{ median, sigma float64 }

func (l lognormal) draw(rng *rand.Rand) float64 {
	return l.median * math.Exp(l.sigma*rng.NormFloat64())
}

// tailed is lognormal but for a share of tail, which is Pareto's from a value on, by an exponent, up to a value.
type tailed struct {
	body     lognormal
	tail     float64
	from     float64
	exponent float64
	to       float64
}

func (t tailed) draw(rng *rand.Rand) float64 {
	if rng.Float64() >= t.tail {
		return t.body.draw(rng)
	}
	u := rng.Float64() * (1 - math.Pow(t.from/t.to, t.exponent))
	return t.from * math.Pow(1-u, -1/t.exponent)
}

// lifetime is how long after its launch a token is bought, in seconds.
func lifetime(rng *rand.Rand) float64 {
	switch u := rng.Float64(); {
	case u < diesInHour:
		return 60 * math.Pow(60, u/diesInHour)
	case u < diesInDay:
		return hour * math.Pow(24, (u-diesInHour)/(diesInDay-diesInHour))
	default:
		// The share of launches that are still traded after d days, for d of 1 and more, is (1 - diesInDay) d^-0.43.
		return day * min(90, math.Pow((1-u)/(1-diesInDay), -1/0.43))
	}
}

// arrival is how long after the launch a buyer comes, of those within the lifetime: they come as (1 + t/600 s)^-1.3.
func arrival(rng *rand.Rand, lifetime float64) float64 {
	const scale, power = 600, 0.3
	all := 1 - math.Pow(1+lifetime/scale, -power)
	return scale * (math.Pow(1-rng.Float64()*all, -1/power) - 1)
}
