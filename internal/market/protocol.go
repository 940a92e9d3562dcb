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
	// PumpSwap is pump.fun's exchange, RaydiumAMMv4 and RaydiumCPMM are Raydium's with two reserves, MeteoraDAMMv2 is Meteora's; all are of Solana.
	PumpSwap      Protocol = "PumpSwap"
	RaydiumAMMv4  Protocol = "RaydiumAMMv4"
	RaydiumCPMM   Protocol = "RaydiumCPMM"
	MeteoraDAMMv2 Protocol = "MeteoraDAMMv2"
)

// BondingCurve is a launch venue's curve. It stands among the pools under its CurveID and is never declared.
const BondingCurve Protocol = "BondingCurve"

// Protocols lists every protocol that can be declared, for messages that name what is allowed.
var Protocols = []Protocol{UniswapV2, UniswapV3, UniswapV4, PancakeSwapV3, Solidly, Slipstream, PumpSwap, RaydiumAMMv4, RaydiumCPMM, MeteoraDAMMv2}

// Accounts that hold what all pools or curves of a program of Solana have, and are nobody's wallets.
var (
	RaydiumAMMv4Holder  = solanaAccount("5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1")
	RaydiumCPMMHolder   = solanaAccount("GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL")
	MeteoraDAMMv2Holder = solanaAccount("HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC")
	LaunchLabHolder     = solanaAccount("WLHv2UAZm6z4KyaaELi5pjdbJh6RESMva1Rnn8pJVVh")
	MeteoraDBCHolder    = solanaAccount("FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM")
)

// Holder is the account that holds what all pools of a program of Solana have; none where each pool holds its own.
func (p Protocol) Holder() Address { return holders[p] }

var holders = map[Protocol]Address{RaydiumAMMv4: RaydiumAMMv4Holder, RaydiumCPMM: RaydiumCPMMHolder, MeteoraDAMMv2: MeteoraDAMMv2Holder}

// solanaAccount is an account whose text stands in this file, where a test reads each.
func solanaAccount(text string) Address {
	a, _ := ParseSolanaAddress(text)
	return a
}

// OfSolana reports whether the protocol is of Solana; the others are of EVM chains.
func (p Protocol) OfSolana() bool { return p == PumpSwap || !p.Holder().IsNone() }

// HasAccount reports whether each pool is a contract of its own, which holds what is in it. Of those there are as many as a factory makes of
// two tokens, at most a few; of others anyone can make any number.
func (p Protocol) HasAccount() bool {
	return p != UniswapV4 && p != BondingCurve && p.Holder().IsNone()
}

// Concentrated reports whether the protocol keeps liquidity in tick ranges.
func (p Protocol) Concentrated() bool {
	return p == UniswapV3 || p == UniswapV4 || p == PancakeSwapV3 || p == Slipstream
}

// TellsPrice reports whether a swap tells the pool's price, beside its reserves or in their place.
func (p Protocol) TellsPrice() bool { return p.Concentrated() || p == MeteoraDAMMv2 }
