package apiserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// The wallets of the members of these tests.
const (
	adasWallet   = "0xad00000000000000000000000000000000000001"
	adasSecond   = "0xad00000000000000000000000000000000000002"
	gracesWallet = "0xad00000000000000000000000000000000000003"
	evesWallet   = "0xad00000000000000000000000000000000000004"
)

func ofMember(tb testing.TB, id, wallet string, public bool) member.Record {
	tb.Helper()
	return member.Record{ID: member.ID(id), Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: address(tb, wallet), Public: public, Since: 1}}
}

// withProfit has three members in the test's world: ada shows her wallets, grace keeps hers, and eve has moved hers away. All of it is an hour old.
func withProfit(t *testing.T, st *store.Store) {
	t.Helper()
	writeMembers(t, st, 1, member.Record{ID: "u1", Handle: "ada", JoinedAt: 1}, member.Record{ID: "u2", Handle: "Grace", AvatarURL: "https://images.example/grace.png", JoinedAt: 1},
		member.Record{ID: "u3", Handle: "eve", JoinedAt: 1}, ofMember(t, "u1", adasWallet, true), ofMember(t, "u1", adasSecond, true),
		ofMember(t, "u2", gracesWallet, false), ofMember(t, "u3", evesWallet, true))
	numbers := map[string]int64{}
	for id, wallets := range map[string][]string{"u1": {adasWallet, adasSecond}, "u2": {gracesWallet}, "u3": {evesWallet}} {
		m, _, err := st.Social.Registry.Member(t.Context(), member.ID(id))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range wallets {
			numbers[w] = int64(m.Number)
		}
	}
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	next := market.Header{Number: 101, Hash: market.Hash{2}, Parent: market.Hash{1}, Time: clock.Unix()}
	c := &store.Commit{
		Last: next, Blocks: []market.Header{next}, Head: store.HeadStatus{Number: 101, Time: next.Time, Safe: 90, Final: 80, FinalTime: next.Time - 60, SilentFrom: next.Time + 3600},
	}
	open := clock.Unix() - clock.Unix()%3600 - 3600
	earn := func(wallet, mint string, cost, proceeds, moved float64, isIn bool) {
		a, m := address(t, wallet), address(t, mint)
		nano := func(v float64) market.USD { return market.NanoUSD(int64(v * 1e9)) }
		at := open
		if wallet == gracesWallet {
			at -= 3600 // nobody else sold anything then
		}
		h := market.WalletHour{
			HourKey: market.HourKey{Wallet: a, Member: numbers[wallet], Open: at},
			Profit:  market.Profit{Cost: nano(cost), Proceeds: nano(proceeds), Volume: nano(cost + proceeds), MovedOut: nano(moved), Trades: 2, WithoutGas: 2, Sales: 1, Wins: 1},
			Best:    market.BestSale{Token: m, At: open + 10, Gain: nano(proceeds - cost)},
		}
		c.Changes.Hours = append(c.Changes.Hours, set(h.HourKey, h))
		c.Changes.Watched = append(c.Changes.Watched, set(a, market.WatchedWallet{Wallet: a, Member: numbers[wallet], Since: 1}))
		k := market.PositionKey{Wallet: a, Token: m}
		c.Changes.Positions = append(c.Changes.Positions, set(k, market.Position{Quantity: amount("5"), Cost: nano(1), IsIn: isIn}))
	}
	earn(adasWallet, token, 100, 150.75, 0, true)
	earn(adasSecond, token, 10, 30, 0, true)
	earn(gracesWallet, token, 1_000, 1_234.567, 0, true)
	earn(evesWallet, token, 10, 1_000_000, 300_000, false)
	if err := st.Commit(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
}

// TestLeaderboard: members are ranked by what they realised; who keeps a wallet private has rounded amounts, and who has left or moved theirs away isn't
// on it.
func TestLeaderboard(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := withoutMembers(t, kind)
			withProfit(t, st)
			c := start(t, st)
			eventually(t, "the members are known", func() bool { return len(get[contract.Leaderboard](t, c, "/api/leaderboard?limit=9").Traders) > 0 })
			b := get[contract.Leaderboard](t, c, "/api/leaderboard")
			if len(b.Traders) != 2 || b.To != clock.Unix()-30 || b.From != b.To-86_400 || b.WindowS != 86_400 || b.Method != "wac-v1" || b.Currency != "usd" {
				t.Fatalf("%+v", b)
			}
			grace, ada := b.Traders[0], b.Traders[1]
			if grace.Handle != "Grace" || grace.Rank != 1 || grace.RealisedPnlUSD != 230 || grace.ProceedsUSD != 1200 || grace.CostUSD != 1000 || grace.Wallet != nil ||
				*grace.RealisedPnlPct != 23 || grace.Best.PnlUSD != 230 || *grace.AvatarURL != "https://images.example/grace.png" {
				t.Errorf("who keeps a wallet private: %+v", grace)
			}
			if ada.Handle != "ada" || ada.Rank != 2 || ada.RealisedPnlUSD != 70.75 || ada.Sells != 2 || ada.WinRatePct != 100 || *ada.Wallet != adasWallet ||
				ada.Best.PnlUSD != 50.75 || ada.Best.Chain != "base" || ada.Best.Mint != token || *ada.Best.Symbol != hostile || ada.GasUSD != nil {
				t.Errorf("who shows hers: %+v", ada)
			}
			if b := get[contract.Leaderboard](t, c, "/api/leaderboard?limit=1"); len(b.Traders) != 1 {
				t.Errorf("of one %d are listed", len(b.Traders))
			}
			if b := get[contract.Leaderboard](t, c, "/api/leaderboard?chain=bsc"); len(b.Traders) != 0 {
				t.Errorf("on the other chain: %+v", b.Traders)
			}
			if res, _ := c.do(t, http.MethodGet, "/api/leaderboard?chain=nowhere", nil); res.StatusCode != http.StatusBadRequest {
				t.Errorf("an unknown chain: %d", res.StatusCode)
			}
			o := options(t, st)
			o.Site.ProvedWalletsAlone = true // the platform alone vouches for all of them
			proved := startWith(t, o)
			eventually(t, "the members are known", func() bool {
				return get[contract.TokenFamily](t, proved, "/api/token/"+token+"/family?chain=base").Count != nil
			})
			if b := get[contract.Leaderboard](t, proved, "/api/leaderboard"); len(b.Traders) != 0 {
				t.Errorf("of proved wallets alone: %+v", b.Traders)
			}
			// A new handle, a hidden wallet and a member who left show at once, although the sums were made before.
			writeMembers(t, st, 2, member.Record{ID: "u1", Handle: "countess", JoinedAt: 1}, ofMember(t, "u1", adasWallet, false), member.Record{ID: "u2", Deleted: true})
			eventually(t, "the new name, and no wallet that isn't shown", func() bool {
				list := get[contract.Leaderboard](t, c, "/api/leaderboard").Traders
				return len(list) == 1 && list[0].Handle == "countess" && list[0].RealisedPnlUSD == 71 && *list[0].Wallet == adasSecond
			})
		})
	}
}

