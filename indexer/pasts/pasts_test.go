package pasts

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// mockNodes answer from a list of transfers. Everything else that nodes do is tried on a real one (indexer/pasts_test.go).
type mockNodes struct {
	Nodes

	transfers []chain.WalletTransfer
	most      uint64
	// lost is a block that no node has, oldest the first one that nodes keep.
	lost, oldest uint64
	// lists says that nodes list what an account did. Of busy they list too much, and of mute nothing.
	lists      bool
	busy, mute market.Address
	headers    int
}

func (n *mockNodes) ListsAccounts() bool { return n.lists }

func (n *mockNodes) Header(_ context.Context, number uint64) (h chain.Header, err error) {
	if n.headers++; number < n.oldest {
		return h, chain.ErrNoBlock
	}
	h.Number, h.Time = number, int64(number)
	return h, nil
}

func (n *mockNodes) PastBlock(ctx context.Context, number uint64, _ market.Address) (b market.Block, err error) {
	if number == n.lost {
		return b, chain.ErrNoBlock
	}
	h, err := n.Header(ctx, number)
	b.Header = h.Header
	return b, err
}

func (n *mockNodes) TransfersOfWallets(_ context.Context, wallets []market.Address, from, to uint64) (found []chain.WalletTransfer, upTo uint64, err error) {
	switch {
	case slices.Contains(wallets, n.busy):
		return nil, 0, &chain.BusyError{Account: n.busy, Transactions: 1}
	case slices.Contains(wallets, n.mute):
		return nil, 0, rpc.ErrUnanswered
	}
	upTo = min(to, from+n.most-1)
	for _, t := range n.transfers {
		if t.Block >= from && t.Block <= upTo {
			found = append(found, t)
		}
	}
	return found, upTo, nil
}

var (
	ada, bob        = markettest.Address("0x00000000000000000000000000000000000000a1"), markettest.Address("0x00000000000000000000000000000000000000a2")
	dog, spam, usdc = markettest.Address("0x00000000000000000000000000000000000000d1"), markettest.Address("0x00000000000000000000000000000000000000d2"), markettest.Address("0x00000000000000000000000000000000000000d3")
)

