package indexer

import (
	"strings"
	"testing"
	"time"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// TestWhoCanTakeLiquidityOut: a token leaves its curve on Solana's own runtime. The shares of its pool, which the real token programs have, are burned or with a locker, or
// its positions are locked for good. What somebody adds to a pool with positions is not.
func TestWhoCanTakeLiquidityOut(t *testing.T) {
	t.Parallel()
	l := newLocalSolana(t, 31)
	cfg, st := l.config(t), storetest.Open(t, "sqlite")
	cfg.Trust.Lockers = []market.Address{addressOfKey(simnet.LockOfRaydium)}
	defer startSolana(t, st, cfg)()
	do := func(err error) {
		t.Helper()
		if err == nil {
			err = l.Mine(t.Context(), l.Slot()+1, l.Time().Add(time.Second))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	found := func(token svm.Key) *trust.Check {
		t.Helper()
		l.await(t, st)
		return checked(t, st, cfg, token, trust.LPBurnedLocked)
	}
	who := l.People[3]
	for _, of := range []struct {
		program, to svm.Key
		want        []string
	}{
		{simnet.PumpFun, simnet.PumpSwap, []string{"100 % of the liquidity is burned"}},
		{simnet.LaunchLab, simnet.CPMM, []string{"50 % of the liquidity is burned", "50 % of the liquidity is with locker " + simnet.LockOfRaydium.String()}},
		{simnet.LaunchLab, simnet.AMMv4, []string{"100 % of the liquidity is burned"}},
		{simnet.DBC, simnet.DAMM, []string{"100 % of the liquidity is locked for good, in positions"}},
	} {
		program, want := of.program, of.want
		c, err := l.Launch(t.Context(), program, who, simnet.Launch{Name: "A token", Symbol: "TOK", To: of.to}, 1_000_000_000)
		for do(err); !c.Complete; do(err) {
			err = l.Buy(t.Context(), c, who, 40_000_000_000)
		}
		if check := found(c.Token); check.Result == trust.Pass && check.Value != nil {
			t.Errorf("%s: before it has a pool %+v", program, check)
		}
		do(l.Migrate(t.Context(), c))
		do(l.Buy(t.Context(), c, who, 1_000_000_000))
		check := found(c.Token)
		if check.Result != trust.Pass || check.Value != 100.0 || check.Source != "rpc_accounts" || len(check.Evidence) != len(want) {
			t.Fatalf("%s: %+v", program, check)
		}
		for i, e := range check.Evidence {
			if e.Detail != want[i] || e.Kind != "account" || e.Block != l.Slot() {
				t.Errorf("%s: the evidence is %+v at slot %d, want %q", program, e, l.Slot(), want[i])
			}
		}
		if program != simnet.DBC {
			continue
		}
		do(l.Provide(t.Context(), c.Pool, who, true, 0.25))
		if check := found(c.Token); check.Result != trust.Unknown || !strings.HasPrefix(check.Evidence[0].Detail, "79.9") && !strings.HasPrefix(check.Evidence[0].Detail, "80") {
			t.Errorf("with a quarter more: %+v", check)
		}
	}
}
