package evm

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/evm/poolstate"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// maxCallAnswer bounds what a contract may answer.
const maxCallAnswer = poolstate.LongestAnswer

// blockParam names a block in a request.
func blockParam(at chain.Ref) any {
	if at.Hash.IsZero() {
		return rpc.HexQuantity(at.Number)
	}
	return map[string]any{"blockHash": at.Hash.String(), "requireCanonical": true}
}

var (
	callName           = hash.SelectorHex("name()")
	callSymbol         = hash.SelectorHex("symbol()")
	callDecimals       = hash.SelectorHex("decimals()")
	callSupply         = hash.SelectorHex("totalSupply()")
	callBalanceOf      = hash.SelectorHex("balanceOf(address)")
	callFactory        = hash.SelectorHex("factory()")
	callToken0         = hash.SelectorHex("token0()")
	callToken1         = hash.SelectorHex("token1()")
	callFee            = hash.SelectorHex("fee()")
	callTickSpacing    = hash.SelectorHex("tickSpacing()")
	callStable         = hash.SelectorHex("stable()")
	callGetPair        = hash.SelectorHex("getPair(address,address)")
	callGetPoolFee     = hash.SelectorHex("getPool(address,address,uint24)")
	callGetPoolKind    = hash.SelectorHex("getPool(address,address,bool)")
	callGetPoolSpacing = hash.SelectorHex("getPool(address,address,int24)")
)

// call is one eth_call; answer is nil when the contract refused or answered beyond reason. A deployless one is to none (package manycalls).
type call struct {
	to     market.Address
	data   string
	answer []byte
	ok     bool
	// aside is why there is no answer, where the contract didn't plainly refuse.
	aside string
	// changes says that another block may have another answer.
	changes bool
	// questions is how many a call asks that is made of many.
	questions int
	by        *endpoint // who answered
}

// calls runs eth_calls at a block, as the block's hash names it. gone reports that no node keeps that block's state; then
// there are no answers.
func (s *Source) calls(ctx context.Context, at chain.Ref, list []*call) (gone bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	seen := s.seen.Load()
	isRecent := at.Number+lateBlocks > seen
	err = s.callsAt(ctx, blockParam(at), list)
	gone = err != nil && node.StateMissing(err, isRecent)
	switch {
	case gone && isRecent:
		s.newestAlone.Store(true)
	case err == nil && at.Number < seen: // of the newest block such a node may answer by its hash, too
		s.newestAlone.Store(false)
	}
	if gone {
		return true, nil
	}
	return false, err
}

// lateBlocks is how far below the highest head a block is new: a node that doesn't know it may be late.
const lateBlocks = 64

// callsOrLatest asks the newest block instead when the block's state is gone: for what hardly ever changes.
func (s *Source) callsOrLatest(ctx context.Context, at chain.Ref, list []*call) (gone bool, err error) {
	if gone, err = s.calls(ctx, at, list); gone {
		err = s.callsAt(ctx, node.Newest, list)
	}
	return gone, err
}

func (c *call) take(raw json.RawMessage) error {
	if len(raw) > 2*maxCallAnswer+4 {
		c.aside = chain.AnswerTooLong
		return nil
	}
	if len(raw) < 4 || raw[0] != '"' {
		return nil
	}
	b, err := hex.DecodeString(string(raw[3 : len(raw)-1]))
	if err != nil {
		return fmt.Errorf("%w: an unreadable eth_call answer", rpc.ErrGarbage)
	}
	c.answer, c.ok = b, true
	return nil
}

func (c *call) uint() (v market.Amount, ok bool) {
	if !c.ok || len(c.answer) < 32 {
		return v, false
	}
	v.SetBytes32(c.answer[:32])
	return v, true
}

func (c *call) address() (market.Address, bool) {
	if !c.ok || len(c.answer) < 32 {
		return market.Address{}, false
	}
	return market.EVMAddress([32]byte(c.answer[:32])), true
}

// text is the text that was answered: a name or a symbol.
func (c *call) text() string {
	if !c.ok {
		return ""
	}
	return decode.Text(c.answer)
}

// word is an address as an ABI argument.
func word(a market.Address) string {
	return strings.Repeat("0", 24) + strings.TrimPrefix(a.String(), "0x")
}
