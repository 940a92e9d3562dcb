package read

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// LastReport is the trust report of a token that was stored last; ok is false when there is none.
func (v *View) LastReport(ctx context.Context, chain string, mint market.Address) (r *trust.Report, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	row, ok, err := v.store.Trust.At(ctx, chain, mint)
	if err != nil || !ok || string(row.Report) == "null" { // which says that there was nothing to check
		return nil, false, err
	}
	r = &trust.Report{}
	if err := json.Unmarshal(row.Report, r); err != nil {
		return nil, false, fmt.Errorf("read: the report of %s on %s: %w", mint, chain, err)
	}
	return r, true, nil
}
