package read

import "testing"

// TestWalletPlaces: reading traders' wallets leaves half of the cores to everybody else, and never has more than four.
func TestWalletPlaces(t *testing.T) {
	t.Parallel()
	for cores, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 7: 3, 8: 4, 9: 4, 64: 4} {
		if got := walletPlaces(cores); got != want {
			t.Errorf("on %d cores %d wallets are read at once, want %d", cores, got, want)
		}
	}
}
