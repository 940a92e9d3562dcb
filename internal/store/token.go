package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

type tokenRow struct {
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
	stamped
}

func tokenToRow(chain string, t *market.Token, as stamped) tokenRow {
	return tokenRow{
		Chain: chain, Mint: t.Mint.Bytes(), Name: t.Name, Symbol: t.Symbol,
		HasDecimals: t.HasDecimals, Decimals: int32(t.Decimals), HasSupply: t.HasSupply, Supply: bytesOf(&t.Supply), SupplyStrikes: t.SupplyStrikes,
		FirstBlock: int64(t.FirstBlock), FirstSeenAt: t.FirstSeenAt,
		Pool: t.Pool.Bytes(), Candidate: t.Candidate.Bytes(), CandidateSince: int64(t.CandidateSince), CandidateAt: t.CandidateAt,
		HoldersStatus: string(t.Holders.Status), HoldersReason: string(t.Holders.Reason), Holders: t.Holders.Count,
		HoldersStrikes: t.Holders.Strikes, HoldersGained: t.Holders.Gained.Sum, GainedAt: t.Holders.Gained.At, SinceCreation: t.SinceCreation,
		stamped: as,
	}
}

func (r *tokenRow) token() (market.Token, error) {
	c := columns{table: "tokens"}
	t := market.Token{
		Mint: c.address(r.Mint), Name: r.Name, Symbol: r.Symbol,
		HasDecimals: r.HasDecimals, Decimals: uint8(r.Decimals), HasSupply: r.HasSupply, Supply: c.amount(r.Supply), SupplyStrikes: r.SupplyStrikes,
		FirstBlock: uint64(r.FirstBlock), FirstSeenAt: r.FirstSeenAt,
		Pool: c.address(r.Pool), Candidate: c.address(r.Candidate), CandidateSince: uint64(r.CandidateSince), CandidateAt: r.CandidateAt,
		Holders: market.Holders{
			Status: market.HolderStatus(r.HoldersStatus), Reason: market.HolderReason(r.HoldersReason), Count: r.Holders,
			Strikes: r.HoldersStrikes, Gained: market.Growth{Sum: r.HoldersGained, At: r.GainedAt},
		},
		SinceCreation: r.SinceCreation,
	}
	return t, c.err
}

// withoutSupply spells the condition of the index tokens_supply. The chain is written so that SQLite can't take the primary key for as good.
const withoutSupply = "SELECT mint FROM tokens WHERE chain || '' = ? AND has_supply = FALSE AND supply_strikes < 2 AND pool IS NOT NULL AND "

// WithoutSupply lists up to limit priced tokens of a chain whose supply is still to be asked for, from an address on and then from the
// first. It reads through the writer's connection, so that it sees the last commit.
func (s Tokens) WithoutSupply(ctx context.Context, chain string, from market.Address, limit int) (out []market.Address, err error) {
	for _, part := range []string{"mint >= ?", "mint < ?"} {
		more, err := s.listMints(ctx, withoutSupply+part+" ORDER BY mint LIMIT ?", chain, from.Bytes(), limit-len(out))
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// doubtedSupplies spells the condition of the index tokens_doubted.
const doubtedSupplies = "SELECT mint FROM tokens WHERE chain || '' = ? AND supply_strikes = 1 ORDER BY mint < ?, mint LIMIT ?"

// DoubtedSupplies lists up to limit tokens of a chain whose supply was contradicted once, from an address on and then from the first. It reads
// through the writer's connection, so that it sees the last commit.
func (s Tokens) DoubtedSupplies(ctx context.Context, chain string, from market.Address, limit int) ([]market.Address, error) {
	return s.listMints(ctx, doubtedSupplies, chain, from.Bytes(), limit)
}

// muteTokens spells the condition of the index tokens_mute. The tokens from an address on come first.
const muteTokens = "SELECT mint FROM tokens WHERE chain || '' = ? AND has_decimals = FALSE AND first_block >= ? AND first_block < ? " +
	"ORDER BY mint < ?, mint LIMIT ?"

// Mute lists up to limit tokens of a chain that told no decimals and were first seen in the blocks from first to
// before end, from an address on and then from the first. It reads through the writer's connection, so that it sees the
// last commit.
func (s Tokens) Mute(ctx context.Context, chain string, first, end uint64, from market.Address, limit int) ([]market.Address, error) {
	return s.listMints(ctx, muteTokens, chain, int64(first), int64(end), from.Bytes(), limit)
}

// listMints reads a list of tokens through the writer's connection, so that it sees the last commit.
func (s *rows) listMints(ctx context.Context, query string, args ...any) ([]market.Address, error) {
	var rows [][]byte
	if err := s.Write.NewRaw(query, args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: list tokens: %w", err)
	}
	var out []market.Address
	c := columns{table: "tokens"}
	for _, r := range rows {
		out = append(out, c.address(r))
	}
	return out, c.err
}
