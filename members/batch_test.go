package members_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/member/proof/prooftest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// lineResult is what became of a line.
type lineResult struct {
	Line    int
	Result  string
	Problem struct {
		Type   string
		Errors []struct{ Field, Reason string }
	}
}

func (in *intake) batch(query string, lines ...string) (results []lineResult, a *answer) {
	in.t.Helper()
	a = in.do(http.MethodPost, "/v1/batch"+query, []byte(strings.Join(lines, "\n")))
	for line := range bytes.Lines(a.body) {
		var r lineResult
		if err := json.Unmarshal(line, &r); err != nil {
			in.t.Fatalf("%s: %v", line, err)
		}
		results = append(results, r)
	}
	return results, a
}

func memberLine(id, handle string) string {
	return fmt.Sprintf(`{"kind":"member","id":%q,"handle":%q,"joined_at":"2026-01-01T00:00:00Z","updated_at":"2026-03-04T05:06:07Z"}`, id, handle)
}

func walletLine(id string, n int) string {
	return fmt.Sprintf(`{"kind":"wallet","member":%q,"family":"evm","address":"0x%040x","attested":true,"updated_at":"2026-03-04T05:06:07Z"}`, id, n)
}

func TestBatch(t *testing.T) {
	t.Parallel()
	both(t, func(in *intake) {
		t := in.t
		lines := []string{
			memberLine("u1", "ada"), memberLine("u2", "ADA"), walletLine("u1", 1), walletLine("u2", 2), `{"kind":"post"}`, "", memberLine("u3", "cleo"),
			strings.Replace(memberLine("u3", "cleo"), `,"handle":"cleo","joined_at":"2026-01-01T00:00:00Z"`, `,"deleted":true`, 1),
			strings.Replace(memberLine("u3", ""), `"updated_at":"2026-03-04T05:06:07Z"`, `"updated_at":"2026-03-04T05:06:07.5Z","deleted":true`, 1),
			memberLine("u4", "dora") + memberLine("u5", "eva"), walletLine("u1", 1),
		}
		got, a := in.batch("", lines...)
		want := []string{
			"written", "refused handle-taken", "written", "refused member-not-found", "refused invalid-body", "refused invalid-body", "written",
			"refused record-conflict", "written", "refused invalid-body", "unchanged",
		}
		if a.status != http.StatusOK || len(got) != len(want) {
			t.Fatalf("%d %s", a.status, a.body)
		}
		for i, r := range got {
			is := r.Result
			if r.Problem.Type != "" {
				is += " " + strings.TrimPrefix(r.Problem.Type, "/problems/")
			}
			if r.Line != i+1 || is != want[i] {
				t.Errorf("line %d is %s, want %s", r.Line, is, want[i])
			}
		}
		before := in.export()
		got, a = in.batch("?atomic=true", memberLine("u6", "fay"), memberLine("u7", "Ada"), memberLine("u8", "@"))
		if a.status != http.StatusConflict || got[0].Result != "not_written" || got[1].Result != "not_written" || got[2].Result != "refused" {
			t.Errorf("all or none, one line malformed: %d %s", a.status, a.body)
		}
		got, a = in.batch("?atomic=true", memberLine("u6", "fay"), memberLine("u7", "Ada"))
		if a.status != http.StatusConflict || got[0].Result != "not_written" || got[1].Result != "refused" {
			t.Errorf("all or none, one handle taken: %d %s", a.status, a.body)
		}
		if after := in.export(); after != before {
			t.Errorf("something was written:\n%s", after)
		}
		if _, a = in.batch("?atomic=true", memberLine("u6", "fay"), memberLine("u7", "gil")); a.status != http.StatusOK {
			t.Errorf("all of two: %d %s", a.status, a.body)
		}
	})
}

// TestBatchBounds has a thousand lines and one more, and a mebibyte and one more.
func TestBatchBounds(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = memberLine(fmt.Sprintf("u%d", i), fmt.Sprintf("h%d", i))
	}
	if got, a := in.batch("", lines...); a.status != http.StatusOK || len(got) != 1000 || got[999].Result != "written" {
		t.Errorf("1,000 lines: %d", a.status)
	}
	before := in.export()
	if _, a := in.batch("", slices.Concat(lines, []string{memberLine("more", "more")})...); a.problem() != "too-large" {
		t.Errorf("1,001 lines: %d %s", a.status, a.body)
	}
	padded := memberLine("more", "more") + strings.Repeat(" ", 1<<20-len(memberLine("more", "more"))+1)
	if _, a := in.batch("", padded); a.problem() != "too-large" {
		t.Errorf("a mebibyte and a byte: %d", a.status)
	}
	if after := in.export(); after != before {
		t.Error("something was written")
	}
	if _, a := in.batch("", padded[:1<<20]); a.status != http.StatusOK {
		t.Errorf("a mebibyte: %d %s", a.status, a.body)
	}
	if a := in.do(http.MethodPost, "/v1/batch?atomic=perhaps", nil); a.problem() != "invalid-parameter" {
		t.Errorf("atomic=perhaps: %s", a.body)
	}
}

