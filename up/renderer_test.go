package up

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// shortTemp makes the system's folder for temporary files one of the test's own, with a path that a socket fits into.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bw-") //nolint:usetesting // t.TempDir has the name of the test, which is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	return dir
}

// drawingProgram is everything in one process that draws cards, with one chain whose node nobody answers for.
func drawingProgram(t *testing.T) *Program {
	t.Helper()
	const manifest = `apiVersion: boardwalk.dev/v1alpha1
kind: Chain
metadata: {name: base}
spec:
  id: base
  label: Base
  family: EVM
  chainID: 8453
  minTradeUSD: "2.0"
  blockTime: 2s
  nativeAsset: {symbol: ETH, wrapped: "0x4200000000000000000000000000000000000006"}
  quoteAssets:
  - {symbol: WETH, address: "0x4200000000000000000000000000000000000006"}
  rpc: {endpoints: [{url: "http://127.0.0.1:9"}]}
  start: {block: 0}
`
	manifests := t.TempDir()
	if err := os.WriteFile(filepath.Join(manifests, "base.yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return &Program{
		Settings: apiserver.Settings{Listen: "127.0.0.1:0", DocsURL: "/docs"}, Manifests: []string{manifests}, DrawCards: true,
		Database: "sqlite:" + filepath.Join(t.TempDir(), "up.db"), Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"},
		Metrics: telemetry.NewRegistry(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
}

// runUntilReady runs a program until it says that it is ready, and then ends it; during sees it run. It gives what the program said.
func runUntilReady(t *testing.T, p *Program, during func()) string {
	t.Helper()
	read, write := io.Pipe()
	p.Out = write
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := p.Run(ctx)
		_ = write.Close()
		done <- err
	}()
	var said bytes.Buffer
	b := make([]byte, 1024)
	for !strings.Contains(said.String(), "ready: ") {
		n, err := read.Read(b)
		if err != nil {
			t.Fatalf("it ended before it was ready: %v", <-done)
		}
		said.Write(b[:n])
	}
	during()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	return said.String()
}

// TestWhatAKilledUpLeftGoesWithTheNext has the folders, the socket and the browser's files that a killed one leaves.
func TestWhatAKilledUpLeftGoesWithTheNext(t *testing.T) {
	temp := shortTemp(t)
	p := drawingProgram(t)
	dir, err := ownFolder("boardwalk-up-" + p.id())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "renderer.sock")})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	folders := func() []string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(temp, "boardwalk-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	runUntilReady(t, p, func() {
		if len(folders()) == 0 {
			t.Error("it draws no cards here")
		}
	})
	if left := folders(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestAFolderThatOthersMayEnterIsNotTaken(t *testing.T) {
	temp := shortTemp(t)
	for name, create := range map[string]func(path string) error{
		"a file":              func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a link":              func(path string) error { return os.Symlink(t.TempDir(), path) },
		"a folder of all":     func(path string) error { return os.Mkdir(path, 0o755) },
		"a folder of a group": func(path string) error { return os.Mkdir(path, 0o750) },
	} {
		folder := strings.ReplaceAll(name, " ", "-")
		if err := create(filepath.Join(temp, folder)); err != nil {
			t.Fatal(err)
		}
		if _, err := ownFolder(folder); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
			t.Errorf("%s is taken: %v", name, err)
		}
	}
}

// TestUpSaysThatNoCardsAreDrawn has a machine without a Chromium.
func TestUpSaysThatNoCardsAreDrawn(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	said := strings.Split(runUntilReady(t, drawingProgram(t), func() {}), "\n")
	if len(said) < 2 || !strings.HasPrefix(said[0], "share cards are not drawn: no Chromium") || !strings.HasPrefix(said[1], "ready: ") {
		t.Errorf("it says %q", said)
	}
}
