package layout

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode"
	"github.com/boardwalkhq/boardwalk/indexer/solana/pda"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recorded"
)

// recordedAccounts are the accounts of the mainnet that were recorded, by their keys.
func recordedAccounts(tb testing.TB) map[string]Account {
	tb.Helper()
	files, err := filepath.Glob(recorded.Path(tb, "solana", "rpc", "getAccountInfo", "*.json"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no recorded accounts: %v", err)
	}
	out := map[string]Account{}
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
					Value struct {
						Owner string   `json:"owner"`
						Data  []string `json:"data"`
					} `json:"value"`
				} `json:"result"`
			} `json:"response"`
		}
		var key string
		if err := json.Unmarshal(raw, &r); err != nil || len(r.Request.Params) == 0 || json.Unmarshal(r.Request.Params[0], &key) != nil {
			tb.Fatal(path, err)
		}
		told := &r.Response.Result.Value
		data, err := base64.StdEncoding.DecodeString(told.Data[0])
		if err != nil {
			tb.Fatal(path, err)
		}
		out[key] = Account{Owner: program(told.Owner), Data: data}
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
		description  Description
	}{
		"2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo": {
			6, 705894641526469, "8Jornc27vtAYPkwDzsZVgLQchAYyC8nD7aCNPCDV8Qk2", "2apBGMsS6ti9RyF5TwQTDswXBWskiJP2LD4cUEDqYJjk",
			[]uint16{TransferFee, 3, 4, PermanentDelegate, TransferHook, 16, 18, TokenMetadata},
			Description{"PayPal USD", "PYUSD", "https://token-metadata.paxos.com/pyusd_metadata/prod/solana/pyusd_metadata.json"},
		},
		"znv3FZt2HFAvzYf5LxzVyryh3mBXWuTRRng25gEZAjh": {
			6, 991622730520864, "", "",
			[]uint16{TransferFee, 18, TokenMetadata},
			Description{"Infinite Money Glitch", "IMG", "https://i.degencdn.com/ipfs/bafkreidh5jnc7d7rqqnzyh5wvbprki4kmsyw7vg7xo5g4np72lcyxpvzjy"},
		},
		"7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1": {2, 99992304138149034, "", "", []uint16{TransferFee}, Description{}},
		"7KUZ5CoUZfcxYbjLzXT6sgAqo3CZbHxMvzwKGcUtpump": {6, 999629608406800, "", "", nil, Description{}},
		"J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn": {9, 9022713135473054, "6iQKfEyhr3bZMotVkW6beNZz5CPAkiwvgV2CTje9pVSS", "", nil, Description{}},
	} {
		a := all[key]
		m, ok := MintOf(&a)
		d := DescriptionOf(&m, &Account{})
		if got := slices.Sorted(maps.Keys(m.Extensions)); !ok || m.Decimals != want.decimals || m.Supply != want.supply || m.MintAuthority.String() != want.mint ||
			m.FreezeAuthority.String() != want.freeze || !slices.Equal(got, want.extensions) || d != want.description {
			t.Errorf("%s is %t %+v with %v, described as %+v", key, ok, m, got, d)
		}
	}
	for key, want := range map[string]struct {
		description Description
		mutable     bool
	}{
		"3yn5VXyZR6P7jnUwZUgboajVothS6ErSsfQjQ7g6yNip": {Description{"EURC", "EURC", "https://raw.githubusercontent.com/centrehq/centre-ecosystem/master/eurc/solana/metadata.json"}, true},
		"D6o4G6GxVkXecwD9VMVyw3iaNcDWgoVUNNGU4mhT4BC1": {Description{"Jupiter Staked SOL", "JupSOL", "https://static.jup.ag/jupSOL/metadata.json"}, true},
		"5rteoQ3jEssh6Ak3asRbT4CTrE4C5fjZ2K5jU8DRiiTp": {Description{"Pumpfun Pepe", "PFP", "https://ipfs.io/ipfs/bafkreihw7k7byw5lp7rm5okcmeb3vcvbhrzzcnplm7vbxxysj2mgmg4bli"}, false},
	} {
		a := all[key]
		d := DescriptionOf(&Mint{}, &a)
		if mutable, told := IsMutable(&a); !told || mutable != want.mutable || d != want.description {
			t.Errorf("%s says %+v, which may be changed: %t (%t)", key, d, mutable, told)
		}
		if _, isToken := MintOf(&a); isToken {
			t.Errorf("%s is a token", key)
		}
	}
}

