package indexer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color/palette"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/contract/contracttest"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	solanatrust "github.com/boardwalkhq/boardwalk/indexer/trust/solana"
	"github.com/boardwalkhq/boardwalk/indexer/watch"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/store"
	checks "github.com/boardwalkhq/boardwalk/internal/trust"
)

// drawnBlank is a renderer for tests that draws an empty picture of each card and keeps the card.
type drawnBlank struct{ cards []sharecard.Card }

func (d *drawnBlank) Render(_ context.Context, c sharecard.Card) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d.cards = append(d.cards, c)
	var out bytes.Buffer
	err := png.Encode(&out, image.NewPaletted(image.Rect(0, 0, sharecard.Width, sharecard.Height), palette.Plan9))
	return out.Bytes(), err
}

// nobody is a node that tells of no token.
type nobody struct{}

func (nobody) Token(context.Context, market.Address, market.Address) (t solana.Token, err error) {
	return t, rpc.ErrUnanswered
}

func (nobody) Holdings(context.Context, market.Address, market.Address, []market.Address) ([]solana.Holding, error) {
	return nil, errors.New("no node tells what anybody has")
}

func (nobody) Transaction(context.Context, market.TxID, int) ([]json.RawMessage, error) {
	return nil, rpc.ErrUnanswered
}

func (nobody) Simulate(context.Context, []byte, uint64, ...market.Address) (solana.Simulated, error) {
	return solana.Simulated{}, solana.ErrNotSimulated
}

func (nobody) SimulateElsewhere(context.Context, *solana.Simulated, []byte, uint64, ...market.Address) (told solana.Simulated, knows bool, err error) {
	return told, false, nil
}

func (nobody) MadeIn(context.Context, market.TxID, market.Address) (supply uint64, known bool, err error) {
	return 0, false, nil
}

func (nobody) Liquidity(context.Context, *market.Pool, []market.Address) (l solana.Liquidity, known bool, err error) {
	return l, false, rpc.ErrUnanswered
}

// ofOneChain are the checks of one chain's tokens, which the API asks for.
type ofOneChain struct{ *trust.Checker }

func (c ofOneChain) Check(ctx context.Context, _ string, mint market.Address) (*checks.Report, error) {
	return c.Checker.Check(ctx, mint)
}