func (in *intake) export() string {
	in.t.Helper()
	a := in.do(http.MethodGet, "/v1/export", nil)
	if a.status != http.StatusOK {
		in.t.Fatalf("export: %d %s", a.status, a.body)
	}
	return string(a.body)
}

// TestExportImports writes an export into an empty database, on the other kind of it, and exports that again.
func TestExportImports(t *testing.T) {
	t.Parallel()
	in := open(t, "postgres")
	key := prooftest.NewEVMKey(9)
	in.member("u1", "ada")
	in.member("u2", "bob")
	in.member("u3", "left")
	if got := in.put("/v1/members/u1/wallets/solana:"+prooftest.NewSolanaKey(9).Address.String(), `{"public":true,"attested":true,"updated_at":"`+in.tick()+`"}`); got != "written" {
		t.Fatal(got)
	}
	text := in.challenge("u2", "evm", key.Address.String())
	if got := in.prove("u2", "evm:"+key.Address.String(), text, key.Sign(text)); got != "written" {
		t.Fatal(got)
	}
	if got := in.put("/v1/members/u2/wallets/evm:0x00000000000000000000000000000000000000aa", `{"chain":"base","attested":true,"updated_at":"`+in.tick()+`"}`); got != "written" {
		t.Fatal(got)
	}
	if got := in.delete("/v1/members/u3?updated_at=" + in.tick()); got != "written" {
		t.Fatal(got)
	}
	for id, body := range map[string]string{
		"p1": `"kind":"post","member":"u1","trade":{"chain":"base","tx":"` + aTx + `","mint":"` + aToken + `"},"token_refs":[{"symbol":"S","chain":"base","mint":"` + aToken + `"}]`,
		"p2": `"kind":"post","member":"u1"`, "p3": `"kind":"post","member":"u3"`,
	} {
		if got := in.put("/v1/posts/"+id, `{`+body+`,"text":"gm","updated_at":"`+in.tick()+`"}`); got != map[string]string{"p1": "written", "p2": "written", "p3": "member-not-found"}[id] {
			t.Fatal(id, got)
		}
	}
	in.clock.add(time.Hour / 2)
	posts, _ := in.batch("", `{"kind":"reply","id":"p4","member":"u2","parent":"p2","text":"gm, @ada","posted_at":"2026-01-02T03:04:05Z","updated_at":"`+in.tick()+`"}`,
		`{"kind":"comment","id":"p5","member":"u2","chain":"base","mint":"`+aToken+`","text":"<up>","updated_at":"`+in.tick()+`"}`, `{"kind":"post","id":"p2","deleted":true,"updated_at":"`+in.tick()+`"}`)
	if slices.ContainsFunc(posts, func(r lineResult) bool { return r.Result != "written" }) {
		t.Fatalf("%+v", posts)
	}
	was := in.export()
	if strings.Contains(was, "left") || strings.Contains(was, "u3") || !strings.Contains(was, `"checked_at"`) || strings.Count(was, "\n") != 8 {
		t.Fatalf("the export is\n%s", was)
	}
	// Where it is from, it changes nothing.
	if got, a := in.batch("", strings.Split(strings.TrimSpace(was), "\n")...); a.status != http.StatusOK || slices.ContainsFunc(got, func(r lineResult) bool { return r.Result != "unchanged" }) {
		t.Errorf("into its own registry: %s", a.body)
	}
	other := open(t, "sqlite")
	other.clock.add(2 * time.Hour)
	if got, a := other.batch("", strings.Split(strings.TrimSpace(was), "\n")...); a.status != http.StatusOK || got[3].Result != "written" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if is := other.export(); is != was {
		t.Errorf("the export of the import is\n%s\nwant\n%s", is, was)
	}
	// What is of another deployment or signed by another is attested.
	forged := open(t, "sqlite")
	forged.clock.add(2 * time.Hour)
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(was, "app.example.com", "app.example.org")), "\n")
	if _, a := forged.batch("", lines...); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if got, a := forged.batch("", lines...); slices.ContainsFunc(got, func(r lineResult) bool { return r.Result != "unchanged" }) {
		t.Errorf("the same again: %s", a.body)
	}
	if is := forged.export(); strings.Contains(is, "proof") || strings.Count(is, `"attested":true`) != 3 {
		t.Errorf("of another deployment it is\n%s", is)
	}
}

