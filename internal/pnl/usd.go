package pnl

import "github.com/boardwalkhq/boardwalk/internal/market"

// USD is a sum of money in 1e-9 USD.
type USD = market.USD

// Nano is v units of 1e-9 USD.
func Nano(v int64) USD { return market.NanoUSD(v) }
