package evm

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// sourceForLaunches is a source of a chain with a launch venue and blocks of two seconds.
func sourceForLaunches(t *testing.T, o Options, urls ...string) *Source {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: 1, BlockTime: chainconfig.Duration(2 * time.Second),
		Native:        chainconfig.Native{Symbol: "ETH", Wrapped: markettest.Address("0x4200000000000000000000000000000000000006")},
		FinalityDepth: 1 << 40, Venues: []chainconfig.Venue{{ID: "v", Protocol: chainconfig.BoardwalkCurve}},
	}
	for _, url := range urls {
		c.Endpoints = append(c.Endpoints, chainconfig.Endpoint{URL: url, Weight: 1})
	}
	s, err := NewSource(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wholeNode has the blocks of a chain that a test makes longer, shorter or replaces. Block n of fork f pays 5 once.
type wholeNode struct {
	*nodetest.Node

	head uint64
	// forked is the number from which on blocks are of fork f.
	forked, fork uint64
	// whole are the calls with transactions that were answered with a block, nothing those that had none.
	whole, nothing, headers int
	// how changes the transactions that it tells.
	how func(list string) string
	// refuses is said of a block that isn't there, if it isn't empty; refusesWhole of each question for transactions.
	refuses, refusesWhole string
	// down says that it answers nothing.
	down bool
	// hides says that it has no block when asked by number for one above a number.
	hides uint64
}

func newWholeNode(t *testing.T, head uint64) *wholeNode {
	t.Helper()
	n := &wholeNode{head: head, forked: 1 << 60, how: func(list string) string { return list }}
	n.Node = nodetest.New(t, n.block)
	return n
}

// hashOfBlock is the hash of block n of the chain as it is now.
func (n *wholeNode) hashOfBlock(number uint64) string {
	fork := uint64(0)
	if number >= n.forked {
		fork = n.fork
	}
	return fmt.Sprintf("0x%032x%032x", fork, number+1)
}

func (n *wholeNode) block(method string, params []json.RawMessage) (result, refusal string) {
	if n.down {
		return "", `{"code":-32603,"message":"Internal error"}`
	}
	if method == "eth_getLogs" {
		return "[]", ""
	}
	var tag string
	whole := false
	if json.Unmarshal(params[0], &tag) != nil || json.Unmarshal(params[1], &whole) != nil || tag == "safe" || tag == "finalized" {
		return "null", ""
	}
	if whole && n.refusesWhole != "" {
		return "", n.refusesWhole
	}
	at := n.head
	if tag != node.Newest {
		if _, err := fmt.Sscanf(tag, "0x%x", &at); err != nil || at > n.head || n.hides > 0 && at > n.hides {
			if n.nothing++; n.refuses != "" {
				return "", n.refuses
			}
			return "null", ""
		}
	}
	list := `"` + blocktest.Hash(int(at)) + `"`
	if whole {
		list = n.how(blocktest.Transaction(int(at), ""))
		n.whole++
	} else {
		n.headers++
	}
	return fmt.Sprintf(`{"number":"0x%x","hash":"%s","parentHash":"%s","timestamp":"0x%x","logsBloom":"0x%s","transactions":[%s]}`,
		at, n.hashOfBlock(at), n.hashOfBlock(at-1), headEpoch+2*at, strings.Repeat("00", 256), list), ""
}

// set changes the chain.
func (n *wholeNode) set(change func()) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	change()
}

// follower takes in blocks at the head as the loop does.
type follower struct {
	*Source

	t    *testing.T
	now  time.Time
	last market.Header
	// below are the blocks below the last.
	below []market.Header
	// without are blocks that were read without their transactions, and read are all.
	without, read []uint64
}

func newFollower(t *testing.T, launches bool, nodes ...*wholeNode) *follower {
	t.Helper()
	f := &follower{t: t, now: time.Unix(headEpoch+20_000, 0)}
	var urls []string
	for _, n := range nodes {
		urls = append(urls, n.URL)
	}
	f.Source = sourceForLaunches(t, Options{Now: func() time.Time { return f.now }}, urls...)
	f.readsBlocks = launches
	return f
}

// look reads the head and takes in the blocks up to it; it reports whether there was none.
func (f *follower) look() (nothing bool, err error) {
	head, err := f.Head(f.t.Context())
	if err != nil {
		return true, err
	}
	if f.last.Number == 0 {
		f.last = market.Header{Number: head.Number - 1, Hash: head.Parent}
	}
	if head.Number <= f.last.Number {
		return true, nil
	}
	list := []chain.Header{head.Header}
	if head.Number > f.last.Number+1 || head.IsBare {
		if list, err = f.Headers(f.t.Context(), f.last, f.last.Number+1, head.Number); err != nil {
			return true, err
		}
	}
	if list[0].Parent != f.last.Hash {
		f.last, f.below = f.below[len(f.below)-1], f.below[:len(f.below)-1]
		return false, nil
	}
	i := 0
	for b, err := range f.Blocks(f.t.Context(), list) {
		if err != nil {
			return true, err
		}
		f.last, f.below = list[i].Header, append(f.below, f.last)
		i++
		f.read = append(f.read, b.Number)
		if !b.HasPayments || len(b.Payments) != 1 {
			f.without = append(f.without, b.Number)
		}
	}
	return false, nil
}

