package apiserver_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// shownPicture is what an answer has of a token's picture: its address, or why there is none.
func shownPicture(image *string, why contract.UnknownReasons) string {
	if image != nil {
		return *image
	}
	return string(why["image_url"])
}

// TestPicturesOfTokensThatNobodyLaunched: a token with a URI of its own has a picture and links wherever a launch has, and says that they are awaited until they
// are fetched. One without a URI has none.
func TestPicturesOfTokensThatNobodyLaunched(t *testing.T) {
	t.Parallel()
	const pepe, plain, pool = "0x7000000000000000000000000000000000000002", "0x7000000000000000000000000000000000000001", "0x8000000000000000000000000000000000000002"
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			x := newTraders(t, st)
			c, _ := following(t, st)
			x.block(t, []trade{{adasWallet, pepe, false, 10, 20}, {adasWallet, plain, false, 10, 20}})
			h := market.Header{Number: x.last.Number + 1, Hash: market.Hash{77}, Parent: x.last.Hash, Time: x.at}
			commit := &store.Commit{
				Last: h, Blocks: []market.Header{h}, Undo: true, Horizon: 80,
				Head: store.HeadStatus{Number: h.Number, Time: h.Time, Safe: 90, Final: 80, FinalTime: h.Time - 60, SilentFrom: h.Time + 3600},
				Facts: []store.StoredFact{
					{Block: h.Number, Hash: h.Hash, Fact: market.TokenFact{Token: address(t, pepe), URI: "https://m.example/pepe.json"}},
					{Block: h.Number, Hash: h.Hash, Fact: market.TokenFact{Token: address(t, weth), URI: "https://m.example/weth.json"}},
				},
			}
			commit.Changes.Tokens = []market.Change[market.Address, market.Token]{set(address(t, weth), market.Token{
				Mint: address(t, weth), Name: "WETH", Symbol: "WETH", HasDecimals: true, Decimals: 18, HasSupply: true, Supply: amount("1000000000000000000000000"),
			})}
			commit.Changes.Pools = []market.Change[market.Address, market.Pool]{set(address(t, pool), market.Pool{
				ID: address(t, pool), Protocol: market.UniswapV2, Factory: address(t, native), Token0: address(t, pepe), Token1: address(t, weth), Base: address(t, pepe),
				Quote: address(t, weth), BaseIs0: true, Price: 0.001, Depth: 1, Locked: 3, LastTradeAt: h.Time, CreatedAt: clock.Unix() - 3600,
			})}
			commit.Changes.Trades = []market.Trade{{
				Block: h.Number, Time: h.Time, Pool: address(t, pool), Base: address(t, pepe), Trader: address(t, native), BaseAmount: amount("1000"), QuoteAmount: amount("2000"),
				NanoUSD: 5_000_000_000, HasUSD: true, CloseUSD: 2, CloseNative: 0.001,
			}}
			if err := st.Commit(t.Context(), x.lease, commit); err != nil {
				t.Fatal(err)
			}

			// Each way to ask for a token gives the picture in the answer. The picture is empty while the answer doesn't have the token.
			ways := map[string]func(mint string) string{
				"info": func(mint string) string {
					info := get[contract.TokenInfo](t, c, "/api/token/info/"+mint+"?chain=base")
					return shownPicture(info.ImageURL, info.UnknownReasons)
				},
				"live": func(mint string) string {
					live := get[contract.MarketLive](t, c, "/api/market/live")
					if i := slices.IndexFunc(live.Tokens, func(l contract.LiveToken) bool { return l.Mint == mint && l.Chain == "base" }); i >= 0 {
						return shownPicture(live.Tokens[i].ImageURL, live.Tokens[i].UnknownReasons)
					}
					return ""
				},
				"feed": func(mint string) string {
					trades, _, _ := feedItems(t, c, "")
					if i := slices.IndexFunc(trades, func(f contract.FeedTrade) bool { return f.Token.Mint == mint }); i >= 0 {
						return shownPicture(trades[i].Token.ImageURL, trades[i].Token.UnknownReasons)
					}
					return ""
				},
				"majors": func(mint string) string {
					majors := get[contract.Majors](t, c, "/api/majors")
					if i := slices.IndexFunc(majors.Majors, func(m contract.Major) bool { return m.Mint == mint && m.Chain == "base" }); i >= 0 {
						return shownPicture(majors.Majors[i].ImageURL, majors.Majors[i].UnknownReasons)
					}
					return ""
				},
			}
			wants := func(way, mint, want string) {
				t.Helper()
				got := ""
				defer func() {
					if t.Failed() {
						t.Logf("%s of %s has %q, want %q", way, mint, got, want)
					}
				}()
				eventually(t, way+" of "+mint+" has "+want, func() bool { got = ways[way](mint); return got == want })
			}
			const awaited, none = string(contract.UnknownReasonIndexing), string(contract.UnknownReasonUnavailable)
			for _, way := range []string{"info", "live", "feed"} {
				wants(way, pepe, awaited)
			}
			wants("majors", weth, awaited)
			wants("info", plain, none)
			wants("feed", plain, none)
			if links := get[contract.TokenInfo](t, c, "/api/token/info/"+pepe+"?chain=base").Links; links.UnknownReasons["x"] != contract.UnknownReasonIndexing {
				t.Errorf("links that are awaited are %+v", links)
			}

			jobs, err := st.Metadata.Due(t.Context(), "base", clock.Unix(), 9)
			of := func(mint string) *store.MetadataJob {
				i := slices.IndexFunc(jobs, func(j store.MetadataJob) bool { return j.Mint == address(t, mint) })
				if err != nil || i < 0 {
					t.Fatalf("due are %+v, %v", jobs, err)
				}
				return &jobs[i]
			}
			if err := st.Metadata.Save(t.Context(), x.lease, []store.TokenMetadata{
				{
					Mint: address(t, pepe), Job: of(pepe), ImageURL: "https://images.example/pepe.png", X: "https://x.com/pepe", Website: "https://pepe.example/", Image: []byte("a picture"),
					Status: store.MetadataFetched,
				},
				{Mint: address(t, weth), Job: of(weth), ImageURL: "https://images.example/weth.png", Status: store.MetadataFetched},
			}); err != nil {
				t.Fatal(err)
			}
			for _, way := range []string{"info", "live", "feed"} {
				wants(way, pepe, "https://images.example/pepe.png")
			}
			wants("majors", weth, "https://images.example/weth.png")
			wants("info", plain, none)
			info := get[contract.TokenInfo](t, c, "/api/token/info/"+pepe+"?chain=base")
			if info.Launch != nil || info.Links.X == nil || *info.Links.X != "https://x.com/pepe" || info.Links.UnknownReasons["telegram"] != contract.UnknownReasonUnavailable {
				t.Errorf("its info is %+v", info)
			}
			eventually(t, "search has its picture and links", func() bool {
				pairs := get[contract.DexSearch](t, c, "/api/dexscreener/search?q="+pepe).Pairs
				i := slices.IndexFunc(pairs, func(p contract.DexPair) bool { return p.ChainID == "base" })
				return i >= 0 && pairs[i].Info != nil && *pairs[i].Info.ImageURL == "https://images.example/pepe.png" && (*pairs[i].Info.Websites)[0].URL == "https://pepe.example/"
			})

			// It is there as well for a server that begins now, and in what is drawn.
			c, e, _ := drawing(t, st)
			if res, _ := c.do(t, http.MethodGet, "/api/pnl-card/token/"+pepe+".png?chain=base", nil); res.StatusCode != http.StatusOK {
				t.Errorf("the card answers %d", res.StatusCode)
			}
			if drawn := last[*sharecard.Token](t, e); string(drawn.Picture) != "a picture" {
				t.Errorf("what is drawn is %+v", drawn)
			}
			eventually(t, "it is in the list of a new server", func() bool {
				live := get[contract.MarketLive](t, c, "/api/market/live")
				return slices.ContainsFunc(live.Tokens, func(l contract.LiveToken) bool {
					return l.Mint == pepe && l.Chain == "base" && l.ImageURL != nil && *l.ImageURL == "https://images.example/pepe.png"
				})
			})
		})
	}
}
