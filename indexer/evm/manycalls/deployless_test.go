package manycalls

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// node is a chain with nothing on it.
var node *anvil.Node

func TestMain(m *testing.M) { os.Exit(withNode(m)) }

func withNode(m *testing.M) int {
	var err error
	if node, err = anvil.StartNode(context.Background(), anvil.NodeOptions{KeepStates: 20}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer node.Close()
	return m.Run()
}

// run is an eth_call of code, with as much gas as an indexer gives.
func run(t *testing.T, code []byte) (answer []byte, err error) {
	t.Helper()
	return runWith(t, code, 10_000_000)
}

func runWith(t *testing.T, code []byte, gas int) (answer []byte, err error) {
	t.Helper()
	var out anvil.HexBytes
	err = node.Call(t.Context(), &out, "eth_call", map[string]string{"data": "0x" + hex.EncodeToString(code), "gas": fmt.Sprintf("%#x", gas)}, "latest")
	return out, err
}

// answers runs calls and reads their answers.
func answers(t *testing.T, calls []Call, most int) []Answer {
	t.Helper()
	code := Deployless(calls, most)
	if code == nil {
		t.Fatalf("%d calls are too many", len(calls))
	}
	raw, err := run(t, code)
	if err != nil {
		t.Fatal(err)
	}
	list, ok := DeploylessAnswers(raw, len(calls))
	if !ok {
		t.Fatalf("the answer can't be read: %x", raw[:min(len(raw), 200)])
	}
	return list
}

// identity answers its data.
var identity = [20]byte{19: 4}

// contract puts code, in hexadecimal, at an address of its own.
func contract(t *testing.T, code string) (at [20]byte) {
	t.Helper()
	copy(at[:], anvil.Keccak([]byte(code)))
	if err := node.Call(t.Context(), nil, "anvil_setCode", "0x"+hex.EncodeToString(at[:]), "0x"+code); err != nil {
		t.Fatal(err)
	}
	return at
}

const longest = 40 // bytes of an answer in the tests

// TestCallsOfContracts makes calls of contracts of every kind, each among calls of an honest one, which have their answers whatever the other does.
func TestCallsOfContracts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("7", longest)
	word := strings.Repeat("00", 31) + "07"
	for name, tt := range map[string]struct {
		code string
		want Answer
	}{
		"answers a word":                      {"60075f5260205ff3", Answer{true, hexBytes(word)}},
		"answers what it is asked":            {"365f5f37365ff3", Answer{true, []byte("asked")}},
		"answers nothing":                     {"00", Answer{true, nil}},
		"has no code":                         {"", Answer{true, nil}},
		"answers a little more than is taken": {"365f5f37" + fmt.Sprintf("60%02x5ff3", longest+1), Answer{true, append([]byte("asked"), make([]byte, longest-5)...)}},
		"answers as much as is taken":         {"365f5f37" + fmt.Sprintf("60%02x5ff3", longest), Answer{true, append([]byte("asked"), make([]byte, longest-5)...)}},
		"answers a little less than is taken": {"365f5f37" + fmt.Sprintf("60%02x5ff3", longest-1), Answer{true, append([]byte("asked"), make([]byte, longest-6)...)}},
		"answers 16 KiB":                      {"6140005ff3", Answer{true, make([]byte, longest)}},
		"answers megabytes":                   {"6221e0005ff3", Answer{false, nil}}, // its own gas doesn't suffice
		"reverts without a reason":            {"5f5ffd", Answer{false, nil}},
		"reverts with a reason":               {"60075f5260205ffd", Answer{false, hexBytes(word)}},
		"reverts with a long reason":          {"6140005ffd", Answer{false, make([]byte, longest)}},
		"burns all gas":                       {"5b5f56", Answer{false, nil}},
		"halts on an invalid opcode":          {"fe", Answer{false, nil}},
		"jumps to nowhere":                    {"60ff56", Answer{false, nil}},
		"writes":                              {"60015f55", Answer{false, nil}},
		"logs":                                {"5f5fa0", Answer{false, nil}},
		"creates a contract":                  {"5f5f5ff0", Answer{false, nil}},
		"destroys itself":                     {"5fff", Answer{false, nil}},
		"calls itself for ever":               {"5f5f5f5f305afa5f5260205ff3", Answer{true, make([]byte, 32)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := Call{To: contract(t, tt.code), Data: []byte("asked")}
			honest := Call{To: identity, Data: []byte(long)}
			list := answers(t, []Call{asked, honest, asked, asked, honest}, longest)
			for i, a := range list {
				want := tt.want
				if i == 1 || i == 4 {
					want = Answer{true, []byte(long)}
				}
				if name == "calls itself for ever" && i != 1 && i != 4 {
					a.Data = make([]byte, len(a.Data)) // how deep it comes is nothing to us
				}
				if a.OK != want.OK || !bytes.Equal(a.Data, want.Data) {
					t.Errorf("call %d is answered %v, %x; want %v, %x", i, a.OK, a.Data, want.OK, want.Data)
				}
			}
		})
	}
}