// server is an API server of what is stored of the chain.
func (g *gapped) server(t *testing.T, st *store.Store, r *drawnBlank) http.Handler {
	t.Helper()
	words, err := site.Default()
	if err != nil {
		t.Fatal(err)
	}
	declared := gappedConfig()
	on := catalog.Chain{ID: declared.ID, Label: "Gapped", Family: declared.Family, Native: declared.Native, Majors: []chainconfig.Major{{Asset: "COIN", Address: gappedCoin}}}
	for _, x := range declared.Exchanges {
		on.Exchanges = append(on.Exchanges, catalog.Exchange{Name: x.Name, Protocol: x.Protocol, Factory: x.Factory})
	}
	now, log := func() time.Time { return time.Unix(g.head().Time+1, 0) }, slog.New(slog.DiscardHandler)
	s, err := apiserver.New(apiserver.Options{
		Store: st, Site: &words, Build: serve.Build{Commit: strings.Repeat("0", 40)}, BaseURL: "https://api.example",
		Catalog: catalog.NewLive(&catalog.Catalog{
			Chains: []catalog.Chain{on},
			Venues: []catalog.Venue{{
				ID: "pad", Label: "Pad", Ownership: catalog.Further, Filter: "pad", Chains: []catalog.VenueChain{{Chain: on.ID, Open: true, TradesInApp: true}},
			}},
		}),
		Cards:   cards.NewService(cards.Options{Renderer: r, Now: now, Log: log}),
		Limiter: limit.NewMemory(now, 1000), Now: now, Log: log,
		Checker: ofOneChain{trust.New(solanatrust.New(declared, nobody{}, now), watch.NewKnowledge(declared, func() string { return declared.ID }, st), trust.Options{Log: log, Now: now})},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Refresh(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	for range 2000 {
		if err = s.Ready(t.Context()); err == nil {
			return s.Handler()
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the server isn't ready: ", err)
	return nil
}

// documented holds answers against the API's document.
var documented = sync.OnceValues(contracttest.Load)

// ask asks the server for a path and decodes the answer, which has to be as documented.
func ask[V any](t *testing.T, h http.Handler, path string) (v V) {
	t.Helper()
	kit, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	req, w := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil), httptest.NewRecorder()
	h.ServeHTTP(w, req)
	body := slices.Clone(w.Body.Bytes())
	kit.Check(t, req, w.Result(), body)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %.300s", path, w.Code, body)
	}
	if raw, ok := any(&v).(*[]byte); ok {
		*raw = body
	} else if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

// wantAnswers asks each operation of the API that is about a token, a launch or a wallet for those of the chain.
func (g *gapped) wantAnswers(t *testing.T, st *store.Store) {
	t.Helper()
	var swaps, curveTrades int
	var raised uint64
	for _, b := range g.between(0, ^uint64(0)) {
		for _, tx := range b.Txs {
			for _, l := range tx.Logs {
				switch e := l.Event.(type) {
				case market.Swap:
					swaps++
				case market.CurveTrade:
					curveTrades, raised = curveTrades+1, raised+e.QuoteAmount.Uint64()
				}
			}
		}
	}
	holders := int64(0)
	for k, n := range g.held { // the contract of the curve is one of them
		if k.Token == gappedPup && n > 0 {
			holders++
		}
	}
	drawn := &drawnBlank{}
	h := g.server(t, st, drawn)
	dog, pup, pool, curve := gappedDog.String(), gappedPup.String(), gappedPools[1].String(), market.CurveID(gappedPup).String()

	live := ask[contract.MarketLive](t, h, "/api/market/live?chain=gapped")
	if l := live.Tokens; len(l) != 2 || l[0].Traction.Score < l[1].Traction.Score || !slices.Equal(slices.Sorted(slices.Values([]string{l[0].Mint, l[1].Mint})), slices.Sorted(slices.Values([]string{dog, pup}))) {
		t.Errorf("live: %+v", l)
	}
	prices := ask[contract.TokenPrices](t, h, "/api/market/token-prices?mints="+dog+",gapped:"+pup)
	if p := prices.Prices; len(prices.Missing) > 0 || *p[dog].Pair != pool || *p["gapped:"+pup].Pair != curve {
		t.Errorf("prices: %+v", prices)
	}
	if m := ask[contract.Majors](t, h, "/api/majors").Majors; len(m) != 1 || m[0].Mint != gappedCoin.String() || m[0].Price == nil || *m[0].Price != 1 {
		t.Errorf("majors: %+v", m)
	}
	for _, q := range []string{dog, pool, "gapped:" + dog} {
		found := ask[contract.DexSearch](t, h, "/api/dexscreener/search?q="+q).Pairs
		if len(found) != 1 || found[0].PairAddress != pool || found[0].BaseToken.Address != dog || found[0].QuoteToken.Address != gappedUSD.String() {
			t.Errorf("search for %s: %+v", q, found)
		}
	}
	for mint, pair := range map[string]string{dog: pool, pup: curve} {
		// Without a chain Solana is meant there, as it is by each text of its family.
		if info := ask[contract.TokenInfo](t, h, "/api/token/info/"+mint); info.Mint != mint || info.Chain != "gapped" || *info.Pair != pair {
			t.Errorf("token: %+v", info)
		}
		want := swaps
		if mint == pup {
			want = curveTrades
		}
		for _, path := range []string{"/api/chart/" + mint, "/api/chart/gapped:" + mint, "/api/token/" + mint + "/candles?chain=gapped"} {
			n := 0
			series := ask[contract.CandleSeries](t, h, path)
			for _, c := range series.Candles {
				n += c.N
			}
			if n != want || series.Mint != mint || *series.Pair != pair {
				t.Errorf("%s: %d trades of %s in %s, want %d", path, n, series.Mint, *series.Pair, want)
			}
		}
		if r := ask[contract.TrustReport](t, h, "/api/token/"+mint+"/trust"); r.Mint != mint || r.Chain != "gapped" || r.Status != contract.TrustReportStatusChecked {
			t.Errorf("trust: %+v", r)
		}
		if page := ask[[]byte](t, h, "/t/"+mint); !bytes.Contains(page, []byte(mint)) {
			t.Errorf("the page of %s doesn't name it", mint)
		}
		ask[[]byte](t, h, "/api/pnl-card/token/"+mint+".png")
	}
	board := ask[contract.LaunchBoard](t, h, "/api/launch/launches?chain=gapped&launchpad=pad&sort=new").Launches
	if len(board) != 1 || board[0].Mint != pup || board[0].Holders == nil || *board[0].Holders != holders {
		t.Errorf("board: %+v, want %d holders", board, holders)
	}
	if b := board[0]; b.HoldersExcluded != nil || b.FigureSources["holders"] != "rpc_accounts" {
		t.Errorf("the holders exclude %v, from %s", b.HoldersExcluded, b.FigureSources["holders"])
	}
	launched := ask[contract.LaunchedToken](t, h, "/api/launch/token/"+pup)
	if launched.Creator.Address != gappedTrader(0).String() || launched.Curve.RaisedNative != strconv.FormatUint(raised, 10) {
		t.Errorf("launch: %+v, want %d raised", launched, raised)
	}
	ask[[]byte](t, h, "/api/pnl-card/launch/"+pup+".png")
	drawn.cards = nil
	wallet := gappedTrader(1).String()
	ask[[]byte](t, h, "/api/pnl-card/trader/"+wallet+".png")
	if len(drawn.cards) != 1 {
		t.Errorf("%d cards drawn of a wallet", len(drawn.cards))
	} else if c, ok := drawn.cards[0].(*sharecard.Trader); !ok || c.Wallet != wallet || !slices.Equal(c.Chains, []string{"Gapped"}) || c.Week.RealisedUSD == nil {
		t.Errorf("the wallet's card is of %+v", drawn.cards[0])
	}
}
