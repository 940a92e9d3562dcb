package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

func bodyOfPast(f *market.PastFact) pastBody {
	b := pastBody{Version: factVersion, Wallet: model.AddressText{Address: f.Wallet}, Before: f.Before, In: f.In, Entries: make([]pastEntryBody, len(f.Entries))}
	for i := range f.Entries {
		e := &f.Entries[i]
		b.Entries[i] = pastEntryBody{
			Block: e.Block, Seq: e.Seq, Time: e.Time, Tx: e.Tx.String(), Token: model.AddressText{Address: e.Token}, Kind: model.EntryKindText(e.Kind),
			LogIndex: e.LogIndex, Amount: model.DecimalAmount{Amount: e.Amount},
		}
		fee := e.Fee.Amount()
		b.Entries[i].FeeNanoUSD = int64(fee.Uint64()) // at most the trade's value
		if !e.Pool.IsNone() {
			b.Entries[i].Pool = &model.AddressText{Address: e.Pool}
		}
		if e.HasUSD {
			b.Entries[i].NanoUSD = &e.NanoUSD
		}
	}
	return b
}

func readPast(body []byte) (market.Fact, error) {
	b, err := model.ReadBody[pastBody](body)
	if err != nil {
		return nil, err
	}
	f := market.PastFact{Wallet: b.Wallet.Address, Before: b.Before, In: b.In}
	for i := range b.Entries {
		r := &b.Entries[i]
		e := market.Entry{Wallet: f.Wallet, Block: r.Block, Seq: r.Seq, Time: r.Time, Token: r.Token.Address, LogIndex: r.LogIndex, Amount: r.Amount.Amount, Fee: market.NanoUSD(r.FeeNanoUSD)}
		if e.Tx, err = market.ParseTx(r.Tx); err != nil {
			return nil, fmt.Errorf("database: facts: %w", err)
		}
		if e.Kind, err = model.ParseEntryKind(r.Kind); err != nil {
			return nil, fmt.Errorf("database: facts: %w", err)
		}
		if r.Pool != nil {
			e.Pool = r.Pool.Address
		}
		if r.NanoUSD != nil {
			e.NanoUSD, e.HasUSD = *r.NanoUSD, true
		}
		f.Entries = append(f.Entries, e)
	}
	return f, nil
}

type pastRow struct {
	bun.BaseModel `bun:"table:wallet_pasts"`

	Chain       string `bun:",pk"`
	Wallet      []byte `bun:",pk"`
	Change      int64
	Since       int64
	FirstBlock  int64
	NextBlock   int64
	BeforeBlock int64
	Found       []byte
	Alone       int64
	Body        []byte
}

func (r *pastRow) job() (market.PastJob, error) {
	c := model.Columns{Table: "wallet_pasts"}
	j := market.PastJob{Wallet: c.Address(r.Wallet), Change: r.Change, Since: r.Since, First: uint64(r.FirstBlock), Next: uint64(r.NextBlock), Before: uint64(r.BeforeBlock), Alone: int(r.Alone)}
	if len(r.Found)%8 != 0 {
		return j, fmt.Errorf("database: a row of wallet_pasts: %d bytes of blocks", len(r.Found))
	}
	for b := r.Found; len(b) > 0; b = b[8:] {
		j.Found = append(j.Found, binary.BigEndian.Uint64(b))
	}
	return j, c.Err
}

// PastJobs lists the wallets of a chain whose past is being read, in the order of their addresses.
func (s Wallets) PastJobs(ctx context.Context, chain string) ([]market.PastJob, error) {
	var rows []pastRow
	if err := s.db.Write.NewSelect().Model(&rows).Where("chain = ? AND body IS NULL", chain).Order("wallet").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: list the wallets whose past is read: %w", err)
	}
	return model.To(rows, (*pastRow).job)
}

// WalletFrom is a watched wallet, and the block from which on it is.
type WalletFrom struct {
	market.WatchedWallet

	From uint64
}

// withoutPast goes by the index watched_wallets_past. The block of the newest fact by which a wallet is watched is found by facts_watch.
const withoutPast = "SELECT wallet, member, change, since, watched_from FROM (SELECT w.wallet, w.member, w.change, w.since, (SELECT max(f.block) FROM facts f WHERE f.kind = '" + watchKind +
	"' AND f.ref = w.wallet AND f.chain || '' = w.chain) AS watched_from FROM watched_wallets w WHERE w.chain = ? AND w.past_in = 0 AND w.since < ? " +
	"AND NOT EXISTS (SELECT 1 FROM wallet_pasts p WHERE p.chain = w.chain AND p.wallet = w.wallet) AND NOT EXISTS (SELECT 1 FROM facts f JOIN chains c ON c.id = w.chain " +
	"WHERE f.kind = '" + pastKind + "' AND f.ref = w.wallet AND f.chain || '' = w.chain AND f.block > c.number)) l WHERE watched_from <= ? ORDER BY since LIMIT ?"

