package store_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(writerDSN); dsn != "" {
		os.Exit(writeAndWait(dsn))
	}
	storetest.Main(m)
}

func address(n int) market.Address {
	var w [32]byte
	w[0], w[30], w[31] = 0xff, byte(n>>8), byte(n)
	return market.EVMAddress(w)
}

func poolID(n int) market.Address {
	var w [32]byte
	w[0], w[30], w[31] = 0xee, byte(n>>8), byte(n)
	return market.PoolID(w)
}

func hash(n int) (h market.Hash) {
	h[0], h[30], h[31] = 0xdd, byte(n>>8), byte(n)
	return h
}

func amount(n uint64) (a market.Amount) {
	a.SetUint64(n)
	return a
}

// huge is 2^256 - 1 - n.
func huge(n uint64) (a market.Amount) {
	a.SetAllOne()
	b := amount(n)
	a.Sub(&a, &b)
	return a
}

func header(n int) market.Header {
	return market.Header{Number: uint64(n), Hash: hash(n), Parent: hash(n - 1), Time: 1_700_000_000 + int64(n)}
}

func lease(t *testing.T, s *store.Store) *store.Lease {
	t.Helper()
	l, err := s.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// fundingOf is one of all kinds of fundings.
func fundingOf(i int) market.Funding {
	switch i % 4 {
	case 1:
		return market.Funding{State: market.FundingSeen, Funder: address(700), At: 1_700_000_000, Age: market.AgeNew, First: 1_700_000_000 + int64(i)}
	case 2:
		return market.Funding{State: market.FundingNotSeen}
	case 3:
		return market.Funding{Age: market.AgeOld}
	}
	return market.Funding{}
}

// commitOf makes a commit of block n that sets a row of each kind, k rows wide.
func commitOf(n, k int, before map[string]*market.Changes) *store.Commit {
	c := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}, Undo: true, Head: store.HeadStatus{Number: uint64(n)}}
	old := before["last"]
	for i := range k {
		tok := &market.Token{
			Mint: address(i), Name: "n\u202e<b>\"'😀", Symbol: strconv.Itoa(n), HasDecimals: true, Decimals: 18,
			HasSupply: true, Supply: huge(uint64(n)), FirstBlock: 1, FirstSeenAt: 2, Pool: poolID(i), Candidate: poolID(i + 1),
			CandidateSince: uint64(n), Holders: market.Holders{Status: market.HoldersCurrent, Count: int64(n)},
		}
		pool := &market.Pool{
			ID: poolID(i), Protocol: market.UniswapV4, Factory: address(900), Token0: address(i), Token1: address(i + 1),
			FeePips: 3000, TickSpacing: -60, Hooks: address(7), CreatedBlock: 4, CreatedAt: 5, Base: address(i), Quote: address(i + 1),
			BaseIs0: true, Untrusted: market.UntrustedHook, Reserve0: huge(1), Reserve1: amount(uint64(n)), SqrtPriceX96: huge(2),
			Liquidity: amount(3), Tick: -887272, Price: 1.0 / 3, Depth: 1e-300, Locked: 1e300, LastTradeAt: int64(n),
			Day: market.Window{VolumeUSD: huge(9), Buys: 1, Sells: 2, ReferenceUSD: float64(n)},
		}
		ticks := market.TickMap{{Tick: -10, Net: market.SignedAmount{Abs: amount(uint64(n))}}, {Tick: 10, Net: market.SignedAmount{Abs: amount(uint64(n)), Neg: true}}}
		candle := &market.Candle{
			CandleKey: market.CandleKey{Pool: poolID(i), Interval: 60, Open: 1_700_000_000 - 1_700_000_000%60},
			USD:       market.OHLC{Open: 1, High: float64(n), Low: 0.1, Close: 2}, VolumeUSD: huge(3), VolumeQuote: amount(4), VolumeBase: amount(5),
			Buys: int64(n), LastBlock: uint64(n),
		}
		balance := &market.Balance{Amount: huge(uint64(n)), IsPool: i%2 == 0}
		quote := &market.QuotePrice{Asset: address(i), USD: float64(n), Pegged: true}
		c.Changes.Tokens = append(c.Changes.Tokens, market.Change[market.Address, market.Token]{Key: tok.Mint, After: tok})
		c.Changes.Pools = append(c.Changes.Pools, market.Change[market.Address, market.Pool]{Key: pool.ID, After: pool})
		c.Changes.Ticks = append(c.Changes.Ticks, market.Change[market.Address, market.TickMap]{Key: pool.ID, After: &ticks})
		c.Changes.Candles = append(c.Changes.Candles, market.Change[market.CandleKey, market.Candle]{Key: candle.CandleKey, After: candle})
		key := market.BalanceKey{Token: address(i), Account: address(i + 500)}
		c.Changes.Balances = append(c.Changes.Balances, market.Change[market.BalanceKey, market.Balance]{Key: key, After: balance})
		c.Changes.Quotes = append(c.Changes.Quotes, market.Change[market.Address, market.QuotePrice]{Key: quote.Asset, After: quote})
		launch := &market.Launch{
			Mint: address(i), Venue: "four-meme", Creator: address(i % 3), Name: "n\u202e<b>\"'😀", Symbol: "S", Metadata: "ipfs://m", Image: "i",
			Block: 1, LogIndex: uint64(i), CreatedAt: 3, Tx: market.EVMTx(hash(i)), Curve: address(800), Quote: market.Native, SaleBase: huge(4),
			Rules:    market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold, FillsUp: true},
			Reserves: market.CurveReserves{VirtualBase: huge(uint64(n)), RealQuote: amount(uint64(n))}, Traded: true,
			Progress: 100.0 / float64(n+2), HasProgress: true, State: market.LaunchOnCurve,
		}
		c.Changes.Launches = append(c.Changes.Launches, market.Change[market.Address, market.Launch]{Key: launch.Mint, After: launch})
		c.Changes.Trades = append(c.Changes.Trades, market.Trade{
			Block: uint64(n), LogIndex: uint64(i), Time: header(n).Time, Tx: market.EVMTx(hash(i)),
			Pool: poolID(i), Base: address(i), Trader: address(i + 600), Sell: i%2 == 1, BaseAmount: huge(5), QuoteAmount: amount(6),
			NanoUSD: 7, HasUSD: i%3 != 0, CloseUSD: 0.5, CloseNative: 0.25, Funding: fundingOf(i),
		})
		waiting := c.Changes.Trades[i]
		waiting.Block, waiting.CloseUSD = 1, float64(n)
		if !waiting.HasUSD {
			waiting.NanoUSD = 0
		}
		c.Changes.Waiting = append(c.Changes.Waiting, market.Change[market.TradeKey, market.Trade]{Key: waiting.Key(), After: &waiting})
		c.Changes.Queued = append(c.Changes.Queued, market.QueuedTransfer{Token: address(i), From: address(1), To: address(2), Block: uint64(n), Seq: uint32(i), Amount: huge(8)})
		watched := &market.WatchedWallet{Wallet: address(i + 600), Member: int64(n), Change: int64(i), Since: 5}
		position := &market.Position{Quantity: huge(uint64(n)), Cost: market.NanoUSD(int64(n)), Balance: amount(uint64(i)), HasBalance: i%2 == 0, IsIn: i%3 == 0}
		hour := &market.WalletHour{
			HourKey: market.HourKey{Wallet: watched.Wallet, Member: 7, Open: 1_700_000_000 - 1_700_000_000%3600},
			Profit:  market.Profit{Cost: market.NanoUSD(int64(n)), Volume: market.NanoUSD(1 << 62).Add(market.NanoUSD(1 << 62)), WithoutGas: n, Trades: n, Sales: 1, Wins: 1},
			Best:    market.BestSale{Token: address(i), At: 1_700_000_000, Gain: market.NanoUSD(int64(n))},
		}
		c.Changes.Watched = append(c.Changes.Watched, market.Change[market.Address, market.WatchedWallet]{Key: watched.Wallet, After: watched})
		ofWallet := market.PositionKey{Wallet: watched.Wallet, Token: address(i)}
		c.Changes.Positions = append(c.Changes.Positions, market.Change[market.PositionKey, market.Position]{Key: ofWallet, After: position})
		c.Changes.Hours = append(c.Changes.Hours, market.Change[market.HourKey, market.WalletHour]{Key: hour.HourKey, After: hour})
		c.Changes.Entries = append(c.Changes.Entries, market.Entry{
			Wallet: watched.Wallet, Block: uint64(n), Seq: uint32(i), Time: header(n).Time, Tx: market.EVMTx(hash(i)), Token: address(i), Kind: market.EntryKind(i % 4),
			Pool: poolID(i), LogIndex: uint64(i), To: address(i + 1), Amount: huge(1), Before: amount(0), HasBefore: i%2 == 0, NanoUSD: 7, HasUSD: true, Counts: i%2 == 1,
			Proceeds: market.NanoUSD(9), Cost: market.NanoUSD(int64(i)), Player: int64(i % 2),
		})
		c.Changes.Fees = append(c.Changes.Fees, market.Fee{
			Wallet: watched.Wallet, Block: uint64(n), LogIndex: uint64(i), Time: header(n).Time, Tx: market.EVMTx(hash(i)), Recipient: address(1), Asset: market.Native,
			Amount: amount(uint64(i)), NanoUSD: 7, HasUSD: i%2 == 1, AsDeclared: i%3 == 0,
		})
		if old != nil {
			c.Changes.Watched[i].Before, c.Changes.Positions[i].Before, c.Changes.Hours[i].Before = old.Watched[i].After, old.Positions[i].After, old.Hours[i].After
			c.Changes.Tokens[i].Before, c.Changes.Pools[i].Before = old.Tokens[i].After, old.Pools[i].After
			c.Changes.Ticks[i].Before, c.Changes.Candles[i].Before = old.Ticks[i].After, old.Candles[i].After
			c.Changes.Balances[i].Before, c.Changes.Quotes[i].Before = old.Balances[i].After, old.Quotes[i].After
			c.Changes.Launches[i].Before, c.Changes.Waiting[i].Before = old.Launches[i].After, old.Waiting[i].After
		}
	}
	c.Changes.Payments = []market.BlockPayments{{Number: uint64(n), Hash: hash(n), Time: header(n).Time, Payments: []market.Payment{{From: address(1), To: address(2), Amount: amount(uint64(n))}}, Firsts: []market.Address{address(n)}}}
	before["last"] = &c.Changes
	return c
}

