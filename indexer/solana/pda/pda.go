// Package pda names accounts of Solana's programs by what they are derived from (program derived addresses).
package pda

import (
	"crypto/sha256"

	"filippo.io/edwards25519"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Of derives the address of a program's account from seeds, as Solana's find_program_address does. It hashes the seeds, a number and the program, with the numbers from
// 255 down to 0. The address is the first hash that is no point of the curve Ed25519. Such an address has no private key, so that only the program can sign for it.
func Of(program market.Address, seeds ...[]byte) market.Address {
	for bump := 255; bump >= 0; bump-- {
		h := sha256.New()
		for _, seed := range seeds {
			_, _ = h.Write(seed)
		}
		_, _ = h.Write([]byte{byte(bump)})
		_, _ = h.Write(program.Bytes()[1:])
		_, _ = h.Write([]byte("ProgramDerivedAddress"))
		key := [32]byte(h.Sum(nil))
		if _, err := new(edwards25519.Point).SetBytes(key[:]); err != nil {
			return market.SolanaAddress(key)
		}
	}
	return market.Address{} // about half of all hashes are no point: this line is never reached
}
