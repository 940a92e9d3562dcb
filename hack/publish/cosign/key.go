// Package cosign signs in the format in which the program of that name keeps signatures and attestations in a registry, with a key in a file.
// Nothing is written to a transparency log.
package cosign

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
	"github.com/sigstore/sigstore/pkg/signature"
)

// Password is the environment variable that cosign takes a key's password from.
const Password = "COSIGN_PASSWORD"

// Key is a private key.
type Key struct {
	signer signature.SignerVerifier
}

// ReadKey reads a key from a file: one that cosign generate-key-pair wrote, for which it asks the password, or an unencrypted one in PKCS #8.
// Errors have nothing of the key or the password in them.
func ReadKey(file string, password func() (string, bool)) (*Key, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	private, err := parseKey(content, password)
	if err != nil {
		return nil, fmt.Errorf("the key in %s: %w", file, err)
	}
	signer, err := signature.LoadECDSASignerVerifier(private, crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("the key in %s: %w", file, err)
	}
	return &Key{signer: signer}, nil
}

func parseKey(content []byte, password func() (string, bool)) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, errors.New("it is not in PEM: make one with cosign generate-key-pair")
	}
	der := block.Bytes
	switch block.Type {
	case "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY":
		secret, given := password()
		if !given {
			return nil, fmt.Errorf("it is encrypted: put its password into the environment variable %s", Password)
		}
		var err error
		if der, err = encrypted.Decrypt(der, []byte(secret)); err != nil {
			// The cause may be a damaged file as well; the library tells the two apart by text alone.
			return nil, fmt.Errorf("it can't be decrypted: is %s its password? (%w)", Password, err)
		}
	case "PRIVATE KEY":
	default:
		return nil, fmt.Errorf("it is a %q: there are ENCRYPTED SIGSTORE PRIVATE KEY, by cosign generate-key-pair, and PRIVATE KEY, by "+
			"openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256", block.Type)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("it is not in PKCS #8") // the parser's words might quote the key
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errors.New("it is of another kind: only ECDSA on the curve P-256 is supported, which cosign generate-key-pair makes")
	}
	return private, nil
}
