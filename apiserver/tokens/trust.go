package tokens

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

const (
	// checksInFlight bounds the checks of one chain that are waited for at once: each chain has an indexer of its own, and one that
	// hangs must not hold up the others'. They take no place of those that read the database.
	checksInFlight = 64
	// futurePairs is how far a caller's clock may be ahead.
	futurePairs = 24 * time.Hour
)

var (
	errNoChecker = errors.New("no checker can be reached")
	errNoCheck   = errors.New("no check can be made")
)

// checks lets one check of a token at a time be under way.
type checks struct {
	checker.Checker

	flight singleflight.Group
	mu     sync.Mutex
	places map[string]chan struct{} // by chain
}

func newChecks(c checker.Checker) checks {
	return checks{Checker: c, places: map[string]chan struct{}{}}
}

// placesOf are a chain's. Only chains with indexed tokens are asked for, so that there are few.
func (c *checks) placesOf(chain string) chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	places := c.places[chain]
	if places == nil {
		places = make(chan struct{}, checksInFlight)
		c.places[chain] = places
	}
	return places
}

func (c *checks) check(ctx context.Context, chain string, mint market.Address) (*trust.Report, error) {
	if c.Checker == nil {
		return nil, errNoChecker
	}
	out, err, _ := c.flight.Do(chain+" "+mint.String(), func() (any, error) {
		places := c.placesOf(chain)
		select {
		case places <- struct{}{}:
		default:
			return nil, checker.ErrBusy
		}
		defer func() { <-places }()
		// The first caller's going away must not take the answer from the others. The checker has a time of its own.
		return c.Check(context.WithoutCancel(ctx), chain, mint)
	})
	if err != nil {
		return nil, err
	}
	report, ok := out.(*trust.Report)
	if !ok {
		return nil, fmt.Errorf("tokens: a check gave a %T", out)
	}
	return report, nil
}

func (h *Handlers) trust(r *serve.Request) (*serve.Answer, error) {
	created, err := h.pairCreatedAt(r)
	if err != nil {
		return nil, err
	}
	s, chain, err := h.checked(r)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return unchecked(r, chain)
	}
	mint := s.Token.Token.Mint
	report, err := h.checks.check(r.Context(), s.Chain, mint)
	stale := false
	switch {
	case errors.Is(err, checker.ErrNotIndexed):
		return nil, lookup.NotFound(mint.String(), s.Chain)
	case err != nil:
		last, ok, missing := h.Readers.Profiles.LastReport(r.Context(), s.Chain, mint)
		switch {
		case !ok && missing == nil && errors.Is(err, checker.ErrBusy):
			return nil, serve.TooBusy()
		case !ok:
			return nil, serve.Unavailable(errors.Join(err, missing))
		}
		report, stale = last, true
	}
	if !created.IsZero() {
		report = report.WithCallersAge(created, h.Now())
	}
	if report.Summary().Unknown == len(report.Checks) && !stale {
		return nil, serve.Unavailable(errNoCheck)
	}
	out := trustReport(report.With(h.buyerChecks(r.Context(), &s.Token)...))
	out.Mint, out.Chain, out.Stale, out.ChainCandidates = mint.String(), s.Chain, stale, s.Candidates
	return serve.Encode(out)
}

// pairCreatedAt is when the caller says that the pair was made; zero when it says nothing.
func (h *Handlers) pairCreatedAt(r *serve.Request) (time.Time, error) {
	const param = "pair_created_at"
	if !r.Given(param) {
		return time.Time{}, nil
	}
	at, latest := time.UnixMilli(r.Number(param)), h.Now().Add(futurePairs)
	if at.After(latest) {
		return at, serve.BadParameters(contract.ParameterError{
			In: contract.ParameterErrorInQuery, Name: param, Reason: "must not be more than a day from now", Max: new(float64(latest.UnixMilli())),
		})
	}
	return at, nil
}

// checked finds the token that a report is asked of, on the chain of the query, or else that of its launch, or else where its
// liquidity is deepest. It is nil where nobody knows of the token, since its chain, or every chain of its family, is suspended and so has no checker.
func (h *Handlers) checked(r *serve.Request) (s *lookup.Token, chain string, err error) {
	n, err := r.Named("mint")
	if err != nil {
		return nil, "", err
	}
	if !n.IsAddress() {
		return nil, "", lookup.NotFound(n.Text, n.Chain)
	}
	mint := n.Address
	tokens, err := h.Readers.Tokens.Tokens(r.Context(), mint)
	if err != nil {
		return nil, "", serve.Unavailable(err)
	}
	if s = lookup.Choose(r.Seen.Catalog, tokens, n.Chain); s == nil {
		on := func(c *declared.Chain) bool { return c.Family == n.Family && (n.Chain == "" || c.ID == n.Chain) }
		chains := r.Seen.Catalog.ChainIDs(on)
		if len(chains) == 0 || slices.ContainsFunc(chains, func(id string) bool { return !r.Seen.Catalog.Chain(id).Suspended }) {
			return nil, "", lookup.NotFound(mint.String(), n.Chain)
		}
		return nil, chains[0], nil
	}
	if n.Chain == "" {
		for i := range tokens {
			if _, launched := r.Seen.Board.Launched(tokens[i].Chain, mint); launched {
				s.Token = tokens[i]
				break
			}
		}
	}
	return s, s.Chain, nil
}

