package contracttest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// The generated types and the document are the same contract: each example goes through its type without loss.
func TestTypesHoldExamples(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	types := map[string]any{
		"getMarketLive":        &contract.MarketLive{},
		"getTokenPrices":       &contract.TokenPrices{},
		"getMajors":            &contract.Majors{},
		"searchPairs":          &contract.DexSearch{},
		"getTokenInfo":         &contract.TokenInfo{},
		"getChart":             &contract.CandleSeries{},
		"getTokenCandles":      &contract.TokenCandles{},
		"getTokenTrust":        &contract.TrustReport{},
		"getLaunchBoard":       &contract.LaunchBoard{},
		"getLaunchedToken":     &contract.LaunchedToken{},
		"getLaunchStatus":      &contract.LaunchStatus{},
		"getOnlineCount":       &contract.OnlineCount{},
		"getTokenFamily":       &contract.TokenFamily{},
		"getTradeFeed":         &contract.TradeFeed{},
		"getLiveSince":         &contract.LiveSince{},
		"getLandingLive":       &contract.LandingLive{},
		"getLandingStats":      &contract.LandingStats{},
		"getMembersIn":         &contract.MembersIn{},
		"getLeaderboard":       &contract.Leaderboard{},
		"getLeaderboardSeries": &contract.ProfitSeries{},
		"getGameLadder":        &contract.GameLadder{},
		"getGameProfile":       &contract.GameProfile{},
		"getGameRanks":         &contract.GameRanks{},
		"getGameSeason":        &contract.GameSeason{},
		"getHeartbeat":         &contract.Heartbeat{},
		"getMobileHealth":      &contract.MobileHealth{},
		"getSignInProviders":   &contract.SignInProviders{},
		"getVersion":           &contract.Version{},
	}
	for id, op := range kit.operations {
		if types[id] == nil && id != "getOpenAPI" && op.Media == "application/json" { // the document itself has no type
			t.Errorf("%s has no type here", id)
		}
	}
	for _, status := range kit.documented() {
		var into any = &contract.Problem{}
		if status.Code == http.StatusOK {
			into = types[status.Operation]
		}
		if into == nil || status.Code == http.StatusNotModified {
			continue
		}
		a := documentedAnswer(t, kit, kit.operations[status.Operation].Path, status.Code)
		a.body = problemOf(a.body)
		decoder := json.NewDecoder(bytes.NewReader(a.body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			t.Errorf("%s: %v", status, err)
			continue
		}
		again, err := json.Marshal(into)
		if err != nil {
			t.Errorf("%s: %v", status, err)
			continue
		}
		var got, want any
		if err := json.Unmarshal(again, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(a.body, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: type %T\n got %s\nwant %s", status, into, again, a.body)
		}
	}
}
