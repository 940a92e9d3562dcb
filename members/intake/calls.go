package intake

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// price looks up what the tokens cost that the records call.
func (h *handler) price(ctx context.Context, records []member.Record) error {
	var tokens []store.TokenAt
	for i := range records {
		if c := records[i].Call; c != nil && !records[i].Deleted {
			tokens = append(tokens, store.TokenAt{Chain: c.Chain, Mint: c.Mint})
		}
	}
	if len(tokens) == 0 {
		return nil
	}
	prices, err := h.Prices.Prices(ctx, tokens)
	if err != nil {
		return err
	}
	for i := range records {
		if c := records[i].Call; c != nil && !records[i].Deleted {
			p := prices[store.TokenAt{Chain: c.Chain, Mint: c.Mint}]
			c.Price, c.NoPrice = p.CallPrice, p.Err
		}
	}
	return nil
}

func (h *handler) getCall(r *request) (*reply, error) {
	id, err := r.text("id")
	if err != nil {
		return nil, err
	}
	if member.CheckID(id) != nil {
		return nil, member.ErrNoCall
	}
	c, err := h.Registry.Call(r.Context(), member.CallID(id))
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, member.ErrNoCall
	}
	callers, err := h.Registry.CallersOf(r.Context(), []member.Call{*c})
	if err != nil {
		return nil, err
	}
	return answerJSON(answerCall(c, callers[c.Member]))
}

func (h *handler) putCall(r *request) (*reply, error) { return put(h, r, h.reader.call) }

func (h *handler) deleteCall(r *request) (*reply, error) {
	return h.remove(r, func(id string, at *time.Time) (member.Record, error) {
		return h.reader.call(id, &callBody{UpdatedAt: at}, true)
	})
}

func (h *handler) getCalls(r *request) (*reply, error) {
	after, limit, err := r.page()
	if err != nil {
		return nil, err
	}
	last, err := h.Registry.LastCallChange(r.Context())
	if err != nil {
		return nil, err
	}
	list, err := h.Registry.CallChanges(r.Context(), after, limit)
	if err != nil {
		return nil, err
	}
	callers, err := h.Registry.CallersOf(r.Context(), list)
	if err != nil {
		return nil, err
	}
	out := struct {
		Calls []callAnswer `json:"calls"`
		// Last is the number of the last change that there is.
		Last int64 `json:"last"`
	}{make([]callAnswer, len(list)), last}
	for i := range list {
		out.Calls[i] = answerCall(&list[i], callers[list[i].Member])
	}
	return answerJSON(out)
}
