package metadata

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

const (
	// dialTime bounds one attempt to connect, so that a second address of a name gets its chance.
	dialTime = 3 * time.Second
	// dialed is how many of a name's addresses are tried.
	dialed = 4
	// maxHeader bounds the header of an answer in bytes.
	maxHeader = 16 << 10
)

// Resolver looks names up. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

var _ Resolver = (*net.Resolver)(nil)

// guard opens connections to allowed addresses and ports, and to no others.
type guard struct {
	resolver Resolver
	allow    func(netip.Addr) bool
	ports    []uint16
	dialer   net.Dialer
}

func newGuard(r Resolver, allow func(netip.Addr) bool, ports []uint16) *guard {
	g := &guard{resolver: r, allow: allow, ports: ports}
	g.dialer = net.Dialer{Timeout: dialTime, Control: g.control}
	return g
}

// transport speaks HTTP through the guard. Each request has a connection of its own, so that none is kept for an address that
// was right for another moment.
func (g *guard) transport(c *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // whatever the environment says: a proxy would resolve the name anew
		DialContext:            g.dial,
		TLSClientConfig:        c,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		DisableCompression:     true, // decoded here, with bounds for both sides
		MaxResponseHeaderBytes: maxHeader,
	}
}

// dial resolves the name, holds all its addresses against the rule, and connects to one of those very addresses: a second
// look-up could answer something else.
func (g *guard) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, newError(BadReference, "its host can't be read")
	}
	port, ok := portOf(service)
	if !ok || !slices.Contains(g.ports, port) {
		return nil, newError(Refused, "its port is not allowed")
	}
	list, err := g.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, a := range list[:min(len(list), dialed)] {
		var conn net.Conn
		if conn, err = g.dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(a, port).String()); err == nil {
			return conn, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// addresses resolves a host, IPv4 first. It fails if one address isn't allowed: a name with both kinds of addresses is a trap.
func (g *guard) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	list := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		list = append(list, a)
	} else {
		// With its root, a name is nobody's abbreviation: a cluster's search list turns a.b into a.b.svc.cluster.local.
		if list, err = g.resolver.LookupNetIP(ctx, "ip", host+"."); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, newError(Unreachable, "its host has no address")
	}
	for i, a := range list {
		list[i] = a.Unmap()
		if !g.allow(list[i]) {
			return nil, newError(Refused, "its host's address is not public")
		}
	}
	slices.SortStableFunc(list, func(a, b netip.Addr) int { return cmp.Compare(a.BitLen(), b.BitLen()) })
	return list, nil
}

// control is the last look, at the address that the socket is about to be connected to.
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !g.allow(a.Addr().Unmap()) || !slices.Contains(g.ports, a.Port()) {
		return newError(Refused, "its host's address is not public")
	}
	return nil
}
