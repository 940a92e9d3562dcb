package solana

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/standin"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// tx is a transaction that is being written. The first error ends it; send tells it.
type tx struct {
	w       *World
	list    []svm.Instruction
	signers []svm.Signer
	fails   bool // it is meant to
	err     error
}

func (w *World) begin(payer svm.Signer, others ...svm.Signer) *tx {
	t := &tx{w: w, signers: append([]svm.Signer{payer}, others...)}
	t.add(svm.Instruction{Program: programs.Budget, Data: slices.Concat([]byte{2}, binary.LittleEndian.AppendUint32(nil, mostUnits))})
	return t
}

// mostUnits is how many compute units a transaction asks for, the most that there are.
const mostUnits = 1_400_000

func (t *tx) add(list ...svm.Instruction) { t.list = append(t.list, list...) }

// do adds what a stand-in carries out.
func (t *tx) do(a *act) {
	i, err := a.instruction()
	if err != nil && t.err == nil {
		t.err = err
	}
	t.add(i)
}

// send has the next block take the transaction.
func (t *tx) send() error {
	if t.err != nil {
		return t.err
	}
	var table *svm.Table
	if t.w.rng.IntN(2) == 0 {
		table = &t.w.table
	}
	raw, err := svm.Transaction(t.w.blockHash, table, t.list, t.signers...)
	if err != nil {
		return err
	}
	t.w.queue = append(t.w.queue, queued{raw, t.fails})
	return nil
}

// act is an instruction of a protocol's program, and what its stand-in does when it is called.
type act struct {
	t        *tx
	program  svm.Key
	name     string // of the program's description
	data     []byte
	accounts []svm.Account
	named    map[string]svm.Key // addresses by the names of the description
	script   standin.Script
	err      error
}

// act is an instruction by its description: accounts whose addresses are fixed or made of others need not be given.
func (t *tx) act(ctx context.Context, program, instruction string, args svm.Fields, accounts map[string]svm.Key) *act {
	a := &act{t: t, name: program, named: map[string]svm.Key{}}
	d, err := t.w.Chain.DescribedInstruction(ctx, program, instruction, args, accounts)
	if err != nil {
		a.err = err
		return a
	}
	a.program, a.data = d.Program, d.Data
	for _, account := range d.Accounts {
		a.named[account.Name] = account.Key
		a.accounts = append(a.accounts, svm.Account{Key: account.Key, Signer: account.Signer, Writable: account.Writable})
	}
	return a
}

// rawAct is an instruction of a program that has no description here.
func (t *tx) rawAct(program svm.Key, data []byte, accounts ...svm.Account) *act {
	return &act{t: t, program: program, data: data, accounts: accounts}
}

// place is where an account stands among the instruction's, behind whose own those stand that only the stand-in needs.
func (a *act) place(account svm.Account) int {
	i := slices.IndexFunc(a.accounts, func(b svm.Account) bool { return b.Key == account.Key })
	if i < 0 {
		a.accounts = append(a.accounts, account)
		return len(a.accounts) - 1
	}
	a.accounts[i].Signer = a.accounts[i].Signer || account.Signer
	a.accounts[i].Writable = a.accounts[i].Writable || account.Writable
	return i
}

// call has the stand-in call a program. The address that the seeds make, with their bump behind them, signs besides who signs the instruction.
func (a *act) call(i svm.Instruction, seeds ...[]byte) {
	var own svm.Key
	if len(seeds) > 0 {
		own = svm.AddressOf(a.program, seeds...)
	}
	metas := make([]standin.Meta, len(i.Accounts))
	for n, account := range i.Accounts {
		outside := account
		outside.Signer = account.Signer && account.Key != own
		metas[n] = standin.Meta{Place: a.place(outside), Writable: account.Writable, Signer: account.Signer}
	}
	a.script.Call(a.place(svm.Account{Key: i.Program}), metas, i.Data, seeds...)
}

// nest has the stand-in call another one.
func (a *act) nest(inner *act, seeds ...[]byte) {
	i, err := inner.instruction()
	if err != nil && a.err == nil {
		a.err = err
	}
	a.call(i, seeds...)
}

// event has the program tell an event by a call of itself.
func (a *act) event(ctx context.Context, name string, fields svm.Fields) {
	body := a.encode(ctx, name, fields)
	if body == nil {
		return
	}
	authority, seeds := derived(a.program, []byte("__event_authority"))
	a.call(svm.Instruction{
		Program: a.program, Accounts: []svm.Account{svm.Signing(authority)}, Data: slices.Concat([]byte{0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d}, body),
	}, seeds...)
}

// encode gives an event's bytes; none once something failed.
func (a *act) encode(ctx context.Context, name string, fields svm.Fields) []byte {
	if a.err != nil {
		return nil
	}
	body, err := a.t.w.Chain.DescribedEvent(ctx, a.name, name, fields)
	if err != nil {
		a.err = err
		return nil
	}
	return body
}

// pay moves lamports out of an account that the program owns.
func (a *act) pay(from, to svm.Key, lamports uint64) {
	a.script.Pay(a.place(svm.Written(from)), a.place(svm.Written(to)), lamports)
}

func (a *act) instruction() (svm.Instruction, error) {
	if a.err != nil {
		return svm.Instruction{}, a.err
	}
	keys := make([]svm.Key, len(a.accounts))
	for i := range a.accounts {
		keys[i] = a.accounts[i].Key
	}
	data, err := a.script.Behind(a.data, keys...)
	if err != nil {
		return svm.Instruction{}, fmt.Errorf("%s: %w", a.name, err)
	}
	return svm.Instruction{Program: a.program, Accounts: a.accounts, Data: data}, nil
}

// openVault makes a pool's account of a token, which an authority owns. address is how the program derives such accounts.
func (a *act) openVault(payer, pool svm.Key, t programs.Coin, authority svm.Key, address func(program, pool, mint svm.Key) (svm.Key, [][]byte)) svm.Key {
	k, seeds := address(a.program, pool, t.Mint)
	a.call(programs.CreateAccount(payer, k, programs.TokenAccountLen, t.Program), seeds...)
	a.call(programs.InitializeAccount(t.Program, k, t.Mint, authority))
	return k
}

// derived is a program's address that seeds name, and the seeds with the bump behind them.
func derived(program svm.Key, seeds ...[]byte) (svm.Key, [][]byte) {
	k, bump := svm.Derived(program, seeds...)
	return k, append(slices.Clone(seeds), []byte{bump})
}
