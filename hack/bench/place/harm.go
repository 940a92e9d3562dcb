package place

import "math"

// victim is an honest launch of a board that is attacked, with its score at each ranking as it is when nobody attacks it.
type victim struct {
	board *standings
	n     int
	alone []float64
}

// newVictim runs a launch of a board by itself.
func newVictim(b *standings, n int) (*victim, error) {
	v := &victim{board: b, n: n}
	var err error
	v.alone, _, err = v.run(nil, nil, 0)
	return v, err
}

// run has the launch traded by its own buyers and by an attacker, if there is a plan, and gives its scores for an hour, and what the attack costs.
func (v *victim) run(p *plan, in *inputs, strangers uint64) (scores []float64, price float64, err error) {
	r := newReferee(v.board.formula)
	c := newChain(r.take)
	o := settle(c, v.board.population, v.board.seed, func(n int) bool { return n == v.n })
	begin := int64(genesis + warmS)
	var a *attack
	if p != nil {
		own := *p
		own.Tokens = 1 // one launch is attacked
		a = newAttack(c, &own, in, strangers, v.board.clonePayers()[:exchangeWallets], begin)
		a.target = func() *token { return o.tokens[v.n] }
	}
	for at := begin; at <= begin+hour; at += rankS {
		c.run(at + blockS)
		if err := r.derive(c.before()); err != nil {
			return nil, 0, err
		}
		s, _ := r.judge(o.tokens[v.n].address)
		scores = append(scores, s.score)
	}
	if a != nil {
		a.end()
		price = a.ledger.price(in)
	}
	return scores, price, nil
}

// harm is by which part an attack lowers the launch's score over an hour, from 0 to 1, and what it costs.
func (v *victim) harm(p *plan, in *inputs, strangers uint64) (fall, price float64, err error) {
	scores, price, err := v.run(p, in, strangers)
	if err != nil {
		return 0, 0, err
	}
	var alone, attacked float64
	for i := range scores {
		alone, attacked = alone+v.alone[i], attacked+scores[i]
	}
	return max(0, 1-attacked/math.Max(alone, 1e-9)), price, nil
}

// try runs a plan whose goal is to lower the score by a part.
func (v *victim) try(p *plan, in *inputs, fall float64, strangers uint64) (trial, error) {
	got, price, err := v.harm(p, in, strangers)
	return trial{plan: *p, reached: got >= fall, price: price, near: min(1, got/fall)}, err
}
