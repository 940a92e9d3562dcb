package solana

import (
	"crypto/sha256"

	"filippo.io/edwards25519"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// derived is the account of a program that some seeds name: the first of 256 hashes that is no point of the curve, so that nobody has a key to it (Solana's
// find_program_address).
func derived(program market.Address, seeds ...[]byte) market.Address {
	for bump := 255; bump >= 0; bump-- {
		h := sha256.New()
		for _, seed := range seeds {
			_, _ = h.Write(seed)
		}
		_, _ = h.Write([]byte{byte(bump)})
		_, _ = h.Write(keyOf(program))
		_, _ = h.Write([]byte("ProgramDerivedAddress"))
		key := [32]byte(h.Sum(nil))
		if _, err := new(edwards25519.Point).SetBytes(key[:]); err != nil {
			return market.SolanaAddress(key)
		}
	}
	return market.Address{} // of 256 hashes one in two is none; this never comes
}

// keyOf are the 32 bytes of an account's key.
func keyOf(a market.Address) []byte { return a.Bytes()[1:] }

// metadataOf is Metaplex's account of a token.
func metadataOf(token market.Address) market.Address {
	return derived(metadataProgram, []byte("metadata"), keyOf(metadataProgram), keyOf(token))
}
