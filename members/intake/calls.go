package intake

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// callBody is what is written of a call.
type callBody struct {
	Member    string         `json:"member"`
	Chain     string         `json:"chain"`
	Mint      string         `json:"mint"`
	Text      string         `json:"text"`
	TokenRefs []tokenRefBody `json:"token_refs"`
	CalledAt  *time.Time     `json:"called_at"`
	UpdatedAt *time.Time     `json:"updated_at"`
}

type callLine struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
	callBody
}

// call makes the record of a call.
func (rd *Reader) call(id string, b *callBody, deleted bool) (member.Record, error) {
	c := &member.CallRecord{ID: member.CallID(id)}
	rec := member.Record{ID: member.ID(b.Member), Deleted: deleted, Call: c}
	var f faults
	f.check("id", id, member.CheckID(id))
	rec.UpdatedAt = f.updatedAt(b.UpdatedAt, rd.Now())
	if deleted {
		rec.ID = ""
		return rec, f.problem()
	}
	f.check("member", b.Member, member.CheckID(b.Member))
	c.Chain, c.Mint = f.token("", b.Chain, b.Mint)
	f.check("text", b.Text, member.CheckText(b.Text))
	c.Text, c.Refs = b.Text, f.tokenRefs(b.TokenRefs)
	if b.CalledAt != nil {
		c.CalledAt = f.pastTime("called_at", b.CalledAt, rd.Now())
	}
	return rec, f.problem()
}

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
	callers, err := h.Registry.IDsOf(r.Context(), []member.Number{c.Member})
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
	after, limit, err := r.page(mostChanges)
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
	members := make([]member.Number, len(list))
	for i := range list {
		members[i] = list[i].Member
	}
	callers, err := h.Registry.IDsOf(r.Context(), members)
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

// callAnswer is a call as it stands. It has no text: the app has that itself.
type callAnswer struct {
	ID           member.CallID      `json:"id"`
	Member       member.ID          `json:"member"`
	Chain        string             `json:"chain"`
	Mint         string             `json:"mint"`
	CalledAt     string             `json:"called_at"`
	PriceUSD     float64            `json:"price_at_call_usd"`
	Outcome      member.CallOutcome `json:"outcome"`
	DecidedAt    *string            `json:"decided_at"`
	PeakMultiple *float64           `json:"peak_multiple"`
	// Settled says that the outcome and the peak stay as they are.
	Settled   bool   `json:"settled"`
	Deleted   bool   `json:"deleted"`
	UpdatedAt string `json:"updated_at"`
	Change    int64  `json:"change"`
}

func answerCall(c *member.Call, of member.ID) callAnswer {
	out := callAnswer{
		ID: c.ID, Member: of, Chain: c.Chain, Mint: addressText(c.Mint), CalledAt: seconds(c.CalledAt), PriceUSD: c.Price.USD, Outcome: c.Outcome,
		Settled: c.Settled, Deleted: c.DeletedAt > 0, UpdatedAt: micros(c.UpdatedAt), Change: c.Change,
	}
	if c.DecidedAt > 0 {
		out.DecidedAt = new(seconds(c.DecidedAt))
	}
	if c.PeakUSD > 0 {
		out.PeakMultiple = new(c.PeakUSD / c.Price.USD)
	}
	return out
}
