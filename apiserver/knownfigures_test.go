package apiserver_test

import (
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// object is a JSON object as it is answered, whatever the generated types make of it.
type object = map[string]any

// in is the object below a path of keys; nil where there is none.
func in(o object, path ...string) object {
	for _, key := range path {
		o, _ = o[key].(object)
	}
	return o
}

// rawCard is the card of a coin in an order of the board.
func rawCard(t *testing.T, c *client, query string, n int) object {
	t.Helper()
	page := get[object](t, c, "/api/launch/launches?limit=100&"+query)
	list, _ := page["launches"].([]any)
	for _, item := range list {
		if card, _ := item.(object); card["mint"] == (&coin{n: n}).mint() {
			return card
		}
	}
	t.Fatalf("coin %d is not among the %d launches of %q", n, len(list), query)
	return nil
}

// halt makes the indexer of a chain say that it stands still.
func halt(t *testing.T, st *store.Store, chain string) {
	t.Helper()
	l, err := st.Leases.Acquire(t.Context(), chain, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.SetState(t.Context(), l, store.ChainHalted, "test"); err != nil {
		t.Fatal(err)
	}
}

// TestNewHoldersOfKnownHolders: the part is a number wherever the holders are known, and else null for the reason why they aren't.
func TestNewHoldersOfKnownHolders(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(
		t, st, "base", 101, good(1, "Otter"),
		good(2, "Reading").with(func(c *coin) { c.holders, c.status = 0, market.HoldersIndexing }),
		good(3, "Rebasing").with(func(c *coin) { c.holders, c.status = 0, market.HoldersUnavailable }),
	)
	mintCoins(t, st, "bsc", 101, good(4, "Halted"))
	halt(t, st, "bsc")
	c := start(t, st)
	for n, reason := range map[int]string{1: "", 2: "indexing", 3: "unavailable", 4: "stale"} {
		for where, card := range map[string]object{
			"on the board": rawCard(t, c, "sort=new", n), "by itself": get[object](t, c, "/api/launch/token/"+(&coin{n: n}).mint()),
		} {
			gained, why := in(card, "traction", "parts")["new_holders"], in(card, "traction", "parts", "unknown_reasons")["new_holders"]
			if number, known := gained.(float64); known != (reason == "") || number < 0 {
				t.Errorf("coin %d %s gained %v holders", n, where, gained)
			}
			if got, _ := why.(string); got != reason {
				t.Errorf("coin %d %s: its new holders are unknown because of %q, want %q", n, where, got, reason)
			}
		}
	}
	live := get[object](t, c, "/api/market/live")
	tokens, _ := live["tokens"].([]any)
	for _, item := range tokens {
		if token, _ := item.(object); token["mint"] == (&coin{n: 1}).mint() && in(token, "traction", "parts")["new_holders"] == nil {
			t.Error("in the live list nobody knows the new holders of a token whose holders are known")
		}
	}
}

// TestMembersAreUnknownAndNotNone: a service that knows no members answers an object without a count, and says why.
func TestMembersAreUnknownAndNotNone(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	mintCoins(t, st, "base", 101, good(1, "Otter"))
	c := start(t, st)
	alone := get[object](t, c, "/api/launch/token/"+(&coin{n: 1}).mint())
	for what, members := range map[string]struct{ around, of object }{
		"members of a card":             {rawCard(t, c, "", 1), in(rawCard(t, c, "", 1), "members")},
		"members of a launch by itself": {alone, in(alone, "members")},
		"family of a launch by itself":  {alone, in(alone, "family")},
	} {
		count, there := members.of["count"]
		handles, isList := members.of["handles"].([]any)
		if !there || count != nil || !isList || len(handles) != 0 {
			t.Errorf("%s: %v; want an object with a count of null and no handles", what, members.of)
		}
		own, outer := in(members.of, "unknown_reasons")["count"], in(members.around, "unknown_reasons")["count"]
		if own == nil && outer == nil {
			t.Errorf("%s: nothing says why the count is unknown", what)
		}
	}
	if part := in(rawCard(t, c, "", 1), "traction", "parts")["members"]; part != nil {
		t.Errorf("the members that the score counts are %v", part)
	}
}
