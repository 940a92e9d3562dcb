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
	// held is the longest time that it came near to it, in seconds, and near how near the best score came to what was needed, up to 1.
	held int64
	near float64
	// gas, wallets and fees are parts of the price; best is the highest score.
	gas, wallets, fees, best float64
	reachedS                 int64
}

// worth orders trials: those that reached the goal by their price, others after them by how near they came.
func (t *trial) worth() float64 {
	if t.reached {
		return t.price
	}
	return 1e9 * (2 - t.near) * (1 + 1/(1+float64(t.held)))
}

// try runs a plan against a board. reactions is the seed of what strangers do.
func try(p *plan, in *inputs, b *standings, g goal, reactions uint64) (trial, error) {
	r := newReferee()
	c := newChain(r.take)
	launchAt := int64(genesis + warmS)
	a := start(c, p, in, reactions, b.payers[:exchangeWallets], launchAt, nil)
	out := trial{plan: *p}
	since := int64(-1) // the goal is met
	for i := range b.first {
		at := launchAt + int64(i)*rankS
		c.run(at + blockS)
		if i == 0 {
			a.expectSnipers(b.population, b.payers)
		}
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
		if out.reachedS = at - launchAt; out.reached || since < 0 && out.reachedS > patienceS || out.reachedS > patienceS+g.holdS {
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

// expectSnipers has strangers buy the attacker's tokens as they do all.
func (a *attack) expectSnipers(p *population, payers []*account) {
	for i, t := range a.tokens {
		o := &organic{population: p, chain: a.chain, seed: a.made.seed, wealth: make(map[*account]float64), from: payers}
		o.made = accounts{seed: a.made.seed, kind: strangers, made: i << 20}
		o.snipe(t, o.rng(i))
	}
}

// cheapest sorts trials, the best first.
func cheapest(list []trial) {
	slices.SortStableFunc(list, func(a, b trial) int { return cmp.Compare(a.worth(), b.worth()) })
}
