package apiserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// traders writes blocks on base in which members trade.
type traders struct {
	st      *store.Store
	lease   *store.Lease
	last    market.Header
	numbers map[string]int64 // by wallet
	at      int64            // of the next block; unix seconds
}

// newTraders has ada, who shows her wallet, and grace, who keeps hers.
func newTraders(tb testing.TB, st *store.Store) *traders {
	tb.Helper()
	writeMembers(tb, st, 1, member.Record{ID: "u1", Handle: "ada", AvatarURL: "https://images.example/ada.png", JoinedAt: 1}, member.Record{ID: "u2", Handle: "Grace", JoinedAt: 1},
		ofMember(tb, "u1", adasWallet, true), ofMember(tb, "u2", gracesWallet, false))
	x := &traders{st: st, numbers: map[string]int64{}, last: market.Header{Number: 100, Hash: market.Hash{1}, Time: clock.Unix() - 2}, at: clock.Unix() - 1}
	for id, w := range map[string]string{"u1": adasWallet, "u2": gracesWallet} {
		m, _, err := st.Social.Registry.Member(tb.Context(), member.ID(id))
		if err != nil {
			tb.Fatal(err)
		}
		x.numbers[w] = int64(m.Number)
	}
	var err error
	if x.lease, err = st.Leases.Acquire(tb.Context(), "base", "test", time.Minute); err != nil {
		tb.Fatal(err)
	}
	return x
}

// trade is what a member trades: so many whole tokens for so many USD.
type trade struct {
	wallet, mint string
	sell         bool
	tokens       int64
	usd          float64
}

// block commits a block with trades, and with launches from when they have a value.
func (x *traders) block(tb testing.TB, trades []trade, launches ...string) {
	tb.Helper()
	next := market.Header{Number: x.last.Number + 1, Hash: market.Hash{byte(x.last.Number)}, Parent: x.last.Hash, Time: x.at}
	c := &store.Commit{
		Last: next, Blocks: []market.Header{next}, Undo: true, Horizon: 80,
		Head: store.HeadStatus{Number: next.Number, Time: next.Time, Safe: 90, Final: 80, FinalTime: next.Time - 60, SilentFrom: next.Time + 3600},
	}
	for wallet, number := range x.numbers { // as from the first block on
		a := address(tb, wallet)
		c.Changes.Watched = append(c.Changes.Watched, set(a, market.WatchedWallet{Wallet: a, Member: number}))
	}
	held := map[market.PositionKey]bool{}
	for i, tr := range trades {
		e := market.Entry{
			Wallet: address(tb, tr.wallet), Block: next.Number, Seq: uint32(i), Time: next.Time, Tx: txOf(byte(next.Number), byte(i)), Token: address(tb, tr.mint),
			Kind: market.Bought, Pool: address(tb, pairID), Amount: amount(fmt.Sprintf("%d000000000000000000", tr.tokens)), NanoUSD: int64(tr.usd * 1e9), HasUSD: true, Counts: true,
		}
		if tr.sell {
			e.Kind, e.Proceeds, e.Cost = market.Sold, market.NanoUSD(e.NanoUSD), market.NanoUSD(e.NanoUSD/2)
		} else if k := (market.PositionKey{Wallet: e.Wallet, Token: e.Token}); !held[k] {
			held[k] = true
			c.Changes.Positions = append(c.Changes.Positions, set(k, market.Position{Quantity: e.Amount, Cost: market.NanoUSD(e.NanoUSD), IsIn: true}))
		}
		c.Changes.Entries = append(c.Changes.Entries, e)
		c.Changes.Stream = append(c.Changes.Stream, market.StreamItem{
			Kind: market.StreamTrade, Token: e.Token, Time: e.Time,
			Trade: market.StreamTradeRef{Wallet: e.Wallet, Member: x.numbers[tr.wallet], Block: e.Block, Tx: e.Tx, Sell: e.Kind == market.Sold},
		})
	}
	for _, mint := range launches {
		c.Changes.Stream = append(c.Changes.Stream, market.StreamItem{Kind: market.StreamLaunch, Token: address(tb, mint), Time: next.Time})
	}
	if err := x.st.Commit(tb.Context(), x.lease, c); err != nil {
		tb.Fatal(err)
	}
	x.last = next
}

