package main

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
)

// coin is what Uniswap V4 calls the chain's own coin.
const coin = "0x0000000000000000000000000000000000000000"

// The events, by the Keccak-256 of their signatures.
const (
	pairCreated = "0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9" // PairCreated(address,address,address,uint256)
	sync        = "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1" // Sync(uint112,uint112)
	swapV2      = "0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822"
	poolCreated = "0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118" // PoolCreated(address,address,uint24,int24,address)
	initialized = "0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95" // Initialize(uint160,int24)
	swapV3      = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"
	spacedPool  = "0xab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2" // PoolCreated(address,address,int24,address)
	solidlyPool = "0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e" // PoolCreated(address,address,bool,address,uint256)
	syncSolidly = "0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a" // Sync(uint256,uint256)
	swapSolidly = "0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b"
	swapPancake = "0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83"
	openedV4    = "0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438"
	swapV4      = "0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f"
)

var events = []string{pairCreated, sync, swapV2, poolCreated, initialized, swapV3, swapPancake, openedV4, swapV4, spacedPool, solidlyPool, syncSolidly, swapSolidly}

// Truth is the whole result.
type Truth struct {
	From  uint64           `json:"from"`
	To    uint64           `json:"to"`
	Pools map[string]*Pool `json:"pools"`
}

// Pool is what is known of a pool, by its address or, on Uniswap V4, its id. Amounts are decimal texts, in the tokens' smallest units.
type Pool struct {
	Factory   string `json:"factory"`
	Token0    string `json:"token0"`
	Token1    string `json:"token1"`
	Decimals0 int    `json:"decimals0"`
	Decimals1 int    `json:"decimals1"`
	// Reserve0 and Reserve1 are of pairs, SqrtPrice and Tick of others; empty where no event told them.
	Reserve0  string `json:"reserve0,omitempty"`
	Reserve1  string `json:"reserve1,omitempty"`
	SqrtPrice string `json:"sqrt_price,omitempty"`
	Tick      int64  `json:"tick,omitempty"`
	// Stable is set where the curve is x³y+y³x.
	Stable bool `json:"stable,omitempty"`
	// Price is the last one, in whole token1 for a whole token0.
	Price   float64  `json:"price"`
	Swaps   []Swap   `json:"swaps"`
	Candles []Candle `json:"candles"`

	reserve0, reserve1, sqrtPrice *big.Int
}

// Swap is one: amounts are positive for what the pool was given.
type Swap struct {
	Block   uint64 `json:"block"`
	Index   uint64 `json:"index"`
	Time    uint64 `json:"time"`
	Amount0 string `json:"amount0"`
	Amount1 string `json:"amount1"`

	amount0, amount1 *big.Int
	price            float64 // at the end of its block, in smallest units
}

// Candle is a minute with swaps. Its prices are those at the end of blocks.
type Candle struct {
	Minute uint64  `json:"minute"`
	Open   float64 `json:"open"`
	High   float64 `json:"high"`
	Low    float64 `json:"low"`
	Close  float64 `json:"close"`
	// Volume0 and Volume1 are what changed hands; Given0 counts the swaps in which the pool was given token0.
	Volume0 string `json:"volume0"`
	Volume1 string `json:"volume1"`
	Given0  int    `json:"given0"`
	Given1  int    `json:"given1"`
}

// book takes logs in order.
type book struct {
	factories []string
	pools     map[string]*Pool
	block     uint64 // of the newest log
	// opened are the prices of pools that no factory has announced yet: some log them first.
	opened  map[string]*entry
	swapped []*Pool // in that block
}

func newBook(factories []string) *book {
	return &book{factories: factories, pools: map[string]*Pool{}, opened: map[string]*entry{}}
}

func (b *book) take(e *entry) error {
	if len(e.topics) == 0 {
		return nil
	}
	if e.block != b.block {
		b.endBlock()
		b.block = e.block
	}
	switch e.topics[0] {
	case pairCreated, poolCreated, openedV4, spacedPool, solidlyPool:
		return b.create(e)
	case swapV4:
		if len(e.topics) < 2 {
			return nil
		}
		p := b.pools[strings.ToLower(e.topics[1])]
		if p == nil || p.Factory != e.address {
			return nil
		}
		return b.swapConcentrated(p, e, -1)
	}
	p := b.pools[e.address]
	if p == nil {
		if e.topics[0] == initialized {
			b.opened[e.address] = e
		}
		return nil
	}
	switch e.topics[0] {
	case sync, syncSolidly:
		return e.words(&p.reserve0, &p.reserve1)
	case swapV2, swapSolidly:
		return b.swapPair(p, e)
	case initialized:
		return p.moved(e, 0, 1)
	case swapV3, swapPancake:
		return b.swapConcentrated(p, e, 1)
	}
	return nil
}

// endBlock gives the swaps of a block the price at its end: liquidity that came after them may have moved a pair's.
func (b *book) endBlock() {
	for _, p := range b.swapped {
		for i := len(p.Swaps) - 1; i >= 0 && p.Swaps[i].Block == b.block; i-- {
			p.Swaps[i].price = p.raw()
		}
	}
	b.swapped = b.swapped[:0]
}

// words reads the first words.
func (e *entry) words(into ...**big.Int) (err error) {
	for i := range into {
		if *into[i], err = e.word(i); err != nil {
			return err
		}
	}
	return nil
}

