package evm

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// headersNode has headers of all blocks.
func headersNode(t *testing.T) *nodetest.Node {
	t.Helper()
	return nodetest.New(t, func(_ string, params []json.RawMessage) (string, string) {
		number, err := rpc.ParseQuantity(params[0])
		if err != nil {
			t.Error(err)
		}
		return blocktest.Header(number, true, "5208"), ""
	})
}

// TestADayHasSoManyUnits asks an endpoint until its units are spent: all of them can be, each call of a batch counts, and midnight brings new ones.
func TestADayHasSoManyUnits(t *testing.T) {
	t.Parallel()
	node := headersNode(t)
	var seen budget.Spent
	clock := time.Unix(20_000*86400, 0)
	s := sourceFor(t, Options{Now: func() time.Time { return clock }, Observe: func(_ string, spent budget.Spent, _ error) {
		seen.Calls, seen.Units = seen.Calls+spent.Calls, seen.Units+spent.Units
	}}, chainconfig.Endpoint{URL: node.URL, ComputeUnitsPerDay: 200, RequestsPerDay: 1000, ComputeUnits: map[string]int64{"eth_getBlockByNumber": 30, "other": 20}})
	// The chain's id, a header, and the header once more since its hash isn't that of its fields: 80 units.
	if _, err := s.Header(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	_, err := s.Headers(rpc.For(t.Context(), budget.Trust), market.Header{}, 6, 10)
	if err == nil || !strings.Contains(err.Error(), "compute units per day are spent") || !errors.Is(err, rpc.ErrUnanswered) {
		t.Errorf("five headers more are 150 units, 120 are left: %v", err)
	}
	if _, err := s.Headers(rpc.For(t.Context(), budget.Trust), market.Header{}, 6, 9); err != nil {
		t.Errorf("four headers more are the 120 units that are left: %v", err)
	}
	usage, list := s.Usage()
	if e := list[0]; e.Units != 200 || e.UnitsPerDay != 200 || e.Calls != 7 || e.CallsPerDay != 1000 || usage[budget.Trust] != (budget.Spent{Calls: 4, Units: 120}) {
		t.Errorf("it says that %+v was spent, %v by purpose", e, usage)
	}
	clock = clock.Add(24*time.Hour - time.Second)
	if _, err := s.Header(t.Context(), 5); err == nil {
		t.Error("it was asked although its units were spent")
	}
	clock = clock.Add(time.Second)
	if _, err := s.Header(t.Context(), 5); err != nil {
		t.Errorf("another day has no units: %v", err)
	}
	if usage, list = s.Usage(); list[0].Units != 60 || usage[budget.Blocks] != (budget.Spent{Calls: 5, Units: 140}) {
		t.Errorf("on the other day %+v was spent, %v since the start", list[0], usage)
	}
	if want := (budget.Spent{Calls: 9, Units: 260}); seen != want {
		t.Errorf("%+v were observed, want %+v", seen, want)
	}
	if n := node.Count("eth_getBlockByNumber"); n != 8 {
		t.Errorf("the node was asked for %d headers, want 8", n)
	}
}

// TestEndpointsShareByWeight asks two nodes that are equally fast, of which one has three times the other's weight, one after the other and many
// at once.
func TestEndpointsShareByWeight(t *testing.T) {
	t.Parallel()
	for name, atOnce := range map[string]int{"one at a time": 1, "eight at once": 8} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			heavy, light := headersNode(t), headersNode(t)
			// The clock stands, so that both are as fast, however fast the machine is.
			now := time.Unix(20_000*86400, 0)
			s := sourceFor(t, Options{Now: func() time.Time { return now }},
				chainconfig.Endpoint{URL: light.URL, Weight: 1}, chainconfig.Endpoint{URL: heavy.URL, Weight: 3})
			const asked = 4000
			var wg sync.WaitGroup
			for range atOnce {
				wg.Go(func() {
					for range asked / atOnce {
						if _, err := s.Header(t.Context(), 5); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			share := float64(heavy.Count("eth_getBlockByNumber")) / float64(light.Count("eth_getBlockByNumber"))
			t.Logf("weights of 3 and 1 got calls of %.2f to 1", share)
			if share < 2.7 || share > 3.3 {
				t.Errorf("weights of 3 and 1 got calls of %.2f to 1", share)
			}
		})
	}
}

// TestASpentEndpointLeavesTheCallsToOthers asks two nodes, of which the weightier has few calls a day: no question goes without an answer when they
// are spent, nor when fewer are left than a question has. The next day it is asked again.
func TestASpentEndpointLeavesTheCallsToOthers(t *testing.T) {
	t.Parallel()
	const perDay = 50
	small, other := headersNode(t), headersNode(t)
	clock := time.Unix(20_000*86400, 0)
	s := sourceFor(t, Options{Now: func() time.Time { return clock }},
		chainconfig.Endpoint{URL: small.URL, Weight: 100, RequestsPerDay: perDay}, chainconfig.Endpoint{URL: other.URL, Weight: 1})
	for range 10 {
		if _, err := s.Headers(t.Context(), market.Header{}, 5, 11); err != nil { // 7 headers
			t.Fatal(err)
		}
	}
	for range 200 {
		if _, err := s.Header(t.Context(), 5); err != nil {
			t.Fatal(err)
		}
	}
	all := func() int { return small.Count("eth_getBlockByNumber") + small.Count("eth_chainId") }
	spent := all()
	if spent > perDay || spent <= perDay-7 {
		t.Errorf("the small one had %d calls of the %d that it allows", spent, perDay)
	}
	if n := other.Count("eth_getBlockByNumber"); n < 220 {
		t.Errorf("the other had %d calls, want all but the small one's", n)
	}
	clock = clock.Add(24 * time.Hour)
	if _, err := s.Header(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if all() == spent {
		t.Error("the next day it isn't asked")
	}
}

// TestNoRangeIsDrawnWhileAgreementIsGivenUp asks whether a second endpoint is asked for a range that is drawn, and for one of an endpoint that is
// new or was outvoted.
func TestNoRangeIsDrawnWhileAgreementIsGivenUp(t *testing.T) {
	t.Parallel()
	givenUp := false
	s := sourceFor(t, Options{Now: time.Now, GivesUp: func(p budget.Purpose) bool { return givenUp && p == budget.Agreement }},
		chainconfig.Endpoint{URL: "http://one.invalid"}, chainconfig.Endpoint{URL: "http://two.invalid"})
	e := s.pool.List[0]
	drawn := &answer[chain.Batch]{by: e} // its hash is 0
	for _, c := range []struct {
		givenUp, sampled bool
		probation        int
		distrusted       bool
	}{
		{false, true, probation, false}, {true, false, probation, false}, {true, true, probation - 1, false}, {true, true, probation, true},
	} {
		givenUp, e.probation = c.givenUp, c.probation
		if c.distrusted {
			e.Outvote()
		}
		if got := s.isSampled(drawn); got != c.sampled {
			t.Errorf("%+v: a second endpoint is asked: %t", c, got)
		}
	}
}
