package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

func tableOf[R any]() string { return model.FormOf[R]().Table }

// restorer undoes changes of one table. The former images are in the order of their making: of those of one row the first counts.
type restorer struct {
	// read reads former images.
	read func(undo []former.Row, as model.Stamped) (restoring, error)
	// ofWallets marks a table whose rows come back only while their wallet is watched: it is undone block by block, since an undone block may be the one from which on
	// a wallet is watched.
	ofWallets bool
}

// restoring writes rows as they were, and adds those that it restores or removes to touched.
type restoring func(ctx context.Context, tx *database.Transaction, touched *market.Touched) error

// restorers put former images back, by table. Nothing caches the rows of those that name none.
var restorers = map[string]restorer{
	tableOf[model.Token]():   restore((*model.Token).Stamp, touchTokens),
	tableOf[model.Pool]():    restore((*model.Pool).Stamp, touchPools),
	tableOf[model.Ticks]():   restore(nil, touchTicks),
	tableOf[model.Candle]():  restore(nil, touchCandles),
	tableOf[model.Balance](): restore(nil, touchBalances),
	tableOf[model.Quote]():   restore((*model.Quote).Stamp, nil), // Beginning has them all
	tableOf[model.Launch]():  restore((*model.Launch).Stamp, touchLaunches),
	tableOf[model.Trade]():   restore[model.Trade](nil, nil),
	tableOf[model.Queued]():  restore[model.Queued](nil, nil),
	tableOf[model.Job]():     restore[model.Job](nil, nil),
	tableOf[model.Staging](): restore[model.Staging](nil, nil),
	tableOf[model.Waiting](): restore[model.Waiting](nil, nil), // Beginning has them all

	tableOf[model.Watched]():  restoreWatched(func(r *model.Watched) []byte { return r.Wallet }, touchWatched),
	tableOf[model.Position](): restoreWatched(func(r *model.Position) []byte { return r.Wallet }, touchPositions),
	tableOf[model.Hour]():     restoreWatched(func(r *model.Hour) []byte { return r.Wallet }, touchHours),
	tableOf[model.Entry]():    restoreWatched[model.Entry](func(r *model.Entry) []byte { return r.Wallet }, nil),
	tableOf[model.Fee]():      restore[model.Fee](nil, nil),
}

// restore makes a table's restorer. Rows that come back have the stamp of the block that the chain is taken back to: a former image has that
// of the commit which replaced it. touch is called while the rows are as the newest of the blocks left them.
func restore[R any](stamp func(*R, model.Stamped), touch func(context.Context, *database.Transaction, []R, *market.Touched) error) restorer {
	return restoreSome(stamp, touch, nil)
}

// restoreWatched makes the restorer of a table about wallets. Of a wallet that isn't watched any more, since its member left, nothing comes back.
func restoreWatched[R any](wallet func(*R) []byte, touch func(context.Context, *database.Transaction, []R, *market.Touched) error) restorer {
	r := restoreSome(nil, touch, func(ctx context.Context, tx *database.Transaction, chain string, back []R) ([]R, error) {
		keys := make([]any, len(back))
		for i := range back {
			keys[i] = wallet(&back[i])
		}
		watched := map[string]bool{}
		for part := range slices.Chunk(keys, database.LoadKeys) {
			var list [][]byte
			err := tx.NewRaw("SELECT wallet FROM watched_wallets WHERE chain = ? AND wallet IN (?)", chain, database.Among(tx.Postgres, part)).Scan(ctx, &list)
			if err != nil {
				return nil, fmt.Errorf("database: read which wallets are watched: %w", err)
			}
			for _, w := range list {
				watched[string(w)] = true
			}
		}
		return slices.DeleteFunc(back, func(r R) bool { return !watched[string(wallet(&r))] }), nil
	})
	r.ofWallets = true
	return r
}

// restoreSome is restore of the rows that keep lets come back; nil lets all.
func restoreSome[R any](stamp func(*R, model.Stamped), touch func(context.Context, *database.Transaction, []R, *market.Touched) error,
	keep func(ctx context.Context, tx *database.Transaction, chain string, back []R) ([]R, error),
) restorer {
	return restorer{read: func(undo []former.Row, as model.Stamped) (restoring, error) {
		rows, back, gone, err := former.Rows(undo, stamp, as)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, tx *database.Transaction, touched *market.Touched) (err error) {
			if touch != nil {
				if err := touch(ctx, tx, rows, touched); err != nil {
					return err
				}
			}
			if keep != nil && len(back) > 0 {
				if back, err = keep(ctx, tx, undo[0].Chain, back); err != nil {
					return err
				}
			}
			if err := database.Upsert(ctx, tx, back); err != nil {
				return err
			}
			return database.Remove(ctx, tx, gone)
		}, nil
	}}
}

// ErrBelowHorizon means that a reorg reaches below what can be undone.
var ErrBelowHorizon = errors.New("the reorg is deeper than the undo horizon")

