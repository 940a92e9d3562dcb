package traction

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const washNow = 1_700_000_000

// scoreOf is the score of a fresh token with these trades.
func scoreOf(flows []Flow, liquidity float64) float64 {
	var tape Tape
	for _, f := range flows {
		tape.Add(f)
	}
	p := Parts{LiquidityUSD: liquidity}
	tape.Measure(&p, washNow)
	return Score(p)
}

// Round trips buy nothing: a wallet that buys and sells back lowers the score of any token, or leaves it, whoever trades there
// else and whatever it spends. So no set of wallets scores above what it would by merely buying what it ends up with.
func TestRoundTripsNeverRaiseAScore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		usd := rapid.OneOf(rapid.Float64Range(0.01, 500), rapid.Float64Range(1, 1e7))
		liquidity := rapid.Float64Range(0, 1e6).Draw(t, "liquidity")
		draw := func(n int, of string) (flows []Flow) {
			for range rapid.IntRange(1, n).Draw(t, of) {
				flows = append(flows, Flow{
					Wallet: address(rapid.IntRange(1, 30).Draw(t, "wallet")), Time: washNow - rapid.Int64Range(0, Window-1).Draw(t, "age"),
					Sell: rapid.Bool().Draw(t, "sell"), USD: usd.Draw(t, "usd"),
				})
			}
			return flows
		}
		trades := draw(60, "trades")
		before := scoreOf(inOrder(trades), liquidity)
		for _, f := range draw(20, "round trips") {
			back := f
			back.Sell = !f.Sell
			trades = append(trades, f, back)
		}
		if after := scoreOf(inOrder(trades), liquidity); after > before*(1+1e-9)+1e-9 {
			t.Fatalf("with round trips the score rises from %v to %v", before, after)
		}
	})
}

// Wallets that sell back four fifths or more of what they buy count for nobody, whatever they spend and whatever liquidity the pool has.
func TestWashTradingCountsForNobody(t *testing.T) {
	t.Parallel()
	says(t, page(t), "scores 6.9 at most, whatever they spend, if no member is in it")
	const bound = 6.95
	highest := 0.0
	for _, liquidity := range []float64{0, 5e3, 15e3, 150e3, 1e6, 1e7} {
		for _, wallets := range []int{1, 2, 5, 10, 20, 50} {
			for usd := 1e3; usd <= 1e7; usd *= 10 {
				for _, share := range []float64{0.8 + 1e-9, 0.85, 0.9, 0.95, 1} {
					for _, rounds := range []int{1, 7} {
						got := scoreOf(roundTrips(wallets, rounds, usd, share), liquidity)
						highest = max(highest, got)
						if got >= bound {
							t.Errorf("%d wallets, %d rounds, %.0f USD in a pool of %.0f, %.0f %% round trips: score %.1f",
								wallets, rounds, usd, liquidity, 100*share, got)
						}
					}
				}
			}
		}
	}
	if highest < bound-0.1 {
		t.Errorf("the highest is %.1f: the page could say so", highest)
	}
}

// roundTrips are trades of usd in all, the given share of which are round trips.
func roundTrips(wallets, rounds int, usd, share float64) (flows []Flow) {
	buy := usd * (1 - share/2) / float64(wallets*rounds)
	sell := usd * (share / 2) / float64(wallets*rounds)
	for range rounds {
		for w := range wallets {
			flows = append(flows, Flow{Wallet: address(w + 1), Time: washNow, USD: buy},
				Flow{Wallet: address(w + 1), Time: washNow, Sell: true, USD: sell})
		}
	}
	return flows
}

