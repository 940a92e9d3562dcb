package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shortTemp makes the system's folder for temporary files one of the test's own, with a path that a socket fits into.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bw-") //nolint:usetesting // t.TempDir has the name of the test, which is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	return dir
}

// TestWhatAKilledUpLeftGoesWithTheNext has the folders, the socket and the browser's files that a killed one leaves.
func TestWhatAKilledUpLeftGoesWithTheNext(t *testing.T) {
	temp := shortTemp(t)
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "up.db")
	killed := &up{dsn: dsn, public: public{listen: "127.0.0.1:0"}}
	dir, err := ownFolder("boardwalk-up-" + killed.id())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "renderer.sock")})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}

	manifests := t.TempDir()
	if err := os.WriteFile(filepath.Join(manifests, "base.yaml"), []byte(chainManifest(deadNode)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startUpWith(t, func(u *up) { u.draw = true }, dsn, manifests)
	folders := func() []string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(temp, "boardwalk-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if len(folders()) == 0 {
		t.Fatal("it draws no cards here")
	}
	r.stop(t)
	if left := folders(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// deadNode is an address where nobody answers.
const deadNode = "http://127.0.0.1:9"

func TestAFolderThatOthersMayEnterIsNotTaken(t *testing.T) {
	temp := shortTemp(t)
	for name, create := range map[string]func(path string) error{
		"a file":              func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a link":              func(path string) error { return os.Symlink(t.TempDir(), path) },
		"a folder of all":     func(path string) error { return os.Mkdir(path, 0o755) },
		"a folder of a group": func(path string) error { return os.Mkdir(path, 0o750) },
	} {
		folder := strings.ReplaceAll(name, " ", "-")
		if err := create(filepath.Join(temp, folder)); err != nil {
			t.Fatal(err)
		}
		if _, err := ownFolder(folder); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
			t.Errorf("%s is taken: %v", name, err)
		}
	}
}

// TestUpSaysThatNoCardsAreDrawn has a machine without a Chromium.
func TestUpSaysThatNoCardsAreDrawn(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	manifests := t.TempDir()
	if err := os.WriteFile(filepath.Join(manifests, "base.yaml"), []byte(chainManifest(deadNode)), 0o600); err != nil {
		t.Fatal(err)
	}
	var out *output
	r := startUpWith(t, func(u *up) {
		u.draw = true
		out = u.out.(*output) //nolint:errcheck // startUpWith's
	}, "sqlite:"+filepath.Join(t.TempDir(), "up.db"), manifests)
	r.stop(t)
	said := strings.Split(out.String(), "\n")
	if len(said) < 2 || !strings.HasPrefix(said[0], "share cards are not drawn: no Chromium") || !strings.HasPrefix(said[1], "ready: ") {
		t.Errorf("it says %q", said)
	}
}
