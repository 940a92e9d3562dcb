package apiserver_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// slugOf is the last part of a problem's type, and empty for an answer that is no problem.
func slugOf(t *testing.T, res reply, body []byte) string {
	t.Helper()
	if res.StatusCode < http.StatusBadRequest {
		return ""
	}
	p := problemOf(t, body)
	return p.Type[strings.LastIndexAny(p.Type, "/#")+1:]
}

func problemOf(t *testing.T, body []byte) contract.Problem {
	t.Helper()
	var p contract.Problem
	if err := json.Unmarshal(problemIn(body), &p); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return p
}

// TestSpellingsOfAddresses asks for addresses at the limits of what an address is, wherever one is a parameter. The rules are
// written out here, because the document alone would agree with itself.
func TestSpellingsOfAddresses(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	const hex39 = "abcdef0123456789ABCDEF0123456789abcdef0"
	spellings := map[string]bool{
		strings.Repeat("2", 31): false, strings.Repeat("2", 32): true, strings.Repeat("2", 44): true, strings.Repeat("2", 45): false,
		"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijk": true, "mnopqrstuvwxyzmnopqrstuvwxyzmnop": true,
		"0x" + hex39: false, "0x" + hex39 + "a": true, "0x" + hex39 + "ab": false, "0x" + hex39 + "g": false,
		"0x" + strings.ToLower(hex39) + "a": true, "0x" + strings.ToUpper(hex39) + "A": true, "0X" + hex39 + "a": false, "0x": false,
	}
	for _, other := range []string{"0", "O", "I", "l"} { // base58 leaves them out
		spellings[strings.Repeat("2", 31)+other] = false
	}
	for _, target := range []string{
		"/api/token/info/{}", "/api/chart/{}", "/api/token/{}/candles", "/api/token/{}/trust", "/api/launch/token/{}", "/t/{}",
		"/api/pnl-card/token/{}.png", "/api/pnl-card/launch/{}.png", "/api/pnl-card/trader/{}.png", "/api/market/token-prices?mints={}",
	} {
		for spelling, legal := range spellings {
			at := strings.ReplaceAll(target, "{}", spelling)
			res, body := c.do(t, http.MethodGet, at, nil)
			if slug := slugOf(t, res, body); (slug != "invalid-parameter") != legal {
				t.Errorf("%s: %d %q, want it to be an address: %v", at, res.StatusCode, slug, legal)
			}
		}
	}
}

// TestSpellingsOfChains asks for ids at the limits of what the id of a chain is. One that could be an id names no chain here.
func TestSpellingsOfChains(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	spellings := map[string]string{
		strings.Repeat("a", 32): "unsupported-chain", strings.Repeat("a", 33): "invalid-parameter", "a-1": "unsupported-chain",
		"0": "unsupported-chain", "-": "unsupported-chain", "BASE": "invalid-parameter", "ba_se": "invalid-parameter", "ba.se": "invalid-parameter",
	}
	for _, target := range []string{
		"/api/token/info/" + token + "?chain={}", "/api/chart/" + token + "?chain={}", "/api/token/" + token + "/candles?chain={}",
		"/api/token/" + token + "/trust?chain={}", "/api/launch/token/" + token + "?chain={}", "/t/" + token + "?chain={}",
		"/api/pnl-card/token/" + token + ".png?chain={}", "/api/pnl-card/launch/" + token + ".png?chain={}", "/api/majors?chain={}",
		"/api/launch/launches?chain={}", "/api/market/token-prices?mints={}:" + token,
	} {
		for spelling, want := range spellings {
			at := strings.ReplaceAll(target, "{}", spelling)
			res, body := c.do(t, http.MethodGet, at, nil)
			if slug := slugOf(t, res, body); res.StatusCode != http.StatusBadRequest || slug != want {
				t.Errorf("%s: %d %q, want %q", at, res.StatusCode, slug, want)
			}
		}
	}
}

var hexText = regexp.MustCompile(`0[xX][0-9a-fA-F]{8,}`)

