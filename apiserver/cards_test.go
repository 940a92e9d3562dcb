package apiserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"image"
	"image/color/palette"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	cardservice "github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/contract/clienttest"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/internal/browsertest"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// problemIn is the problem that a body is, or that its page has in it.
func problemIn(body []byte) []byte {
	if found := regexp.MustCompile(`<body data-problem="([^"]*)">`).FindSubmatch(body); found != nil {
		return []byte(html.UnescapeString(string(found[1])))
	}
	return body
}

// painter stands in for the renderer's process: a plain picture of a colour that follows from the card.
type painter struct{}

func (painter) Render(_ context.Context, c sharecard.Card) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	key, err := sharecard.Key(c)
	if err != nil {
		return nil, err
	}
	drawn := image.NewPaletted(image.Rect(0, 0, sharecard.Width, sharecard.Height), palette.Plan9)
	copy(drawn.Pix, key)
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, drawn)
	return out.Bytes(), err
}

// easel is a painter that keeps what it was given, and can be away.
type easel struct {
	painter

	mu    sync.Mutex
	drawn []sharecard.Card
	away  bool
}

func (e *easel) Render(ctx context.Context, c sharecard.Card) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.away {
		return nil, &cardservice.UnavailableError{RetryAfter: 3 * time.Second, Cause: errors.New("it is away")}
	}
	e.drawn = append(e.drawn, c)
	return e.painter.Render(ctx, c)
}

func (e *easel) set(away bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.away = away
}

func (e *easel) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.drawn)
}

// last is the newest card that was drawn.
func last[C sharecard.Card](t *testing.T, e *easel) C {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.drawn) == 0 {
		t.Fatal("nothing was drawn")
	}
	c, ok := e.drawn[len(e.drawn)-1].(C)
	if !ok {
		t.Fatalf("a %T was drawn", e.drawn[len(e.drawn)-1])
	}
	return c
}

// drawing is a server with an easel on a store, and a clock that the test moves.
func drawing(t *testing.T, st *store.Store) (c *client, e *easel, ahead func(time.Duration)) {
	t.Helper()
	o := options(t, st)
	e = &easel{}
	var mu sync.Mutex
	now := clock
	o.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	o.Cards = cardservice.NewService(cardservice.Options{Renderer: e, Now: o.Now, Log: o.Log})
	return startWith(t, o), e, func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
}

func near2(a *float64, b float64) bool { return a != nil && *a == b }

// TestTokenCard holds what is drawn against what the other operations answer.
func TestTokenCard(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Metadata.Save(t.Context(), l, []store.TokenMetadata{{
		Mint: address(t, token), Image: []byte("a picture"), Status: store.MetadataFetched, FetchedAt: clock.Unix(),
	}}); err != nil {
		t.Fatal(err)
	}
	c, e, _ := drawing(t, st)
	res, body := c.do(t, http.MethodGet, "/api/pnl-card/token/0x"+strings.ToUpper(token[2:])+".png", nil)
	if size, err := png.DecodeConfig(bytes.NewReader(body)); err != nil || size.Width != 1200 || size.Height != 630 ||
		res.Header.Get("Content-Type") != "image/png" || res.Header.Get("Content-Encoding") != "" ||
		res.Header.Get("Cache-Control") != "public, max-age=60, stale-while-revalidate=300" ||
		res.Header.Get("X-Data-As-Of") != clock.Add(-2*time.Second).Format(time.RFC3339) {
		t.Errorf("it is %+v, %v: %v", size, err, res.Header)
	}
	got := last[*sharecard.Token](t, e)
	if got.Mint != token || got.Chain != "BASE" || !near2(got.PriceUSD, 2) || !near2(got.Change24hPct, 33.3) || !near2(got.LiquidityUSD, 200_000) ||
		!near2(got.Volume24hUSD, 123_000) || !near2(got.MarketCapUSD, 2_000_000) || *got.Pools != 1 || got.Members != nil ||
		string(got.Picture) != "a picture" || got.PricedAt != clock.Unix()-30 {
		t.Errorf("what is drawn is %+v", got)
	}
	if got.Name != `<script>alert(1)</script>"';--😀` || strings.ContainsRune(got.Symbol, '\u202e') {
		t.Errorf("the name is %q, the symbol %q", got.Name, got.Symbol)
	}
	// It was launched two hours ago, a minute for each point. The trades of the seed: one before that, three at the end.
	if n := len(got.Day); n != 121 || !got.SinceLaunch || got.Day[0] != 1 || got.Day[n-1] != 1.3 {
		t.Errorf("the day has %d points: %v", len(got.Day), got.Day)
	}
	if c.do(t, http.MethodGet, "/api/pnl-card/token/"+token+".png?chain=base", nil); e.count() != 1 {
		t.Errorf("the same card with its chain was drawn anew: %d renders", e.count())
	}
	if c.do(t, http.MethodGet, "/api/pnl-card/token/"+token+".png?chain=bsc", nil); e.count() != 2 || last[*sharecard.Token](t, e).Chain != "BSC" {
		t.Errorf("on the other chain %+v was drawn", last[*sharecard.Token](t, e))
	}
	c.do(t, http.MethodGet, "/api/pnl-card/token/"+bare+".png", nil)
	if none := last[*sharecard.Token](t, e); none.PriceUSD != nil || none.Change24hPct != nil || none.LiquidityUSD != nil || none.Volume24hUSD != nil ||
		none.MarketCapUSD != nil || none.Pools != nil || none.Picture != nil || len(none.Day) != 0 || none.PricedAt != 0 {
		t.Errorf("of a token of which nothing is known %+v is drawn", none)
	}
}