// feedItems reads a page of the feed, each item as a trade or a launch.
func feedItems(tb testing.TB, c *client, query string) (trades []contract.FeedTrade, launches []contract.FeedLaunch, next *string) {
	tb.Helper()
	page := get[contract.TradeFeed](tb, c, "/api/feed/trades?"+query)
	for _, raw := range page.Items {
		var kind struct{ Kind string }
		if err := json.Unmarshal(raw, &kind); err != nil {
			tb.Fatal(err)
		}
		if kind.Kind == "trade" {
			trades = append(trades, parse[contract.FeedTrade](tb, raw))
		} else {
			launches = append(launches, parse[contract.FeedLaunch](tb, raw))
		}
	}
	return trades, launches, page.NextBefore
}

func parse[T any](tb testing.TB, raw []byte) (v T) {
	tb.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

// idsOf reads ids from a page, newest first, of both kinds.
func idsOf(tb testing.TB, c *client, query string) (ids []int64, next *string) {
	tb.Helper()
	page := get[contract.TradeFeed](tb, c, "/api/feed/trades?"+query)
	for _, raw := range page.Items {
		ids = append(ids, parse[struct{ ID int64 }](tb, raw).ID)
	}
	return ids, page.NextBefore
}

// TestTradeFeed: trades of a public wallet have exact figures, trades of a private wallet have rounded ones.
func TestTradeFeed(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			x := newTraders(t, st)
			x.block(t, []trade{{adasWallet, token, false, 100, 123.456}, {gracesWallet, token, false, 10, 23.456}})
			x.block(t, []trade{{adasWallet, token, true, 50, 100}})
			o, begun := options(t, st), time.Now()
			o.Now = func() time.Time { return clock.Add(time.Since(begun)) }
			c := startWith(t, o)
			eventually(t, "the trades are told", func() bool { ids, _ := idsOf(t, c, "filter=new"); return len(ids) == 3 })
			trades, _, next := feedItems(t, c, "")
			if next != nil {
				t.Errorf("after all there is more: %s", *next)
			}
			sold, private, bought := trades[0], trades[1], trades[2]
			if bought.ID != 1 || bought.Handle != "ada" || *bought.AvatarURL != "https://images.example/ada.png" || bought.Side != "buy" || bought.AmountUSD != 123.456 ||
				bought.PriceUSD != 1.23456 || *bought.Tx != market.EVMTx(market.Hash{7, 101, 0}).String() || bought.Realised != nil || bought.At.Unix() != clock.Unix()-1 {
				t.Errorf("a purchase of who shows her wallet: %+v", bought)
			}
			if bought.Token.Mint != token || bought.Token.Chain != "base" || bought.Token.Symbol != hostile {
				t.Errorf("its token: %+v", bought.Token)
			}
			if *bought.Now.PriceUSD != 2 || *bought.Now.ChangeSincePct < 62 || *bought.Now.ChangeSincePct > 62.01 {
				t.Errorf("how it is going: %v, %v", *bought.Now.PriceUSD, *bought.Now.ChangeSincePct)
			}
			if *bought.OthersIn.Count != 1 || bought.OthersIn.Faces[0].Handle != "Grace" {
				t.Errorf("who else is in it: %+v", bought.OthersIn)
			}
			if sold.Side != "sell" || *sold.Realised.PnlUSD != 50 || *sold.Realised.PnlPct != 100 {
				t.Errorf("a sale: %+v, %+v", sold, sold.Realised)
			}
			// 2.3456 USD were paid for a token. The minute before closed at 1.2.
			if private.Handle != "Grace" || private.Tx != nil || private.AmountUSD != 23 || private.PriceUSD != 1.2 || private.At.Unix()%60 != 0 || *private.OthersIn.Count != 1 ||
				private.OthersIn.Faces[0].Handle != "ada" {
				t.Errorf("a purchase of who keeps hers: %+v", private)
			}

			x.at = clock.Unix() + 30
			x.block(t, nil)
			eventually(t, "the minute has ended, which closed at 1.3", func() bool {
				trades, _, _ := feedItems(t, c, "")
				return trades[1].PriceUSD == 1.3
			})

			// A member hides their wallet: their trades are then shown with rounded figures. They leave: their trades aren't shown any more.
			writeMembers(t, st, 2, ofMember(t, "u1", adasWallet, false))
			eventually(t, "ada hides her wallet", func() bool {
				trades, _, _ := feedItems(t, c, "filter=new")
				return len(trades) == 3 && trades[2].Tx == nil && trades[2].AmountUSD == 120 && trades[0].Realised.PnlUSD == nil && trades[0].Realised.PnlPct == nil
			})
			writeMembers(t, st, 3, member.Record{ID: "u1", Deleted: true})
			eventually(t, "ada is gone", func() bool {
				trades, _, _ := feedItems(t, c, "filter=new")
				return len(trades) == 1 && trades[0].Handle == "Grace" && *trades[0].OthersIn.Count == 0
			})
		})
	}
}

