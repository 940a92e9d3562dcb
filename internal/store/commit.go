package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// Commit is what one transaction writes: derived rows, the facts they rest on, and the cursor that says so.
type Commit struct {
	// First is the number of the first block of an index that doesn't begin with its chain; it is set for the first commit alone.
	First uint64
	// Last is the newest block that the changes contain.
	Last market.Header
	// Blocks are the headers to remember for finding a reorg's fork, Last among them.
	Blocks []market.Header
	// Undo keeps the rows' former images under Last's number, so that Rewind can take this commit back. It is set for
	// commits of a single block within the undo horizon.
	Undo bool
	// Horizon is the oldest block that a reorg may reach: headers and images below it are dropped.
	Horizon uint64
	Head    HeadStatus
	Changes market.Changes
	Facts   []StoredFact
	// Caps are the caps of holder jobs, as text.
	Caps string
	// Recount begins a recount, whose queue begins with Last's transfers; nil is none.
	Recount *Recount
	// LogsHash is the digest of Last's logs where one endpoint alone vouches for them; nil otherwise.
	LogsHash []byte
	// SureFacts were unsure, and two endpoints give them by now, or another fact corrects them.
	SureFacts []StoredFact
	// Endpoints are the records of the chain's endpoints that aren't trusted; nil where they are as they were.
	Endpoints []EndpointRecord
	// Sure are earlier blocks of which a second endpoint has the same logs by now: their digests go.
	Sure []uint64
	// Beat is called as the writing goes on; it may be nil.
	Beat func()
}

type blockRow struct {
	bun.BaseModel `bun:"table:blocks"`

	Chain  string `bun:",pk"`
	Number int64  `bun:",pk"`
	Hash   []byte
	Parent []byte
	Time   int64
	// LogsHash is NULL where more than one endpoint vouches for the block's logs.
	LogsHash []byte
}

func blockToRow(chain string, h market.Header) blockRow {
	return blockRow{Chain: chain, Number: int64(h.Number), Hash: h.Hash[:], Parent: h.Parent[:], Time: h.Time}
}

// Commit writes c under the chain's next commit number, in one transaction. ErrLeaseLost and ErrMoved leave everything
// as it was.
func (s *Store) Commit(ctx context.Context, l *Lease, c *Commit) error {
	err := s.writeUnderLease(ctx, l, func(tx *database.Transaction, next *pendingCommit) error {
		if err := s.advance(ctx, tx, l.Chain, c); err != nil {
			return err
		}
		next.number, next.hash = int64(c.Last.Number), c.Last.Hash[:]
		tx.Beat = c.Beat
		next.log.AddChanges(&c.Changes)
		if err := s.writeChanges(ctx, tx, l.Chain, next.commitNo, c); err != nil {
			return err
		}
		if err := writeFacts(ctx, tx, l.Chain, next.commitNo, c); err != nil {
			return err
		}
		if err := writeEndpointRecords(ctx, tx, l.Chain, c.Endpoints); err != nil {
			return err
		}
		rows := make([]blockRow, 0, len(c.Blocks))
		for _, h := range c.Blocks {
			r := blockToRow(l.Chain, h)
			if h.Number == c.Last.Number {
				r.LogsHash = c.LogsHash
			}
			rows = append(rows, r)
		}
		if err := database.Upsert(ctx, tx, rows); err != nil {
			return err
		}
		if err := dropBelow(ctx, tx, next, l.Chain, c.Horizon); err != nil {
			return err
		}
		if !c.Undo { // history is no news
			return nil
		}
		return addToStream(ctx, tx, &next.position, l.Chain, c.Changes.Stream)
	})
	if err == nil {
		s.db.Hint(ctx, l.Chain)
	}
	return err
}

