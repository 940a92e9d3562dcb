package social

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/streamlog"
)

type callRow struct {
	bun.BaseModel `bun:"table:calls"`

	Number    int64 `bun:",pk"`
	ID        string
	Member    int64
	Chain     string
	Mint      []byte
	Text      string
	TokenRefs string
	CalledAt  int64
	PriceUSD  float64 `bun:"price_usd"`
	CloseUSD  float64 `bun:"close_usd"`
	Block     int64
	BlockTime int64
	UpdatedAt int64
	DeletedAt int64
	Outcome   string
	DecidedAt int64
	PeakUSD   float64 `bun:"peak_usd"`
	PeakBlock int64
	PeakHash  []byte
	SureUSD   float64 `bun:"sure_usd"`
	SureBlock int64
	SureTime  int64
	Settled   bool
	Change    int64
}

func callToRow(c *member.Call) (callRow, error) {
	refs, err := json.Marshal(c.Refs)
	row := callRow{
		Number: c.Number, ID: string(c.ID), Member: int64(c.Member), Chain: c.Chain, Mint: c.Mint.Bytes(), Text: c.Text, TokenRefs: string(refs), CalledAt: c.CalledAt,
		PriceUSD: c.Price.USD, CloseUSD: c.Price.CloseUSD, Block: int64(c.Price.Block), BlockTime: c.Price.Time, UpdatedAt: c.UpdatedAt, DeletedAt: c.DeletedAt, Outcome: string(c.Outcome),
		DecidedAt: c.DecidedAt, PeakUSD: c.PeakUSD, PeakBlock: int64(c.PeakBlock), SureUSD: c.SureUSD, SureBlock: int64(c.SureBlock), SureTime: c.SureTime, Settled: c.Settled,
		Change: c.Change,
	}
	if c.PeakUSD > 0 {
		row.PeakHash = c.PeakHash[:]
	}
	return row, err
}

func (r *callRow) value() (*member.Call, error) {
	c := &member.Call{
		ID: member.CallID(r.ID), Number: r.Number, Member: member.Number(r.Member), Chain: r.Chain, Text: r.Text, CalledAt: r.CalledAt,
		Price: member.CallPrice{USD: r.PriceUSD, CloseUSD: r.CloseUSD, Block: uint64(r.Block), Time: r.BlockTime}, UpdatedAt: r.UpdatedAt, DeletedAt: r.DeletedAt, Change: r.Change,
		Standing: member.Standing{
			Outcome: member.CallOutcome(r.Outcome), DecidedAt: r.DecidedAt, PeakUSD: r.PeakUSD, PeakBlock: uint64(r.PeakBlock), SureUSD: r.SureUSD,
			SureBlock: uint64(r.SureBlock), SureTime: r.SureTime, Settled: r.Settled,
		},
	}
	copy(c.PeakHash[:], r.PeakHash)
	var err error
	if c.Mint, err = market.AddressFromBytes(r.Mint); err == nil && r.TokenRefs != "" {
		err = json.Unmarshal([]byte(r.TokenRefs), &c.Refs)
	}
	if err != nil {
		return nil, fmt.Errorf("database: a row of calls: %w", err)
	}
	return c, nil
}

// callsCounter is the counter of the calls' changes.
const callsCounter = "calls"

// loadCalls takes in the calls that the records are about, and the members' calls of the last days. The members are there already.
func loadCalls(ctx context.Context, tx *database.Transaction, r *member.Registry, records []member.Record) error {
	var ids, members []any
	for i := range records {
		rec := &records[i]
		if rec.Call == nil {
			continue
		}
		ids = append(ids, string(rec.Call.ID))
		if m := r.Members[rec.ID]; m != nil {
			members = append(members, int64(m.Number))
		}
	}
	for some := range slices.Chunk(ids, database.LoadKeys) {
		calls, err := listCalls(ctx, tx, "id IN (?)", database.Among(tx.Postgres, some))
		if err != nil {
			return err
		}
		addCalls(r, calls)
	}
	for some := range slices.Chunk(members, database.LoadKeys) {
		calls, err := listCallsWithoutTexts(ctx, tx, "member IN (?) AND called_at > ?", database.Among(tx.Postgres, some), r.Now-member.CallSpan-callSlack)
		if err != nil {
			return err
		}
		addCalls(r, calls)
	}
	return nil
}

// callSlack is how much longer than CallSpan a call can be open by the clock, in seconds. A chain's own time may be behind the clock.
const callSlack = 48 * 60 * 60

func addCalls(r *member.Registry, calls []member.Call) {
	for i := range calls {
		r.AddCall(&calls[i])
	}
}

