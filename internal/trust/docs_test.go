package trust

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRulesAreDocumented holds the tables of docs/trust.md: every check with its title and limits, how it is made, every reason.
func TestRulesAreDocumented(t *testing.T) {
	t.Parallel()
	doc := read(t, "../../docs/trust.md")
	rows := regexp.MustCompile("(?m)^\\| (`.*)$").FindAllStringSubmatch(doc, -1)
	rowsOf := func(id string) (found []string) {
		for _, row := range rows {
			if first, _, _ := strings.Cut(row[1], "|"); strings.Contains(first, "`"+id+"`") {
				found = append(found, row[1])
			}
		}
		return found
	}
	for _, r := range Rules {
		found := rowsOf(r.ID)
		if len(found) < 2 && r.ID != SourceVerified {
			t.Errorf("%s: %d rows, not one for the limits and one for how it is made", r.ID, len(found))
			continue
		}
		if !strings.Contains(found[0], "| "+r.Title+" |") {
			t.Errorf("%s: its title is %q: %s", r.ID, r.Title, found[0])
		}
		for _, l := range r.Limits {
			sign, unit := ">", map[string]string{"pct": "%", "usd": "USD", "s": "s"}[r.Unit]
			if r.Low {
				sign = "<"
			}
			number := fmt.Sprint(l.Value)
			if l.Value >= 1000 {
				number = fmt.Sprintf("%d,%03d", int(l.Value)/1000, int(l.Value)%1000)
			}
			if want := fmt.Sprintf("%s %s %s: %s, %s", sign, number, unit, l.Result, l.Severity); !strings.Contains(found[0], want) {
				t.Errorf("%s: no %q in %s", r.ID, want, found[0])
			}
		}
	}
	for _, r := range append(slices.Clone(SolanaRules), BuyerRules...) {
		if found := rowsOf(r.ID); len(found) == 0 || !strings.Contains(found[0], "| "+r.Title+" |") || r.Title == "" {
			t.Errorf("%s: its title is %q: %v", r.ID, r.Title, found)
		}
	}
	if want := fmt.Sprintf("%d or more: fail, high; %d or more: warn, medium; either only if fewer than %g %%", tooManyLaunches, manyLaunches, 100*graduatedAtLeast); !strings.Contains(rowsOf(CreatorHistory)[0], want) {
		t.Errorf("no %q", want)
	}
	reasons := regexp.MustCompile(`(?m)^\t\w+ += "([a-z_]+)"$`).FindAllStringSubmatch(read(t, "rules.go"), -1)
	if len(reasons) < len(Rules)+len(BuyerRules)+10 {
		t.Errorf("only %d ids and reasons were found: the constants were not read", len(reasons))
	}
	for _, r := range reasons {
		if len(rowsOf(r[1])) == 0 {
			t.Errorf("%s is in no table", r[1])
		}
	}
}

// TestDocumentedExample reckons the example of docs/trust.md.
func TestDocumentedExample(t *testing.T) {
	t.Parallel()
	tax, others := rule(t, SellTax).Measure(40), []Check{
		rule(t, LPBurnedLocked).Measure(60), rule(t, Ownership).Judge(Warn, Medium, "0x01"), rule(t, PairAge).Measure(1800), rule(t, HoneypotSell).Pass(false),
	}
	with, without := report(append(others, tax)...), report(others...)
	if v, s := with.Verdict(), *with.Score(); v != Danger || s != 40 {
		t.Errorf("with the tax it is %s and %d", v, s)
	}
	if v, s := without.Verdict(), *without.Score(); v != Caution || s != 80 {
		t.Errorf("without the tax it is %s and %d", v, s)
	}
	doc := read(t, "../../docs/trust.md")
	for _, want := range []string{"the score is 100 − 60 = **40**", "Without the tax it is `caution` and **80**"} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %q", want)
		}
	}
}
