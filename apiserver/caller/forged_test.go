package caller

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// world is a way to the server: a client outside the trusted networks, whatever it writes into X-Forwarded-For, and
// proxies inside, each of which appends the address that it was asked from.
type world struct {
	forged  []string     // the lines that the client sends
	client  netip.Addr   // as the first proxy sees it
	proxies []netip.Addr // in the order in which a request passes them
	newLine []bool       // of each proxy: whether it adds a line, or appends to the last
}

// arrive gives the peer and the lines as the server sees them.
func (w world) arrive() (peer string, lines []string) {
	lines = append(lines, w.forged...)
	from := w.client
	for i, proxy := range w.proxies {
		if len(lines) == 0 || w.newLine[i] {
			lines = append(lines, from.String())
		} else {
			lines[len(lines)-1] += ", " + from.String()
		}
		from = proxy
	}
	return netip.AddrPortFrom(from, 4711).String(), lines
}

// TestNobodyChoosesAnAddress: whatever a client sends, it has the address that the first proxy, or the server, saw.
func TestNobodyChoosesAnAddress(t *testing.T) {
	t.Parallel()
	r := NewResolver(prefixes(t, "10.0.0.0/8", "fd00::/8"), nil)
	inside := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) netip.Addr {
			b := [4]byte{10, rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "c"), rapid.Byte().Draw(t, "d")}
			return netip.AddrFrom4(b)
		}),
		rapid.Custom(func(t *rapid.T) netip.Addr {
			return netip.AddrFrom16([16]byte{0: 0xfd, 15: rapid.Byte().Draw(t, "last")})
		}),
	)
	anywhere := rapid.Custom(func(t *rapid.T) netip.Addr {
		b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "address")
		if rapid.Bool().Draw(t, "IPv4") {
			b = b[:4]
		}
		a, _ := netip.AddrFromSlice(b)
		return a.Unmap()
	})
	outside := anywhere.Filter(func(a netip.Addr) bool { return !r.trusts(a) })
	hop := rapid.OneOf(
		rapid.Map(inside, netip.Addr.String), rapid.Map(anywhere, netip.Addr.String), rapid.String(),
		rapid.SampledFrom([]string{"", " ", "unknown", "10.0.0.1:80", "[fd00::1]", "[fd00::1]:80", "::ffff:10.0.0.1", "\"10.0.0.1\"", "[", "]", ":"}),
	)
	line := rapid.Map(rapid.SliceOfN(hop, 0, 4), func(hops []string) string { return strings.Join(hops, ",") })
	rapid.Check(t, func(t *rapid.T) {
		w := world{
			forged: rapid.SliceOfN(line, 0, 3).Draw(t, "forged"), client: outside.Draw(t, "client"),
			proxies: rapid.SliceOfN(inside, 0, 3).Draw(t, "proxies"),
		}
		w.newLine = rapid.SliceOfN(rapid.Bool(), len(w.proxies), len(w.proxies)).Draw(t, "new line")
		peer, lines := w.arrive()
		if got := r.Address(request(peer, lines...)); got != w.client {
			t.Fatalf("from %s with %q: got %s, want %s", peer, lines, got, w.client)
		}
	})
}

func FuzzNobodyChoosesAnAddress(f *testing.F) {
	f.Add("", "")
	f.Add("10.0.0.9", "198.51.100.1, 10.0.0.9,")
	f.Add("unknown, [fd00::1]:80", "\x00,::ffff:10.0.0.1%eth0, \"10.0.0.1\"")
	r := NewResolver(prefixes(f, "10.0.0.0/8", "fd00::/8"), nil)
	client := netip.MustParseAddr("203.0.113.7")
	f.Fuzz(func(t *testing.T, first, second string) {
		for _, w := range []world{
			{forged: []string{first, second}, client: client},
			{forged: []string{first, second}, client: client, proxies: []netip.Addr{netip.MustParseAddr("10.0.0.1")}, newLine: []bool{false}},
			{forged: []string{first, second}, client: client, proxies: []netip.Addr{netip.MustParseAddr("fd00::1")}, newLine: []bool{true}},
		} {
			peer, lines := w.arrive()
			if got := r.Address(request(peer, lines...)); got != client {
				t.Errorf("from %s with %q: got %s, want %s", peer, lines, got, client)
			}
		}
	})
}
