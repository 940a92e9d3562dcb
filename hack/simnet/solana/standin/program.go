package standin

// Program is the stand-in as an ELF file, as a validator loads it.
func Program() []byte {
	a := newAssembly()
	a.program()
	return link(a.finish(), a.calls)
}

// Ending is a program as an ELF file that does nothing: it ends with an error of its own, or well where that is 0. The stand-in's code, which stands behind, is never reached.
func Ending(failure int32) []byte {
	a := newAssembly()
	a.imm(opMovImm, r0, failure)
	a.put(opExit, 0, 0, 0, 0)
	a.program()
	return link(a.finish(), a.calls)
}

// Addresses in the program's memory. The runtime gives each call 32 KB, which begin at heap.
const (
	heap    = 0x3_0000_0000
	infos   = heap          // the instruction's accounts as calls want them (SolAccountInfo)
	metas   = heap + 0x4000 // the accounts of a call (SolAccountMeta)
	calling = heap + 0x5000 // the call (SolInstruction)
	seeds   = heap + 0x5100 // seeds of who signs it (SolSignerSeed)
	signers = heap + 0x5300 // the list of who signs it, of none or one (SolSignerSeeds), and its length
	field   = heap + 0x5400 // bytes to log (SolBytes)
	count   = heap + 0x5500 // how many accounts the instruction has
	script  = heap + 0x6000 // the script, unpacked
)

// Fields of the runtime's structures, by their offsets.
const (
	infoLen                                      = 56
	infoKey, infoLamports, infoDataLen, infoData = 0, 8, 16, 24
	infoOwner, infoRentEpoch, infoSigner         = 32, 40, 48
	infoWritable, infoExecutable                 = 49, 50
	metaLen, metaWritable, metaSigner            = 16, 8, 9
	callProgram, callAccounts, callCount         = 0, 8, 16
	callData, callDataLen                        = 24, 32
	accountLen, accountGrowth, keyLen            = 88, 10240, 32
)

// eventTag is how the data of a call begins by which a program of Anchor tells an event.
const eventTag = 0x1d9acb512ea545e4

// program is the code. It walks over the accounts that the runtime hands over, and then does what the script at the end of the instruction's data says.
func (a *assembly) program() {
	a.accounts()
	a.findScript()
	a.unpack()
	a.label("step")
	a.jumpIf(opJumpNotBelowReg, r6, r7, 0, "done")
	a.load(opLoad8, r0, r6, 0)
	a.jumpIf(opJumpEqualImm, r0, 0, stepCall, "call")
	a.jumpIf(opJumpEqualImm, r0, 0, stepData, "data")
	a.jumpIf(opJumpEqualImm, r0, 0, stepLine, "line")
	a.jumpIf(opJumpEqualImm, r0, 0, stepPay, "pay")
	a.jumpIf(opJumpEqualImm, r0, 0, stepWrite, "write")
	a.label("refuse")
	a.imm(opMovImm, r0, 1)
	a.put(opExit, 0, 0, 0, 0)
	a.label("done")
	a.imm(opMovImm, r0, 0)
	a.put(opExit, 0, 0, 0, 0)
	a.callStep()
	a.logSteps()
	a.payStep()
	a.writeStep()
}

// accounts makes the list of the instruction's accounts, and leaves the instruction's data in r6 and its length in r2.
func (a *assembly) accounts() {
	a.reg(opMovReg, r6, r1)
	a.load(opLoad64, r7, r6, 0)
	a.number(r1, count)
	a.store(opStore64, r1, 0, r7)
	a.imm(opAddImm, r6, 8)
	a.number(r8, infos)
	a.imm(opMovImm, r9, 0)

	a.label("account")
	a.jumpIf(opJumpEqualReg, r9, r7, 0, "listed")
	a.load(opLoad8, r0, r6, 0)
	const notListedBefore = 255
	a.jumpIf(opJumpNotEqualImm, r0, 0, notListedBefore, "again")
	for _, flag := range [][2]int16{{1, infoSigner}, {2, infoWritable}, {3, infoExecutable}} {
		a.load(opLoad8, r1, r6, flag[0])
		a.store(opStore8, r8, flag[1], r1)
	}
	for _, place := range [][2]int16{{8, infoKey}, {40, infoOwner}, {72, infoLamports}, {accountLen, infoData}} {
		a.reg(opMovReg, r1, r6)
		a.imm(opAddImm, r1, int32(place[0]))
		a.store(opStore64, r8, place[1], r1)
	}
	a.load(opLoad64, r2, r6, 80)
	a.store(opStore64, r8, infoDataLen, r2)
	a.imm(opAddImm, r6, accountLen+accountGrowth+7)
	a.reg(opAddReg, r6, r2)
	a.imm(opAndImm, r6, -8)
	a.load(opLoad64, r1, r6, 0)
	a.store(opStore64, r8, infoRentEpoch, r1)
	a.jump("next")

	a.label("again") // r0 is which one it is
	a.infoOf()
	for at := int16(0); at < infoLen; at += 8 {
		a.load(opLoad64, r2, r1, at)
		a.store(opStore64, r8, at, r2)
	}
	a.label("next")
	a.imm(opAddImm, r6, 8)
	a.imm(opAddImm, r8, infoLen)
	a.imm(opAddImm, r9, 1)
	a.jump("account")

	a.label("listed")
	a.load(opLoad64, r2, r6, 0)
	a.imm(opAddImm, r6, 8)
}

