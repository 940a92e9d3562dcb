package layout

import (
	"bytes"
	"encoding/binary"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Extensions of Token-2022 that give somebody power over other people's tokens (spl-token-2022, ExtensionType).
const (
	TransferFee         uint16 = 1
	DefaultAccountState uint16 = 6
	NonTransferable     uint16 = 9
	PermanentDelegate   uint16 = 12
	TransferHook        uint16 = 14
	Pausable            uint16 = 26
)

// TokenMetadata is the extension that has a token's name.
const TokenMetadata uint16 = 19

// The layout of a token account: SPL Token's, which Token-2022 begins with as well.
const (
	TokenAccountLen     = 165
	TokenAccountOwnerAt = 32
	TokenAccountSumEnd  = 72 // the end of the amount, which stands behind the owner
)

// The layout of a mint: SPL Token's, which Token-2022 begins with as well.
const (
	mintLen           = 82
	mintSupplyAt      = 36
	mintDecimalsAt    = 44
	mintInitializedAt = 45
	mintFreezeAt      = 46
)

// Token-2022 pads a mint to the length of a token account, and says behind that length what an account is.
const (
	AccountTypeAt   = TokenAccountLen
	accountTypeMint = 1
	extensionsAt    = AccountTypeAt + 1
)

// Mint is what a token's account tells.
type Mint struct {
	Supply   uint64
	Decimals uint8
	// MintAuthority may make more of the token, FreezeAuthority freeze accounts of it; none where nobody may.
	MintAuthority, FreezeAuthority market.Address
	// Extensions are those of Token-2022, by their types: their contents as they are stored.
	Extensions map[uint16][]byte
}

// MintOf reads a token's account; ok is false for what is no token.
func MintOf(a *Account) (m Mint, ok bool) {
	d := a.Data
	switch {
	case a.Owner == TokenProgram && len(d) == mintLen:
	case a.Owner == Token2022Program && (len(d) == mintLen || len(d) > AccountTypeAt && d[AccountTypeAt] == accountTypeMint):
	default:
		return m, false
	}
	m = Mint{
		Supply: binary.LittleEndian.Uint64(d[mintSupplyAt:]), Decimals: d[mintDecimalsAt], Extensions: map[uint16][]byte{},
		MintAuthority: optionalKey(d), FreezeAuthority: optionalKey(d[mintFreezeAt:]),
	}
	for rest := d[min(len(d), extensionsAt):]; len(rest) >= 4; {
		kind, n := binary.LittleEndian.Uint16(rest), int(binary.LittleEndian.Uint16(rest[2:]))
		if len(d) == MostRead {
			n = min(n, len(rest)-4) // the rest of it wasn't read
		}
		if kind == 0 || n > len(rest)-4 {
			break // what is left is room for more
		}
		m.Extensions[kind], rest = rest[4:4+n], rest[4+n:]
	}
	return m, d[mintInitializedAt] == 1
}

// optionalKey reads a key after a number of 32 bits that says whether it is there.
func optionalKey(b []byte) market.Address {
	if binary.LittleEndian.Uint32(b) == 0 {
		return market.Address{}
	}
	return market.SolanaAddress([32]byte(b[4:36]))
}

// TokensIn is what a token account has, of whatever token; 0 where the account is none.
func TokensIn(a *Account) uint64 {
	if a.Owner != TokenProgram && a.Owner != Token2022Program || len(a.Data) < TokenAccountLen {
		return 0
	}
	return binary.LittleEndian.Uint64(a.Data[TokenAccountSumEnd-8:])
}

// HeldBy is what an owner has in a token account; 0 where the account is none of this owner's, token and token program.
func HeldBy(owner, tokenProgram, token market.Address, a *Account) uint64 {
	if a.Owner != tokenProgram || len(a.Data) < TokenAccountLen || !bytes.Equal(a.Data[:TokenAccountOwnerAt], KeyOf(token)) ||
		!bytes.Equal(a.Data[TokenAccountOwnerAt:TokenAccountOwnerAt+32], KeyOf(owner)) {
		return 0
	}
	return binary.LittleEndian.Uint64(a.Data[TokenAccountSumEnd-8:])
}
