package board

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func says(t *testing.T, page, text string) {
	t.Helper()
	if !strings.Contains(page, text) {
		t.Errorf("docs/ranking.md doesn't say %q", text)
	}
}

// docs/ranking.md has the values of the default gate, and figures that can be reckoned from them.
func TestPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/ranking.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	gate := DefaultGate()
	value := func(v float64) string {
		s := strconv.FormatFloat(v, 'f', -1, 64)
		if len(s) > 3 {
			s = s[:len(s)-3] + "," + s[len(s)-3:]
		}
		return s
	}
	for field, v := range map[string]float64{
		"liquidity_usd_min": gate.LiquidityUSDMin, "volume_24h_usd_min": gate.Volume24hUSDMin,
		"age_s_min": float64(gate.AgeSMin), "age_s_max": float64(gate.AgeSMax), "holders_min": float64(gate.HoldersMin),
		"curve.progress_pct_min": gate.ProgressPctMin, "curve.buyers_1h_min": float64(gate.Buyers1hMin),
	} {
		says(t, page, fmt.Sprintf("| `%s` | %s |", field, value(v)))
	}
	for chain, v := range gate.LiquidityUSDMinByChain {
		says(t, page, fmt.Sprintf("| `liquidity_usd_min_by_chain.%s` | %s |", chain, value(v)))
	}
	if chains := slices.Collect(maps.Keys(gate.LiquidityUSDMinByChain)); len(chains) != strings.Count(page, "liquidity_usd_min_by_chain.") {
		t.Errorf("docs/ranking.md doesn't have the bounds of exactly %q", chains)
	}
	// Half of the liquidity is the quote side of x·y=k, and the price goes with its square.
	move := func(buy, liquidity float64) string {
		rise := 1 + buy/(liquidity/2)
		return fmt.Sprintf("%.0f %%", 100*(rise*rise-1))
	}
	says(t, page, "moves the price by "+move(50, gate.LiquidityUSDMin))
	if onEthereum := move(250, gate.LiquidityUSDMinByChain["ethereum"]); onEthereum != move(50, gate.LiquidityUSDMin) {
		t.Errorf("on Ethereum 250 USD move the price by %s, which isn't the same", onEthereum)
	}
	for _, c := range []Candidate{{OnCurve: true, TrustCritical: true}, {AgeS: gate.AgeSMax + 1}} {
		for _, name := range gate.Fails(c).Names() {
			says(t, page, "`"+name+"`")
		}
	}
	// The raised quote follows from x·y=k on virtual reserves of 30 coins and 1,073 M tokens, of which 793.1 M are sold.
	raised := func(sold float64) float64 { return 30 * sold / (1073 - sold) }
	says(t, page, fmt.Sprintf("= %.2f of %.2f coins, or %.1f %%", raised(793.1/2), raised(793.1), 100*raised(793.1/2)/raised(793.1)))
	says(t, page, fmt.Sprintf("at %.0f %% a curve of the usual shape holds %.1f of its %.0f coins", gate.ProgressPctMin,
		raised(793.1*gate.ProgressPctMin/100), raised(793.1)))
	for _, name := range []string{"$ＰＥＰＥ", "pépe", "P e p e"} {
		if says(t, page, "`"+name+"`"); normalise(name) != "pepe" {
			t.Errorf("%q is no pepe", name)
		}
	}
}