// infoOf sets r1 to the account whose place in the list r0 has, and spoils r0.
func (a *assembly) infoOf() {
	a.imm(opMulImm, r0, infoLen)
	a.number(r1, infos)
	a.reg(opAddReg, r1, r0)
}

// findScript leaves the packed script's beginning in r6 and its end in r7. An event has none, and nothing to do; data without a script is refused.
func (a *assembly) findScript() {
	a.jumpIf(opJumpBelowImm, r2, 0, trailerLen, "refuse")
	a.reg(opMovReg, r7, r6)
	a.reg(opAddReg, r7, r2)
	a.jumpIf(opJumpBelowImm, r2, 0, 8, "script")
	a.load(opLoad64, r0, r6, 0)
	a.number(r1, eventTag)
	a.jumpIf(opJumpEqualReg, r0, r1, 0, "done")
	a.label("script")
	a.imm(opSubImm, r7, trailerLen)
	a.load(opLoad16, r0, r7, 2)
	a.jumpIf(opJumpNotEqualImm, r0, 0, scriptMark, "refuse")
	a.load(opLoad16, r0, r7, 0)
	a.reg(opMovReg, r6, r7)
	a.reg(opSubReg, r6, r0)
}

// unpack writes the script out, and leaves its beginning in r6 and its end in r7.
func (a *assembly) unpack() {
	a.number(r8, script)
	a.label("piece")
	a.jumpIf(opJumpNotBelowReg, r6, r7, 0, "unpacked")
	a.load(opLoad8, r2, r6, 0)
	a.imm(opAddImm, r6, 1)
	a.label("byte of a piece")
	a.jumpIf(opJumpEqualImm, r2, 0, 0, "key")
	a.load(opLoad8, r0, r6, 0)
	a.store(opStore8, r8, 0, r0)
	a.imm(opAddImm, r6, 1)
	a.imm(opAddImm, r8, 1)
	a.imm(opSubImm, r2, 1)
	a.jump("byte of a piece")

	a.label("key")
	a.load(opLoad8, r0, r6, 0)
	a.imm(opAddImm, r6, 1)
	a.jumpIf(opJumpEqualImm, r0, 0, noKey, "piece")
	a.infoOf()
	a.load(opLoad64, r2, r1, infoKey)
	for at := int16(0); at < keyLen; at += 8 {
		a.load(opLoad64, r0, r2, at)
		a.store(opStore64, r8, at, r0)
	}
	a.imm(opAddImm, r8, keyLen)
	a.jump("piece")

	a.label("unpacked")
	a.number(r6, script)
	a.reg(opMovReg, r7, r8)
}

