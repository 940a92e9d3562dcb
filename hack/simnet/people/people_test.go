package people_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/people"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/toolchain"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/members"
	"github.com/boardwalkhq/boardwalk/members/client"
)

// TestPeople has wallets that another program signs for, anvil, join by a real intake.
func TestPeople(t *testing.T) {
	t.Parallel()
	if _, err := toolchain.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: 8453})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	var accounts []string
	if err := node.Call(t.Context(), &accounts, "eth_accounts"); err != nil {
		t.Fatal(err)
	}
	intake, ends := intakeOf(t)
	defer ends()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	p := people.New(people.Options{
		Intake: intake, Node: node, Chain: "base", Traders: accounts[:6], Solana: []svm.Signer{svm.SignerOf("one"), svm.SignerOf("another")},
		Tokens: []people.Token{{Chain: "base", Mint: accounts[7], Symbol: "DOG"}}, Seed: 1, Every: 50 * time.Millisecond, Now: time.Now,
	})
	lived := make(chan error, 1)
	go func() { lived <- p.Live(ctx) }()
	var last struct{ Last int }
	for until := time.Now().Add(time.Minute); last.Last < 14; time.Sleep(50 * time.Millisecond) {
		if err := intake.Do(ctx, http.MethodGet, "/v1/changes", nil, &last); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(until) {
			t.Fatalf("after a minute the registry has %d changes", last.Last)
		}
	}
	var posts struct{ Last int }
	for until := time.Now().Add(time.Minute); posts.Last < 5; time.Sleep(50 * time.Millisecond) {
		if err := intake.Do(ctx, http.MethodGet, "/v1/posts", nil, &posts); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(until) {
			t.Fatalf("after a minute there are %d posts", posts.Last)
		}
	}
	leave()
	if err := <-lived; err != nil {
		t.Error(err)
	}
	proved, wallets := 0, 0
	for i, id := range []string{"local:1", "local:2", "local:3", "local:4", "local:5", "local:6"} {
		var m struct{ Wallets []struct{ Attested bool } }
		if err := intake.Do(t.Context(), http.MethodGet, "/v1/members/"+id, nil, &m); err != nil {
			t.Fatalf("%s: %+v, %v", id, m, err)
		}
		if want := 1 + max(0, min(1, 2-i)); len(m.Wallets) != want {
			t.Errorf("%s has %d wallets, want %d", id, len(m.Wallets), want)
		}
		for _, w := range m.Wallets {
			if wallets++; !w.Attested {
				proved++
			}
		}
	}
	if proved != 6 {
		t.Errorf("%d wallets of %d are proved, want 6", proved, wallets)
	}
}

// intakeOf runs an intake.
func intakeOf(t *testing.T) (c *client.Client, ends func()) {
	t.Helper()
	dir := t.TempDir()
	sum := sha256.Sum256([]byte("token"))
	tokens := filepath.Join(dir, "tokens")
	if err := os.WriteFile(tokens, []byte(hex.EncodeToString(sum[:])), 0o600); err != nil {
		t.Fatal(err)
	}
	ready := make(chan net.Addr, 1)
	program := &members.Program{
		Listen: "127.0.0.1:0", TokensFile: tokens, Deployment: "http://127.0.0.1:8080", Database: "sqlite:" + filepath.Join(dir, "members.db"),
		Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"}, Ready: func(a net.Addr) { ready <- a }, Metrics: telemetry.NewRegistry(), Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- program.Run(ctx) }()
	return &client.Client{Address: "http://" + (<-ready).String(), Token: "token", HTTP: &http.Client{}}, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
