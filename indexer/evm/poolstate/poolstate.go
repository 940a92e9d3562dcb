// Package poolstate reads what a pool holds that is older than the index: its reserves, or its price, its liquidity and its ticks. It makes the calls
// and reads their answers; which node is asked, and when, its caller decides.
package poolstate

import (
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// stateCalls is the most calls that a pool's state may take, and singleCalls where each answers one question alone: a stranger can give a
	// pool as many ticks as he pays for.
	stateCalls, singleCalls = 30, 300
)

var (
	callSlot0     = hash.SelectorHex("slot0()")
	callLiquidity = hash.SelectorHex("liquidity()")
	callReserves  = hash.SelectorHex("getReserves()")
)

// Call is an eth_call with one question to a contract, or with many, and its answer. Without an address it is a deployless call (package manycalls).
type Call struct {
	To   market.Address
	Data string // in hexadecimal with 0x
	// Questions is how many questions a reader put into the call. It is 0 in a call that asks a pool's own function directly.
	Questions int
	// Answer is what Ask got. OK is false where the contract refused, or answered beyond reason.
	Answer []byte
	OK     bool
}

// LongestAnswer is the most bytes that the answer to a call may have.
const LongestAnswer = 64 << 10

// Ask makes calls and fills in their answers. Its caller sees to it that all calls of one States are of one block. Unsure marks the calls, by their place, that no two of several endpoints answered alike. Gone says that
// no node keeps the block's state: then there are no answers.
type Ask func(list []*Call) (unsure []bool, gone bool, err error)

// States asks pools for what they hold, and has the answers in their order. A V3-like pool's ticks have to add up to its liquidity. If a pool has more ticks than the
// calls carry, the state has those within a window around the price (window.go). Gone is Ask's: then there are no states.
func States(pools []market.PoolCreated, ways manycalls.Ways, ask Ask) (states []chain.PoolState, gone bool, err error) {
	asked := make([]poolAsking, len(pools))
	for i, p := range pools {
		asked[i] = newPoolAsking(p, ways)
	}
	for _, step := range []func(*poolAsking) []*Call{
		(*poolAsking).askHead, (*poolAsking).askWords, (*poolAsking).askWordsAnew, (*poolAsking).askWordsAnew, (*poolAsking).askRest, (*poolAsking).askTicks,
	} {
		if gone, err = askPools(asked, step, ask); err != nil || gone {
			return nil, gone, err
		}
	}
	states = make([]chain.PoolState, len(asked))
	for i := range asked {
		asked[i].finish()
		states[i] = asked[i].state
	}
	return states, false, nil
}

// liquidityReader is how a kind of V3-like pool is asked for its price and for its liquidity by tick. A question is what many of a kind are
// asked with in few calls.
type liquidityReader interface {
	// head asks for the price, the tick and the active liquidity.
	head() []*Call
	readHead(head []*Call, f *market.PoolStateFact) bool
	// word is the question for 256 bits of the ticks that have liquidity, tick the one for what is added to the liquidity at a tick.
	word(n int) string
	tick(t int32) string
	net(answer []byte) (market.SignedAmount, bool)
	// atOnce are how many words, and how many ticks, one call asks for.
	atOnce() (words, ticks int)
	// together makes calls of questions, apart gives the answers to so many questions.
	together(questions []string) []*Call
	apart(calls []*Call, questions int) (answers [][]byte, ok bool)
}

// poolAsking is a pool with the calls for its state.
type poolAsking struct {
	pool   market.PoolCreated
	reader liquidityReader // nil where reserves are all that there is
	ways   manycalls.Ways
	state  chain.PoolState

	head, words, rest, nets []*Call
	// all are the words that the pool's ticks may be in, near those of them that are asked for first.
	all, near wordRange
	// marked are the ticks that the words mark, and ticks those of them that are asked for: those between the window's ends, or all.
	marked, ticks []int32
	window        market.TickWindow
	// single says that each call has one question; failed that nothing can be had.
	single, failed bool
}

// askPools asks all pools what one step has to know.
func askPools(asked []poolAsking, step func(*poolAsking) []*Call, ask Ask) (gone bool, err error) {
	var list []*Call
	var of []int
	for i := range asked {
		if asked[i].failed {
			continue
		}
		for _, c := range step(&asked[i]) {
			list, of = append(list, c), append(of, i)
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	unsure, gone, err := ask(list)
	if err != nil || gone {
		return gone, err
	}
	for k, i := range of {
		asked[i].state.Unsure = asked[i].state.Unsure || unsure[k]
	}
	return false, nil
}

func newPoolAsking(p market.PoolCreated, ways manycalls.Ways) poolAsking {
	a := poolAsking{pool: p, ways: ways}
	a.state.Pool = p.Pool
	switch {
	case !p.Protocol.Concentrated():
		return a
	case p.Protocol == market.UniswapV4:
		a.reader = newV4Reader(p)
	default:
		a.reader = v3Reader{pool: p.Pool, way: ways.First()}
	}
	if a.failed = p.TickSpacing <= 0; !a.failed {
		spacing := int(p.TickSpacing)
		a.all = wordRange{wordOf(market.MinTick / spacing), wordOf(market.MaxTick / spacing)}
	}
	return a
}

// wordOf is the word that has a tick's bit, by the tick in units of the pool's spacing (Uniswap V3's TickBitmap.position).
func wordOf(compressed int) int { return compressed >> 8 }

func (a *poolAsking) askHead() []*Call {
	if a.reader == nil {
		a.head = []*Call{{To: a.pool.Pool, Data: callReserves}}
	} else {
		a.head = a.reader.head()
	}
	return a.head
}

// askWords takes the head in and asks for the words.
func (a *poolAsking) askWords() []*Call {
	if a.reader == nil {
		return nil
	}
	f := &a.state.PoolStateFact
	if a.failed = !a.reader.readHead(a.head, f) || f.SqrtPriceX96.IsZero(); a.failed {
		return nil
	}
	a.askNear()
	return a.words
}

// askWordsAnew asks for the words in the next way where the one before is missing.
func (a *poolAsking) askWordsAnew() []*Call {
	r, ok := a.reader.(v3Reader)
	if !ok || len(a.words) == 0 || !r.way.IsMissing(a.words[0].Answer, !a.words[0].OK, a.words[0].Questions) {
		return nil
	}
	r.way = a.ways.Next(r.way)
	a.reader, a.single = r, r.way == manycalls.Alone
	a.askNear()
	return a.words
}

// finish says what follows from the answers.
func (a *poolAsking) finish() {
	if a.failed {
		return
	}
	f := &a.state.PoolStateFact
	if a.reader == nil {
		reserves := a.head[0].Answer
		if a.state.Known = len(reserves) >= 64; a.state.Known {
			f.Reserve0.SetBytes32(reserves[:32])
			f.Reserve1.SetBytes32(reserves[32:64])
		}
		return
	}
	answers, ok := a.reader.apart(a.nets, len(a.ticks))
	if !ok {
		return
	}
	ticks := make(market.TickMap, len(a.ticks))
	for i, answer := range answers {
		net, ok := a.reader.net(answer)
		if !ok {
			return
		}
		ticks[i] = market.TickNet{Tick: a.ticks[i], Net: net}
	}
	if a.window.IsWhole() {
		a.state.Known = ticks.AddsUp(f.Tick, f.Liquidity)
	} else {
		ticks, a.state.Known = ticks.Close(a.window, f.Tick, f.Liquidity)
	}
	f.Ticks, f.Window = string(ticks.Marshal()), a.window
}
