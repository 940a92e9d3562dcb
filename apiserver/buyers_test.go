package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// payer is an account that pays wallets.
const payer = "0xee00000000000000000000000000000000000001"

// paidBy is the funding of a new wallet that an account paid an hour ago.
func paidBy(t *testing.T, account string) market.Funding {
	t.Helper()
	return market.Funding{State: market.FundingSeen, Funder: address(t, account), At: chainTime - 3600, Age: market.AgeNew, First: chainTime - 60}
}

// known is the funding of a wallet that had sent transactions before.
var known = market.Funding{State: market.FundingNotSeen, Age: market.AgeOld}

// buyerOf is a coin's buyer; its address is made of the coin's and its own number.
func buyerOf(c *coin, i int) string { return fmt.Sprintf("0xdd%038x", 1000*c.n+i) }

// tradedBy adds a purchase for 100 USD by each of some wallets to a coin's block, with where its coins came from.
func tradedBy(t *testing.T, ch *market.Changes, c *coin, fundings ...market.Funding) {
	t.Helper()
	mint := address(t, c.mint())
	for i, f := range fundings {
		ch.Trades = append(ch.Trades, market.Trade{
			Block: 101, LogIndex: uint64(1000*c.n + i), Time: chainTime - 60, Tx: market.EVMTx([32]byte{byte(c.n), byte(i + 1)}), Pool: market.CurveID(mint), Base: mint,
			Trader: address(t, buyerOf(c, i)), BaseAmount: amount("1"), QuoteAmount: amount("1"), NanoUSD: 100_000_000_000, HasUSD: true,
			CloseUSD: 0.01, CloseNative: 0.00001, Funding: f,
		})
	}
}

// times is a list with one funding so many times.
func times(n int, f market.Funding) (out []market.Funding) {
	for range n {
		out = append(out, f)
	}
	return out
}

// buyersWorld has coins whose buyers one account paid, the creator paid, nobody paid of late, and of whom nothing is known; one that nobody trades, and one that
// isn't launched.
func buyersWorld(t *testing.T, kind string) (c *client, byOne, byCreator, organic, untold, quiet, unlaunched coin) {
	t.Helper()
	st := seeded(t, kind)
	bare := func(n int, name string) coin { return good(n, name).with(func(c *coin) { c.buyers = 0 }) }
	byOne, byCreator, organic, untold, quiet = bare(1, "One"), bare(2, "Made"), bare(3, "Grown"), bare(4, "Dark"), bare(5, "Still")
	unlaunched = bare(6, "Loose").with(func(c *coin) { c.unlaunched = true })
	mintBlock(t, st, "base", 101, func(ch *market.Changes) {
		for _, c := range []coin{byOne, byCreator, organic, untold, quiet, unlaunched} {
			c.add(t, ch, 101)
		}
		tradedBy(t, ch, &byOne, append(times(20, paidBy(t, payer)), times(4, known)...)...)
		// The first of them pays the second.
		tradedBy(t, ch, &byCreator, append([]market.Funding{paidBy(t, creator), paidBy(t, buyerOf(&byCreator, 0))}, times(8, known)...)...)
		tradedBy(t, ch, &organic, times(16, known)...)
		tradedBy(t, ch, &untold, times(16, market.Funding{})...)
		tradedBy(t, ch, &unlaunched, times(16, paidBy(t, payer))...)
	})
	return start(t, st), byOne, byCreator, organic, untold, quiet, unlaunched
}

// buyersIn are the two checks of buyers in a report, which stand after the others.
func buyersIn(t *testing.T, r *contract.TrustReport) (independent, byCreator contract.TrustCheck) {
	t.Helper()
	if n := len(r.Checks); n != 4 || r.Checks[2].ID != trust.IndependentBuyers || r.Checks[3].ID != trust.CreatorFunded {
		t.Fatalf("the checks are %+v", r.Checks)
	}
	return r.Checks[2], r.Checks[3]
}