// TestLaunchCard draws launches in all their states.
func TestLaunchCard(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, boardCoins()...)
	c, e, _ := drawing(t, st)
	drawn := func(n int) *sharecard.Launch {
		t.Helper()
		if res, body := c.do(t, http.MethodGet, "/api/pnl-card/launch/"+(&coin{n: n}).mint()+".png?chain=base", nil); res.StatusCode != http.StatusOK {
			t.Fatalf("coin %d: %d %s", n, res.StatusCode, body)
		}
		return last[*sharecard.Launch](t, e)
	}
	otter := drawn(1)
	if otter.Stage != sharecard.StageCurve || otter.Curve == nil || otter.Curve.ProgressPct != 40 || otter.Curve.Basis != "tokens_sold" ||
		otter.Venue != "four.meme" || otter.Own || otter.AgeS != 3000 || *otter.Holders != 80 || !otter.GatePass || len(otter.GateFails) != 0 ||
		otter.Creator != creator || otter.CreatorHandle != "" || otter.Day != nil {
		t.Errorf("on its curve it is %+v with %+v and %d holders", otter, otter.Curve, *otter.Holders)
	}
	if pool := drawn(7); pool.Stage != sharecard.StageLive || pool.Curve != nil || pool.GatePass || !slices.Equal(pool.GateFails, []string{"liquidity"}) ||
		pool.LiquidityUSD == nil {
		t.Errorf("a live pool is %+v", pool)
	}
	if moved := drawn(6); moved.Stage != sharecard.StageGraduated {
		t.Errorf("a graduated one is %+v", moved)
	}
	if full := drawn(5); full.Stage != sharecard.StageCompleted {
		t.Errorf("a full one is %+v", full)
	}
	if mystery := drawn(8); mystery.Curve != nil || mystery.Holders != nil || mystery.Stage != sharecard.StageCurve {
		t.Errorf("one of unknown progress is %+v", mystery)
	}
	if own := drawn(10); !own.Own || own.Venue != "Boardwalk" {
		t.Errorf("one of our own is %+v", own)
	}
}

