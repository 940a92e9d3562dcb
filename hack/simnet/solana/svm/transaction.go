package svm

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"filippo.io/edwards25519"

	"github.com/boardwalkhq/boardwalk/internal/market"
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

func (k Key) String() string { return market.EncodeBase58(k[:]) }

// MarshalText writes base58.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads base58.
func (k *Key) UnmarshalText(text []byte) error {
	if !market.DecodeBase58(k[:], string(text)) {
		return fmt.Errorf("svm: %q is no key", text)
	}
	return nil
}

// Derived is the address of a program's that seeds name, and the bump that is the last of its seeds (Solana's find_program_address).
func Derived(program Key, seeds ...[]byte) (Key, byte) {
	for bump := 255; bump >= 0; bump-- {
		h := sha256.New()
		for _, seed := range seeds {
			h.Write(seed)
		}
		h.Write([]byte{byte(bump)})
		h.Write(program[:])
		h.Write([]byte("ProgramDerivedAddress"))
		key := Key(h.Sum(nil))
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
	return Signer{Key: Key(private.Public().(ed25519.PublicKey)), private: private}
}

// Transaction writes and signs a transaction of version 0 without lookup tables. The first signer pays. It may be longer than the 1,232 bytes that the network
// takes, which the local chain doesn't mind.
func Transaction(blockHash Key, instructions []Instruction, signers ...Signer) ([]byte, error) {
	type use struct{ signer, writable bool }
	uses := map[Key]*use{}
	var order []Key
	note := func(k Key, signer, writable bool) {
		u := uses[k]
		if u == nil {
			u = &use{}
			uses[k] = u
			order = append(order, k)
		}
		u.signer, u.writable = u.signer || signer, u.writable || writable
	}
	note(signers[0].Key, true, true)
	for _, i := range instructions {
		for _, a := range i.Accounts {
			note(a.Key, a.Signer, a.Writable)
		}
		note(i.Program, false, false)
	}
	// Accounts stand in four groups: signers that are written, other signers, others that are written, the rest.
	group := func(k Key) int {
		u, n := uses[k], 0
		if !u.signer {
			n += 2
		}
		if !u.writable {
			n++
		}
		return n
	}
	slices.SortStableFunc(order[1:], func(a, b Key) int { return group(a) - group(b) })
	var sizes [4]int
	for _, k := range order {
		sizes[group(k)]++
	}
	if len(order) > 256 {
		return nil, fmt.Errorf("svm: %d accounts in one transaction", len(order))
	}

	message := []byte{0x80, byte(sizes[0] + sizes[1]), byte(sizes[1]), byte(sizes[3])}
	message = short(message, len(order))
	for _, k := range order {
		message = append(message, k[:]...)
	}
	message = append(message, blockHash[:]...)
	message = short(message, len(instructions))
	for _, i := range instructions {
		message = append(message, byte(slices.Index(order, i.Program)))
		message = short(message, len(i.Accounts))
		for _, a := range i.Accounts {
			message = append(message, byte(slices.Index(order, a.Key)))
		}
		message = append(short(message, len(i.Data)), i.Data...)
	}
	message = append(message, 0) // no lookup tables

	out := short(nil, sizes[0]+sizes[1])
	for _, k := range order[:sizes[0]+sizes[1]] {
		at := slices.IndexFunc(signers, func(s Signer) bool { return s.Key == k })
		if at < 0 {
			return nil, fmt.Errorf("svm: nobody signs for %s", k)
		}
		out = append(out, ed25519.Sign(signers[at].private, message)...)
	}
	return append(out, message...), nil
}

// short writes a length as Solana does: seven bits a byte, the lowest first.
func short(out []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}
