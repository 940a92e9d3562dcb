package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

const (
	// unfollowAtOnce is how many tokens one transaction ceases to follow, dropAtOnce how many rows one transaction drops.
	unfollowAtOnce = 500
	dropAtOnce     = 5_000
)

// unfollowed asks for the tokens whose balances are kept although nothing but the chain document asks for it any more. It reads the
// index tokens_kept.
const unfollowed = "SELECT t.mint FROM tokens t WHERE t.chain = ? AND t.holders_status IN ('indexing', 'current') " +
	"AND NOT EXISTS (SELECT 1 FROM launches l WHERE l.chain = t.chain AND l.mint = t.mint)"

// keptAmong asks of which of some tokens the balances are kept, and launchedAmong which of them are launches. PostgreSQL would answer one
// query for both by reading all launches.
const (
	keptAmong     = "SELECT mint FROM tokens WHERE chain = ? AND holders_status IN ('indexing', 'current') AND mint IN (?)"
	launchedAmong = "SELECT mint FROM launches WHERE chain = ? AND mint IN (?)"
)

// unfollowing asks for the tokens that aren't followed any more and whose balances aren't dropped yet. A job stands for each.
const unfollowing = "SELECT j.token FROM holder_jobs j JOIN tokens t ON t.chain = j.chain AND t.mint = j.token " +
	"WHERE j.chain = ? AND t.holders_status = ''"

// Unfollow gives up the balances of every token that is neither a launch nor among declared, and reports how many there were. Their
// transfers aren't read any more, so that their balances and counts would be wrong from here on. What a reorg could bring back of
// them is given up too. It does nothing when there is none, and goes on where an earlier one was cut off. To look through two million tokens takes some three
// seconds: it doesn't where it was done under the lease before, for the same declared tokens, and no rewind came since.
func (s Upkeep) Unfollow(ctx context.Context, l *Lease, declared []market.Address) (int, error) {
	var followed string
	if err := s.db.Write.NewRaw("SELECT followed FROM chains WHERE id = ?", l.Chain).Scan(ctx, &followed); err != nil {
		return 0, fmt.Errorf("database: read which tokens are followed: %w", err)
	}
	n := 0
	if followed != followedAs(l.epoch, declared) && followed != followedAs(l.epoch-1, declared) {
		var err error
		if n, err = s.unfollowOthers(ctx, l, declared); err != nil {
			return 0, err
		}
	}
	return n, s.NoteFollowed(ctx, l, declared)
}

// NoteFollowed notes that nothing but launches and declared is followed. A rewind forgets it. ErrLeaseLost and ErrMoved leave everything as it was.
func (s Upkeep) NoteFollowed(ctx context.Context, l *Lease, declared []market.Address) error {
	return s.updateUnderLease(ctx, l, "followed = ?", followedAs(l.epoch, declared))
}

// followedAs is a value of the column followed of chains. A binary that doesn't know the column takes a lease's epoch without noting it.
func followedAs(epoch int64, declared []market.Address) string {
	sum := sha256.New()
	for _, a := range slices.SortedFunc(slices.Values(declared), market.Address.Compare) {
		sum.Write(a.Bytes())
	}
	return fmt.Sprintf("%d %x", epoch, sum.Sum(nil))
}