// TestTraderCard adds up a wallet's trades on two chains; it names no member, whoever holds the wallet.
func TestTraderCard(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	now := clock.Unix() - 1
	wallet := "0xa0000000000000000000000000000000000000a1"
	for i, chain := range []string{"base", "bsc"} {
		l, err := st.Leases.Acquire(t.Context(), chain, "test", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		c := &store.Commit{
			Last:   market.Header{Number: 101, Hash: market.Hash{2}, Parent: market.Hash{1}, Time: now},
			Blocks: []market.Header{{Number: 101, Hash: market.Hash{2}, Parent: market.Hash{1}, Time: now}},
			Head:   store.HeadStatus{Number: 101, Time: now, Safe: 90, Final: 80, FinalTime: now - 60},
		}
		for n, tr := range []struct {
			ago, usd int64
			sell     bool
		}{{10 * 86_400, 100, false}, {3 * 86_400, 80, true}, {3600, 30 * int64(i+1), true}} {
			amount := amount("100")
			if tr.sell {
				amount = amountOf(50)
			}
			c.Changes.Trades = append(c.Changes.Trades, market.Trade{
				Block: 101, LogIndex: uint64(n), Tx: market.EVMTx([32]byte{byte(n + 1)}), Time: now - tr.ago, Pool: address(t, pairID), Base: address(t, token), Trader: address(t, wallet),
				Sell: tr.sell, BaseAmount: amount, QuoteAmount: amount, NanoUSD: tr.usd * 1e9, HasUSD: true, CloseUSD: 1, CloseNative: 1,
			})
		}
		if err := st.Commit(t.Context(), l, c); err != nil {
			t.Fatal(err)
		}
	}
	c, e, _ := drawing(t, st)
	res, body := c.do(t, http.MethodGet, "/api/pnl-card/trader/"+wallet+".png", nil)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	got := last[*sharecard.Trader](t, e)
	// On each chain 100 units at 1 USD; half of them for 80, the other half for 30 and for 60.
	if got.Wallet != wallet || got.Handle != "" || got.Face != nil || !slices.Equal(got.Chains, []string{"BASE", "BSC"}) ||
		!near2(got.Day.RealisedUSD, -10) || got.Day.Sells != 2 || got.Day.Wins != 1 || !near2(got.Day.RealisedPct, -10) ||
		!near2(got.Week.RealisedUSD, 50) || got.Week.Sells != 4 || got.Week.Wins != 3 || !near2(got.Week.RealisedPct, 25) ||
		got.Day.NetUSD != nil || got.Best == nil || got.Best.PnLUSD != 30 || got.LastTradeAt != now-3600-(now-3600)%86_400 {
		t.Errorf("it is %+v, best %+v", got, got.Best)
	}
	if n := len(got.Line); n != 169 || got.Line[0] != 0 || got.Line[n-1] != 50 {
		t.Errorf("the line is %v", got.Line)
	}
	c.do(t, http.MethodGet, "/api/pnl-card/trader/"+trader+".png", nil)
	if buyer := last[*sharecard.Trader](t, e); !near2(buyer.Week.RealisedUSD, 0) || buyer.Week.Sells != 0 || buyer.Best != nil {
		t.Errorf("who has only bought is %+v", buyer)
	}
}

func amountOf(n uint64) (a market.Amount) {
	a.SetUint64(n)
	return a
}

// TestCardsOfAnAbsentRenderer: what was drawn stands in, and says so; where nothing was the answer is 503.
func TestCardsOfAnAbsentRenderer(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	c, e, ahead := drawing(t, st)
	target := "/api/pnl-card/token/" + token + ".png?chain=base"
	first, body := c.do(t, http.MethodGet, target, nil)
	ahead(time.Minute)
	if again, same := c.do(t, http.MethodGet, target, nil); !bytes.Equal(body, same) || again.Header.Get("ETag") != first.Header.Get("ETag") || e.count() != 1 {
		t.Errorf("the same data cost %d renders", e.count())
	}
	if res, _ := c.do(t, http.MethodGet, target, http.Header{"If-None-Match": {first.Header.Get("ETag")}}); res.StatusCode != http.StatusNotModified {
		t.Errorf("with its ETag: %d", res.StatusCode)
	}
	e.set(true)
	mintCoins(t, st, "base", 101) // a block, and with it a later time
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Metadata.Save(t.Context(), l, []store.TokenMetadata{{Mint: address(t, token), Image: []byte("new"), Status: store.MetadataFetched}}); err != nil {
		t.Fatal(err)
	}
	ahead(time.Minute)
	stale, old := c.do(t, http.MethodGet, target, nil)
	if stale.StatusCode != http.StatusOK || !bytes.Equal(old, body) || stale.Header.Get("Cache-Control") != "public, max-age=5" ||
		stale.Header.Get("X-Data-As-Of") != first.Header.Get("X-Data-As-Of") {
		t.Errorf("with the renderer away it is %d, %v", stale.StatusCode, stale.Header)
	}
	none, problem := c.do(t, http.MethodGet, "/api/pnl-card/token/"+bare+".png?chain=base", nil)
	if none.StatusCode != http.StatusServiceUnavailable || none.Header.Get("Retry-After") != "3" || none.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("one that was never drawn is %d %s", none.StatusCode, problem)
	}
	e.set(false)
	if res, anew := c.do(t, http.MethodGet, target, nil); bytes.Equal(anew, body) || res.Header.Get("Cache-Control") == "public, max-age=5" {
		t.Errorf("with the renderer back it is still %v", res.Header)
	}
}

