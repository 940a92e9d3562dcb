package solana

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// TestThePageHasTheUnits: docs/costs.md has the units of each method that counts by itself, and of the others.
func TestThePageHasTheUnits(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	for method, units := range usualUnits {
		row := fmt.Sprintf("| `%s` | %d | Solana: ", method, units)
		if method == chainconfig.OtherMethods {
			row = fmt.Sprintf("| other | %d | Solana: ", units)
		}
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/costs.md has no row that begins with %q", row)
		}
	}
	// The newest slot twice, a block without its transactions and one with them.
	perBlock := 2*usualUnits[chainconfig.OtherMethods] + 2*usualUnits["getBlock"]
	if text := fmt.Sprintf("Solana's four calls for a block are %d units, %.0f million a day at 400 ms", perBlock, float64(perBlock)*86_400/0.4/1e6); !strings.Contains(string(page), text) {
		t.Errorf("docs/costs.md doesn't say %q", text)
	}
}
