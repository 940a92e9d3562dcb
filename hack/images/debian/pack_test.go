package debian_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/images/debian"
)

// buildDeb makes a package of files, links by an arrow in their name, such as "usr/a -> b", and another name of a file by "=>".
func buildDeb(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write := func(path, content string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("DEBIAN/control", "Package: "+name+"\nVersion: 1.2-3\nArchitecture: all\nMaintainer: nobody <nobody@example.com>\nDescription: for a test\n")
	for path, content := range files {
		if !strings.Contains(path, ">") {
			write(path, content)
		}
	}
	for path := range files {
		if link, target, ok := strings.Cut(path, " -> "); ok {
			if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
		}
		if link, target, ok := strings.Cut(path, " => "); ok {
			if err := os.Link(filepath.Join(root, target), filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	deb := filepath.Join(t.TempDir(), name+"_1.2-3_all.deb")
	if out, err := exec.CommandContext(t.Context(), "dpkg-deb", "--root-owner-group", "--build", root, deb).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v\n%s", err, out)
	}
	return deb
}

// pack returns an archive's entries, by mode, name and, of links, where they lead.
func pack(t *testing.T, debs ...string) ([]string, error) {
	t.Helper()
	var packed bytes.Buffer
	p := debian.NewPacker(&packed, func(name string) bool { return strings.HasPrefix(name, "usr/share/man/") })
	for _, deb := range debs {
		if err := p.Add(t.Context(), deb); err != nil {
			return nil, err
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var entries []string
	for archive := tar.NewReader(&packed); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s is %d:%d's", h.Name, h.Uid, h.Gid)
		}
		entries = append(entries, strings.TrimSpace(h.FileInfo().Mode().String()+" "+h.Name+" "+h.Linkname))
	}
}

func TestFilesArePacked(t *testing.T) {
	t.Parallel()
	deb := buildDeb(t, "one", map[string]string{
		"lib/x/libone.so.1": "library", "lib/x/libone.so -> libone.so.1": "", "usr/share/man/man1/one.1": "manual",
		"usr/share/empty/left/out/one": "a", "usr/share/empty/left/out/two => usr/share/empty/left/out/one": "",
	})
	got, err := pack(t, deb)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{
		"drwxr-xr-x usr/", "drwxr-xr-x usr/lib/", "drwxr-xr-x usr/lib/x/",
		"-rwxr-xr-x usr/lib/x/libone.so.1",
		"drwxr-xr-x usr/share/", "drwxr-xr-x usr/share/empty/", "drwxr-xr-x usr/share/empty/left/", "drwxr-xr-x usr/share/empty/left/out/",
		"-rwxr-xr-x usr/share/empty/left/out/one", "-rwxr-xr-x usr/share/empty/left/out/two usr/share/empty/left/out/one",
		"Lrwxrwxrwx usr/lib/x/libone.so libone.so.1", // dpkg-deb puts links last
		"drwxr-xr-x var/", "drwxr-xr-x var/lib/", "drwxr-xr-x var/lib/dpkg/", "drwxr-xr-x var/lib/dpkg/status.d/",
		"-rw-r--r-- var/lib/dpkg/status.d/one",
		"Lrwxrwxrwx lib usr/lib",
	}; !slices.Equal(got, want) {
		t.Errorf("the archive has\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWhatCannotBePackedIsRefused(t *testing.T) {
	t.Parallel()
	file := buildDeb(t, "file", map[string]string{"usr/share/a": "a"})
	for what, c := range map[string]struct {
		debs []string
		want string
	}{
		"two packages' file":          {[]string{file, buildDeb(t, "again", map[string]string{"usr/share/a": "b"})}, "usr/share/a is there twice"},
		"in /lib and in /usr/lib":     {[]string{buildDeb(t, "both", map[string]string{"lib/a": "a", "usr/lib/a": "b"})}, "usr/lib/a is there twice"},
		"a file that is a directory":  {[]string{file, buildDeb(t, "deep", map[string]string{"usr/share/a/b": "b"})}, "usr/share/a is a file"},
		"a link that would go astray": {[]string{buildDeb(t, "link", map[string]string{"lib/x": "", "lib/a -> ../etc/a": ""})}, "elsewhere from /usr"},
		"no package":                  {[]string{filepath.Join(t.TempDir(), "none.deb")}, "dpkg-deb"},
	} {
		_, err := pack(t, c.debs...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, wanted %q", what, err, c.want)
		}
	}
}
