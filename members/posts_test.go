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
)

const (
	aToken = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
	aTx    = "0x6a1f0a3a5d4c2b1a0f9e8d7c6b5a493827160504030201f0e0d0c0b0a0908070"
)

// span is a part of a text.
type span struct{ Start, End int }

// postAnswer is a post as the intake answers.
type postAnswer struct {
	ID, Member, Kind    string
	Parent, Chain, Mint *string
	Trade               *struct{ Chain, Tx, Mint string }
	Text                string
	PostedAt            string `json:"posted_at"`
	Deleted             bool
	Change              int64
	Rich                struct {
		Mentions []struct {
			Text, Handle string
			Exists       bool
			Span         span
		}
		Tags []struct {
			Text, Symbol, Mint, Chain string
			Resolved                  bool
			Span                      span
		}
		Addresses []struct {
			Text, Address string
			Chain         *string
			Span          span
		}
		Links []struct {
			Text, URL string
			Span      span
		}
	}
}

// TestPosts writes posts of each kind, changes and deletes them.
func TestPosts(t *testing.T) {
	t.Parallel()
	both(t, func(in *intake) {
		t := in.t
		in.member("u1", "ada")
		in.member("u2", "bob")
		body := func(kind, of, more string) string {
			return fmt.Sprintf(`{"kind":%q,"member":%q,"text":"gm","updated_at":%q%s}`, kind, of, in.tick(), more)
		}
		inToken := `,"chain":"base","mint":"0x` + strings.ToUpper(aToken[2:]) + `"`
		trade := `,"trade":{"chain":"base","tx":"0X` + strings.ToUpper(aTx[2:]) + `","mint":"` + aToken + `"}`
		first := body("post", "u1", trade)
		for _, c := range []struct{ name, id, body, want string }{
			{"a note", "p1", first, "written"},
			{"the same again", "p1", first, "unchanged"},
			{"a reply", "p2", body("reply", "u2", `,"parent":"p1"`), "written"},
			{"a reply to what isn't there", "p3", body("reply", "u2", `,"parent":"gone"`), "written"},
			{"a family post", "p4", body("family", "u1", inToken), "written"},
			{"a comment", "p5", body("comment", "u1", inToken+`,"posted_at":"2026-01-02T03:04:05Z"`), "written"},
			{"another text", "p1", strings.Replace(body("post", "u1", ""), "gm", "gn", 1), "written"},
			{"an older one", "p1", first, "older"},
			{"of another member", "p1", body("post", "u2", ""), "post-taken"},
			{"of another kind", "p1", body("reply", "u1", `,"parent":"p2"`), "post-fixed"},
			{"of another parent", "p2", body("reply", "u2", `,"parent":"p3"`), "post-fixed"},
			{"of nobody", "p9", body("post", "nobody", ""), "member-not-found"},
		} {
			if got := in.put("/v1/posts/"+c.id, c.body); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
		var list struct {
			Posts []postAnswer
			Last  int64
		}
		in.get("/v1/posts?limit=3", &list)
		if len(list.Posts) != 3 || list.Last != 6 || list.Posts[0].ID != "p2" || list.Posts[0].Parent == nil || *list.Posts[0].Parent != "p1" || list.Posts[0].Member != "u2" {
			t.Errorf("what was written first is %+v", list)
		}
		in.get(fmt.Sprintf("/v1/posts?after=%d", list.Posts[2].Change), &list)
		if len(list.Posts) != 2 || list.Posts[0].ID != "p5" || *list.Posts[0].Mint != aToken || *list.Posts[0].Chain != "base" || list.Posts[0].PostedAt != "2026-01-02T03:04:05Z" ||
			list.Posts[1].ID != "p1" || list.Posts[1].Text != "gn" || list.Posts[1].Trade != nil {
			t.Errorf("what was written then is %+v", list)
		}
		if got := in.put("/v1/posts/p1", body("post", "u1", trade)); got != "written" {
			t.Error(got)
		}
		var post postAnswer
		if in.get("/v1/posts/p1", &post); post.Trade == nil || post.Trade.Tx != aTx || post.Trade.Mint != aToken || post.PostedAt != in.clock.Now().UTC().Format(time.RFC3339) {
			t.Errorf("the note is %+v", post)
		}
		if got := in.delete("/v1/posts/p1?updated_at=" + in.tick()); got != "written" {
			t.Error(got)
		}
		if in.get("/v1/posts/p1", &post); !post.Deleted || post.Text != "" {
			t.Errorf("deleted, it is %+v", post)
		}
		if got := in.put("/v1/posts/p1", body("post", "u1", "")); got != "written" {
			t.Errorf("a post that was deleted comes back: %s", got)
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if a := in.do(method, "/v1/posts/p9?updated_at="+in.tick(), nil); a.problem() != "post-not-found" {
				t.Errorf("%s of a post that isn't there: %s", method, a.body)
			}
		}
	})
}

// TestPostsThatAreRefused has a body for each thing that can be wrong with it, and what the error names.
func TestPostsThatAreRefused(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	good := `{"kind":"post","member":"u1","text":"gm","updated_at":"2026-03-04T05:06:00Z"}`
	with := func(more string) string { return strings.Replace(good, "{", "{"+more+",", 1) }
	kind := func(k string, more string) string {
		return strings.Replace(with(more), `"kind":"post"`, `"kind":"`+k+`"`, 1)
	}
	token := `"chain":"base","mint":"` + aToken + `"`
	for _, c := range []struct{ name, body, field, says string }{
		{"no kind", strings.Replace(good, `"kind":"post",`, "", 1), "kind", "is missing"},
		{"another kind", kind("story", `"chain":null`), "kind", "post, reply, family and comment"},
		{"no member", strings.Replace(good, `"member":"u1",`, "", 1), "member", "is missing"},
		{"no text", strings.Replace(good, `"text":"gm",`, "", 1), "text", "says nothing"},
		{"blanks", strings.Replace(good, `gm`, ` \n\t`, 1), "text", "says nothing"},
		{"16 KiB and a byte", strings.Replace(good, `gm`, strings.Repeat("x", 16<<10+1), 1), "text", "16384 bytes"},
		{"a control character", strings.Replace(good, `gm`, `a\u0000`, 1), "text", "control characters"},
		{"a reply to nothing", kind("reply", `"chain":null`), "parent", "is missing"},
		{"a post that answers", with(`"parent":"p1"`), "parent", "only a reply"},
		{"a post of a chain", with(`"chain":"base"`), "chain", "only a family post or a comment"},
		{"a post of a mint", with(`"mint":"` + aToken + `"`), "mint", "only a family post or a comment"},
		{"a comment without a mint", kind("comment", `"chain":"base"`), "mint", "is missing"},
		{"a family post without a chain", kind("family", `"mint":"`+aToken+`"`), "chain", "is missing"},
		{"a comment on a trade", kind("comment", token+`,"trade":{"tx":"`+aTx+`",`+token+`}`), "trade", "only a post that stands alone"},
		{"a trade without a transaction", with(`"trade":{` + token + `}`), "trade.tx", "is missing"},
		{"a short transaction", with(`"trade":{"tx":"` + aTx[:65] + `",` + token + `}`), "trade.tx", "64 hexadecimal"},
		{"a trade of no token", with(`"trade":{"tx":"` + aTx + `","chain":"base"}`), "trade.mint", "is missing"},
		{"a ref with a dollar sign", with(`"token_refs":[{"symbol":"$S",` + token + `}]`), "token_refs[0].symbol", "without the dollar sign"},
		{"posted in the future", with(`"posted_at":"2026-03-04T05:08:08Z"`), "posted_at", "has passed"},
		{"an unknown field", with(`"likes":1`), "likes", "no field"},
	} {
		a := in.do(http.MethodPut, "/v1/posts/p1", []byte(c.body))
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
	if got := in.put("/v1/posts/p1", strings.Replace(good, "gm", strings.Repeat("x", 16<<10), 1)); got != "written" {
		t.Errorf("a text of 16 KiB: %s", got)
	}
}

// TestWhatPostsName looks up members, tickers and addresses as they are when a post is read.
func TestWhatPostsName(t *testing.T) {
	t.Parallel()
	w := newPriced(t)
	in := w.intake
	in.member("u1", "ada")
	other := written.Contract(3)
	text := "é @ADA @nobody $S $PIN $NONE $A\u0410 " + w.Token.String() + " " + other.String() + " https://a.example/x."
	body, err := json.Marshal(map[string]any{
		"kind": "post", "member": "u1", "text": text, "updated_at": in.tick(),
		"token_refs": []map[string]string{{"symbol": "pin", "chain": "base", "mint": other.String()}, {"symbol": "NONE", "chain": "bsc", "mint": other.String()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := in.put("/v1/posts/p1", string(body)); got != "written" {
		t.Fatal(got)
	}
	named := func() (post postAnswer, all string) {
		in.get("/v1/posts/p1", &post)
		runes := []rune(text)
		var has []string
		say := func(text string, at span, more ...any) {
			if at.End > len(runes) || string(runes[at.Start:at.End]) != text {
				t.Errorf("%q stands at %+v", text, at)
			}
			has = append(has, text+" "+strings.TrimSuffix(fmt.Sprintln(more...), "\n"))
		}
		for _, m := range post.Rich.Mentions {
			say(m.Text, m.Span, m.Exists)
		}
		for _, m := range post.Rich.Tags {
			say(m.Text, m.Span, m.Resolved, m.Chain, m.Mint)
		}
		for _, m := range post.Rich.Addresses {
			chain := "none"
			if m.Chain != nil {
				chain = *m.Chain
			}
			say(m.Text, m.Span, chain)
		}
		for _, m := range post.Rich.Links {
			say(m.Text, m.Span, m.URL)
		}
		return post, strings.Join(has, "\n")
	}
	want := strings.Join([]string{
		"@ADA true", "@nobody false", "$S true base " + w.Token.String(), "$PIN true base " + other.String(), "$NONE false  ", "$A\u0410 false  ",
		w.Token.String() + " base", other.String() + " none", strings.Repeat(" https://a.example/x", 2)[1:],
	}, "\n")
	if _, all := named(); all != want {
		t.Errorf("it names\n%s\nwant\n%s", all, want)
	}
	in.member("u2", "nobody")
	if post, _ := named(); !post.Rich.Mentions[1].Exists {
		t.Error("a new member isn't one")
	}
	second, pair := written.Contract(20), written.Contract(21)
	twin := market.TokenFact{Token: second, Name: "n", Symbol: "$S", HasDecimals: true, Decimals: 18, FromCreation: true}
	w.Block(t, 12, []market.Fact{twin}, append([]market.Event{written.PairOf(w.Factory, pair, second, w.USDC)}, written.TradeAt(pair, 5, 100_000)...)...)
	if post, _ := named(); post.Rich.Tags[0].Resolved {
		t.Errorf("a ticker that two tokens have means %+v", post.Rich.Tags[0])
	}
}

// TestPostsOfWhoLeaves: an hour after their member has left, posts are gone.
func TestPostsOfWhoLeaves(t *testing.T) {
	t.Parallel()
	both(t, func(in *intake) {
		t := in.t
		in.member("u1", "ada")
		if got := in.put("/v1/posts/p1", `{"kind":"post","member":"u1","text":"gm","updated_at":"`+in.tick()+`"}`); got != "written" {
			t.Fatal(got)
		}
		in.delete("/v1/members/u1?updated_at=" + in.tick())
		if is := in.export(); is != "" {
			t.Errorf("the export names who left:\n%s", is)
		}
		if got := in.put("/v1/posts/p1", `{"kind":"post","member":"u1","text":"gn","updated_at":"`+in.tick()+`"}`); got != "member-not-found" {
			t.Errorf("who left writes: %s", got)
		}
		var post postAnswer
		if in.get("/v1/posts/p1", &post); post.Text != "gm" {
			t.Error("leaving can't be taken back")
		}
		in.clock.add(time.Hour + time.Second)
		in.erased()
		if a := in.do(http.MethodGet, "/v1/posts/p1", nil); a.problem() != "post-not-found" {
			t.Errorf("an hour later: %s", a.body)
		}
	})
}
