package build

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// hello stands for Boardwalk: compiling that for another platform takes minutes.
const hello = "./hack/images/testdata/hello"

var (
	amd64 = v1.Platform{OS: "linux", Architecture: "amd64"}
	arm64 = v1.Platform{OS: "linux", Architecture: "arm64"}
)

func testCheckout(t *testing.T) Checkout {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return Checkout{
		Root: root, Commit: strings.Repeat("c0", 20), Version: "v1.2.3",
		Built: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
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

func TestProgramIsOfThePlatform(t *testing.T) {
	t.Parallel()
	c := testCheckout(t)
	program, err := Compile(t.Context(), c, hello, arm64)
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
	if !bytes.Contains(program, []byte(c.Commit)) {
		t.Error("the program doesn't know its commit")
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, program, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkProgram(path, amd64); err == nil || !strings.Contains(err.Error(), "EM_AARCH64") {
		t.Errorf("a program for arm64 as one for amd64: %v", err)
	}
	if _, err := Compile(t.Context(), c, "./hack/images/testdata/nothing", amd64); err == nil {
		t.Error("a package that isn't there was compiled")
	}
}

func TestCheckoutIsRead(t *testing.T) {
	t.Parallel()
	c, err := ReadCheckout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Commit) != 40 || c.Built.IsZero() || c.Version == "" {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(filepath.Join(c.Root, "go.mod")); err != nil {
		t.Error(err)
	}
}
