package cosign

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// keyFile writes a private key in PKCS #8, encrypted as cosign does it where there is a password.
func keyFile(t *testing.T, private any, password string) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block := &pem.Block{Type: "PRIVATE KEY", Bytes: der}
	if password != "" {
		block.Type = "ENCRYPTED SIGSTORE PRIVATE KEY"
		if block.Bytes, err = encrypted.Encrypt(der, []byte(password)); err != nil {
			t.Fatal(err)
		}
	}
	return write(t, pem.EncodeToMemory(block))
}

func write(t *testing.T, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cosign.key")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func curve(t *testing.T, c elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return private
}

func said(password string) func() (string, bool) {
	return func() (string, bool) { return password, password != "" }
}

func TestKeysAreRead(t *testing.T) {
	t.Parallel()
	private := curve(t, elliptic.P256())
	for file, password := range map[string]string{keyFile(t, private, ""): "", keyFile(t, private, "pearl"): "pearl"} {
		key, err := ReadKey(file, said(password))
		if err != nil {
			t.Fatal(err)
		}
		public, err := key.signer.PublicKey()
		if err != nil || !private.PublicKey.Equal(public) {
			t.Errorf("another key was read: %v", err)
		}
	}
}

func TestKeysThatCannotBeUsedSayWhy(t *testing.T) {
	t.Parallel()
	private := curve(t, elliptic.P256())
	_, other, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, password, want string }{
		{keyFile(t, private, "pearl"), "coral", "is COSIGN_PASSWORD its password?"},
		{keyFile(t, private, "pearl"), "", "put its password into the environment variable COSIGN_PASSWORD"},
		{keyFile(t, curve(t, elliptic.P384()), ""), "", "only ECDSA on the curve P-256"},
		{keyFile(t, other, ""), "", "only ECDSA on the curve P-256"},
		{write(t, []byte("hidden words")), "", "not in PEM"},
		{write(t, []byte("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n")), "", `a "RSA PRIVATE KEY": there are ENCRYPTED SIGSTORE PRIVATE KEY`},
		{write(t, []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")), "", "not in PKCS #8"},
		{filepath.Join(t.TempDir(), "none"), "", "no such file"},
	} {
		_, err := ReadKey(c.file, said(c.password))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%v, wanted %q and the file's name", err, c.want)
			continue
		}
		for _, secret := range []string{"pearl", "coral", "hidden", "AAAA"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells a secret: %v", err)
			}
		}
	}
}

// TestWhatIsSignedIsNotSignedAgain by the same key, and what others signed stays.
func TestWhatIsSignedIsNotSignedAgain(t *testing.T) {
	t.Parallel()
	of, err := name.NewDigest("registry.example.com/reef/boardwalk@sha256:" + strings.Repeat("ab", 32))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := SignatureTag(of).String()+" "+AttestationTag(of).TagStr(), "registry.example.com/reef/boardwalk:sha256-"+
		strings.Repeat("ab", 32)+".sig sha256-"+strings.Repeat("ab", 32)+".att"; got != want {
		t.Errorf("the tags are %s", got)
	}
	statements := []Statement{{"https://example.com/one", []byte(`{"one":1}`)}, {"https://example.com/two", []byte(`{"two":2}`)}}
	var keys []*Key
	for range 2 {
		key, err := ReadKey(keyFile(t, curve(t, elliptic.P256()), ""), said(""))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	signatures, err := keys[0].Sign(of, nil)
	if err != nil {
		t.Fatal(err)
	}
	attestations, err := keys[0].Attest(statements[:1], nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := keys[0].Sign(of, signatures); again != nil || err != nil {
		t.Errorf("it signed again: %v, %v", again, err)
	}
	if again, err := keys[0].Attest(statements[:1], attestations); again != nil || err != nil {
		t.Errorf("it attested again: %v, %v", again, err)
	}
	if signatures, err = keys[1].Sign(of, signatures); err != nil || signatures == nil {
		t.Fatalf("with another key: %v", err)
	}
	if attestations, err = keys[0].Attest(statements, attestations); err != nil || attestations == nil {
		t.Fatalf("with a further statement: %v", err)
	}
	if attestations, err = keys[1].Attest(statements[1:], attestations); err != nil || attestations == nil {
		t.Fatalf("with another key: %v", err)
	}
	signed, err := read(signatures)
	if err != nil || len(signed) != 2 || signed[0].annotations[signatureKey] == signed[1].annotations[signatureKey] {
		t.Errorf("signatures of two keys are %v, %v", signed, err)
	}
	attested, err := read(attestations)
	if err != nil || len(attested) != 3 || attested[1].annotations[predicateKey] != "https://example.com/two" {
		t.Errorf("three attestations are %v, %v", attested, err)
	}
	for i, key := range keys {
		if again, err := key.Sign(of, signatures); again != nil || err != nil {
			t.Errorf("key %d signed again: %v, %v", i, again, err)
		}
	}
}