func (s Upkeep) unfollowOthers(ctx context.Context, l *Lease, declared []market.Address) (int, error) {
	tokens, err := s.listMints(ctx, unfollowed, l.Chain)
	if err != nil {
		return 0, err
	}
	tokens = without(tokens, declared)
	for rest := tokens; len(rest) > 0; {
		n := min(unfollowAtOnce, len(rest))
		if err := s.unfollow(ctx, l, rest[:n]); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	return len(tokens), s.dropUnfollowed(ctx, l)
}

// AnyUnfollowed reports whether the balances of any of some tokens are kept that is neither a launch nor among declared. It reads through the
// writer's connection, so that it sees the last commit.
func (s Upkeep) AnyUnfollowed(ctx context.Context, chain string, tokens, declared []market.Address) (bool, error) {
	among := func(tokens []market.Address, query string) (list []market.Address, err error) {
		for part := range slices.Chunk(addressKeys(tokens), database.LoadKeys) {
			some, err := s.listMints(ctx, query, chain, database.Among(s.db.IsPostgres(), part))
			if err != nil {
				return nil, fmt.Errorf("look for tokens that aren't followed any more: %w", err)
			}
			list = append(list, some...)
		}
		return list, nil
	}
	rest := without(tokens, declared)
	launched, err := among(rest, launchedAmong)
	if err != nil {
		return false, err
	}
	kept, err := among(without(rest, launched), keptAmong)
	return len(kept) > 0, err
}

// without lists each token once, and leaves out those in but.
func without(tokens, but []market.Address) (list []market.Address) {
	listed := make(map[market.Address]bool, len(tokens)+len(but))
	for _, a := range but {
		listed[a] = true
	}
	for _, a := range tokens {
		if !listed[a] {
			list, listed[a] = append(list, a), true
		}
	}
	return list
}

// unfollow makes the tokens' holders unknown, and leaves a job for each, which says that its rows are to be dropped.
func (s Upkeep) unfollow(ctx context.Context, l *Lease, tokens []market.Address) error {
	err := s.writeUnderLease(ctx, l, func(tx *database.Transaction, next *pendingCommit) error {
		_, err := tx.NewRaw("UPDATE tokens SET holders_status = '', holders_reason = '', holders = 0, holders_strikes = 0, "+
			"since_creation = ?, commit_no = ? WHERE chain = ? AND mint IN (?)", false, next.commitNo, l.Chain,
			database.Among(tx.Postgres, addressKeys(tokens))).Exec(ctx)
		if err != nil {
			return fmt.Errorf("database: cease to follow tokens: %w", err)
		}
		next.log.AddTokens(tokens)
		jobs := make([]model.Job, len(tokens))
		for i, t := range tokens {
			jobs[i] = model.OfJob(l.Chain, &market.HolderJob{Token: t, Broken: true})
		}
		return database.Upsert(ctx, tx, jobs)
	})
	if err == nil {
		s.db.Hint(ctx, l.Chain)
	}
	return err
}

// dropUnfollowed drops the rows of tokens that aren't followed any more, a bounded number at a time: a lease is renewed between. The
// tokens' jobs go last.
func (s Upkeep) dropUnfollowed(ctx context.Context, l *Lease) error {
	tokens, err := s.listMints(ctx, unfollowing, l.Chain)
	if err != nil || len(tokens) == 0 {
		return err
	}
	if err := s.dropImages(ctx, l, tokens); err != nil {
		return err
	}
	for len(tokens) > 0 {
		some := tokens[:min(unfollowAtOnce, len(tokens))]
		for _, t := range []struct{ table, key, where string }{
			{"balances", "token, account", " AND NOT excluded"}, {"holder_staging", "token, account", ""}, {"holder_queue", "token, block, seq", ""},
		} {
			if err := s.dropRows(ctx, l, t.table, t.key, t.where, some); err != nil {
				return err
			}
		}
		if err := s.endJobs(ctx, l, some); err != nil {
			return err
		}
		tokens = tokens[len(some):]
	}
	return nil
}

func (s *rows) dropRows(ctx context.Context, l *Lease, table, key, where string, tokens []market.Address) error {
	for {
		var gone int64
		err := s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
			res, err := tx.NewRaw("DELETE FROM "+table+" WHERE chain = ? AND ("+key+") IN (SELECT "+key+" FROM "+table+
				" WHERE chain = ? AND token IN (?)"+where+" LIMIT ?)", l.Chain, l.Chain, database.Among(tx.Postgres, addressKeys(tokens)), dropAtOnce).Exec(ctx)
			if err != nil {
				return fmt.Errorf("database: drop %s of tokens that aren't followed: %w", table, err)
			}
			gone, err = res.RowsAffected()
			return err
		})
		if err != nil || gone < dropAtOnce {
			return err
		}
	}
}

