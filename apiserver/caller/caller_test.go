package caller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/internal/keyfile"
)

// request is one from a peer, with lines of X-Forwarded-For.
func request(remote string, lines ...string) *http.Request {
	return &http.Request{RemoteAddr: remote, Header: http.Header{forwardedFor: lines}}
}

func prefixes(tb testing.TB, values ...string) []netip.Prefix {
	tb.Helper()
	p, err := ParsePrefixes(values)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		remote string
		lines  []string
		want   string // empty: unknown
	}{
		// The proxies of 10.0.0.0/8, fd00::/8 and 127.0.0.1 are trusted.
		{"a client", "203.0.113.7:4711", nil, "203.0.113.7"},
		{"a client by IPv6", "[2001:db8::7]:4711", nil, "2001:db8::7"},
		{"a client by IPv6 of its link", "[fe80::7%eth0]:4711", nil, "fe80::7"},
		{"a client by IPv4 in IPv6", "[::ffff:203.0.113.7]:4711", nil, "203.0.113.7"},
		{"a client that claims to be another", "203.0.113.7:4711", []string{"198.51.100.1"}, "203.0.113.7"},
		{"a client that claims to be a proxy", "203.0.113.7:4711", []string{"198.51.100.1, 10.0.0.1"}, "203.0.113.7"},

		{"a proxy", "10.0.0.1:80", []string{"203.0.113.7"}, "203.0.113.7"},
		{"a proxy by IPv6", "[fd00::1]:80", []string{"203.0.113.7"}, "203.0.113.7"},
		{"a proxy by IPv4 in IPv6", "[::ffff:10.0.0.1]:80", []string{"203.0.113.7"}, "203.0.113.7"},
		{"a proxy that says nothing", "10.0.0.1:80", nil, "10.0.0.1"},
		{"a proxy that says nothing in as many words", "10.0.0.1:80", []string{""}, "10.0.0.1"},
		{"proxies behind each other", "10.0.0.1:80", []string{"203.0.113.7, 10.0.0.3,10.0.0.2"}, "203.0.113.7"},
		{"a client that made up a chain", "10.0.0.1:80", []string{"10.0.0.9, 198.51.100.1, 203.0.113.7, 10.0.0.2"}, "203.0.113.7"},
		{"a client that made up a line", "10.0.0.1:80", []string{"198.51.100.1", "203.0.113.7"}, "203.0.113.7"},
		{"lines are joined in order", "10.0.0.1:80", []string{"198.51.100.1, 203.0.113.7", "10.0.0.3", "10.0.0.2"}, "203.0.113.7"},
		{"a client inside", "10.0.0.1:80", []string{"10.1.1.1, 10.0.0.2"}, "10.1.1.1"},

		{"garbage", "10.0.0.1:80", []string{"unknown"}, "10.0.0.1"},
		{"garbage in the middle", "10.0.0.1:80", []string{"203.0.113.7, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"nothing in the middle", "10.0.0.1:80", []string{"203.0.113.7, , 10.0.0.2"}, "10.0.0.2"},
		{"nothing at the end", "10.0.0.1:80", []string{"203.0.113.7,"}, "10.0.0.1"},
		{"an empty line at the end", "10.0.0.1:80", []string{"203.0.113.7", ""}, "10.0.0.1"},
		{"garbage left of the client", "10.0.0.1:80", []string{"<script>, 203.0.113.7"}, "203.0.113.7"},
		{"a name", "10.0.0.1:80", []string{"client.example"}, "10.0.0.1"},
		{"an address with leading zeros", "10.0.0.1:80", []string{"203.000.113.007"}, "10.0.0.1"},

		{"spaces and tabs", "10.0.0.1:80", []string{"\t 203.0.113.7 \t,\t10.0.0.2 "}, "203.0.113.7"},
		{"a port", "10.0.0.1:80", []string{"203.0.113.7:4711"}, "203.0.113.7"},
		{"no port after the colon", "10.0.0.1:80", []string{"203.0.113.7:"}, "10.0.0.1"},
		{"IPv6", "10.0.0.1:80", []string{"2001:db8::7"}, "2001:db8::7"},
		{"IPv6 in brackets", "10.0.0.1:80", []string{"[2001:db8::7]"}, "2001:db8::7"},
		{"IPv6 and a port", "10.0.0.1:80", []string{"[2001:db8::7]:4711"}, "2001:db8::7"},
		{"IPv4 in brackets", "10.0.0.1:80", []string{"[203.0.113.7]"}, "10.0.0.1"},
		{"IPv4 in IPv6", "10.0.0.1:80", []string{"::ffff:203.0.113.7"}, "203.0.113.7"},
		{"a proxy as IPv4 in IPv6", "10.0.0.1:80", []string{"203.0.113.7, ::ffff:10.0.0.2"}, "203.0.113.7"},
		{"a zone", "10.0.0.1:80", []string{"fe80::7%eth0"}, "fe80::7"},
		{"a proxy with a zone", "10.0.0.1:80", []string{"203.0.113.7, fd00::2%eth0"}, "203.0.113.7"},

		{"a Unix socket", "@", []string{"203.0.113.7"}, "203.0.113.7"},
		{"a Unix socket without a name", "", []string{"203.0.113.7"}, "203.0.113.7"},
		{"a Unix socket with a path", "/run/proxy.sock", []string{"203.0.113.7"}, "203.0.113.7"},
		{"a Unix socket that says nothing", "@", nil, "127.0.0.1"},
		{"something else", "pipe", []string{"203.0.113.7"}, ""},
	} {
		r := NewResolver(prefixes(t, "10.0.0.0/8", "fd00::/8", "127.0.0.1"), nil)
		var want netip.Addr
		if c.want != "" {
			want = netip.MustParseAddr(c.want)
		}
		if got := r.Address(request(c.remote, c.lines...)); got != want {
			t.Errorf("%s: from %q with %q: got %s, want %s", c.name, c.remote, c.lines, got, want)
		}
	}
}

func TestAUnixSocketIsTrustedOnlyIfDeclared(t *testing.T) {
	t.Parallel()
	r := NewResolver(prefixes(t, "10.0.0.0/8"), nil)
	if got := r.Address(request("@", "203.0.113.7")); got != thisHost {
		t.Errorf("got %s, want %s", got, thisHost)
	}
}

// TestARealUnixSocket holds what net/http says of a peer on a Unix socket.
func TestARealUnixSocket(t *testing.T) {
	t.Parallel()
	// Not the test's own directory: its path may be longer than a socket's can be.
	socket := filepath.Join(shortDir(t), "api.sock")
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	r := NewResolver(prefixes(t, "127.0.0.1"), nil)
	got := make(chan netip.Addr, 1)
	s := &http.Server{
		Handler:           http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { got <- r.Address(req) }),
		ReadHeaderTimeout: time.Second,
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://api/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(forwardedFor, "203.0.113.7")
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if a := <-got; a != netip.MustParseAddr("203.0.113.7") {
		t.Errorf("got %s", a)
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	keys := keysOf(t, "the key")
	address := limit.AddressClient(netip.MustParseAddr("203.0.113.7"))
	holder := limit.KeyClient(sha256.Sum256([]byte("the key")))
	longest := strings.Repeat("k", keyfile.LongestKey)
	for _, c := range []struct {
		name string
		keys *keyfile.File
		key  string
		want Caller
	}{
		{"no key", keys, "", Caller{address, KeyNone}},
		{"a known key", keys, "the key", Caller{holder, KeyKnown}},
		{"an unknown key", keys, "the key ", Caller{address, KeyUnknown}},
		{"the SHA-256 of a known key", keys, sumOf("the key"), Caller{address, KeyUnknown}},
		{"the longest key", keysOf(t, longest), longest, Caller{limit.KeyClient(sha256.Sum256([]byte(longest))), KeyKnown}},
		{"a longer key", keysOf(t, longest, longest+"k"), longest + "k", Caller{address, KeyUnknown}},
		{"no key where none is known", nil, "", Caller{address, KeyNone}},
		{"a key where none is known", nil, "the key", Caller{address, KeyUnknown}},
	} {
		req := request("203.0.113.7:4711")
		req.Header.Set("x-api-key", c.key)
		if got := NewResolver(nil, c.keys).Identify(req); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}

	r := NewResolver(prefixes(t, "10.0.0.1"), nil)
	one := r.Identify(request("10.0.0.1:80", "2001:db8:1:2::1"))
	if other := r.Identify(request("10.0.0.1:80", "2001:db8:1:2:3:4:5:6")); one != other {
		t.Error("two addresses of one /64 are two clients")
	}
	if other := r.Identify(request("10.0.0.1:80", "2001:db8:1:3::1")); one == other {
		t.Error("addresses of two /64 are one client")
	}
}

func TestKeyStatus(t *testing.T) {
	t.Parallel()
	for s, want := range map[KeyStatus]string{KeyNone: "none", KeyKnown: "known", KeyUnknown: "unknown", 9: "invalid"} {
		if got := s.String(); got != want {
			t.Errorf("%d is %q, want %q", s, got, want)
		}
	}
}

func TestParsePrefixes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, want string }{
		{"10.0.0.7", "10.0.0.7/32"},
		{" 10.0.0.7 ", "10.0.0.7/32"},
		{"10.0.0.7/8", "10.0.0.0/8"},
		{"0.0.0.0/1", "0.0.0.0/1"},
		{"fd00::7", "fd00::7/128"},
		{"fd00::/8", "fd00::/8"},
		{"fe80::7%eth0", "fe80::7/128"},
		{"::ffff:10.0.0.7", "10.0.0.7/32"},
		{"::ffff:10.0.0.7/104", "10.0.0.0/8"},
	} {
		got, err := ParsePrefixes([]string{c.value})
		if err != nil || len(got) != 1 || got[0].String() != c.want {
			t.Errorf("%q: got %v, %v, want %s", c.value, got, err, c.want)
		}
	}
	for _, value := range []string{
		"", "proxy", "10.0.0", "10.0.0.7:80", "10.0.0.0/33", "10.0.0.0/", "fd00::/129", "[fd00::7]", "10.0.0.1,10.0.0.2", "::ffff:10.0.0.0/95",
		"0.0.0.0/0", "::/0", "::ffff:0.0.0.0/96",
	} {
		_, err := ParsePrefixes([]string{"10.0.0.7", value})
		if err == nil {
			t.Errorf("%q is taken", value)
			continue
		}
		for _, part := range []string{`"` + value + `"`, "address", "CIDR prefix", "10.0.0.0/8", "fd00::7"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: the error lacks %s: %v", value, part, err)
			}
		}
	}
	if got, err := ParsePrefixes(nil); err != nil || len(got) != 0 {
		t.Errorf("none: got %v, %v", got, err)
	}
}

