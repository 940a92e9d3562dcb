// Package netchange sums up by how much accounts' balances of a token changed in one transaction.
package netchange

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Change is by how much one account's balance changed.
type Change struct {
	Account market.Address
	Sum     market.SignedAmount
}

// Changes are those of several accounts, each named once.
type Changes []Change

// Sums sums up changes by account, in the order of each account's first one.
type Sums struct {
	List Changes
	// at has the places in List, once there are more than mostSearched.
	at map[market.Address]int
}

// mostSearched is the most accounts for which Add searches the list. With more it makes a map. Most transactions have fewer.
const mostSearched = 16

// Add adds a change of an account.
func (s *Sums) Add(a market.Address, amount market.SignedAmount) {
	k, ok := s.at[a]
	if s.at == nil {
		k = slices.IndexFunc(s.List, func(c Change) bool { return c.Account == a })
		ok = k >= 0
	}
	if !ok {
		k = len(s.List)
		s.List = append(s.List, Change{Account: a})
		switch {
		case s.at != nil:
			s.at[a] = k
		case len(s.List) > mostSearched:
			s.at = make(map[market.Address]int, 2*len(s.List))
			for i := range s.List {
				s.at[s.List[i].Account] = i
			}
		}
	}
	s.List[k].Sum = s.List[k].Sum.Add(amount)
}

// Change gives the change of an account, or zero if the list doesn't have the account.
func (list Changes) Change(a market.Address) (sum market.SignedAmount) {
	for i := range list {
		if list[i].Account == a {
			return list[i].Sum
		}
	}
	return sum
}

// Shows reports whether an account's balance changed, in one direction, by at least half of what a swap moved. Routers and fee collectors keep small parts: they
// aren't the trader.
func (list Changes) Shows(a market.Address, negative bool, moved *market.Amount) bool {
	var half market.Amount
	half.Rsh(moved, 1)
	for i := range list {
		if c := &list[i]; c.Account == a {
			return c.Sum.Neg == negative && !c.Sum.Abs.Lt(&half)
		}
	}
	return false
}

// Largest gives the account with the largest change in one direction; ok is false where there is none.
func (list Changes) Largest(negative bool) (a market.Address, ok bool) {
	best := -1
	for k := range list {
		if c := &list[k]; c.Sum.Neg == negative && (best < 0 || list[best].Sum.Abs.Lt(&c.Sum.Abs)) {
			best = k
		}
	}
	if best < 0 {
		return market.Address{}, false
	}
	return list[best].Account, true
}
