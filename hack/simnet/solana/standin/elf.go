package standin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"maps"
	"slices"
)

// headersLen is how long an ELF's first header and its two program headers are, after which the code begins.
const headersLen = 64 + 2*56

// link writes code as the shared object that Solana's loader reads: a text, the functions of the runtime that it calls as dynamic symbols, and a relocation for
// each call. https://github.com/anza-xyz/sbpf has what the loader wants.
func link(code []byte, calls map[int]string) []byte {
	functions := slices.Sorted(maps.Values(calls))
	functions = slices.Compact(functions)

	texts := []byte{0}
	symbols := le(elf.Sym64{}) // the first one is none
	for _, f := range functions {
		symbols = append(symbols, le(elf.Sym64{Name: uint32(len(texts)), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)})...)
		texts = append(append(texts, f...), 0)
	}
	var moves []byte
	for _, at := range slices.Sorted(maps.Keys(calls)) {
		const callOfASymbol = 10 // R_BPF_64_32
		symbol := uint64(1 + slices.Index(functions, calls[at]))
		moves = append(moves, le(elf.Rel64{Off: uint64(headersLen + at*instructionLen), Info: symbol<<32 | callOfASymbol})...)
	}

	type section struct {
		name       string
		kind       elf.SectionType
		flags      elf.SectionFlag
		link, each uint32
		content    []byte
	}
	sections := []section{
		{},
		{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, content: code},
		{name: ".dynsym", kind: elf.SHT_DYNSYM, flags: elf.SHF_ALLOC, link: 3, each: 24, content: symbols},
		{name: ".dynstr", kind: elf.SHT_STRTAB, flags: elf.SHF_ALLOC, content: texts},
		{name: ".rel.dyn", kind: elf.SHT_REL, flags: elf.SHF_ALLOC, link: 2, each: 16, content: moves},
		{name: ".dynamic", kind: elf.SHT_DYNAMIC, flags: elf.SHF_ALLOC, link: 3, each: 16},
		{name: ".shstrtab", kind: elf.SHT_STRTAB},
	}
	offsets := make([]uint64, len(sections))
	at := uint64(headersLen)
	place := func(i int) {
		offsets[i] = at
		at += uint64(len(sections[i].content))
		at = (at + 7) &^ 7
	}
	for i := 1; i <= 4; i++ {
		place(i)
	}
	for _, d := range []elf.Dyn64{
		{Tag: int64(elf.DT_REL), Val: offsets[4]},
		{Tag: int64(elf.DT_RELSZ), Val: uint64(len(moves))},
		{Tag: int64(elf.DT_RELENT), Val: 16},
		{Tag: int64(elf.DT_SYMTAB), Val: offsets[2]},
		{Tag: int64(elf.DT_STRTAB), Val: offsets[3]},
		{Tag: int64(elf.DT_STRSZ), Val: uint64(len(texts))},
		{Tag: int64(elf.DT_TEXTREL)},
		{},
	} {
		sections[5].content = append(sections[5].content, le(d)...)
	}
	place(5)
	names := []byte{0}
	nameAt := make([]uint32, len(sections))
	for i := 1; i < len(sections); i++ {
		nameAt[i] = uint32(len(names))
		names = append(append(names, sections[i].name...), 0)
	}
	sections[6].content = names
	place(6)

	var out bytes.Buffer
	header := elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_BPF),
		Version: uint32(elf.EV_CURRENT), Entry: headersLen, Phoff: 64, Shoff: at, Ehsize: 64, Phentsize: 56, Phnum: 2, Shentsize: 64, Shnum: uint16(len(sections)),
		Shstrndx: uint16(len(sections) - 1),
	}
	out.Write(le(header))
	end := offsets[6]
	out.Write(le(elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: headersLen, Vaddr: headersLen, Paddr: headersLen,
		Filesz: end - headersLen, Memsz: end - headersLen, Align: 8,
	}))
	out.Write(le(elf.Prog64{
		Type: uint32(elf.PT_DYNAMIC), Flags: uint32(elf.PF_R), Off: offsets[5], Vaddr: offsets[5], Paddr: offsets[5],
		Filesz: uint64(len(sections[5].content)), Memsz: uint64(len(sections[5].content)), Align: 8,
	}))
	for i := 1; i < len(sections); i++ {
		out.Write(make([]byte, int(offsets[i])-out.Len()))
		out.Write(sections[i].content)
	}
	out.Write(make([]byte, int(at)-out.Len()))
	for i := range sections {
		s := &sections[i]
		h := elf.Section64{Name: nameAt[i], Type: uint32(s.kind), Flags: uint64(s.flags), Off: offsets[i], Size: uint64(len(s.content)), Link: s.link, Addralign: 8, Entsize: uint64(s.each)}
		if s.flags&elf.SHF_ALLOC != 0 {
			h.Addr = offsets[i]
		}
		out.Write(le(h))
	}
	return out.Bytes()
}

func le(v any) []byte {
	var out bytes.Buffer
	if err := binary.Write(&out, binary.LittleEndian, v); err != nil {
		panic(err) // a structure of fixed size
	}
	return out.Bytes()
}