// poll looks until nothing is new, and lets a second pass.
func (f *follower) poll() {
	f.t.Helper()
	for range 10 {
		nothing, err := f.look()
		if err != nil {
			f.t.Fatal(err)
		}
		if nothing {
			f.now = f.now.Add(time.Second)
			return
		}
	}
	f.t.Fatal("there is always something new")
}

func (f *follower) wantAll(from, to uint64) {
	f.t.Helper()
	if len(f.without) > 0 {
		f.t.Errorf("blocks %v were read without their transactions", f.without)
	}
	for i, n := range f.read {
		if n != from+uint64(i) {
			f.t.Fatalf("blocks %v were read, want all from %d to %d", f.read, from, to)
		}
	}
	if f.last.Number != to {
		f.t.Errorf("the last block is %d, want %d", f.last.Number, to)
	}
}

// TestBlocksAtTheHeadCostNoMoreRequests follows chains of a block every two seconds on average, through one endpoint and through two, with and without
// launches on them: no more calls are made, and each block is read with its transactions.
func TestBlocksAtTheHeadCostNoMoreRequests(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(second int) uint64{
		"regular":             func(s int) uint64 { return uint64(s / 2) },
		"every second":        func(s int) uint64 { return uint64(s) },
		"three at once":       func(s int) uint64 { return uint64(s/6) * 3 },
		"with pauses":         func(s int) uint64 { return uint64(s/2) - uint64(s/2)%7 },
		"two or none at once": func(s int) uint64 { return uint64(s/4) * 2 },
		"slow":                func(s int) uint64 { return uint64(s / 15) },
	} {
		for endpoints := 1; endpoints <= 2; endpoints++ {
			t.Run(fmt.Sprint(name, ", ", endpoints, " endpoints"), func(t *testing.T) {
				t.Parallel()
				without, _ := callsOf(t, false, endpoints, made)
				with, whole := callsOf(t, true, endpoints, made)
				t.Logf("%d calls without transactions, %d with, %d whole blocks for %d", without, with, whole, made(lookedFor-1))
				if with > without {
					t.Errorf("%d calls with transactions, %d without", with, without)
				}
			})
		}
	}
}

// lookedFor is how many seconds callsOf follows a chain.
const lookedFor = 600

// callsOf follows a chain, and counts the calls for it, and the blocks that travelled with their transactions.
func callsOf(t *testing.T, launches bool, endpoints int, made func(second int) uint64) (calls, whole int) {
	t.Helper()
	n := newWholeNode(t, 1_000)
	f := newFollower(t, launches, []*wholeNode{n, n}[:endpoints]...)
	f.poll() // the start
	if endpoints > 1 {
		f.seconds(40) // both have told a head
	}
	all := func() int { return n.Count("eth_getBlockByNumber") + n.Count("eth_getLogs") }
	before := all()
	n.set(func() { n.whole, f.without, f.read = 0, nil, nil })
	for s := range lookedFor {
		n.set(func() { n.head = 1_000 + made(s) })
		f.poll()
	}
	if launches {
		f.wantAll(1_001, 1_000+made(lookedFor-1))
	} else if n.whole > 0 {
		t.Errorf("%d blocks were read with their transactions, where no launch trades", n.whole)
	}
	return all() - before, n.whole
}

// seconds lets so many pass, with a look each.
func (f *follower) seconds(n int) {
	f.t.Helper()
	for range n {
		f.poll()
	}
}

// grow makes so many blocks, one every two seconds, and looks each second.
func (f *follower) grow(n *wholeNode, blocks int) {
	f.t.Helper()
	for range blocks {
		n.set(func() { n.head++ })
		f.seconds(2)
	}
}

// TestABlockTravelsOnce follows a chain while nothing is wrong. Through one endpoint each block travels once, with its transactions; through two, which
// take turns, next to none travels twice.
func TestABlockTravelsOnce(t *testing.T) {
	t.Parallel()
	const blocks = 400
	for endpoints, most := range map[int]int{1: blocks, 2: blocks + blocks/100} {
		n := newWholeNode(t, 1_000)
		f := newFollower(t, true, []*wholeNode{n, n}[:endpoints]...)
		f.seconds(2)
		n.set(func() { n.whole, n.headers = 0, 0 })
		f.grow(n, blocks)
		t.Logf("%d blocks travelled %d times through %d endpoints, and %d headers", blocks, n.whole, endpoints, n.headers)
		if n.whole > most || n.headers > 0 && endpoints == 1 {
			t.Errorf("%d blocks travelled %d times with transactions and %d times without; want %d times at most, and never", blocks, n.whole, n.headers, most)
		}
		f.wantAll(1_000, 1_000+blocks)
	}
}

