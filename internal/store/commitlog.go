package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// commitRow says what one commit changed. An index on the commit number of every row would tell the same, but a row whose indexed columns change gets a new
// entry in each of its table's indexes (PostgreSQL, "Heap-Only Tuples"), and a trade changes a token, a pool and a launch.
type commitRow struct {
	bun.BaseModel `bun:"table:commits"`

	Chain  string `bun:",pk"`
	Number int64  `bun:",pk"`
	// Kinds is a sum of changedKinds.
	Kinds int64
	// Tokens and Launches are lists as addressList writes them.
	Tokens, Launches []byte
}

// changedKinds are kinds of rows that a commit may change, as the table has them.
type changedKinds int64

const (
	poolsChanged changedKinds = 1 << iota
	quotesChanged
	metadataChanged
	trustChanged
	manyTokens
	manyLaunches
)

// addressList is a set of addresses, of listedAtMost at most.
type addressList struct {
	bytes  []byte
	listed map[market.Address]bool
	// isFull says that there were more. The list is empty then.
	isFull bool
}

// listedAtMost bounds how many addresses a commit lists: a block has some hundred, and the past changes as many as it has.
const listedAtMost = 2048

func (l *addressList) add(a market.Address) {
	if l.isFull || l.listed[a] {
		return
	}
	if len(l.listed) == listedAtMost {
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

// commitLog collects what a write changes.
type commitLog struct {
	kinds            changedKinds
	tokens, launches addressList
	// isOff says that nobody follows the index: it is being purged, of this table's rows too.
	isOff bool
}

// addChanges adds what blocks changed.
func (g *commitLog) addChanges(ch *market.Changes) {
	for i := range ch.Tokens {
		g.tokens.add(ch.Tokens[i].Key)
	}
	for i := range ch.Pools {
		g.kinds |= poolsChanged
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
		g.kinds |= quotesChanged
	}
}

// addTouched adds what a rewind changed.
func (g *commitLog) addTouched(t *market.Touched) {
	g.kinds |= poolsChanged | quotesChanged
	for _, list := range [][]market.Address{t.Tokens, t.Bases} {
		for _, a := range list {
			g.tokens.add(a)
		}
	}
	for _, a := range t.Launches {
		g.launches.add(a)
	}
}

const (
	// commitsKept is how many commits a reader may miss and still be told what changed: in 200 seconds of blocks of 100 ms each chain is read anew.
	commitsKept = 2048
	// droppedCommits is after how many commits older ones are dropped.
	droppedCommits = 64
)

// writeLog keeps what the commit changes.
func (c *pendingCommit) writeLog(ctx context.Context, tx *database.Transaction, chain string) error {
	g := &c.log
	if g.isOff {
		return nil
	}
	row := commitRow{Chain: chain, Number: c.commitNo, Kinds: int64(g.kinds), Tokens: append([]byte{}, g.tokens.bytes...), Launches: append([]byte{}, g.launches.bytes...)}
	if g.tokens.isFull {
		row.Kinds |= int64(manyTokens)
	}
	if g.launches.isFull {
		row.Kinds |= int64(manyLaunches)
	}
	if err := database.Upsert(ctx, tx, []commitRow{row}); err != nil {
		return err
	}
	to := c.commitNo - commitsKept
	if c.commitNo%droppedCommits != 0 || to <= c.droppedCommits {
		return nil
	}
	if _, err := tx.NewRaw("DELETE FROM commits WHERE chain = ? AND number > ? AND number <= ?", chain, c.droppedCommits, to).Exec(ctx); err != nil {
		return fmt.Errorf("database: drop what old commits changed: %w", err)
	}
	c.droppedCommits = to
	return nil
}
