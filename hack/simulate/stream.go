package main

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/boardwalkhq/boardwalk/hack/provider/yellowstone"
)

// Stream is how an endpoint behaves that streams the blocks of a chain of Solana's family, by Yellowstone gRPC.
type Stream struct {
	// Faults is how many of the reported faults the streams have, one after the other in a circle, and First which of them comes first.
	Faults int `json:"faults,omitempty"`
	First  int `json:"first,omitempty"`
	// MissEvery is which of the blocks no stream sends: every third, if it is 3; 0 is none.
	MissEvery int `json:"miss_every,omitempty"`
	// Lies are what blocks are changed to, by the names of streamLies.
	Lies []NodeFault `json:"lies,omitempty"`
}

// pingEvery is the time between two pings of a stream, as the plugin's is by default.
const pingEvery = 10 * time.Second

// limits are those of the streams' server.
func (s *Stream) limits() yellowstone.Limits {
	reported := yellowstone.ReportedFaults()
	l := yellowstone.Limits{Offered: true, PingEvery: pingEvery, MissEvery: s.MissEvery}
	for i := range s.Faults {
		l.Faults = append(l.Faults, reported[(s.First+i)%len(reported)])
	}
	return l
}

// drawStream has every third seed of Solana's family stream, with numbers of its own, so that a seed keeps the rest of its plan. A stream lies to an index alone that
// has two endpoints beside it, neither of which lies: a majority has to be right.
func (p *Plan) drawStream() {
	rng := rand.New(rand.NewPCG(p.Seed, 5))
	if p.Family != familySolana || rng.IntN(3) > 0 {
		return
	}
	p.Stream = &Stream{}
	if len(p.Nodes) > 1 && !p.hasLiar() && rng.IntN(3) > 0 {
		f := NodeFault{Fault: pick(rng, slices.Sorted(maps.Keys(streamLies))), From: firstPart + 6 + rng.IntN(10), To: p.Blocks, Percent: 100}
		if streamLies[f.Fault].lasting { // until it is found out
			f.To += untilStreamFound
		} else {
			f.Percent, f.Ever = pick(rng, []int{20, 100}), rng.IntN(2) == 0
		}
		p.Stream.Lies = []NodeFault{f}
		return
	}
	all := len(yellowstone.ReportedFaults())
	p.Stream.Faults, p.Stream.First, p.Stream.MissEvery = all, rng.IntN(all), pick(rng, []int{0, 5, 7})
}

// streamLie makes another block of one that is streamed. Lasting lies are told by other endpoints' blocks alone, as those of nodeFault are.
type streamLie struct {
	lasting bool
	change  func(*stream, streamedBlock) streamedBlock
}

var streamLies = map[string]streamLie{
	"streamed: another hash":              {change: otherHash},
	"streamed: another parent":            {change: otherParent},
	"streamed: a fork of its own":         {change: (*stream).fork},
	"streamed: a slot far ahead":          {change: slotAhead},
	"streamed: time before the parent":    {change: streamedTimeBy(-7200)},
	"streamed: time ahead by an hour":     {change: streamedTimeBy(3600)},
	"streamed: half of the transactions":  {lasting: true, change: halfStreamed},
	"streamed: the block's before":        {lasting: true, change: (*stream).repeat},
	"streamed: an unreadable transaction": {change: unreadableStreamed},
}

// streamFaultsOf are the names of all that a family's streams can do wrong.
func streamFaultsOf(family string) []string {
	if family != familySolana {
		return nil
	}
	all := (&Stream{Faults: len(yellowstone.ReportedFaults()), MissEvery: 1}).limits()
	return append(all.MissingFaults(nil), slices.Sorted(maps.Keys(streamLies))...)
}

// stream is the endpoint that streams.
type stream struct {
	run    *run
	server *yellowstone.Server

	// blocks is how many came, before are the transactions of the last one, and invented the hashes of a fork of its own by the true ones. One goroutine uses them.
	blocks   uint64
	before   []blockField
	invented map[string]string
}

// startStream starts the endpoint that the plan has, if any.
func (r *run) startStream(ctx context.Context) error {
	if r.plan.Stream == nil {
		return nil
	}
	c, ok := r.chain.(*solanaChain)
	if !ok {
		return errors.New("chains of Solana's family alone have streams")
	}
	from, err := c.Geyser(ctx, "")
	if err != nil {
		return err
	}
	s := &stream{run: r, invented: map[string]string{}}
	s.server, err = yellowstone.Start(ctx, yellowstone.Options{
		Limits: r.plan.Stream.limits(), Counter: s, From: from, Host: "127.0.0.1", Now: time.Now, Delay: func() time.Duration { return 0 }, Change: s.change,
	})
	if err != nil {
		return err
	}
	r.stream = s
	return nil
}

// Subscribed, Streamed and Failed count what readers get, as a yellowstone.Counter.
func (s *stream) Subscribed() { s.run.log.add("the stream has a reader") }

// Streamed counts nothing: a block that is sent is no fault.
func (s *stream) Streamed() {}

// Failed counts a fault.
func (s *stream) Failed(kind string) {
	s.run.seen.add(kind)
	s.run.log.add("%s", kind)
}

