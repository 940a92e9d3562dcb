package layout

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/idltest"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// TestRecordedShares reads the recorded account of a pool of PumpSwap. The recording says which token the pool's shares are, and how many were issued.
func TestRecordedShares(t *testing.T) {
	raw, err := os.ReadFile(recorded.Path(t, "solana", "accounts", "pumpswap_graduated_market.json"))
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		Accounts map[string]struct {
			Data    []string
			Decoded struct {
				Token string `json:"lp_mint"`
				Whole string `json:"lp_supply"`
			}
		}
	}
	if err := json.Unmarshal(raw, &told); err != nil {
		t.Fatal(err)
	}
	pool := told.Accounts["pumpswap_pool"]
	data, err := base64.StdEncoding.DecodeString(pool.Data[0])
	if err != nil {
		t.Fatal(err)
	}
	s, ok := SharesOf(market.PumpSwap, &Account{Data: data})
	if !ok || s.Token.String() != pool.Decoded.Token || s.Whole.Dec() != pool.Decoded.Whole || s.Whole.IsZero() || !s.Locked.IsZero() {
		t.Errorf("%t, %+v, want %+v", ok, s, pool.Decoded)
	}
	if s, ok := SharesOf(market.RaydiumCPMM, &Account{Data: data}); ok {
		t.Errorf("a pool of PumpSwap is one of CPMM: %+v", s)
	}
}

// TestDescribedShares reads pools as the descriptions of their programs encode them, with random contents.
func TestDescribedShares(t *testing.T) {
	_, list := idltest.Accounts(t, 1)
	seen := map[market.Protocol]int{}
	for i := range list {
		e := &list[i]
		var protocol market.Protocol
		var want Shares
		switch e.Program {
		case "pumpswap":
			protocol, want = market.PumpSwap, Shares{Token: e.Key("lp_mint"), Whole: e.Amount("lp_supply")}
		case "damm":
			protocol, want = market.MeteoraDAMMv2, Shares{Whole: e.Amount("liquidity"), Locked: e.Amount("permanent_lock_liquidity")}
		case "cpmm":
			protocol, want = market.RaydiumCPMM, Shares{Token: e.Key("lp_mint"), Whole: e.Amount("lp_supply")}
		case "ammv4":
			protocol, want = market.RaydiumAMMv4, Shares{Token: e.Key("lp_mint"), Whole: e.Amount("lp_amount")}
		}
		seen[protocol]++
		if got, ok := SharesOf(protocol, &Account{Data: e.Data}); !ok || got != want {
			t.Fatalf("%s: %t, %+v, want %+v", protocol, ok, got, want)
		}
		wrong := slices.Clone(e.Data)
		wrong[0]++
		if got, ok := SharesOf(protocol, &Account{Data: wrong}); ok && protocol != market.RaydiumAMMv4 {
			t.Fatalf("another account is a pool of %s: %+v", protocol, got)
		}
		for n := range 8 {
			if got, ok := SharesOf(protocol, &Account{Data: e.Data[:n*len(e.Data)/16]}); ok {
				t.Fatalf("half an account is a pool of %s: %+v", protocol, got)
			}
		}
	}
	for _, p := range []market.Protocol{market.PumpSwap, market.RaydiumCPMM, market.RaydiumAMMv4, market.MeteoraDAMMv2} {
		if seen[p] == 0 {
			t.Errorf("no pool of %s was read", p)
		}
	}
}