func derivedRows(t *testing.T, s *store.Store) map[string][]string {
	t.Helper()
	rows, err := s.Inspect.Derived(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func equalRows(a, b map[string][]string) bool { return maps.EqualFunc(a, b, slices.Equal) }

// TestCommitAndLoad writes rows of every kind, few and many, and reads them back to the bit.
func TestCommitAndLoad(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			for i, k := range []int{3, 300} {
				n := i + 1
				c := commitOf(n, k, map[string]*market.Changes{})
				c.Undo = false
				if n == 2 {
					if _, err := s.Rewind(t.Context(), l, 9); !errors.Is(err, store.ErrBelowHorizon) {
						t.Fatalf("rewind to an unknown block: %v", err)
					}
				}
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
				w := market.Wanted{ExpireFrom: 0, ExpireTo: 2_000_000_000}
				for i := range k {
					w.Tokens = append(w.Tokens, address(i))
					w.Pools = append(w.Pools, poolID(i))
					w.Balances = append(w.Balances, market.BalanceKey{Token: address(i), Account: address(i + 500)})
				}
				w.Tokens = append(w.Tokens, address(12345))
				rows, err := s.Load(t.Context(), "base", w)
				if err != nil {
					t.Fatal(err)
				}
				if len(rows.Tokens) != k || len(rows.Pools) != k || len(rows.Balances) != k || len(rows.Ticks) != k {
					t.Fatalf("loaded %d tokens, %d pools, %d balances, %d tick maps; want %d of each", len(rows.Tokens), len(rows.Pools),
						len(rows.Balances), len(rows.Ticks), k)
				}
				for _, got := range rows.Tokens {
					i := slices.IndexFunc(c.Changes.Tokens, func(ch market.Change[market.Address, market.Token]) bool { return ch.Key == got.Mint })
					if want := *c.Changes.Tokens[i].After; got != want {
						t.Errorf("token came back as %+v, was %+v", got, want)
					}
				}
				for _, got := range rows.Pools {
					i := slices.IndexFunc(c.Changes.Pools, func(ch market.Change[market.Address, market.Pool]) bool { return ch.Key == got.ID })
					if want := *c.Changes.Pools[i].After; got != want {
						t.Errorf("pool came back as %+v, was %+v", got, want)
					}
				}
				for _, ch := range c.Changes.Balances {
					if got := rows.Balances[ch.Key]; got != *ch.After {
						t.Errorf("balance came back as %+v, was %+v", got, *ch.After)
					}
				}
				begin, err := s.Beginning(t.Context(), "base", nil)
				if err != nil || len(begin.Waiting) != k {
					t.Fatalf("%d trades wait, %v; want %d", len(begin.Waiting), err, k)
				}
				for _, got := range begin.Waiting {
					if want := *c.Changes.Waiting[got.LogIndex].After; got != want {
						t.Errorf("a trade that waits came back as %+v, was %+v", got, want)
					}
				}
				// More keys than one query takes, by two ways at once: nothing of one may displace the other.
				wide := market.Wanted{ExpireFrom: 0, ExpireTo: 2_000_000_000, Candles: []market.CandleKey{c.Changes.Candles[0].Key}}
				for i := range 5000 {
					wide.Pools = append(wide.Pools, poolID(i+2))
				}
				wide.PoolsOf = []market.Address{address(0)}
				if rows, err = s.Load(t.Context(), "base", wide); err != nil {
					t.Fatal(err)
				}
				if len(rows.Pools) != k-1 || len(rows.Candles) < k {
					t.Errorf("loaded %d pools and %d candles in two ways, want %d and at least %d", len(rows.Pools), len(rows.Candles), k-1, k)
				}
				byKey, err := s.Load(t.Context(), "base", market.Wanted{
					ExpireFrom: 1, Candles: []market.CandleKey{c.Changes.Candles[0].Key},
					PoolsOf: []market.Address{address(1)},
				})
				if err != nil {
					t.Fatal(err)
				}
				if len(byKey.Candles) != 1 || byKey.Candles[0] != *c.Changes.Candles[0].After || len(byKey.Pools) != 1 {
					t.Errorf("by key came back %+v, pools %d", byKey.Candles, len(byKey.Pools))
				}
				trades, err := s.Inspect.Trades(t.Context(), "base", uint64(n), 0)
				if err != nil {
					t.Fatal(err)
				}
				for i := range trades {
					want := c.Changes.Trades[i]
					if !want.HasUSD {
						want.NanoUSD = 0
					}
					if trades[i] != want {
						t.Errorf("trade came back as %+v, was %+v", trades[i], want)
					}
				}
			}
			if status, ok, err := s.Chain(t.Context(), "base"); err != nil || !ok || status.CommitNo != 2 {
				t.Errorf("the chain's status is %+v, %v, %v; want two commits", status, ok, err)
			}
		})
	}
}

