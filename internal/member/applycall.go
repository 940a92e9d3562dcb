package member

import "slices"

// AddCall takes in a call as it is kept.
func (r *Registry) AddCall(c *Call) {
	if r.Calls[c.ID] != nil {
		return
	}
	r.Calls[c.ID] = c
	r.callsOf[c.Member] = append(r.callsOf[c.Member], c)
}

// applyCall writes a record of a call. The registry must have the member's open calls and those of the last day.
func (r *Registry) applyCall(rec *Record) (Outcome, error) {
	c := r.Calls[rec.Call.ID]
	if rec.Deleted {
		return r.deleteCall(c, rec)
	}
	owner := r.Members[rec.ID]
	if owner == nil || owner.LeftAt > 0 {
		return "", ErrNoMember
	}
	if c == nil {
		return r.newCall(owner, rec)
	}
	switch {
	case c.Member != owner.Number:
		return "", ErrCallTaken
	case c.DeletedAt > 0:
		if rec.UpdatedAt < c.UpdatedAt {
			return Older, nil
		}
		return "", ErrCallDeleted
	}
	if outcome, err := compare(rec.UpdatedAt, c.UpdatedAt, rec.Call.saysOf(c)); outcome != "" || err != nil {
		return outcome, err
	}
	if c.Chain != rec.Call.Chain || c.Mint != rec.Call.Mint {
		return "", ErrCallFixed
	}
	r.changeCall(c)
	c.Text, c.Refs, c.UpdatedAt = rec.Call.Text, rec.Call.Refs, rec.UpdatedAt
	return Written, nil
}

// saysOf reports whether the call is as the record says.
func (cr *CallRecord) saysOf(c *Call) bool {
	return c.Chain == cr.Chain && c.Mint == cr.Mint && c.Text == cr.Text && slices.Equal(c.Refs, cr.Refs)
}

// deleteCall deletes the text of a call. An open call becomes a loss, so that nobody avoids a loss by deleting the call.
func (r *Registry) deleteCall(c *Call, rec *Record) (Outcome, error) {
	if c == nil {
		return "", ErrNoCall
	}
	if outcome, err := compare(rec.UpdatedAt, c.UpdatedAt, c.DeletedAt > 0); outcome != "" || err != nil {
		return outcome, err
	}
	r.changeCall(c)
	if c.UpdatedAt = rec.UpdatedAt; c.DeletedAt == 0 {
		c.DeletedAt, c.Text, c.Refs = r.Now, "", nil
	}
	if c.Outcome == CallOpen {
		c.Outcome, c.DecidedAt = CallLoss, r.Now
	}
	c.Settled = true
	return Written, nil
}

func (r *Registry) newCall(owner *Member, rec *Record) (Outcome, error) {
	if rec.Call.CalledAt > 0 && rec.Call.CalledAt < r.Now-backDating {
		return "", ErrCallLate
	}
	lately := 0
	for _, other := range r.callsOf[owner.Number] {
		if other.Outcome == CallOpen && other.Chain == rec.Call.Chain && other.Mint == rec.Call.Mint {
			return "", ErrCallOpen
		}
		if other.CalledAt > r.Now-callDay {
			lately++
		}
	}
	if lately >= CallsADay {
		return "", ErrManyCalls
	}
	if rec.Call.NoPrice != nil {
		return "", rec.Call.NoPrice
	}
	calledAt := r.Now
	if at := rec.Call.CalledAt; at > 0 {
		calledAt = min(at, r.Now)
	}
	r.Last.Calls++
	c := &Call{
		ID: rec.Call.ID, Number: r.Last.Calls, Member: owner.Number, Chain: rec.Call.Chain, Mint: rec.Call.Mint, Text: rec.Call.Text, Refs: rec.Call.Refs,
		CalledAt: calledAt, Price: rec.Call.Price, UpdatedAt: rec.UpdatedAt, Change: r.Last.Calls,
		Standing: Standing{Outcome: CallOpen, SureBlock: rec.Call.Price.Block, SureTime: rec.Call.Price.FinalTime},
	}
	r.AddCall(c)
	r.ChangedCalls[c.ID], r.NewCalls[c.ID] = true, true
	return Written, nil
}

func (r *Registry) changeCall(c *Call) {
	r.Last.Calls++
	c.Change = r.Last.Calls
	r.ChangedCalls[c.ID] = true
}
