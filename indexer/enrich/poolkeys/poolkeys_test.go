package poolkeys

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// mockNodes stands in for nodes.
type mockNodes struct {
	// managed are the pools that the position manager knows, and made those of whose creation there is a log, with its block.
	managed map[market.Address]bool
	made    map[market.Address]uint64
	// width is how many blocks one range has.
	width uint64
	// err is the error of the position manager, and noLogs that of the logs.
	err, noLogs error
	// oldest is the first block of which nodes have logs.
	oldest uint64

	asked, ranges int
	// most is the most pools that one range was looked through for, and takes the most that nodes do it for; 0 is any number. purposes are those of the ranges.
	most, takes int
	purposes    map[budget.Purpose]int
}

func created(pool market.Address) market.PoolCreated {
	return market.PoolCreated{Protocol: market.UniswapV4, Factory: manager, Pool: pool}
}

func (n *mockNodes) KeysOfPools(_ context.Context, _ []chainconfig.Exchange, pools []market.Address) (known []market.PoolCreated, err error) {
	n.asked++
	for _, p := range pools {
		if n.managed[p] && n.err == nil {
			known = append(known, created(p))
		}
	}
	return known, n.err
}

func (n *mockNodes) CreationsOfPools(ctx context.Context, _ []chainconfig.Exchange, pools []market.Address, to uint64) (list []market.PoolCreated, from uint64, err error) {
	n.ranges++
	n.most = max(n.most, len(pools))
	if n.purposes == nil {
		n.purposes = map[budget.Purpose]int{}
	}
	n.purposes[rpc.PurposeOf(ctx)]++
	if n.takes > 0 && len(pools) > n.takes {
		return nil, 0, errors.New("too many values")
	}
	from = to + 1 - min(to+1, n.width)
	if from < n.oldest {
		return nil, 0, errors.New("pruned")
	}
	for _, p := range pools {
		if at, is := n.made[p]; is && from <= at && at <= to && n.noLogs == nil {
			list = append(list, created(p))
		}
	}
	return list, from, n.noLogs
}

func (n *mockNodes) UsualPools(_ []chainconfig.Exchange, pairs [][2]market.Address, fees ...uint32) (pools []market.PoolCreated) {
	for _, p := range pairs {
		if len(fees) == 0 {
			pools = append(pools, created(usualOf(p[0], p[1])))
		}
		for _, fee := range fees {
			pools = append(pools, created(pricedOf(p[0], p[1], fee)))
		}
	}
	return pools
}

var manager, usdc, weth = account(1), account(2), account(3)

func account(n uint16) market.Address {
	return market.EVMAddress([32]byte{12: 9, 30: byte(n >> 8), 31: byte(n)})
}

// unusual is a pool that its tokens don't tell, and usualOf one that its tokens do.
func unusual(n int) market.Address { return market.PoolID([32]byte{1, 30: byte(n >> 8), 31: byte(n)}) }

func usualOf(a, b market.Address) market.Address {
	x, y := a.Bytes(), b.Bytes()
	if a.Compare(b) > 0 {
		x, y = y, x
	}
	id := [32]byte{2}
	copy(id[1:], x[15:])
	copy(id[10:], y[15:])
	return market.PoolID(id)
}

// pricedOf is a pool that its tokens tell together with its fee.
func pricedOf(a, b market.Address, fee uint32) market.Address {
	id := [32]byte(usualOf(a, b).Bytes())
	id[0], id[30], id[31] = 3, byte(fee>>8), byte(fee)
	return market.PoolID(id)
}

// finderOf makes a finder that counts what it sets aside.
func finderOf(n *mockNodes) (f *Finder, aside map[string]int) {
	if n.width == 0 {
		n.width = 10
	}
	aside = map[string]int{}
	return New(Options{
		Nodes: n, Exchanges: []chainconfig.Exchange{{Protocol: market.UniswapV3, Factory: account(8)}, {Protocol: market.UniswapV4, Factory: manager}},
		Quotes: []market.Address{usdc, weth}, GivesUp: func(budget.Purpose) bool { return false }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		SetAside: func(kind, reason, _ string) { aside[kind+" "+reason]++ },
	}), aside
}

