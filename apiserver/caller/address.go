package caller

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwardedFor is the header in which each proxy appends the address that it was asked from.
const forwardedFor = "X-Forwarded-For"

// thisHost is the address of a peer on a Unix socket: a process of this machine.
var thisHost = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Address is the address that a request comes from: IPv4-mapped IPv6 as IPv4, without a zone, and invalid when the
// connection doesn't tell. A peer on a Unix socket has 127.0.0.1.
//
// It is the peer's, and what the peer says in X-Forwarded-For counts only if it is a trusted proxy. Then the addresses
// there are walked from the right, where the nearest proxy wrote, past those of trusted proxies. The first other one
// is the client's: what stands left of it the client may have made up. Where something stands that isn't an address,
// the walk ends at the hop before, and so does it at the left end.
func (r *Resolver) Address(req *http.Request) netip.Addr {
	client := peer(req.RemoteAddr)
	if !r.trusts(client) {
		return client
	}
	for _, rest := range slices.Backward(req.Header[forwardedFor]) {
		for more := true; more; {
			hop := rest
			if comma := strings.LastIndexByte(rest, ','); comma >= 0 {
				hop, rest = rest[comma+1:], rest[:comma]
			} else {
				more = false
			}
			addr := parseHop(hop)
			if !addr.IsValid() {
				return client
			}
			client = addr
			if !r.trusts(client) {
				return client
			}
		}
	}
	return client
}

func (r *Resolver) trusts(a netip.Addr) bool {
	for _, p := range r.trusted {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// peer reads http.Request.RemoteAddr. The name of a Unix socket's client is empty, "@…" (abstract) or a path.
func peer(remote string) netip.Addr {
	if remote == "" || remote[0] == '@' || remote[0] == '/' {
		return thisHost
	}
	a, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return plain(a.Addr())
}

// parseHop reads one element of X-Forwarded-For; it is invalid when that isn't an address. Some proxies write a port, and
// IPv6 in brackets.
func parseHop(s string) netip.Addr {
	s = strings.Trim(s, " \t")
	switch {
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		if a, err := netip.ParseAddr(s[1 : len(s)-1]); err == nil && a.Is6() {
			return plain(a)
		}
	case strings.HasPrefix(s, "[") || strings.Count(s, ":") == 1:
		if a, err := netip.ParseAddrPort(s); err == nil {
			return plain(a.Addr())
		}
	default:
		if a, err := netip.ParseAddr(s); err == nil {
			return plain(a)
		}
	}
	return netip.Addr{}
}

func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// ParsePrefixes reads trusted proxies: each an address or a CIDR prefix, of which bits beyond its length are ignored.
// IPv4-mapped IPv6 is IPv4. A prefix of length 0 is an error: to trust everyone is to let everyone choose who they are.
func ParsePrefixes(values []string) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(values))
	for _, v := range values {
		p, ok := parsePrefix(strings.TrimSpace(v))
		if !ok {
			return nil, fmt.Errorf("trusted proxy %q is not one; allowed: an address (10.0.0.7, fd00::7) or a CIDR prefix (10.0.0.0/8, fd00::/8)", v)
		}
		if p.Bits() == 0 {
			return nil, fmt.Errorf("trusted proxy %q would trust everyone, so that everyone could choose an address; allowed: the proxies' own "+
				"addresses (10.0.0.7, fd00::7) or CIDR prefixes (10.0.0.0/8, fd00::/8)", v)
		}
		out = append(out, p)
	}
	return out, nil
}

func parsePrefix(s string) (p netip.Prefix, ok bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		a = plain(a)
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return p, false
	}
	if a := p.Addr(); a.Is4In6() {
		const mapped = 96 // the bits before the IPv4 address
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-mapped)
		if !p.IsValid() {
			return p, false
		}
	}
	return p.Masked(), true
}
