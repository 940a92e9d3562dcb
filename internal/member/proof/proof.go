// Package proof has the text that a wallet's owner signs to show that the wallet belongs to a member, and checks the signature. The text is always
// written here and compared byte by byte, so that nothing of a text is ever parsed and believed.
package proof

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"golang.org/x/crypto/sha3"

	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
)

// Lifetime is how long a challenge can be answered.
const Lifetime = 5 * time.Minute

// longestSignature is longer than any signature in hexadecimal digits or base58.
const longestSignature = 256

// Challenge is what a text says.
type Challenge struct {
	// Deployment is the address of this deployment, as in https://app.example.com.
	Deployment string
	Member     member.ID
	Family     chainconfig.Family
	Address    market.Address
	// Nonce is of letters and digits, and at least 8 of them.
	Nonce     string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Text is the challenge as a wallet shows it: of the form of EIP-4361 ("Sign-In with Ethereum"), which Solana's wallets know as well. It names the
// deployment and the member, so that a signature for one says nothing about another.
func (c *Challenge) Text() (string, error) {
	u, err := url.Parse(c.Deployment)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return "", fmt.Errorf("%q is no address of a deployment: allowed is one like https://app.example.com", c.Deployment)
	}
	network, address, chain := "Solana", c.Address.String(), "mainnet"
	if c.Family == chainconfig.EVM {
		network, address, chain = "Ethereum", checksummed(c.Address), "1"
	}
	const form = "%s wants you to sign in with your %s account:\n%s\n\nThis wallet belongs to the member %s of %s.\n\n" +
		"URI: %s\nVersion: 1\nChain ID: %s\nNonce: %s\nIssued At: %s\nExpiration Time: %s"
	return fmt.Sprintf(form, u.Host, network, address, c.Member, u.Host, c.Deployment, chain, c.Nonce,
		c.IssuedAt.UTC().Format(time.RFC3339), c.ExpiresAt.UTC().Format(time.RFC3339)), nil
}

// ending is the part of a text in which two texts of one deployment, member and wallet differ.
var ending = regexp.MustCompile(`\nNonce: ([A-Za-z0-9]{8,64})\nIssued At: ([0-9TZ:-]{20})\nExpiration Time: ([0-9TZ:-]{20})$`)

// Issued is when this deployment wrote a text for a member and a wallet: the text must be the one that it would write with the same nonce and times.
// ok is false for any other text.
func Issued(text, deployment string, of member.ID, family chainconfig.Family, address market.Address) (at time.Time, ok bool) {
	m := ending.FindStringSubmatch(text)
	if m == nil {
		return at, false
	}
	issued, err0 := time.Parse(time.RFC3339, m[2])
	expires, err1 := time.Parse(time.RFC3339, m[3])
	if err0 != nil || err1 != nil || expires.Sub(issued) != Lifetime {
		return at, false
	}
	c := Challenge{
		Deployment: deployment, Member: of, Family: family, Address: address, Nonce: m[1], IssuedAt: issued, ExpiresAt: expires,
	}
	own, err := c.Text()
	return issued, err == nil && own == text
}

// The ways in which a signature is none of the wallet's.
var (
	ErrForm = errors.New("allowed is a signature as wallets give it: of an EVM wallet 0x and 130 hexadecimal digits, of a Solana wallet the base58 or 0x " +
		"and the hexadecimal digits of 64 bytes")
	ErrOther = errors.New("the signature isn't of this text by this wallet")
)

// Check checks a wallet's signature of a text: by EIP-191 for an EVM account, by Ed25519 for a Solana account. The error is ErrForm or ErrOther.
func Check(family chainconfig.Family, address market.Address, text, signature string) error {
	if len(signature) > longestSignature {
		return ErrForm
	}
	if family == chainconfig.Solana {
		return checkEd25519(address, text, signature)
	}
	return checkEIP191(address, text, signature)
}

func checkEd25519(address market.Address, text, signature string) error {
	var raw [ed25519.SignatureSize]byte
	if digits, isHex := strings.CutPrefix(signature, "0x"); isHex {
		if n, err := hex.Decode(raw[:], []byte(digits[:min(len(digits), 2*len(raw))])); err != nil || n != len(raw) || len(digits) != 2*n {
			return ErrForm
		}
	} else if !base58.Decode(raw[:], signature) {
		return ErrForm
	}
	if address.Kind() != market.SolanaKey || !ed25519.Verify(address.Bytes()[1:], []byte(text), raw[:]) {
		return ErrOther
	}
	return nil
}

// checkEIP191 recovers the account that signed. The two forms of v are both in use: 27 and 28, and 0 and 1.
func checkEIP191(address market.Address, text, signature string) error {
	const length = 65
	digits, isHex := strings.CutPrefix(signature, "0x")
	raw, err := hex.DecodeString(digits)
	if !isHex || err != nil || len(raw) != length {
		return ErrForm
	}
	v := raw[64]
	if v < 27 {
		v += 27
	}
	if v != 27 && v != 28 {
		return ErrForm
	}
	compact := append([]byte{v}, raw[:64]...)
	key, _, err := ecdsa.RecoverCompact(compact, keccak(fmt.Appendf(nil, "\x19Ethereum Signed Message:\n%d%s", len(text), text)))
	if err != nil {
		return ErrOther
	}
	sum := keccak(key.SerializeUncompressed()[1:])
	if string(sum[12:]) != string(address.Bytes()) {
		return ErrOther
	}
	return nil
}

func keccak(b []byte) []byte {
	h := sha3.NewLegacyKeccak256()
	h.Write(b)
	return h.Sum(nil)
}

// checksummed is an EVM address in the spelling of EIP-55, which EIP-4361 asks for.
func checksummed(a market.Address) string {
	digits := []byte(hex.EncodeToString(a.Bytes()))
	sum := keccak(digits)
	for i, d := range digits {
		if half := sum[i/2] >> (4 * (1 - i%2)) & 0xf; d >= 'a' && half >= 8 {
			digits[i] = d - 'a' + 'A'
		}
	}
	return "0x" + string(digits)
}
