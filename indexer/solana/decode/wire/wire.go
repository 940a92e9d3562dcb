// Package wire walks over protocol buffers as they are sent, with no code made of their definitions.
package wire

import "google.golang.org/protobuf/encoding/protowire"

// Fields calls a function for each field of a message: v is the value of a number, text the bytes of a text or of a message within. ok is false where it is no message; the fields before the
// bad one were told then. A field of another kind, such as a float, is told with the number 0.
func Fields(message []byte, field func(number int, v uint64, text []byte)) (ok bool) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return false
		}
		message = message[n:]
		var v uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			text, n = protowire.ConsumeBytes(message)
		case protowire.Fixed32Type, protowire.Fixed64Type, protowire.StartGroupType, protowire.EndGroupType:
			number, n = 0, protowire.ConsumeFieldValue(number, kind, message)
		default:
			return false
		}
		if n < 0 {
			return false
		}
		message = message[n:]
		field(int(number), v, text)
	}
	return true
}