// TestWithoutARenderer has none set up: cards say what to do, the share page does without its picture.
func TestWithoutARenderer(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.Cards = nil
	c := startWith(t, o)
	for _, target := range []string{"/api/pnl-card/token/" + token + ".png", "/api/pnl-card/launch/" + token + ".png", "/api/pnl-card/trader/" + trader + ".png"} {
		res, body := c.do(t, http.MethodGet, target, nil)
		var p struct{ Detail string }
		if err := json.Unmarshal(body, &p); err != nil || res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(p.Detail, "--renderer") {
			t.Errorf("%s: %d %s", target, res.StatusCode, body)
		}
	}
	if res, body := c.do(t, http.MethodGet, "/t/"+token, nil); res.StatusCode != http.StatusOK || strings.Contains(string(body), "pnl-card") {
		t.Errorf("the share page is %d %s", res.StatusCode, body)
	}
}

// TestShareLinkUnfurls has the parser of an unfurler, which nobody wrote for us, read a share link.
func TestShareLinkUnfurls(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.Site = &site.Site{App: &site.App{Label: "Otter Trade", URL: "https://app.example/token/{mint}?chain={chain}"}}
	got := clienttest.Unfurl(t, "http://"+listening(t, o)+"/t/"+token+"?chain=base&ref=otter_7")
	link := "https://api.example/t/" + token + "?chain=base"
	picture := clienttest.Image{
		URL: "https://api.example/api/pnl-card/token/" + token + ".png?chain=base&v=" + strconv.FormatInt((clock.Unix()-2)/3600, 36), Type: "image/png",
		Width: "1200", Height: "630", Alt: "Card of <script>alert(1)</script>\"';--😀: On BASE · Market cap $2M · Liquidity $200K · Volume 24 h $123K",
	}
	if !got.Success || got.Title != `<script>alert(1)</script>"';--😀 $2.00 (+33.3`+"\u202f%)" || got.Type != "website" || got.URL != link || got.SiteName != "Otter Trade" ||
		got.Description != "On BASE · Market cap $2M · Liquidity $200K · Volume 24 h $123K" || !slices.Equal(got.Images, []clienttest.Image{picture}) ||
		got.TwitterCard != "summary_large_image" || got.TwitterTitle != got.Title || got.TwitterDescription != got.Description ||
		len(got.TwitterImages) != 1 || got.TwitterImages[0].URL != picture.URL {
		t.Errorf("it reads %+v", got)
	}
}

// TestSharePage looks at the page in a real Chromium: it shows its card, runs nothing and asks nobody else.
func TestSharePage(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	base := ownAddress(t, &o)
	browser := browsertest.Start(t)
	for name, screen := range map[string]browsertest.Screen{
		"desktop": browsertest.Desktop, "phone": browsertest.Phone, "desktop in dark": browsertest.Desktop.InDark(), "phone in dark": browsertest.Phone.InDark(),
	} {
		page, record := browser.Page(t, screen)
		for target, status := range map[string]int{"/t/" + token + "?chain=base": 200, "/t/" + bare: 200, "/t/" + native: 404, "/t/x?chain=y": 400} {
			if got, err := browsertest.Open(page, base+target); err != nil || got != status {
				t.Fatalf("%s: %d, %v", target, got, err)
			}
			if fits, err := browsertest.Eval[bool](page, "document.documentElement.scrollWidth <= innerWidth"); err != nil || !fits {
				t.Errorf("%s on %s: it is wider than its screen: %v", target, name, err)
			}
			shown, err := browsertest.Eval[bool](page, "document.querySelector('img')?.naturalWidth === 1200")
			if err != nil || shown != (status == http.StatusOK) {
				t.Errorf("%s on %s: its card is shown: %v, %v", target, name, shown, err)
			}
		}
		if strangers := record.Strangers(base); len(record.PolicyViolations()) > 0 || len(strangers) > 0 {
			t.Errorf("%s: violations %v, strangers %v", name, record.PolicyViolations(), strangers)
		}
	}
}

