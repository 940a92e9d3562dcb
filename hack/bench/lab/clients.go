package lab

import (
	"net/netip"
	"sync/atomic"
)

// Clients are the addresses that requests claim to come from, by X-Forwarded-For. A number of clients takes turns; when
// each has sent as many requests as it may, all are replaced by others, so that none ever reaches its limit.
type Clients struct {
	// Together is how many take turns, Each how many requests one sends before it is replaced.
	Together, Each int
	sent           atomic.Uint64
}

// firstClient begins the range that is set aside for benchmarks (RFC 2544), 198.18.0.0/15.
const (
	firstClient = 198<<24 | 18<<16
	allClients  = 1 << 17
)

// next is the client of the next request.
func (c *Clients) next() netip.Addr { return c.of(c.sent.Add(1) - 1) }

// of is the client of the n-th request, counted from 0.
func (c *Clients) of(n uint64) netip.Addr {
	together, each := uint64(c.Together), uint64(c.Each)
	id := n/(together*each)*together + n%together
	a := firstClient + uint32(id%allClients)
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)})
}
