package apiserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// TestUnitsOfTime holds times to their units: what begins a bucket is in seconds, when a pair was made is in milliseconds.
func TestUnitsOfTime(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	now := clock.Unix() - 2 // of the newest block
	for tf, width := range map[string]int64{"1s": 1, "1m": 60, "1h": 3600, "1d": 86_400} {
		s := get[contract.CandleSeries](t, c, "/api/chart/"+token+"?chain=base&limit=3&tf="+tf)
		if int64(s.IntervalS) != width || s.To-s.From != 3*width || s.From%width != 0 || s.From > now || s.To <= now || len(s.Candles) == 0 {
			t.Errorf("%s: %d candles of %d s from %d to %d, at %d", tf, len(s.Candles), s.IntervalS, s.From, s.To, now)
		}
		for i, k := range s.Candles {
			if want := s.To - int64(len(s.Candles)-i)*width; k.T != want {
				t.Errorf("%s: candle %d begins at %d, want %d", tf, i, k.T, want)
			}
		}
		udf := get[contract.UDFHistory](t, c, "/api/chart/"+token+"?chain=base&limit=3&format=udf&tf="+tf)
		if n := len(udf.T); n != len(s.Candles) || udf.T[n-1] != s.To-width {
			t.Errorf("%s: columns begin at %v", tf, udf.T)
		}
	}
	for _, p := range get[contract.DexSearch](t, c, "/api/dexscreener/search?q=pepe").Pairs {
		if want := (now - 3600) * 1000; p.PairCreatedAt != want {
			t.Errorf("a pair was made at %d, want %d", p.PairCreatedAt, want)
		}
	}
	beat := get[contract.Heartbeat](t, c, "/api/status/heartbeat")
	if lag := beat.Chains[0].HeadLagS; lag == nil || *lag != 1 {
		t.Errorf("the chain lags by %v s, want 1", lag)
	}
}

// TestTimesOfAnswers: an answer is of the newest data in it, here that of the newest block, in which the token traded; never of the
// time at which it is asked for.
func TestTimesOfAnswers(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for target, exactly := range map[string]bool{
		"/api/token/info/" + token + "?chain=base": true, "/api/chart/" + token: true, "/api/token/" + token + "/candles": true,
		"/api/market/token-prices?mints=" + token: true, "/api/launch/token/" + token: true, "/api/market/live": true, "/api/status/heartbeat": true,
		"/api/launch/launches?sort=new": false, "/api/majors": false, // their newest data may be older than the block
	} {
		body := get[struct {
			AsOf   contract.Timestamp `json:"as_of"`
			Blocks contract.Blocks    `json:"blocks"`
			Prices map[string]struct {
				UpdatedAt contract.Timestamp `json:"updated_at"`
			} `json:"prices"`
		}](t, c, target)
		if at := body.AsOf.Unix(); at > chainTime || at <= chainTime-3600 || (exactly && at != chainTime) {
			t.Errorf("%s is of %s, the newest block of %s", target, body.AsOf, time.Unix(chainTime, 0).UTC())
		}
		for _, chain := range []string{"base", "bsc"} {
			want := contract.BlockRef{Number: 100, Finality: contract.FinalityLatest}
			if got, there := body.Blocks[chain]; there && got != want || !there && chain == "base" && !strings.Contains(target, "heartbeat") {
				t.Errorf("%s: the newest block of %s is %+v, want %+v", target, chain, got, want)
			}
		}
		for _, p := range body.Prices {
			if p.UpdatedAt.Unix() != chainTime {
				t.Errorf("%s: the price is of %s", target, p.UpdatedAt)
			}
		}
	}
}

// TestFiguresBeyondAllNumbers: a supply times a price that is more than a number can be is unknown, and everything else is answered.
func TestFiguresBeyondAllNumbers(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	h := market.Header{Number: 101, Hash: market.Hash{2}, Parent: market.Hash{1}, Time: chainTime}
	commit := &store.Commit{Last: h, Blocks: []market.Header{h}, Head: store.HeadStatus{Number: 101, Time: chainTime}}
	huge := good(1, "Whale")
	huge.add(t, &commit.Changes, 101)
	commit.Changes.Pools[0].After.Price = 1e303
	if err := st.Commit(t.Context(), l, commit); err != nil {
		t.Fatal(err)
	}
	c := start(t, st)
	info := get[contract.TokenInfo](t, c, "/api/token/info/"+huge.mint()+"?chain=base")
	if !near(info.Price, 2e306) || info.FDV != nil || info.MarketCap != nil || info.SupplyBasis != nil || info.UnknownReasons["fdv"] == "" {
		t.Errorf("its info is %+v", info)
	}
	price := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+huge.mint()).Prices[huge.mint()]
	if !near(price.Price, 2e306) || price.MarketCap != nil || price.UnknownReasons["market_cap"] == "" {
		t.Errorf("its price is %+v", price)
	}
	for _, target := range []string{"/api/market/live", "/api/launch/launches?sort=new", "/api/launch/token/" + huge.mint(), "/api/dexscreener/search?q=whale"} {
		res, body := c.do(t, http.MethodGet, target, nil)
		if res.StatusCode != http.StatusOK || !strings.Contains(string(body), huge.mint()) || !json.Valid(body) {
			t.Errorf("%s: %d %s", target, res.StatusCode, body)
		}
	}
}
