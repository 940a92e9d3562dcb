package evm_test

import (
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/market"
	report "github.com/boardwalkhq/boardwalk/internal/trust"
)

// cleanResults are those of a clean token without a launch in a V2 pair whose shares are burned.
var cleanResults = map[string]report.Result{
	report.HoneypotSell: report.Pass, report.BuyTax: report.Pass, report.SellTax: report.Pass, report.TransferTax: report.Pass,
	report.Pausable: report.Pass, report.Blacklist: report.Pass, report.Mintable: report.Pass, report.SupplyChange: report.Pass,
	report.Ownership: report.Unknown, report.Proxy: report.Pass, report.CodeKnown: report.Unknown, report.SourceVerified: report.Unknown,
	report.LPBurnedLocked: report.Pass, report.LiquidityDepth: report.Pass, report.Top10Share: report.Pass,
	report.BundleShare: report.Unknown, report.CreatorHolding: report.Unknown, report.CreatorHistory: report.Unknown,
	report.PairAge: report.Pass,
}

type want = map[string]report.Result

// value holds a check's measure within a tenth of a percent.
func value(t *testing.T, r *report.Report, id string, want float64, severity report.Severity) {
	t.Helper()
	c := r.Find(id)
	got, ok := c.Value.(float64)
	if !ok || got < want-0.1 || got > want+0.1 || c.Severity != severity {
		t.Errorf("%s is %v of severity %s, want %v of %s", id, c.Value, c.Severity, want, severity)
	}
}

func details(r *report.Report, id string) string {
	var all []string
	for _, e := range r.Find(id).Evidence {
		all = append(all, e.Detail)
	}
	return strings.Join(all, "; ")
}

func TestTokensInAPair(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		contract string
		want     want
		verdict  report.Verdict
		also     func(t *testing.T, r *report.Report)
	}{
		{"Clean", nil, report.OK, func(t *testing.T, r *report.Report) {
			t.Helper()
			if s := r.Score(); s == nil || *s != 100 {
				t.Error("its score isn't 100")
			}
			for _, c := range r.Checks {
				if c.Result == report.Unknown {
					continue
				}
				if len(c.Evidence) == 0 || c.Source == "" {
					t.Errorf("%s has no evidence or no source", c.ID)
				}
				for _, e := range c.Evidence {
					if e.Block == 0 || e.Ref == "" || e.Detail == "" {
						t.Errorf("%s has evidence without a block, a place or words: %+v", c.ID, e)
					}
				}
			}
		}},
		{"Honeypot", want{report.HoneypotSell: report.Fail, report.SellTax: report.Unknown}, report.Danger, func(t *testing.T, r *report.Report) {
			t.Helper()
			if d := details(r, report.HoneypotSell); strings.Count(d, `the sale was refused with "bnot for you/b"`) != 4 {
				t.Errorf("the evidence is %s", d)
			}
			if !r.Critical() {
				t.Error("no critical failure")
			}
		}},
		{"SellTax", want{report.SellTax: report.Fail}, report.Danger, func(t *testing.T, r *report.Report) {
			t.Helper()
			value(t, r, report.SellTax, 40, report.Critical)
			value(t, r, report.BuyTax, 0, report.Critical)
		}},
		{"BuyTax", want{report.BuyTax: report.Fail}, report.Danger, func(t *testing.T, r *report.Report) {
			t.Helper()
			value(t, r, report.BuyTax, 12, report.High)
		}},
		{"TransferTax", want{report.TransferTax: report.Fail}, report.Danger, func(t *testing.T, r *report.Report) {
			t.Helper()
			value(t, r, report.TransferTax, 35, report.Critical)
		}},
		{"AllTax", nil, report.OK, func(t *testing.T, r *report.Report) {
			t.Helper()
			for _, id := range []string{report.BuyTax, report.SellTax, report.TransferTax} {
				value(t, r, id, 5, report.Critical)
			}
		}},
		{"MaxTransfer", nil, report.OK, func(t *testing.T, r *report.Report) {
			t.Helper()
			if d := details(r, report.HoneypotSell); !strings.Contains(d, "large trade: the purchase was refused") {
				t.Errorf("the evidence is %s", d)
			}
		}},
		{"MaxSell", want{report.HoneypotSell: report.Fail}, report.Danger, func(t *testing.T, r *report.Report) {
			t.Helper()
			d := details(r, report.HoneypotSell)
			if !strings.Contains(d, "small trade: bought, transferred and sold") || !strings.Contains(d, "large trade: bought, the sale was refused") {
				t.Errorf("the evidence is %s", d)
			}
		}},
		{"Cooldown", nil, report.OK, nil},
		{"Pretender", want{report.TransferTax: report.Fail}, report.Danger, nil},
		{"NoTransfers", want{report.TransferTax: report.Fail}, report.Danger, nil},
		{"Closed", want{
			report.HoneypotSell: report.Unknown, report.BuyTax: report.Unknown, report.SellTax: report.Unknown, report.TransferTax: report.Unknown,
		}, report.VerdictUnknown, func(t *testing.T, r *report.Report) {
			t.Helper()
			if c := r.Find(report.HoneypotSell); c.UnknownReason != report.BuyReverted {
				t.Errorf("the reason is %s", c.UnknownReason)
			}
		}},
		{"Burner", want{report.HoneypotSell: report.Fail, report.SellTax: report.Unknown}, report.Danger, nil},
		{"Megabyte", want{report.HoneypotSell: report.Fail, report.SellTax: report.Unknown}, report.Danger, nil},
		{"Junk", want{report.HoneypotSell: report.Fail, report.SellTax: report.Unknown}, report.Danger, nil},
		{"SaysNo", want{report.HoneypotSell: report.Fail, report.SellTax: report.Unknown}, report.Danger, nil},
		{"Reentrant", want{report.TransferTax: report.Fail}, report.Danger, func(t *testing.T, r *report.Report) {
			t.Helper()
			value(t, r, report.TransferTax, 60, report.Critical) // a quarter arrived, and half of the rest was taken
		}},
		{"Pausable", want{report.Pausable: report.Warn, report.Ownership: report.Warn}, report.Caution, func(t *testing.T, r *report.Report) {
			t.Helper()
			if c := r.Find(report.Pausable); c.Severity != report.Critical || c.Value != true || !strings.Contains(details(r, c.ID), "pause() by the owner stops transfers") {
				t.Errorf("%+v", c)
			}
		}},
		{"PausableInName", want{report.Ownership: report.Warn}, report.Caution, nil},
		{"Blacklist", want{report.Blacklist: report.Warn, report.Ownership: report.Warn}, report.Caution, nil},
		{"Backdoor", want{report.Mintable: report.Warn, report.Ownership: report.Warn}, report.Caution, func(t *testing.T, r *report.Report) {
			t.Helper()
			if !strings.Contains(details(r, report.Mintable), "mint(address,uint256) by the owner adds to the supply") {
				t.Error(details(r, report.Mintable))
			}
			if c := r.Find(report.Ownership); c.Severity != report.Medium || !strings.Contains(details(r, c.ID), "an account with a key") {
				t.Errorf("%+v", c)
			}
		}},
		{"Minted", want{report.Mintable: report.Warn, report.Ownership: report.Warn}, report.Caution, nil},
	} {
		t.Run(test.contract, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			token, pool := w.listed(t, test.contract)
			r := w.check(t, w.known(t, token, pool))
			expect(t, r, test.want)
			if v := r.Verdict(); v != test.verdict {
				t.Errorf("the verdict is %s, want %s", v, test.verdict)
			}
			if test.also != nil {
				test.also(t, r)
			}
		})
	}
}

