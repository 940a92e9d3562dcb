package members_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/written"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// priced is a chain on which a token is traded, in a database of its own with an intake.
type priced struct {
	*intake
	*written.Market
}

func newPriced(t *testing.T) *priced {
	t.Helper()
	in := open(t, "postgres")
	w := &priced{in, written.NewMarket(t, storetest.OpenAt(t, in.dsn), in.clock.Now().Unix()-60)}
	w.trade(t, 1, 10)
	return w
}

// trade writes a block in which the token is traded to a price.
func (w *priced) trade(t *testing.T, seconds int64, usd uint64) {
	t.Helper()
	w.Block(t, seconds, nil, written.TradeAt(w.Pair, usd, 100_000)...)
}

// body is a call of a token by a member; more are further fields.
func (w *priced) body(of string, token market.Address, more string) string {
	return fmt.Sprintf(`{"member":%q,"chain":"base","mint":"0x%s","updated_at":%q%s}`, of, strings.ToUpper(token.String()[2:]), w.tick(), more)
}

// callAnswer is a call as the intake answers.
type callAnswer struct {
	ID, Member, Mint, Outcome string
	Price                     float64  `json:"price_at_call_usd"`
	Peak                      *float64 `json:"peak_multiple"`
	DecidedAt                 *string  `json:"decided_at"`
	Settled, Deleted          bool
	Change                    int64
}

// win doubles the price of 10 for ten blocks, and waits until a call has won.
func (w *priced) win(t *testing.T, id string) (call callAnswer) {
	t.Helper()
	w.trade(t, 12, 20)
	for range 10 {
		w.Block(t, 12, nil)
	}
	if !wait.Until(t.Context(), 20*time.Millisecond, func() bool {
		w.get("/v1/calls/"+id, &call)
		return call.Outcome == "win"
	}) {
		t.Fatal("the call hasn't won")
	}
	return call
}