// tellRunning tells in the stream that launches on base pass the quality bar, as the members program does. at is unix seconds.
func tellRunning(t *testing.T, st *store.Store, at int64, mints ...string) {
	t.Helper()
	l, err := st.Social.Leases.Acquire(t.Context(), "test", time.Minute.Milliseconds())
	if err != nil {
		t.Fatal(err)
	}
	launches := make([]social.LaunchAt, len(mints))
	for i, m := range mints {
		launches[i] = social.LaunchAt{Chain: "base", Mint: address(t, m)}
	}
	if err := st.Social.Running.Tell(t.Context(), l, launches, at); err != nil {
		t.Fatal(err)
	}
}

// TestFeedOfLaunches: launches stand in the feed where they passed the quality bar for the first time, and stay when they no longer pass it, unless a critical check has failed.
func TestFeedOfLaunches(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			mintCoins(t, st, "base", 101, boardCoins()...)
			c := start(t, st)
			running := cards(t, c, "").Launches
			below := slices.IndexFunc(cards(t, c, "sort=new").Launches, func(l contract.LaunchCard) bool { return !l.GatePass })
			former := cards(t, c, "sort=new").Launches[below].Mint
			const at = 1_780_000_000
			tellRunning(t, st, at, running[0].Mint)
			tellRunning(t, st, at+1, former, unmet, running[1].Mint, running[2].Mint)
			told := func(c *client, query string) (mints []string, next *string) {
				_, launches, next := feedItems(t, c, query)
				for _, l := range launches {
					mints = append(mints, parse[contract.LaunchCard](t, l.Card).Mint)
				}
				return mints, next
			}
			want := []string{running[2].Mint, running[1].Mint, former, running[0].Mint}
			eventually(t, "the launches are in the feed", func() bool { mints, _ := told(c, "launches=1"); return slices.Equal(mints, want) })
			_, launches, _ := feedItems(t, c, "launches=1")
			if first := launches[3]; first.ID != 1 || first.At.Unix() != at || first.Kind != "launch" || launches[0].ID != 5 || launches[0].At.Unix() != at+1 {
				t.Errorf("the items are %+v", launches)
			}
			for _, query := range []string{"", "launches=0", "filter=new&launches=1", "launches=1&mint=" + running[0].Mint} {
				if mints, _ := told(c, query); mints != nil {
					t.Errorf("%q tells of launches: %v", query, mints)
				}
			}
			var paged []string
			for cursor := ""; ; {
				mints, next := told(c, "launches=1&limit=1"+cursor)
				if paged = append(paged, mints...); next == nil {
					break
				}
				cursor = "&before=" + *next
			}
			if !slices.Equal(paged, want) {
				t.Errorf("page by page it is %v; want %v", paged, want)
			}
			if since := get[contract.LiveSince](t, c, "/api/live/since?launch=0&trade=0&call=0"); len(since.Launches) != 0 || since.Cursor.Launch != 5 {
				t.Errorf("those who follow new launches get %d: at %d", len(since.Launches), since.Cursor.Launch)
			}
			l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if err := st.Trust.Save(t.Context(), l, []store.TrustRow{{Mint: address(t, running[1].Mint), CheckedAt: chainTime, Critical: true, Verdict: "danger", Report: []byte("{}")}}); err != nil {
				t.Fatal(err)
			}
			if mints, _ := told(start(t, st), "launches=1"); !slices.Equal(mints, []string{running[2].Mint, former, running[0].Mint}) {
				t.Errorf("after a critical check has failed it is %v", mints)
			}
		})
	}
}

