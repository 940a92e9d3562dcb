package solana

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// shortHole is how many slots a hole of these tests has at most: the chain has to be made beyond it. Longer ones are in solana.TestALongGapOfOneEndpoint.
const shortHole = 60

// TestAnIndexOfSolanaBeforeAHole: an index whose only node lacks blocks stops before the first one and tells the range once ten minutes of its clock have passed. With a
// second node, which has them, it goes on to the head, and has the rows of an index without limits.
func TestAnIndexOfSolanaBeforeAHole(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"agave-restarted", "agave-storage"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := profile(t, name)
			p.Solana.Holes.Slots = min(p.Solana.Holes.Slots, shortHole)
			first := p.Solana.Holes.From
			_, last, _ := p.Solana.Holes.Around(first)
			s := begin(t, Options{Seed: 4, Past: 220}, p, profile(t, "agave"))
			st := storetest.Open(t, "sqlite")

			alone, later := *s.cfg, new(atomic.Int64)
			alone.Endpoints = s.cfg.Endpoints[:1]
			ix, stop := run(t, st, &alone, func() time.Time { return time.Now().Add(time.Duration(later.Load())) })
			missing := awaitMissing(t, ix, later)
			stop()
			if missing == nil || missing.First != first || missing.Last != last {
				t.Errorf("the slots %d to %d are missing, and it says %+v", first, last, missing)
			}
			s.isBefore(t, st, first)

			before := s.nodes[0].Counts().Refused["gap"]
			stop = s.index(t, st, s.cfg)
			s.await(t, st)
			stop()
			if refused := s.nodes[0].Counts().Refused["gap"]; before == 0 || refused == before {
				t.Errorf("the node refused %d slots of a hole to the index that had it alone, and %d to the one with another node", before, refused-before)
			}
			s.compare(t, st)
		})
	}
}

// awaitMissing waits until an index tells which blocks are missing, while its clock runs ahead. It returns nil if that never happens.
func awaitMissing(t *testing.T, ix *indexer.Indexer, later *atomic.Int64) *chainconfig.MissingRange {
	t.Helper()
	for range 36 {
		for range 50 {
			if missing := ix.State().Missing; missing != nil {
				return missing
			}
			time.Sleep(100 * time.Millisecond)
		}
		later.Add(int64(11 * time.Minute)) // an index that hadn't come to the hole waits from now on
	}
	return nil
}

// isBefore wants an index to be at the last block before a slot, and to have no trade of that slot or later.
func (s *trial) isBefore(t *testing.T, st *store.Store, slot uint64) {
	t.Helper()
	var below []uint64
	if err := s.Call(t.Context(), &below, "getBlocks", 0, slot-1); err != nil {
		t.Fatal(err)
	}
	status, _, err := st.Chain(t.Context(), s.cfg.ID)
	if err != nil || status.Last.Number != below[len(below)-1] {
		t.Errorf("the index is at block %d (%v), and the last one before the hole is %d", status.Last.Number, err, below[len(below)-1])
	}
	trades, err := st.Inspect.Trades(t.Context(), s.cfg.ID, 0, 0)
	if err != nil || len(trades) == 0 {
		t.Fatalf("%d trades, %v", len(trades), err)
	}
	if last := trades[len(trades)-1].Block; last >= slot {
		t.Errorf("trades up to block %d are there", last)
	}
}

// TestAnIndexOfSolanaWhoseNodeStandsStill: one of two nodes stands still for sixty slots and begins anew from a snapshot. The index comes to the head by the other
// one, and has the rows of an index without limits.
func TestAnIndexOfSolanaWhoseNodeStandsStill(t *testing.T) {
	t.Parallel()
	restarted := profile(t, "agave-restarted")
	restarted.Solana.Holes.Slots = shortHole
	s := begin(t, Options{Seed: 5, Past: 60, BlockTime: 100 * time.Millisecond}, restarted, profile(t, "agave"))
	st := storetest.Open(t, "sqlite")
	stop := s.index(t, st, s.cfg)
	for s.Newest() < 200 {
		s.liveFor(t, time.Second)
	}
	late := s.behind(t, st, s.World.Slot())
	s.await(t, st)
	stop()
	counts := s.nodes[0].Counts()
	t.Logf("%d slots behind, refused %v", late, counts.Refused)
	if counts.Refused["gap"] == 0 {
		t.Error("the node refused no slot of the hole")
	}
	s.compare(t, st)
}
