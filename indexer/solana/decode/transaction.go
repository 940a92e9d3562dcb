package decode

import (
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/spltoken"
	"github.com/boardwalkhq/boardwalk/internal/base58"
)

// The bounds of a transaction, far above what the runtime allows: 64 instructions in all, each with up to 255 accounts, and 128 accounts. What is beyond them
// no honest node tells.
const (
	mostKeys         = 1 << 10
	mostInstructions = 1 << 9
	mostAccounts     = 1 << 16 // of all instructions
	mostBalances     = 1 << 10
	mostLogs         = 1 << 11
)

// transaction is one transaction as a node tells it, with texts that lie within the node's answer. Its slices are used again for the next one.
type transaction struct {
	// wire says that signature, keys and instructions' data are the bytes themselves, as Yellowstone gRPC sends them. In JSON they are base58.
	wire bool
	// failed is true of one that did nothing. Told says that the node told what it did.
	failed, told bool
	// tellsCalls is true where the node tells what instructions called, be it nothing. has2022 says that the transaction touches an account of a token of Token-2022.
	tellsCalls, has2022 bool
	signature           []byte
	// fee is what the first account paid for it, in lamports.
	fee uint64
	// keys are its accounts: the static ones, then those that lookup tables name, the writable ones first.
	keys      [][]byte
	pre, post []tokenBalance
	// instructions are in the order in which they ran: each one of the message with those that it called after it. There are none before run. ran says
	// that run was called; runs is its result.
	ran, runs    bool
	instructions []instruction
	accounts     []uint16 // of all instructions

	// The fields below are pieces of the node's answer, in its order. run and lines read what stands in message, called and logged, of which the latter two are
	// one on the wire.
	static, writable, readonly [][]byte
	message, called, logged    []byte
	header                     []byte    // of the message: how many of the static keys have signed, and how many can't change
	lamports                   [2][]byte // before it and after it, of all accounts
	outer, inner               []instruction
	logs                       [][]byte
}

// instruction is a call of a program.
type instruction struct {
	program  uint16 // its place in keys
	accounts span
	data     []byte
	// outer is its place in the message, or that of the one which called it; inner its place among the calls of that one, from 1, and 0 for itself.
	outer, inner uint16
	// height is 1 for one of the message, 2 for what that calls, and so on; 0 where the node doesn't tell.
	height uint16
}

// span is a piece of a transaction's accounts.
type span struct{ from, to uint32 }

// tokenBalance is what a token account has before or after a transaction.
type tokenBalance struct {
	account     uint16 // its place in keys
	mint, owner []byte // base58; owner is empty where the node doesn't tell
	amount      uint64
	decimals    uint8
	is2022      bool // of Token-2022
}

func (t *transaction) reset() {
	*t = transaction{
		keys: t.keys[:0], instructions: t.instructions[:0], logs: t.logs[:0], pre: t.pre[:0], post: t.post[:0],
		static: t.static[:0], writable: t.writable[:0], readonly: t.readonly[:0], outer: t.outer[:0], inner: t.inner[:0], accounts: t.accounts[:0],
	}
}

// forget clears what lies within a node's answer, so that it isn't held.
func (t *transaction) forget() {
	t.reset()
	for _, list := range [][][]byte{t.keys, t.static, t.writable, t.readonly, t.logs} {
		clear(list[:cap(list)])
	}
	for _, list := range [][]tokenBalance{t.pre, t.post} {
		clear(list[:cap(list)])
	}
	for _, list := range [][]instruction{t.instructions, t.outer, t.inner} {
		clear(list[:cap(list)])
	}
}

// parse reads a transaction but for its instructions and its log, which most are spared. Of one that failed nothing else is told. ok is false where it names
// what isn't there.
func (t *transaction) parse(p *rpc.Scanner) (ok bool) {
	t.reset()
	p.Object(func(key []byte) {
		switch {
		case t.failed:
			p.Leap()
		case string(key) == "meta":
			t.meta(p)
		case string(key) == "transaction":
			p.Object(func(key []byte) { t.signed(p, key) })
		default:
			p.Leap()
		}
	})
	if t.failed {
		return true
	}
	t.keys = append(append(append(t.keys, t.static...), t.writable...), t.readonly...)
	return t.isWhole()
}

// isWhole reports whether a transaction that did something was told whole, and its balances are of accounts that are there.
func (t *transaction) isWhole() bool {
	return t.told && len(t.keys) <= mostKeys && len(t.signature) > 0 && inOrder(t.pre, len(t.keys)) && inOrder(t.post, len(t.keys))
}

