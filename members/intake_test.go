package members_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/member/proof/prooftest"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	both(t, func(in *intake) {
		t := in.t
		const body = `{"handle":"Ada","avatar_url":"https://a.example/a.png","joined_at":"2026-01-01T00:00:00Z","updated_at":"2026-03-04T05:06:00.000001Z"}`
		for _, want := range []struct{ name, path, body, result string }{
			{"a new one", "/v1/members/u1", body, "written"},
			{"the same again", "/v1/members/u1", body, "unchanged"},
			{"another of the same time", "/v1/members/u1", strings.Replace(body, "Ada", "Ida", 1), "record-conflict"},
			{"an older one", "/v1/members/u1", strings.Replace(strings.Replace(body, "Ada", "Ida", 1), ".000001Z", "Z", 1), "older"},
			{"a later one", "/v1/members/u1", strings.Replace(body, ".000001Z", ".000002Z", 1), "written"},
			{"a handle that differs in case", "/v1/members/u2", strings.Replace(body, "Ada", "aDA", 1), "handle-taken"},
			{"the case of one's own", "/v1/members/u1", strings.NewReplacer("Ada", "ADA", ".000001Z", ".000003Z").Replace(body), "written"},
			{"a rename", "/v1/members/u1", strings.NewReplacer("Ada", "Lovelace", ".000001Z", ".000004Z").Replace(body), "written"},
			{"a handle that was given up", "/v1/members/u2", body, "handle-taken"},
			{"one's own former handle", "/v1/members/u1", strings.NewReplacer(".000001Z", ".000005Z").Replace(body), "written"},
			{"an id with a colon", "/v1/members/app:2", strings.Replace(body, "Ada", "Two", 1), "written"},
		} {
			if got := in.put(want.path, want.body); got != want.result {
				t.Errorf("%s: %s, want %s", want.name, got, want.result)
			}
		}
		var m memberAnswer
		if in.get("/v1/members/u1", &m); m.Handle != "Ada" || m.ID != "u1" {
			t.Errorf("it is %+v", m)
		}
		in.clock.add(91 * 24 * time.Hour) // which is of whoever asks for the handle
		if got := in.put("/v1/members/u3", strings.Replace(body, "Ada", "Lovelace", 1)); got != "written" {
			t.Errorf("a handle after 90 days: %s", got)
		}
	})
}

