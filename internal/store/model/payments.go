package model

import (
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Payments is a row of payments: whom the transactions of a block paid, and which accounts sent their first one.
type Payments struct {
	bun.BaseModel `bun:"table:payments"`

	Chain string `bun:",pk"`
	Block int64  `bun:",pk"`
	Hash  []byte
	Time  int64
	// Body has paymentLen bytes for each payment: the payer, the payee, and the amount, big-endian.
	Body []byte
	// Firsts has the accounts that sent their first transaction.
	Firsts []byte
}

// The lengths of a payment in a body and of its amount, in bytes.
const (
	paidLen    = 16
	paymentLen = 2*market.EVMAddressLen + paidLen
)

// OfPayments is the row of a block's payments, which are between accounts of an EVM chain and of up to 128 bits.
func OfPayments(chain string, b *market.BlockPayments) (Payments, error) {
	r := Payments{Chain: chain, Block: int64(b.Number), Hash: b.Hash[:], Time: b.Time, Body: make([]byte, 0, len(b.Payments)*paymentLen), Firsts: make([]byte, 0, len(b.Firsts)*market.EVMAddressLen)}
	for i := range b.Payments {
		p := &b.Payments[i]
		if p.From.Kind() != market.EVMAccount || p.To.Kind() != market.EVMAccount || p.Amount.BitLen() > 8*paidLen {
			return r, fmt.Errorf("database: payments: block %d: no row has one of %s from %q to %q", b.Number, p.Amount.Dec(), p.From, p.To)
		}
		amount := p.Amount.Bytes32()
		r.Body = append(p.To.AppendTo(p.From.AppendTo(r.Body)), amount[len(amount)-paidLen:]...)
	}
	for _, a := range b.Firsts {
		if a.Kind() != market.EVMAccount {
			return r, fmt.Errorf("database: payments: block %d: no row has %q", b.Number, a)
		}
		r.Firsts = a.AppendTo(r.Firsts)
	}
	return r, nil
}

// Value is a block's payments as the row has them.
func (r *Payments) Value() (market.BlockPayments, error) {
	c := Columns{Table: "payments"}
	b := market.BlockPayments{Number: uint64(r.Block), Hash: c.Hash(r.Hash), Time: r.Time}
	if len(r.Body)%paymentLen != 0 {
		return b, fmt.Errorf("database: a row of payments: block %d has %d bytes, no multiple of %d", b.Number, len(r.Body), paymentLen)
	}
	if len(r.Firsts)%market.EVMAddressLen != 0 {
		return b, fmt.Errorf("database: a row of payments: block %d has %d bytes of accounts, no multiple of %d", b.Number, len(r.Firsts), market.EVMAddressLen)
	}
	for a := range slices.Chunk(r.Firsts, market.EVMAddressLen) {
		b.Firsts = append(b.Firsts, c.Address(a))
	}
	if len(r.Body) > 0 {
		b.Payments = make([]market.Payment, 0, len(r.Body)/paymentLen)
	}
	for body := r.Body; len(body) > 0; body = body[paymentLen:] {
		const from, to = market.EVMAddressLen, 2 * market.EVMAddressLen
		p := market.Payment{From: c.Address(body[:from]), To: c.Address(body[from:to])}
		p.Amount.SetBytes(body[to:paymentLen])
		b.Payments = append(b.Payments, p)
	}
	return b, c.Err
}
