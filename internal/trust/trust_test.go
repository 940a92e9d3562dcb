package trust

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func report(checks ...Check) *Report { return &Report{Checks: checks} }

func check(result Result, severity Severity) Check { return Check{Result: result, Severity: severity} }

func TestVerdictAndScore(t *testing.T) {
	t.Parallel()
	unknown, pass := check(Unknown, Critical), check(Pass, Critical)
	for name, test := range map[string]struct {
		report   *Report
		verdict  Verdict
		score    int // -1 is none
		critical bool
	}{
		"nothing":                     {report(), VerdictUnknown, -1, false},
		"all well":                    {report(pass, check(Pass, High)), OK, 100, false},
		"nothing critical":            {report(check(Pass, Low)), OK, 100, false},
		"critical failure":            {report(pass, check(Fail, Critical)), Danger, 60, true},
		"high failure":                {report(pass, check(Fail, High)), Danger, 80, false},
		"medium failure":              {report(pass, check(Fail, Medium)), Caution, 90, false},
		"low failure":                 {report(pass, check(Fail, Low)), Caution, 97, false},
		"info failure":                {report(pass, check(Fail, Info)), Caution, 100, false},
		"critical warning":            {report(check(Warn, Critical)), Caution, 80, false},
		"high warning":                {report(pass, check(Warn, High)), Caution, 90, false},
		"medium warning":              {report(pass, check(Warn, Medium)), Caution, 95, false},
		"low warning":                 {report(pass, check(Warn, Low)), OK, 98, false}, // 98.5
		"two low warnings":            {report(pass, check(Warn, Low), check(Warn, Low)), OK, 97, false},
		"info warning":                {report(pass, check(Warn, Info)), OK, 100, false},
		"half of the critical":        {report(pass, unknown), OK, 100, false},
		"more than half":              {report(pass, unknown, unknown), VerdictUnknown, -1, false},
		"one, unknown":                {report(unknown, check(Pass, High)), VerdictUnknown, -1, false},
		"all unknown":                 {report(unknown, unknown), VerdictUnknown, -1, false},
		"unknown beneath a warning":   {report(unknown, unknown, check(Warn, Medium)), Caution, 95, false},
		"unknown beneath a failure":   {report(unknown, unknown, check(Fail, High)), Danger, 80, false},
		"unknown, but not critical":   {report(pass, check(Unknown, High), check(Unknown, High)), OK, 100, false},
		"three critical failures":     {report(check(Fail, Critical), check(Fail, Critical), check(Fail, Critical)), Danger, 0, true},
		"critical, high, medium, low": {report(check(Fail, Critical), check(Fail, High), check(Fail, Medium), check(Fail, Low)), Danger, 27, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if v := test.report.Verdict(); v != test.verdict {
				t.Errorf("the verdict is %s, want %s", v, test.verdict)
			}
			got := -1
			if s := test.report.Score(); s != nil {
				got = *s
			}
			if got != test.score {
				t.Errorf("the score is %d, want %d", got, test.score)
			}
			if test.report.Critical() != test.critical {
				t.Errorf("critical is %t", !test.critical)
			}
		})
	}
}

func drawChecks(t *rapid.T) []Check {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Check {
		return check(rapid.SampledFrom([]Result{Pass, Warn, Fail, Unknown}).Draw(t, "result"),
			rapid.SampledFrom([]Severity{Info, Low, Medium, High, Critical}).Draw(t, "severity"))
	}), 1, 20).Draw(t, "checks")
}

