package proof_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/member/proof"
	"github.com/boardwalkhq/boardwalk/internal/member/proof/prooftest"
)

func evm(t *testing.T, text string) market.Address {
	t.Helper()
	a, err := member.ParseAddress(chainconfig.EVM, text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSignatureOfAnotherLibrary has the example of the documentation of web3.js, eth.accounts.sign.
func TestSignatureOfAnotherLibrary(t *testing.T) {
	t.Parallel()
	account := evm(t, "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23")
	const signature = "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c"
	if err := proof.Check(chainconfig.EVM, account, "Some data", signature); err != nil {
		t.Error(err)
	}
	if err := proof.Check(chainconfig.EVM, account, "Some date", signature); !errors.Is(err, proof.ErrOther) {
		t.Errorf("of another text it is %v", err)
	}
	otherV := signature[:len(signature)-2] + "01" // as some wallets write 28
	if err := proof.Check(chainconfig.EVM, account, "Some data", otherV); err != nil {
		t.Errorf("with v of 1 it is %v", err)
	}
}

// TestEd25519 has the third example of RFC 8032, section 7.1.
func TestEd25519(t *testing.T) {
	t.Parallel()
	key, err := hex.DecodeString("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
	if err != nil {
		t.Fatal(err)
	}
	const signature = "0x6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
	account := market.SolanaAddress([32]byte(key))
	if err := proof.Check(chainconfig.Solana, account, "\xaf\x82", signature); err != nil {
		t.Error(err)
	}
	raw, err := hex.DecodeString(signature[2:])
	if err != nil {
		t.Fatal(err)
	}
	if err := proof.Check(chainconfig.Solana, account, "\xaf\x82", base58.Encode(raw)); err != nil {
		t.Errorf("in base58 it is %v", err)
	}
}

func TestWhatIsNoSignature(t *testing.T) {
	t.Parallel()
	key := prooftest.NewEVMKey(1)
	text := "text"
	good := key.Sign(text)
	for name, s := range map[string]string{
		"nothing": "", "no prefix": good[2:], "a digit more": good + "0", "a byte more": good + "00", "a byte less": good[:len(good)-2],
		"no digits": "0x" + strings.Repeat("zz", 65), "megabytes": "0x" + strings.Repeat("0", 2<<20), "another v": good[:len(good)-2] + "25",
	} {
		if err := proof.Check(chainconfig.EVM, key.Address, text, s); !errors.Is(err, proof.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// r and s of 0, and beyond the group's order.
	for _, fill := range []string{"00", "ff"} {
		if err := proof.Check(chainconfig.EVM, key.Address, text, "0x"+strings.Repeat(fill, 64)+"1b"); !errors.Is(err, proof.ErrOther) {
			t.Errorf("r and s of %s: %v", fill, err)
		}
	}
	if err := proof.Check(chainconfig.EVM, prooftest.NewEVMKey(2).Address, text, good); !errors.Is(err, proof.ErrOther) {
		t.Errorf("of another wallet: %v", err)
	}
	for name, s := range map[string]string{"nothing": "", "an EVM signature": good, "no base58": strings.Repeat("0", 88), "short": "0x00"} {
		if err := proof.Check(chainconfig.Solana, prooftest.NewSolanaKey(1).Address, text, s); !errors.Is(err, proof.ErrForm) {
			t.Errorf("Solana, %s: %v", name, err)
		}
	}
}

// is reports whether a text is the deployment's own.
func is(text, deployment string, of member.ID, family chainconfig.Family, address market.Address) bool {
	_, ok := proof.Issued(text, deployment, of, family, address)
	return ok
}

// TestTextIsBound changes what a text says, one thing at a time.
func TestTextIsBound(t *testing.T) {
	t.Parallel()
	const deployment = "https://app.example.com"
	for _, family := range []chainconfig.Family{chainconfig.EVM, chainconfig.Solana} {
		address, other := prooftest.NewEVMKey(1).Address, prooftest.NewEVMKey(2).Address
		if family == chainconfig.Solana {
			address, other = prooftest.NewSolanaKey(1).Address, prooftest.NewSolanaKey(2).Address
		}
		issued := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		c := proof.Challenge{
			Deployment: deployment, Member: "ada", Family: family, Address: address, Nonce: "0123456789abcdef", IssuedAt: issued, ExpiresAt: issued.Add(proof.Lifetime),
		}
		text, err := c.Text()
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := proof.Issued(text, deployment, "ada", family, address); !ok || !at.Equal(issued) {
			t.Fatalf("it doesn't know its own text:\n%s", text)
		}
		for name, is := range map[string]bool{
			"another deployment":  is(text, "https://app.example.org", "ada", family, address),
			"another scheme":      is(text, "http://app.example.com", "ada", family, address),
			"another member":      is(text, deployment, "bob", family, address),
			"another wallet":      is(text, deployment, "ada", family, other),
			"a line more":         is(text+"\nResources:\n- https://other.example", deployment, "ada", family, address),
			"a line before":       is("ada\n"+text, deployment, "ada", family, address),
			"no nonce":            is(strings.Replace(text, "0123456789abcdef", "", 1), deployment, "ada", family, address),
			"a time that is none": is(strings.Replace(text, "2026-03-04T05:06:07Z", "2026-13-04T05:06:07Z", 1), deployment, "ada", family, address),
			"another lifetime":    is(strings.Replace(text, "05:11:07Z", "05:11:08Z", 1), deployment, "ada", family, address),
			"nothing":             is("", deployment, "ada", family, address),
		} {
			if is {
				t.Errorf("%s, %s: it is taken for its own", family, name)
			}
		}
	}
}

// TestChecksums has the examples of EIP-55.
func TestChecksums(t *testing.T) {
	t.Parallel()
	for _, want := range []string{
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "0x52908400098527886E0F7030069857D2E4169EE7",
		"0x8617E340B3D01FA5F11F306F4090FD50E238070D", "0xde709f2102306220921060314715629080e2fb77",
	} {
		c := proof.Challenge{Deployment: "https://a.example", Family: chainconfig.EVM, Address: evm(t, strings.ToLower(want))}
		text, err := c.Text()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

func FuzzIssued(f *testing.F) {
	f.Add("a wants you to sign in")
	f.Fuzz(func(t *testing.T, text string) {
		if is(text, "https://a.example", "ada", chainconfig.EVM, evm(t, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")) &&
			!strings.HasPrefix(text, "a.example wants you to sign in with your Ethereum account:\n0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n") {
			t.Errorf("%q is taken for its own", text)
		}
	})
}

func BenchmarkCheckEIP191(b *testing.B) {
	key := prooftest.NewEVMKey(1)
	s := key.Sign("text")
	for b.Loop() {
		if err := proof.Check(chainconfig.EVM, key.Address, "text", s); err != nil {
			b.Fatal(err)
		}
	}
}

// TestKeysOfTests holds the keys that other tests sign with to the libraries that made them.
func TestKeysOfTests(t *testing.T) {
	t.Parallel()
	if a, b := prooftest.NewEVMKey(1), secp256k1.PrivKeyFromBytes([]byte{1}); a.Address != evm(t, "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf") || b == nil {
		t.Errorf("the account of key 1 is %v", a.Address)
	}
	seed := bytes.Repeat([]byte{1}, ed25519.SeedSize)
	pub, _ := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	if a := prooftest.NewSolanaKey(1); !bytes.Equal(a.Address.Bytes()[1:], pub) {
		t.Errorf("the account of seed 1 is %v", a.Address)
	}
}