// slotAndTwo are the constructor's arguments of Proxy1967.
func slotAndTwo(slot []byte, logic, admin market.Address) [][]byte {
	return [][]byte{slot, probe.Address(logic), probe.Address(admin)}
}

func TestUsedPowers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	backdoor, pool := w.listed(t, "Backdoor")
	w.send(t, map[string]string{
		"to": backdoor.String(), "data": calldata("mint(address,uint256)", probe.Address(address(t, w.Deployer)), tokens(500_000_000)),
	})
	r := w.check(t, w.known(t, backdoor, pool))
	expect(t, r, want{report.SupplyChange: report.Fail, report.Mintable: report.Warn, report.Ownership: report.Warn})
	value(t, r, report.SupplyChange, 50, report.High)
	if r.Verdict() != report.Danger {
		t.Error("a token with half as much again minted is no danger")
	}

	// Renounced, the function is nobody's; with somebody who waits to take over, it may be again.
	w.send(t, map[string]string{"to": backdoor.String(), "data": calldata("setOwner(address,address)", tokens(0), tokens(0))})
	r = w.check(t, w.known(t, backdoor, pool))
	expect(t, r, want{report.SupplyChange: report.Fail, report.Ownership: report.Pass})

	waited, pool := w.listed(t, "Backdoor")
	w.send(t, map[string]string{
		"to": waited.String(), "data": calldata("setOwner(address,address)", tokens(0), probe.Address(address(t, w.Deployer))),
	})
	r = w.check(t, w.known(t, waited, pool))
	expect(t, r, want{report.Mintable: report.Warn, report.Ownership: report.Warn})

	paused, pool := w.listed(t, "Pausable")
	w.send(t, map[string]string{"to": paused.String(), "data": calldata("pause()")})
	r = w.check(t, w.known(t, paused, pool))
	expect(t, r, want{
		report.Pausable: report.Fail, report.Ownership: report.Warn, report.HoneypotSell: report.Unknown,
		report.BuyTax: report.Unknown, report.SellTax: report.Unknown, report.TransferTax: report.Unknown,
	})
	if !r.Critical() {
		t.Error("a paused token has no critical failure")
	}
}

