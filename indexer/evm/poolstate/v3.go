package poolstate

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// wordsAtOnce and ticksAtOnce are how many are asked for in one call, so that its answer stays below LongestAnswer.
	wordsAtOnce, ticksAtOnce = 300, 120
	// wordLength and tickLength are how many bytes of an answer are needed, questionLength how many a question has.
	wordLength, tickLength, questionLength = 32, 64, 4 + 32
	// maxLiquidityBits is the length of the liquidity of a pool.
	maxLiquidityBits = 128
)

var (
	callTickBitmap = hash.SelectorHex("tickBitmap(int16)")
	callTicks      = hash.SelectorHex("ticks(int24)")
)

// Multicall3Address is of the contract that answers many calls in one. It is the same on almost every chain (github.com/mds1/multicall3).
var Multicall3Address = market.EVMAddress([32]byte{
	12: 0xca, 0x11, 0xbd, 0xe0, 0x59, 0x77, 0xb3, 0x63, 0x11, 0x67, 0x02, 0x88, 0x62, 0xbe, 0x2a, 0x17, 0x39, 0x76, 0xca, 0x11,
})

// LargestProbe gives a probe that is as large as the largest call for a pool's state, and the number of bytes that it wants of each answer.
func LargestProbe() (probe []manycalls.Call, most int) {
	return manycalls.Probe(wordsAtOnce, questionLength), wordLength
}

// v3Reader reads a pool that is a contract (IUniswapV3PoolState.sol; PancakeSwap's has the same functions). Its questions are calls' data.
type v3Reader struct {
	pool market.Address
	way  manycalls.Way
}

func (r v3Reader) head() []*Call {
	return []*Call{{To: r.pool, Data: callSlot0}, {To: r.pool, Data: callLiquidity}}
}

func (r v3Reader) readHead(head []*Call, f *market.PoolStateFact) (ok bool) {
	slot0, active := head[0].Answer, head[1].Answer
	if len(slot0) < 64 || !head[1].OK || len(active) < wordLength {
		return false
	}
	liquidity := decode.Uint([wordLength]byte(active))
	if liquidity.BitLen() > maxLiquidityBits {
		return false
	}
	f.SqrtPriceX96.SetBytes32(slot0[:32])
	f.Liquidity = liquidity
	f.Tick, ok = decode.Int24([32]byte(slot0[32:64]))
	return ok
}

func (r v3Reader) word(n int) string {
	return callTickBitmap + hex.EncodeToString(decode.SignedWord(n))
}

func (r v3Reader) tick(t int32) string {
	return callTicks + hex.EncodeToString(decode.SignedWord(int(t)))
}

// net is the second word of a tick's answer.
func (r v3Reader) net(answer []byte) (v market.SignedAmount, ok bool) {
	if len(answer) < tickLength {
		return v, false
	}
	return decode.Int128(answer[48:tickLength]), true
}

func (r v3Reader) atOnce() (words, ticks int) {
	if r.way == manycalls.Alone {
		return 1, 1
	}
	return wordsAtOnce, ticksAtOnce
}

func (r v3Reader) together(questions []string) (calls []*Call) {
	atOnce, ofTicks := r.atOnce()
	most := wordLength
	if len(questions) > 0 && strings.HasPrefix(questions[0], callTicks) {
		atOnce, most = ofTicks, tickLength
	}
	for part := range slices.Chunk(questions, atOnce) {
		asked := make([]manycalls.Call, len(part))
		for i, q := range part {
			copy(asked[i].To[:], r.pool.Bytes())
			asked[i].Data, _ = hex.DecodeString(strings.TrimPrefix(q, "0x")) // made by word or tick
		}
		to := map[manycalls.Way]market.Address{manycalls.ByMulticall3: Multicall3Address, manycalls.Alone: r.pool}[r.way]
		calls = append(calls, &Call{To: to, Data: r.way.Data(asked, most), Questions: len(part)})
	}
	return calls
}

// apart is false where a question has no answer.
func (r v3Reader) apart(calls []*Call, questions int) (answers [][]byte, ok bool) {
	for _, c := range calls {
		part, ok := r.way.Answers(c.Answer, c.Questions)
		if !ok || slices.ContainsFunc(part, func(a manycalls.Answer) bool { return !a.OK }) {
			return nil, false
		}
		for _, a := range part {
			answers = append(answers, a.Data)
		}
	}
	return answers, len(answers) == questions
}
