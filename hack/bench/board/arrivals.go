package board

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// tradesPerLaunch is after how many trades a token is launched, tradesPerNative every how many one is of the chain's coin,
	// which moves the price that everything is valued at.
	tradesPerLaunch, tradesPerNative = 400, 30
	// youngest is how many of the newest launches are traded more than the others: one trade in ten is of one of them.
	youngest = 200
	// graduatesAfter is how long a curve is full before its token moves on, in seconds.
	graduatesAfter = 10
	// fetchedEvery is how often the metadata of new launches is saved, and a report of a traded token, in seconds.
	fetchedEvery = 3
	// undoDepth is how many blocks are kept as places to go back to.
	undoDepth = 64
)

// boardClock is the chains' time. It stands still while no server runs that follows it.
type boardClock struct {
	at    time.Time // the chains' time when it stood still last
	began time.Time // when it began to run; zero while it stands still
}

func newBoardClock() *boardClock { return &boardClock{at: time.Unix(lab.WorldEnd+1, 0)} }

func (c *boardClock) now() time.Time {
	if c.began.IsZero() {
		return c.at
	}
	return c.at.Add(lab.Now().Sub(c.began))
}

func (c *boardClock) start() { c.began = lab.Now() }

func (c *boardClock) stop() { c.at, c.began = c.now(), time.Time{} }

// arrivals writes what happens on the chains, by one writer for each, as its indexer would: in commits of a block with the
// rows that changed. Left out are balances, facts and what a reorg needs: nothing that is measured reads them.
type arrivals struct {
	store   *store.Store
	clock   *boardClock
	writers []*chainWriter
}

// newArrivals goes on from where a world ends, with the leases of all its chains.
func newArrivals(ctx context.Context, w *boardWorld, st *store.Store, clock *boardClock) (*arrivals, error) {
	a := &arrivals{store: st, clock: clock}
	for i := range w.chains {
		w.tradesOf(i) // which give the launches their figures
		p := &w.chains[i]
		lease, err := st.Leases.Acquire(ctx, p.ID, "bench", 24*time.Hour)
		if err != nil {
			return nil, err
		}
		a.writers = append(a.writers, &chainWriter{
			boardPart: p, world: w, store: st, lease: lease, rng: rand.New(rand.NewPCG(w.size.Seed, 34<<40|uint64(i))), nativeNow: p.NativeUSD,
			last: p.blockAt(lab.WorldEnd * 1000), candles: lab.NewFolder(func(market.Candle) error { return nil }),
			names: lab.NewZipf(max(w.size.Launches/4, 1), 0.9),
		})
	}
	return a, nil
}

// Arrived is what was written in a while.
type Arrived struct {
	Wall time.Duration
	// blocks were committed, in commits: fewer when a writer fell behind and caught up, as an indexer would.
	trades, launches, graduated, commits, blocks int
	// pools is how many rows of pools changed, a row in two commits counted twice.
	pools int
	// late is the longest time between when a block was due and when it was committed.
	late time.Duration
}

// Add adds what was written in another while, but for how long that was.
func (a *Arrived) Add(b *Arrived) {
	a.trades, a.launches, a.graduated = a.trades+b.trades, a.launches+b.launches, a.graduated+b.graduated
	a.commits, a.blocks, a.pools, a.late = a.commits+b.commits, a.blocks+b.blocks, a.pools+b.pools, max(a.late, b.late)
}

// String is what came in a second.
func (a *Arrived) String() string {
	if a.Wall == 0 {
		return "nothing arrived"
	}
	return fmt.Sprintf("%.0f trades/s arrived in %.1f commits/s of %.1f blocks/s, with %.0f pools/s, %d launches and %d graduations; at most %s late",
		a.perSecond(a.trades), a.perSecond(a.commits), a.perSecond(a.blocks), a.perSecond(a.pools), a.launches, a.graduated,
		a.late.Round(time.Millisecond))
}

// PerSecond is how many trades came in a second.
func (a *Arrived) PerSecond() float64 { return a.perSecond(a.trades) }

func (a *Arrived) perSecond(n int) float64 {
	if a.Wall == 0 {
		return 0
	}
	return float64(n) / a.Wall.Seconds()
}

