package apiserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// following is a server whose catalogue the test changes, with a clock that goes on: what is cached must age.
func following(t *testing.T, st *store.Store) (*client, func(func(*catalog.Catalog))) {
	t.Helper()
	o := options(t, st)
	began := time.Now()
	o.Now = func() time.Time { return clock.Add(time.Since(began)) }
	return startWith(t, o), changing(o)
}

// changing replaces the catalogue by one that differs from what chains declares.
func changing(o apiserver.Options) func(func(*catalog.Catalog)) {
	return func(change func(*catalog.Catalog)) {
		c := chains()
		change(c)
		o.Catalog.Replace(c)
	}
}

func without(id string) func(*catalog.Catalog) {
	return func(c *catalog.Catalog) {
		c.Chains = slices.DeleteFunc(c.Chains, func(chain catalog.Chain) bool { return chain.ID == id })
	}
}

// chainsIn are the chains that an answer about several chains names, wherever it does.
type chainsIn struct {
	health, market, heartbeat, launch, live, majors, search, prices, chart, legal []string
}

func ask(t *testing.T, c *client) (in chainsIn) {
	t.Helper()
	health := get[contract.MobileHealth](t, c, "/api/v1/mobile/health")
	for _, chain := range health.Chains {
		in.health = append(in.health, chain.ID)
	}
	for _, chain := range health.MarketChains {
		in.market = append(in.market, chain.ID)
	}
	for _, chain := range get[contract.Heartbeat](t, c, "/api/status/heartbeat").Chains {
		in.heartbeat = append(in.heartbeat, chain.ID)
	}
	for _, chain := range get[contract.LaunchStatus](t, c, "/api/launch/status").Chains {
		in.launch = append(in.launch, chain.ID)
	}
	live := get[contract.MarketLive](t, c, "/api/market/live")
	for _, tok := range live.Tokens {
		in.live = append(in.live, tok.Chain)
	}
	slices.Sort(in.live)
	for _, m := range get[contract.Majors](t, c, "/api/majors").Majors {
		if m.Price != nil {
			in.majors = append(in.majors, m.Chain)
		}
	}
	for _, q := range []string{"pepe", pairID, token} {
		for _, p := range get[contract.DexSearch](t, c, "/api/dexscreener/search?q="+url.QueryEscape(q)).Pairs {
			in.search = append(in.search, p.ChainID)
		}
	}
	slices.Sort(in.search)
	in.search = slices.Compact(in.search)
	if p, ok := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+token).Prices[token]; ok {
		in.prices = slices.Concat(p.ChainCandidates, []string{p.Chain})
	}
	var chart contract.CandleSeries
	if res, body := c.do(t, http.MethodGet, "/api/chart/"+token, nil); res.StatusCode == http.StatusOK {
		if err := json.Unmarshal(body, &chart); err != nil {
			t.Fatal(err)
		}
		in.chart = slices.Concat(chart.ChainCandidates, []string{chart.Chain})
	}
	var p contract.Problem
	if _, body := c.do(t, http.MethodGet, "/api/majors?chain=nowhere", nil); json.Unmarshal(body, &p) == nil {
		in.legal = p.Chains
	}
	return in
}

// TestAnswersFollowTheCatalogue removes a chain and declares it again: every answer follows without a restart.
func TestAnswersFollowTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c, change := following(t, seeded(t, kind))
			all := []string{"solana", "base", "bsc"}
			both := chainsIn{
				health: all, market: all, heartbeat: all[1:], launch: all, live: all[1:], majors: all[1:], search: all[1:],
				prices: []string{"base", "bsc", "base"}, chart: []string{"base", "bsc", "base"}, legal: all,
			}
			eventually(t, "both chains are everywhere", func() bool { return reflect.DeepEqual(ask(t, c), both) })
			change(without("base"))
			left, other := []string{"solana", "bsc"}, []string{"bsc"}
			one := chainsIn{
				health: left, market: left, heartbeat: other, launch: left, live: other, majors: other, search: other,
				prices: other, chart: other, legal: left,
			}
			eventually(t, "one chain is nowhere any more", func() bool { return reflect.DeepEqual(ask(t, c), one) })
			for target, want := range map[string]int{
				"/api/token/info/" + token + "?chain=base": 400, "/api/chart/" + token + "?chain=base": 400,
				"/api/market/token-prices?mints=base:" + token: 400, "/api/majors?chain=base&pair=ETH&tf=1h": 400,
				"/api/token/info/" + token + "?chain=bsc": 200,
			} {
				if res, body := c.do(t, http.MethodGet, target, nil); res.StatusCode != want {
					t.Errorf("%s: %d %s, want %d", target, res.StatusCode, body, want)
				}
			}
			change(func(*catalog.Catalog) {})
			eventually(t, "both chains are everywhere again", func() bool { return reflect.DeepEqual(ask(t, c), both) })
		})
	}
}

