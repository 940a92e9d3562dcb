package solana

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/replay"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Token is what a node tells of a token now.
type Token struct {
	// Slot is that of the block after which the node was asked.
	Slot uint64
	// Exists is false where there is no token at the address.
	Exists   bool
	Supply   uint64
	Decimals byte
	// Program is the token program that has it, SPL Token or Token-2022.
	Program, Metadata market.Address
	// MintAuthority may make more of it, FreezeAuthority freeze accounts of it; none where nobody may.
	MintAuthority, FreezeAuthority market.Address
	// Extensions are those of Token-2022, by their types: their contents as they are stored.
	Extensions map[uint16][]byte
	// Mutable says whether its name and picture, which its own extension or Metaplex's account tells, may be changed; HasMetadata is false without either.
	Mutable, HasMetadata bool
	// CreatorHas is what an account has of it, as of CreatorSlot: that answer is another one, and may be of another slot. KnowsCreator is false where it isn't known.
	CreatorHas, CreatorSlot uint64
	KnowsCreator            bool
}

// Token asks a node for a token, and for what an account, which may be none, has of it.
func (as Accounts) Token(ctx context.Context, token, creator market.Address) (out Token, err error) {
	err = as.s.pool.Try(ctx, func(ctx context.Context, e *endpoint) error {
		out = Token{Metadata: layout.MetadataOf(token)}
		told, err := e.accountsOn(ctx, []market.Address{token, out.Metadata}, 0)
		if err != nil {
			return err
		}
		m, ok := layout.MintOf(&told[0].Account)
		if out.Slot, out.Exists = told[0].slot, ok; !ok {
			return nil
		}
		out.Program, out.Supply, out.Decimals, out.Extensions = told[0].Owner, m.Supply, m.Decimals, m.Extensions
		out.MintAuthority, out.FreezeAuthority = m.MintAuthority, m.FreezeAuthority
		if out.Mutable, out.HasMetadata = layout.IsMutable(&told[1].Account); len(m.Extensions[layout.TokenMetadata]) >= 2*32 { // the name that counts
			mayChange := m.Extensions[layout.TokenMetadata][:32]
			out.Metadata, out.Mutable, out.HasMetadata = token, !bytes.Equal(mayChange, make([]byte, 32)), true
		}
		if creator.IsNone() {
			return nil
		}
		out.CreatorHas, out.CreatorSlot, err = e.balanceOn(ctx, token, creator)
		out.KnowsCreator = err == nil
		return ctx.Err() // a node that lists no accounts, or an account that has too many, takes nothing from the rest
	})
	return out, err
}

// MadeIn is how much of a token there was after the transaction that made it: what all balances in it sum up to. known is false where no endpoint has the
// transaction, or somebody had some of the token before it.
func (as Accounts) MadeIn(ctx context.Context, tx market.TxID, token market.Address) (supply uint64, known bool, err error) {
	told, err := as.Transaction(ctx, tx, 1)
	if len(told) == 0 {
		return 0, false, err
	}
	supply, known, ok := replay.Made(told[0], token)
	if !ok {
		err = fmt.Errorf("%w: balances of %s", rpc.ErrGarbage, tx)
	}
	return supply, known, err
}

// balanceOn is the sum of an owner's accounts of a token, and the slot that the answer is of.
func (e *endpoint) balanceOn(ctx context.Context, token, owner market.Address) (sum, slot uint64, err error) {
	var told struct {
		Context wireContext `json:"context"`
		Value   []struct {
			Account *wireAccount `json:"account"`
		} `json:"value"`
	}
	const amountAt, amountLen = 64, 8
	params := []any{owner.String(), map[string]any{"mint": token.String()}, map[string]any{
		"encoding": "base64", "commitment": commitment, "dataSlice": map[string]any{"offset": amountAt, "length": amountLen},
	}}
	if err := e.Do(ctx, &rpc.Request{Method: "getTokenAccountsByOwner", Params: params, Take: take(&told)}); err != nil {
		return 0, 0, err
	}
	if told.Context.Slot == 0 {
		return 0, 0, fmt.Errorf("%w: accounts of no slot", rpc.ErrGarbage)
	}
	for _, v := range told.Value {
		a, err := v.Account.account()
		if err != nil || len(a.Data) != amountLen {
			return 0, 0, errors.Join(err, rpc.ErrGarbage)
		}
		more := binary.LittleEndian.Uint64(a.Data)
		if sum+more < sum {
			return 0, 0, fmt.Errorf("%w: accounts that have more than a token's supply can be", rpc.ErrGarbage)
		}
		sum += more
	}
	return sum, told.Context.Slot, nil
}
