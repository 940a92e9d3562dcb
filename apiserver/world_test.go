package apiserver_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	cardservice "github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/contract/contracttest"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/keyfile"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// kit sees every response of every test in this package; at the end it must have seen every documented status.
var kit *contracttest.Kit

func TestMain(m *testing.M) {
	var err error
	if kit, err = contracttest.Load(); err != nil {
		panic(err)
	}
	code := storetest.Main(m)
	if whole := flag.Lookup("test.run").Value.String() == ""; code == 0 && whole {
		// These need no database, and the heartbeat tells of whatever is wrong with it in a 200.
		var sure []contracttest.Status
		for _, id := range []string{"getVersion", "getOpenAPI", "getMobileHealth", "getLaunchStatus", "getSignInProviders", "getHeartbeat", "getOnlineCount"} {
			sure = append(sure, contracttest.Status{Operation: id, Code: http.StatusServiceUnavailable})
		}
		unseen, err := kit.Unseen(sure...)
		if err != nil {
			panic(err)
		}
		for _, s := range unseen {
			_, _ = io.WriteString(os.Stderr, "documented and never produced by a test: "+s.String()+"\n")
			code = 1
		}
	}
	os.Exit(code)
}

const (
	weth       = "0x4200000000000000000000000000000000000006"
	usdc       = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	token      = "0xabcdef0000000000000000000000000000000001"
	bare       = "0x2000000000000000000000000000000000000002"
	pairID     = "0x3000000000000000000000000000000000000003"
	native     = "0x5000000000000000000000000000000000000005"
	unmet      = "0x6000000000000000000000000000000000000006"
	creator    = "0xc000000000000000000000000000000000000001"
	trader     = "0x9000000000000000000000000000000000000000"
	curves     = "0xc100000000000000000000000000000000000001"
	solMint    = "So11111111111111111111111111111111111111112"
	builderKey = "a-builder's-own-key"
)

// hostile is a name that wants to be more than text.
const hostile = "<script>alert(1)</script>\u202e\"';--😀"

var clock = time.Date(2026, 3, 4, 12, 0, 30, 0, time.UTC)

