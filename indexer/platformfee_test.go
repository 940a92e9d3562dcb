package indexer_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestPlatformFee: what members paid is all that the recipient has, through reorgs and in a fresh index. The platform's router is a contract on a real EVM, which
// knows nothing of the index.
func TestPlatformFee(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	w.trader.UsePlatform()
	cfg := w.config()
	st := storetest.Open(t, "sqlite")
	var records []member.Record
	for i, wallet := range w.Traders {
		id := fmt.Sprint("u", i)
		records = append(records, joins(id, 1), has(id, wallet))
	}
	enrol(t, st, 1_000, records...)
	stop := run(t, cfg, st, 0)
	w.trade(t, 20)
	w.await(t, st)
	w.holdFees(t, st)
	if err := w.node.Reorg(t.Context(), 6); err != nil {
		t.Fatal(err)
	}
	w.truths = nil
	w.trade(t, 20)
	w.await(t, st)
	stop()
	w.holdFees(t, st)
	paid := map[string]bool{}
	for _, truth := range w.truths {
		if truth.Kind == traffic.SwapPlatform {
			paid[truth.TxHash] = true
		}
	}
	entries, err := st.Inspect.Entries(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	trades := 0
	for _, e := range entries {
		if !paid[e.Tx.String()] {
			continue
		}
		trades++
		// A fee in the coin stands beside what the rest bought: of 0.8 % of all it is 80/9,920 of the trade.
		of := e.Fee.Dollars() / (float64(e.NanoUSD) / 1e9)
		if e.Kind == market.Bought && (of < 0.00806 || of > 0.00807) || e.Kind == market.Sold && (of < 0.00799 || of > 0.00801) {
			t.Errorf("%v of its value is the fee of %+v", of, e)
		}
	}
	if len(paid) < 5 || trades < len(paid)-2 { // a reverted transaction pays nothing
		t.Errorf("%d trades of %d transactions", trades, len(paid))
	}
	fresh := storetest.Open(t, "sqlite")
	enrol(t, fresh, 1_000, records...)
	stop = run(t, cfg, fresh, 10)
	w.await(t, fresh)
	stop()
	if want, got := derivedRows(t, st)["wallet_fees"], derivedRows(t, fresh)["wallet_fees"]; !slices.Equal(want, got) {
		t.Errorf("a fresh index has %d fees, want %d", len(got), len(want))
	}
}

// holdFees holds the fees of the index against the balances of their recipient.
func (w *testWorld) holdFees(t *testing.T, st *store.Store) {
	t.Helper()
	fees, err := st.Inspect.Fees(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	sums := map[market.Address]*big.Int{}
	for _, f := range fees {
		if sums[f.Asset] == nil {
			sums[f.Asset] = new(big.Int)
		}
		sums[f.Asset].Add(sums[f.Asset], f.Amount.ToBig())
		if !f.AsDeclared || !f.HasUSD {
			t.Errorf("a fee is %+v", f)
		}
	}
	if len(sums) < 3 {
		t.Errorf("fees were paid in %d assets", len(sums))
	}
	for asset, sum := range sums {
		got := (&dealer{testWorld: w, wallet: world.FeeRecipient}).coins(t)
		if !asset.IsNative() {
			if got, err = w.BalanceOf(t.Context(), asset.String(), world.FeeRecipient); err != nil {
				t.Fatal(err)
			}
		}
		if got.Cmp(sum) != 0 {
			t.Errorf("of %s %s were paid, and the recipient has %s", asset, sum, got)
		}
	}
}
