// Package caller says who a request comes from: the holder of a builder key, or else whoever has the address that it
// comes from, past the proxies that are declared as trusted. What a caller may do is decided elsewhere.
package caller

import (
	"net/http"
	"net/netip"

	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/internal/keyfile"
)

// KeyHeader is the header in which a builder presents a key.
const KeyHeader = "X-Api-Key"

// KeyStatus is what is known of the key that a request presents.
type KeyStatus uint8

// The statuses of keys.
const (
	KeyNone    KeyStatus = iota // no key, or an empty one
	KeyKnown                    // one of the builder keys
	KeyUnknown                  // any other
)

// String is "none", "known" or "unknown".
func (s KeyStatus) String() string {
	switch s {
	case KeyNone:
		return "none"
	case KeyKnown:
		return "known"
	case KeyUnknown:
		return "unknown"
	default:
		return "invalid"
	}
}

// Caller is who a request comes from.
type Caller struct {
	// Client is whom the request counts for: the holder of a known key, or else the address.
	Client limit.Client
	Key    KeyStatus
}

// Resolver finds out who requests come from.
type Resolver struct {
	trusted []netip.Prefix
	keys    *keyfile.File
}

// NewResolver makes a resolver that believes what proxies in the trusted networks, as ParsePrefixes gives them, say of
// their clients, and knows some keys; nil knows none.
func NewResolver(trusted []netip.Prefix, keys *keyfile.File) *Resolver {
	return &Resolver{trusted: trusted, keys: keys}
}

// Identify says who a request comes from. A key that isn't known changes nothing: its request counts for the address, or
// else everyone could have as many limits as keys come to mind.
func (r *Resolver) Identify(req *http.Request) Caller {
	status := KeyNone
	if presented := req.Header.Get(KeyHeader); presented != "" {
		if sum, ok := r.keys.Find(presented); ok {
			return Caller{Client: limit.KeyClient(sum), Key: KeyKnown}
		}
		status = KeyUnknown
	}
	return Caller{Client: limit.AddressClient(r.Address(req)), Key: status}
}
