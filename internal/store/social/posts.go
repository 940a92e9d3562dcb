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
)

type postRow struct {
	bun.BaseModel `bun:"table:posts"`

	Number     int64 `bun:",pk"`
	ID         string
	Member     int64
	Kind       string
	Parent     string
	Chain      string
	Mint       []byte
	TradeChain string
	TradeTx    []byte
	TradeMint  []byte
	Text       string
	TokenRefs  string
	PostedAt   int64
	UpdatedAt  int64
	DeletedAt  int64
	Change     int64
}

func postToRow(p *member.Post) (postRow, error) {
	refs, err := json.Marshal(p.Refs)
	row := postRow{
		Number: p.Number, ID: string(p.ID), Member: int64(p.Member), Kind: string(p.Kind), Parent: string(p.Parent), Chain: p.Chain, TradeChain: p.Trade.Chain,
		Text: p.Text, TokenRefs: string(refs), PostedAt: p.PostedAt, UpdatedAt: p.UpdatedAt, DeletedAt: p.DeletedAt, Change: p.Change,
	}
	if !p.Mint.IsNone() {
		row.Mint = p.Mint.Bytes()
	}
	if p.Trade != (member.TradeRef{}) {
		row.TradeTx, row.TradeMint = p.Trade.Tx.AppendTo(nil), p.Trade.Mint.Bytes()
	}
	return row, err
}

func (r *postRow) value() (*member.Post, error) {
	p := &member.Post{
		ID: member.PostID(r.ID), Number: r.Number, Member: member.Number(r.Member), Kind: member.PostKind(r.Kind), Parent: member.PostID(r.Parent), Chain: r.Chain,
		Text: r.Text, PostedAt: r.PostedAt, UpdatedAt: r.UpdatedAt, DeletedAt: r.DeletedAt, Change: r.Change,
	}
	var err error
	if r.Mint != nil {
		p.Mint, err = market.AddressFromBytes(r.Mint)
	}
	if err == nil && r.TradeTx != nil {
		p.Trade, err = r.trade()
	}
	if err == nil {
		err = json.Unmarshal([]byte(r.TokenRefs), &p.Refs)
	}
	if err != nil {
		return nil, fmt.Errorf("database: a row of posts: %w", err)
	}
	return p, nil
}

// trade is the trade of a row that is a note.
func (r *postRow) trade() (t member.TradeRef, err error) {
	t.Chain = r.TradeChain
	if t.Tx, err = market.TxIDFromBytes(r.TradeTx); err == nil {
		t.Mint, err = market.AddressFromBytes(r.TradeMint)
	}
	return t, err
}

// postsCounter is the counter of the posts' changes.
const postsCounter = "posts"

// loadPosts takes in the posts that the records are about.
func loadPosts(ctx context.Context, tx *database.Transaction, r *member.Registry, records []member.Record) error {
	ids := map[string]bool{}
	for i := range records {
		if post := records[i].Post; post != nil {
			ids[string(post.ID)] = true
		}
	}
	for some := range slices.Chunk(keysOf(ids), database.LoadKeys) {
		list, err := listPosts(ctx, tx, "number", "id IN (?)", database.Among(tx.Postgres, some))
		if err != nil {
			return err
		}
		for i := range list {
			r.AddPost(&list[i])
		}
	}
	return nil
}

// listPosts lists the posts that fulfil a condition, in the order of a column.
func listPosts(ctx context.Context, db bun.IDB, order, condition string, args ...any) ([]member.Post, error) {
	var rows []postRow
	if err := db.NewSelect().Model(&rows).Where(condition, args...).Order(order).Scan(ctx); err != nil {
		return nil, wrap("read posts", err)
	}
	out := make([]member.Post, len(rows))
	for i := range rows {
		p, err := rows[i].value()
		if err != nil {
			return nil, err
		}
		out[i] = *p
	}
	return out, nil
}

