package board

import "github.com/boardwalkhq/boardwalk/internal/market"

// Hold keeps a card of the Running sort from flickering: once in, it leaves only after it failed the gate twice in a row. The
// zero value is a card that isn't in.
type Hold struct{ passed bool }

// Tick takes what the card fails now, once per re-rank. A card that is held passes and shows no failures.
func (h *Hold) Tick(fails Fails) (pass bool, shown Fails) {
	held := h.passed
	h.passed = fails == 0
	if h.passed || held {
		return true, 0
	}
	return false, fails
}

// BuyExternal reports whether a token is bought at its launchpad's own site and not in the app: an ungraduated one of an
// outside curve launchpad that the app doesn't trade with on its chain.
func BuyExternal(outside, hasCurve bool, state market.LaunchState, tradesInApp bool) bool {
	onCurve := state == market.LaunchOnCurve || state == market.LaunchCompleted
	return outside && hasCurve && onCurve && !tradesInApp
}
