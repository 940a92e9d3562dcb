package solana

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestNewestSupplies: a supply holds after the slot that the answer names. Of several endpoints two have to tell the same, each of its own newest block.
func TestNewestSupplies(t *testing.T) {
	w := newWorld(20)
	name := solanatest.Name("a token")
	token, err := market.ParseSolanaAddress(name)
	if err != nil {
		t.Fatal(err)
	}
	last, before := w.Blocks[len(w.Blocks)-1].Number, w.Blocks[len(w.Blocks)-4].Number
	type node struct {
		supply uint64
		behind int // blocks
	}
	for what, c := range map[string]struct {
		nodes []node
		want  uint64 // 0 is none
		after uint64
	}{
		"one":                    {[]node{{1000, 0}}, 1000, last},
		"two alike":              {[]node{{1000, 0}, {1000, 0}}, 1000, last},
		"the second is behind":   {[]node{{1000, 0}, {1000, 3}}, 1000, last},
		"the first is behind":    {[]node{{1000, 3}, {1000, 0}}, 1000, last},
		"two differ":             {[]node{{1000, 0}, {1001, 0}}, 0, 0},
		"made meanwhile":         {[]node{{1000, 3}, {1001, 0}}, 0, 0},
		"the other isn't there":  {[]node{{1000, 0}, {1000, 10}}, 0, 0},
		"both aren't there":      {[]node{{1000, 9}, {1000, 10}}, 0, 0},
		"a token of which is 0":  {[]node{{0, 0}}, 0, last},
		"more than a signed one": {[]node{{1<<64 - 1, 0}}, 1<<64 - 1, last},
	} {
		t.Run(what, func(t *testing.T) {
			var nodes []*solanatest.Node
			for _, n := range c.nodes {
				serves := solanatest.NewNode(t)
				serves.Serve(w.Blocks[:len(w.Blocks)-n.behind])
				serves.SetAccount(name, solanatest.Mint(6, n.supply))
				serves.SetAccount(solanatest.WSOL, solanatest.Mint(9, 0))
				nodes = append(nodes, serves)
			}
			s, _ := sourceOf(t, nodes...)
			got, _ := s.Accounts().NewestSupplies(t.Context(), before, []market.Address{wrappedSOL, token, market.SolanaAddress([32]byte{9})})
			switch {
			case c.after == 0 && len(got) > 0:
				t.Errorf("%+v, want none", got)
			case c.after > 0 && (len(got) != 1 || got[0].Token != token || got[0].Supply.Uint64() != c.want || got[0].After != c.after):
				t.Errorf("%+v, want %d after %d", got, c.want, c.after)
			}
		})
	}
}

// TestSupplyOfAnEarlierSlot: an answer that a node says is of an earlier slot than it was asked for is none.
func TestSupplyOfAnEarlierSlot(t *testing.T) {
	w := newWorld(20)
	n := nodesOf(t, w, func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if m, ok := result.(map[string]any); ok && method == "getMultipleAccounts" {
			m["context"] = map[string]any{"slot": 1}
		}
		return result, nil
	})[0]
	n.ServeWorld(w)
	s, _ := sourceOf(t, n)
	usdc, err := market.ParseSolanaAddress(solanatest.USDC)
	if err != nil {
		t.Fatal(err)
	}
	last := w.Blocks[len(w.Blocks)-1].Header
	if got, err := s.Accounts().NewestSupplies(t.Context(), last.Number, []market.Address{usdc}); err == nil {
		t.Errorf("%+v", got)
	}
	if got, _, err := s.Accounts().TokenFacts(t.Context(), chain.Ref{Number: last.Number}, []market.Address{usdc}); err == nil {
		t.Errorf("%+v", got)
	}
}

