package ethcall

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/evm/poolstate"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// LongestAnswer bounds what a contract may answer.
const LongestAnswer = poolstate.LongestAnswer

// blockParam names a block in a request.
func blockParam(at chain.Ref) any {
	if at.Hash.IsZero() {
		return rpc.HexQuantity(at.Number)
	}
	return map[string]any{"blockHash": at.Hash.String(), "requireCanonical": true}
}

// TotalSupply is the selector of the one function whose answer may be missing where others are known: see Vouch.
var TotalSupply = hash.SelectorHex("totalSupply()")

// Call is one eth_call; Answer is nil when the contract refused or answered beyond reason. A deployless one is to none (package manycalls).
type Call struct {
	To     market.Address
	Data   string
	Answer []byte
	OK     bool
	// Aside is why there is no answer, where the contract didn't plainly refuse.
	Aside string
	// Changes says that another block may have another answer.
	Changes bool
	// Questions is the number of questions in a call that combines several.
	Questions int
	By        *node.Endpoint // who answered
}

// CallAt runs eth_calls at a block, as the block's hash names it. gone reports that no node keeps that block's state; then
// there are no answers.
func (cl *Caller) CallAt(ctx context.Context, at chain.Ref, list []*Call) (gone bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	seen := cl.head()
	isRecent := at.Number+LateBlocks > seen
	err = cl.callsAt(ctx, blockParam(at), list)
	gone = err != nil && node.StateMissing(err, isRecent)
	switch {
	case gone && isRecent:
		cl.NewestAlone.Store(true)
	case err == nil && at.Number < seen: // of the newest block such a node may answer by its hash, too
		cl.NewestAlone.Store(false)
	}
	if gone {
		return true, nil
	}
	return false, err
}

// LateBlocks is how far below the highest head a block is new: a node that doesn't know it may be late.
const LateBlocks = 64

// IsRecent reports whether a block is new, as far as the newest one is known.
func (cl *Caller) IsRecent(number uint64) bool { return number+LateBlocks > cl.head() }

// CallNewest runs eth_calls at the newest block.
func (cl *Caller) CallNewest(ctx context.Context, list []*Call) error {
	return cl.callsAt(ctx, node.Newest, list)
}

// CallAtOrNewest asks the newest block instead when the block's state is gone: for what hardly ever changes.
func (cl *Caller) CallAtOrNewest(ctx context.Context, at chain.Ref, list []*Call) (gone bool, err error) {
	if gone, err = cl.CallAt(ctx, at, list); gone {
		err = cl.callsAt(ctx, node.Newest, list)
	}
	return gone, err
}

func (c *Call) take(raw json.RawMessage) error {
	if len(raw) > 2*LongestAnswer+4 {
		c.Aside = chain.AnswerTooLong
		return nil
	}
	if len(raw) < 4 || raw[0] != '"' {
		return nil
	}
	b, err := hex.DecodeString(string(raw[3 : len(raw)-1]))
	if err != nil {
		return fmt.Errorf("%w: an unreadable eth_call answer", rpc.ErrGarbage)
	}
	c.Answer, c.OK = b, true
	return nil
}

// Uint is the number that was answered; ok is false where there is none.
func (c *Call) Uint() (v market.Amount, ok bool) {
	if !c.OK || len(c.Answer) < 32 {
		return v, false
	}
	v.SetBytes32(c.Answer[:32])
	return v, true
}

// Address is the address that was answered; ok is false where there is none.
func (c *Call) Address() (market.Address, bool) {
	if !c.OK || len(c.Answer) < 32 {
		return market.Address{}, false
	}
	return market.EVMAddress([32]byte(c.Answer[:32])), true
}

// Text is the text that was answered: a name or a symbol.
func (c *Call) Text() string {
	if !c.OK {
		return ""
	}
	return decode.Text(c.Answer)
}

// IsMute reports whether it isn't known what the contract would answer.
func (c *Call) IsMute() bool { return c.Aside == chain.NoAnswer }
