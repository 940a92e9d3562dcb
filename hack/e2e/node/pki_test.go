package node

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCertificatesAreTheAuthoritys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := newAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.issue(identity{name: "server", user: "kube-apiserver", hosts: []string{"kubernetes.default.svc"}, addresses: []string{"10.96.0.1"}}); err != nil {
		t.Fatal(err)
	}
	if err := a.issue(identity{name: "node", user: "system:node:n", group: "system:nodes"}); err != nil {
		t.Fatal(err)
	}
	server, err := a.clientConfig("server")
	if err != nil {
		t.Fatal(err)
	}
	server.ClientCAs, server.ClientAuth = server.RootCAs, tls.RequireAndVerifyClientCert
	client, err := a.clientConfig("node")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kubernetes.default.svc", "10.96.0.1"} {
		client.ServerName = name
		near, far := net.Pipe()
		served := tls.Server(far, server)
		done := make(chan error, 1)
		go func() { done <- served.HandshakeContext(t.Context()) }()
		if err := tls.Client(near, client).HandshakeContext(t.Context()); err != nil {
			t.Errorf("as %s: %v", name, err)
		}
		if err := <-done; err != nil {
			t.Fatalf("as %s: %v", name, err)
		}
		peer := served.ConnectionState().PeerCertificates[0].Subject
		if peer.CommonName != "system:node:n" || !slices.Equal(peer.Organization, []string{"system:nodes"}) {
			t.Errorf("the client is %s", peer)
		}
	}
	if err := a.issue(identity{name: "bad", addresses: []string{"localhost"}}); err == nil || !strings.Contains(err.Error(), "localhost") {
		t.Errorf("a name as an address: %v", err)
	}
}

func TestAnotherAuthorityIsNotBelieved(t *testing.T) {
	t.Parallel()
	a, err := newAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := newAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(b.cert)
	if _, err := a.cert.Verify(x509.VerifyOptions{Roots: roots}); err == nil {
		t.Error("two authorities are one")
	}
}

func TestKubeconfigNamesItsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := newAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	path, err := a.kubeconfig("admin", "https://10.88.0.1:6443")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`server: "https://10.88.0.1:6443"`, filepath.Join(dir, "ca.crt"), filepath.Join(dir, "admin.key")} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the kubeconfig lacks %s:\n%s", want, content)
		}
	}
	for _, secret := range []string{path, filepath.Join(dir, "ca.key")} {
		if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", secret, info.Mode(), err)
		}
	}
}
