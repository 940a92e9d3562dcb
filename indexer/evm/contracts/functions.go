package contracts

import (
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The selectors of functions that several questions ask.
var (
	callName           = hash.SelectorHex("name()")
	callSymbol         = hash.SelectorHex("symbol()")
	callDecimals       = hash.SelectorHex("decimals()")
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

// word is an address as an ABI argument.
func word(a market.Address) string {
	return strings.Repeat("0", 24) + strings.TrimPrefix(a.String(), "0x")
}
