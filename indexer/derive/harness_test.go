package derive_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// database stands in for the store: it answers what derivation wants and keeps what it writes, checking that every
// change begins at the row as it is.
type database struct {
	tokens   map[market.Address]market.Token
	pools    map[market.Address]market.Pool
	ticks    map[market.Address]market.TickMap
	candles  map[market.CandleKey]market.Candle
	balances map[market.BalanceKey]market.Balance
	quotes   map[market.Address]market.QuotePrice
	launches map[market.Address]market.Launch
	jobs     map[market.Address]market.HolderJob
	waiting  map[market.TradeKey]market.Trade
	trades   []market.Trade
	queued   []market.QueuedTransfer

	watched   map[market.Address]market.WatchedWallet
	positions map[market.PositionKey]market.Position
	hours     map[market.HourKey]market.WalletHour
	entries   []market.Entry
	fees      []market.Fee
	// firstTrade is the first block whose trades are there to be copied.
	firstTrade uint64
	// stream is what the blocks that stand have brought.
	stream []market.StreamItem
	// payments are the rows of blocks that were read with their transactions.
	payments []market.BlockPayments
}

func newDatabase() *database {
	return &database{
		tokens: map[market.Address]market.Token{}, pools: map[market.Address]market.Pool{},
		ticks: map[market.Address]market.TickMap{}, candles: map[market.CandleKey]market.Candle{},
		balances: map[market.BalanceKey]market.Balance{}, quotes: map[market.Address]market.QuotePrice{},
		launches: map[market.Address]market.Launch{}, jobs: map[market.Address]market.HolderJob{},
		waiting: map[market.TradeKey]market.Trade{},
		watched: map[market.Address]market.WatchedWallet{}, positions: map[market.PositionKey]market.Position{},
		hours: map[market.HourKey]market.WalletHour{},
	}
}

