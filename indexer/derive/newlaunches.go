package derive

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// newcomer are the launches that a batch announces, which the state doesn't know yet.
type newcomer struct {
	mints  map[market.Address]bool
	curves map[market.Address]market.Address
}

func newcomers(blocks []market.Block) (n newcomer) {
	for i := range blocks {
		for _, tx := range blocks[i].Txs {
			for _, l := range tx.Logs {
				e, ok := l.Event.(market.Launched)
				if !ok {
					continue
				}
				if n.mints == nil {
					n.mints, n.curves = map[market.Address]bool{}, map[market.Address]market.Address{}
				}
				n.mints[e.Token] = true
				if _, claimed := n.curves[e.Curve]; !claimed {
					n.curves[e.Curve] = e.Token
				}
			}
		}
	}
	return n
}

// launchOf is State.launchOf, the batch's own launches among them.
func (n newcomer) launchOf(s *State, e market.Event) (mint market.Address, ok bool) {
	if mint, ok = s.launchOf(e); ok {
		return mint, ok
	}
	venue, curve, mint := curveOf(e)
	if venue == "" {
		mint, ok = n.curves[curve]
		return mint, ok && !curve.IsNone()
	}
	return mint, n.mints[mint]
}
