// Package decode turns the logs of EVM chains into events, as values of internal/market: one file for each protocol of exchanges and of launch
// venues. It also reads a node's list of logs, and the texts of tokens.
package decode

import (
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Decoder turns logs into events. A log that means nothing here gives nil; no log makes it fail.
type Decoder struct {
	// anywhere are the events that any contract may log about itself, by topic 0.
	anywhere map[[32]byte]decodeFunc
	// at are the events that only one declared contract may log.
	at map[source]decodeFunc
}

type decodeFunc func(*Log) market.Event

type source struct {
	contract [20]byte
	topic    [32]byte
}

// exchangeBindings are the protocols of exchanges: what binds an exchange's factory, or the manager of its pools. A bonding curve is a launch
// venue's, and no exchange's.
var exchangeBindings = map[market.Protocol]func(d *Decoder, factory [20]byte){
	market.UniswapV2:     (*Decoder).uniswapV2,
	market.UniswapV3:     (*Decoder).uniswapV3,
	market.PancakeSwapV3: (*Decoder).pancakeSwapV3,
	market.UniswapV4:     (*Decoder).uniswapV4,
	market.Solidly:       (*Decoder).solidly,
	market.Slipstream:    (*Decoder).slipstream,
}

// New binds the protocols' events to the contracts that the chain document declares: the wrapped native coin, exchanges'
// factories, launch venues and the platform's routers.
func New(c *chainconfig.Chain) (*Decoder, error) {
	d := &Decoder{anywhere: map[[32]byte]decodeFunc{TopicTransfer: decodeTransfer}, at: map[source]decodeFunc{}}
	wrapped, err := contract(c.Native.Wrapped)
	if err != nil {
		return nil, fmt.Errorf("chain %s: native.wrapped: %w", c.ID, err)
	}
	d.at[source{wrapped, TopicDeposit}] = decodeDeposit
	d.at[source{wrapped, TopicWithdrawal}] = decodeWithdrawal
	for _, x := range c.Exchanges {
		factory, err := contract(x.Factory)
		if err != nil {
			return nil, fmt.Errorf("chain %s: exchange %s: factory: %w", c.ID, x.Name, err)
		}
		bind, ok := exchangeBindings[x.Protocol]
		if !ok {
			return nil, fmt.Errorf("chain %s: exchange %s: unknown protocol %q; known are %v", c.ID, x.Name, x.Protocol, market.Protocols)
		}
		bind(d, factory)
	}
	if err := d.venues(c); err != nil {
		return nil, err
	}
	if err := d.platformFee(c); err != nil {
		return nil, err
	}
	return d, nil
}

// Decode gives the event that a log is, or nil.
func (d *Decoder) Decode(l *Log) market.Event {
	if l.NumTopics == 0 {
		return nil
	}
	if f, ok := d.anywhere[l.Topics[0]]; ok {
		return f(l)
	}
	if f, ok := d.at[source{l.Address, l.Topics[0]}]; ok {
		return f(l)
	}
	return nil
}

// Block decodes the logs of a block, which are in their order, and groups the events by transaction.
func (d *Decoder) Block(h market.Header, logs []Log) market.Block {
	b := market.Block{Header: h}
	for i := range logs {
		l := &logs[i]
		e := d.Decode(l)
		if e == nil {
			continue
		}
		if id := market.EVMTx(l.TxHash); len(b.Txs) == 0 || b.Txs[len(b.Txs)-1].ID != id {
			b.Txs = append(b.Txs, market.Tx{ID: id})
		}
		tx := &b.Txs[len(b.Txs)-1]
		tx.Logs = append(tx.Logs, market.Log{Index: uint64(l.Index), Event: e})
	}
	return b
}

// Topics lists the first topics of all events, for the node's filter.
func (d *Decoder) Topics() [][32]byte {
	seen := map[[32]byte]bool{}
	var out [][32]byte
	add := func(t [32]byte) {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	for t := range d.anywhere {
		add(t)
	}
	for s := range d.at {
		add(s.topic)
	}
	return out
}

// contract is a declared contract's address as a log has it.
func contract(a market.Address) (out [20]byte, err error) {
	if a.Kind() != market.EVMAccount {
		return out, fmt.Errorf("%q is no contract of an EVM chain", a)
	}
	copy(out[:], a.Bytes())
	return out, nil
}

// topic is an event's first topic: the Keccak-256 of its signature.
func topic(signature string) [32]byte { return hash.Keccak256([]byte(signature)) }

// Address is the address of a contract as a log has it.
func Address(b [20]byte) market.Address {
	var w [32]byte
	copy(w[12:], b[:])
	return market.EVMAddress(w)
}

// Uint reads an unsigned number.
func Uint(w [32]byte) (v market.Amount) {
	v.SetBytes32(w[:])
	return v
}

// Int24 reads a sign-extended tick. ok is false for a word that is no int24.
func Int24(w [32]byte) (int32, bool) {
	s := market.SignedFromWord(w)
	if !s.Abs.IsUint64() || s.Abs.Uint64() > 1<<23 || (s.Abs.Uint64() == 1<<23 && !s.Neg) {
		return 0, false
	}
	n := int32(s.Abs.Uint64())
	if s.Neg {
		n = -n
	}
	return n, true
}

// words takes the first n words of a log's data; ok is false when there are fewer.
func words(l *Log, n int) (w [8][32]byte, ok bool) {
	for i := range n {
		if w[i], ok = l.word(i); !ok {
			return w, false
		}
	}
	return w, true
}