// Rewind takes every commit above block to back, in one transaction and under a commit number of its own, and names the rows of Load that it
// changed. ErrBelowHorizon, ErrLeaseLost and ErrMoved leave everything as it was.
func (s *Store) Rewind(ctx context.Context, l *Lease, to uint64) (touched market.Touched, err error) {
	err = s.writeUnderLease(ctx, l, func(tx *database.Transaction, next *pendingCommit) error {
		target, err := s.block(ctx, tx, l.Chain, to)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrBelowHorizon
		}
		if err != nil {
			return err
		}
		var blocks []int64
		if err := tx.NewRaw("SELECT number FROM blocks WHERE chain = ? AND number > ? ORDER BY number DESC", l.Chain,
			int64(to)).Scan(ctx, &blocks); err != nil {
			return fmt.Errorf("database: list the blocks to undo: %w", err)
		}
		for some := range slices.Chunk(blocks, blocksAtOnce) {
			if err := undoBlocks(ctx, tx, l.Chain, some, model.StampOf(next.commitNo, target), &touched); err != nil {
				return err
			}
		}
		for _, table := range []string{"undo WHERE block", "blocks WHERE number", "facts WHERE block", "unsure_facts WHERE block", "payments WHERE block"} {
			if _, err := tx.NewRaw("DELETE FROM "+table+" > ? AND chain = ?", int64(to), l.Chain).Exec(ctx); err != nil {
				return fmt.Errorf("database: forget the lost branch: %w", err)
			}
		}
		next.log.AddTouched(&touched)
		next.number, next.hash = int64(target.Number), target.Hash[:]
		err = setChain(ctx, tx, l.Chain, "rewinds = rewinds + 1, followed = '', number = ?, hash = ?, parent = ?, block_time = ?", int64(target.Number),
			target.Hash[:], target.Parent[:], target.Time)
		if err != nil {
			return err
		}
		return rewindStream(ctx, tx, &next.position, l.Chain, target)
	})
	if err != nil {
		return market.Touched{}, err
	}
	s.db.Hint(ctx, l.Chain)
	return touched, nil
}

// blocksAtOnce is how many blocks are undone together: a row that several of them changed is written once. Memory holds their former images: of 16 blocks of
// 450 trades 50,000, some 40 MB.
const blocksAtOnce = 16

// undoBlocks undoes blocks that follow each other, given from the newest to the oldest.
func undoBlocks(ctx context.Context, tx *database.Transaction, chain string, blocks []int64, as model.Stamped, touched *market.Touched) error {
	var rows []former.Row
	first, last := blocks[len(blocks)-1], blocks[0]
	err := tx.NewSelect().Model(&rows).Where("chain = ? AND block BETWEEN ? AND ?", chain, first, last).Order("block", "seq").Scan(ctx)
	if err != nil {
		return fmt.Errorf("database: read what blocks %d to %d changed: %w", first, last, err)
	}
	if rows, err = former.Unpacked(rows); err != nil {
		return err
	}
	byTable, ofWallets := map[string][]former.Row{}, []former.Row{}
	for _, r := range rows {
		table := r.Table()
		f, ok := restorers[table]
		switch {
		case !ok:
			return fmt.Errorf("database: block %d changed rows of %q, which this binary can't undo", r.Block, r.Tbl)
		case f.ofWallets:
			ofWallets = append(ofWallets, r)
		default:
			byTable[table] = append(byTable[table], r)
		}
	}
	if err := undoTables(ctx, tx, byTable, as, touched); err != nil {
		return err
	}
	return undoWallets(ctx, tx, ofWallets, as, touched)
}

// undoTables undoes changes of tables. While the database writes one table, the images of the next one are read.
func undoTables(ctx context.Context, tx *database.Transaction, byTable map[string][]former.Row, as model.Stamped, touched *market.Touched) error {
	type result struct {
		restore restoring
		err     error
	}
	read := func(table string) <-chan result {
		done := make(chan result, 1)
		go func() {
			restore, err := restorers[table].read(byTable[table], as)
			done <- result{restore, err}
		}()
		return done
	}
	tables := slices.Sorted(maps.Keys(byTable))
	var next <-chan result
	for i, table := range tables {
		if i == 0 {
			next = read(table)
		}
		r := <-next
		if r.err != nil {
			return r.err
		}
		if i+1 < len(tables) {
			next = read(tables[i+1])
		}
		if err := r.restore(ctx, tx, touched); err != nil {
			return err
		}
	}
	return nil
}

// undoWallets undoes changes of the tables about wallets, from the newest to the oldest.
func undoWallets(ctx context.Context, tx *database.Transaction, rows []former.Row, as model.Stamped, touched *market.Touched) error {
	for len(rows) > 0 {
		last := &rows[len(rows)-1]
		n := len(rows) - 1
		for n > 0 && rows[n-1].Block == last.Block && rows[n-1].Table() == last.Table() {
			n--
		}
		restore, err := restorers[last.Table()].read(rows[n:], as)
		if err != nil {
			return err
		}
		if err := restore(ctx, tx, touched); err != nil {
			return err
		}
		rows = rows[:n]
	}
	return nil
}

func (s *rows) block(ctx context.Context, db bun.IDB, chain string, number uint64) (market.Header, error) {
	var row blockRow
	err := db.NewSelect().Model(&row).Where("chain = ? AND number = ?", chain, int64(number)).Scan(ctx)
	if err != nil {
		return market.Header{}, fmt.Errorf("database: read block %d: %w", number, err)
	}
	return row.header()
}

func (r *blockRow) header() (market.Header, error) {
	c := model.Columns{Table: "blocks"}
	return market.Header{Number: uint64(r.Number), Hash: c.Hash(r.Hash), Parent: c.Hash(r.Parent), Time: r.Time}, c.Err
}

// RecentBlocks lists the remembered headers, newest first.
func (s *Store) RecentBlocks(ctx context.Context, chain string) ([]market.Header, error) {
	var rows []blockRow
	if err := s.db.Write.NewSelect().Model(&rows).Where("chain = ?", chain).Order("number DESC").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read recent blocks: %w", err)
	}
	return model.To(rows, (*blockRow).header)
}
