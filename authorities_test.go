package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// company is one whose servers have certificates of its own authority.
type company struct {
	file   string // the authority's certificate
	server *tls.Config
}

// nodeHost is a name that nobody but the company's proxy knows.
const nodeHost = "node.company.invalid"

func newCompany(t *testing.T) *company {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	authority, server := key(), key()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Company"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Server"}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		DNSNames: []string{nodeHost}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed := func(c *x509.Certificate, k *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, c, ca, &k.PublicKey, authority)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	out := &company{file: filepath.Join(t.TempDir(), "ca.crt")}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed(ca, authority)})
	if err := os.WriteFile(out.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out.server = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed(leaf, server)}, PrivateKey: server}}, MinVersion: tls.VersionTLS12}
	return out
}

// database gives the address of a PostgreSQL, which listens at a Unix socket, through TLS with the company's certificate.
func (c *company) database(t *testing.T, dsn string) string {
	t.Helper()
	direct, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	server := fmt.Sprintf("%s/.s.PGSQL.%d", direct.Host, direct.Port)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go c.terminate(client, server)
		}
	}()
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=verify-full", direct.User, l.Addr(), direct.Database)
}

// terminate is what PostgreSQL does with a client that asks for TLS.
func (c *company) terminate(client net.Conn, server string) {
	defer func() { _ = client.Close() }()
	const sslRequest = 80877103
	var request [8]byte
	if _, err := io.ReadFull(client, request[:]); err != nil || binary.BigEndian.Uint32(request[4:]) != sslRequest {
		return
	}
	if _, err := client.Write([]byte{'S'}); err != nil {
		return
	}
	secure := tls.Server(client, c.server)
	plain, err := (&net.Dialer{}).DialContext(context.Background(), "unix", server)
	if err != nil {
		return
	}
	defer func() { _ = plain.Close() }()
	go func() { _, _ = io.Copy(plain, secure); _ = plain.Close() }()
	_, _ = io.Copy(secure, plain)
}

// proxy gives the address of the company's proxy, which leads to an EVM node behind TLS, and how often it did.
func (c *company) proxy(t *testing.T, node string) (address string, used *atomic.Int64) {
	t.Helper()
	to, err := url.Parse(node)
	if err != nil {
		t.Fatal(err)
	}
	behind := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(to))
	behind.TLS = c.server
	behind.StartTLS()
	t.Cleanup(behind.Close)
	used = &atomic.Int64{}
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != nodeHost+":443" {
			http.Error(w, "no such host", http.StatusBadGateway)
			return
		}
		used.Add(1)
		server, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", behind.Listener.Addr().String())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer func() { _ = server.Close() }()
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = client.Close() }()
		// The server reads of the connection until it is taken over: what the client sends after an earlier answer could be lost.
		if _, err := io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			return
		}
		go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
		_, _ = io.Copy(client, server)
	}))
	t.Cleanup(p.Close)
	return p.URL, used
}

// TestACompanysOwnProxyAndAuthorities runs the program as its container does: environment variables say by which proxy nodes are reached, and
// which authorities are trusted besides the public ones.
func TestACompanysOwnProxyAndAuthorities(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "boardwalk")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := newCompany(t)
	run := func(env []string, args ...string) (status int, output string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, program, args...)
		command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
		var out bytes.Buffer
		command.Stdout, command.Stderr = &out, &out
		err := command.Run()
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			return failed.ExitCode(), out.String()
		} else if err != nil {
			t.Fatal(err)
		}
		return 0, out.String()
	}

	t.Run("database", func(t *testing.T) {
		database := "BOARDWALK_DB=" + c.database(t, storetest.DSN(t, "postgres"))
		if status, out := run([]string{database}, "migrate"); status != chainconfig.ExitDatabase || !strings.Contains(out, "unknown authority") {
			t.Errorf("a stranger's certificate: status %d, %s", status, out)
		}
		if status, out := run([]string{database, "BOARDWALK_CA_FILE=" + c.file}, "migrate"); status != 0 {
			t.Errorf("a certificate of the company's: status %d, %s", status, out)
		}
	})

	t.Run("node", func(t *testing.T) {
		node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: 8453})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = node.Close() })
		address, used := c.proxy(t, node.URL())
		check := []string{"check", "--chain", "base", "--rpc", "https://" + nodeHost}
		for name, x := range map[string]struct {
			env  []string
			want string
		}{
			"neither":     {nil, "no endpoint answers"},
			"proxy alone": {[]string{"HTTPS_PROXY=" + address}, "unknown authority"},
			"both":        {[]string{"HTTPS_PROXY=" + address, "BOARDWALK_CA_FILE=" + c.file}, "there is no contract at"},
		} {
			if status, out := run(x.env, check...); status != 1 || !strings.Contains(out, x.want) {
				t.Errorf("%s: status %d, %s; want %q", name, status, out, x.want)
			}
		}
		if used.Load() == 0 {
			t.Error("nobody used the proxy")
		}
	})

	t.Run("wrong file", func(t *testing.T) {
		none := filepath.Join(t.TempDir(), "none.crt")
		empty := filepath.Join(t.TempDir(), "empty.crt")
		if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]string{
			none:  fmt.Sprintf("BOARDWALK_CA_FILE: the file with the authorities' certificates can't be read: open %s", none),
			empty: "BOARDWALK_CA_FILE: there is no certificate in " + empty,
		} {
			if status, out := run([]string{"BOARDWALK_CA_FILE=" + file}, "version"); status != 1 || !strings.Contains(out, want) {
				t.Errorf("status %d, %s; want %q", status, out, want)
			}
		}
	})
}
