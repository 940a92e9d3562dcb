package decode

import (
	"bytes"
	"encoding/base64"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/borsh"
)

// Lines of the log by which the runtime tells calls of programs. Whatever a program logs itself begins with "Program log: " or "Program data: ".
var (
	logData    = []byte("data: ")
	logInvoke  = []byte(" invoke [")
	logSuccess = []byte(" success")
	logProgram = []byte("Program ")
)

// logOwn ends the first word of a line that a program logged itself ("log:", "data:"). The rest of such a line may imitate the runtime's; a program's name never
// ends so.
const logOwn = ':'

// linesOf are the contents, in base64, of the lines that a call of a program logged itself and that begin with a prefix, without those of the programs that it
// called. Where the log is cut off before they are none.
func (r *reader) linesOf(at *instruction, prefix []byte) (out []borsh.Reader) {
	name, nth, depth, inside := r.tx.name(at.program), r.nthCall(at), 0, 0
	for _, line := range r.tx.lines() {
		rest, ok := bytes.CutPrefix(line, logProgram)
		if !ok {
			continue
		}
		switch end := bytes.IndexByte(rest, ' '); {
		case end < 1:
		case rest[end-1] != logOwn && bytes.HasPrefix(rest[end:], logInvoke):
			depth++
			if inside == 0 && bytes.Equal(rest[:end], name) {
				if nth == 0 {
					inside = depth
				}
				nth--
			}
		case rest[end-1] != logOwn && bytes.Equal(rest[end:], logSuccess):
			if depth == inside && inside > 0 {
				return out
			}
			depth--
		case inside > 0 && depth == inside && bytes.HasPrefix(rest, prefix):
			if raw, err := base64.StdEncoding.AppendDecode(nil, rest[len(prefix):]); err == nil {
				out = append(out, borsh.NewReader(raw))
			}
		}
	}
	return out
}

// nthCall is how many calls of the same program ran before one. Calls are logged in the order in which they ran.
func (r *reader) nthCall(at *instruction) (n int) {
	for i := range r.tx.instructions {
		if &r.tx.instructions[i] == at {
			break
		}
		if r.tx.instructions[i].program == at.program {
			n++
		}
	}
	return n
}
