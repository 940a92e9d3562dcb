package read

import (
	"context"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Picture is a token's picture as its metadata has it, a PNG; nil when there is none.
func (v *View) Picture(ctx context.Context, chain string, mint market.Address) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	return v.store.Metadata.Image(ctx, chain, mint)
}