// endJobs also empties the accounts that don't count as holders. That they don't stays known: a token may be launched yet.
func (s Upkeep) endJobs(ctx context.Context, l *Lease, tokens []market.Address) error {
	return s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
		keys := database.Among(tx.Postgres, addressKeys(tokens))
		if _, err := tx.NewRaw("UPDATE balances SET amount = ? WHERE chain = ? AND token IN (?)", model.BytesOf(&market.Amount{}), l.Chain, keys).
			Exec(ctx); err != nil {
			return fmt.Errorf("database: empty the accounts of tokens that aren't followed: %w", err)
		}
		if _, err := tx.NewRaw("DELETE FROM holder_jobs WHERE chain = ? AND token IN (?)", l.Chain, keys).Exec(ctx); err != nil {
			return fmt.Errorf("database: drop the jobs of tokens that aren't followed: %w", err)
		}
		return nil
	})
}

// dropImages forgets what a rewind would bring back of the tokens' balances, block by block.
func (s Upkeep) dropImages(ctx context.Context, l *Lease, tokens []market.Address) error {
	gone := make(map[market.Address]bool, len(tokens))
	for _, t := range tokens {
		gone[t] = true
	}
	var blocks []int64
	if err := s.db.Write.NewRaw("SELECT DISTINCT block FROM undo WHERE chain = ?", l.Chain).Scan(ctx, &blocks); err != nil {
		return fmt.Errorf("database: list the blocks that can be undone: %w", err)
	}
	for _, block := range blocks {
		err := s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
			return dropImagesOf(ctx, tx, l.Chain, block, gone)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropImagesOf forgets what a rewind would bring back of some tokens' balances in one block.
func dropImagesOf(ctx context.Context, tx *database.Transaction, chain string, block int64, tokens map[market.Address]bool) error {
	var rows []former.Row
	err := tx.NewSelect().Model(&rows).Where("chain = ? AND block = ?", chain, block).Order("seq").Scan(ctx)
	if err != nil {
		return fmt.Errorf("database: read what block %d changed: %w", block, err)
	}
	if rows, err = former.Unpacked(rows); err != nil {
		return err
	}
	of, c, all := holderImages(), model.Columns{Table: "undo"}, len(rows)
	rows = slices.DeleteFunc(rows, func(r former.Row) bool {
		if !slices.Contains(of, r.Tbl) {
			return false
		}
		token, failed := tokenOfImage(&r)
		err = errors.Join(err, failed)
		return tokens[c.Address(token)]
	})
	if err = errors.Join(err, c.Err); err != nil || len(rows) == all {
		return err
	}
	left := &former.Log{Chain: chain, Block: block}
	for i := range rows {
		if err := left.Keep(&rows[i]); err != nil {
			return err
		}
	}
	if _, err := tx.NewRaw("DELETE FROM undo WHERE chain = ? AND block = ?", chain, block).Exec(ctx); err != nil {
		return fmt.Errorf("database: forget what block %d changed: %w", block, err)
	}
	return database.Insert(ctx, tx, left.End())
}

// holderImages are the tables whose rows are a token's holders, by their names of today and of c9acfc3.
func holderImages() []string {
	tables := []string{tableOf[model.Balance](), tableOf[model.Queued](), tableOf[model.Job](), tableOf[model.Staging]()}
	for name, old := range model.OldImages {
		if slices.Contains(tables, old.Table) {
			tables = append(tables, name)
		}
	}
	return tables
}

// tokenOfImage reads the token of a former image of one of holderImages.
func tokenOfImage(u *former.Row) ([]byte, error) {
	switch u.Table() {
	case tableOf[model.Balance]():
		r, err := former.Read[model.Balance](u)
		return r.Token, err
	case tableOf[model.Queued]():
		r, err := former.Read[model.Queued](u)
		return r.Token, err
	case tableOf[model.Job]():
		r, err := former.Read[model.Job](u)
		return r.Token, err
	default:
		r, err := former.Read[model.Staging](u)
		return r.Token, err
	}
}
