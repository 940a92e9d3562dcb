package solana

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// There are so many traders. Nine trades in ten are of one of the active launches, one in activeBase is of any launch.
const (
	traders    = 20_000
	active     = 5_000
	activeBase = 10 // one trade in so many is of any launch
)

// swap is a kind of trade.
type swap struct {
	*form

	sells bool
}

// swaps are the kinds of a block's trades, again and again: 30 times in a block of 450. A sale sells half of what its seller has. The seller is who made the oldest purchase
// of the form after which nobody has sold, so that each sale comes after a purchase.
var swaps = []swap{
	{pumpFun, false},
	{pumpSwap, false},
	{pumpFun, true},
	{ammV4, false},
	{pumpFun, false},
	{pumpSwap, true},
	{cpmm, false},
	{pumpFun, true},
	{ammV4, true},
	{pumpFun, false},
	{pumpSwap, false},
	{cpmm, true},
	{pumpFun, false},
	{pumpSwap, true},
	{pumpFun, true},
}

// pairID is a pool by its form and its place among those of that form, or a launch by its number.
type pairID struct {
	*form

	n int
}

// holding is what a trader has of a pair.
type holding struct {
	pairID

	trader int
}

// blockMaker makes blocks of trades.
type blockMaker struct {
	*beginning
	formerState

	rng      *rand.Rand
	popular  *lab.Zipf
	launches int
	trades   int // of a block
	count    int // of trades, for their names
	forks    int
	// changed are what pairs and traders had before each of the newest blocks.
	changed []formerState
}

// formerState is what pairs and traders have, of those that have traded.
type formerState struct {
	pairs map[pairID]reserves
	held  map[holding]uint64
	// unsold are the newest purchases after which nobody has sold.
	unsold map[*form][]holding
}

func newBlockMaker(b *beginning, launches, trades int) *blockMaker {
	return &blockMaker{
		beginning: b, rng: rand.New(rand.NewPCG(1, 2)), popular: lab.NewZipf(min(active, launches), 1), launches: launches, trades: trades,
		formerState: formerState{pairs: map[pairID]reserves{}, held: map[holding]uint64{}, unsold: map[*form][]holding{}},
	}
}

// pairOf is a pool, or the curve of a launch. The first launch alone was made by the local Solana.
func (m *blockMaker) pairOf(id pairID) *pair {
	switch {
	case id.form != pumpFun:
		return m.pools[id.form][id.n]
	case id.n == 0:
		return m.launch
	}
	token := svm.Key(key("launch", id.n))
	return curveOf(token, curveKey(token))
}

// after makes the block after another, with so many trades.
func (m *blockMaker) after(last *block, trades int) block {
	b := block{slot: last.slot + 1, parentSlot: last.slot, parent: last.hash, time: last.time + int64(last.slot%5+2)/5, txs: [][]byte{m.noise}}
	b.hash = name(fmt.Sprintf("block %d of fork %d", b.slot, m.forks), 0)
	was := formerState{pairs: map[pairID]reserves{}, held: map[holding]uint64{}, unsold: maps.Clone(m.unsold)}
	var text strings.Builder
	for n := range trades {
		if n > 0 {
			text.WriteByte(',')
		}
		text.WriteString(m.trade(swaps[n%len(swaps)], &was))
	}
	if trades > 0 {
		b.txs = append(b.txs, []byte(text.String()))
	}
	m.changed = append(m.changed, was)
	const kept = 64
	m.changed = m.changed[max(0, len(m.changed)-kept):]
	return b
}

// draw draws who trades where.
func (m *blockMaker) draw(s swap) holding {
	if s.sells {
		h := m.unsold[s.form][0]
		m.unsold[s.form] = m.unsold[s.form][1:]
		return h
	}
	h := holding{pairID{s.form, 0}, m.rng.IntN(traders)}
	switch pools := m.pools[s.form]; {
	case pools != nil:
		h.n = m.rng.IntN(len(pools))
	case m.rng.IntN(activeBase) == 0:
		h.n = m.rng.IntN(m.launches)
	default:
		h.n = m.popular.Draw(m.rng)
	}
	const most = 1000
	m.unsold[s.form] = append(m.unsold[s.form], h)
	m.unsold[s.form] = m.unsold[s.form][max(0, len(m.unsold[s.form])-most):]
	return h
}

// trade is a purchase or a sale by somebody.
func (m *blockMaker) trade(s swap, was *formerState) string {
	h := m.draw(s)
	p := m.pairOf(h.pairID)
	r, ok := m.pairs[h.pairID]
	if !ok {
		r = p.reserves
	}
	if _, ok := was.pairs[h.pairID]; !ok {
		was.pairs[h.pairID] = r
	}
	if _, ok := was.held[h]; !ok {
		was.held[h] = m.held[h]
	}
	m.count++
	x := trade{pair: p, sells: s.sells, trader: key("trader", h.trader), signature: signature("trade", m.count), before: r, traderHad: m.held[h]}
	if s.sells {
		x.tokens = x.traderHad / 2
		x.sol = r.sell(x.tokens, p.feeBPS)
		x.after, x.traderHas = r.plus(-x.sol, x.tokens), x.traderHad-x.tokens
	} else {
		x.sol = 1_000_000 + uint64(m.rng.IntN(2_000_000))
		x.tokens = r.buy(x.sol, p.feeBPS)
		x.after, x.traderHas = r.plus(x.sol, -x.tokens), x.traderHad+x.tokens
	}
	m.pairs[h.pairID], m.held[h] = x.after, x.traderHas
	return m.templates[s].fill(&x)
}

// buy is how many tokens are bought for an amount of SOL. The number is never more than half of those that are for sale.
func (r *reserves) buy(sol, feeBPS uint64) uint64 {
	without := float64(sol - sol*feeBPS/10_000)
	return min(uint64(float64(r.virtualTokens)/(float64(r.virtualSOL)+without)*without), (r.tokens-r.notForSale)/2)
}

// sell is how much SOL an amount of tokens is sold for.
func (r *reserves) sell(tokens, feeBPS uint64) uint64 {
	sol := uint64(float64(r.virtualSOL) / float64(r.virtualTokens+tokens) * float64(tokens))
	return min(sol-sol*feeBPS/10_000, r.sol)
}

// plus are the reserves after both sides changed, by numbers of 64 bits that wrap around where they are below zero.
func (r reserves) plus(sol, tokens uint64) reserves {
	r.virtualSOL, r.virtualTokens, r.sol, r.tokens = r.virtualSOL+sol, r.virtualTokens+tokens, r.sol+sol, r.tokens+tokens
	return r
}

// takeBack takes the newest blocks back.
func (m *blockMaker) takeBack(depth int) {
	for range depth {
		was := m.changed[len(m.changed)-1]
		m.changed = m.changed[:len(m.changed)-1]
		maps.Copy(m.pairs, was.pairs)
		maps.Copy(m.held, was.held)
		m.unsold = was.unsold
	}
	m.forks++
}
