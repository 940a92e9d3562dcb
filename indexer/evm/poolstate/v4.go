package poolstate

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// slotsAtOnce is how many of the manager's storage slots are read in one call.
	slotsAtOnce = 1_000
	// v4Pools is the manager's slot of its pools, the others are where a pool has its parts (StateLibrary.sol).
	v4Pools, v4Liquidity, v4Ticks, v4Bitmap = 6, 3, 4, 5
)

var callExtsloads = hash.SelectorHex("extsload(bytes32[])")

// v4Reader reads a pool out of the storage of the PoolManager (Extsload.sol). Its questions are slots.
type v4Reader struct {
	manager market.Address
	slot    [32]byte // of the pool's state
}

func newV4Reader(p market.PoolCreated) v4Reader {
	return v4Reader{p.Factory, hash.Keccak256(p.Pool.Bytes(), decode.NumberWord(v4Pools))}
}

// part is the slot of a part of the pool's state.
func (r v4Reader) part(n uint64) [32]byte {
	slot := decode.Uint(r.slot)
	slot.AddUint64(&slot, n)
	return slot.Bytes32()
}

// entry is the slot of an entry of one of the pool's mappings from signed numbers.
func (r v4Reader) entry(mapping uint64, key int) string {
	at := r.part(mapping)
	return slotText(hash.Keccak256(decode.SignedWord(key), at[:]))
}

func slotText(slot [32]byte) string { return hex.EncodeToString(slot[:]) }

func (r v4Reader) head() []*Call {
	return r.together([]string{slotText(r.slot), slotText(r.part(v4Liquidity))})
}

// readHead reads slot0, which has the price in its lowest 160 bits and the tick in the 24 above them (Slot0.sol), and the liquidity.
func (r v4Reader) readHead(head []*Call, f *market.PoolStateFact) (ok bool) {
	words, ok := r.apart(head, 2)
	if !ok {
		return false
	}
	var sqrtPrice, tick [32]byte
	copy(sqrtPrice[12:], words[0][12:])
	if words[0][9]&0x80 != 0 {
		for i := range tick {
			tick[i] = 0xff
		}
	}
	copy(tick[29:], words[0][9:12])
	f.SqrtPriceX96, f.Liquidity = decode.Uint(sqrtPrice), decode.Uint([32]byte(words[1]))
	f.Tick, ok = decode.Int24(tick)
	return ok && f.Liquidity.BitLen() <= maxLiquidityBits
}

func (r v4Reader) word(n int) string { return r.entry(v4Bitmap, n) }

func (r v4Reader) tick(t int32) string { return r.entry(v4Ticks, int(t)) }

// net is the upper half of a tick's first word (Pool.TickInfo).
func (r v4Reader) net(answer []byte) (market.SignedAmount, bool) {
	return decode.Int128(answer[:16]), true
}

func (r v4Reader) atOnce() (words, ticks int) { return slotsAtOnce, slotsAtOnce }

func (r v4Reader) together(questions []string) (calls []*Call) {
	for ; len(questions) > 0; questions = questions[min(slotsAtOnce, len(questions)):] {
		part := questions[:min(slotsAtOnce, len(questions))]
		data := callExtsloads + fmt.Sprintf("%064x%064x", 32, len(part)) + strings.Join(part, "")
		calls = append(calls, &Call{To: r.manager, Data: data, Questions: len(part)})
	}
	return calls
}

func (r v4Reader) apart(calls []*Call, questions int) (answers [][]byte, ok bool) {
	for _, c := range calls {
		begin, count, ok := manycalls.ArrayAt(c.Answer, 0)
		if !ok || count != uint64(c.Questions) || begin+32*count > uint64(len(c.Answer)) {
			return nil, false
		}
		for i := range count {
			answers = append(answers, c.Answer[begin+32*i:begin+32*i+32])
		}
	}
	return answers, len(answers) == questions
}
