package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
)

// TestMigrate runs the command on a file, whose address is told by the environment and by a flag, and for a reader that a file can't have.
func TestMigrate(t *testing.T) {
	told, given := filepath.Join(t.TempDir(), "told.db"), filepath.Join(t.TempDir(), "given.db")
	t.Setenv("BOARDWALK_DB", "sqlite:"+told)
	migrate := func(args ...string) (log string, err error) {
		root := New(serve.Build{})
		var out, complaints bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&complaints)
		root.SetArgs(append([]string{"migrate"}, args...))
		if err = root.ExecuteContext(t.Context()); out.Len() > 0 {
			t.Errorf("%v writes %s", args, out.String())
		}
		return complaints.String(), err
	}
	for range 2 { // the second time there is nothing to do
		if log, err := migrate("--log-json"); err != nil || !strings.Contains(log, `"msg":"the schema is up to date"`) {
			t.Errorf("%v: %s", err, log)
		}
	}
	if _, err := migrate("--db", "sqlite:"+given); err != nil {
		t.Error(err)
	}
	for _, file := range []string{told, given} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if _, err := migrate("--reader", "somebody"); err == nil || !strings.Contains(err.Error(), "--reader is for PostgreSQL") {
		t.Errorf("a reader of a file: %v", err)
	}
	if _, err := migrate("--log-level", "loud"); err == nil || !strings.Contains(err.Error(), "loud") {
		t.Errorf("a level that there isn't: %v", err)
	}
}