// During runs f while trades arrive at a rate, per second and on all chains together.
func (a *arrivals) During(ctx context.Context, rate float64, f func() error) (*Arrived, error) {
	if rate == 0 {
		return &Arrived{}, f()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	began := lab.Now()
	all := Arrived{}
	var mu sync.Mutex
	var g errgroup.Group
	for _, c := range a.writers {
		g.Go(func() error {
			sum, err := c.run(ctx, a.clock, rate*float64(c.share)/100)
			mu.Lock()
			defer mu.Unlock()
			all.Add(sum)
			return err
		})
	}
	err := f()
	stop()
	err = errors.Join(err, g.Wait())
	all.Wall = lab.Now().Sub(began)
	return &all, err
}

// chainWriter writes one chain.
type chainWriter struct {
	*boardPart

	world     *boardWorld
	store     *store.Store
	lease     *store.Lease
	rng       *rand.Rand
	nativeNow float64
	last      uint64 // the newest block that was committed
	// began is the block after which the writer began.
	began     uint64
	names     *lab.Zipf
	fresh     []*boardLaunch // launched since, the newest last
	full      []*boardLaunch // whose tokens are to move on
	unfetched []*boardLaunch
	fetchedAt int64
	candles   *lab.Folder

	// onBlock adds to what a block changes; nil adds nothing.
	onBlock func(block market.Header, changes *market.Changes)
	// owed are the trades that are due and not yet made, launched the launches.
	owed, launched float64

	block blockOf
}

// blockOf is what one commit has gathered.
type blockOf struct {
	number  uint64
	changes market.Changes
	index   uint64
	// touched are the launches that changed; true for those whose token's row did, too.
	touched map[*boardLaunch]bool
	traded  map[market.Address]bool // pools
	native  bool
}

// run commits blocks as they become due until ctx ends.
func (c *chainWriter) run(ctx context.Context, clock *boardClock, rate float64) (*Arrived, error) {
	sum := &Arrived{}
	c.last = max(c.last, c.blockAt(clock.now().UnixMilli())) // what passed meanwhile was empty
	c.began = c.last
	for {
		due := time.UnixMilli(genesisMS + int64(c.last+1)*c.blockMS)
		if !wait.For(ctx, due.Sub(clock.now())) {
			return sum, nil
		}
		number := max(c.last+1, c.blockAt(clock.now().UnixMilli()))
		blocks := number - c.last
		c.owed += rate * float64(blocks) * float64(c.blockMS) / 1000
		trades := int(c.owed)
		c.owed -= float64(trades)
		// The last one is not left half done.
		if err := c.commit(context.WithoutCancel(ctx), number, trades, sum); err != nil {
			return sum, err
		}
		sum.blocks += int(blocks)
		sum.late = max(sum.late, clock.now().Sub(due))
	}
}

// commit makes and writes the next block.
func (c *chainWriter) commit(ctx context.Context, number uint64, trades int, sum *Arrived) error {
	c.block = blockOf{number: number, touched: map[*boardLaunch]bool{}, traded: map[market.Address]bool{}}
	before := c.timeOf(c.last)
	at := c.timeOf(number)
	for c.launched += float64(trades) / tradesPerLaunch; c.launched >= 1; c.launched-- {
		c.launch(at)
		sum.launches++
	}
	sum.graduated += c.graduate(at)
	for range trades {
		if c.rng.IntN(tradesPerNative) == 0 {
			c.tradeNative(at)
		} else {
			c.trade(at)
		}
	}
	if at/60 != before/60 {
		c.expire(trades, number-c.last)
	}
	c.rows(at)
	last := c.header(number)
	if c.onBlock != nil {
		c.onBlock(last, &c.block.changes)
	}
	err := c.store.Commit(ctx, c.lease, &store.Commit{
		Last: last, Blocks: []market.Header{last}, Horizon: number - undoDepth, Changes: c.block.changes,
		Undo: c.onBlock != nil, // what is new is told of no other blocks
		Head: store.HeadStatus{Number: number, Time: at, Safe: number - 10, Final: number - 30, FinalTime: c.timeOf(number - 30)},
	})
	if err != nil {
		return err
	}
	c.last = number
	sum.commits++
	sum.trades += len(c.block.changes.Trades)
	sum.pools += len(c.block.changes.Pools)
	return c.beside(ctx, at)
}

// launch makes a new token.
func (c *chainWriter) launch(at int64) {
	l := c.newLaunch(c.world.size.Seed, len(c.launches)+len(c.fresh), c.rng, c.names)
	l.born, l.lastTrade = at, at
	c.fresh, c.unfetched = append(c.fresh, l), append(c.unfetched, l)
	c.touch(l, true)
}

// touch has a launch's rows written with the block; token says that its token's is one.
func (c *chainWriter) touch(l *boardLaunch, token bool) {
	c.block.touched[l] = c.block.touched[l] || token
}

// graduate moves on the tokens whose curves have been full for a while.
func (c *chainWriter) graduate(at int64) (n int) {
	for len(c.full) > 0 && c.full[0].completedAt+graduatesAfter <= at {
		l := c.full[0]
		c.full, n = c.full[1:], n+1
		l.graduate(at)
		lab.Changed(&c.block.changes.Pools, market.CurveID(l.mint), l.emptied())
		c.touch(l, true)
	}
	return n
}

// trade makes one. What is full takes none; then another token is traded.
func (c *chainWriter) trade(at int64) {
	l := c.draw(c.rng)
	if n := len(c.fresh); n > 0 && c.rng.IntN(10) == 0 {
		l = c.fresh[max(0, n-youngest)+c.rng.IntN(min(n, youngest))]
	}
	for l.state == market.LaunchCompleted {
		l = c.draw(c.rng)
	}
	// Prices of pools come back, curves fill up slowly.
	sell := c.rng.Float64() < 0.47
	if !l.onCurve() && l.referenceUSD > 0 {
		sell = c.rng.Float64() < 0.5+0.4*math.Tanh(math.Log(l.price()*c.nativeNow/l.referenceUSD))
	}
	sell = sell && (!l.onCurve() || l.raised() > 0)
	base, quote := l.trade(tradeUSD(c.rng)/c.nativeNow, sell)
	l.traded, l.lastTrade = true, at
	heldByMore, heldByFewer := !sell && c.rng.IntN(20) < 7, sell && c.rng.IntN(20) < 3 && l.holders > 1
	if heldByMore {
		l.holders++
	}
	if heldByFewer {
		l.holders--
	}
	c.touch(l, heldByMore || heldByFewer)
	row := l.tradeRow(c.block.number, base, quote, c.nativeNow, c.world.wallet(c.boardPart, c.world.people.Draw(c.rng)), sell)
	l.book(quote*c.nativeNow, sell, 1)
	c.book(&row)
	if l.full() {
		l.complete(at)
		c.full = append(c.full, l)
	}
}

// tradeNative makes a trade of the chain's coin.
func (c *chainWriter) tradeNative(at int64) {
	c.nativeNow *= math.Exp(0.0002*c.rng.NormFloat64() + 0.01*math.Log(c.NativeUSD/c.nativeNow))
	usd := 10 * tradeUSD(c.rng)
	c.block.native = true
	row := market.Trade{
		Block: c.block.number, Time: at, Pool: lab.AddressOf(c.EVMChainID, 16, 0), Base: c.Native, Sell: c.rng.IntN(2) == 0,
		Trader: c.world.wallet(c.boardPart, c.world.people.Draw(c.rng)), BaseAmount: lab.RawAmount(usd/c.nativeNow, 18), QuoteAmount: lab.RawAmount(usd, c.USDDigits),
		NanoUSD: int64(usd * 1e9), HasUSD: true, CloseUSD: c.nativeNow, CloseNative: 1,
	}
	c.book(&row)
}

// book adds a trade's row, and the trade to its candles.
func (c *chainWriter) book(row *market.Trade) {
	row.LogIndex, row.Tx = c.block.index, lab.TxOf(c.block.number, c.block.index)
	c.block.index++
	c.block.changes.Trades = append(c.block.changes.Trades, *row)
	c.block.traded[row.Pool] = true
	_ = c.candles.Add(row) // it has nobody to tell
}

// expire takes yesterday's minute out of the windows: as many trades as a minute has now.
func (c *chainWriter) expire(trades int, blocks uint64) {
	perMinute := float64(trades) / float64(blocks) * 60_000 / float64(c.blockMS)
	for range int(perMinute) {
		l := c.draw(c.rng)
		if !l.traded || l.state == market.LaunchCompleted {
			continue
		}
		const left = 1 - 1.0/1440
		l.dayUSD, l.dayBuys, l.daySells = l.dayUSD*left, l.dayBuys*left, l.daySells*left
		c.touch(l, false)
	}
}

// rows makes the rows of what changed.
func (c *chainWriter) rows(at int64) {
	to := &c.block.changes
	for l, token := range c.block.touched {
		if (l.onCurve() && l.lastTrade == at) || l.born == at || l.graduatedAt == at {
			lab.Changed(&to.Launches, l.mint, l.row())
		}
		if token {
			lab.Changed(&to.Tokens, l.mint, l.token())
		}
		lab.Changed(&to.Pools, l.poolID(), l.poolRow())
	}
	if c.block.native {
		pool := c.nativePool(c.nativeNow, at)
		lab.Changed(&to.Pools, pool.ID, pool)
		lab.Changed(&to.Quotes, c.Native, market.QuotePrice{Asset: c.Native, USD: c.nativeNow})
	}
	for pool := range c.block.traded {
		for _, candle := range c.candles.Open[pool] {
			lab.Changed(&to.Candles, candle.CandleKey, candle)
		}
	}
}

// beside saves what was fetched of new tokens, and checked of one.
func (c *chainWriter) beside(ctx context.Context, at int64) error {
	if at < c.fetchedAt+fetchedEvery {
		return nil
	}
	c.fetchedAt = at
	var list []store.TokenMetadata
	for _, l := range c.unfetched {
		list = append(list, l.metadata(c.rng, at))
	}
	c.unfetched = c.unfetched[:0]
	if err := c.store.Metadata.Save(ctx, c.lease, list); err != nil {
		return err
	}
	if len(c.block.changes.Trades) == 0 {
		return nil
	}
	l := c.draw(c.rng)
	return c.store.Trust.Save(ctx, c.lease, []store.TrustRow{l.report(c.rng, at)})
}
