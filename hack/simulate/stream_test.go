package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/yellowstone"
)

// streamedOf is a block's message, with transactions.
func streamedOf(slot uint64, transactions ...string) []byte {
	const key = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsN"
	b := streamedBlock{
		numberField(blockSlot, slot), textField(blockHash, []byte(key+string('A'+byte(slot)))), textField(blockSeconds, numberField(timestamp, 100+slot).raw),
		numberField(7, slot-1), textField(blockParent, []byte(key+string('A'+byte(slot-1)))), numberField(blockExecuted, uint64(len(transactions))),
	}
	for _, tx := range transactions {
		b = append(b, textField(blockTransaction, []byte(tx)))
	}
	return b.message()
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
		b, ok := parseStreamed(two)
		if !ok || len(b.transactions()) != int(b.find(blockExecuted).value) {
			t.Errorf("%q: a block with %d transactions says %d; %t", lie, len(b.transactions()), b.find(blockExecuted).value, ok)
		}
		before, _ := parseStreamed(one)
		switch parent := b.find(blockParent).text; lie {
		case "streamed: a fork of its own":
			if !bytes.Equal(parent, before.find(blockHash).text) {
				t.Errorf("%q: the parent is %s, and that block is %s", lie, parent, before.find(blockHash).text)
			}
		case "streamed: the block's before":
			if list := b.transactions(); len(list) != 2 || string(list[0].text) != "a" {
				t.Errorf("%q: %d transactions", lie, len(list))
			}
		case "streamed: time before the parent":
			if at, _ := parseStreamed(b.find(blockSeconds).text); int64(at.find(timestamp).value) != 103-7200 {
				t.Errorf("%q: the time is %d", lie, int64(at.find(timestamp).value))
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
