// Package manycalls puts many calls of contracts into one eth_call, and takes the answers out of the answer to it: by the contract Multicall3, or on a
// chain that lacks it by code that runs in a call without a contract's address. It asks no node.
package manycalls

import (
	"encoding/binary"

	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
)

// Call is one call of a contract.
type Call struct {
	To   [20]byte
	Data []byte
}

// Answer is what became of a call. OK is false where the contract failed; Data is then the reason that it gave.
type Answer struct {
	OK   bool
	Data []byte
}

// aggregate3 is the selector of Multicall3's function, which makes every call and tells of each whether it failed (github.com/mds1/multicall3).
var aggregate3 = hash.Selector("aggregate3((address,bool,bytes)[])")

// Multicall3 is the data of a call of Multicall3. A call that fails has no answer and fails no other.
func Multicall3(calls []Call) []byte {
	out := append([]byte(nil), aggregate3...)
	number := func(n int) { out = binary.BigEndian.AppendUint64(append(out, make([]byte, 24)...), uint64(n)) }
	number(32)
	number(len(calls))
	at := 32 * len(calls)
	for _, c := range calls {
		number(at)
		at += 4*32 + len(c.Data) + fill(c.Data) // the address, the flag, where the data is, its length, the data
	}
	for _, c := range calls {
		out = append(append(out, make([]byte, 12)...), c.To[:]...)
		number(1)
		number(3 * 32)
		number(len(c.Data))
		out = append(append(out, c.Data...), make([]byte, fill(c.Data))...)
	}
	return out
}

// fill is how many bytes fill the last word of the data.
func fill(data []byte) int { return (32 - len(data)%32) % 32 }

// Multicall3Answers reads the n answers of Multicall3; ok is false where they can't be read.
func Multicall3Answers(raw []byte, n int) (answers []Answer, ok bool) {
	list, count, ok := ArrayAt(raw, 0)
	if !ok || count != uint64(n) {
		return nil, false
	}
	for i := range count {
		offset, ok := uintAt(raw, list+32*i)
		if !ok {
			return nil, false
		}
		success, ok0 := uintAt(raw, list+offset)
		where, ok1 := uintAt(raw, list+offset+32)
		length, ok2 := uintAt(raw, list+offset+where)
		begin := list + offset + where + 32
		if !ok0 || !ok1 || !ok2 || success > 1 || begin > uint64(len(raw)) || length > uint64(len(raw))-begin {
			return nil, false
		}
		answers = append(answers, Answer{OK: success == 1, Data: raw[begin : begin+length]})
	}
	return answers, true
}

// ArrayAt is where the elements of the array begin whose offset is at a place of an answer, and how many they are.
func ArrayAt(raw []byte, place uint64) (begin, count uint64, ok bool) {
	offset, ok0 := uintAt(raw, place)
	count, ok1 := uintAt(raw, offset)
	return offset + 32, count, ok0 && ok1
}

// uintAt reads the word at a place as a number up to the answer's length.
func uintAt(raw []byte, place uint64) (v uint64, ok bool) {
	if place > uint64(len(raw)) || uint64(len(raw))-place < 32 {
		return 0, false
	}
	word := raw[place : place+32]
	v = binary.BigEndian.Uint64(word[24:])
	return v, [24]byte(word) == [24]byte{} && v <= uint64(len(raw))
}
