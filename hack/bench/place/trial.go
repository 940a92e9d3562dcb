package place

import (
	"cmp"
	"slices"
)

// goal is what an attacker wants of its tokens: to be in Running, or among the first of it, at all rankings of some time.
type goal struct {
	name  string
	first bool
	holdS int64
}

var (
	enterRunning = goal{"enter Running", false, 0}
	beAmongTen   = goal{"be in the first ten", true, 0}
	holdAnHour   = goal{"hold the first ten for an hour", true, hour}
)

// patienceS is how long after the launch an attacker that has not begun to reach its goal gives up.
const patienceS = 2 * hour

// trial is what became of a plan.
type trial struct {
	plan
	// reached says that the goal was, price what it cost for each token, in USD.
	reached bool
	price   float64
	// held is the longest time for which the goal was met, in seconds. near says how near the plan came to its goal at best, from 0 to 1; see nearness.
	held int64
	near float64
	// gas, wallets and fees are parts of the price; best is the highest score.
	gas, wallets, fees, best float64
	// endsS is how long after the launch it ended, in seconds.
	endsS int64
}

// worth orders trials: those that reached the goal by their price, others after them by how near they came.
func (t *trial) worth() float64 {
	if t.reached {
		return t.price
	}
	return 1e9 * (2 - t.near) * (1 + 1/(1+float64(t.held)))
}

// tryBoards tries a plan on several boards; on each, other snipers come. A plan must reach its goal on all; its price is the mean. It is tried on
// the first alone where it costs no less than a bound there.
func tryBoards(p *plan, in *inputs, boards []*standings, g goal, bound float64) (trial, error) {
	var out trial
	for i, b := range boards {
		t, err := try(p, in, b, g, b.seed, bound)
		switch {
		case err != nil:
			return t, err
		case i == 0:
			out = t
		default:
			out.price, out.gas, out.wallets, out.fees = out.price+t.price, out.gas+t.gas, out.wallets+t.wallets, out.fees+t.fees
			out.reached, out.held, out.near, out.best = t.reached, min(out.held, t.held), min(out.near, t.near), min(out.best, t.best)
		}
		if !out.reached || i == 0 && out.price >= bound {
			return out, nil
		}
	}
	for _, sum := range []*float64{&out.price, &out.gas, &out.wallets, &out.fees} {
		*sum /= float64(len(boards))
	}
	return out, nil
}

// mostSent is how many transactions an attack may have.
const mostSent = 50_000

// try runs a plan against a board, as long as it costs less than a bound. strangers is the seed of what they do.
func try(p *plan, in *inputs, b *standings, g goal, strangers uint64, bound float64) (trial, error) {
	r := newReferee(b.formula)
	c := newChain(r.take)
	launchAt := int64(genesis + warmS)
	payers := b.clonePayers()
	a := newAttack(c, p, in, strangers, payers[:exchangeWallets], launchAt)
	a.afterLaunch = func(t *token) { b.snipe(c, t, payers, strangers) }
	out := trial{plan: *p}
	since := int64(-1) // when the tokens began to meet the goal; -1 while they don't
	for i := range b.first {
		at := launchAt + int64(i)*rankS
		c.run(at + blockS)
		if err := r.derive(c.before()); err != nil {
			return out, err
		}
		switch met := out.look(r, a.tokens, &b.first[i], g); {
		case !met:
			since = -1
		case since < 0:
			since = at
		}
		if since >= 0 {
			out.held = max(out.held, at-since)
			out.reached = at-since >= g.holdS
		}
		if c.sent > mostSent || a.ledger.spent()/float64(p.Tokens) > bound {
			out.reached = false
			break
		}
		if out.endsS = at - launchAt; out.reached || since < 0 && out.endsS > patienceS || out.endsS > patienceS+g.holdS {
			break
		}
	}
	a.end()
	each := float64(len(a.tokens))
	out.price, out.gas, out.wallets, out.fees = a.ledger.price(in)/each, a.ledger.gas/each, a.ledger.wallets/each, a.ledger.fees/each
	return out, nil
}

// look reports whether an attacker's tokens meet a goal at a ranking, and keeps how near they came. first are the scores of the others.
func (t *trial) look(r *referee, tokens []*token, first *[places]float64, g goal) bool {
	met, needed := true, 0.0
	if g.first {
		needed = first[places-len(tokens)] // where all of the attacker's are among the first, so many fewer others are
	}
	for _, k := range tokens {
		s, listed := r.judge(k.address)
		met = met && listed && s.pass && (!g.first || s.score > needed)
		if listed {
			t.best = max(t.best, s.score)
		}
		t.near = max(t.near, nearness(&s, listed, needed))
	}
	return met
}

// nearness is how near a launch is to its place, from 0 to 1: how many of the bar's demands it meets, and how its score compares.
func nearness(s *standing, listed bool, needed float64) float64 {
	if !listed {
		return 0
	}
	near := 0.5 * (1 - float64(len(s.fails.Names()))/9)
	if needed > 0 {
		return near + 0.5*min(1, s.score/needed)
	}
	return near + 0.5
}

// cheapest sorts trials, the best first.
func cheapest(list []trial) {
	slices.SortStableFunc(list, func(a, b trial) int { return cmp.Compare(a.worth(), b.worth()) })
}