// TestTrustTellsWhoBuys asks for the reports of coins whose buyers' coins came from one account, from the creator, from nobody of late, and from nobody knows where.
func TestTrustTellsWhoBuys(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c, byOne, byCreator, organic, untold, quiet, unlaunched := buyersWorld(t, kind)
			ask := func(of coin) *contract.TrustReport {
				r := get[contract.TrustReport](t, c, "/api/token/"+of.mint()+"/trust")
				return &r
			}
			value := func(check contract.TrustCheck) any {
				if check.Value == nil {
					return nil
				}
				return *check.Value
			}

			r := ask(byOne)
			many, creators := buyersIn(t, r)
			if many.Result != contract.TrustResultWarn || many.Severity != contract.TrustSeverityInfo || value(many) != wireShare(5, 24) || *many.Threshold != 33.0 ||
				creators.Result != contract.TrustResultPass || value(creators) != 0.0 || r.Verdict != contract.TrustVerdictOk || *r.Score != 100 ||
				r.Summary != (contract.TrustSummary{Pass: 2, Warn: 1, Unknown: 1}) {
				t.Errorf("of a coin whose buyers one account paid: %+v", r)
			}
			if e := many.Evidence; len(e) != 7 || e[0].Detail != "24 buyers in the last 3.5 hours, 5 of them independent; 83 % of the organic volume is of 20 wallets that one account paid" ||
				e[0].Block != 101 || e[1].Ref != payer || e[1].Kind != contract.TrustEvidenceKindAccount ||
				e[2].Kind != contract.TrustEvidenceKindLog || e[2].Ref != market.EVMTx([32]byte{1, 1}).String() || e[2].Block != 101 ||
				e[2].Detail != buyerOf(&byOne, 0)+" bought; its coins came from "+payer+", and it was first paid at 2026-03-04T11:00:28Z" {
				t.Errorf("the evidence is %+v", e)
			}
			if e := creators.Evidence; len(e) != 1 || e[0].Detail != "0 % of the organic volume of the last 3.5 hours is of wallets that the creator paid" {
				t.Errorf("the evidence of no wallet that the creator paid is %+v", e)
			}

			r = ask(byCreator)
			many, creators = buyersIn(t, r)
			if many.Result != contract.TrustResultPass || value(many) != 80.0 || creators.Result != contract.TrustResultWarn || creators.Severity != contract.TrustSeverityMedium ||
				value(creators) != 20.0 || r.Verdict != contract.TrustVerdictCaution || *r.Score != 95 {
				t.Errorf("of a coin of which the creator paid buyers: %+v", r)
			}
			if e := creators.Evidence; len(e) != 4 || e[1].Ref != creator || !strings.Contains(e[1].Detail, "paid 2 wallets, itself or through others of them, with 20 % of the organic volume") ||
				!strings.Contains(e[3].Detail, buyerOf(&byCreator, 1)+" bought; its coins came from "+buyerOf(&byCreator, 0)+", and it was first paid at ") {
				t.Errorf("the evidence of wallets that the creator paid is %+v", e)
			}

			many, creators = buyersIn(t, ask(organic))
			if many.Result != contract.TrustResultPass || value(many) != 100.0 || len(many.Evidence) != 1 || many.Evidence[0].Detail != "16 buyers in the last 3.5 hours, 16 of them independent" ||
				creators.Result != contract.TrustResultPass {
				t.Errorf("of organic buyers: %+v, %+v", many, creators)
			}

			r = ask(untold)
			many, creators = buyersIn(t, r)
			for _, check := range []contract.TrustCheck{many, creators} {
				if check.Result != contract.TrustResultUnknown || check.UnknownReason != trust.FundingUnknown || check.Value != nil || check.UnknownReasons["value"] != contract.UnknownReasonUnavailable ||
					len(check.Evidence) != 1 || check.Evidence[0].Detail != "16 buyers in the last 3.5 hours; who paid them isn't known" {
					t.Errorf("where nobody can tell: %+v", check)
				}
			}
			if r.Verdict != contract.TrustVerdictOk || *r.Score != 100 {
				t.Errorf("what nobody can tell makes the verdict %s, the score %d", r.Verdict, *r.Score)
			}

			many, creators = buyersIn(t, ask(quiet))
			if many.UnknownReason != trust.NoTrades || creators.UnknownReason != trust.NoTrades || many.UnknownReasons["value"] != contract.UnknownReasonNotApplicable || len(many.Evidence) != 0 {
				t.Errorf("without a trade: %+v, %+v", many, creators)
			}
			if r := ask(unlaunched); len(r.Checks) != 2 {
				t.Errorf("of a token that wasn't launched: %+v", r.Checks)
			}
			checksAreTheParts(t, c)
		})
	}
}

