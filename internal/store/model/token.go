package model

import (
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Token is a row of tokens.
type Token struct {
	bun.BaseModel `bun:"table:tokens"`

	Chain          string `bun:",pk"`
	Mint           []byte `bun:",pk" image:"address"`
	Name           string
	Symbol         string
	HasDecimals    bool
	Decimals       int32
	HasSupply      bool
	Supply         []byte
	SupplyStrikes  int32
	FirstBlock     int64
	FirstSeenAt    int64
	Pool           []byte `image:"address"`
	Candidate      []byte `image:"address"`
	CandidateSince int64
	CandidateAt    int64 `image:"later"`
	HoldersStatus  string
	HoldersReason  string
	Holders        int64
	HoldersStrikes int32
	HoldersGained  float64
	GainedAt       int64 `bun:"holders_gained_at"`
	SinceCreation  bool
	Stamped
}

// OfToken is the row of a token.
func OfToken(chain string, t *market.Token, as Stamped) Token {
	return Token{
		Chain: chain, Mint: t.Mint.Bytes(), Name: t.Name, Symbol: t.Symbol,
		HasDecimals: t.HasDecimals, Decimals: int32(t.Decimals), HasSupply: t.HasSupply, Supply: BytesOf(&t.Supply), SupplyStrikes: t.SupplyStrikes,
		FirstBlock: int64(t.FirstBlock), FirstSeenAt: t.FirstSeenAt,
		Pool: t.Pool.Bytes(), Candidate: t.Candidate.Bytes(), CandidateSince: int64(t.CandidateSince), CandidateAt: t.CandidateAt,
		HoldersStatus: string(t.Holders.Status), HoldersReason: string(t.Holders.Reason), Holders: t.Holders.Count,
		HoldersStrikes: t.Holders.Strikes, HoldersGained: t.Holders.Gained.Sum, GainedAt: t.Holders.Gained.At, SinceCreation: t.SinceCreation,
		Stamped: as,
	}
}

// Value is a token as the row has it.
func (r *Token) Value() (market.Token, error) {
	c := Columns{Table: "tokens"}
	t := market.Token{
		Mint: c.Address(r.Mint), Name: r.Name, Symbol: r.Symbol,
		HasDecimals: r.HasDecimals, Decimals: uint8(r.Decimals), HasSupply: r.HasSupply, Supply: c.Amount(r.Supply), SupplyStrikes: r.SupplyStrikes,
		FirstBlock: uint64(r.FirstBlock), FirstSeenAt: r.FirstSeenAt,
		Pool: c.Address(r.Pool), Candidate: c.Address(r.Candidate), CandidateSince: uint64(r.CandidateSince), CandidateAt: r.CandidateAt,
		Holders: market.Holders{
			Status: market.HolderStatus(r.HoldersStatus), Reason: market.HolderReason(r.HoldersReason), Count: r.Holders,
			Strikes: r.HoldersStrikes, Gained: market.Growth{Sum: r.HoldersGained, At: r.GainedAt},
		},
		SinceCreation: r.SinceCreation,
	}
	return t, c.Err
}
