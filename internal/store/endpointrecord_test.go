package store_test

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestEndpointRecords commits with records of a chain's endpoints, without, and with others.
func TestEndpointRecords(t *testing.T) {
	t.Parallel()
	one := store.EndpointRecord{Endpoint: [16]byte{15: 1}, Outvoted: 2, OutvotedAt: 1_700_000_000}
	two := store.EndpointRecord{Endpoint: [16]byte{2}, Outvoted: 1, OutvotedAt: 1_700_000_100}
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			for i, step := range []struct{ commit, want []store.EndpointRecord }{
				{nil, nil},
				{[]store.EndpointRecord{one, two}, []store.EndpointRecord{one, two}},
				{nil, []store.EndpointRecord{one, two}},
				{[]store.EndpointRecord{two}, []store.EndpointRecord{two}},
				{[]store.EndpointRecord{}, nil},
			} {
				c := &store.Commit{Last: header(i + 1), Blocks: []market.Header{header(i + 1)}, Endpoints: step.commit}
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
				if got, err := s.Facts.EndpointRecords(t.Context(), "base"); err != nil || !slices.Equal(got, step.want) {
					t.Errorf("after commit %d the records are %+v, %v; want %+v", i+1, got, err, step.want)
				}
			}
		})
	}
}
