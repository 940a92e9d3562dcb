package metadata

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestPublic goes through IANA's special-purpose registries for IPv4 and IPv6, with the first and last address of each range and
// the neighbours that are public again.
func TestPublic(t *testing.T) {
	t.Parallel()
	refused := []string{
		"0.0.0.0", "0.0.0.1", "0.255.255.255", // this network
		"10.0.0.0", "10.1.2.3", "10.255.255.255", // private
		"100.64.0.0", "100.100.100.200", "100.127.255.255", // shared, Alibaba's metadata service
		"127.0.0.0", "127.0.0.1", "127.255.255.255", // loopback
		"168.63.129.16",                                     // Azure's metadata service
		"169.254.0.0", "169.254.169.254", "169.254.255.255", // link-local
		"172.16.0.0", "172.31.255.255", // private
		"192.0.0.0", "192.0.0.1", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.192", "192.0.0.255", // protocols
		"192.0.2.0", "192.0.2.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255", // documentation
		"192.31.196.0", "192.31.196.255", "192.52.193.0", "192.52.193.255", "192.175.48.0", "192.175.48.255", // AS112, AMT
		"192.88.99.0", "192.88.99.2", "192.88.99.255", // 6to4 relays
		"192.168.0.0", "192.168.1.1", "192.168.255.255", // private
		"198.18.0.0", "198.19.255.255", // benchmarks
		"224.0.0.0", "224.0.0.251", "239.255.255.255", // multicast
		"240.0.0.0", "255.255.255.254", "255.255.255.255", // reserved, broadcast

		"::", "::1", "::7f00:1", "::a00:1", "::ffff:ffff", // unspecified, loopback, IPv4-compatible
		"::ffff:0.0.0.0", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:192.168.1.1", // mapped
		"::ffff:0:127.0.0.1",                                                                                       // translated
		"64:ff9b::", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::192.168.1.1", // NAT64
		"64:ff9b::168.63.129.16", "64:ff9b::255.255.255.255", "64:ff9b::1:8.8.8.8",
		"64:ff9b:1::", "64:ff9b:1::8.8.8.8", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", // local NAT64
		"100::", "100::1", "100:0:0:1::", "100:0:0:1::1", // discard, dummy
		"2001::", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:0:a00:1::f5ff:fffe", // Teredo
		"2001:1::1", "2001:1::2", "2001:1::3", "2001:2::", "2001:2:0:ffff::", "2001:3::", "2001:4:112::", // assignments
		"2001:5::", "2001:10::", "2001:20::", "2001:2f:ffff::", "2001:30::", "2001:1ff:ffff::",
		"2001:db8::", "2001:db8::1", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff::1", // documentation
		"2002::", "2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::", "2002:c0a8:101::1", "2002:808:808::1", // 6to4
		"2620:4f:8000::", "2620:4f:8000:ffff::1", // AS112
		"1fff:ffff::1", "4000::", "5f00::", "5f00::1", "8000::", // not allotted; segment routing
		"fc00::", "fc00::1", "fd00:ec2::254", "fd20:ce::254", "fdff:ffff::", // unique local, AWS's and Google's metadata services
		"fe80::", "fe80::1", "febf::1", "fe80::1%eth0", "fec0::1", "feff::1", // link-local, site-local
		"ff00::", "ff02::1", "ff0e::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", // multicast
		"2606:4700::1111%eth0", // a zone
	}
	for _, s := range refused {
		if Public(netip.MustParseAddr(s)) {
			t.Errorf("%s is allowed", s)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is allowed")
	}
	allowed := []string{
		"1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0",
		"192.0.3.0", "192.31.195.255", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
		"198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
		"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2000::", "2001:200::", "2001:4860:4860::8888", "2001:db7::1", "2001:db9::1", "2003::1",
		"2606:4700::1111", "2620:4f:7fff::1", "2620:4f:8001::", "3ffe::1", "3fff:1000::",
	}
	for _, s := range allowed {
		if !Public(netip.MustParseAddr(s)) {
			t.Errorf("%s is refused", s)
		}
	}
}

// TestNoConnectionToLoopback points every trick at servers on loopback, with the rule as it is in production.
func TestNoConnectionToLoopback(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	four := listen(t, "127.0.0.1:0")
	port := netip.MustParseAddrPort(four.Addr().String()).Port()
	countConnections(t, four, &reached)
	var c net.ListenConfig
	for _, other := range []string{"[::1]:", "127.0.0.2:", "127.1.1.1:"} {
		if l, err := c.Listen(t.Context(), "tcp", other+itoa(int(port))); err == nil {
			countConnections(t, l, &reached)
		}
	}
	names := newNameServer(t)
	for name, answer := range map[string]string{
		"four": "127.0.0.1", "six": "::1", "mapped": "::ffff:127.0.0.1", "any": "0.0.0.0", "any6": "::", "alias": "four.test. 127.0.0.1",
		"mixed": "93.184.215.14 127.0.0.1", "mixed6": "93.184.215.14 ::1", "nat64": "64:ff9b::127.0.0.1", "sixtofour": "2002:7f00:1::",
		"compatible": "::127.0.0.1", "private": "10.0.0.1", "linklocal": "169.254.169.254",
	} {
		names.say(name+".test", answer)
	}
	f, err := New(Options{Now: time.Now, Resolver: names.resolver(), Ports: []uint16{port}, IPFS: []string{"http://four.test:" + itoa(int(port))}})
	if err != nil {
		t.Fatal(err)
	}
	f.hosts.pause = 0
	refs := []string{"ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG/1.json"}
	for _, host := range []string{
		"four.test", "six.test", "mapped.test", "any.test", "any6.test", "alias.test", "mixed.test", "mixed6.test", "nat64.test",
		"sixtofour.test", "compatible.test", "private.test", "linklocal.test", "FOUR.TEST.", "localhost", "localhost.localdomain", "ip6-localhost",
		"127.0.0.1", "127.0.0.2", "127.1.1.1", "127.1", "0", "0.0.0.0", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1",
		"127.0.0.1.", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[::1%25lo]", "[64:ff9b::7f00:1]",
		"①②⑦.⓪.⓪.①", "ⓛocalhost", "127。0。0。1", "fоur.test",
	} {
		for _, scheme := range []string{"http://", "https://"} {
			refs = append(refs, scheme+host+":"+itoa(int(port))+"/?key=secret")
		}
	}
	for _, ref := range refs {
		doc, err := f.Fetch(t.Context(), ref, ref)
		kind := kindOf(t, err)
		unknown := kind == Unreachable && strings.Contains(err.Error(), "can't be looked up") // nothing to refuse
		if kind != Refused && kind != BadReference && !unknown {
			t.Errorf("%s: %q, %v", ref, kind, err)
		}
		if !doc.empty() {
			t.Errorf("%s gives %+v", ref, doc)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d connections reached loopback", n)
	}
}

// TestNameServerLies asks names whose owner would like to see requests inside.
func TestNameServerLies(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	asked := atomic.Int32{}
	w.mux.HandleFunc("/meta", func(r http.ResponseWriter, req *http.Request) {
		asked.Add(1)
		_, _ = r.Write([]byte(`{"description":"d","image":"http://` + req.Host + `/logo"}`))
	})
	w.serve("/logo", string(plainPNG(t, 4, 4)))

	t.Run("mixed answers", func(t *testing.T) {
		for _, answer := range []string{
			"127.0.0.1 127.0.0.2", "127.0.0.2 127.0.0.1", "127.0.0.1 ::ffff:127.0.0.2", "127.0.0.1 fd00::1", "127.0.0.1 ::",
			"127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1 169.254.169.254",
		} {
			w.names.say("mixed.test", answer)
			_, err := w.fetcher(t).Fetch(t.Context(), w.url("mixed.test", "/meta"), "")
			if kind := kindOf(t, err); kind != Refused {
				t.Errorf("%s: %q, %v", answer, kind, err)
			}
		}
		if asked.Load() != 0 {
			t.Error("a name with a private address was asked at its public one")
		}
	})
	t.Run("aliases", func(t *testing.T) {
		w.names.say("inside.test", "a.test. b.test. c.test. 127.0.0.2")
		_, err := w.fetcher(t).Fetch(t.Context(), w.url("inside.test", "/meta"), "")
		if kind := kindOf(t, err); kind != Refused {
			t.Errorf("an alias of a private address: %q, %v", kind, err)
		}
		w.names.say("around.test", "a.test. b.test. 127.0.0.1")
		doc, err := w.fetcher(t).Fetch(t.Context(), w.url("around.test", "/meta"), "")
		if err != nil || doc.Image == nil {
			t.Errorf("an alias of a public address: %v", err)
		}
	})
	t.Run("rebinding", func(t *testing.T) {
		w.names.say("rebind.test", "127.0.0.1", "127.0.0.2")
		doc, err := w.fetcher(t).Fetch(t.Context(), w.url("rebind.test", "/meta"), "")
		if kind := kindOf(t, err); kind != Refused || doc.Description != "d" || doc.Image != nil {
			t.Errorf("public first, private second: %q, %v, %+v", kind, err, doc)
		}
		if n := w.names.questions("rebind.test"); n != 2 {
			t.Errorf("the name was asked for %d times for two connections: what was checked isn't what was connected to", n)
		}
	})
	w.untouched(t)
}

// TestTheSocketIsChecked: whatever came before, the address that is connected to is held against the rule.
func TestTheSocketIsChecked(t *testing.T) {
	t.Parallel()
	g := newGuard(&net.Resolver{}, Public, []uint16{80, 443})
	for _, address := range []string{
		"127.0.0.1:80", "[::1]:443", "[::ffff:10.0.0.1]:80", "8.8.8.8:25", "[fe80::1%lo]:80", "good.test:80", "", "/run/docker.sock",
	} {
		if err := g.control("tcp", address, nil); kindOf(t, err) != Refused {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := g.control("tcp4", "8.8.8.8:443", nil); err != nil {
		t.Error(err)
	}
	if err := g.control("tcp6", "[2606:4700::1111]:80", nil); err != nil {
		t.Error(err)
	}
	if _, err := g.dialer.DialContext(t.Context(), "tcp", "127.0.0.1:80"); kindOf(t, err) != Refused {
		t.Errorf("the dialer doesn't ask: %v", err)
	}
}

// asking is a resolver that notes what it is asked for.
type asking struct{ names []string }

func (a *asking) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	a.names = append(a.names, network+" "+host)
	return nil, nil
}

// TestNamesAreWhole: no search list makes another name of one, such as that of a service in the same cluster.
func TestNamesAreWhole(t *testing.T) {
	t.Parallel()
	r := &asking{}
	f, err := New(Options{Now: time.Now, Resolver: r})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"https://api.default/", "http://API.default./", "https://8.8.8.8:22/"} {
		if _, err := f.Fetch(t.Context(), ref, ""); err == nil {
			t.Errorf("%s was reached", ref)
		}
	}
	if want := []string{"ip api.default.", "ip api.default."}; !slices.Equal(r.names, want) {
		t.Errorf("asked for %q, want %q", r.names, want)
	}
}

func TestPortsAreThoseOfWebServers(t *testing.T) {
	t.Parallel()
	w := newOutside(t)
	w.serve("/", "{}")
	f := w.fetcher(t, func(o *Options) { o.Ports = nil; o.IPFS = []string{} })
	for _, ref := range []string{w.url("good.test", "/"), "http://good.test:22/", "https://good.test:6443/", "http://good.test:65535/"} {
		_, err := f.Fetch(t.Context(), ref, "")
		if kind := kindOf(t, err); kind != Refused {
			t.Errorf("%s: %q, %v", ref, kind, err)
		}
	}
}

func TestNoProxyFromTheEnvironment(t *testing.T) {
	w := newOutside(t)
	w.serve("/meta", `{"description":"d"}`)
	t.Setenv("HTTP_PROXY", "http://127.0.0.2:"+itoa(int(w.port)))
	t.Setenv("http_proxy", "http://127.0.0.2:"+itoa(int(w.port)))
	doc, err := w.fetcher(t).Fetch(t.Context(), w.url("good.test", "/meta"), "")
	if err != nil || doc.Description != "d" {
		t.Errorf("%+v, %v", doc, err)
	}
	w.untouched(t)
}