func BenchmarkIdentify(b *testing.B) {
	r := NewResolver(prefixes(b, "10.0.0.0/8", "fd00::/8", "192.168.0.0/16"), keysOf(b, "the key"))
	for _, bb := range []struct {
		name string
		key  string
		req  *http.Request
	}{
		{"a client", "", httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", http.NoBody)},
		{"behind two proxies", "", request("10.0.0.1:80", "198.51.100.1, 203.0.113.7, 10.0.0.2")},
		{"behind two proxies by IPv6", "", request("[fd00::1]:80", "2001:db8:1:2:3:4:5:6, fd00::2")},
		{"a known key", "the key", request("10.0.0.1:80", "203.0.113.7")},
		{"an unknown key", "another", request("10.0.0.1:80", "203.0.113.7")},
	} {
		b.Run(bb.name, func(b *testing.B) {
			bb.req.Header.Set(KeyHeader, bb.key)
			b.ReportAllocs()
			for b.Loop() {
				r.Identify(bb.req)
			}
		})
	}
}

func sumOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// shortDir is a directory whose path is short enough for a socket.
func shortDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "boardwalk-") //nolint:usetesting // tb.TempDir has the test's name in its path
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// keysOf reads keys from a file of their SHA-256.
func keysOf(tb testing.TB, keys ...string) *keyfile.File {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "keys")
	var content strings.Builder
	for _, k := range keys {
		content.WriteString(sumOf(k) + "\n")
	}
	if err := os.WriteFile(path, []byte(content.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	k, err := keyfile.Open(path, "builder keys", slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	return k
}
