package standin

import "encoding/binary"

// Instructions of sBPF, the machine code of Solana's programs (version 0), and how they are written: operation, registers, offset, immediate number.
// https://docs.anza.xyz/proposals/bpf and the documentation of eBPF (RFC 9669) have them.
const (
	opAddImm, opAddReg, opSubImm, opSubReg = 0x07, 0x0f, 0x17, 0x1f
	opMulImm, opAndImm, opRshImm           = 0x27, 0x57, 0x77
	opMovImm, opMovReg                     = 0xb7, 0xbf
	opLoadNumber                           = 0x18 // of 64 bits: it takes two places
	opLoad8, opLoad16, opLoad64            = 0x71, 0x69, 0x79
	opStore8, opStore64                    = 0x73, 0x7b
	opJump, opJumpEqualImm, opJumpEqualReg = 0x05, 0x15, 0x1d
	opJumpNotEqualImm                      = 0x55
	opJumpNotBelowReg, opJumpBelowImm      = 0x3d, 0xa5
	opCall, opExit                         = 0x85, 0x95
)

// The registers: r0 has what a call gives, r1 to r5 what it takes, and calls leave r6 to r9 as they are.
const (
	r0 = iota
	r1
	r2
	r3
	r4
	r5
	r6
	r7
	r8
	r9
)

const instructionLen = 8

// assembly is a program that is being written.
type assembly struct {
	code   []byte
	labels map[string]int // instructions by what they are called
	jumps  map[int]string // jumps that wait for their label, by their place
	calls  map[int]string // functions of the runtime, by the place of the call
}

func newAssembly() *assembly {
	return &assembly{labels: map[string]int{}, jumps: map[int]string{}, calls: map[int]string{}}
}

func (a *assembly) here() int { return len(a.code) / instructionLen }

func (a *assembly) put(op, dst, src byte, offset int16, number int32) {
	a.code = append(a.code, op, src<<4|dst)
	a.code = binary.LittleEndian.AppendUint16(a.code, uint16(offset))
	a.code = binary.LittleEndian.AppendUint32(a.code, uint32(number))
}

func (a *assembly) label(name string) { a.labels[name] = a.here() }

// number sets a register to a number of 64 bits.
func (a *assembly) number(dst byte, n uint64) {
	a.put(opLoadNumber, dst, 0, 0, int32(uint32(n)))
	a.put(0, 0, 0, 0, int32(uint32(n>>32)))
}

func (a *assembly) imm(op, dst byte, n int32) { a.put(op, dst, 0, 0, n) }
func (a *assembly) reg(op, dst, src byte)     { a.put(op, dst, src, 0, 0) }
func (a *assembly) jump(label string)         { a.jumpIf(opJump, 0, 0, 0, label) }
func (a *assembly) load(op, dst, from byte, offset int16) {
	a.put(op, dst, from, offset, 0)
}

func (a *assembly) store(op, at byte, offset int16, src byte) { a.put(op, at, src, offset, 0) }

func (a *assembly) jumpIf(op, dst, src byte, n int32, label string) {
	a.jumps[a.here()] = label
	a.put(op, dst, src, 0, n)
}

// call calls a function of the runtime.
func (a *assembly) call(function string) {
	a.calls[a.here()] = function
	a.put(opCall, 0, 1, 0, -1)
}

// finish is the code, with every jump told how far it goes.
func (a *assembly) finish() []byte {
	for at, label := range a.jumps {
		to, ok := a.labels[label]
		if !ok {
			panic("standin: no label " + label) // a mistake in program
		}
		binary.LittleEndian.PutUint16(a.code[at*instructionLen+2:], uint16(int16(to-at-1)))
	}
	return a.code
}
