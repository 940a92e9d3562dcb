package solana

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestBlocks: a made block is JSON whose trades tell of their own tokens and traders. Each kind of trade is there as often as it is meant to be, as the product decodes it, and
// balances and reserves go on from block to block, also after blocks were taken back.
func TestBlocks(t *testing.T) {
	t.Parallel()
	chain, err := svm.Start(t.Context(), svm.Options{Slot: 1000, Time: time.Unix(1_790_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chain.Close() })
	b, err := begin(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	m := newBlockMaker(b, 100, 450)
	made := m.after(&b.blocks[len(b.blocks)-1], 450)
	var list []json.RawMessage
	if err := json.Unmarshal(append(append([]byte("["), bytes.Join(made.txs, []byte(","))...), ']'), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != votes+failed+others+450 {
		t.Errorf("%d transactions", len(list))
	}
	for i, raw := range list {
		if bytes.Contains(raw, []byte("@")) {
			t.Fatalf("transaction %d has a gap: %s", i, raw)
		}
	}
	l := ledger{blockMaker: m, held: map[market.BalanceKey]market.Amount{}, reserves: map[market.Address]market.Reserves{}, trades: map[string]int{}}
	if l.decoder, err = decode.New(configOf(&served{node: &node{}})); err != nil {
		t.Fatal(err)
	}
	l.read(t, &made)
	want := map[string]int{
		"pump-fun buy": 120, "pump-fun sell": 90, "PumpSwap buy": 60, "PumpSwap sell": 60, "RaydiumAMMv4 buy": 30, "RaydiumAMMv4 sell": 30, "RaydiumCPMM buy": 30, "RaydiumCPMM sell": 30,
	}
	if !maps.Equal(l.trades, want) {
		t.Errorf("a block has %v, want %v", l.trades, want)
	}
	// After a fork balances and reserves are as they were before it.
	was := ledger{held: maps.Clone(l.held), reserves: maps.Clone(l.reserves)}
	for range 3 {
		last := made
		for range 3 {
			last = m.after(&last, 450)
			l.read(t, &last)
		}
		m.takeBack(3)
		l.held, l.reserves = maps.Clone(was.held), maps.Clone(was.reserves)
	}
	if l.changes != 10*2*450 { // the trader's and the pair's, of ten blocks
		t.Errorf("%d changes of balances", l.changes)
	}
}

// ledger is what a block's trades add up to.
type ledger struct {
	*blockMaker

	decoder  *decode.Decoder
	held     map[market.BalanceKey]market.Amount
	reserves map[market.Address]market.Reserves
	trades   map[string]int // by their protocol and direction
	changes  int
}

// read checks a block: each balance and each pool's reserves are what they were after the block before, and change by what the trades say.
func (l *ledger) read(t *testing.T, made *block) {
	t.Helper()
	raw := fmt.Appendf(nil, `{"blockHeight":1,"blockTime":%d,"blockhash":%q,"parentSlot":%d,"previousBlockhash":%q,"transactions":[%s]}`, made.time, made.hash, made.parentSlot,
		made.parent, bytes.Join(made.txs, []byte(",")))
	parsed, err := l.decoder.ParseBlock(made.slot, raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range parsed.Txs {
		var pool market.PoolCreated
		var reserves market.Reserves
		var changes []market.BalanceChange
		traded := false
		for _, at := range tx.Logs {
			switch e := at.Event.(type) {
			case market.CurveTrade:
				traded = true
				l.told(e.Venue, e.Sell)
			case market.PoolCreated:
				pool = e
			case market.Reserves:
				reserves = e
			case market.Swap:
				traded = true
				l.swap(t, &pool, &reserves, &e)
			case market.BalanceChange:
				changes = append(changes, e)
			default:
				t.Errorf("%T: %+v", e, e)
			}
		}
		for i := range changes {
			if traded { // the others are the same in each block, of tokens that nobody watches
				l.change(t, changes[i])
			}
		}
	}
}

func (l *ledger) told(protocol string, sells bool) {
	direction := " buy"
	if sells {
		direction = " sell"
	}
	l.trades[protocol+direction]++
}

// change checks a change of a balance, and notes it. Wrapped SOL is left out: fees bring their recipient the same whatever was there.
func (l *ledger) change(t *testing.T, e market.BalanceChange) {
	t.Helper()
	if e.Token == market.SolanaAddress(simnet.WSOL) {
		return
	}
	l.changes++
	key := market.BalanceKey{Token: e.Token, Account: e.Owner}
	before, known := l.held[key]
	if known && before != e.Before || e.Change.Abs.IsZero() || e.Change.Neg && e.Change.Abs.Gt(&e.Before) {
		t.Errorf("%+v, where %s is known", e, before.String())
	}
	l.held[key] = e.Change.AddedTo(e.Before)
}

// swap checks a swap in a pool, and notes it.
func (l *ledger) swap(t *testing.T, pool *market.PoolCreated, reserves *market.Reserves, e *market.Swap) {
	t.Helper()
	before, known := l.reserves[e.Pool]
	if known && (reserves.Reserve0 != e.Amount0.AddedTo(before.Reserve0) || reserves.Reserve1 != e.Amount1.AddedTo(before.Reserve1)) {
		t.Errorf("%s: %+v after %+v and %+v", pool.Protocol, reserves, before, e)
	}
	l.reserves[e.Pool] = *reserves
	sol := e.Amount1
	if pool.Token0 == market.SolanaAddress(simnet.WSOL) {
		sol = e.Amount0
	}
	l.told(string(pool.Protocol), sol.Neg)
}