func listCalls(ctx context.Context, db bun.IDB, condition string, args ...any) ([]member.Call, error) {
	var rows []callRow
	return scanCalls(ctx, db.NewSelect().Model(&rows).Where(condition, args...), &rows)
}

// listCallsWithoutTexts is listCalls without the texts, which may be long.
func listCallsWithoutTexts(ctx context.Context, db bun.IDB, condition string, args ...any) ([]member.Call, error) {
	var rows []callRow
	return scanCalls(ctx, db.NewSelect().Model(&rows).ExcludeColumn("text", "token_refs").Where(condition, args...), &rows)
}

func scanCalls(ctx context.Context, q *bun.SelectQuery, into *[]callRow) ([]member.Call, error) {
	if err := q.Order("change").Scan(ctx); err != nil {
		return nil, wrap("read calls", err)
	}
	rows := *into
	out := make([]member.Call, len(rows))
	for i := range rows {
		c, err := rows[i].value()
		if err != nil {
			return nil, err
		}
		out[i] = *c
	}
	return out, nil
}

// keepCalls writes the calls that changed, and gives the rows that the stream gets for them.
func keepCalls(ctx context.Context, tx *database.Transaction, r *member.Registry) (items []streamlog.Row, err error) {
	if len(r.ChangedCalls) == 0 {
		return nil, nil
	}
	var calls []*member.Call
	for id := range r.ChangedCalls {
		calls = append(calls, r.Calls[id])
	}
	slices.SortFunc(calls, func(a, b *member.Call) int { return cmp.Compare(a.Number, b.Number) })
	rows := make([]callRow, len(calls))
	for i, c := range calls {
		if rows[i], err = callToRow(c); err != nil {
			return nil, err
		}
		switch {
		case c.DeletedAt > 0:
			gone, err := streamlog.Delete(ctx, tx, r.Now, "call > 0 AND call = ?", c.Number)
			if err != nil {
				return nil, err
			}
			items = append(items, gone...)
		case r.NewCalls[c.ID]:
			items = append(items, itemOf(c, r.Now))
		}
	}
	if err := database.Upsert(ctx, tx, rows); err != nil {
		return nil, err
	}
	return items, number(ctx, tx, callsCounter, r.Last.Calls)
}

// itemOf is a call's item in the stream. now is unix seconds.
func itemOf(c *member.Call, now int64) streamlog.Row {
	return streamlog.Row{Kind: string(market.StreamCall), Chain: c.Chain, Time: now, Token: c.Mint.Bytes(), Member: int64(c.Member), Call: c.Number}
}

// Call gives a call by the app's id; nil where there is none.
func (s Calls) Call(ctx context.Context, id member.CallID) (*member.Call, error) {
	list, err := listCalls(ctx, s.db.Read, "id = ?", string(id))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// CallsByNumber gives calls by their numbers. It leaves out calls that aren't there.
func (s Calls) CallsByNumber(ctx context.Context, numbers []int64) (map[int64]member.Call, error) {
	out := make(map[int64]member.Call, len(numbers))
	for some := range slices.Chunk(numbers, database.LoadKeys) {
		keys := make([]any, len(some))
		for i, n := range some {
			keys[i] = n
		}
		list, err := listCalls(ctx, s.db.Read, "number IN (?)", database.Among(s.db.IsPostgres(), keys))
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			out[c.Number] = c
		}
	}
	return out, nil
}

// LastCallChange is the number of the last change of a call.
func (s Calls) LastCallChange(ctx context.Context) (int64, error) {
	return lastOf(ctx, s.db.Read, callsCounter)
}

// CallChanges lists up to limit calls that changed after the change with a number, by the numbers of their last changes. A call that changed several times is there once.
func (s Calls) CallChanges(ctx context.Context, after int64, limit int) ([]member.Call, error) {
	last, err := s.LastCallChange(ctx) // a change that comes between the two reads must not hide what came before it
	if err != nil || last == after {
		return nil, err
	}
	return listCalls(ctx, s.db.Read, "number IN (SELECT number FROM calls WHERE change > ? AND change <= ? ORDER BY change LIMIT ?)", after, last, limit)
}

// CallsToJudge lists up to limit calls after a number that aren't settled, by their numbers and without their texts.
func (s Calls) CallsToJudge(ctx context.Context, above int64, limit int) ([]member.Call, error) {
	return listCallsWithoutTexts(ctx, s.db.Read, "number IN (SELECT number FROM calls WHERE settled = FALSE AND number > ? ORDER BY number LIMIT ?)", above, limit)
}

