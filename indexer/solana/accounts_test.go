package solana

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode"
	"github.com/boardwalkhq/boardwalk/indexer/solana/pda"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// recordedAccounts are the accounts of the mainnet that were recorded, by their keys.
func recordedAccounts(tb testing.TB) map[string]account {
	tb.Helper()
	files, err := filepath.Glob(recorded.Path(tb, "solana", "rpc", "getAccountInfo", "*.json"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no recorded accounts: %v", err)
	}
	out := map[string]account{}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		var r struct {
			Request struct {
				Params []json.RawMessage `json:"params"`
			} `json:"request"`
			Response struct {
				Result struct {
					Value *wireAccount `json:"value"`
				} `json:"result"`
			} `json:"response"`
		}
		var key string
		if err := json.Unmarshal(raw, &r); err != nil || len(r.Request.Params) == 0 || json.Unmarshal(r.Request.Params[0], &key) != nil {
			tb.Fatal(path, err)
		}
		if out[key], err = r.Response.Result.Value.account(); err != nil {
			tb.Fatal(path, err)
		}
	}
	return out
}

// TestRecordedAccounts reads recorded tokens and Metaplex's accounts of tokens: PayPal's dollar has nearly every extension, pump.fun's tokens nobody's power.
func TestRecordedAccounts(t *testing.T) {
	all := recordedAccounts(t)
	for key, want := range map[string]struct {
		decimals     uint8
		supply       uint64
		mint, freeze string
		extensions   []uint16
		name, symbol string
	}{
		"2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo": {
			6, 705894641526469, "8Jornc27vtAYPkwDzsZVgLQchAYyC8nD7aCNPCDV8Qk2", "2apBGMsS6ti9RyF5TwQTDswXBWskiJP2LD4cUEDqYJjk",
			[]uint16{TransferFee, 3, 4, PermanentDelegate, TransferHook, 16, 18, extensionMetadata},
			"PayPal USD", "PYUSD",
		},
		"znv3FZt2HFAvzYf5LxzVyryh3mBXWuTRRng25gEZAjh":  {6, 991622730520864, "", "", []uint16{TransferFee, 18, extensionMetadata}, "Infinite Money Glitch", "IMG"},
		"7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1": {2, 99992304138149034, "", "", []uint16{TransferFee}, "", ""},
		"7KUZ5CoUZfcxYbjLzXT6sgAqo3CZbHxMvzwKGcUtpump": {6, 999629608406800, "", "", nil, "", ""},
		"J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn": {9, 9022713135473054, "6iQKfEyhr3bZMotVkW6beNZz5CPAkiwvgV2CTje9pVSS", "", nil, "", ""},
	} {
		a := all[key]
		m, ok := mintOf(&a)
		name, symbol := described(&m, &account{})
		if got := slices.Sorted(maps.Keys(m.extensions)); !ok || m.decimals != want.decimals || m.supply != want.supply || m.mintAuthority.String() != want.mint ||
			m.freezeAuthority.String() != want.freeze || !slices.Equal(got, want.extensions) || name != want.name || symbol != want.symbol {
			t.Errorf("%s is %t %+v with %v, called %q %q", key, ok, m, got, name, symbol)
		}
	}
	for key, want := range map[string]struct {
		name, symbol string
		mutable      bool
	}{
		"3yn5VXyZR6P7jnUwZUgboajVothS6ErSsfQjQ7g6yNip": {"EURC", "EURC", true},
		"D6o4G6GxVkXecwD9VMVyw3iaNcDWgoVUNNGU4mhT4BC1": {"Jupiter Staked SOL", "JupSOL", true},
		"5rteoQ3jEssh6Ak3asRbT4CTrE4C5fjZ2K5jU8DRiiTp": {"Pumpfun Pepe", "PFP", false},
	} {
		a := all[key]
		name, symbol := described(&mint{}, &a)
		if mutable, told := isMutable(&a); !told || mutable != want.mutable || name != want.name || symbol != want.symbol {
			t.Errorf("%s says %q %q, which may be changed: %t (%t)", key, name, symbol, mutable, told)
		}
		if _, isToken := mintOf(&a); isToken {
			t.Errorf("%s is a token", key)
		}
	}
}

