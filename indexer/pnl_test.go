package indexer_test

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// dealer is a wallet that trades, with what its own balances say of each trade: gas costs nothing here.
type dealer struct {
	*testWorld
	wallet string
	deals  []deal
}

type deal struct {
	token       string
	sell, sent  bool
	base, coins *big.Int
}

func (d *dealer) coins(t *testing.T) *big.Int {
	t.Helper()
	var out string
	if err := d.node.Call(t.Context(), &out, "eth_getBalance", d.wallet, "latest"); err != nil {
		t.Fatal(err)
	}
	v, ok := new(big.Int).SetString(strings.TrimPrefix(out, "0x"), 16)
	if !ok {
		t.Fatalf("a balance of %q", out)
	}
	return v
}

func (d *dealer) has(t *testing.T, token string) *big.Int {
	t.Helper()
	v, err := d.BalanceOf(t.Context(), token, d.wallet)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// deal trades and notes by how much the wallet's two balances changed.
func (d *dealer) deal(t *testing.T, token string, sell bool, trade func() (anvil.Receipt, error)) {
	t.Helper()
	base, coins := d.has(t, token), d.coins(t)
	if _, err := trade(); err != nil {
		t.Fatal(err)
	}
	base.Sub(d.has(t, token), base)
	coins.Sub(d.coins(t), coins)
	if base.Sign() == coins.Sign() || base.Sign() == 0 || (base.Sign() < 0) != sell {
		t.Fatalf("a trade of %s that changed its balance by %s and the coins by %s", token, base, coins)
	}
	d.deals = append(d.deals, deal{token: token, sell: sell, base: base.Abs(base), coins: coins.Abs(coins)})
}

func (d *dealer) swapBuy(t *testing.T, p world.Pool, token string, finney int64) {
	t.Helper()
	d.deal(t, token, false, func() (anvil.Receipt, error) {
		return world.SwapBuy(t.Context(), d.World, p, token, d.wallet, finneys(finney))
	})
}

// swapSell sells one in so many of what the wallet has.
func (d *dealer) swapSell(t *testing.T, p world.Pool, token string, part int64) {
	t.Helper()
	amount := d.has(t, token)
	amount.Div(amount, big.NewInt(part))
	d.deal(t, token, true, func() (anvil.Receipt, error) {
		return world.SwapSell(t.Context(), d.World, p, token, d.wallet, amount)
	})
}

func finneys(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e15)) }

// gift sends a token to the wallet: no trade, no basis.
func (d *dealer) gift(t *testing.T, token, from string, amount *big.Int) {
	t.Helper()
	before := d.has(t, token)
	d.transfer(t, token, from, d.wallet, amount)
	if got := d.has(t, token); new(big.Int).Sub(got, before).Cmp(amount) != 0 {
		t.Fatalf("of a gift of %s there arrived %s", amount, got.Sub(got, before))
	}
}

// send sends one in so many of what the wallet has away, and notes it.
func (d *dealer) send(t *testing.T, token, to string, part int64) {
	t.Helper()
	before := d.has(t, token)
	amount := new(big.Int).Div(before, big.NewInt(part))
	d.transfer(t, token, d.wallet, to, amount)
	if got := d.has(t, token); new(big.Int).Sub(before, got).Cmp(amount) != 0 || amount.Sign() == 0 {
		t.Fatalf("%s were sent of %s, and there are %s", amount, before, got)
	}
	d.deals = append(d.deals, deal{token: token, sent: true, base: amount})
}

