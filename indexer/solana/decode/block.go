package decode

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/borsh"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Block is what a node tells of a slot's block.
type Block struct {
	market.Block
	// ParentSlot is the number of the block below.
	ParentSlot uint64
	// HasTime is false where the node doesn't know when the block was made.
	HasTime bool
	// Transactions counts all of them, whatever they mean; HasTransactions is false where the node told no list of them.
	Transactions    int
	HasTransactions bool
}

// mostTransactions is the most transactions of a block that are read.
const mostTransactions = 1 << 17

// Told says what an answer to getBlock has: a block, null, or a refusal.
type Told int

// The kinds of answers.
const (
	ToldNothing Told = iota
	ToldBlock
	ToldNull
	ToldRefusal
)

// ParseAnswer reads a node's whole answer to getBlock, in one pass: it has many megabytes.
func (d *Decoder) ParseAnswer(slot uint64, raw []byte) (b Block, told Told, err error) {
	refused := false
	b, err = d.parse(slot, raw, func(p *rpc.Scanner, field func(key []byte)) (isBlock bool) {
		p.Object(func(key []byte) {
			switch name := string(key); {
			case name == "error":
				if !p.IsNull() {
					refused = true
					p.Leap()
				}
			case name != "result" || told != ToldNothing:
				p.Leap()
			case p.IsNull():
				told = ToldNull
			default:
				told = ToldBlock
				p.Object(field)
			}
		})
		return told == ToldBlock
	})
	if refused { // whatever stands beside it
		return Block{}, ToldRefusal, nil
	}
	return b, told, err
}

// ParseBlock reads the result of getBlock, with its transactions in the encoding "json", or without any.
func (d *Decoder) ParseBlock(slot uint64, raw []byte) (Block, error) {
	return d.parse(slot, raw, func(p *rpc.Scanner, field func(key []byte)) (isBlock bool) {
		p.Object(field)
		return true
	})
}

// parse reads a block, whose fields read gives one after the other. Where it is none it gives nothing.
func (d *Decoder) parse(slot uint64, raw []byte, read func(p *rpc.Scanner, field func(key []byte)) (isBlock bool)) (b Block, err error) {
	b.Number = slot
	r := d.scratch.Get().(*reader) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	defer d.scratch.Put(r)
	defer r.forget()
	r.begin()
	r.slot = slot
	p := rpc.NewScanner(raw)
	hashed, linked, numbered := false, false, false
	timed := false
	var untimed []byte // the transactions, where they stand before the block's time
	isBlock := read(p, func(key []byte) {
		switch string(key) {
		case "blockhash":
			hashed = base58.Decode(b.Hash[:], p.Text())
		case "previousBlockhash":
			linked = base58.Decode(b.Parent[:], p.Text())
		case "parentSlot":
			b.ParentSlot, numbered = p.Uint(), true
		case "blockTime":
			timed = true
			switch {
			case p.IsNull():
			case p.Peek() == '-': // a clock before 1970 tells nothing either
				p.Leap()
			default:
				b.Time, b.HasTime = int64(p.Uint()), true
			}
		case "transactions":
			if b.HasTransactions {
				p.Fail() // they are told twice
				return
			}
			switch b.HasTransactions = !p.IsNull(); {
			case !b.HasTransactions:
			case timed:
				r.time = b.Time
				b.Transactions, err = r.transactions(p)
			default:
				untimed = p.Leap()
			}
		default:
			p.Leap()
		}
	})
	ok, at := p.End()
	if ok && untimed != nil {
		p, r.time = rpc.NewScanner(untimed), b.Time
		b.Transactions, err = r.transactions(p)
		ok, at = p.End()
	}
	switch {
	case err != nil:
		return b, fmt.Errorf("block %d: %w", slot, err)
	case !ok:
		return b, fmt.Errorf("%w: bad JSON near byte %d of block %d", rpc.ErrGarbage, at, slot)
	case !isBlock:
		return b, nil
	case !hashed || !linked || !numbered || slot > 0 && b.ParentSlot >= slot || b.HasTime && b.Time < 0:
		return b, fmt.Errorf("%w: block %d tells no hash, no parent or no time", rpc.ErrGarbage, slot)
	}
	b.Txs, b.Facts = r.finish()
	return b, nil
}

// transactions reads those of the block.
func (r *reader) transactions(p *rpc.Scanner) (n int, err error) {
	p.Array(func() {
		switch n++; {
		case n > mostTransactions:
			p.Fail()
		case err == nil:
			if !r.tx.parse(p) {
				err = fmt.Errorf("%w: transaction %d can't be read", rpc.ErrGarbage, n)
				return
			}
			err = r.transaction(n)
		default:
			p.Leap()
		}
	})
	return n, err
}

// reader reads one block. What it needs for that it uses again for the next one.
type reader struct {
	d  *Decoder
	tx transaction
	// slot and time are the block's; the time is 0 where the node doesn't know it.
	slot uint64
	time int64
	// txs are those of the block that mean something, logs the events of the one that is read.
	txs  []market.Tx
	logs []market.Log
	// number is the place in the block of the transaction that is read, from 1.
	number uint64
	// sub counts the events of the instruction of which the last one was.
	sub   uint64
	subOf *instruction
	moves moves
	// kept is what withheld sums up, token by token.
	kept []tokenSum
	// made are the tokens that the block makes.
	made []made
	data []byte
	// infos are the block's transactions where it came over the wire.
	infos []info
}

