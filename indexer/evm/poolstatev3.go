package evm

import (
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// wordsAtOnce and ticksAtOnce are how many are asked for in one call, so that its answer stays below maxCallAnswer.
	wordsAtOnce, ticksAtOnce = 300, 120
	// maxLiquidityBits is the length of the liquidity of a pool.
	maxLiquidityBits = 128
)

var (
	callTickBitmap = selector("tickBitmap(int16)")
	callTicks      = selector("ticks(int24)")
	callAggregate3 = selector("aggregate3((address,bool,bytes)[])")
)

// multicall3 answers many calls in one. Its address is the same on almost every chain (github.com/mds1/multicall3).
var multicall3 = market.EVMAddress([32]byte{
	12: 0xca, 0x11, 0xbd, 0xe0, 0x59, 0x77, 0xb3, 0x63, 0x11, 0x67, 0x02, 0x88, 0x62, 0xbe, 0x2a, 0x17, 0x39, 0x76, 0xca, 0x11,
})

// v3Reader reads a pool that is a contract (IUniswapV3PoolState.sol; PancakeSwap's has the same functions). Its questions are calls' data.
type v3Reader struct {
	pool market.Address
	// single says that each question is a call of its own.
	single bool
}

func (r v3Reader) head() []*call {
	return []*call{{to: r.pool, data: callSlot0}, {to: r.pool, data: callLiquidity}}
}

func (r v3Reader) readHead(head []*call, f *market.PoolStateFact) (ok bool) {
	slot0 := head[0].answer
	liquidity, ok := head[1].uint()
	if len(slot0) < 64 || !ok || liquidity.BitLen() > maxLiquidityBits {
		return false
	}
	f.SqrtPriceX96.SetBytes32(slot0[:32])
	f.Liquidity = liquidity
	f.Tick, ok = decode.Int24([32]byte(slot0[32:64]))
	return ok
}

func (r v3Reader) word(n int) string { return callTickBitmap + signedWord(n) }

func (r v3Reader) tick(t int32) string { return callTicks + signedWord(int(t)) }

// net is the second word of a tick's answer.
func (r v3Reader) net(answer []byte) (v market.SignedAmount, ok bool) {
	if len(answer) < 64 {
		return v, false
	}
	return signed128(answer[48:64]), true
}

func (r v3Reader) atOnce() (words, ticks int) {
	if r.single {
		return 1, 1
	}
	return wordsAtOnce, ticksAtOnce
}

func (r v3Reader) together(questions []string) (calls []*call) {
	atOnce, ofTicks := r.atOnce()
	if len(questions) > 0 && strings.HasPrefix(questions[0], callTicks) {
		atOnce = ofTicks
	}
	for ; len(questions) > 0; questions = questions[min(atOnce, len(questions)):] {
		c := &call{to: r.pool, data: questions[0], questions: 1}
		if part := questions[:min(atOnce, len(questions))]; !r.single {
			c = &call{to: multicall3, data: aggregate3(r.pool, part), questions: len(part)}
		}
		calls = append(calls, c)
	}
	return calls
}

func (r v3Reader) apart(calls []*call, questions int) (answers [][]byte, ok bool) {
	for _, c := range calls {
		part := [][]byte{c.answer}
		if !r.single {
			if part, ok = aggregated(c.answer, c.questions); !ok {
				return nil, false
			}
		}
		answers = append(answers, part...)
	}
	return answers, len(answers) == questions
}

// aggregate3 is the data of a call of Multicall3 that makes many calls of one contract. One that fails has no answer and fails no other.
func aggregate3(to market.Address, data []string) string {
	var b strings.Builder
	b.WriteString(callAggregate3)
	number := func(n int) { fmt.Fprintf(&b, "%064x", n) }
	number(32)
	number(len(data))
	const each = 6 * 32 // address, flag, where the data is, its length, the data: 36 bytes, and what fills two words
	for i := range data {
		number(32*len(data) + i*each)
	}
	for _, d := range data {
		d = strings.TrimPrefix(d, "0x")
		b.WriteString(word(to))
		number(1)
		number(3 * 32)
		number(len(d) / 2)
		b.WriteString(d + strings.Repeat("0", 128-len(d)))
	}
	return b.String()
}

// aggregated reads the n answers of an aggregate3; ok is false where a call failed or the answer can't be read.
func aggregated(raw []byte, n int) (answers [][]byte, ok bool) {
	list, count, ok := arrayAt(raw, 0)
	if !ok || count != uint64(n) {
		return nil, false
	}
	for i := range count {
		offset, ok := uintAt(raw, list+32*i)
		if !ok {
			return nil, false
		}
		success, ok0 := uintAt(raw, list+offset)
		where, ok1 := uintAt(raw, list+offset+32)
		length, ok2 := uintAt(raw, list+offset+where)
		begin := list + offset + where + 32
		if !ok0 || !ok1 || !ok2 || success != 1 || begin > uint64(len(raw)) || length > uint64(len(raw))-begin {
			return nil, false
		}
		answers = append(answers, raw[begin:begin+length])
	}
	return answers, true
}

// arrayAt is where the elements of the array begin whose offset is at a place, and how many they are.
func arrayAt(raw []byte, place uint64) (begin, count uint64, ok bool) {
	offset, ok0 := uintAt(raw, place)
	count, ok1 := uintAt(raw, offset)
	return offset + 32, count, ok0 && ok1
}

// uintAt reads the word at a place as a number up to the answer's length.
func uintAt(raw []byte, place uint64) (v uint64, ok bool) {
	if place > uint64(len(raw)) || uint64(len(raw))-place < 32 {
		return 0, false
	}
	x := decode.Uint([32]byte(raw[place : place+32]))
	return x.Uint64(), x.IsUint64() && x.Uint64() <= uint64(len(raw))
}

// signedWord is a number as a word of ABI's int types.
func signedWord(n int) string {
	if n < 0 {
		return strings.Repeat("f", 48) + fmt.Sprintf("%016x", uint64(n))
	}
	return fmt.Sprintf("%064x", n)
}
