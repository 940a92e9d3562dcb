package evm

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// dead is where tokens are sent to be gone.
var dead = market.EVMAddress([32]byte{30: 0xde, 31: 0xad})

func isNobody(a market.Address) bool { return a.IsNative() || a == dead }

// ownerState is what the contract says of its owner.
type ownerState struct {
	// None of live and renounced: it says nothing, which is not the same as having none.
	live, renounced bool
	account         market.Address
	pending         market.Address // none where nobody waits to take over
	venue           string         // the venue whose contract it is
}

func (l *look) owner() (o ownerState) {
	account, ok := l.state.owner.Address()
	if !ok {
		account, ok = l.state.getOwner.Address()
	}
	if !ok {
		return o
	}
	o.account = account
	o.renounced = isNobody(account)
	if p, ok := l.state.pending.Address(); ok && !isNobody(p) {
		o.pending = p
		if o.renounced { // whoever waits may take it back
			o.renounced, o.account = false, p
		}
	}
	o.live = !o.renounced
	o.venue = l.c.contracts[o.account]
	return o
}

// kindOf says what an account is, by its code.
func kindOf(code *evm.Question) string {
	if code == nil || !code.OK {
		return "an account of an unknown kind"
	}
	if _, ok := delegatedAccount(code.Answer); ok {
		return "an account whose key has delegated to a contract (EIP-7702)"
	}
	if len(code.Answer) == 0 {
		return "an account with a key"
	}
	return "a contract"
}

func hasKey(code *evm.Question) bool {
	if code == nil || !code.OK {
		return false
	}
	_, delegated := delegatedAccount(code.Answer)
	return delegated || len(code.Answer) == 0
}

func (l *look) ownership(rule trust.Rule) trust.Check {
	o := l.owner()
	var c trust.Check
	detail := "owner() answers nothing usable"
	switch {
	case o.renounced:
		c, detail = rule.Pass(o.account.String()), "the owner is nobody"
	case o.venue != "":
		c, detail = rule.Pass(o.account.String()), "the owner is the contract of venue "+o.venue
	case o.live:
		c, detail = rule.Judge(trust.Warn, trust.Medium, o.account.String()), "the owner is "+kindOf(l.behind.ownerCode)
		if !o.pending.IsNone() {
			detail += "; " + o.pending.String() + " may take over"
		}
	case !l.state.owner.OK && !l.state.owner.Reverted:
		return rule.Unknown(trust.CallFailed)
	default:
		c = rule.Unknown(trust.OwnerUnknown)
	}
	c.Evidence = append(c.Evidence, l.evidence("call", l.mint.String(), detail))
	return c
}

// proxyKind is how a contract stands for another.
type proxyKind string

const (
	proxyNone    proxyKind = ""
	proxyClone   proxyKind = "EIP-1167"
	proxyAccount proxyKind = "EIP-7702"
	proxySlot    proxyKind = "ERC-1967"
	proxyUUPS    proxyKind = "ERC-1822"
	proxyBeacon  proxyKind = "ERC-1967 beacon"
)

type proxyState struct {
	kind                 proxyKind
	logic, beacon, admin market.Address
}

// proxy reads the token's code and slots. Those of a clone are its own: the contract that it stands for may be a proxy too.
func (l *look) proxy() (p proxyState) {
	s := &l.state
	named := func(q *evm.Question) market.Address {
		if a, ok := q.Address(); ok && !a.IsNative() {
			return a
		}
		return market.Address{}
	}
	p.admin = named(s.admin)
	if p.logic = named(s.implementation); !p.logic.IsNone() {
		p.kind = proxySlot
		return p
	}
	if p.beacon = named(s.beacon); !p.beacon.IsNone() {
		p.kind = proxyBeacon
		return p
	}
	if p.logic = named(s.proxiable); !p.logic.IsNone() {
		p.kind = proxyUUPS
		return p
	}
	p.admin = market.Address{}
	if !s.code.OK {
		return p
	}
	if a, ok := clonedContract(s.code.Answer); ok {
		p.kind, p.logic = proxyClone, a
	} else if a, ok := delegatedAccount(s.code.Answer); ok {
		p.kind, p.logic = proxyAccount, a
	}
	return p
}