// TestWhatIsRefused has a body for each thing that can be wrong with it, and what the error names.
func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	good := `{"handle":"ada","joined_at":"2026-01-01T00:00:00Z","updated_at":"2026-03-04T05:06:00Z"}`
	wallet := `{"attested":true,"updated_at":"2026-03-04T05:06:00Z"}`
	in.member("u1", "one")
	long := strings.Repeat("x", 33)
	for _, c := range []struct{ name, path, body, field, says string }{
		{"no JSON", "/v1/members/u", `{"handle"`, "", "no JSON"},
		{"a list", "/v1/members/u", `[]`, "", "no JSON object"},
		{"two objects", "/v1/members/u", good + good, "", "after top-level"},
		{"an unknown field", "/v1/members/u", strings.Replace(good, "handle", "handel", 1), "handel", "no field"},
		{"a field in another case", "/v1/members/u", strings.Replace(good, "handle", "Handle", 1), "Handle", "no field"},
		{"a field twice", "/v1/members/u", strings.Replace(good, "{", `{"handle":"bob",`, 1), "handle", "twice"},
		{"a long field", "/v1/members/u", strings.Replace(good, "{", `{"`+strings.Repeat("x", 1<<19)+`":1,`, 1), strings.Repeat("x", 64) + "...", "no field"},
		{"null", "/v1/members/u", "null", "", "no JSON object"},
		{"a number", "/v1/members/u", strings.Replace(good, `"ada"`, `1`, 1), "handle", "is a JSON number"},
		{"broken UTF-8", "/v1/members/u", strings.Replace(good, "ada", "\xff", 1), "", "UTF-8"},
		{"no handle", "/v1/members/u", strings.Replace(good, `"handle":"ada",`, "", 1), "handle", "is missing"},
		{"an @", "/v1/members/u", strings.Replace(good, "ada", "@ada", 1), "handle", "without @"},
		{"a long handle", "/v1/members/u", strings.Replace(good, "ada", long, 1), "handle", "1 to 32"},
		{"a handle of look-alikes", "/v1/members/u", strings.Replace(good, "ada", "аda", 1), "handle", "A-Z"},
		{"an avatar over http", "/v1/members/u", strings.Replace(good, `{`, `{"avatar_url":"http://a.example/a.png",`, 1), "avatar_url", "https://"},
		{"an avatar with a password", "/v1/members/u", strings.Replace(good, `{`, `{"avatar_url":"https://u:p@a.example/",`, 1), "avatar_url", "https://"},
		{"no updated_at", "/v1/members/u", strings.Replace(good, `,"updated_at":"2026-03-04T05:06:00Z"`, "", 1), "updated_at", "is missing"},
		{"a clock 10 minutes ahead", "/v1/members/u", strings.Replace(good, "05:06:00Z", "05:16:07Z", 1), "updated_at", "60 s ahead"},
		{"no time", "/v1/members/u", strings.Replace(good, "2026-03-04T", "2026-13-04T", 1), "", "time"},
		{"joined in the future", "/v1/members/u", strings.Replace(good, "2026-01-01", "2027-01-01", 1), "joined_at", "has passed"},
		{"a long id", "/v1/members/" + strings.Repeat("u", 65), good, "id", "1 to 64"},
		{"an id with a slash", "/v1/members/a%2Fb", good, "id", "1 to 64"},
		{"a wallet without a family", "/v1/members/u1/wallets/0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", wallet, "wallet", "a colon"},
		{"another family", "/v1/members/u1/wallets/btc:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", wallet, "family", "evm and solana"},
		{"a wallet of the wrong family", "/v1/members/u1/wallets/solana:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", wallet, "address", "base58"},
		{"the zero address", "/v1/members/u1/wallets/evm:0x" + strings.Repeat("0", 40), wallet, "address", "aren't all 0"},
		{"neither proof nor attestation", "/v1/members/u1/wallets/evm:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", strings.Replace(wallet, `"attested":true,`, "", 1), "proof", "must be given"},
		{"a contract wallet on Solana", "/v1/members/u1/wallets/solana:11111111111111111111111111111111", strings.Replace(wallet, "{", `{"chain":"solana",`, 1), "chain", "no contract wallets"},
		{
			"a proof of a contract wallet", "/v1/members/u1/wallets/evm:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
			`{"chain":"base","proof":{"text":"t","signature":"s"},"updated_at":"2026-03-04T05:06:00Z"}`, "proof", "attest it",
		},
		{
			"no signature", "/v1/members/u1/wallets/evm:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
			`{"proof":{"text":"t","signature":"0x00"},"updated_at":"2026-03-04T05:06:00Z"}`, "proof.signature", "130 hexadecimal digits",
		},
	} {
		a := in.do(http.MethodPut, c.path, []byte(c.body))
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
	if a := in.do(http.MethodPut, "/v1/members/u", []byte(`{"handle":"`+strings.Repeat("x", 1<<20)+`"}`)); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of more than 1 MiB: %d", a.status)
	}
	if got := in.put("/v1/members/nobody/wallets/evm:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", wallet); got != "member-not-found" {
		t.Errorf("a wallet of nobody: %s", got)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	for name, header := range map[string]string{"none": "", "another": "Bearer other", "another scheme": "Basic " + token, "no scheme": token} {
		a := in.do(http.MethodGet, "/v1/changes", nil, "Authorization", header)
		if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != "Bearer" || strings.Contains(string(a.body), token) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := in.do(http.MethodGet, "/v1/nothing", nil); a.problem() != "route-not-found" {
		t.Errorf("a path that isn't there: %s", a.body)
	}
	if a := in.do(http.MethodPost, "/v1/changes", nil); a.problem() != "method-not-allowed" {
		t.Errorf("a method that isn't there: %s", a.body)
	}
}

// TestTokensRotate has two tokens valid at once, and then the new one alone.
func TestTokensRotate(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	former, err := os.ReadFile(in.tokens)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("the next"))
	next := hex.EncodeToString(sum[:])
	status := func(token string) int {
		return in.do(http.MethodGet, "/v1/changes", nil, "Authorization", "Bearer "+token).status
	}
	becomes := func(token string, want int) {
		t.Helper()
		for until := time.Now().Add(time.Minute); status(token) != want; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%s is not answered %d", token, want)
			}
		}
	}
	if err := os.WriteFile(in.tokens, append(former, next+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	becomes("the next", http.StatusOK)
	if got := status(token); got != http.StatusOK {
		t.Errorf("the former one beside it is answered %d", got)
	}
	if err := os.WriteFile(in.tokens, []byte(next+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	becomes(token, http.StatusUnauthorized)
}

type signer interface{ Sign(text string) string }

// challenge asks for a text.
func (in *intake) challenge(id, family, address string) string {
	in.t.Helper()
	a := in.do(http.MethodPost, "/v1/wallet-challenges", fmt.Appendf(nil, `{"member":%q,"family":%q,"address":%q}`, id, family, address))
	var c struct{ Text string }
	if err := json.Unmarshal(a.body, &c); err != nil || a.status != http.StatusOK {
		in.t.Fatalf("ask for a challenge: %d %s", a.status, a.body)
	}
	return c.Text
}

func (in *intake) prove(id, wallet, text, signature string) string {
	in.t.Helper()
	body, err := json.Marshal(map[string]any{
		"public": true, "updated_at": in.tick(), "proof": map[string]any{"text": text, "signature": signature},
	})
	if err != nil {
		in.t.Fatal(err)
	}
	return in.put("/v1/members/"+id+"/wallets/"+wallet, string(body))
}

func TestWallets(t *testing.T) {
	t.Parallel()
	both(t, func(in *intake) {
		t := in.t
		in.member("u1", "ada")
		in.member("u2", "bob")
		evm, solana := prooftest.NewEVMKey(7), prooftest.NewSolanaKey(7)
		for family, key := range map[string]struct {
			signer
			address string
		}{"evm": {evm, evm.Address.String()}, "solana": {solana, solana.Address.String()}} {
			wallet := family + ":" + key.address
			text := in.challenge("u1", family, key.address)
			other := in.challenge("u2", family, key.address)
			for _, want := range []struct{ name, id, text, signature, result string }{
				{"the text of another member", "u1", other, key.Sign(other), "challenge-unknown"},
				{"a signature of another text", "u1", text, key.Sign(other), "signature-wrong"},
				{"a text of one's own", "u1", "I am u1", key.Sign("I am u1"), "challenge-unknown"},
				{"the right one", "u1", text, key.Sign(text), "written"},
				{"the same again, later", "u1", text, key.Sign(text), "challenge-unknown"},
				{"a wallet that is taken", "u2", other, key.Sign(other), "wallet-taken"},
			} {
				if got := in.prove(want.id, wallet, want.text, want.signature); got != want.result {
					t.Errorf("%s, %s: %s, want %s", family, want.name, got, want.result)
				}
			}
			expired := in.challenge("u1", family, key.address)
			in.clock.add(5*time.Minute + time.Second)
			if got := in.prove("u1", wallet, expired, key.Sign(expired)); got != "challenge-unknown" {
				t.Errorf("%s, after 5 minutes: %s", family, got)
			}
			attested := `{"attested":true,"updated_at":"` + in.tick() + `"}`
			if got := in.put("/v1/members/u1/wallets/"+wallet, attested); got != "written" {
				t.Errorf("%s, attested later: %s", family, got)
			}
		}
		var m memberAnswer
		in.get("/v1/members/u1", &m)
		if len(m.Wallets) != 2 {
			t.Fatalf("it has the wallets %+v", m.Wallets)
		}
		for _, w := range m.Wallets {
			if w.Proof == nil || w.Attested || w.Public {
				t.Errorf("what was proved didn't stay so, or what was made private is public: %+v", w)
			}
		}
		if got := in.delete("/v1/members/u1/wallets/evm:" + evm.Address.String() + "?updated_at=" + in.tick()); got != "written" {
			t.Errorf("take a wallet away: %s", got)
		}
		if got := in.delete("/v1/members/u1/wallets/evm:" + evm.Address.String() + "?updated_at=" + in.tick()); got != "written" {
			t.Errorf("take it away again: %s", got)
		}
		text := in.challenge("u2", "evm", evm.Address.String())
		if got := in.prove("u2", "evm:"+evm.Address.String(), text, evm.Sign(text)); got != "written" {
			t.Errorf("another member's by now: %s", got)
		}
	})
}

// TestContractWallets are on one chain each.
func TestContractWallets(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	in.member("u1", "ada")
	in.member("u2", "bob")
	const wallet = "/wallets/evm:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
	on := func(chain string) string {
		return `{"chain":` + chain + `,"attested":true,"updated_at":"` + in.tick() + `"}`
	}
	for _, want := range []struct{ name, id, chain, result string }{
		{"on base", "u1", `"base"`, "written"},
		{"another's on bsc", "u2", `"bsc"`, "written"},
		{"another's on base", "u2", `"base"`, "wallet-taken"},
		{"another's on all", "u2", `null`, "wallet-taken"},
	} {
		if got := in.put("/v1/members/"+want.id+wallet, on(want.chain)); got != want.result {
			t.Errorf("%s: %s", want.name, got)
		}
	}
	if got := in.delete("/v1/members/u1" + wallet + "?updated_at=" + in.tick()); got != "wallet-not-found" {
		t.Errorf("take it away without its chain: %s", got)
	}
	if got := in.delete("/v1/members/u1" + wallet + "?chain=base&updated_at=" + in.tick()); got != "written" {
		t.Errorf("take it away: %s", got)
	}
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	both(t, func(in *intake) {
		t := in.t
		in.member("u1", "ada")
		body := []byte(`{"member":"u1","family":"evm","address":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"}`)
		first := in.do(http.MethodPost, "/v1/wallet-challenges", body, "Idempotency-Key", "k1")
		again := in.do(http.MethodPost, "/v1/wallet-challenges", body, "Idempotency-Key", "k1")
		if first.status != http.StatusOK || string(first.body) != string(again.body) {
			t.Errorf("the same again: %s, was %s", again.body, first.body)
		}
		if a := in.do(http.MethodPost, "/v1/wallet-challenges", body[:len(body)-1], "Idempotency-Key", "k1"); a.problem() != "idempotency-conflict" {
			t.Errorf("another body: %s", a.body)
		}
		if a := in.do(http.MethodPost, "/v1/presence", body, "Idempotency-Key", "k1"); a.problem() != "idempotency-conflict" {
			t.Errorf("another path: %s", a.body)
		}
		bad := in.do(http.MethodPost, "/v1/presence", []byte(`{}x`), "Idempotency-Key", "k2")
		if a := in.do(http.MethodPost, "/v1/presence", []byte(`{}x`), "Idempotency-Key", "k2"); a.status != bad.status || string(a.body) != string(bad.body) {
			t.Errorf("a refusal again: %s", a.body)
		}
		if a := in.do(http.MethodPost, "/v1/presence", []byte(`{"ids":[]}`), "Idempotency-Key", strings.Repeat("k", 256)); a.problem() != "invalid-parameter" {
			t.Errorf("a long key: %s", a.body)
		}
	})
}

// TestBoundsOfTimes has what is just allowed, and what is just not.
func TestBoundsOfTimes(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	at := func(ahead time.Duration) string {
		return `{"handle":"ada","joined_at":"2026-01-01T00:00:00Z","updated_at":"` + in.clock.Now().Add(ahead).Format(time.RFC3339Nano) + `"}`
	}
	if got := in.put("/v1/members/u1", at(time.Minute+time.Microsecond)); got != "invalid-body" {
		t.Errorf("60 s and a microsecond ahead: %s", got)
	}
	if got := in.put("/v1/members/u1", at(time.Minute)); got != "written" {
		t.Errorf("60 s ahead: %s", got)
	}
	key := prooftest.NewEVMKey(3)
	wallet := "evm:" + key.Address.String()
	late, inTime := in.challenge("u1", "evm", key.Address.String()), in.challenge("u1", "evm", key.Address.String())
	in.clock.add(5*time.Minute - time.Second)
	if got := in.prove("u1", wallet, inTime, key.Sign(inTime)); got != "written" {
		t.Errorf("a second before the challenge ends: %s", got)
	}
	in.clock.add(time.Second)
	if got := in.prove("u1", wallet, late, key.Sign(late)); got != "challenge-unknown" {
		t.Errorf("when the challenge ends: %s", got)
	}
}

// TestNULs are bytes that no database takes.
func TestNULs(t *testing.T) {
	t.Parallel()
	both(t, func(in *intake) {
		t := in.t
		in.member("u1", "ada")
		signature := prooftest.NewEVMKey(3).Sign("text")
		got, a := in.batch("", memberLine("u2", "bob"), `{"kind":"wallet","member":"u1","family":"evm","address":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",`+
			`"proof":{"text":"\u0000","signature":"`+signature+`"},"updated_at":"2026-03-04T05:06:07Z"}`, memberLine("u\u0000", "x"), memberLine("u3", "\u0000"))
		if a.status != http.StatusOK || got[0].Result != "written" || got[1].Result != "refused" || got[2].Result != "refused" || got[3].Result != "refused" {
			t.Errorf("in a batch: %d %s", a.status, a.body)
		}
		if a := in.do(http.MethodPost, "/v1/presence", []byte(`{"ids":["u1","\u0000"]}`)); a.status != http.StatusOK || string(a.body) != `{"unknown":["\u0000"]}`+"\n" {
			t.Errorf("in a heartbeat: %d %s", a.status, a.body)
		}
		if a := in.do(http.MethodGet, "/v1/members/%00", nil); a.problem() != "member-not-found" {
			t.Errorf("as an id: %d %s", a.status, a.body)
		}
		for _, body := range []string{`{}`, `{"ids":null}`} {
			if a := in.do(http.MethodPost, "/v1/presence", []byte(body)); a.problem() != "invalid-body" {
				t.Errorf("a heartbeat of %s: %s", body, a.body)
			}
		}
	})
}

// TestOneKeyAtATime sends two requests with one key at once, and another with it later than answers are kept.
func TestOneKeyAtATime(t *testing.T) {
	t.Parallel()
	in := open(t, "postgres")
	in.member("u1", "ada")
	body := []byte(`{"member":"u1","family":"evm","address":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"}`)
	answers := make(chan string, 8)
	for range cap(answers) {
		go func() {
			answers <- string(in.do(http.MethodPost, "/v1/wallet-challenges", body, "Idempotency-Key", "k").body)
		}()
	}
	first := <-answers
	for range cap(answers) - 1 {
		if again := <-answers; again != first {
			t.Errorf("two answers to one key: %s and %s", first, again)
		}
	}
	heartbeat := func(body string) string {
		return in.do(http.MethodPost, "/v1/presence", []byte(body), "Idempotency-Key", "k2").problem()
	}
	if got := heartbeat(`{"ids":[]}`); got != "" {
		t.Error(got)
	}
	in.clock.add(7*24*time.Hour - time.Second)
	if got := heartbeat(`{"ids":["u1"]}`); got != "idempotency-conflict" {
		t.Errorf("within 7 days: %s", got)
	}
	in.clock.add(time.Second)
	if got := heartbeat(`{"ids":["u1"]}`); got != "" {
		t.Errorf("after 7 days: %s", got)
	}
}
