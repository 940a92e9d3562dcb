package chain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// Options say what a chain is like. Zero values take the defaults named here.
type Options struct {
	World  *world.World
	Trader *traffic.Trader
	// Desk, if set, launches tokens among the real transactions.
	Desk *desk.Desk
	Seed uint64
	// Genesis is the number of the block that is anvil's genesis. Default 20,000,000.
	Genesis uint64
	// Txs and Logs are about how many a block has of made-up ones; VolumeV2 and VolumeV3 the pools that they use, 120 and 24 by default.
	Txs, Logs          int
	VolumeV2, VolumeV3 int
	// RealTxs is the mean number of the traders' transactions in a block of anvil's. Default 4.
	RealTxs int
}

const (
	// ancestors is how many empty blocks are below the genesis: whoever looks further back than any reorg goes finds nothing.
	ancestors                   = 1_024
	defaultGenesis              = 20_000_000
	defaultV2, defaultV3        = 120, 24
	defaultRealTxs              = 4
	deepestReorg                = 64
	keptOrphans                 = 512
	maxPending                  = 64
	reorgSeed, realSeed  uint64 = 23, 29
)

// Chain is a growing chain. Readers may use it at any time; Advance, Extend and Reorg are one goroutine's, each.
type Chain struct {
	options Options
	volume  *volume
	old     *spill
	real    []world.VolumePool
	rng     *rand.Rand

	// writing is held while a block is made.
	writing sync.Mutex
	blooms  *bloomCache
	fork    uint64
	states  *poolStates // after the newest block

	mu      sync.RWMutex
	blocks  []*Block // from First() on
	byHash  map[Hash]*Block
	orphans []*Block
	txs     map[Hash]place
	pending []Batch       // mined by anvil, in no block yet
	grown   chan struct{} // closed at the next block

	// written are the states of the pools that anvil has.
	written *poolStates
	drawn   *rand.Rand
}

// place is where a transaction is.
type place struct {
	block *Block
	index int
}

