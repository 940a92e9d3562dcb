package decode

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/spltoken"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/wire"
	"github.com/boardwalkhq/boardwalk/internal/base58"
)

// Blocks as Yellowstone gRPC sends them: protocol buffers of its geyser.proto and solana-storage.proto, of which the fields are read that mean something here.
// The numbers below are those of these files.

// info is a transaction of a block, at its place there.
type info struct {
	place   uint64
	message []byte
}

// ParseWireBlock reads a SubscribeUpdateBlock with all its transactions.
func (d *Decoder) ParseWireBlock(raw []byte) (b Block, err error) {
	r := d.scratch.Get().(*reader) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	defer d.scratch.Put(r)
	defer r.forget()
	r.begin()
	hashed, linked, numbered, dated, executed := false, false, false, true, uint64(0)
	ok := wire.Fields(raw, func(number int, v uint64, text []byte) {
		switch number {
		case 1:
			b.Number = v
		case 2:
			hashed = base58.Decode(b.Hash[:], text)
		case 4:
			b.HasTime = true
			dated = wire.Fields(text, func(number int, v uint64, _ []byte) {
				if number == 1 {
					b.Time = int64(v)
				}
			})
		case 6:
			if len(r.infos) <= mostTransactions {
				r.infos = append(r.infos, info{message: text})
			}
		case 7:
			b.ParentSlot, numbered = v, true
		case 8:
			linked = base58.Decode(b.Parent[:], text)
		case 9:
			executed = v
		}
	})
	if b.Time <= 0 {
		b.Time, b.HasTime = 0, false // a clock before 1970 tells nothing either
	}
	b.Transactions, b.HasTransactions = len(r.infos), true
	switch {
	case !ok || !dated:
		return b, fmt.Errorf("%w: block %d is no message of geyser.proto", rpc.ErrGarbage, b.Number)
	case !hashed || !linked || !numbered || b.ParentSlot >= b.Number:
		return b, fmt.Errorf("%w: block %d tells no hash or no parent", rpc.ErrGarbage, b.Number)
	case uint64(len(r.infos)) != executed || executed > mostTransactions:
		return b, fmt.Errorf("%w: block %d comes with %d transactions, and has %d", rpc.ErrGarbage, b.Number, len(r.infos), executed)
	}
	r.slot, r.time = b.Number, b.Time
	if err := r.wireTransactions(); err != nil {
		return b, fmt.Errorf("block %d: %w", b.Number, err)
	}
	b.Txs, b.Facts = r.finish()
	return b, nil
}

// wireTransactions reads the block's transactions in the order in which they ran.
func (r *reader) wireTransactions() error {
	for i := range r.infos {
		in := &r.infos[i]
		ok := wire.Fields(in.message, func(number int, v uint64, _ []byte) {
			if number == 5 {
				in.place = v
			}
		})
		if !ok {
			return fmt.Errorf("%w: a transaction can't be read", rpc.ErrGarbage)
		}
	}
	slices.SortStableFunc(r.infos, func(a, b info) int { return cmp.Compare(a.place, b.place) })
	for i := range r.infos {
		if r.infos[i].place != uint64(i) {
			return fmt.Errorf("%w: there is no transaction %d, or there are two", rpc.ErrGarbage, i)
		}
		if !r.tx.parseWire(r.infos[i].message) {
			return fmt.Errorf("%w: transaction %d can't be read", rpc.ErrGarbage, i+1)
		}
		if err := r.transaction(i + 1); err != nil {
			return err
		}
	}
	return nil
}

// parseWire is parse for a SubscribeUpdateTransactionInfo.
func (t *transaction) parseWire(message []byte) (ok bool) {
	t.reset()
	t.wire = true
	var signed []byte
	read := true
	ok = wire.Fields(message, func(number int, _ uint64, text []byte) {
		switch number {
		case 1:
			t.signature = text
		case 3:
			signed = text
		case 4:
			t.told, read = true, read && t.wireMeta(text)
		}
	})
	if t.failed {
		return ok
	}
	ok = ok && read && wire.Fields(signed, func(number int, _ uint64, text []byte) {
		if number != 2 {
			return
		}
		t.message = text
		walked := wire.Fields(text, func(number int, _ uint64, part []byte) {
			switch number {
			case 1:
				t.header = part
			case 2:
				read = read && addKey(&t.static, part)
			}
		})
		read = read && walked
	})
	t.keys = append(append(append(t.keys, t.static...), t.writable...), t.readonly...)
	return ok && read && t.isWhole()
}

