package indexer

import (
	"encoding/binary"
	"slices"
	"testing"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// transferred is the data of the token programs' instruction Transfer.
func transferred(amount uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{3}, amount) }

// batch is an instruction of the newer token program (p-token) that carries out others: each after the number of its accounts and the length of its data.
// https://github.com/solana-program/token has the layout.
func batch(list ...svm.Instruction) svm.Instruction {
	out := svm.Instruction{Program: list[0].Program, Data: []byte{255}}
	for _, in := range list {
		out.Data = append(append(out.Data, byte(len(in.Accounts)), byte(len(in.Data))), in.Data...)
		out.Accounts = append(out.Accounts, in.Accounts...)
	}
	return out
}

// TestBatchesAndOwners: a batch of transfers tells neither calls nor a line for each, and an account that is given to somebody else moves no tokens. The index has what the
// chain's accounts have all the same.
func TestBatchesAndOwners(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(*localSolana, *testing.T) *chainconfig.Chain{"asked": (*localSolana).config, "streamed": (*localSolana).streamed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocalSolana(t, 4)
			st := storetest.Open(t, "sqlite")
			defer startSolana(t, st, config(l, t))()
			maker, buyer, friend, other := l.People[0], l.People[1], l.People[2], l.People[3]
			curve, err := l.Launch(t.Context(), simnet.DBC, maker, simnet.Launch{Name: "Batch", Symbol: "BAT", URI: "https://batch.example/t.json"}, 1_000_000_000)
			if err != nil {
				t.Fatal(err)
			}
			l.mined(t, st)
			for _, who := range []svm.Signer{buyer, friend, other} {
				if err := l.Buy(t.Context(), curve, who, 1_000_000_000); err != nil {
					t.Fatal(err)
				}
			}
			l.mined(t, st)
			accounts := map[svm.Key]tokenAccount{}
			for _, a := range l.accounts(t, curve.Token) {
				for _, who := range []svm.Signer{buyer, friend, other} {
					if a.owner() == addressOfKey(who.Key) {
						accounts[who.Key] = a
					}
				}
			}
			send := func(signer svm.Signer, instructions ...svm.Instruction) []byte {
				t.Helper()
				hash, err := l.Chain.BlockHash(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				raw, err := svm.Transaction(hash, nil, instructions, signer)
				if err != nil {
					t.Fatal(err)
				}
				return raw
			}
			from := accounts[buyer.Key]
			give := func(to svm.Signer, amount uint64) svm.Instruction {
				return svm.Instruction{
					Program: from.program, Data: transferred(amount),
					Accounts: []svm.Account{{Key: from.key, Writable: true}, {Key: accounts[to.Key].key, Writable: true}, {Key: buyer.Key, Signer: true}},
				}
			}
			before := l.held(t, curve.Token)
			l.mined(t, st, send(buyer, batch(give(friend, 1_000), give(other, 20_000))))
			after := l.held(t, curve.Token)
			for who, want := range map[svm.Key]uint64{friend.Key: 1_000, other.Key: 20_000} {
				if got := after[addressOfKey(who)] - before[addressOfKey(who)]; got != want {
					t.Errorf("%d were moved to %s, want %d", got, addressOfKey(who), want)
				}
			}

			const setAuthority, accountOwner, some = 6, 2, 1
			l.mined(t, st, send(buyer, svm.Instruction{
				Program: from.program, Accounts: []svm.Account{{Key: from.key, Writable: true}, {Key: buyer.Key, Signer: true}},
				Data: slices.Concat([]byte{setAuthority, accountOwner, some}, friend.Key[:]),
			}))
			last := l.held(t, curve.Token)
			if got, want := last[addressOfKey(friend.Key)], after[addressOfKey(friend.Key)]+after[addressOfKey(buyer.Key)]; got != want || last[addressOfKey(buyer.Key)] != 0 {
				t.Errorf("the friend has %d, want %d; the buyer has %d", got, want, last[addressOfKey(buyer.Key)])
			}
		})
	}
}
