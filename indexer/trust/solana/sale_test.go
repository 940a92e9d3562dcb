package solana

import (
	"errors"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	check "github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// TestSales: what a node says of the transfers of some holders.
func TestSales(t *testing.T) {
	t.Parallel()
	curve, creator, first, second, third, fourth := key(3), key(2), key(21), key(22), key(23), key(24)
	const (
		isFrozen = `{"InstructionError":[0,{"Custom":17}]}`
		isPaused = `{"InstructionError":[0,{"Custom":67}]}`
		noFee    = `"AccountNotFound"`
		sold     = `{"InstructionError":[0,{"Custom":1}]}`
	)
	all := func(owners ...market.Address) map[market.Address]uint64 {
		held := map[market.Address]uint64{creator: 5, curve: 600}
		for _, o := range owners {
			held[o] = 9
		}
		return held
	}
	hook := map[uint16][]byte{layout.TransferHook: append(make([]byte, 32), key(6).Bytes()[1:]...)}
	for name, c := range map[string]struct {
		node     told
		change   func(*check.Known)
		result   trust.Result
		severity trust.Severity
		value    any
		why      string
		tries    int
		partly   bool
	}{
		"all can": {node: told{held: all(first, second, third, fourth)}, result: trust.Pass, severity: trust.Critical, value: false, tries: 3},
		"all are frozen": {
			node:   told{held: all(first, second), fails: map[market.Address]string{first: isFrozen, second: isFrozen}},
			result: trust.Fail, severity: trust.Critical, value: true, tries: 2,
		},
		"all are frozen, says another node too": {
			node: told{
				held: all(first, second), fails: map[market.Address]string{first: isFrozen, second: isFrozen},
				elsewhere: map[market.Address]solana.Simulated{first: {Err: isFrozen}, second: {Err: isPaused}},
			},
			result: trust.Fail, severity: trust.Critical, value: true, tries: 2,
		},
		"all are frozen, says one node alone": {
			node: told{
				held: all(first, second), fails: map[market.Address]string{first: isFrozen, second: isFrozen},
				elsewhere: map[market.Address]solana.Simulated{second: {Err: sold}},
			},
			result: trust.Unknown, severity: trust.Critical, why: trust.CallFailed,
		},
		"all are frozen, and the other node doesn't answer": {
			node: told{
				held: all(first, second), fails: map[market.Address]string{first: isFrozen, second: isFrozen},
				elsewhereErr: errors.New("no answer"),
			},
			result: trust.Unknown, severity: trust.Critical, why: trust.CallFailed, partly: true,
		},
		"who can't pay the fee needs no other node": {
			node:   told{held: all(first, second), fails: map[market.Address]string{first: noFee}, elsewhereErr: errors.New("no answer")},
			result: trust.Pass, severity: trust.Critical, value: false, tries: 1,
		},
		"one is frozen": {
			node:   told{held: all(first, second, third), fails: map[market.Address]string{second: isFrozen}},
			result: trust.Warn, severity: trust.High, value: false, tries: 3,
		},
		"the only one is frozen": {node: told{held: all(first), fails: map[market.Address]string{first: isFrozen}}, result: trust.Warn, severity: trust.High, value: false, tries: 1},
		"some can't pay the fee, or have sold": {
			node:   told{held: all(first, second, third, fourth), fails: map[market.Address]string{first: noFee, second: sold, third: isFrozen, fourth: isFrozen}},
			result: trust.Fail, severity: trust.Critical, value: true, tries: 2,
		},
		"none can pay the fee":  {node: told{held: all(first), fails: map[market.Address]string{first: noFee}}, result: trust.Unknown, severity: trust.Critical, why: trust.NotIndexed},
		"nobody has any":        {node: told{held: map[market.Address]uint64{curve: 600}}, result: trust.Unknown, severity: trust.Critical, why: trust.NotIndexed},
		"only a creator has it": {node: told{held: all()}, result: trust.Unknown, severity: trust.Critical, why: trust.NotIndexed},
		"no market":             {node: told{held: all(first, second)}, change: func(k *check.Known) { k.Launch.State, k.Pools = market.LaunchGraduated, nil }, result: trust.Pass, severity: trust.Critical, value: false, tries: 2},
		"no holders":            {node: told{held: all(first, second)}, change: func(k *check.Known) { k.Holders = nil }, result: trust.Unknown, severity: trust.Critical, why: trust.NotIndexed},
		"a node that simulates none": {
			node:   told{held: all(first, second), simulates: map[market.Address]error{{}: solana.ErrNotSimulated}},
			result: trust.Unknown, severity: trust.Critical, why: trust.RPCCapability,
		},
		"a node that doesn't answer": {
			node: told{held: all(first, second), simulates: map[market.Address]error{{}: errors.New("no answer")}}, result: trust.Unknown, severity: trust.Critical, why: trust.CallFailed, partly: true,
		},
		"a node that doesn't answer for long": {
			node: told{
				held: all(first, second, third), fails: map[market.Address]string{first: isFrozen, second: isFrozen}, simulates: map[market.Address]error{third: errors.New("no answer")},
			},
			result: trust.Fail, severity: trust.Critical, value: true, tries: 2, partly: true,
		},
		"a node that tells no accounts": {node: told{heldErr: errors.New("no answer")}, result: trust.Unknown, severity: trust.Critical, why: trust.CallFailed, partly: true},
		"a program decides":             {node: told{held: all(first, second), token: solana.Token{Extensions: hook}}, result: trust.Unknown, severity: trust.Critical, why: trust.HookNotSimulated},
	} {
		k := known()
		k.Holders = append([]check.Holding{{Account: creator}}, k.Holders...)
		for _, o := range []market.Address{first, second, third, fourth} {
			k.Holders = append(k.Holders, check.Holding{Account: o})
		}
		if c.change != nil {
			c.change(k)
		}
		extensions := c.node.token.Extensions
		c.node.token = clean()
		c.node.token.Extensions = extensions
		r, whole := reportOf(t, c.node, k)
		got := r.Find(trust.HoneypotSell)
		if got.Result != c.result || got.Severity != c.severity || got.Value != c.value || got.UnknownReason != c.why || len(got.Evidence) != c.tries || whole == c.partly {
			t.Errorf("%s: whole %t, %+v", name, whole, got)
		}
		for _, e := range got.Evidence {
			if e.Kind != "simulation" || e.Block != 15 || strings.Contains(e.Detail, creator.String()) {
				t.Errorf("%s: the evidence is %+v", name, e)
			}
		}
	}
}
