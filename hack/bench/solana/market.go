package solana

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/base58"
)

// There are so many traders. Nine trades in ten are of one of the active launches, one in activeBase is of any launch.
const (
	traders    = 20_000
	active     = 5_000
	activeBase = 10 // one trade in so many is of any launch
)

// curve is what a launch's curve has.
type curve struct {
	virtualSOL, virtualTokens, realSOL, realTokens, tokens uint64
}

// blockMaker makes blocks of trades.
type blockMaker struct {
	*beginning

	rng      *rand.Rand
	popular  *lab.Zipf
	launches int
	trades   int // of a block
	curves   map[int]curve
	held     map[[2]int]uint64 // what traders have, by launch and trader
	count    int               // of trades, for their names
	forks    int
	// changed are what curves and traders had before each of the newest blocks.
	changed []formerState
}

type formerState struct {
	curves map[int]curve
	held   map[[2]int]uint64
}

func newBlockMaker(b *beginning, launches, trades int) *blockMaker {
	return &blockMaker{
		beginning: b, rng: rand.New(rand.NewPCG(1, 2)), popular: lab.NewZipf(min(active, launches), 1), launches: launches, trades: trades, curves: map[int]curve{},
		held: map[[2]int]uint64{},
	}
}

func (m *blockMaker) curveOf(n int) curve {
	if c, ok := m.curves[n]; ok {
		return c
	}
	return curve{virtualSOL: firstSOL, virtualTokens: firstTokens, realTokens: forSale, tokens: supply}
}

// after makes the block after another, with so many trades.
func (m *blockMaker) after(last *block, trades int) block {
	b := block{slot: last.slot + 1, parentSlot: last.slot, parent: last.hash, time: last.time + int64(last.slot%5+2)/5, txs: [][]byte{m.noise}}
	b.hash = name(fmt.Sprintf("block %d of fork %d", b.slot, m.forks), 0)
	was := formerState{curves: map[int]curve{}, held: map[[2]int]uint64{}}
	var swaps strings.Builder
	for n := range trades {
		if n > 0 {
			swaps.WriteByte(',')
		}
		swaps.WriteString(m.trade(&was))
	}
	if trades > 0 {
		b.txs = append(b.txs, []byte(swaps.String()))
	}
	m.changed = append(m.changed, was)
	const kept = 64
	m.changed = m.changed[max(0, len(m.changed)-kept):]
	return b
}

// trade is a purchase of some launch by somebody.
func (m *blockMaker) trade(was *formerState) string {
	n := m.popular.Draw(m.rng)
	if m.rng.IntN(activeBase) == 0 {
		n = m.rng.IntN(m.launches)
	}
	who := m.rng.IntN(traders)
	c, holding := m.curveOf(n), [2]int{n, who}
	if _, ok := was.curves[n]; !ok {
		was.curves[n] = c
	}
	if _, ok := was.held[holding]; !ok {
		was.held[holding] = m.held[holding]
	}
	m.count++
	x := trade{
		mintKey: key("launch", n), traderKey: key("trader", who), signature: signature("trade", m.count), sol: 1_000_000 + uint64(m.rng.IntN(2_000_000)),
		curveHad: c.tokens, traderHad: m.held[holding],
	}
	if n == 0 {
		x.mintKey = m.mint
		x.curve, x.curveAccount = m.purchase.curve, m.purchase.curveAccount
		x.traderAccount = name("account of the first launch", who)
	}
	x.mint, x.trader = base58.Encode(x.mintKey[:]), base58.Encode(x.traderKey[:])
	x.tokens = min(uint64(float64(c.virtualTokens)/float64(c.virtualSOL+x.sol)*float64(x.sol)), c.realTokens/2)
	c.virtualSOL, c.virtualTokens, c.realSOL, c.realTokens, c.tokens = c.virtualSOL+x.sol, c.virtualTokens-x.tokens, c.realSOL+x.sol, c.realTokens-x.tokens, c.tokens-x.tokens
	x.virtualSOL, x.virtualTokens, x.realSOL, x.realTokens = c.virtualSOL, c.virtualTokens, c.realSOL, c.realTokens
	m.curves[n] = c
	m.held[holding] += x.tokens
	return m.purchase.fill(&x)
}

// takeBack takes the newest blocks back.
func (m *blockMaker) takeBack(depth int) {
	for range depth {
		was := m.changed[len(m.changed)-1]
		m.changed = m.changed[:len(m.changed)-1]
		maps.Copy(m.curves, was.curves)
		maps.Copy(m.held, was.held)
	}
	m.forks++
}
