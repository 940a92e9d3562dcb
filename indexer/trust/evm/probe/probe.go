// Package probe is the contract that trades a token in a simulated call, compiled, with the encoding of what it is told and
// what it answers.
package probe

//go:generate go run ./gen

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Code is the contract's runtime code.
func Code() ([]byte, error) { return hex.DecodeString(runtime) }

// Gas is what a trial may burn: five stages, each with a limit of its own, and what is around them.
const Gas = 14_000_000

// Delegate is runtime code that does what the contract at an address does (EIP-1167): for the other addresses of a trial,
// whose code would only repeat the contract's.
func Delegate(to market.Address) []byte {
	code := append([]byte{0x36, 0x3d, 0x3d, 0x37, 0x3d, 0x3d, 0x3d, 0x36, 0x3d, 0x73}, to.Bytes()...)
	return append(code, 0x5a, 0xf4, 0x3d, 0x82, 0x80, 0x3e, 0x90, 0x3d, 0x91, 0x60, 0x2b, 0x57, 0xfd, 0x5b, 0xf3)
}

// Kind is how a market is traded with, as the contract numbers it.
type Kind uint8

// The kinds. None is no market.
const (
	None Kind = iota
	Pair
	Solidly
	Pool
	Manager
	Boardwalk
	FourMeme
	Flap
	Pons
)

// Market is a place to trade. The native coin is market.Native; addresses may be none where the kind doesn't have them.
type Market struct {
	Kind               Kind
	Venue, Base, Quote market.Address
	FeePips            uint32
	TickSpacing        int32
	Hooks              market.Address
}

// Plan is what a trial is to do: spend that much of the native coin, through Funding where the market takes another, on the
// market's base. Peer is a second address, with the contract's code by Delegate.
type Plan struct {
	Wrapped         market.Address
	Spend           market.Amount
	Peer            market.Address
	Funding, Market Market
}

// Stage is where a trial ended: the stage that was refused.
type Stage uint8

// The stages.
const (
	Done Stage = iota
	Fund
	Buy
	Sell
)

// Measures are the results of a trade. Amounts are raw; given is what the market's own accounting says it gave, got what
// arrived, reached what arrived in the market.
type Measures struct {
	Stage                                     Stage
	BuyGiven, BuyGot                          market.Amount
	Transferred                               bool
	OutSent, OutGot, BackSent, BackGot        market.Amount
	SellSent, SellReached, SellGiven, SellGot market.Amount
	// HandedSent and HandedGot are of a plain transfer to the market, tried where the sale was refused.
	HandedSent, HandedGot market.Amount
	// Reason is how the last refusal began: at most 256 bytes of whatever the contract answered.
	Reason []byte
}

// Power is what a call by the owner changed.
type Power struct {
	Stage Stage
	// Worked says that the token accepted the owner's call.
	Worked                        bool
	TransferBefore, TransferAfter bool
	SellAfter                     bool
	SupplyBefore, SupplyAfter     market.Amount
}

const (
	marketType = "(uint8,address,address,address,uint24,int24,address)"
	planType   = "(address,uint256,address," + marketType + "," + marketType + ")"
)

var (
	tradeSelector = hash.Selector("trade(" + planType + ")")
	powerSelector = hash.Selector("power(" + planType + ",address,address,bytes)")
)

// Trade encodes the call that buys, transfers and sells.
func Trade(p *Plan) []byte { return appendPlan(append([]byte(nil), tradeSelector...), p) }

// PowerOf encodes the call that lets a token's owner call the token in between.
func PowerOf(p *Plan, token, owner market.Address, order []byte) []byte {
	out := appendPlan(append([]byte(nil), powerSelector...), p)
	out = appendAddress(appendAddress(out, token), owner)
	out = appendUint(out, uint64(len(out)-4+32))
	return append(appendUint(out, uint64(len(order))), pad(order)...)
}

