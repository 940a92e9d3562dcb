package block

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// maxPayments is the most payments of a block that are kept, the first ones. A block of 400 transactions has some 100.
	maxPayments = 1_000
	// maxTransactions is the most transactions that are read of a block. A block with more counts as one that was read without them.
	maxTransactions = 20_000
)

// ErrTransactions means that a block's header can be read, and the list of its transactions can't. rpc.ErrGarbage is in its tree.
var ErrTransactions = fmt.Errorf("%w: unreadable transactions", rpc.ErrGarbage)

// Transactions are what a block was read with besides its header. They rest on one node's word: the header's hash covers the root of the transactions,
// and the root isn't computed from the list here. A block doesn't tell whether a transaction succeeded either. A payment of one that failed moved
// nothing: for the price of a transaction anybody can look as if they had paid somebody. The zero value is of a block that was read without.
type Transactions struct {
	// Told says that the node told the transactions, and not only their hashes.
	Told bool
	// Omitted says that it told their hashes alone, or no list. Where neither is so, the list was too long, or contradicted the header.
	Omitted  bool
	payments []market.Payment
	// firsts are the accounts that sent their first transaction.
	firsts []market.Address
	// sent has all transactions, in the order of their hashes.
	sent []sentTransaction
}

// sentTransaction says who sent a transaction, and how many they had sent before.
type sentTransaction struct {
	hash  market.Hash
	from  market.Address
	nonce uint64
	// uncounted says that the nonce doesn't tell how many the sender had sent before.
	uncounted bool
}

// firstOfNitro and lastOfNitro are the types of the transactions that Arbitrum Nitro makes by itself: deposits (0x64), those that come from the parent
// chain (0x65, 0x66), retryable ones (0x68, 0x69) and its own (0x6a). Nobody signs them, and nearly all have the nonce 0.
const firstOfNitro, lastOfNitro = 0x64, 0x6a

// Has reports whether a transaction with a hash was told.
func (t *Transactions) Has(hash market.Hash) bool { return t.find(hash) != nil }

// AddTo puts into a block its payments, the accounts that sent their first transaction, and who sent those transactions that the block already has. Where
// none were told it leaves the block as one that was read without.
func (t *Transactions) AddTo(b *market.Block) {
	b.Payments, b.Firsts, b.HasPayments = t.payments, t.firsts, t.Told
	for i := range b.Txs {
		tx := &b.Txs[i]
		if sent := t.find(market.Hash(tx.ID.AppendTo(nil))); sent != nil && !sent.uncounted {
			tx.Sender, tx.Nonce = sent.from, sent.nonce
		}
	}
}

// find is the transaction with a hash; nil where there is none.
func (t *Transactions) find(hash market.Hash) *sentTransaction {
	i, ok := slices.BinarySearchFunc(t.sent, hash, func(s sentTransaction, h market.Hash) int { return bytes.Compare(s.hash[:], h[:]) })
	if !ok {
		return nil
	}
	return &t.sent[i]
}

// transactionList reads the field "transactions" of a block. A node that is asked for whole transactions may tell their hashes alone.
type transactionList struct {
	Transactions

	hashes int
	// tooMany says that the list goes on after maxTransactions.
	tooMany bool
	// block is the hash of the block that the transactions say they are in, where one does.
	block market.Hash
}

// read reads the list. Of a field that is told twice the last counts.
func (t *transactionList) read(p *rpc.Scanner) {
	*t = transactionList{}
	if p.IsNull() {
		return
	}
	t.Told = true
	p.Array(func() {
		switch {
		case p.Peek() == '"':
			p.Skip()
			t.hashes++
		case len(t.sent) == maxTransactions:
			p.Skip()
			t.tooMany = true
		default:
			t.readOne(p)
		}
	})
	if t.hashes > 0 && len(t.sent) > 0 {
		p.Fail()
	}
}

// The fields that a transaction has to have.
const (
	hasHash = 1 << iota
	hasFrom
	hasTo
	hasValue
	hasNonce
	hasAll = 1<<iota - 1
)

// depositType is the type of a rollup's deposit. Its block has it whether its sender has the value or not: it pays what it mints, and may pay less.
const depositType = 0x7e

