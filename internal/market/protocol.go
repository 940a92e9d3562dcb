package market

// Protocol is the kind of a pool: how its price and depth follow from its events.
type Protocol string

// The pool protocols that have a decoder.
const (
	UniswapV2     Protocol = "UniswapV2"
	UniswapV3     Protocol = "UniswapV3"
	UniswapV4     Protocol = "UniswapV4"
	PancakeSwapV3 Protocol = "PancakeSwapV3"
	Solidly       Protocol = "Solidly"
	// Slipstream is the concentrated liquidity of Velodrome and Aerodrome.
	Slipstream Protocol = "Slipstream"
)

// BondingCurve is a launch venue's curve. It stands among the pools under its CurveID and is never declared.
const BondingCurve Protocol = "BondingCurve"

// Protocols lists every protocol that can be declared, for messages that name what is allowed.
var Protocols = []Protocol{UniswapV2, UniswapV3, UniswapV4, PancakeSwapV3, Solidly, Slipstream}

// HasAccount reports whether each pool is a contract of its own, which holds what is in it. Of those there are as many as a factory makes of
// two tokens, at most a few; of others anyone can make any number.
func (p Protocol) HasAccount() bool { return p != UniswapV4 && p != BondingCurve }

// Concentrated reports whether the protocol keeps liquidity in tick ranges.
func (p Protocol) Concentrated() bool {
	return p == UniswapV3 || p == UniswapV4 || p == PancakeSwapV3 || p == Slipstream
}
