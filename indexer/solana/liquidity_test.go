package solana

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// poolOfCPMM is the account of a pool with shares.
func poolOfCPMM(shares market.Address, issued byte) solanatest.Account {
	data := append([]byte{247, 237, 227, 245, 215, 195, 222, 70}, make([]byte, 629)...)
	copy(data[136:], layout.KeyOf(shares))
	data[333] = issued
	return solanatest.Account{Owner: solanatest.RaydiumCPMM, Data: data}
}

// TestLiquidity: a pool's shares, how many are left, and who has them, come in one answer of a slot. Another program's account is none of the pool.
func TestLiquidity(t *testing.T) {
	t.Parallel()
	named := func(name string) market.Address {
		a, err := market.ParseSolanaAddress(solanatest.Name("%s", name))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	w := newWorld(3)
	n := nodesOf(t, w, nil)[0]
	s, _ := sourceOf(t, n)
	program, err := market.ParseSolanaAddress(solanatest.RaydiumCPMM)
	if err != nil {
		t.Fatal(err)
	}
	pool, shares, locker, other := named("a pool"), named("its shares"), named("a locker"), named("somebody")
	ask := func() (Liquidity, bool) {
		t.Helper()
		told, known, err := s.Accounts().Liquidity(t.Context(), &market.Pool{ID: pool, Protocol: market.RaydiumCPMM, Factory: program}, []market.Address{other, locker})
		if err != nil {
			t.Fatal(err)
		}
		return told, known
	}
	if told, known := ask(); known {
		t.Errorf("an account that isn't there tells %+v", told)
	}
	n.SetAccount(pool.String(), poolOfCPMM(shares, 200))
	if told, known := ask(); known {
		t.Errorf("shares that aren't there tell %+v", told)
	}
	n.SetAccount(shares.String(), solanatest.Mint(9, 70))
	usual := layout.UsualAccountOf(locker, layout.TokenProgram, shares)
	n.SetAccount(usual.String(), solanatest.TokenAccount(shares.String(), locker.String(), 30))
	told, known := ask()
	if !known || told.Token != shares || told.Whole.Uint64() != 200 || told.Left != 70 || told.Slot == 0 || len(told.Held) != 2 || told.Held[0].Amount != 0 ||
		told.Held[1] != (Holding{Owner: locker, Account: usual, Amount: 30, Slot: told.Slot}) {
		t.Errorf("%t, %+v", known, told)
	}
	n.SetAccount(usual.String(), solanatest.TokenAccount(shares.String(), other.String(), 30))
	if told, known := ask(); !known || told.Held[1].Amount != 0 {
		t.Errorf("a token account that was given to somebody else counts for the locker: %+v", told)
	}
	a := poolOfCPMM(shares, 200)
	a.Owner = solanatest.PumpSwap
	n.SetAccount(pool.String(), a)
	if told, known := ask(); known {
		t.Errorf("an account of another program tells %+v", told)
	}
}
