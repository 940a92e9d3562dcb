package lab

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// The world is what a database is seeded with: chains, tokens with pools, and trades over the last days, all of one
// seed. It has no past that an indexer read; the rows are those that one would have derived.

// WorldEnd is the time of the newest block, in unix seconds; the served clock begins a second later.
var WorldEnd = time.Date(2026, 3, 4, 12, 0, 30, 0, time.UTC).Unix()

const (
	// worldSpan is how far trades go back, in seconds.
	worldSpan = 30 * 86400
	// blockTime is that of all chains, in seconds.
	blockTime = 2
	// WorldAge is how old the chains are, in seconds.
	WorldAge = 400 * 86400
)

// MarketSize is what a world follows from.
type MarketSize struct {
	Tokens, Trades int
	// Launches is what the launch board's world has in place of Tokens.
	Launches int `json:",omitempty"`
	Seed     uint64
}

// String names a size in a sentence.
func (s MarketSize) String() string {
	p := message.NewPrinter(language.English)
	if s.Launches > 0 {
		return p.Sprintf("%d launches, %d trades", s.Launches, s.Trades) + fmt.Sprintf(", seed %d", s.Seed)
	}
	return p.Sprintf("%d tokens, %d trades", s.Tokens, s.Trades) + fmt.Sprintf(", seed %d", s.Seed)
}

// WorldChain is a chain with its two quote assets.
type WorldChain struct {
	ID, Coin   string
	Native     market.Address
	USD        market.Address
	NativeUSD  float64
	USDDigits  uint8
	V2, V3     market.Address
	EVMChainID uint64
}

var worldChains = []WorldChain{
	{
		ID: "base", Coin: "ETH", Native: markettest.Address("0x4200000000000000000000000000000000000006"), NativeUSD: 2900, EVMChainID: 8453,
		USD: markettest.Address("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"), USDDigits: 6,
		V2: markettest.Address("0x8909dc15e40173ff4699343b6eb8132c65e18ec6"), V3: markettest.Address("0x33128a8fc17869897dce68ed026d694621f6fdfd"),
	},
	{
		ID: "bsc", Coin: "BNB", Native: markettest.Address("0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c"), NativeUSD: 610, EVMChainID: 56,
		USD: markettest.Address("0x55d398326f99059ff775485246999027b3197955"), USDDigits: 18,
		V2: markettest.Address("0xca143ce32fe78f1f7019d7d551a6402fc5350c73"), V3: markettest.Address("0xdb1d10011ad0ff90774d0c6bb92e5c5c8b4461f7"),
	},
	{
		ID: "arbitrum", Coin: "ETH", Native: markettest.Address("0x82af49447d8a07e3bd95bd0d56f35241523fbab1"), NativeUSD: 2900, EVMChainID: 42161,
		USD: markettest.Address("0xaf88d065e77c8cc2239327c5edb3a432268e5831"), USDDigits: 6,
		V2: markettest.Address("0xf1d7cc64fb4452f05c498126312ebe29f30fbcf9"), V3: markettest.Address("0x1f98431c8ad98523631ae4a59f267346ea31f984"),
	},
}

// worldCatalog declares the world's chains.
func worldCatalog() *catalog.Catalog {
	c := &catalog.Catalog{}
	for i := range worldChains {
		c.Chains = append(c.Chains, worldChains[i].Declared())
	}
	return c
}

// Declared is the chain as the catalogue has it.
func (c *WorldChain) Declared() catalog.Chain {
	return catalog.Chain{
		ID: c.ID, Label: c.ID, Family: chainconfig.EVM, EVMChainID: c.EVMChainID, MinTradeUSD: 2,
		Native: chainconfig.Native{Symbol: c.Coin, Wrapped: c.Native},
		Quotes: []chainconfig.Quote{
			{Symbol: "USD", Address: c.USD, PegUSD: 1, PegBoundPct: 5},
			{Symbol: "W" + c.Coin, Address: c.Native},
		},
		Majors: []chainconfig.Major{{Asset: c.Coin, Address: c.Native}},
		Exchanges: []catalog.Exchange{
			{Name: "uniswap-v2", Protocol: market.UniswapV2, Factory: c.V2},
			{Name: "uniswap-v3", Protocol: market.UniswapV3, Factory: c.V3},
		},
	}
}

// WorldToken is a token. Tokens are in the order of their activity; the first of each chain is its wrapped coin.
type WorldToken struct {
	Mint         market.Address
	Name, Symbol string
	chain        uint8
	pools        uint8
	decimals     uint8
	firstPool    int32
	trades       int32
	born         int64 // unix seconds
	price        float64
}

// worldPool is a pool; price, the times and the day follow from its trades.
type worldPool struct {
	id        market.Address
	token     int32
	native    bool // quoted in the wrapped coin, else in the stable
	v3        bool
	lockedUSD float64
	price     float64 // in USD
	lastTrade int64
	day       market.Window
}

// World is a market: tokens with their pools. Trades follow from it, and make the pools' figures.
type World struct {
	size   MarketSize
	Tokens []WorldToken
	pools  []worldPool
	Names  int // distinct ones
}

