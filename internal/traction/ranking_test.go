package traction

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// noon is when the example of docs/ranking.md is scored. Its trades are by wallet, their times in minutes before noon. Wallets
// 9 to 18 buy for 100 USD each at noon, and the creator, 99, for 5,000 two hours before. One account paid wallets 9 to 12 an hour before noon; the others are old.
const noon = 1_772_452_800

var example = map[int][]Flow{
	1:  {{Time: 60, USD: 800}},
	2:  {{Time: 30, USD: 400}},
	3:  {{Time: 0, USD: 120}},
	4:  {{Time: 30, USD: 2000}},
	5:  {{Time: 0, USD: 500}, {Time: 0, USD: 500, Sell: true}},
	6:  {{Time: 30, USD: 240}, {Time: 0, USD: 40, Sell: true}},
	7:  {{Time: 60, USD: 600, Sell: true}},
	8:  {{Time: 60, USD: 4}},
	99: {{Time: 120, USD: 5000}},
}

// measured is the example with the chosen wallets alone.
func measured(chosen ...int) (p Parts, t *Tape) {
	var flows []Flow
	for _, n := range chosen {
		list := example[n]
		if list == nil {
			list = []Flow{{Time: 0, USD: 100}}
		}
		for _, f := range list {
			f.Wallet, f.Time = address(n), noon-60*f.Time
			f.Funding = market.Funding{State: market.FundingNotSeen, Age: market.AgeOld}
			if n >= 9 && n <= 12 {
				f.Funding = market.Funding{State: market.FundingSeen, Funder: address(200), At: noon - 3600, Age: market.AgeNew, First: noon}
			}
			flows = append(flows, f)
		}
	}
	t = new(Tape)
	t.Exclude(address(99))
	for _, f := range inOrder(flows) {
		t.Add(f)
	}
	p = Parts{LiquidityUSD: 12_000, AgeS: 2 * 3600}
	t.Measure(&p, noon)
	return p, t
}

func numbers(from, to int) (out []int) {
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}

// row is what the page's table says of wallets: buy, sell, volume, round trips, what they add to the organic volume and to B.
func row(chosen ...int) string {
	p, t := measured(chosen...)
	var buy, sell, organic float64
	for b, s := range t.Wallets(noon) {
		m := measuring{ceiling: 600}
		_, of := m.take(b, s)
		buy, sell, organic = buy+b, sell+s, organic+of
	}
	cells := []string{figure(buy), figure(sell), figure(buy + sell), figure(p.Wash * (buy + sell)), figure(organic), figure(p.Buyers)}
	return "| " + strings.Join(cells, " | ") + " |"
}

// figure is a number as the page has it.
func figure(v float64) string {
	s := strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	if i := strings.Index(s+".", "."); i > 3 {
		s = s[:i-3] + "," + s[i-3:]
	}
	return s
}

// page is docs/ranking.md with its lines joined where a sentence goes on.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/ranking.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// says fails unless the page has the text, wherever its lines break.
func says(t *testing.T, page, text string) {
	t.Helper()
	if !strings.Contains(strings.Join(strings.Fields(page), " "), strings.Join(strings.Fields(text), " ")) {
		t.Errorf("docs/ranking.md doesn't say %q", text)
	}
}

