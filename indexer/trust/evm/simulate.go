package evm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/evm"
	check "github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// powersAtOnce bounds the functions of each kind that are tried with the owner's word.
const powersAtOnce = 4

// senders is how many accounts trade: one may be let through where others aren't.
const senders = 2

// trade is one simulated trade.
type trade struct {
	sender, size int
	q            *evm.Question
	// ok says that the node gave the probe's answer.
	ok bool
	probe.Measures
}

// bought and sold say how far the trade came.
func (t *trade) bought() bool { return t.ok && (t.Stage == probe.Done || t.Stage == probe.Sell) }
func (t *trade) sold() bool   { return t.ok && t.Stage == probe.Done }

// power is one simulated call by the owner.
type power struct {
	function

	list string // the check that it is for
	q    *evm.Question
	ok   bool
	probe.Power
}

// stranger is an address that nobody could have let through beforehand.
func (c *Looker) stranger() (market.Address, error) {
	var b [market.EVMAddressLen]byte
	if _, err := io.ReadFull(c.o.Rand, b[:]); err != nil {
		return market.Address{}, err
	}
	b[0] |= 0x80 // no precompile
	return market.AddressFromBytes(b[:])
}

// simulate trades in one batch: two senders, two sizes, and what the owner could do in between.
func (l *look) simulate(ctx context.Context) {
	if l.noMarket != "" {
		l.refused = l.noMarket
		return
	}
	list, err := l.plan()
	if err != nil {
		l.refused, l.failed = trust.CallFailed, true
		l.c.o.Log.WarnContext(ctx, "a token's trades not simulated", "mint", l.mint.String(), "err", err.Error())
		return
	}
	err = l.c.node.Ask(ctx, l.at(), list)
	switch {
	case errors.Is(err, evm.ErrNoOverride):
		l.refused = trust.RPCCapability
		return
	case err != nil:
		l.refused, l.failed, l.gone = trust.CallFailed, true, errors.Is(err, evm.ErrStateGone)
		l.c.o.Log.WarnContext(ctx, "a token's trades not simulated", "mint", l.mint.String(), "err", err.Error())
		return
	}
	for i := range l.trades {
		t := &l.trades[i]
		if t.q.OK {
			t.Measures, err = probe.ReadTrade(t.q.Answer)
			t.ok = err == nil
		}
		l.failed = l.failed || !t.ok
	}
	for i := range l.powers {
		p := &l.powers[i]
		if p.q.OK {
			p.Power, err = probe.ReadPower(p.q.Answer)
			p.ok = err == nil
		}
	}
}

func (l *look) plan() ([]*evm.Question, error) {
	var out []*evm.Question
	for sender := range senders {
		account, err := l.c.stranger()
		if err != nil {
			return nil, err
		}
		peer, err := l.c.stranger()
		if err != nil {
			return nil, err
		}
		for size := range l.sizes {
			p := l.planOf(peer, l.sizes[size])
			q := l.call(account, peer, probe.Trade(&p), l.sizes[size])
			l.trades = append(l.trades, trade{sender: sender, size: size, q: q})
			out = append(out, q)
		}
		if sender == 0 {
			out = append(out, l.planPowers(account, peer)...)
		}
	}
	return out, nil
}

func (l *look) planOf(peer market.Address, spend market.Amount) probe.Plan {
	return probe.Plan{Wrapped: l.c.wrapped, Spend: spend, Peer: peer, Funding: l.funding, Market: l.target}
}

// planPowers tries what the owner's functions do, of those that the code has.
func (l *look) planPowers(account, peer market.Address) (out []*evm.Question) {
	owner := l.owner()
	if l.code == nil || !owner.live || owner.venue != "" || owner.account == l.mint {
		return nil
	}
	supply, _ := l.state.supply.Uint()
	for _, kind := range []struct {
		check string
		list  []function
	}{{trust.Pausable, pausing}, {trust.Blacklist, blocking}, {trust.Mintable, minting}} {
		found := l.code.in(kind.list)
		for _, f := range found[:min(len(found), powersAtOnce)] {
			p := l.planOf(peer, l.sizes[0])
			q := l.call(account, peer, probe.PowerOf(&p, l.mint, owner.account, f.order(account, &supply)), l.sizes[0])
			q.Overrides = append(q.Overrides, evm.Override{Account: owner.account, Code: probe.Delegate(account)})
			l.powers = append(l.powers, power{function: f, list: kind.check, q: q})
			out = append(out, q)
		}
	}
	return out
}

