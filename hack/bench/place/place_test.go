package place

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// coinsIn are the coins in a pool that are no virtual ones, in gwei.
func (p *pool) coinsIn() uint64 { return p.quote - p.emptyQuote }

// tokensIn are the tokens in a pool that are no virtual ones, in raw units; a curve keeps those for the pair that follows it, too.
func (p *pool) tokensIn() uint64 {
	if p.kind == curve && p.left() > 0 {
		return p.left() + supply - curveSale
	}
	return p.left()
}

// TestNothingIsLostOrMade runs random plans without strangers. All tokens are in accounts or pools, and the money that doesn't come back is gas, wallets,
// the fees that others got, and what is left in pools and accounts.
func TestNothingIsLostOrMade(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	filled, pairs := 0, 0
	for n := range 60 {
		p := randomPlan(rng)
		p.Wallets, p.NewAnHour = min(p.Wallets, 200), min(p.NewAnHour, 50)
		if err := p.check(); err != nil {
			t.Fatalf("plan %d: %v", n, err)
		}
		c := newChain(func(*block) {})
		payers := []*account{c.someAccount(1), c.someAccount(2)}
		a := newAttack(c, &p, &allInputs[2], uint64(n), payers, genesis+warmS)
		c.run(genesis + warmS + 2*hour)
		a.end()
		left, taken := 0.0, 0.0
		for _, k := range a.tokens {
			sum := uint64(0)
			for _, has := range k.balances {
				sum += has
			}
			pools := []*pool{k.main}
			if k.own != nil {
				pools = append(pools, k.own)
				pairs++
			}
			if k.curve != nil && k.curve != k.main {
				filled++
				taken += dollars(k.curve.taken) * (1 - k.curve.creatorShare)
			}
			for _, p := range pools {
				sum += p.tokensIn()
				left += dollars(p.coinsIn())
				taken += dollars(p.taken) * (1 - p.creatorShare)
			}
			if sum != supply {
				t.Errorf("plan %d: accounts and pools have %d tokens of %d: %s", n, sum, uint64(supply), p.json())
			}
		}
		for _, who := range a.everybody {
			left += dollars(who.coins)
		}
		if want := a.ledger.gas + a.ledger.wallets + taken + left; math.Abs(a.ledger.out-want) > 1e-3+1e-6*want {
			t.Errorf("plan %d: %v USD didn't come back, want %v for gas, %v for wallets, %v of fees and %v that are left: %s", n, a.ledger.out, a.ledger.gas, a.ledger.wallets, taken, left,
				p.json())
		}
		if a.ledger.price(&allInputs[2]) < a.ledger.out {
			t.Errorf("plan %d: the price %v is less than what didn't come back, %v", n, a.ledger.price(&allInputs[2]), a.ledger.out)
		}
	}
	if filled == 0 || pairs == 0 {
		t.Errorf("%d curves were filled and %d pairs made: too few to show anything", filled, pairs)
	}
}

func (c *chain) someAccount(n int) *account {
	made := accounts{seed: 1, kind: exchanges, made: n}
	return made.next(0)
}

// TestTheSameSeedGivesTheSamePrices searches twice, with one goroutine and with several, on boards of two lengths.
func TestTheSameSeedGivesTheSamePrices(t *testing.T) {
	p := populations[1]
	p.launchesADay = 300
	short, err := standingsOf(&p, &formulas[0], 4, patienceS, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	long, err := standingsOf(&p, &formulas[0], 4, patienceS+hour, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	for i := range short.first {
		if short.first[i] != long.first[i] {
			t.Fatalf("at ranking %d the first have %v on a board that is looked at for longer, else %v", i, long.first[i], short.first[i])
		}
	}
	find := func(procs int) trial {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		h := searcher{
			family: anyFamily, seed: 3, enough: func(tries int) bool { return tries >= 4*atOnce },
			attempt: func(p *plan, bound float64) (trial, error) {
				return tryBoards(p, &allInputs[1], []*standings{short, long}, enterRunning, bound)
			},
		}
		best, tries, err := h.run(t.Context(), func(int, *trial) {})
		if err != nil || tries != 4*atOnce {
			t.Fatalf("%d tries, %v", tries, err)
		}
		return best
	}
	one, many := find(1), find(4)
	if one != many {
		t.Errorf("with one processor the cheapest is %+v, with several %+v", one, many)
	}
	if !one.reached {
		t.Errorf("no plan entered Running, so that nothing is shown: %+v", one)
	}
}

// TestHarm has strangers' round trips lower an honest launch's score by traction-v1, as docs/ranking.md says they did, and hardly by traction-v2.
func TestHarm(t *testing.T) {
	t.Parallel()
	wash := plan{SeedUSD: 10, WashUSD: 100_000, WashWallets: 3, SpanS: 100}
	for i := range formulas {
		v := someVictim(t, &formulas[i])
		fall, price, err := v.harm(&wash, &allInputs[1], 7)
		if isV1 := formulas[i].score != nil; err != nil || price < 500 || isV1 && fall < 0.1 || !isV1 && fall > 0.01 {
			t.Errorf("%s falls by %v for %v USD, %v", formulas[i].name, fall, price, err)
		}
		if again, _, err := v.run(nil, nil, 0); err != nil || again[0] != v.alone[0] {
			t.Errorf("alone the launch has %v, and before that had %v: %v", again[0], v.alone[0], err)
		}
	}
}

// someVictim is an honest launch of the usual board.
func someVictim(t *testing.T, f *formula) *victim {
	t.Helper()
	b, err := standingsOf(&populations[1], f, 1, hour, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	v, err := newVictim(b, b.honest[0])
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestNoAttackLowersAScore has attacks of all kinds on an honest launch: none lowers its score by 5 % over an hour.
func TestNoAttackLowersAScore(t *testing.T) {
	t.Parallel()
	v := someVictim(t, &formulas[0])
	rng := rand.New(rand.NewPCG(3, 4))
	worst := 0.0
	for n := range len(families) + 1 {
		p := randomPlan(rng)
		families[n%len(families)].make(&p)
		fall, _, err := v.harm(&p, &allInputs[1], uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		if worst = max(worst, fall); fall > 0.05 {
			t.Errorf("the score falls by %v by the plan %s", fall, p.json())
		}
	}
	t.Logf("the score fell by %v at most", worst)
}
