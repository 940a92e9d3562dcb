// Package written writes chains for tests: the blocks are made up, and derived and stored as an indexer does it.
package written

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// TB has the methods of testing.TB and of rapid.T that are used here.
type TB interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
}

// undoable is how many blocks a reorg can reach.
const undoable = 64

// Chain is a chain that a test writes.
type Chain struct {
	Store *store.Store
	Last  market.Header
	// FinalAfter is how many blocks later a block is final.
	FinalAfter int
	// IsPast has blocks be committed as those that lie too deep for a reorg.
	IsPast bool

	id      string
	machine *derive.Machine
	state   *derive.State
	lease   *store.Lease
	// blocks has all headers, the one before the first block too.
	blocks []market.Header
	forks  uint64
}

// New begins a chain. The first block will come after last.
func New(tb TB, st *store.Store, cfg *chainconfig.Chain, last market.Header) *Chain {
	tb.Helper()
	machine, err := derive.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	lease, err := st.Leases.Acquire(tb.Context(), cfg.ID, "test", time.Hour)
	if err != nil {
		tb.Fatal(err)
	}
	return &Chain{Store: st, Last: last, id: cfg.ID, machine: machine, state: derive.NewState(market.Beginning{Last: last}), lease: lease, blocks: []market.Header{last}}
}

// Block writes a block of one transaction, seconds after the last one.
func (c *Chain) Block(tb TB, seconds int64, facts []market.Fact, events ...market.Event) {
	tb.Helper()
	n := c.Last.Number + 1
	b := market.Block{Header: market.Header{Number: n, Hash: c.hash(n), Parent: c.Last.Hash, Time: c.Last.Time + seconds}, Facts: facts}
	tx := market.Tx{ID: market.EVMTx(b.Hash)}
	for i, e := range events {
		tx.Logs = append(tx.Logs, market.Log{Index: uint64(i), Event: e})
	}
	b.Txs = append(b.Txs, tx)
	blocks := []market.Block{b}
	load := func(keys market.Wanted) {
		tb.Helper()
		rows, err := c.Store.Load(tb.Context(), c.id, keys)
		if err != nil {
			tb.Fatal(err)
		}
		c.state.Put(keys, rows)
	}
	load(c.machine.LaunchKeys(c.state, blocks))
	load(c.machine.Keys(c.state, blocks, b.Header))
	for range 2 { // an indexer asks again whenever facts came in
		load(c.machine.MoreKeys(c.state, blocks, b.Header))
	}
	if err := c.machine.Apply(c.state, blocks, b.Header); err != nil {
		tb.Fatal(err)
	}
	c.blocks = append(c.blocks, b.Header)
	final := c.blocks[max(len(c.blocks)-1-c.FinalAfter, 0)]
	err := c.Store.Commit(tb.Context(), c.lease, &store.Commit{
		Last: b.Header, Blocks: []market.Header{b.Header}, Undo: !c.IsPast, Horizon: n - min(n, undoable),
		Head:    store.HeadStatus{Number: n, Time: b.Time, Final: final.Number, FinalTime: final.Time, SilentFrom: b.Time + int64(time.Hour/time.Second)},
		Changes: c.state.Flush(100_000),
	})
	if err != nil {
		tb.Fatal(err)
	}
	c.Last = b.Header
}

// hash makes a hash that no other block has.
func (c *Chain) hash(n uint64) (h market.Hash) {
	binary.BigEndian.PutUint64(h[:8], c.forks+1)
	binary.BigEndian.PutUint64(h[8:16], n)
	return h
}

// Rewind takes the last n blocks back, as a reorg does. The first block stays.
func (c *Chain) Rewind(tb TB, n int) {
	tb.Helper()
	c.blocks = c.blocks[:len(c.blocks)-n]
	to := c.blocks[len(c.blocks)-1]
	if _, err := c.Store.Rewind(tb.Context(), c.lease, to.Number); err != nil {
		tb.Fatal(err)
	}
	b, err := c.Store.Beginning(tb.Context(), c.id, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if b.Watched, err = c.Store.Wallets.Watched(tb.Context(), c.id); err != nil {
		tb.Fatal(err)
	}
	b.Last = to
	c.Last, c.state = to, derive.NewState(b)
	c.forks++
}

// Forget deletes what is kept of a wallet, as an indexer does once it is no member's.
func (c *Chain) Forget(tb TB, wallet market.Address) {
	tb.Helper()
	for more := true; more; {
		var err error
		if more, err = c.Store.Wallets.Forget(tb.Context(), c.lease, wallet); err != nil {
			tb.Fatal(err)
		}
	}
	c.state.ForgetWallets([]market.Address{wallet})
}
