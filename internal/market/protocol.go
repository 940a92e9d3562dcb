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
	// PumpSwap is pump.fun's exchange, RaydiumAMMv4 Raydium's first one, both on Solana.
	PumpSwap     Protocol = "PumpSwap"
	RaydiumAMMv4 Protocol = "RaydiumAMMv4"
)

// BondingCurve is a launch venue's curve. It stands among the pools under its CurveID and is never declared.
const BondingCurve Protocol = "BondingCurve"

// Protocols lists every protocol that can be declared, for messages that name what is allowed.
var Protocols = []Protocol{UniswapV2, UniswapV3, UniswapV4, PancakeSwapV3, Solidly, Slipstream, PumpSwap, RaydiumAMMv4}

// Accounts that hold what all pools or curves of a program of Solana have, and are nobody's wallets.
var (
	RaydiumAMMv4Holder = solanaProgram("5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1")
	LaunchLabHolder    = solanaProgram("WLHv2UAZm6z4KyaaELi5pjdbJh6RESMva1Rnn8pJVVh")
)

// solanaProgram is an account whose text stands in this file.
func solanaProgram(text string) Address {
	a, err := ParseSolanaAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}

// OfSolana reports whether the protocol is of Solana; the others are of EVM chains.
func (p Protocol) OfSolana() bool { return p == PumpSwap || p == RaydiumAMMv4 }

// HasAccount reports whether each pool is a contract of its own, which holds what is in it. Of those there are as many as a factory makes of
// two tokens, at most a few; of others anyone can make any number.
func (p Protocol) HasAccount() bool { return p != UniswapV4 && p != RaydiumAMMv4 && p != BondingCurve }

// Concentrated reports whether the protocol keeps liquidity in tick ranges.
func (p Protocol) Concentrated() bool {
	return p == UniswapV3 || p == UniswapV4 || p == PancakeSwapV3 || p == Slipstream
}