// readOne reads a transaction of any type. Those that a rollup makes by itself, such as deposits, have a sender and a value like others.
func (t *transactionList) readOne(p *rpc.Scanner) {
	var sent sentTransaction
	var from, to, value, mint [32]byte
	creates, deposits, has := false, false, 0
	p.Object(func(key []byte) {
		switch string(key) {
		case "hash":
			p.Fixed(sent.hash[:])
			has |= hasHash
		case "from":
			p.Fixed(from[12:])
			has |= hasFrom
		case "to":
			if creates = p.IsNull(); !creates {
				p.Fixed(to[12:])
			}
			has |= hasTo
		case "value":
			value = p.Word()
			has |= hasValue
		case "nonce":
			sent.nonce = p.Number()
			has |= hasNonce
		case "type":
			// A type that is missing, or no number, is that of an ordinary transaction.
			kind, err := rpc.ParseQuantity(p.Raw())
			sent.uncounted = err == nil && kind >= firstOfNitro && kind <= lastOfNitro
			deposits = err == nil && kind == depositType
		case "mint":
			mint = quantityOf(p.Raw())
		case "blockHash":
			t.readBlockHash(p)
		default:
			p.Skip()
		}
	})
	if has != hasAll {
		p.Fail()
		return
	}
	sent.from = market.EVMParty(from)
	t.sent = append(t.sent, sent)
	if sent.nonce == 0 && !sent.uncounted && !sent.from.IsNone() { // some chains have transactions of their own that nobody sends
		t.firsts = append(t.firsts, sent.from)
	}
	unsure := deposits && bytes.Compare(value[:], mint[:]) > 0
	if value == [32]byte{} || creates || unsure || len(t.payments) == maxPayments {
		return
	}
	payment := market.Payment{From: sent.from, To: market.EVMParty(to)}
	payment.Amount.SetBytes32(value[:])
	t.payments = append(t.payments, payment)
}

// quantityOf is a quantity of at most 256 bits, or 0 where the JSON is none.
func quantityOf(raw []byte) [32]byte {
	p := rpc.NewScanner(raw)
	w := p.Word()
	if ok, _ := p.End(); !ok {
		return [32]byte{}
	}
	return w
}

func (t *transactionList) readBlockHash(p *rpc.Scanner) {
	if p.IsNull() {
		return
	}
	var block market.Hash
	p.Fixed(block[:])
	if !t.block.IsZero() && block != t.block {
		p.Fail()
	}
	t.block = block
}

// against holds the list against the header that it came with. What is neither a list of transactions nor one of hashes is an error.
func (t *transactionList) against(block market.Hash, w *wireHeader) (Transactions, error) {
	if !t.block.IsZero() && t.block != block {
		return Transactions{}, fmt.Errorf("%w: they are those of block %s", ErrTransactions, t.block)
	}
	slices.SortFunc(t.sent, func(a, b sentTransaction) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	for i := range t.sent {
		if i > 0 && t.sent[i].hash == t.sent[i-1].hash {
			return Transactions{}, fmt.Errorf("%w: two have the hash %s", ErrTransactions, t.sent[i].hash)
		}
	}
	t.dropRepeatedFirsts()
	// Where the header says that there are none, or the list does alone, one of both isn't about the block's transactions: some chains leave
	// their own ones out.
	root := string(w.fields[atTransactionsRoot])
	contradicts := root != "" && (root == noTransactions) != (len(t.sent) == 0)
	if omitted := !t.Told || t.hashes > 0; omitted || t.tooMany || contradicts {
		return Transactions{Omitted: omitted}, nil
	}
	return Transactions{Told: true, payments: slices.Clip(t.payments), firsts: slices.Clip(t.firsts), sent: t.sent}, nil
}

// dropRepeatedFirsts counts no transaction as an account's first where the list has two such of the account: one of both isn't.
func (t *transactionList) dropRepeatedFirsts() {
	count := make(map[market.Address]int, len(t.firsts))
	for _, account := range t.firsts {
		count[account]++
	}
	if len(count) == len(t.firsts) {
		return
	}
	t.firsts = slices.DeleteFunc(t.firsts, func(account market.Address) bool { return count[account] > 1 })
	for i := range t.sent {
		if tx := &t.sent[i]; tx.nonce == 0 && count[tx.from] > 1 {
			tx.uncounted = true
		}
	}
}
