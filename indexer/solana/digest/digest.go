// Package digest makes hashes of what blocks mean, by which the answers of endpoints are compared.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// form is the version of digests. A change of Of, or of what a decoder makes of a block, raises it.
const form = 7

// DecodedFor is the first bytes of a hash of the programs and accounts that blocks are decoded for, and of the form of digests.
func DecodedFor(c *chainconfig.Chain) (sum [8]byte) {
	text := fmt.Appendf(nil, "%d", form)
	for _, x := range c.Exchanges {
		text = fmt.Appendf(text, " %s %s", x.Protocol, x.Factory)
	}
	for _, v := range c.Venues {
		text = fmt.Appendf(text, " %s %s %v", v.ID, v.Protocol, v.Contracts)
	}
	if f := c.PlatformFee; f != nil {
		text = fmt.Appendf(text, " %v", f.Recipients)
	}
	hash := sha256.Sum256(text)
	copy(sum[:], hash[:])
	return sum
}

// Block hashes a block's events and facts together with the block's hash. The block's time is left out, since nodes may tell different times.
func Block(b *market.Block) (sum [32]byte) {
	h := sha256.New()
	_, _ = h.Write(b.Hash[:])
	var buf []byte
	for i := range b.Txs {
		tx := &b.Txs[i]
		buf = binary.BigEndian.AppendUint64(append(tx.ID.AppendTo(buf[:0]), tx.Payer.Bytes()...), tx.Fee)
		for _, l := range tx.Logs {
			buf = binary.BigEndian.AppendUint64(buf, l.Index)
			if c, ok := l.Event.(market.BalanceChange); ok { // nearly all are
				amount, before := c.Change.Abs.Bytes32(), c.Before.Bytes32()
				buf = append(append(buf, c.Token.Bytes()...), c.Owner.Bytes()...)
				buf = append(append(buf, amount[:]...), before[:]...)
				if c.Change.Neg {
					buf = append(buf, '-')
				}
				continue
			}
			buf = fmt.Appendf(buf, "%T%+v", l.Event, l.Event)
		}
		_, _ = h.Write(buf)
	}
	for _, f := range b.Facts {
		_, _ = fmt.Fprintf(h, "%T%+v", f, f)
	}
	h.Sum(sum[:0])
	return sum
}
