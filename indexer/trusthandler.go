package indexer

import (
	"context"
	"net/http"

	"github.com/boardwalkhq/boardwalk/internal/market"
	report "github.com/boardwalkhq/boardwalk/internal/trust"
)

// Check is a token's trust report; the error is one of package trust's, or the context's.
func (ix *Indexer) Check(ctx context.Context, mint market.Address) (*report.Report, error) {
	return ix.checker.Check(ctx, mint)
}

// ChecksHandler answers GET /trust/{mint} with a token's trust report as JSON.
func (ix *Indexer) ChecksHandler() http.Handler { return ix.checker.Handler() }
