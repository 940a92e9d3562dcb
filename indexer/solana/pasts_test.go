package solana

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// listedIn is an account that many blocks of a world name, and these blocks.
func listedIn(t *testing.T, w *solanatest.World) (account market.Address, blocks []uint64) {
	t.Helper()
	payers, named := map[string]int{}, map[string][]uint64{}
	for _, b := range w.Blocks {
		for _, raw := range b.Txs {
			var tx struct {
				Transaction struct {
					Message struct{ AccountKeys []string }
				}
				Meta struct {
					Err    any
					Loaded struct{ Writable, Readonly []string } `json:"loadedAddresses"`
				}
			}
			if err := json.Unmarshal(raw, &tx); err != nil {
				t.Fatal(err)
			}
			if tx.Meta.Err != nil {
				continue
			}
			keys := tx.Transaction.Message.AccountKeys
			payers[keys[0]]++
			for _, key := range slices.Concat(keys, tx.Meta.Loaded.Writable, tx.Meta.Loaded.Readonly) {
				if !slices.Contains(named[key], b.Number) {
					named[key] = append(named[key], b.Number)
				}
			}
		}
	}
	most := ""
	for payer, n := range payers {
		if n > payers[most] || n == payers[most] && payer < most {
			most = payer
		}
	}
	account, err := market.ParseSolanaAddress(most)
	if err != nil || len(named[most]) < 5 {
		t.Fatalf("%s is in %d blocks, error %v", most, len(named[most]), err)
	}
	return account, named[most]
}

// inLists changes the lists of accounts' transactions.
func inLists(change func(list []map[string]any) []map[string]any) lie {
	return func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		list, ok := result.([]any)
		if method != "getSignaturesForAddress" || !ok {
			return result, nil
		}
		var out []map[string]any
		for _, t := range list {
			if t, ok := t.(map[string]any); ok {
				out = append(out, t)
			}
		}
		return change(out), nil
	}
}

// TestBlocksOfAWallet: the blocks that name a wallet are found in any range, with those that one endpoint alone lists marked as such.
func TestBlocksOfAWallet(t *testing.T) {
	w := newWorld(60)
	wallet, blocks := listedIn(t, w)
	first, last := w.Blocks[0].Number, w.Blocks[len(w.Blocks)-1].Number
	withoutNewest := inLists(func(list []map[string]any) []map[string]any {
		return slices.DeleteFunc(list, func(t map[string]any) bool { return t["slot"] == blocks[len(blocks)-1] })
	})
	short := func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		list, ok := result.([]any)
		switch {
		case method == "getFirstAvailableBlock":
			return blocks[1], nil
		case method == "getSignaturesForAddress" && ok:
			return slices.DeleteFunc(list, func(v any) bool {
				t, ok := v.(map[string]any)
				return ok && t["slot"] == blocks[0]
			}), nil
		}
		return result, nil
	}
	garbage := func(change func(t map[string]any)) lie {
		return inLists(func(list []map[string]any) []map[string]any {
			for _, t := range list {
				change(t)
			}
			return list
		})
	}
	for what, c := range map[string]struct {
		lies  []lie
		alone int
		fails bool
	}{
		"one endpoint":             {lies: []lie{nil}},
		"two":                      {lies: []lie{nil, nil}},
		"one leaves a block out":   {lies: []lie{nil, withoutNewest}, alone: 1},
		"no signature":             {lies: []lie{garbage(func(t map[string]any) { t["signature"] = "0" })}, fails: true},
		"a signature with more":    {lies: []lie{garbage(func(t map[string]any) { t["signature"] = fmt.Sprint(t["signature"], "/?") })}, fails: true},
		"later ones behind":        {lies: []lie{inLists(func(list []map[string]any) []map[string]any { slices.Reverse(list); return list })}, fails: true},
		"one of two lists garbage": {lies: []lie{garbage(func(t map[string]any) { t["slot"] = -1 }), nil}, fails: true},
		"two others don't":         {lies: []lie{garbage(func(t map[string]any) { t["slot"] = -1 }), nil, nil}},
		"one keeps fewer blocks":   {lies: []lie{short, nil}, fails: true},
		"two others keep them":     {lies: []lie{short, nil, nil}},
		"more than was asked for":  {lies: []lie{inLists(func(list []map[string]any) []map[string]any { return slices.Repeat(list[:min(1, len(list))], 1001) })}, fails: true},
		"one that isn't there yet": {lies: []lie{func(string, []json.RawMessage, any) (any, *solanatest.Refusal) {
			return nil, &solanatest.Refusal{Code: -32016, Message: "not reached"}
		}}, fails: true},
		"only failed transactions ": {lies: []lie{garbage(func(t map[string]any) { t["err"] = "InvalidAccountData" })}, alone: -1},
	} {
		t.Run(what, func(t *testing.T) {
			s, _ := sourceOf(t, nodesOf(t, w, c.lies...)...)
			found, upTo, err := s.History().TransfersOfWallets(t.Context(), []market.Address{wallet}, first, last)
			if c.fails {
				if err == nil {
					t.Fatalf("%v, want an error", found)
				}
				return
			}
			if err != nil || upTo != last {
				t.Fatal(upTo, err)
			}
			var got []uint64
			alone := 0
			for _, f := range found {
				if got = append(got, f.Block); f.Alone {
					alone++
				}
			}
			slices.Sort(got)
			want, wantAlone := blocks, c.alone
			if c.alone < 0 {
				want, wantAlone = nil, 0
			}
			if !slices.Equal(got, want) || alone != wantAlone {
				t.Errorf("blocks %v, want %v; %d of one alone, want %d", got, want, alone, wantAlone)
			}
			part, _, err := s.History().TransfersOfWallets(t.Context(), []market.Address{wallet}, blocks[1], blocks[2])
			if err != nil || want != nil && len(part) != 2 {
				t.Errorf("%v, error %v, want the blocks %d and %d", part, err, blocks[1], blocks[2])
			}
		})
	}
}

