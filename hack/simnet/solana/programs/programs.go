// Package programs writes instructions of the programs that every chain of Solana has: of accounts and of tokens. https://docs.rs/solana-system-interface and
// https://docs.rs/spl-token-interface have their layouts.
package programs

import (
	"encoding/binary"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// The programs, and the account of the rent.
var (
	System      = svm.MustKey("11111111111111111111111111111111")
	Token       = svm.MustKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
	Token2022   = svm.MustKey("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
	Accounts    = svm.MustKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
	Budget      = svm.MustKey("ComputeBudget111111111111111111111111111111")
	RentAccount = svm.MustKey("SysvarRent111111111111111111111111111111111")
	Metadata    = svm.MustKey("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
)

// Lengths of the token programs' accounts.
const (
	MintLen         = 82
	TokenAccountLen = 165
)

// Rent is what an account of a length has to have in lamports.
func Rent(length int) uint64 { return uint64(length+128) * 6960 }

func u32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
func u64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// CreateAccount makes an account of a program's, with as many lamports as it needs.
func CreateAccount(payer, made svm.Key, length int, owner svm.Key) svm.Instruction {
	return svm.Instruction{
		Program: System, Accounts: []svm.Account{svm.Paying(payer), svm.Paying(made)},
		Data: slices.Concat(u32(0), u64(Rent(length)), u64(uint64(length)), owner[:]),
	}
}

// Pay moves SOL.
func Pay(from, to svm.Key, lamports uint64) svm.Instruction {
	return svm.Instruction{Program: System, Accounts: []svm.Account{svm.Paying(from), svm.Written(to)}, Data: slices.Concat(u32(2), u64(lamports))}
}

// InitializeMint makes an account a token's, of which an authority may make more.
func InitializeMint(program, mint svm.Key, decimals byte, authority svm.Key) svm.Instruction {
	return svm.Instruction{Program: program, Accounts: []svm.Account{svm.Written(mint)}, Data: slices.Concat([]byte{20, decimals}, authority[:], []byte{0})}
}

// InitializeAccount makes an account one that holds a token for an owner.
func InitializeAccount(program, account, mint, owner svm.Key) svm.Instruction {
	return svm.Instruction{Program: program, Accounts: []svm.Account{svm.Written(account), svm.Reading(mint)}, Data: slices.Concat([]byte{18}, owner[:])}
}

// MintTo makes more of a token.
func MintTo(program, mint, to, authority svm.Key, amount uint64) svm.Instruction {
	return svm.Instruction{Program: program, Accounts: []svm.Account{svm.Written(mint), svm.Written(to), svm.Signing(authority)}, Data: slices.Concat([]byte{7}, u64(amount))}
}

// GiveUpMinting has it that nobody may make more of a token.
func GiveUpMinting(program, mint, authority svm.Key) svm.Instruction {
	return svm.Instruction{Program: program, Accounts: []svm.Account{svm.Written(mint), svm.Signing(authority)}, Data: []byte{6, 0, 0}}
}

// Transfer moves a token of a person, or of who else signs.
func (t *Coin) Transfer(from, to, authority svm.Key, amount uint64) svm.Instruction {
	i := svm.Instruction{
		Program: t.Program, Accounts: []svm.Account{svm.Written(from), svm.Reading(t.Mint), svm.Written(to), svm.Signing(authority)}, Data: slices.Concat([]byte{12}, u64(amount), []byte{t.Decimals}),
	}
	if t.Hook != (svm.Key{}) {
		i.Accounts = append(i.Accounts, svm.Reading(t.Hook))
	}
	return i
}

// PlainTransfer is Transfer without the token among the accounts, which SPL Token takes as well.
func (t *Coin) PlainTransfer(from, to, authority svm.Key, amount uint64) svm.Instruction {
	return svm.Instruction{Program: t.Program, Accounts: []svm.Account{svm.Written(from), svm.Written(to), svm.Signing(authority)}, Data: slices.Concat([]byte{3}, u64(amount))}
}

// Burn destroys tokens of a person.
func (t *Coin) Burn(from, owner svm.Key, amount uint64) svm.Instruction {
	return svm.Instruction{Program: t.Program, Accounts: []svm.Account{svm.Written(from), svm.Written(t.Mint), svm.Signing(owner)}, Data: slices.Concat([]byte{8}, u64(amount))}
}

// CloseAccount gives up an empty account, and pays out its lamports.
func CloseAccount(account, to, owner svm.Key) svm.Instruction {
	return svm.Instruction{Program: Token, Accounts: []svm.Account{svm.Written(account), svm.Written(to), svm.Signing(owner)}, Data: []byte{9}}
}

// SyncNative has an account of wrapped SOL have the lamports that were paid into it.
func SyncNative(account svm.Key) svm.Instruction {
	return svm.Instruction{Program: Token, Accounts: []svm.Account{svm.Written(account)}, Data: []byte{17}}
}

// Coin is a token: its address, the program that has it, and its decimals.
type Coin struct {
	Mint, Program svm.Key
	Decimals      byte
	// Hook is the program that decides about each transfer (a transfer hook); a zero key is none. It asks for no accounts.
	Hook svm.Key
}

// Account is where an owner usually has it (the associated token account).
func (t *Coin) Account(owner svm.Key) svm.Key {
	k, _ := svm.Derived(Accounts, owner[:], t.Program[:], t.Mint[:])
	return k
}

// OpenAccount makes that account, where it isn't there.
func (t *Coin) OpenAccount(payer, owner svm.Key) svm.Instruction {
	return svm.Instruction{
		Program: Accounts,
		Accounts: []svm.Account{
			svm.Paying(payer), svm.Written(t.Account(owner)), svm.Reading(owner), svm.Reading(t.Mint), svm.Reading(System), svm.Reading(t.Program),
		},
		Data: []byte{1},
	}
}

// pointedMintLen is how long a mint of Token-2022 is that says where its name is; with the name in itself it is longer.
const pointedMintLen = 234

// NamedMint makes a token of Token-2022 that has its name itself, which nobody may change: the account, where it has its name (itself), the token, its name, and that nobody is
// the name's authority. https://docs.rs/spl-token-metadata-interface has the layouts of the last two.
func NamedMint(payer, mint, authority svm.Key, decimals byte, name, symbol, uri string) []svm.Instruction {
	create, length := CreateAccount(payer, mint, pointedMintLen, Token2022), pointedMintLen+4+32+32+4+len(name)+4+len(symbol)+4+len(uri)+4
	create.Data = slices.Concat(u32(0), u64(Rent(length)), u64(pointedMintLen), Token2022[:])
	return []svm.Instruction{
		create,
		{Program: Token2022, Accounts: []svm.Account{svm.Written(mint)}, Data: slices.Concat([]byte{39, 0}, authority[:], mint[:])},
		InitializeMint(Token2022, mint, decimals, authority),
		{
			Program: Token2022, Accounts: []svm.Account{svm.Written(mint), svm.Reading(authority), svm.Reading(mint), svm.Signing(authority)},
			Data: slices.Concat([]byte{210, 225, 30, 162, 88, 184, 77, 141}, text(name), text(symbol), text(uri)),
		},
		{
			Program: Token2022, Accounts: []svm.Account{svm.Written(mint), svm.Signing(authority)},
			Data: slices.Concat([]byte{215, 228, 166, 228, 84, 100, 86, 123}, make([]byte, 32)),
		},
	}
}

// MetadataOf is Metaplex' account of a token, whose name nobody may change: texts are as long as they may be, filled with zeros. https://developers.metaplex.com/token-metadata has
// its layout.
func MetadataOf(mint, authority svm.Key, name, symbol, uri string) []byte {
	padded := func(s string, length int) []byte {
		return text(s + string(make([]byte, max(length-len(s), 0))))
	}
	const immutable = 0
	return slices.Concat([]byte{4}, authority[:], mint[:], padded(name, 32), padded(symbol, 10), padded(uri, 200), []byte{0, 0, 0, 1, immutable, 0, 0, 0})
}

func text(s string) []byte { return append(u32(uint32(len(s))), s...) }