// proxied fails where the code can be replaced, the worse the fewer keys that takes.
func (l *look) proxied(rule trust.Rule) trust.Check {
	if !l.state.code.OK || !l.state.implementation.OK || !l.state.beacon.OK || !l.state.proxiable.OK {
		return rule.Unknown(trust.CallFailed)
	}
	p := l.proxy()
	var c trust.Check
	detail := ""
	switch p.kind {
	case proxyNone:
		if l.code == nil {
			return rule.Unknown(trust.CallFailed)
		}
		c, detail = rule.Pass(false), "the code stands for itself"
		if l.code.delegates {
			c, detail = rule.Judge(trust.Warn, trust.Medium, true), "it calls code elsewhere in its own name, and no known slot says which"
		}
	case proxyClone:
		c, detail = rule.Pass(false), "a clone of "+p.logic.String()+" for good (EIP-1167)"
	case proxyAccount:
		c, detail = rule.Judge(trust.Fail, trust.High, true), "an account with a key that stands for "+p.logic.String()+" (EIP-7702)"
	case proxySlot, proxyUUPS, proxyBeacon:
		severity, who := l.whoReplaces(p)
		c, detail = rule.Judge(trust.Fail, severity, true), string(p.kind)+" proxy; "+who
	}
	c.Evidence = append(c.Evidence, l.evidence("account", l.mint.String(), detail))
	return c
}

// whoReplaces finds the account that may replace a proxy's code: the admin, the owner of the beacon, the token's own owner
// where it replaces itself.
func (l *look) whoReplaces(p proxyState) (trust.Severity, string) {
	b := &l.behind
	heir := func(q *evm.Question) (market.Address, bool) {
		if q == nil {
			return market.Address{}, false
		}
		return q.Address()
	}
	switch {
	case p.kind == proxyBeacon:
		if a, ok := heir(b.beaconOwner); ok {
			return trust.Medium, "the owner of its beacon is " + a.String()
		}
		return trust.Medium, "its beacon says no owner"
	case !p.admin.IsNone() && hasKey(b.adminCode):
		return trust.High, "its admin " + p.admin.String() + " is " + kindOf(b.adminCode)
	case !p.admin.IsNone():
		if a, ok := heir(b.adminOwner); ok {
			return trust.Medium, "its admin is a contract owned by " + a.String()
		}
		return trust.Medium, "its admin is " + p.admin.String()
	}
	o := l.owner()
	if o.live && hasKey(b.ownerCode) {
		return trust.High, "its owner " + o.account.String() + " is " + kindOf(b.ownerCode)
	}
	return trust.Medium, "it has no admin slot"
}

// codeKnown holds the code against other tokens of the same declared venue: what a venue's contract deploys differs in the
// numbers and addresses that its constructor wrote and in nothing else, and nobody but the venue chooses the template. One other
// token is enough to be equal to; one that differs, where another is equal, is of an older template. A token that no
// declared venue launched has no template.
func (l *look) codeKnown(rule trust.Rule) trust.Check {
	if l.known.Launch == nil || l.c.venues[l.known.Launch.Venue].protocol == "" || len(l.state.siblings) == 0 {
		return rule.Unknown(trust.NoTemplate)
	}
	if !l.state.code.OK {
		return rule.Unknown(trust.CallFailed)
	}
	own := l.shapeOf(l.state.code.Answer)
	compared := 0
	for i, q := range l.state.siblings {
		if !q.OK || len(q.Answer) == 0 {
			continue
		}
		compared++
		if l.shapeOf(q.Answer) == own {
			c := rule.Pass(true)
			c.Evidence = append(c.Evidence, l.evidence("account", l.known.Siblings[i].String(),
				"the same code, constants aside, as this token of venue "+l.known.Launch.Venue))
			return c
		}
	}
	if compared == 0 {
		return rule.Unknown(trust.NoTemplate)
	}
	c := rule.Judge(trust.Warn, trust.Info, false)
	c.Evidence = append(c.Evidence, l.evidence("account", l.mint.String(), "other code than that of the venue's other tokens"))
	return c
}

// shapeOf tells clones of different contracts apart, whose code differs in the constant alone.
func (l *look) shapeOf(code []byte) [32]byte {
	if a, ok := clonedContract(code); ok {
		return hash.Keccak256(slices.Concat([]byte("clone of "), a.Bytes()))
	}
	return readRuntime(code).shape
}

// sourceVerified is never known: no node has a contract's source.
func (l *look) sourceVerified(rule trust.Rule) trust.Check {
	return rule.Unknown(trust.NeedsOutsideService)
}