// WithoutPast lists up to limit wallets of a chain of whose past nothing is known, by a fact of a block to come neither, which are watched since a final block, which count for their members since before
// a time, in unix seconds, and whose past isn't being read either.
func (s Wallets) WithoutPast(ctx context.Context, chain string, before int64, final uint64, limit int) ([]WalletFrom, error) {
	var rows []struct {
		Wallet                []byte
		Member, Change, Since int64
		WatchedFrom           int64
	}
	if err := s.db.Write.NewRaw(withoutPast, chain, before, int64(final), limit).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: list the wallets without a past: %w", err)
	}
	c := model.Columns{Table: "watched_wallets"}
	out := make([]WalletFrom, len(rows))
	for i, r := range rows {
		out[i] = WalletFrom{market.WatchedWallet{Wallet: c.Address(r.Wallet), Member: r.Member, Change: r.Change, Since: r.Since}, uint64(r.WatchedFrom)}
	}
	return out, c.Err
}

// SavePasts writes how far the reading of wallets' pasts has come, of those wallets that are still watched by the same change. The fact of a job is there once all
// of it is read.
func (s Wallets) SavePasts(ctx context.Context, l *Lease, jobs []market.PastJob) error {
	rows, err := pastRows(l.Chain, jobs)
	if err != nil {
		return err
	}
	return s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error { return savePasts(ctx, tx, l.Chain, rows) })
}

// MovePasts writes that blocks up to before one were looked through for wallets, and what that changed besides.
func (s Wallets) MovePasts(ctx context.Context, l *Lease, wallets []market.Address, next uint64, changed []market.PastJob) error {
	rows, err := pastRows(l.Chain, changed)
	if err != nil {
		return err
	}
	return s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
		_, err := tx.NewRaw("UPDATE wallet_pasts SET next_block = ? WHERE chain = ? AND body IS NULL AND wallet IN (?)", int64(next), l.Chain,
			database.Among(tx.Postgres, addressKeys(wallets))).Exec(ctx)
		if err != nil {
			return fmt.Errorf("database: write how far the reading of wallets' pasts has come: %w", err)
		}
		return savePasts(ctx, tx, l.Chain, rows)
	})
}

func pastRows(chain string, jobs []market.PastJob) ([]pastRow, error) {
	rows := make([]pastRow, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		rows[i] = pastRow{
			Chain: chain, Wallet: j.Wallet.Bytes(), Change: j.Change, Since: j.Since, FirstBlock: int64(j.First), NextBlock: int64(j.Next), BeforeBlock: int64(j.Before), Found: []byte{},
			Alone: int64(j.Alone),
		}
		for _, b := range j.Found {
			rows[i].Found = binary.BigEndian.AppendUint64(rows[i].Found, b)
		}
		if j.Fact == nil {
			continue
		}
		var err error
		if rows[i].Body, err = json.Marshal(bodyOfPast(j.Fact)); err != nil {
			return nil, fmt.Errorf("database: what a wallet did before it was watched: %w", err)
		}
	}
	return rows, nil
}

func savePasts(ctx context.Context, tx *database.Transaction, chain string, rows []pastRow) error {
	if len(rows) == 0 {
		return nil
	}
	keys := make([]any, len(rows))
	for i := range rows {
		keys[i] = rows[i].Wallet
	}
	var watched []model.Watched
	err := tx.NewSelect().Model(&watched).Where("chain = ?", chain).Where("wallet IN (?)", database.Among(tx.Postgres, keys)).Scan(ctx)
	if err != nil {
		return fmt.Errorf("database: read which wallets are watched: %w", err)
	}
	rows = slices.DeleteFunc(rows, func(r pastRow) bool { // its member may have left meanwhile
		return !slices.ContainsFunc(watched, func(w model.Watched) bool { return bytes.Equal(w.Wallet, r.Wallet) && w.Change == r.Change })
	})
	return database.Upsert(ctx, tx, rows)
}

const readyPast = "SELECT p.body FROM wallet_pasts p JOIN watched_wallets w ON w.chain = p.chain AND w.wallet = p.wallet AND w.change = p.change " +
	"WHERE p.chain = ? AND p.body IS NOT NULL AND w.past_in = 0 ORDER BY p.wallet LIMIT 1"

