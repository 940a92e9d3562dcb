package indexer

import (
	"maps"
	"slices"
	"testing"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// lateMembers are the first of the people who join late.
const lateMembers = 6

// enrol makes members of the people from one place to before another, two wallets to a member.
func (l *localSolana) enrol(t *testing.T, st *store.Store, from, to int) {
	t.Helper()
	var records []member.Record
	for i := from; i < to; i++ {
		if i%2 == 0 {
			l.join(t, st, i)
		}
		records = append(records, member.Record{
			ID: memberOf(i), UpdatedAt: 1_000, Wallet: &member.WalletRecord{Family: chainconfig.Solana, Address: addressOfKey(l.People[i].Key)},
		})
	}
	apply(t, st, records...)
}

func memberOf(i int) member.ID { return member.ID(rune('a' + i/2)) }

// join makes a member of one of the people, without a wallet.
func (l *localSolana) join(t *testing.T, st *store.Store, i int) {
	t.Helper()
	apply(t, st, member.Record{ID: memberOf(i), Handle: string(memberOf(i)), JoinedAt: 1, UpdatedAt: 1_000})
}

func apply(t *testing.T, st *store.Store, records ...member.Record) {
	t.Helper()
	applied, _, err := st.Social.Registry.Apply(t.Context(), records, true, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range applied {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
	}
}

// TestSolanaMembers: what members' wallets did is what the chain's accounts say, through forks and restarts. What they have is what their entries come to, fees are all
// that the platform's account has, and what they paid for transactions is what these cost.
func TestSolanaMembers(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newLocalSolana(t, 9)
			cfg := l.config(t)
			if kind == "sqlite" {
				cfg = l.streamed(t)
			}
			cfg.PlatformFee = &chainconfig.PlatformFee{Recipients: []market.Address{addressOfKey(simnet.FeeRecipient)}, Bps: simnet.FeeBps}
			st := storetest.Open(t, kind)
			l.enrol(t, st, 0, lateMembers)
			end := startSolana(t, st, cfg)
			l.grow(t, 60)
			for round := range 12 {
				l.grow(t, 3+round%4)
				if round%3 == 2 {
					if err := l.Fork(t.Context(), 1+round%6); err != nil {
						t.Fatal(err)
					}
					l.grow(t, 2+round%6)
				}
				if round == 6 {
					end()
					l.enrol(t, st, lateMembers, len(l.People))
					end = startSolana(t, st, cfg)
				}
				l.await(t, st)
			}
			l.settle(t, st)
			end()
			fresh := storetest.Open(t, "sqlite")
			l.keepFactsOf(t, st, fresh)
			end = startSolana(t, fresh, cfg)
			l.await(t, fresh)
			end()
			wantSame(t, st, fresh, "solana")
			l.wantEntries(t, st)
			l.wantFees(t, st)
		})
	}
}

