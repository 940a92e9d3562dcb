package apiserver_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// TestNamesAreInertInJSON: what turns the direction of a text, and what no terminal or log should be sent, stands escaped in every JSON
// answer. Whoever reads it as JSON gets the chain's own characters.
func TestNamesAreInertInJSON(t *testing.T) {
	t.Parallel()
	const turned = "Safe \u202eknil\u202c\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u202a\u202b\u202d\u0085\u007f\u009b\u2028Token"
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, good(1, turned).with(func(c *coin) { c.symbol = "\u202eNIOC\u009b" }))
	c := start(t, st)
	mint := (&coin{n: 1}).mint()
	for target, path := range map[string][]string{
		"/api/token/info/" + mint + "?chain=base":                     {"name"},
		"/api/launch/token/" + mint:                                   {"name"},
		"/api/market/token-prices?mints=" + mint:                      {"prices", mint, "name"},
		"/api/launch/launches?sort=new":                               nil,
		"/api/launch/launches":                                        nil,
		"/api/market/live":                                            nil,
		"/api/dexscreener/search?q=" + mint:                           nil,
		"/api/chart/" + mint + "?chain=base":                          {"symbol"},
		"/api/token/" + mint + "/candles?chain=base":                  {"symbol"},
		"/api/majors":                                                 nil,
		"/api/token/" + mint + "/trust?chain=base":                    nil,
		"/api/launch/launches?chain=%E2%80%AEbase":                    nil,
		"/api/token/info/" + mint + "?chain=%E2%80%AE":                nil,
		"/api/launch/launches?launchpad=%E2%80%AEours":                nil,
		"/api/market/token-prices?mints=" + mint + ",%E2%80%AE%C2%9B": nil,
	} {
		_, body := c.do(t, http.MethodGet, target, nil)
		for _, r := range string(body) {
			if isActive(r) {
				t.Errorf("%s: %U stands in the answer as it is", target, r)
				break
			}
		}
		var whole object
		if err := json.Unmarshal(body, &whole); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if path == nil {
			continue
		}
		want := turned
		if path[len(path)-1] == "symbol" {
			want = "\u202eNIOC\u009b"
		}
		if got := in(whole, path[:len(path)-1]...)[path[len(path)-1]]; got != want {
			t.Errorf("%s: read as JSON the name is %+q, the chain's is %+q", target, got, want)
		}
	}
}

// isActive reports whether a character does something instead of showing something: controls but for a line end, which ends the body, and
// what Unicode calls Bidi_Control.
func isActive(r rune) bool {
	control := r < ' ' && r != '\n' || r >= 0x7f && r <= 0x9f
	return control || r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// TestNamesThatShowNothing: names of nothing but marks, spaces and what has no width look the same, so they are one name and fold. In JSON they
// stay the chain's; pages and pictures show the short address. A token that hasn't told its name yet is like no other.
func TestNamesThatShowNothing(t *testing.T) {
	t.Parallel()
	called := func(n int, ago int64, name, symbol string) coin {
		return good(n, name).with(func(c *coin) { c.symbol, c.ago = symbol, ago })
	}
	st := seeded(t, "sqlite")
	mintCoins(
		t, st, "base", 101, called(1, 3000, "\u200b\u200d\u2060", "\u200b"), called(2, 2900, "\u2060", "\ufeff\u200c"), called(3, 2800, "\u3164 \u00a0", "\u0301\u2800"),
		called(4, 2700, "", ""), called(5, 2600, "", ""),
	)
	c, e, _ := drawing(t, st)
	page := cards(t, c, "sort=new&limit=100")
	if got, want := numbers(page), []int{5, 4, 1}; !slices.Equal(got, want) {
		t.Errorf("new lists %v, want %v", got, want)
	}
	if first := boardCard(t, page, 1); *first.Clones != 2 || first.Name != "\u200b\u200d\u2060" || first.Symbol != "\u200b" {
		t.Errorf("the first of them has %d clones and is called %+q, %+q", *first.Clones, first.Name, first.Symbol)
	}
	const short = "0xca00…0001"
	if _, shared := c.do(t, http.MethodGet, "/t/"+(&coin{n: 1}).mint(), nil); !strings.Contains(string(shared), "<title>"+short) {
		t.Errorf("its page isn't called %s: %s", short, shared)
	}
	if drawn := draw[*sharecard.Token](t, c, e, "/api/pnl-card/token/"+(&coin{n: 1}).mint()+".png?chain=base"); drawn.Symbol != "" || drawn.Name != "" {
		t.Errorf("its picture is called %+q, %+q", drawn.Symbol, drawn.Name)
	}
}
