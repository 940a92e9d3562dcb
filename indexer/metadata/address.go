package metadata

import (
	"fmt"
	"net/netip"
	"slices"
)

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

// ParseRanges reads addresses and CIDR prefixes. IPv4-mapped IPv6 is IPv4.
func ParseRanges(values []string) ([]netip.Prefix, error) {
	const mapped = 96 // the bits before the IPv4 address
	out := make([]netip.Prefix, 0, len(values))
	for _, v := range values {
		p, err := netip.ParsePrefix(v)
		if a, failed := netip.ParseAddr(v); failed == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err == nil && p.Addr().Is4In6() {
			p, err = p.Addr().Unmap().Prefix(p.Bits() - mapped)
		}
		if err != nil {
			return nil, fmt.Errorf("%q is no range of addresses; allowed: an address (203.0.113.7, 2001:db8::7) or a CIDR prefix (203.0.113.0/24, 2001:db8::/32)", v)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// isIn reports whether an address, or the IPv4 address that NAT64 reaches by it, is in one of the ranges.
func isIn(a netip.Addr, ranges []netip.Prefix) bool {
	a = a.Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		if isIn(netip.AddrFrom4([4]byte(b[12:])), ranges) {
			return true
		}
	}
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(a) })
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
