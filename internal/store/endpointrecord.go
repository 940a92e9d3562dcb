package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// EndpointRecord says of an endpoint of a chain that it isn't trusted.
type EndpointRecord struct {
	// Endpoint is a hash of the endpoint's address, which may hold a key.
	Endpoint [16]byte
	// Outvoted is how often others, or a header, contradicted it, OutvotedAt when they did last (unix seconds).
	Outvoted   int
	OutvotedAt int64
}

type endpointRecordRow struct {
	bun.BaseModel `bun:"table:endpoint_records"`

	Chain      string `bun:",pk"`
	Endpoint   []byte `bun:",pk"`
	Outvoted   int
	OutvotedAt int64
}

// EndpointRecords lists the endpoints of a chain that weren't trusted at its last commit.
func (s Facts) EndpointRecords(ctx context.Context, chain string) ([]EndpointRecord, error) {
	var rows []endpointRecordRow
	if err := s.db.Write.NewSelect().Model(&rows).Where("chain = ?", chain).Order("endpoint").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read the endpoints' records: %w", err)
	}
	return model.To(rows, func(r *endpointRecordRow) (out EndpointRecord, err error) {
		if len(r.Endpoint) != len(out.Endpoint) {
			return out, fmt.Errorf("database: an endpoint's hash has %d bytes", len(r.Endpoint))
		}
		return EndpointRecord{[16]byte(r.Endpoint), r.Outvoted, r.OutvotedAt}, nil
	})
}

// writeEndpointRecords puts other records in the place of a chain's; nil leaves them.
func writeEndpointRecords(ctx context.Context, tx *database.Transaction, chain string, records []EndpointRecord) error {
	if records == nil {
		return nil
	}
	if _, err := tx.NewRaw("DELETE FROM endpoint_records WHERE chain = ?", chain).Exec(ctx); err != nil {
		return fmt.Errorf("database: forget the endpoints' records: %w", err)
	}
	rows := make([]endpointRecordRow, len(records))
	for i, r := range records {
		rows[i] = endpointRecordRow{Chain: chain, Endpoint: r.Endpoint[:], Outvoted: r.Outvoted, OutvotedAt: r.OutvotedAt}
	}
	return database.Upsert(ctx, tx, rows)
}