// TestAChainWithTransactionsThatGotShorter makes the chain shorter: it is noticed in a few seconds, by one endpoint or several.
func TestAChainWithTransactionsThatGotShorter(t *testing.T) {
	t.Parallel()
	for _, endpoints := range []int{1, 2} {
		n := newWholeNode(t, 1_000)
		f := newFollower(t, true, []*wholeNode{n, n}[:endpoints]...)
		f.grow(n, 5)
		n.set(func() { n.head -= 3 })
		looks := 0
		for ; looks < 60; looks++ {
			head, err := f.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if head.Number == 1_002 {
				break
			}
			f.now = f.now.Add(time.Second)
		}
		if looks > 10 {
			t.Errorf("with %d endpoints a chain that got shorter was noticed after %d looks, a second each; want 10 at most", endpoints, looks)
		}
	}
}

// TestReorgsOfTheNewestBlockWithTransactions replaces the newest block: by another of its number, and by two.
func TestReorgsOfTheNewestBlockWithTransactions(t *testing.T) {
	t.Parallel()
	for name, higher := range map[string]uint64{"of the same number": 0, "and one more": 1, "and three more": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newWholeNode(t, 1_000)
			f := newFollower(t, true, n)
			f.grow(n, 5)
			n.set(func() { n.forked, n.fork, n.head = 1_005, 1, n.head+higher })
			hash, looks := n.hashOfBlock(n.head), 0
			for ; looks < 30; looks++ {
				head, err := f.Head(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if head.Hash.String() == hash || higher > 0 && head.Number == 1_006 && head.Parent.String() == n.hashOfBlock(1_005) {
					break
				}
				f.now = f.now.Add(time.Second)
			}
			if looks > 10 {
				t.Errorf("it was noticed after %d looks", looks)
			}
			if higher == 0 {
				return
			}
			f.without, f.read = nil, nil
			f.seconds(3)
			f.wantAll(1_005, 1_005+higher)
			if f.last.Hash.String() != hash {
				t.Errorf("the last block is %s, want %s", f.last.Hash, hash)
			}
		})
	}
}

// TestANodeThatRefusesUnknownBlocks follows a chain through a node that answers with an error where others say that there is no such block.
func TestANodeThatRefusesUnknownBlocks(t *testing.T) {
	t.Parallel()
	n := newWholeNode(t, 1_000)
	f := newFollower(t, true, n)
	n.refuses = `{"code":-32603,"message":"invalid block height: 1001"}`
	f.grow(n, 20)
	f.wantAll(1_001, 1_020)
	n.set(func() { n.refuses = `{"code":-32005,"message":"rate limit exceeded"}` })
	if _, err := f.Head(t.Context()); err == nil {
		t.Error("a node that is asked too often is taken for one without a new block")
	}
}

// TestANodeThatRefusesTheNextBlock follows a chain through nodes that refuse to speak of the block after the newest one, in words of their own: each look gives
// a head, and each block is read with its transactions.
func TestANodeThatRefusesTheNextBlock(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{
		`{"code":-32000,"message":"cannot query unfinalized data"}`, `{"code":-32000,"message":"block number is in the future"}`,
		`{"code":-32602,"message":"invalid params: block number is in the future"}`,
	} {
		for _, seconds := range []int{2, 12} {
			n := newWholeNode(t, 1_000)
			n.refuses = refusal
			f := newFollower(t, true, n)
			for range 100 {
				n.set(func() { n.head++ })
				f.seconds(seconds)
			}
			f.wantAll(1_001, 1_100)
			e := f.pool.List[0]
			if e.blocksPause > 0 || e.nextPause > longestBlocksPause {
				t.Errorf("%s: the pause for transactions is %v, for the next block %v", refusal, e.blocksPause, e.nextPause)
			}
			if n.nothing == 0 {
				t.Errorf("%s: the node was never asked for a block that isn't there", refusal)
			}
		}
	}
	e := &endpoint{}
	for range 20 {
		e.pauseNext(time.Unix(headEpoch, 0))
	}
	if e.nextPause != longestBlocksPause || !e.nextUntil.Equal(time.Unix(headEpoch, 0).Add(longestBlocksPause)) {
		t.Errorf("after 20 refusals the pause is %v until %v", e.nextPause, e.nextUntil)
	}
}