// run reads the transaction's instructions, once. ok is false where they are none, or name what isn't there.
func (t *transaction) run() (ok bool) {
	if !t.ran {
		if t.ran, t.runs = true, t.readInstructions(); !t.runs {
			t.instructions = t.instructions[:0] // they may name what isn't there
		}
	}
	return t.runs
}

func (t *transaction) readInstructions() (ok bool) {
	if t.wire {
		return t.runWire()
	}
	message := rpc.NewScanner(t.message)
	list(message, mostInstructions, func() { t.instruction(message, &t.outer) })
	ok, _ = message.End()
	if len(t.called) > 0 {
		called := rpc.NewScanner(t.called)
		list(called, mostInstructions, func() { t.calls(called) })
		end, _ := called.End()
		ok = ok && end
	}
	return ok && t.assemble()
}

// lines are those of the transaction's log, as far as it goes.
func (t *transaction) lines() [][]byte {
	switch {
	case len(t.logs) > 0 || len(t.logged) == 0:
	case t.wire:
		t.wireLines()
	default:
		texts(rpc.NewScanner(t.logged), &t.logs, mostLogs)
	}
	return t.logs
}

func (t *transaction) meta(p *rpc.Scanner) {
	if p.IsNull() {
		p.Fail() // without it nobody knows what the transaction did
		return
	}
	told := false
	p.Object(func(key []byte) {
		if t.failed {
			p.Leap()
			return
		}
		switch string(key) {
		case "err":
			told = true
			if !p.IsNull() {
				p.Leap()
				t.failed = true
			}
		case "innerInstructions":
			if t.tellsCalls = !p.IsNull(); t.tellsCalls {
				t.called = p.Leap()
			}
		case "loadedAddresses":
			if p.IsNull() {
				return
			}
			p.Object(func(key []byte) {
				switch string(key) {
				case "writable":
					texts(p, &t.writable, mostKeys)
				case "readonly":
					texts(p, &t.readonly, mostKeys)
				default:
					p.Leap()
				}
			})
		case "fee":
			t.fee = p.Uint()
		case "preBalances":
			t.lamports[0] = p.Leap()
		case "postBalances":
			t.lamports[1] = p.Leap()
		case "logMessages":
			t.logged = p.Leap()
		case "preTokenBalances":
			t.balances(p, &t.pre)
		case "postTokenBalances":
			t.balances(p, &t.post)
		default:
			p.Leap()
		}
	})
	t.told = told
}

// list reads a list of at most so many items, or null.
func list(p *rpc.Scanner, most int, item func()) {
	if p.IsNull() {
		return
	}
	n := 0
	p.Array(func() {
		if n++; n > most {
			p.Fail()
			return
		}
		item()
	})
}

func texts(p *rpc.Scanner, out *[][]byte, most int) {
	list(p, most, func() { *out = append(*out, p.Text()) })
}

// calls reads what one instruction of the message called.
func (t *transaction) calls(p *rpc.Scanner) {
	from, of := len(t.inner), uint64(0)
	p.Object(func(key []byte) {
		switch string(key) {
		case "index":
			of = p.Uint()
		case "instructions":
			list(p, mostInstructions, func() { t.instruction(p, &t.inner) })
		default:
			p.Leap()
		}
	})
	if of >= mostInstructions {
		p.Fail()
		return
	}
	for i := range t.inner[from:] {
		t.inner[from+i].outer, t.inner[from+i].inner = uint16(of), uint16(i+1)
	}
}

func (t *transaction) signed(p *rpc.Scanner, key []byte) {
	switch string(key) {
	case "signatures":
		list(p, mostKeys, func() {
			if s := p.Text(); t.signature == nil {
				t.signature = s
			}
		})
	case "message":
		p.Object(func(key []byte) {
			switch string(key) {
			case "accountKeys":
				texts(p, &t.static, mostKeys)
			case "instructions":
				t.message = p.Leap()
			case "header":
				t.header = p.Leap()
			default:
				p.Leap()
			}
		})
	default:
		p.Leap()
	}
}

func (t *transaction) instruction(p *rpc.Scanner, out *[]instruction) {
	if len(*out) >= mostInstructions {
		p.Fail()
		return
	}
	var in instruction
	p.Object(func(key []byte) {
		switch string(key) {
		case "programIdIndex":
			in.program = small(p)
		case "accounts":
			in.accounts.from = uint32(len(t.accounts))
			list(p, mostAccounts-len(t.accounts), func() { t.accounts = append(t.accounts, small(p)) })
			in.accounts.to = uint32(len(t.accounts))
		case "data":
			in.data = p.Text()
		case "stackHeight":
			if !p.IsNull() {
				in.height = small(p)
			}
		default:
			p.Leap()
		}
	})
	*out = append(*out, in)
}

