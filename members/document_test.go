package members_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/member/proof/prooftest"
)

// intakePage is docs/intake.md, with what it leaves out.
type intakePage struct {
	text string
	// blocks are the indented ones, each with its lines joined where they go on.
	blocks []string
}

// Addresses of the page: nobody has the key of its wallet, and its token is traded nowhere.
const (
	pageWallet = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
	pageMint   = "0x4ed4e862860bed51a9570b96d89af5e1b0efefed"
)

// readIntakePage reads the page, with a wallet and a token in the place of its own.
func readIntakePage(t *testing.T, wallet, mint string) *intakePage {
	t.Helper()
	raw, err := os.ReadFile("../docs/intake.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(pageWallet, wallet, pageWallet[:6]+"…", wallet, pageMint, mint, pageMint[:6]+"…", mint, "evm:0x…", "evm:"+wallet).Replace(string(raw))
	p := &intakePage{text: text}
	var block strings.Builder
	for line := range strings.Lines(text) {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			block.WriteString(code)
		} else if block.Len() > 0 {
			p.blocks = append(p.blocks, strings.ReplaceAll(block.String(), "\\\n", " "))
			block.Reset()
		}
	}
	return p
}

// writtenRequest is a request as the page writes it: by curl.
type writtenRequest struct{ method, path, body string }

// curled are the requests that the page makes by curl, in their order.
func (p *intakePage) curled(t *testing.T) (list []writtenRequest) {
	t.Helper()
	form := regexp.MustCompile(`(?s)^curl (?:-X (\w+) )?http://127\.0\.0\.1:8090(\S+)\s+-H "Authorization: Bearer \$TOKEN"\s+-d '(.*)'\s*$`)
	for _, b := range p.blocks {
		if !strings.HasPrefix(b, "curl ") {
			continue
		}
		for one := range strings.SplitSeq(b, "\n\n") {
			m := form.FindStringSubmatch(one)
			if m == nil {
				t.Fatalf("no request is read of %q", one)
			}
			if m[1] == "" {
				m[1] = http.MethodPost
			}
			list = append(list, writtenRequest{m[1], m[2], m[3]})
		}
	}
	return list
}

// sent moves the clock to when a record was written, and sends it.
func (in *intake) sent(r writtenRequest) *answer {
	in.t.Helper()
	var record struct {
		UpdatedAt time.Time `json:"updated_at"`
	}
	if err := json.Unmarshal([]byte(r.body), &record); err != nil {
		in.t.Fatalf("the page writes %q: %v", r.body, err)
	}
	if late := record.UpdatedAt.Sub(in.clock.Now()); late > 0 {
		in.clock.add(late)
	}
	return in.do(r.method, r.path, []byte(r.body))
}

// TestIntakePage sends every request of docs/intake.md, in its order, to the real program.
func TestIntakePage(t *testing.T) {
	t.Parallel()
	w := newPriced(t)
	key := prooftest.NewEVMKey(9)
	page := readIntakePage(t, key.Address.String(), w.Token.String())
	w.writeTokensAs(t, page)
	challenged := ""
	requests := page.curled(t)
	for _, r := range requests {
		if strings.HasPrefix(r.path, "/v1/calls/") { // whose chain has to be at the present
			w.trade(t, w.clock.Now().Unix()+60-w.Last.Time, 10)
		}
		if strings.Contains(r.body, `"text": "…", "signature": "0x…"`) {
			quoted, err := json.Marshal(challenged)
			if err != nil {
				t.Fatal(err)
			}
			r.body = strings.NewReplacer(`"text": "…"`, `"text": `+string(quoted), `"signature": "0x…"`, `"signature": "`+key.Sign(challenged)+`"`).Replace(r.body)
		}
		a := w.sent(r)
		if r.method == http.MethodPost {
			var c struct{ Text string }
			if err := json.Unmarshal(a.body, &c); err != nil || a.status != http.StatusOK || c.Text == "" {
				t.Fatalf("%s %s: %d %s", r.method, r.path, a.status, a.body)
			}
			challenged = c.Text
			continue
		}
		if got := resultOf(a); got != "written" {
			t.Errorf("%s %s: %s, %s", r.method, r.path, got, a.body)
		}
		if got := resultOf(w.sent(r)); got != "unchanged" { // as the page says of what is sent again
			t.Errorf("%s %s, sent again: %s", r.method, r.path, got)
		}
	}
	if len(requests) != 5 {
		t.Errorf("%d requests were read", len(requests))
	}
	var m memberAnswer
	if w.get("/v1/members/u1", &m); m.Handle != "ada" || len(m.Wallets) != 1 || m.Wallets[0].Proof == nil || m.Wallets[0].Attested || !m.Wallets[0].Public {
		t.Errorf("the member is %+v", m)
	}
	w.mentioned(t, page, requests[0])
}