// callStep calls a program.
func (a *assembly) callStep() {
	a.label("call")
	a.load(opLoad8, r0, r6, 1)
	a.infoOf()
	a.load(opLoad64, r2, r1, infoKey)
	a.number(r3, calling)
	a.store(opStore64, r3, callProgram, r2)
	a.load(opLoad8, r9, r6, 2)
	a.store(opStore64, r3, callCount, r9)
	a.number(r8, metas)
	a.store(opStore64, r3, callAccounts, r8)
	a.imm(opAddImm, r6, 3)

	a.label("meta")
	a.jumpIf(opJumpEqualImm, r9, 0, 0, "seeds")
	a.load(opLoad8, r0, r6, 0)
	a.infoOf()
	a.load(opLoad64, r2, r1, infoKey)
	a.store(opStore64, r8, 0, r2)
	a.load(opLoad8, r0, r6, 1)
	a.reg(opMovReg, r1, r0)
	a.imm(opAndImm, r1, flagWritable)
	a.store(opStore8, r8, metaWritable, r1)
	a.imm(opRshImm, r0, 1)
	a.store(opStore8, r8, metaSigner, r0)
	a.imm(opAddImm, r8, metaLen)
	a.imm(opAddImm, r6, 2)
	a.imm(opSubImm, r9, 1)
	a.jump("meta")

	a.label("seeds")
	a.load(opLoad8, r9, r6, 0)
	a.imm(opAddImm, r6, 1)
	a.number(r3, signers)
	a.number(r8, seeds)
	a.store(opStore64, r3, 0, r8)
	a.store(opStore64, r3, 8, r9)
	a.imm(opMovImm, r0, 0)
	a.jumpIf(opJumpEqualImm, r9, 0, 0, "signers")
	a.imm(opMovImm, r0, 1)
	a.label("signers")
	a.store(opStore64, r3, 16, r0)
	a.label("seed")
	a.jumpIf(opJumpEqualImm, r9, 0, 0, "invoke")
	a.load(opLoad8, r0, r6, 0)
	a.imm(opAddImm, r6, 1)
	a.store(opStore64, r8, 0, r6)
	a.store(opStore64, r8, 8, r0)
	a.reg(opAddReg, r6, r0)
	a.imm(opAddImm, r8, 16)
	a.imm(opSubImm, r9, 1)
	a.jump("seed")

	a.label("invoke")
	a.number(r1, calling)
	a.load(opLoad16, r0, r6, 0)
	a.imm(opAddImm, r6, 2)
	a.store(opStore64, r1, callData, r6)
	a.store(opStore64, r1, callDataLen, r0)
	a.reg(opAddReg, r6, r0)
	a.number(r2, infos)
	a.number(r3, count)
	a.load(opLoad64, r3, r3, 0)
	a.number(r4, signers)
	a.load(opLoad64, r5, r4, 16)
	a.call("sol_invoke_signed_c")
	a.jump("step")
}

// logSteps log bytes ("Program data:") or a line ("Program log:").
func (a *assembly) logSteps() {
	a.label("data")
	a.load(opLoad16, r2, r6, 1)
	a.imm(opAddImm, r6, 3)
	a.number(r1, field)
	a.store(opStore64, r1, 0, r6)
	a.store(opStore64, r1, 8, r2)
	a.reg(opAddReg, r6, r2)
	a.imm(opMovImm, r2, 1)
	a.call("sol_log_data")
	a.jump("step")

	a.label("line")
	a.load(opLoad16, r2, r6, 1)
	a.imm(opAddImm, r6, 3)
	a.reg(opMovReg, r1, r6)
	a.reg(opAddReg, r6, r2)
	a.call("sol_log_")
	a.jump("step")
}

// payStep moves lamports out of an account that the program owns.
func (a *assembly) payStep() {
	a.label("pay")
	a.load(opLoad64, r3, r6, 3)
	a.load(opLoad8, r0, r6, 1)
	a.infoOf()
	a.load(opLoad64, r1, r1, infoLamports)
	a.load(opLoad64, r2, r1, 0)
	a.reg(opSubReg, r2, r3)
	a.store(opStore64, r1, 0, r2)
	a.load(opLoad8, r0, r6, 2)
	a.infoOf()
	a.load(opLoad64, r1, r1, infoLamports)
	a.load(opLoad64, r2, r1, 0)
	a.reg(opAddReg, r2, r3)
	a.store(opStore64, r1, 0, r2)
	a.imm(opAddImm, r6, 11)
	a.jump("step")
}

// writeStep writes an account that the program owns.
func (a *assembly) writeStep() {
	a.label("write")
	a.load(opLoad8, r0, r6, 1)
	a.infoOf()
	a.load(opLoad64, r1, r1, infoData)
	a.load(opLoad16, r0, r6, 2)
	a.reg(opAddReg, r1, r0)
	a.load(opLoad16, r2, r6, 4)
	a.imm(opAddImm, r6, 6)
	a.label("byte")
	a.jumpIf(opJumpEqualImm, r2, 0, 0, "step")
	a.load(opLoad8, r0, r6, 0)
	a.store(opStore8, r1, 0, r0)
	a.imm(opAddImm, r1, 1)
	a.imm(opAddImm, r6, 1)
	a.imm(opSubImm, r2, 1)
	a.jump("byte")
}
