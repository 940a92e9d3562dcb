// Package programlog finds what a program logged itself in the log of a transaction of Solana.
package programlog

import (
	"bytes"
	"encoding/base64"
)

// Lines of the log by which the runtime tells calls of programs. Whatever a program logs itself begins with "Program log: " or "Program data: ".
var (
	invoke  = []byte(" invoke [")
	success = []byte(" success")
	begin   = []byte("Program ")
)

// own ends the first word of a line that a program logged itself ("log:", "data:"). The rest of such a line may imitate the runtime's; a program's name never
// ends so.
const own = ':'

// Lines are the contents of the lines that a call of a program logged itself and that begin with a prefix, without those of the programs that it called. They stand behind
// the prefix in base64, and are decoded. nth is how many calls of the program ran before. Where the log is cut off before them there are none.
func Lines(log [][]byte, program []byte, nth int, prefix []byte) (out [][]byte) {
	depth, inside := 0, 0
	for _, line := range log {
		rest, ok := bytes.CutPrefix(line, begin)
		if !ok {
			continue
		}
		switch end := bytes.IndexByte(rest, ' '); {
		case end < 1:
		case rest[end-1] != own && bytes.HasPrefix(rest[end:], invoke):
			depth++
			if inside == 0 && bytes.Equal(rest[:end], program) {
				if nth == 0 {
					inside = depth
				}
				nth--
			}
		case rest[end-1] != own && bytes.Equal(rest[end:], success):
			if depth == inside && inside > 0 {
				return out
			}
			depth--
		case inside > 0 && depth == inside && bytes.HasPrefix(rest, prefix):
			if raw, err := base64.StdEncoding.AppendDecode(nil, rest[len(prefix):]); err == nil {
				out = append(out, raw)
			}
		}
	}
	return out
}