// writeFacts writes what nodes told, which of it is unsure, and which tokens' metadata is to be fetched by it.
func writeFacts(ctx context.Context, tx *database.Transaction, chain string, no int64, c *Commit) error {
	facts, err := factsToRows(chain, c.Facts)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(c.Facts, hasWindow) {
		if err := needReader(ctx, tx, windowsSchema); err != nil {
			return err
		}
	}
	if err := database.Upsert(ctx, tx, facts); err != nil {
		return err
	}
	if err := noteURIs(ctx, tx, chain, no, c.Facts); err != nil {
		return err
	}
	return writeUnsure(ctx, tx, chain, c, facts)
}

// dropBelow drops what is below the undo horizon. It begins where the last commit ended: PostgreSQL walks over all that was dropped before, until it is
// vacuumed.
func dropBelow(ctx context.Context, tx *database.Transaction, next *pendingCommit, chain string, horizon uint64) error {
	from := next.droppedBelow
	if int64(horizon) <= from {
		return nil
	}
	for _, of := range []struct{ table, block string }{{"blocks", "number"}, {"undo", "block"}} {
		if _, err := tx.NewRaw("DELETE FROM "+of.table+" WHERE chain = ? AND "+of.block+" >= ? AND "+of.block+" < ?", chain, from, int64(horizon)).Exec(ctx); err != nil {
			return fmt.Errorf("database: drop what is below the undo horizon: %w", err)
		}
	}
	next.droppedBelow = int64(horizon)
	return nil
}

// advance moves the cursor.
func (s *rows) advance(ctx context.Context, tx *database.Transaction, chain string, c *Commit) error {
	if c.First > 0 {
		if err := setChain(ctx, tx, chain, "start_block = ?", int64(c.First)); err != nil {
			return err
		}
	}
	head, args := s.setHead(&c.Head)
	return setChain(ctx, tx, chain, "number = ?, hash = ?, parent = ?, block_time = ?, "+head,
		append([]any{int64(c.Last.Number), c.Last.Hash[:], c.Last.Parent[:], c.Last.Time}, args...)...)
}

// setChain sets columns of a chain's row in a transaction that has passed the fence and so has the row for itself.
func setChain(ctx context.Context, tx *database.Transaction, chain, set string, args ...any) error {
	if _, err := tx.NewRaw("UPDATE chains SET "+set+" WHERE id = ?", append(args, chain)...).Exec(ctx); err != nil {
		return fmt.Errorf("database: update chain %s: %w", chain, err)
	}
	return nil
}

func (s *rows) writeChanges(ctx context.Context, tx *database.Transaction, chain string, no int64, c *Commit) error {
	u, as := &former.Log{}, model.StampOf(no, c.Last)
	if c.Undo {
		u.Chain, u.Block = chain, int64(c.Last.Number)
	}
	if err := applyRows(ctx, tx, u, chain, as, &c.Changes); err != nil {
		return err
	}
	if err := applyLaunches(ctx, tx, u, chain, as, c.Changes.Launches); err != nil {
		return err
	}
	if err := addRows(ctx, tx, u, chain, &c.Changes); err != nil {
		return err
	}
	if err := writePayments(ctx, tx, chain, &c.Changes); err != nil {
		return err
	}
	if err := applyWaiting(ctx, tx, u, chain, c.Changes.Waiting); err != nil {
		return err
	}
	if err := applyWallets(ctx, tx, u, chain, &c.Changes); err != nil {
		return err
	}
	if err := applyJobs(ctx, tx, u, chain, c); err != nil {
		return err
	}
	if c.Recount != nil {
		if err := beginRecount(ctx, tx, u, chain, c); err != nil {
			return err
		}
	}
	return database.Insert(ctx, tx, u.End())
}

