package contracts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/internal/market"
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

// TestNewestSupplies asks endpoints that may be at different blocks, lie, fail, or move on meanwhile. At block n the supply is n.
func TestNewestSupplies(t *testing.T) {
	t.Parallel()
	const noEarlier = 7
	for name, tt := range map[string]struct {
		nodes []newestNode
		// want are the supplies, as "block: supply".
		want string
	}{
		"one":                                  {nodes: []newestNode{{head: 9}}, want: "9: 9, 9: 9"},
		"one that is behind":                   {nodes: []newestNode{{head: 6}}},
		"one that is just there":               {nodes: []newestNode{{head: 7}}, want: "7: 7, 7: 7"},
		"its head moves on once":               {nodes: []newestNode{{head: 9, moves: 1}}, want: "10: 10"},
		"its head moves on each time":          {nodes: []newestNode{{head: 9, moves: 1000}}},
		"two agree":                            {nodes: []newestNode{{head: 9}, {head: 9}}, want: "9: 9, 9: 9"},
		"two differ":                           {nodes: []newestNode{{head: 9}, {head: 9, lie: 4}}},
		"two of three agree":                   {nodes: []newestNode{{head: 9, lie: 4}, {head: 9}, {head: 9}}, want: "9: 9, 9: 9"},
		"one of two fails":                     {nodes: []newestNode{{head: 9, fails: true}, {head: 9}}},
		"two at different blocks":              {nodes: []newestNode{{head: 9}, {head: 8}}},
		"two at different blocks say the same": {nodes: []newestNode{{head: 9}, {head: 8, lie: 1}}},
		"two at different blocks of one":       {nodes: []newestNode{{head: 9}, {head: 9, fork: 1}}},
		"one of two is behind":                 {nodes: []newestNode{{head: 9}, {head: 6, lie: 3}}},
		"it has all states":                    {nodes: []newestNode{{head: 9, keeps: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var urls []string
			for _, n := range tt.nodes {
				urls = append(urls, n.start(t).URL)
			}
			s := sourceOf(t, time.Now, urls...)
			s.Contracts().calls.NewestAlone.Store(!tt.nodes[0].keeps)
			tokens := []market.Address{someV2Pools[0].Pool, someV2Pools[1].Pool}
			list, err := s.Contracts().NewestSupplies(t.Context(), noEarlier, tokens)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, after := range list {
				if after.Token != tokens[i] || after.Hash != hashOfBlock(int(after.After), 0) {
					t.Errorf("supply %d is %+v", i, after)
				}
				got = append(got, fmt.Sprintf("%d: %s", after.After, after.Supply.Dec()))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestNodesOfTheNewestStateAreNoticed asks for a supply after a recent block: nodes that have no state of it are asked for the newest supplies from then on, until one has.
func TestNodesOfTheNewestStateAreNoticed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		node newestNode
		seen uint64
		want bool
	}{
		"it says that it has none":         {node: newestNode{head: 9}, want: true},
		"it answers with the newest state": {node: newestNode{head: 9, silent: true}, want: true},
		"it has all states":                {node: newestNode{head: 9, keeps: true}},
		"it fails":                         {node: newestNode{head: 9, keeps: true, fails: true}},
		"the block is an old one":          {node: newestNode{head: 9}, seen: 5 + ethcall.LateBlocks},
		"the block isn't too old":          {node: newestNode{head: 9}, seen: 4 + ethcall.LateBlocks, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sourceOf(t, time.Now, tt.node.start(t).URL)
			s.seen.Store(tt.seen)
			at, tokens := chain.Ref{Number: 5, Hash: hashOfBlock(5, 0)}, []market.Address{someV2Pools[0].Pool}
			noDoubt := func(market.SupplyFact) chain.Doubt { return chain.NoDoubt }
			if _, err := s.Contracts().Supplies(t.Context(), at, tokens, noDoubt); (err != nil) != tt.node.fails {
				t.Fatal(err)
			}
			if got := s.Contracts().TellsNewestSupplies(); got != tt.want {
				t.Errorf("it is said that nodes tell the newest supplies alone: %v, want %v", got, tt.want)
			}
			if !tt.node.keeps || tt.node.fails {
				return
			}
			for seen, want := range map[uint64]bool{at.Number: true, at.Number + 1: false} { // of the newest block a node of the newest state may answer, too
				s.Contracts().calls.NewestAlone.Store(true)
				s.seen.Store(seen)
				if _, err := s.Contracts().Supplies(t.Context(), at, nil, noDoubt); err != nil || !s.Contracts().TellsNewestSupplies() {
					t.Errorf("asked for nothing, with block %d seen: %v", seen, err)
				}
				if _, err := s.Contracts().Supplies(t.Context(), at, tokens, noDoubt); err != nil || s.Contracts().TellsNewestSupplies() != want {
					t.Errorf("a node with all states, with block %d seen: %v, want %v; %v", seen, s.Contracts().TellsNewestSupplies(), want, err)
				}
			}
		})
	}
}