// load answers like the store: pools, with the ticks of those that are named, and candles by key or because they
// leave the window.
func (d *database) load(w market.Wanted) market.Rows {
	out := market.Rows{Ticks: map[market.Address]market.TickMap{}, Balances: map[market.BalanceKey]market.Balance{}}
	for _, id := range w.Pools {
		if p, ok := d.pools[id]; ok {
			out.Pools = append(out.Pools, p)
			if t, ok := d.ticks[id]; ok && p.Protocol.Concentrated() {
				out.Ticks[id] = t
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(d.pools), market.Address.Compare) {
		if p := d.pools[id]; slices.Contains(w.PoolsOf, p.Base) && !p.Unlisted {
			out.Pools = append(out.Pools, p)
		}
	}
	for id, p := range d.pools {
		if slices.Contains(w.PairsOf, p.Base) && p.Protocol.HasAccount() {
			out.Pairs = append(out.Pairs, market.Pair{ID: id, Base: p.Base})
		}
	}
	for _, mint := range w.Tokens {
		if t, ok := d.tokens[mint]; ok {
			out.Tokens = append(out.Tokens, t)
		}
	}
	for k, c := range d.candles {
		if k.Interval == 60 && k.Open >= w.ExpireFrom && k.Open <= w.ExpireTo {
			out.Candles = append(out.Candles, c)
		}
	}
	slices.SortFunc(out.Candles, func(a, b market.Candle) int {
		return cmp.Or(cmp.Compare(a.Open, b.Open), a.Pool.Compare(b.Pool))
	})
	for _, k := range w.Candles {
		if c, ok := d.candles[k]; ok {
			out.Candles = append(out.Candles, c)
		}
	}
	for _, mint := range w.Launches {
		if l, ok := d.launches[mint]; ok {
			out.Launches = append(out.Launches, l)
		}
	}
	for _, contract := range w.Curves {
		out.Curves = append(out.Curves, d.curve(contract)...)
	}
	for _, k := range w.Balances {
		if b, ok := d.balances[k]; ok {
			out.Balances[k] = b
		}
	}
	d.loadWallets(w, &out)
	return out
}

func (d *database) loadWallets(w market.Wanted, out *market.Rows) {
	out.Positions, out.Past = map[market.PositionKey]market.Position{}, map[market.Address][]market.Trade{}
	for _, a := range w.Watched {
		if v, ok := d.watched[a]; ok {
			out.Watched = append(out.Watched, v)
		}
	}
	for _, k := range w.Positions {
		if v, ok := d.positions[k]; ok {
			out.Positions[k] = v
		}
	}
	for _, k := range w.Hours {
		if v, ok := d.hours[k]; ok {
			out.Hours = append(out.Hours, v)
		}
	}
	for _, a := range w.TradesOf {
		for _, t := range slices.Backward(d.trades) { // in no order
			if t.Trader == a && t.Block >= d.firstTrade {
				out.Past[a] = append(out.Past[a], t)
			}
		}
	}
	wallets, hours := map[market.Address]bool{}, map[market.HourKey]bool{}
	for _, k := range w.Hours {
		hours[k] = true
	}
	for _, list := range w.BooksOf {
		for _, a := range list {
			wallets[a] = true
		}
	}
	for k, v := range d.positions {
		if wallets[k.Wallet] {
			out.Positions[k] = v
		}
	}
	for k, v := range d.hours {
		if wallets[k.Wallet] && !hours[k] {
			out.Hours = append(out.Hours, v)
		}
	}
	for i := range d.entries {
		if wallets[d.entries[i].Wallet] {
			out.Entries = append(out.Entries, d.entries[i])
		}
	}
}

// curve tells whose curve a contract holds, if it holds any.
func (d *database) curve(contract market.Address) (held []market.OwnCurve) {
	for _, l := range d.launches {
		switch {
		case l.Curve != contract:
		case held == nil:
			held = []market.OwnCurve{{Contract: contract, Mint: l.Mint}}
		default:
			held[0].Mint = market.Address{}
		}
	}
	return held
}

// beginning is what a state starts with.
func (d *database) beginning(c *derive.Machine, last market.Header) market.Beginning {
	b := market.Beginning{Last: last, Quotes: slices.Collect(maps.Values(d.quotes)), Waiting: slices.Collect(maps.Values(d.waiting)), Watched: slices.Collect(maps.Values(d.watched))}
	for _, t := range d.tokens {
		if !t.Candidate.IsNone() {
			b.Pending = append(b.Pending, t)
		}
	}
	for _, j := range d.jobs {
		if j.IsMerging() {
			b.Jobs = append(b.Jobs, j)
		}
	}
	for _, l := range d.launches {
		b.OwnCurves = b.OwnCurves || !l.Curve.IsNone() && !slices.Contains(c.VenueContracts(), l.Curve)
	}
	return b
}

// fataler is what *testing.T and *rapid.T have in common here.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (d *database) commit(t fataler, c *market.Changes) {
	t.Helper()
	write(t, "token", d.tokens, c.Tokens, false)
	write(t, "pool", d.pools, c.Pools, false)
	write(t, "ticks", d.ticks, c.Ticks, false)
	write(t, "candle", d.candles, c.Candles, false)
	write(t, "balance", d.balances, c.Balances, false)
	write(t, "quote", d.quotes, c.Quotes, false)
	write(t, "launch", d.launches, c.Launches, false)
	write(t, "job", d.jobs, c.Jobs, false)
	write(t, "waiting trade", d.waiting, c.Waiting, false)
	write(t, "watched wallet", d.watched, c.Watched, false)
	write(t, "position", d.positions, c.Positions, false)
	write(t, "hour", d.hours, c.Hours, false)
	d.writeEntries(t, c, false)
	d.fees = append(d.fees, c.Fees...)
	d.stream = append(d.stream, c.Stream...)
	d.payments = append(d.payments, c.Payments...)
	if c.HasPaymentsFrom {
		d.payments = slices.DeleteFunc(d.payments, func(b market.BlockPayments) bool { return b.Number < c.PaymentsFrom })
	}
	d.trades, d.queued = append(d.trades, c.Trades...), append(d.queued, c.Queued...)
}

// undo takes the newest commit back by its before-images.
func (d *database) undo(t fataler, c *market.Changes) {
	t.Helper()
	write(t, "token", d.tokens, c.Tokens, true)
	write(t, "pool", d.pools, c.Pools, true)
	write(t, "ticks", d.ticks, c.Ticks, true)
	write(t, "candle", d.candles, c.Candles, true)
	write(t, "balance", d.balances, c.Balances, true)
	write(t, "quote", d.quotes, c.Quotes, true)
	write(t, "launch", d.launches, c.Launches, true)
	write(t, "job", d.jobs, c.Jobs, true)
	write(t, "waiting trade", d.waiting, c.Waiting, true)
	write(t, "watched wallet", d.watched, c.Watched, true)
	write(t, "position", d.positions, c.Positions, true)
	write(t, "hour", d.hours, c.Hours, true)
	d.writeEntries(t, c, true)
	d.fees = d.fees[:len(d.fees)-len(c.Fees)]
	d.stream = d.stream[:len(d.stream)-len(c.Stream)]
	d.payments = d.payments[:len(d.payments)-len(c.Payments)]
	d.trades = d.trades[:len(d.trades)-len(c.Trades)]
	d.queued = d.queued[:len(d.queued)-len(c.Queued)]
}

// writeEntries keeps the entries in the order of the chain. Those that are reworked go or change before others are added: one may have the key of another.
func (d *database) writeEntries(t fataler, c *market.Changes, backwards bool) {
	t.Helper()
	if len(c.Entries)+len(c.Reworked) == 0 {
		return
	}
	rows := make(map[market.EntryKey]market.Entry, len(d.entries))
	for i := range d.entries {
		rows[d.entries[i].Key()] = d.entries[i]
	}
	added := make([]market.Change[market.EntryKey, market.Entry], len(c.Entries))
	for i := range c.Entries {
		added[i] = market.Change[market.EntryKey, market.Entry]{Key: c.Entries[i].Key(), After: &c.Entries[i]}
	}
	if backwards {
		write(t, "entry", rows, added, true)
		write(t, "reworked entry", rows, c.Reworked, true)
	} else {
		write(t, "reworked entry", rows, c.Reworked, false)
		write(t, "entry", rows, added, false)
	}
	d.entries = slices.SortedFunc(maps.Values(rows), inOrder)
}

// inOrder is the order of the chain.
func inOrder(a, b market.Entry) int {
	return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Seq, b.Seq), a.Wallet.Compare(b.Wallet))
}