func address(tb testing.TB, s string) market.Address {
	tb.Helper()
	a, err := market.ParseAddress(s)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func amount(s string) (a market.Amount) {
	if err := a.SetFromDecimal(s); err != nil {
		panic(err)
	}
	return a
}

func set[K comparable, V any](k K, v V) market.Change[K, V] {
	return market.Change[K, V]{Key: k, After: &v}
}

// seeded is a store with the test's world in it.
func seeded(t *testing.T, kind string) *store.Store {
	t.Helper()
	st := withoutMembers(t, kind)
	addResident(t, st)
	return st
}

// addResident adds the resident to a world.
func addResident(tb testing.TB, st *store.Store) {
	tb.Helper()
	writeMembers(tb, st, 1, member.Record{ID: "resident", Handle: resident, JoinedAt: clock.Unix() - 86400})
	keepGame(tb, st)
}

// withoutMembers is the test's world without anybody.
func withoutMembers(t *testing.T, kind string) *store.Store {
	t.Helper()
	st := storetest.Open(t, kind)
	fill(t, st)
	return st
}

// keepGame writes what some members have come to in their game, into which everything was taken that the chains have.
func keepGame(tb testing.TB, st *store.Store, played ...social.Played) {
	tb.Helper()
	l, err := st.Social.Leases.Acquire(tb.Context(), "the game's", time.Minute.Milliseconds())
	if err != nil || l == nil {
		tb.Fatal("no lease", err)
	}
	chains, err := st.Served().Chains(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	state, err := st.Social.Game.GameState(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	if state == nil {
		state = &social.GameState{Chains: map[string]int64{}, Rules: game.Default()}
	}
	for _, c := range chains {
		state.Chains[c.ID] = c.Last.Time
	}
	if err := errors.Join(st.Social.Game.KeepGame(tb.Context(), l, played, state, clock.Unix()), st.Social.Leases.Release(tb.Context(), l)); err != nil {
		tb.Fatal(err)
	}
}

// resident is the handle of a member who does nothing.
const resident = "Resident"

// fill writes two chains: on each a token with a pool, one without any, and namesakes.
func fill(tb testing.TB, st *store.Store) {
	tb.Helper()
	for i, chain := range []string{"base", "bsc"} {
		l, err := st.Leases.Acquire(tb.Context(), chain, "test", time.Minute)
		if err != nil {
			tb.Fatal(err)
		}
		now := clock.Unix() - 2
		pool := market.Pool{
			ID: address(tb, pairID), Protocol: market.UniswapV2, Factory: address(tb, native), Token0: address(tb, token), Token1: address(tb, weth),
			Base: address(tb, token), Quote: address(tb, weth), BaseIs0: true, Price: 0.001 * float64(i+1), Depth: 1, Locked: 100 / float64(i+1), LastTradeAt: now,
			Day: market.Window{VolumeUSD: amount("123456789000000"), Buys: 3, Sells: 1, ReferenceUSD: 1.5},
		}
		c := &store.Commit{
			Last: market.Header{Number: 100, Hash: market.Hash{1}, Time: now}, Blocks: []market.Header{{Number: 100, Hash: market.Hash{1}, Time: now}},
			Head: store.HeadStatus{Number: 101, Time: now + 1, Safe: 90, Final: 80, FinalTime: now - 60, SilentFrom: clock.Unix() + 10},
		}
		ch := &c.Changes
		tok := func(mint, name string, pool market.Address, decimals bool) {
			a := address(tb, mint)
			ch.Tokens = append(ch.Tokens, set(a, market.Token{
				Mint: a, Name: name, Symbol: name, HasDecimals: decimals, Decimals: 18,
				HasSupply: decimals, Supply: amount("1000000000000000000000000"), FirstSeenAt: now - 7200, Pool: pool,
			}))
		}
		tok(token, hostile, pool.ID, true)
		tok(weth, "WETH", market.Address{}, true)
		tok(bare, "", market.Address{}, false)
		ch.Pools = append(ch.Pools, set(pool.ID, pool))
		// The same address was launched on both chains, here and there in another way.
		launched := market.Launch{
			Mint: pool.Base, Venue: "clanker", Creator: address(tb, creator), Block: 50, CreatedAt: now - 7200, State: market.LaunchLive, Pool: pool.ID,
		}
		if chain == "bsc" {
			launched = market.Launch{
				Mint: pool.Base, Venue: "four-meme", Creator: address(tb, creator), Block: 50, CreatedAt: now - 7200, Curve: address(tb, curves),
				Rules: market.CurveRules{Pricing: market.PriceExecuted, Basis: market.TokensSold}, Quote: address(tb, weth),
				SaleBase: amount("1000"), TargetQuote: amount("18000"), Reserves: market.CurveReserves{RealQuote: amount("18000"), Price: amount("9")},
				Progress: 100, HasProgress: true, State: market.LaunchGraduated, CompletedAt: now - 900, GraduatedAt: now - 600,
				GraduatedTx: market.EVMTx([32]byte{9}), Pool: pool.ID, FeeBps: 100, Traded: true,
			}
		}
		ch.Launches = append(ch.Launches, set(pool.Base, launched))
		// Namesakes with pools of their own, the third the most liquid, and one that is only like them.
		for n, name := range []string{"PEPE", "pepe", "ＰＥＰＥ", "PEPPE"} {
			mint := "0x700000000000000000000000000000000000000" + strconv.Itoa(n)
			other := pool
			other.ID, other.Base, other.Token0 = address(tb, "0x800000000000000000000000000000000000000"+strconv.Itoa(n)), address(tb, mint), address(tb, mint)
			other.Locked, other.LastTradeAt, other.CreatedAt = float64(1+n%3), 0, now-3600
			tok(mint, name, other.ID, true)
			ch.Pools = append(ch.Pools, set(other.ID, other))
		}
		for asset, usd := range map[string]float64{weth: 2000, usdc: 1} {
			ch.Quotes = append(ch.Quotes, set(address(tb, asset), market.QuotePrice{Asset: address(tb, asset), USD: usd, Pegged: usd == 1}))
		}
		for n, ago := range []int64{86_000, 600, 120, 0} {
			at := now - ago
			price := 1 + float64(n)/10
			tr := market.Trade{
				Block: uint64(97 + n), Time: at, Pool: pool.ID, Base: pool.Base, Trader: address(tb, native), Sell: n == 1,
				BaseAmount: amount("1000"), QuoteAmount: amount("2000"), NanoUSD: 5_000_000_000, HasUSD: true, CloseUSD: price, CloseNative: price / 2000,
			}
			tr.Trader = address(tb, "0x90000000000000000000000000000000000000"+string(rune('0'+n))+"0")
			ch.Trades = append(ch.Trades, tr)
			for _, interval := range market.StoredIntervals {
				k := market.CandleKey{Pool: pool.ID, Interval: interval, Open: at - at%int64(interval)}
				k2 := market.Candle{CandleKey: k, USD: market.OHLC{Open: price, High: price, Low: price, Close: price}, VolumeUSD: amount("5000000000"), Buys: 1, LastBlock: tr.Block}
				dup := false
				for j := range ch.Candles {
					if ch.Candles[j].Key == k {
						dup = true
						ch.Candles[j].After.USD.Add(price)
						ch.Candles[j].After.Buys++
					}
				}
				if !dup {
					ch.Candles = append(ch.Candles, set(k, k2))
				}
			}
		}
		if err := st.Commit(tb.Context(), l, c); err != nil {
			tb.Fatal(err)
		}
	}
}

func chains() *catalog.Catalog {
	c := &catalog.Catalog{
		Chains: []catalog.Chain{{ID: "solana", Label: "Solana", Family: chainconfig.Solana, Suspended: true}},
		Venues: []catalog.Venue{
			{ID: "boardwalk", Label: "Boardwalk", Ownership: catalog.Own, Filter: catalog.FilterOurs, Chains: []catalog.VenueChain{
				{Chain: "base", Open: true, Default: true, TradesInApp: true}, {Chain: "bsc", Default: true, TradesInApp: true},
			}},
			{ID: "clanker", Label: "Clanker", Ownership: catalog.Further, Filter: "clanker", Chains: []catalog.VenueChain{
				{Chain: "base", TradesInApp: true},
			}},
			{ID: "four-meme", Label: "four.meme", Ownership: catalog.Outside, Filter: "four-meme", Badge: "four.meme", Chains: []catalog.VenueChain{
				{Chain: "base", LinkTemplate: "https://four.example/{mint}?from=boardwalk"}, {Chain: "bsc", TradesInApp: true},
			}},
			{ID: "pump-fun", Label: "pump.fun", Ownership: catalog.Outside, Filter: "pump-fun", Badge: "pump", Chains: []catalog.VenueChain{
				{Chain: "solana", LinkTemplate: "https://pump.example/{mint}"},
			}},
		},
		ChangedAt: clock.Add(-time.Hour),
	}
	for _, id := range []string{"base", "bsc"} {
		c.Chains = append(c.Chains, catalog.Chain{
			ID: id, Label: strings.ToUpper(id), Family: chainconfig.EVM, Native: chainconfig.Native{Symbol: "ETH", Wrapped: markettest.Address(weth)}, MinTradeUSD: 2,
			Majors:    []chainconfig.Major{{Asset: "ETH", Address: markettest.Address(weth)}, {Asset: "LATE", Address: markettest.Address(unmet)}},
			Exchanges: []catalog.Exchange{{Name: "uniswap-v2", Protocol: market.UniswapV2, Factory: markettest.Address(native)}},
		})
	}
	return c
}

// options are those of a server on a store. Every request of a test comes through a trusted proxy, from a client of its
// own unless the test says otherwise, so that limits are met only where a test wants to.
func options(tb testing.TB, st *store.Store) apiserver.Options {
	tb.Helper()
	words, err := site.Default()
	if err != nil {
		tb.Fatal(err)
	}
	keys := filepath.Join(tb.TempDir(), "keys")
	sum := sha256.Sum256([]byte(builderKey))
	if err := os.WriteFile(keys, []byte(hex.EncodeToString(sum[:])+" a builder\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	known, err := keyfile.Open(keys, "builder keys", slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	now := func() time.Time { return clock }
	return apiserver.Options{
		Store: st, Catalog: catalog.NewLive(chains()), Site: &words, Build: serve.Build{Commit: strings.Repeat("ab", 20), Built: clock},
		BaseURL: "https://api.example", DocsURL: "https://docs.example/x", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")},
		Cards:   cardservice.NewService(cardservice.Options{Renderer: painter{}, Now: now, Log: slog.New(slog.DiscardHandler)}),
		Checker: &checks{}, Keys: known, Limiter: limit.NewMemory(now, 100_000), Now: now, Log: slog.New(slog.DiscardHandler),
	}
}

type client struct {
	h http.Handler
}

func start(t *testing.T, st *store.Store) *client {
	t.Helper()
	return startWith(t, options(t, st))
}

func startWith(tb testing.TB, o apiserver.Options) *client {
	tb.Helper()
	s, err := apiserver.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Refresh(ctx)
	}()
	tb.Cleanup(func() { cancel(); <-done })
	eventually(tb, "it is ready", func() bool { return s.Ready(tb.Context()) == nil })
	return &client{s.Handler()}
}

// eventually waits for what happens beside the requests.
func eventually(tb testing.TB, what string, is func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatal("it never came about that " + what)
		}
	}
}

var strangers atomic.Int64

// stranger is the address of a client that has asked nothing yet.
func stranger() string {
	n := strangers.Add(1)
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}).String()
}

