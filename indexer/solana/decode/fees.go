package decode

import (
	"bytes"
	"math/bits"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The platform's fee may be paid in SOL or in a token. Tokens that a recipient gets are among the token balances. SOL isn't: the node tells the lamports of all
// accounts before and after a transaction, and the difference is what the recipient got.

// recipient is an account that the platform's fee goes to, by both forms of its key.
type recipient struct {
	key       market.Address
	text, raw []byte
}

func (d *Decoder) recipientsOf(c *chainconfig.Chain) {
	if c.PlatformFee == nil {
		return
	}
	for _, a := range c.PlatformFee.Recipients {
		raw := a.Bytes()
		d.recipients = append(d.recipients, recipient{key: a, text: []byte(a.String()), raw: raw[len(raw)-32:]})
	}
}

// fees emits what recipients got of the chain's own coin. ok is false where the node's numbers are none.
func (r *reader) fees() (ok bool) {
	for i := range r.d.recipients {
		to := &r.d.recipients[i]
		key := to.text
		if r.tx.wire {
			key = to.raw
		}
		place := r.tx.placeOf(key)
		if place <= 0 {
			continue // it isn't there, or pays itself
		}
		before, ok := r.tx.lamportsOf(0, place)
		if !ok {
			return false
		}
		after, ok := r.tx.lamportsOf(1, place)
		if !ok {
			return false
		}
		if got, less := bits.Sub64(after, before, 0); less == 0 && got > 0 {
			r.emit(nil, market.FeePaid{Payer: r.account(0), Recipient: to.key, Asset: market.Native, Amount: amountOf(got)})
		}
	}
	return true
}

// placeOf is where a key stands among the transaction's accounts, in the form that those have; -1 where it doesn't.
func (t *transaction) placeOf(key []byte) int {
	return slices.IndexFunc(t.keys, func(k []byte) bool { return bytes.Equal(k, key) })
}

// lamportsOf is what an account has before the transaction (0) or after it (1).
func (t *transaction) lamportsOf(when, place int) (lamports uint64, ok bool) {
	list := t.lamports[when]
	if t.wire {
		for ; len(list) > 0; place-- {
			v, n := protowire.ConsumeVarint(list)
			if n < 0 || place == 0 {
				return v, n > 0
			}
			list = list[n:]
		}
		return 0, false
	}
	p, at := rpc.NewScanner(list), 0
	p.Array(func() {
		if v := p.Uint(); at == place {
			lamports, ok = v, true
		}
		at++
	})
	end, _ := p.End()
	return lamports, ok && end
}
