package indexer_test

import (
	"math/big"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestProfitOfTaxedTokensAndTransfers has a wallet trade a token that takes a part of every transfer and one that takes 40 % of every
// sale, and a plain one, and send half of each away in between. What it realised by its own balances is what the index says, to
// the unit.
func TestProfitOfTaxedTokensAndTransfers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	d := &dealer{testWorld: w, wallet: w.Spare[3]}
	cfg := w.config()
	const coinUSD = 2500
	cfg.Quotes[2].PegUSD = coinUSD
	tolled, toll := d.poolLike(t, world.FeeOnTransfer, world.UniswapV2)
	plain, dog := d.pool(t, world.UniswapV3)
	taxed, err := attack.HostilePool(t.Context(), w.World, attack.TrickSellTax, w.Spare[0], finneys(20_000))
	if err != nil {
		t.Fatal(err)
	}

	d.swapBuy(t, tolled, toll, 50)
	d.swapBuy(t, taxed.Pool, taxed.Token, 1000)
	d.swapBuy(t, plain, dog, 300)
	d.send(t, taxed.Token, w.Spare[4], 2)
	d.send(t, toll, w.Spare[4], 2)
	d.send(t, dog, w.Spare[4], 2)
	d.swapSell(t, taxed.Pool, taxed.Token, 3)
	d.swapBuy(t, tolled, toll, 20)
	d.swapSell(t, plain, dog, 1)
	d.swapSell(t, tolled, toll, 1)
	d.swapSell(t, taxed.Pool, taxed.Token, 1)

	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			st := storetest.Open(t, kind)
			stop := run(t, cfg, st, 0)
			w.await(t, st)
			stop()
			status, _, err := st.Chain(t.Context(), "base")
			if err != nil {
				t.Fatal(err)
			}
			trades := d.trades(t, st, d.wallet)
			ledger := pnl.NewLedger(pnl.Options{Now: status.Last.Time, Spans: []int64{pnl.Day}, Points: 10})
			var byHand hand
			n := 0
			for _, deal := range d.deals {
				nano := int64(0)
				if !deal.sent {
					if n == len(trades) {
						t.Fatalf("%d trades of %d deals", n, len(d.deals))
					}
					e := pnl.TradeOf(trades[n].Chain, &trades[n].Trade)
					ledger.Add(&e)
					d.holdTrade(t, &trades[n], deal, coinUSD)
					nano = trades[n].NanoUSD
					n++
				}
				byHand.take(deal, nano)
			}
			got := ledger.Windows()[0]
			for what, pair := range map[string]struct {
				got  pnl.USD
				want *big.Rat
			}{
				"realised": {got.Realised(), &byHand.realised}, "cost": {got.Cost, &byHand.costs}, "sent away": {got.MovedOut, &byHand.moved},
				"excluded": {got.Excluded, new(big.Rat)},
			} {
				if new(big.Rat).SetInt(pair.got.Big()).Cmp(pair.want) != 0 {
					t.Errorf("%s: %s, by hand %s", what, pair.got.Big(), pair.want.FloatString(0))
				}
			}
			// Of what was sold of the taxed token, two fifths brought nothing; of all that was bought, half was sent away.
			if byHand.realised.Sign() >= 0 || byHand.moved.Sign() <= 0 || got.Losses == 0 || got.Losses != byHand.losses || !got.MovesAway() {
				t.Errorf("the story is too plain: %+v, by hand %+v", got, byHand)
			}
		})
	}
}