// TestChangesOfTheCatalogue changes one thing after the other: the answers that tell it follow, the bytes of the others stay.
func TestChangesOfTheCatalogue(t *testing.T) {
	t.Parallel()
	c, change := following(t, seeded(t, "sqlite"))
	const live, majors, health, status = "/api/market/live", "/api/majors", "/api/v1/mobile/health", "/api/launch/status"
	read := func() map[string]string {
		out := map[string]string{}
		for _, target := range []string{live, majors, health, status} {
			_, body := c.do(t, http.MethodGet, target, nil)
			out[target] = string(body)
		}
		return out
	}
	before := read()
	base := func(c *catalog.Catalog) *catalog.Chain { return &c.Chains[1] }
	for name, s := range map[string]struct {
		change  func(*catalog.Catalog)
		target  string
		tells   string
		changes []string
	}{
		"a label":         {func(c *catalog.Catalog) { base(c).Label = "Base!" }, health, `"Base!"`, []string{health, status}},
		"a minimum trade": {func(c *catalog.Catalog) { base(c).MinTradeUSD = 25 }, health, `"base":25`, []string{health}},
		"an opened venue": {
			func(c *catalog.Catalog) { c.Venues[0].Chains[1].Open = true }, status, `"id":"bsc","label":"BSC","state":"open"`, []string{status},
		},
		"a venue that is gone": {func(c *catalog.Catalog) { c.Venues = c.Venues[1:] }, status, `"id":"base","label":"BASE","state":"closed"`, []string{status}},
		"other majors": {
			func(c *catalog.Catalog) {
				base(c).Majors = []chainconfig.Major{{Asset: "TOK", Address: markettest.Address(token)}}
			}, majors, `"price":2,`, []string{majors},
		},
		"another order": {
			func(c *catalog.Catalog) { slices.Reverse(c.Chains) }, health, `"chains":[{"id":"bsc"`, []string{live, majors, health, status},
		},
		"suspension": {func(c *catalog.Catalog) { base(c).Suspended = true }, health, "", nil},
	} {
		change(s.change)
		if name == "suspension" {
			eventually(t, "a suspended chain has no heartbeat", func() bool {
				return len(get[contract.Heartbeat](t, c, "/api/status/heartbeat").Chains) == 1
			})
		}
		eventually(t, name+" is told", func() bool { return strings.Contains(read()[s.target], s.tells) })
		after := read()
		for target := range after {
			if changed := after[target] != before[target]; changed != slices.Contains(s.changes, target) {
				t.Errorf("%s: that %s changed is %v: %s", name, target, changed, after[target])
			}
		}
		change(func(*catalog.Catalog) {})
		eventually(t, name+" is taken back", func() bool {
			now := read()
			return now[s.target] == before[s.target] && len(get[contract.Heartbeat](t, c, "/api/status/heartbeat").Chains) == 2
		})
	}
}

// TestExchangesAreRenamed renames an exchange: the next search says so.
func TestExchangesAreRenamed(t *testing.T) {
	t.Parallel()
	c, change := following(t, seeded(t, "sqlite"))
	named := func() string {
		return get[contract.DexSearch](t, c, "/api/dexscreener/search?q="+token).Pairs[0].DexID
	}
	if got := named(); got != "uniswap-v2" {
		t.Fatalf("it is called %s", got)
	}
	change(func(c *catalog.Catalog) { c.Chains[1].Exchanges[0].Name = "aerodrome" })
	eventually(t, "it has its new name", func() bool { return named() == "aerodrome" })
}

// TestOneRequestSeesOneCatalogue changes the catalogue while many ask: what an answer says of the chains is from before a
// change or from after it.
func TestOneRequestSeesOneCatalogue(t *testing.T) {
	t.Parallel()
	c, change := following(t, seeded(t, "sqlite"))
	stop := make(chan struct{})
	var changer, askers sync.WaitGroup
	changer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if n%2 == 0 {
				change(without("base"))
			} else {
				change(func(*catalog.Catalog) {})
			}
		}
	})
	for range 4 {
		askers.Go(func() {
			for range 50 {
				h := get[contract.MobileHealth](t, c, "/api/v1/mobile/health")
				if len(h.Chains) != len(h.Minimums) || len(h.Chains) != len(h.MarketChains) {
					t.Errorf("the constants are of several catalogues: %+v", h)
				}
				live := get[contract.MarketLive](t, c, "/api/market/live")
				if named := len(live.EmptyChains) + len(live.Tokens); named != 2 && named != 3 {
					t.Errorf("the live list is of several catalogues: %+v", live)
				}
				p := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+token).Prices[token]
				if (p.Chain == "base") != (len(p.ChainCandidates) == 2) {
					t.Errorf("the price is of several catalogues: %+v", p)
				}
				// A chain that passed the check is still there when the token is looked for.
				res, body := c.do(t, http.MethodGet, "/api/token/info/"+token+"?chain=base", nil)
				if res.StatusCode != http.StatusOK && (res.StatusCode != http.StatusBadRequest || !bytes.Contains(body, []byte("unsupported-chain"))) {
					t.Errorf("%d %s", res.StatusCode, body)
				}
			}
		})
	}
	askers.Wait()
	close(stop)
	changer.Wait()
}

// TestTheCatalogueFollowsWithoutADatabase changes the catalogue while the database can't be read.
func TestTheCatalogueFollowsWithoutADatabase(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	c, change := following(t, st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the database is away", func() bool {
		return get[contract.Heartbeat](t, c, "/api/status/heartbeat").Status == contract.HeartbeatStatusDown
	})
	change(func(c *catalog.Catalog) {
		without("base")(c)
		c.Chains[1].Majors = c.Chains[1].Majors[:1]
	})
	eventually(t, "every list follows", func() bool {
		live, majors := get[contract.MarketLive](t, c, "/api/market/live"), get[contract.Majors](t, c, "/api/majors")
		return len(live.Tokens) == 1 && live.Stale && len(majors.Majors) == 1 && majors.Stale &&
			len(get[contract.LaunchStatus](t, c, "/api/launch/status").Chains) == 2 &&
			len(get[contract.Heartbeat](t, c, "/api/status/heartbeat").Chains) == 1
	})
}
