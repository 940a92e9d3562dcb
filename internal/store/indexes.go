package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/commitlog"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
	"github.com/boardwalkhq/boardwalk/internal/store/streamlog"
)

// IndexStatus is how an index of a chain stands.
type IndexStatus struct {
	ChainStatus
	// Served says that answers are made of it.
	Served bool
	// Wanted is the generation that was asked for by Indexes.Want, of a served index; 0 for none. WantedAnew says that facts are to be asked again.
	Wanted     int64
	WantedAnew bool
	// GivenUp is the newest generation that was asked for and given up, of a served index; 0 for none, and while another one is wanted.
	GivenUp int64
}

// ErrBehind means that an index can't take the place of another that is further.
var ErrBehind = errors.New("the index that is served is further")

// ErrUnwanted means that an index can't take the place of another since its generation isn't the one that is wanted.
var ErrUnwanted = errors.New("this generation is no longer wanted")

// ofChain is a condition on the id of chains: the indexes of one chain. A chain's id has no sign of a pattern.
const ofChain = "(id = ? OR id LIKE ?)"

func laterOf(chain string) string { return chainconfig.IndexID(chain, 2)[:len(chain)+1] + "%" }

// Of lists the indexes of a chain, by generation.
func (s Indexes) Of(ctx context.Context, chain string) ([]IndexStatus, error) {
	var rows []chainRow
	if err := s.db.Write.NewSelect().Model(&rows).Where(ofChain, chain, laterOf(chain)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read the indexes of chain %s: %w", chain, err)
	}
	list, err := model.To(rows, func(r *chainRow) (IndexStatus, error) {
		status, err := r.status()
		return IndexStatus{ChainStatus: status, Served: r.Served, Wanted: max(r.Wanted, 0), WantedAnew: r.WantedAnew, GivenUp: max(-r.Wanted, 0)}, err
	})
	slices.SortFunc(list, func(a, b IndexStatus) int { return int(a.Generation - b.Generation) })
	return list, err
}

// registerFirst registers an index, and has it served, where the chain has none. A binary that knows no generations wouldn't find a later one.
func registerFirst(ctx context.Context, tx *database.Transaction, index string) error {
	chain, generation := chainconfig.ChainOfIndex(index)
	_, err := tx.NewRaw("INSERT INTO chains (id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM chains WHERE "+ofChain+") ON CONFLICT (id) DO NOTHING",
		index, chain, laterOf(chain)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("database: register chain %s: %w", index, err)
	}
	if generation > 1 {
		return needReader(ctx, tx, generationsSchema)
	}
	return nil
}

// generationsSchema is the oldest schema whose binaries know generations.
const generationsSchema = 15

// needReader keeps binaries away that don't know a schema.
func needReader(ctx context.Context, tx *database.Transaction, oldest int) error {
	if _, err := tx.NewRaw("UPDATE schema_reader SET oldest = ? WHERE oldest < ?", oldest, oldest).Exec(ctx); err != nil {
		return fmt.Errorf("database: say which binaries may read it: %w", err)
	}
	return nil
}

// Begin registers one more index of a chain, which isn't served.
func (s Indexes) Begin(ctx context.Context, chain string, generation int64) error {
	return s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		index := chainconfig.IndexID(chain, generation)
		if _, err := tx.NewRaw("INSERT INTO chains (id, served) VALUES (?, FALSE) ON CONFLICT (id) DO NOTHING", index).Exec(ctx); err != nil {
			return fmt.Errorf("database: register index %s: %w", index, err)
		}
		return needReader(ctx, tx, generationsSchema)
	})
}

// Want asks for an index of a chain of the generation after the newest one; anew says that what nodes were asked before is asked again. The number of
// a generation that was given up isn't used again, since an indexer may still be making that one. ok is false where no indexer ever ran for the chain.
func (s Indexes) Want(ctx context.Context, chain string, anew bool) (generation int64, ok bool, err error) {
	err = s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		generation, ok = 0, false
		served, wanted, err := s.lockServed(ctx, tx, chain)
		if err != nil || served == "" {
			return err
		}
		var list []string
		if err := tx.NewRaw("SELECT id FROM chains WHERE "+ofChain, chain, laterOf(chain)).Scan(ctx, &list); err != nil {
			return err
		}
		generation, ok = max(wanted, 1-wanted), true
		for _, id := range list {
			_, g := chainconfig.ChainOfIndex(id)
			generation = max(generation, g+1)
		}
		_, err = tx.NewRaw("UPDATE chains SET wanted = ?, wanted_anew = ? WHERE id = ?", generation, anew, served).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("database: ask for another generation of chain %s: %w", chain, err)
	}
	return generation, ok, nil
}

