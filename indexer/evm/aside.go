package evm

import (
	"strconv"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
)

// tellBlock reports a block that was set aside, with the reason.
func (s *Source) tellBlock(block uint64, reason string) {
	if s.aside != nil {
		s.aside(chain.Aside{Kind: "block", Subject: strconv.FormatUint(block, 10), Reason: reason})
	}
}
