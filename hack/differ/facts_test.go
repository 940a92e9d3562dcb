package differ

import (
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// TestFactsLackOnlyForStatesThatAreGone: the state after block 31 is gone, and of block 40. Of nothing else a fact may lack, and none may be another.
func TestFactsLackOnlyForStatesThatAreGone(t *testing.T) {
	t.Parallel()
	dog, account := market.EVMAddress([32]byte{31: 1}), market.EVMAddress([32]byte{31: 2})
	amount := func(n byte) (a market.Amount) {
		a.SetBytes32([]byte{31: n})
		return a
	}
	at := func(block uint64, f market.Fact) store.StoredFact { return store.StoredFact{Block: block, Fact: f} }
	told := market.TokenFact{Token: dog, Symbol: "DOG", HasDecimals: true, Decimals: 18, HasSupply: true, Supply: amount(9)}
	without := market.TokenFact{Token: dog, Symbol: "DOG", HasDecimals: true, Decimals: 18}
	other := without
	other.Decimals = 6
	balance := func(n byte) market.Fact { return market.BalanceFact{Token: dog, Account: account, Amount: amount(n)} }
	supply := market.SupplyFact{Token: dog, Supply: amount(9)}
	pool := market.PoolFact{Pool: account, Known: true}
	type list = []store.StoredFact
	for name, c := range map[string]struct {
		have, want list
		told       string
		later      int
	}{
		"the same":                                     {list{at(5, told), at(32, balance(1))}, list{at(5, told), at(32, balance(1))}, "", 0},
		"a supply of a state that is gone":             {list{at(40, without)}, list{at(40, told)}, "", 0},
		"a supply of a state that is there":            {list{at(41, without)}, list{at(41, told)}, "is", 0},
		"other decimals where the state is gone":       {list{at(40, other)}, list{at(40, told)}, "is", 0},
		"a supply that a fresh index wasn't told":      {list{at(40, told)}, list{at(40, without)}, "is", 0},
		"a token's fact where the state is gone":       {nil, list{at(40, told)}, "there is no fact", 0},
		"a pool's fact where the state is gone":        {nil, list{at(40, pool)}, "there is no fact", 0},
		"a sample of a state that is gone":             {nil, list{at(32, balance(1))}, "", 0},
		"a sample of a state that is there":            {nil, list{at(40, balance(1))}, "there is no fact", 0},
		"another balance where the state is gone":      {list{at(32, balance(2))}, list{at(32, balance(1))}, "is", 0},
		"a balance that a fresh index doesn't ask for": {list{at(32, balance(2))}, nil, "a fresh index hasn't", 0},
		"a supply that is asked for later":             {list{at(40, without), at(64, supply)}, list{at(40, told)}, "", 1},
		"a supply that is asked for without a reason":  {list{at(40, told), at(64, supply)}, list{at(40, told)}, "a fresh index hasn't", 0},
		"a supply that is no longer doubted":           {nil, list{at(32, supply), at(64, supply)}, "", 0},
		"a supply before one that is gone":             {list{at(40, without)}, list{at(33, supply), at(40, told)}, "there is no fact", 0},
		"a contract that is no pool":                   {list{at(5, market.PoolFact{Pool: dog})}, list{at(7, market.PoolFact{Pool: dog})}, "", 0},
		"a pool that is asked again after a restart":   {list{at(5, pool), at(9, pool)}, list{at(5, pool)}, "", 0},
		"a pool that is asked too late":                {list{at(9, pool)}, list{at(5, pool)}, "there is no fact", 0},
		"a pool that is asked too early":               {list{at(3, pool), at(5, pool)}, list{at(5, pool)}, "a fresh index hasn't", 0},
		"another pool after a restart":                 {list{at(5, pool), at(9, market.PoolFact{Pool: dog, Known: true})}, list{at(5, pool)}, "a fresh index hasn't", 0},
		"a pool that is none":                          {list{at(5, market.PoolFact{Pool: account})}, list{at(5, pool)}, "is", 0},
	} {
		lines, later := Facts(c.have, c.want, func(block uint64) bool { return block == 31 || block == 40 })
		got := strings.Join(lines, "\n")
		if (c.told == "") != (got == "") || !strings.Contains(got, c.told) || len(later) != c.later {
			t.Errorf("%s: %q, and %d are asked for later; want %q and %d", name, got, len(later), c.told, c.later)
		}
	}
}
