package metadata

import (
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

// TestDeniedRanges are refused however an address in them is written or reached, and nothing else is.
func TestDeniedRanges(t *testing.T) {
	t.Parallel()
	denied, err := ParseRanges([]string{"8.8.8.0/24", "9.9.9.9", "2a05:d018::/32", "::ffff:11.0.0.0/104", "2a00:64::5/96", "2a01::1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []string{
		"8.8.8.0", "8.8.8.255", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "9.9.9.9", "64:ff9b::9.9.9.9", "2a05:d018::", "2a05:d018:ffff::1",
		"11.255.255.255", "::ffff:11.0.0.1", "2a00:64::10.0.0.1", "2a01::1",
	} {
		if !isIn(netip.MustParseAddr(a), denied) {
			t.Errorf("%s is not denied", a)
		}
	}
	for _, a := range []string{"8.8.7.255", "8.8.9.0", "9.9.9.8", "64:ff9b::9.9.9.8", "2a05:d017:ffff::1", "2a05:d019::", "12.0.0.0", "2a00:64::1:0:0", "2a01::2"} {
		if isIn(netip.MustParseAddr(a), denied) {
			t.Errorf("%s is denied", a)
		}
	}
	for _, text := range []string{"", "8.8.8", "8.8.8.0/33", "8.8.8.0-8.8.8.255", "example.com", "fe80::1%eth0", "::ffff:8.8.8.0/80", " 8.8.8.8"} {
		if got, err := ParseRanges([]string{text}); err == nil || !strings.Contains(err.Error(), "CIDR prefix") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// TestADeniedAddressIsNotConnectedTo though it is public: by itself, by a name, by a redirect, and by a name that has others too.
func TestADeniedAddressIsNotConnectedTo(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	w.serve("/meta", `{"description":"d"}`)
	var inside atomic.Int32
	countConnections(t, listen(t, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.3"), w.port).String()), &inside)
	w.names.say("inside.test", "127.0.0.3")
	w.names.say("both.test", "127.0.0.1 127.0.0.3")
	everything := func(netip.Addr) bool { return true }
	free := w.fetcher(t, func(o *Options) { o.AllowAddress = everything })
	if _, err := free.Fetch(t.Context(), w.url("inside.test", "/meta"), ""); err == nil || inside.Load() == 0 {
		t.Fatalf("without the range it isn't asked: %v", err)
	}
	inside.Store(0)
	f := w.fetcher(t, func(o *Options) {
		o.AllowAddress, o.Denied = everything, []netip.Prefix{netip.MustParsePrefix("127.0.0.3/32")}
	})
	for _, host := range []string{"inside.test", "both.test", "127.0.0.3", "[::ffff:127.0.0.3]"} {
		ref := strings.Replace(w.url("HOST", "/meta"), "HOST", host, 1)
		if _, err := f.Fetch(t.Context(), ref, ""); kindOf(t, err) != Refused {
			t.Errorf("%s: %v", host, err)
		}
	}
	if doc, err := f.Fetch(t.Context(), w.url("good.test", "/meta"), ""); err != nil || doc.Description != "d" {
		t.Errorf("beside the range: %v, %+v", err, doc)
	}
	if n := inside.Load(); n > 0 {
		t.Errorf("%d connections reached a denied address", n)
	}
}