// writeTokensAs writes the file of the intake's tokens as the page says: by sha256sum.
func (in *intake) writeTokensAs(t *testing.T, page *intakePage) {
	t.Helper()
	if !strings.Contains(page.text, `printf %s "$TOKEN" | sha256sum > tokens`) {
		t.Error("the page doesn't say how the file of tokens is made")
	}
	in.stop()
	raw, err := os.ReadFile(in.tokens)
	if err != nil {
		t.Fatal(err)
	}
	hash, _, _ := strings.Cut(string(raw), " ")
	if err := os.WriteFile(in.tokens, []byte(hash+"  -\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in.start()
}

// mentioned sends the requests that the page names without a body. What it deletes of a member that has been deleted, it deletes after the member is taken back, as the page
// says that a later write does.
func (in *intake) mentioned(t *testing.T, page *intakePage, member writtenRequest) {
	t.Helper()
	named := regexp.MustCompile("`(GET|DELETE) (/v1/[^`]+)`").FindAllStringSubmatch(page.text, -1)
	for _, m := range named {
		method, path := m[1], strings.ReplaceAll(m[2], "after=N", "after=0")
		path = strings.ReplaceAll(path, "…", url.QueryEscape(in.tick()))
		a := in.do(method, path, nil)
		if method == http.MethodGet && a.status != http.StatusOK || method == http.MethodDelete && resultOf(a) != "written" {
			t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
		}
		if method == http.MethodDelete && strings.HasPrefix(path, "/v1/members/u1?") {
			member.body = regexp.MustCompile(`"updated_at": "[^"]*"`).ReplaceAllString(member.body, `"updated_at": "`+in.tick()+`"`)
			var back memberAnswer
			if got := resultOf(in.sent(member)); got != "written" {
				t.Errorf("a member who left is written again: %s", got)
			}
			if in.get("/v1/members/u1", &back); len(back.Wallets) != 1 {
				t.Errorf("taken back, the member is %+v", back)
			}
		}
	}
	if len(named) != 10 {
		t.Errorf("the page names %d requests: %q", len(named), named)
	}
	present := regexp.MustCompile("`POST (/v1/presence)` with `([^`]+)`").FindStringSubmatch(page.text)
	if present == nil {
		t.Fatal("the page doesn't say how to report who is present")
	}
	if a := in.do(http.MethodPost, present[1], []byte(present[2])); a.status != http.StatusOK {
		t.Errorf("who is present: %d %s", a.status, a.body)
	}
}

// TestIntakePageBatch sends the lines of docs/intake.md as one batch, and then again.
func TestIntakePageBatch(t *testing.T) {
	t.Parallel()
	w := newPriced(t)
	page := readIntakePage(t, prooftest.NewEVMKey(9).Address.String(), w.Token.String())
	var lines []string
	for _, b := range page.blocks {
		if strings.HasPrefix(b, "{") {
			lines = append(lines, strings.Split(strings.TrimSpace(b), "\n")...)
		}
	}
	kinds := map[string]bool{}
	for _, l := range lines {
		var r struct {
			Kind      string
			UpdatedAt time.Time `json:"updated_at"`
		}
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		kinds[r.Kind] = true
		if late := r.UpdatedAt.Sub(w.clock.Now()); late > 0 {
			w.clock.add(late)
		}
	}
	w.trade(t, w.clock.Now().Unix()-w.Last.Time, 10)
	if fmt.Sprint(len(lines), kinds) != "6 map[call:true member:true reply:true wallet:true]" {
		t.Errorf("%d lines were read, of %v", len(lines), kinds)
	}
	results, a := w.batch("", lines...)
	if len(results) != len(lines) {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for i, r := range results {
		if r.Result != "written" {
			t.Errorf("%s: %+v", lines[i], r)
		}
	}
	again, _ := w.batch("", lines...)
	for i, r := range again {
		if r.Result != "unchanged" && r.Result != "older" {
			t.Errorf("%s, sent again: %+v", lines[i], r)
		}
	}
}
