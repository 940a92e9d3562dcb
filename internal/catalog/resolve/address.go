package resolve

import (
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/sha3"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// address reads an address of a family. It is none when there is no telling.
func (r *report) address(path string, family chainconfig.Family, s string) market.Address {
	switch family {
	case chainconfig.EVM:
		return r.evmAddress(path, s)
	case chainconfig.Solana:
		a, err := market.ParseSolanaAddress(s)
		if err != nil {
			r.add(path, "%.80q is no Solana address; allowed: a base58 key of 32 bytes, 32 to 44 characters", s)
		}
		return a
	default:
		return market.Address{}
	}
}

func (r *report) evmAddress(path, s string) market.Address {
	a, err := market.ParseEVMAddress(s)
	if err != nil || !strings.HasPrefix(s, "0x") {
		r.add(path, "%.80q is no EVM address; allowed: 0x and 40 hexadecimal digits", s)
		return market.Address{}
	}
	if a.IsNative() {
		r.add(path, "the zero address is no contract; write the deployed one (the wrapped coin for the native coin), or leave the entry out")
		return market.Address{}
	}
	if digits := s[2:]; digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) && s != checksummed(a) {
		r.add(path, "%q has a wrong checksum, %s would be right; look for a typo, or write it in lower case", s, checksummed(a))
		return market.Address{}
	}
	return a
}

// checksummed is EIP-55's form: a letter is in upper case where the hash of the lower-case digits has a nibble of 8 or
// more.
func checksummed(a market.Address) string {
	out := []byte(a.String())
	h := sha3.NewLegacyKeccak256()
	_, _ = h.Write(out[2:])
	nibbles := hex.EncodeToString(h.Sum(nil))
	for i := range out[2:] {
		if c := out[2+i]; c >= 'a' && nibbles[i] >= '8' {
			out[2+i] = c - 'a' + 'A'
		}
	}
	return string(out)
}
