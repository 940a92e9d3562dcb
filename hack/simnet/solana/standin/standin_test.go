package standin_test

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/standin"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// runner has Solana's runtime run the stand-in with some accounts.
type runner struct {
	*testing.T

	chain          *svm.Chain
	program, owned svm.Key
	payer          svm.Signer
	accounts       []svm.Account
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	chain, err := svm.Start(t.Context(), svm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chain.Close() })
	r := &runner{T: t, chain: chain, program: svm.SignerOf("program").Key, owned: svm.SignerOf("owned").Key, payer: svm.SignerOf("payer")}
	if err := chain.AddProgram(t.Context(), r.program, standin.Program()); err != nil {
		t.Fatal(err)
	}
	for k, owner := range map[svm.Key]svm.Key{r.payer.Key: {}, r.owned: r.program} {
		if err := chain.SetAccount(t.Context(), k, 1_000_000_000, owner, make([]byte, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := chain.Mine(t.Context(), svm.Block{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// run has an instruction with the data run, and gives what it logged.
func (r *runner) run(data []byte) (logs string, err error) {
	r.Helper()
	hash, err := r.chain.BlockHash(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	raw, err := svm.Transaction(hash, nil, []svm.Instruction{{Program: r.program, Accounts: r.accounts, Data: data}}, r.payer)
	if err != nil {
		r.Fatal(err)
	}
	mined, err := r.chain.Mine(r.Context(), svm.Block{Transactions: [][]byte{raw}})
	if err != nil {
		r.Fatal(err)
	}
	result := &mined.Results[0]
	var told struct {
		Meta struct {
			LogMessages []string `json:"logMessages"`
		} `json:"meta"`
	}
	if result.Signature != "" {
		how := map[string]any{"commitment": "confirmed", "maxSupportedTransactionVersion": 0}
		if err := r.chain.Call(r.Context(), &told, "getTransaction", result.Signature, how); err != nil {
			r.Fatal(err)
		}
	}
	return strings.Join(told.Meta.LogMessages, "\n"), result.Failed()
}

// TestProgram has Solana's runtime run the stand-in: what a script says is done, and everything else is refused or means nothing.
func TestProgram(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	chain, program, owned, payer, run := r.chain, r.program, r.owned, r.payer, r.run
	r.accounts = []svm.Account{
		{Key: payer.Key, Signer: true, Writable: true}, {Key: owned, Writable: true}, {Key: payer.Key, Signer: true, Writable: true}, {Key: program}, {},
	}
	for name, data := range map[string][]byte{
		"no data": nil, "short data": {1, 2, 3}, "data without a script": []byte("an instruction of somebody else's"),
		"an unknown step": behind(t, func(*standin.Script) {}, 99), "a step that is none": behind(t, func(*standin.Script) {}, 0),
	} {
		if _, err := run(data); err == nil || !strings.Contains(err.Error(), `"Custom":1`) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	event := []byte{0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d, 1, 2, 3}
	if _, err := run(event); err != nil {
		t.Errorf("an event: %v", err)
	}
	if _, err := run(behind(t, func(s *standin.Script) { s.Pay(1, 0, 2_000_000_000) })); err == nil {
		t.Error("it paid more than there was")
	}
	if _, err := run(behind(t, func(s *standin.Script) { s.Pay(2, 1, 1) })); err == nil {
		t.Error("it took of somebody else's account")
	}
	logs, err := run(behind(t, func(s *standin.Script) {
		s.Line("a line")
		s.Data([]byte("data"))
		s.Call(3, []standin.Meta{{Place: 2, Signer: true}}, event)
		s.Call(4, []standin.Meta{{Place: 2, Signer: true, Writable: true}, {Place: 1, Writable: true}}, []byte{2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0})
		s.Pay(1, 2, 500)
	}))
	if err != nil || !strings.Contains(logs, "Program log: a line\nProgram data: ZGF0YQ==\nProgram "+program.String()+" invoke [2]") {
		t.Errorf("%v:\n%s", err, logs)
	}
	var balance struct{ Value uint64 }
	if err := chain.Call(t.Context(), &balance, "getBalance", owned, map[string]string{"commitment": "confirmed"}); err != nil || balance.Value != 1_000_000_000+7-500 {
		t.Errorf("it has %d, %v", balance.Value, err)
	}
}

// TestPackedKeys: a key of the instruction's accounts takes a byte, and is that of whichever account stands in its place.
func TestPackedKeys(t *testing.T) {
	t.Parallel()
	first, second, third := svm.SignerOf("first").Key, svm.SignerOf("second").Key, svm.SignerOf("third").Key
	long := bytes.Repeat([]byte{7}, 300) // of more than one piece
	told := func(keys ...svm.Key) []byte {
		return slices.Concat(long, keys[0][:], keys[1][:], long[:255-len("end")], keys[0][:31], []byte("end"))
	}
	var s standin.Script
	s.Data(told(first, second))
	packed, err := s.Behind(nil, second, first)
	if err != nil || bytes.Contains(packed, first[:]) || bytes.Contains(packed, second[:]) || len(packed) > len(told(first, second))-40 {
		t.Fatalf("%d of %d bytes, %v", len(packed), len(told(first, second)), err)
	}
	r := newRunner(t)
	for _, other := range []svm.Key{first, third} {
		r.accounts = []svm.Account{{Key: second}, {Key: other}}
		want := told(other, second)
		copy(want[len(want)-34:], first[:31]) // which was no whole key
		if logs, err := r.run(packed); err != nil || !strings.Contains(logs, "Program data: "+base64.StdEncoding.EncodeToString(want)) {
			t.Errorf("%v:\n%s", err, logs)
		}
	}
}

// behind is a script behind some data, or instead of it a step of one byte.
func behind(t *testing.T, write func(*standin.Script), step ...byte) []byte {
	t.Helper()
	var s standin.Script
	write(&s)
	out, err := s.Behind([]byte("the instruction"))
	if err != nil {
		t.Fatal(err)
	}
	if len(step) > 0 {
		const noKey = 255
		out = append([]byte("the instruction"), 1, step[0], noKey, 3, 0, 0x42, 0x57)
	}
	return out
}

// TestScriptBounds: what doesn't fit into a script is an error.
func TestScriptBounds(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*standin.Script){
		"a place":    func(s *standin.Script) { s.Pay(256, 0, 1) },
		"no place":   func(s *standin.Script) { s.Pay(-1, 0, 1) },
		"data":       func(s *standin.Script) { s.Data(make([]byte, 1<<16)) },
		"all of it":  func(s *standin.Script) { s.Data(make([]byte, 1<<12)); s.Data(make([]byte, 1<<12)) },
		"an offset":  func(s *standin.Script) { s.Write(0, 1<<16, nil) },
		"a seed":     func(s *standin.Script) { s.Call(0, nil, nil, make([]byte, 256)) },
		"more seeds": func(s *standin.Script) { s.Call(0, nil, nil, make([][]byte, 256)...) },
	} {
		var s standin.Script
		write(&s)
		if _, err := s.Behind(nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var s standin.Script
	s.Data(make([]byte, 1<<13-3))
	if _, err := s.Behind(nil); err != nil {
		t.Errorf("the longest one: %v", err)
	}
}