// call is a simulated call of the probe by itself. Its gas costs something where the chain's does, as it would in earnest.
func (l *look) call(account, peer market.Address, data []byte, spend market.Amount) *evm.Question {
	var balance, gas market.Amount
	q := &evm.Question{To: account, From: account, Data: data, Gas: probe.Gas}
	if v, ok := l.state.gasPrice.Uint(); ok && v.IsUint64() && v.Uint64() < math.MaxUint64/4 {
		q.GasPrice = 2 * v.Uint64() // the next block may ask for more
	}
	gas.SetUint64(q.GasPrice)
	gas.Mul(&gas, new(market.Amount).SetUint64(2*probe.Gas))
	balance.Add(&spend, &gas)
	balance.Add(&balance, &spend)
	q.Overrides = []evm.Override{
		{Account: account, Code: l.c.code, Balance: &balance},
		{Account: peer, Code: probe.Delegate(account)},
	}
	return q
}

// lost is the part of sent, in percent, that didn't arrive; to four decimals.
func lost(sent, arrived float64) float64 {
	if sent <= 0 || arrived >= sent {
		return 0
	}
	return math.Round((1-max(arrived, 0)/sent)*1e6) / 1e4
}

// line says how one trade went. A contract's own words are cut down to what is harmless to show.
func (t *trade) line() string {
	size := [2]string{"small", "large"}[t.size]
	head := fmt.Sprintf("sender %d, %s trade: ", t.sender+1, size)
	switch {
	case !t.ok:
		return head + "no answer"
	case t.Stage == probe.Fund:
		return head + "what the market takes could not be got" + words(t.Reason)
	case t.Stage == probe.Buy:
		return head + "the purchase was refused" + words(t.Reason)
	case t.Stage == probe.Sell:
		return head + "bought, the sale was refused" + words(t.Reason)
	case !t.Transferred:
		return head + "bought and sold, a transfer was refused" + words(t.Reason)
	}
	return head + "bought, transferred and sold"
}