// GiveUp takes back what Want asked for. It gives the number that was asked for: once GiveUp has returned, TakeOver refuses the index of that generation,
// unless the Chain asks for it. 0 says that there is nothing to give up: none was asked for, or it is served already, or it has been given up before.
func (s Indexes) GiveUp(ctx context.Context, chain string) (generation int64, err error) {
	err = s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		served, wanted, err := s.lockServed(ctx, tx, chain)
		if generation = max(wanted, 0); err != nil || generation == 0 {
			return err
		}
		// The number stays, below zero: Want doesn't use it again.
		_, err = tx.NewRaw("UPDATE chains SET wanted = -wanted, wanted_anew = FALSE WHERE id = ?", served).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("database: give up the generation of chain %s that was asked for: %w", chain, err)
	}
	return generation, nil
}

// lockServed locks the row of the index that is served, and gives its id and column wanted; the id is empty where none is.
func (s Indexes) lockServed(ctx context.Context, tx *database.Transaction, chain string) (id string, wanted int64, err error) {
	query := "SELECT id, wanted FROM chains WHERE served AND " + ofChain
	if s.db.IsPostgres() { // SQLite has one writer at a time
		query += " FOR UPDATE"
	}
	// A statement that waits for a takeover finds the former index served no more, and doesn't see yet that the new one is. The next statement does.
	for range 2 {
		if err = tx.NewRaw(query, chain, laterOf(chain)).Scan(ctx, &id, &wanted); !errors.Is(err, sql.ErrNoRows) {
			return id, wanted, err
		}
	}
	return "", 0, nil
}

// TakeOver has the lease's index served in the place of the one that is, in one transaction. Readers take it for a rewind. declared is the generation
// that the chain document asks for, 0 for none: the index has to be of that one or of the one that Want asked for, whichever is later, else it is
// ErrUnwanted. ErrBehind says that the index that is served has a newer block, and isn't halted. Nothing is changed then, as with ErrLeaseLost and
// ErrMoved.
func (s Indexes) TakeOver(ctx context.Context, l *Lease, declared int64) error {
	const wanted = "CASE WHEN wanted > ? THEN wanted ELSE ? END = ?"
	chain, generation := chainconfig.ChainOfIndex(l.Chain)
	err := s.writeUnderLease(ctx, l, func(tx *database.Transaction, next *pendingCommit) error {
		var number, commitNo, rewinds int64
		err := tx.NewRaw("UPDATE chains SET served = FALSE, wanted = 0 WHERE served AND id <> ? AND "+ofChain+
			" AND (number <= ? OR state = ?) AND "+wanted+" RETURNING number, commit_no, rewinds",
			l.Chain, chain, laterOf(chain), next.number, string(ChainHalted), declared, declared, generation).Scan(ctx, &number, &commitNo, &rewinds)
		if errors.Is(err, sql.ErrNoRows) {
			var isWanted bool
			err = tx.NewRaw("SELECT "+wanted+" FROM chains WHERE served AND "+ofChain, declared, declared, generation, chain, laterOf(chain)).Scan(ctx, &isWanted)
			if err == nil && !isWanted {
				return ErrUnwanted
			}
			return ErrBehind
		}
		if err != nil {
			return fmt.Errorf("database: replace the index of chain %s: %w", chain, err)
		}
		next.commitNo = max(next.commitNo, commitNo+1) // readers have seen the former's
		if err := setChain(ctx, tx, l.Chain, "served = TRUE, commit_no = ?, rewinds = ?", next.commitNo, rewinds+1); err != nil {
			return err
		}
		return replaceStream(ctx, tx, &next.position, l.Chain, number)
	})
	if err == nil {
		s.db.Hint(ctx, chain)
	}
	return err
}

// fetched are the tables of what was fetched or checked of tokens, which isn't derived, with what says in a launch's row that it was, and what
// the launches of both indexes must have alike for it.
var fetched = []struct{ table, mark, value, alike string }{
	{"token_metadata", "has_metadata", "TRUE", "o.metadata = launches.metadata AND o.image = launches.image AND o.has_metadata IS NOT NULL"},
	{"trust_reports", "checked_at", "(SELECT f.checked_at FROM trust_reports f WHERE f.chain = launches.chain AND f.mint = launches.mint)", "TRUE"},
}