// TestTheNewestBlockEndsAPause has an endpoint give the newest block with its transactions after it failed to: it is asked for them as soon as at first
// when it fails again.
func TestTheNewestBlockEndsAPause(t *testing.T) {
	t.Parallel()
	for _, q := range []headQuestion{askBlock, askLate, askNext} {
		n := newWholeNode(t, 1_000)
		f := newFollower(t, true, n)
		f.grow(n, 3)
		e := f.pool.List[0]
		e.blocksPause = longestBlocksPause
		n.set(func() { n.head++ })
		if _, err := f.claimOf(t.Context(), e, q, false, false); err != nil || e.blocksPause > 0 {
			t.Errorf("after question %d the pause is %v, %v", q, e.blocksPause, err)
		}
	}
}

// TestNothingNewConfirmsTheHead looks for the head while there is no new block: the endpoint that told the newest block confirms it.
func TestNothingNewConfirmsTheHead(t *testing.T) {
	t.Parallel()
	n := newWholeNode(t, 1_000)
	f := newFollower(t, true, n)
	f.grow(n, 3)
	f.now = f.now.Add(time.Second)
	nothing := n.nothing
	if head, err := f.Head(t.Context()); err != nil || head.Number != n.head || n.nothing != nothing+1 {
		t.Fatalf("the head is %d, %v, after %d questions for the next block", head.Number, err, n.nothing-nothing)
	}
	if !f.heads.confirmed.Equal(f.now) {
		t.Errorf("the head was confirmed at %v, want %v", f.heads.confirmed, f.now)
	}
}

// TestANodeThatHidesTheNextBlock follows a chain through a node that says that it has no next block although it has: the chain is late by some
// seconds a few times, and then the node is asked for the newest block as on other chains.
func TestANodeThatHidesTheNextBlock(t *testing.T) {
	t.Parallel()
	n := newWholeNode(t, 1_000)
	f := newFollower(t, true, n)
	f.grow(n, 5)
	late, asked := 0, n.Count("eth_getBlockByNumber")
	for range 300 {
		n.set(func() { n.head++; n.hides = 1_005 })
		for range 2 {
			head, err := f.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f.last = head.Header.Header; f.last.Number < n.head {
				late++
			}
			f.took(f.last)
			f.now = f.now.Add(time.Second)
		}
	}
	if late > 60 {
		t.Errorf("%d of 600 looks were late", late)
	}
	if n := n.Count("eth_getBlockByNumber") - asked; n > 600+2*600/6 {
		t.Errorf("600 looks made %d calls", n)
	}
}

// TestAnEndpointThatIsBehindWithTransactions follows a chain through two nodes of which one stops, one block below the other or far below: the
// index goes on with the other, and what is reached isn't what one of them alone has told.
func TestAnEndpointThatIsBehindWithTransactions(t *testing.T) {
	t.Parallel()
	a, b := newWholeNode(t, 1_000), newWholeNode(t, 1_000)
	f := newFollower(t, true, a, b)
	for range 20 {
		a.set(func() { a.head++ })
		b.set(func() { b.head++ })
		f.seconds(2)
	}
	f.wantAll(1_001, 1_020)
	for range 60 {
		a.set(func() { a.head++ })
		for range 2 {
			head, err := f.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if head.Number <= 1_020+ahead && head.Reached > 1_021 {
				t.Fatalf("block %d counts as reached, of which only one endpoint has told", head.Reached)
			}
			if _, err := f.look(); err != nil && !errors.Is(err, chain.ErrNoBlock) {
				t.Fatal(err)
			}
			f.now = f.now.Add(time.Second)
		}
	}
	if f.last.Number+2 < a.head {
		t.Errorf("the last block is %d, the head of the endpoint that goes on %d", f.last.Number, a.head)
	}
	if len(f.without) > 0 {
		t.Errorf("blocks %v were read without their transactions", f.without)
	}
}

// TestFarBelowTheHeadBlocksTravelBare asks for the head while the loop is far below it: no transactions travel.
func TestFarBelowTheHeadBlocksTravelBare(t *testing.T) {
	t.Parallel()
	n := newWholeNode(t, 1_000)
	f := newFollower(t, true, n)
	for range 20 {
		if _, err := f.Head(t.Context()); err != nil {
			t.Fatal(err)
		}
		n.set(func() { n.head++ })
	}
	if n.whole > 0 {
		t.Errorf("%d blocks travelled with transactions before the loop took one in", n.whole)
	}
	f.seconds(2)
	n.set(func() { n.whole = 0 })
	for range 20 {
		n.set(func() { n.head += 3 })
		if _, err := f.Head(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n.whole > 2 {
		t.Errorf("%d blocks travelled with transactions while the loop took none in, want 2 at most", n.whole)
	}
	if f.pool.List[0].blocksPause > 0 {
		t.Error("the endpoint is taken for one that gives no transactions")
	}
}
