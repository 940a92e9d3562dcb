package svm

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"filippo.io/edwards25519"

	"github.com/boardwalkhq/boardwalk/internal/base58"
)

// Key is an account's address, or a hash.
type Key [32]byte

// ParseKey reads base58.
func ParseKey(text string) (k Key, err error) {
	err = k.UnmarshalText([]byte(text))
	return k, err
}

// MustKey reads base58 that stands in the source.
func MustKey(text string) Key {
	k, err := ParseKey(text)
	if err != nil {
		panic(err)
	}
	return k
}

func (k Key) String() string { return base58.Encode(k[:]) }

// MarshalText writes base58.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads base58.
func (k *Key) UnmarshalText(text []byte) error {
	if !base58.Decode(k[:], string(text)) {
		return fmt.Errorf("svm: %q is no key", text)
	}
	return nil
}

// AddressOf is the address of a program's that seeds, with their bump behind them, make (Solana's create_program_address).
func AddressOf(program Key, seeds ...[]byte) Key {
	h := sha256.New()
	for _, seed := range seeds {
		h.Write(seed)
	}
	h.Write(program[:])
	h.Write([]byte("ProgramDerivedAddress"))
	return Key(h.Sum(nil))
}

// Derived is the address of a program's that seeds name, and the bump that is the last of its seeds (Solana's find_program_address).
func Derived(program Key, seeds ...[]byte) (Key, byte) {
	for bump := 255; bump >= 0; bump-- {
		key := AddressOf(program, append(slices.Clone(seeds), []byte{byte(bump)})...)
		if _, err := new(edwards25519.Point).SetBytes(key[:]); err != nil {
			return key, byte(bump)
		}
	}
	panic("svm: 256 hashes are points of the curve") // one in 2^256
}

// Account is an account of an instruction.
type Account struct {
	Key              Key
	Signer, Writable bool
}

// Written is an account that an instruction changes.
func Written(k Key) Account { return Account{Key: k, Writable: true} }

// Signing is an account that signs.
func Signing(k Key) Account { return Account{Key: k, Signer: true} }

// Reading is an account that is read alone.
func Reading(k Key) Account { return Account{Key: k} }

// Paying is an account that pays: it signs, and changes.
func Paying(k Key) Account { return Account{Key: k, Signer: true, Writable: true} }

// Instruction is one of a transaction.
type Instruction struct {
	Program  Key
	Accounts []Account
	Data     []byte
}

// Signer is somebody who signs.
type Signer struct {
	Key Key

	private ed25519.PrivateKey
}

// SignerOf is a signer whose key a text makes.
func SignerOf(text string) Signer {
	seed := sha256.Sum256([]byte(text))
	private := ed25519.NewKeyFromSeed(seed[:])
	return Signer{Key: Key(private[ed25519.SeedSize:]), private: private} // its public half stands behind the seed
}

// Sign is the signature of a text, as a wallet gives it.
func (s Signer) Sign(text string) string {
	return base58.Encode(ed25519.Sign(s.private, []byte(text)))
}

// Table is a lookup table: accounts that a transaction may name by their places in it, in one byte each.
type Table struct {
	Key       Key
	Addresses []Key
}

// tableProgram has the lookup tables, and tableHeader is how long an account of one is before its addresses.
var tableProgram = MustKey("AddressLookupTab1e1111111111111111111111111")

const tableHeader = 56

// Account is the table as an account, which nobody may change. https://docs.rs/solana-address-lookup-table-interface has its layout.
func (t *Table) Account() (owner Key, data []byte) {
	data = append(data, 1, 0, 0, 0)
	data = binary.LittleEndian.AppendUint64(data, math.MaxUint64) // it isn't deactivated
	data = append(data, make([]byte, tableHeader-len(data))...)
	for _, k := range t.Addresses {
		data = append(data, k[:]...)
	}
	return tableProgram, data
}

// message is what a transaction says, before it is signed.
type message struct {
	uses  map[Key]*use
	order []Key // accounts that it has itself, then what it takes of the table
	sizes [4]int
}

// use is how a transaction uses an account.
type use struct{ signer, writable, called bool }

// group is which of four an account stands in: signers that are written, other signers, others that are written, the rest.
func (u *use) group() (n int) {
	if !u.signer {
		n += 2
	}
	if !u.writable {
		n++
	}
	return n
}

func (m *message) note(k Key, u use) {
	if has := m.uses[k]; has != nil {
		has.signer, has.writable, has.called = has.signer || u.signer, has.writable || u.writable, has.called || u.called
		return
	}
	m.uses[k] = &u
	m.order = append(m.order, k)
}

// Transaction writes and signs a transaction of version 0. The first signer pays. Accounts that stand in the table are taken from there, but for signers and programs
// that an instruction calls; a nil table is none. It may be longer than the 1,232 bytes that the network takes, which the local chain doesn't mind.
func Transaction(blockHash Key, table *Table, instructions []Instruction, signers ...Signer) ([]byte, error) {
	m := message{uses: map[Key]*use{}}
	m.note(signers[0].Key, use{signer: true, writable: true})
	for _, i := range instructions {
		for _, a := range i.Accounts {
			m.note(a.Key, use{signer: a.Signer, writable: a.Writable})
		}
		m.note(i.Program, use{called: true})
	}
	var taken [2][]byte // places in the table, of those that are written and the others
	var own []Key
	var loaded [2][]Key
	for _, k := range m.order {
		u := m.uses[k]
		at := -1
		if table != nil && !u.signer && !u.called {
			at = slices.Index(table.Addresses, k)
		}
		if at < 0 {
			own = append(own, k)
			m.sizes[u.group()]++
			continue
		}
		which := u.group() - 2
		taken[which], loaded[which] = append(taken[which], byte(at)), append(loaded[which], k)
	}
	slices.SortStableFunc(own[1:], func(a, b Key) int { return m.uses[a].group() - m.uses[b].group() })
	order := slices.Concat(own, loaded[0], loaded[1])
	if len(order) > 256 {
		return nil, fmt.Errorf("svm: %d accounts in one transaction", len(order))
	}

	out := []byte{0x80, byte(m.sizes[0] + m.sizes[1]), byte(m.sizes[1]), byte(m.sizes[3])}
	out = short(out, len(own))
	for _, k := range own {
		out = append(out, k[:]...)
	}
	out = append(out, blockHash[:]...)
	out = short(out, len(instructions))
	for _, i := range instructions {
		out = append(out, byte(slices.Index(order, i.Program)))
		out = short(out, len(i.Accounts))
		for _, a := range i.Accounts {
			out = append(out, byte(slices.Index(order, a.Key)))
		}
		out = append(short(out, len(i.Data)), i.Data...)
	}
	if len(loaded[0])+len(loaded[1]) == 0 {
		out = append(out, 0)
	} else {
		out = append(append(out, 1), table.Key[:]...)
		out = append(short(out, len(taken[0])), taken[0]...)
		out = append(short(out, len(taken[1])), taken[1]...)
	}

	signed := short(nil, m.sizes[0]+m.sizes[1])
	for _, k := range own[:m.sizes[0]+m.sizes[1]] {
		at := slices.IndexFunc(signers, func(s Signer) bool { return s.Key == k })
		if at < 0 {
			return nil, fmt.Errorf("svm: nobody signs for %s", k)
		}
		signed = append(signed, ed25519.Sign(signers[at].private, out)...)
	}
	return append(signed, out...), nil
}

// short writes a length as Solana does: seven bits a byte, the lowest first.
func short(out []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}
