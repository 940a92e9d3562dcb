package solana

import (
	"encoding/binary"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// The programs and coins that every chain of Solana has.
var (
	systemProgram   = svm.MustKey("11111111111111111111111111111111")
	tokenProgram    = svm.MustKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
	token2022       = svm.MustKey("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
	accountsProgram = svm.MustKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
	budgetProgram   = svm.MustKey("ComputeBudget111111111111111111111111111111")
	rentAccount     = svm.MustKey("SysvarRent111111111111111111111111111111111")
	metadataProgram = svm.MustKey("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")

	// WSOL, USDC and USDT are the coins that tokens are traded for.
	WSOL = svm.MustKey("So11111111111111111111111111111111111111112")
	USDC = svm.MustKey("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	USDT = svm.MustKey("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")
)

// Lengths of the token programs' accounts.
const (
	mintLen         = 82
	tokenAccountLen = 165
)

// rent is what an account of a length has to have in lamports.
func rent(length int) uint64 { return uint64(length+128) * 6960 }

// Data of the system program's and the token programs' instructions.
// https://docs.rs/solana-system-interface and https://docs.rs/spl-token-interface have them.
func u32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
func u64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func written(k svm.Key) svm.Account { return svm.Account{Key: k, Writable: true} }
func signing(k svm.Key) svm.Account { return svm.Account{Key: k, Signer: true} }
func reading(k svm.Key) svm.Account { return svm.Account{Key: k} }
func paying(k svm.Key) svm.Account  { return svm.Account{Key: k, Signer: true, Writable: true} }

func createAccount(payer, made svm.Key, length int, owner svm.Key) svm.Instruction {
	return svm.Instruction{
		Program: systemProgram, Accounts: []svm.Account{paying(payer), paying(made)},
		Data: join(u32(0), u64(rent(length)), u64(uint64(length)), owner[:]),
	}
}

func pay(from, to svm.Key, lamports uint64) svm.Instruction {
	return svm.Instruction{Program: systemProgram, Accounts: []svm.Account{paying(from), written(to)}, Data: join(u32(2), u64(lamports))}
}

func initializeMint(program, mint svm.Key, decimals byte, authority svm.Key) svm.Instruction {
	return svm.Instruction{Program: program, Accounts: []svm.Account{written(mint)}, Data: join([]byte{20, decimals}, authority[:], []byte{0})}
}

func initializeAccount(program, account, mint, owner svm.Key) svm.Instruction {
	return svm.Instruction{Program: program, Accounts: []svm.Account{written(account), reading(mint)}, Data: join([]byte{18}, owner[:])}
}

func mintTo(program, mint, to, authority svm.Key, amount uint64) svm.Instruction {
	return svm.Instruction{Program: program, Accounts: []svm.Account{written(mint), written(to), signing(authority)}, Data: join([]byte{7}, u64(amount))}
}

// giveUpMinting has it that nobody may make more of a token.
func giveUpMinting(program, mint, authority svm.Key) svm.Instruction {
	return svm.Instruction{Program: program, Accounts: []svm.Account{written(mint), signing(authority)}, Data: []byte{6, 0, 0}}
}

// transfer moves a token of a person, or of who else signs.
func (t *coin) transfer(from, to, authority svm.Key, amount uint64) svm.Instruction {
	return svm.Instruction{
		Program: t.program, Accounts: []svm.Account{written(from), reading(t.mint), written(to), signing(authority)}, Data: join([]byte{12}, u64(amount), []byte{t.decimals}),
	}
}

// burn destroys tokens of a person.
func (t *coin) burn(from, owner svm.Key, amount uint64) svm.Instruction {
	return svm.Instruction{Program: t.program, Accounts: []svm.Account{written(from), written(t.mint), signing(owner)}, Data: join([]byte{8}, u64(amount))}
}

func closeAccount(account, to, owner svm.Key) svm.Instruction {
	return svm.Instruction{Program: tokenProgram, Accounts: []svm.Account{written(account), written(to), signing(owner)}, Data: []byte{9}}
}

// syncNative has an account of wrapped SOL have the lamports that were paid into it.
func syncNative(account svm.Key) svm.Instruction {
	return svm.Instruction{Program: tokenProgram, Accounts: []svm.Account{written(account)}, Data: []byte{17}}
}

// coin is a token: its address, the program that has it, and its decimals.
type coin struct {
	mint, program svm.Key
	decimals      byte
}

var (
	wsol = coin{mint: WSOL, program: tokenProgram, decimals: 9}
	usdc = coin{mint: USDC, program: tokenProgram, decimals: 6}
)

// account is where an owner usually has it (the associated token account).
func (t *coin) account(owner svm.Key) svm.Key {
	k, _ := svm.Derived(accountsProgram, owner[:], t.program[:], t.mint[:])
	return k
}

// openAccount makes that account, where it isn't there.
func (t *coin) openAccount(payer, owner svm.Key) svm.Instruction {
	return svm.Instruction{
		Program: accountsProgram,
		Accounts: []svm.Account{
			paying(payer), written(t.account(owner)), reading(owner), reading(t.mint), reading(systemProgram), reading(t.program),
		},
		Data: []byte{1},
	}
}

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
