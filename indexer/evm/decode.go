// Package evm reads EVM chains: a JSON-RPC source over several endpoints, and one decoder file per protocol. It returns
// values of internal/market and knows no database.
package evm

import (
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Decoder turns logs into events. A log that means nothing here gives nil; no log makes it fail.
type Decoder struct {
	// anywhere are the events that any contract may log about itself, by topic 0.
	anywhere map[[32]byte]decode
	// at are the events that only one declared contract may log.
	at map[source]decode
}

type decode func(*Log) market.Event

type source struct {
	contract [20]byte
	topic    [32]byte
}

// NewDecoder binds the protocols' events to the contracts that the chain document declares: the wrapped native coin, exchanges'
// factories and launch venues.
func NewDecoder(c *chainconfig.Chain) (*Decoder, error) {
	d := &Decoder{anywhere: map[[32]byte]decode{topicTransfer: decodeTransfer}, at: map[source]decode{}}
	wrapped, err := contract(c.Native.Wrapped)
	if err != nil {
		return nil, fmt.Errorf("chain %s: native.wrapped: %w", c.ID, err)
	}
	d.at[source{wrapped, topicDeposit}] = decodeDeposit
	d.at[source{wrapped, topicWithdrawal}] = decodeWithdrawal
	for _, x := range c.Exchanges {
		factory, err := contract(x.Factory)
		if err != nil {
			return nil, fmt.Errorf("chain %s: exchange %s: factory: %w", c.ID, x.Name, err)
		}
		switch x.Protocol {
		case market.UniswapV2:
			d.uniswapV2(factory)
		case market.UniswapV3:
			d.uniswapV3(factory, market.UniswapV3)
		case market.PancakeSwapV3:
			d.pancakeSwapV3(factory)
		case market.UniswapV4:
			d.uniswapV4(factory)
		case market.Solidly:
			d.solidly(factory)
		case market.Slipstream:
			d.slipstream(factory)
		case market.BondingCurve: // a launch venue's, no exchange's
			fallthrough
		default:
			return nil, fmt.Errorf("chain %s: exchange %s: unknown protocol %q; known are %v", c.ID, x.Name, x.Protocol,
				market.Protocols)
		}
	}
	if err := d.venues(c); err != nil {
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

func contract(s string) (out [20]byte, err error) {
	a, err := market.ParseEVMAddress(s)
	if err != nil {
		return out, err
	}
	copy(out[:], a.Bytes())
	return out, nil
}

// topic is an event's first topic: the Keccak-256 of its signature.
func topic(signature string) [32]byte { return keccak256([]byte(signature)) }

func addressOf(b [20]byte) market.Address {
	var w [32]byte
	copy(w[12:], b[:])
	return market.EVMAddress(w)
}

func uintOf(w [32]byte) (v market.Amount) {
	v.SetBytes32(w[:])
	return v
}

// int24Of reads a sign-extended tick. ok is false for a word that is no int24.
func int24Of(w [32]byte) (int32, bool) {
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
