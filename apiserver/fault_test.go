package apiserver_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/pairs"
	"github.com/boardwalkhq/boardwalk/apiserver/read/standings"
	"github.com/boardwalkhq/boardwalk/apiserver/read/tokenmembers"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// operationTargets are a request to each operation that answers it with 200.
var operationTargets = []string{
	"/api/market/live", "/api/market/token-prices?mints=" + token, "/api/majors", "/api/majors?chain=base&pair=ETH&tf=1h",
	"/api/dexscreener/search?q=pepe", "/api/token/info/" + token + "?chain=base", "/api/chart/" + token,
	"/api/token/" + token + "/candles", "/api/token/" + token + "/trust", "/api/launch/launches", "/api/launch/launches?sort=new&limit=1",
	"/api/launch/token/" + token, "/api/pnl-card/token/" + token + ".png", "/api/pnl-card/launch/" + token + ".png",
	"/api/pnl-card/trader/" + trader + ".png", "/t/" + token, "/api/launch/status", "/api/online-count", "/api/status/heartbeat", "/api/v1/mobile/health",
	"/api/auth/social/providers", "/api/version", "/openapi.json",
	"/api/token/" + token + "/family", "/api/leaderboard", "/api/leaderboard/series", "/api/live/members-in?mints=" + token,
	"/api/feed/trades?launches=1", "/api/feed/trades?filter=new&before=djF8MQ", "/api/live/since", "/api/live/since?trade=0&launch=0&call=0&mints=" + token,
	"/api/platform/landing-live", "/api/platform/landing-stats",
	"/api/game/ladder", "/api/game/profile/" + resident, "/api/game/ranks?handles=nobody," + resident, "/api/game/season",
}

// gate stands between the server and a database that can be cut off and be there again.
type gate struct {
	net.Listener

	to    string
	mu    sync.Mutex
	shut  bool
	conns []net.Conn
}

// openGate listens on a socket of its own and passes everything on to the database's.
func openGate(t *testing.T, to string) (*gate, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "gate") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, filepath.Base(to)))
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{Listener: l, to: to}
	t.Cleanup(func() { _ = l.Close(); g.set(true) })
	ctx := t.Context()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.pass(ctx, c)
		}
	}()
	return g, dir
}

func (g *gate) pass(ctx context.Context, c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	there, err := (&net.Dialer{}).DialContext(ctx, "unix", g.to)
	if g.shut || err != nil {
		_ = c.Close()
		return
	}
	g.conns = append(g.conns, c, there)
	go func() { _, _ = io.Copy(there, c); _ = there.Close() }()
	go func() { _, _ = io.Copy(c, there); _ = c.Close() }()
}

// set shuts the gate, which cuts every connection, or opens it.
func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	for _, c := range g.conns {
		_ = c.Close()
	}
	g.conns = nil
}

