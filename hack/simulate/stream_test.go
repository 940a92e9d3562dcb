package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/yellowstone"
	"github.com/boardwalkhq/boardwalk/hack/simulate/message"
)

// streamedOf is a block's message, with transactions.
func streamedOf(slot uint64, transactions ...string) []byte {
	const key = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsN"
	b := message.Message{
		message.Number(blockSlot, slot), message.Text(blockHash, []byte(key+string('A'+byte(slot)))), message.Text(blockSeconds, message.Number(timestamp, 100+slot).Raw),
		message.Number(7, slot-1), message.Text(blockParent, []byte(key+string('A'+byte(slot-1)))), message.Number(blockExecuted, uint64(len(transactions))),
	}
	for _, tx := range transactions {
		b = append(b, message.Text(blockTransaction, []byte(tx)))
	}
	return b.Bytes()
}

// streamWith is a stream with a lie about all blocks, at the newest block.
func streamWith(lie string) *stream {
	r := &run{log: &trace{began: time.Now()}, seen: &tally{counts: map[string]int64{}}, plan: &Plan{Seed: 1, Stream: &Stream{}}}
	if lie != "" {
		r.plan.Stream.Lies = []NodeFault{{Fault: lie, To: 10, Percent: 100}}
	}
	return &stream{run: r, invented: map[string]string{}}
}

// TestEveryLieOfAStream: each changes a block, which can still be read as one, and says how many transactions it has.
func TestEveryLieOfAStream(t *testing.T) {
	t.Parallel()
	first, second := streamedOf(2, "a", "b"), streamedOf(3, "c", "d", "e")
	for lie := range streamLies {
		s := streamWith(lie)
		one, two := s.change(first), s.change(second)
		if bytes.Equal(two, second) || s.run.seen.all()[lie] != 2 {
			t.Errorf("%q changes nothing, and is counted %d times", lie, s.run.seen.all()[lie])
		}
		b, ok := message.Parse(two)
		if !ok || len(b.All(blockTransaction)) != int(b.Find(blockExecuted).Value) {
			t.Errorf("%q: a block with %d transactions says %d; %t", lie, len(b.All(blockTransaction)), b.Find(blockExecuted).Value, ok)
		}
		before, _ := message.Parse(one)
		switch parent := b.Find(blockParent).Text; lie {
		case "streamed: a fork of its own":
			if !bytes.Equal(parent, before.Find(blockHash).Text) {
				t.Errorf("%q: the parent is %s, and that block is %s", lie, parent, before.Find(blockHash).Text)
			}
		case "streamed: the block's before":
			if list := b.All(blockTransaction); len(list) != 2 || string(list[0].Text) != "a" {
				t.Errorf("%q: %d transactions", lie, len(list))
			}
		case "streamed: time before the parent":
			if at, _ := message.Parse(b.Find(blockSeconds).Text); int64(at.Find(timestamp).Value) != 103-7200 {
				t.Errorf("%q: the time is %d", lie, int64(at.Find(timestamp).Value))
			}
		}
		s.run.made.Store(-1)
		if last := streamedOf(4); !bytes.Equal(s.change(last), last) && lie != "streamed: a fork of its own" {
			t.Errorf("%q doesn't stop with the faults", lie)
		}
	}
	if s := streamWith(""); !bytes.Equal(s.change(first), first) || !bytes.Equal(s.change([]byte{0xff}), []byte{0xff}) {
		t.Error("a stream without lies changes blocks")
	}
}

// TestTheFaultsOfAStream: they are those that readers have reported, from one of them on.
func TestTheFaultsOfAStream(t *testing.T) {
	t.Parallel()
	reported := yellowstone.ReportedFaults()
	limits := (&Stream{Faults: len(reported), First: 3, MissEvery: 7}).limits()
	if want := slices.Concat(reported[3:], reported[:3]); !slices.Equal(limits.Faults, want) || limits.MissEvery != 7 {
		t.Errorf("%+v", limits)
	}
	if names := streamFaultsOf(familySolana); len(names) != len(streamLies)+5 || !slices.Contains(names, "message cut") {
		t.Errorf("the faults of streams are %s", strings.Join(names, ", "))
	}
	if names := streamFaultsOf(familyEVM); names != nil {
		t.Errorf("an EVM chain has streams with %s", strings.Join(names, ", "))
	}
}