// trade is a transaction that trades in pools and moves tokens from the exchange.
func trade(pools []market.Address, tokens ...market.Address) (tx market.Tx) {
	one := market.Amount{1}
	for _, p := range pools {
		tx.Logs = append(tx.Logs, market.Log{Event: market.Swap{Pool: p, Amount0: market.SignedAmount{Abs: one}, Amount1: market.SignedAmount{Abs: one, Neg: true}}})
	}
	for _, t := range tokens {
		tx.Logs = append(tx.Logs, market.Log{Event: market.Transfer{Token: t, From: manager, To: account(7)}})
	}
	return tx
}

// withFees has the swaps of a transaction say which fees they paid.
func withFees(tx market.Tx, fees ...uint32) market.Tx {
	for i, fee := range fees {
		swap, _ := tx.Logs[i].Event.(market.Swap)
		swap.FeePips = fee
		tx.Logs[i].Event = swap
	}
	return tx
}

func blockOf(number uint64, txs ...market.Tx) *market.Block {
	return &market.Block{Header: market.Header{Number: number}, Txs: txs}
}

// known asks a finder, and gives the ids.
func known(t *testing.T, f *Finder, b *market.Block, pools ...market.Address) (ids []market.Address) {
	t.Helper()
	list, err := f.Known(t.Context(), pools, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		ids = append(ids, p.Pool)
	}
	return ids
}

// search goes on with the search until there is nothing left to look for.
func search(t *testing.T, f *Finder) (steps int) {
	t.Helper()
	for f.look(t.Context()) {
		if steps++; steps > 10*keysSought {
			t.Fatal("the search doesn't end")
		}
	}
	return steps
}

// TestAPoolIsKnownByTheTokensThatItsTradesMove tries what a block tells of its pools without a node.
func TestAPoolIsKnownByTheTokensThatItsTradesMove(t *testing.T) {
	t.Parallel()
	dog, cat := account(20), account(21)
	pool := usualOf(dog, weth)
	elsewhere := func(from, to market.Address) market.Tx {
		tx := trade([]market.Address{pool})
		tx.Logs = append(tx.Logs, market.Log{Event: market.Transfer{Token: dog, From: from, To: to}})
		return tx
	}
	unusualFee := pricedOf(dog, weth, 2500)
	paid := func(pool market.Address, fees ...uint32) market.Tx { // a swap for each fee
		return withFees(trade(slices.Repeat([]market.Address{pool}, len(fees)), dog), fees...)
	}
	var junk []market.Address
	for n := range uint16(tokensTried) {
		junk = append(junk, account(1000+n))
	}
	for name, c := range map[string]struct {
		txs  []market.Tx
		want []market.Address
	}{
		"the token moves":                     {[]market.Tx{trade([]market.Address{pool}, dog)}, []market.Address{pool}},
		"both move":                           {[]market.Tx{trade([]market.Address{pool}, weth, dog)}, []market.Address{pool}},
		"it moves to the exchange":            {[]market.Tx{elsewhere(account(7), manager)}, []market.Address{pool}},
		"it moves elsewhere":                  {[]market.Tx{elsewhere(account(7), account(6))}, nil},
		"it moves in a trade of another pool": {[]market.Tx{trade([]market.Address{pool}, cat), trade([]market.Address{unusual(1)}, dog)}, nil},
		"another token moves":                 {[]market.Tx{trade([]market.Address{pool}, cat)}, nil},
		"it moves in another transaction":     {[]market.Tx{trade([]market.Address{pool}), trade(nil, dog)}, nil},
		"it moves in another trade's":         {[]market.Tx{trade([]market.Address{pool}), trade([]market.Address{pool}, dog)}, []market.Address{pool}},
		"one transaction trades in two pools": {[]market.Tx{trade([]market.Address{pool, usualOf(cat, weth)}, dog, cat)}, []market.Address{pool, usualOf(cat, weth)}},
		"a quote for a quote":                 {[]market.Tx{trade([]market.Address{usualOf(usdc, weth)}, weth)}, []market.Address{usualOf(usdc, weth)}},
		"a quote for itself":                  {[]market.Tx{trade([]market.Address{usualOf(weth, weth)}, weth)}, nil},
		"its key isn't a usual one":           {[]market.Tx{trade([]market.Address{unusual(1)}, dog)}, nil},
		"its trade says its fee":              {[]market.Tx{paid(unusualFee, 2500)}, []market.Address{unusualFee}},
		"its first trade says its fee":        {[]market.Tx{paid(unusualFee, 2500, 2600), paid(unusualFee, 2700)}, []market.Address{unusualFee}},
		"its first trade says another fee":    {[]market.Tx{paid(unusualFee, 2600, 2500), paid(unusualFee, 2500)}, nil},
		"another pool's trade says its fee":   {[]market.Tx{paid(unusual(1), 2500), paid(unusualFee, 2600)}, nil},
		"a pool of each kind": {
			[]market.Tx{trade([]market.Address{pool}, dog), paid(unusualFee, 2500)}, []market.Address{pool, unusualFee},
		},
		"the last of the tokens that are tried": {
			[]market.Tx{trade([]market.Address{pool}, append(slices.Clone(junk[:tokensTried-1]), dog)...)}, []market.Address{pool},
		},
		"one token too many": {[]market.Tx{trade([]market.Address{pool}, append(slices.Clone(junk), dog)...)}, nil},
		"strangers' tokens move first": {
			[]market.Tx{trade([]market.Address{usualOf(cat, weth)}, append(slices.Clone(junk[:tokensTried-1]), cat)...), trade([]market.Address{pool}, dog)},
			[]market.Address{usualOf(cat, weth), pool},
		},
		"the last of the tokens moves in a later transaction": {
			[]market.Tx{trade([]market.Address{pool}, junk[:tokensTried-1]...), trade([]market.Address{pool}, append(slices.Clone(junk[:tokensTried-1]), dog)...)},
			[]market.Address{pool},
		},
		"its transactions move one token too many": {[]market.Tx{trade([]market.Address{pool}, junk...), trade([]market.Address{pool}, dog)}, nil},
		"a token counts once": {
			[]market.Tx{trade([]market.Address{pool}, append(slices.Concat(junk[:tokensTried-1], junk[:tokensTried-1]), dog)...)}, []market.Address{pool},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &mockNodes{}
			f, aside := finderOf(n)
			var pools []market.Address
			swaps := 0
			for _, tx := range c.txs {
				for _, l := range tx.Logs {
					if s, ok := l.Event.(market.Swap); ok {
						swaps++
						if !slices.Contains(pools, s.Pool) {
							pools = append(pools, s.Pool)
						}
					}
				}
			}
			if got := known(t, f, blockOf(100, c.txs...), pools...); !slices.Equal(got, c.want) {
				t.Errorf("known are %v, want %v", got, c.want)
			}
			f.Committed()
			asks, drops := 0, 0
			if c.want == nil {
				asks, drops = 1, swaps
			}
			if n.asked != asks || aside["trade unknown_key"] != drops {
				t.Errorf("nodes are asked %d times, and %d trades are dropped; want %d and %d", n.asked, aside["trade unknown_key"], asks, drops)
			}
		})
	}
}