// TestShareLinkOpensTheApp follows a share link to the app, without a script of ours and with the code of who shared it.
func TestShareLinkOpensTheApp(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><link rel="icon" href="data:,"><title>the app</title>`)
	}))
	t.Cleanup(app.Close)
	o.Site = &site.Site{App: &site.App{Label: "Otter Trade", URL: app.URL + "/#/token/{mint}"}}
	page, record := browsertest.Start(t).Page(t, browsertest.Phone)
	if status, err := browsertest.Open(page, ownAddress(t, &o)+"/t/"+token+"?chain=base&ref=otter_7"); err != nil || status != http.StatusOK {
		t.Fatalf("%d, %v", status, err)
	}
	opened := app.URL + "/?chain=base&ref=otter_7#/token/" + token
	eventually(t, "the app is open", func() bool {
		at, err := browsertest.Eval[string](page, "location.href")
		return err == nil && at == opened // an error is that the page has just gone
	})
	if len(record.PolicyViolations()) > 0 || len(record.ConsoleErrors()) > 0 {
		t.Errorf("%v, %v", record.PolicyViolations(), record.ConsoleErrors())
	}
}

// ownAddress runs a server whose links lead to itself.
func ownAddress(t *testing.T, o *apiserver.Options) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.BaseURL = "http://" + l.Addr().String()
	serveOn(t, *o, l)
	return o.BaseURL
}

// TestShareLinks reads pages as they are sent.
func TestShareLinks(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.Site = &site.Site{App: &site.App{Label: "Otter Trade", URL: "https://app.example/open"}}
	c := startWith(t, o)
	for query, code := range map[string]string{
		"ref=otter_7": "&amp;ref=otter_7", "": "", "ref=": "", "ref=a%20b": "", "ref=%22%3E%3Cscript%3E": "", "ref=%ff": "", "ref=a&ref=b": "",
		"ref=" + strings.Repeat("a", 33): "", "ref=%zz": "", "ref=%00": "",
	} {
		res, body := c.do(t, http.MethodGet, "/t/"+token+"?chain=bsc&"+query, nil)
		if want := `href="https://app.example/open?mint=` + token + `&amp;chain=bsc` + code + `"`; res.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d, no %s in %s", query, res.StatusCode, want, body)
		}
		for _, bad := range []string{"<script", "\u202e", "onerror", "javascript:"} {
			if strings.Contains(string(body), bad) {
				t.Errorf("%s: %q stands in the page as it is", query, bad)
			}
		}
	}
	res, body := c.do(t, http.MethodGet, "/t/"+token, nil)
	policy := res.Header.Get("Content-Security-Policy")
	if res.Header.Get("Cache-Control") != "public, max-age=60, stale-while-revalidate=300" || !strings.Contains(policy, "default-src 'none'; img-src 'self' data: https://api.example;") ||
		strings.Contains(policy, "unsafe") || !strings.Contains(string(body), `<link rel="canonical" href="https://api.example/t/`+token+`?chain=base">`) {
		t.Errorf("%v %s", res.Header, body)
	}
	if _, unknown := c.do(t, http.MethodGet, "/t/"+bare, nil); !strings.Contains(string(unknown), "Price unknown") || strings.Contains(string(unknown), "$0") {
		t.Errorf("of a token of which nothing is known: %s", unknown)
	}
	missing, body := c.do(t, http.MethodGet, "/t/"+native, nil)
	if missing.StatusCode != http.StatusNotFound || !strings.HasPrefix(missing.Header.Get("Content-Type"), "text/html") || !strings.Contains(string(body), "<h1>No such token</h1>") ||
		missing.Header.Get("Content-Security-Policy") != policy {
		t.Errorf("of no token: %v %s", missing.Header, body)
	}
	if wrong, body := c.do(t, http.MethodGet, "/t/"+token+"?chain=nowhere", nil); wrong.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "<code>base</code>") {
		t.Errorf("on no chain: %d %s", wrong.StatusCode, body)
	}
}
