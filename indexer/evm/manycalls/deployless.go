package manycalls

// A call without a contract's address runs its data as the code by which a contract is created. What that code returns would be the contract's code; an
// eth_call creates nothing, and answers with it. So the data can be a program that makes many calls and returns their answers.

const (
	// MostCode is the most bytes that a program may have with its calls (EIP-3860).
	MostCode = 49_152
	// MostAnswer is the most bytes that it may return (EIP-170). Some chains allow more of either.
	MostAnswer = 24_576
	// answerFormat begins every answer. A code that begins with 0xEF is refused (EIP-3541), so an answer begins with a byte of ours.
	answerFormat = 1
	// callHead is how many bytes stand before a call's data, its address and two for the length of the data, and answerHead how many before an answer: whether
	// it succeeded, and its length.
	callHead, answerHead = 20 + 2, 1 + 2
)

// Gas that the program keeps back from its calls, so that none of them can take it: for each byte that it returns (the yellow paper's code deposit),
// for a call with all that the program does about it, of which an account that isn't warm yet takes the most (EIP-2929), and for the memory.
const byteGas, callGas, memoryGas = 200, 3_000, 30_000

// leastGas is how much gas a call has to have at least beside what is kept back: some nodes give less than they are asked for. With less the program fails as
// a whole, since it would look as if the contracts that are asked had failed.
const leastGas = 10_000

// Opcodes that the program uses. None is newer than Constantinople, since chains differ in what they took over from Ethereum: hence no PUSH0.
const (
	opAdd, opMul, opSub, opDiv                       = 0x01, 0x02, 0x03, 0x04
	opLt, opIsZero, opAnd, opXor, opShl, opShr       = 0x10, 0x15, 0x16, 0x18, 0x1b, 0x1c
	opCodeSize, opCodeCopy, opReturnSize, opReturned = 0x38, 0x39, 0x3d, 0x3e
	opPop, opMload, opMstore, opMstore8              = 0x50, 0x51, 0x52, 0x53
	opJump, opJumpI, opGas, opJumpDest, opInvalid    = 0x56, 0x57, 0x5a, 0x5b, 0xfe
	opPush1, opPush2, opPush3                        = 0x60, 0x61, 0x62
	opDup1, opDup3, opDup4, opDup5, opDup7, opDup10  = 0x80, 0x82, 0x83, 0x84, 0x86, 0x89
	opSwap1, opSwap2                                 = 0x90, 0x91
	opReturn, opStaticCall                           = 0xf3, 0xfa
)

// Where the program goes on with enough gas, and has its loop and its end, and how long it is; where it has the calls in its memory, above the longest answer.
const (
	atEnough, atLoop, atEnd, programLen = 10, 34, 126, 131
	callsHigh, callsLow                 = 0x80, 0x00
)

// Deployless is the data of a call without a contract's address that makes calls. Of each answer it gives at most so many bytes. It is nil where the calls
// or their answers may pass the limits.
//
// Each call gets an equal part of the gas that is left, and what it doesn't use is the others': so no call can use up what another needs. The calls are
// static, so that no call can change what a later one reads.
func Deployless(calls []Call, most int) []byte {
	size := programLen
	for _, c := range calls {
		size += callHead + len(c.Data)
	}
	if len(calls) == 0 || most < 0 || size > MostCode || 1+len(calls)*(answerHead+most) > MostAnswer || kept(len(calls), most)+leastGas*len(calls) >= 1<<24 {
		return nil
	}
	return program(calls, most)
}

// kept is how much gas the program keeps back from so many calls.
func kept(calls, most int) int {
	return byteGas*(1+calls*(answerHead+most)) + callGas*calls + memoryGas
}

