package replay

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func key(text string) market.Address {
	a, err := market.ParseSolanaAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}

func numbered(n byte) market.Address { return market.SolanaAddress([32]byte{31: n}) }

var wrapped = key("So11111111111111111111111111111111111111112")

// recordedSale is a sale of the mainnet, with the accounts that a reader of the recording finds in it.
type recordedSale struct {
	market          func() (Market, bool)
	owner, from, to string
	amount          uint64
	accounts        int
	// at is the length of what the data begins with, and unwritten how many of the static keys are not written.
	at, unwritten int
}

func pool(protocol market.Protocol, program, id, base string) func() (Market, bool) {
	return func() (Market, bool) {
		return Pool(&market.Pool{Protocol: protocol, Factory: key(program), ID: key(id), Base: key(base), Quote: wrapped}, wrapped)
	}
}

func curve(protocol chainconfig.VenueProtocol, token string) func() (Market, bool) {
	return func() (Market, bool) {
		return Curve(&market.Launch{Mint: key(token), Quote: wrapped}, protocol, wrapped)
	}
}

const (
	ammV4         = "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8"
	pumpSwapSale  = "TKsTp2znT79YCQAwfX1eC94mZ8qeH9xVRyQn3kaVCXmqxFeysWPsDYqaPGGX6Krs6w2EiAxAGdhnAgiXmeN3VUx"
	launchLabSale = "uzuSemMhJ5x9eRGkhvFt43prZa3MLW8xmm19TtJBoLXHWZidhaY5MR6kBQ3WQqSK2F41KjQgp9Hy7jE3w69n7A4"
)

