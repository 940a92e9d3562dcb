// Package clienttest does with the public API what authors of clients do: it lints the document, generates types from it and
// compiles a client over them, and reads answers with a client that others wrote. The tools are npm packages, pinned in npm/.
// Only tests import this package; what is checked of answers in Go is in contracttest.
package clienttest

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/npmcache"
)

// Not npm/*: a developer's own npm/node_modules would be bundled.
//
//go:embed npm/.npmrc npm/.redocly.lint-ignore.yaml npm/*.json npm/*.yaml npm/*.ts npm/*.cjs npm/*.mjs
var bundled embed.FS

// patience bounds one run of a tool. It ends what hangs and is no expectation.
const patience = 5 * time.Minute

// Install makes sure that the tools are there and returns the directory in whose node_modules they are, 60 MB of the cache
// that npmcache describes. The first call needs npm and its registry and takes some seconds.
func Install(ctx context.Context) (string, error) {
	source, err := fs.Sub(bundled, "npm")
	if err != nil {
		return "", err
	}
	dir, err := npmcache.Install(ctx, "clienttest", source)
	if err != nil {
		return "", fmt.Errorf("clienttest: %w", err)
	}
	return dir, nil
}

// bench is a directory in which tools run, with the tools' node_modules and some of our files.
type bench struct{ dir string }

// newBench makes a bench with the named files of npm/. It is gone after the test.
func newBench(tb testing.TB, files ...string) bench {
	tb.Helper()
	tools, err := Install(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	b := bench{tb.TempDir()}
	if err := os.Symlink(filepath.Join(tools, "node_modules"), filepath.Join(b.dir, "node_modules")); err != nil {
		tb.Fatal(err)
	}
	for _, name := range append(files, "offline.cjs") {
		content, err := bundled.ReadFile("npm/" + name)
		if err != nil {
			tb.Fatal(err)
		}
		b.write(tb, name, content)
	}
	return b
}

func (b bench) write(tb testing.TB, name string, content []byte) {
	tb.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), content, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// node runs a script of the bench, or of a package in node_modules/. The script can reach this machine alone. What it wrote is
// returned also when it fails.
func (b bench) node(ctx context.Context, script string, args ...string) (stdout []byte, err error) {
	if _, err := exec.LookPath("node"); err != nil {
		return nil, errors.New("node is not on PATH: install Node.js 20 or newer")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var stderr bytes.Buffer
	//nolint:gosec // G204: tests choose the script, and no shell reads the arguments
	node := exec.CommandContext(ctx, "node", append([]string{"--require", "./offline.cjs", "./" + script}, args...)...)
	node.Dir, node.Env, node.Stderr = b.dir, quiet(os.Environ()), &stderr
	node.WaitDelay = 10 * time.Second
	stdout, err = node.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", script, err, &stderr)
	}
	return stdout, err
}

// compile runs the TypeScript compiler; its diagnostics are the error.
func (b bench) compile(ctx context.Context, project string) error {
	out, err := b.node(ctx, "node_modules/typescript/bin/tsc", "--project", project)
	if err != nil && len(out) > 0 {
		return errors.New(string(bytes.TrimSpace(out)))
	}
	return err
}

// quiet is an environment in which tools report to nobody, look for no news and use no proxy, which would keep them from
// reaching this machine.
func quiet(environment []string) []string {
	kept := make([]string, 0, len(environment)+3)
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasSuffix(strings.ToLower(name), "_proxy") && name != "NODE_OPTIONS" {
			kept = append(kept, entry)
		}
	}
	return append(kept, "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "NO_COLOR=1")
}