// Inherit takes over, of up to limit tokens after one, what was fetched and checked for another index of the chain. It gives the last of them;
// ok is false when there are no more.
func (s Indexes) Inherit(ctx context.Context, l *Lease, from string, after market.Address, limit int) (last market.Address, ok bool, err error) {
	err = s.commitBeside(ctx, l, commitlog.Metadata|commitlog.Trust, func(tx *database.Transaction, no int64) error {
		var mints [][]byte
		err := tx.NewRaw("SELECT mint FROM (SELECT mint FROM token_metadata WHERE chain = ? UNION SELECT mint FROM trust_reports WHERE chain = ?) m "+
			"WHERE mint > ? ORDER BY mint LIMIT ?", from, from, append([]byte{}, after.Bytes()...), limit).Scan(ctx, &mints)
		if err != nil {
			return fmt.Errorf("database: list what was fetched for index %s: %w", from, err)
		}
		if ok = len(mints) > 0; !ok {
			return nil
		}
		c := model.Columns{Table: "token_metadata"}
		keys := make([]any, len(mints))
		for i, m := range mints {
			keys[i], last = m, c.Address(m)
		}
		if err := dropNoted(ctx, tx, l.Chain, from, keys); err != nil {
			return err
		}
		for _, f := range fetched {
			if err := inheritTable(ctx, tx, f.table, l.Chain, from, no, keys); err != nil {
				return err
			}
			_, err := tx.NewRaw("UPDATE launches SET "+f.mark+" = "+f.value+" WHERE chain = ? AND mint IN (?) AND "+f.mark+" IS NULL AND EXISTS "+
				"(SELECT 1 FROM launches o WHERE o.chain = ? AND o.mint = launches.mint AND "+f.alike+")",
				l.Chain, database.Among(tx.Postgres, keys), from).Exec(ctx)
			if err != nil {
				return fmt.Errorf("database: mark what was fetched: %w", err)
			}
		}
		return c.Err
	})
	return last, ok, err
}

// dropNoted makes room for what was fetched for another index by the URIs that are noted of some tokens.
func dropNoted(ctx context.Context, tx *database.Transaction, to, from string, mints []any) error {
	_, err := tx.NewRaw("DELETE FROM token_metadata WHERE chain = ? AND mint IN (?) AND status = ? AND EXISTS "+
		"(SELECT 1 FROM token_metadata o WHERE o.chain = ? AND o.mint = token_metadata.mint AND o.uri = token_metadata.uri)",
		to, database.Among(tx.Postgres, mints), string(MetadataNoted), from).Exec(ctx)
	if err != nil {
		return fmt.Errorf("database: take over what was fetched: %w", err)
	}
	return nil
}

// inheritTable copies the rows of some tokens from an index to another.
func inheritTable(ctx context.Context, tx *database.Transaction, table, to, from string, no int64, mints []any) error {
	rowType := reflect.TypeFor[model.Metadata]()
	if table == "trust_reports" {
		rowType = reflect.TypeFor[trustRow]()
	}
	var names []string
	for _, f := range tx.Dialect().Tables().Get(rowType).Fields {
		if f.Name != "chain" && f.Name != "commit_no" {
			names = append(names, f.Name)
		}
	}
	list := strings.Join(names, ", ")
	_, err := tx.NewRaw("INSERT INTO "+table+" (chain, commit_no, "+list+") SELECT ?, ?, "+list+" FROM "+table+" WHERE chain = ? AND mint IN (?) "+
		"ON CONFLICT DO NOTHING", to, no, from, database.Among(tx.Postgres, mints)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("database: take over %s: %w", table, err)
	}
	return nil
}

