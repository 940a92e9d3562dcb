package board

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// The board's world is launches of the last month on nine chains, all of one seed, of which a few trade and most have come to
// rest. The writers of arrivals.go go on from where it ends.

// boardChain is a chain of the board's world. Everything on it is quoted in its wrapped coin.
type boardChain struct {
	lab.WorldChain

	blockMS int64
	// share is how much of the launches and of the trades is on it, in percent.
	share int
}

// boardChains have the block times of config/samples. Solana is stood in for by an EVM chain with its block time: a board's rows are the same for both families.
var boardChains = []boardChain{
	newBoardChain("base", "ETH", 2900, 8453, 2000, 20),
	newBoardChain("bsc", "BNB", 610, 56, 750, 25),
	newBoardChain("arbitrum", "ETH", 2900, 42161, 250, 5),
	newBoardChain("polygon", "POL", 0.4, 137, 2000, 5),
	newBoardChain("robinhood", "ETH", 2900, 4663, 100, 15),
	newBoardChain("ethereum", "ETH", 2900, 1, 12_000, 5),
	newBoardChain("monad", "MON", 0.03, 143, 400, 5),
	newBoardChain("hyperevm", "HYPE", 32, 999, 1000, 5),
	newBoardChain("ninth", "SOL", 140, 9999, 400, 15),
}

func newBoardChain(id, coin string, usd float64, evmChainID uint64, blockMS int64, share int) boardChain {
	of := func(kind int) market.Address { return lab.AddressOf(evmChainID, kind, 0) }
	return boardChain{
		WorldChain: lab.WorldChain{
			ID: id, Coin: coin, Native: of(11), NativeUSD: usd, USD: of(12), USDDigits: 6, V2: of(13), V3: of(14), EVMChainID: evmChainID,
		},
		blockMS: blockMS, share: share,
	}
}

// genesisMS is when the chains began, in unix milliseconds.
var genesisMS = (lab.WorldEnd - lab.WorldAge) * 1000

// blockAt is the number of the newest block at a time in unix milliseconds.
func (c *boardChain) blockAt(ms int64) uint64 { return uint64((ms - genesisMS) / c.blockMS) }

// timeOf is a block's time in unix seconds.
func (c *boardChain) timeOf(number uint64) int64 { return (genesisMS + int64(number)*c.blockMS) / 1000 }

func (c *boardChain) header(number uint64) market.Header {
	hash := func(n uint64) (h market.Hash) {
		h[0] = 1
		binary.BigEndian.PutUint64(h[24:], n)
		return h
	}
	return market.Header{Number: number, Hash: hash(number), Parent: hash(number - 1), Time: c.timeOf(number)}
}

// boardVenue is a venue with how many of ten of a chain's launches are its, where others are.
type boardVenue struct {
	id, filter string
	ownership  catalog.Ownership
	protocol   chainconfig.VenueProtocol
	rules      market.CurveRules
	share      int
	chains     []string // nil is all
}

var boardVenues = []boardVenue{
	{
		id: "boardwalk-curve", filter: catalog.FilterOurs, ownership: catalog.Own, protocol: chainconfig.BoardwalkCurve, share: 2,
		rules: market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold},
	},
	{
		id: "clanker", filter: "clanker", ownership: catalog.Further, protocol: chainconfig.ClankerV4, share: 2,
		chains: []string{"base", "bsc", "arbitrum", "polygon", "robinhood", "ethereum", "hyperevm"},
	},
	{
		id: "four-meme", filter: "four-meme", ownership: catalog.Outside, protocol: chainconfig.FourMemeV2, share: 4, chains: []string{"bsc"},
		rules: market.CurveRules{Pricing: market.PricePosted, Basis: market.TokensSold, FillsUp: true},
	},
	{
		id: "flap", filter: "flap", ownership: catalog.Outside, protocol: chainconfig.Flap, share: 2, chains: []string{"bsc", "robinhood"},
		rules: market.CurveRules{Pricing: market.PriceExecuted, Basis: market.TokensSold},
	},
	{
		id: "pons", filter: "pons", ownership: catalog.Outside, protocol: chainconfig.PonsV2, share: 4, chains: []string{"robinhood"},
		rules: market.CurveRules{Pricing: market.PriceExecuted, Basis: market.FundsRaised, FillsUp: true},
	},
	{
		id: "nad-fun", filter: "nad-fun", ownership: catalog.Outside, protocol: chainconfig.NadFun, share: 8, chains: []string{"monad"},
		rules: market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold},
	},
	{
		id: "ninth-fun", filter: "ninth-fun", ownership: catalog.Outside, protocol: chainconfig.NadFun, share: 8, chains: []string{"ninth"},
		rules: market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold},
	},
}

