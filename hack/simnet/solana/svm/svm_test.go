package svm_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

func start(t *testing.T) *svm.Chain {
	t.Helper()
	c, err := svm.Start(t.Context(), svm.Options{Slot: 500, Time: time.Unix(1_790_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestAnotherClient has @solana/web3.js, which nobody here wrote, read and write the chain by every call that the node has.
func TestAnotherClient(t *testing.T) {
	t.Parallel()
	c := start(t)
	client, err := svm.Script(t.Context(), filepath.Join("testdata", "client.cjs"), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		for slot := uint64(501); ; slot += 1 + slot%2 {
			select {
			case <-ctx.Done():
				ended <- nil
				return
			case <-time.After(50 * time.Millisecond):
			}
			if _, err := c.Mine(context.WithoutCancel(ctx), svm.Block{Slot: slot, Time: time.Unix(1_790_000_000+int64(slot), 0)}); err != nil {
				ended <- err
				return
			}
		}
	}()
	var out bytes.Buffer
	client.Stdout, client.Stderr = &out, &out
	if err := client.Run(); err != nil || !strings.Contains(out.String(), "agreed") {
		t.Errorf("%v: %s", err, &out)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// transfer pays lamports from one to another.
func transfer(from svm.Signer, to svm.Key, lamports byte) svm.Instruction {
	return svm.Instruction{
		Program: svm.Key{}, Accounts: []svm.Account{{Key: from.Key, Signer: true, Writable: true}, {Key: to, Writable: true}},
		Data: []byte{2, 0, 0, 0, 0, 0, 0, lamports, 0, 0, 0, 0},
	}
}

// TestForks takes blocks back: what they changed is as it was, what they had is in no block, and others take their place.
func TestForks(t *testing.T) {
	t.Parallel()
	c, from, to := start(t), svm.SignerOf("from"), svm.SignerOf("to").Key
	if err := c.SetAccount(t.Context(), from.Key, 1<<40, svm.Key{}, nil); err != nil {
		t.Fatal(err)
	}
	var hashes []string
	pay := func(slot uint64, n byte) svm.Mined {
		hash, err := c.BlockHash(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		raw, err := svm.Transaction(hash, nil, []svm.Instruction{transfer(from, to, n)}, from)
		if err != nil {
			t.Fatal(err)
		}
		mined, err := c.Mine(t.Context(), svm.Block{Slot: slot, Transactions: [][]byte{raw}})
		if err != nil {
			t.Fatal(err)
		}
		if err := mined.Results[0].Failed(); err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, mined.BlockHash)
		return mined
	}
	balance := func(commitment string) (lamports uint64) {
		var out struct{ Value uint64 }
		if err := c.Call(t.Context(), &out, "getBalance", to, map[string]string{"commitment": commitment}); err != nil {
			t.Fatal(err)
		}
		return out.Value >> 24
	}
	if _, err := c.Mine(t.Context(), svm.Block{}); err != nil {
		t.Fatal(err)
	}
	pay(510, 1)
	lost := pay(512, 2)
	pay(515, 4)
	if got := balance("confirmed"); got != 7 {
		t.Errorf("it has %d, want 7", got)
	}
	if got := balance("finalized"); got != 0 {
		t.Errorf("it has %d in what is final, want nothing", got)
	}
	if err := c.Revert(t.Context(), 511); err != nil {
		t.Fatal(err)
	}
	if got := balance("confirmed"); got != 1 {
		t.Errorf("after two blocks were taken back it has %d, want 1", got)
	}
	var found any
	if err := c.Call(t.Context(), &found, "getTransaction", lost.Results[0].Signature, map[string]any{"commitment": "confirmed", "maxSupportedTransactionVersion": 0}); err != nil || found != nil {
		t.Errorf("a transaction that was taken back: %v, %v", found, err)
	}
	pay(512, 2) // the same transaction of another block
	if hashes[1] == hashes[3] {
		t.Error("two blocks have one hash")
	}
	for n := range 40 {
		if _, err := c.Mine(t.Context(), svm.Block{Slot: 600 + uint64(n)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := balance("finalized"); got != 3 {
		t.Errorf("in the end it has %d, want 3", got)
	}
	if _, err := c.Mine(t.Context(), svm.Block{Slot: 600}); err == nil {
		t.Error("a block of a slot that is past")
	}
	if err := c.Revert(t.Context(), 1); err == nil {
		t.Error("the first block was taken back")
	}
}

// TestPortInUse tells that a port is taken.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	c := start(t)
	_, err := svm.Start(t.Context(), svm.Options{Port: c.Port()})
	if err == nil || !strings.Contains(err.Error(), "is not free") {
		t.Errorf("got %v", err)
	}
}