// TestDatabaseGoneAndBack cuts the server off from a real PostgreSQL: hot answers go on and say that they are stale, what
// was asked before stands in for itself, cold ones are 503, the heartbeat says down; and everything is as before when it
// is back.
func TestDatabaseGoneAndBack(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	st, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, st)
	addResident(t, st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	port := cmp.Or(q.Get("port"), u.Port(), "5432")
	g, dir := openGate(t, filepath.Join(q.Get("host"), ".s.PGSQL."+port))
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	gated, err := store.Open(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gated.Close() })
	o := options(t, gated)
	began := time.Now()
	o.Now = func() time.Time { return clock.Add(time.Since(began)) } // what is cached must age
	c := startWith(t, o)
	asked := "/api/token/info/" + token + "?chain=base"
	if info := get[contract.TokenInfo](t, c, asked); info.Stale {
		t.Fatalf("it is stale from the start: %+v", info)
	}
	if l := get[contract.LaunchedToken](t, c, "/api/launch/token/"+token); l.Stale {
		t.Fatalf("its launch is stale from the start: %+v", l)
	}
	family := "/api/token/" + token + "/family?chain=base"
	if f := get[contract.TokenFamily](t, c, family); f.Stale {
		t.Fatalf("its members are stale from the start: %+v", f)
	}
	g.set(true)
	// The heartbeat also says down when the server merely hasn't read the database for long. The live list is stale only after a read has failed.
	eventually(t, "the heartbeat says down, since the server knows that the database is away", func() bool {
		return get[contract.Heartbeat](t, c, "/api/status/heartbeat").Status == contract.HeartbeatStatusDown && get[contract.MarketLive](t, c, "/api/market/live").Stale
	})
	if live := get[contract.MarketLive](t, c, "/api/market/live"); !live.Stale || len(live.Tokens) != 2 {
		t.Errorf("the live list is %+v", live)
	}
	if majors := get[contract.Majors](t, c, "/api/majors"); !majors.Stale || len(majors.Majors) != 4 {
		t.Errorf("the majors are %+v", majors)
	}
	if info := get[contract.TokenInfo](t, c, asked); !info.Stale || !near(info.Price, 2) {
		t.Errorf("a token that was asked for before is %+v", info)
	}
	// The launches of both chains are called the same.
	if page := cards(t, c, "sort=new"); !page.Stale || len(page.Launches) != 1 || *page.Launches[0].Clones != 1 {
		t.Errorf("the launch board is %+v", page)
	}
	if l := get[contract.LaunchedToken](t, c, "/api/launch/token/"+token); !l.Stale || l.Creator.Launches != 1 {
		t.Errorf("its launch is %+v", l)
	}
	if prices := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+token); !prices.Stale || !prices.Prices[token].Stale {
		t.Errorf("its price is %+v", prices)
	}
	if f, s := get[contract.TradeFeed](t, c, "/api/feed/trades"), get[contract.LiveSince](t, c, "/api/live/since?trade=0"); !f.Stale || !s.Stale {
		t.Errorf("the feed is stale: %v, and what is new: %v", f.Stale, s.Stale)
	}
	// Who is in which token is in memory, whether it was asked for or not.
	for _, of := range []string{family, "/api/token/" + token + "/family?chain=bsc"} {
		if f := get[contract.TokenFamily](t, c, of); !f.Stale || f.Count == nil {
			t.Errorf("the members in a token are %+v", f)
		}
	}
	if in := get[contract.MembersIn](t, c, "/api/live/members-in?mints=bsc:"+token); !in.Stale || len(in.Tokens) != 1 {
		t.Errorf("the members in a token are %+v", in)
	}
	for _, target := range []string{
		"/api/leaderboard", "/api/leaderboard/series", "/api/leaderboard/series?range=all", "/api/token/info/" + bare + "?chain=base", "/api/chart/" + token, "/api/token/" + token + "/candles", "/api/dexscreener/search?q=pepe",
		"/api/token/" + bare + "/family?chain=base", "/api/live/members-in?mints=base:" + bare, "/api/market/token-prices?mints=" + bare, "/api/majors?chain=base&pair=ETH&tf=1h", "/api/launch/token/" + bare,
		"/api/token/" + bare + "/trust", "/api/pnl-card/token/" + token + ".png", "/api/pnl-card/launch/" + token + ".png",
		"/api/pnl-card/trader/" + trader + ".png", "/t/" + bare,
	} {
		res, body := c.do(t, http.MethodGet, target, nil)
		if target == "/api/majors?chain=base&pair=ETH&tf=1h" && res.StatusCode == http.StatusOK {
			continue // it has no pool, so no candles to read
		}
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" ||
			strings.Contains(string(body), "PGSQL") || strings.Contains(string(body), dir) {
			t.Errorf("%s: %d %s", target, res.StatusCode, body)
		}
	}
	g.set(false)
	eventually(t, "the heartbeat says ok again", func() bool {
		return get[contract.Heartbeat](t, c, "/api/status/heartbeat").Status != contract.HeartbeatStatusDown
	})
	for _, target := range operationTargets {
		if res, body := c.do(t, http.MethodGet, target, nil); res.StatusCode != http.StatusOK || strings.Contains(string(body), `"stale":true`) {
			t.Errorf("with the database back, %s: %d %s", target, res.StatusCode, body)
		}
	}
}