// TestCutAccounts: accounts of any length, with any bytes, are read without going beyond them.
func TestCutAccounts(t *testing.T) {
	for key, a := range recordedAccounts(t) {
		for n := range a.data {
			cut := a
			cut.data = a.data[:n:n]
			m, _ := mintOf(&cut)
			_, _ = described(&m, &cut)
			_, _ = isMutable(&cut)
			cut.data = slices.Clone(a.data)
			for i := n; i < min(n+4, len(a.data)); i++ {
				cut.data[i] = 0xff
			}
			m, _ = mintOf(&cut)
			name, symbol := described(&m, &cut)
			if len(name) > 256 || len(symbol) > 256 {
				t.Fatalf("%s has a name of %d bytes", key, len(name))
			}
			_, _ = isMutable(&cut)
		}
	}
}

// FuzzAccount: no bytes of an account of the token programs or of Metaplex crash their readers, or make a long name.
func FuzzAccount(f *testing.F) {
	for _, a := range recordedAccounts(f) {
		for owner := range uint8(3) {
			f.Add(a.data, owner)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, owner uint8) {
		a := account{data: data, owner: []market.Address{tokenProgram, token2022Program, metadataProgram}[owner%3]}
		m, _ := mintOf(&a)
		if name, symbol := described(&m, &a); len(name) > 256 || len(symbol) > 256 {
			t.Errorf("a name of %d bytes and a symbol of %d", len(name), len(symbol))
		}
		_, _ = isMutable(&a)
	})
}

// TestDerivedKeys holds derived keys against those that the mainnet has: Metaplex's accounts name their token, pump.fun's events their curve, and the
// accounts that hold what all pools or curves of a program have stand in recorded transactions and descriptions.
func TestDerivedKeys(t *testing.T) {
	seen := 0
	for key, a := range recordedAccounts(t) {
		if a.owner != metadataProgram || a.data[0] != 4 {
			continue
		}
		seen++
		if got := metadataOf(market.SolanaAddress([32]byte(a.data[33:65]))); got.String() != key {
			t.Errorf("the account of a token is %s, want %s", got, key)
		}
	}
	curves := 0
	for _, tx := range solanatest.Recorded(t) {
		for _, e := range tx.Truth.Computed.Events {
			mint, isMint := e["mint"].(string)
			curve, isCurve := e["bonding_curve"].(string)
			if !isMint || !isCurve {
				continue
			}
			curves++
			if got := pda.Of(program(decode.PumpFun), []byte("bonding-curve"), keyOf(program(mint))); got.String() != curve {
				t.Errorf("the curve of %s is %s, want %s", mint, got, curve)
			}
		}
	}
	for seed, c := range map[string]struct {
		program string
		want    market.Address
	}{
		"vault_auth_seed":             {decode.LaunchLab, market.LaunchLabHolder},
		"pool_authority":              {decode.MeteoraDBC, market.MeteoraDBCHolder},
		"vault_and_lp_mint_auth_seed": {"CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C", market.RaydiumCPMMHolder},
		"amm authority":               {"675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8", market.RaydiumAMMv4Holder},
	} {
		if got := pda.Of(program(c.program), []byte(seed)); got != c.want || got.IsNone() {
			t.Errorf("the holder of %s is %s, want %s", c.program, got, c.want)
		}
	}
	if got := pda.Of(program("cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG"), []byte("pool_authority")); got != market.MeteoraDAMMv2Holder {
		t.Errorf("the holder of DAMM v2 is %s", got)
	}
	for _, p := range []market.Address{tokenProgram, token2022Program, metadataProgram, accountsProgram} {
		if p.IsNone() {
			t.Error("the text of a program is none")
		}
	}
	if seen < 8 || curves < 5 {
		t.Errorf("only %d accounts and %d curves are recorded", seen, curves)
	}
}