func appendPlan(out []byte, p *Plan) []byte {
	out = appendAddress(out, p.Wrapped)
	spend := p.Spend.Bytes32()
	out = append(out, spend[:]...)
	out = appendAddress(out, p.Peer)
	return appendMarket(appendMarket(out, &p.Funding), &p.Market)
}

func appendMarket(out []byte, m *Market) []byte {
	out = appendUint(out, uint64(m.Kind))
	out = appendAddress(appendAddress(appendAddress(out, m.Venue), m.Base), m.Quote)
	out = appendUint(out, uint64(m.FeePips))
	return appendAddress(append(out, Int(int64(m.TickSpacing))...), m.Hooks)
}

// Address is an address as an ABI word; none is zero.
func Address(a market.Address) []byte { return appendAddress(nil, a) }

// Uint is a number as an ABI word.
func Uint(n uint64) []byte { return appendUint(nil, n) }

// Int is a signed number as an ABI word.
func Int(n int64) []byte {
	var v market.Amount
	if v.SetUint64(uint64(max(n, -n))); n < 0 {
		v.Neg(&v)
	}
	word := v.Bytes32()
	return word[:]
}

func appendAddress(out []byte, a market.Address) []byte {
	var word [32]byte
	if b := a.Bytes(); len(b) == market.EVMAddressLen {
		copy(word[12:], b)
	}
	return append(out, word[:]...)
}

func appendUint(out []byte, n uint64) []byte {
	var v market.Amount
	v.SetUint64(n)
	word := v.Bytes32()
	return append(out, word[:]...)
}

func pad(b []byte) []byte {
	return append(append([]byte(nil), b...), make([]byte, (32-len(b)%32)%32)...)
}

// errAnswer is an answer that the contract doesn't give.
var errAnswer = errors.New("the trial's answer makes no sense")

// reader takes words off an answer.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) amount() (v market.Amount) {
	if len(r.b) < 32 {
		r.bad = true
		return v
	}
	v.SetBytes32(r.b[:32])
	r.b = r.b[32:]
	return v
}

func (r *reader) small(most uint64) uint64 {
	v := r.amount()
	if !v.IsUint64() || v.Uint64() > most {
		r.bad = true
		return 0
	}
	return v.Uint64()
}

func (r *reader) flag() bool { return r.small(1) == 1 }

// ReadTrade decodes the answer to Trade.
func ReadTrade(answer []byte) (m Measures, err error) {
	r := reader{b: answer}
	m.Stage = Stage(r.small(uint64(Sell)))
	m.BuyGiven, m.BuyGot = r.amount(), r.amount()
	m.Transferred = r.flag()
	m.OutSent, m.OutGot, m.BackSent, m.BackGot = r.amount(), r.amount(), r.amount(), r.amount()
	m.SellSent, m.SellReached, m.SellGiven, m.SellGot = r.amount(), r.amount(), r.amount(), r.amount()
	m.HandedSent, m.HandedGot = r.amount(), r.amount()
	_ = r.small(uint64(len(answer))) // the offset of what follows
	n := r.small(uint64(len(answer)))
	if r.bad || uint64(len(r.b)) < n {
		return Measures{}, fmt.Errorf("%w: %d bytes", errAnswer, len(answer))
	}
	m.Reason = r.b[:n]
	return m, nil
}

// ReadPower decodes the answer to PowerOf.
func ReadPower(answer []byte) (p Power, err error) {
	r := reader{b: answer}
	p.Stage = Stage(r.small(uint64(Sell)))
	p.Worked, p.TransferBefore, p.TransferAfter, p.SellAfter = r.flag(), r.flag(), r.flag(), r.flag()
	p.SupplyBefore, p.SupplyAfter = r.amount(), r.amount()
	if r.bad {
		return Power{}, fmt.Errorf("%w: %d bytes", errAnswer, len(answer))
	}
	return p, nil
}