func (d *dealer) transfer(t *testing.T, token, from, to string, amount *big.Int) {
	t.Helper()
	data := append(make([]byte, 0, 64), d.word(t, to)...)
	data = append(data, amount.FillBytes(make([]byte, 32))...)
	var hash string
	err := d.node.Call(t.Context(), &hash, "eth_sendTransaction", map[string]string{
		"from": from, "to": token, "data": selector("transfer(address,uint256)") + new(big.Int).SetBytes(append([]byte{1}, data...)).Text(16)[1:],
		"gasPrice": "0x0", "gas": "0x100000",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.node.Mine(t.Context(), 1, 2e9); err != nil {
		t.Fatal(err)
	}
}

func (d *dealer) word(t *testing.T, address string) []byte {
	t.Helper()
	a, err := market.ParseEVMAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	return append(make([]byte, 12), a.Bytes()...)
}

// pool is an honest pool of the wrapped coin and another plain token than the ones already taken.
func (d *dealer) pool(t *testing.T, protocol world.Protocol, taken ...string) (p world.Pool, token string) {
	t.Helper()
	return d.poolLike(t, world.Plain, protocol, taken...)
}

func (d *dealer) poolLike(t *testing.T, like world.Behaviour, protocol world.Protocol, taken ...string) (p world.Pool, token string) {
	t.Helper()
	for _, p := range d.Pools {
		for _, token := range []string{p.Token0, p.Token1} {
			known, ok := d.Token(token)
			if p.Protocol == protocol && p.Trap == "" && token != d.Wrapped && (p.Token0 == d.Wrapped || p.Token1 == d.Wrapped) && ok &&
				known.Behaviour == like && !slices.Contains(taken, token) {
				return p, token
			}
		}
	}
	t.Fatalf("no pool of %s", protocol)
	return p, ""
}

// TestProfitOfAWallet has a wallet buy and sell on a real chain, in two kinds of pools and in a curve, with a gift in between, and
// works out by hand, from the wallet's own balances, what it realised.
func TestProfitOfAWallet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20, venues.BoardwalkCurve)
	d := &dealer{testWorld: w, wallet: w.Spare[3]}
	friend := &dealer{testWorld: w, wallet: w.Spare[4]}
	cfg := w.config()
	const coinUSD = 2500
	cfg.Quotes[2].PegUSD = coinUSD // a coin's price that needs no chain
	first, a := d.pool(t, world.UniswapV2)
	second, b := d.pool(t, world.UniswapV3, a)
	launched := w.launch(t, w.Venues[0])

	d.swapBuy(t, first, a, 1000)
	d.swapBuy(t, second, b, 700)
	d.deal(t, launched.Token, false, func() (anvil.Receipt, error) {
		return launch.Buy(t.Context(), w.World, launched, d.wallet, finneys(100))
	})
	d.swapSell(t, first, a, 3)
	friend.swapBuy(t, second, b, 5000) // moves the price
	d.swapBuy(t, first, a, 400)
	d.gift(t, b, friend.wallet, new(big.Int).Div(friend.has(t, b), big.NewInt(7)))
	d.swapSell(t, second, b, 1)
	if _, err := launch.Buy(t.Context(), w.World, launched, w.Wallets[3], finneys(300)); err != nil {
		t.Fatal(err)
	}
	half := new(big.Int).Rsh(d.has(t, launched.Token), 1)
	d.deal(t, launched.Token, true, func() (anvil.Receipt, error) { return launch.Sell(t.Context(), w.World, launched, d.wallet, half) })
	d.swapSell(t, first, a, 1)

	for _, kind := range storetest.Both {
		st := storetest.Open(t, kind)
		stop := run(t, cfg, st, 0)
		w.await(t, st)
		stop()
		t.Run(kind, func(t *testing.T) {
			trades := d.trades(t, st, d.wallet)
			status, _, err := st.Chain(t.Context(), "base")
			if err != nil || len(trades) != len(d.deals) {
				t.Fatalf("%d trades of %d: %v", len(trades), len(d.deals), err)
			}
			var byHand hand
			ledger := pnl.NewLedger(pnl.Options{Now: status.Last.Time, Spans: []int64{pnl.Day, pnl.Week}, Points: 10})
			for i := range trades {
				e := pnl.TradeOf(trades[i].Chain, &trades[i].Trade)
				ledger.Add(&e)
				d.holdTrade(t, &trades[i], d.deals[i], coinUSD)
				byHand.take(d.deals[i], trades[i].NanoUSD)
			}
			for _, got := range ledger.Windows() {
				byHand.hold(t, &got)
			}
			d.holdEverybody(t, st)
		})
	}
}

func (d *dealer) trades(t *testing.T, st *store.Store, wallet string) (out []store.WalletTrade) {
	t.Helper()
	a, err := market.ParseEVMAddress(wallet)
	if err != nil {
		t.Fatal(err)
	}
	for trade, err := range st.Trades.OfWallet(t.Context(), a, []string{"base"}, pnl.TradeLimit) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, trade)
	}
	return out
}

// holdTrade holds what was indexed against what the wallet's balances did. The value is a product of float64s, rounded once.
func (d *dealer) holdTrade(t *testing.T, got *store.WalletTrade, want deal, coinUSD int64) {
	t.Helper()
	value := new(big.Rat).SetFrac(new(big.Int).Mul(want.coins, big.NewInt(coinUSD)), big.NewInt(1e9))
	off := value.Sub(value, new(big.Rat).SetInt64(got.NanoUSD))
	amount := got.Traded()
	if got.Base.String() != want.token || got.Sell != want.sell || amount.ToBig().Cmp(want.base) != 0 || got.Untrusted ||
		got.QuoteAmount.ToBig().Cmp(want.coins) != 0 || !got.HasUSD || off.Abs(off).Cmp(big.NewRat(501, 1000)) > 0 {
		t.Errorf("indexed is %+v\nthe wallet's balances say %+v", got, want)
	}
}

