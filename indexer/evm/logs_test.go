package evm

import (
	"errors"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestABlockAtATopicLimit reads a block by its hash from an endpoint with a limit: its digest is that of an endpoint without one.
func TestABlockAtATopicLimit(t *testing.T) {
	t.Parallel()
	hash := market.Hash{1}
	var digests [][32]byte
	for _, most := range []int{0, 4, 2, 1} {
		n := nodetest.NewLogNode(t, most, nodetest.AtMostTopics)
		s := sourceOf(t, time.Now, n.URL)
		s.topics = nodetest.TopicsTo(9)
		for _, l := range nodetest.ManyLogs(9)[:18] {
			l.BlockHash = hash.String()
			n.Logs = append(n.Logs, l)
		}
		var h chain.Header
		h.Number, h.Hash = 7, hash
		r, err := s.Block(t.Context(), h)
		if err != nil {
			t.Fatalf("%d topics: %v", most, err)
		}
		digests = append(digests, restsOn(&r).answer.digest)
		if restsOn(&r).answer.logs != 18 || digests[0] != restsOn(&r).answer.digest {
			t.Errorf("%d topics: %d logs with digest %x, want 18 with %x", most, restsOn(&r).answer.logs, restsOn(&r).answer.digest, digests[0])
		}
	}
}

// TestLogsOutOfOrderAreRefused reads logs of the blocks 7 to 9.
func TestLogsOutOfOrderAreRefused(t *testing.T) {
	t.Parallel()
	at := func(list ...uint64) (out []decode.Log) {
		for _, b := range list {
			out = append(out, decode.Log{Block: b})
		}
		return out
	}
	last := &chain.Header{}
	last.Number = 9
	if err := areOfRange(at(7, 7, 7, 8, 9), 7, last); err != nil {
		t.Errorf("logs in order are refused: %v", err)
	}
	for _, logs := range [][]decode.Log{at(7, 8, 7, 9), at(7, 9, 9, 8)} {
		if err := areOfRange(logs, 7, last); !errors.Is(err, rpc.ErrGarbage) {
			t.Errorf("%v: %v", logs, err)
		}
	}
}