// addKey appends an account's key. ok is false for what is none, and beyond the most.
func addKey(to *[][]byte, key []byte) (ok bool) {
	if len(key) != 32 || len(*to) >= mostKeys {
		return false
	}
	*to = append(*to, key)
	return true
}

// wireMeta reads what a transaction did: a TransactionStatusMeta. Its instructions and its log are left for run and lines.
func (t *transaction) wireMeta(meta []byte) (ok bool) {
	t.called, t.logged, t.tellsCalls = meta, meta, true
	read := true
	ok = wire.Fields(meta, func(number int, v uint64, text []byte) {
		switch number {
		case 1:
			t.failed = true
		case 2:
			t.fee = v
		case 3:
			t.lamports[0] = text
		case 4:
			t.lamports[1] = text
		case 7:
			read = read && t.wireBalance(text, &t.pre)
		case 8:
			read = read && t.wireBalance(text, &t.post)
		case 10:
			t.tellsCalls = v == 0
		case 12:
			read = read && addKey(&t.writable, text)
		case 13:
			read = read && addKey(&t.readonly, text)
		}
	})
	return ok && (read || t.failed)
}

// wireBalance reads a TokenBalance.
func (t *transaction) wireBalance(message []byte, out *[]tokenBalance) (ok bool) {
	var b tokenBalance
	read := true
	ok = wire.Fields(message, func(number int, v uint64, text []byte) {
		switch number {
		case 1:
			b.account, read = uint16(v), read && v <= 1<<16-1
		case 2:
			b.mint = text
		case 3:
			walked := wire.Fields(text, func(number int, v uint64, text []byte) {
				switch number {
				case 2:
					b.decimals, read = uint8(v), read && v <= 255
				case 3:
					digits := rpc.NewScanner(text)
					b.amount = digits.Uint()
					end, _ := digits.End()
					read = read && end
				}
			})
			read = read && walked
		case 4:
			b.owner = text
		case 5:
			b.is2022 = string(text) == spltoken.Program2022
			t.has2022 = t.has2022 || b.is2022
		}
	})
	*out = append(*out, b)
	return ok && read && len(*out) <= mostBalances
}

// runWire reads the transaction's instructions, and those that they called.
func (t *transaction) runWire() (ok bool) {
	read := true
	ok = wire.Fields(t.message, func(number int, _ uint64, text []byte) {
		if number == 4 {
			read = read && t.wireInstruction(text, &t.outer)
		}
	})
	ok = ok && wire.Fields(t.called, func(number int, _ uint64, text []byte) {
		if number == 5 {
			read = read && t.wireCalls(text)
		}
	})
	return ok && read && t.assemble()
}

// wireCalls reads InnerInstructions: what one instruction of the message called.
func (t *transaction) wireCalls(message []byte) (ok bool) {
	from, of, read := len(t.inner), uint64(0), true
	ok = wire.Fields(message, func(number int, v uint64, text []byte) {
		switch number {
		case 1:
			of = v
		case 2:
			read = read && t.wireInstruction(text, &t.inner)
		}
	})
	if of >= mostInstructions {
		return false
	}
	for i := range t.inner[from:] {
		t.inner[from+i].outer, t.inner[from+i].inner = uint16(of), uint16(i+1)
	}
	return ok && read
}

// wireInstruction reads a CompiledInstruction or an InnerInstruction.
func (t *transaction) wireInstruction(message []byte, out *[]instruction) (ok bool) {
	var in instruction
	read := len(*out) < mostInstructions
	in.accounts = span{uint32(len(t.accounts)), uint32(len(t.accounts))}
	ok = wire.Fields(message, func(number int, v uint64, text []byte) {
		switch number {
		case 1:
			in.program, read = uint16(v), read && v <= 1<<16-1
		case 2:
			if read = read && len(t.accounts)+len(text) <= mostAccounts; !read {
				return
			}
			in.accounts.from = uint32(len(t.accounts))
			for _, place := range text {
				t.accounts = append(t.accounts, uint16(place))
			}
			in.accounts.to = uint32(len(t.accounts))
		case 3:
			in.data = text
		case 4:
			in.height, read = uint16(v), read && v <= 1<<16-1
		}
	})
	*out = append(*out, in)
	return ok && read
}

// wireLines are the lines of the transaction's log.
func (t *transaction) wireLines() {
	_ = wire.Fields(t.logged, func(number int, _ uint64, text []byte) { // it was walked over before
		if number == 6 && len(t.logs) < mostLogs {
			t.logs = append(t.logs, text)
		}
	})
}
