package main

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/internal/funding"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// The index keeps who paid whom by the transactions of blocks that were read with them, and says of trades where their traders' coins came from. A
// fresh index reads the past without transactions, so that its rows can't be compared: both are held against the chain's own blocks.

// payers is how many of the wallets that trade launched tokens pay others.
const payers = 5

// pay sends coins from some wallets to some that trade launched tokens, and now and then to oneself or nothing.
func (c *evmChain) pay(ctx context.Context) error {
	wallets := c.world.Wallets
	list := make([]anvil.Transaction, c.paid.IntN(4))
	for i := range list {
		list[i] = anvil.Transaction{
			From: wallets[len(wallets)-1-c.paid.IntN(payers)], To: wallets[c.paid.IntN(len(wallets))], Value: big.NewInt(c.paid.Int64N(1_000_000)),
		}
	}
	if len(list) == 0 {
		return nil
	}
	_, err := c.Send(ctx, list)
	return err
}

// payingOf draws who pays whom, so that the rest of what happens stays as it is.
func payingOf(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }

// paidBlock is a block with its payments, and with who sent their first transaction. Kept says that the index has a row of it.
type paidBlock struct {
	kept     bool
	hash     string
	time     int64
	payments []market.Payment
	firsts   []market.Address
}

// toldBlock is a block with its transactions, as the node tells it.
type toldBlock struct {
	Hash, Timestamp string
	Transactions    []struct {
		From, Value, Nonce string
		To                 *string
	}
}

// paidBlocks reads the chain's blocks up to the newest, each with its transactions.
func (c *evmChain) paidBlocks(ctx context.Context) ([]paidBlock, error) {
	head, err := c.newest(ctx)
	if err != nil {
		return nil, err
	}
	blocks := make([]toldBlock, head.number+1)
	requests := make([]anvil.Request, len(blocks))
	for i := range blocks {
		requests[i] = anvil.Request{Method: "eth_getBlockByNumber", Params: []any{hexOf(int64(i)), true}, Result: &blocks[i]}
	}
	for batch := range slices.Chunk(requests, 100) {
		if err := c.Batch(ctx, batch); err != nil {
			return nil, err
		}
		if err := anvil.FirstError(batch); err != nil {
			return nil, err
		}
	}
	out := make([]paidBlock, len(blocks))
	for i := range blocks {
		if out[i], err = blocks[i].paid(); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
	}
	return out, nil
}

// paid are a block's payments and first transactions.
func (b *toldBlock) paid() (out paidBlock, err error) {
	out.hash = b.Hash
	if out.time, err = strconv.ParseInt(b.Timestamp, 0, 64); err != nil {
		return out, err
	}
	for _, tx := range b.Transactions {
		from, err := market.ParseEVMAddress(tx.From)
		if err != nil {
			return out, err
		}
		if tx.Nonce == "0x0" {
			out.firsts = append(out.firsts, from)
		}
		if tx.To == nil {
			continue
		}
		payment := market.Payment{From: from}
		if payment.To, err = market.ParseEVMAddress(*tx.To); err != nil {
			return out, err
		}
		value, ok := new(big.Int).SetString(tx.Value, 0)
		if !ok || payment.Amount.SetFromBig(value) {
			return out, fmt.Errorf("it has a payment of %q", tx.Value)
		}
		out.payments = append(out.payments, payment)
	}
	out.payments = funding.Counted(out.payments)
	return out, nil
}

// holdPayments holds what an index knows of payments against the chain: the rows of its blocks' payments, and what its trades say of their traders' coins.
func (c *evmChain) holdPayments(ctx context.Context, st *store.Store) (wrong []string, kept, told int, err error) {
	blocks, err := c.paidBlocks(ctx)
	if err != nil {
		return nil, 0, 0, err
	}
	for b, err := range st.Payments(ctx, c.id(), 0, math.MaxInt32) {
		if err != nil {
			return nil, 0, 0, err
		}
		kept++
		if b.Number < uint64(len(blocks)) {
			blocks[b.Number].kept = true
		}
		if line := differsFrom(&b, blocks); line != "" {
			wrong = append(wrong, line)
		}
	}
	trades, err := st.Inspect.Trades(ctx, c.id(), 0, 0)
	if err != nil {
		return nil, 0, 0, err
	}
	for i := range trades {
		t := &trades[i]
		if t.Funding.State != market.FundingUnknown {
			told++
		}
		if line := misfunded(t, blocks); line != "" {
			wrong = append(wrong, line)
		}
	}
	return wrong, kept, told, nil
}

// differsFrom says how a row of payments isn't that of the chain's block.
func differsFrom(b *market.BlockPayments, blocks []paidBlock) string {
	if b.Number >= uint64(len(blocks)) || blocks[b.Number].hash != b.Hash.String() {
		return fmt.Sprintf("there are payments of block %d %s, which the chain hasn't", b.Number, b.Hash)
	}
	is := &blocks[b.Number]
	if b.Time != is.time || !slices.Equal(b.Payments, is.payments) || !slices.Equal(b.Firsts, is.firsts) {
		return fmt.Sprintf("block %d has the payments %v, the first senders %v and the time %d, the chain's has %v, %v and %d", b.Number, b.Payments, b.Firsts, b.Time,
			is.payments, is.firsts, is.time)
	}
	return ""
}

// misfunded says what a trade tells of its trader's coins that isn't so, by the blocks that the index has. It names the account that paid the trader at the time that
// is told, or another one if that account was new, whose coins are followed. If nobody is said to have paid, nobody but new accounts did.
func misfunded(t *market.Trade, blocks []paidBlock) string {
	f := &t.Funding
	ofDay := blocks[:min(t.Block+1, uint64(len(blocks)))]
	ofDay = slices.DeleteFunc(slices.Clone(ofDay), func(b paidBlock) bool { return !b.kept || b.time < t.Time-funding.Default.Seconds })
	isNew := func(a market.Address) bool {
		return slices.ContainsFunc(ofDay, func(b paidBlock) bool { return slices.Contains(b.firsts, a) })
	}
	paid, byNew, then, first := false, false, false, false
	for _, b := range ofDay {
		for _, p := range b.payments {
			if p.To == t.Trader {
				paid, byNew = true, byNew || isNew(p.From)
				then = then || b.time == f.At && (p.From == f.Funder || isNew(p.From))
			}
		}
		first = first || b.time == f.First && slices.Contains(b.firsts, t.Trader)
	}
	switch {
	case f.State == market.FundingSeen && !then:
		return fmt.Sprintf("a trade in block %d says that coins of %s came to %s at %d, and the chain knows no such payment", t.Block, f.Funder, t.Trader, f.At)
	case f.State == market.FundingNotSeen && paid && !byNew:
		return fmt.Sprintf("a trade in block %d says that nobody paid %s in the day before, and somebody did", t.Block, t.Trader)
	case f.Age == market.AgeNew && !first:
		return fmt.Sprintf("a trade in block %d says that %s sent its first transaction at %d, and it didn't", t.Block, t.Trader, f.First)
	case f.Age == market.AgeOld && isNew(t.Trader):
		return fmt.Sprintf("a trade in block %d says that %s sent its first transaction more than a day before, and it did within the day", t.Block, t.Trader)
	}
	return ""
}
