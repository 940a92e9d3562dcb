package main

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/yellowstone"
	"github.com/boardwalkhq/boardwalk/hack/simulate/message"
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
	change  func(*stream, message.Message) message.Message
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
	before   []message.Field
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
func (s *stream) change(update []byte) []byte {
	s.blocks++
	b, ok := message.Parse(update)
	if !ok {
		return update
	}
	newest := int(s.run.made.Load())
	out := b
	for i, f := range s.run.plan.Stream.Lies {
		if rng := rand.New(rand.NewPCG(s.run.plan.Seed^s.blocks, uint64(i))); f.meets(newest) && rng.IntN(100) < f.Percent {
			out = streamLies[f.Fault].change(s, slices.Clone(out))
			s.Failed(f.Fault)
		}
	}
	s.before = b.All(blockTransaction)
	return out.Bytes()
}

// The numbers of fields in a SubscribeUpdateBlock of the plugin's geyser.proto, and of the one in a UnixTimestamp.
const (
	blockSlot, blockHash, blockSeconds, blockTransaction, blockParent, blockExecuted = 1, 2, 4, 6, 8, 9
	timestamp                                                                        = 1
)

// having is a block with other transactions.
func having(b message.Message, list []message.Field) message.Message {
	b = slices.DeleteFunc(b, func(f message.Field) bool { return f.Number == blockTransaction })
	return append(b.Put(message.Number(blockExecuted, uint64(len(list)))), list...)
}

func otherHash(_ *stream, b message.Message) message.Message {
	return b.Put(message.Text(blockHash, []byte(otherKey(string(b.Find(blockHash).Text)))))
}

func otherParent(_ *stream, b message.Message) message.Message {
	return b.Put(message.Text(blockParent, []byte(otherKey(string(b.Find(blockParent).Text)))))
}

// fork gives each block another hash, which the next one has as its parent's.
func (s *stream) fork(b message.Message) message.Message {
	hash := string(b.Find(blockHash).Text)
	s.invented[hash] = otherKey(hash)
	if parent, ok := s.invented[string(b.Find(blockParent).Text)]; ok {
		b = b.Put(message.Text(blockParent, []byte(parent)))
	}
	return b.Put(message.Text(blockHash, []byte(s.invented[hash])))
}

func slotAhead(_ *stream, b message.Message) message.Message {
	return b.Put(message.Number(blockSlot, b.Find(blockSlot).Value+1000))
}

func streamedTimeBy(seconds int64) func(*stream, message.Message) message.Message {
	return func(_ *stream, b message.Message) message.Message {
		was, ok := message.Parse(b.Find(blockSeconds).Text)
		if !ok {
			return b
		}
		at := message.Number(timestamp, uint64(int64(was.Find(timestamp).Value)+seconds))
		return b.Put(message.Text(blockSeconds, at.Raw))
	}
}

func halfStreamed(_ *stream, b message.Message) message.Message {
	list := b.All(blockTransaction)
	return having(b, list[:len(list)/2])
}

// repeat gives a block the transactions of the one before.
func (s *stream) repeat(b message.Message) message.Message { return having(b, s.before) }

func unreadableStreamed(_ *stream, b message.Message) message.Message {
	return b.Put(message.Text(blockTransaction, []byte{0xff}))
}
