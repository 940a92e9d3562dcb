package evm

import (
	"strconv"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
)

// tellBlock tells of a block that something is the matter with.
func (s *Source) tellBlock(block uint64, reason string) {
	if s.aside != nil {
		s.aside(chain.Aside{Kind: "block", Subject: strconv.FormatUint(block, 10), Reason: reason})
	}
}
