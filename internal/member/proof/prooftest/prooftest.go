// Package prooftest signs as wallets do, for tests.
package prooftest

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"golang.org/x/crypto/sha3"

	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// EVMKey is an EVM account with its key.
type EVMKey struct {
	Address market.Address
	key     *secp256k1.PrivateKey
}

// NewEVMKey is the account whose key is a number.
func NewEVMKey(n byte) *EVMKey {
	key := secp256k1.PrivKeyFromBytes([]byte{n})
	var word [32]byte
	copy(word[12:], keccak(key.PubKey().SerializeUncompressed()[1:])[12:])
	return &EVMKey{market.EVMAddress(word), key}
}

// Sign signs a text as personal_sign does (EIP-191).
func (k *EVMKey) Sign(text string) string {
	compact := ecdsa.SignCompact(k.key, keccak(fmt.Appendf(nil, "\x19Ethereum Signed Message:\n%d%s", len(text), text)), false)
	return "0x" + hex.EncodeToString(append(compact[1:], compact[0]))
}

// SolanaKey is a Solana account with its key.
type SolanaKey struct {
	Address market.Address
	key     ed25519.PrivateKey
}

// NewSolanaKey is the account whose seed is a byte, repeated.
func NewSolanaKey(n byte) *SolanaKey {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
	return &SolanaKey{market.SolanaAddress([32]byte(key[32:])), key}
}

// Sign signs a text as signMessage does.
func (k *SolanaKey) Sign(text string) string {
	return base58.Encode(ed25519.Sign(k.key, []byte(text)))
}

func keccak(b []byte) []byte {
	h := sha3.NewLegacyKeccak256()
	h.Write(b)
	return h.Sum(nil)
}
