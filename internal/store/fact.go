package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// StoredFact is what a call answered, with the block it was pinned to.
type StoredFact struct {
	Block uint64
	Hash  market.Hash
	Fact  market.Fact
}

type factRow struct {
	bun.BaseModel `bun:"table:facts"`

	Chain string `bun:",pk"`
	Block int64  `bun:",pk"`
	Kind  string `bun:",pk"`
	Ref   []byte `bun:",pk"`
	Hash  []byte
	Body  []byte
}

func factsToRows(chain string, facts []StoredFact) []factRow {
	rows := make([]factRow, 0, len(facts))
	for _, f := range facts {
		r := factRow{Chain: chain, Block: int64(f.Block), Hash: f.Hash[:]}
		switch v := f.Fact.(type) {
		case market.TokenFact:
			r.Kind, r.Ref = "token", v.Token.Bytes()
		case market.PoolFact:
			r.Kind, r.Ref = "pool", v.Pool.Bytes()
		case market.SupplyFact:
			r.Kind, r.Ref = "supply", v.Token.Bytes()
		case market.BalanceFact:
			r.Kind, r.Ref = "balance", v.Account.AppendTo(v.Token.Bytes())
		default:
			continue
		}
		r.Body, _ = json.Marshal(f.Fact) //nolint:errchkjson // plain structs
		rows = append(rows, r)
	}
	return rows
}

func (r *factRow) fact() (StoredFact, error) {
	c := columns{table: "facts"}
	f := StoredFact{Block: uint64(r.Block), Hash: c.hash(r.Hash)}
	if c.err != nil {
		return f, c.err
	}
	var err error
	switch r.Kind {
	case "token":
		f.Fact, err = decodeFact[market.TokenFact](r.Body)
	case "pool":
		f.Fact, err = decodeFact[market.PoolFact](r.Body)
	case "supply":
		f.Fact, err = decodeFact[market.SupplyFact](r.Body)
	case "balance":
		f.Fact, err = decodeFact[market.BalanceFact](r.Body)
	default:
		err = fmt.Errorf("database: facts: unknown kind %q", r.Kind)
	}
	return f, err
}

func decodeFact[F market.Fact](body []byte) (market.Fact, error) {
	var f F
	if err := json.Unmarshal(body, &f); err != nil {
		return nil, fmt.Errorf("database: facts: %w", err)
	}
	return f, nil
}

// Facts lists what is known about the blocks from first to last, in order.
func (s *Store) Facts(ctx context.Context, chain string, first, last uint64) ([]StoredFact, error) {
	var rows []factRow
	err := s.write.NewSelect().Model(&rows).Where("chain = ? AND block BETWEEN ? AND ?", chain, int64(first), int64(last)).
		Order("block", "kind", "ref").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read facts: %w", err)
	}
	return rowsTo(rows, (*factRow).fact)
}
