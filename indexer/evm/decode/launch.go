package decode

import (
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// This file has the parts that launch venues' protocols share. Each protocol has a file of its own with its events and the rules of its curve, and a row
// here; docs/venues.md says where the layouts are from and how sure they are.

// venueBindings are the venue protocols of EVM chains: what binds one of a venue's contracts.
var venueBindings = map[chainconfig.VenueProtocol]func(*Decoder, venue){
	chainconfig.BoardwalkCurve: (*Decoder).boardwalkCurve,
	chainconfig.FourMemeV1:     (*Decoder).fourMemeV1,
	chainconfig.FourMemeV2:     (*Decoder).fourMemeV2,
	chainconfig.Flap:           (*Decoder).flap,
	chainconfig.PonsV2:         (*Decoder).ponsV2,
	chainconfig.NadFun:         (*Decoder).nadFun,
	chainconfig.ClankerV3:      (*Decoder).clankerV3,
	chainconfig.ClankerV4:      (*Decoder).clankerV4,
}

// venue is one contract of a declared venue.
type venue struct {
	id       string
	contract [20]byte
}

// venues binds the declared venues' contracts, in the document's order.
func (d *Decoder) venues(c *chainconfig.Chain) error {
	for _, declared := range c.Venues {
		bind, ok := venueBindings[declared.Protocol]
		if !ok {
			return fmt.Errorf("chain %s: venue %s: no EVM contract speaks protocol %q", c.ID, declared.ID, declared.Protocol)
		}
		for _, a := range declared.Contracts {
			address, err := contract(a)
			if err != nil {
				return fmt.Errorf("chain %s: venue %s: contract: %w", c.ID, declared.ID, err)
			}
			bind(d, venue{declared.ID, address})
		}
	}
	return nil
}

// launchDecode reads a venue's log. After it, a reader that met a word it can't believe makes the event nil.
type launchDecode func(r *launchLog, venue string) market.Event

// launch binds an event to a venue's contract. What is bound already stays: of two venues that declare the same contract the
// first counts.
func (d *Decoder) launch(v venue, topic [32]byte, topics int, f launchDecode) {
	at := source{v.contract, topic}
	if _, taken := d.at[at]; !taken {
		d.at[at] = launchDecoder(v.id, topics, f)
	}
}

func launchDecoder(venue string, topics int, f launchDecode) decodeFunc {
	return func(l *Log) market.Event {
		r := launchLog{l: l, bad: l.NumTopics != topics}
		if r.bad {
			return nil
		}
		e := f(&r, venue)
		if r.bad {
			return nil
		}
		return e
	}
}

// maxLaunchAmountBits bounds the amounts that are believed: 3.4e20 whole tokens of 18 decimals, beyond any supply, and sums of
// several stay far from 256 bits.
const maxLaunchAmountBits = 128

// launchLog reads the words of a venue's log. A word that can't be what it is read as makes the whole log bad.
type launchLog struct {
	l   *Log
	bad bool
}

func (r *launchLog) contract() market.Address { return Address(r.l.Address) }

func (r *launchLog) word(i int) [32]byte {
	w, ok := r.l.word(i)
	if !ok {
		r.bad = true
	}
	return w
}

// IsAddress reports whether a word has no more than the 20 bytes of an address.
func IsAddress(w [32]byte) bool { return [12]byte(w[:12]) == [12]byte{} }

func (r *launchLog) addressIn(w [32]byte) market.Address {
	if !IsAddress(w) {
		r.bad = true
	}
	return market.EVMAddress(w)
}

// party is a word of the data that names an address; none where it is zero.
func (r *launchLog) party(i int) market.Address {
	if a := r.address(i); !a.IsNative() {
		return a
	}
	return market.Address{}
}

// address is a word of the data; topic is the i-th topic, the event itself being the 0-th.
func (r *launchLog) address(i int) market.Address { return r.addressIn(r.word(i)) }
func (r *launchLog) topic(i int) market.Address   { return r.addressIn(r.l.Topics[i]) }

// named refuses the zero address, which is no token and no curve.
func (r *launchLog) named(a market.Address) market.Address {
	if a.IsNative() {
		r.bad = true
	}
	return a
}

func (r *launchLog) amount(i int) market.Amount {
	v := Uint(r.word(i))
	if v.BitLen() > maxLaunchAmountBits {
		r.bad = true
	}
	return v
}

// less is a - b; a fee that is more than the whole makes the log bad.
func (r *launchLog) less(a, b market.Amount) (v market.Amount) {
	if a.Lt(&b) {
		r.bad = true
		return v
	}
	v.Sub(&a, &b)
	return v
}

func plusAmount(a, b market.Amount) (v market.Amount) {
	v.Add(&a, &b)
	return v
}

func (r *launchLog) flag(i int) bool {
	v := Uint(r.word(i))
	if !v.IsUint64() || v.Uint64() > 1 {
		r.bad = true
	}
	return !v.IsZero()
}

// poolIn reads a pool: an address, a 32-byte id, or nothing.
func poolIn(w [32]byte) market.Address {
	switch {
	case w == [32]byte{}:
		return market.Address{}
	case IsAddress(w):
		return market.EVMAddress(w)
	}
	return market.PoolID(w)
}

// name is a name or a symbol, cut where it is too long. Its word is the offset of an ABI string; what isn't one is no text,
// and the token's own name counts.
func (r *launchLog) name(i int) string {
	b := r.text(i)
	return chain.CleanText(string(b[:min(len(b), 4*chain.MaxText)]))
}

// reference is a URI, a hash or JSON.
func (r *launchLog) reference(i int) string { return chain.CleanReference(r.text(i)) }

// text is the ABI string whose offset the i-th word has.
func (r *launchLog) text(i int) []byte {
	data := r.l.Data
	offset := Uint(r.word(i))
	if !offset.IsUint64() || offset.Uint64() > uint64(len(data)) {
		return nil
	}
	data = data[offset.Uint64():]
	if len(data) < 32 {
		return nil
	}
	length := Uint([32]byte(data[:32]))
	data = data[32:]
	if !length.IsUint64() || length.Uint64() > uint64(len(data)) {
		return nil
	}
	return data[:length.Uint64()]
}
