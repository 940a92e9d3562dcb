package build

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// tree is what an image holds: of files the mode, of links the target, of libraries and programs what they need.
type tree struct {
	modes map[string]fs.FileMode
	links map[string]string
	needs map[string][]string
	size  int64
}

func readTree(t *testing.T, img v1.Image) tree {
	t.Helper()
	packed := mutate.Extract(img)
	defer packed.Close()
	found := tree{modes: make(map[string]fs.FileMode), links: make(map[string]string), needs: make(map[string][]string)}
	for archive := tar.NewReader(packed); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(h.Name, "/")
		found.modes[name], found.size = h.FileInfo().Mode(), found.size+h.Size
		if h.Linkname != "" {
			found.links[name] = h.Linkname
		}
		if h.Typeflag != tar.TypeReg || !strings.HasPrefix(name, "usr/lib/") || !strings.Contains(name, ".so") && !strings.HasSuffix(name, "-shell") {
			continue
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		program, err := elf.NewFile(bytes.NewReader(content))
		if err != nil {
			continue // a file of another kind
		}
		if found.needs[name], err = program.ImportedLibraries(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// TestRendererImage makes it of Debian's packages, for this machine and another, and looks whether it is whole, and no more.
func TestRendererImage(t *testing.T) {
	t.Parallel()
	c := testCheckout(t)
	for _, p := range []v1.Platform{amd64, arm64} {
		program, err := Compile(t.Context(), c, hello, p)
		if err != nil {
			t.Fatal(err)
		}
		img, err := renderer(t.Context(), c, p, program)
		if err != nil {
			t.Fatal(err)
		}
		file, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if file.Architecture != p.Architecture || file.Config.User != nonroot || !slices.Contains(file.Config.Env, "PATH=/:/usr/lib/chromium") {
			t.Errorf("the image is for %s, run by %s with %q", file.Architecture, file.Config.User, file.Config.Env)
		}
		found := readTree(t, img)
		t.Logf("%s: %d files, %.0f MB", p, len(found.modes), float64(found.size)/1e6)
		for _, wanted := range []string{
			"boardwalk", "etc/passwd", "tmp", "usr/lib/chromium/chromium-headless-shell", "usr/lib/chromium/icudtl.dat",
			"usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc", "usr/share/fonts/truetype/noto/NotoColorEmoji.ttf",
			"usr/share/fonts/truetype/noto/NotoSansArabic-Regular.ttf", "usr/share/fonts/truetype/noto/NotoSansThai-Regular.ttf",
			"usr/share/fontconfig/conf.avail/10-hinting-slight.conf", "usr/share/fontconfig/conf.avail/70-no-bitmaps.conf",
			"usr/share/doc/chromium-headless-shell/copyright", "var/lib/dpkg/status.d/libc6", "usr/lib/os-release",
		} {
			if _, there := found.modes[wanted]; !there {
				t.Errorf("%s: %s isn't in the image", p, wanted)
			}
		}
		made := purls(readSBOM(t, c, "boardwalk-renderer", img))
		packages := 0
		for name := range found.modes {
			installed, ok := strings.CutPrefix(name, "var/lib/dpkg/status.d/")
			if !ok {
				continue
			}
			packages++
			if !slices.ContainsFunc(made, func(m string) bool {
				return strings.HasPrefix(m, "pkg:deb/debian/"+url.QueryEscape(installed)+"@") && strings.Contains(m, "&distro=debian-")
			}) {
				t.Errorf("%s: the package %s isn't in the image's list", p, installed)
			}
		}
		if len(made) != packages+1 { // Go's own library
			t.Errorf("%s: the list has %d entries for %d packages", p, len(made), packages)
		}
		found.checkModes(t, p)
		found.checkLibraries(t, p)
	}
}

// checkModes looks that nobody can become more than he is, and that there is nothing to run but program and browser.
func (f tree) checkModes(t *testing.T, p v1.Platform) {
	t.Helper()
	for name, mode := range f.modes {
		if mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 || mode.Perm()&0o022 != 0 && mode.IsRegular() {
			t.Errorf("%s: %s has the mode %s", p, name, mode)
		}
		if slices.Contains([]string{"sh", "bash", "dash", "busybox", "perl", "python3", "chrome-sandbox"}, path.Base(name)) &&
			!strings.HasPrefix(name, "usr/share/") {
			t.Errorf("%s: %s is there", p, name)
		}
	}
}

// checkLibraries looks for every library that the browser, or one of its libraries, needs.
func (f tree) checkLibraries(t *testing.T, p v1.Platform) {
	t.Helper()
	libraries := make(map[string]bool)
	for name := range f.modes {
		if strings.Contains(name, ".so") {
			libraries[path.Base(name)] = true
		}
	}
	const browser = "usr/lib/chromium/chromium-headless-shell"
	if len(f.needs[browser]) < 20 {
		t.Fatalf("%s: the browser needs %q alone", p, f.needs[browser])
	}
	for name, needs := range f.needs {
		for _, library := range needs {
			if !libraries[library] {
				t.Errorf("%s: %s needs %s, which isn't there", p, name, library)
			}
		}
	}
}

func TestTheSamePackagesGiveTheSameLayer(t *testing.T) {
	small := []part{{name: "small", packages: []string{"fonts-inter"}}}
	var digests []string
	for range 2 {
		t.Setenv("BOARDWALK_CACHE", t.TempDir())
		for range 2 { // the second time it is there
			files, err := debianLayers(t.Context(), "amd64", small)
			if err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			digest, _, err := v1.SHA256(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			digests = append(digests, digest.String())
		}
	}
	if slices.Sort(digests); digests[0] != digests[3] {
		t.Errorf("one package gave %q", digests)
	}
	if _, err := debianLayers(t.Context(), "amd64", []part{{name: "none", packages: []string{"no-such-package"}}}); err == nil ||
		!strings.Contains(err.Error(), "no-such-package") {
		t.Errorf("a package that there isn't: %v", err)
	}
}

func TestDockerfileMakesTheSameRenderer(t *testing.T) {
	t.Parallel()
	c := testCheckout(t)
	stages := dockerfile(t, c.Root)
	stage := stages[slices.IndexFunc(stages, func(s []instruction) bool { return strings.HasSuffix(s[0].rest, " AS renderer") })]
	checkStage(t, c, stage, rendererConfig(c))
	script := strings.Join(all(stage, "RUN"), "\n")
	for _, p := range parts {
		for _, name := range p.packages {
			if !slices.Contains(strings.Fields(script), name) {
				t.Errorf("the Dockerfile doesn't install %s", name)
			}
		}
	}
	if fonts := "/usr/share/fonts/opentype/noto/NotoSerifCJK-*"; !leftOut(fonts[1:]) || !strings.Contains(script, fonts) {
		t.Errorf("the Dockerfile doesn't remove %s as the image does", fonts)
	}
}

// TestMachinesHaveTheImagesFonts: cards look the same where they are drawn by a developer's browser.
func TestMachinesHaveTheImagesFonts(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(filepath.Join(testCheckout(t).Root, "hack", "setup.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		for _, name := range p.packages {
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).Match(script) {
				t.Errorf("hack/setup.sh doesn't install %s", name)
			}
		}
	}
}
