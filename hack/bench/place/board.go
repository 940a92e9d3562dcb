package place

import (
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// warmS is for how long a board has been there when an attack begins: a day, and the time that a score looks back.
	warmS = 28 * hour
	// places is how many launches are the first ones.
	places = 10
)

// standings are the scores of the first of Running on a population's board, at each ranking from the time on at which attacks begin.
type standings struct {
	*population

	seed uint64
	// payers are the exchanges' wallets, and then the bridges.
	payers []*account
	first  [][places]float64 // best first; 0 where Running has fewer
	// running is how many launches Running has.
	running []int
	// honest are the launches that nobody bundles or washes and that are among the first when attacks begin, best first.
	honest []int
}

// before is the newest block that is full.
func (c *chain) before() market.Header {
	return market.Header{Number: c.filled.Number - 1, Hash: c.filled.Parent, Time: c.now - blockS}
}

// standingsOf has a population trade for so many seconds after attacks may begin. progress is told how far it is.
func standingsOf(p *population, seed uint64, seconds int64, progress func(done int64)) (*standings, error) {
	r := newReferee()
	c := newChain(r.take)
	o := settle(c, p, seed, genesis+warmS+seconds, all)
	out := &standings{population: p, seed: seed, payers: o.from}
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
	return out, nil
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