// TestCalls writes calls, and follows one until it has won.
func TestCalls(t *testing.T) {
	t.Parallel()
	w := newPriced(t)
	w.member("u1", "ada")
	w.member("u2", "bob")
	body := func(of, more string) string { return w.body(of, w.Token, more) }
	first := body("u1", `,"text":"$S to the moon","token_refs":[{"symbol":"S","mint":"`+w.Token.String()+`","chain":"base"}]`)
	for _, c := range []struct{ name, id, body, want string }{
		{"a call", "c1", first, "written"},
		{"the same again", "c1", first, "unchanged"},
		{"the same with another text and time", "c1", body("u1", `,"text":"soon"`), "written"},
		{"an older one", "c1", first, "older"},
		{"of another member", "c1", body("u2", ""), "call-taken"},
		{"of another token", "c1", w.body("u1", written.Contract(3), ""), "call-fixed"},
		{"a second one of the token", "c2", body("u1", ""), "call-open"},
		{"of nobody", "c3", body("nobody", ""), "member-not-found"},
		{"of a chain that isn't there", "c3", strings.Replace(body("u2", ""), `"base"`, `"bsc"`, 1), "token-not-callable"},
		{"of a token that isn't there", "c3", w.body("u2", written.Contract(77), ""), "token-not-callable"},
		{"of a minute ago and more", "c3", body("u2", `,"called_at":"`+w.clock.Now().Add(-61*time.Second).Format(time.RFC3339)+`"`), "call-late"},
		{"of a minute ago", "c4", body("u2", `,"called_at":"`+w.clock.Now().Add(-60*time.Second).Format(time.RFC3339)+`"`), "written"},
	} {
		if got := w.put("/v1/calls/"+c.id, c.body); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	var call callAnswer
	w.get("/v1/calls/c1", &call)
	if call.ID != "c1" || call.Member != "u1" || call.Mint != w.Token.String() || call.Outcome != "open" || call.Price != 10 || call.Peak != nil || call.Settled {
		t.Errorf("it is %+v", call)
	}
	call = w.win(t, "c1")
	if call.Peak == nil || *call.Peak != 2 || call.DecidedAt == nil || *call.DecidedAt != time.Unix(w.Last.Time, 0).UTC().Format(time.RFC3339) {
		t.Errorf("won, it is %+v", call)
	}
	var list struct {
		Calls []callAnswer
		Last  int64
	}
	w.get("/v1/calls?after=2", &list)
	if len(list.Calls) != 2 || list.Last != max(list.Calls[0].Change, list.Calls[1].Change) {
		t.Errorf("what changed is %+v", list)
	}
	after := list.Last
	if got := w.delete("/v1/calls/c4?updated_at=" + w.tick()); got != "written" {
		t.Error(got)
	}
	if got := w.put("/v1/calls/c4", body("u2", "")); got != "call-deleted" {
		t.Errorf("a call that was deleted comes back: %s", got)
	}
	w.get(fmt.Sprintf("/v1/calls?after=%d", after), &list)
	if len(list.Calls) != 1 || !list.Calls[0].Deleted || !list.Calls[0].Settled || list.Calls[0].Member != "u2" {
		t.Errorf("after a deletion, what changed is %+v", list)
	}
	if a := w.do(http.MethodGet, "/v1/calls/c9", nil); a.problem() != "call-not-found" {
		t.Errorf("a call that isn't there: %s", a.body)
	}
	if got := w.delete("/v1/calls/c9?updated_at=" + w.tick()); got != "call-not-found" {
		t.Errorf("the deletion of a call that isn't there: %s", got)
	}
}

// TestCallsInABatch: lines of one batch count against each other, and each is refused for itself.
func TestCallsInABatch(t *testing.T) {
	t.Parallel()
	w := newPriced(t)
	line := func(kind, id, more string) string {
		return fmt.Sprintf(`{"kind":%q,"id":%q,"updated_at":%q%s}`, kind, id, w.tick(), more)
	}
	of := `,"member":"u1","chain":"base","mint":"` + w.Token.String() + `"`
	got, _ := w.batch("", line("member", "u1", `,"handle":"ada","joined_at":"2026-01-01T00:00:00Z"`), line("call", "c1", of), line("call", "c2", of),
		line("call", "c1", `,"deleted":true`), line("call", "c3", of), line("call", "c4", `,"member":"u1"`))
	for i, want := range []string{"written", "written", "refused", "written", "written", "refused"} {
		if got[i].Result != want {
			t.Errorf("line %d: %+v, want %s", i+1, got[i], want)
		}
	}
	if _, a := w.batch("?atomic=true", line("call", "c3", `,"deleted":true`), line("call", "c9", `,"deleted":true`)); a.status != http.StatusConflict {
		t.Errorf("all or none: %d %s", a.status, a.body)
	}
	var call callAnswer
	if w.get("/v1/calls/c3", &call); call.Deleted {
		t.Error("a part of what was refused is written")
	}
}

// TestACallWhileItsChainIsBehind is refused for now, and the refusal isn't kept for its Idempotency-Key.
func TestACallWhileItsChainIsBehind(t *testing.T) {
	t.Parallel()
	w := newPriced(t)
	w.member("u1", "ada")
	body := w.body("u1", w.Token, "")
	w.clock.add(2 * time.Hour)
	a := w.do(http.MethodPut, "/v1/calls/c1", []byte(body), "Idempotency-Key", "k1")
	if a.problem() != "chain-behind" || a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Errorf("while the chain is behind: %d %s", a.status, a.body)
	}
	w.trade(t, 2*3600+60, 11)
	a = w.do(http.MethodPut, "/v1/calls/c1", []byte(body), "Idempotency-Key", "k1")
	if got := resultOf(a); got != "written" {
		t.Errorf("once it isn't: %s", a.body)
	}
}

