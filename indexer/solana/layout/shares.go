package layout

import (
	"bytes"
	"crypto/sha256"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/borsh"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Shares say how much of a pool's liquidity somebody can take out.
type Shares struct {
	// Token is the token of the shares: who has some may take that part of the liquidity out. It is none where the pool has positions instead.
	Token market.Address
	// Whole are all shares that were issued and for which no liquidity was taken out; burned shares are among them. Of a pool with positions it is all of its liquidity.
	Whole market.Amount
	// Locked is the liquidity of positions that the program itself keeps for good.
	Locked market.Amount
}

// SharesOf reads a pool's account; ok is false for what is no pool of the protocol. The layouts are those of the descriptions that PumpSwap's and DAMM v2's makers
// publish, and of Raydium's sources: raydium-io/raydium-cp-swap (states/pool.rs, PoolState) and raydium-io/raydium-amm (state.rs, AmmInfo).
func SharesOf(protocol market.Protocol, a *Account) (s Shares, ok bool) {
	r := borsh.NewReader(a.Data)
	switch protocol {
	case market.PumpSwap:
		ok = bytes.Equal(r.Take(8), poolKind)
		r.Skip(1 + 2 + 3*32) // a bump, an index, the maker and both tokens
		s.Token = r.Key()
		r.Skip(2 * 32) // both token accounts
		s.Whole = r.Amount()
	case market.RaydiumCPMM:
		ok = bytes.Equal(r.Take(8), poolStateKind)
		r.Skip(4 * 32) // the configuration, the maker and both token accounts
		s.Token = r.Key()
		r.Skip(5*32 + 5) // both tokens, their programs, the prices of the past, a bump, the status and decimals
		s.Whole = r.Amount()
	case market.RaydiumAMMv4:
		const length, tokenAt = 752, 464
		ok = len(a.Data) == length
		r.Skip(tokenAt)
		s.Token = r.Key()
		r.Skip(4*32 + 8*8 + 32) // the order book's accounts, room, and the owner
		s.Whole = r.Amount()
	case market.MeteoraDAMMv2:
		ok = bytes.Equal(r.Take(8), poolKind)
		const fees = 160
		r.Skip(fees + 6*32) // the fees, both tokens and token accounts, and two more keys
		s.Whole = r.Uint128()
		r.Skip(16 + 2*8 + 16 + 3*16 + 8 + 8 + 2*32) // what was paid, the range, the price, the activation, flags and fees per liquidity
		s.Locked = r.Uint128()
	case market.UniswapV2, market.UniswapV3, market.UniswapV4, market.PancakeSwapV3, market.Solidly, market.Slipstream, market.BondingCurve:
		return s, false // of another family, or without shares
	default:
		return s, false
	}
	return s, ok && !r.Bad
}

// Anchor's accounts begin with eight bytes that say what they are.
var poolKind, poolStateKind = kindOf("Pool"), kindOf("PoolState")

func kindOf(name string) []byte {
	sum := sha256.Sum256([]byte("account:" + name))
	return sum[:8]
}