// TestRewindRestoresEveryTable commits blocks on top of each other and takes them back one by one.
func TestRewindRestoresEveryTable(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			before := map[string]*market.Changes{}
			var states []map[string][]string
			for n := 1; n <= 5; n++ {
				c := commitOf(n, 70, before)
				if n == 5 { // the last one only deletes
					for i := range c.Changes.Balances {
						c.Changes.Balances[i].After = nil
						c.Changes.Tokens[i].After = nil
						c.Changes.Launches[i].After = nil
					}
				}
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
				states = append(states, derivedRows(t, s))
			}
			for n := 4; n >= 1; n-- {
				if _, err := s.Rewind(t.Context(), l, uint64(n)); err != nil {
					t.Fatal(err)
				}
				if got := derivedRows(t, s); !equalRows(got, states[n-1]) {
					t.Fatalf("after going back to block %d the rows differ from what they were", n)
				}
				status, _, err := s.Chain(t.Context(), "base")
				if err != nil || status.Last != header(n) || status.Rewinds != int64(5-n) {
					t.Fatalf("after going back to block %d the chain is at %+v, %v", n, status, err)
				}
			}
			if _, err := s.Rewind(t.Context(), l, 0); !errors.Is(err, store.ErrBelowHorizon) {
				t.Errorf("going back below the horizon: %v", err)
			}
		})
	}
}

