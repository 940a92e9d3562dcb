package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestDocumentsNameWhatExists finds every file and folder that docs/architecture.md and CONTRIBUTING.md name. A name may leave out the folders before it.
func TestDocumentsNameWhatExists(t *testing.T) {
	t.Parallel()
	var tree []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		tree = append(tree, "/"+filepath.ToSlash(path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range []string{"docs/architecture.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		named := pathsIn(string(text))
		if len(named) < 30 {
			t.Errorf("%s: only %d paths were found in it", document, len(named))
		}
		for _, path := range named {
			if !slices.ContainsFunc(tree, func(p string) bool { return strings.HasSuffix(p, "/"+path) }) {
				t.Errorf("%s names %s, which doesn't exist", document, path)
			}
		}
	}
}

var (
	fenced   = regexp.MustCompile("(?s)```.*?```")
	quoted   = regexp.MustCompile("`([^`]+)`")
	link     = regexp.MustCompile(`\]\(([\w./-]+\.md)`)
	pathLike = regexp.MustCompile(`^[\w.-]+(/[\w.{},-]+)*/?$`)
	braced   = regexp.MustCompile(`\{([^}]*)\}`)
)

// pathsIn are the paths that a document names between backticks, on their own or in a command as ./path, and those that it links to. A word is a path if it has
// a slash or is a Go file's name.
func pathsIn(document string) (paths []string) {
	for _, m := range link.FindAllStringSubmatch(document, -1) {
		paths = append(paths, filepath.Base(m[1]))
	}
	for _, m := range quoted.FindAllStringSubmatch(fenced.ReplaceAllString(document, ""), -1) {
		words := strings.Fields(m[1])
		for _, word := range words {
			path, inCommand := strings.CutPrefix(word, "./")
			if len(words) > 1 && !inCommand || !pathLike.MatchString(path) || strings.HasPrefix(path, "../") {
				continue
			}
			if !strings.Contains(path, "/") && !strings.HasSuffix(path, ".go") && !inCommand {
				continue
			}
			paths = append(paths, withoutBraces(strings.TrimSuffix(path, "/"))...)
		}
	}
	return paths
}

// withoutBraces writes a path out that has alternatives between braces.
func withoutBraces(path string) (paths []string) {
	at := braced.FindStringSubmatchIndex(path)
	if at == nil {
		return []string{path}
	}
	for alternative := range strings.SplitSeq(path[at[2]:at[3]], ",") {
		paths = append(paths, withoutBraces(path[:at[0]]+alternative+path[at[1]:])...)
	}
	return paths
}

// TestTheGlossaryIsShort counts the words of docs/architecture.md, "Words".
func TestTheGlossaryIsShort(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(document), "\n## Words\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| .* \|$`).FindAllString(section, -1)
	switch words := len(rows) - 1; { // without the row of the titles
	case words < 20:
		t.Errorf("only %d words were found", words)
	case words > 40:
		t.Errorf("the glossary has %d words; allowed are 40: explain a word where it first matters, or use a plain one", words)
	}
}
