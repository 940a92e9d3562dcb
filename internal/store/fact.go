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

func factsToRows(chain string, facts []StoredFact) (_ []factRow, err error) {
	rows := make([]factRow, 0, len(facts))
	for _, f := range facts {
		r := factRow{Chain: chain, Block: int64(f.Block), Hash: f.Hash[:]}
		// An amount marshals as a number only when it is reached through a pointer.
		switch v := f.Fact.(type) {
		case market.TokenFact:
			r.Kind, r.Ref, err = "token", v.Token.Bytes(), encodeFact(&r, &v)
		case market.PoolFact:
			r.Kind, r.Ref, err = "pool", v.Pool.Bytes(), encodeFact(&r, &v)
		case market.SupplyFact:
			r.Kind, r.Ref, err = "supply", v.Token.Bytes(), encodeFact(&r, &v)
		case market.CurveFact:
			r.Kind, r.Ref, err = "curve", v.Token.Bytes(), encodeFact(&r, &v)
		case market.BalanceFact:
			r.Kind, r.Ref, err = "balance", v.Account.AppendTo(v.Token.Bytes()), encodeFact(&r, &v)
		default:
			err = fmt.Errorf("database: facts: a %T has no row", f.Fact)
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func encodeFact(r *factRow, fact any) (err error) {
	if r.Body, err = json.Marshal(fact); err != nil {
		return fmt.Errorf("database: facts: %w", err)
	}
	return nil
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
	case "curve":
		f.Fact, err = decodeFact[market.CurveFact](r.Body)
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

// KeepFacts adds facts of blocks that are not indexed yet: those of an earlier index, for one that begins anew.
func (s *Store) KeepFacts(ctx context.Context, l *Lease, facts []StoredFact) error {
	return s.writeUnderLease(ctx, l, func(tx *transaction, _ *position) error {
		rows, err := factsToRows(l.Chain, facts)
		if err != nil {
			return err
		}
		return upsert(ctx, tx, rows)
	})
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

// The chain is written so that it can't be looked up: SQLite would take it for the best start and walk all of its facts. A token
// has very few.
const firstTokenFact = "SELECT body FROM facts WHERE kind = 'token' AND ref = ? AND chain || '' = ? ORDER BY block"

// FirstTokenFact is the oldest fact of a token that has a supply, and where none has, the oldest: anybody can have a token asked
// that isn't there yet. ok is false when there is none.
func (s *Store) FirstTokenFact(ctx context.Context, chain string, token market.Address) (f market.TokenFact, ok bool, err error) {
	rows, err := s.ask(ctx, firstTokenFact, token.Bytes(), chain)
	if err != nil {
		return f, false, fmt.Errorf("database: read a token's first fact: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() && !f.HasSupply {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return f, false, fmt.Errorf("database: read a token's first fact: %w", err)
		}
		var next market.TokenFact
		if err := json.Unmarshal(body, &next); err != nil {
			return f, false, fmt.Errorf("database: facts: %w", err)
		}
		if !ok || next.HasSupply {
			f, ok = next, true
		}
	}
	if err := rows.Err(); err != nil {
		return f, false, fmt.Errorf("database: read a token's first fact: %w", err)
	}
	return f, ok, nil
}
