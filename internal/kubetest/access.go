package kubetest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// User is who has this name and these groups by certificate. It may do what RBAC grants it: nothing, at first.
func (c *Cluster) User(name string, groups ...string) (*rest.Config, error) {
	certificate, key, err := c.ca.issue(pkix.Name{CommonName: name, Organization: groups})
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", name, err)
	}
	return &rest.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", c.port),
		TLSClientConfig: rest.TLSClientConfig{CAData: encode("CERTIFICATE", c.ca.certificate.Raw), CertData: certificate, KeyData: key},
		QPS:             -1, // no limit: it would slow tests down
	}, nil
}

// ServiceAccount is who has a token of this service account, which must exist, for an hour. It may do what RBAC grants it.
func (c *Cluster) ServiceAccount(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return nil, err
	}
	token, err := client.CoreV1().ServiceAccounts(namespace).
		CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token of the service account %s/%s: %w", namespace, name, err)
	}
	config := rest.AnonymousClientConfig(c.Config)
	config.BearerToken = token.Status.Token
	return config, nil
}

// WriteKubeconfig writes what kubectl and helm need to be whom config is.
func WriteKubeconfig(path string, config *rest.Config) error {
	const name = "kubetest"
	return clientcmd.WriteToFile(api.Config{
		Clusters: map[string]*api.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*api.AuthInfo{name: {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}},
		Contexts:       map[string]*api.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, path)
}

// authority signs the certificates of one cluster.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// validity spans every clock that a test may run by.
var validity = [2]time.Time{time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "kubetest"},
		NotBefore:             validity[0],
		NotAfter:              validity[1],
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate, key}, err
}

// issue makes a certificate, for a server at 127.0.0.1 and for a client, and its key, both as PEM.
func (a *authority) issue(subject pkix.Name) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		Subject:     subject,
		NotBefore:   validity[0],
		NotAfter:    validity[1],
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = encodeKey(private)
	return encode("CERTIFICATE", der), key, err
}

// writePKI puts into dir what the components read: ca.crt, ca.key, apiserver.crt, apiserver.key, and sa.key, which signs
// tokens.
func (a *authority) writePKI(dir string) error {
	certificate, key, err := a.issue(pkix.Name{CommonName: "kube-apiserver"})
	if err != nil {
		return err
	}
	caKey, err := encodeKey(a.key)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"ca.crt": encode("CERTIFICATE", a.certificate.Raw), "ca.key": caKey, "sa.key": caKey,
		"apiserver.crt": certificate, "apiserver.key": key,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return encode("EC PRIVATE KEY", der), err
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
