// Package market is Boardwalk's domain as plain values: chains' blocks, the events that decoders read from them, and
// the tokens, pools, trades, candles and balances that are derived. It knows no database, no HTTP and no clock.
package market
