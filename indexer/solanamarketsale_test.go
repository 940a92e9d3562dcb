package indexer

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/standin"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

const lamportsOfSOL = 1_000_000_000

// mineFor has the next block take what was done, and the store read it.
func (l *localSolana) mineFor(t *testing.T, st *store.Store) {
	t.Helper()
	if err := l.Mine(t.Context(), l.Slot()+1, l.Time().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	l.await(t, st)
}

// launched has the first of the people launch a token, which moves to a pool of a program later, and the next four buy it, each for a tenth of a SOL.
func (l *localSolana) launched(t *testing.T, st *store.Store, program, to svm.Key) *simnet.Curve {
	t.Helper()
	c, err := l.Launch(t.Context(), program, l.People[0], simnet.Launch{Name: "A token", Symbol: "SELL", URI: "https://example.com/token", To: to}, 0)
	if err != nil {
		t.Fatal(err)
	}
	l.mineFor(t, st)
	for _, p := range l.People[1:5] {
		if err := l.Buy(t.Context(), c, p, lamportsOfSOL/10); err != nil {
			t.Fatal(err)
		}
		l.mineFor(t, st)
	}
	return c
}

func (l *localSolana) sells(t *testing.T, st *store.Store, c *simnet.Curve, who int, part float64) {
	t.Helper()
	if err := l.Sell(t.Context(), c, l.People[who], part); err != nil {
		t.Fatal(err)
	}
	l.mineFor(t, st)
}

// wantSales holds a report's evidence against what each line has to say.
func wantSales(t *testing.T, when string, c *trust.Check, result trust.Result, says string) {
	t.Helper()
	if c.Result != result || len(c.Evidence) < 3 {
		t.Errorf("%s: %+v", when, c)
	}
	for _, e := range c.Evidence {
		if e.Kind != "simulation" || !strings.Contains(e.Detail, says) {
			t.Errorf("%s: the evidence is %q, want %q", when, e.Detail, says)
		}
	}
}

// TestHoldersSellAtTheMarket: Solana's own runtime carries out the last sale again, made by other holders: on curves that pay SOL itself or into a token account, and in the
// pools that tokens move to. The programs are stand-ins, which do in a sale that is made again what they did in the first one.
func TestHoldersSellAtTheMarket(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ program, to svm.Key }{
		"pump.fun, to PumpSwap": {simnet.PumpFun, simnet.PumpSwap}, "LaunchLab, to CPMM": {simnet.LaunchLab, simnet.CPMM}, "LaunchLab, to AMM v4": {simnet.LaunchLab, simnet.AMMv4},
		"DBC, to DAMM v2": {simnet.DBC, simnet.DAMM},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := of.program
			l := newLocalSolana(t, 7)
			cfg, st := l.config(t), storetest.Open(t, "sqlite")
			defer startSolana(t, st, cfg)()
			c := l.launched(t, st, program, of.to)
			found := func() *trust.Check { return checked(t, st, cfg, c.Token, trust.HoneypotSell) }

			wantSales(t, "nobody has sold yet", found(), trust.Pass, "can move its tokens")
			l.sells(t, st, c, 4, 0.1)
			wantSales(t, "somebody has sold", found(), trust.Pass, " SOL for ")
			wantSales(t, "somebody has sold", found(), trust.Pass, " tokens at the market")

			holders := l.accounts(t, c.Token)
			for _, a := range holders {
				if !l.holdsForMarket(c, a.owner()) {
					l.freeze(t, a)
				}
			}
			wantSales(t, "all are frozen", found(), trust.Fail, "can't sell at the market: the account is frozen")
			for _, a := range holders {
				if !l.holdsForMarket(c, a.owner()) {
					const stateAt, initialized = 108, 1
					a.data[stateAt] = initialized
					l.set(t, a, a.data)
				}
			}
			for _, a := range holders {
				if l.holdsForMarket(c, a.owner()) {
					l.freeze(t, a)
					wantSales(t, "the market's account is frozen", found(), trust.Fail, "can't sell at the market: the account is frozen")
					a.data[108] = 1
					l.set(t, a, a.data)
				}
			}

			give := l.takeQuote(t, c)
			wantSales(t, "the market has nothing to pay with", found(), trust.Pass, "can move its tokens")
			give()
			wantSales(t, "it has again", found(), trust.Pass, " tokens at the market")

			// The stand-in pays what it paid before the price rose: far less than the sale is worth now.
			paid := uint64(80 * lamportsOfSOL)
			if program == simnet.DBC {
				paid = 59 * lamportsOfSOL
			}
			if err := l.Buy(t.Context(), c, l.People[5], paid); err != nil {
				t.Fatal(err)
			}
			l.mineFor(t, st)
			if program != simnet.DBC {
				lost := found()
				wantSales(t, "it pays next to nothing", lost, trust.Warn, ", which are worth ")
				if lost.Severity != trust.High {
					t.Errorf("it pays next to nothing: %+v", lost)
				}
			}
			l.sells(t, st, c, 4, 0.1)
			wantSales(t, "it pays the new price", found(), trust.Pass, " tokens at the market")
			l.sellsInThePool(t, st, c, found)
		})
	}
}

