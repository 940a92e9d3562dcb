package yellowstone

import (
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of fields are those of the plugin's geyser.proto.

const subscribeMethod = "/geyser.Geyser/Subscribe"

// confirmed is the commitment of the blocks that are streamed.
const confirmed = 1

// message leaves the messages of a stream as the bytes that travel.
type message struct{}

func (message) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("provider: %T is no message", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (message) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("provider: %T takes no message", v)
	}
	*b = data.Materialize()
	return nil
}

// Name is the kind of content that both sides of a stream are told.
func (message) Name() string { return "proto" }

// eachField gives a message's fields in their order; what isn't a number or bytes is left out. false says that the message can't be read.
func eachField(b []byte, take func(number int, value uint64, text []byte)) bool {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return false
		}
		switch kind {
		case protowire.VarintType:
			value, _ := protowire.ConsumeVarint(b)
			take(int(number), value, nil)
		case protowire.BytesType:
			text, _ := protowire.ConsumeBytes(b)
			take(int(number), 0, text)
		case protowire.Fixed32Type, protowire.Fixed64Type, protowire.StartGroupType, protowire.EndGroupType:
		}
		b = b[n:]
	}
	return true
}

// subscribeRequest is a SubscribeRequest.
type subscribeRequest struct {
	// blocks are the names of its filters for whole blocks; others are filters for anything else.
	blocks     []string
	others     bool
	commitment uint64
	isPing     bool
	from       uint64 // from_slot; 0 is now
}

func parseRequest(b []byte) (s subscribeRequest, ok bool) {
	ok = eachField(b, func(number int, value uint64, text []byte) {
		switch number {
		case 4:
			name := ""
			_ = eachField(text, func(number int, _ uint64, text []byte) {
				if number == 1 {
					name = string(text)
				}
			})
			s.blocks = append(s.blocks, name)
		case 6:
			s.commitment = value
		case 9:
			s.isPing = true
		case 11:
			s.from = value
		default:
			s.others = true
		}
	})
	return s, ok
}

// appendField appends a field of bytes.
func appendField(b []byte, number protowire.Number, text []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), text)
}

// appendNumber appends a field with a number.
func appendNumber(b []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), value)
}

// wholeBlocks is a SubscribeRequest for confirmed blocks with their transactions, from a slot on where that isn't 0.
func wholeBlocks(from uint64) []byte {
	filter := appendNumber(nil, 2, 1)
	b := appendNumber(appendField(nil, 4, appendField(appendField(nil, 1, []byte("all")), 2, filter)), 6, confirmed)
	if from > 0 {
		b = appendNumber(b, 11, from)
	}
	return b
}

// streamedBlock is a block as it travels in an update.
type streamedBlock struct {
	slot uint64
	body []byte
}

// parseUpdate finds the block of a SubscribeUpdate; ok is false where there is none.
func parseUpdate(b []byte) (block streamedBlock, ok bool) {
	readable := eachField(b, func(number int, _ uint64, text []byte) {
		if number == 5 {
			block.body, ok = text, true
		}
	})
	readable = readable && eachField(block.body, func(number int, value uint64, _ []byte) {
		if number == 1 {
			block.slot = value
		}
	})
	return block, ok && readable
}

// update is a SubscribeUpdate with the block, under the names of the filters that it passed.
func (s *streamedBlock) update(filters []string) (b []byte) {
	for _, name := range filters {
		b = appendField(b, 1, []byte(name))
	}
	return appendField(b, 5, s.body)
}

// ping is a SubscribeUpdate that wants an answer.
var ping = appendField(nil, 6, nil)