// TestTradeFeedPages reads the feed item by item while more come and a reorg takes some away, and by each filter.
func TestTradeFeedPages(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			x := newTraders(t, st)
			other := "0x7000000000000000000000000000000000000001"
			x.block(t, []trade{{adasWallet, token, false, 1, 1.99}, {gracesWallet, other, false, 1, 2}, {adasWallet, token, true, 1, 999.999}, {adasWallet, other, false, 1, 1000}}, token)
			c := start(t, st)
			eventually(t, "the trades are told", func() bool { ids, _ := idsOf(t, c, "filter=new"); return len(ids) == 4 })
			for query, want := range map[string][]int64{
				"": {4, 3, 2}, "filter=new": {4, 3, 2, 1}, "filter=buys": {4, 2, 1}, "filter=sells": {3}, "filter=big": {4},
				"filter=new&mint=" + token: {3, 1}, "filter=new&mint=base:" + token: {3, 1}, "filter=new&mint=bsc:" + token: nil, "filter=new&mint=" + unmet: nil, "filter=new&mint=" + solMint: nil,
				"filter=new&launches=1": {4, 3, 2, 1}, "filter=new&before=" + "djF8NA": {3, 2, 1}, "filter=new&before=" + "djF8MQ": nil, "filter=new&before=djF8OTAwNzE5OTI1NDc0MDk5MQ": {4, 3, 2, 1},
			} {
				if ids, next := idsOf(t, c, query); !slices.Equal(ids, want) || next != nil {
					t.Errorf("%s: %v, %v; want %v and the end", query, ids, next, want)
				}
			}
			_, launches, _ := feedItems(t, c, "launches=1")
			if len(launches) != 0 {
				t.Errorf("a launch that never passed the quality bar is among the trades: %+v", launches[0].Card)
			}
			for _, before := range []string{"djF8LTE", "djF8OTAwNzE5OTI1NDc0MDk5Mg", "djF8MDE", "djJ8MQ", "MQ", "===", "djF8MQ==", "djF8K1E"} {
				res, body := c.do(t, http.MethodGet, "/api/feed/trades?before="+before, nil)
				if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "cursor-invalid") {
					t.Errorf("before=%s: %d %s", before, res.StatusCode, body)
				}
			}

			var seen []int64
			cursor := ""
			for step := 0; ; step++ {
				ids, next := idsOf(t, c, "filter=new&limit=1"+cursor)
				seen = append(seen, ids...)
				if next == nil {
					break
				}
				cursor = "&before=" + *next
				if step == 1 {
					x.block(t, []trade{{adasWallet, token, false, 1, 5}})
				}
			}
			if !slices.Equal(seen, []int64{4, 3, 2, 1}) {
				t.Errorf("page by page %v are seen", seen)
			}
			eventually(t, "the newest is told", func() bool { ids, _ := idsOf(t, c, "filter=new&limit=1"); return ids[0] == 6 })
			if _, err := st.Rewind(t.Context(), x.lease, 101); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is taken back", func() bool { ids, _ := idsOf(t, c, "filter=new&limit=1"); return ids[0] == 4 })
		})
	}
}

