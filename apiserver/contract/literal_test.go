package contract_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Rules of the contract that the document could change without anything in it being at odds are written out here a second time.

// optionalMembers are those that may be left out, by the schema that declares them. Every other member is always there, null
// where it is unknown. The DexScreener shape, in which what is unknown is absent, and problems are not among the schemas.
var optionalMembers = map[string][]string{
	"MarketLive": {"blocks", "stale"}, "Majors": {"blocks", "stale"}, "Major": {"stale"}, "TokenPrices": {"blocks", "stale"},
	"PriceView": {"chain_candidates"}, "TokenInfo": {"blocks", "stale"}, "CandleSeries": {"blocks", "chain_candidates", "stale"},
	"UDFHistory": {"nextTime"}, "LaunchBuy": {"url"}, "LaunchBase": {"holders_excluded", "holders_source"}, "LaunchCard": {"clones"},
	"LaunchBoard": {"blocks", "stale"}, "LaunchedToken": {"blocks", "chain_candidates", "stale"}, "TrustCheck": {"unknown_reason"},
	"TrustReport": {"chain_candidates", "reason", "stale"}, "Resource": {"at"},
	"TradeFeed": {"stale"}, "LiveSince": {"stale"}, "LandingLive": {"stale"}, "LandingStats": {"stale"}, "Call": {"rich", "text"}, "RichTag": {"chain", "mint"},
	"TokenFamily": {"chain_candidates", "stale"}, "MembersIn": {"stale"}, "Leaderboard": {"stale"}, "ProfitSeries": {"stale"},
	"GameLadder": {"stale"}, "GameProfile": {"stale"}, "GameRanks": {"stale"}, "GameSeason": {"stale"},
}

func TestOnlyTheseMembersMayBeLeftOut(t *testing.T) {
	t.Parallel()
	for schema, body := range child(document(t), "components", "schemas") {
		if strings.HasPrefix(schema, "Dex") || slices.Contains([]string{"Problem", "ParameterError"}, schema) {
			continue
		}
		optional := slices.Sorted(maps.Keys(notRequired(body)))
		if want := optionalMembers[schema]; !slices.Equal(optional, want) {
			t.Errorf("%s: %v may be left out, want %v", schema, optional, want)
		}
	}
}

// notRequired are the members that a schema declares and doesn't require, those of its parts among them; what it refers to is
// declared elsewhere.
func notRequired(schema any) node {
	out := node{}
	m, _ := schema.(node)
	if m == nil {
		return out
	}
	maps.Copy(out, child(m, "properties"))
	required, _ := m["required"].([]any)
	maps.DeleteFunc(out, func(name string, _ any) bool { return slices.Contains(required, any(name)) })
	for _, member := range child(m, "properties") {
		maps.Copy(out, notRequired(member)) // an object that has no schema of its own
	}
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := m[key].([]any)
		for _, part := range parts {
			maps.Copy(out, notRequired(part))
		}
	}
	maps.Copy(out, notRequired(m["items"]))
	maps.Copy(out, notRequired(m["additionalProperties"]))
	return out
}