// TestBusyWallet: a wallet of too many transactions is given up where all say so, and not by the word of one.
func TestBusyWallet(t *testing.T) {
	w := newWorld(30)
	wallet, _ := listedIn(t, w)
	first, last := w.Blocks[0].Number, w.Blocks[len(w.Blocks)-1].Number
	endless := func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if method != "getSignaturesForAddress" {
			return result, nil
		}
		return []any{map[string]any{"signature": strings.Repeat("1", 64), "slot": last}}, nil
	}
	s, _ := sourceOf(t, nodesOf(t, w, endless, endless)...)
	_, _, err := s.History().TransfersOfWallets(t.Context(), []market.Address{wallet}, first, last)
	busy, ok := errors.AsType[*chain.BusyError](err)
	if !ok || busy.Account != wallet || strings.Contains(err.Error(), wallet.String()) {
		t.Errorf("error %v, want one of %s that doesn't name it", err, wallet)
	}
	silent := func(string, []json.RawMessage, any) (any, *solanatest.Refusal) {
		return nil, &solanatest.Refusal{Code: -32603, Message: "Internal error"}
	}
	s, _ = sourceOf(t, nodesOf(t, w, endless, silent)...)
	_, _, err = s.History().TransfersOfWallets(t.Context(), []market.Address{wallet}, first, last)
	if _, ok := errors.AsType[*chain.BusyError](err); ok || err == nil {
		t.Errorf("error %v by the word of one of two", err)
	}
	crowded := func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if method != "getSignaturesForAddress" {
			return result, nil
		}
		var list []any
		for i := range 1000 {
			var signature [64]byte
			binary.BigEndian.PutUint32(signature[:], uint32(i+1))
			list = append(list, map[string]any{"signature": market.SolanaTx(signature).String(), "slot": last})
		}
		return list, nil
	}
	s, _ = sourceOf(t, nodesOf(t, w, crowded)...)
	if _, _, err := s.History().TransfersOfWallets(t.Context(), []market.Address{wallet}, first, last); !errors.Is(err, rpc.ErrGarbage) {
		t.Errorf("error %v, want garbage: no block has so many transactions of one account", err)
	}
	s, _ = sourceOf(t, nodesOf(t, w, endless, nil)...)
	if found, _, err := s.History().TransfersOfWallets(t.Context(), []market.Address{wallet}, first, last); err != nil || len(found) == 0 {
		t.Errorf("%v, error %v, want what the other one lists", found, err)
	}
}