// TestSupplyOfASlotToCome: a supply of a slot that nobody can have reached isn't kept for then.
func TestSupplyOfASlotToCome(t *testing.T) {
	w := newWorld(20)
	for name, far := range map[string][]bool{"one endpoint": {true}, "one of two": {false, true}, "the first of two": {true, false}} {
		var nodes []*solanatest.Node
		for _, isFar := range far {
			n := nodesOf(t, w, func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
				if m, ok := result.(map[string]any); ok && method == "getMultipleAccounts" && isFar {
					m["context"] = map[string]any{"slot": 10_000_000}
				}
				return result, nil
			})[0]
			n.ServeWorld(w)
			nodes = append(nodes, n)
		}
		s, _ := sourceOf(t, nodes...)
		usdc, err := market.ParseSolanaAddress(solanatest.USDC)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Accounts().NewestSupplies(t.Context(), w.Blocks[0].Number, []market.Address{usdc}); err != nil || len(got) > 0 {
			t.Errorf("%s: %+v, error %v", name, got, err)
		}
	}
}

// TestSupplyOfItsBlockAlone: what a token is said to be after a block has a supply only where the answer is of that block.
func TestSupplyOfItsBlockAlone(t *testing.T) {
	w := newWorld(20)
	n := solanatest.NewNode(t)
	n.ServeWorld(w)
	s, _ := sourceOf(t, n)
	usdc, err := market.ParseSolanaAddress(solanatest.USDC)
	if err != nil {
		t.Fatal(err)
	}
	for i, has := range map[int]bool{len(w.Blocks) - 1: true, len(w.Blocks) - 2: false} {
		b := w.Blocks[i]
		facts, _, err := s.Accounts().TokenFacts(t.Context(), chain.Ref{Number: b.Number, Hash: b.Hash}, []market.Address{usdc, wrappedSOL})
		if err != nil || facts[0].HasSupply != has || has && facts[0].Supply.Uint64() != w.USDCSupply() || !facts[0].HasDecimals || facts[1].HasSupply {
			t.Errorf("block %d of %d: %+v, error %v", i, len(w.Blocks), facts, err)
		}
	}
}

// TestMadeIn: the supply of each launched token is what the transaction made that launched it. Of a transaction that moves what somebody had it isn't known.
func TestMadeIn(t *testing.T) {
	w := newWorld(200)
	n := solanatest.NewNode(t)
	n.ServeWorld(w)
	program, err := market.ParseSolanaAddress(solanatest.PumpFun)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSource(&chainconfig.Chain{
		ID: "solana", Family: chainconfig.Solana, GenesisHash: solanatest.Genesis, Endpoints: []chainconfig.Endpoint{{URL: n.URL, Weight: 1}},
		Venues: []chainconfig.Venue{{ID: "pump-fun", Protocol: chainconfig.PumpFun, Contracts: []market.Address{program}}},
	}, Options{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	launches, later := 0, 0
	for _, b := range w.Blocks {
		r, err := s.fetch(t.Context(), b.Number, s.blockOn)
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range r.Txs {
			for _, l := range tx.Logs {
				switch e := l.Event.(type) {
				case market.Launched:
					made := uint64(0)
					for _, f := range r.Facts {
						if f, ok := f.(market.TokenFact); ok && f.Token == e.Token {
							made = f.Supply.Uint64()
						}
					}
					launches++
					if got, known, err := s.Accounts().MadeIn(t.Context(), tx.ID, e.Token); err != nil || !known || got == 0 || got != made {
						t.Errorf("%s: %d, want %d; known %t, error %v", e.Token, got, made, known, err)
					}
				case market.CurveTrade:
					if got, known, err := s.Accounts().MadeIn(t.Context(), tx.ID, e.Token); err != nil || known && got == 0 {
						t.Errorf("a trade of %s: %d, error %v", e.Token, got, err)
					} else if !known {
						later++
					}
				}
			}
		}
	}
	if launches == 0 || later == 0 {
		t.Errorf("%d launches, %d later trades", launches, later)
	}
	if _, known, err := s.Accounts().MadeIn(t.Context(), market.SolanaTx([64]byte{5}), wrappedSOL); known || err != nil {
		t.Errorf("a transaction that nobody has: known %t, error %v", known, err)
	}
}
