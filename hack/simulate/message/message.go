// Package message edits messages of Protocol Buffers field by field, whatever they mean (protobuf.dev/programming-guides/encoding).
package message

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message is its fields, in their order.
type Message []Field

// Field is a number, which is its Value, or bytes, which are its Text. What is neither is left as it is. Raw is the field as it travels.
type Field struct {
	Number protowire.Number
	Value  uint64
	Text   []byte
	Raw    []byte
}

// Parse parts a message into its fields.
func Parse(message []byte) (m Message, ok bool) {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil, false
		}
		n := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if n < 0 {
			return nil, false
		}
		f := Field{Number: number, Raw: message[:tag+n]}
		f.Value, _ = protowire.ConsumeVarint(message[tag:])
		if kind == protowire.BytesType {
			f.Text, _ = protowire.ConsumeBytes(message[tag:])
		}
		m, message = append(m, f), message[tag+n:]
	}
	return m, true
}

// Bytes is the message as it travels.
func (m Message) Bytes() (out []byte) {
	for _, f := range m {
		out = append(out, f.Raw...)
	}
	return out
}

// Number is a field with a number.
func Number(number protowire.Number, value uint64) Field {
	raw := protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
	return Field{Number: number, Value: value, Raw: raw}
}

// Text is a field with bytes.
func Text(number protowire.Number, text []byte) Field {
	raw := protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), text)
	return Field{Number: number, Text: text, Raw: raw}
}

// Find is the first field of a number, which is empty where the message has none.
func (m Message) Find(number protowire.Number) (f Field) {
	if i := slices.IndexFunc(m, func(f Field) bool { return f.Number == number }); i >= 0 {
		f = m[i]
	}
	return f
}

// Put puts a field in the place of the first one of its number.
func (m Message) Put(f Field) Message {
	if i := slices.IndexFunc(m, func(old Field) bool { return old.Number == f.Number }); i >= 0 {
		m[i] = f
	}
	return m
}

// All are the fields of a number.
func (m Message) All(number protowire.Number) (list []Field) {
	for _, f := range m {
		if f.Number == number {
			list = append(list, f)
		}
	}
	return list
}
