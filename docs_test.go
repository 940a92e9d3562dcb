package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReasonsAreDocumented finds every condition and reason that a resource can have in docs/kubernetes.md.
func TestReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	constant := regexp.MustCompile(`(?m)^\s*(?:const )?((?:Reason|Condition)\w+)\s*=\s*"(\w+)"`)
	found := 0
	for _, file := range []string{"api/v1alpha1/chain_status.go", "api/v1alpha1/launchvenue_types.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range constant.FindAllStringSubmatch(string(source), -1) {
			found++
			if name, value := m[1], m[2]; !strings.Contains(string(doc), "`"+value+"`") {
				t.Errorf("%s (%s) is not in docs/kubernetes.md", value, name)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d conditions and reasons were found: the constants were not read", found)
	}
}

// TestTasksHaveTheirProofs finds each test and each step on the node that docs/kubernetes.md names as the proof of a task.
func TestTasksHaveTheirProofs(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "\n## Twenty tasks")
	section, _, _ = strings.Cut(section, "\n## ")
	var steps []byte // of the node's tests
	for _, file := range []string{"hack/e2e/scenario_test.go", "hack/e2e/long_test.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, source...)
	}
	tests := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(source), -1) {
			tests[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| .* \|$`).FindAllString(section, -1)
	if len(rows) != 1+20 { // with that of the titles
		t.Errorf("there are %d tasks", len(rows)-1)
	}
	proof := regexp.MustCompile("`(Test\\w+)`|\"([^\"]+)\"")
	for _, row := range rows[1:] {
		cells := strings.Split(row, "|")
		proofs := proof.FindAllStringSubmatch(cells[len(cells)-2], -1)
		if len(proofs) == 0 {
			t.Errorf("nothing proves %s", row)
		}
		for _, m := range proofs {
			if m[1] != "" && !tests[m[1]] {
				t.Errorf("there is no %s: %s", m[1], row)
			}
			if m[2] != "" && !strings.Contains(string(steps), `{"`+m[2]+`",`) {
				t.Errorf("there is no step %q on the node: %s", m[2], row)
			}
		}
	}
}