// TestLiveSince follows the stream from its head on.
func TestLiveSince(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			x := newTraders(t, st)
			c := start(t, st)
			if _, body := c.do(t, http.MethodGet, "/api/live/since?mints="+token, nil); string(body) != `{"cursor":{"call":0,"launch":0,"trade":0}}`+"\n" {
				t.Errorf("the first call: %s", body)
			}
			since := func(trade, launch int64, more string) contract.LiveSince {
				t.Helper()
				return get[contract.LiveSince](t, c, fmt.Sprintf("/api/live/since?trade=%d&launch=%d&call=0%s", trade, launch, more))
			}
			nothing := since(0, 0, "")
			if len(nothing.Trades)+len(nothing.Launches)+len(nothing.Calls)+len(nothing.Retracted.Trades) != 0 || nothing.Truncated != (contract.LiveFlags{}) || nothing.Reset != (contract.LiveFlags{}) {
				t.Errorf("nothing is new: %+v", nothing)
			}
			x.block(t, []trade{{adasWallet, token, false, 1, 5}, {gracesWallet, token, false, 1, 5}}, token)
			eventually(t, "they are told", func() bool { return len(since(0, 0, "").Trades) == 2 })
			all := since(0, 0, "&mints="+token+",bsc:"+token+","+unmet)
			if first := parse[contract.FeedTrade](t, all.Trades[0]); first.ID != 1 || first.Handle != "ada" {
				t.Errorf("the oldest comes first: %+v", first)
			}
			launch := parse[contract.FeedLaunch](t, all.Launches[0])
			if card := parse[contract.LaunchCard](t, launch.Card); launch.ID != 3 || card.Mint != token || card.Chain != "base" || len(all.Launches) != 1 {
				t.Errorf("the launch: %+v", launch)
			}
			if all.Cursor != (contract.LiveCursor{Trade: 3, Launch: 3, Call: 3}) || len(all.Prices) != 2 || *all.Prices[token].Price != 2 || !slices.Equal(all.Missing, []string{unmet}) {
				t.Errorf("cursors and prices: %+v", all)
			}
			if s := since(1, 3, ""); len(s.Trades) != 1 || len(s.Launches) != 0 {
				t.Errorf("from the second trade on: %+v", s)
			}
			if s := get[contract.LiveSince](t, c, "/api/live/since?launch=0"); len(s.Trades) != 0 || len(s.Launches) != 1 || s.Cursor.Trade != 3 {
				t.Errorf("without the cursor of trades: %+v", s)
			}
			if s := since(4, 5, ""); !s.Reset.Trade || !s.Reset.Launch || s.Reset.Call || s.Cursor.Trade != 3 || len(s.Trades) != 0 {
				t.Errorf("cursors ahead: %+v", s)
			}

			// A reorg: told to who had seen it, and of no concern to others.
			if _, err := st.Rewind(t.Context(), x.lease, 100); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is taken back", func() bool { return since(2, 3, "").Cursor.Trade == 6 })
			back := since(2, 3, "")
			if !slices.Equal(back.Retracted.Trades, []int64{1, 2}) || !slices.Equal(back.Retracted.Launches, []int64{3}) || len(back.Trades) != 0 {
				t.Errorf("after the reorg: %+v", back.Retracted)
			}
			if s := since(1, 0, ""); !slices.Equal(s.Retracted.Trades, []int64{1}) || len(s.Retracted.Launches) != 0 {
				t.Errorf("to who had seen one: %+v", s.Retracted)
			}

			x.last = market.Header{Number: 100, Hash: market.Hash{1}, Time: clock.Unix() - 2}
			many := make([]trade, 200)
			for i := range many {
				many[i] = trade{adasWallet, token, false, 1, 5}
			}
			x.block(t, many)
			eventually(t, "they are told", func() bool { return since(6, 6, "").Cursor.Trade == 206 })
			if s := since(6, 6, ""); len(s.Trades) != 200 || s.Truncated.Trade {
				t.Errorf("of 200 new trades %d are told, and more are said to be there: %v", len(s.Trades), s.Truncated.Trade)
			}
			x.block(t, many[:1])
			eventually(t, "one more is told", func() bool { return since(6, 6, "").Cursor.Trade == 207 })
			s := since(6, 6, "")
			if len(s.Trades) != 200 || !s.Truncated.Trade || s.Truncated.Launch || parse[contract.FeedTrade](t, s.Trades[0]).ID != 8 {
				t.Errorf("of 201 new trades %d are told, and more are said to be there: %v", len(s.Trades), s.Truncated.Trade)
			}
		})
	}
}