// TestVerdictIsTheContracts holds the verdict and the score against their definitions, in other words.
func TestVerdictIsTheContracts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checks := drawChecks(t)
		count := func(f func(Check) bool) (n int) {
			for _, c := range checks {
				if f(c) {
					n++
				}
			}
			return n
		}
		grave := func(c Check) bool { return c.Severity == High || c.Severity == Critical }
		want := OK
		switch {
		case count(func(c Check) bool { return c.Result == Fail && grave(c) }) > 0:
			want = Danger
		case count(func(c Check) bool {
			return c.Result == Fail || (c.Result == Warn && (grave(c) || c.Severity == Medium))
		}) > 0:
			want = Caution
		case 2*count(func(c Check) bool { return c.Result == Unknown && c.Severity == Critical }) > count(func(c Check) bool { return c.Severity == Critical }):
			want = VerdictUnknown
		}
		if v := report(checks...).Verdict(); v != want {
			t.Fatalf("the verdict is %s, want %s", v, want)
		}
		points := 100.0
		for severity, cost := range map[Severity]float64{Critical: 40, High: 20, Medium: 10, Low: 3} {
			points -= cost * float64(count(func(c Check) bool { return c.Result == Fail && c.Severity == severity }))
			points -= cost / 2 * float64(count(func(c Check) bool { return c.Result == Warn && c.Severity == severity }))
		}
		score := report(checks...).Score()
		known := want != VerdictUnknown && count(func(c Check) bool { return c.Result != Unknown }) > 0
		if (score != nil) != known || (known && *score != int(max(points, 0))) {
			t.Fatalf("the score is %v, want %v", score, points)
		}
		s := report(checks...).Summary()
		if s.Pass+s.Warn+s.Fail+s.Unknown != len(checks) {
			t.Fatalf("%+v of %d checks", s, len(checks))
		}
	})
}

// TestWorseIsNeverBetter: order says nothing, and what gets worse never raises the score or the verdict.
func TestWorseIsNeverBetter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checks := drawChecks(t)
		before := report(checks...)
		other := report(rapid.Permutation(checks).Draw(t, "order")...)
		if before.Verdict() != other.Verdict() {
			t.Fatal("the order counts")
		}
		i := rapid.IntRange(0, len(checks)-1).Draw(t, "which")
		worse := report(slices.Clone(checks)...)
		if worse.Checks[i].Result == Unknown {
			return
		}
		worse.Checks[i].Result = Fail
		if b, w := before.Score(), worse.Score(); b != nil && (w == nil || *w > *b) {
			t.Fatal("a failure raised the score, or took it away")
		}
		order := []Verdict{OK, VerdictUnknown, Caution, Danger}
		if slices.Index(order, worse.Verdict()) < slices.Index(order, before.Verdict()) {
			t.Fatalf("a failure turned %s into %s", before.Verdict(), worse.Verdict())
		}
	})
}