// TestBeforeTheFirstSnapshot asks a server that has read nothing yet.
func TestBeforeTheFirstSnapshot(t *testing.T) {
	t.Parallel()
	s, err := apiserver.New(options(t, storetest.Open(t, "sqlite")))
	if err != nil {
		t.Fatal(err)
	}
	c := &client{s.Handler()}
	for _, target := range []string{
		"/api/market/live", "/api/majors", "/api/dexscreener/search?q=x", "/api/launch/launches", "/api/pnl-card/trader/" + trader + ".png",
		"/api/feed/trades", "/api/live/since", "/api/live/since?trade=0", "/api/live/stream", "/api/platform/landing-live", "/api/platform/landing-stats",
	} {
		if res, _ := c.do(t, http.MethodGet, target, nil); res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: %d", target, res.StatusCode)
		}
	}
}

// TestTooBusy fills all places with reads that wait: whatever else would read the database is answered 503 at once, what
// is in memory goes on, and when a read is done the next one may begin.
func TestTooBusy(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hot := *catalogAlone(t)
	hot.Live, hot.Majors, hot.Board = &boards.Live{Version: 1}, &read.Majors{Version: 1}, new(boards.Ranking).Board(1, hot.Catalog, false)
	slow := &waiting{broken: broken{&hot}, began: make(chan struct{}), release: release}
	c := apiOf(t, slow, 2)
	info := "/api/token/info/" + token + "?chain=base"
	var g errgroup.Group
	for range 2 {
		g.Go(func() error {
			if res, body := c.do(t, http.MethodGet, info, nil); res.StatusCode != http.StatusNotFound {
				return fmt.Errorf("%d %s", res.StatusCode, body)
			}
			return nil
		})
		<-slow.began
	}
	for _, target := range []string{
		info, "/api/chart/" + token, "/api/token/" + token + "/candles", "/api/market/token-prices?mints=" + token,
		"/api/dexscreener/search?q=pepe", "/api/launch/token/" + token, "/api/token/" + token + "/trust",
		"/api/pnl-card/token/" + token + ".png", "/api/pnl-card/launch/" + token + ".png",
	} {
		res, body := c.do(t, http.MethodGet, target, nil)
		var p contract.Problem
		if err := json.Unmarshal(body, &p); err != nil || res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") != "1" ||
			!strings.HasSuffix(p.Type, "#temporary-reduced-capacity") {
			t.Errorf("%s with every place taken: %d %s", target, res.StatusCode, body)
		}
	}
	for _, target := range []string{
		"/api/market/live", "/api/majors", "/api/launch/launches", "/api/launch/status", "/api/status/heartbeat", "/api/v1/mobile/health", "/api/version", "/openapi.json",
	} {
		if res, body := c.do(t, http.MethodGet, target, nil); res.StatusCode != http.StatusOK {
			t.Errorf("%s, which reads no database: %d %s", target, res.StatusCode, body)
		}
	}
	close(release)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	go func() { <-slow.began }()
	if res, body := c.do(t, http.MethodGet, info, nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("with places free again: %d %s", res.StatusCode, body)
	}
}

// waiting makes readers of tokens wait.
type waiting struct {
	broken

	began   chan struct{}
	release chan struct{}
}

func (w *waiting) Tokens(context.Context, market.Address) ([]figures.Token, error) {
	w.began <- struct{}{}
	<-w.release
	return nil, nil
}

// catalogAlone is a snapshot without anything from a database.
func catalogAlone(t *testing.T) *read.Snapshot {
	t.Helper()
	nobody := members.NewDirectory(nil)
	return &read.Snapshot{Catalog: declared.New(chains()), Members: nobody, Standings: standings.New(nil, nil), TokenMembers: tokenmembers.New(nil, nobody)}
}

// reader is all that the API reads through.
type reader interface {
	read.Tokens
	read.Pairs
	read.Launches
	read.Series
	read.Snapshots
	read.Profiles
}

// apiOf is an API on a reader that stands in for a view.
func apiOf(t *testing.T, r reader, places int) *client {
	t.Helper()
	o := options(t, nil)
	o.MaxInFlight, o.DocsURL = places, "/docs"
	h, err := apiserver.NewHandler(&o, read.Readers{Tokens: r, Pairs: r, Launches: r, Series: r, Snapshots: r, Profiles: r})
	if err != nil {
		t.Fatal(err)
	}
	return &client{h}
}

