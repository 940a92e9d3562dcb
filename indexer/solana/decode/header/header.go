// Package header reads the header of a transaction's message, which says which of its accounts may change.
package header

import (
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/wire"
)

// Header counts a message's static keys: those that have signed, those of them that are for reading alone, and those of the others that are.
type Header struct{ signed, signedReadonly, readonly, static uint64 }

// OfJSON reads a header from a node's JSON. ok is false where there is none, or none that a message with so many static keys can have.
func OfJSON(text []byte, static int) (h Header, ok bool) {
	h.static = uint64(static)
	p := rpc.NewScanner(text)
	p.Object(func(key []byte) {
		switch string(key) {
		case "numRequiredSignatures":
			h.signed = p.Uint()
		case "numReadonlySignedAccounts":
			h.signedReadonly = p.Uint()
		case "numReadonlyUnsignedAccounts":
			h.readonly = p.Uint()
		default:
			p.Leap()
		}
	})
	ok, _ = p.End()
	return h, ok && h.isPossible()
}

// OfWire reads a header from gRPC's message, with ok as OfJSON has it.
func OfWire(message []byte, static int) (h Header, ok bool) {
	h.static = uint64(static)
	ok = wire.Fields(message, func(number int, v uint64, _ []byte) {
		switch number {
		case 1:
			h.signed = v
		case 2:
			h.signedReadonly = v
		case 3:
			h.readonly = v
		}
	})
	return h, ok && h.isPossible()
}

// isPossible reports whether the first key, which pays, has signed and may change, and whether there are as many keys.
func (h *Header) isPossible() bool {
	return h.signedReadonly < h.signed && h.signed <= h.static && h.readonly <= h.static-h.signed
}

// Writes reports whether the account at a place may change. Keys from lookup tables follow the static ones, first the loaded ones that may change.
func (h *Header) Writes(place, loaded int) bool {
	at := uint64(place)
	switch {
	case at >= h.static:
		return at < h.static+uint64(loaded)
	case at < h.signed:
		return at+h.signedReadonly < h.signed
	default:
		return at+h.readonly < h.static
	}
}
