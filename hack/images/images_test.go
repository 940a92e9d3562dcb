package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"sigs.k8s.io/yaml"

	"github.com/boardwalkhq/boardwalk/hack/images/build"
)

// hello stands for Boardwalk: compiling that for another platform takes minutes.
const hello = "./hack/images/testdata/hello"

var (
	amd64 = v1.Platform{OS: "linux", Architecture: "amd64"}
	arm64 = v1.Platform{OS: "linux", Architecture: "arm64"}
)

func TestTwoBuildsAreIdentical(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	c := build.Checkout{
		Root: root, Commit: strings.Repeat("c0", 20), Version: "v1.2.3",
		Built: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	kinds, err := build.ParseKinds("boardwalk")
	if err != nil {
		t.Fatal(err)
	}
	var first map[string]string
	for range 2 {
		o := options{dir: t.TempDir(), tag: "hello:1", images: kinds, platforms: []v1.Platform{amd64, arm64}}
		var said strings.Builder
		if err := makeImages(t.Context(), c, hello, o, &said); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(said.String(), "MB compressed") {
			t.Errorf("the size isn't reported: %s", &said)
		}
		files := hashes(t, o.dir)
		if first == nil {
			first = files
			for _, wanted := range []string{
				"boardwalk-linux-amd64.tar", "boardwalk-linux-arm64.tar", "boardwalk-oci/index.json",
				"boardwalk-linux-amd64.cdx.json", "boardwalk-linux-arm64.cdx.json", "images.yaml",
			} {
				if files[wanted] == "" {
					t.Errorf("%s wasn't written", wanted)
				}
			}
			checkSaved(t, filepath.Join(o.dir, "boardwalk-linux-arm64.tar"))
			continue
		}
		for path, hash := range files {
			if first[path] != hash {
				t.Errorf("%s differs between two builds of one commit", path)
			}
		}
		if len(files) != len(first) {
			t.Errorf("%d files, and %d the second time", len(first), len(files))
		}
	}
}

func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		hash := sha256.Sum256(content)
		files[filepath.ToSlash(relative)] = hex.EncodeToString(hash[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// checkSaved looks into the image for arm64 as a node does that loads it.
func checkSaved(t *testing.T, path string) {
	t.Helper()
	tag, err := name.NewTag("hello:1")
	if err != nil {
		t.Fatal(err)
	}
	img, err := tarball.ImageFromPath(path, &tag)
	if err != nil {
		t.Fatal(err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.Architecture != "arm64" {
		t.Errorf("%s holds an image for %s", path, file.Architecture)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o, err := parseOptions([]string{"-platforms", "linux/arm64", "-o", "out"})
	if err != nil || o.dir != "out" || o.tag != "boardwalk:dev" || len(o.platforms) != 1 || o.platforms[0].Architecture != "arm64" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, c := range []struct{ arg, want string }{
		{"-platforms=windows/amd64", "there are linux/amd64 and linux/arm64"},
		{"-platforms=linux/386", "there are linux/amd64 and linux/arm64"},
		{"-platforms=", "there are linux/amd64 and linux/arm64"},
		{"-platforms=linux/amd64,linux/amd64", "listed twice"},
		{"dist", "no argument"},
	} {
		if _, err := parseOptions([]string{c.arg}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, wanted %q", c.arg, err, c.want)
		}
	}
}

// TestValuesNameTheImages by digest, in the form that the chart takes.
func TestValuesNameTheImages(t *testing.T) {
	t.Parallel()
	one, two := v1.Hash{Algorithm: "sha256", Hex: strings.Repeat("ab", 32)}, v1.Hash{Algorithm: "sha256", Hex: strings.Repeat("cd", 32)}
	type image struct{ Tag, Digest string }
	var got struct {
		Image    image
		Renderer struct{ Image image }
	}
	if err := yaml.UnmarshalStrict(values("registry.example.com:5000/boardwalk:1.10", map[string]v1.Hash{"boardwalk": one, "boardwalk-renderer": two}), &got); err != nil {
		t.Fatal(err)
	}
	if got.Image != (image{"1.10", one.String()}) || got.Renderer.Image != (image{"1.10", two.String()}) {
		t.Errorf("%+v", got)
	}
	if text := string(values("boardwalk:1", map[string]v1.Hash{"boardwalk": one})); strings.Contains(text, "renderer") {
		t.Errorf("without the renderer's image:\n%s", text)
	}
}

func TestTheRenderersNameIsTheOthersWithAnEnd(t *testing.T) {
	t.Parallel()
	kinds, err := build.ParseKinds("boardwalk-renderer")
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{
		"boardwalk:dev": "boardwalk-renderer:dev", "registry.example.com:5000/markets/b:1.2": "registry.example.com:5000/markets/b-renderer:1.2",
		"registry.example.com:5000/b": "", "boardwalk": "",
	} {
		if got, err := tagOf(kinds[0], tag); got != want || (err == nil) != (want != "") {
			t.Errorf("%s becomes %q (%v), wanted %q", tag, got, err, want)
		}
	}
	for list, want := range map[string]int{"boardwalk": 1, "boardwalk-renderer,boardwalk": 2, "": 0, "renderer": 0, "boardwalk,boardwalk": 0} {
		if got, err := build.ParseKinds(list); len(got) != want || (err == nil) != (want > 0) {
			t.Errorf("-images %q is %d images (%v)", list, len(got), err)
		}
	}
}
