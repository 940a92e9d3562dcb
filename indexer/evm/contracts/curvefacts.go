package contracts

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// callFourInfo is TokenManager2's record of a token: (base, quote, template, totalSupply, ...), thirteen words in all.
var callFourInfo = hash.SelectorHex("_tokenInfos(address)")

// CurveFacts asks the contracts of four.meme's curves what the curves take: the facts are in the curves' order. A curve's quote
// never changes, so that the newest answer does where the block's state is gone. Unsure are the facts, by their place, that no two of
// several endpoints give.
func (cs Contracts) CurveFacts(ctx context.Context, at chain.Ref, curves []market.CurveKey) (facts []market.CurveFact, unsure []bool, err error) {
	list := make([]*ethcall.Call, len(curves))
	for i, c := range curves {
		list[i] = &ethcall.Call{To: c.Curve, Data: callFourInfo + word(c.Token)}
	}
	gone, err := cs.calls.CallAtOrNewest(ctx, at, list)
	if err != nil {
		return nil, nil, err
	}
	if unsure, err = cs.calls.Vouch(ctx, at, gone, list); err != nil {
		return nil, nil, err
	}
	out := make([]market.CurveFact, len(curves))
	for i, c := range curves {
		out[i] = market.CurveFact{CurveKey: c}
		if out[i].Quote, out[i].Reason = fourQuote(list[i], c.Token); out[i].Reason == "" {
			out[i].Known = true
		}
	}
	return out, unsure, nil
}

// fourQuote reads a token's quote from its record; reason is why it can't be believed. The record of a token that the contract
// doesn't have is all zeros, which would be the native coin.
func fourQuote(c *ethcall.Call, token market.Address) (quote market.Address, reason string) {
	const words = 2
	if !c.OK || len(c.Answer) < words*32 {
		return quote, "its contract has no record of it"
	}
	base, taken := [32]byte(c.Answer[:32]), [32]byte(c.Answer[32:64])
	switch {
	case !decode.IsAddress(base) || market.EVMAddress(base) != token:
		return quote, "its contract has no record of it"
	case !decode.IsAddress(taken):
		return quote, "its contract's record names no address"
	case market.EVMAddress(taken) == token:
		return quote, "its contract says that it takes the token itself"
	}
	return market.EVMAddress(taken), ""
}
