package tokens

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
)

func (h *Handlers) prices(r *serve.Request) (*serve.Answer, error) {
	wanted, err := lookup.Tokens(r, h.Readers.Tokens, "mints")
	if err != nil {
		return nil, err
	}
	out := contract.TokenPrices{Prices: map[string]contract.PriceView{}, Missing: []string{}, Blocks: contract.Blocks{}}
	var newest int64
	for _, q := range wanted {
		s := q.Found
		if s == nil {
			out.Missing = append(out.Missing, q.Text)
			continue
		}
		out.Prices[q.Text] = wire.PriceView(&s.Token, s.Candidates)
		out.Stale = out.Stale || s.Stale
		wire.NoteBlock(out.Blocks, s.Chain, s.Changed.Block)
		newest = max(newest, s.Changed.At)
	}
	out.AsOf = r.AsOf(newest)
	return serve.Encode(out)
}