func hexBytes(s string) []byte { return anvil.FromHex("0x" + s) }

// TestNoCallTakesTheGasOfOthers has all but one of as many calls as a pool is asked burn all the gas that they get.
func TestNoCallTakesTheGasOfOthers(t *testing.T) {
	t.Parallel()
	const n = 300
	burns := Call{To: contract(t, "5b600056"), Data: make([]byte, 36)}
	for _, honest := range []int{0, 1, n / 2, n - 1} {
		calls := make([]Call, n)
		for i := range calls {
			calls[i] = burns
		}
		// It reads 3 slots, which nobody has read before: more than a word of a pool's ticks takes.
		calls[honest] = Call{To: contract(t, fmt.Sprintf("60%02x54600154600254010160005260206000f3", honest%200+3))}
		for i, a := range answers(t, calls, 32) {
			if want := i == honest; a.OK != want || want && len(a.Data) != 32 {
				t.Fatalf("of calls of which all but the %dth burn their gas the %dth has the answer %v, %x", honest, i, a.OK, a.Data)
			}
		}
	}
}

// TestTooLittleGas: with any gas there is the right answer to each call, or none at all.
func TestTooLittleGas(t *testing.T) {
	t.Parallel()
	reads := make([]Call, 20)
	for i := range reads {
		// It reads 3 slots of its own: somewhat more than a word of a pool's ticks takes.
		reads[i] = Call{To: contract(t, fmt.Sprintf("60%02x54600154600254010160005260206000f3", i+3))}
	}
	code := Deployless(reads, 32)
	run := map[bool]int{}
	for gas := 60_000; gas < 700_000; gas += 7_000 {
		raw, err := runWith(t, code, gas)
		if run[err == nil]++; err != nil {
			continue
		}
		list, ok := DeploylessAnswers(raw, len(reads))
		for i, a := range list {
			if ok = ok && a.OK && len(a.Data) == 32; !ok {
				t.Fatalf("with %d gas the call %d is answered %v, %x", gas, i, a.OK, a.Data)
			}
		}
	}
	if run[true] < 20 || run[false] < 20 {
		t.Errorf("with %d amounts of gas it answers, with %d it doesn't: the test shows little", run[true], run[false])
	}
}

// TestTheLimitsOfAnAnswer: the longest answer that the limits allow comes, and a longer one isn't asked for, since a node refuses it.
func TestTheLimitsOfAnAnswer(t *testing.T) {
	t.Parallel()
	const n, most = 25, 980 // 1 + 25 * (3 + 980) is the limit
	probe := Probe(n, most+1)
	raw, err := run(t, Deployless(probe, most))
	if err != nil || len(raw) != MostAnswer || !IsProbed(probe, most, raw) {
		t.Errorf("the longest answer has %d bytes, %v", len(raw), err)
	}
	if Deployless(probe, most+1) != nil {
		t.Error("a longer answer is asked for")
	}
	if raw, err = run(t, program(probe, most+1)); err == nil {
		t.Errorf("the node takes a longer answer, of %d bytes: the test shows nothing", len(raw))
	}
}

// TestTheLimitsOfTheCode: as much code as the limits allow is run, and more isn't made, since a node refuses it.
func TestTheLimitsOfTheCode(t *testing.T) {
	t.Parallel()
	calls := []Call{{To: identity, Data: make([]byte, (MostCode-programLen)/2-callHead)}, {To: identity, Data: make([]byte, (MostCode-programLen+1)/2-callHead)}}
	code := Deployless(calls, 5)
	if len(code) != MostCode {
		t.Fatalf("the longest code has %d bytes", len(code))
	}
	for i, a := range answers(t, calls, 5) {
		if !a.OK || len(a.Data) != 5 {
			t.Errorf("call %d is answered %v, %x", i, a.OK, a.Data)
		}
	}
	calls[1].Data = append(calls[1].Data, 0)
	if Deployless(calls, 5) != nil {
		t.Error("longer code is made")
	}
	if _, err := run(t, program(calls, 5)); err == nil {
		t.Error("the node runs longer code: the test shows nothing")
	}
	for name, nothing := range map[string][]byte{
		"no call":                      Deployless(nil, 5),
		"more than its gas can say":    Deployless(make([]Call, 1_500), 5),
		"answers of less than nothing": Deployless([]Call{{}}, -1),
	} {
		if nothing != nil {
			t.Errorf("%s: %d bytes of code", name, len(nothing))
		}
	}
}

// TestAnswersBeginWithAByteThatNodesTake: with 0xEF at its beginning an answer is refused, whatever it is.
func TestAnswersBeginWithAByteThatNodesTake(t *testing.T) {
	t.Parallel()
	code := Deployless(Probe(1, 5), 5)
	at := bytes.Index(code, []byte{opPush1, answerFormat, opPush1, 0, opMstore8}) + 1
	if raw, err := run(t, code); err != nil || raw[0] != code[at] {
		t.Fatalf("the answer is %x, %v", raw, err)
	}
	code[at] = 0xef
	if raw, err := run(t, code); err == nil {
		t.Errorf("the node takes %x: the test shows nothing", raw)
	}
}