func rule(t *testing.T, id string) Rule {
	t.Helper()
	r, ok := RuleOf(id)
	if !ok {
		t.Fatalf("there is no check %s", id)
	}
	return r
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id        string
		value     float64
		result    Result
		severity  Severity
		threshold float64
	}{
		{SellTax, 0, Pass, Critical, 10},
		{SellTax, 10, Pass, Critical, 10},
		{SellTax, 10.0001, Fail, High, 10},
		{BuyTax, 30, Fail, High, 10},
		{TransferTax, 30.0001, Fail, Critical, 30},
		{Top10Share, 50, Pass, High, 50},
		{Top10Share, 50.1, Fail, Medium, 50},
		{Top10Share, 70.1, Fail, High, 70},
		{CreatorHolding, 5, Pass, High, 5},
		{CreatorHolding, 5.1, Fail, Medium, 5},
		{CreatorHolding, 20.1, Fail, High, 20},
		{PairAge, 3599, Warn, Medium, 3600},
		{PairAge, 3600, Pass, Medium, 3600},
		{LiquidityDepth, 999.99, Fail, High, 1000},
		{LiquidityDepth, 1000, Pass, High, 1000},
		{LPBurnedLocked, 95, Pass, High, 95},
		{LPBurnedLocked, 94.9, Warn, High, 95},
		{LPBurnedLocked, 49.9, Fail, High, 50},
		{SupplyChange, -3, Pass, High, 0.01},
		{SupplyChange, 0.02, Fail, High, 0.01},
		{BundleShare, 10.1, Warn, Medium, 10},
		{BundleShare, 20.1, Fail, Medium, 20},
	} {
		c := rule(t, test.id).Measure(test.value)
		if c.Result != test.result || c.Severity != test.severity || c.Threshold != test.threshold || c.Value != test.value {
			t.Errorf("%s of %v: %+v", test.id, test.value, c)
		}
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		launches, graduated int64
		result              Result
		severity            Severity
	}{
		{0, 0, Pass, High},
		{4, 0, Pass, High},
		{5, 0, Warn, Medium},
		{5, 1, Pass, High},
		{19, 0, Warn, Medium},
		{20, 0, Fail, High},
		{20, 1, Pass, High},
		{21, 1, Fail, High},
		{1000, 50, Pass, High},
		{1000, 49, Fail, High},
	} {
		c := History(rule(t, CreatorHistory), test.launches, test.graduated)
		if c.Result != test.result || c.Severity != test.severity || c.Value != float64(test.launches) {
			t.Errorf("%d launches, %d graduated: %+v", test.launches, test.graduated, c)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules {
		if seen[r.ID] || r.Title == "" || r.Severity == "" {
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
		for _, l := range r.Limits {
			if l.Severity.rank() > r.Severity.rank() {
				t.Errorf("%s can come to %s, which is more than %s", r.ID, l.Severity, r.Severity)
			}
		}
		if c := r.Unknown(CallFailed); c.Result != Unknown || c.Value != nil || c.UnknownReason != CallFailed || c.Evidence == nil {
			t.Errorf("%+v", c)
		}
	}
	if _, ok := RuleOf("no_such_check"); ok {
		t.Error("a rule for what isn't a check")
	}
}

func TestCallersAge(t *testing.T) {
	t.Parallel()
	age := rule(t, PairAge)
	now := time.Unix(1_700_000_000, 0)
	without := report(check(Pass, High), age.Unknown(NotIndexed))
	for name, test := range map[string]struct {
		created time.Time
		result  Result
		value   any
	}{
		"a day old":       {now.Add(-24 * time.Hour), Pass, 86400.0},
		"half an hour":    {now.Add(-30 * time.Minute), Warn, 1800.0},
		"now":             {now, Warn, 0.0},
		"in the future":   {now.Add(time.Second), Unknown, nil},
		"no time at all":  {time.Time{}, Unknown, nil},
		"the year 1970":   {time.Unix(0, 0), Unknown, nil},
		"before the time": {time.Unix(-5, 0), Unknown, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := without.WithCallersAge(test.created, now)
			c := r.Find(PairAge)
			if c.Result != test.result || c.Value != test.value || (c.Result != Unknown) != (c.Source == "caller") {
				t.Errorf("%+v", c)
			}
			if without.Find(PairAge).Result != Unknown {
				t.Error("the report itself was changed")
			}
			if len(r.Checks) != 2 {
				t.Error("checks came or went")
			}
		})
	}
	own := report(age.Measure(60))
	if own.WithCallersAge(now.Add(-24*time.Hour), now) != own {
		t.Error("the caller's age took the place of our own")
	}
}

// TestReportKeepsItsShape: what a report says survives the way through the database.
func TestReportKeepsItsShape(t *testing.T) {
	t.Parallel()
	r := report(rule(t, SellTax).Measure(40), rule(t, Ownership).Pass("0x00"), rule(t, HoneypotSell).Pass(false), rule(t, Mintable).Unknown(NoPool))
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(body), `"evidence":null`) {
		t.Errorf("%s", body)
	}
	var back Report
	if err := json.Unmarshal(body, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&back)
	if err != nil || string(again) != string(body) {
		t.Errorf("%s came back as %s, error %v", body, again, err)
	}
	if back.Verdict() != r.Verdict() || *back.Score() != *r.Score() {
		t.Error("the verdict or the score changed on the way")
	}
}

// TestInconclusive: only a critical check that could not be made leaves open what an earlier report found.
func TestInconclusive(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		report *Report
		want   bool
	}{
		"no check":                    {report(), false},
		"a critical check passes":     {report(check(Pass, Critical), check(Unknown, High)), false},
		"a critical check fails":      {report(check(Fail, Critical)), false},
		"a critical check is unknown": {report(check(Pass, Critical), check(Unknown, Critical)), true},
	} {
		if got := test.report.Inconclusive(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