// on says whether the venue is on a chain.
func (v *boardVenue) on(chain string) bool {
	return v.chains == nil || slices.Contains(v.chains, chain)
}

// contract is the venue's on a chain.
func (v *boardVenue) contract(c *boardChain) market.Address {
	return lab.AddressOf(c.EVMChainID, 15, slices.IndexFunc(boardVenues, func(o boardVenue) bool { return o.id == v.id }))
}

// Name names the board's world.
const Name = "board"

// Catalog declares the board's chains and venues.
func Catalog() *catalog.Catalog {
	c := &catalog.Catalog{}
	for i := range boardChains {
		c.Chains = append(c.Chains, boardChains[i].Declared())
	}
	for i := range boardVenues {
		v := &boardVenues[i]
		declared := catalog.Venue{ID: v.id, Label: v.id, Ownership: v.ownership, Protocol: v.protocol, Filter: v.filter}
		if v.ownership != catalog.Own {
			declared.Badge = v.id
		}
		for j := range boardChains {
			if id := boardChains[j].ID; v.on(id) {
				declared.Chains = append(declared.Chains, catalog.VenueChain{
					Chain: id, Open: true, Default: v.ownership == catalog.Own, TradesInApp: v.ownership != catalog.Outside,
					LinkTemplate: "https://" + v.id + ".example/token/{mint}",
				})
			}
		}
		c.Venues = append(c.Venues, declared)
	}
	return c
}

const (
	// boardAge is how old the oldest launch is, in seconds: young enough that the board keeps them all.
	boardAge = 29 * 86400
	// boardPast is how far the seeded trades go back, in seconds: as far as a score looks.
	boardPast = traction.Window - 60
	// boardActive is one in how many launches trades by Zipf's law; one in a hundred trades is of the others.
	boardActive, boardStray = 5, 100
	// boardWallets is how many wallets trade on a chain.
	boardWallets = 100_000
)

// boardWorld has the launches of each chain, those that trade first, by how much.
type boardWorld struct {
	size   lab.MarketSize
	chains []boardPart
	people *lab.Zipf
}

// boardPart is one chain's.
type boardPart struct {
	*boardChain

	index    int
	launches []*boardLaunch
	active   *lab.Zipf // over the first of them
	venues   []int     // each as often as its share says
	trades   int
}

// newBoardWorld makes a world without its trades, which tradesOf makes.
func newBoardWorld(size lab.MarketSize) *boardWorld {
	w := &boardWorld{size: size, people: lab.NewZipf(boardWallets, 0.8)}
	popular := lab.NewZipf(max(size.Launches/4, 1), 0.9)
	for i := range boardChains {
		c := &boardChains[i]
		p := boardPart{boardChain: c, index: i, trades: size.Trades * c.share / 100}
		for j := range boardVenues {
			if v := &boardVenues[j]; v.on(c.ID) {
				p.venues = append(p.venues, slices.Repeat([]int{j}, v.share)...)
			}
		}
		n := size.Launches * c.share / 100
		p.active = lab.NewZipf(max(n/boardActive, 1), 1)
		rng := rand.New(rand.NewPCG(size.Seed, 31<<40|uint64(i)))
		for rank := range n {
			l := p.newLaunch(size.Seed, rank, rng, popular)
			l.born = p.timeOf(p.blockAt((lab.WorldEnd - bornAgo(rank < p.active.Len(), rng)) * 1000))
			p.settle(l, rank, rng)
			p.launches = append(p.launches, l)
		}
		w.chains = append(w.chains, p)
	}
	return w
}

// bornAgo is a launch's age in seconds: half of what trades was launched lately.
func bornAgo(active bool, rng *rand.Rand) int64 {
	if active && rng.IntN(2) == 0 {
		return min(120+int64(rng.ExpFloat64()*6*3600), boardAge)
	}
	return 120 + rng.Int64N(boardAge-120)
}

