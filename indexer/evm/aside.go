package evm

import (
	"cmp"
	"strconv"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// tellAsides tells of each contract once for each reason.
func (s *Source) tellAsides(list []*call) {
	if s.aside == nil {
		return
	}
	type told struct {
		contract market.Address
		reason   string
	}
	seen := map[told]bool{}
	for _, c := range list {
		if t := (told{c.to, c.aside}); c.aside != "" && !seen[t] {
			seen[t] = true
			s.aside(chain.Aside{Kind: "contract", Subject: cmp.Or(c.to.String(), "many in a deployless call"), Reason: c.aside})
		}
	}
}

func (s *Source) tellBlock(block uint64, reason string) {
	if s.aside != nil {
		s.aside(chain.Aside{Kind: "block", Subject: strconv.FormatUint(block, 10), Reason: reason})
	}
}
