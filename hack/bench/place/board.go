package place

import (
	"fmt"
)

const (
	// warmS is for how long a board has been there when an attack begins: a day, and the time that a score looks back.
	warmS = 28 * hour
	// places is how many launches are the first ones.
	places = 10
	// longestS is the longest time for which a place is held, endsS when the last launch of a market is, whatever part of it is looked at.
	longestS = 12 * hour
	endsS    = warmS + patienceS + longestS + hour
)

// standings are the scores of the first of Running on a population's board, at each ranking from the time on at which attacks begin.
type standings struct {
	*population

	formula *formula
	seed    uint64
	// payers are the exchanges' wallets, and then the bridges.
	payers  []*account
	first   [][places]float64 // best first; 0 where Running has fewer
	running []int             // how many launches Running has
	// launches is how many launches were simulated, curves how many of them began on a curve, filled how many of these curves were sold out.
	launches, curves, filled int
	// honest are the launches that nobody bundles or washes and that are among the first when attacks begin, best first.
	honest []int
}

// standingsOf has a population trade for so many seconds after attacks may begin. progress is told how far it is.
func standingsOf(p *population, f *formula, seed uint64, seconds int64, progress func(done int64)) (*standings, error) {
	r := newReferee(f)
	c := newChain(r.take)
	o := settle(c, p, seed, all)
	out := &standings{population: p, formula: f, seed: seed, payers: o.from}
	step := int64(300)
	for at := int64(genesis); at <= genesis+warmS+seconds; at += step {
		c.run(at + blockS)
		if err := r.derive(c.before()); err != nil {
			return nil, fmt.Errorf("the board of %s: %w", p.name, err)
		}
		progress(at - genesis)
		if at < genesis+warmS-step {
			continue
		}
		step = rankS
		list := r.running()
		if at < genesis+warmS {
			continue // a launch that is held needs two rankings to leave
		}
		if at == genesis+warmS {
			out.honest = o.honestOf(list[:min(places, len(list))])
		}
		var first [places]float64
		for i := range min(places, len(list)) {
			first[i] = list[i].score
		}
		out.first, out.running = append(out.first, first), append(out.running, len(list))
	}
	for _, t := range o.tokens {
		if out.launches++; t.curve != nil {
			out.curves++
			if t.main != t.curve {
				out.filled++
			}
		}
	}
	return out, nil
}

// clonePayers are the exchanges' wallets and bridges for one trial.
func (b *standings) clonePayers() []*account {
	out := make([]*account, len(b.payers))
	for i, who := range b.payers {
		out[i] = new(*who)
	}
	return out
}

// snipe has strangers buy an attacker's launch as they buy all.
func (b *standings) snipe(c *chain, t *token, payers []*account, seed uint64) {
	o := &organic{population: b.population, chain: c, seed: seed, wealth: make(map[*account]float64), from: payers, alone: true}
	o.made = accounts{seed: seed, kind: strangers, made: int(t.address.Bytes()[19]) << 20}
	o.bundler = o.made.next(0)
	o.snipe(t, o.rng(1<<42+int(t.address.Bytes()[19])))
}

// honestOf are the honest launches of a list.
func (o *organic) honestOf(list []standing) (out []int) {
	for _, s := range list {
		for n, t := range o.tokens {
			if t.address == s.mint && o.honest[t] {
				out = append(out, n)
			}
		}
	}
	return out
}
