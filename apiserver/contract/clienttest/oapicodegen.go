package clienttest

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/goclient
var goClient embed.FS

// Read is the body of an answer as the server sent it, and as a client encodes what it read of that body.
type Read struct{ Sent, Understood json.RawMessage }

// GoClient makes a client of a document with oapi-codegen, as the author of a Go client does: the document is the served one,
// and the generator is told nothing else. It compiles the client into a program (testdata/goclient/main.go) in a module of its
// own, has the program ask the server at baseURL about a token, and returns what the client read, by operation. The first call
// needs the Go module proxy for the client's one dependency.
func GoClient(tb testing.TB, document []byte, baseURL, mint, chain string) map[string]Read {
	tb.Helper()
	dir := tb.TempDir()
	write := func(name string, content []byte) {
		tb.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	for from, to := range map[string]string{
		"client.mod": "go.mod", "client.sum": "go.sum", "main.go": "main.go", "config.yaml": "config.yaml",
	} {
		content, err := goClient.ReadFile("testdata/goclient/" + from)
		if err != nil {
			tb.Fatal(err)
		}
		write(to, content)
	}
	write("openapi.json", document)

	// The generator is the one that this module pins, so it is built here, and run where its files are.
	generator := filepath.Join(dir, "oapi-codegen")
	runGo(tb, ".", "go", "build", "-o", generator, "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen")
	runGo(tb, dir, generator, "-config", "config.yaml", "openapi.json")
	runGo(tb, dir, "go", "build", "-o", "reader", ".")
	out := runGo(tb, dir, filepath.Join(dir, "reader"), baseURL, mint, chain)

	var printed map[string][2]json.RawMessage
	if err := json.Unmarshal(out, &printed); err != nil {
		tb.Fatalf("read what the client printed: %v\n%s", err, out)
	}
	read := make(map[string]Read, len(printed))
	for operation, r := range printed {
		read[operation] = Read{Sent: r[0], Understood: r[1]}
	}
	return read
}

// runGo runs a program in a directory, without the settings that a developer has for other modules, and returns what it wrote.
func runGo(tb testing.TB, dir, program string, args ...string) []byte {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	var stderr bytes.Buffer
	command := exec.CommandContext(ctx, program, args...)
	command.Dir, command.Stderr = dir, &stderr
	command.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	command.WaitDelay = 10 * time.Second
	out, err := command.Output()
	if err != nil {
		tb.Fatal(fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, &stderr))
	}
	return out
}
