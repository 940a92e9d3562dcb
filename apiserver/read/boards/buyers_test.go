package boards

import (
	"fmt"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// buyersLedger has a launched token, and purchases of it by groups of wallets, each group paid by an account of its own.
type buyersLedger struct {
	*readtest.Ledger
	mint market.Address
	away bool
	*Launches
}

func newBuyersLedger(t *testing.T) *buyersLedger {
	t.Helper()
	l := &buyersLedger{Ledger: readtest.New(t), mint: markettest.Address("0xa000000000000000000000000000000000000001")}
	l.Launches = NewLaunches(l.Store, board.DefaultGate(), func() time.Time { return time.Unix(l.Now, 0) }, func() bool { return l.away })
	return l
}

// buy has groups of so many wallets buy, which one account paid each.
func (l *buyersLedger) buy(groups ...int) {
	l.Commit("base", func(ch *market.Changes) {
		l.Set(ch, "base", l.mint, 1, readtest.Launch{
			Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Progress: 40, Locked: 50, Volume: 20_000, Holders: 60, CreatedAt: l.Now,
		})
		for group, n := range groups {
			for i := range n {
				ch.Trades = append(ch.Trades, market.Trade{
					Block: l.Blocks["base"], LogIndex: uint64(100*group + i), Time: l.Now, Pool: market.CurveID(l.mint), Base: l.mint,
					Trader: markettest.Address(fmt.Sprintf("0xb1%038x", 100*group+i)), NanoUSD: 50_000_000_000, HasUSD: true, CloseUSD: 0.02,
					Funding: market.Funding{
						State: market.FundingSeen, Funder: markettest.Address(fmt.Sprintf("0xf1%038x", group)), At: l.Now - 60, Age: market.AgeNew, First: l.Now,
					},
				})
			}
		}
	})
}

// token is the ledger's token as it is now.
func (l *buyersLedger) token(t *testing.T) *figures.Token {
	t.Helper()
	found, err := figures.Read(t.Context(), l.Store, time.Unix(l.Now, 0), []market.Address{l.mint})
	if err != nil || len(found[l.mint]) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	return &found[l.mint][0]
}

// TestLargestClustersAreTold: three clusters of two wallets or more, and five wallets of each.
func TestLargestClustersAreTold(t *testing.T) {
	t.Parallel()
	l := newBuyersLedger(t)
	l.buy(1, 2, 6, 5, 3)
	b, err := l.BuyersOf(t.Context(), l.token(t))
	if err != nil || !b.Traded || b.Buyers != 17 || b.Parts.Clusters != 5 || len(b.Largest) != 3 || len(b.ByCreator) != 0 || b.Newest != 0 || b.Block != l.Blocks["base"] {
		t.Fatalf("%+v, %v", b, err)
	}
	for i, want := range []struct{ group, wallets, shown int }{{2, 6, 5}, {3, 5, 5}, {4, 3, 3}} {
		c := b.Largest[i]
		if c.Funder != markettest.Address(fmt.Sprintf("0xf1%038x", want.group)) || c.Wallets != want.wallets || len(c.Shown) != want.shown || c.Share != float64(want.wallets)/17 {
			t.Errorf("cluster %d is %+v, want %+v", i, c, want)
		}
	}
}

// TestNewestTradesAreRead: of more trades than are read for a token the newest count, and what is told says so.
func TestNewestTradesAreRead(t *testing.T) {
	t.Parallel()
	l := newBuyersLedger(t)
	l.buy(4)
	token := l.token(t)
	for most, want := range map[int]struct{ buyers, newest int }{3: {3, 3}, 4: {4, 0}, 5: {4, 0}} {
		b, err := l.readBuyers(t.Context(), token, most)
		if err != nil || b.Buyers != want.buyers || b.Newest != want.newest {
			t.Errorf("of at most %d trades: %+v, %v", most, b, err)
		}
	}
}

// TestBuyersAreUsedAgain: for a minute, and longer while the database is away. Then trades that have left the window are forgotten.
func TestBuyersAreUsedAgain(t *testing.T) {
	t.Parallel()
	l := newBuyersLedger(t)
	l.buy(4)
	first, err := l.BuyersOf(t.Context(), l.token(t))
	if err != nil || first.Buyers != 4 {
		t.Fatalf("%+v, %v", first, err)
	}
	ask := func(after int64, same bool) *Buyers {
		t.Helper()
		l.Now += after
		b, err := l.BuyersOf(t.Context(), l.token(t))
		if err != nil || (b == first) != same {
			t.Errorf("%d s later: %+v, %v; the same: %v", after, b, err, b == first)
		}
		return b
	}
	ask(59, true)
	l.away = true
	ask(1, true)
	l.away = false
	first = ask(0, false)
	l.Now += traction.Window
	l.Commit("base", func(*market.Changes) {})
	if b := ask(0, false); b.Traded || b.Buyers != 0 {
		t.Errorf("after the window: %+v", b)
	}
}

// TestNobodyBuysWhatWasNotLaunched asks for the buyers of a token without a launch record.
func TestNobodyBuysWhatWasNotLaunched(t *testing.T) {
	t.Parallel()
	l := newBuyersLedger(t)
	l.buy(4)
	token := l.token(t)
	token.Launched = false
	if b, err := l.BuyersOf(t.Context(), token); b != nil || err != nil {
		t.Errorf("%+v, %v", b, err)
	}
}