// recordedSales are by their transactions' first signatures.
var recordedSales = map[string]recordedSale{
	pumpSwapSale: {
		market: pool(market.PumpSwap, "pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA", "B9WYSKaLDWnegupPNG1h99XiiokMUYj6k64Dbqv18qr8", "DJGsptd7CEMEKrHdmVPastxKcPNSqGJT5K7HWcn5pump"),
		owner:  "3nj6DtKAYLBun3vbWefYnhJXA4YZNgtS81PUcHPSLE4G", from: "nnRiVSSGCTgGGQbYbLNwNLgsvdRWpUppu2Wh7CAvU83", to: "8d8GETameoUafnPq4fFEXPxh9GQtt7FG46FWhFAWPRHj",
		amount: 1167450476757, accounts: 24, at: 8, unwritten: 17,
	},
	launchLabSale: {
		market: curve(chainconfig.RaydiumLaunchLab, "5cHHA3idGG1e7X1oMVuxTq2u8jWoY65iHvAC4Tc4H2ya"),
		owner:  "6UMjzh6TrEK3yrFSPs6B2tZuu9aAzFoNwsv9FYyV1Rsr", from: "5u3DePFfCNoPbAnNBdTjpBKa4U95H79xSybvQK2Krusq", to: "BE5Nw2yZiz3MY6QvCBHcm7UEnXzAP9Raa7Mcsor8miwH",
		amount: 11568986763999, accounts: 18, at: 8, unwritten: 13,
	},
	// A sale of 2024 on pump.fun, which pays SOL itself.
	"33LHUzKfhBvU68kYib22oFx2XdQKQZ2sfvTmmdCFEr6YidyP8S3WwAurjz6Suewvr2WUByV79K3stNCZDe7wq3De": {
		market: curve(chainconfig.PumpFun, "HfJVjBdkhAD2ynVM8PdTSii4ECZdsxNTCx5wpEqUpump"),
		owner:  "2vr538qDgHCPYmr2mjt5LSjQ3kBYjtw3SDSveUKBVkef", from: "DxMF77MqYYYr4NshXWrUdiGzfzwpNhKG7H73B94ETX8S",
		amount: 605426095720, accounts: 12, at: 8,
	},
	// Sales that a router called, at pools of AMM v4. The second one's transaction has a purchase in the same pool before.
	"2m6e4MBQ2wKiFhtc8d479C6SUKkqEiBzemwxSQVaSdr4zGHdoefxWz28u2rnCtUu7SfcgwWpEBDr3L5NZnEqffnv": {
		market: pool(market.RaydiumAMMv4, ammV4, "GfihScsf95v8G4TR73k2EcwXM2DrX63J7GX1i79GNbGs", "AkVt31h8vgji5wF4nVbq1QmBV5wBoe8JdSoDTkDhQwEw"),
		owner:  "GGztQqQ6pCPaJQnNpXBgELr5cs3WwDakRbh1iEMzjgSJ", from: "ABvY6jp7CZd5auGSXUcs3QviByzda7wwmZ3ubTS9zzPH", to: "g7dD1FHSemkUQrX1Eak37wzvDjscgBW2pFCENwjLdMX",
		amount: 0x17bfe363, accounts: 17, at: 1,
	},
	"4cWStqraSHpMd8ix4eNaRSa22BUubTtDxLaemkPRwpnydJWsZUxHi4xXuMnuZZX7KS2eZdguspZJL8bpQ34ZikfU": {
		market: pool(market.RaydiumAMMv4, ammV4, "DMgFCN3MBAFT87AdBiHYJKJVRmSVwLShT6Q72mg999mx", "2mNz73pMDGFknAp95iZm8WnFsSYQC4NVJtAz6mFF9ycv"),
		owner:  "Ef7JouhnpHw8TMCQRJ5JEzWftLsgk3wx2eFtiK5Rh7ox", from: "6BF6XAEdoQ6MQWV8QxmNSsBQuKpdeJwZetMSH9VhvGKs", to: "JAdgbNr65dbRr77PbuSAFrqjY5AH87uMUCkreiV4Exb4",
		amount: 0x5347dd946d, accounts: 17, at: 1,
	},
	"53TUfpGbKBGjYNw2w84fXbEDpGGbdo3dLcnJs5sKiL3v3eKAuxTZWCcoXjgzgS3J14bEDEkHJ9qmWnDCLQRwUm5N": {
		market: pool(market.RaydiumAMMv4, ammV4, "8hqMFwBwb3UfKojZ5thp4SjSjq2CHyuyJUeDoRWaVBnr", "EqtNWgVzp77fNMQTNbDwzELmfcKuaiurYhbzLJfqjS72"),
		owner:  "DYH6x4JoTXUUc4GJUcBYv4gPRApbfTsoZEeD318ernQY", from: "7ya68jNpxtAxGHBrj3AV9457CR6bqfsSdYBC4iidUYDk", to: "E6od7UqWzcfxfimz5Y7QAPsY4Zm1fdwfddGvCoJ3JRg8",
		amount: 0x0656bd6b, accounts: 17, at: 1,
	},
}

// recordings are the recorded transactions with the sales, as a node tells them. Of some the recording doesn't tell which keys are written: of those only the one that signs
// is said to be special.
func recordings(tb testing.TB) map[string]json.RawMessage {
	tb.Helper()
	out := map[string]json.RawMessage{}
	for _, tx := range solanatest.Recorded(tb) {
		want, ok := recordedSales[tx.Signature]
		if !ok {
			continue
		}
		var told struct {
			Meta        json.RawMessage            `json:"meta"`
			Transaction map[string]json.RawMessage `json:"transaction"`
		}
		var message map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(tx.Raw, &told), json.Unmarshal(told.Transaction["message"], &message)); err != nil {
			tb.Fatal(err)
		}
		var err, err2 error
		message["header"], err = json.Marshal(map[string]int{"numRequiredSignatures": 1, "numReadonlySignedAccounts": 0, "numReadonlyUnsignedAccounts": want.unwritten})
		told.Transaction["message"], err2 = json.Marshal(message)
		raw, err3 := json.Marshal(told)
		if err := errors.Join(err, err2, err3); err != nil {
			tb.Fatal(err)
		}
		out[tx.Signature] = raw
	}
	if len(out) != len(recordedSales) {
		tb.Fatalf("%d of %d recordings", len(out), len(recordedSales))
	}
	return out
}

