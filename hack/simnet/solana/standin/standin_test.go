package standin_test

import (
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/standin"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// TestProgram has Solana's runtime run the stand-in: what a script says is done, and everything else is refused or means nothing.
func TestProgram(t *testing.T) {
	t.Parallel()
	chain, err := svm.Start(t.Context(), svm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chain.Close() })
	program, owned, payer := svm.SignerOf("program").Key, svm.SignerOf("owned").Key, svm.SignerOf("payer")
	if err := chain.AddProgram(t.Context(), program, standin.Program()); err != nil {
		t.Fatal(err)
	}
	for k, owner := range map[svm.Key]svm.Key{payer.Key: {}, owned: program} {
		if err := chain.SetAccount(t.Context(), k, 1_000_000_000, owner, make([]byte, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := chain.Mine(t.Context(), svm.Block{}); err != nil {
		t.Fatal(err)
	}
	accounts := []svm.Account{
		{Key: payer.Key, Signer: true, Writable: true}, {Key: owned, Writable: true}, {Key: payer.Key, Signer: true, Writable: true}, {Key: program}, {},
	}
	run := func(data []byte) (logs string, err error) {
		t.Helper()
		hash, err := chain.BlockHash(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		raw, err := svm.Transaction(hash, nil, []svm.Instruction{{Program: program, Accounts: accounts, Data: data}}, payer)
		if err != nil {
			t.Fatal(err)
		}
		mined, err := chain.Mine(t.Context(), svm.Block{Transactions: [][]byte{raw}})
		if err != nil {
			t.Fatal(err)
		}
		r := &mined.Results[0]
		var told struct {
			Meta struct {
				LogMessages []string `json:"logMessages"`
			} `json:"meta"`
		}
		if r.Signature != "" {
			how := map[string]any{"commitment": "confirmed", "maxSupportedTransactionVersion": 0}
			if err := chain.Call(t.Context(), &told, "getTransaction", r.Signature, how); err != nil {
				t.Fatal(err)
			}
		}
		return strings.Join(told.Meta.LogMessages, "\n"), r.Failed()
	}
	for name, data := range map[string][]byte{
		"no data": nil, "short data": {1, 2, 3}, "data without a script": []byte("an instruction of somebody else's"),
		"an unknown step": behind(t, func(*standin.Script) {}, 99), "a step that is none": append([]byte{0, 1, 0}, 0x42, 0x57),
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

// behind is a script behind some data, with bytes of a step after it.
func behind(t *testing.T, write func(*standin.Script), more ...byte) []byte {
	t.Helper()
	var s standin.Script
	write(&s)
	out, err := s.Behind([]byte("the instruction"))
	if err != nil {
		t.Fatal(err)
	}
	if len(more) > 0 {
		out = append(append(out[:len(out)-4:len(out)-4], more...), byte(len(more)), 0, 0x42, 0x57)
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
		"all of it":  func(s *standin.Script) { s.Data(make([]byte, 1<<15)); s.Data(make([]byte, 1<<15)) },
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
	s.Data(make([]byte, 1<<16-1-3))
	if _, err := s.Behind(nil); err != nil {
		t.Errorf("the longest one: %v", err)
	}
}
