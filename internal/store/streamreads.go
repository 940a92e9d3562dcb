package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
	"github.com/boardwalkhq/boardwalk/internal/store/streamlog"
)

// StreamItem is an item of the stream, or says that one is taken back.
type StreamItem struct {
	Number int64
	Chain  string
	// Retracts is the number of the item that is retracted; 0 for an item. A retraction has the kind and the chain of its item, and the time of what retracted
	// it; the rest is of items alone.
	Retracts int64
	market.StreamItem
	// Call is the number of the call that the item is; 0 for others.
	Call int64
	// RetractedMember and RetractedTime are set for a retraction: the number of the item's member, and the item's time in unix seconds. The member is 0 if the item
	// is a launch, or a trade of a wallet that was taken away.
	RetractedMember, RetractedTime int64
}

func streamItem(r *streamlog.Row) (StreamItem, error) {
	c := model.Columns{Table: "stream"}
	it := StreamItem{Number: r.Number, Chain: r.Chain, Retracts: r.Retracts}
	it.Kind, it.Token, it.Time = market.StreamKind(r.Kind), c.Address(r.Token), r.Time
	if it.Kind == market.StreamTrade && it.Retracts == 0 {
		it.Trade = market.StreamTradeRef{Wallet: c.Address(r.Wallet), Member: r.Member, Block: uint64(r.Block), Tx: c.Tx(r.Tx), Sell: r.Sell}
	}
	it.Call = r.Call
	if it.Retracts > 0 {
		it.RetractedMember, it.RetractedTime = r.Member, r.ItemTime
	}
	return it, c.Err
}

// Last is the highest number that was taken; 0 before the first.
func (s Stream) Last(ctx context.Context) (last int64, err error) {
	err = s.db.Read.NewRaw("SELECT COALESCE(max(last), 0) FROM sequences WHERE stream = ?", streamlog.Counter).Scan(ctx, &last)
	if err != nil {
		return 0, fmt.Errorf("database: read the last number of the stream: %w", err)
	}
	return last, nil
}

// After lists up to limit items with numbers above one, and what is taken back under such numbers, in their order.
func (s Stream) After(ctx context.Context, number int64, limit int) ([]StreamItem, error) {
	return s.list(ctx, s.db.Read.NewSelect().Where("number > ?", number).Order("number").Limit(int64(limit)))
}

// Before lists up to limit items of a kind with numbers below one, the newest first; those that were taken back are none. token, if it isn't none, asks for
// items about the token at an address, on whichever chain.
func (s Stream) Before(ctx context.Context, number int64, kind market.StreamKind, token market.Address, limit int) ([]StreamItem, error) {
	q := s.db.Read.NewSelect().Where("number < ? AND retracts = 0 AND kind = ?", number, string(kind)).Order("number DESC").Limit(int64(limit))
	if !token.IsNone() {
		q = q.Where("token = ?", token.Bytes())
	}
	return s.list(ctx, q)
}

// Retractions lists up to limit of what was taken back under numbers below one, the newest first.
func (s Stream) Retractions(ctx context.Context, number int64, limit int) ([]StreamItem, error) {
	return s.list(ctx, s.db.Read.NewSelect().Where("number < ? AND retracts > 0", number).Order("number DESC").Limit(int64(limit)))
}

// First is the lowest number from which on all items are kept; where no item is kept, the next number that will be taken. A call that is older than StreamKept
// doesn't count: trades after it may have been deleted.
func (s Stream) First(ctx context.Context, now time.Time) (first int64, err error) {
	since := now.Add(clockSlack - time.Duration(StreamKept)).Unix()
	err = s.db.Read.NewRaw("SELECT COALESCE((SELECT min(number) FROM stream WHERE kind <> ? OR time >= ?), (SELECT last + 1 FROM sequences WHERE stream = ?), 1)",
		string(market.StreamCall), since, streamlog.Counter).Scan(ctx, &first)
	if err != nil {
		return 0, fmt.Errorf("database: read the first number of the stream: %w", err)
	}
	return first, nil
}

// clockSlack is how much the clock of the program that deletes old items may be ahead of ours.
const clockSlack = time.Hour