// TestRewindOfManyBlocks goes back over more blocks than are undone together, at once: rows that each of them changed are as the oldest one found them.
func TestRewindOfManyBlocks(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l, before := lease(t, s), map[string]*market.Changes{}
			const blocks = 36
			var states []map[string][]string
			for n := 1; n <= blocks; n++ {
				c := commitOf(n, 3, before)
				c.Horizon = 0
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
				states = append(states, derivedRows(t, s))
			}
			for _, to := range []int{35, 19, 2, 1} { // 1, 16, 17 blocks, and one
				if _, err := s.Rewind(t.Context(), l, uint64(to)); err != nil {
					t.Fatal(err)
				}
				if got := derivedRows(t, s); !equalRows(got, states[to-1]) {
					t.Fatalf("after going back to block %d the rows differ from what they were", to)
				}
			}
		})
	}
}

// TestLeaseFences has a second indexer take a chain over: what the first holds can't be committed any more.
func TestLeaseFences(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			first, err := s.Leases.Acquire(t.Context(), "base", "first", time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			var second *store.Lease
			for second == nil { // the first's time is up at once
				if second, err = s.Leases.Acquire(t.Context(), "base", "second", time.Minute); err != nil && !errors.Is(err, store.ErrLeaseHeld) {
					t.Fatal(err)
				}
			}
			if _, err := s.Leases.Acquire(t.Context(), "base", "third", time.Minute); !errors.Is(err, store.ErrLeaseHeld) {
				t.Errorf("a third one got the lease: %v", err)
			}
			c := commitOf(1, 1, map[string]*market.Changes{})
			_, rewound := s.Rewind(t.Context(), first, 0)
			for what, err := range map[string]error{
				"commit": s.Commit(t.Context(), first, c), "rewind": rewound, "renew": s.Leases.Renew(t.Context(), first),
				"holder job": s.Jobs.Save(t.Context(), first, &store.HolderProgress{After: market.HolderJob{Token: address(1)}}),
				"metadata":   s.Metadata.Save(t.Context(), first, []store.TokenMetadata{{Mint: address(1)}}),
				"trust":      s.Trust.Save(t.Context(), first, []store.TrustRow{{Mint: address(1), Report: []byte("{}")}}),
			} {
				if !errors.Is(err, store.ErrLeaseLost) {
					t.Errorf("%s with a lost lease: %v", what, err)
				}
			}
			if rows := derivedRows(t, s); len(rows["tokens"]) != 0 {
				t.Error("the fenced commit left rows behind")
			}
			if err := s.Commit(t.Context(), second, c); err != nil {
				t.Error(err)
			}
			if err := s.Leases.Release(t.Context(), second); err != nil {
				t.Error(err)
			}
			if _, err := s.Leases.Acquire(t.Context(), "base", "third", time.Minute); err != nil {
				t.Errorf("the released lease was not free: %v", err)
			}
		})
	}
}