// indexed are the tables that have rows of indexes, with the rest of their keys; chains aside.
var indexed = []struct{ table, key string }{
	{"blocks", "number"},
	{"undo", "block, seq"},
	{"commits", "number"},
	{"facts", "block, kind, ref"},
	{"unsure_facts", "block, kind, ref"},
	{"tokens", "mint"},
	{"pools", "id"},
	{"pool_ticks", "pool"},
	{"quote_prices", "asset"},
	{"trades", "block, log_index"},
	{"waiting_trades", "block, log_index"},
	{"payments", "block"},
	{"candles", "pool, interval_s, open_at"},
	{"balances", "token, account"},
	{"holder_queue", "token, block, seq"},
	{"holder_jobs", "token"},
	{"holder_staging", "token, account"},
	{"holder_recounts", "token"},
	{"launches", "mint"},
	{"watched_wallets", "wallet"},
	{"wallet_positions", "wallet, token"},
	{"wallet_hours", "open_at, wallet, member"},
	{"wallet_entries", "wallet, block, seq"},
	{"wallet_fees", "wallet, block, log_index"},
	{"wallet_pasts", "wallet"},
	{"token_metadata", "mint"},
	{"trust_reports", "mint"},
	{"endpoint_records", "endpoint"},
}

// Withdraw has the lease's index served no more, with no other in its place: its chain isn't declared any more. Before, it takes a piece of the chain's
// items of the stream back; done says that there were no more of them. Calls stay: they are their members'.
func (s Indexes) Withdraw(ctx context.Context, l *Lease) (done bool, err error) {
	chain, _ := chainconfig.ChainOfIndex(l.Chain)
	err = s.writeUnderLease(ctx, l, func(tx *database.Transaction, next *pendingCommit) error {
		var now int64
		if err := tx.NewRaw("SELECT block_time FROM chains WHERE id = ?", l.Chain).Scan(ctx, &now); err != nil {
			return fmt.Errorf("database: read index %s: %w", l.Chain, err)
		}
		gone, err := streamlog.Delete(ctx, tx, now, "number IN (SELECT number FROM stream WHERE chain = ? AND kind <> ? AND retracts = 0 ORDER BY number LIMIT ?)",
			chain, string(market.StreamCall), forgottenItems)
		if err != nil {
			return err
		}
		if done = len(gone) == 0; done {
			return setChain(ctx, tx, l.Chain, "served = FALSE, wanted = 0")
		}
		return writeStream(ctx, tx, &next.position, gone)
	})
	if err == nil {
		s.db.Hint(ctx, chain)
	}
	return done && err == nil, err
}

// purgedAtOnce is how many rows of a table one transaction of a purge deletes.
const purgedAtOnce = 2000

// Purge deletes a piece of the rows of the lease's index, which isn't served; done says that all are gone, the index with them. Before the first piece
// it notes that rows are missing from then on: whoever takes the lease later learns it by Lease.IsDeleting. It fails with ErrReplaced where somebody else
// was faster.
func (s Indexes) Purge(ctx context.Context, l *Lease) (done bool, err error) {
	if !l.isDeleting {
		if err := notServed(ctx, s.db.Write, l.Chain); err != nil {
			return false, err
		}
		if err := s.updateUnderLease(ctx, l, "state = ?, state_reason = ''", string(ChainDeleting)); err != nil {
			return false, err
		}
		l.isDeleting = true
	}
	for _, t := range schema.Partitioned {
		if err := s.dropPartition(ctx, l, t); err != nil {
			return false, err
		}
	}
	err = s.writeUnderLease(ctx, l, func(tx *database.Transaction, next *pendingCommit) error {
		next.log.Off()
		if err := notServed(ctx, tx, l.Chain); err != nil {
			return err
		}
		for _, t := range indexed {
			res, err := tx.NewRaw("DELETE FROM "+t.table+" WHERE chain = ? AND ("+t.key+") IN (SELECT "+t.key+" FROM "+t.table+
				" WHERE chain = ? LIMIT ?)", l.Chain, l.Chain, purgedAtOnce).Exec(ctx)
			if err != nil {
				return fmt.Errorf("database: purge index %s: %s: %w", l.Chain, t.table, err)
			}
			if n, err := res.RowsAffected(); err != nil || n > 0 {
				return err
			}
		}
		done = true
		_, err := tx.NewRaw("DELETE FROM chains WHERE id = ?", l.Chain).Exec(ctx)
		return err
	})
	return done && err == nil, err
}

// notServed refuses an index that answers are made of.
func notServed(ctx context.Context, db bun.IDB, index string) error {
	var served bool
	err := db.NewRaw("SELECT served FROM chains WHERE id = ?", index).Scan(ctx, &served)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrReplaced
	case err != nil:
		return fmt.Errorf("database: read index %s: %w", index, err)
	case served:
		return fmt.Errorf("database: index %s is served: nothing of it is deleted", index)
	}
	return nil
}

