package netchange

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestSums sums up the changes of one account, of the most accounts that Add searches a list for, of one more, and of many more.
func TestSums(t *testing.T) {
	t.Parallel()
	for _, accounts := range []int{1, mostSearched, mostSearched + 1, 5 * mostSearched} {
		var sums Sums
		for turn := range 3 {
			for i := range accounts {
				var a market.SignedAmount
				a.Abs.SetUint64(uint64(i + turn))
				sums.Add(market.SolanaAddress([32]byte{1, byte(i)}), a)
			}
		}
		if len(sums.List) != accounts {
			t.Errorf("%d accounts, want %d", len(sums.List), accounts)
		}
		for i, c := range sums.List {
			if want := uint64(3*i + 3); c.Account != market.SolanaAddress([32]byte{1, byte(i)}) || c.Sum.Abs.Uint64() != want {
				t.Errorf("of %d accounts the one at place %d is %s with %d, want %d", accounts, i, c.Account, c.Sum.Abs.Uint64(), want)
			}
		}
	}
}