// NewWorld makes a world without its trades, which tradesOf makes.
func NewWorld(size MarketSize) *World {
	w := &World{size: size, Tokens: make([]WorldToken, size.Tokens), Names: max(size.Tokens/4, 1)}
	activity, popular := NewZipf(size.Tokens, 1), NewZipf(w.Names, 0.9)
	rng := rand.New(rand.NewPCG(size.Seed, 1))
	start := WorldEnd - worldSpan
	for i := range w.Tokens {
		t := &w.Tokens[i]
		*t = WorldToken{
			Mint: w.address(1, i), chain: uint8(i % len(worldChains)), decimals: 18, firstPool: int32(len(w.pools)),
			trades: int32(math.Round(activity.share(i) * float64(size.Trades))),
			born:   start + rng.Int64N(worldSpan-3600), price: math.Pow(10, -8+10*rng.Float64()),
		}
		if rng.IntN(3) == 0 {
			t.born = start - rng.Int64N(WorldAge-worldSpan-86400)
		}
		if size.Trades >= size.Tokens {
			t.trades = max(t.trades, 1)
		}
		t.Name, t.Symbol = NameOf(size.Seed, popular.Draw(rng))
		if rng.IntN(10) == 0 {
			t.decimals = 9
		}
		t.pools = 1 + uint8(rng.IntN(10)/7) + uint8(rng.IntN(10)/9)
		if i < len(worldChains) {
			c := &worldChains[i]
			t.Mint, t.Name, t.Symbol, t.price = c.Native, "Wrapped "+c.Coin, "W"+c.Coin, c.NativeUSD
			t.born, t.pools, t.decimals = start-100*86400, 1, 18
		}
		// The liquidity goes with the activity, roughly.
		liquidity := 3e7 * math.Pow(float64(i+1), -0.75) * math.Exp(rng.NormFloat64())
		for j := range int(t.pools) {
			w.pools = append(w.pools, worldPool{
				id: w.address(2, len(w.pools)), token: int32(i), native: j != 1 && i >= len(worldChains), v3: rng.IntN(2) == 0,
				lockedUSD: (500 + liquidity) / float64(1+3*j), price: t.price,
			})
		}
	}
	return w
}

// address is the i-th of a kind.
func (w *World) address(kind, i int) market.Address { return AddressOf(w.size.Seed, kind, i) }

// AddressOf is the i-th of a kind that follows from a seed.
func AddressOf(seed uint64, kind, i int) market.Address {
	rng := rand.New(rand.NewPCG(seed, uint64(kind)<<40|uint64(i)))
	var b [24]byte
	for at := 0; at < len(b); at += 8 {
		binary.BigEndian.PutUint64(b[at:], rng.Uint64())
	}
	a, err := market.AddressFromBytes(b[:market.EVMAddressLen])
	if err != nil {
		panic(err)
	}
	return a
}

// worldTrade is a trade, small enough to hold millions.
type worldTrade struct {
	at     uint32 // seconds since the trades begin
	pool   int32
	price  float64 // in USD, at the block's close
	usd    float32
	trader uint32
	sell   bool
}

func (t *worldTrade) time() int64 { return WorldEnd - worldSpan + int64(t.at) }

const traders = 50_000

// tradesOf makes a chain's trades and gives its pools the figures that follow. They are ordered by pool and time.
func (w *World) tradesOf(chain int) []worldTrade {
	var out []worldTrade
	people := NewZipf(traders, 0.8)
	for i := chain; i < len(w.Tokens); i += len(worldChains) {
		t := &w.Tokens[i]
		rng := rand.New(rand.NewPCG(w.size.Seed, 3<<40|uint64(i)))
		left := int(t.trades)
		for j := range int(t.pools) {
			n := left
			if j < int(t.pools)-1 {
				n = left * 4 / 5 // most of it in the deepest
			}
			left -= n
			out = w.poolTrades(out, t.firstPool+int32(j), n, rng, people)
		}
	}
	return out
}

func (w *World) poolTrades(out []worldTrade, pool int32, n int, rng *rand.Rand, people *Zipf) []worldTrade {
	p := &w.pools[pool]
	t := &w.Tokens[p.token]
	from := max(t.born-(WorldEnd-worldSpan), 0)
	times := make([]uint32, n)
	// A third of the trades is spread evenly; the rest comes in bursts, the first when the token is born.
	bursts := make([]int64, 1+n/300)
	bursts[0] = from
	for i := range bursts[1:] {
		bursts[i+1] = from + rng.Int64N(worldSpan-from)
	}
	for i := range times {
		at := from + rng.Int64N(worldSpan-from)
		if rng.IntN(3) > 0 {
			at = min(bursts[rng.IntN(len(bursts))]+int64(rng.ExpFloat64()*7200), worldSpan-1)
		}
		times[i] = uint32(at - at%blockTime)
	}
	slices.Sort(times)
	step := 0.02
	if p.token < int32(len(worldChains)) { // the wrapped coins
		step = 0.0002
	}
	first, walk := p.price, 0.0
	for i, at := range times {
		if i == 0 || at != times[i-1] {
			walk = 0.998*walk + step*rng.NormFloat64() // it comes back, else it would leave all bounds
			p.price = first * math.Exp(walk)
		}
		out = append(out, worldTrade{
			at: at, pool: pool, price: p.price, usd: float32(2 + 60*math.Exp(1.3*rng.NormFloat64())),
			trader: uint32(people.Draw(rng)), sell: rng.IntN(100) < 47,
		})
		p.booked(&out[len(out)-1])
	}
	return out
}

// booked keeps what the pool's row tells of its trades.
func (p *worldPool) booked(t *worldTrade) {
	p.lastTrade = t.time()
	if p.lastTrade <= WorldEnd-86400 || p.day.ReferenceUSD == 0 {
		p.day.ReferenceUSD = t.price
	}
	if p.lastTrade <= WorldEnd-86400 {
		return
	}
	var usd market.Amount
	usd.SetUint64(uint64(nano(t.usd)))
	p.day.VolumeUSD.Add(&p.day.VolumeUSD, &usd)
	if t.sell {
		p.day.Sells++
	} else {
		p.day.Buys++
	}
}

// nano is USD in 1e-9 USD.
func nano(usd float32) int64 { return int64(float64(usd) * 1e9) }