func TestProxies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	logic, deployer := w.deploy(t, "Clean"), address(t, w.Deployer)
	slot1967 := w.hash(t, "eip1967.proxy.implementation")
	slot1967[31]-- // the hash less one
	slot1822 := w.hash(t, "PROXIABLE")
	other := append([]byte(nil), slot1967...)
	other[0]++
	beacon := w.deploy(t, "Beacon", probe.Address(logic))
	for _, test := range []struct {
		name, contract string
		args           [][]byte
		result         report.Result
		severity       report.Severity
		detail         string
	}{
		{"key for an admin", "Proxy1967", slotAndTwo(slot1967, logic, deployer), report.Fail, report.High, "an account with a key"},
		{"contract for an admin", "Proxy1967", slotAndTwo(slot1967, logic, beacon), report.Fail, report.Medium, "its admin is a contract owned by " + w.Deployer},
		{"no admin", "Proxy1967", slotAndTwo(slot1967, logic, market.Native), report.Fail, report.Medium, "it has no admin slot"},
		{"ERC-1822", "Proxy1967", slotAndTwo(slot1822, logic, market.Native), report.Fail, report.Medium, "ERC-1822 proxy"},
		{"a slot of its own", "Proxy1967", slotAndTwo(other, logic, market.Native), report.Warn, report.Medium, "no known slot"},
		{"beacon", "ProxyOfBeacon", [][]byte{probe.Address(beacon)}, report.Fail, report.Medium, "the owner of its beacon is " + w.Deployer},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			token, pool := w.listed(t, test.contract, test.args...)
			r := w.check(t, w.known(t, token, pool))
			expect(t, r, want{report.Proxy: test.result})
			if c := r.Find(report.Proxy); c.Severity != test.severity || !strings.Contains(details(r, c.ID), test.detail) {
				t.Errorf("%+v", c)
			}
		})
	}
}

// TestAccountsThatDelegate: an account with a key stays one when it has delegated to a contract.
func TestAccountsThatDelegate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.Spare[4]
	if err := w.Node.Call(t.Context(), nil, "anvil_setCode", owner, "0xef0100"+strings.Repeat("11", 20)); err != nil {
		t.Fatal(err)
	}
	token, pool := w.listed(t, "Backdoor")
	w.send(t, map[string]string{"to": token.String(), "data": calldata("setOwner(address,address)", probe.Address(address(t, owner)), tokens(0))})
	r := w.check(t, w.known(t, token, pool))
	expect(t, r, want{report.Mintable: report.Warn, report.Ownership: report.Warn})
	if d := details(r, report.Ownership); !strings.Contains(d, "EIP-7702") {
		t.Error(d)
	}
	slot := w.hash(t, "eip1967.proxy.implementation")
	slot[31]--
	token, pool = w.listed(t, "Proxy1967", slotAndTwo(slot, w.deploy(t, "Clean"), address(t, owner))...)
	r = w.check(t, w.known(t, token, pool))
	if c := r.Find(report.Proxy); c.Severity != report.High || !strings.Contains(details(r, c.ID), "EIP-7702") {
		t.Errorf("%+v", c)
	}
}

func TestClones(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	logic, cloner := w.deploy(t, "Backdoor"), w.deploy(t, "Cloner")
	clone := func() market.Address {
		token := market.EVMAddress([32]byte(w.call(t, cloner, "clone(address)", probe.Address(logic))))
		w.send(t, map[string]string{"to": cloner.String(), "data": calldata("clone(address)", probe.Address(logic))})
		return token
	}
	first, second := clone(), clone()
	k := w.known(t, second, w.pair(t, second, burned))
	k.Launch = &market.Launch{Mint: second, Venue: "ours", Creator: address(t, w.Spare[1]), State: market.LaunchGraduated, CreatedAt: w.head(t).Time - 7200}
	k.Siblings = []market.Address{first}
	r := w.check(t, k)
	// The clone's owner is nobody, and what mints is found in the code that it stands for.
	expect(t, r, want{
		report.Ownership: report.Pass, report.CodeKnown: report.Pass, report.BundleShare: report.Pass, report.CreatorHolding: report.Pass,
		report.CreatorHistory: report.Pass,
	})
	if d := details(r, report.Mintable); !strings.Contains(d, "mint(address,uint256) is in the code; its owner is nobody") {
		t.Error(d)
	}
	k.Siblings, k.Block = []market.Address{w.deploy(t, "Clean")}, w.head(t)
	r = w.check(t, k)
	if c := r.Find(report.CodeKnown); c.Result != report.Warn || c.Severity != report.Info {
		t.Errorf("%+v", c)
	}
}
