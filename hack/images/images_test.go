package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// hello stands for Boardwalk: compiling that for another platform takes minutes.
const hello = "./hack/images/testdata/hello"

var (
	amd64 = v1.Platform{OS: "linux", Architecture: "amd64"}
	arm64 = v1.Platform{OS: "linux", Architecture: "arm64"}
)

func testCheckout(t *testing.T) checkout {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return checkout{
		root: root, commit: strings.Repeat("c0", 20), version: "v1.2.3",
		built: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

func TestImageSaysHowItIsRun(t *testing.T) {
	t.Parallel()
	img, err := image(testCheckout(t), arm64, []byte("program"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.Architecture != "arm64" || file.OS != "linux" || file.Config.User != "65532:65532" ||
		!slices.Equal(file.Config.Entrypoint, []string{"/boardwalk"}) {
		t.Errorf("the image is for %s/%s, run by %s with %q", file.OS, file.Architecture, file.Config.User, file.Config.Entrypoint)
	}
	for label, want := range map[string]string{
		"revision": strings.Repeat("c0", 20), "version": "v1.2.3", "created": "2026-01-02T03:04:05Z",
		"licenses": "Apache-2.0", "source": "https://github.com/boardwalkhq/boardwalk",
	} {
		if got := file.Config.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("label %s is %q, wanted %q", label, got, want)
		}
	}
	if got, want := contents(t, img), map[string]string{
		"boardwalk": "-rwxr-xr-x program", "etc/passwd": "-rw-r--r-- " + passwd, "etc/group": "-rw-r--r-- " + group,
		"etc/": "drwxr-xr-x ", "tmp/": "dtrwxrwxrwx ",
	}; !maps.Equal(got, want) {
		t.Errorf("the image holds %q\nwanted %q", got, want)
	}
}

// contents are the mode and the content of everything in the image's one layer.
func contents(t *testing.T, img v1.Image) map[string]string {
	t.Helper()
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	packed, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	found := make(map[string]string)
	for archive := tar.NewReader(packed); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		found[h.Name] = h.FileInfo().Mode().String() + " " + string(content)
	}
}

func TestTwoBuildsAreIdentical(t *testing.T) {
	t.Parallel()
	c := testCheckout(t)
	var first map[string]string
	for range 2 {
		o := options{dir: t.TempDir(), tag: "hello:1", images: kinds[:1], platforms: []v1.Platform{amd64, arm64}}
		var said strings.Builder
		if err := build(t.Context(), c, hello, o, &said); err != nil {
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

func TestProgramIsOfThePlatform(t *testing.T) {
	t.Parallel()
	c := testCheckout(t)
	program, err := compile(t.Context(), c, hello, arm64)
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	if file.Machine != elf.EM_AARCH64 {
		t.Errorf("the program for arm64 is one for %s", file.Machine)
	}
	if !bytes.Contains(program, []byte(c.commit)) {
		t.Error("the program doesn't know its commit")
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, program, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkProgram(path, amd64); err == nil || !strings.Contains(err.Error(), "EM_AARCH64") {
		t.Errorf("a program for arm64 as one for amd64: %v", err)
	}
	if _, err := compile(t.Context(), c, "./hack/images/testdata/nothing", amd64); err == nil {
		t.Error("a package that isn't there was compiled")
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

func TestCheckoutIsRead(t *testing.T) {
	t.Parallel()
	c, err := readCheckout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.commit) != 40 || c.built.IsZero() || c.version == "" {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(filepath.Join(c.root, "go.mod")); err != nil {
		t.Error(err)
	}
}
