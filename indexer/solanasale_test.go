package indexer

import (
	"encoding/base64"
	"encoding/binary"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

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

// accounts are those of a token that have some of it.
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

// freeze has an account as if the token's freeze authority had frozen it.
func (l *localSolana) freeze(t *testing.T, a tokenAccount) {
	t.Helper()
	const stateAt, frozen = 108, 2
	a.data[stateAt] = frozen
	if err := l.Chain.SetAccount(t.Context(), a.key, a.lamports, a.program, a.data); err != nil {
		t.Fatal(err)
	}
}

// honeypot is what a check that nobody made before says of whether a token can be sold.
func honeypot(t *testing.T, st *store.Store, cfg *chainconfig.Chain, token svm.Key) *trust.Check {
	t.Helper()
	ix, err := New(cfg, st, Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now, Holder: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ix.Check(t.Context(), addressOfKey(token))
	if err != nil {
		t.Fatal(err)
	}
	return r.Find(trust.HoneypotSell)
}

// TestWhetherHoldersCanSell: Solana's own runtime and token programs say whether holders of a token on a curve can move it, before and after their accounts are frozen.
func TestWhetherHoldersCanSell(t *testing.T) {
	t.Parallel()
	l := newLocalSolana(t, 5)
	cfg, st := l.config(t), storetest.Open(t, "sqlite")
	end := startSolana(t, st, cfg)
	defer end()

	var token svm.Key
	var holders []tokenAccount
	for range 30 {
		l.grow(t, 5)
		for _, c := range l.Curves() {
			launch := l.launch(t, st, c.Token)
			if launch == nil || !launch.OnCurve() {
				continue
			}
			holders = nil
			for _, a := range l.accounts(t, c.Token) {
				o, isMarket := a.owner(), []market.Address{launch.Curve, chainconfig.RaydiumLaunchLab.Holder(), chainconfig.MeteoraDBC.Holder()}
				if o != launch.Creator && !slices.Contains(isMarket, o) && binary.LittleEndian.Uint64(a.data[64:]) > 0 {
					holders = append(holders, a)
				}
			}
			if token = c.Token; len(holders) >= 3 {
				break
			}
		}
		if len(holders) >= 3 {
			break
		}
	}
	if len(holders) < 3 {
		t.Fatal("no token on a curve has three holders beside its creator")
	}
	l.await(t, st)

	check := honeypot(t, st, cfg, token)
	if check.Result != trust.Pass || check.Value != false || check.Source != "rpc_simulation" || len(check.Evidence) < 2 {
		t.Fatalf("before: %+v", check)
	}
	for _, e := range check.Evidence {
		if e.Kind != "simulation" || e.Block != l.Slot() || !strings.Contains(e.Detail, "can move its tokens") {
			t.Errorf("before: the evidence is %+v, at slot %d", e, l.Slot())
		}
	}
	frozen := check.Evidence[0].Ref
	for _, a := range holders {
		if a.key.String() == frozen {
			l.freeze(t, a)
		}
	}
	if check = honeypot(t, st, cfg, token); check.Result != trust.Warn || check.Severity != trust.High || check.Value != false || !strings.Contains(check.Evidence[0].Detail, "can't move its tokens") ||
		!strings.HasSuffix(check.Evidence[0].Detail, "the account is frozen") {
		t.Errorf("one is frozen: %+v", check)
	}
	for _, a := range holders {
		l.freeze(t, a)
	}
	if check = honeypot(t, st, cfg, token); check.Result != trust.Fail || check.Severity != trust.Critical || check.Value != true {
		t.Errorf("all are frozen: %+v", check)
	}
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
