package metadata

import "net/netip"

// special are the ranges of IANA's special-purpose registries for IPv4 and, within the global unicast range, for IPv6, whether
// or not they are globally reachable: no web server that a token may name is in them.
var special = prefixes(
	"0.0.0.0/8",         // this network
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // shared by carriers; 100.100.100.200 is a cloud's metadata service
	"127.0.0.0/8",       // loopback
	"168.63.129.16/32",  // a cloud's metadata service at an address that looks public
	"169.254.0.0/16",    // link-local; 169.254.169.254 is most clouds' metadata service
	"172.16.0.0/12",     // private
	"192.0.0.0/24",      // protocol assignments; 192.0.0.192 is a cloud's metadata service
	"192.0.2.0/24",      // documentation
	"192.31.196.0/24",   // AS112
	"192.52.193.0/24",   // automatic multicast tunnelling
	"192.88.99.0/24",    // 6to4 relays
	"192.168.0.0/16",    // private
	"192.175.48.0/24",   // AS112
	"198.18.0.0/15",     // benchmarks
	"198.51.100.0/24",   // documentation
	"203.0.113.0/24",    // documentation
	"224.0.0.0/4",       // multicast
	"240.0.0.0/4",       // reserved, and broadcast
	"2001::/23",         // protocol assignments: Teredo, ORCHID, benchmarks …
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4: an IPv4 address in disguise
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
)

var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	// nat64 has an IPv4 address in its last 32 bits. A network without IPv4 reaches every IPv4 host by it.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// Public reports whether an address is one of the public internet: global unicast, of no special purpose, and not another way
// to write an address that isn't.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	if nat64.Contains(a) {
		b := a.As16()
		return Public(netip.AddrFrom4([4]byte(b[12:])))
	}
	if a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