// endFaults stops the stream's faults. A lie with Ever goes on.
func (s *stream) endFaults() {
	if s != nil {
		s.server.EndFaults()
	}
}

func (s *stream) end() {
	if s != nil {
		s.server.Close()
	}
}

// change is what becomes of a block's message.
func (s *stream) change(message []byte) []byte {
	s.blocks++
	b, ok := parseStreamed(message)
	if !ok {
		return message
	}
	newest := int(s.run.made.Load())
	out := b
	for i, f := range s.run.plan.Stream.Lies {
		if rng := rand.New(rand.NewPCG(s.run.plan.Seed^s.blocks, uint64(i))); f.meets(newest) && rng.IntN(100) < f.Percent {
			out = streamLies[f.Fault].change(s, slices.Clone(out))
			s.Failed(f.Fault)
		}
	}
	s.before = b.transactions()
	return out.message()
}

// The numbers of fields in a SubscribeUpdateBlock of the plugin's geyser.proto, and of the one in a UnixTimestamp.
const (
	blockSlot, blockHash, blockSeconds, blockTransaction, blockParent, blockExecuted = 1, 2, 4, 6, 8, 9
	timestamp                                                                        = 1
)

// streamedBlock is a SubscribeUpdateBlock.
type streamedBlock []blockField

// blockField is a field of it: a number, or bytes. What is neither is left as it is.
type blockField struct {
	number protowire.Number
	kind   protowire.Type
	value  uint64
	text   []byte
	raw    []byte
}

func parseStreamed(message []byte) (b streamedBlock, ok bool) {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil, false
		}
		n := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if n < 0 {
			return nil, false
		}
		f := blockField{number: number, kind: kind, raw: message[:tag+n]}
		f.value, _ = protowire.ConsumeVarint(message[tag:])
		if kind == protowire.BytesType {
			f.text, _ = protowire.ConsumeBytes(message[tag:])
		}
		b, message = append(b, f), message[tag+n:]
	}
	return b, true
}

// message is the block as it travels.
func (b streamedBlock) message() (out []byte) {
	for _, f := range b {
		out = append(out, f.raw...)
	}
	return out
}

func numberField(number protowire.Number, value uint64) blockField {
	raw := protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
	return blockField{number: number, kind: protowire.VarintType, value: value, raw: raw}
}

func textField(number protowire.Number, text []byte) blockField {
	raw := protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), text)
	return blockField{number: number, kind: protowire.BytesType, text: text, raw: raw}
}

// find is the first field of a number, which is empty where the block has none.
func (b streamedBlock) find(number protowire.Number) (f blockField) {
	if i := slices.IndexFunc(b, func(f blockField) bool { return f.number == number }); i >= 0 {
		f = b[i]
	}
	return f
}

// put puts a field in the place of the first one of its number.
func (b streamedBlock) put(f blockField) streamedBlock {
	if i := slices.IndexFunc(b, func(old blockField) bool { return old.number == f.number }); i >= 0 {
		b[i] = f
	}
	return b
}

func (b streamedBlock) transactions() (list []blockField) {
	for _, f := range b {
		if f.number == blockTransaction {
			list = append(list, f)
		}
	}
	return list
}

// having is the block with other transactions.
func (b streamedBlock) having(list []blockField) streamedBlock {
	b = slices.DeleteFunc(b, func(f blockField) bool { return f.number == blockTransaction })
	return append(b.put(numberField(blockExecuted, uint64(len(list)))), list...)
}

func otherHash(_ *stream, b streamedBlock) streamedBlock {
	return b.put(textField(blockHash, []byte(otherKey(string(b.find(blockHash).text)))))
}

func otherParent(_ *stream, b streamedBlock) streamedBlock {
	return b.put(textField(blockParent, []byte(otherKey(string(b.find(blockParent).text)))))
}

// fork gives each block another hash, which the next one has as its parent's.
func (s *stream) fork(b streamedBlock) streamedBlock {
	hash := string(b.find(blockHash).text)
	s.invented[hash] = otherKey(hash)
	if parent, ok := s.invented[string(b.find(blockParent).text)]; ok {
		b = b.put(textField(blockParent, []byte(parent)))
	}
	return b.put(textField(blockHash, []byte(s.invented[hash])))
}

func slotAhead(_ *stream, b streamedBlock) streamedBlock {
	return b.put(numberField(blockSlot, b.find(blockSlot).value+1000))
}

func streamedTimeBy(seconds int64) func(*stream, streamedBlock) streamedBlock {
	return func(_ *stream, b streamedBlock) streamedBlock {
		was, ok := parseStreamed(b.find(blockSeconds).text)
		if !ok {
			return b
		}
		at := numberField(timestamp, uint64(int64(was.find(timestamp).value)+seconds))
		return b.put(textField(blockSeconds, at.raw))
	}
}

func halfStreamed(_ *stream, b streamedBlock) streamedBlock {
	list := b.transactions()
	return b.having(list[:len(list)/2])
}

// repeat gives a block the transactions of the one before.
func (s *stream) repeat(b streamedBlock) streamedBlock { return b.having(s.before) }

func unreadableStreamed(_ *stream, b streamedBlock) streamedBlock {
	return b.put(textField(blockTransaction, []byte{0xff}))
}
