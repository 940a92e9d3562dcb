package indexer

import (
	"encoding/base64"
	"encoding/binary"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// tokenAccount is an account of a token, as the chain has it.
type tokenAccount struct {
	key, program svm.Key
	lamports     uint64
	data         []byte
}

func (a *tokenAccount) owner() market.Address { return market.SolanaAddress([32]byte(a.data[32:64])) }

// accounts are those of a token.
func (l *localSolana) accounts(t *testing.T, token svm.Key) (out []tokenAccount) {
	t.Helper()
	for _, program := range []string{"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"} {
		var list []struct {
			Pubkey  svm.Key
			Account struct {
				Data     []string
				Lamports uint64
			}
		}
		err := l.Chain.Call(t.Context(), &list, "getProgramAccounts", program, map[string]any{
			"encoding": "base64", "commitment": "confirmed", "filters": []any{map[string]any{"memcmp": map[string]any{"offset": 0, "bytes": token.String()}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			data, err := base64.StdEncoding.DecodeString(a.Account.Data[0])
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, tokenAccount{a.Pubkey, svm.MustKey(program), a.Account.Lamports, data})
		}
	}
	return out
}

// set has an account with other data.
func (l *localSolana) set(t *testing.T, a tokenAccount, data []byte) {
	t.Helper()
	if err := l.Chain.SetAccount(t.Context(), a.key, a.lamports, a.program, data); err != nil {
		t.Fatal(err)
	}
}

// freeze has an account as if the token's freeze authority had frozen it.
func (l *localSolana) freeze(t *testing.T, a tokenAccount) {
	t.Helper()
	const stateAt, frozen = 108, 2
	a.data[stateAt] = frozen
	l.set(t, a, a.data)
}

// mint is a token's own account.
func (l *localSolana) mint(t *testing.T, token svm.Key) tokenAccount {
	t.Helper()
	var told struct {
		Value struct {
			Data     []string
			Lamports uint64
			Owner    svm.Key
		}
	}
	if err := l.Chain.Call(t.Context(), &told, "getAccountInfo", token, map[string]string{"encoding": "base64", "commitment": "confirmed"}); err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(told.Value.Data[0])
	if err != nil {
		t.Fatal(err)
	}
	return tokenAccount{token, told.Value.Owner, told.Value.Lamports, data}
}

// checked is what a report that nobody made before says of a token by one of the rules.
func checked(t *testing.T, st *store.Store, cfg *chainconfig.Chain, token svm.Key, rule string) *trust.Check {
	t.Helper()
	ix, err := New(cfg, st, Options{Log: slog.New(slog.DiscardHandler), Now: time.Now, Holder: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ix.Check(t.Context(), addressOfKey(token))
	if err != nil {
		t.Fatal(err)
	}
	return r.Find(rule)
}

// TestWhetherHoldersCanSell: Solana's own runtime and token programs say whether holders of a token on a curve can move it: to the curve's own account, as on pump.fun,
// and where all curves of a program share one; before and after their accounts are frozen, while transfers are paused, and where nobody may transfer.
func TestWhetherHoldersCanSell(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]svm.Key{"pump.fun": simnet.PumpFun, "LaunchLab": simnet.LaunchLab} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocalSolana(t, 5)
			cfg, st := l.config(t), storetest.Open(t, "sqlite")
			defer startSolana(t, st, cfg)()
			token, holders := l.heldByThree(t, st, program)
			found := func() *trust.Check { return checked(t, st, cfg, token, trust.HoneypotSell) }

			check := found()
			if check.Result != trust.Pass || check.Value != false || check.Source != "rpc_simulation" || len(check.Evidence) < 3 {
				t.Fatalf("before: %+v", check)
			}
			for _, e := range check.Evidence {
				if e.Kind != "simulation" || e.Block != l.Slot() || !strings.Contains(e.Detail, "can move its tokens") || strings.Contains(e.Detail, "to the account of") != (program == simnet.PumpFun) {
					t.Errorf("before: the evidence is %+v, at slot %d", e, l.Slot())
				}
			}
			mint := l.mint(t, token)
			if mint.program == svm.MustKey("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb") {
				const pausable, nonTransferable, ofNonTransferable = 26, 9, 13
				l.set(t, mint, extended(mint.data, pausable, append(make([]byte, 32), 1)))
				l.wantRefused(t, found(), "all transfers are paused")
				l.set(t, mint, extended(mint.data, nonTransferable, nil))
				for _, a := range holders {
					l.set(t, a, extended(a.data, ofNonTransferable, nil))
				}
				l.wantRefused(t, found(), "nobody may transfer the token")
				l.set(t, mint, mint.data)
			}
			frozen := check.Evidence[0].Ref
			for _, a := range holders {
				if l.set(t, a, a.data); a.key.String() == frozen {
					l.freeze(t, a)
				}
			}
			if check = found(); check.Result != trust.Warn || check.Severity != trust.High || check.Value != false || !strings.HasSuffix(check.Evidence[0].Detail, "the account is frozen") {
				t.Errorf("one is frozen: %+v", check)
			}
			for _, a := range holders {
				l.freeze(t, a)
			}
			l.wantRefused(t, found(), "the account is frozen")
		})
	}
}

func (l *localSolana) wantRefused(t *testing.T, check *trust.Check, why string) {
	t.Helper()
	if check.Result != trust.Fail || check.Severity != trust.Critical || check.Value != true || len(check.Evidence) < 3 {
		t.Errorf("%s: %+v", why, check)
	}
	for _, e := range check.Evidence {
		if !strings.Contains(e.Detail, "can't move its tokens") || !strings.HasSuffix(e.Detail, why) {
			t.Errorf("the evidence is %q, want %q", e.Detail, why)
		}
	}
}

// heldByThree has the chain go on until a token on a curve of a program has three holders beside its creator and its market.
func (l *localSolana) heldByThree(t *testing.T, st *store.Store, program svm.Key) (token svm.Key, holders []tokenAccount) {
	t.Helper()
	for range 60 {
		l.grow(t, 5)
		l.await(t, st)
		for _, c := range l.Curves() {
			launch := l.launch(t, st, c.Token)
			if c.Program != program || launch == nil || !launch.OnCurve() {
				continue
			}
			holders = nil
			others := []market.Address{launch.Creator, launch.Curve, chainconfig.RaydiumLaunchLab.Holder()}
			for _, a := range l.accounts(t, c.Token) {
				if binary.LittleEndian.Uint64(a.data[64:]) > 0 && !slices.Contains(others, a.owner()) {
					holders = append(holders, a)
				}
			}
			if len(holders) >= 3 {
				return c.Token, holders
			}
		}
	}
	t.Fatal("no token on a curve has three holders beside its creator")
	return token, nil
}

// launch is a token's launch, as the index has it; nil where it doesn't.
func (l *localSolana) launch(t *testing.T, st *store.Store, token svm.Key) *market.Launch {
	t.Helper()
	l.await(t, st)
	list, err := st.Launches.At(t.Context(), []market.Address{addressOfKey(token)})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		return nil
	}
	return &list[0].Launch
}