// TestCallsThatAreRefused has a body for each thing that can be wrong with it, and what the error names.
func TestCallsThatAreRefused(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	good := `{"member":"u1","chain":"base","mint":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed","updated_at":"2026-03-04T05:06:00Z"}`
	with := func(more string) string { return strings.Replace(good, "{", "{"+more+",", 1) }
	ref := func(symbol string) string {
		return `{"symbol":"` + symbol + `","chain":"base","mint":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"}`
	}
	var many []string
	for n := range 33 {
		many = append(many, ref(fmt.Sprintf("T%d", n)))
	}
	for _, c := range []struct{ name, body, field, says string }{
		{"no member", strings.Replace(good, `"member":"u1",`, "", 1), "member", "is missing"},
		{"a chain in capitals", strings.Replace(good, `"base"`, `"Base"`, 1), "chain", "a-z"},
		{"no mint", strings.Replace(good, "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", "", 1), "mint", "is missing"},
		{"a short mint", strings.Replace(good, "beaed", "bea", 1), "mint", "40 hexadecimal"},
		{"the chain's own coin", strings.Replace(good, "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", strings.Repeat("0", 40), 1), "mint", "aren't all 0"},
		{"a price", with(`"price_at_call_usd":1`), "price_at_call_usd", "no field"},
		{"a text of more than 16 KiB", with(`"text":"` + strings.Repeat("x", 16<<10+1) + `"`), "text", "16384 bytes"},
		{"a text with an escape", with(`"text":"\u001b[31m"`), "text", "control characters"},
		{"a NUL", with(`"text":"\u0000"`), "text", "control characters"},
		{"a ref with a dollar sign", with(`"token_refs":[` + ref("$S") + `]`), "token_refs[0].symbol", "without the dollar sign"},
		{"two refs of a symbol", with(`"token_refs":[` + ref("DOGE") + "," + ref("doge") + `]`), "token_refs", "another symbol"},
		{"33 refs", with(`"token_refs":[` + strings.Join(many, ",") + `]`), "token_refs", "at most 32"},
		{"called in the future", with(`"called_at":"2026-03-04T05:08:08Z"`), "called_at", "has passed"},
	} {
		a := in.do(http.MethodPut, "/v1/calls/c1", []byte(c.body))
		var p struct {
			Errors []struct{ Field, Reason string }
		}
		if err := json.Unmarshal(a.body, &p); err != nil || a.status != http.StatusBadRequest || len(p.Errors) != 1 {
			t.Errorf("%s: %d %s", c.name, a.status, a.body)
			continue
		}
		if p.Errors[0].Field != c.field || !strings.Contains(p.Errors[0].Reason, c.says) {
			t.Errorf("%s: %+v", c.name, p.Errors[0])
		}
	}
	in.member("u1", "ada")
	if got := in.put("/v1/calls/c1", with(`"text":"`+strings.Repeat("x", 16<<10)+`"`)); got != "token-not-callable" {
		t.Errorf("a text of 16 KiB: %s", got)
	}
}

// TestCallsOfWhoLeaves: an hour after their member has left, calls are gone, and the stream takes them back.
func TestCallsOfWhoLeaves(t *testing.T) {
	t.Parallel()
	w := newPriced(t)
	w.member("u1", "ada")
	if got := w.put("/v1/calls/c1", w.body("u1", w.Token, "")); got != "written" {
		t.Fatal(got)
	}
	if got := w.delete("/v1/members/u1?updated_at=" + w.tick()); got != "written" {
		t.Fatal(got)
	}
	var call callAnswer
	if w.get("/v1/calls/c1", &call); call.Deleted {
		t.Error("leaving can't be taken back")
	}
	w.clock.add(time.Hour + time.Second)
	w.erased()
	if a := w.do(http.MethodGet, "/v1/calls/c1", nil); a.problem() != "call-not-found" {
		t.Errorf("an hour later: %s", a.body)
	}
	items, err := w.Store.Stream.After(t.Context(), 0, 10)
	if err != nil || len(items) != 1 || items[0].Kind != market.StreamCall || items[0].Retracts != 1 {
		t.Errorf("the stream has %+v, %v", items, err)
	}
}