func write[K comparable, V any](t fataler, table string, rows map[K]V, changes []market.Change[K, V], backwards bool) {
	t.Helper()
	seen := map[K]bool{}
	for _, c := range changes {
		if seen[c.Key] {
			t.Fatalf("%s %v is written twice in one commit", table, c.Key)
		}
		seen[c.Key] = true
		before, after := c.Before, c.After
		if backwards {
			before, after = after, before
		}
		row, ok := rows[c.Key]
		if ok != (before != nil) || (ok && !reflect.DeepEqual(row, *before)) {
			t.Fatalf("%s %v: the change begins at %+v, the row is %+v (there: %v)", table, c.Key, before, row, ok)
		}
		if after == nil {
			delete(rows, c.Key)
		} else {
			rows[c.Key] = *after
		}
	}
}

// differences names what two databases disagree on, at most a few.
func (d *database) differences(o *database) (out []string) {
	out = append(out, rowDifferences("token", d.tokens, o.tokens)...)
	out = append(out, rowDifferences("pool", d.pools, o.pools)...)
	out = append(out, rowDifferences("ticks", d.ticks, o.ticks)...)
	out = append(out, rowDifferences("candle", d.candles, o.candles)...)
	out = append(out, rowDifferences("balance", d.balances, o.balances)...)
	out = append(out, rowDifferences("quote", d.quotes, o.quotes)...)
	out = append(out, rowDifferences("launch", d.launches, o.launches)...)
	out = append(out, rowDifferences("waiting trade", d.waiting, o.waiting)...)
	out = append(out, rowDifferences("watched wallet", d.watched, o.watched)...)
	out = append(out, rowDifferences("position", d.positions, o.positions)...)
	out = append(out, rowDifferences("hour", d.hours, o.hours)...)
	if !slices.Equal(d.entries, o.entries) {
		out = append(out, fmt.Sprintf("entries:\n  %+v\n  %+v", d.entries, o.entries))
	}
	if !slices.Equal(d.fees, o.fees) {
		out = append(out, fmt.Sprintf("fees:\n  %+v\n  %+v", d.fees, o.fees))
	}
	if !slices.Equal(d.stream, o.stream) {
		out = append(out, fmt.Sprintf("the stream:\n  %+v\n  %+v", d.stream, o.stream))
	}
	for i := range max(len(d.trades), len(o.trades)) {
		switch {
		case i >= len(d.trades) || i >= len(o.trades):
			out = append(out, fmt.Sprintf("%d trades and %d", len(d.trades), len(o.trades)))
		case d.trades[i] != o.trades[i]:
			out = append(out, fmt.Sprintf("trade %d:\n  %+v\n  %+v", i, d.trades[i], o.trades[i]))
		default:
			continue
		}
		break
	}
	if !slices.Equal(d.queued, o.queued) {
		out = append(out, fmt.Sprintf("queued:\n  %+v\n  %+v", d.queued, o.queued))
	}
	return out[:min(len(out), 6)]
}

