package indexer_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// hostiles makes a contract of each hostile code, and a Uniswap V2 pair of each with the wrapped native coin.
func (w *testWorld) hostiles(t *testing.T) (contracts []string) {
	t.Helper()
	contracts, err := attack.HostileContracts(t.Context(), w.World, func(ctx context.Context) error { return w.node.Mine(ctx, 1, 2*time.Second) })
	if err != nil {
		t.Fatal(err)
	}
	return contracts
}

// hostile puts a contract at an address that runs code when it is asked something.
func (w *testWorld) hostile(t *testing.T, address, code string) {
	t.Helper()
	if err := attack.HostileContract(t.Context(), w.World, address, code); err != nil {
		t.Fatal(err)
	}
}

// provoke calls contracts in one block, each in a transaction of its own.
func (w *testWorld) provoke(t *testing.T, contracts []string) {
	t.Helper()
	sent, err := attack.Provoke(t.Context(), w.World, contracts)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.node.Mine(t.Context(), 1, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	for i, hash := range sent {
		var receipt struct {
			Status string
			Logs   []struct{}
		}
		if err := w.node.Call(t.Context(), &receipt, "eth_getTransactionReceipt", hash); err != nil || receipt.Status != "0x1" ||
			len(receipt.Logs) != 2 {
			t.Fatalf("the call of %s left %+v, %v", contracts[i], receipt, err)
		}
	}
}

// sampled is how far apart the blocks are of which the indexer asks tokens for balances and supplies.
const sampled = 32

// mineUntil mines empty blocks until the next one's number is one of those wanted.
func (w *testWorld) mineUntil(t *testing.T, wanted func(next uint64) bool) {
	t.Helper()
	for {
		latest, err := w.node.Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if wanted(latest.Number + 1) {
			return
		}
		if err := w.node.Mine(t.Context(), 1, 2*time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoContractKeepsABlockFromBeingCommitted: contracts of every kind of failure log what a pool and a token log, in
// blocks at the head, in blocks that are sampled, and in blocks that are read as the past. Each is asked about, and
// every block is indexed.
func TestNoContractKeepsABlockFromBeingCommitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	st := storetest.Open(t, "sqlite")
	stop := run(t, w.config(), st, 0)
	w.await(t, st)
	contracts := w.hostiles(t)
	w.provoke(t, contracts)
	w.await(t, st)
	w.mineUntil(t, func(next uint64) bool { return next%sampled == 0 })
	w.provoke(t, contracts)
	w.trade(t, 3)
	w.await(t, st)
	stop()

	facts, err := st.Facts.Between(t.Context(), "base", 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]int{}
	for _, f := range facts {
		switch f := f.Fact.(type) {
		case market.PoolFact:
			if asked[f.Pool.String()] |= 1; f.Known && slices.Contains(contracts, f.Pool.String()) {
				t.Errorf("%s counts as a pool", f.Pool)
			}
		case market.TokenFact:
			asked[f.Token.String()] |= 2
		}
	}
	for i, c := range contracts {
		if asked[c] != 3 {
			t.Errorf("a contract that %s was asked about %d of 3: as a pool (1), as a token (2)", attack.HostileCodes[i].Name, asked[c])
		}
	}
	w.compare(t, st, w.config())
}
