// Package member is what a member of the platform is: a handle, an avatar and wallets. The platform's app writes members; Boardwalk keeps them,
// and derives from the chains what their wallets do.
package member

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// ID is what the platform's app calls a member by. Nothing public shows it.
type ID string

// Number is what Boardwalk calls a member by. Nothing public shows it either.
type Number int64

// Member is a member as the app wrote them last.
type Member struct {
	ID     ID
	Number Number
	Handle string
	// AvatarURL is empty where there is none.
	AvatarURL string
	// JoinedAt is unix seconds.
	JoinedAt int64
	// UpdatedAt is the app's time of what it wrote last, in unix microseconds: an older write changes nothing.
	UpdatedAt int64
	// LeftAt is when the member left, in unix seconds; 0 is a member.
	LeftAt int64
	// WalletsAfter is the app's time of the record by which the member left last, in unix microseconds: no older record gives them a wallet, or a post, again.
	WalletsAfter int64
	// Change is the registry's number of the last change.
	Change int64
}

// Wallet is a wallet of a member.
type Wallet struct {
	Member ID
	Number Number
	Family chainconfig.Family
	// Address is an account; of a contract wallet, the contract.
	Address market.Address
	// Chain is the chain of a contract wallet, which exists on one chain alone; empty for a wallet with a key of its own, which is the
	// same wallet on all chains of its family.
	Chain string
	// Public has the wallet shown with the member's handle.
	Public bool
	// Since is from when on the wallet counts as the member's, in unix seconds: when it was proved or attested first, and never before the
	// member joined.
	Since int64
	// Proof is nil for a wallet that the app only attested.
	Proof *Proof
	// UpdatedAt is as that of Member.
	UpdatedAt int64
	// RemovedAt is when the app took the wallet away, in unix seconds; 0 is a wallet.
	RemovedAt int64
	// TakenAwayAt is RemovedAt of the last time that the app took the wallet away: no proof from before counts again.
	TakenAwayAt int64
	// MemberLeft is true while the member has left: the wallet is nobody's then.
	MemberLeft bool
	// Change is the registry's number of the last change.
	Change int64
}

// Proof is a text that the wallet's owner signed.
type Proof struct {
	Text, Signature string
	// CheckedAt is when the signature was checked first, in unix seconds.
	CheckedAt int64
}

var (
	idPattern     = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)
	handlePattern = regexp.MustCompile(`^[A-Za-z0-9_]{1,32}$`)
)

// The errors of values say what is allowed, for whoever names the field.
var (
	errID     = errors.New("allowed are 1 to 64 of the characters A-Z, a-z, 0-9, dot, underscore, colon and hyphen")
	errHandle = errors.New("allowed are 1 to 32 of the characters A-Z, a-z, 0-9 and underscore, without @")
	errAvatar = fmt.Errorf("allowed is an https:// address of at most %d bytes", longestURL)
)

const longestURL = 1024

// CheckID says what is allowed where an id isn't.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return errID
	}
	return nil
}

// CheckHandle says what is allowed where a handle isn't.
func CheckHandle(handle string) error {
	if !handlePattern.MatchString(handle) {
		return errHandle
	}
	return nil
}

// CheckAvatar says what is allowed where an avatar's address isn't; none is allowed.
func CheckAvatar(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(address) > longestURL || !utf8.ValidString(address) {
		return errAvatar
	}
	return nil
}

// HandleKey gives the key by which handles are compared: two handles that differ in case alone have the same.
func HandleKey(handle string) string { return strings.ToLower(handle) }

// families are the families of chains by their names in the intake.
var families = map[string]chainconfig.Family{"evm": chainconfig.EVM, "solana": chainconfig.Solana}

// ParseFamily reads the name of a family of chains.
func ParseFamily(name string) (chainconfig.Family, error) {
	if f, ok := families[name]; ok {
		return f, nil
	}
	return "", errors.New("allowed are evm and solana")
}

// FamilyName is the name of a family of chains in the intake.
func FamilyName(f chainconfig.Family) string { return strings.ToLower(string(f)) }

// ParseAddress reads a wallet's address. The chain's own coin is none.
func ParseAddress(f chainconfig.Family, text string) (market.Address, error) {
	if f == chainconfig.Solana {
		a, err := market.ParseSolanaAddress(text)
		if err != nil {
			return a, errors.New("allowed is the base58 of 32 bytes")
		}
		return a, nil
	}
	a, err := market.ParseEVMAddress(text)
	if err != nil || a.IsNative() {
		return market.Address{}, errors.New("allowed is 0x and 40 hexadecimal digits that aren't all 0")
	}
	return a, nil
}