// newLaunch makes the rank-th launch of the chain, fresh.
func (p *boardPart) newLaunch(seed uint64, rank int, rng *rand.Rand, popular *lab.Zipf) *boardLaunch {
	id := p.index<<24 | rank
	l := &boardLaunch{
		id: id, part: p.boardChain, mint: lab.AddressOf(seed, 21, id), own: lab.AddressOf(seed, 22, id), venue: &boardVenues[p.venues[rng.IntN(len(p.venues))]],
		creator: lab.AddressOf(seed, 23, rng.IntN(20_000)), state: market.LaunchOnCurve, holders: 1, logIndex: uint64(rank % 4096),
	}
	l.name, l.symbol = lab.NameOf(seed, popular.Draw(rng))
	l.target = (8_000 + 16_000*rng.Float64()) / p.NativeUSD
	if !l.venue.protocol.HasCurve() {
		l.state = market.LaunchLive
	}
	l.begin()
	return l
}

// settle brings a launch to where it is when the world ends: the most traded ones have their curve behind them, of the rest
// some have, and of those at rest hardly any.
func (p *boardPart) settle(l *boardLaunch, rank int, rng *rand.Rand) {
	active := rank < p.active.Len()
	top := rank < p.active.Len()/20
	chance, power := 0.02, 8.0
	if active {
		chance, power = 0.2, 2
	}
	switch u := rng.Float64(); {
	case l.state == market.LaunchLive:
	case top || u < chance:
		l.state = market.LaunchGraduated
	case u < chance+0.005:
		l.state = market.LaunchCompleted
	}
	l.holders += int64(rng.ExpFloat64() * 20)
	switch state := l.state; state {
	case market.LaunchOnCurve:
		if !active && rng.IntN(3) == 0 {
			l.holders = 1
			return // nobody ever bought
		}
		l.sellTo(0.999 * math.Pow(rng.Float64(), power))
	case market.LaunchCompleted, market.LaunchGraduated:
		l.complete(l.born + (lab.WorldEnd-l.born)/3)
		l.holders += int64(rng.ExpFloat64() * 400)
		if state == market.LaunchGraduated {
			l.graduate(l.completedAt + 20)
		}
	case market.LaunchLive:
	}
	l.traded = true
	l.lastTrade = min(l.born+int64(rng.ExpFloat64()*86400), lab.WorldEnd-boardPast)
	l.lastTrade = max(l.lastTrade, l.born)
	if active && !l.onCurve() {
		// The liquidity goes with the activity, roughly.
		l.deepen(1 + 40*math.Pow(float64(rank+1), -0.4)*math.Exp(rng.NormFloat64()))
		l.holders += int64(3000 * math.Pow(float64(rank+1), -0.5))
	}
}

// boardTrade is a seeded trade.
type boardTrade struct {
	ms     int64 // unix milliseconds
	launch *boardLaunch
	usd    float64
	trader int32
	sell   bool
}

// tradesOf makes a chain's trades, oldest first, and gives its launches the figures that follow. They move no price.
func (w *boardWorld) tradesOf(chain int) []boardTrade {
	p := &w.chains[chain]
	rng := rand.New(rand.NewPCG(w.size.Seed, 32<<40|uint64(chain)))
	out := make([]boardTrade, 0, p.trades)
	for range p.trades {
		l := p.draw(rng)
		if !l.traded || l.state == market.LaunchCompleted {
			continue
		}
		at := lab.WorldEnd*1000 - rng.Int64N(min(boardPast, lab.WorldEnd-l.born)*1000)
		out = append(out, boardTrade{at, l, tradeUSD(rng), int32(w.people.Draw(rng)), rng.IntN(100) < 47})
	}
	slices.SortStableFunc(out, func(a, b boardTrade) int { return int(a.ms - b.ms) })
	for i := range out {
		t := &out[i]
		t.launch.lastTrade = max(t.launch.lastTrade, p.timeOf(p.blockAt(t.ms)))
		// As if the rest of the day had been like its last hours.
		const times = float64(86400) / boardPast
		t.launch.book(t.usd*times, t.sell, times)
	}
	return out
}

// draw picks the launch that is traded next.
func (p *boardPart) draw(rng *rand.Rand) *boardLaunch {
	n := p.active.Len()
	if rng.IntN(boardStray) > 0 || n >= len(p.launches) {
		return p.launches[p.active.Draw(rng)]
	}
	return p.launches[n+rng.IntN(len(p.launches)-n)]
}

// tradeUSD is what a trade is worth.
func tradeUSD(rng *rand.Rand) float64 { return min(2+40*math.Exp(1.3*rng.NormFloat64()), 5000) }