func TestMembersOfATokenAndProfitOverTime(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	c := start(t, st)
	target := "/api/live/members-in?mints=base:" + token + ",bsc:" + token + "," + unmet
	nobody := get[contract.MembersIn](t, c, target)
	if of := nobody.Tokens["base:"+token]; of.Count != nil || of.UnknownReasons["count"] != contract.UnknownReasonUnavailable || !slices.Equal(nobody.Missing, []string{unmet}) {
		t.Errorf("where nobody is a member: %+v", nobody)
	}
	if f := get[contract.TokenFamily](t, c, "/api/token/"+token+"/family?chain=base"); f.Count != nil || len(f.Holders) != 0 {
		t.Errorf("where nobody is a member: %+v", f)
	}
	withProfit(t, st)
	c = start(t, st) // the clock stands still: what the other has read stays
	eventually(t, "the members are known", func() bool {
		of := get[contract.MembersIn](t, c, target).Tokens["base:"+token]
		return of.Count != nil && *of.Count == 2
	})
	in := get[contract.MembersIn](t, c, target)
	faces := in.Tokens["base:"+token].Faces
	if len(faces) != 2 || faces[0].Handle != "ada" || faces[1].Handle != "Grace" || *in.Tokens["bsc:"+token].Count != 0 {
		t.Errorf("%+v", in)
	}
	if res, body := c.do(t, http.MethodGet, "/api/token/"+unmet+"/family", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("the family of a token that there isn't: %d %s", res.StatusCode, body)
	}
	f := get[contract.TokenFamily](t, c, "/api/token/"+token+"/family?chain=base&limit=1")
	if *f.Count != 2 || len(f.Holders) != 1 || f.Holders[0].Handle != "ada" || f.Chain != "base" {
		t.Errorf("%+v", f)
	}
	l := get[contract.LaunchedToken](t, c, "/api/launch/token/"+token+"?chain=base")
	if *l.Family.Count != 2 || !slices.Equal(l.Family.Handles, []string{"ada", "Grace"}) || *l.Members.Count != 2 {
		t.Errorf("the launched token has %+v and %+v", l.Family, l.Members)
	}
	for name, want := range map[string][2]int{"24h": {24, 3600}, "7d": {28, 6 * 3600}, "30d": {30, 86_400}, "90d": {90, 86_400}, "all": {1, 7 * 86_400}} {
		s := get[contract.ProfitSeries](t, c, "/api/leaderboard/series?range="+name)
		last := s.Points[len(s.Points)-1]
		sold := 0
		for _, p := range s.Points {
			sold += p.Traders
		}
		if len(s.Points) != want[0] || s.IntervalS != want[1] || last.CumulativeUSD != s.TotalUSD || s.TotalUSD < 1_000_000 || sold != 3 || last.Final || string(s.Range) != name {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s := get[contract.ProfitSeries](t, c, "/api/leaderboard/series"); s.Range != "7d" {
		t.Errorf("the usual range is %s", s.Range)
	}
}

// TestPrivateWalletsAreNotTold: nothing of the answers about members has a private wallet, or an amount by which it could be found.
func TestPrivateWalletsAreNotTold(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	withProfit(t, st)
	c := start(t, st)
	eventually(t, "the members are known", func() bool { return len(get[contract.Leaderboard](t, c, "/api/leaderboard").Traders) > 0 })
	seen := 0
	for _, target := range append(slices.Clone(operationTargets), "/api/leaderboard/series?range=24h") {
		res, body := c.do(t, http.MethodGet, target, nil)
		text := strings.ToLower(fmt.Sprint(res.Header) + string(body))
		if strings.Contains(text, "grace") {
			seen++
		}
		for _, private := range []string{gracesWallet[2:], "1234.56", "234.567", "\"u2\""} {
			if strings.Contains(text, private) {
				t.Errorf("%s says %s", target, private)
			}
		}
	}
	if seen < 3 {
		t.Errorf("she is in %d answers: the walk shows nothing", seen)
	}
}