// program is the data, whatever its length.
func program(calls []Call, most int) []byte {
	n, keep := len(calls), kept(len(calls), most)
	least := keep + leastGas*n
	const here = programLen // where the calls begin in the code
	code := []byte{
		// The comments have the stack after each line, its top to the right.

		// Without enough gas it fails.
		opGas, opPush3, byte(least >> 16), byte(least >> 8), byte(least), opLt, // least < gas
		opPush1, atEnough, opJumpI, opInvalid, opJumpDest, //

		// The calls are copied from behind the program into the memory, from 0x8000 on. Answers begin at 0.
		opPush1, here, opCodeSize, opSub, // size
		opPush1, here, opPush2, callsHigh, callsLow, opCodeCopy, //
		opPush1, answerFormat, opPush1, 0, opMstore8, //
		opPush2, byte(n >> 8), byte(n), // left: how many calls are left
		opPush1, 1, // left, out: where the next answer goes
		opPush2, callsHigh, callsLow, // left, out, in: where the next call is

		// atLoop: it goes on while a call is left.
		opJumpDest, opDup3, opIsZero, opPush1, atEnd, opJumpI, // left, out, in

		// The head of the call is its address in the highest 20 bytes of a word, and the length of its data in the two below.
		opDup1, opMload, // left, out, in, head
		opDup1, opPush1, 80, opShr, opPush2, 0xff, 0xff, opAnd, // left, out, in, head, length
		opSwap1, opPush1, 96, opShr, // left, out, in, length, to
		opSwap2, opPush1, callHead, opAdd, // left, out, to, length, data: where the call's data is

		// The call gives its answer to no memory: that is copied later, as much as is wanted.
		opPush1, 0, opPush1, 0, opDup4, opDup4, opDup7, // left, out, to, length, data, 0, 0, length, data, to
		opDup10, opPush3, byte(keep >> 16), byte(keep >> 8), byte(keep), opGas, opSub, opDiv, // ..., to, (gas - keep) / left
		opStaticCall, // left, out, to, length, data, succeeded

		// Whether it succeeded is the first byte of its answer. The next call begins behind the data.
		opDup5, opMstore8, // left, out, to, length, data
		opAdd, opSwap1, opPop, // left, out, in

		// The length is the answer's or the most, whichever is less: most ^ (size ^ most) * (size < most).
		opPush2, byte(most >> 8), byte(most), opReturnSize, opPush2, byte(most >> 8), byte(most), opReturnSize, opLt, // left, out, in, most, size, size < most
		opSwap1, opDup3, opXor, opMul, opXor, // left, out, in, length

		// The length's two bytes come next. The word that is stored ends beyond them, where the answer comes.
		opDup1, opPush1, 240, opShl, opDup4, opPush1, 1, opAdd, opMstore, // left, out, in, length
		opDup1, opPush1, 0, opDup5, opPush1, answerHead, opAdd, opReturned, // left, out, in, length

		// The next answer goes behind this one, and one call less is left.
		opSwap1, opSwap2, opAdd, opPush1, answerHead, opAdd, // left, in, out
		opSwap1, opSwap2, opPush1, 1, opSwap1, opSub, opSwap2, // left, out, in
		opPush1, atLoop, opJump,

		// atEnd: the answer is the memory from 0 up to out.
		opJumpDest, opPop, opPush1, 0, opReturn,
	}
	for _, c := range calls {
		code = append(append(code, c.To[:]...), byte(len(c.Data)>>8), byte(len(c.Data)))
		code = append(code, c.Data...)
	}
	return code
}

// DeploylessAnswers reads the answers to n calls; ok is false where they can't be those of Deployless.
func DeploylessAnswers(raw []byte, n int) (answers []Answer, ok bool) {
	if len(raw) == 0 || raw[0] != answerFormat {
		return nil, false
	}
	raw = raw[1:]
	for range n {
		if len(raw) < answerHead || raw[0] > 1 {
			return nil, false
		}
		end := answerHead + (int(raw[1])<<8 | int(raw[2]))
		if len(raw) < end {
			return nil, false
		}
		answers, raw = append(answers, Answer{OK: raw[0] == 1, Data: raw[answerHead:end]}), raw[end:]
	}
	return answers, len(raw) == 0
}
