package node

import (
	"encoding/json"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Newest names the newest block in a request.
const Newest = "latest"

// HeaderRequest asks for the header of the block with a number. Its error is chain.ErrNoBlock where the node doesn't have the block.
func HeaderRequest(number uint64, h *chain.Header) *rpc.Request {
	return &rpc.Request{Method: "eth_getBlockByNumber", Params: []any{rpc.HexQuantity(number), false}, Take: takeHeader(h)}
}

// TagRequest is HeaderRequest by a tag, such as Newest.
func TagRequest(tag string, h *chain.Header) *rpc.Request {
	return &rpc.Request{Method: "eth_getBlockByNumber", Params: []any{tag, false}, Take: takeHeader(h)}
}

func takeHeader(h *chain.Header) func(json.RawMessage) error {
	return func(raw json.RawMessage) (err error) {
		*h, err = block.ParseHeader(raw)
		return err
	}
}

// CodeRequest asks whether a contract has code after a block, which is named by its number or by Newest.
func CodeRequest(contract market.Address, at string, exists *bool) *rpc.Request {
	return &rpc.Request{
		Method: "eth_getCode", Params: []any{contract.String(), at},
		Take: func(raw json.RawMessage) error {
			var code string
			if err := json.Unmarshal(raw, &code); err != nil {
				return fmt.Errorf("%w: an unreadable code", rpc.ErrGarbage)
			}
			*exists = len(code) > len("0x")
			return nil
		},
	}
}

// BalanceRequest asks for an account's balance of the native coin after a block, which is named as in CodeRequest.
func BalanceRequest(account market.Address, at string, v *market.Amount) *rpc.Request {
	return &rpc.Request{Method: "eth_getBalance", Params: []any{account.String(), at}, Take: func(raw json.RawMessage) error {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil || v.SetFromHex(text) != nil {
			return rpc.ErrGarbage
		}
		return nil
	}}
}
