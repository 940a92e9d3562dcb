package solana

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// Nodes answer for now, not for a block. A token's decimals never change, and a name that somebody changes is the one that the index began with. Its supply
// does change: it holds for the slot that the answer names. The tokens that a block makes it describes itself, so that nobody is asked for those.

// wrappedSOL is the token that the token program wraps SOL into. Its account's supply is 0, however much there is of it.
var wrappedSOL, _ = market.ParseSolanaAddress("So11111111111111111111111111111111111111112")

// account is what a node tells of one, after the block of a slot.
type account struct {
	layout.Account

	slot, lamports uint64
	exists         bool
	executable     bool
}

// accountsAtOnce is the most accounts that nodes tell at once.
const accountsAtOnce = 100

// accountsOn asks an endpoint for accounts, as they are now: after the block of a slot, which is no earlier one than a given one. A node that isn't there yet refuses.
func (e *endpoint) accountsOn(ctx context.Context, keys []market.Address, noEarlier uint64) (out []account, err error) {
	for len(keys) > 0 {
		n := min(accountsAtOnce, len(keys))
		names := make([]string, n)
		for i := range names {
			names[i] = keys[i].String()
		}
		var told struct {
			Context wireContext    `json:"context"`
			Value   []*wireAccount `json:"value"`
		}
		params := []any{names, map[string]any{
			"encoding": "base64", "commitment": commitment, "minContextSlot": noEarlier, "dataSlice": map[string]any{"offset": 0, "length": layout.MostRead},
		}}
		if err := e.Do(ctx, &rpc.Request{Method: "getMultipleAccounts", Params: params, Take: take(&told)}); err != nil {
			return nil, err
		}
		if len(told.Value) != n {
			return nil, fmt.Errorf("%w: asked for %d accounts, got %d", rpc.ErrGarbage, n, len(told.Value))
		}
		if told.Context.Slot < noEarlier {
			return nil, fmt.Errorf("%w: asked for accounts no earlier than at slot %d, got those of slot %d", rpc.ErrGarbage, noEarlier, told.Context.Slot)
		}
		for _, w := range told.Value {
			a, err := w.account()
			if err != nil {
				return nil, err
			}
			a.slot = told.Context.Slot
			out = append(out, a)
		}
		keys = keys[n:]
	}
	return out, nil
}

// wireContext says of which slot an answer is.
type wireContext struct {
	Slot uint64 `json:"slot"`
}

type wireAccount struct {
	Data       []string `json:"data"`
	Executable bool     `json:"executable"`
	Owner      string   `json:"owner"`
	Lamports   uint64   `json:"lamports"`
}

func (w *wireAccount) account() (a account, err error) {
	if w == nil {
		return a, nil
	}
	a.exists, a.executable, a.lamports = true, w.Executable, w.Lamports
	if a.Owner, err = market.ParseSolanaAddress(w.Owner); err != nil || len(w.Data) != 2 || w.Data[1] != "base64" {
		return a, fmt.Errorf("%w: an account without an owner or data", rpc.ErrGarbage)
	}
	if a.Data, err = base64.StdEncoding.DecodeString(w.Data[0]); err != nil {
		return a, fmt.Errorf("%w: an account's data: %.100s", rpc.ErrGarbage, err.Error())
	}
	return a, nil
}

// TokenFacts asks for tokens what their accounts, and Metaplex's of them, tell now. Where there are several endpoints two have to tell the same decimals, name,
// symbol and URI.
func (as Accounts) TokenFacts(ctx context.Context, at chain.Ref, tokens []market.Address) (facts []market.TokenFact, unsure []bool, err error) {
	unsure = make([]bool, len(tokens))
	first, by, err := as.tokenFacts(ctx, at, tokens, nil)
	if err != nil || len(as.s.pool.List) == 1 {
		return first, unsure, err
	}
	second, other, err := as.tokenFacts(ctx, at, tokens, []*endpoint{by})
	if err != nil {
		for i := range unsure {
			unsure[i] = true
		}
		return first, unsure, ctx.Err()
	}
	var third []market.TokenFact
	for i := range first {
		if alike(&first[i], &second[i]) {
			continue
		}
		if third == nil {
			if third, _, err = as.tokenFacts(ctx, at, tokens, []*endpoint{by, other}); err != nil {
				third = first // nobody is left to decide
			}
		}
		switch {
		case err == nil && alike(&second[i], &third[i]):
			first[i] = second[i]
		case err != nil || !alike(&first[i], &third[i]):
			unsure[i] = true
			as.s.tell(chain.Aside{Kind: "token", Subject: first[i].Token.String(), Reason: chain.EndpointsDiffer})
		}
	}
	return first, unsure, ctx.Err()
}

// mostWaits is how often accounts are asked for where endpoints aren't at their block yet.
const mostWaits = 4

// alike compares what doesn't change between two looks.
func alike(a, b *market.TokenFact) bool {
	return a.HasDecimals == b.HasDecimals && a.Decimals == b.Decimals && a.Name == b.Name && a.Symbol == b.Symbol && a.URI == b.URI
}

// tokenFacts asks one endpoint, but for some.
func (as Accounts) tokenFacts(ctx context.Context, at chain.Ref, tokens []market.Address, but []*endpoint) (facts []market.TokenFact, by *endpoint, err error) {
	keys := make([]market.Address, 0, 2*len(tokens))
	for _, t := range tokens {
		keys = append(keys, t, layout.MetadataOf(t))
	}
	list := as.s.pool.Candidates()
	for _, e := range but {
		list = without(list, e)
	}
	var told []account
	for try := 1; ; try++ {
		err = as.s.pool.TryOf(ctx, list, func(ctx context.Context, e *endpoint) (err error) {
			by = e
			told, err = e.accountsOn(ctx, keys, at.Number)
			return err
		})
		if !lacks(err) || try == mostWaits || !wait.For(ctx, as.s.pause(0, false)) {
			break // a block may have been streamed before endpoints that are asked have it
		}
	}
	if err != nil {
		return nil, by, err
	}
	for i, t := range tokens {
		f := market.TokenFact{Token: t}
		if m, ok := layout.MintOf(&told[2*i].Account); ok {
			f.HasDecimals, f.Decimals = true, m.Decimals
			if f.HasSupply = told[2*i].slot == at.Number && t != wrappedSOL; f.HasSupply {
				f.Supply.SetUint64(m.Supply)
			}
			d := layout.DescriptionOf(&m, &told[2*i+1].Account)
			f.Name, f.Symbol, f.URI = d.Name, d.Symbol, d.URI
		}
		facts = append(facts, f)
	}
	return facts, by, nil
}

func without(list []*endpoint, e *endpoint) (out []*endpoint) {
	for _, other := range list {
		if other != e {
			out = append(out, other)
		}
	}
	return out
}