func (r *reader) begin() {
	r.txs, r.made, r.moves.seen, r.infos = nil, r.made[:0], r.moves.seen[:0], r.infos[:0]
}

// forget lets go of the node's answer.
func (r *reader) forget() {
	r.tx.forget()
	r.txs, r.subOf = nil, nil
	clear(r.moves.seen[:cap(r.moves.seen)])
	clear(r.moves.list[:cap(r.moves.list)])
	clear(r.made[:cap(r.made)])
	clear(r.infos[:cap(r.infos)])
}

// isOpen reports whether a pool that trades from a time on trades already; false where the block's time isn't known. A pool that doesn't trade yet holds
// what its maker may take out again, and its price is what the maker says.
func (r *reader) isOpen(at uint64) bool { return at == 0 || r.time > 0 && at <= uint64(r.time) }

// touches reports whether a transaction calls one of the known programs.
func (r *reader) touches() bool {
	known := r.known()
	for _, key := range r.tx.keys {
		if len(key) > 0 && known.begins[key[0]] && known.programs[string(key)] != nil {
			return true
		}
	}
	return false
}

// known are the programs that mean something, by keys as the transaction has them.
func (r *reader) known() *programs {
	if r.tx.wire {
		return &r.d.byKey
	}
	return &r.d.byText
}

// transaction emits what the transaction means that was read, at its place in the block, from 1.
func (r *reader) transaction(number int) error {
	if r.tx.failed {
		return nil
	}
	r.number, r.logs, r.subOf, r.sub = uint64(number), r.logs[:0], nil, 0
	if err := r.balances(); err != nil {
		return fmt.Errorf("transaction %d: %w", number, err)
	}
	r.withheld()
	if !r.fees() {
		return fmt.Errorf("%w: transaction %d has balances that can't be read", rpc.ErrGarbage, number)
	}
	if r.touches() && !r.tx.run() {
		return fmt.Errorf("%w: transaction %d has instructions that can't be read", rpc.ErrGarbage, number)
	}
	for i := range r.tx.instructions {
		in := &r.tx.instructions[i]
		if p := r.known().programs[string(r.tx.keys[in.program])]; p != nil {
			r.instruction(p, i, in)
		}
	}
	if len(r.logs) == 0 {
		return nil
	}
	signature, ok := r.tx.signedBy()
	if !ok {
		return fmt.Errorf("%w: transaction %d has no signature", rpc.ErrGarbage, number)
	}
	r.txs = append(r.txs, market.Tx{ID: market.SolanaTx(signature), Logs: slices.Clone(r.logs), Payer: r.account(0), Fee: r.tx.fee})
	return nil
}

func (r *reader) instruction(p *program, i int, in *instruction) {
	by := r.tx.caller(i)
	if by != nil && by.program != in.program {
		by = nil
	}
	if by == nil && p.runs == nil {
		return // only the program itself can tell its events
	}
	data, ok := r.tx.appendData(r.data[:0], in)
	if r.data = data; !ok {
		return
	}
	c := call{r: r, p: p, index: i, at: in, Reader: borsh.NewReader(data)}
	told, isEvent := bytes.CutPrefix(data, selfCall[:])
	switch {
	case !isEvent:
		if p.runs != nil {
			p.runs(&c)
		}
	case by != nil && len(told) >= len(discriminator{}):
		if decode := p.events[discriminator(told)]; decode != nil {
			c.by, c.Reader = by, borsh.NewReader(told[len(discriminator{}):])
			decode(&c)
		}
	}
}

// The bits of an event's place in its block: its transaction's, from 1, that of its instruction in the message and among the calls of that one, and its own
// among those of the instruction. What the transaction does to balances stands before its instructions.
const (
	subBits, innerBits, outerBits = 10, 13, 13
	txShift                       = subBits + innerBits + outerBits
)

func (r *reader) emit(at *instruction, e market.Event) {
	if at != r.subOf {
		r.subOf, r.sub = at, 0
	}
	place := r.number<<txShift | r.sub
	if at != nil {
		place |= (uint64(at.outer)+1)<<(innerBits+subBits) | uint64(at.inner)<<subBits
	}
	if r.sub++; r.sub < 1<<subBits {
		r.logs = append(r.logs, market.Log{Index: place, Event: e})
	}
}

// account is the transaction's account at a place.
func (r *reader) account(place uint16) market.Address {
	if r.tx.wire {
		return market.SolanaAddress([32]byte(r.tx.keys[place]))
	}
	return r.key(r.tx.keys[place])
}

// key is the address that a text is; none where it is none.
func (r *reader) key(text []byte) market.Address {
	var key [32]byte
	if !base58.Decode(key[:], text) {
		return market.Address{}
	}
	return market.SolanaAddress(key)
}

// finish gives what the block means. The tokens that it makes it describes by facts, which no node has to be asked for.
func (r *reader) finish() ([]market.Tx, []market.Fact) {
	facts := make([]market.Fact, 0, len(r.made))
	for i := range r.made {
		facts = append(facts, r.made[i].fact(r.txs))
	}
	if len(facts) == 0 {
		facts = nil
	}
	return r.txs, facts
}
