package store

import (
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The helpers of this file turn columns into domain values and back. Amounts are 32 bytes, big-endian: exact, and
// sorted as numbers sort.

func bytesOf(a *market.Amount) []byte {
	b := a.Bytes32()
	return b[:]
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

// columns collects the first error while a row is read.
type columns struct {
	table string
	err   error
}

func (c *columns) address(b []byte) market.Address {
	if len(b) == 0 {
		return market.Address{}
	}
	a, err := market.AddressFromBytes(b)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("database: a row of %s: %w", c.table, err)
	}
	return a
}

func (c *columns) amount(b []byte) market.Amount {
	var v market.Amount
	if len(b) != 32 {
		if c.err == nil {
			c.err = fmt.Errorf("database: a row of %s: an amount of %d bytes", c.table, len(b))
		}
		return v
	}
	v.SetBytes32(b)
	return v
}

// shortAmount reads what shortBytesOf made; ok is false for NULL.
func (c *columns) shortAmount(b []byte) (v market.Amount, ok bool) {
	if len(b) > 32 && c.err == nil {
		c.err = fmt.Errorf("database: a row of %s: an amount of %d bytes", c.table, len(b))
	}
	if len(b) == 0 || len(b) > 32 {
		return v, false
	}
	return *v.SetBytes(b), true
}

// party reads the side of a transfer that partyBytes wrote.
func (c *columns) party(b []byte) market.Address {
	if a := c.address(b); !a.IsNative() {
		return a
	}
	return market.Address{}
}

func (c *columns) tx(b []byte) market.TxID {
	id, err := market.TxIDFromBytes(b)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("database: a row of %s: %w", c.table, err)
	}
	return id
}

func (c *columns) hash(b []byte) market.Hash {
	var h market.Hash
	if len(b) != 0 && len(b) != len(h) && c.err == nil {
		c.err = fmt.Errorf("database: a row of %s: a hash of %d bytes", c.table, len(b))
	}
	copy(h[:], b)
	return h
}

// rowsTo maps rows with one of the to… functions below.
func rowsTo[R, V any](rows []R, to func(*R) (V, error)) ([]V, error) {
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
