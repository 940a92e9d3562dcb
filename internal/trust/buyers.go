package trust

import "slices"

// BuyerRules are the checks of a launched token's buyers, in the order of a report. They come last in it. Strangers can make wallets that buy any token, so that few
// independent buyers cost a token no verdict and no point of its score.
var BuyerRules = []Rule{
	{ID: IndependentBuyers, Title: "Independent buyers", Severity: Info, Unit: "pct", Low: true, Limits: []Limit{{33, Warn, Info}}},
	{ID: CreatorFunded, Title: "Traded by wallets that the creator paid", Severity: Medium, Unit: "pct", Limits: []Limit{{10, Warn, Medium}}},
}

// judgedBuyers is the least number of buyers whose independence is judged: of a few, one pair of friends is a large part.
const judgedBuyers = 15

// Independence judges how many of a token's buyers are independent. The value is their part in percent.
func Independence(r Rule, buyers, independent int) Check {
	if buyers <= 0 {
		return r.Unknown(NoTrades)
	}
	c := r.Measure(100 * float64(independent) / float64(buyers))
	if buyers < judgedBuyers {
		c.Result, c.Severity = Pass, r.Severity
	}
	return c
}

// With is the report with further checks at its end. The report isn't changed.
func (r *Report) With(checks ...Check) *Report {
	out := *r
	out.Checks = append(slices.Clone(r.Checks), checks...)
	return &out
}
