package place

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// looked is how often, in seconds, launches without an attack are looked at for what clusters take from them.
const looked = 900

// losses are by which parts clusters lower scores, from 0 to 1.
type losses []float64

// at is the loss that a share of all don't exceed.
func (l losses) at(share float64) string {
	if len(l) == 0 {
		return ""
	}
	slices.Sort(l)
	return fmt.Sprintf("%.1f", 100*l[min(int(share*float64(len(l))), len(l)-1)])
}

// honest is how much lower launches in Running score than they would if nobody could tell where wallets' coins came from, in percent: honest ones, and those that are
// bundled or traded to and fro.
func (m *measurement) honest() error {
	t := lab.NewTable("board", ">honest launches", ">median loss, %", ">worst tenth", ">most", ">others", ">median loss, %", ">worst tenth", ">most")
	for i := range populations {
		honest, others, seen, err := m.lossesOf(&populations[i])
		if err != nil {
			return err
		}
		t.Add(populations[i].name, strconv.Itoa(seen[true]), honest.at(0.5), honest.at(0.9), honest.at(1), strconv.Itoa(seen[false]), others.at(0.5), others.at(0.9), others.at(1))
	}
	return t.Write(os.Stdout)
}

// lossesOf are the losses of the launches that meet the quality bar at a look within four hours, each the median of its looks, and how many launches there were, by
// whether they are honest.
func (m *measurement) lossesOf(p *population) (honest, others losses, seen map[bool]int, err error) {
	telling, blind := newReferee(m.formula), newReferee(m.formula)
	blind.blind = true
	c := newChain(func(b *block) {
		telling.take(b)
		blind.take(b)
	})
	o := settle(c, p, m.seed, func(int) bool { return true })
	isHonest, all := make(map[market.Address]bool), make(map[market.Address]losses)
	const length = 4 * hour
	progress := lab.NewProgress("the board of "+p.name+", twice", warmS+length)
	for at := int64(genesis); at <= genesis+warmS+length; at += looked {
		c.run(at + blockS)
		for _, r := range []*referee{telling, blind} {
			if err := r.derive(c.before()); err != nil {
				return nil, nil, nil, err
			}
		}
		progress.At(at - genesis)
		if at < genesis+warmS {
			continue
		}
		for _, token := range o.tokens {
			isHonest[token.address] = o.honest[token]
		}
		for _, s := range blind.running() {
			told, listed := telling.judge(s.mint)
			if !listed || s.score <= 0 || len(s.fails.Names()) > 0 {
				continue
			}
			all[s.mint] = append(all[s.mint], 1-told.score/s.score)
		}
	}
	seen = make(map[bool]int)
	for mint, list := range all {
		slices.Sort(list)
		if seen[isHonest[mint]]++; isHonest[mint] {
			honest = append(honest, list[len(list)/2])
		} else {
			others = append(others, list[len(list)/2])
		}
	}
	return honest, others, seen, m.context.Err()
}