// The page's example is what the code computes, figure by figure.
func TestPageExample(t *testing.T) {
	t.Parallel()
	text := page(t)
	lines := strings.Split(text, "\n")
	rows := map[string][]int{"9–12": numbers(9, 12), "13–18": numbers(13, 18)}
	for n := range 8 {
		rows[strconv.Itoa(n+1)] = numbers(n+1, n+1)
	}
	for label, wallets := range rows {
		want := row(wallets...)
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "| "+label+" |") && strings.HasSuffix(l, want) }) {
			t.Errorf("docs/ranking.md has no row of wallet %s that ends in %q", label, want)
		}
	}
	all := append(numbers(1, 18), 99)
	p, tape := measured(all...)
	h := tape.Hour(noon)
	ofB, ofV, ofL := 0.55*math.Log1p(p.Buyers/5), 0.25*math.Log1p(p.VolumeUSD/1000), 0.10*math.Log1p(12_000.0/5_000)
	age := math.Pow(2.0/(2+2), 0.35)
	share := freshShare + (1-freshShare)/24
	cluster := effective(4 * share)
	quiet, _ := measured(slices.DeleteFunc(slices.Clone(all), func(n int) bool { return n == 5 })...)
	loose, _ := measured(append(numbers(1, 8), append(numbers(13, 18), numbers(19, 22)...)...)...)
	for _, want := range []string{
		fmt.Sprintf("0.5 + 0.5/24 = %.4f of a wallet", share),
		fmt.Sprintf("log2(1 + 4 × %.4f) = %.4f", share, cluster),
		fmt.Sprintf("B = 11.5 + %.4f = %.4f", cluster, p.Buyers),
		fmt.Sprintf("V = (2,351 − 600) / 0.8 = %s", figure(p.VolumeUSD)),
		fmt.Sprintf("0.55 ln(1 + %.4f/5) = %.4f", p.Buyers, ofB),
		fmt.Sprintf("0.25 ln(1 + %s/1,000) = %.4f", figure(p.VolumeUSD), ofV),
		fmt.Sprintf("0.10 ln(1 + 12,000/5,000) = %.4f", ofL),
		fmt.Sprintf("The sum is %.4f", ofB+ofV+ofL),
		fmt.Sprintf("(2 / (2 + 2))^0.35 = %.4f", age),
		fmt.Sprintf("100 × %.4f × %.4f = **%.1f**", ofB+ofV+ofL, age, Score(p)),
		fmt.Sprintf("`buyers_1h` is %d, `sellers_1h` %d and `volume_1h_usd` %s", h.Buyers, h.Sellers, figure(h.VolumeUSD)),
		fmt.Sprintf("wash is 1,080 / 3,831 = %.4f", p.Wash),
		fmt.Sprintf("If wallets 9 to 12 were old ones, the score would be **%.1f**", Score(loose)),
	} {
		says(t, text, want)
	}
	if math.Abs(Score(quiet)-Score(p)) > 1e-9 {
		t.Errorf("without wallet 5, whose trades are round trips, the score is %v, with it %v", Score(quiet), Score(p))
	}
}

// The page's table of published scores is that of the formula.
func TestPageTable(t *testing.T) {
	t.Parallel()
	text := page(t)
	for _, e := range published {
		says(t, text, fmt.Sprintf("| %s | %s | %s | %s | %s | %v | %.1f |", e.name, figure(e.parts.Buyers), figure(e.parts.VolumeUSD),
			figure(e.parts.LiquidityUSD), figure(e.parts.Members), e.parts.AgeS/3600, Score(e.parts)))
	}
}

// Money has to be doubled again and again: each time adds no more than what ln 2 makes of all terms together.
func TestDoublingAddsLittle(t *testing.T) {
	t.Parallel()
	says(t, page(t), "Doubling all of B, V, L and M at once adds at most 69.3 points (100 ln 2)")
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.Float64Range(0, 1e6)
		p := Parts{
			Buyers: some.Draw(t, "B"), VolumeUSD: some.Draw(t, "V"), LiquidityUSD: some.Draw(t, "L"),
			Members: some.Draw(t, "M"), AgeS: some.Draw(t, "age"),
		}
		twice := p
		for _, part := range []*float64{&twice.Buyers, &twice.VolumeUSD, &twice.LiquidityUSD, &twice.Members} {
			*part *= 2
		}
		if more := Score(twice) - Score(p); more < 0 || more > 100*math.Ln2 {
			t.Fatalf("doubling %+v adds %v", p, more)
		}
	})
}