// TestHolderJobs walks a job through its life, merge and undo included.
func TestHolderJobs(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			l := lease(t, s)
			c := commitOf(1, 2, map[string]*market.Changes{})
			for i := range c.Changes.Tokens {
				c.Changes.Tokens[i].After.Holders = market.Holders{Status: market.HoldersIndexing}
			}
			if err := s.Commit(ctx, l, c); err != nil {
				t.Fatal(err)
			}
			if gaps, err := s.Jobs.Gaps(ctx, "base", 1, nil, 10); err != nil || len(gaps) != 2 {
				t.Fatalf("gaps: %v, %v; want 2", gaps, err)
			}
			job := market.HolderJob{Token: address(1), Final: 0, Next: 0}
			if err := s.Jobs.Begin(ctx, l, []market.HolderJob{job}); err != nil {
				t.Fatal(err)
			}
			save := func(want error, change func(*store.HolderProgress)) {
				t.Helper()
				p := store.HolderProgress{Before: job, After: job}
				change(&p)
				if err := s.Jobs.Save(ctx, l, &p); !errors.Is(err, want) {
					t.Fatalf("saved with %v; want %v", err, want)
				} else if err == nil {
					job = p.After
				}
			}
			save(nil, func(p *store.HolderProgress) {
				p.Staged = map[market.Address]market.Amount{address(10): amount(5), address(11): huge(1)}
			})
			save(nil, func(p *store.HolderProgress) {
				p.After.Next = 1
				p.Staged = map[market.Address]market.Amount{address(10): {}}
			})
			save(store.ErrJobChanged, func(p *store.HolderProgress) {
				p.Before.Next = 0 // as it was before
				p.Staged = map[market.Address]market.Amount{address(12): amount(5)}
			})
			if got, err := s.Jobs.StagedFrom(ctx, "base", address(1), market.Address{}, 9); err != nil || len(got) != 1 || got[0].Amount != huge(1) {
				t.Fatalf("staged: %v, %v", got, err)
			}
			if got, err := s.Jobs.Staged(ctx, "base", address(1), []market.Address{address(11), address(12)}); err != nil || len(got) != 1 {
				t.Fatalf("staged of two: %v, %v", got, err)
			}
			jobs, err := s.Jobs.List(ctx, "base")
			if err != nil || len(jobs) != 1 || !jobs[0].IsRead() || jobs[0] != job {
				t.Fatalf("jobs: %+v, %v", jobs, err)
			}
			if q, err := s.Jobs.Queued(ctx, "base", address(1), 0, 0, 9); err != nil || len(q) != 1 || q[0].Amount != huge(8) {
				t.Fatalf("queued: %+v, %v", q, err)
			}
			end := func(n int) {
				t.Helper()
				ended := job
				ended.Step, ended.EndedIn = market.MergeEnded, uint64(n)
				merge := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}, Undo: true, Horizon: 1}
				merge.Changes.Jobs = []market.Change[market.Address, market.HolderJob]{{Key: job.Token, Before: &job, After: &ended}}
				if err := s.Commit(ctx, l, merge); err != nil {
					t.Fatal(err)
				}
				if left, err := s.Jobs.List(ctx, "base"); err != nil || len(left) != 0 {
					t.Fatalf("after the merge: %+v, %v", left, err)
				}
			}
			drop := func(left, rows int) {
				t.Helper()
				if n, err := s.Jobs.DropEnded(ctx, l); err != nil || n != left {
					t.Fatalf("%d ended jobs are left, %v; want %d", n, err, left)
				}
				q, err := s.Jobs.Queued(ctx, "base", address(1), 0, 0, 9)
				staged, e := s.Jobs.StagedFrom(ctx, "base", address(1), market.Address{}, 9)
				if err != nil || e != nil || len(q) != rows || len(staged) != rows {
					t.Fatalf("%+v wait, %v; %+v are staged, %v; want %d each", q, err, staged, e, rows)
				}
			}
			end(2)
			drop(1, 1) // a reorg may take the end back
			if _, err := s.Rewind(ctx, l, 1); err != nil {
				t.Fatal(err)
			}
			jobs, err = s.Jobs.List(ctx, "base")
			if err != nil || len(jobs) != 1 || jobs[0] != job {
				t.Fatalf("after undoing the merge: %+v, %v", jobs, err)
			}
			end(2)
			next := &store.Commit{Last: header(3), Blocks: []market.Header{header(3)}, Undo: true, Horizon: 1}
			if err := s.Commit(ctx, l, next); err != nil {
				t.Fatal(err)
			}
			drop(1, 1)
			next = &store.Commit{Last: header(4), Blocks: []market.Header{header(4)}, Undo: true, Horizon: 2}
			if err := s.Commit(ctx, l, next); err != nil {
				t.Fatal(err)
			}
			drop(0, 0)
		})
	}
}

