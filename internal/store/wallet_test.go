package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// wallets are trades of three wallets on three chains, some in a pool that is not trusted.
type wallets struct {
	*store.Store
	leases map[string]*store.Lease
	made   []store.WalletTrade
}

const walletBlocks = 4

func newWallets(t *testing.T, kind string) *wallets {
	t.Helper()
	w := &wallets{Store: storetest.Open(t, kind), leases: map[string]*store.Lease{}}
	for _, chain := range []string{"base", "bsc", "robinhood"} {
		l, err := w.Leases.Acquire(t.Context(), chain, "test", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		w.leases[chain] = l
		for n := 1; n <= walletBlocks; n++ {
			w.block(t, chain, n)
		}
	}
	return w
}

func (w *wallets) block(t *testing.T, chain string, n int) {
	t.Helper()
	c := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}, Undo: true}
	if n == 1 {
		for i, untrusted := range []market.UntrustedReason{market.Trusted, market.UntrustedHook} {
			c.Changes.Pools = append(c.Changes.Pools, market.Change[market.Address, market.Pool]{Key: poolID(i), After: &market.Pool{
				ID: poolID(i), Factory: address(8), Token0: address(1), Token1: address(9), Base: address(1), Quote: address(9), Untrusted: untrusted,
			}})
		}
	}
	for i := range 6 {
		trade := market.Trade{
			Block: uint64(n), LogIndex: uint64(i), Time: header(n).Time, Tx: market.EVMTx(hash(10*n + i)), Pool: poolID(i / 3 % 2), Base: address(1),
			Trader: address(50 + i%3), Sell: i%2 == 1, BaseAmount: huge(uint64(n)), QuoteAmount: amount(uint64(i)), CloseUSD: 0.5, CloseNative: 0.25,
		}
		if i != 3 {
			trade.NanoUSD, trade.HasUSD = int64(100*n+i), true
		}
		switch i {
		case 1:
			trade.TraderAmount = amount(uint64(n))
		case 2:
			trade.TraderBefore, trade.HasTraderBefore = huge(uint64(n)), true
		case 4:
			trade.TraderAmount, trade.HasTraderBefore = huge(uint64(n)), true // there was nothing before
		}
		c.Changes.Trades = append(c.Changes.Trades, trade)
		w.made = append(w.made, store.WalletTrade{Chain: chain, Trade: trade, Untrusted: i >= 3})
	}
	if err := w.Commit(t.Context(), w.leases[chain], c); err != nil {
		t.Fatal(err)
	}
}

func (w *wallets) want(wallet market.Address, chains ...string) (out []store.WalletTrade) {
	for _, m := range w.made {
		if m.Trader == wallet && slices.Contains(chains, m.Chain) {
			out = append(out, m)
		}
	}
	return out
}

func (w *wallets) read(ctx context.Context, wallet market.Address, limit int, chains ...string) (out []store.WalletTrade, err error) {
	for trade, err := range w.Trades.OfWallet(ctx, wallet, chains, limit) {
		if err != nil {
			return out, err
		}
		out = append(out, trade)
	}
	return out, nil
}

// TestWalletTrades reads a wallet's trades on some of the chains, in order and to the last column.
func TestWalletTrades(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWallets(t, kind)
			const each = 2 * walletBlocks
			for _, chains := range [][]string{{"base"}, {"robinhood", "base"}, {"base", "bsc", "robinhood", "solana"}, {"solana"}, nil} {
				for wallet := 49; wallet <= 53; wallet++ {
					want := w.want(address(wallet), chains...)
					got, err := w.read(t.Context(), address(wallet), 3*each, chains...)
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("wallet %d on %v: %v\n%+v\nwant\n%+v", wallet, chains, err, got, want)
					}
					traded, err := w.Inspect.WalletTraded(t.Context(), address(wallet), chains)
					if err != nil || traded != (len(want) > 0) {
						t.Errorf("wallet %d traded on %v: %v, %v", wallet, chains, traded, err)
					}
				}
			}
			if got, err := w.read(t.Context(), address(50), 2*each, "base", "bsc"); len(got) != 2*each || err != nil {
				t.Errorf("as many as the limit: %d trades, %v", len(got), err)
			}
			if got, err := w.read(t.Context(), address(50), 2*each-1, "base", "bsc"); len(got) > 0 || !errors.Is(err, store.ErrTooManyTrades) {
				t.Errorf("one more than the limit: %d trades, %v", len(got), err)
			}
			if _, err := w.Rewind(t.Context(), w.leases["base"], walletBlocks-1); err != nil {
				t.Fatal(err)
			}
			want := w.want(address(51), "base")
			if got, err := w.read(t.Context(), address(51), 3*each, "base"); err != nil || !slices.Equal(got, want[:each-2]) {
				t.Errorf("after a reorg: %+v, %v", got, err)
			}
		})
	}
}

// TestWalletTradesCanBeLeft stops in the middle more often than there are connections, and by the context.
func TestWalletTradesCanBeLeft(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWallets(t, kind)
			for range 100 {
				for _, err := range w.Trades.OfWallet(t.Context(), address(50), []string{"base", "bsc"}, 100) {
					if err != nil {
						t.Fatal(err)
					}
					break
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if got, err := w.read(ctx, address(50), 100, "base"); len(got) > 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %d trades, %v", len(got), err)
			}
			if _, err := w.Inspect.WalletTraded(ctx, address(50), []string{"base"}); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
		})
	}
}

// TestTradesOfNobody: trades that are nobody's can be written, few at a time or many, and are read as such.
func TestTradesOfNobody(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWallets(t, kind)
			var want []market.Trade
			for n, trades := range []int{1, 1000} {
				number := walletBlocks + 1 + n
				c := &store.Commit{Last: header(number), Blocks: []market.Header{header(number)}, Undo: true}
				for i := range trades {
					c.Changes.Trades = append(c.Changes.Trades, market.Trade{
						Block: uint64(number), LogIndex: uint64(i), Time: header(number).Time, Tx: market.EVMTx(hash(number)), Pool: poolID(0), Base: address(1),
						BaseAmount: amount(1), QuoteAmount: amount(1), NanoUSD: 1, HasUSD: true,
					})
				}
				want = append(want, c.Changes.Trades...)
				if err := w.Commit(t.Context(), w.leases["base"], c); err != nil {
					t.Fatal(err)
				}
			}
			got, err := w.Inspect.Trades(t.Context(), "base", walletBlocks+1, 0)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v: %d trades, want %d with nobody as trader", err, len(got), len(want))
			}
		})
	}
}
