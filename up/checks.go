package up

import (
	"context"
	"errors"

	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/market"
	report "github.com/boardwalkhq/boardwalk/internal/trust"
)

// errNoIndexer is a chain that this process doesn't index.
var errNoIndexer = errors.New("no indexer of the chain runs here")

// checksHere asks the indexers of this process for trust checks.
type checksHere []*indexer.Indexer

var _ checker.Checker = checksHere(nil)

// Check gives a token's report, or one of package checker's errors.
func (c checksHere) Check(ctx context.Context, chain string, mint market.Address) (*report.Report, error) {
	for _, ix := range c {
		if ix.State().Chain != chain {
			continue
		}
		r, err := ix.Check(ctx, mint)
		switch {
		case errors.Is(err, trust.ErrNotIndexed), errors.Is(err, trust.ErrNoCode):
			return nil, checker.ErrNotIndexed
		case errors.Is(err, trust.ErrBusy):
			return nil, checker.ErrBusy
		}
		return r, err
	}
	return nil, errNoIndexer
}
