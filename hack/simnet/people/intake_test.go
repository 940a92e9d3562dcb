package people_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/toolchain"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/members"
	"github.com/boardwalkhq/boardwalk/members/client"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// intake is a members program that tests start and stop, with a database of its own.
type intake struct {
	t       *testing.T
	dsn     string
	tokens  string
	address string
	now     func() time.Time
	cancel  context.CancelFunc
	ended   chan error
}

// newIntake starts an intake on a database of a kind.
func newIntake(t *testing.T, kind string, now func() time.Time) *intake {
	t.Helper()
	in := &intake{t: t, dsn: storetest.DSN(t, kind), tokens: filepath.Join(t.TempDir(), "tokens"), address: "127.0.0.1:0", now: now}
	sum := sha256.Sum256([]byte("token"))
	if err := os.WriteFile(in.tokens, []byte(hex.EncodeToString(sum[:])), 0o600); err != nil {
		t.Fatal(err)
	}
	if st, err := store.Open(t.Context(), in.dsn); err != nil { // makes the schema
		t.Fatal(err)
	} else if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	in.start()
	t.Cleanup(in.stop)
	return in
}

// start runs the program, a second time at the same address.
func (in *intake) start() {
	in.t.Helper()
	ready := make(chan net.Addr, 1)
	program := &members.Program{
		Listen: in.address, TokensFile: in.tokens, Deployment: "http://127.0.0.1:8080", Database: in.dsn,
		Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"}, Ready: func(a net.Addr) { ready <- a }, Metrics: telemetry.NewRegistry(), Now: in.now,
		Log: slog.New(slog.DiscardHandler),
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(in.t.Context()))
	in.cancel, in.ended = cancel, make(chan error, 1)
	go func() { in.ended <- program.Run(ctx) }()
	select {
	case a := <-ready:
		in.address = a.String()
	case err := <-in.ended:
		in.t.Fatalf("the intake ended: %v", err)
	case <-time.After(time.Minute):
		in.t.Fatal("the intake is not ready")
	}
}

// stop ends the program; a second time it does nothing.
func (in *intake) stop() {
	if in.cancel == nil {
		return
	}
	in.cancel()
	in.cancel = nil
	if err := <-in.ended; err != nil {
		in.t.Error(err)
	}
}

// client tries each request once.
func (in *intake) client(transport http.RoundTripper) *client.Client {
	return &client.Client{Address: "http://" + in.address, Token: "token", HTTP: &http.Client{Transport: transport}, Tries: 1}
}

// last is the number of the last change of members, or of posts.
func (in *intake) last(what string) int {
	in.t.Helper()
	var changes struct{ Last int }
	if err := in.client(nil).Do(in.t.Context(), http.MethodGet, "/v1/"+what, nil, &changes); err != nil {
		in.t.Fatal(err)
	}
	return changes.Last
}

// waitFor waits until there are more changes.
func (in *intake) waitFor(what string, changes int) {
	in.t.Helper()
	for until := time.Now().Add(time.Minute); in.last(what) < changes; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			in.t.Fatalf("after a minute %s has %d changes, want %d", what, in.last(what), changes)
		}
	}
}

// line is a line of an export.
type line struct{ Kind, ID, Handle, Member, Family, Address string }

// export is what the intake exports: its lines, and those that are a member or belong to one, by the member's id.
func (in *intake) export() (lines []line, of map[string][]string) {
	in.t.Helper()
	var out bytes.Buffer
	if err := in.client(nil).Export(in.t.Context(), &out); err != nil {
		in.t.Fatal(err)
	}
	of = map[string][]string{}
	for text := range strings.Lines(out.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			in.t.Fatal(err)
		}
		lines = append(lines, l)
		owner := l.Member
		if l.Kind == "member" {
			owner = l.ID
		}
		of[owner] = append(of[owner], text)
	}
	return lines, of
}

// wallets are the wallets among lines of an export.
func wallets(texts []string) (list []string) {
	for _, t := range texts {
		if strings.Contains(t, `"kind":"wallet"`) {
			list = append(list, t)
		}
	}
	return list
}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)} }

// Tick is a time that is no other one's. The intake doesn't ask it, so that a run has the same times again.
func (c *clock) Tick() time.Time {
	c.add(time.Microsecond)
	return c.Now()
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newNode is an EVM chain with its accounts.
func newNode(t *testing.T, chainID uint64) (node *anvil.Node, accounts []string) {
	t.Helper()
	if _, err := toolchain.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: chainID})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	if err := node.Call(t.Context(), &accounts, "eth_accounts"); err != nil {
		t.Fatal(err)
	}
	return node, accounts
}