func txOf(t *testing.T, signature string) market.TxID {
	t.Helper()
	tx, err := market.ParseTx(signature)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// written is a transaction that was written, read again.
type written struct {
	keys            []market.Address
	signers, unread int // how many keys sign, and how many aren't written
	instructions    []struct {
		program  market.Address
		accounts []market.Address
		data     []byte
	}
}

// readBack reads what Transaction writes, and fails where something is left over.
func readBack(t *testing.T, b []byte) (w written) {
	t.Helper()
	length := func() (n int) {
		for shift := 0; ; shift += 7 {
			c := b[0]
			b = b[1:]
			n |= int(c&0x7f) << shift
			if c < 0x80 {
				return n
			}
		}
	}
	if signatures := length(); signatures != 1 {
		t.Fatalf("%d signatures", signatures)
	}
	b = b[64:]
	w.signers, w.unread = int(b[0]), int(b[2])
	if b[1] != 0 {
		t.Fatalf("%d signers aren't written", b[1])
	}
	b = b[3:]
	for range length() {
		w.keys, b = append(w.keys, market.SolanaAddress([32]byte(b[:32]))), b[32:]
	}
	b = b[32:]
	for range length() {
		w.instructions = append(w.instructions, struct {
			program  market.Address
			accounts []market.Address
			data     []byte
		}{})
		in := &w.instructions[len(w.instructions)-1]
		in.program, b = w.keys[b[0]], b[1:]
		for range length() {
			in.accounts, b = append(in.accounts, w.keys[b[0]]), b[1:]
		}
		n := length()
		in.data, b = b[:n], b[n:]
	}
	if len(b) != 0 {
		t.Errorf("%d bytes are left", len(b))
	}
	return w
}

func (w *written) isWritten(k market.Address) bool {
	i := slices.Index(w.keys, k)
	return i >= 0 && i < len(w.keys)-w.unread
}

// TestRecordedSales: a sale of the mainnet is found, and another holder's has that holder's accounts in the places of the seller's and nothing else changed.
func TestRecordedSales(t *testing.T) {
	t.Parallel()
	raws := recordings(t)
	for signature, want := range recordedSales {
		m, ok := want.market()
		if !ok {
			t.Fatalf("%s: no market", signature)
		}
		c, ok := Find(raws[signature], txOf(t, signature), &m)
		if !ok || c.owner != key(want.owner) || c.from != key(want.from) || want.to != "" && c.to != key(want.to) || want.to == "" && !c.to.IsNone() || c.Amount != want.amount || len(c.accounts) != want.accounts || c.Quote != wrapped {
			t.Fatalf("%s: found %t, %+v", signature, ok, c)
		}
		holder, account := numbered(1), numbered(2)
		s, ok := c.By(holder, account, 77)
		if !ok || s.At > 1 || (s.At == 0) != s.To.IsNone() || s.At == 1 && s.To != layout.UsualAccountOf(holder, layout.TokenProgram, wrapped) {
			t.Fatalf("%s: made again %t, %+v", signature, ok, s)
		}
		w := readBack(t, s.Transaction)
		if w.signers != 1 || w.keys[0] != holder || len(w.instructions) != s.At+1 || !w.isWritten(account) || s.At == 1 && !w.isWritten(s.To) || want.unwritten > 0 && w.isWritten(wrapped) {
			t.Errorf("%s: %+v", signature, w)
		}
		open, call := &w.instructions[0], &w.instructions[s.At]
		if opened := []market.Address{holder, s.To, holder, wrapped, systemProgram, layout.TokenProgram}; s.At == 1 && (open.program != layout.AccountsProgram || !slices.Equal(open.accounts, opened) || !slices.Equal(open.data, []byte{1})) {
			t.Errorf("%s: opens %+v", signature, open)
		}
		instead := map[market.Address]market.Address{c.owner: holder, c.from: account, c.to: s.To}
		for i, a := range call.accounts {
			before := c.accounts[i]
			if other, ok := instead[before.Key]; ok {
				before.Key = other
			}
			if a != before.Key || want.unwritten > 0 && before.Writable != w.isWritten(a) && a != holder {
				t.Errorf("%s: account %d is %s, want %+v", signature, i, a, before)
			}
		}
		if call.program != c.program || binary.LittleEndian.Uint64(call.data[want.at:]) != 77 || binary.LittleEndian.Uint64(call.data[want.at+8:]) != 0 ||
			!slices.Equal(call.data[:want.at], c.data[:want.at]) || !slices.Equal(call.data[want.at+16:], c.data[want.at+16:]) || len(call.accounts) != len(c.accounts) {
			t.Errorf("%s: calls %+v", signature, call)
		}
		if c.Amount != binary.LittleEndian.Uint64(c.data[want.at:]) {
			t.Errorf("%s: the call itself was changed", signature)
		}
	}
}

// TestWhatIsNoSale: only the sale at the very market is found, in the very transaction.
func TestWhatIsNoSale(t *testing.T) {
	t.Parallel()
	raws := recordings(t)
	good, _ := recordedSales[pumpSwapSale].market()
	for name, change := range map[string]func(m *Market, raw *string, tx *market.TxID){
		"nothing changed":      func(*Market, *string, *market.TxID) {},
		"another pool":         func(m *Market, _ *string, _ *market.TxID) { m.subject = numbered(1) },
		"another program":      func(m *Market, _ *string, _ *market.TxID) { m.program = numbered(1) },
		"another token":        func(m *Market, _ *string, _ *market.TxID) { m.token = numbered(1) },
		"another quote":        func(m *Market, _ *string, _ *market.TxID) { m.quote = numbered(1) },
		"the token for itself": func(m *Market, _ *string, _ *market.TxID) { m.quote = m.token },
		"a quote of another program": func(m *Market, _ *string, _ *market.TxID) {
			m.forms = []form{{begin: named("sell"), owner: 1, from: 5, to: 6, tokens: [][2]int{{4, 13}}}}
		},
		"no forms": func(m *Market, _ *string, _ *market.TxID) { m.forms = nil },
		"paid in SOL for another": func(m *Market, _ *string, _ *market.TxID) {
			m.forms, m.wrapped = []form{{begin: named("sell"), owner: 1, from: 5, paysSOL: true}}, numbered(1)
		},
		"the owner in both places": func(m *Market, _ *string, _ *market.TxID) {
			m.forms = []form{{begin: named("sell"), owner: 5, from: 5, to: 6}}
		},
		"too few accounts": func(m *Market, _ *string, _ *market.TxID) {
			m.forms = []form{{begin: named("sell"), owner: 1, from: 5, to: 24}}
		},
		"another transaction": func(_ *Market, _ *string, tx *market.TxID) { *tx = market.SolanaTx([64]byte{1}) },
		"it failed": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.Replace(*raw, `"err":null`, `"err":"no"`, 1)
		},
		"no word of whether": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.Replace(*raw, `"err":null`, `"er":null`, 1)
		},
		"no meta": func(_ *Market, raw *string, _ *market.TxID) { *raw = strings.Replace(*raw, `"meta":`, `"mete":`, 1) },
		"null":    func(_ *Market, raw *string, _ *market.TxID) { *raw = "null" },
		"nothing": func(_ *Market, raw *string, _ *market.TxID) { *raw = "" },
		"a list":  func(_ *Market, raw *string, _ *market.TxID) { *raw = "[]" },
		"no signature": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.Replace(*raw, `"signatures":`, `"signature":`, 1)
		},
		"no balances": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.ReplaceAll(*raw, `TokenBalances":`, `Balances2":`)
		},
		"a program out of range": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.ReplaceAll(*raw, `"programIdIndex":15`, `"programIdIndex":99`)
		},
		"a negative program": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.ReplaceAll(*raw, `"programIdIndex":15`, `"programIdIndex":-1`)
		},
		"an account out of range": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.ReplaceAll(*raw, `"accounts":[7,0,21`, `"accounts":[7,0,921`)
		},
		"a negative account": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.ReplaceAll(*raw, `"accounts":[7,0,21`, `"accounts":[7,0,-21`)
		},
		"a balance out of range": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.Replace(*raw, `"accountIndex":1`, `"accountIndex":-1`, 1)
		},
		"more signers than keys": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.Replace(*raw, `"numRequiredSignatures":1`, `"numRequiredSignatures":99`, 1)
		},
		"no signer": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.Replace(*raw, `"numRequiredSignatures":1`, `"numRequiredSignatures":0`, 1)
		},
		"a key that is none": func(_ *Market, raw *string, _ *market.TxID) {
			*raw = strings.Replace(*raw, `"accountKeys":["3`, `"accountKeys":["0`, 1)
		},
	} {
		m, tx := good, txOf(t, pumpSwapSale)
		var packed any
		if err := json.Unmarshal(raws[pumpSwapSale], &packed); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(packed)
		if err != nil {
			t.Fatal(err)
		}
		raw := string(b)
		before := raw
		change(&m, &raw, &tx)
		if _, ok := Find(json.RawMessage(raw), tx, &m); ok != (name == "nothing changed") {
			t.Errorf("%s: found %t (the answer was changed: %t)", name, ok, before != raw)
		}
	}
}