// TestABlockTellsOfAPoolWhicheverOthersAreKnown asks about each of a block's pools alone, and about all of them. One is beyond the pools that are looked at.
func TestABlockTellsOfAPoolWhicheverOthersAreKnown(t *testing.T) {
	t.Parallel()
	var txs []market.Tx
	var pools []market.Address
	for i := range uint16(poolsTried + 1) {
		token := account(1000 + i)
		pools = append(pools, usualOf(token, weth))
		txs = append(txs, trade([]market.Address{pools[i]}, account(1001+i), token), trade([]market.Address{account(40)}))
	}
	txs[0], txs = trade(pools[:1]), append(txs, trade(pools[:1], account(1000))) // the first pool's token moves last
	b := blockOf(100, txs...)
	f, _ := finderOf(&mockNodes{})
	all := f.provenBy(b, pools)
	if len(all) != poolsTried {
		t.Errorf("%d pools are known", len(all))
	}
	for i, pool := range pools {
		if alone := f.provenBy(b, []market.Address{pool}); len(alone) == 1 != (i < poolsTried) {
			t.Errorf("pool %d alone is %v", i, alone)
		}
	}
}

// TestABlockTellsOfAFeeWhicheverOthersAreKnown is the same for pools whose trades say an unusual fee.
func TestABlockTellsOfAFeeWhicheverOthersAreKnown(t *testing.T) {
	t.Parallel()
	const fee = 2500
	var txs []market.Tx
	var pools []market.Address
	for i := range uint16(feesTried + 1) {
		token := account(1000 + i)
		pools = append(pools, pricedOf(token, weth, fee))
		txs = append(txs, withFees(trade([]market.Address{pools[i], pools[0]}, token), fee, fee))
	}
	b := blockOf(100, txs...)
	f, _ := finderOf(&mockNodes{})
	if all := f.provenBy(b, pools); len(all) != feesTried {
		t.Errorf("%d pools are known", len(all))
	}
	for i, pool := range pools {
		if alone := f.provenBy(b, []market.Address{pool}); len(alone) == 1 != (i < feesTried) {
			t.Errorf("pool %d alone is %v", i, alone)
		}
	}
}