// TestCutAccounts: accounts of any length, with any bytes, are read without going beyond them.
func TestCutAccounts(t *testing.T) {
	for key, a := range recordedAccounts(t) {
		for n := range a.Data {
			cut := a
			cut.Data = a.Data[:n:n]
			m, _ := MintOf(&cut)
			_ = DescriptionOf(&m, &cut)
			_, _ = IsMutable(&cut)
			cut.Data = slices.Clone(a.Data)
			for i := n; i < min(n+4, len(a.Data)); i++ {
				cut.Data[i] = 0xff
			}
			m, _ = MintOf(&cut)
			if d := DescriptionOf(&m, &cut); isLong(&d) {
				t.Fatalf("%s has a name of %d bytes and a URI of %d", key, len(d.Name), len(d.URI))
			}
			_, _ = IsMutable(&cut)
		}
	}
}

// isLong reports whether a description has more than may be stored, or what PostgreSQL can't hold.
func isLong(d *Description) bool {
	return len(d.Name) > chain.MaxText || len(d.Symbol) > chain.MaxText || len(d.URI) > chain.MaxReference || strings.ContainsRune(d.URI, 0) || !utf8.ValidString(d.URI)
}

// TestURIs: a URI is as it was written, without what pads it; one that is too long, or longer than what is left of the account, is none.
func TestURIs(t *testing.T) {
	text := func(s string) []byte { return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...) }
	long := strings.Repeat("u", chain.MaxReference)
	for name, of := range map[string]struct {
		uri  []byte
		want string
	}{
		"padded":          {text("https://a.example/m.json" + strings.Repeat("\x00", 176)), "https://a.example/m.json"},
		"as long":         {text(long), long},
		"too long":        {text(long + "u"), ""},
		"longer than all": {binary.LittleEndian.AppendUint32(nil, 1<<31), ""},
		"cut off":         {text("https://a.example")[:10], ""},
		"none":            {text(""), ""},
		"nothing":         {nil, ""},
		"control":         {text("https://a.\x00exa\nmple\x1b\x7f"), "https://a.example"},
		"no UTF-8":        {text("ipfs://\xff\xfe"), "ipfs://"},
	} {
		described := slices.Concat(make([]byte, keysLen), text("Name"), text("NME"), of.uri)
		own := DescriptionOf(&Mint{Extensions: map[uint16][]byte{TokenMetadata: described}}, &Account{})
		metaplex := DescriptionOf(&Mint{}, &Account{Owner: MetadataProgram, Data: append([]byte{4}, described...)})
		if want := (Description{"Name", "NME", of.want}); own != want || metaplex != want {
			t.Errorf("%s: the token's own extension says %.200q, Metaplex's account %.200q", name, own, metaplex)
		}
	}
}

// FuzzAccount: no bytes of an account of the token programs, of Metaplex or of a pool crash their readers, or make a long name or URI.
func FuzzAccount(f *testing.F) {
	for _, a := range recordedAccounts(f) {
		for owner := range uint8(3) {
			f.Add(a.Data, owner)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, owner uint8) {
		a := Account{Data: data, Owner: []market.Address{TokenProgram, Token2022Program, MetadataProgram}[owner%3]}
		m, _ := MintOf(&a)
		if d := DescriptionOf(&m, &a); isLong(&d) {
			t.Errorf("a name of %d bytes, a symbol of %d and a URI of %d", len(d.Name), len(d.Symbol), len(d.URI))
		}
		_, _ = IsMutable(&a)
		for _, protocol := range market.Protocols {
			_, _ = SharesOf(protocol, &a)
		}
	})
}

// TestDerivedKeys holds derived keys against those that the mainnet has: Metaplex's accounts name their token, pump.fun's events their curve, and the
// accounts that hold what all pools or curves of a program have stand in recorded transactions and descriptions.
func TestDerivedKeys(t *testing.T) {
	seen := 0
	for key, a := range recordedAccounts(t) {
		if a.Owner != MetadataProgram || a.Data[0] != 4 {
			continue
		}
		seen++
		if got := MetadataOf(market.SolanaAddress([32]byte(a.Data[33:65]))); got.String() != key {
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
			if got := pda.Of(program(decode.PumpFun), []byte("bonding-curve"), KeyOf(program(mint))); got.String() != curve {
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
	for _, p := range []market.Address{TokenProgram, Token2022Program, MetadataProgram, AccountsProgram} {
		if p.IsNone() {
			t.Error("the text of a program is none")
		}
	}
	if seen < 8 || curves < 5 {
		t.Errorf("only %d accounts and %d curves are recorded", seen, curves)
	}
}
