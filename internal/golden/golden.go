// Package golden compares what tests find with golden files. The flag -update writes the files anew, and their diff is reviewed like code.
package golden

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Update reports whether golden files are to be written.
func Update() bool { return *update }

// Write writes a golden file.
func Write(tb testing.TB, file string, got []byte) {
	tb.Helper()
	if err := os.WriteFile(file, got, 0o644); err != nil {
		tb.Fatal(err)
	}
}

// Hold compares what was found with a golden file, or writes that. It is false where they differ, with what the file has.
func Hold(tb testing.TB, file string, got []byte) (want []byte, same bool) {
	tb.Helper()
	if *update {
		Write(tb, file, got)
		return got, true
	}
	want, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		tb.Fatalf("there is no %s: run the test with -update, and read the file", file)
	case err != nil:
		tb.Fatal(err)
	}
	return want, bytes.Equal(got, want)
}
