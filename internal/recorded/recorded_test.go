package recorded

import (
	"os"
	"path/filepath"
	"testing"
)

// outcome is a test that notes how it would end.
type outcome struct {
	testing.TB

	skipped, failed bool
}

func (o *outcome) Skip(...any)  { o.skipped = true }
func (o *outcome) Fatal(...any) { o.failed = true }

func TestWithoutRecordingsATestIsSkippedAndFailsInCI(t *testing.T) {
	t.Setenv(Variable, t.TempDir())
	list := filepath.Join(t.TempDir(), "skipped")
	t.Setenv(skippedVariable, list)

	t.Setenv("CI", "")
	here := &outcome{TB: t}
	Path(here, "INDEX.json")
	if raw, err := os.ReadFile(list); !here.skipped || here.failed || err != nil || string(raw) != t.Name()+"\n" {
		t.Errorf("skipped %t, failed %t, the list is %q: %v", here.skipped, here.failed, raw, err)
	}

	t.Setenv("CI", "true")
	ci := &outcome{TB: t}
	Path(ci, "INDEX.json")
	if !ci.failed {
		t.Error("in CI it doesn't fail")
	}
}

func TestRecordingsAreFoundByTheVariable(t *testing.T) {
	dir := t.TempDir()
	index := filepath.Join(dir, "INDEX.json")
	if err := os.WriteFile(index, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Variable, dir)
	if got := Path(t, "INDEX.json"); got != index {
		t.Errorf("%s, want %s", got, index)
	}
}