// TestUsualPoolsAreKnownFromTheirFirstTradeOn has indexes of the same random blocks: one that begins with the first of them, and others that begin, or begin again,
// in between, behind nodes that know other pools or fail to give logs. Each knows a pool with a usual key, or whose trades say its fee, in the first block of its own that trades
// in it.
func TestUsualPoolsAreKnownFromTheirFirstTradeOn(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			var blocks []*market.Block
			for i := range uint64(30) {
				b := blockOf(100 + i)
				for range rng.IntN(4) {
					token := account(uint16(20 + rng.IntN(6)))
					pools := []market.Address{usualOf(token, weth), pricedOf(token, weth, 2500)}
					if rng.IntN(2) == 0 {
						pools = append(pools, unusual(rng.IntN(9)))
					}
					b.Txs = append(b.Txs, withFees(trade(pools, token), 100, 2500))
				}
				blocks = append(blocks, b)
			}
			for _, n := range []*mockNodes{
				{},
				{noLogs: errors.New("no logs")},
				{managed: map[market.Address]bool{usualOf(account(20), weth): true, unusual(1): true}},
				{made: map[market.Address]uint64{usualOf(account(21), weth): 99, unusual(2): 95}},
			} {
				f, _ := finderOf(n)
				has := map[market.Address]bool{}
				for _, b := range blocks[rng.IntN(10):] {
					if rng.IntN(6) == 0 { // a restart forgets what was looked for
						f, _ = finderOf(n)
					}
					f.look(t.Context())
					var pools []market.Address
					for s := range swapsOf(b, everyPool()) {
						if !has[s.Pool] && !slices.Contains(pools, s.Pool) {
							pools = append(pools, s.Pool)
						}
					}
					ids := known(t, f, b, pools...)
					for _, p := range pools {
						if has[p] = slices.Contains(ids, p); has[p] {
							f.Taken(p)
						} else if p.Bytes()[0] >= 2 {
							t.Errorf("pool %s isn't known in block %d, which has its first trade", p, b.Number)
						}
					}
				}
			}
		})
	}
}

func everyPool() (pools []market.Address) {
	for n := range 9 {
		token := account(uint16(20 + n))
		pools = append(pools, unusual(n), usualOf(token, weth), pricedOf(token, weth, 2500))
	}
	return pools
}

// TestABlockWaitsForThePositionManager has it fail: the block is taken up again. Nodes that have no logs of the past hold up no block.
func TestABlockWaitsForThePositionManager(t *testing.T) {
	t.Parallel()
	pool := unusual(1)
	b := blockOf(100, trade([]market.Address{pool}))
	n := &mockNodes{managed: map[market.Address]bool{pool: true}, err: errors.New("an outage")}
	f, aside := finderOf(n)
	if list, err := f.Known(t.Context(), []market.Address{pool}, b); !errors.Is(err, n.err) || len(list) > 0 || len(aside) > 0 {
		t.Fatalf("known are %v, %v, set aside is %v", list, err, aside)
	}
	n.err = nil
	for _, when := range []string{"once the nodes answer", "when the block is taken up again"} {
		if got := known(t, f, b, pool); !slices.Equal(got, []market.Address{pool}) || n.asked != 2 {
			t.Errorf("%s known are %v after %d questions", when, got, n.asked)
		}
	}
	without := &mockNodes{noLogs: errors.New("pruned")}
	f, aside = finderOf(without)
	in, out := market.SignedAmount{Abs: market.Amount{1}}, market.SignedAmount{Abs: market.Amount{1}, Neg: true}
	for _, noTrade := range []market.Swap{{Amount0: out}, {Amount1: out}, {Amount0: in, Amount1: in}} {
		noTrade.Pool = pool
		b.Txs[0].Logs = append(b.Txs[0].Logs, market.Log{Event: noTrade})
	}
	for range 3 { // it is committed once
		f.Begin()
		if got := known(t, f, b, pool); len(got) > 0 || len(aside) > 0 {
			t.Errorf("without logs known are %v, and set aside before the commit is %v", got, aside)
		}
	}
	for range 2 {
		if f.Committed(); aside["trade unknown_key"] != 1 || aside["pool unknown_key"] != 0 {
			t.Errorf("set aside after the commit is %v", aside)
		}
	}
}

