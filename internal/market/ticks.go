package market

import (
	"encoding/binary"
	"errors"
	"slices"
)

// TickMap is the liquidity of a V3-like pool by tick: at each initialised tick, what is added to the active liquidity
// when the price rises through it. It is sorted.
type TickMap []TickNet

// MaxTicks is the most ticks of a pool that are kept; beyond it half as many are, those nearest to the price (TickMap.Narrow). What a change of
// liquidity writes, and what pricing a pool takes, grows with its ticks, and a stranger pays some 50,000 gas for each.
const MaxTicks = 131_072

// TickNet is one initialised tick.
type TickNet struct {
	Tick int32
	Net  SignedAmount
}

// AddRange is the map with delta more liquidity in [lower, upper).
func (m TickMap) AddRange(lower, upper int32, delta SignedAmount) TickMap {
	out := m.Copy()
	out.ChangeRange(lower, upper, delta)
	return out
}

// Copy is the map with room for another range.
func (m TickMap) Copy() TickMap { return append(make(TickMap, 0, len(m)+2), m...) }

// ChangeRange adds delta to the liquidity in [lower, upper), in place: the map must be the caller's own copy. A stranger can give a pool tens of
// thousands of ticks and then change them many times in a block, and a copy for each change would take milliseconds.
func (m *TickMap) ChangeRange(lower, upper int32, delta SignedAmount) {
	m.change(lower, delta)
	m.change(upper, delta.Negate())
}

func (m *TickMap) change(tick int32, delta SignedAmount) {
	i, found := slices.BinarySearchFunc(*m, tick, func(n TickNet, t int32) int { return int(n.Tick) - int(t) })
	if !found {
		if !delta.IsZero() {
			*m = slices.Insert(*m, i, TickNet{tick, delta})
		}
		return
	}
	if sum := (*m)[i].Net.Add(delta); sum.IsZero() {
		*m = slices.Delete(*m, i, i+1)
	} else {
		(*m)[i].Net = sum
	}
}

const (
	netBytes  = 16
	tickBytes = 4 + 1 + netBytes
)

// Marshal writes each tick as 21 bytes: tick (big-endian int32), sign (1 is negative), 128-bit big-endian magnitude.
func (m TickMap) Marshal() []byte {
	out := make([]byte, 0, len(m)*tickBytes)
	for _, n := range m {
		out = binary.BigEndian.AppendUint32(out, uint32(n.Tick))
		sign := byte(0)
		if n.Net.Neg {
			sign = 1
		}
		out = append(out, sign)
		b := n.Net.Abs.Bytes32()
		out = append(out, b[32-netBytes:]...)
	}
	return out
}

// UnmarshalTickMap reads what Marshal wrote.
func UnmarshalTickMap(b []byte) (TickMap, error) {
	if len(b)%tickBytes != 0 {
		return nil, errors.New("tick map: not a whole number of ticks")
	}
	m := make(TickMap, 0, len(b)/tickBytes)
	for ; len(b) > 0; b = b[tickBytes:] {
		n := TickNet{Tick: int32(binary.BigEndian.Uint32(b))}
		n.Net.Neg = b[4] == 1
		n.Net.Abs.SetBytes(b[5:tickBytes])
		m = append(m, n)
	}
	return m, nil
}
