package mainnet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// knowTokens lets the index follow the head until it has derived a token with a pool, gives that token's rows to as many other tokens as there have
// to be, and starts the index again.
func (f *followed) knowTokens(ctx context.Context) error {
	lab.Say("index: the first token")
	if err := f.start(); err != nil {
		return err
	}
	var mint, pool []byte
	var found error
	if err := f.until(ctx, lookEvery, func(uint64) bool {
		found = lab.NotYet(f.conn.QueryRow(ctx, "SELECT t.mint, p.id FROM tokens t JOIN pools p ON p.chain = t.chain AND p.id = t.pool AND p.base = t.mint "+
			"WHERE p.price > 0 AND p.hooks IS NULL ORDER BY t.first_block LIMIT 1").Scan(&mint, &pool))
		return found != nil || mint != nil
	}); err != nil || found != nil {
		return errors.Join(err, found)
	}
	f.indexer.Stop()
	f.indexer = nil
	for _, c := range []lab.Copies{{Table: "tokens", Where: "mint = $1", Key: mint}, {Table: "pools", Where: "id = $1", Key: pool}} {
		c.Count, c.Change = f.known, func(n int, _ []string, row []any) []any { return copyOf(n, row, mint, pool) }
		if err := c.Write(ctx, f.conn); err != nil {
			return err
		}
	}
	if _, err := f.conn.Exec(ctx, "ANALYZE"); err != nil {
		return err
	}
	return f.prepare(ctx)
}

// copyOf is a row of the n-th token or of its pool: it names the n-th addresses where the row names those of the first ones.
func copyOf(n int, row []any, mint, pool []byte) []any {
	out := slices.Clone(row)
	for i := range out {
		switch old, _ := out[i].([]byte); {
		case old == nil:
		case bytes.Equal(old, mint):
			out[i] = knownAddress(n, 1)
		case bytes.Equal(old, pool):
			out[i] = knownAddress(n, 2)
		}
	}
	return out
}

// knownAddress is the address of the n-th token (1) or of its pool (2), spread over all addresses as hashes are.
func knownAddress(n int, what byte) []byte {
	var word [32]byte
	binary.BigEndian.PutUint64(word[12:], uint64(n)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(word[20:], uint64(n))
	word[31] = what
	return market.EVMAddress(word).Bytes()
}
