package kubetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// program is a module with a program that prints what it was stamped with.
func program(t *testing.T, text string) (source string, its tool) {
	t.Helper()
	source = t.TempDir()
	for name, content := range map[string]string{"go.mod": "module none.invalid/program\n\ngo 1.26\n", "main.go": text} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return source, tool{module: "program", pkg: ".", stamps: []string{"main.stamp=pearl"}}
}

const whole = `package main

var stamp = "none"

func main() { print(stamp) }
`

func TestSeveralWantAToolAtOnceAndItIsBuiltOnce(t *testing.T) {
	t.Parallel()
	source, its := program(t, whole)
	cache := filepath.Join(t.TempDir(), "deep", "cache")
	dir := filepath.Join(cache, "program-1")
	if err := os.MkdirAll(filepath.Join(dir, "program.part", "junk"), 0o750); err != nil { // of a build that was killed
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			path, err := provide(t.Context(), cache, dir, "program", source, its)
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := exec.CommandContext(t.Context(), path).CombinedOutput(); err != nil || string(out) != "pearl" {
				t.Errorf("%s = %q, %v; want its stamp", path, out, err)
			}
		})
	}
	all.Wait()
	if err := os.Remove(filepath.Join(source, "main.go")); err != nil {
		t.Fatal(err)
	}
	if _, err := provide(t.Context(), cache, dir, "program", source, its); err != nil {
		t.Errorf("what is there was built again: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside the program there are %v, %v", entries, err)
	}
}

func TestABuildThatFailsLeavesNothingAndSaysWhy(t *testing.T) {
	t.Parallel()
	source, its := program(t, "package main\n\nfunc main() { reef() }\n")
	cache := t.TempDir()
	path, err := provide(t.Context(), cache, filepath.Join(cache, "program-1"), "program", source, its)
	if err == nil || !strings.Contains(err.Error(), "undefined: reef") {
		t.Errorf("provide = %s, %v; want the compiler's words", path, err)
	}
	if left, err := filepath.Glob(filepath.Join(cache, "program-1", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAToolThatNobodyKnows(t *testing.T) {
	t.Parallel()
	if path, err := Tool(t.Context(), "kubeadm"); err == nil || !strings.Contains(err.Error(), "kube-apiserver") {
		t.Errorf("Tool = %q, %v; want an error with the names that there are", path, err)
	}
}

func TestTheStampedVersionIsTheOneThatIsBuilt(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../hack/kube/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(content, []byte("k8s.io/kubernetes "+kubernetesVersion+" ")) {
		t.Errorf("hack/kube/go.mod requires another k8s.io/kubernetes than %s", kubernetesVersion)
	}
}