// TestOtherAnswers: whatever a node answers, nothing panics, and what is found can be written or not.
func TestOtherAnswers(t *testing.T) {
	t.Parallel()
	raws, rng, found := recordings(t), rand.New(rand.NewPCG(1, 2)), 0
	for signature, want := range recordedSales {
		m, _ := want.market()
		tx := txOf(t, signature)
		for range 3000 {
			raw := slices.Clone([]byte(raws[signature]))
			for range 1 + rng.IntN(3) {
				if i := rng.IntN(len(raw)); raw[i] >= '0' && raw[i] <= '9' {
					raw[i] = byte('0' + rng.IntN(10))
				}
			}
			if c, ok := Find(raw, tx, &m); ok {
				found++
				_, _ = c.By(numbered(1), numbered(2), 1)
			}
		}
	}
	if found == 0 {
		t.Error("nothing was found any more")
	}
}

// TestBounds: a call and a transaction at their bounds are written, and one beyond isn't.
func TestBounds(t *testing.T) {
	t.Parallel()
	accounts := func(n int) (list []Meta) {
		for i := range n {
			list = append(list, Meta{Key: market.SolanaAddress([32]byte{1, byte(i)})})
		}
		return list
	}
	program := numbered(9)
	// Few keys: the length is what bounds. Each data byte is one, and its length takes two from 128 on.
	empty, _ := Transaction(numbered(1), Instruction{Program: program, Data: make([]byte, 128)})
	room := longest - len(empty)
	if out, ok := Transaction(numbered(1), Instruction{Program: program, Data: make([]byte, 128+room)}); !ok || len(out) != 1232 {
		t.Errorf("%d bytes: %t", len(out), ok)
	}
	if out, ok := Transaction(numbered(1), Instruction{Program: program, Data: make([]byte, 128+room+1)}); ok {
		t.Errorf("%d bytes fit", len(out))
	}
	// 1,232 bytes have no room for 64 keys: what is beyond them is refused before it is written.
	if out, ok := Transaction(numbered(1), Instruction{Program: program, Accounts: accounts(62)}); ok || len(out) == 0 {
		t.Errorf("64 keys: %d bytes, %t", len(out), ok)
	}
	if out, ok := Transaction(numbered(1), Instruction{Program: program, Accounts: accounts(63)}); ok || len(out) > 0 {
		t.Errorf("65 keys: %d bytes, %t", len(out), ok)
	}
	if _, ok := Transaction(numbered(1), Instruction{Program: program, Accounts: []Meta{{}}}); ok {
		t.Error("an account that is none is written")
	}
	m := Market{program: program, subject: numbered(3), token: numbered(4), quote: wrapped, wrapped: wrapped, forms: []form{{begin: "x", subject: 0, owner: 1, from: 2, paysSOL: true}}}
	for n, want := range map[int]bool{64: true, 65: false} {
		tx := transaction{
			keys: []market.Address{program, numbered(3), numbered(5), numbered(6)}, writable: make([]bool, 4),
			balances: []balance{{Account: 3, Mint: numbered(4).String()}},
		}
		in := instruction{Accounts: append([]int{1, 2, 3}, make([]int, n-3)...), Data: base58.Encode(append([]byte("x"), make([]byte, 16)...))}
		if _, ok := tx.sale(&in, &m); ok != want {
			t.Errorf("a call of %d accounts: %t", n, ok)
		}
	}
	for n, want := range map[int]bool{1232: true, 1233: false} {
		if _, ok := (&instruction{Data: base58.Encode(slices.Repeat([]byte{1}, n))}).bytes(); ok != want {
			t.Errorf("%d bytes of data: %t", n, ok)
		}
	}
	if _, ok := (&instruction{Data: strings.Repeat("1", longestText+1)}).bytes(); ok {
		t.Error("a text that is too long is read")
	}
	for n, want := range map[int]bool{16: false, 17: true} {
		if f := m.forms[0]; f.begins(append([]byte("x"), make([]byte, n-1)...)) != want {
			t.Errorf("data of %d bytes: %t", n, !want)
		}
	}
	f := form{begin: "x", hasMode: true}
	for mode, want := range map[byte]bool{0: true, 1: true, 2: false} {
		if f.begins(append(append([]byte("x"), make([]byte, 16)...), mode)) != want {
			t.Errorf("mode %d: %t", mode, !want)
		}
	}
	if f.begins(append([]byte("x"), make([]byte, 16)...)) {
		t.Error("a mode that isn't there is read")
	}
}

