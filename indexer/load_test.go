package indexer

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestALargeMergesBalancesBeat loads the balances of a large token, and wants a beat of the loop after each piece.
func TestALargeMergesBalancesBeat(t *testing.T) {
	t.Parallel()
	const balances = 5*balancesAtOnce + 1
	var beats int
	ix := &Indexer{rows: newIndexID("base"), store: storetest.Open(t, "sqlite"), state: derive.NewState(market.Beginning{})}
	ix.pulse.now = func() time.Time {
		beats++
		return time.Unix(1_700_000_000, 0)
	}
	w := market.Wanted{ExpireFrom: 1}
	token := market.EVMAddress([32]byte{31: 1})
	for i := range uint32(balances) {
		var account [32]byte
		binary.BigEndian.PutUint32(account[28:], i+1)
		w.Balances = append(w.Balances, market.BalanceKey{Token: token, Account: market.EVMAddress(account)})
	}
	if err := ix.load(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if beats != 6 {
		t.Errorf("%d beats in %d balances, want one for each %d", beats, balances, balancesAtOnce)
	}
}