func rowDifferences[K comparable, V any](table string, a, b map[K]V) (out []string) {
	for k, v := range a {
		w, ok := b[k]
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("%s %v: one has it, the other not: %+v", table, k, v))
		case !reflect.DeepEqual(v, w):
			out = append(out, fmt.Sprintf("%s %v:\n  %+v\n  %+v", table, k, v, w))
		}
	}
	for k, w := range b {
		if _, ok := a[k]; !ok {
			out = append(out, fmt.Sprintf("%s %v: the other has it, one not: %+v", table, k, w))
		}
	}
	slices.Sort(out)
	return out
}

// indexer runs a machine over a database the way the program's loop does.
type indexer struct {
	machine *derive.Machine
	state   *derive.State
	db      *database
	limit   int
}

// genesis is the header before the first block of a test.
var genesis = market.Header{Number: 99, Hash: market.Hash{9}, Time: 1_700_000_000 - 1_700_000_000%86400}

func newIndexer(t fataler, c *chainconfig.Chain, limit int) *indexer {
	t.Helper()
	m, err := derive.New(c)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &indexer{machine: m, state: derive.NewState(market.Beginning{Last: genesis}), db: newDatabase(), limit: limit}
}

// restart forgets what is cached.
func (x *indexer) restart(last market.Header) {
	x.state = derive.NewState(x.db.beginning(x.machine, last))
	for i := range x.db.payments {
		x.state.RecallPayments(&x.db.payments[i], last.Number-min(last.Number, reach))
	}
}

// rewind goes back to a block, before commits that the database has taken back, and keeps what they didn't touch.
func (x *indexer) rewind(t fataler, last market.Header, undone []market.Changes) {
	t.Helper()
	for i := range undone {
		x.state.Rewind(x.db.beginning(x.machine, last), derive.TouchedBy(&undone[i]))
	}
	stale := append(x.state.Stale(x.db.beginning(x.machine, last), x.db.load), x.state.StaleFundings(x.db.payments, everyAccount())...)
	if len(stale) > 0 {
		t.Fatalf("what is cached isn't what is in the database:\n%s", strings.Join(stale, "\n"))
	}
}

// load is the three loads before a batch.
func (x *indexer) load(blocks []market.Block, until market.Header) {
	w := x.machine.LaunchKeys(x.state, blocks)
	x.state.Put(w, x.db.load(w))
	w = x.machine.Keys(x.state, blocks, until)
	x.state.Put(w, x.db.load(w))
	for range 2 { // the loop asks again whenever facts came in
		w = x.machine.MoreKeys(x.state, blocks, until)
		x.state.Put(w, x.db.load(w))
	}
}

func (x *indexer) apply(t fataler, blocks []market.Block, until market.Header) market.Changes {
	t.Helper()
	x.load(blocks, until)
	if err := x.machine.Apply(x.state, blocks, until); err != nil {
		t.Fatalf("%v", err)
	}
	c := x.state.Flush(x.limit)
	x.db.commit(t, &c)
	return c
}

// The tests' cast. token(n) and account(n) are plain addresses.
func address(n byte) market.Address {
	a, err := market.AddressFromBytes([]byte{0xad, 19: n})
	if err != nil {
		panic(err)
	}
	return a
}

func poolID(n byte) market.Address { return market.PoolID([32]byte{0x1d, 31: n}) }

