package place

import (
	"cmp"
	"container/heap"
	"encoding/binary"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The chain is Base-like: a block every two seconds, one coin that everything is quoted in, a curve venue, a venue that launches
// into a pool, and a plain exchange.

const (
	chainID = "base"
	// blockS is the time between blocks, in seconds.
	blockS = 2
	// coinUSD is what the chain's coin is worth; it stays so, as a moving price would move every token's volume in USD alike.
	coinUSD = 2500
	// gwei is how many wei the smallest amount of the coin has that the simulation counts.
	gwei = 1_000_000_000
	// tokenDecimals are those of every launched token, so that a supply of a billion fits 64 bits.
	tokenDecimals = 6
	// supply is what a launched token has, in raw units.
	supply = 1_000_000_000 * 1_000_000

	curveVenue, poolVenue = "curve", "pool"
)

// genesis is when the simulated chain begins: unix seconds.
const genesis = 1_790_000_000

// The chain's own contracts.
var (
	coin          = contract(1) // the wrapped coin
	dollar        = contract(2)
	exchangeV2    = contract(3)
	exchangeV3    = contract(4)
	curveContract = contract(5)
	launchpad     = contract(6) // of the venue that launches into a pool
	coinPool      = contract(7) // prices the coin
	router        = contract(8)
)

// contract is one of the chain's own. Their addresses are above those of tokens: a token is always the first of its pool's two.
func contract(n int) market.Address {
	var word [32]byte
	for i := 12; i < 24; i++ {
		word[i] = 0xff
	}
	binary.BigEndian.PutUint64(word[24:], uint64(n))
	return market.EVMAddress(word)
}

// document declares the chain.
func document() *chainconfig.Chain {
	return &chainconfig.Chain{
		ID: chainID, Family: chainconfig.EVM, EVMChainID: 8453,
		Native: chainconfig.Native{Symbol: "ETH", Wrapped: coin},
		Quotes: []chainconfig.Quote{
			{Symbol: "USDC", Address: dollar, PegUSD: 1, PegBoundPct: 2},
			{Symbol: "WETH", Address: coin},
		},
		Exchanges: []chainconfig.Exchange{
			{Name: "uniswap-v2", Protocol: market.UniswapV2, Factory: exchangeV2, FeePips: 3000},
			{Name: "uniswap-v3", Protocol: market.UniswapV3, Factory: exchangeV3},
		},
		Venues: []chainconfig.Venue{
			{ID: curveVenue, Protocol: chainconfig.BoardwalkCurve, Contracts: []market.Address{curveContract}},
			{ID: poolVenue, Protocol: chainconfig.ClankerV4, Contracts: []market.Address{launchpad}},
		},
		Tracking: chainconfig.Tracking{Holders: chainconfig.HoldersLaunches},
	}
}

// account is who signs transactions or holds tokens.
type account struct {
	address market.Address
	// born is when it sent or got anything first; unix seconds.
	born int64
	// nonce is how many transactions it has signed.
	nonce uint64
	// coins are what an attacker's account has, in gwei. Others always have what they need.
	coins uint64
	// bundler signs for an account that is a contract; nil for others.
	bundler *account
}

// signer is whose transactions an account's are.
func (a *account) signer() *account {
	if a.bundler != nil {
		return a.bundler
	}
	return a
}

// way is how a payment of the chain's coin shows on the chain.
type way uint8

const (
	// plain is the value of a transaction, logged one that a contract made and logged, silent one that it made and didn't log.
	plain way = iota
	logged
	silent
)

// payment is of the chain's coin, in gwei.
type payment struct {
	from, to *account
	amount   uint64
	way      way
}

// transaction is what an account has the chain do.
type transaction struct {
	signer   *account // nil for the chain's own
	nonce    uint64
	events   []market.Event
	payments []payment
}

// block is what a chain's block means to the index, and its transactions.
type block struct {
	market.Block

	sent []*transaction
}

// chain runs what is due in the order of time, and puts it into blocks.
type chain struct {
	now    int64 // of the block that is filled; unix seconds
	queue  queue
	filled block
	logs   uint64
	added  uint64        // to the queue, in all
	last   market.Header // of the newest block that is full
	sent   int           // how many transactions there were
	// take gets each block that has something in it, once it is full.
	take func(*block)
}

// newChain is a chain whose coin has its price.
func newChain(take func(*block)) *chain {
	c := &chain{take: take}
	c.open(genesis)
	c.filled.Facts = append(c.filled.Facts, tokenFact(coin, "Wrapped Ether", "WETH", 18), tokenFact(dollar, "USD Coin", "USDC", tokenDecimals))
	const deep = 20_000
	c.send(&transaction{events: []market.Event{
		market.PoolCreated{Protocol: market.UniswapV2, Factory: exchangeV2, Pool: coinPool, Token0: coin, Token1: dollar},
		market.Reserves{Pool: coinPool, Reserve0: wei(deep * gwei), Reserve1: raw(deep * coinUSD * 1_000_000)},
	}})
	return c
}

func tokenFact(token market.Address, name, symbol string, decimals uint8) market.Fact {
	return market.TokenFact{Token: token, Name: name, Symbol: symbol, HasDecimals: true, Decimals: decimals, FromCreation: true}
}

// at has something done in the block of a time, or in the present one if that is over.
func (c *chain) at(time int64, do func()) {
	c.added++
	heap.Push(&c.queue, task{max(time, c.now), c.added, do})
}

// run does everything that is due before a time.
func (c *chain) run(until int64) {
	for len(c.queue) > 0 && c.queue[0].time < until {
		next := c.queue[0]
		heap.Pop(&c.queue)
		if next.time >= c.now+blockS {
			c.close()
			c.open(next.time - (next.time-genesis)%blockS)
		}
		next.do()
	}
	if c.now+blockS <= until {
		c.close()
		c.open(until - (until-genesis)%blockS)
	}
}

// open begins a block. A time at which nothing happens has none: the next block follows the one before.
func (c *chain) open(time int64) {
	c.now, c.logs = time, 0
	c.filled = block{Block: market.Block{Header: c.header(time), HasPayments: true}}
}

// header is that of the block after the last.
func (c *chain) header(time int64) market.Header {
	hash := func(n uint64) (h market.Hash) {
		h[0] = 1
		binary.BigEndian.PutUint64(h[24:], n)
		return h
	}
	number := c.last.Number + 1
	return market.Header{Number: number, Hash: hash(number), Parent: hash(number - 1), Time: time}
}

func (c *chain) close() {
	if len(c.filled.sent) > 0 {
		c.last = c.filled.Header
		c.take(&c.filled)
	}
}

// before is the newest block that is full, which is made if nothing has happened in it.
func (c *chain) before() market.Header {
	if at := c.now - blockS; c.last.Time < at {
		c.last = c.header(at)
		c.take(&block{Block: market.Block{Header: c.last, HasPayments: true}})
		c.filled.Header = c.header(c.now)
	}
	return c.last
}

// send puts a transaction into the block.
func (c *chain) send(t *transaction) {
	if t.signer != nil {
		if t.nonce = t.signer.nonce; t.nonce == 0 {
			c.filled.Firsts = append(c.filled.Firsts, t.signer.address)
		}
		t.signer.nonce++
	}
	c.filled.sent = append(c.filled.sent, t)
	c.sent++
	for _, p := range t.payments {
		if p.way == plain {
			c.filled.Payments = append(c.filled.Payments, market.Payment{From: p.from.address, To: p.to.address, Amount: wei(p.amount)})
		}
	}
	if len(t.events) == 0 {
		return
	}
	var id [32]byte
	id[0] = 2
	binary.BigEndian.PutUint64(id[16:], c.filled.Number)
	binary.BigEndian.PutUint64(id[24:], uint64(len(c.filled.Txs)))
	tx := market.Tx{ID: market.EVMTx(id), Logs: make([]market.Log, len(t.events)), Nonce: t.nonce}
	if t.signer != nil {
		tx.Sender = t.signer.address
	}
	for i, e := range t.events {
		tx.Logs[i] = market.Log{Index: c.logs, Event: e}
		c.logs++
	}
	c.filled.Txs = append(c.filled.Txs, tx)
}

// raw is an amount of a token in its smallest units.
func raw(n uint64) (a market.Amount) {
	a.SetUint64(n)
	return a
}

// wei is an amount of the chain's coin.
func wei(n uint64) (a market.Amount) {
	var unit market.Amount
	unit.SetUint64(gwei)
	a.SetUint64(n)
	a.Mul(&a, &unit)
	return a
}

// coins is an amount of the chain's coin that is worth so much.
func coins(usd float64) uint64 { return uint64(max(0, usd) / coinUSD * gwei) }

// dollars is what an amount of the chain's coin is worth.
func dollars(coins uint64) float64 { return float64(coins) / gwei * coinUSD }

// accounts makes accounts, none of which another maker makes.
type accounts struct {
	seed uint64
	kind int
	made int
}

func (a *accounts) next(born int64) *account {
	a.made++
	return &account{address: lab.AddressOf(a.seed, a.kind, a.made), born: born}
}

// task is something to be done.
type task struct {
	time  int64
	order uint64 // of two of the same time the first that was planned comes first
	do    func()
}

// queue is a heap of tasks.
type queue []task

func (a queue) Len() int { return len(a) }
func (a queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(a[i].time, a[j].time), cmp.Compare(a[i].order, a[j].order)) < 0
}
func (a queue) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *queue) Push(x any) {
	if t, ok := x.(task); ok {
		*a = append(*a, t)
	}
}

func (a *queue) Pop() any {
	last := len(*a) - 1
	t := (*a)[last]
	(*a)[last] = task{}
	*a = (*a)[:last]
	return t
}