func (s Stream) list(ctx context.Context, q *bun.SelectQuery) ([]StreamItem, error) {
	var rows []streamlog.Row
	if err := q.Model(&rows).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read the stream: %w", err)
	}
	return model.To(rows, streamItem)
}

// StreamTrade is what the entries of a member's trade come to.
type StreamTrade struct {
	// Amount is raw, and NanoUSD the value in 1e-9 USD.
	Amount  market.Amount
	NanoUSD int64
	// Counts says that all of it counts for the member.
	Counts bool
	// Proceeds and Cost are of what had a basis.
	Proceeds, Cost market.USD
	// Pool is the one in which the most of it was traded.
	Pool market.Address
}

// walletBlock names a wallet's entries of a block.
type walletBlock struct {
	chain  string
	wallet market.Address
	block  uint64
}

// Trades gives what the entries of some trades come to, by the numbers of their items. One whose entries aren't there, since a reorg took them or another
// index is served, isn't among them.
func (s Stream) Trades(ctx context.Context, items []StreamItem) (map[int64]StreamTrade, error) {
	var keys []any
	of := make(map[walletBlock][]*StreamItem, len(items))
	for i := range items {
		it := &items[i]
		if it.Kind != market.StreamTrade || it.Retracts != 0 {
			continue
		}
		k := walletBlock{it.Chain, it.Trade.Wallet, it.Trade.Block}
		if of[k] == nil {
			keys = append(keys, []any{s.served.indexOf(it.Chain), it.Trade.Wallet.Bytes(), int64(it.Trade.Block)})
		}
		of[k] = append(of[k], it)
	}
	out := make(map[int64]StreamTrade, len(items))
	for len(keys) > 0 {
		part := keys[:min(len(keys), database.LoadKeys)]
		keys = keys[len(part):]
		entries := map[walletBlock][]market.Entry{}
		q := s.db.Read.NewRaw("SELECT "+database.ColumnsOf[model.Entry](s.db.Read, "e")+" FROM wallet_entries e WHERE (e.chain, e.wallet, e.block) IN (?) ORDER BY e.seq",
			database.Among(s.db.IsPostgres(), part))
		for e, err := range database.Walk(ctx, s.db.Read, q, "wallet_entries", func(rows *sql.Rows) (WalletEntry, error) {
			var r model.Entry
			if err := s.db.Read.ScanRow(ctx, rows, &r); err != nil {
				return WalletEntry{}, err
			}
			e, err := r.Value()
			chain, _ := s.served.chainOf(r.Chain)
			return WalletEntry{Chain: chain, Entry: e}, err
		}) {
			if err != nil {
				return nil, err
			}
			k := walletBlock{e.Chain, e.Wallet, e.Block}
			entries[k] = append(entries[k], e.Entry)
		}
		for k, list := range entries {
			for _, it := range of[k] {
				if t, ok := tradeOf(it, list); ok {
					out[it.Number] = t
				}
			}
		}
	}
	return out, nil
}

// tradeOf adds the entries of a trade up. entries are those of its wallet and block.
func tradeOf(it *StreamItem, entries []market.Entry) (t StreamTrade, ok bool) {
	kind := market.Bought
	if it.Trade.Sell {
		kind = market.Sold
	}
	var most int64
	t.Counts = true
	for i := range entries {
		e := &entries[i]
		if e.Tx != it.Trade.Tx || e.Token != it.Token || e.Kind != kind {
			continue
		}
		ok = true
		if _, over := t.Amount.AddOverflow(&t.Amount, &e.Amount); over {
			t.Amount.SetAllOne()
		}
		if t.NanoUSD += e.NanoUSD; t.NanoUSD < 0 {
			t.NanoUSD = math.MaxInt64
		}
		t.Counts = t.Counts && e.Counts
		t.Proceeds, t.Cost = t.Proceeds.Add(e.Proceeds), t.Cost.Add(e.Cost)
		if t.Pool.IsNone() || e.NanoUSD > most {
			t.Pool, most = e.Pool, e.NanoUSD
		}
	}
	return t, ok
}