// holdsForMarket reports whether an owner is no person, but holds tokens for the curve.
func (l *localSolana) holdsForMarket(c *simnet.Curve, owner market.Address) bool {
	for _, p := range l.People {
		if addressOfKey(p.Key) == owner {
			return false
		}
	}
	return true
}

// takeQuote takes from a curve what it has raised, and gives what puts it back.
func (l *localSolana) takeQuote(t *testing.T, c *simnet.Curve) (give func()) {
	t.Helper()
	at := c.Account
	if c.Program != simnet.PumpFun {
		for _, a := range l.accounts(t, simnet.WSOL) {
			if l.isVault(c, a.key) {
				at = a.key
			}
		}
	}
	a := l.mint(t, at) // an account like any other
	set := func(lamports uint64, data []byte) {
		if err := l.Chain.SetAccount(t.Context(), a.key, lamports, a.program, data); err != nil {
			t.Fatal(err)
		}
	}
	const least = 5_000_000 // more than its rent
	if c.Program == simnet.PumpFun {
		set(least, a.data)
	} else {
		const amountAt = 64
		empty := append([]byte(nil), a.data...)
		binary.LittleEndian.PutUint64(empty[amountAt:], 0)
		set(a.lamports-binary.LittleEndian.Uint64(a.data[amountAt:]), empty)
	}
	return func() { set(a.lamports, a.data) }
}

// isVault reports whether an account is the one that a curve has its quote in.
func (l *localSolana) isVault(c *simnet.Curve, key svm.Key) bool {
	ofLab, _ := svm.Derived(simnet.LaunchLab, []byte("pool_vault"), c.Account[:], simnet.WSOL[:])
	ofDBC, _ := svm.Derived(simnet.DBC, []byte("token_vault"), simnet.WSOL[:], c.Account[:])
	return key == ofLab || key == ofDBC
}

// sellsInThePool fills the curve, and has the token sold in the pool that it moves to, before and after its holders' accounts are frozen. Some sales of CPMM and AMM v4 are for what
// comes out, and aren't made again.
func (l *localSolana) sellsInThePool(t *testing.T, st *store.Store, c *simnet.Curve, found func() *trust.Check) {
	t.Helper()
	l.fills(t, st, c)
	l.migrates(t, st, c)
	wantSales(t, "in the pool nobody has sold yet", found(), trust.Pass, "can move its tokens")
	for range 8 {
		l.sells(t, st, c, 4, 0.05)
	}
	wantSales(t, "somebody has sold in the pool", found(), trust.Pass, " tokens at the market")
	for _, a := range l.accounts(t, c.Token) {
		if !l.holdsForMarket(c, a.owner()) {
			l.freeze(t, a)
		}
	}
	wantSales(t, "in the pool all are frozen", found(), trust.Fail, "can't sell at the market: the account is frozen")
}

