// Package layout reads what accounts of Solana hold: tokens, their names and pictures, and pools' shares. It takes bytes and asks nobody.
package layout

import (
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/spltoken"
	"github.com/boardwalkhq/boardwalk/indexer/solana/pda"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Account is an account as a node tells it.
type Account struct {
	// Owner is the program that may change it.
	Owner market.Address
	// Data is at most the first MostRead bytes.
	Data []byte
}

// MostRead is how many bytes of an account are read, so that nobody can make a token whose description takes much memory.
const MostRead = 16 << 10

// The programs that tokens, their descriptions, and accounts at usual addresses are of.
var (
	TokenProgram     = program(spltoken.Program)
	Token2022Program = program(spltoken.Program2022)
	MetadataProgram  = program("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
	AccountsProgram  = program("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
)

// program parses the text of a program's key. A test checks each text of this package.
func program(text string) market.Address {
	a, _ := market.ParseSolanaAddress(text)
	return a
}

// KeyOf are the 32 bytes of an account's key.
func KeyOf(a market.Address) []byte { return a.Bytes()[1:] }

// MetadataOf is Metaplex's account of a token.
func MetadataOf(token market.Address) market.Address {
	return pda.Of(MetadataProgram, []byte("metadata"), KeyOf(MetadataProgram), KeyOf(token))
}

// UsualAccountOf is where an owner usually has a token of a token program (the associated token account).
func UsualAccountOf(owner, tokenProgram, token market.Address) market.Address {
	return pda.Of(AccountsProgram, KeyOf(owner), KeyOf(tokenProgram), KeyOf(token))
}
