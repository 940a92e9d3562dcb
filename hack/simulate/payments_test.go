package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func evmAccount(t *testing.T, n int) market.Address {
	t.Helper()
	a, err := market.ParseEVMAddress(fmt.Sprintf("0x%040x", n))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPaymentsOfABlock reads a block as a node tells it: creations, payments of nothing and payments to oneself don't count.
func TestPaymentsOfABlock(t *testing.T) {
	t.Parallel()
	tx := func(from int, to string, value, nonce string) string {
		return fmt.Sprintf(`{"from":"0x%040x","to":%s,"value":%q,"nonce":%q}`, from, to, value, nonce)
	}
	to := func(n int) string { return fmt.Sprintf(`"0x%040x"`, n) }
	text := `{"hash":"0x01","timestamp":"0x64","transactions":[` + strings.Join([]string{
		tx(1, to(2), "0x5", "0x0"), tx(2, to(2), "0x5", "0x1"), tx(3, to(2), "0x0", "0x0"), tx(4, "null", "0x5", "0x2"),
	}, ",") + `]}`
	var told toldBlock
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		t.Fatal(err)
	}
	b, err := told.paid()
	five := market.Payment{From: evmAccount(t, 1), To: evmAccount(t, 2)}
	five.Amount.SetUint64(5)
	if err != nil || b.time != 100 || len(b.payments) != 1 || b.payments[0] != five || len(b.firsts) != 2 || b.firsts[1] != evmAccount(t, 3) {
		t.Errorf("the block is %+v, %v", b, err)
	}
}

// TestFalsePaymentsAreFound: the oracle of payments finds rows that aren't those of the chain's block, and trades that tell of coins what isn't so.
func TestFalsePaymentsAreFound(t *testing.T) {
	t.Parallel()
	const day = 24 * 60 * 60
	payer, trader := evmAccount(t, 1), evmAccount(t, 2)
	hash := market.Hash{1}
	paid := market.Payment{From: payer, To: trader}
	paid.Amount.SetUint64(5)
	blocks := []paidBlock{
		{kept: true, hash: hash.String(), time: 100, payments: []market.Payment{paid}, firsts: []market.Address{trader}},
		{kept: true, hash: market.Hash{2}.String(), time: 200},
		{kept: true, hash: market.Hash{3}.String(), time: 101 + day},
	}
	row := market.BlockPayments{Hash: hash, Time: 100, Payments: blocks[0].payments, Firsts: blocks[0].firsts}
	for name, change := range map[string]func(*market.BlockPayments){
		"another block":    func(b *market.BlockPayments) { b.Hash = market.Hash{9} },
		"above the head":   func(b *market.BlockPayments) { b.Number = 3 },
		"another time":     func(b *market.BlockPayments) { b.Time = 101 },
		"no payments":      func(b *market.BlockPayments) { b.Payments = nil },
		"no first senders": func(b *market.BlockPayments) { b.Firsts = nil },
	} {
		other := row
		if change(&other); differsFrom(&row, blocks) != "" || differsFrom(&other, blocks) == "" {
			t.Errorf("%s: it isn't found, or the true row is refused: %q", name, differsFrom(&row, blocks))
		}
	}
	for name, tt := range map[string]struct {
		block uint64
		f     market.Funding
		ok    bool
	}{
		"nothing is known":                 {1, market.Funding{}, true},
		"it was paid":                      {1, market.Funding{State: market.FundingSeen, Funder: payer, At: 100}, true},
		"by another":                       {1, market.Funding{State: market.FundingSeen, Funder: trader, At: 100}, false},
		"at another time":                  {1, market.Funding{State: market.FundingSeen, Funder: payer, At: 200}, false},
		"nobody paid, and somebody did":    {1, market.Funding{State: market.FundingNotSeen}, false},
		"nobody paid for a day":            {2, market.Funding{State: market.FundingNotSeen}, true},
		"its first transaction":            {1, market.Funding{Age: market.AgeNew, First: 100}, true},
		"its first one at another time":    {1, market.Funding{Age: market.AgeNew, First: 200}, false},
		"an account of before the blocks":  {2, market.Funding{Age: market.AgeOld}, true},
		"a new account that is called old": {1, market.Funding{Age: market.AgeOld}, false},
	} {
		trade := market.Trade{Block: tt.block, Time: blocks[tt.block].time, Trader: trader, Funding: tt.f}
		if line := misfunded(&trade, blocks); (line == "") != tt.ok {
			t.Errorf("%s: %q", name, line)
		}
	}
}