// readerOf makes a reader for an index that knows dog, and usdc, a quote asset.
func readerOf(t *testing.T, nodes Nodes) (*Reader, *store.Lease) {
	t.Helper()
	st := storetest.Open(t, "sqlite")
	l, err := st.Leases.Acquire(t.Context(), "base", t.Name(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c := &store.Commit{First: 30_000, Last: market.Header{Number: 50_000, Hash: market.Hash{1}, Time: 9}}
	for _, wallet := range []market.Address{ada, bob} {
		w := &market.WatchedWallet{Wallet: wallet, Member: 1, Change: 1, Since: 100_000}
		c.Changes.Watched = append(c.Changes.Watched, market.Change[market.Address, market.WatchedWallet]{Key: wallet, After: w})
	}
	for _, mint := range []market.Address{dog, usdc} {
		token := &market.Token{Mint: mint, Holders: market.Holders{Status: market.HoldersNone}}
		c.Changes.Tokens = append(c.Changes.Tokens, market.Change[market.Address, market.Token]{Key: mint, After: token})
	}
	if err := st.Commit(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
	machine, err := derive.New(&chainconfig.Chain{Quotes: []chainconfig.Quote{{Symbol: "USDC", Address: usdc, PegUSD: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Days: 1, Reading: func(int) {}, Store: st, Index: func() string { return "base" }, Nodes: nodes, Machine: machine,
		GivesUp: func(budget.Purpose) bool { return false }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}), l
}

// TestAWalletWithTooMuch: a wallet with more than mostBlocks blocks has no past, and one with exactly mostBlocks has one. Blocks in which only quote assets, or tokens
// that the index doesn't know, move aren't counted.
func TestAWalletWithTooMuch(t *testing.T) {
	t.Parallel()
	nodes := &mockNodes{most: 1 << 40}
	for i := range uint64(mostBlocks + 1) {
		for _, token := range []market.Address{dog, spam, usdc} {
			nodes.transfers = append(nodes.transfers, chain.WalletTransfer{Wallet: ada, Token: token, Block: 1 + i})
			if i > 0 || token != dog {
				nodes.transfers = append(nodes.transfers, chain.WalletTransfer{Wallet: bob, Token: token, Block: 1 + i})
			}
		}
	}
	r, l := readerOf(t, nodes)
	const before = mostBlocks + 1_000
	jobs := []market.PastJob{{Wallet: ada, Change: 1, Next: 1, Before: before}, {Wallet: bob, Change: 1, Next: 1, Before: before}}
	if err := r.Store.Wallets.SavePasts(t.Context(), l, jobs); err != nil {
		t.Fatal(err)
	}
	for jobs[1].Next < before {
		if err := r.look(t.Context(), l, jobs, jobs[1].Next); err != nil {
			t.Fatal(err)
		}
	}
	if len(jobs[0].Found) != 0 || jobs[0].Fact == nil || jobs[1].Fact != nil || len(jobs[1].Found) != mostBlocks {
		t.Errorf("of the one %d blocks are to be read, of the other %d", len(jobs[0].Found), len(jobs[1].Found))
	}
	kept, err := r.Store.Wallets.PastJobs(t.Context(), "base")
	if err != nil || len(kept) != 1 || kept[0].Wallet != bob || kept[0].Next < before || len(kept[0].Found) != mostBlocks {
		t.Errorf("%d pasts are read on, %v", len(kept), err)
	}
}

// TestOneEndpointsWord: what one endpoint of two names alone is read, and gives up nobody's past: of a wallet with too much of it is looked again later.
func TestOneEndpointsWord(t *testing.T) {
	t.Parallel()
	nodes := &mockNodes{most: 1 << 40, transfers: []chain.WalletTransfer{{Wallet: ada, Token: dog, Block: 5, Alone: true}, {Wallet: ada, Token: dog, Block: 5}}}
	for i := range uint64(mostAlone + 1) {
		nodes.transfers = append(nodes.transfers, chain.WalletTransfer{Wallet: ada, Token: dog, Block: 6 + i, Alone: true})
		if i > 0 {
			nodes.transfers = append(nodes.transfers, chain.WalletTransfer{Wallet: bob, Token: dog, Block: 6 + i, Alone: true})
		}
	}
	r, l := readerOf(t, nodes)
	jobs := []market.PastJob{{Wallet: ada, Change: 1, First: 5, Next: 5, Before: 20_000}, {Wallet: bob, Change: 1, First: 5, Next: 5, Before: 20_000}}
	if err := r.Store.Wallets.SavePasts(t.Context(), l, jobs); err != nil {
		t.Fatal(err)
	}
	for {
		var err error
		if jobs, err = r.Store.Wallets.PastJobs(t.Context(), "base"); err != nil {
			t.Fatal(err)
		}
		next, ok := r.next(jobs)
		if !ok {
			break
		}
		if err := r.look(t.Context(), l, jobs, next); err != nil {
			t.Fatal(err)
		}
	}
	if j := jobs[0]; j.Fact != nil || j.Next != 5 || j.Alone+len(j.Found) != 0 || r.pauses[ada].long != longestPause {
		t.Errorf("%d blocks are to be read, %d of them on one endpoint's word; given up: %v", len(j.Found), j.Alone, j.Fact != nil)
	}
	if j := jobs[1]; !j.IsFound() || j.Alone != mostAlone || len(j.Found) != mostAlone {
		t.Errorf("of the other %d blocks are to be read, %d of them on one endpoint's word", len(j.Found), j.Alone)
	}
}

// TestListedWallets: where nodes list what an account did, one question is for one wallet and all of its blocks. A wallet that can't be listed holds up no other, and one with
// too much is given up.
func TestListedWallets(t *testing.T) {
	t.Parallel()
	for _, mute := range []bool{true, false} {
		nodes := &mockNodes{most: 1 << 40, lists: true, transfers: []chain.WalletTransfer{{Wallet: bob, Block: 29_999}}}
		if nodes.mute = ada; !mute {
			nodes.mute, nodes.busy = market.Address{}, ada
		}
		r, l := readerOf(t, nodes)
		jobs := []market.PastJob{{Wallet: ada, Change: 1, Next: 1, Before: 30_000}, {Wallet: bob, Change: 1, Next: 1, Before: 30_000}}
		if err := r.Store.Wallets.SavePasts(t.Context(), l, jobs); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := r.look(t.Context(), l, jobs, 1); err != nil {
				t.Fatal(err)
			}
			var err error
			if jobs, err = r.Store.Wallets.PastJobs(t.Context(), "base"); err != nil {
				t.Fatal(err)
			}
		}
		if j := jobs[len(jobs)-1]; j.Wallet != bob || !j.IsFound() || !slices.Equal(j.Found, []uint64{29_999}) {
			t.Errorf("of the other wallet %+v is found", j)
		}
		f, ok, err := r.Ready(t.Context())
		if isPaused := r.isPaused(ada); err != nil || isPaused != mute || ok == mute || ok && (f.Wallet != ada || len(f.Entries) > 0) {
			t.Errorf("mute: %v; paused: %v; given up: %v, %+v, %v", mute, isPaused, ok, f, err)
		}
	}
}

// TestFirstSince finds the first block of a time with few questions, the fewer the later it is. Nodes have to have the one before it.
func TestFirstSince(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		oldest, at, want uint64 // no block is 0
		questions        int
	}{
		"the newest":                {1, 30_000, 30_000, 20},
		"one near the end":          {1, 29_000, 29_000, 20},
		"one of nodes that keep it": {28_999, 29_000, 29_000, 20},
		"one without the one below": {29_000, 29_000, 0, 20},
		"one that nodes don't keep": {29_500, 29_000, 0, 20},
		"an old one":                {1, 2, 2, 30},
		"the first":                 {1, 1, 1, 30},
		"before the first":          {1, 0, 1, 30},
	} {
		nodes := &mockNodes{oldest: c.oldest}
		r, _ := readerOf(t, nodes)
		r.began = market.Header{Number: 29_999, Time: 29_999}
		got, err := r.firstSince(t.Context(), int64(c.at))
		if (err == nil) != (c.want > 0) || err == nil && got != c.want || nodes.headers > c.questions {
			t.Errorf("%s: block %d after %d questions, %v; want %d", what, got, nodes.headers, err, c.want)
		}
	}
}

// TestAWalletThatCantBeRead holds up no other, and is tried again later.
func TestAWalletThatCantBeRead(t *testing.T) {
	t.Parallel()
	nodes := &mockNodes{most: 1 << 40, lost: 7}
	r, l := readerOf(t, nodes)
	now := time.Now()
	r.Now = func() time.Time { return now }
	jobs := []market.PastJob{{Wallet: ada, Change: 1, Next: 30_000, Before: 30_000, Found: []uint64{7}}, {Wallet: bob, Change: 1, Next: 30_000, Before: 30_000}}
	if err := r.Store.Wallets.SavePasts(t.Context(), l, jobs); err != nil {
		t.Fatal(err)
	}
	for i, more := range []bool{false, true, false, false} {
		if got, err := r.pass(t.Context(), l); err != nil || got != more {
			t.Errorf("step %d: more is %v, %v", i, got, err)
		}
	}
	if f, ok, err := r.Ready(t.Context()); err != nil || !ok || f.Wallet != bob {
		t.Errorf("ready is %+v, %v, %v", f, ok, err)
	}
	now = now.Add(firstPause)
	if more, err := r.pass(t.Context(), l); err != nil || more || r.pauses[ada].long != 2*firstPause {
		t.Errorf("it isn't tried again: %v, %v, %v", more, err, r.pauses)
	}
}

func TestWidthOfARange(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	step := func(answered uint64, refused bool, transfers int, want uint64) {
		t.Helper()
		if r.learn(answered, refused, transfers); r.width != want {
			t.Errorf("the next range has %d blocks, want %d", r.width, want)
		}
	}
	step(2_000, false, fewTransfers, 2_000)
	step(2_000, false, fewTransfers-1, 4_000)
	step(4_000, false, 4*fewTransfers, 4_000)
	step(4_000, false, 4*fewTransfers+1, 2_000)
	step(10, true, 0, 10) // a provider that takes ten blocks
	step(7, false, 0, 10) // the end of a past
	for range refusedFor {
		step(10, false, 0, 10)
	}
	step(10, false, 0, 20) // tried again
	step(10, true, 0, 10)
	for range 2*refusedFor + 20 {
		r.learn(r.width, false, 0)
	}
	if r.width != widestRange {
		t.Errorf("the widest range has %d blocks", r.width)
	}
}
