// Package model has the rows of the tables that keep what is derived: their columns, how they become values of internal/market and back, and their
// former images.
package model

import (
	"encoding/json"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Amounts are 32 bytes, big-endian: exact, and sorted as numbers sort.

// BytesOf is an amount as a column has it.
func BytesOf(a *market.Amount) []byte {
	b := a.Bytes32()
	return b[:]
}

// signedBytesOf is a signed amount as 32 bytes in two's complement; nil for 0, as in the rows of before.
func signedBytesOf(a market.SignedAmount) []byte {
	if a.IsZero() {
		return nil
	}
	v := a.Abs
	if a.Neg {
		v.Neg(&v)
	}
	return BytesOf(&v)
}

// shortBytesOf is an amount without its leading noughts, for a column that nothing sorts by; 0 is one byte, as none is NULL.
func shortBytesOf(a *market.Amount) []byte {
	b := a.Bytes32()
	return b[min(32-a.ByteLen(), 31):]
}

// partyBytes is one side of a transfer; nobody is kept as the zero address of EVM chains.
func partyBytes(a market.Address) []byte {
	if a.IsNone() {
		return market.Native.Bytes()
	}
	return a.Bytes()
}

// Columns collects the first error while a row is read.
type Columns struct {
	Table string
	Err   error
}

// Address is an address; none for NULL.
func (c *Columns) Address(b []byte) market.Address {
	if len(b) == 0 {
		return market.Address{}
	}
	a, err := market.AddressFromBytes(b)
	if err != nil && c.Err == nil {
		c.Err = fmt.Errorf("database: a row of %s: %w", c.Table, err)
	}
	return a
}

// Amount is an amount of 32 bytes.
func (c *Columns) Amount(b []byte) market.Amount {
	var v market.Amount
	if len(b) != 32 {
		if c.Err == nil {
			c.Err = fmt.Errorf("database: a row of %s: an amount of %d bytes", c.Table, len(b))
		}
		return v
	}
	v.SetBytes32(b)
	return v
}

// signed reads what signedBytesOf made.
func (c *Columns) signed(b []byte) market.SignedAmount {
	if b == nil {
		return market.SignedAmount{}
	}
	return market.SignedFromTwos(c.Amount(b))
}

// ShortAmount reads what shortBytesOf made; ok is false for NULL.
func (c *Columns) ShortAmount(b []byte) (v market.Amount, ok bool) {
	if len(b) > 32 && c.Err == nil {
		c.Err = fmt.Errorf("database: a row of %s: an amount of %d bytes", c.Table, len(b))
	}
	if len(b) == 0 || len(b) > 32 {
		return v, false
	}
	return *v.SetBytes(b), true
}

// party reads the side of a transfer that partyBytes wrote.
func (c *Columns) party(b []byte) market.Address {
	if a := c.Address(b); !a.IsNative() {
		return a
	}
	return market.Address{}
}

// Tx names a transaction.
func (c *Columns) Tx(b []byte) market.TxID {
	id, err := market.TxIDFromBytes(b)
	if err != nil && c.Err == nil {
		c.Err = fmt.Errorf("database: a row of %s: %w", c.Table, err)
	}
	return id
}

// Hash is the hash of a block; no bytes are none.
func (c *Columns) Hash(b []byte) market.Hash {
	var h market.Hash
	if len(b) != 0 && len(b) != len(h) && c.Err == nil {
		c.Err = fmt.Errorf("database: a row of %s: a hash of %d bytes", c.Table, len(b))
	}
	copy(h[:], b)
	return h
}

// To maps rows to domain values with a row type's Value method.
func To[R, V any](rows []R, to func(*R) (V, error)) ([]V, error) {
	out := make([]V, 0, len(rows))
	for i := range rows {
		v, err := to(&rows[i])
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// DecimalAmount is an amount as decimal digits in quotes.
type DecimalAmount struct{ market.Amount }

// MarshalText writes the digits.
func (a DecimalAmount) MarshalText() ([]byte, error) { return []byte(a.Dec()), nil }

// UnmarshalText reads them.
func (a *DecimalAmount) UnmarshalText(text []byte) error { return a.SetFromDecimal(string(text)) }

// ReadBody reads the JSON body of a fact.
func ReadBody[B any](body []byte) (b B, err error) {
	if err = json.Unmarshal(body, &b); err != nil {
		err = fmt.Errorf("database: facts: %w", err)
	}
	return b, err
}