// reply is what there is to a response beside its body.
type reply struct {
	StatusCode int
	Header     http.Header
	whole      *http.Response // its body has been read
}

// do sends a request and has the kit check the response, whose body it reads.
func (c *client) do(tb testing.TB, method, target string, header http.Header) (reply, []byte) {
	tb.Helper()
	req := httptest.NewRequestWithContext(tb.Context(), method, target, nil)
	maps.Copy(req.Header, header)
	res, body := c.send(tb, req)
	kit.Check(tb, req, res.whole, body)
	return res, body
}

// send sends a request as a stranger, unless it says who it is.
func (c *client) send(tb testing.TB, req *http.Request) (reply, []byte) {
	tb.Helper()
	if req.Header.Get("X-Forwarded-For") == "" {
		req.Header.Set("X-Forwarded-For", stranger())
	}
	w := httptest.NewRecorder()
	c.h.ServeHTTP(w, req)
	res := w.Result()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	_ = res.Body.Close()
	return reply{res.StatusCode, res.Header, res}, body
}

func get[V any](tb testing.TB, c *client, target string) V {
	tb.Helper()
	res, body := c.do(tb, http.MethodGet, target, nil)
	if res.StatusCode != http.StatusOK {
		tb.Fatalf("%s: %d %s", target, res.StatusCode, body)
	}
	var v V
	if err := json.Unmarshal(body, &v); err != nil {
		tb.Fatal(err)
	}
	return v
}
