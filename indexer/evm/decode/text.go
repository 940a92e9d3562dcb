package decode

import (
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Text reads an ABI string or, as older tokens have it, a bytes32 padded with zeros.
func Text(answer []byte) string {
	b := answer
	if len(b) < 32 {
		return ""
	}
	if len(b) == 32 {
		return chain.CleanText(strings.TrimRight(string(b), "\x00"))
	}
	var offset, length market.Amount
	offset.SetBytes32(b[:32])
	if !offset.IsUint64() || offset.Uint64() > uint64(len(b)-32) {
		return ""
	}
	b = b[offset.Uint64():]
	length.SetBytes32(b[:32])
	b = b[32:]
	if !length.IsUint64() || length.Uint64() > uint64(len(b)) {
		return ""
	}
	return chain.CleanText(string(b[:length.Uint64()]))
}