// TestTheSearchEnds counts its requests: a pool is found by the last of them and not by one more, and none is asked for twice in vain.
func TestTheSearchEnds(t *testing.T) {
	t.Parallel()
	const width, block = 10, 10_000
	for name, c := range map[string]struct {
		made  uint64
		found bool
	}{
		"by the first request": {block - width, true}, "by the last request": {block - keyRequests*width, true}, "by none": {block - keyRequests*width - 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := unusual(1)
			n := &mockNodes{width: width, made: map[market.Address]uint64{pool: c.made}}
			f, aside := finderOf(n)
			b := blockOf(block, trade([]market.Address{pool}))
			got := known(t, f, b, pool)
			if again := known(t, f, b, pool); !slices.Equal(got, again) {
				t.Errorf("known are %v, and once the block is taken up again %v", got, again)
			}
			search(t, f)
			got = append(got, known(t, f, b, pool)...)
			if is := len(got) > 0; is != c.found || n.ranges > keyRequests || n.asked != 1 || (aside["pool unknown_key"] == 1) == c.found {
				t.Errorf("found is %v after %d ranges and %d questions, and set aside is %v", got, n.ranges, n.asked, aside)
			}
		})
	}
}

// TestNodesThatRefuseOldLogs has many pools looked for that were made before the oldest logs, and one that trades least and wasn't. It is found all the same, and the
// others are given up, but not after an outage. Nothing is counted once the search ends.
func TestNodesThatRefuseOldLogs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const block = 100
		young := unusual(99)
		n := &mockNodes{made: map[market.Address]uint64{young: 75}, oldest: 70}
		f, aside := finderOf(n)
		var old []market.Address
		for i := range 20 {
			old = append(old, unusual(i))
		}
		known(t, f, blockOf(block), append(slices.Clone(old), young)...)
		known(t, f, blockOf(block), old...)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.Run(ctx)
		}()
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if got := known(t, f, blockOf(block), append(slices.Clone(old), young)...); !slices.Equal(got, []market.Address{young}) || len(f.sought) != len(old) {
			t.Errorf("known are %v, and %d are looked for", got, len(f.sought))
		}
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if len(f.sought) > 0 || len(f.untold) != len(old) || aside["pool unknown_key"] != len(old) {
			t.Errorf("%d pools are looked for, %d were in vain, and set aside is %v", len(f.sought), len(f.untold), aside)
		}
		stop()
		<-done
		known(t, f, blockOf(block), unusual(50))
		for range 4 {
			for range keyFailures - 1 {
				f.failed([]market.Address{unusual(50)})
			}
			f.looked([]market.Address{unusual(50)}, 80)
		}
		if f.sought[unusual(50)] == nil {
			t.Fatal("failures that aren't in a row end the search")
		}
		f.sought[unusual(50)].rests = time.Time{}
		n.noLogs = context.Canceled
		if f.look(ctx); f.sought[unusual(50)].failures != 0 {
			t.Error("a search that ends counts as a failure")
		}
	})
}

// TestOneRangeServesManyPools has pools that began to trade one block after the other looked for: one range is looked through for all that may have been made in it, and each
// has as many ranges as if it was looked for alone.
func TestOneRangeServesManyPools(t *testing.T) {
	t.Parallel()
	const width, block, many = 10, 10_000, keysAtOnce / 2
	n := &mockNodes{width: width, made: map[market.Address]uint64{unusual(3): block - 100*width, unusual(5): block - (keyRequests-2)*width}}
	f, aside := finderOf(n)
	var pools []market.Address
	for i := range many {
		pools = append(pools, unusual(i))
		known(t, f, blockOf(block+uint64(i)), pools[i])
	}
	n.ranges = 0
	search(t, f)
	if got := known(t, f, blockOf(block+many), pools...); !slices.Equal(got, []market.Address{unusual(3), unusual(5)}) || aside["pool unknown_key"] != many-2 {
		t.Errorf("known are %v, set aside are %v", got, aside)
	}
	if most := keyRequests + many/width + 1; n.ranges > most || n.most != many {
		t.Errorf("%d pools take %d ranges, want %d at most; one range is for %d", many, n.ranges, most, n.most)
	}
}

