package apiserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// checks stands in for the indexers' checkers.
type checks struct {
	err   error
	asked atomic.Int64
	made  *trust.Report
}

func (c *checks) Check(_ context.Context, chain string, mint market.Address) (*trust.Report, error) {
	c.asked.Add(1)
	if c.err != nil {
		return nil, c.err
	}
	if c.made != nil {
		return c.made, nil
	}
	return report(chain, mint.String(), trust.Pass), nil
}

// report has one check that came to something.
func report(chain, mint string, result trust.Result) *trust.Report {
	rule, _ := trust.RuleOf(trust.HoneypotSell)
	sell := rule.Judge(result, trust.Critical, result == trust.Pass)
	sell.Evidence = []trust.Evidence{{Kind: "simulation", Ref: pairID, Block: 100, Detail: hostile}}
	sell.Source = "market"
	age, _ := trust.RuleOf(trust.PairAge)
	old := age.Unknown(trust.NotIndexed)
	old.Source = "chain_swaps"
	return &trust.Report{
		Chain: chain, Mint: mint, Pair: pairID, Checks: []trust.Check{sell, old}, Block: trust.Block{Number: 100, Hash: market.Hash{1}.String()},
		At: time.Unix(chainTime, 0), CheckedAt: clock, Checker: trust.Checker{ID: "evm", Version: "1"},
	}
}

// untold is a report in which no critical check could be made, so that it comes to no verdict, and one that passed.
func untold(chain string) *trust.Report {
	r := report(chain, token, trust.Pass)
	sell, _ := trust.RuleOf(trust.HoneypotSell)
	depth, _ := trust.RuleOf(trust.LiquidityDepth)
	r.Checks = []trust.Check{sell.Unknown(trust.NoPool), depth.Measure(50_000)}
	for i := range r.Checks {
		r.Checks[i].Source = "market"
	}
	return r
}

// TestTrust asks for checks that are made, that aren't, and that can't be.
func TestTrust(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	o := options(t, st)
	made := &checks{}
	o.Checker = made
	c := startWith(t, o)
	target := "/api/token/" + token + "/trust"
	r := get[contract.TrustReport](t, c, target)
	if r.Status != contract.TrustReportStatusChecked || r.Chain != "base" || len(r.ChainCandidates) != 2 || r.Verdict != contract.TrustVerdictOk || *r.Score != 100 ||
		r.Summary != (contract.TrustSummary{Pass: 1, Unknown: 3}) || r.AgeS != nil || *r.Pair != pairID || r.Stale || !r.AsOf.Equal(time.Unix(chainTime, 0)) ||
		r.Checks[0].ID != trust.HoneypotSell || *r.Checks[0].Value != true || r.Checks[1].UnknownReason != trust.NotIndexed {
		t.Errorf("the report is %+v", r)
	}
	made.made = report("bsc", token, trust.Fail)
	if bad := get[contract.TrustReport](t, c, target+"?chain=bsc"); bad.Verdict != contract.TrustVerdictDanger || *bad.Score != 60 || bad.Chain != "bsc" || bad.ChainCandidates != nil {
		t.Errorf("one that can't be sold is %+v", bad)
	}
	day := strconv.FormatInt(clock.Add(-24*time.Hour).UnixMilli(), 10)
	if aged := get[contract.TrustReport](t, c, target+"?pair_created_at="+day); aged.AgeS == nil || *aged.AgeS != 86_400 || aged.Checks[1].Source != "caller" {
		t.Errorf("with the caller's age it is %+v", aged)
	}
	res, body := c.do(t, http.MethodGet, "/api/token/"+solMint+"/trust", nil)
	var none contract.TrustReport
	if err := json.Unmarshal(body, &none); err != nil || none.Status != contract.TrustReportStatusUnchecked || none.Reason != contract.TrustReportReasonNoChecker ||
		none.Verdict != contract.TrustVerdictUnknown || none.Chain != "solana" || len(none.Checks) != 0 || res.Header.Get("Cache-Control") != "public, max-age=3600" {
		t.Errorf("without a checker: %v %s", res.Header, body)
	}
	asked := made.asked.Load()
	for _, unknown := range []string{unmet, native} {
		if res, _ := c.do(t, http.MethodGet, "/api/token/"+unknown+"/trust", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("a token that isn't indexed: %d", res.StatusCode)
		}
	}
	if made.asked.Load() != asked {
		t.Error("a stranger's address was passed on")
	}
	made.err = checker.ErrNotIndexed
	if res, _ := c.do(t, http.MethodGet, target, nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("one that the indexer doesn't know: %d", res.StatusCode)
	}
	made.err = checker.ErrBusy
	if res, body := c.do(t, http.MethodGet, target, nil); res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("a busy checker: %d %s", res.StatusCode, body)
	}
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	last, err := json.Marshal(report("base", token, trust.Fail))
	if err != nil {
		t.Fatal(err)
	}
	nothing := []store.TrustRow{{Mint: address(t, token), CheckedAt: chainTime, Verdict: "unknown", Report: []byte("null")}}
	if err := st.Trust.Save(t.Context(), l, nothing); err != nil {
		t.Fatal(err)
	}
	if res, _ := c.do(t, http.MethodGet, target, nil); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("with a report that says that there was nothing to check it is %d", res.StatusCode)
	}
	if err := st.Trust.Save(t.Context(), l, []store.TrustRow{{Mint: address(t, token), CheckedAt: chainTime, Critical: true, Verdict: "danger", Report: last}}); err != nil {
		t.Fatal(err)
	}
	made.err = errors.New("no route to " + secret)
	if kept := get[contract.TrustReport](t, c, target); !kept.Stale || kept.Verdict != contract.TrustVerdictDanger {
		t.Errorf("while nobody can be asked it is %+v", kept)
	}
	made.err, made.made = nil, report("base", token, trust.Unknown)
	made.made.Checks = made.made.Checks[1:]
	if res, body := c.do(t, http.MethodGet, target, nil); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("when no check can be made: %d %s", res.StatusCode, body)
	}
}

