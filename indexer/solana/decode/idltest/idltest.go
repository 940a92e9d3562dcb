// Package idltest has events and accounts of Solana's programs as the programs' own descriptions (IDLs) encode them: random contents, encoded by Anchor's coder out of the
// packages that the programs' makers publish on npm. Nothing in it knows how this module decodes them.
package idltest

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

//go:embed encode.cjs
var script []byte

// Program is what a program's description says of it.
type Program struct {
	Address string `json:"address"`
	// Accounts are the names of each instruction's accounts, Instructions the beginnings of its data.
	Accounts     map[string][]string `json:"accounts"`
	Instructions map[string][]byte   `json:"instructions"`
}

// Event is an event with its contents, or an account with what it holds.
type Event struct {
	Program string         `json:"program"`
	Name    string         `json:"name"`
	Fields  map[string]any `json:"fields"`
	Data    []byte         `json:"data"`
}

// Encoded are programs by name, and events of theirs; the seed decides about their contents.
func Encoded(tb testing.TB, seed int) (map[string]Program, []Event) {
	tb.Helper()
	return encoded(tb, strconv.Itoa(seed))
}

// Accounts are pools' accounts of programs; the seed decides about what they hold.
func Accounts(tb testing.TB, seed int) (map[string]Program, []Event) {
	tb.Helper()
	raydium := filepath.Join(tb.TempDir(), "raydium.json")
	if err := os.WriteFile(raydium, svm.RaydiumDescriptions, 0o600); err != nil {
		tb.Fatal(err)
	}
	return encoded(tb, strconv.Itoa(seed), "accounts", raydium)
}

func encoded(tb testing.TB, arguments ...string) (map[string]Program, []Event) {
	tb.Helper()
	packages, err := svm.Packages(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	node := exec.CommandContext(tb.Context(), "node", append([]string{"-"}, arguments...)...)
	node.Dir, node.Stdin, node.Stderr = packages, bytes.NewReader(script), os.Stderr
	out, err := node.Output()
	if err != nil {
		tb.Fatal(err)
	}
	programs, events := map[string]Program{}, []Event{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Event
			Program
			Name string `json:"program"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line.Event); err != nil {
			tb.Fatal(err)
		}
		if line.Event.Name != "" {
			events = append(events, line.Event)
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &line.Program); err != nil {
			tb.Fatal(err)
		}
		programs[line.Event.Program] = line.Program
	}
	if err := lines.Err(); err != nil || len(programs) == 0 || len(events) == 0 {
		tb.Fatalf("%d programs and %d events: %v", len(programs), len(events), err)
	}
	return programs, events
}

// At is a field, or one of a field's own (such as swap_result.output_amount).
func (e *Event) At(path ...string) any {
	var v any = e.Fields
	for _, name := range path {
		fields, _ := v.(map[string]any)
		if field, ok := fields[name]; ok {
			v = field
			continue
		}
		panic(fmt.Sprintf("%s of %s has no field %v", e.Name, e.Program, path))
	}
	return v
}

// Key is a key.
func (e *Event) Key(path ...string) market.Address {
	a, err := market.ParseSolanaAddress(e.Text(path...))
	if err != nil {
		panic(err)
	}
	return a
}

// Text is a text.
func (e *Event) Text(path ...string) string { return fmt.Sprint(e.At(path...)) }

// Signed is a number.
func (e *Event) Signed(path ...string) market.SignedAmount {
	n, ok := new(big.Int).SetString(e.Text(path...), 10)
	if !ok {
		panic(fmt.Sprintf("%v is no number", path))
	}
	s := market.SignedAmount{Neg: n.Sign() < 0}
	s.Abs.SetFromBig(n.Abs(n))
	return s
}

// Amount is a number that isn't below zero.
func (e *Event) Amount(path ...string) market.Amount { return e.Signed(path...).Abs }

// Is reports whether a truth value is true, or a number isn't zero.
func (e *Event) Is(path ...string) bool {
	switch v := e.At(path...).(type) {
	case bool:
		return v
	case float64:
		return v != 0
	default:
		panic(fmt.Sprintf("%v is neither true nor false", path))
	}
}