// Judged is how a call stands now.
type Judged struct {
	Number int64
	member.Standing
}

// Judge writes how calls stand, under the lease. A call that was deleted meanwhile stays as it is. A call whose outcome changes is told anew in the stream. now
// is unix seconds. The intake waits meanwhile, so that a caller writes some hundreds of calls at once and no more.
func (s Calls) Judge(ctx context.Context, l *Lease, judged []Judged, now int64) error {
	return s.write(ctx, func(tx *database.Transaction, last int64) (int64, []streamlog.Row, error) {
		if err := holds(ctx, tx, l); err != nil {
			return last, nil, err
		}
		lastCall, err := lastOf(ctx, tx, callsCounter)
		if err != nil {
			return last, nil, err
		}
		var items []streamlog.Row
		for some := range slices.Chunk(judged, database.LoadKeys) {
			more, err := judgeSome(ctx, tx, some, &lastCall, now)
			if err != nil {
				return last, nil, err
			}
			items = append(items, more...)
		}
		return last, items, number(ctx, tx, callsCounter, lastCall)
	})
}

// judgeSome writes how some calls stand, and gives the rows that the stream gets for them. lastCall is the number of the last change of a call.
func judgeSome(ctx context.Context, tx *database.Transaction, judged []Judged, lastCall *int64, now int64) (items []streamlog.Row, err error) {
	of := make(map[int64]*Judged, len(judged))
	keys := make([]any, len(judged))
	for i := range judged {
		of[judged[i].Number], keys[i] = &judged[i], judged[i].Number
	}
	calls, err := listCallsWithoutTexts(ctx, tx, "settled = FALSE AND number IN (?)", database.Among(tx.Postgres, keys))
	if err != nil {
		return nil, err
	}
	for i := range calls {
		c := &calls[i]
		was := c.Standing
		c.Standing = of[c.Number].Standing
		if was.Outcome != c.Outcome || was.Settled != c.Settled {
			*lastCall++
			c.Change = *lastCall
		}
		row, err := callToRow(c)
		if err != nil {
			return nil, err
		}
		_, err = tx.NewUpdate().Model(&row).WherePK().
			Column("outcome", "decided_at", "peak_usd", "peak_block", "peak_hash", "sure_usd", "sure_block", "sure_time", "settled", "change").Exec(ctx)
		if err != nil {
			return nil, wrap("write how a call stands", err)
		}
		if was.Outcome == c.Outcome {
			continue
		}
		gone, err := streamlog.Delete(ctx, tx, now, "call > 0 AND call = ?", c.Number)
		if err != nil {
			return nil, err
		}
		items = append(append(items, gone...), itemOf(c, now))
	}
	return items, nil
}

// took notes that this process has taken a number of the stream.
func (s *rows) took(number int64) {
	for {
		highest := s.streamed.Load()
		if number <= highest || s.streamed.CompareAndSwap(highest, number) {
			return
		}
	}
}

// KeepNumbers keeps the stream's next numbers above those that this process took, where the database lacks some of them, as after a failover, and tells clients
// to begin anew. lost says that it was so. now is unix seconds.
func (s Upkeep) KeepNumbers(ctx context.Context, l *Lease, now int64) (lost bool, err error) {
	taken, err := lastOf(ctx, s.db.Write, streamlog.Counter)
	if err != nil || taken >= s.streamed.Load() {
		return false, err
	}
	var last int64
	err = s.write(ctx, func(tx *database.Transaction, change int64) (int64, []streamlog.Row, error) {
		if err := holds(ctx, tx, l); err != nil {
			return change, nil, err
		}
		highest := s.streamed.Load() // nobody else of this process takes any for now
		taken, err := lastOf(ctx, tx, streamlog.Counter)
		if err != nil || taken >= highest {
			return change, nil, err
		}
		last, err = streamlog.Reset(ctx, tx, highest, "", now)
		return change, nil, err
	})
	if err != nil || last == 0 {
		return false, err
	}
	s.took(last)
	return true, nil
}

// eraseCalls deletes the calls of a member, and gives the rows that retract their items.
func eraseCalls(ctx context.Context, tx *database.Transaction, m member.Number, now int64) (retractions []streamlog.Row, err error) {
	retractions, err = streamlog.Delete(ctx, tx, now, "call > 0 AND call IN (SELECT number FROM calls WHERE member = ?)", int64(m))
	if err != nil {
		return nil, err
	}
	_, err = tx.NewRaw("DELETE FROM calls WHERE member = ?", int64(m)).Exec(ctx)
	return retractions, wrap("erase calls of a member who left", err)
}