// TestNodesThatRefuseManyPools: pools are looked for one by one where nodes look through no range for several, and none is given up for that.
func TestNodesThatRefuseManyPools(t *testing.T) {
	t.Parallel()
	const width, block, many = 10, 10_000, 5
	n := &mockNodes{width: width, takes: 1, made: map[market.Address]uint64{}}
	f, aside := finderOf(n)
	var pools []market.Address
	for i := range many {
		pools = append(pools, unusual(i))
		n.made[pools[i]] = block - 50*width
		known(t, f, blockOf(block), pools[i])
	}
	for range 3 * 50 * many {
		f.look(t.Context())
	}
	if got := known(t, f, blockOf(block), pools...); !slices.Equal(got, pools) || len(aside) > 0 {
		t.Errorf("known are %v, set aside are %v", got, aside)
	}
}

// TestPoolsBeyondARange: a range isn't looked through for pools that are looked for far below it.
func TestPoolsBeyondARange(t *testing.T) {
	t.Parallel()
	n := &mockNodes{width: 10}
	f, _ := finderOf(n)
	known(t, f, blockOf(10_000), unusual(1))
	f.look(t.Context())
	f.sought[unusual(1)].to = 9_000 - 10
	known(t, f, blockOf(9_001), unusual(2)) // to be looked for from block 8,990 on
	f.sought[unusual(2)].trades, f.sought[unusual(2)].to = 9, 9_000
	n.most = 0
	if f.look(t.Context()); n.most != 1 || f.sought[unusual(2)].to != 8_990 {
		t.Errorf("a range is looked through for %d pools, and the next one ends with %d", n.most, f.sought[unusual(2)].to)
	}
	if f.look(t.Context()); n.most != 2 {
		t.Errorf("the range of both is looked through for %d pools", n.most)
	}
}

// TestTheSearchRests: while it is given up nothing is looked for, and ranges aren't counted as blocks.
func TestTheSearchRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &mockNodes{}
		f, _ := finderOf(n)
		known(t, f, blockOf(10_000), unusual(1))
		n.purposes = nil
		givenUp := true
		f.GivesUp = func(p budget.Purpose) bool { return givenUp && p == budget.PoolKeys }
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.Run(ctx)
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(n.purposes) > 0 {
			t.Errorf("it asks for %v while it is given up", n.purposes)
		}
		givenUp = false
		time.Sleep(5*time.Second + keyPause)
		synctest.Wait()
		if asked := n.purposes[budget.PoolKeys]; len(n.purposes) != 1 || asked < 50 || asked > 60 {
			t.Errorf("in five seconds it asks for %v, want some 50 ranges", n.purposes)
		}
		stop()
		<-done
	})
}

// TestThePositionManagerIsAskedWhenTheSearchIsFull has no room for another pool: what the manager knows is known nevertheless.
func TestThePositionManagerIsAskedWhenTheSearchIsFull(t *testing.T) {
	t.Parallel()
	n := &mockNodes{managed: map[market.Address]bool{unusual(keysSought): true}, noLogs: errors.New("pruned")}
	f, _ := finderOf(n)
	for i := range keysSought {
		f.sought[unusual(i)] = &soughtKey{}
	}
	got := known(t, f, blockOf(100), unusual(keysSought), unusual(keysSought+1))
	if !slices.Equal(got, []market.Address{unusual(keysSought)}) || len(f.sought) != keysSought || n.ranges > 0 {
		t.Errorf("known are %v, %d are looked for, and %d ranges are looked through", got, len(f.sought), n.ranges)
	}
}

