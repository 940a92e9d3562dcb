package store

import (
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

type tokenRow struct {
	bun.BaseModel `bun:"table:tokens"`

	Chain          string `bun:",pk"`
	Mint           []byte `bun:",pk"`
	Name           string
	Symbol         string
	HasDecimals    bool
	Decimals       int32
	HasSupply      bool
	Supply         []byte
	FirstBlock     int64
	FirstSeenAt    int64
	Pool           []byte
	Candidate      []byte
	CandidateSince int64
	HoldersStatus  string
	HoldersReason  string
	Holders        int64
	HoldersStrikes int32
	SinceCreation  bool
	CommitNo       int64
}

func tokenToRow(chain string, t *market.Token, commitNo int64) tokenRow {
	return tokenRow{
		Chain: chain, Mint: t.Mint.Bytes(), Name: t.Name, Symbol: t.Symbol,
		HasDecimals: t.HasDecimals, Decimals: int32(t.Decimals), HasSupply: t.HasSupply, Supply: bytesOf(&t.Supply),
		FirstBlock: int64(t.FirstBlock), FirstSeenAt: t.FirstSeenAt,
		Pool: t.Pool.Bytes(), Candidate: t.Candidate.Bytes(), CandidateSince: int64(t.CandidateSince),
		HoldersStatus: string(t.Holders.Status), HoldersReason: string(t.Holders.Reason), Holders: t.Holders.Count,
		HoldersStrikes: t.Holders.Strikes, SinceCreation: t.SinceCreation,
		CommitNo: commitNo,
	}
}

func (r *tokenRow) token() (market.Token, error) {
	c := columns{table: "tokens"}
	t := market.Token{
		Mint: c.address(r.Mint), Name: r.Name, Symbol: r.Symbol,
		HasDecimals: r.HasDecimals, Decimals: uint8(r.Decimals), HasSupply: r.HasSupply, Supply: c.amount(r.Supply),
		FirstBlock: uint64(r.FirstBlock), FirstSeenAt: r.FirstSeenAt,
		Pool: c.address(r.Pool), Candidate: c.address(r.Candidate), CandidateSince: uint64(r.CandidateSince),
		Holders: market.Holders{
			Status: market.HolderStatus(r.HoldersStatus), Reason: market.HolderReason(r.HoldersReason), Count: r.Holders,
			Strikes: r.HoldersStrikes,
		},
		SinceCreation: r.SinceCreation,
	}
	return t, c.err
}