// applyRows writes the tables whose rows change.
func applyRows(ctx context.Context, tx *database.Transaction, u *former.Log, chain string, as model.Stamped, ch *market.Changes) error {
	if err := apply(ctx, tx, u, ch.Tokens, func(k market.Address, v *market.Token) model.Token {
		if v == nil {
			v = &market.Token{Mint: k}
		}
		return model.OfToken(chain, v, as)
	}); err != nil {
		return err
	}
	if hasNewWindow(ch.Pools) {
		if err := needReader(ctx, tx, windowsSchema); err != nil {
			return err
		}
	}
	if err := apply(ctx, tx, u, ch.Pools, func(k market.Address, v *market.Pool) model.Pool {
		if v == nil {
			v = &market.Pool{ID: k}
		}
		return model.OfPool(chain, v, as)
	}); err != nil {
		return err
	}
	if err := apply(ctx, tx, u, ch.Ticks, func(k market.Address, v *market.TickMap) model.Ticks {
		if v == nil {
			v = &market.TickMap{}
		}
		return model.OfTicks(chain, k, *v)
	}); err != nil {
		return err
	}
	if err := apply(ctx, tx, u, ch.Candles, func(k market.CandleKey, v *market.Candle) model.Candle {
		if v == nil {
			v = &market.Candle{CandleKey: k}
		}
		return model.OfCandle(chain, v)
	}); err != nil {
		return err
	}
	if err := apply(ctx, tx, u, ch.Balances, func(k market.BalanceKey, v *market.Balance) model.Balance {
		if v == nil {
			v = &market.Balance{}
		}
		return model.OfBalance(chain, k, v)
	}); err != nil {
		return err
	}
	return apply(ctx, tx, u, ch.Quotes, func(k market.Address, v *market.QuotePrice) model.Quote {
		if v == nil {
			v = &market.QuotePrice{Asset: k}
		}
		return model.OfQuote(chain, v, as)
	})
}

// windowsSchema is the oldest schema whose binaries know that a pool's ticks may be a window. Others would take them for all ticks.
const windowsSchema = 29

// hasNewWindow reports whether of a pool's ticks a window alone is known from these changes on.
func hasNewWindow(pools []market.Change[market.Address, market.Pool]) bool {
	return slices.ContainsFunc(pools, func(c market.Change[market.Address, market.Pool]) bool {
		return c.After != nil && !c.After.Window.IsWhole() && (c.Before == nil || c.Before.Window.IsWhole())
	})
}

// hasWindow reports whether a fact tells a pool's ticks within a window alone.
func hasWindow(f StoredFact) bool {
	s, ok := f.Fact.(market.PoolStateFact)
	return ok && !s.Window.IsWhole()
}

// addRows writes the tables whose rows never change.
func addRows(ctx context.Context, tx *database.Transaction, u *former.Log, chain string, ch *market.Changes) error {
	trades := make([]model.Trade, 0, len(ch.Trades))
	for i := range ch.Trades {
		trades = append(trades, model.OfTrade(chain, &ch.Trades[i]))
	}
	if err := add(ctx, tx, u, trades); err != nil {
		return err
	}
	queued := make([]model.Queued, 0, len(ch.Queued))
	for i := range ch.Queued {
		queued = append(queued, model.OfQueued(chain, &ch.Queued[i]))
	}
	return add(ctx, tx, u, queued)
}

// apply writes changed rows and deletes gone ones, noting the former image of each.
func apply[K comparable, V, R any](ctx context.Context, tx *database.Transaction, u *former.Log, changes []market.Change[K, V],
	row func(K, *V) R,
) error {
	for piece := range slices.Chunk(changes, database.PieceRows) {
		var gone []R
		set := make([]R, 0, len(piece))
		for _, c := range piece {
			if c.After != nil {
				set = append(set, row(c.Key, c.After))
			} else {
				gone = append(gone, row(c.Key, nil))
			}
			if err := former.Note(u, func() R { return row(c.Key, c.Before) }, c.Before != nil); err != nil {
				return err
			}
		}
		if err := database.Upsert(ctx, tx, set); err != nil {
			return err
		}
		if err := database.Remove(ctx, tx, gone); err != nil {
			return err
		}
	}
	return nil
}

// add inserts rows that are never changed afterwards.
func add[R any](ctx context.Context, tx *database.Transaction, u *former.Log, rows []R) error {
	for piece := range slices.Chunk(rows, database.PieceRows) {
		for i := range piece {
			if err := former.Note(u, func() R { return piece[i] }, false); err != nil {
				return err
			}
		}
		if err := database.Insert(ctx, tx, piece); err != nil {
			return err
		}
	}
	return nil
}
