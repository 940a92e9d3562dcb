package solana

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestBlocks: a made block is JSON whose trades tell of their own tokens and traders.
func TestBlocks(t *testing.T) {
	t.Parallel()
	chain, err := svm.Start(t.Context(), svm.Options{Slot: 1000, Time: time.Unix(1_790_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chain.Close() })
	b, err := begin(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	m := newBlockMaker(b, 100, 450)
	made := m.after(&b.blocks[len(b.blocks)-1], 450)
	var list []json.RawMessage
	if err := json.Unmarshal(append(append([]byte("["), bytes.Join(made.txs, []byte(","))...), ']'), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != votes+failed+others+450 {
		t.Errorf("%d transactions", len(list))
	}
	for i, raw := range list {
		if bytes.Contains(raw, []byte("@")) {
			t.Fatalf("transaction %d has a gap: %s", i, raw)
		}
	}
	d, err := decode.New(&chainconfig.Chain{ID: "solana", Venues: []chainconfig.Venue{{ID: "pump-fun", Protocol: chainconfig.PumpFun, Contracts: []market.Address{market.SolanaAddress(simnet.PumpFun)}}}})
	if err != nil {
		t.Fatal(err)
	}
	raw := fmt.Appendf(nil, `{"blockHeight":1,"blockTime":%d,"blockhash":%q,"parentSlot":%d,"previousBlockhash":%q,"transactions":[%s]}`, made.time, made.hash, made.parentSlot,
		made.parent, bytes.Join(made.txs, []byte(",")))
	parsed, err := d.ParseBlock(made.slot, raw)
	if err != nil {
		t.Fatal(err)
	}
	trades, balances := 0, 0
	for _, tx := range parsed.Txs {
		for _, l := range tx.Logs {
			switch e := l.Event.(type) {
			case market.CurveTrade:
				trades++
			case market.BalanceChange:
				if balances++; e.Change.Abs.IsZero() {
					t.Errorf("%+v", e)
				}
			}
		}
	}
	if trades != 450 || balances < 900 {
		t.Errorf("%d trades, %d changes of balances", trades, balances)
	}
}
