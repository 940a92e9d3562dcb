package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority signs the cluster's certificates. Its key never leaves memory but for the controller manager's copy.
type authority struct {
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// identity is what a certificate is for: a user and its groups, and the addresses that it serves.
type identity struct {
	name, user, group string
	hosts             []string
	addresses         []string
}

// newAuthority writes ca.crt and ca.key into dir. Certificates are of use for a day, a run for minutes.
func newAuthority(dir string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "e2e"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	a := &authority{dir: dir, key: key, cert: template}
	if a.cert, err = a.sign("ca", template, key); err != nil {
		return nil, err
	}
	return a, nil
}

// issue writes NAME.crt and NAME.key.
func (a *authority) issue(i identity) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: i.user},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		DNSNames:    i.hosts,
	}
	if i.group != "" {
		template.Subject.Organization = []string{i.group}
	}
	for _, text := range i.addresses {
		ip := net.ParseIP(text)
		if ip == nil {
			return fmt.Errorf("certificate of %s: %q is no IP address", i.name, text)
		}
		template.IPAddresses = append(template.IPAddresses, ip)
	}
	_, err = a.sign(i.name, template, key)
	return err
}

func (a *authority) sign(name string, template *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour) // no clock is exact
	template.NotAfter = template.NotBefore.Add(25 * time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", name, err)
	}
	if err := writePEM(filepath.Join(a.dir, name+".crt"), "CERTIFICATE", der); err != nil {
		return nil, err
	}
	if err := writeKey(filepath.Join(a.dir, name+".key"), key); err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// newKey writes a key without a certificate, for signing service accounts' tokens.
func newKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(path, key)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// clientConfig is how a client with the certificate of this name reaches what the authority signed.
func (a *authority) clientConfig(name string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, Certificates: []tls.Certificate{pair}}, nil
}

// kubeconfig writes NAME.kubeconfig for the certificate of this name.
func (a *authority) kubeconfig(name, server string) (path string, err error) {
	path = filepath.Join(a.dir, name+".kubeconfig")
	file := func(suffix string) string { return filepath.Join(a.dir, suffix) }
	content := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- {name: e2e, cluster: {server: %q, certificate-authority: %q}}
users:
- {name: %[3]q, user: {client-certificate: %[4]q, client-key: %[5]q}}
contexts:
- {name: e2e, context: {cluster: e2e, user: %[3]q}}
current-context: e2e
`, server, file("ca.crt"), name, file(name+".crt"), file(name+".key"))
	return path, os.WriteFile(path, []byte(content), 0o600)
}
