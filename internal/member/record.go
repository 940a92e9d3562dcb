package member

import (
	"errors"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Record is what the app writes of a member, of one of their wallets, or of a call or a post of theirs. What it says was checked field by field.
type Record struct {
	ID ID
	// UpdatedAt is the app's time of this write, in unix microseconds.
	UpdatedAt int64
	// Deleted has the member leave, takes the wallet away, or deletes the call or the post.
	Deleted bool
	// Of a member:

	Handle, AvatarURL string
	// JoinedAt is unix seconds.
	JoinedAt int64

	// A record of a wallet, a call or a post has one of these.

	Wallet *WalletRecord
	Call   *CallRecord
	Post   *PostRecord
}

// WalletRecord is what the app writes of a wallet of the member with the record's ID.
type WalletRecord struct {
	Family  chainconfig.Family
	Address market.Address
	// Chain is the chain of a contract wallet, else empty.
	Chain  string
	Public bool
	// Since is the time that an export gives, in unix seconds; 0 stands for now.
	Since int64
	// Proof is nil where the app attests the wallet. Its CheckedAt is the time that an export gives, and 0 for the answer to a challenge.
	Proof *Proof
	// Names reports whether the proof's text is one that this deployment wrote for this member and this wallet, at IssuedAt (unix seconds), and Signed
	// whether the signature is the wallet's. Both are false without a proof.
	Names, Signed bool
	IssuedAt      int64
}

// WalletKey identifies a wallet.
type WalletKey struct {
	Family  chainconfig.Family
	Address market.Address
	Chain   string
}

// Key is the wallet's.
func (w *WalletRecord) Key() WalletKey { return WalletKey{w.Family, w.Address, w.Chain} }

// Key is the wallet's.
func (w *Wallet) Key() WalletKey { return WalletKey{w.Family, w.Address, w.Chain} }

// saysOf reports whether the record says what is there of its member.
func (r *Record) saysOf(m *Member) bool {
	if r.Deleted || m.LeftAt > 0 {
		return r.Deleted && m.LeftAt > 0
	}
	return r.Handle == m.Handle && r.AvatarURL == m.AvatarURL && r.JoinedAt == m.JoinedAt
}

// saysOfWallet reports whether the record says what is there of its wallet. One that attests it says nothing of a proof; the date and the proof of an
// export count when a wallet is new alone.
func (r *Record) saysOfWallet(w *Wallet) bool {
	if r.Deleted || w.RemovedAt > 0 {
		return r.Deleted && w.RemovedAt > 0
	}
	if r.Wallet.Public != w.Public || r.ID != w.Member {
		return false
	}
	p := r.Wallet.Proof
	return p == nil || p.CheckedAt > 0 || w.Proof != nil && p.Text == w.Proof.Text && p.Signature == w.Proof.Signature
}

// lifetime is for how long after its text was written a challenge can be answered, in seconds.
const lifetime = 5 * 60

// provedAt reports whether the record's proof is of this deployment, member and wallet, and was checked while its text could be answered.
func (w *WalletRecord) provedAt(checked int64) bool {
	return w.Names && w.Signed && w.IssuedAt <= checked && checked <= w.IssuedAt+lifetime
}

// Outcome is what a record changed.
type Outcome string

// The outcomes.
const (
	// Written means that the registry is as the record says.
	Written Outcome = "written"
	// Unchanged means that what the record says is there, by a record of the same time.
	Unchanged Outcome = "unchanged"
	// Older means that a later record was written before: this one changes nothing.
	Older Outcome = "older"
)

// The errors of a record that is right by itself and can't be written.
var (
	ErrNoMember     = errors.New("there is no such member: write the member first")
	ErrNoWallet     = errors.New("the member has no such wallet")
	ErrHandleTaken  = errors.New("the handle is another member's, or was until less than 90 days ago")
	ErrWalletTaken  = errors.New("the wallet is another member's, or was less than an hour ago of one who left")
	ErrOtherRecord  = errors.New("another record with the same updated_at was written before: write it again with a later one")
	ErrNoChallenge  = errors.New("the text is no challenge that can be answered: each can be once, within 5 minutes")
	ErrNotSigned    = errors.New("the signature isn't of this text by this wallet")
	ErrKeptByOthers = errors.New("the address is a pool, or the contract of a launch's curve: it is nobody's wallet")
)