// TestAProofIsNoneOnceTheWalletWasTakenAway imports the proof of before.
func TestAProofIsNoneOnceTheWalletWasTakenAway(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	key := prooftest.NewEVMKey(9)
	in.member("u1", "ada")
	text := in.challenge("u1", "evm", key.Address.String())
	if got := in.prove("u1", "evm:"+key.Address.String(), text, key.Sign(text)); got != "written" {
		t.Fatal(got)
	}
	line := strings.Split(in.export(), "\n")[1]
	in.clock.add(time.Minute)
	if got := in.delete("/v1/members/u1/wallets/evm:" + key.Address.String() + "?updated_at=" + in.tick()); got != "written" {
		t.Fatal(got)
	}
	var again map[string]any
	if err := json.Unmarshal([]byte(line), &again); err != nil {
		t.Fatal(err)
	}
	again["updated_at"] = in.tick()
	raw, err := json.Marshal(again)
	if err != nil {
		t.Fatal(err)
	}
	if got, a := in.batch("", string(raw)); got[0].Result != "written" {
		t.Fatalf("%s", a.body)
	}
	if is := in.export(); strings.Contains(is, `"proof"`) {
		t.Errorf("the former proof counts:\n%s", is)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	both(t, func(in *intake) {
		t := in.t
		type page struct {
			Changes []struct {
				Kind, ID, Member string
				Change           int64
				Deleted          bool
			}
			Last int64
		}
		var p page
		if in.get("/v1/changes", &p); len(p.Changes) != 0 || p.Last != 0 {
			t.Errorf("of nothing it is %+v", p)
		}
		in.batch("", memberLine("u1", "ada"), walletLine("u1", 1), memberLine("u2", "bob"), walletLine("u2", 2))
		var seen []string
		for after := int64(0); ; {
			p = page{}
			in.get(fmt.Sprintf("/v1/changes?limit=1&after=%d", after), &p)
			if len(p.Changes) == 0 {
				break
			}
			c := p.Changes[0]
			seen = append(seen, c.Kind+c.ID+c.Member)
			if after = c.Change; p.Last != 4 {
				t.Errorf("the last is %d", p.Last)
			}
		}
		if !slices.Equal(seen, []string{"memberu1", "walletu1", "memberu2", "walletu2"}) {
			t.Errorf("page by page it is %v", seen)
		}
		in.delete("/v1/members/u1?updated_at=" + in.tick())
		p = page{}
		if in.get("/v1/changes?after=4", &p); len(p.Changes) != 2 || p.Changes[0].ID != "u1" || !p.Changes[0].Deleted || p.Changes[1].Member != "u1" || !p.Changes[1].Deleted {
			t.Errorf("after a member left it is %+v", p)
		}
		for _, bad := range []string{"after=-1", "after=x", "after=9007199254740992", "limit=0", "limit=1001"} {
			if a := in.do(http.MethodGet, "/v1/changes?"+bad, nil); a.problem() != "invalid-parameter" {
				t.Errorf("%s: %s", bad, a.body)
			}
		}
		if a := in.do(http.MethodGet, "/v1/changes?after=9007199254740991&limit=1000", nil); a.status != http.StatusOK {
			t.Errorf("the largest: %s", a.body)
		}
	})
}

// TestLeaving hides a member at once, takes them back within the hour, and erases them after it.
func TestLeaving(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			in := open(t, kind)
			in.member("u1", "ada")
			in.batch("", walletLine("u1", 1))
			leave := func() {
				t.Helper()
				if got := in.delete("/v1/members/u1?updated_at=" + in.tick()); got != "written" {
					t.Fatal(got)
				}
				if a := in.do(http.MethodGet, "/v1/members/u1", nil); a.problem() != "member-not-found" || in.export() != "" {
					t.Errorf("who left is there: %s", a.body)
				}
			}
			leave()
			if got := in.put("/v1/members/u2", `{"handle":"ada","joined_at":"2026-01-01T00:00:00Z","updated_at":"`+in.tick()+`"}`); got != "handle-taken" {
				t.Errorf("their handle: %s", got)
			}
			in.member("u1", "ada")
			if is := in.export(); strings.Count(is, "\n") != 2 {
				t.Errorf("who came back has\n%s", is)
			}
			leave()
			in.clock.add(time.Hour + time.Second)
			in.erased()
			in.member("u1", "again")
			if is := in.export(); strings.Count(is, "\n") != 1 {
				t.Errorf("after an hour they have\n%s", is)
			}
			if got := in.put("/v1/members/u2", `{"handle":"ada","joined_at":"2026-01-01T00:00:00Z","updated_at":"`+in.tick()+`"}`); got != "handle-taken" {
				t.Errorf("their handle, within 90 days: %s", got)
			}
			in.batch("", memberLine("u2", "bob"))
			if got, a := in.batch("", walletLine("u2", 1)); got[0].Result != "written" {
				t.Errorf("their wallet: %s", a.body)
			}
			in.clock.add(91 * 24 * time.Hour)
			in.erased()
			if got := in.put("/v1/members/u2", `{"handle":"ada","joined_at":"2026-01-01T00:00:00Z","updated_at":"`+in.tick()+`"}`); got != "written" {
				t.Errorf("their handle, after 90 days: %s", got)
			}
		})
	}
}

// erased ends the program, has the database cleaned as it is every minute, and starts it again.
func (in *intake) erased() {
	in.t.Helper()
	in.stop()
	st, err := store.Open(in.t.Context(), in.dsn)
	if err != nil {
		in.t.Fatal(err)
	}
	if _, err := st.Social.Upkeep.Clean(in.t.Context(), in.clock.Now().Unix()); err != nil {
		in.t.Error(err)
	}
	if err := st.Close(); err != nil {
		in.t.Fatal(err)
	}
	in.start()
}