// hand is a small account book in fractions.
type hand struct {
	quantity, cost             map[string]*big.Rat
	realised, excluded, costs  big.Rat
	moved                      big.Rat
	sales, wins, losses, gifts int
	best                       *big.Rat
}

func (h *hand) take(d deal, nano int64) {
	if h.quantity == nil {
		h.quantity, h.cost = map[string]*big.Rat{}, map[string]*big.Rat{}
	}
	if h.quantity[d.token] == nil {
		h.quantity[d.token], h.cost[d.token] = new(big.Rat), new(big.Rat)
	}
	quantity, cost, amount, value := h.quantity[d.token], h.cost[d.token], new(big.Rat).SetInt(d.base), new(big.Rat).SetInt64(nano)
	if d.sent {
		spent := nearest(new(big.Rat).Mul(cost, new(big.Rat).Quo(amount, quantity)))
		quantity.Sub(quantity, amount)
		cost.Sub(cost, spent)
		h.moved.Add(&h.moved, spent)
		return
	}
	if !d.sell {
		quantity.Add(quantity, amount)
		cost.Add(cost, value)
		return
	}
	proceeds, sold := value, amount
	if amount.Cmp(quantity) > 0 {
		sold = new(big.Rat).Set(quantity)
		proceeds = nearest(new(big.Rat).Mul(value, new(big.Rat).Quo(sold, amount)))
		h.excluded.Add(&h.excluded, new(big.Rat).Sub(value, proceeds))
		h.gifts++
	}
	spent := nearest(new(big.Rat).Mul(cost, new(big.Rat).Quo(sold, quantity)))
	quantity.Sub(quantity, sold)
	cost.Sub(cost, spent)
	gain := new(big.Rat).Sub(proceeds, spent)
	h.realised.Add(&h.realised, gain)
	h.costs.Add(&h.costs, spent)
	h.sales++
	switch gain.Sign() {
	case 1:
		h.wins++
	case -1:
		h.losses++
	}
	if h.best == nil || gain.Cmp(h.best) > 0 {
		h.best = gain
	}
}

// nearest is the integer next to x; halves don't occur by chance among such numbers.
func nearest(x *big.Rat) *big.Rat {
	v, _ := new(big.Rat).SetString(x.FloatString(0))
	return v
}

func (h *hand) hold(t *testing.T, got *pnl.Window) {
	t.Helper()
	for what, pair := range map[string]struct {
		got  pnl.USD
		want *big.Rat
	}{
		"realised": {got.Realised(), &h.realised}, "excluded": {got.Excluded, &h.excluded}, "cost": {got.Cost, &h.costs},
		"the line's end": {got.Line[len(got.Line)-1], &h.realised},
	} {
		if new(big.Rat).SetInt(pair.got.Big()).Cmp(pair.want) != 0 {
			t.Errorf("%s: %s, by hand %s", what, pair.got.Big(), pair.want.FloatString(0))
		}
	}
	if h.gifts != 1 || h.excluded.Sign() <= 0 || h.wins == 0 || h.losses == 0 {
		t.Errorf("the story is too plain: %+v", h)
	}
	if got.Sales != h.sales || got.Wins != h.wins || got.Losses != h.losses || got.Unvalued != 0 {
		t.Errorf("%d sales, %d wins, %d losses; by hand %+v", got.Sales, got.Wins, got.Losses, h)
	}
	if got.Best == nil || new(big.Rat).SetInt(got.Best.Realised.Big()).Cmp(h.best) != 0 {
		t.Errorf("the best is %+v, by hand %s", got.Best, h.best.FloatString(0))
	}
}

// holdEverybody finds each wallet's trades among all trades of the chain.
func (d *dealer) holdEverybody(t *testing.T, st *store.Store) {
	t.Helper()
	all, err := st.Inspect.Trades(t.Context(), "base", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	of := map[market.Address][]market.Trade{}
	for _, trade := range all {
		trade.Funding = market.Funding{} // a wallet's trades are read without it
		of[trade.Trader] = append(of[trade.Trader], trade)
	}
	for wallet, want := range of {
		var got []market.Trade
		for _, trade := range d.trades(t, st, wallet.String()) {
			got = append(got, trade.Trade)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %d trades, not %d", wallet, len(got), len(want))
		}
	}
	for trade, err := range st.Trades.OfWallet(t.Context(), all[0].Trader, []string{"base"}, len(of[all[0].Trader])-1) {
		if !errors.Is(err, store.ErrTooManyTrades) {
			t.Errorf("one too many: %+v, %v", trade, err)
		}
	}
	nobody := market.EVMAddress([32]byte{31: 9})
	if traded, err := st.Inspect.WalletTraded(t.Context(), nobody, []string{"base"}); traded || err != nil || len(of) < 5 {
		t.Errorf("a stranger traded: %v, %v; %d wallets", traded, err, len(of))
	}
}