// TestManyKeys: an answer with more keys, or more calls, than a transaction has is none.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	tx := market.SolanaTx([64]byte{3})
	for _, c := range []struct {
		keys, calls int
		want        bool
	}{{256, 1, true}, {257, 1, false}, {2, 512, true}, {2, 513, false}} {
		keys := slices.Repeat([]string{numbered(1).String()}, c.keys)
		calls := make([]map[string]any, c.calls)
		for i := range calls {
			calls[i] = map[string]any{"programIdIndex": 0}
		}
		raw, err := json.Marshal(map[string]any{
			"meta": map[string]any{"err": nil}, "transaction": map[string]any{
				"signatures": []string{tx.String()},
				"message":    map[string]any{"header": map[string]int{"numRequiredSignatures": 1}, "accountKeys": keys, "instructions": calls},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := read(raw, tx); ok != c.want {
			t.Errorf("%d keys and %d calls: %t", c.keys, c.calls, ok)
		}
	}
}

// TestLookupTables: keys that a transaction takes from lookup tables stand behind its own, those that are written first.
func TestLookupTables(t *testing.T) {
	t.Parallel()
	tx := market.SolanaTx([64]byte{3})
	raw, err := json.Marshal(map[string]any{
		"meta": map[string]any{"err": nil, "loadedAddresses": map[string]any{"writable": []string{numbered(4).String()}, "readonly": []string{numbered(5).String()}}},
		"transaction": map[string]any{
			"signatures": []string{tx.String()},
			"message": map[string]any{
				"header":      map[string]int{"numRequiredSignatures": 2, "numReadonlySignedAccounts": 1, "numReadonlyUnsignedAccounts": 1},
				"accountKeys": []string{numbered(1).String(), numbered(2).String(), numbered(3).String(), numbered(6).String()},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, ok := read(raw, tx)
	if want := []bool{true, false, true, false, true, false}; !ok || !slices.Equal(got.writable, want) || got.keys[4] != numbered(4) || got.keys[5] != numbered(5) {
		t.Errorf("%t, %+v", ok, got)
	}
}

// TestFailures: the program that ends a transaction is the one whose failure the log tells first, and no program can say it of another.
func TestFailures(t *testing.T) {
	t.Parallel()
	token, amm := layout.TokenProgram.String(), ammV4
	inner := []string{
		"Program " + amm + " invoke [1]", "Program log: Program " + layout.Token2022Program.String() + " failed: custom program error: 0x11", "Program " + token + " invoke [2]",
		"Program " + token + " failed: custom program error: 0x11", "Program " + amm + " failed: custom program error: 0x11",
	}
	for _, c := range []struct {
		failed string
		logs   []string
		want   Failure
		ok     bool
	}{
		{`{"InstructionError":[1,{"Custom":17}]}`, inner, Failure{At: 1, Program: layout.TokenProgram, Code: 17, HasCode: true}, true},
		{`{"InstructionError":[1,{"Custom":17}]}`, inner[4:], Failure{At: 1, Program: key(amm), Code: 17, HasCode: true}, true},
		{`{"InstructionError":[1,{"Custom":17}]}`, []string{"Log truncated"}, Failure{At: 1, Code: 17, HasCode: true}, true},
		{`{"InstructionError":[1,{"Custom":17}]}`, []string{"Program log: failed: x", "Program data: failed: x", inner[3]}, Failure{At: 1, Program: layout.TokenProgram, Code: 17, HasCode: true}, true},
		{`{"InstructionError":[0,"InvalidAccountData"]}`, inner, Failure{Program: layout.TokenProgram}, true},
		{`{"InstructionError":[0,{"BorshIoError":"no"}]}`, nil, Failure{}, true},
		{`{"InstructionError":[0]}`, inner, Failure{}, false},
		{`{"InstructionError":["a",{"Custom":17}]}`, inner, Failure{}, false},
		{`"BlockhashNotFound"`, nil, Failure{}, false},
		{`{"InsufficientFundsForRent":{"account_index":0}}`, nil, Failure{}, false},
		{`[`, nil, Failure{}, false},
	} {
		if got, ok := FailureOf(c.failed, c.logs); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %t", c.failed, got, ok)
		}
	}
}

// TestAccumulators: where a program counts a trader's trades in an account that is derived from the trader, the holder's stands in its place, and so does that one's account
// for what is given back.
func TestAccumulators(t *testing.T) {
	t.Parallel()
	program, seller, holder, quote := key("pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA"), numbered(40), numbered(41), numbered(42)
	of := func(who market.Address) (counted, paid market.Address) {
		counted = accumulator(program, who)
		return counted, layout.UsualAccountOf(counted, layout.Token2022Program, quote)
	}
	ofSeller, sellerPaid := of(seller)
	ofHolder, holderPaid := of(holder)
	f := &pools[market.PumpSwap][0]
	c := Call{
		Quote: quote, form: f, program: program, data: append([]byte(f.begin), make([]byte, 16)...), owner: seller, from: numbered(43), to: numbered(44), QuoteProgram: layout.Token2022Program,
		accounts: []Meta{{seller, true}, {numbered(43), true}, {numbered(44), true}, {sellerPaid, true}, {ofSeller, true}, {numbered(45), false}},
	}
	s, ok := c.By(holder, numbered(46), 5)
	if !ok {
		t.Fatal("it isn't made again")
	}
	w := readBack(t, s.Transaction)
	want := []market.Address{holder, numbered(46), s.To, holderPaid, ofHolder, numbered(45)}
	if got := w.instructions[1].accounts; !slices.Equal(got, want) || ofSeller == ofHolder {
		t.Errorf("the accounts are %v, want %v", got, want)
	}
	if s.To != layout.UsualAccountOf(holder, layout.Token2022Program, quote) || w.instructions[0].accounts[5] != layout.Token2022Program {
		t.Errorf("%+v", s)
	}
	if !w.isWritten(ofHolder) || !w.isWritten(holderPaid) || w.isWritten(numbered(45)) {
		t.Errorf("%+v", w)
	}
}

// FuzzSale: whatever a node tells of a transaction and of a simulation is read without a crash, and a sale that is found can be written, within a transaction's length.
func FuzzSale(f *testing.F) {
	raws := recordings(f)
	for signature, sale := range recordedSales {
		f.Add([]byte(raws[signature]), signature, `{"InstructionError":[1,{"Custom":17}]}`, "Program "+sale.owner+" failed: custom program error: 0x11")
	}
	f.Fuzz(func(t *testing.T, raw []byte, signature, failed, line string) {
		for _, sale := range recordedSales {
			m, ok := sale.market()
			tx, err := market.ParseTx(signature)
			if !ok || err != nil {
				continue
			}
			if c, ok := Find(raw, tx, &m); ok {
				if s, ok := c.By(numbered(1), numbered(2), 77); ok && (len(s.Transaction) == 0 || len(s.Transaction) > 1232) {
					t.Fatalf("a transaction of %d bytes", len(s.Transaction))
				}
			}
		}
		FailureOf(failed, []string{line})
	})
}
