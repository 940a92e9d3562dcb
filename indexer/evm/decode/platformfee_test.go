package decode

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// TestFeePaid: with any number of fields indexed, from the first on; of a declared router alone.
func TestFeePaid(t *testing.T) {
	t.Parallel()
	const wrapped, router = "0x4200000000000000000000000000000000000006", "0x2222222222222222222222222222222222222222"
	d, err := New(&chainconfig.Chain{
		Native:      chainconfig.Native{Wrapped: markettest.Address(wrapped)},
		PlatformFee: &chainconfig.PlatformFee{Recipients: markettest.Addresses(wrapped), Routers: markettest.Addresses(router), Bps: 80},
	})
	if err != nil {
		t.Fatal(err)
	}
	word := func(last byte) (w [32]byte) { w[31] = last; return w }
	fields := [][32]byte{word(1), word(2), word(0), word(99)}
	log := func(indexed int) *Log {
		l := &Log{NumTopics: 1 + indexed, Topics: [4][32]byte{TopicFeePaid}}
		copy(l.Address[:], markettest.Address(router).Bytes())
		copy(l.Topics[1:], fields[:indexed])
		for _, w := range fields[indexed:] {
			l.Data = append(l.Data, w[:]...)
		}
		return l
	}
	want := market.FeePaid{Router: markettest.Address(router), Payer: market.EVMAddress(word(1)), Recipient: market.EVMAddress(word(2)), Asset: market.Native}
	want.Amount.SetUint64(99)
	for indexed := range 4 {
		l := log(indexed)
		if got := d.Decode(l); got != want {
			t.Errorf("%d indexed: %+v", indexed, got)
		}
		l.Data = append(l.Data, 0)
		if got := d.Decode(l); got != nil {
			t.Errorf("%d indexed and a byte too many: %+v", indexed, got)
		}
		l.Data = l.Data[:len(l.Data)-2]
		if got := d.Decode(l); got != nil {
			t.Errorf("%d indexed and a byte too few: %+v", indexed, got)
		}
		l = log(indexed)
		l.Address[0]++
		if got := d.Decode(l); got != nil {
			t.Errorf("of another contract: %+v", got)
		}
	}
}
