package wire_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// fundingParts are the parts that are known where the funding of wallets is.
var fundingParts = []string{"clusters", "fresh_share_pct", "funded_by_creator_pct"}

func account(n int) market.Address { return markettest.Address(fmt.Sprintf("0x%040x", n)) }

// written are the parts of a score as they stand in an answer.
func written(t *testing.T, p *traction.Parts) (parts map[string]any, reasons map[string]any) {
	t.Helper()
	body, err := json.Marshal(wire.TractionOf(p, traction.Score(*p), "", true))
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Parts map[string]any `json:"parts"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	reasons, _ = answer.Parts["unknown_reasons"].(map[string]any)
	return answer.Parts, reasons
}

// TestPartsOfKnownFunding measures five wallets that trade as much each: the creator paid one of them, another account two, and two are old.
func TestPartsOfKnownFunding(t *testing.T) {
	t.Parallel()
	const now = 1_700_000_000
	creator, other := account(201), account(202)
	var tape traction.Tape
	tape.Exclude(creator)
	for n, f := range []market.Funding{
		{State: market.FundingSeen, Funder: creator, At: now, Age: market.AgeNew, First: now},
		{State: market.FundingSeen, Funder: other, At: now - 86_400, Age: market.AgeNew, First: now},
		{State: market.FundingSeen, Funder: other, At: now - 86_400, Age: market.AgeNew, First: now},
		{State: market.FundingNotSeen, Age: market.AgeOld},
		{State: market.FundingNotSeen, Age: market.AgeOld},
	} {
		tape.Add(traction.Flow{Wallet: account(n + 1), Time: now, USD: 100, Funding: f})
	}
	p := traction.Parts{LiquidityUSD: 10_000}
	tape.Measure(&p, now)
	parts, reasons := written(t, &p)
	for name, want := range map[string]any{"clusters": 3.0, "fresh_share_pct": 60.0, "funded_by_creator_pct": 20.0} {
		if parts[name] != want || reasons[name] != nil {
			t.Errorf("%s is %v (%v), want %v", name, parts[name], reasons[name], want)
		}
	}
}

// TestPartsAtTheirBounds: shares of none and of all are 0 and 100, and no more.
func TestPartsAtTheirBounds(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]float64{0: 0, math.Nextafter(1, 0): 100, 1: 100, 1.0 / 3: 33.3333333333333} {
		parts, _ := written(t, &traction.Parts{KnowsFunding: true, Fresh: share, ByCreator: share})
		if parts["fresh_share_pct"] != want || parts["funded_by_creator_pct"] != want || parts["clusters"] != 0.0 {
			t.Errorf("the share %v is written in %v, want %v", share, parts, want)
		}
	}
}

// TestPartsOfUnknownFunding: where nobody can tell where coins came from, the parts are null for a reason, though each wallet counts.
func TestPartsOfUnknownFunding(t *testing.T) {
	t.Parallel()
	const now = 1_700_000_000
	var tape traction.Tape
	tape.Add(traction.Flow{Wallet: account(1), Time: now, USD: 100})
	var p traction.Parts
	tape.Measure(&p, now)
	parts, reasons := written(t, &p)
	for _, name := range fundingParts {
		if value, there := parts[name]; !there || value != nil || reasons[name] != string(contract.UnknownReasonUnavailable) {
			t.Errorf("%s is %v (there: %v) for the reason %v", name, value, there, reasons[name])
		}
	}
	if parts["buyers"] != 1.0 {
		t.Errorf("one wallet is %v buyers", parts["buyers"])
	}
}

// TestExamplesHaveTheScoreOfTheirParts computes each score that an example of the API's document has.
func TestExamplesHaveTheScoreOfTheirParts(t *testing.T) {
	t.Parallel()
	var document any
	if err := yaml.Unmarshal(contract.Document(), &document); err != nil {
		t.Fatal(err)
	}
	found := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, item := range v {
				walk(item)
			}
			score, isScore := number(v["score"])
			parts, hasParts := v["parts"].(map[string]any)
			if !isScore || !hasParts {
				return
			}
			found++
			var p traction.Parts
			for name, part := range map[string]*float64{
				"buyers": &p.Buyers, "volume_usd": &p.VolumeUSD, "liquidity_usd": &p.LiquidityUSD, "members": &p.Members, "age_s": &p.AgeS,
			} {
				*part, _ = number(parts[name]) // a part that is null adds nothing
			}
			want := traction.Score(p)
			if _, ranked := v["rank"]; ranked {
				want = math.Round(want*10) / 10
			}
			if score != wire.Rounded(want) {
				t.Errorf("the example with the parts %v has the score %v, want %v", parts, score, wire.Rounded(want))
			}
		}
	}
	walk(document)
	if found != 3 {
		t.Errorf("%d examples have a score, want 3", found)
	}
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