// TestAddressesAreAnsweredInLowerCase asks in capitals: the answers have every address of an EVM chain in lower case, wherever it
// stands. Only what repeats a caller's own spelling is as the caller wrote it, and a Solana mint, whose letters differ by case.
func TestAddressesAreAnsweredInLowerCase(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	pooled := good(0xabc, "Heron").with(func(c *coin) { c.state, c.graduatedAgo = market.LaunchGraduated, 500 })
	curve := good(0xdef, "Stork")
	mintCoins(t, st, "base", 101, pooled, curve)
	c := start(t, st)
	capitals := func(address string) string { return "0x" + strings.ToUpper(address[2:]) }
	for _, mint := range []string{pooled.mint(), curve.mint()} {
		asked := capitals(mint)
		for _, target := range []string{
			"/api/token/info/" + asked + "?chain=base", "/api/chart/" + asked, "/api/token/" + asked + "/candles", "/api/token/" + asked + "/trust",
			"/api/launch/token/" + asked, "/api/dexscreener/search?q=" + asked, "/api/market/token-prices?mints=" + asked, "/api/market/live",
			"/api/launch/launches?sort=new", "/api/majors", "/t/" + asked,
		} {
			res, body := c.do(t, http.MethodGet, target, nil)
			text := strings.ReplaceAll(string(body), `"`+asked+`":{`, "") // the key of a price
			found := hexText.FindAllString(text, -1)
			if res.StatusCode != http.StatusOK || len(found) == 0 {
				t.Errorf("%s: %d with %d addresses", target, res.StatusCode, len(found))
			}
			for _, address := range found {
				if address != strings.ToLower(address) {
					t.Errorf("%s: answers %s", target, address)
				}
			}
		}
	}

	nobody := "0xabcdefabcdefabcdefabcdefabcdefabcdefabcd"
	for target, want := range map[string]contract.Problem{
		"/api/chart/{}?chain=base":               {Mint: nobody, Chain: "base"},
		"/api/token/{}/candles":                  {Mint: nobody},
		"/api/token/info/{}?chain=bsc":           {Mint: nobody, Chain: "bsc"},
		"/api/token/{}/trust?chain=bsc":          {Mint: nobody, Chain: "bsc"},
		"/api/launch/token/{}":                   {Mint: nobody},
		"/api/launch/token/{}?chain=bsc":         {Mint: nobody, Chain: "bsc"},
		"/api/pnl-card/token/{}.png?chain=base":  {Mint: nobody, Chain: "base"},
		"/api/pnl-card/launch/{}.png?chain=base": {Mint: nobody, Chain: "base"},
		"/api/pnl-card/trader/{}.png":            {Wallet: nobody},
		"/t/{}?chain=base":                       {Mint: nobody, Chain: "base"},
	} {
		at := strings.ReplaceAll(target, "{}", capitals(nobody))
		res, body := c.do(t, http.MethodGet, at, nil)
		if p := problemOf(t, body); res.StatusCode != http.StatusNotFound || p.Mint != want.Mint || p.Chain != want.Chain || p.Wallet != want.Wallet {
			t.Errorf("%s: %d %s, want mint %q, chain %q, wallet %q", at, res.StatusCode, body, want.Mint, want.Chain, want.Wallet)
		}
	}
	_, body := c.do(t, http.MethodGet, "/api/chart/"+pooled.mint()+"?chain=base&pair="+nobody, nil)
	if p := problemOf(t, body); p.Mint != pooled.mint() || p.Chain != "base" {
		t.Errorf("a pair that the token hasn't: %s", body)
	}

	for _, target := range []string{"/api/chart/", "/api/launch/token/", "/t/"} {
		res, body := c.do(t, http.MethodGet, target+solMint, nil)
		if p := problemOf(t, body); res.StatusCode != http.StatusNotFound || p.Mint != solMint {
			t.Errorf("%s of a Solana mint: %d %s", target, res.StatusCode, body)
		}
	}
	if _, body := c.do(t, http.MethodGet, "/api/pnl-card/trader/"+solMint+".png", nil); problemOf(t, body).Wallet != solMint {
		t.Errorf("a Solana wallet: %s", body)
	}
	if none := get[contract.TrustReport](t, c, "/api/token/"+solMint+"/trust"); none.Mint != solMint {
		t.Errorf("the trust report is of %s", none.Mint)
	}
	missing := []string{solMint, capitals(nobody), "base:" + capitals(nobody)}
	if p := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+strings.Join(missing, ",")); !slices.Equal(p.Missing, missing) {
		t.Errorf("missing are %v, want them as they were asked for: %v", p.Missing, missing)
	}
}

// TestListsAreDeduplicated: what stands twice in a list counts once, against the most items too, and is answered once.
func TestListsAreDeduplicated(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	const prices = "/api/market/token-prices?mints="
	if p := get[contract.TokenPrices](t, c, prices+strings.Join([]string{unmet, token, unmet, unmet}, ",")); len(p.Prices) != 1 || !slices.Equal(p.Missing, []string{unmet}) {
		t.Errorf("there are %d prices, missing are %v", len(p.Prices), p.Missing)
	}
	if p := get[contract.TokenPrices](t, c, prices+strings.Repeat(token+",", 101)+unmet); len(p.Prices) != 1 || len(p.Missing) != 1 {
		t.Errorf("of one that stands there 101 times: %+v", p)
	}
}
