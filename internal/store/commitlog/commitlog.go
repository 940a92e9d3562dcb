// Package commitlog is the table of commits. It lists for each commit of an index the tokens, launches and kinds of rows that the commit changed. Readers who follow the
// chain learn from it which rows to read again.
package commitlog

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// row says what one commit changed. An index on the commit number of every row would tell the same, but a row whose indexed columns change gets a new
// entry in each of its table's indexes (PostgreSQL, "Heap-Only Tuples"), and a trade changes a token, a pool and a launch.
type row struct {
	bun.BaseModel `bun:"table:commits"`

	Chain  string `bun:",pk"`
	Number int64  `bun:",pk"`
	// Kinds is the sum of the kinds of rows that changed.
	Kinds int64
	// Tokens and Launches are lists as addressList writes them.
	Tokens, Launches []byte
}

// Kinds are kinds of rows that a commit may change besides tokens and launches, as the table has them.
type Kinds int64

// The kinds of rows.
const (
	Pools Kinds = 1 << iota
	Quotes
	Metadata
	Trust

	manyTokens
	manyLaunches
)

// addressList is a set of addresses, of ListedAtMost at most.
type addressList struct {
	bytes  []byte
	listed map[market.Address]bool
	// isFull says that there were more. The list is empty then.
	isFull bool
}

// ListedAtMost bounds how many addresses a commit lists. A block changes some hundred tokens. A commit of the past has many blocks, and may change any number.
const ListedAtMost = 2048

func (l *addressList) add(a market.Address) {
	if l.isFull || l.listed[a] {
		return
	}
	if len(l.listed) == ListedAtMost {
		*l = addressList{isFull: true}
		return
	}
	if l.listed == nil {
		l.listed = map[market.Address]bool{}
	}
	l.listed[a] = true
	l.bytes = append(l.bytes, byte(len(a.Bytes())))
	l.bytes = a.AppendTo(l.bytes)
}

// eachListed calls f with each address that addressList wrote.
func eachListed(list []byte, f func([]byte)) error {
	for len(list) > 0 {
		n := int(list[0]) + 1
		if n > len(list) {
			return fmt.Errorf("database: what a commit changed ends within an address of %d bytes", n-1)
		}
		f(list[1:n])
		list = list[n:]
	}
	return nil
}

// Log collects what one commit changes.
type Log struct {
	kinds            Kinds
	tokens, launches addressList
	// isOff says that nobody follows the index.
	isOff bool
}

// Off has nothing written: the index is being purged, of this table's rows too.
func (g *Log) Off() { g.isOff = true }

// AddKinds adds kinds of rows.
func (g *Log) AddKinds(k Kinds) { g.kinds |= k }

// AddTokens adds tokens.
func (g *Log) AddTokens(tokens []market.Address) {
	for _, a := range tokens {
		g.tokens.add(a)
	}
}

// AddChanges adds what blocks changed.
func (g *Log) AddChanges(ch *market.Changes) {
	for i := range ch.Tokens {
		g.tokens.add(ch.Tokens[i].Key)
	}
	for i := range ch.Pools {
		g.kinds |= Pools
		for _, p := range []*market.Pool{ch.Pools[i].Before, ch.Pools[i].After} {
			if p != nil {
				g.tokens.add(p.Base)
			}
		}
	}
	for i := range ch.Launches {
		g.launches.add(ch.Launches[i].Key)
	}
	if len(ch.Quotes) > 0 {
		g.kinds |= Quotes
	}
}

// AddTouched adds what a rewind changed.
func (g *Log) AddTouched(t *market.Touched) {
	g.kinds |= Pools | Quotes
	g.AddTokens(t.Tokens)
	g.AddTokens(t.Bases)
	for _, a := range t.Launches {
		g.launches.add(a)
	}
}

const (
	// Kept is how many commits a reader may miss and still be told what changed. With blocks of 100 ms that is 200 seconds.
	Kept = 2048
	// DroppedAtOnce is after how many commits older ones are dropped.
	DroppedAtOnce = 64
)

// Write writes the list of the commit with a number, and now and then drops lists of older commits. dropped is the newest commit whose list was dropped before, 0 for
// none. Write gives the newest one whose list is dropped now.
func (g *Log) Write(ctx context.Context, tx *database.Transaction, index string, number, dropped int64) (int64, error) {
	if g.isOff {
		return dropped, nil
	}
	r := row{Chain: index, Number: number, Kinds: int64(g.kinds), Tokens: append([]byte{}, g.tokens.bytes...), Launches: append([]byte{}, g.launches.bytes...)}
	if g.tokens.isFull {
		r.Kinds |= int64(manyTokens)
	}
	if g.launches.isFull {
		r.Kinds |= int64(manyLaunches)
	}
	if err := database.Upsert(ctx, tx, []row{r}); err != nil {
		return dropped, err
	}
	to := number - Kept
	if number%DroppedAtOnce != 0 || to <= dropped {
		return dropped, nil
	}
	if _, err := tx.NewRaw("DELETE FROM commits WHERE chain = ? AND number > ? AND number <= ?", index, dropped, to).Exec(ctx); err != nil {
		return dropped, fmt.Errorf("database: drop what old commits changed: %w", err)
	}
	return to, nil
}