// small reads a number that has to fit into 16 bits.
func small(p *rpc.Scanner) uint16 {
	n := p.Uint()
	if n > 1<<16-1 {
		p.Fail()
	}
	return uint16(n)
}

func (t *transaction) balances(p *rpc.Scanner, out *[]tokenBalance) {
	list(p, mostBalances, func() {
		var b tokenBalance
		p.Object(func(key []byte) {
			switch string(key) {
			case "accountIndex":
				b.account = small(p)
			case "mint":
				b.mint = p.Text()
			case "owner":
				if !p.IsNull() {
					b.owner = p.Text()
				}
			case "programId":
				if !p.IsNull() {
					b.is2022 = string(p.Text()) == spltoken.Program2022
					t.has2022 = t.has2022 || b.is2022
				}
			case "uiTokenAmount":
				p.Object(func(key []byte) {
					switch string(key) {
					case "amount":
						b.amount = quoted(p)
					case "decimals":
						n := p.Uint()
						if n > 255 {
							p.Fail()
						}
						b.decimals = uint8(n)
					default:
						p.Leap()
					}
				})
			default:
				p.Leap()
			}
		})
		*out = append(*out, b)
	})
}

// quoted reads a decimal number that stands in a string.
func quoted(p *rpc.Scanner) uint64 {
	number := rpc.NewScanner(p.Text())
	n := number.Uint()
	if end, _ := number.End(); !end {
		p.Fail()
	}
	return n
}

// assemble puts the instructions in order. ok is false where they name what isn't there.
func (t *transaction) assemble() (ok bool) {
	calls := t.inner
	for i := range t.outer {
		t.outer[i].outer, t.outer[i].height = uint16(i), 1
		t.instructions = append(t.instructions, t.outer[i])
		for len(calls) > 0 && int(calls[0].outer) == i {
			t.instructions, calls = append(t.instructions, calls[0]), calls[1:]
		}
	}
	if len(calls) > 0 {
		return false // of an instruction that isn't there, or out of order
	}
	for i := range t.instructions {
		if int(t.instructions[i].program) >= len(t.keys) {
			return false
		}
	}
	for _, a := range t.accounts {
		if int(a) >= len(t.keys) {
			return false
		}
	}
	return true
}

// inOrder reports whether balances are each of another account, in the accounts' order, as nodes tell them.
func inOrder(list []tokenBalance, keys int) bool {
	for i := range list {
		if int(list[i].account) >= keys || i > 0 && list[i].account <= list[i-1].account {
			return false
		}
	}
	return true
}

// accountsOf are the places in keys of an instruction's accounts.
func (t *transaction) accountsOf(in *instruction) []uint16 {
	return t.accounts[in.accounts.from:in.accounts.to]
}

// caller is the instruction that called the i-th one; nil for one of the message. Where a node tells no heights it is the one of the message.
func (t *transaction) caller(i int) *instruction {
	in := &t.instructions[i]
	if in.inner == 0 {
		return nil
	}
	for k := i - 1; k >= 0 && t.instructions[k].outer == in.outer; k-- {
		before := &t.instructions[k]
		if in.height > 0 && before.height == in.height-1 || before.inner == 0 {
			return before
		}
	}
	return nil
}

// signedBy is the transaction's first signature, which names it.
func (t *transaction) signedBy() (signature [64]byte, ok bool) {
	if !t.wire {
		ok = base58.Decode(signature[:], t.signature)
		return signature, ok
	}
	return signature, copy(signature[:], t.signature) == len(signature) && len(t.signature) == len(signature)
}

// longestData is the most bytes of an instruction's data that are read, and longestText their most digits in base58. Events have some hundred bytes.
const longestData, longestText = 2048, 2800

// appendData appends an instruction's data. ok is false where it is none, or too long.
func (t *transaction) appendData(to []byte, in *instruction) (data []byte, ok bool) {
	switch {
	case t.wire:
		return append(to, in.data[:min(len(in.data), longestData)]...), len(in.data) <= longestData
	case len(in.data) > longestText:
		return to, false
	default:
		data, ok = base58.Append(to, in.data)
		return data, ok && len(data)-len(to) <= longestData
	}
}

// name is the text of the key at a place, as it stands in a log.
func (t *transaction) name(place uint16) []byte {
	if !t.wire {
		return t.keys[place]
	}
	return []byte(base58.Encode(t.keys[place]))
}
