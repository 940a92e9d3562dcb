package written

import (
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Market is a chain with a token that is traded against USDC, in a pair that counts for members from 5,000 USD on.
type Market struct {
	*Chain

	// USDC has 6 decimals, and costs a dollar. Token has 18, as has Unpriced, which has no pair.
	USDC, Token, Unpriced market.Address
	Factory, Pair         market.Address
}

// Contract is the address of a contract of a market, another one for each number.
func Contract(n byte) market.Address { return market.EVMAddress([32]byte{12: 0xca, 31: n}) }

// NewMarket has the chain base begin at a time, in unix seconds. Nothing is in the pair yet.
func NewMarket(tb TB, st *store.Store, at int64) *Market {
	tb.Helper()
	m := &Market{USDC: Contract(1), Token: Contract(2), Unpriced: Contract(3), Factory: Contract(4), Pair: Contract(11)}
	m.Chain = New(tb, st, &chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, Native: chainconfig.Native{Symbol: "ETH", Wrapped: Contract(99)},
		Quotes:    []chainconfig.Quote{{Symbol: "USDC", Address: m.USDC, PegUSD: 1, PegBoundPct: 5}},
		Exchanges: []chainconfig.Exchange{{Name: "v2", Protocol: market.UniswapV2, Factory: m.Factory}},
		Tracking:  chainconfig.Tracking{CountedLiquidityUSD: 5_000},
	}, market.Header{Number: 99, Hash: market.Hash{99}, Time: at})
	m.Block(tb, 1, []market.Fact{Told(m.USDC, 6), Told(m.Token, 18), Told(m.Unpriced, 18)}, PairOf(m.Factory, m.Pair, m.Token, m.USDC))
	return m
}

// Told is what a token's contract says of itself.
func Told(token market.Address, decimals uint8) market.Fact {
	return market.TokenFact{Token: token, Name: "n", Symbol: "s", HasDecimals: true, Decimals: decimals, FromCreation: true}
}

// PairOf is the creation of a pair of two tokens.
func PairOf(factory, pair, token0, token1 market.Address) market.Event {
	return market.PoolCreated{Protocol: market.UniswapV2, Factory: factory, Pool: pair, Token0: token0, Token1: token1}
}

// TradeAt are the events of a trade after which a pair of a token and USDC has so many USD on either side, at a price in USD.
func TradeAt(pair market.Address, usd, side uint64) []market.Event {
	return []market.Event{
		market.Reserves{Pool: pair, Reserve0: Whole(side/usd, 18), Reserve1: Whole(side, 6)},
		market.Swap{
			Pool: pair, Sender: Contract(90), Recipient: Contract(90), Amount0: market.SignedAmount{Abs: Whole(1, 18), Neg: true},
			Amount1: market.SignedAmount{Abs: Whole(usd, 6)},
		},
	}
}

// BoughtAt is TradeAt with a wallet that buys the token.
func BoughtAt(wallet, token, pair market.Address, usd, side uint64) []market.Event {
	return append(TradeAt(pair, usd, side), market.Transfer{Token: token, From: pair, To: wallet, Amount: Whole(1, 18)})
}

// Whole is a number of whole tokens with so many decimals.
func Whole(n uint64, decimals int) (v market.Amount) {
	var ten market.Amount
	ten.SetUint64(10)
	v.SetUint64(n)
	for range decimals {
		v.Mul(&v, &ten)
	}
	return v
}