// words are those of a Solidity Error(string), if the refusal is one.
func words(reason []byte) string {
	const head = 4 + 64
	if len(reason) < head || [4]byte(reason) != [4]byte{0x08, 0xc3, 0x79, 0xa0} {
		return ""
	}
	text := reason[head:]
	if n := reason[head-1]; int(n) < len(text) {
		text = text[:n]
	}
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`<>&"'\`, r) {
			return -1
		}
		return r
	}, string(text[:min(len(text), 80)]))
	if clean == "" {
		return ""
	}
	return ` with "` + clean + `"`
}

// simulated adds the evidence of all trades.
func (l *look) simulated(c trust.Check) trust.Check {
	for i := range l.trades {
		c.Evidence = append(c.Evidence, l.evidence("simulation", l.target.Venue.String(), l.trades[i].line()))
	}
	return c
}

// nothingBought is why no trade got as far as owning the token; empty where one did.
func (l *look) nothingBought() string {
	if l.refused != "" {
		return l.refused
	}
	reason := trust.CallFailed
	for i := range l.trades {
		t := &l.trades[i]
		switch {
		case t.bought():
			return ""
		case t.ok && t.Stage == probe.Fund && reason != trust.BuyReverted:
			reason = trust.NoRoute
		case t.ok && t.Stage == probe.Buy:
			reason = trust.BuyReverted
		}
	}
	return reason
}

// worthless is the tax, in percent, from which on a sale is as good as refused.
const worthless = 90

// honeypot passes once both senders sold what they bought. One sale that is refused after its purchase went through is enough to
// fail, whoever's it is: a purchase too large for the token is its limit, a sale too large is a trap.
func (l *look) honeypot(rule trust.Rule) trust.Check {
	if reason := l.nothingBought(); reason != "" {
		return l.simulated(rule.Unknown(reason))
	}
	trapped, sold := false, map[int]bool{}
	for i := range l.trades {
		t := &l.trades[i]
		if t.bought() && !t.sold() {
			trapped = true
		}
		if t.sold() {
			sold[t.sender] = true
			trapped = trapped || t.sellTax() > worthless
		}
	}
	switch {
	case trapped:
		return l.simulated(rule.Judge(trust.Fail, trust.Critical, true))
	case len(sold) < senders:
		return l.simulated(rule.Unknown(trust.CallFailed))
	}
	return l.simulated(rule.Pass(false))
}

func (t *trade) buyTax() float64 { return lost(t.BuyGiven.Float64(), t.BuyGot.Float64()) }

// sellTax is the share that is lost of the tokens on their way into the market, and of the market's payment on its way back.
func (t *trade) sellTax() float64 {
	if t.Stage == probe.Sell {
		return lost(t.HandedSent.Float64(), t.HandedGot.Float64())
	}
	in, out := t.SellReached.Float64()/max(t.SellSent.Float64(), 1), t.SellGot.Float64()/max(t.SellGiven.Float64(), 1)
	return lost(1, min(in, 1)*min(out, 1))
}

func (t *trade) transferTax() float64 {
	return max(lost(t.OutSent.Float64(), t.OutGot.Float64()), lost(t.BackSent.Float64(), t.BackGot.Float64()))
}

// worst is the highest tax of the trades that have one.
func (l *look) worst(rule trust.Rule, missing string, has func(*trade) bool, tax func(*trade) float64) trust.Check {
	if reason := l.nothingBought(); reason != "" {
		return l.simulated(rule.Unknown(reason))
	}
	most := -1.0
	var evidence []trust.Evidence
	for i := range l.trades {
		t := &l.trades[i]
		if !has(t) {
			continue
		}
		v := tax(t)
		most = max(most, v)
		evidence = append(evidence, l.evidence("simulation", l.target.Venue.String(),
			fmt.Sprintf("sender %d, %s trade: %.4g %%", t.sender+1, [2]string{"small", "large"}[t.size], v)))
	}
	if most < 0 {
		return l.simulated(rule.Unknown(missing))
	}
	c := rule.Measure(most)
	c.Evidence = evidence
	return c
}

func (l *look) buyTax(rule trust.Rule) trust.Check {
	return l.worst(rule, trust.BuyReverted, (*trade).bought, (*trade).buyTax)
}

// sellTax counts a plain transfer to the market where the sale itself was refused.
func (l *look) sellTax(rule trust.Rule) trust.Check {
	return l.worst(rule, trust.SellReverted, func(t *trade) bool {
		return t.sold() || (t.bought() && !t.HandedSent.IsZero())
	}, (*trade).sellTax)
}

// transferTax fails where a transfer between two accounts is refused, but for curves: some venues let nobody transfer until
// the token is in a pool.
func (l *look) transferTax(rule trust.Rule) trust.Check {
	held := false
	for i := range l.trades {
		held = held || (l.trades[i].bought() && !l.trades[i].Transferred)
	}
	curve := l.known.Launch != nil && l.known.Launch.OnCurve()
	if held && !curve && l.nothingBought() == "" {
		return l.simulated(rule.Judge(trust.Fail, trust.High, nil))
	}
	return l.worst(rule, trust.TransferReverted, func(t *trade) bool { return t.bought() && t.Transferred }, (*trade).transferTax)
}

func (l *look) pausable(rule trust.Rule) trust.Check {
	stopped := false
	for i := range l.trades {
		stopped = stopped || (l.trades[i].bought() && !l.trades[i].sold())
	}
	paused, ok := l.state.paused.Uint()
	isPaused := ok && len(l.state.paused.Answer) == 32 && paused.IsUint64() && paused.Uint64() == 1
	if isPaused && (stopped || l.nothingBought() != "") {
		c := rule.Judge(trust.Fail, trust.Critical, true)
		c.Source = check.FromAccounts
		c.Evidence = append(c.Evidence, l.evidence("call", l.mint.String(), "paused() answers true"))
		return c
	}
	return l.control(rule, pausing, "stops transfers")
}

func (l *look) blacklist(rule trust.Rule) trust.Check {
	return l.control(rule, blocking, "blocks an account")
}

// control is whether the owner has a function that stops trade. What the simulation shows counts; a name alone doesn't.
func (l *look) control(rule trust.Rule, list []function, does string) trust.Check {
	if c, done := l.byName(rule, list); done {
		return c
	}
	if reason := l.nothingBought(); reason != "" {
		return rule.Unknown(reason)
	}
	var evidence []trust.Evidence
	sells := l.honeypot(rule).Result == trust.Pass
	effective, accepted, tried := false, false, false
	for i := range l.powers {
		p := &l.powers[i]
		if p.list != rule.ID || !p.ok || p.Stage != probe.Done {
			continue
		}
		tried = true
		works := p.Worked && ((p.TransferBefore && !p.TransferAfter) || (sells && !p.SellAfter))
		detail := p.signature + " is refused to the owner"
		switch {
		case works:
			detail = p.signature + " by the owner " + does
		case p.Worked:
			detail = p.signature + " by the owner stops nothing"
		}
		effective, accepted = effective || works, accepted || p.Worked
		evidence = append(evidence, l.evidence("simulation", l.mint.String(), detail))
	}
	var c trust.Check
	switch {
	case effective:
		c = rule.Judge(trust.Warn, trust.Critical, true)
	case !tried:
		c = rule.Unknown(trust.CallFailed)
	case !accepted:
		c = rule.Unknown(trust.OwnerUnknown)
	default:
		c = rule.Pass(false)
	}
	c.Evidence = evidence
	return c
}

// byName is what the code's selectors and the owner settle without a simulation; done is false where they leave it open.
func (l *look) byName(rule trust.Rule, list []function) (c trust.Check, done bool) {
	if l.code == nil {
		return rule.Unknown(trust.CallFailed), true
	}
	found := l.code.in(list)
	where := l.evidence("account", l.mint.String(), fmt.Sprintf("none of %d known functions in the code", len(list)))
	if len(found) > 0 {
		where.Detail = found[0].signature + " is in the code"
	}
	owner := l.owner()
	switch {
	case len(found) == 0:
		c = rule.Pass(false)
	case owner.renounced:
		c = rule.Pass(false)
		where.Detail += "; its owner is nobody"
	case owner.venue != "":
		c = rule.Pass(false)
		where.Detail += "; its owner is the contract of venue " + owner.venue
	case !owner.live:
		c = rule.Unknown(trust.OwnerUnknown)
	default:
		return c, false
	}
	c.Source = check.FromAccounts
	c.Evidence = append(c.Evidence, where)
	return c, true
}

// mintable warns of a function that mints and of an owner who may use it, whether or not the owner's word is enough: a minter may
// be somebody else.
func (l *look) mintable(rule trust.Rule) trust.Check {
	if c, done := l.byName(rule, minting); done {
		return c
	}
	c := rule.Judge(trust.Warn, trust.High, true)
	c.Source = check.FromAccounts
	c.Evidence = append(c.Evidence, l.evidence("account", l.mint.String(), l.code.in(minting)[0].signature+" is in the code, and there is an owner"))
	for i := range l.powers {
		p := &l.powers[i]
		if p.list == rule.ID && p.ok && p.Worked && p.SupplyAfter.Gt(&p.SupplyBefore) {
			c.Source = check.FromSimulation
			c.Evidence = append(c.Evidence, l.evidence("simulation", l.mint.String(), p.signature+" by the owner adds to the supply"))
		}
	}
	return c
}
