package apiserver_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/golden"
)

// TestAnswersStayTheSame holds every operation's status, headers and body to testdata/answers.golden, byte for byte. A change of the code's
// structure leaves them as they are; any other change is read in the diff of the file.
func TestAnswersStayTheSame(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	var got bytes.Buffer
	for _, target := range slices.Concat(operationTargets, []string{
		"/api/market/live?chains=base&per_chain=1", "/api/market/live?per_chain=0", "/api/market/token-prices", "/api/market/token-prices?mints=" + unmet + "," + bare,
		"/api/majors?chain=base&pair=LATE&tf=1h", "/api/majors?chain=nowhere", "/api/dexscreener/search", "/api/dexscreener/search?q=%3Cscript",
		"/api/token/info/" + token, "/api/token/info/" + bare + "?chain=base", "/api/token/info/" + unmet, "/api/token/info/nonsense",
		"/api/chart/" + token + "?format=udf", "/api/token/" + token + "/candles?chain=bsc&interval=1h", "/api/token/" + token + "/candles?interval=2h",
		"/api/launch/launches?sort=graduated", "/api/launch/launches?sort=nonsense&limit=0", "/api/launch/launches?filter=ours", "/api/launch/token/" + bare,
		"/api/pnl-card/token/" + unmet + ".png", "/t/" + unmet,
	}) {
		res, body := c.do(t, http.MethodGet, target, nil)
		fmt.Fprintf(&got, "GET %s\n%d\n", target, res.StatusCode)
		document := target == "/openapi.json" // it is held to what it documents elsewhere
		for _, name := range slices.Sorted(maps.Keys(res.Header)) {
			if name == "X-Request-Id" || document && (name == "Etag" || name == "Content-Length") {
				continue
			}
			fmt.Fprintf(&got, "%s: %s\n", name, strings.Join(res.Header[name], ", "))
		}
		switch kind := res.Header.Get("Content-Type"); {
		case document:
		case strings.HasPrefix(kind, "image/"):
			fmt.Fprintf(&got, "\n%d bytes, SHA-256 %x\n", len(body), sha256.Sum256(body))
		default:
			fmt.Fprintf(&got, "\n%s\n", body)
		}
		got.WriteString("\n")
	}
	want, same := golden.Hold(t, filepath.Join("testdata", "answers.golden"), got.Bytes())
	if same {
		return
	}
	is, should := strings.Split(got.String(), "\nGET "), strings.Split(string(want), "\nGET ")
	if len(is) != len(should) {
		t.Fatalf("there are %d answers, and were %d: go test ./apiserver -run AnswersStay -update writes all anew", len(is), len(should))
	}
	for i := range is {
		if is[i] != should[i] {
			t.Errorf("an answer changed (go test ./apiserver -run AnswersStay -update writes all anew):\n%s\nwas\n%s", is[i], should[i])
		}
	}
}
