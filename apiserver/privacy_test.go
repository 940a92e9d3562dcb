package apiserver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// TestPrivateTradesHaveCandidates holds what the feed says of private trades against all trades of a busy token, as somebody would who looks for the wallet. Values are
// drawn from a log-normal distribution around 100 USD whose standard deviation is a factor of 4.5: that is assumed.
func TestPrivateTradesHaveCandidates(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	x := newTraders(t, st)
	const trades, private = 1_600, 100
	at := clock.Unix() - clock.Unix()%60
	next := market.Header{Number: 101, Hash: market.Hash{101}, Parent: x.last.Hash, Time: at + 20}
	c := &store.Commit{
		Last: next, Blocks: []market.Header{next}, Undo: true, Horizon: 80,
		Head: store.HeadStatus{Number: 101, Time: next.Time, Safe: 90, Final: 80, FinalTime: next.Time - 60, SilentFrom: next.Time + 3600},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range trades {
		nano := int64(100 * math.Exp(1.5*rng.NormFloat64()) * 1e9)
		tr := market.Trade{
			Block: 101, LogIndex: uint64(i), Time: at + 20, Tx: market.EVMTx(market.Hash{9, byte(i), byte(i >> 8)}), Pool: address(t, pairID), Base: address(t, token),
			Trader: address(t, fmt.Sprintf("0xbb%038x", i)), Sell: rng.IntN(2) == 0, BaseAmount: amount("1000000000000000000"), QuoteAmount: amount("1"), NanoUSD: nano, HasUSD: true,
		}
		if i%(trades/private) == 0 {
			tr.Trader = address(t, gracesWallet)
			e := market.Entry{
				Wallet: tr.Trader, Block: 101, Seq: uint32(i), Time: tr.Time, Tx: tr.Tx, Token: tr.Base, Kind: market.Bought, Pool: tr.Pool, LogIndex: tr.LogIndex,
				Amount: tr.BaseAmount, NanoUSD: nano, HasUSD: true, Counts: true,
			}
			if tr.Sell {
				e.Kind, e.Proceeds = market.Sold, market.NanoUSD(nano)
				e.Cost = market.NanoUSD(int64(float64(nano) / math.Exp(.6*rng.NormFloat64())))
			}
			c.Changes.Entries = append(c.Changes.Entries, e)
			c.Changes.Stream = append(c.Changes.Stream, market.StreamItem{
				Kind: market.StreamTrade, Token: e.Token, Time: e.Time, Trade: market.StreamTradeRef{Wallet: e.Wallet, Member: x.numbers[gracesWallet], Block: 101, Tx: e.Tx, Sell: tr.Sell},
			})
		}
		c.Changes.Trades = append(c.Changes.Trades, tr)
	}
	if err := st.Commit(t.Context(), x.lease, c); err != nil {
		t.Fatal(err)
	}
	client := start(t, st)
	eventually(t, "the trades are told", func() bool { ids, _ := idsOf(t, client, "filter=new&limit=100"); return len(ids) == private })
	told, _, _ := feedItems(t, client, "filter=new&limit=100")
	twoDigits := func(nano int64) float64 {
		v, err := strconv.ParseFloat(strconv.FormatFloat(float64(nano)/1e9, 'g', 2, 64), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var counts []int
	for _, item := range told {
		n := 0
		for i := range c.Changes.Trades {
			tr := &c.Changes.Trades[i]
			side := map[bool]contract.TradeSide{false: contract.TradeSideBuy, true: contract.TradeSideSell}[tr.Sell]
			if side == item.Side && tr.Time-tr.Time%60 == item.At.Unix() && twoDigits(tr.NanoUSD) == item.AmountUSD {
				n++
			}
		}
		if n == 0 {
			t.Fatalf("no trade is as the feed says: %+v", item)
		}
		counts = append(counts, n)
		if r := item.Realised; r != nil && (r.PnlUSD != nil || r.PnlPct != nil) { // by it most sales fit one wallet alone
			t.Errorf("a private sale tells what it realised: %+v", r)
		}
	}
	slices.Sort(counts)
	if median := counts[len(counts)/2]; median < 5 {
		t.Errorf("half of the private trades have %d candidates or fewer: %v", median, counts)
	}
	for _, item := range told[1:] {
		if item.PriceUSD != told[0].PriceUSD { // an exact price would name the trade
			t.Errorf("of one minute, prices are %v and %v", item.PriceUSD, told[0].PriceUSD)
		}
	}
}