// broken fails in every way that a bug can, after the snapshot or there already.
type broken struct{ now *read.Snapshot }

const secret = "secret of the inside"

func (b broken) Snapshot() *read.Snapshot {
	if b.now == nil {
		panic(secret)
	}
	return b.now
}

func (broken) Tokens(context.Context, market.Address) ([]figures.Token, error) { panic(secret) }

func (broken) TokensAt(context.Context, []market.Address) (map[market.Address][]figures.Token, error) {
	panic(secret)
}

func (broken) TokensWithin(context.Context, []market.Address, time.Duration) (map[market.Address][]figures.Token, error) {
	panic(secret)
}

func (broken) Search(_ context.Context, _ *declared.Catalog, query string) (*pairs.Found, error) {
	if query == "panic" {
		panic(secret)
	}
	return nil, errors.New(secret)
}

func (broken) ChainsOf(*declared.Catalog, market.Address) []string { panic(secret) }

func (broken) Ticker(*declared.Catalog, string) (read.TokenAt, bool) { panic(secret) }

func (broken) Bars(context.Context, string, market.Address, candle.Width, int64, int64, candle.Currency,
) ([]candle.Bar, candle.Bar, error) {
	panic(secret)
}

func (broken) LaunchesAt(context.Context, market.Address) ([]boards.LaunchNow, error) { panic(secret) }

func (broken) BesideLaunch(context.Context, *boards.LaunchNow) (*boards.Beside, error) { panic(secret) }

func (broken) BuyersOf(context.Context, *figures.Token) (*boards.Buyers, error) { panic(secret) }

func (broken) CardNow(*boards.Board, *declared.Catalog, *boards.LaunchNow, *figures.Token, *boards.Beside) (boards.Shown, bool) {
	panic(secret)
}

func (broken) LastReport(context.Context, string, market.Address) (*trust.Report, bool, error) {
	return nil, false, errors.New(secret)
}

func (broken) Picture(context.Context, string, market.Address) ([]byte, error) { panic(secret) }

func (broken) WalletAt(context.Context, market.Address, []string, int64) (*read.Wallet, error) {
	panic(secret)
}

func (broken) FirstCandle(context.Context, string, market.Address) (int64, bool, error) {
	panic(secret)
}

// TestFaultsStayInside has the readers panic and fail: a 500 or 503 with the request id, and nothing of the inside.
func TestFaultsStayInside(t *testing.T) {
	t.Parallel()
	fails := func(c *client, target string, want int) {
		t.Helper()
		res, body := c.do(t, http.MethodGet, target, nil)
		if res.StatusCode != want || strings.Contains(string(body), "secret") || !strings.Contains(string(body), res.Header.Get("X-Request-Id")) {
			t.Errorf("%s: %d %s, want %d", target, res.StatusCode, body, want)
		}
	}
	c := apiOf(t, broken{}, 8)
	for _, target := range append(slices.Clone(operationTargets), "/api/live/stream") {
		fails(c, target, http.StatusInternalServerError)
	}
	c = apiOf(t, broken{catalogAlone(t)}, 8)
	for _, target := range []string{
		"/api/market/token-prices?mints=" + token, "/api/dexscreener/search?q=panic", "/api/token/info/" + token + "?chain=base",
		"/api/chart/" + token, "/api/token/" + token + "/candles", "/api/launch/token/" + token, "/api/token/" + token + "/trust",
		"/api/pnl-card/token/" + token + ".png", "/api/pnl-card/launch/" + token + ".png", "/t/" + token,
	} {
		fails(c, target, http.StatusInternalServerError)
	}
	fails(c, "/api/dexscreener/search?q=pepe", http.StatusServiceUnavailable)
	for _, target := range []string{"/api/game/ladder", "/api/game/profile/" + resident, "/api/game/ranks?handles=" + resident, "/api/game/season"} {
		fails(c, target, http.StatusServiceUnavailable) // nobody was read yet
	}
}