// TestPastBlock: what an account did in a block is what the whole block says of the same transactions, as two endpoints have it.
func TestPastBlock(t *testing.T) {
	w := newWorld(60)
	wallet, blocks := listedIn(t, w)
	number := blocks[len(blocks)-1]
	changed := func(change func(tx map[string]any)) lie {
		return func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if tx, ok := result.(map[string]any); ok && method == "getTransaction" {
				change(tx)
			}
			return result, nil
		}
	}
	later := changed(func(tx map[string]any) { tx["blockTime"] = 1_700_000_000 })
	missing := func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if method == "getTransaction" {
			return nil, nil
		}
		return result, nil
	}
	forgotten := func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		switch method {
		case "getTransaction":
			return nil, nil
		case "getBlock":
			return nil, &solanatest.Refusal{Code: blockCleanedUp, Message: "Block cleaned up, does not exist on node"}
		}
		return result, nil
	}
	for what, c := range map[string]struct {
		lies         []lie
		fails, empty bool
	}{
		"one":                      {lies: []lie{nil}},
		"two":                      {lies: []lie{nil, nil}},
		"two differ":               {lies: []lie{nil, later}, fails: true},
		"a third decides":          {lies: []lie{later, nil, nil}},
		"one lacks it":             {lies: []lie{nil, missing}, fails: true},
		"another one has it":       {lies: []lie{nil, missing, nil}},
		"nobody has it":            {lies: []lie{missing, missing}, empty: true},
		"one made it up":           {lies: []lie{nil, missing, missing}, empty: true},
		"of another slot":          {lies: []lie{changed(func(tx map[string]any) { tx["slot"] = number + 1 })}, empty: true},
		"without history":          {lies: []lie{forgotten, forgotten}, fails: true},
		"without a time":           {lies: []lie{changed(func(tx map[string]any) { delete(tx, "blockTime") })}, fails: true},
		"without its meta":         {lies: []lie{changed(func(tx map[string]any) { delete(tx, "meta") })}, fails: true},
		"with a text for its slot": {lies: []lie{changed(func(tx map[string]any) { tx["slot"] = "1" })}, fails: true},
		"another transaction of it": {lies: []lie{changed(func(tx map[string]any) {
			if signed, ok := tx["transaction"].(map[string]any); ok {
				signed["signatures"] = []string{strings.Repeat("1", 64)}
			}
		})}, fails: true},
	} {
		t.Run(what, func(t *testing.T) {
			s, _ := sourceOf(t, nodesOf(t, w, c.lies...)...)
			b, err := s.History().PastBlock(t.Context(), number, wallet)
			if c.fails {
				if err == nil {
					t.Errorf("%+v, want an error", b.Header)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.empty {
				if len(b.Txs) > 0 || b.Time != 0 {
					t.Errorf("%+v of %d transactions, want none", b.Header, len(b.Txs))
				}
				return
			}
			whole, err := s.block(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			if b.Number != number || b.Time != whole.Time || len(b.Txs) == 0 || len(b.Facts) > 0 {
				t.Errorf("%+v of %d transactions, want time %d", b.Header, len(b.Txs), whole.Time)
			}
			for i := range b.Txs {
				k := slices.IndexFunc(whole.Txs, func(tx market.Tx) bool { return tx.ID == b.Txs[i].ID })
				if k < 0 || len(whole.Txs[k].Logs) != len(b.Txs[i].Logs) || whole.Txs[k].Payer != b.Txs[i].Payer {
					t.Errorf("transaction %s isn't what the block has", b.Txs[i].ID)
				}
			}
		})
	}
	s, _ := sourceOf(t, nodesOf(t, w, nil, nil)...)
	b, err := s.History().PastBlock(t.Context(), number, market.Address{})
	if err != nil || b.Number != number || len(b.Txs) > 0 || b.Time == 0 {
		t.Errorf("%+v, error %v, want number and time alone", b, err)
	}
	if b, err := s.History().PastBlock(t.Context(), number, market.SolanaAddress([32]byte{7})); err != nil || len(b.Txs) > 0 {
		t.Errorf("%+v, error %v, of an account that the block doesn't name", b, err)
	}
}

// TestLastPriceOnSolana finds the last block of a range that names a pool.
func TestLastPriceOnSolana(t *testing.T) {
	w := newWorld(80)
	account, blocks := listedIn(t, w)
	pool := &market.Pool{ID: account}
	n := len(blocks)
	for what, c := range map[string]struct {
		first, last, want uint64 // 0 is none
	}{
		"the last block of the range":   {blocks[0], blocks[n-2], blocks[n-2]},
		"one before it":                 {blocks[0], blocks[n-2] - 1, blocks[n-3]},
		"the first block of the range":  {blocks[n-3], blocks[n-2] - 1, blocks[n-3]},
		"one just before the range":     {blocks[n-3] + 1, blocks[n-2] - 1, 0},
		"before anything names the one": {1, blocks[0] - 1, 0},
	} {
		t.Run(what, func(t *testing.T) {
			s, _ := sourceOf(t, nodesOf(t, w, nil, nil)...)
			block, ok, from, err := s.History().LastPrice(t.Context(), pool, c.first, c.last)
			if err != nil || ok != (c.want > 0) || block != c.want || !ok && from != c.first {
				t.Errorf("block %d, %t, from %d, error %v; want %d", block, ok, from, err, c.want)
			}
		})
	}
	lies := inLists(func(list []map[string]any) []map[string]any {
		return slices.DeleteFunc(list, func(t map[string]any) bool { return t["slot"] == blocks[n-2] })
	})
	s, _ := sourceOf(t, nodesOf(t, w, nil, lies)...)
	block, ok, _, err := s.History().LastPrice(t.Context(), pool, 1, blocks[n-2])
	if err != nil || !ok || block != blocks[n-2] {
		t.Errorf("block %d, %t, error %v; want %d, which one leaves out", block, ok, err, blocks[n-2])
	}
	if b, err := s.History().PastBlock(t.Context(), block, account); err != nil || b.Number != block || b.Time == 0 {
		t.Errorf("%+v, error %v", b.Header, err)
	}
	s, _ = sourceOf(t, nodesOf(t, w, nil)...)
	if _, _, _, err := s.History().LastPrice(t.Context(), pool, 1, w.Blocks[len(w.Blocks)-1].Number); !errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("error %v, want one that says that no block follows", err)
	}
}
