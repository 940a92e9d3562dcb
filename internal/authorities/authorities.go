// Package authorities says which certificate authorities (CAs) every connection of the process trusts.
package authorities

import (
	"crypto/x509"
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// Env names the file (PEM) with further authorities, as of a company's own proxies, nodes and databases.
const Env = "BOARDWALK_CA_FILE"

// Trust has the process trust the machine's authorities, else, as in an image without any, Mozilla's, and besides those of the file, if one is
// named. It is called once, before anything connects, by a program with //go:debug x509usefallbackroots=1.
func Trust(file string) error {
	if file != "" && slices.Contains([]string{"darwin", "ios", "windows"}, runtime.GOOS) {
		return fmt.Errorf("%s has no effect on %s: add the certificates to those that the system trusts, and leave it out", Env, runtime.GOOS)
	}
	pool, err := Pool(file)
	if err != nil {
		return err
	}
	x509.SetFallbackRoots(pool)
	return nil
}

// Pool is what Trust trusts.
func Pool(file string) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil || pool.Equal(x509.NewCertPool()) {
		if pool, err = mozillas(); err != nil {
			return nil, err
		}
	}
	if file == "" {
		return pool, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: the file with the authorities' certificates can't be read: %w", Env, err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: there is no certificate in %s; it takes certificates in PEM, which begin with -----BEGIN CERTIFICATE-----", Env, file)
	}
	return pool, nil
}

func mozillas() (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		cert, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return nil, fmt.Errorf("read Mozilla's authorities: %w", err)
		}
		if root.Constraint == nil {
			pool.AddCert(cert)
		} else {
			pool.AddCertWithConstraint(cert, root.Constraint)
		}
	}
	return pool, nil
}