// TestSalesInAMMv4: a sale in a pool of AMM v4 is made again by other holders whichever instruction it was made by: with the accounts of an order book, with one account more,
// and without them. The stand-in pays what it paid in the sale that is made again, so that the evidence tells which one that was.
func TestSalesInAMMv4(t *testing.T) {
	t.Parallel()
	l := newLocalSolana(t, 23)
	cfg, st := l.config(t), storetest.Open(t, "sqlite")
	defer startSolana(t, st, cfg)()
	c := l.launched(t, st, simnet.LaunchLab, simnet.AMMv4)
	l.fills(t, st, c)
	l.migrates(t, st, c)
	seen := map[ammCall]bool{}
	for range 24 {
		before := c.Pool.Quote
		l.sells(t, st, c, 4, 0.02)
		call := l.newestAMMCall(t)
		if seen[call] = true; call.isForOutput() {
			continue
		}
		paid := before - c.Pool.Quote
		sol := strings.TrimRight(fmt.Sprintf("%d.%09d", paid/lamportsOfSOL, paid%lamportsOfSOL), "0")
		wantSales(t, fmt.Sprintf("%+v", call), checked(t, st, cfg, c.Token, trust.HoneypotSell), trust.Pass, " would get "+sol+" SOL for ")
	}
	for _, call := range []ammCall{{9, 17}, {9, 18}, {16, 8}} {
		if !seen[call] {
			t.Errorf("nobody sold by %+v: %v", call, seen)
		}
	}
}

// ammCall is an instruction of AMM v4: what its data begins with, and how many accounts it has.
type ammCall struct {
	kind     byte
	accounts int
}

// isForOutput reports whether its amount is what comes out: such a sale isn't made again.
func (c ammCall) isForOutput() bool { return c.kind == 11 || c.kind == 17 }

// newestAMMCall is the only one of the newest block.
func (l *localSolana) newestAMMCall(t *testing.T) ammCall {
	t.Helper()
	var block struct {
		Transactions []struct {
			Transaction struct {
				Message struct {
					AccountKeys  []string
					Instructions []struct {
						ProgramIDIndex int
						Accounts       []int
						Data           string
					}
				}
			}
		}
	}
	if err := l.Chain.Call(t.Context(), &block, "getBlock", l.Slot(), map[string]any{"commitment": "confirmed", "maxSupportedTransactionVersion": 0}); err != nil {
		t.Fatal(err)
	}
	for _, tx := range block.Transactions {
		m := &tx.Transaction.Message
		for _, in := range m.Instructions {
			if data, ok := base58.Append(nil, []byte(in.Data)); ok && m.AccountKeys[in.ProgramIDIndex] == simnet.AMMv4.String() {
				return ammCall{data[0], len(in.Accounts)}
			}
		}
	}
	t.Fatal("the newest block has no call of AMM v4")
	return ammCall{}
}

// TestATransferHook: Token-2022 itself asks a program about the transfer of a sale. Where that lets it be, holders can sell; where it refuses, they can't; and without a sale
// that names the program nothing is known.
func TestATransferHook(t *testing.T) {
	t.Parallel()
	l := newLocalSolana(t, 9)
	cfg, st := l.config(t), storetest.Open(t, "sqlite")
	defer startSolana(t, st, cfg)()
	c := l.launched(t, st, simnet.PumpFun, simnet.PumpSwap)
	found := func() *trust.Check { return checked(t, st, cfg, c.Token, trust.HoneypotSell) }
	l.sells(t, st, c, 4, 0.1)

	const hookOfToken, hookOfAccount, refusal = 14, 15, 77
	hook := svm.SignerOf("a program that decides about transfers").Key
	decides := func(failure int32) {
		if err := l.Chain.AddProgram(t.Context(), hook, standin.Ending(failure)); err != nil {
			t.Fatal(err)
		}
	}
	decides(0)
	mint := l.mint(t, c.Token)
	l.set(t, mint, extended(mint.data, hookOfToken, append(make([]byte, 32), hook[:]...)))
	for _, a := range l.accounts(t, c.Token) {
		l.set(t, a, extended(a.data, hookOfAccount, []byte{0}))
	}
	if check := found(); check.Result != trust.Unknown || check.UnknownReason != trust.HookNotSimulated {
		t.Errorf("no sale names the program: %+v", check)
	}
	c.Hook(hook)
	l.sells(t, st, c, 4, 0.1)
	wantSales(t, "a sale names it", found(), trust.Pass, " tokens at the market")
	decides(refusal)
	wantSales(t, "it refuses", found(), trust.Fail, "can't sell at the market: program "+hook.String()+", which decides about each transfer, refuses it with error 77")
}
