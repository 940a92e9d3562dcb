package indexer

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// Token-2022's extensions for fees on transfers: a token's, and an account's. https://docs.rs/spl-token-2022-interface has their layout.
const (
	feeOfToken, feeOfTokenLen     = 1, 108
	feeOfAccount, feeOfAccountLen = 2, 8
)

// extended is an account's data with one more extension.
func extended(data []byte, kind uint16, contents []byte) []byte {
	out := binary.LittleEndian.AppendUint16(slices.Clone(data), kind)
	return append(binary.LittleEndian.AppendUint16(out, uint16(len(contents))), contents...)
}

// takeFees has a token as if it had been made with a fee on transfers, in hundredths of a percent. What is withheld is somebody's to take.
func (l *localSolana) takeFees(t *testing.T, token svm.Key, rate uint16, taker svm.Key) {
	t.Helper()
	mint := l.mint(t, token)
	fee := make([]byte, feeOfTokenLen)
	copy(fee[32:], taker[:])
	for _, at := range []int{72, 90} { // the older and the newer fee: from an epoch on, at most so much, a rate
		binary.LittleEndian.PutUint64(fee[at+8:], 1<<62)
		binary.LittleEndian.PutUint16(fee[at+16:], rate)
	}
	l.set(t, mint, extended(mint.data, feeOfToken, fee))
	for _, a := range l.accounts(t, token) {
		l.set(t, a, extended(a.data, feeOfAccount, make([]byte, feeOfAccountLen)))
	}
}

// withheld is what an account of a token withholds.
func (l *localSolana) withheld(t *testing.T, token, account svm.Key) uint64 {
	t.Helper()
	for _, a := range l.accounts(t, token) {
		if a.key == account {
			return binary.LittleEndian.Uint64(a.data[len(a.data)-feeOfAccountLen:])
		}
	}
	return 0
}

// withdraw moves what is withheld in accounts of a token to one of its taker.
func withdraw(program, token, to svm.Key, taker svm.Signer, from ...svm.Key) svm.Instruction {
	const transferFeeExtension, fromAccounts = 26, 3
	in := svm.Instruction{
		Program: program, Data: []byte{transferFeeExtension, fromAccounts, byte(len(from))},
		Accounts: []svm.Account{{Key: token, Writable: true}, {Key: to, Writable: true}, {Key: taker.Key, Signer: true}},
	}
	for _, key := range from {
		in.Accounts = append(in.Accounts, svm.Account{Key: key, Writable: true})
	}
	return in
}

// TestFeesOnTransfers: Token-2022 withholds a part of what is transferred, in the account that gets it, until somebody takes it. Balances, holders and the supply are
// those of the chain's own accounts all the while: what is withheld is nobody's balance.
func TestFeesOnTransfers(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(*localSolana, *testing.T) *chainconfig.Chain{"asked": (*localSolana).config, "streamed": (*localSolana).streamed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocalSolana(t, 3)
			st := storetest.Open(t, "sqlite")
			defer startSolana(t, st, config(l, t))()
			l.wantWithheld(t, st)
		})
	}
}

// mined has a block with transactions, if there are some, and one above it with what the world has sent. Then the index has to have what the chain's accounts have.
func (l *localSolana) mined(t *testing.T, st *store.Store, transactions ...[]byte) {
	t.Helper()
	at := l.Slot() + 1
	if len(transactions) > 0 {
		mined, err := l.Chain.Mine(t.Context(), svm.Block{Slot: at, Time: l.Time().Add(time.Second), Transactions: transactions})
		if err != nil {
			t.Fatal(err)
		}
		for i := range mined.Results {
			if err := mined.Results[i].Failed(); err != nil {
				t.Fatal(err)
			}
		}
		at++
	}
	if err := l.Mine(t.Context(), at, l.Time().Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	l.await(t, st)
	l.wantHeld(t, st)
}

func (l *localSolana) wantWithheld(t *testing.T, st *store.Store) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	maker, buyer, friend, taker := l.People[0], l.People[1], l.People[2], l.People[3]
	curve, err := l.Launch(t.Context(), simnet.PumpFun, maker, simnet.Launch{Name: "Toll", Symbol: "TOLL", URI: "https://toll.example/t.json"}, 1_000_000_000)
	must(err)
	l.mined(t, st)
	must(l.Buy(t.Context(), curve, buyer, 2_000_000_000))
	must(l.Buy(t.Context(), curve, taker, 1_000_000_000))
	l.mined(t, st)
	before := l.held(t, curve.Token)[addressOfKey(buyer.Key)]

	l.takeFees(t, curve.Token, 500, taker.Key)
	for _, part := range []float64{0.5, 0.1, 0.3} {
		must(l.Give(t.Context(), curve, buyer, friend, part))
		l.mined(t, st)
	}
	held, given := l.held(t, curve.Token), uint64(0)
	if has := held[addressOfKey(buyer.Key)]; has < before {
		given = before - has
	}
	if got, want := held[addressOfKey(friend.Key)], given-given/20; given == 0 || got < want-3 || got > want {
		t.Fatalf("of %d the friend got %d, want some %d: no fee was withheld", given, got, want)
	}

	var to, from svm.Key
	var program svm.Key
	for _, a := range l.accounts(t, curve.Token) {
		switch program = a.program; a.owner() {
		case addressOfKey(taker.Key):
			to = a.key
		case addressOfKey(friend.Key):
			from = a.key
		}
	}
	hash, err := l.Chain.BlockHash(t.Context())
	must(err)
	raw, err := svm.Transaction(hash, nil, []svm.Instruction{withdraw(program, curve.Token, to, taker, from)}, taker)
	must(err)
	had := held[addressOfKey(taker.Key)]
	l.mined(t, st, raw)
	withheld := given - held[addressOfKey(friend.Key)]
	if took := l.held(t, curve.Token)[addressOfKey(taker.Key)] - had; took != withheld {
		t.Errorf("%d was taken, want the %d that was withheld", took, withheld)
	}

	// Once more, and what is taken is burnt at once: no balance tells of it.
	must(l.Give(t.Context(), curve, buyer, friend, 0.5))
	l.mined(t, st)
	before = l.held(t, curve.Token)[addressOfKey(taker.Key)]
	if withheld = l.withheld(t, curve.Token, from); withheld == 0 {
		t.Fatal("nothing was withheld")
	}
	burn := svm.Instruction{
		Program: program, Accounts: []svm.Account{{Key: to, Writable: true}, {Key: curve.Token, Writable: true}, {Key: taker.Key, Signer: true}},
		Data: binary.LittleEndian.AppendUint64([]byte{8}, withheld),
	}
	hash, err = l.Chain.BlockHash(t.Context())
	must(err)
	raw, err = svm.Transaction(hash, nil, []svm.Instruction{withdraw(program, curve.Token, to, taker, from), burn}, taker)
	must(err)
	l.mined(t, st, raw)
	if after := l.held(t, curve.Token)[addressOfKey(taker.Key)]; after != before {
		t.Errorf("the taker has %d, want the %d of before", after, before)
	}
}