// TestTheProgramsPlaces: the program jumps to where its loop and its end are, and where it goes on with enough gas, and is as long as it says; no opcode of it is newer than Constantinople.
func TestTheProgramsPlaces(t *testing.T) {
	t.Parallel()
	code := program(nil, 0)
	if len(code) != programLen {
		t.Fatalf("the program has %d bytes, not %d", len(code), programLen)
	}
	var places []int
	for at := 0; at < len(code); at++ {
		switch op := code[at]; {
		case op == opJumpDest:
			places = append(places, at)
		case op >= opPush1 && op <= opPush1+31:
			at += int(op-opPush1) + 1
		case op == 0x5f, op == 0x46, op == 0x47, op == 0x48, op >= 0x5c && op <= 0x5e: // PUSH0, CHAINID, SELFBALANCE, BASEFEE, TLOAD, TSTORE, MCOPY
			t.Errorf("the opcode %#x at %d is newer", op, at)
		}
	}
	if !slices.Equal(places, []int{atEnough, atLoop, atEnd}) {
		t.Errorf("the places to jump to are %v", places)
	}
}

// TestAnswersThatArent: whatever a node answers is read without harm, and what lacks a byte, has one too many or another beginning isn't.
func TestAnswersThatArent(t *testing.T) {
	t.Parallel()
	good := []byte{answerFormat, 1, 0, 2, 7, 8, 0, 0, 0}
	list, ok := DeploylessAnswers(good, 2)
	if !ok || !list[0].OK || !bytes.Equal(list[0].Data, []byte{7, 8}) || list[1].OK || len(list[1].Data) > 0 {
		t.Fatalf("it is read as %v, %v", list, ok)
	}
	for n := range good {
		if _, ok := DeploylessAnswers(good[:n], 2); ok {
			t.Errorf("its first %d bytes are read", n)
		}
	}
	for name, raw := range map[string][]byte{
		"a byte too many": append(bytes.Clone(good), 0), "another beginning": append([]byte{2}, good[1:]...), "neither yes nor no": {answerFormat, 2, 0, 0, 0, 0, 0},
	} {
		if _, ok := DeploylessAnswers(raw, 2); ok {
			t.Errorf("%s: it is read", name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		raw, n := rapid.SliceOf(rapid.Byte()).Draw(t, "raw"), rapid.IntRange(0, 5).Draw(t, "n")
		for _, way := range []Way{ByMulticall3, ByDeployless, Alone} {
			if list, ok := way.Answers(raw, n); ok && len(list) != n {
				t.Fatalf("%d answers to %d calls", len(list), n)
			}
			way.IsMissing(raw, rapid.Bool().Draw(t, "refused"), n)
		}
	})
}

// TestMulticall3sAnswers: an answer with a word less, for another number of calls, or with a word that can't be, isn't read.
func TestMulticall3sAnswers(t *testing.T) {
	t.Parallel()
	var words [][]byte
	for _, n := range []uint64{32, 2, 64, 192, 1, 64, 32, 7, 0, 64, 0} { // an answer of the word 7, and a failure without a reason
		words = append(words, binary.BigEndian.AppendUint64(make([]byte, 24), n))
	}
	good := bytes.Join(words, nil)
	list, ok := Multicall3Answers(good, 2)
	if !ok || !list[0].OK || !bytes.Equal(list[0].Data, words[7]) || list[1].OK || len(list[1].Data) > 0 {
		t.Fatalf("it is read as %v, %v", list, ok)
	}
	for at := range words {
		if _, ok := Multicall3Answers(bytes.Join(words[:at], nil), 2); ok {
			t.Errorf("its first %d words are read", at)
		}
		for _, where := range []int{0, 31} {
			bad := bytes.Clone(good)
			if bad[32*at+where] |= 0xf2; at == 7 { // any word may be answered
				continue
			}
			if _, ok := Multicall3Answers(bad, 2); ok {
				t.Errorf("with the word %d as %x it is read", at, bad[32*at:32*at+32])
			}
		}
	}
	for _, n := range []int{0, 1, 3} {
		if _, ok := Multicall3Answers(good, n); ok {
			t.Errorf("it is read as %d answers", n)
		}
	}
}

// TestMulticall3sData: it is what another implementation of the ABI writes.
func TestMulticall3sData(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var calls []Call
		var tuples []anvil.Tuple
		for range rapid.IntRange(0, 4).Draw(t, "calls") {
			c := Call{Data: rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "data")}
			copy(c.To[:], rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "to"))
			calls, tuples = append(calls, c), append(tuples, anvil.Tuple{anvil.ToHex(c.To[:]), true, c.Data})
		}
		if got, want := Multicall3(calls), anvil.EncodeCall("aggregate3((address,bool,bytes)[])", tuples); !bytes.Equal(got, want) {
			t.Fatalf("%x, want %x", got, want)
		}
	})
}
