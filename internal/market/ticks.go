package market

import (
	"encoding/binary"
	"errors"
	"slices"
)

// TickMap is the liquidity of a V3-like pool by tick: at each initialised tick, what is added to the active liquidity
// when the price rises through it. It is sorted and never changed in place.
type TickMap []TickNet

// TickNet is one initialised tick.
type TickNet struct {
	Tick int32
	Net  SignedAmount
}

// AddRange is the map with delta more liquidity in [lower, upper).
func (m TickMap) AddRange(lower, upper int32, delta SignedAmount) TickMap {
	return m.add(lower, delta).add(upper, delta.Negate())
}

func (m TickMap) add(tick int32, delta SignedAmount) TickMap {
	i, found := slices.BinarySearchFunc(m, tick, func(n TickNet, t int32) int { return int(n.Tick) - int(t) })
	out := make(TickMap, 0, len(m)+1)
	out = append(out, m[:i]...)
	if !found {
		if delta.IsZero() {
			return m
		}
		out = append(out, TickNet{tick, delta})
		return append(out, m[i:]...)
	}
	if sum := m[i].Net.Add(delta); !sum.IsZero() {
		out = append(out, TickNet{tick, sum})
	}
	return append(out, m[i+1:]...)
}

const tickBytes = 4 + 1 + 16

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
		out = append(out, b[16:]...)
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