var (
	usdc, usdt, weth           = address(1), address(2), address(3)
	dog, cat, frog             = address(11), address(12), address(13)
	alice, bob, carol          = address(21), address(22), address(23)
	router, aggregator, solver = address(31), address(32), address(33)
	collector                  = address(34)
	v2, v3, v4, solidly        = address(41), address(42), address(43), address(44)
	slipstream, pumpSwap, damm = address(45), address(46), address(47)
	cpmm, ammV4                = address(48), address(49)
	goodHook, badHook          = address(51), address(52)
	poolA, poolB, poolC, poolD = address(61), address(62), address(63), address(64)
	pad, otherPad, ownCurve    = address(81), address(82), address(83)
	secondCurve                = address(84)
	pup, kit                   = address(14), address(15)
)

func config(change ...func(*chainconfig.Chain)) *chainconfig.Chain {
	c := &chainconfig.Chain{
		ID: "test", Family: chainconfig.EVM, ReorgBlocks: reach, Native: chainconfig.Native{Symbol: "ETH", Wrapped: weth},
		Quotes: []chainconfig.Quote{
			{Symbol: "USDC", Address: usdc, PegUSD: 1, PegBoundPct: 2},
			{Symbol: "USDT", Address: usdt, PegUSD: 1, PegBoundPct: 2},
			{Symbol: "WETH", Address: weth},
		},
		Exchanges: []chainconfig.Exchange{
			{Name: "v2", Protocol: market.UniswapV2, Factory: v2, FeePips: 3000},
			{Name: "v3", Protocol: market.UniswapV3, Factory: v3},
			{Name: "v4", Protocol: market.UniswapV4, Factory: v4, Hooks: markettest.Addresses(goodHook.String())},
			{Name: "solidly", Protocol: market.Solidly, Factory: solidly},
			{Name: "slipstream", Protocol: market.Slipstream, Factory: slipstream},
		},
		Venues: []chainconfig.Venue{
			{ID: "pad", Protocol: chainconfig.BoardwalkCurve, Contracts: []market.Address{pad}},
			{ID: "other", Protocol: chainconfig.FourMemeV2, Contracts: []market.Address{otherPad}},
		},
		Tracking: chainconfig.Tracking{Holders: chainconfig.HoldersDeclared},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

// ofSolana declares exchanges of Solana, too.
func ofSolana(c *chainconfig.Chain) {
	c.Exchanges = append(c.Exchanges, chainconfig.Exchange{Name: "pumpswap", Protocol: market.PumpSwap, Factory: pumpSwap},
		chainconfig.Exchange{Name: "damm", Protocol: market.MeteoraDAMMv2, Factory: damm},
		chainconfig.Exchange{Name: "cpmm", Protocol: market.RaydiumCPMM, Factory: cpmm}, chainconfig.Exchange{Name: "amm v4", Protocol: market.RaydiumAMMv4, Factory: ammV4})
}

func followAll(c *chainconfig.Chain) { c.Tracking.Holders = chainconfig.HoldersAll }

// Amounts.
func raw(n uint64) (v market.Amount) {
	v.SetUint64(n)
	return v
}

// units is n·10^d.
func units(n uint64, d uint8) market.Amount {
	v, ten := raw(n), raw(10)
	for range d {
		v.Mul(&v, &ten)
	}
	return v
}

func e18(n uint64) market.Amount { return units(n, 18) }

func e6(n uint64) market.Amount { return units(n, 6) }

func in(v market.Amount) market.SignedAmount { return market.SignedAmount{Abs: v} }

func out(v market.Amount) market.SignedAmount { return market.SignedAmount{Abs: v, Neg: !v.IsZero()} }

// Events.
func moved(token, from, to market.Address, amount market.Amount) market.Event {
	return market.Transfer{Token: token, From: from, To: to, Amount: amount}
}

func wrapped(account market.Address, amount market.Amount) market.Event {
	return market.Wrap{Token: weth, Account: account, Amount: amount}
}

func unwrapped(account market.Address, amount market.Amount) market.Event {
	return market.Wrap{Token: weth, Account: account, Amount: amount, Unwrap: true}
}

func created(protocol market.Protocol, factory, pool, token0, token1 market.Address) market.PoolCreated {
	return market.PoolCreated{Protocol: protocol, Factory: factory, Pool: pool, Token0: token0, Token1: token1}
}

func pair(pool, token0, token1 market.Address) market.Event {
	return created(market.UniswapV2, v2, pool, token0, token1)
}

func synced(pool market.Address, reserve0, reserve1 market.Amount) market.Event {
	return market.Reserves{Pool: pool, Reserve0: reserve0, Reserve1: reserve1}
}

// swapped is a V2 swap's log; sender and recipient are for the tests of traders.
func swapped(pool market.Address, amount0, amount1 market.SignedAmount, sender, recipient market.Address) market.Event {
	return market.Swap{Pool: pool, Sender: sender, Recipient: recipient, Amount0: amount0, Amount1: amount1}
}

// fact is a token of 18 decimals; stables have 6.
func fact(token market.Address) market.Fact {
	f := market.TokenFact{Token: token, Name: "n", Symbol: "s", HasDecimals: true, Decimals: 18, FromCreation: true}
	if token == usdc || token == usdt {
		f.Decimals = 6
	}
	return f
}

// chain writes blocks.
type chain struct {
	last   market.Header
	blocks []market.Block
}

func newChain() *chain { return &chain{last: genesis} }

// block appends one, seconds after the last, with a transaction for each list of events.
func (c *chain) block(seconds int64, facts []market.Fact, txs ...[]market.Event) market.Block {
	n := c.last.Number + 1
	b := market.Block{Header: market.Header{
		Number: n, Hash: market.Hash{1, byte(n >> 8), byte(n)}, Parent: c.last.Hash, Time: c.last.Time + seconds,
	}, Facts: facts}
	index := uint64(0)
	for i, events := range txs {
		tx := market.Tx{ID: market.EVMTx([32]byte{2, byte(n >> 8), byte(n), byte(i)})}
		for _, e := range events {
			tx.Logs = append(tx.Logs, market.Log{Index: index, Event: e})
			index++
		}
		b.Txs = append(b.Txs, tx)
	}
	c.last = b.Header
	c.blocks = append(c.blocks, b)
	return b
}

func tx(events ...market.Event) []market.Event { return events }

// bench is a chain with an indexer that follows it block by block.
type bench struct {
	*chain
	*indexer
	t *testing.T
}

func newBench(t *testing.T, change ...func(*chainconfig.Chain)) *bench {
	t.Helper()
	return &bench{chain: newChain(), indexer: newIndexer(t, config(change...), 100_000), t: t}
}

// next writes and applies a block.
func (b *bench) next(seconds int64, facts []market.Fact, txs ...[]market.Event) market.Changes {
	b.t.Helper()
	block := b.block(seconds, facts, txs...)
	return b.apply(b.t, []market.Block{block}, block.Header)
}

// idle lets n blocks without events pass.
func (b *bench) idle(n int, seconds int64) {
	b.t.Helper()
	for range n {
		b.next(seconds, nil)
	}
}

func facts(tokens ...market.Address) (list []market.Fact) {
	for _, t := range tokens {
		list = append(list, fact(t))
	}
	return list
}

// stage has USDC, USDT and WETH known, and a deep WETH/USDC pair (poolD) at 2,000 USDC.
func stage(t *testing.T, change ...func(*chainconfig.Chain)) *bench {
	t.Helper()
	b := newBench(t, change...)
	b.next(12, facts(usdc, usdt, weth, dog, cat), tx(pair(poolD, weth, usdc), synced(poolD, e18(10_000), e6(20_000_000))))
	if got := b.db.quotes[weth].USD; got != 2000 {
		t.Fatalf("WETH is at %v USD, want 2000", got)
	}
	return b
}

// usd is what a token's reference pool says.
func (b *bench) usd(token market.Address) float64 {
	p := b.db.pools[b.db.tokens[token].Pool]
	return p.Price * b.db.quotes[p.Quote].USD
}

func (b *bench) lastTrade() market.Trade {
	b.t.Helper()
	if len(b.db.trades) == 0 {
		b.t.Fatal("no trade")
	}
	return b.db.trades[len(b.db.trades)-1]
}
