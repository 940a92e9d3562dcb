package store

import "time"

// staleAfter is the lag of a chain's newest indexed block, in seconds, from which on its figures are stale.
const staleAfter = 120

// Lag is by how many seconds a chain's newest indexed block is behind the newest announced one. Where nobody knows of newer blocks it
// is behind the clock, and silent says so: a chain that makes blocks only for transactions isn't late as long as a node answers.
func Lag(state ChainState, newest int64, head HeadStatus, now time.Time) (seconds int64, silent bool) {
	until := head.Time
	if silent = state == ChainHalted || now.Unix() >= head.SilentFrom; silent {
		until = now.Unix()
	}
	return max(until-newest, 0), silent
}

// IsStale reports whether a chain's figures are those of a while ago: its indexer doesn't go on, or its nodes are silent. newest is the time of
// its newest indexed block; unix seconds.
func IsStale(state ChainState, newest int64, head HeadStatus, now time.Time) bool {
	seconds, _ := Lag(state, newest, head, now)
	return state == ChainHalted || seconds > staleAfter
}