// TestBoundsOfTheSearch fills it: one block has keysAtOnce pools looked for, and keysSought are looked for at a time. Those that were looked for in vain make room for others.
func TestBoundsOfTheSearch(t *testing.T) {
	t.Parallel()
	n := &mockNodes{width: 60}
	f, _ := finderOf(n)
	var pools []market.Address
	for i := range keysSought + keysAtOnce + 1 {
		pools = append(pools, unusual(i))
	}
	const block = 100
	known(t, f, blockOf(block), pools[:keysAtOnce+1]...)
	if len(f.sought) != keysAtOnce {
		t.Fatalf("one block has %d pools looked for", len(f.sought))
	}
	known(t, f, blockOf(block), pools[:keysAtOnce+1]...)
	if len(f.sought) != keysAtOnce+1 {
		t.Fatalf("two blocks have %d pools looked for", len(f.sought))
	}
	for list := range slices.Chunk(pools, keysAtOnce) {
		known(t, f, blockOf(block), list...)
	}
	last := pools[len(pools)-1]
	if len(f.sought) != keysSought || f.sought[last] != nil {
		t.Fatalf("%d pools are looked for", len(f.sought))
	}
	search(t, f)
	n.made = map[market.Address]uint64{last: 95}
	if got := known(t, f, blockOf(block), last); !slices.Equal(got, []market.Address{last}) || len(f.sought) > 0 {
		t.Errorf("after a search in vain for %d pools another one is %v, and %d are looked for", keysSought, got, len(f.sought))
	}
	asked := n.asked
	if known(t, f, blockOf(block), pools[0]); n.asked != asked {
		t.Error("a pool that was looked for in vain is asked about again")
	}
}

// TestPoolsThatNobodyTellsOf fills the memory of them.
func TestPoolsThatNobodyTellsOf(t *testing.T) {
	t.Parallel()
	f, aside := finderOf(&mockNodes{width: 100})
	for n := range untoldKept - 1 {
		f.untold[market.PoolID([32]byte{3, 29: byte(n >> 16), 30: byte(n >> 8), 31: byte(n)})] = true
	}
	if known(t, f, blockOf(100), unusual(1)); len(f.untold) != untoldKept {
		t.Fatalf("%d pools are remembered", len(f.untold))
	}
	if known(t, f, blockOf(100), unusual(2)); len(f.untold) != 1 || !f.untold[unusual(2)] || aside["pool unknown_key"] != 2 {
		t.Errorf("%d pools are remembered, and set aside is %v", len(f.untold), aside)
	}
}

// TestABlockThatIsTakenUpAgain has a pool told in it before it isn't committed: it is known again, and nodes aren't asked again.
func TestABlockThatIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]*mockNodes{
		"by the manager": {managed: map[market.Address]bool{unusual(1): true}}, "by a log": {made: map[market.Address]uint64{unusual(1): 95}},
		"by the search": {made: map[market.Address]uint64{unusual(1): 75}},
	} {
		f, _ := finderOf(n)
		b := blockOf(100, trade([]market.Address{unusual(1)}))
		known(t, f, b, unusual(1))
		search(t, f)
		asked, ranges := n.asked, n.ranges
		for range 3 {
			if got := known(t, f, b, unusual(1)); len(got) != 1 || n.asked != asked || n.ranges != ranges {
				t.Errorf("%s known are %v, after %d questions and %d ranges; before %d and %d", name, got, n.asked, n.ranges, asked, ranges)
			}
			f.Taken(unusual(1))
		}
	}
	f, _ := finderOf(&mockNodes{})
	known(t, f, blockOf(100), unusual(1))
	if f.Taken(unusual(1)); len(f.sought) > 0 {
		t.Error("a pool that was told is looked for")
	}
}

// TestPoolsThatWereFoundAreBounded fills the memory of them: one makes room for another, and is asked about again if it trades again.
func TestPoolsThatWereFoundAreBounded(t *testing.T) {
	t.Parallel()
	n := &mockNodes{width: 10, made: map[market.Address]uint64{}}
	f, _ := finderOf(n)
	find := func(pool market.Address) {
		n.made[pool] = 50
		known(t, f, blockOf(100, trade([]market.Address{pool})), pool)
		search(t, f)
	}
	for i := range keysSought {
		find(unusual(i))
	}
	if len(f.found) != keysSought || len(f.sought) != 0 {
		t.Fatalf("%d pools were found, and %d are looked for", len(f.found), len(f.sought))
	}
	find(unusual(keysSought))
	if f.learn([]market.PoolCreated{created(unusual(keysSought))}); len(f.found) != keysSought {
		t.Errorf("%d pools were found", len(f.found))
	}
	if got := known(t, f, blockOf(200), unusual(keysSought)); len(got) != 1 {
		t.Errorf("the newest of them is %v", got)
	}
}