// TestLiveSinceAfterAFailover: the database loses a block that was told. Whoever saw it begins anew, and whoever follows as events is told so.
func TestLiveSinceAfterAFailover(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			st := storetest.OpenAt(t, dsn)
			fill(t, st)
			x := newTraders(t, st)
			x.block(t, []trade{{adasWallet, token, false, 1, 5}})
			before := *x
			restore := storetest.Snapshot(t, dsn)
			x.block(t, []trade{{adasWallet, token, false, 2, 5}})
			address := answering(t, st, func(o *apiserver.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
			since := func(trade int64) contract.LiveSince {
				t.Helper()
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://%s/api/live/since?trade=%d", address, trade), nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("X-Forwarded-For", stranger()) // one client may not ask as often as it takes on a busy machine
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = res.Body.Close() }()
				body, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != http.StatusOK {
					t.Fatal(res.StatusCode, string(body), err)
				}
				return parse[contract.LiveSince](t, body)
			}
			eventually(t, "both are told", func() bool { return since(0).Cursor.Trade == 2 })
			live := follow(t, address, "?trade=0", nil)
			live.news(t, func(e contract.LiveSince) bool { return len(e.Trades) == 2 })
			restore()
			lease, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if err := st.Leases.SkipNumbers(t.Context(), lease, x.lease); err != nil {
				t.Fatal(err)
			}
			before.lease = lease
			before.block(t, []trade{{adasWallet, token, false, 2, 5}})
			eventually(t, "the block is told anew", func() bool { return since(2).Cursor.Trade == 4 })
			if s := since(2); !s.Reset.Trade || len(s.Trades) != 0 {
				t.Errorf("to who saw what was lost: %+v", s)
			}
			if s := since(3); s.Reset.Trade || len(s.Trades) != 1 {
				t.Errorf("to who has begun anew: %+v", s)
			}
			live.news(t, func(e contract.LiveSince) bool { return e.Reset.Trade })
		})
	}
}

// TestAServerThatIsBehind asks one that has seen less than another one has told: it skips nothing, and calls no cursor wrong.
func TestAServerThatIsBehind(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			x := newTraders(t, st)
			x.block(t, []trade{{adasWallet, token, false, 1, 5}, {adasWallet, token, true, 1, 5}})
			late, err := apiserver.New(options(t, st))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				late.Refresh(ctx)
			}()
			behind := &client{late.Handler()}
			eventually(t, "it has seen the first trades", func() bool { return late.Ready(t.Context()) == nil })
			eventually(t, "it tells them", func() bool { ids, _ := idsOf(t, behind, "filter=new"); return len(ids) == 2 })
			cancel()
			<-done // from here on it sees nothing new

			x.block(t, []trade{{adasWallet, token, false, 2, 5}, {adasWallet, token, true, 2, 5}}, token)
			ahead := start(t, st)
			eventually(t, "the other one tells more", func() bool { ids, _ := idsOf(t, ahead, "filter=new"); return len(ids) == 4 })
			ids, next := idsOf(t, ahead, "filter=new&limit=1")
			if more, _ := idsOf(t, behind, "filter=new&before="+*next); !slices.Equal(append(ids, more...), []int64{4, 3, 2, 1}) {
				t.Errorf("over both servers %v and %v are told", ids, more)
			}
			s := get[contract.LiveSince](t, behind, "/api/live/since?trade=5&launch=5&call=5")
			if s.Reset != (contract.LiveFlags{}) || s.Cursor != (contract.LiveCursor{Trade: 5, Launch: 5, Call: 5}) || len(s.Trades) != 0 {
				t.Errorf("what is new since the other's cursors: %+v", s)
			}
			if s := get[contract.LiveSince](t, behind, "/api/live/since?trade=6"); !s.Reset.Trade {
				t.Errorf("since a cursor that nobody gave: %+v", s)
			}
		})
	}
}
