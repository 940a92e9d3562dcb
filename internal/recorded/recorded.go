// Package recorded finds the recordings of real chains for tests: replies of mainnet nodes that other projects recorded, with the
// truth, computed by another decoder, next to each. They aren't part of the module.
package recorded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Variable names the environment variable with the folder of the recordings. Without it they are looked for beside the checkout.
const Variable = "BOARDWALK_RECORDINGS"

// skippedVariable names the environment variable with the path of a file to which each test that is skipped adds a line.
const skippedVariable = "BOARDWALK_SKIPPED"

// Path is a file of the recordings. A test that asks for one is skipped where there are no recordings, and fails in CI: a decoder
// that nothing real was held against is not tested.
func Path(tb testing.TB, parts ...string) string {
	tb.Helper()
	dir, err := folder()
	if err != nil {
		missing(tb, err)
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

func folder() (string, error) {
	dir, given := os.LookupEnv(Variable)
	if !given {
		checkout, err := root()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(filepath.Dir(checkout), "shared", "facts", "recorded")
	}
	if _, err := os.Stat(filepath.Join(dir, "INDEX.json")); err != nil {
		return "", fmt.Errorf("the recordings of real chains are not there: set %s to the folder that has them: %w", Variable, err)
	}
	return dir, nil
}

// root is the folder of the module, in one of whose packages the test runs.
func root() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no folder above the test's has a go.mod")
		}
	}
	return "", err
}

// missing ends a test that has no recordings.
func missing(tb testing.TB, err error) {
	tb.Helper()
	if os.Getenv("CI") != "" {
		tb.Fatal(err)
	}
	if list := os.Getenv(skippedVariable); list != "" {
		if err := appendLine(list, tb.Name()); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Skip(err)
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the path is make's own
	if err != nil {
		return err
	}
	if _, err := f.WriteString(line + "\n"); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