// A ring hands the tokens on, so that each wallet sells what the one before it bought. Every wallet still buys and sells: a
// ring that comes round within a quarter of an hour has no buyers and stays below every honest token.
func TestRingsAreRoundTrips(t *testing.T) {
	t.Parallel()
	const runner = 62.0 // the lowest of the honest ones
	for _, liquidity := range []float64{0, 15e3, 150e3} {
		for _, wallets := range []int{2, 10, 50} {
			for usd := 1e3; usd <= 1e7; usd *= 10 {
				const steps = 1000
				var flows []Flow
				for i := range steps {
					// The ring comes round every 15 minutes.
					at := int64(washNow - (steps-1-i)*900/wallets)
					flows = append(flows, Flow{Wallet: address(i%wallets + 1), Time: at, USD: usd / steps / 2},
						Flow{Wallet: address((i+1)%wallets + 1), Time: at, Sell: true, USD: usd / steps / 2})
				}
				var tape Tape
				for _, f := range flows {
					tape.Add(f)
				}
				p := Parts{LiquidityUSD: liquidity}
				if tape.Measure(&p, washNow); p.Buyers > 1 {
					t.Errorf("a ring of %d has %v buyers", wallets, p.Buyers)
				}
				if got := Score(p); got >= runner {
					t.Errorf("a ring of %d wallets that moves %.0f USD in a pool of %.0f scores %.1f", wallets, usd, liquidity, got)
				}
			}
		}
	}
}

// What money does buy, at the price that docs/ranking.md names: wallets that buy and hold on look like people, and so do fresh
// ones that sell what others pass them.
func TestWhatMoneyBuys(t *testing.T) {
	t.Parallel()
	const young = washNow - 2*3600
	hold := func(now int64, sold bool) Parts {
		var tape Tape
		for w := range 10 {
			tape.Add(Flow{Wallet: address(w + 1), Time: young, USD: 300})
		}
		for w := range 10 {
			if sold {
				tape.Add(Flow{Wallet: address(w + 1), Time: now, Sell: true, USD: 300})
			}
		}
		p := Parts{LiquidityUSD: 8000, AgeS: 3 * 3600}
		tape.Measure(&p, now)
		return p
	}
	if p := hold(washNow, false); p.Buyers != 10 || math.Abs(p.VolumeUSD-3000.0/16) > 1e-9 {
		t.Errorf("after two hours they are %v buyers with %v USD, want all ten with a sixteenth", p.Buyers, p.VolumeUSD)
	}
	if p := hold(washNow, true); p.Buyers != 0 {
		t.Errorf("once they sell they are %v buyers", p.Buyers)
	}
	if p := hold(young+Window, false); p.Buyers != 0 {
		t.Errorf("after 3.5 hours of silence they are %v buyers", p.Buyers)
	}
	var pass Tape
	for w := range 40 {
		pass.Add(Flow{Wallet: address(w + 1), Time: washNow, USD: 50})
		pass.Add(Flow{Wallet: address(w + 101), Time: washNow, Sell: true, USD: 50})
	}
	passed := Parts{LiquidityUSD: 8000, AgeS: 3 * 3600}
	pass.Measure(&passed, washNow)
	for _, p := range []Parts{hold(young, false), passed} {
		says(t, page(t), fmt.Sprintf("| %s | %s | %.1f |", figure(p.Buyers), figure(p.VolumeUSD), Score(p)))
	}
}

// A wallet that trades in and out all day is a buyer while it is in, if it stays for longer than half-lives make two thirds of.
func TestSlowRoundTripsAreHolding(t *testing.T) {
	t.Parallel()
	says(t, page(t), "more than 17.5 minutes")
	for stay, buyers := range map[int64]float64{17 * 60: 0, 17*60 + 30: 0, 18 * 60: 1} {
		var tape Tape
		for at, n := washNow-40*stay, 0; at <= washNow; at, n = at+stay, n+1 {
			tape.Add(Flow{Wallet: address(1), Time: at, Sell: n%2 == 1, USD: 1000})
		}
		var p Parts
		if tape.Measure(&p, washNow); p.Buyers != buyers {
			t.Errorf("staying %d s: %v buyers, want %v", stay, p.Buyers, buyers)
		}
	}
}

// inOrder sorts by time and leaves what is of one second as it is.
func inOrder(flows []Flow) []Flow {
	sorted := slices.Clone(flows)
	slices.SortStableFunc(sorted, func(a, b Flow) int { return cmp.Compare(a.Time, b.Time) })
	return sorted
}
