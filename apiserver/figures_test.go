package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// unexplained lists the members of a JSON value that are null without a reason in the very object that they stand in.
func unexplained(value any, at string) (out []string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			out = append(out, unexplained(item, at+"[]")...)
		}
	case map[string]any:
		reasons, _ := value["unknown_reasons"].(map[string]any)
		for name, member := range value {
			_, explained := reasons[name]
			_, sourced := value[name+"_source"].(string)
			if member == nil && !explained && !sourced {
				out = append(out, at+"."+name)
			}
			out = append(out, unexplained(member, at+"."+name)...)
		}
	}
	return out
}

// figureTargets are the answers that have figures.
func figureTargets() []string {
	launch := (&coin{n: 1}).mint()
	return []string{
		"/api/market/live", "/api/majors", "/api/majors?chain=base&pair=ETH&tf=1h", "/api/market/token-prices?mints=base:" + token + "," + bare + "," + launch,
		"/api/token/info/" + token + "?chain=base", "/api/token/info/" + bare + "?chain=base", "/api/token/info/" + launch + "?chain=base",
		"/api/chart/" + token, "/api/chart/" + bare, "/api/token/" + token + "/candles", "/api/token/" + token + "/trust",
		"/api/launch/launches", "/api/launch/launches?sort=new", "/api/launch/launches?sort=graduated", "/api/launch/token/" + launch,
		"/api/launch/token/" + token + "?chain=bsc", "/api/launch/status", "/api/status/heartbeat",
	}
}

// TestAReasonStandsBesideWhatIsUnknown reads every answer with figures: a client that sees null finds the reason in the same
// object, and needn't know which object around it might have one.
func TestAReasonStandsBesideWhatIsUnknown(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, boardCoins()...)
	c := start(t, st)
	for _, target := range figureTargets() {
		_, body := c.do(t, http.MethodGet, target, nil)
		var value any
		if err := json.Unmarshal(body, &value); err != nil {
			t.Fatal(err)
		}
		found := unexplained(value, "$")
		slices.Sort(found)
		if found = slices.Compact(found); len(found) > 0 {
			t.Errorf("%s: null, with no reason in the same object: %v", target, found)
		}
	}
}

// TestMembersAreNotCounted reads how many members hold a token, which nobody has counted: that is null with its reason, since 0
// would say that there is none.
func TestMembersAreNotCounted(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	mintCoins(t, st, "base", 101, good(1, "Otter"))
	c := start(t, st)
	type held struct {
		Count   *int              `json:"count"`
		Handles []string          `json:"handles"`
		Why     map[string]string `json:"unknown_reasons"`
	}
	type card struct {
		Mint            string
		Members, Family *held
	}
	launch := (&coin{n: 1}).mint()
	one := get[card](t, c, "/api/launch/token/"+launch)
	found := map[string]*held{"members of the launch": one.Members, "family of the launch": one.Family}
	for i, l := range get[struct{ Launches []card }](t, c, "/api/launch/launches?sort=new").Launches {
		found[fmt.Sprintf("members of card %d", i)] = l.Members
	}
	if len(found) < 3 {
		t.Fatal("there is no card")
	}
	for name, h := range found {
		if h == nil || h.Count != nil || h.Handles == nil || len(h.Handles) != 0 || h.Why["count"] == "" {
			t.Errorf("the %s are %+v; want no count, no handles and the reason", name, h)
		}
	}
}

// TestASupplyThatIsAskedForIsIndexing tells a token whose supply is still asked for from one that gives none for good.
func TestASupplyThatIsAskedForIsIndexing(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, good(1, "Asked"), good(2, "Rebasing"))
	commitBlock(t, st, "base", 102, func(ch *market.Changes) {
		for n, strikes := range map[int]int32{1: 0, 2: market.SupplyUntold} {
			mint := address(t, (&coin{n: n}).mint())
			now, err := st.Tokens.Now(t.Context(), []market.Address{mint})
			if err != nil || len(now) != 1 {
				t.Fatalf("%v, %v", now, err)
			}
			token := now[0].Token
			token.HasSupply, token.Supply, token.SupplyStrikes = false, market.Amount{}, strikes
			ch.Tokens = append(ch.Tokens, set(mint, token))
		}
	})
	c := start(t, st)
	for n, want := range map[int]contract.UnknownReason{1: contract.UnknownReasonIndexing, 2: contract.UnknownReasonUnavailable} {
		mint := (&coin{n: n}).mint()
		got := map[string]contract.UnknownReason{
			"info":          get[contract.TokenInfo](t, c, "/api/token/info/"+mint+"?chain=base").UnknownReasons["market_cap"],
			"info's supply": get[contract.TokenInfo](t, c, "/api/token/info/"+mint+"?chain=base").UnknownReasons["supply_basis"],
			"prices":        get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+mint).Prices[mint].UnknownReasons["market_cap"],
			"launch":        get[contract.LaunchedToken](t, c, "/api/launch/token/"+mint).UnknownReasons["market_cap_usd"],
		}
		for where, reason := range got {
			if reason != want {
				t.Errorf("coin %d: on %s the reason is %q, want %q", n, where, reason, want)
			}
		}
	}
}
