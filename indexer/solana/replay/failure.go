package replay

import (
	"encoding/json"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Failure is why a simulated transaction would fail.
type Failure struct {
	// At is the place of the instruction that fails among the transaction's.
	At int
	// Program is the one that ended the transaction, which the instruction may have called; none where the log doesn't tell.
	Program market.Address
	// Code is the program's own number of its error; HasCode is false where the error is one of the runtime's.
	Code    int64
	HasCode bool
}

// FailureOf reads what a node says of why a transaction would fail: the error in JSON, and the log. ok is false where no instruction of it is to blame.
func FailureOf(failed string, logs []string) (f Failure, ok bool) {
	var told struct{ InstructionError []json.RawMessage }
	if json.Unmarshal([]byte(failed), &told) != nil || len(told.InstructionError) != 2 || json.Unmarshal(told.InstructionError[0], &f.At) != nil {
		return f, false
	}
	var custom struct{ Custom *int64 }
	if json.Unmarshal(told.InstructionError[1], &custom) == nil && custom.Custom != nil {
		f.Code, f.HasCode = *custom.Custom, true
	}
	f.Program = failing(logs)
	return f, true
}

// failing is the program of the first line that tells a failure. Where a call fails its caller does, too, so that the innermost program is told first. Lines that
// a program writes itself have no key behind "Program " ("Program log: ", "Program data: ").
func failing(logs []string) market.Address {
	for _, line := range logs {
		rest, isProgram := strings.CutPrefix(line, "Program ")
		name, why, _ := strings.Cut(rest, " ")
		if !isProgram || !strings.HasPrefix(why, "failed: ") {
			continue
		}
		if program, err := market.ParseSolanaAddress(name); err == nil {
			return program
		}
	}
	return market.Address{}
}
