// Package limit counts requests and says when a client has made as many as it may: never more than a policy's quota in
// any window. It counts in this process (Memory) or in a Redis that several processes share (Redis). Who a client is and
// what an answer says of its limit is decided elsewhere.
package limit

import (
	"context"
	"net/netip"
	"time"
)

// Client identifies who requests count for: a kind, then what tells the clients of a kind apart, padded with zeros. It is
// comparable, and neither making nor hashing one allocates. The zero Client stands for all whose address is unknown.
type Client [33]byte

// The kinds of clients: the first byte of a Client.
const (
	kindKey     = 1
	kindIPv4    = 4
	kindIPv6    = 6
	kindNetwork = 48 // a /48 of IPv6, which limiters count beside its /64s
)

// PerNetwork is how many clients' quotas a /48 of IPv6 has, all its /64s together. A site is given a /48, and one that asked from
// each of its 65,536 /64s would else have as many quotas; 16 are for a site that many people share.
const PerNetwork = 16

// AddressClient is the client at an address: an IPv4 address (IPv4-mapped IPv6 among them), or the /64 of an IPv6
// address, since that is the least that one customer is given. A zone is left out. An invalid address is the zero
// Client.
func AddressClient(a netip.Addr) Client {
	var c Client
	a = a.Unmap()
	switch {
	case a.Is4():
		b := a.As4()
		c[0] = kindIPv4
		copy(c[1:], b[:])
	case a.Is6():
		b := a.As16()
		c[0] = kindIPv6
		copy(c[1:], b[:8])
	}
	return c
}

// KeyClient is the client that presents the builder key with this SHA-256.
func KeyClient(sum [32]byte) Client {
	var c Client
	c[0] = kindKey
	copy(c[1:], sum[:])
	return c
}

// Network is the /48 that the client is in; ok is false for a client that isn't at an IPv6 address.
func (c Client) Network() (n Client, ok bool) {
	if c[0] != kindIPv6 {
		return n, false
	}
	n[0] = kindNetwork
	copy(n[1:7], c[1:7])
	return n, true
}

// Policy is the limit of one operation.
type Policy struct {
	// Name is the operation's id. Requests under policies of the same name count together.
	Name string
	// Quota is the most requests of a client that are counted in any window; with 0 or less all are refused. A /48 of IPv6 has
	// PerNetwork times as many.
	Quota int
	// Window is positive. Redis counts in microseconds, a fraction of one is rounded up.
	Window time.Duration
}

// Decision is what becomes of one request.
type Decision struct {
	// Allowed tells that the request was counted. A refused one isn't, so that a client that keeps asking is allowed
	// again as soon as one that doesn't.
	Allowed bool
	// Network tells that the quota of the client's /48 is used up, whatever the client has left of its own. Such a request counts
	// for neither, as one that the client's own quota refuses.
	Network bool
	// Remaining is how many more requests the client's own quota has room for now; 0 when Network is set.
	Remaining int
	// Reset is until Remaining next grows: until the oldest counted request, of the /48 when Network is set, leaves the
	// window. It is always positive, and a window when nothing is counted.
	Reset time.Duration
}

// Limiter decides on requests. A limiter always decides: there is no error that a caller could answer with.
type Limiter interface {
	// Take counts a request of c, and of its /48 when it has one, under p, if it may be for both. It is safe for concurrent use, and doesn't keep p.
	Take(ctx context.Context, c Client, p *Policy) Decision
}

// refusal is the decision under a policy that allows nothing.
func refusal(p *Policy) Decision { return Decision{Reset: p.Window} }
