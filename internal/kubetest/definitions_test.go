package kubetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDefinitionsAreFoundAmongOtherThings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"two.yaml": "# nothing\n---\nkind: CustomResourceDefinition\nmetadata: {name: a}\n---\nkind: Role\n---\n" +
			"kind: CustomResourceDefinition\nmetadata: {name: b}\n",
		"deep/one.json":       `{"kind": "CustomResourceDefinition", "metadata": {"name": "c"}}`,
		"kustomization.yaml":  "resources: [two.yaml]\n",
		"deep/a-template.txt": "kind: [",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	definitions, err := readDefinitions([]string{filepath.Join(dir, "two.yaml"), filepath.Join(dir, "deep")})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, definition := range definitions {
		names = append(names, definition.GetName())
	}
	if got := strings.Join(names, " "); got != "a b c" {
		t.Errorf("found %q; want a b c", got)
	}

	broken := filepath.Join(dir, "broken.yaml")
	if err := os.WriteFile(broken, []byte("kind: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readDefinitions([]string{dir}); err == nil || !strings.Contains(err.Error(), broken) {
		t.Errorf("the error %v doesn't name the broken file", err)
	}
}
