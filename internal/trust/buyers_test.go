package trust

import (
	"strings"
	"testing"
)

// TestIndependence judges at the limits: below 33 % of at least 15 buyers.
func TestIndependence(t *testing.T) {
	t.Parallel()
	r := rule(t, IndependentBuyers)
	for _, test := range []struct {
		buyers, independent int
		want                Result
	}{
		{15, 4, Warn}, {15, 5, Pass}, {14, 1, Pass}, {14, 0, Pass}, {15, 0, Warn}, {100, 33, Pass}, {100, 32, Warn}, {31, 31, Pass}, {1, 1, Pass}, {0, 0, Unknown},
	} {
		c := Independence(r, test.buyers, test.independent)
		if c.Result != test.want || c.Severity != Info || c.Threshold != 33.0 {
			t.Errorf("%d of %d: %+v, want %s", test.independent, test.buyers, c, test.want)
		}
		if c.Result == Unknown && (c.UnknownReason != NoTrades || c.Value != nil) {
			t.Errorf("without buyers: %+v", c)
		}
	}
}

// TestCreatorFunded judges at the limit: above 10 %.
func TestCreatorFunded(t *testing.T) {
	t.Parallel()
	r := rule(t, CreatorFunded)
	for value, want := range map[float64]Result{0: Pass, 10: Pass, 10.01: Warn, 100: Warn} {
		if c := r.Measure(value); c.Result != want || c.Severity != Medium {
			t.Errorf("%v %%: %+v, want %s", value, c, want)
		}
	}
}

// TestBuyersAreNeverCritical: whatever the checks of buyers come to, a token is in no danger by it, and the quality bar doesn't see it.
func TestBuyersAreNeverCritical(t *testing.T) {
	t.Parallel()
	worst := []Check{Independence(rule(t, IndependentBuyers), 100, 0), rule(t, CreatorFunded).Measure(100)}
	pass := rule(t, HoneypotSell).Pass(false)
	r := report(pass).With(worst...)
	if r.Critical() || r.Verdict() != Caution || *r.Score() != 95 || r.Inconclusive() {
		t.Errorf("%s %d, critical %v", r.Verdict(), *r.Score(), r.Critical())
	}
	if r = report(pass).With(worst[0]); r.Verdict() != OK || *r.Score() != 100 {
		t.Errorf("without independent buyers it is %s, %d: strangers must not bring that about", r.Verdict(), *r.Score())
	}
	if r = report(pass).With(rule(t, IndependentBuyers).Unknown(FundingUnknown), rule(t, CreatorFunded).Unknown(FundingUnknown)); r.Verdict() != OK || *r.Score() != 100 {
		t.Errorf("what nobody can tell changes the verdict to %s, %d", r.Verdict(), *r.Score())
	}
}

// TestWithChangesNoReport: reports are shared by those who ask at one time.
func TestWithChangesNoReport(t *testing.T) {
	t.Parallel()
	r := report(rule(t, HoneypotSell).Pass(false))
	r.Checks = append(make([]Check, 0, 8), r.Checks...)
	a, b := r.With(check(Warn, Low)), r.With(check(Fail, Low))
	if len(r.Checks) != 1 || len(a.Checks) != 2 || a.Checks[1].Result != Warn || b.Checks[1].Result != Fail {
		t.Errorf("%+v, %+v and %+v", r.Checks, a.Checks, b.Checks)
	}
}

// TestBuyerRulesAreDocumented holds docs/trust.md to what counts as too few.
func TestBuyerRulesAreDocumented(t *testing.T) {
	t.Parallel()
	doc := read(t, "../../docs/trust.md")
	for _, want := range []string{
		"| `independent_buyers` | Independent buyers | percent of the buyers | < 33 % of at least 15 buyers: warn, info |",
		"| `creator_funded` | Traded by wallets that the creator paid | percent of the organic volume | > 10 %: warn, medium |",
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %q", want)
		}
	}
}