// TestFactsComeBack stores every kind of fact.
func TestFactsComeBack(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			facts := []market.Fact{
				market.TokenFact{Token: address(1), Name: "\u202e<script>", Symbol: "😀", HasDecimals: true, Decimals: 6, HasSupply: true, Supply: huge(0), FromCreation: true},
				market.PoolFact{Pool: address(2), Known: true, Info: market.PoolCreated{Protocol: market.Solidly, Factory: address(3), Pool: address(2), Token0: address(4), Token1: address(5), Stable: true}},
				market.SupplyFact{Token: address(1), Supply: amount(9)},
				market.BalanceFact{Token: address(1), Account: address(6), Amount: huge(3)},
				market.CurveFact{CurveKey: market.CurveKey{Curve: address(7), Token: address(1)}, Known: true, Quote: market.Native},
				market.CurveFact{CurveKey: market.CurveKey{Curve: address(7), Token: address(2)}, Reason: "no record"},
			}
			c := commitOf(1, 1, map[string]*market.Changes{})
			for _, f := range facts {
				c.Facts = append(c.Facts, store.StoredFact{Block: 1, Hash: hash(1), Fact: f})
			}
			if err := s.Commit(t.Context(), l, c); err != nil {
				t.Fatal(err)
			}
			got, err := s.Facts.Between(t.Context(), "base", 0, 10)
			if err != nil || len(got) != len(facts) {
				t.Fatalf("facts: %+v, %v", got, err)
			}
			for _, f := range facts {
				if !slices.ContainsFunc(got, func(g store.StoredFact) bool { return g.Fact == f && g.Hash == hash(1) }) {
					t.Errorf("fact %+v did not come back", f)
				}
			}
		})
	}
}

// TestSequencesAreInCommitOrder has two writers take numbers and commit in reverse order: the second waits, so that no
// reader sees a later number before an earlier one.
func TestSequencesAreInCommitOrder(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, "postgres")
	ctx := t.Context()
	firstHas, firstMayCommit, order := make(chan struct{}), make(chan struct{}), make(chan int64, 2)
	var both sync.WaitGroup
	both.Go(func() {
		err := s.Inspect.TakeNumbers(ctx, 3, func(_ context.Context, _ bun.IDB, first int64) error {
			close(firstHas)
			<-firstMayCommit
			order <- first
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-firstHas
	waiting := make(chan struct{})
	both.Go(func() {
		close(waiting)
		err := s.Inspect.TakeNumbers(ctx, 2, func(_ context.Context, _ bun.IDB, first int64) error {
			order <- first
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-waiting
	time.Sleep(100 * time.Millisecond) // time enough for the second to overtake, were it able to
	close(firstMayCommit)
	both.Wait()
	if a, b := <-order, <-order; a != 1 || b != 4 {
		t.Errorf("numbers were taken in the order %d, %d; want 1, 4", a, b)
	}
}