// keepFacts gives a fresh index of Solana the facts that another one kept.
func keepFacts(t *testing.T, of, fresh *store.Store) []store.StoredFact {
	t.Helper()
	facts, err := of.Facts.Between(t.Context(), "solana", 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := fresh.Leases.Acquire(t.Context(), "solana", t.Name(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := fresh.Inspect.KeepFacts(t.Context(), lease, facts); err != nil {
		t.Fatal(err)
	}
	return facts
}

// keepFactsOf gives a fresh index the facts that another one kept, which tell since when it has watched whose wallets, and the members without their wallets.
func (l *localSolana) keepFactsOf(t *testing.T, of, fresh *store.Store) {
	t.Helper()
	held := 0
	for _, f := range keepFacts(t, of, fresh) {
		if f, ok := f.Fact.(market.HeldFact); ok {
			if held++; !f.Known {
				t.Errorf("nobody knows what a wallet had that was traded with before: %+v", f)
			}
		}
	}
	if held == 0 {
		t.Error("no wallet that joined late had anything that it bought before")
	}
	for i := 0; i < len(l.People); i += 2 {
		l.join(t, fresh, i)
	}
}

// wantEntries holds the sums of wallets' entries against what the chain's accounts have, and their gas against the transactions' fees.
func (l *localSolana) wantEntries(t *testing.T, st *store.Store) {
	t.Helper()
	entries, err := st.Inspect.Entries(t.Context(), "solana")
	if err != nil {
		t.Fatal(err)
	}
	late := map[market.Address]bool{}
	for _, p := range l.People[lateMembers:] {
		late[addressOfKey(p.Key)] = true
	}
	sums, kinds, between, withGas, withFee := map[market.PositionKey]int64{}, map[market.EntryKind]int{}, 0, 0, 0
	found := map[market.PositionKey]bool{}
	for _, e := range entries {
		kinds[e.Kind]++
		k, n := market.PositionKey{Wallet: e.Wallet, Token: e.Token}, int64(e.Amount.Uint64())
		switch e.Kind {
		case market.Bought, market.CameIn:
			sums[k] += n
		case market.Sold, market.WentOut:
			sums[k] -= n
		case market.Held:
			sums[k], found[k] = n, true
		}
		if !e.To.IsNone() {
			between++
		}
		if e.GasNanoUSD > 0 {
			withGas++
		}
		if of := e.Fee.Dollars() / (float64(e.NanoUSD) / 1e9); e.Fee.Sign() > 0 {
			if withFee++; of < 0.0079 || of > 0.0082 {
				t.Errorf("%v of its value is the fee of %+v", of, e)
			}
		}
		if (e.Kind == market.Bought || e.Kind == market.Sold) && !e.HasGas {
			t.Errorf("nobody knows what %+v cost", e)
		}
	}
	// A wallet that joined late has entries of all that it has only in tokens of which the index has found what the wallet held before.
	unknown := func(k market.PositionKey, _ int64) bool { return late[k.Wallet] && !found[k] }
	maps.DeleteFunc(sums, func(k market.PositionKey, n int64) bool { return n == 0 || unknown(k, n) })
	held := map[market.PositionKey]int64{}
	for _, c := range l.Curves() {
		of := l.held(t, c.Token)
		for _, p := range l.People {
			if n := of[addressOfKey(p.Key)]; n > 0 {
				held[market.PositionKey{Wallet: addressOfKey(p.Key), Token: addressOfKey(c.Token)}] = int64(n)
			}
		}
	}
	maps.DeleteFunc(held, unknown)
	if !maps.Equal(sums, held) {
		t.Errorf("entries come to %v, and accounts have %v", sums, held)
	}
	if len(held) < 5 || between == 0 || withGas < 20 || withFee < 5 || kinds[market.Bought] < 20 || kinds[market.Sold] < 10 || kinds[market.WentOut] == 0 || kinds[market.CameIn] == 0 {
		t.Errorf("%d positions, entries by kind %v, %d between wallets of a member, %d with gas, %d with a fee", len(held), kinds, between, withGas, withFee)
	}
}

// wantFees holds the platform's fees against what its account got.
func (l *localSolana) wantFees(t *testing.T, st *store.Store) {
	t.Helper()
	fees, err := st.Inspect.Fees(t.Context(), "solana")
	if err != nil {
		t.Fatal(err)
	}
	native, wrapped, ofLate := uint64(0), uint64(0), uint64(0)
	for _, f := range fees {
		if slices.ContainsFunc(l.People[lateMembers:], func(p svm.Signer) bool { return addressOfKey(p.Key) == f.Wallet }) {
			ofLate += f.Amount.Uint64()
			continue
		}
		if f.Asset.IsNative() {
			native += f.Amount.Uint64()
		} else {
			wrapped += f.Amount.Uint64()
		}
	}
	lamports := func(key svm.Key) uint64 {
		var told struct{ Value uint64 }
		if err := l.Chain.Call(t.Context(), &told, "getBalance", key, map[string]string{"commitment": "confirmed"}); err != nil {
			t.Fatal(err)
		}
		return told.Value
	}
	want := l.paidBefore(t, simnet.FeeRecipient)
	if got := lamports(simnet.FeeRecipient) - simnet.FeeRecipientBegins; want+ofLate > got || want != native || native == 0 || ofLate == 0 {
		t.Errorf("the platform got %d lamports, of which %d of those who were members from the beginning; fees are %d of these and %d of others", got, want, native, ofLate)
	}
	if got := l.held(t, simnet.WSOL)[addressOfKey(simnet.FeeRecipient)]; got != wrapped || wrapped == 0 {
		t.Errorf("the platform got %d of wrapped SOL, and fees are %d", got, wrapped)
	}
}

// paidBefore is how many lamports transactions brought to an account that those paid for who were members from the beginning, by what the node tells of each block.
func (l *localSolana) paidBefore(t *testing.T, account svm.Key) (sum uint64) {
	t.Helper()
	var slots []uint64
	if err := l.Chain.Call(t.Context(), &slots, "getBlocks", 0, l.Slot(), map[string]string{"commitment": "confirmed"}); err != nil {
		t.Fatal(err)
	}
	for _, slot := range slots {
		var block struct {
			Transactions []struct {
				Meta struct {
					PreBalances, PostBalances []uint64
					LoadedAddresses           struct{ Writable, Readonly []string }
				}
				Transaction struct {
					Message struct{ AccountKeys []string }
				}
			}
		}
		how := map[string]any{"commitment": "confirmed", "encoding": "json", "maxSupportedTransactionVersion": 1}
		if err := l.Chain.Call(t.Context(), &block, "getBlock", slot, how); err != nil {
			t.Fatal(err)
		}
		for _, tx := range block.Transactions {
			keys := slices.Concat(tx.Transaction.Message.AccountKeys, tx.Meta.LoadedAddresses.Writable)
			at := slices.Index(keys, account.String())
			if at > 0 && slices.ContainsFunc(l.People[:lateMembers], func(p svm.Signer) bool { return p.Key.String() == keys[0] }) {
				sum += tx.Meta.PostBalances[at] - tx.Meta.PreBalances[at]
			}
		}
	}
	return sum
}