// New begins a chain with the blocks that anvil has, one for one, after it has opened the pools of the volume.
func New(ctx context.Context, o Options) (*Chain, error) {
	if o.Genesis == 0 {
		o.Genesis = defaultGenesis
	}
	if o.VolumeV2 == 0 && o.VolumeV3 == 0 {
		o.VolumeV2, o.VolumeV3 = defaultV2, defaultV3
	}
	if o.RealTxs == 0 {
		o.RealTxs = defaultRealTxs
	}
	c := &Chain{
		options: o, blooms: newBloomCache(), byHash: map[Hash]*Block{}, txs: map[Hash]place{}, grown: make(chan struct{}),
		rng: rand.New(rand.NewPCG(o.Seed, reorgSeed)), drawn: rand.New(rand.NewPCG(o.Seed, realSeed)),
	}
	var err error
	if c.old, err = newSpill(); err != nil {
		return nil, err
	}
	if o.Txs > 0 {
		if c.real, err = world.OpenVolume(ctx, o.World, o.VolumeV2, o.VolumeV3, o.Seed); err != nil {
			return nil, err
		}
	}
	pools, states := newPools(c.real)
	c.states, c.written = states, states.clone()
	if c.volume, err = newVolume(o.World, pools, o.Seed, o.Txs, o.Logs); err != nil {
		return nil, err
	}
	latest, err := o.World.Node.Latest(ctx)
	if err != nil {
		return nil, err
	}
	for n := uint64(0); n <= latest.Number; n++ {
		batch, at, err := c.mined(ctx, n)
		if err != nil {
			return nil, err
		}
		for n == 0 && len(c.blocks) < ancestors {
			if err := c.add(c.next(at-uint64(ancestors-len(c.blocks)), nil, nil)); err != nil {
				return nil, err
			}
		}
		if err := c.add(c.next(at, []Batch{batch}, nil)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Advance lets the traders send transactions and anvil mine them, at a time that is later than its newest block's. The next block of the
// chain has them.
func (c *Chain) Advance(ctx context.Context, at time.Time) error {
	w := c.options.World
	if c.options.Desk != nil {
		if _, err := c.options.Desk.Step(ctx, at); err != nil {
			return err
		}
	}
	if _, err := c.options.Trader.Step(ctx, 1+c.drawn.IntN(2*c.options.RealTxs)); err != nil {
		return err
	}
	c.writing.Lock()
	now := c.states.clone()
	c.writing.Unlock()
	if err := world.SetPools(ctx, w, asSimnets(c.real, c.written, now), uint32(at.Unix())); err != nil {
		return err
	}
	c.written = now
	if err := w.Node.MineAt(ctx, at); err != nil {
		return err
	}
	latest, err := w.Node.Latest(ctx)
	if err != nil {
		return err
	}
	batch, _, err := c.mined(ctx, latest.Number)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending = append(c.pending, batch); len(c.pending) > maxPending {
		return errors.New("anvil mines blocks faster than the chain takes them")
	}
	return nil
}

// mined reads what anvil mined in a block.
func (c *Chain) mined(ctx context.Context, number uint64) (Batch, uint64, error) {
	var header struct{ Timestamp string }
	var receipts []struct {
		TransactionHash, From, To, ContractAddress, Type, Status, GasUsed string
		Logs                                                              []struct {
			Address string
			Topics  []string
			Data    string
		}
	}
	requests := []anvil.Request{
		{Method: "eth_getBlockByNumber", Params: []any{quantity(number), false}, Result: &header},
		{Method: "eth_getBlockReceipts", Params: []any{quantity(number)}, Result: &receipts},
	}
	err := c.options.World.Node.Batch(ctx, requests)
	if err = errors.Join(err, requests[0].Err, requests[1].Err); err != nil {
		return Batch{}, 0, fmt.Errorf("anvil's block %d: %w", number, err)
	}
	out := Batch{State: number}
	r := &hexReader{}
	for _, one := range receipts {
		t := Tx{Hash: Hash(r.bytes(one.TransactionHash, 32)), From: Address(r.bytes(one.From, 20)), Type: byte(r.number(one.Type)), Gas: r.number(one.GasUsed)}
		t.Failed = one.Status != "0x1"
		if one.To != "" {
			t.To = Address(r.bytes(one.To, 20))
		}
		for _, l := range one.Logs {
			log := Log{Address: Address(r.bytes(l.Address, 20)), Data: r.bytes(l.Data, -1)}
			for _, topic := range l.Topics {
				log.Topics = append(log.Topics, Hash(r.bytes(topic, 32)))
			}
			t.Logs = append(t.Logs, log)
		}
		out.Txs = append(out.Txs, t)
	}
	return out, r.number(header.Timestamp), r.err
}

// Extend makes the next block. Its time isn't before its parent's.
func (c *Chain) Extend(at time.Time) (*Block, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	batches := c.pending
	c.pending = nil
	c.mu.Unlock()
	b := c.next(uint64(at.Unix()), batches, c.volume)
	return b, c.add(b)
}

// next makes a block after the newest one; volume may be nil.
func (c *Chain) next(at uint64, batches []Batch, v *volume) *Block {
	b := &Block{Number: c.First(), Time: at, batches: batches, volume: c.states.clone()}
	if parent := c.Head(); parent != nil {
		b.Number, b.Parent, b.State = parent.Number+1, parent.Hash, parent.State
		b.Time = max(at, parent.Time)
	}
	var txs []Tx
	for _, batch := range batches {
		txs, b.State = append(txs, batch.Txs...), batch.State
	}
	b.Real = len(txs)
	if v != nil {
		txs = append(txs, v.block(b.Number, c.fork, c.states)...)
	}
	b.seal(txs, c.blooms)
	return b
}

func (c *Chain) add(b *Block) error {
	b.Made = time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks = append(c.blocks, b)
	c.byHash[b.Hash] = b
	for i, t := range *b.txs.Load() {
		c.txs[t.Hash] = place{b, i}
	}
	if n := len(c.blocks) - deepestReorg; n > 0 {
		c.blocks[n-1].volume, c.blocks[n-1].batches = nil, nil
	}
	close(c.grown)
	c.grown = make(chan struct{})
	if n := len(c.blocks) - inMemory; n > 0 {
		return c.store(c.blocks[n-1])
	}
	return nil
}

// store moves a block's transactions into the file.
func (c *Chain) store(b *Block) (err error) {
	txs := b.txs.Load()
	if txs == nil {
		return nil // a reorg shortened the chain, and it is as long as it was again
	}
	if b.stored, err = c.old.write(*txs); err == nil {
		b.txs.Store(nil)
	}
	return err
}

// Reorg replaces the newest blocks by as many others, in which made-up transactions are others and real ones come a block later.
func (c *Chain) Reorg(depth int) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	if depth < 1 || depth >= min(len(c.blocks), deepestReorg) {
		c.mu.Unlock()
		return fmt.Errorf("a reorg of %d blocks: 1 to %d are possible", depth, min(len(c.blocks), deepestReorg)-1)
	}
	gone := c.blocks[len(c.blocks)-depth:]
	c.blocks = c.blocks[: len(c.blocks)-depth : len(c.blocks)-depth]
	c.states = gone[0].volume.clone()
	var batches []Batch
	for _, b := range gone {
		batches = append(batches, b.batches...)
		for _, t := range *b.txs.Load() {
			delete(c.txs, t.Hash)
		}
	}
	if c.orphans = append(c.orphans, gone...); len(c.orphans) > keptOrphans {
		for _, b := range c.orphans[:len(c.orphans)-keptOrphans] {
			delete(c.byHash, b.Hash)
		}
		c.orphans = c.orphans[len(c.orphans)-keptOrphans:]
	}
	c.mu.Unlock()
	c.fork++
	for i, b := range gone {
		var here []Batch
		if i > 0 && len(batches) > 0 {
			here, batches = batches[:1], batches[1:]
		}
		if err := c.add(c.next(b.Time, here, c.volume)); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.pending = append(batches, c.pending...)
	c.mu.Unlock()
	return nil
}

// First is the number of the first block. The state of those below the genesis is that of the genesis.
func (c *Chain) First() uint64 { return c.options.Genesis - ancestors }

// Genesis is the number of the block that is anvil's genesis, and the first that isn't empty.
func (c *Chain) Genesis() uint64 { return c.options.Genesis }

// Head is the newest block; nil before there is one.
func (c *Chain) Head() *Block {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if len(c.blocks) == 0 {
		return nil
	}
	return c.blocks[len(c.blocks)-1]
}

// Block is the block of a number; nil where there is none.
func (c *Chain) Block(number uint64) *Block {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if number < c.First() || number-c.First() >= uint64(len(c.blocks)) {
		return nil
	}
	return c.blocks[number-c.First()]
}

// ByHash finds a block; canonical says that it is the chain's, not a replaced one.
func (c *Chain) ByHash(h Hash) (b *Block, canonical bool) {
	c.mu.RLock()
	b = c.byHash[h]
	c.mu.RUnlock()
	return b, b != nil && c.Block(b.Number) == b
}

// Txs are the transactions of a block, which must not be changed.
func (c *Chain) Txs(b *Block) ([]Tx, error) {
	if txs := b.txs.Load(); txs != nil {
		return *txs, nil
	}
	return c.old.read(b.stored)
}

// Tx finds a transaction of the chain, and its place in its block.
func (c *Chain) Tx(h Hash) (*Block, int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	p := c.txs[h]
	return p.block, p.index
}

// Grown is closed when the next block is added.
func (c *Chain) Grown() <-chan struct{} {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.grown
}

// World is what the state is of.
func (c *Chain) World() *world.World { return c.options.World }
