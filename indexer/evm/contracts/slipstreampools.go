package contracts

import "fmt"

// slipstreamSpacings are the tick spacings that a Slipstream factory begins with (its constructor); its owner can add others.
var slipstreamSpacings = []int32{1, 50, 100, 200, 2000}

// getPoolOfSpacing asks a Slipstream factory for its pool of two tokens, which are two words.
func getPoolOfSpacing(pair string, spacing int32) string {
	return callGetPoolSpacing + pair + fmt.Sprintf("%064x", spacing)
}

// slipstreamPoolsOf asks a Slipstream factory for its pools of two tokens with the usual spacings.
func slipstreamPoolsOf(pair string) (calls []string) {
	for _, spacing := range slipstreamSpacings {
		calls = append(calls, getPoolOfSpacing(pair, spacing))
	}
	return calls
}
