package social

import (
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
)

type memberRow struct {
	bun.BaseModel `bun:"table:members"`

	Number    int64 `bun:",pk"`
	ID        string
	Handle    string
	HandleKey *string
	AvatarURL string `bun:"avatar_url"`
	JoinedAt  int64
	UpdatedAt int64
	LeftAt    int64
	// WalletsAfter is as in member.Member.
	WalletsAfter int64
	Change       int64
}

func memberToRow(v *member.Member) memberRow {
	row := memberRow{
		Number: int64(v.Number), ID: string(v.ID), Handle: v.Handle, AvatarURL: v.AvatarURL, JoinedAt: v.JoinedAt, UpdatedAt: v.UpdatedAt,
		LeftAt: v.LeftAt, WalletsAfter: v.WalletsAfter, Change: v.Change,
	}
	if v.Handle != "" {
		row.HandleKey = new(member.HandleKey(v.Handle))
	}
	return row
}

func (r *memberRow) value() *member.Member {
	return &member.Member{
		Number: member.Number(r.Number), ID: member.ID(r.ID), Handle: r.Handle, AvatarURL: r.AvatarURL, JoinedAt: r.JoinedAt, UpdatedAt: r.UpdatedAt,
		LeftAt: r.LeftAt, WalletsAfter: r.WalletsAfter, Change: r.Change,
	}
}

type walletRow struct {
	bun.BaseModel `bun:"table:member_wallets"`

	Family    string `bun:",pk"`
	Address   []byte `bun:",pk"`
	Chain     string `bun:",pk"`
	Member    int64
	IsPublic  bool
	Since     int64
	ProofText string
	Signature string
	CheckedAt int64
	UpdatedAt int64
	RemovedAt int64
	// TakenAwayAt is as in member.Wallet.
	TakenAwayAt int64
	Change      int64
}

func walletToRow(v *member.Wallet) walletRow {
	row := walletRow{
		Family: string(v.Family), Address: v.Address.Bytes(), Chain: v.Chain, Member: int64(v.Number), IsPublic: v.Public, Since: v.Since,
		UpdatedAt: v.UpdatedAt, RemovedAt: v.RemovedAt, TakenAwayAt: v.TakenAwayAt, Change: v.Change,
	}
	if p := v.Proof; p != nil {
		row.ProofText, row.Signature, row.CheckedAt = p.Text, p.Signature, p.CheckedAt
	}
	return row
}

// walletOf is a wallet with what its member's row says.
type walletOf struct {
	walletRow

	MemberID   string `bun:"member_id"`
	MemberLeft bool
	JoinedAt   int64
}

// walletsWithMember selects walletOf; a condition on w stands behind it.
const walletsWithMember = "SELECT w.family, w.address, w.chain, w.member, w.is_public, w.since, w.proof_text, w.signature, w.checked_at, w.updated_at, " +
	"w.removed_at, w.taken_away_at, w.change, m.id AS member_id, m.left_at > 0 AS member_left, m.joined_at FROM member_wallets w JOIN members m ON m.number = w.member WHERE "

func (r *walletOf) value() (*member.Wallet, error) {
	address, err := market.AddressFromBytes(r.Address)
	if err != nil {
		return nil, fmt.Errorf("database: a row of member_wallets: %w", err)
	}
	w := &member.Wallet{
		Member: member.ID(r.MemberID), Number: member.Number(r.Member), Family: chainconfig.Family(r.Family), Address: address, Chain: r.Chain,
		Public: r.IsPublic, Since: max(r.Since, r.JoinedAt), UpdatedAt: r.UpdatedAt, RemovedAt: r.RemovedAt, TakenAwayAt: r.TakenAwayAt, MemberLeft: r.MemberLeft, Change: r.Change,
	}
	if r.CheckedAt > 0 {
		w.Proof = &member.Proof{Text: r.ProofText, Signature: r.Signature, CheckedAt: r.CheckedAt}
	}
	return w, nil
}
