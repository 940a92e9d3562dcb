package evm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
)

// TestNewestPoolStates asks endpoints that may be at different blocks, lie, fail, or move on meanwhile.
func TestNewestPoolStates(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		nodes []newestNode
		// want are the states of the first pool, as "block: reserve", with a question mark where it is unsure, and a dash where it isn't known.
		want []string
		told string
	}{
		"one":                              {nodes: []newestNode{{head: 9}}, want: []string{"9: 9"}},
		"its head moves on once":           {nodes: []newestNode{{head: 9, moves: 1}}, want: []string{"10: 10"}},
		"its head moves on each time":      {nodes: []newestNode{{head: 9, moves: 1000}}},
		"it fails":                         {nodes: []newestNode{{head: 9, fails: true}}},
		"two agree":                        {nodes: []newestNode{{head: 9}, {head: 9}}, want: []string{"9: 9"}},
		"two differ":                       {nodes: []newestNode{{head: 9}, {head: 9, lie: 4}}, want: []string{"9: -"}},
		"two of three agree":               {nodes: []newestNode{{head: 9, lie: 4}, {head: 9}, {head: 9}}, want: []string{"9: 9"}, told: chain.CallContradicted},
		"one of two fails":                 {nodes: []newestNode{{head: 9, fails: true}, {head: 9}}, want: []string{"9: 9?"}},
		"two at different blocks":          {nodes: []newestNode{{head: 9}, {head: 8}}, want: []string{"8: 8?", "9: 9?"}},
		"two at different blocks of one":   {nodes: []newestNode{{head: 9}, {head: 9, fork: 1}}, want: []string{"9: 9?", "9: 9?"}},
		"one lies about its block as well": {nodes: []newestNode{{head: 9}, {head: 9}, {head: 200, lie: 1}}, want: []string{"200: 201?", "9: 9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var urls, told []string
			for _, n := range tt.nodes {
				urls = append(urls, n.start(t).URL)
			}
			s := sourceOf(t, time.Now, urls...)
			s.aside = func(a chain.Aside) { told = append(told, a.Reason) }
			list, err := s.Contracts().NewestPoolStates(t.Context(), someV2Pools)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, after := range list {
				p, text := after.States[0], "-"
				if p.Known {
					text = p.Reserve0.Dec()
				}
				if p.Unsure {
					text += "?"
				}
				got = append(got, fmt.Sprintf("%d: %s", after.After.Number, text))
			}
			slices.Sort(got)
			if strings.Join(got, ", ") != strings.Join(tt.want, ", ") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if slices.Contains(told, chain.CallContradicted) != (tt.told != "") {
				t.Errorf("told of %q, want %q", told, tt.told)
			}
		})
	}
}
