package member

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TokenRef says which token a text means by a ticker.
type TokenRef struct {
	// Symbol is without the dollar sign; its case is ignored.
	Symbol string         `json:"symbol"`
	Mint   market.Address `json:"mint"`
	Chain  string         `json:"chain"`
}

// The bounds of a text, and of its refs.
const (
	longestText = 16 << 10 // bytes
	mostRefs    = 32
)

var (
	errText    = fmt.Errorf("allowed are up to %d bytes without control characters but tabs and line feeds", longestText)
	errSymbol  = errors.New("allowed are 1 to 32 letters, digits, dots, underscores and hyphens, without the dollar sign")
	errChainID = errors.New("allowed is the id of a chain: 1 to 32 of the characters a-z, 0-9 and hyphen")
	errRefs    = fmt.Errorf("allowed are at most %d, each with another symbol", mostRefs)
)

// CheckText says what is allowed where a text isn't.
func CheckText(text string) error {
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' }
	if len(text) > longestText || strings.ContainsFunc(text, control) {
		return errText
	}
	return nil
}

var symbolPattern = regexp.MustCompile(`^[\p{L}\p{N}._-]{1,32}$`)

// CheckSymbol says what is allowed where a ref's symbol isn't.
func CheckSymbol(symbol string) error {
	if !symbolPattern.MatchString(symbol) {
		return errSymbol
	}
	return nil
}

// CheckRefs says what is allowed where a list of refs isn't.
func CheckRefs(refs []TokenRef) error {
	seen := make(map[string]bool, len(refs))
	for _, r := range refs {
		seen[SymbolKey(r.Symbol)] = true
	}
	if len(refs) > mostRefs || len(seen) < len(refs) {
		return errRefs
	}
	return nil
}

// Pinned gives the token that the refs say a ticker means.
func Pinned(refs []TokenRef, symbol string) (ref TokenRef, ok bool) {
	i := slices.IndexFunc(refs, func(r TokenRef) bool { return SymbolKey(r.Symbol) == SymbolKey(symbol) })
	if i < 0 {
		return ref, false
	}
	return refs[i], true
}

// SymbolKey is the same for symbols that differ in case alone.
func SymbolKey(symbol string) string { return strings.ToLower(symbol) }

var chainPattern = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// CheckChain says what is allowed where the id of a chain isn't.
func CheckChain(id string) error {
	if !chainPattern.MatchString(id) {
		return errChainID
	}
	return nil
}

var errMint = errors.New("allowed is the address of a token: 0x and 40 hexadecimal digits that aren't all 0, or the base58 of 32 bytes on Solana")

// ParseMint reads a token's address, of whichever family of chains it has the form.
func ParseMint(text string) (market.Address, error) {
	a, err := market.ParseMint(text)
	if err != nil {
		return a, errMint
	}
	return a, nil
}

var errTx = errors.New("allowed is a transaction: 0x and 64 hexadecimal digits, or the base58 of 64 bytes on Solana")

// ParseTx reads the hash of a transaction, or its first signature on Solana.
func ParseTx(text string) (market.TxID, error) {
	id, err := market.ParseTx(text)
	if err != nil {
		return id, errTx
	}
	return id, nil
}