func (b *book) create(e *entry) error {
	if !slices.Contains(b.factories, e.address) {
		return nil
	}
	p := &Pool{Factory: e.address, Token0: e.account(1), Token1: e.account(2)}
	place := 0
	switch e.topics[0] {
	case poolCreated:
		place = 1
	case openedV4:
		p.Token0, p.Token1 = e.account(2), e.account(3)
		b.pools[strings.ToLower(e.topics[1])] = p
		return p.moved(e, 3, 4) // after fee, tick spacing and hooks
	}
	address, err := e.word(place)
	if err != nil {
		return err
	}
	id := fmt.Sprintf("0x%040x", address)
	b.pools[id] = p
	p.Stable = e.topics[0] == solidlyPool && strings.HasSuffix(e.topics[3], "1")
	if first := b.opened[id]; first != nil && e.topics[0] == spacedPool {
		return p.moved(first, 0, 1)
	}
	return nil
}

// moved takes a price and a tick from two words.
func (p *Pool) moved(e *entry, price, tick int) (err error) {
	if p.sqrtPrice, err = e.word(price); err != nil {
		return err
	}
	at, err := e.signed(tick)
	if err != nil {
		return err
	}
	p.Tick = at.Int64()
	return nil
}

func (b *book) swapPair(p *Pool, e *entry) error {
	var in0, in1, out0, out1 *big.Int
	if err := e.words(&in0, &in1, &out0, &out1); err != nil {
		return err
	}
	b.add(p, e, in0.Sub(in0, out0), in1.Sub(in1, out1))
	return nil
}

// swapConcentrated takes a swap of Uniswap V3's or V4's kind; sign is -1 where the amounts are the swapper's, not the pool's.
func (b *book) swapConcentrated(p *Pool, e *entry, sign int64) error {
	amount0, err := e.signed(0)
	if err != nil {
		return err
	}
	amount1, err := e.signed(1)
	if err != nil {
		return err
	}
	if err := p.moved(e, 2, 4); err != nil {
		return err
	}
	b.add(p, e, amount0.Mul(amount0, big.NewInt(sign)), amount1.Mul(amount1, big.NewInt(sign)))
	return nil
}

// add notes a swap, unless nothing was exchanged.
func (b *book) add(p *Pool, e *entry, amount0, amount1 *big.Int) {
	if amount0.Sign()*amount1.Sign() >= 0 {
		return
	}
	p.Swaps = append(p.Swaps, Swap{
		Block: e.block, Index: e.index, Time: e.time, Amount0: amount0.String(), Amount1: amount1.String(),
		amount0: amount0, amount1: amount1,
	})
	b.swapped = append(b.swapped, p)
}

// raw is the price in smallest units, of token1 for token0.
func (p *Pool) raw() float64 {
	if p.sqrtPrice != nil {
		root := float(p.sqrtPrice) / (1 << 96)
		return root * root
	}
	if p.reserve0 == nil || p.reserve0.Sign() == 0 {
		return 0
	}
	return float(p.reserve1) / float(p.reserve0)
}

func float(v *big.Int) float64 {
	f, _ := new(big.Float).SetInt(v).Float64()
	return f
}

// close adds what is asked of the node, and the candles.
func (b *book) close(n *node) (*Truth, error) {
	b.endBlock()
	decimals := map[string]int{}
	of := func(token string) (int, error) {
		if d, ok := decimals[token]; ok {
			return d, nil
		}
		d, err := n.decimals(token)
		decimals[token] = d
		return d, err
	}
	for _, p := range b.pools {
		var err error
		if p.Decimals0, err = of(p.Token0); err == nil {
			p.Decimals1, err = of(p.Token1)
		}
		if err != nil {
			return nil, err
		}
		scale := math.Pow10(p.Decimals0 - p.Decimals1)
		p.Price = p.whole(p.raw() * scale)
		if p.reserve0 != nil {
			p.Reserve0, p.Reserve1 = p.reserve0.String(), p.reserve1.String()
		}
		if p.sqrtPrice != nil {
			p.SqrtPrice = p.sqrtPrice.String()
		}
		p.Candles = p.candles(scale)
	}
	return &Truth{Pools: b.pools}, nil
}

// whole is the price of a whole token0 where a whole token0 stands against ratio whole tokens1: on the curve x³y+y³x that is the slope,
// (3x²y+y³)/(x³+3xy²), with x=1 and y=ratio.
func (p *Pool) whole(ratio float64) float64 {
	if !p.Stable {
		return ratio
	}
	return (3*ratio + ratio*ratio*ratio) / (1 + 3*ratio*ratio)
}

// candles are of the prices after the last swap of each block.
func (p *Pool) candles(scale float64) (out []Candle) {
	swaps := p.Swaps
	var volume0, volume1 *big.Int
	for i := range swaps {
		s := &swaps[i]
		if minute := s.Time / 60 * 60; len(out) == 0 || out[len(out)-1].Minute != minute {
			out = append(out, Candle{Minute: minute, Low: math.Inf(1)})
			volume0, volume1 = new(big.Int), new(big.Int)
		}
		c := &out[len(out)-1]
		volume0.Add(volume0, new(big.Int).Abs(s.amount0))
		volume1.Add(volume1, new(big.Int).Abs(s.amount1))
		c.Volume0, c.Volume1 = volume0.String(), volume1.String()
		if s.amount0.Sign() > 0 {
			c.Given0++
		} else {
			c.Given1++
		}
		if i+1 < len(swaps) && swaps[i+1].Block == s.Block {
			continue
		}
		price := p.whole(s.price * scale)
		if c.Open == 0 {
			c.Open = price
		}
		c.High, c.Low, c.Close = max(c.High, price), min(c.Low, price), price
	}
	return out
}