// keepPosts writes the posts that changed.
func keepPosts(ctx context.Context, tx *database.Transaction, r *member.Registry) error {
	if len(r.ChangedPosts) == 0 {
		return nil
	}
	rows := make([]postRow, 0, len(r.ChangedPosts))
	for id := range r.ChangedPosts {
		row, err := postToRow(r.Posts[id])
		if err != nil {
			return fmt.Errorf("database: a post: %w", err)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b postRow) int { return cmp.Compare(a.Number, b.Number) })
	if err := database.Upsert(ctx, tx, rows); err != nil {
		return err
	}
	return number(ctx, tx, postsCounter, r.Last.Posts)
}

// Post gives a post by the app's id; nil where there is none.
func (s Posts) Post(ctx context.Context, id member.PostID) (*member.Post, error) {
	list, err := listPosts(ctx, s.db.Read, "number", "id = ?", string(id))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// LastPostChange is the number of the last change of a post.
func (s Posts) LastPostChange(ctx context.Context) (int64, error) {
	return lastOf(ctx, s.db.Read, postsCounter)
}

// PostChanges lists up to limit posts that changed after the change with a number, by the numbers of their last changes. A post that changed several times is
// there once.
func (s Posts) PostChanges(ctx context.Context, after int64, limit int) ([]member.Post, error) {
	last, err := s.LastPostChange(ctx) // a change that comes between the two reads must not hide what came before it
	if err != nil || last == after {
		return nil, err
	}
	return listPosts(ctx, s.db.Read, "change", "number IN (SELECT number FROM posts WHERE change > ? AND change <= ? ORDER BY change LIMIT ?)", after, last, limit)
}

// PostsAbove lists up to limit posts with numbers above one, by their numbers.
func (s Posts) PostsAbove(ctx context.Context, above int64, limit int) ([]member.Post, error) {
	return listPosts(ctx, s.db.Read, "number", "number IN (SELECT number FROM posts WHERE number > ? ORDER BY number LIMIT ?)", above, limit)
}

// NoteKey names a trade and whose it is.
type NoteKey struct {
	Member member.Number
	member.TradeRef
}

// Notes gives the posts that are notes on some trades, of several on one trade the one that was written first. It leaves out trades without a note.
func (s Posts) Notes(ctx context.Context, trades []NoteKey) (map[NoteKey]*member.Post, error) {
	pairs := make([]any, len(trades))
	for i, k := range trades {
		pairs[i] = []any{k.Tx.AppendTo(nil), int64(k.Member)}
	}
	out := make(map[NoteKey]*member.Post)
	for some := range slices.Chunk(pairs, database.LoadKeys) {
		list, err := listPosts(ctx, s.db.Read, "number DESC", "trade_tx IS NOT NULL AND (trade_tx, member) IN (?)", database.Among(s.db.IsPostgres(), some))
		if err != nil {
			return nil, err
		}
		for i := range list {
			out[NoteKey{list[i].Member, list[i].Trade}] = &list[i]
		}
	}
	return out, nil
}

// NotedSince lists the trades that have notes that changed after the change with a number. last is the number of the last change. A trade whose note was taken
// away isn't listed.
func (s Posts) NotedSince(ctx context.Context, after int64) (trades []NoteKey, last int64, err error) {
	last, err = s.LastPostChange(ctx)
	if err != nil || last == after {
		return nil, last, err
	}
	var rows []postRow
	err = s.db.Read.NewSelect().Model(&rows).Column("member", "trade_chain", "trade_tx", "trade_mint").
		Where("change > ? AND change <= ? AND trade_tx IS NOT NULL", after, last).Scan(ctx)
	if err != nil {
		return nil, 0, wrap("read which trades have notes", err)
	}
	for i := range rows {
		t, err := rows[i].trade()
		if err != nil {
			return nil, 0, fmt.Errorf("database: a row of posts: %w", err)
		}
		trades = append(trades, NoteKey{member.Number(rows[i].Member), t})
	}
	return trades, last, nil
}

// erasePosts deletes the posts of a member.
func erasePosts(ctx context.Context, tx *database.Transaction, m member.Number) error {
	_, err := tx.NewRaw("DELETE FROM posts WHERE member = ?", int64(m)).Exec(ctx)
	return wrap("erase posts of a member who left", err)
}