// wireShare is a share in percent as answers have it: to 15 digits.
func wireShare(part, whole float64) float64 {
	return math.Round(100*part/whole*1e13) / 1e13
}

// checksAreTheParts holds the checks of every card of the board against the card's parts, which are of the same trades.
func checksAreTheParts(t *testing.T, c *client) {
	t.Helper()
	known := 0
	for _, card := range cards(t, c, "sort=new&chain=base&limit=50").Launches {
		parts := card.Traction.Parts
		if parts.Clusters == nil {
			continue
		}
		known++
		r := get[contract.TrustReport](t, c, "/api/token/"+card.Mint+"/trust?chain=base")
		independent, byCreator := buyersIn(t, &r)
		if *byCreator.Value != *parts.FundedByCreatorPct {
			t.Errorf("%s: the check has %v %% by the creator, the parts %v", card.Name, *byCreator.Value, *parts.FundedByCreatorPct)
		}
		if want := fmt.Sprintf(", %d of them independent", *parts.Clusters); !strings.Contains(independent.Evidence[0].Detail, want) {
			t.Errorf("%s: the check says %q, the parts %d", card.Name, independent.Evidence[0].Detail, *parts.Clusters)
		}
	}
	if known != 3 {
		t.Errorf("the funding of %d cards is known, want 3", known)
	}
}

// withoutBuyers has a launched token, and fails to read who bought it.
type withoutBuyers struct {
	broken
	err error
}

func (withoutBuyers) Tokens(_ context.Context, mint market.Address) ([]figures.Token, error) {
	return []figures.Token{{Chain: "base", Token: market.Token{Mint: mint}, Launched: true}}, nil
}

func (r withoutBuyers) BuyersOf(context.Context, *figures.Token) (*boards.Buyers, error) {
	return nil, r.err
}

// TestTrustWithoutBuyers: where the trades can't be read, the rest of a report is answered all the same.
func TestTrustWithoutBuyers(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errors.New(secret), read.ErrBusy} {
		c := apiOf(t, withoutBuyers{broken{catalogAlone(t)}, err}, 8)
		r := get[contract.TrustReport](t, c, "/api/token/"+token+"/trust?chain=base")
		if r.Verdict != contract.TrustVerdictOk || *r.Score != 100 || r.Checks[0].Result != contract.TrustResultPass {
			t.Errorf("%v: the report is %+v", err, r)
		}
		many, creators := buyersIn(t, &r)
		for _, check := range []contract.TrustCheck{many, creators} {
			if check.Result != contract.TrustResultUnknown || check.UnknownReason != trust.TradesUnread || check.UnknownReasons["value"] != contract.UnknownReasonUnavailable {
				t.Errorf("%v: %+v", err, check)
			}
		}
	}
}

// TestBuyersAloneAreNoReport: where the checker could make none of its checks, the checks of buyers make no report of it.
func TestBuyersAloneAreNoReport(t *testing.T) {
	t.Parallel()
	c, byOne, made := checkedWorld(t)
	made.made = report("base", byOne.mint(), trust.Unknown)
	made.made.Checks = made.made.Checks[1:]
	if res, body := c.do(t, http.MethodGet, "/api/token/"+byOne.mint()+"/trust", nil); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("with no check but those of buyers it is %d %s", res.StatusCode, body)
	}
}

// checkedWorld has a coin whose buyers one account paid, and its checker.
func checkedWorld(t *testing.T) (*client, coin, *checks) {
	t.Helper()
	st := seeded(t, "sqlite")
	byOne := good(1, "One").with(func(c *coin) { c.buyers = 0 })
	mintBlock(t, st, "base", 101, func(ch *market.Changes) {
		byOne.add(t, ch, 101)
		tradedBy(t, ch, &byOne, times(20, paidBy(t, payer))...)
	})
	o, made := options(t, st), &checks{}
	o.Checker = made
	return startWith(t, o), byOne, made
}