// TestTrustOfSolana: tokens of a Solana that is indexed are checked like others, and those that nobody knows are not found.
func TestTrustOfSolana(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	l, err := st.Leases.Acquire(t.Context(), "solana", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	mint := address(t, solMint)
	commit := &store.Commit{
		Last: market.Header{Number: 100, Hash: market.Hash{1}, Time: chainTime}, Blocks: []market.Header{{Number: 100, Hash: market.Hash{1}, Time: chainTime}},
		Head: store.HeadStatus{Number: 100, Time: chainTime},
	}
	commit.Changes.Tokens = append(commit.Changes.Tokens, set(mint, market.Token{Mint: mint, Name: "A coin", Symbol: "COIN", HasDecimals: true, Decimals: 6}))
	if err := st.Commit(t.Context(), l, commit); err != nil {
		t.Fatal(err)
	}
	o := options(t, st)
	all := chains()
	all.Chains[0].Suspended = false
	o.Catalog, o.Checker = catalog.NewLive(all), &checks{made: report("solana", solMint, trust.Pass)}
	c := startWith(t, o)
	if r := get[contract.TrustReport](t, c, "/api/token/"+solMint+"/trust"); r.Status != contract.TrustReportStatusChecked || r.Chain != "solana" || r.Mint != solMint {
		t.Errorf("the report is %+v", r)
	}
	other := solMint[:len(solMint)-1] + "3"
	if res, body := c.do(t, http.MethodGet, "/api/token/"+other+"/trust", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("a token that isn't indexed: %d %s", res.StatusCode, body)
	}
}

// TestTrustWithoutACheckersAddress has nobody to ask.
func TestTrustWithoutACheckersAddress(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.Checker = nil
	c := startWith(t, o)
	if res, body := c.do(t, http.MethodGet, "/api/token/"+token+"/trust", nil); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// stuck is a checker to whom one chain's indexer doesn't answer until it is released.
type stuck struct {
	chain    string
	waiting  atomic.Int64
	released chan struct{}
}

func (s *stuck) Check(_ context.Context, chain string, mint market.Address) (*trust.Report, error) {
	if chain == s.chain {
		s.waiting.Add(1)
		<-s.released
		return nil, checker.ErrBusy
	}
	return report(chain, mint.String(), trust.Pass), nil
}

// TestOneChainsChecksLeaveRoomForOthers: an indexer that hangs holds every check of its chain up for seconds, and must not hold up those
// of the other chains.
func TestOneChainsChecksLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	const crowd = 80
	st := seeded(t, "sqlite")
	var coins []coin
	for n := range crowd {
		coins = append(coins, good(n+1, "Lamp "+strconv.Itoa(n)).with(func(c *coin) { c.buyers = 0 }))
	}
	elsewhere := good(crowd+1, "Elsewhere")
	mintCoins(t, st, "base", 101, coins...)
	mintCoins(t, st, "bsc", 101, elsewhere)
	o := options(t, st)
	s := &stuck{chain: "base", released: make(chan struct{})}
	o.Checker = s
	c := startWith(t, o)
	var asking sync.WaitGroup
	var answered atomic.Int64
	for i := range coins {
		asking.Go(func() {
			c.send(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/token/"+coins[i].mint()+"/trust", http.NoBody))
			answered.Add(1)
		})
	}
	defer asking.Wait()
	defer close(s.released)
	eventually(t, "everybody waits or has an answer", func() bool { return s.waiting.Load()+answered.Load() == crowd })
	if s.waiting.Load() == 0 {
		t.Error("nobody waits for the indexer that hangs")
	}
	if res, body := c.do(t, http.MethodGet, "/api/token/"+elsewhere.mint()+"/trust", nil); res.StatusCode != http.StatusOK {
		t.Errorf("a check on another chain, with %d waiting: %d %s", s.waiting.Load(), res.StatusCode, body)
	}
}

// TestScoreOfAnUnknownVerdict: a report that comes to no verdict has no score, since what is unknown costs none.
func TestScoreOfAnUnknownVerdict(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.Checker = &checks{made: untold("base")}
	c := startWith(t, o)
	body := get[object](t, c, "/api/token/"+token+"/trust?chain=base")
	if body["verdict"] != "unknown" || body["status"] != "checked" {
		t.Fatalf("the report is %v", body)
	}
	if score := body["score"]; score != nil || in(body, "unknown_reasons")["score"] == nil {
		t.Errorf("beside the verdict unknown the score is %v, for the reasons %v", score, body["unknown_reasons"])
	}
}
