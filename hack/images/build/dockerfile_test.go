package build

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// instruction is a line of a Dockerfile, continuation lines included.
type instruction struct{ name, rest string }

// dockerfile reads the Dockerfile's stages, each beginning with its FROM.
func dockerfile(t *testing.T, root string) [][]instruction {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var stages [][]instruction
	joined := strings.ReplaceAll(string(content), "\\\n", " ")
	for line := range strings.Lines(joined) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case name == "" || strings.HasPrefix(name, "#"):
			continue
		case name == "FROM":
			stages = append(stages, nil)
		}
		if len(stages) == 0 {
			t.Fatalf("%s before the first FROM", name)
		}
		last := len(stages) - 1
		stages[last] = append(stages[last], instruction{name, strings.TrimSpace(rest)})
	}
	return stages
}

func all(stage []instruction, name string) []string {
	var found []string
	for _, i := range stage {
		if i.name == name {
			found = append(found, i.rest)
		}
	}
	return found
}

func only(t *testing.T, stage []instruction, name string) string {
	t.Helper()
	found := all(stage, name)
	if len(found) != 1 {
		t.Fatalf("%d %s in the stage %s, wanted one", len(found), name, stage[0].rest)
	}
	return found[0]
}

// arguments puts in what the Dockerfile is told on the command line.
func arguments(c Checkout) *strings.Replacer {
	return strings.NewReplacer("$COMMIT", c.Commit, "$BUILT", c.Built.Format(time.RFC3339), "$VERSION", c.Version)
}

func TestDockerfileMakesTheSameImage(t *testing.T) {
	t.Parallel()
	c := testCheckout(t)
	stages := dockerfile(t, c.Root)
	final := stages[len(stages)-1]
	if base := only(t, final, "FROM"); base != "scratch" {
		t.Errorf("FROM %s", base)
	}
	checkStage(t, c, final, imageConfig(c))
}

// checkStage looks whether an image that a stage makes is run and labelled as one that is made here.
func checkStage(t *testing.T, c Checkout, stage []instruction, config v1.Config) {
	t.Helper()
	if user := only(t, stage, "USER"); user != config.User {
		t.Errorf("USER %s, wanted %s", user, config.User)
	}
	if dir := only(t, stage, "WORKDIR"); dir != config.WorkingDir {
		t.Errorf("WORKDIR %s, wanted %s", dir, config.WorkingDir)
	}
	if env := all(stage, "ENV"); !slices.Equal(env, config.Env) {
		t.Errorf("ENV %q, wanted %q", env, config.Env)
	}
	var entrypoint []string
	if err := json.Unmarshal([]byte(only(t, stage, "ENTRYPOINT")), &entrypoint); err != nil || !slices.Equal(entrypoint, config.Entrypoint) {
		t.Errorf("ENTRYPOINT %q (%v), wanted %q", entrypoint, err, config.Entrypoint)
	}
	labels := all(stage, "LABEL")
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		value = arguments(c).Replace(strings.Trim(value, `"`))
		if want := config.Labels[key]; value != want {
			t.Errorf("LABEL %s is %q, wanted %q", key, value, want)
		}
	}
	if len(labels) != len(config.Labels) {
		t.Errorf("%d labels, wanted %d", len(labels), len(config.Labels))
	}
}

func TestDockerfileBuildsTheSameProgram(t *testing.T) {
	t.Parallel()
	c := testCheckout(t)
	stage := dockerfile(t, c.Root)[0]
	goMod, err := os.ReadFile(filepath.Join(c.Root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(goMod), "\ngo ")
	version, _, _ = strings.Cut(version, "\n")
	if from := only(t, stage, "FROM"); from != "--platform=$BUILDPLATFORM golang:"+version+" AS build" {
		t.Errorf("FROM %s, but go.mod asks for Go %s", from, version)
	}
	script := arguments(c).Replace(strings.Join(all(stage, "RUN"), "\n"))
	for _, want := range []string{
		"CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false",
		`-ldflags "` + ldflags(c) + `"`,
		strings.ReplaceAll(passwd, "\n", `\n`), strings.ReplaceAll(group, "\n", `\n`),
		"mkdir -m 1777 /image/tmp",
	} {
		if !strings.Contains(script, want) {
			t.Errorf("the Dockerfile's RUN lacks %s", want)
		}
	}
}

func TestMakefileTellsTheProgramTheSame(t *testing.T) {
	t.Parallel()
	c := testCheckout(t)
	makefile, err := os.ReadFile(filepath.Join(c.Root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(string(makefile), "\nLDFLAGS := ")
	line, _, _ = strings.Cut(line, "\n")
	flags := strings.NewReplacer("$(COMMIT)", c.Commit, "$(BUILT)", c.Built.Format(time.RFC3339)).Replace(line)
	if !found || !strings.HasSuffix(ldflags(c), flags) {
		t.Errorf("images are linked with %s, make build with %s", ldflags(c), flags)
	}
}

// TestDockerignoreKeepsWhatIsCompiled: a file that an image needs and .dockerignore leaves out breaks only the Dockerfile,
// which no test here can run.
func TestDockerignoreKeepsWhatIsCompiled(t *testing.T) {
	t.Parallel()
	root := testCheckout(t).Root
	content, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	patterns := strings.Fields(string(content))
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		`{{if and .Module .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}`+
			`{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}`, ".")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := []string{"go.mod", "go.sum"}
	for line := range bytes.Lines(out) {
		if file := strings.TrimSpace(string(line)); file != "" {
			relative, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, filepath.ToSlash(relative))
		}
	}
	if len(files) < 20 {
		t.Fatalf("go list names %d files alone", len(files))
	}
	for _, file := range files {
		for _, pattern := range patterns {
			if ignores(t, pattern, file) {
				t.Errorf("%s is compiled in, but .dockerignore leaves %s out", file, pattern)
			}
		}
	}
	for file, ignored := range map[string]bool{"hack/run.sh": true, "docs/a.md": true, "apiserver/docs/a": false, "x/testdata/y": true, "x/run.db": true} {
		if got := slices.ContainsFunc(patterns, func(p string) bool { return ignores(t, p, file) }); got != ignored {
			t.Errorf("%s is ignored: %v", file, got)
		}
	}
}

// ignores knows the two kinds of patterns in use: a path from the root, and **/ before the name of a file or folder.
func ignores(t *testing.T, pattern, file string) bool {
	t.Helper()
	anywhere, name := strings.CutPrefix(pattern, "**/")
	if name {
		return slices.ContainsFunc(strings.Split(file, "/"), func(part string) bool {
			matches, err := path.Match(anywhere, part)
			if err != nil {
				t.Fatal(err)
			}
			return matches
		})
	}
	if strings.ContainsAny(pattern, "*?[!#") {
		t.Fatalf("this test doesn't understand %q in .dockerignore: teach it", pattern)
	}
	return file == pattern || strings.HasPrefix(file, pattern+"/")
}