// dropPartition drops an index's partition of a table, whole: beside it the table is read and written meanwhile. One that was cut off is ended.
func (s Indexes) dropPartition(ctx context.Context, l *Lease, table string) error {
	if !s.db.IsPostgres() {
		return nil
	}
	if err := notServed(ctx, s.db.Write, l.Chain); err != nil {
		return err
	}
	name := schema.PartitionOf(table, l.Chain)
	var attached, pending bool
	err := s.db.Write.NewRaw("SELECT i.inhrelid IS NOT NULL, COALESCE(i.inhdetachpending, FALSE) FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid "+
		"WHERE c.oid = to_regclass(?)", database.Ident(name)).Scan(ctx, &attached, &pending)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil && attached {
		how := "CONCURRENTLY"
		if pending {
			how = "FINALIZE"
		}
		_, err = s.db.Write.NewRaw("ALTER TABLE ? DETACH PARTITION ? "+how, bun.Ident(table), bun.Ident(name)).Exec(ctx)
	}
	if err == nil {
		_, err = s.db.Write.NewRaw("DROP TABLE ?", bun.Ident(name)).Exec(ctx)
	}
	if err != nil {
		return database.Interruption(ctx, fmt.Errorf("database: drop %s: %w", name, err))
	}
	return nil
}

// FirstBlock is the first block of an index, as it noted it; of an index that was begun before that was noted it is the first in which a token was
// seen. ok is false where the index has none.
func (s Indexes) FirstBlock(ctx context.Context, index string) (number uint64, ok bool, err error) {
	var first sql.NullInt64
	err = s.db.Write.NewRaw("SELECT COALESCE(NULLIF(start_block, 0), (SELECT min(first_block) FROM tokens WHERE chain = chains.id)) FROM chains WHERE id = ?",
		index).Scan(ctx, &first)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, false, fmt.Errorf("database: read the first block of index %s: %w", index, err)
	}
	return uint64(first.Int64), first.Valid, nil
}

// Family is the family of an index's chain, by the address of one of its tokens: nothing else that is stored tells it. It is empty where the index has no
// token.
func (s Indexes) Family(ctx context.Context, index string) (chainconfig.Family, error) {
	var mint []byte
	err := s.db.Write.NewRaw("SELECT mint FROM tokens WHERE chain = ? LIMIT 1", index).Scan(ctx, &mint)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("database: read a token of index %s: %w", index, err)
	}
	c := model.Columns{Table: "tokens"}
	return chainconfig.FamilyOf(c.Address(mint)), c.Err
}

// IndexSize is how much an index takes.
type IndexSize struct {
	// Facts is how many answers of nodes are kept.
	Facts int64
	// Bytes is the size of the index's biggest tables, on SQLite that of the whole database.
	Bytes int64
}

// Size measures an index.
func (s Indexes) Size(ctx context.Context, index string) (size IndexSize, err error) {
	if err := s.db.Write.NewRaw("SELECT count(*) FROM facts WHERE chain = ?", index).Scan(ctx, &size.Facts); err != nil {
		return size, fmt.Errorf("database: count facts: %w", err)
	}
	size.Bytes, err = s.Bytes(ctx, index)
	return size, err
}

// Bytes are those of an index's biggest tables, on SQLite of the whole database.
func (s Indexes) Bytes(ctx context.Context, index string) (bytes int64, err error) {
	if !s.db.IsPostgres() {
		err = s.db.Write.NewRaw("SELECT p.page_count * s.page_size FROM pragma_page_count() p, pragma_page_size() s").Scan(ctx, &bytes)
	} else {
		names := make([]any, len(schema.Partitioned))
		for i, t := range schema.Partitioned {
			names[i] = schema.PartitionOf(t, index)
		}
		err = s.db.Write.NewRaw("SELECT COALESCE(sum(pg_total_relation_size(p.relid)), 0)::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "+
			"CROSS JOIN LATERAL pg_partition_tree(c.oid) p WHERE n.nspname = current_schema() AND c.relname IN (?)", database.Among(true, names)).Scan(ctx, &bytes)
	}
	if err != nil {
		return 0, fmt.Errorf("database: measure index %s: %w", index, err)
	}
	return bytes, nil
}