// unchecked says that the chain has no checker.
func unchecked(r *serve.Request, chain string) (*serve.Answer, error) {
	none := contract.UnknownReasonNotApplicable
	out := contract.TrustReport{
		Mint: r.Text("mint"), Chain: chain, Status: contract.TrustReportStatusUnchecked, Reason: contract.TrustReportReasonNoChecker,
		Verdict: contract.TrustVerdictUnknown, Checks: []contract.TrustCheck{}, Checker: contract.TrustChecker{ID: "none"},
		AsOf: contract.At(r.Started), UnknownReasons: contract.UnknownReasons{"score": none, "age_s": none, "pair": none, "pair_kind": none, "block": none},
	}
	if at := r.Seen.Catalog.ChangedAt; !at.IsZero() {
		out.AsOf = contract.At(at)
	}
	ans, err := serve.Encode(out)
	if err == nil {
		ans.Freshness = serve.OfNothing
	}
	return ans, err
}

// trustReport is the wire form of a report.
func trustReport(report *trust.Report) contract.TrustReport {
	sum := report.Summary()
	out := contract.TrustReport{
		Status: contract.TrustReportStatusChecked, Verdict: contract.TrustVerdict(report.Verdict()), Score: report.Score(),
		Checks: make([]contract.TrustCheck, len(report.Checks)), Checker: contract.TrustChecker{ID: report.Checker.ID, Version: report.Checker.Version},
		Summary: contract.TrustSummary{Pass: sum.Pass, Warn: sum.Warn, Fail: sum.Fail, Unknown: sum.Unknown},
		AsOf:    contract.At(report.At), UnknownReasons: contract.UnknownReasons{},
		Block: &contract.TrustBlock{Number: int64(report.Block.Number), Hash: report.Block.Hash},
	}
	for i := range report.Checks {
		out.Checks[i] = trustCheck(&report.Checks[i])
	}
	if out.Score == nil {
		out.UnknownReasons["score"] = contract.UnknownReasonUnavailable
	}
	if report.Pair != "" {
		out.Pair = &report.Pair
	} else {
		out.UnknownReasons["pair"] = contract.UnknownReasonNotApplicable
	}
	if pair, err := market.ParseAddress(report.Pair); err == nil {
		out.PairKind = new(wire.KindOf(pair))
	} else {
		out.UnknownReasons["pair_kind"] = contract.UnknownReasonNotApplicable
	}
	if age, ok := ageOf(report); ok {
		out.AgeS = &age
	} else {
		out.UnknownReasons["age_s"] = contract.UnknownReasonUnavailable
	}
	return out
}

// ageOf is the pair's age in seconds, as the check of it has it.
func ageOf(report *trust.Report) (seconds int64, ok bool) {
	c := report.Find(trust.PairAge)
	if c == nil {
		return 0, false
	}
	age, ok := c.Value.(float64)
	return int64(max(age, 0)), ok
}

func trustCheck(c *trust.Check) contract.TrustCheck {
	out := contract.TrustCheck{
		ID: c.ID, Title: c.Title, Result: contract.TrustResult(c.Result), Severity: contract.TrustSeverity(c.Severity),
		Value: figureOf(c.Value), Threshold: figureOf(c.Threshold), UnknownReason: c.UnknownReason, Source: c.Source,
		Evidence: make([]contract.TrustEvidence, len(c.Evidence)), UnknownReasons: contract.UnknownReasons{},
	}
	for i, e := range c.Evidence {
		out.Evidence[i] = contract.TrustEvidence{
			Kind: contract.TrustEvidenceKind(e.Kind), Ref: e.Ref, Block: int64(e.Block), Detail: e.Detail,
		}
	}
	if c.Unit != "" {
		out.Unit = new(contract.TrustUnit(c.Unit))
	} else {
		out.UnknownReasons["unit"] = contract.UnknownReasonNotApplicable
	}
	if out.Threshold == nil {
		out.UnknownReasons["threshold"] = contract.UnknownReasonNotApplicable
	}
	if out.Value == nil {
		out.UnknownReasons["value"] = whyNoValue(c)
	}
	return out
}

// whyNoValue is why a check measured nothing.
func whyNoValue(c *trust.Check) contract.UnknownReason {
	switch {
	case c.Result != trust.Unknown, c.UnknownReason == trust.NoPool, c.UnknownReason == trust.NoTrades:
		return contract.UnknownReasonNotApplicable
	case c.UnknownReason == trust.NotIndexed:
		return contract.UnknownReasonIndexing
	default:
		return contract.UnknownReasonUnavailable
	}
}

// figureOf is a check's value on the wire; nil when there is none.
func figureOf(v any) *any {
	switch v := v.(type) {
	case float64:
		if n := wire.Number(&v); n != nil {
			return new(any(*n))
		}
	case string, bool:
		return &v
	}
	return nil
}