// TestAnswersWithAsOf lists the operations whose answers say of when their data is, and those that have no data of a chain.
func TestAnswersWithAsOf(t *testing.T) {
	t.Parallel()
	want := map[string]bool{
		"getMarketLive": true, "getTokenPrices": true, "getMajors": true, "getTokenInfo": true, "getTokenCandles": true, "getChart": true,
		"getTokenTrust": true, "getLaunchBoard": true, "getLaunchedToken": true, "getLaunchStatus": true, "getHeartbeat": true, "getOnlineCount": true,
		"getTokenFamily": true, "getTradeFeed": true, "getLiveSince": true, "getLandingLive": true, "getLandingStats": true, "getMembersIn": true, "getLeaderboard": true, "getLeaderboardSeries": true,
		"getGameLadder": true, "getGameProfile": true, "getGameSeason": true,
		"getGameRanks":    false, // as the contract has it
		"getMobileHealth": false, "getSignInProviders": false, "getVersion": false,
		"searchPairs": false, // in X-Data-As-Of, as its shape is another's
	}
	schemas := child(document(t), "components", "schemas")
	for path, item := range child(document(t), "paths") {
		op := child(item, "get")
		id, _ := op["operationId"].(string)
		has, listed := want[id]
		body := child(op, "responses", "200", "content", "application/json", "schema")
		if body == nil || id == "getOpenAPI" {
			continue
		}
		if !listed {
			t.Errorf("%s: is %s to say of when its data is?", path, id)
		}
		shapes, _ := body["oneOf"].([]any)
		if shapes == nil {
			shapes = []any{body}
		}
		for _, shape := range shapes {
			ref, _ := child(node{"x": shape}, "x")["$ref"].(string)
			if strings.HasSuffix(ref, "UDFHistory") || strings.HasSuffix(ref, "LiveStart") {
				continue
			}
			_, there := properties(schemas, shape)["as_of"]
			if there != has || there && !requires(schemas, shape, "as_of") {
				t.Errorf("%s: %s has as_of %t, want %t, and required", path, ref, there, has)
			}
		}
	}
}

// requires reports whether a schema or a part of it requires a member.
func requires(schemas node, schema any, member string) bool {
	m, _ := schema.(node)
	if ref, ok := m["$ref"].(string); ok {
		return requires(schemas, schemas[refName(ref)], member)
	}
	names, _ := m["required"].([]any)
	parts, _ := m["allOf"].([]any)
	return slices.Contains(names, any(member)) ||
		slices.ContainsFunc(parts, func(part any) bool { return requires(schemas, part, member) })
}

// TestReasonsAndKeys reads what clients are programmed against: why a figure is unknown, how final a block is, and where a key goes.
func TestReasonsAndKeys(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for schema, want := range map[string][]any{
		"UnknownReason": {"indexing", "stale", "unavailable", "not_applicable"}, "Finality": {"latest", "safe", "final"},
	} {
		if got, _ := child(doc, "components", "schemas", schema)["enum"].([]any); !slices.Equal(got, want) {
			t.Errorf("%s is one of %v, want %v", schema, got, want)
		}
	}
	key := child(doc, "components", "securitySchemes", "ApiKeyAuth")
	if key["type"] != "apiKey" || key["in"] != "header" || key["name"] != "X-Api-Key" {
		t.Errorf("a key goes into %v", key)
	}
}

// TestAmountsAndPercentages holds names to what they are counted in: raw amounts are text of decimal digits, and whatever is said to
// be in percent has a name that says so.
func TestAmountsAndPercentages(t *testing.T) {
	t.Parallel()
	schemas := child(document(t), "components", "schemas")
	if raw := child(schemas, "RawAmount"); raw["type"] != "string" || raw["pattern"] != "^[0-9]{1,78}$" {
		t.Errorf("a raw amount is %v", raw)
	}
	amount := regexp.MustCompile(`^(raised|target|threshold)_native$|^(virtual|real)_(base|quote)$`)
	percent := regexp.MustCompile(`(?i)\bin percent\b|\bpercentage\b`)
	amounts, percentages := 0, 0
	for schema, body := range schemas {
		for name, property := range properties(schemas, body) {
			if amount.MatchString(name) {
				amounts++
				if kinds := kindsOf(property); !slices.Equal(kinds, []string{"RawAmount"}) {
					t.Errorf("%s.%s is %v, want a raw amount", schema, name, kinds)
				}
			}
			if text, _ := child(node{"x": property}, "x")["description"].(string); percent.MatchString(text) {
				percentages++
				if !strings.HasSuffix(name, "_pct") {
					t.Errorf("%s.%s is in percent, and its name doesn't say so", schema, name)
				}
			}
		}
	}
	if amounts < 7 || percentages < 3 {
		t.Errorf("%d amounts and %d percentages were looked at", amounts, percentages)
	}
}
