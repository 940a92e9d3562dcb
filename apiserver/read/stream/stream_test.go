package stream_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/apiserver/read/stream"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func address(n int) market.Address { return markettest.Address(fmt.Sprintf("0x%040x", n)) }

// chain writes blocks of one chain.
type chain struct {
	st    *store.Store
	lease *store.Lease
	last  market.Header
	forks byte
	// watched are the wallets that were watched in a block.
	watched map[int]bool
}

func newChain(t rapidTB, st *store.Store, id string) *chain {
	l, err := st.Leases.Acquire(t.Context(), id, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c := &chain{st: st, lease: l, watched: map[int]bool{}}
	c.block(t, nil, 0)
	return c
}

// rapidTB is what is used of a test.
type rapidTB interface {
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// block commits a block with a trade of each of some wallets, and with so many launches.
func (c *chain) block(t rapidTB, wallets []int, launches int) {
	h := market.Header{Number: c.last.Number + 1, Hash: market.Hash{c.forks, byte(c.last.Number + 1), 1}, Parent: c.last.Hash, Time: int64(c.last.Number) + 1_000}
	commit := &store.Commit{Last: h, Blocks: []market.Header{h}, Undo: true, Head: store.HeadStatus{Number: h.Number, Time: h.Time}}
	for i, w := range wallets {
		e := market.Entry{
			Wallet: address(w), Block: h.Number, Seq: uint32(i), Time: h.Time, Tx: market.EVMTx(market.Hash{c.forks, byte(h.Number), byte(i)}), Token: address(100 + i%3),
			Kind: market.Bought, Pool: address(200), Amount: *new(market.Amount).SetUint64(5), NanoUSD: 5, HasUSD: true,
		}
		if !c.watched[w] {
			c.watched[w] = true
			commit.Changes.Watched = append(commit.Changes.Watched, market.Change[market.Address, market.WatchedWallet]{
				Key: e.Wallet, After: &market.WatchedWallet{Wallet: e.Wallet, Member: int64(w)},
			})
		}
		commit.Changes.Entries = append(commit.Changes.Entries, e)
		commit.Changes.Stream = append(commit.Changes.Stream, market.StreamItem{
			Kind: market.StreamTrade, Token: e.Token, Time: e.Time, Trade: market.StreamTradeRef{Wallet: e.Wallet, Member: int64(w), Block: e.Block, Tx: e.Tx, Sell: e.Kind == market.Sold},
		})
	}
	for i := range launches {
		commit.Changes.Stream = append(commit.Changes.Stream, market.StreamItem{Kind: market.StreamLaunch, Token: address(300 + i), Time: h.Time})
	}
	if err := c.st.Commit(t.Context(), c.lease, commit); err != nil {
		t.Fatal(err)
	}
	c.last = h
}

func (c *chain) rewind(t rapidTB, depth uint64) {
	c.forks++
	to := c.last.Number - min(depth, c.last.Number-1)
	if _, err := c.st.Rewind(t.Context(), c.lease, to); err != nil {
		t.Fatal(err)
	}
	blocks, err := c.st.RecentBlocks(t.Context(), c.lease.Chain)
	if err != nil {
		t.Fatal(err)
	}
	c.last = blocks[0]
	clear(c.watched) // some may be taken back; to write them again changes nothing
}

// client is one that follows the stream by cursors, whenever it likes.
type client struct {
	cursor                  int64
	trades, launches, calls map[int64]bool
	// tradesFrom, launchesFrom and callsFrom are the numbers above which it began with everything.
	tradesFrom, launchesFrom, callsFrom int64
}

// begin takes everything that there is.
func (c *client) begin(n *stream.Newest) {
	c.cursor = n.Head
	c.trades, c.launches, c.calls = tradesIn(n), launchesIn(n), callsIn(n)
	c.tradesFrom, c.launchesFrom, c.callsFrom = n.TradesFrom, n.LaunchesFrom, n.CallsFrom
}

func tradesIn(n *stream.Newest) map[int64]bool {
	out := map[int64]bool{}
	for _, t := range n.Trades {
		out[t.Number] = true
	}
	return out
}

func launchesIn(n *stream.Newest) map[int64]bool {
	out := map[int64]bool{}
	for _, l := range n.Launches {
		out[l.Number] = true
	}
	return out
}

func callsIn(n *stream.Newest) map[int64]bool {
	out := map[int64]bool{}
	for _, c := range n.Calls {
		out[c.Number] = true
	}
	return out
}

// ask asks what is new. Where not all is told, it begins anew.
func (c *client) ask(t rapidTB, n *stream.Newest, most int) {
	trades, launches, calls := n.TradesSince(c.cursor, most), n.LaunchesSince(c.cursor, most), n.CallsSince(c.cursor, most)
	if trades.IsTruncated || launches.IsTruncated || calls.IsTruncated {
		c.begin(n)
		return
	}
	for _, x := range trades.Items {
		if c.trades[x.Number] {
			t.Fatalf("trade %d came twice", x.Number)
		}
		c.trades[x.Number] = true
	}
	for _, x := range launches.Items {
		c.launches[x.Number] = true
	}
	for _, x := range calls.Items {
		c.calls[x.Number] = true
	}
	for _, id := range trades.Retracted {
		delete(c.trades, id)
	}
	for _, id := range launches.Retracted {
		delete(c.launches, id)
	}
	for _, id := range calls.Retracted {
		delete(c.calls, id)
	}
	c.cursor = n.Head
}

// callers are members who call tokens, and how their calls stand.
type callers struct {
	st    *store.Store
	lease *social.Lease
	at    int64 // of the next record
	calls []int64
	ids   []member.CallID
}

func newCallers(t rapidTB, st *store.Store, name string) *callers {
	lease, err := st.Social.Leases.Acquire(t.Context(), "test", time.Hour.Milliseconds())
	if err != nil {
		t.Fatal(err)
	}
	c := &callers{st: st, lease: lease, at: 1}
	c.apply(t, member.Record{ID: member.ID(name), Handle: name, JoinedAt: 1})
	return c
}

func (c *callers) apply(t rapidTB, rec member.Record) {
	rec.UpdatedAt = c.at
	applied, _, err := c.st.Social.Registry.Apply(t.Context(), []member.Record{rec}, false, c.at*100_000) // one a day
	if err != nil || applied[0].Err != nil {
		t.Fatal(err, applied)
	}
	c.at++
}

// say has a member call a token that nobody has called yet.
func (c *callers) say(t rapidTB, name string) {
	id := member.CallID(fmt.Sprintf("%s-%d", name, len(c.ids)))
	c.apply(t, member.Record{ID: member.ID(name), Call: &member.CallRecord{ID: id, Chain: name, Mint: address(1_000 + len(c.ids)), Price: member.CallPrice{USD: 1}}})
	call, err := c.st.Social.Calls.Call(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	c.calls, c.ids = append(c.calls, call.Number), append(c.ids, id)
}

// judge has a call stand otherwise, or deletes it.
func (c *callers) judge(t rapidTB, i int, outcome member.CallOutcome, deletes bool) {
	if deletes {
		c.apply(t, member.Record{Deleted: true, Call: &member.CallRecord{ID: c.ids[i]}})
		return
	}
	if err := c.st.Social.Calls.Judge(t.Context(), c.lease, []social.Judged{{Number: c.calls[i], Standing: member.Standing{Outcome: outcome}}}, c.at); err != nil {
		t.Fatal(err)
	}
}

// pager reads the trades page by page, the newest first.
type pager struct {
	below int64
	first int64
	seen  map[int64]int
	ended bool
}

// page reads a page out of memory, and what memory doesn't have from the database.
func (p *pager) page(t rapidTB, n *stream.Newest, r *stream.Reader, size int) {
	memory := n.TradesBelow(p.below)
	for i := len(memory) - 1; i >= 0 && size > 0; i-- {
		p.seen[memory[i].Number]++
		p.below = memory[i].Number
		size--
	}
	if size == 0 {
		return
	}
	from := n.OlderThan(n.TradesFrom, p.below)
	if from == 0 {
		p.ended = true
		return
	}
	list, next, err := r.OlderTrades(t.Context(), from, market.Address{}, size)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		p.seen[x.Number]++
	}
	p.below, p.ended = next, next == 0
}

// TestClientsSeeWhatThereIs has two chains write, undo and forget while clients ask for what is new at any rhythm, and read page by page. Whoever isn't told that
// something is missing has in the end what a fresh client gets, and every trade that stands is on exactly one page.
func TestClientsSeeWhatThereIs(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "sqlite")
	st := storetest.OpenAt(t, dsn)
	fresh := 0
	rapid.Check(t, func(t *rapid.T) {
		fresh++
		chains := []*chain{newChain(t, st, fmt.Sprintf("a%d", fresh)), newChain(t, st, fmt.Sprintf("b%d", fresh))}
		kept := rapid.IntRange(4, 40).Draw(t, "kept")
		afterBlocks := func() time.Time { return time.Unix(2_000, 0) } // soon after the chains' blocks
		newFollower := func() *stream.Follower {
			return stream.NewFollower(st.Stream, func() int64 { return 0 }, afterBlocks).Keeping(kept)
		}
		follower := newFollower()
		look := func() *stream.Newest {
			if err := follower.Follow(t.Context()); err != nil {
				t.Fatal(err)
			}
			return follower.Newest()
		}
		reader := stream.NewReader(st, time.Now)
		name := fmt.Sprintf("m%d", fresh)
		people := newCallers(t, st, name)
		most := rapid.IntRange(1, 20).Draw(t, "most at once")
		clients := make([]client, 3)
		for i := range clients {
			clients[i].begin(look())
		}
		p := pager{below: look().Head + 1, first: look().Head, seen: map[int64]int{}}
		before := standing(t, st)
		t.Repeat(map[string]func(*rapid.T){
			"block": func(t *rapid.T) {
				c := rapid.SampledFrom(chains).Draw(t, "chain")
				c.block(t, rapid.SliceOfN(rapid.IntRange(1, 4), 0, 6).Draw(t, "wallets"), rapid.IntRange(0, 2).Draw(t, "launches"))
			},
			"reorg": func(t *rapid.T) {
				rapid.SampledFrom(chains).Draw(t, "chain").rewind(t, uint64(rapid.IntRange(1, 4).Draw(t, "depth")))
			},
			"forget": func(t *rapid.T) {
				c := rapid.SampledFrom(chains).Draw(t, "chain")
				w := rapid.IntRange(1, 4).Draw(t, "wallet")
				for more := true; more; {
					var err error
					if more, err = st.Wallets.Forget(t.Context(), c.lease, address(w)); err != nil {
						t.Fatal(err)
					}
				}
				delete(c.watched, w)
			},
			"say": func(t *rapid.T) { people.say(t, name) },
			"judge": func(t *rapid.T) {
				if len(people.calls) > 0 {
					people.judge(t, rapid.IntRange(0, len(people.calls)-1).Draw(t, "which"),
						rapid.SampledFrom([]member.CallOutcome{member.CallOpen, member.CallWin}).Draw(t, "outcome"), rapid.IntRange(0, 4).Draw(t, "deletes") == 0)
				}
			},
			"look":    func(*rapid.T) { look() },
			"restart": func(*rapid.T) { follower = newFollower() },
			"ask": func(t *rapid.T) {
				if n := follower.Newest(); n != nil {
					clients[rapid.IntRange(0, len(clients)-1).Draw(t, "client")].ask(t, n, most)
				}
			},
			"page": func(t *rapid.T) {
				if n := follower.Newest(); n != nil && !p.ended {
					p.page(t, n, reader, rapid.IntRange(1, 5).Draw(t, "size"))
				}
			},
		})
		n := look()
		for i := range clients {
			clients[i].ask(t, n, most)
			trades, launches, calls := tradesIn(n), launchesIn(n), callsIn(n)
			// Either may know older items than the other.
			for _, known := range []map[int64]bool{trades, clients[i].trades} {
				maps.DeleteFunc(known, func(id int64, _ bool) bool { return id <= max(n.TradesFrom, clients[i].tradesFrom) })
			}
			for _, known := range []map[int64]bool{launches, clients[i].launches} {
				maps.DeleteFunc(known, func(id int64, _ bool) bool { return id <= max(n.LaunchesFrom, clients[i].launchesFrom) })
			}
			for _, known := range []map[int64]bool{calls, clients[i].calls} {
				maps.DeleteFunc(known, func(id int64, _ bool) bool { return id <= max(n.CallsFrom, clients[i].callsFrom) })
			}
			for kind, has := range map[string][2]map[int64]bool{"trades": {clients[i].trades, trades}, "launches": {clients[i].launches, launches}, "calls": {clients[i].calls, calls}} {
				if !maps.Equal(has[0], has[1]) {
					t.Fatalf("client %d has the %s %v; a fresh one has %v", i, kind, sorted(has[0]), sorted(has[1]))
				}
			}
		}
		for !p.ended {
			p.page(t, n, reader, 3)
		}
		now := standing(t, st)
		for id := range before {
			if id > p.first {
				continue
			}
			if times := p.seen[id]; now[id] && times != 1 || times > 1 {
				t.Fatalf("trade %d is on %d pages", id, times)
			}
		}
		if rows := tradesIn(n); len(rows) > kept+kept/8 {
			t.Fatalf("%d trades are kept in memory; at most %d", len(rows), kept+kept/8)
		}
	})
}

func sorted(m map[int64]bool) []int64 { return slices.Sorted(maps.Keys(m)) }

// standing are the trades that stand.
func standing(t rapidTB, st *store.Store) map[int64]bool {
	items, err := st.Stream.Before(t.Context(), 1<<53, market.StreamTrade, market.Address{}, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int64]bool{}
	for _, it := range items {
		out[it.Number] = true
	}
	return out
}

// TestRunning: launches in Running that memory has no room for come from the database, and a follower that begins anew has the same.
func TestRunning(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t, kind)
			l, err := st.Social.Leases.Acquire(t.Context(), "test", time.Hour.Milliseconds())
			if err != nil {
				t.Fatal(err)
			}
			afterItems := func() time.Time { return time.Unix(2_000, 0) }
			newFollower := func() *stream.Follower {
				return stream.NewFollower(st.Stream, func() int64 { return 0 }, afterItems).Keeping(8)
			}
			follower := newFollower()
			reader := stream.NewReader(st, time.Now)
			for n := range 20 {
				if err := st.Social.Running.Tell(t.Context(), l, []social.LaunchAt{{Chain: "base", Mint: address(n)}}, 1_000+int64(n)); err != nil {
					t.Fatal(err)
				}
				for _, f := range []*stream.Follower{follower, newFollower()} {
					if err := f.Follow(t.Context()); err != nil {
						t.Fatal(err)
					}
					newest := f.Newest()
					list := newest.RunningBelow(newest.Head + 1)
					if older := newest.OlderThan(newest.RunningFrom, newest.Head+1); older > 0 {
						rest, next, err := reader.OlderRunning(t.Context(), older, 100)
						if err != nil || next != 0 {
							t.Fatal(next, err)
						}
						slices.Reverse(rest)
						list = append(rest, list...)
					}
					if len(list) != n+1 || len(newest.Running) > 9 || len(newest.Launches) > 0 {
						t.Fatalf("of %d there are %d, in memory %d", n+1, len(list), len(newest.Running))
					}
					for i, x := range list {
						if want := (stream.Launch{Number: int64(i + 1), Chain: "base", Token: address(i), Time: 1_000 + int64(i)}); x != want {
							t.Fatalf("number %d is %+v; want %+v", i, x, want)
						}
					}
				}
			}
		})
	}
}