// ReadyPast is what a watched wallet did before it was watched, of one whose past is read and wasn't taken in; ok is false where there is none.
func (s Wallets) ReadyPast(ctx context.Context, chain string) (f market.PastFact, ok bool, err error) {
	return s.past(ctx, readyPast, chain)
}

const keptPast = "SELECT body FROM facts WHERE chain = ? AND block = ? AND kind = '" + pastKind + "' AND ref = ?"

// KeptPast reads a wallet's past from the fact of a block.
func (s Wallets) KeptPast(ctx context.Context, chain string, block uint64, wallet market.Address) (f market.PastFact, ok bool, err error) {
	return s.past(ctx, keptPast, chain, int64(block), wallet.Bytes())
}

func (s Wallets) past(ctx context.Context, query string, args ...any) (f market.PastFact, ok bool, err error) {
	var body []byte
	err = s.db.Write.NewRaw(query, args...).Scan(ctx, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return f, false, nil
	}
	if err != nil {
		return f, false, fmt.Errorf("database: read what a wallet did before it was watched: %w", err)
	}
	fact, err := readFact(pastKind, body)
	if err != nil {
		return f, false, err
	}
	f, ok = fact.(market.PastFact)
	return f, ok, nil
}

// pastFacts goes by the index facts_past. The chain is written so that it can't be looked up.
const pastFacts = "SELECT block, hash, ref FROM facts WHERE kind = '" + pastKind + "' AND ref > ? AND block > ? AND chain || '' = ? ORDER BY block, ref"

// PastFacts lists of which wallets' pasts facts of blocks above one tell, in the order of the chain. They have no entries: KeptPast has them.
func (s Wallets) PastFacts(ctx context.Context, chain string, above uint64) ([]StoredFact, error) {
	var rows []factRow
	if err := s.db.Write.NewRaw(pastFacts, []byte{}, int64(above), chain).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: list what is known of wallets' pasts: %w", err)
	}
	return model.To(rows, func(r *factRow) (StoredFact, error) {
		c := model.Columns{Table: "facts"}
		return StoredFact{Block: uint64(r.Block), Hash: c.Hash(r.Hash), Fact: market.PastFact{Wallet: c.Address(r.Ref)}}, c.Err
	})
}

// endedPast is the condition on a reading of a past that is of no use any more.
const endedPast = "chain = ? AND NOT EXISTS (SELECT 1 FROM watched_wallets w WHERE w.chain = wallet_pasts.chain AND w.wallet = wallet_pasts.wallet " +
	"AND w.change = wallet_pasts.change AND (w.past_in = 0 OR w.past_in > ?))"

// DropPasts drops the reading of pasts that were taken in by a block which is final, and of wallets that are no longer watched, or are another member's.
func (s Wallets) DropPasts(ctx context.Context, l *Lease, final uint64) error {
	var ended bool
	err := s.db.Write.NewRaw("SELECT EXISTS (SELECT 1 FROM wallet_pasts WHERE "+endedPast+")", l.Chain, int64(final)).Scan(ctx, &ended)
	if err == nil && ended {
		err = s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
			_, err := tx.NewRaw("DELETE FROM wallet_pasts WHERE "+endedPast, l.Chain, int64(final)).Exec(ctx)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("database: drop the reading of wallets' pasts: %w", err)
	}
	return nil
}

// loadBooks loads all entries, positions and hours of the wallets of members; of a member with more entries than are worked out again, one more than that.
func (s *rows) loadBooks(ctx context.Context, chain string, members [][]market.Address, out *market.Rows) error {
	for _, wallets := range members {
		keys := addressKeys(wallets)
		var entries []model.Entry
		err := s.db.Write.NewSelect().Model(&entries).Where("chain = ?", chain).Where("wallet IN (?)", database.Among(s.db.IsPostgres(), keys)).
			Limit(market.MostReworked + 1).Scan(ctx)
		if err != nil {
			return fmt.Errorf("database: read the entries of a member's wallets: %w", err)
		}
		of, err := model.To(entries, (*model.Entry).Value)
		if err != nil {
			return err
		}
		out.Entries = append(out.Entries, of...)
		positions, err := in[model.Position](ctx, s, chain, "wallet", keys)
		if err != nil {
			return err
		}
		for i := range positions {
			k, p, err := positions[i].Value()
			if err != nil {
				return err
			}
			out.Positions[k] = p
		}
		hours, err := in[model.Hour](ctx, s, chain, "wallet", keys)
		if err != nil {
			return err
		}
		more, err := model.To(hours, (*model.Hour).Value)
		if err != nil {
			return err
		}
		out.Hours = append(out.Hours, more...)
	}
	return nil
}
