package npmcache

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// onePackage is a source with one package, which npm takes from a file: no registry is asked.
func onePackage(t *testing.T) fstest.MapFS {
	t.Helper()
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	for name, content := range map[string]string{
		"package/package.json": `{"name": "shell", "version": "1.0.0", "scripts": {"install": "touch script-ran"}}`,
		"package/index.js":     `module.exports = 'pearl';`,
	} {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "shell-1.0.0.tgz")
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(packed.Bytes())
	return fstest.MapFS{
		".npmrc": {Data: []byte("offline=true\naudit=false\nfund=false\nupdate-notifier=false\n")},
		"package.json": {Data: fmt.Appendf(nil,
			`{"name": "sea", "private": true, "dependencies": {"shell": "file:%s"}}`, path)},
		"package-lock.json": {Data: fmt.Appendf(nil, `{
			"name": "sea", "lockfileVersion": 3, "requires": true,
			"packages": {
				"": {"name": "sea", "dependencies": {"shell": "file:%s"}},
				"node_modules/shell": {
					"version": "1.0.0", "resolved": "file:%s", "integrity": "sha512-%s", "hasInstallScript": true
				}
			}
		}`, path, path, base64.StdEncoding.EncodeToString(sum[:]))},
	}
}

func TestSeveralInstallAtOnceAndOnlyOnce(t *testing.T) {
	t.Parallel()
	source, cache := onePackage(t), filepath.Join(t.TempDir(), "deep", "cache")
	var all sync.WaitGroup
	dirs := make([]string, 3)
	for i := range dirs {
		all.Go(func() {
			dir, err := install(t.Context(), cache, "sea", source)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := os.Stat(filepath.Join(dir, "node_modules", "shell", "index.js")); err != nil {
				t.Errorf("install returned before the package was there: %v", err)
			}
			dirs[i] = dir
		})
	}
	all.Wait()
	if dirs[0] != dirs[1] || dirs[1] != dirs[2] {
		t.Errorf("one lock file was installed into %q", dirs)
	}
	if _, err := os.Stat(filepath.Join(dirs[0], "node_modules", "shell", "script-ran")); err == nil {
		t.Error("a package's script ran")
	}

	ours := filepath.Join(dirs[0], "node_modules", "ours")
	if err := os.WriteFile(ours, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := install(t.Context(), cache, "sea", source); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ours); err != nil {
		t.Errorf("what was there was installed again: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "*.part"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestInstallsAfterOneThatWasKilled(t *testing.T) {
	t.Parallel()
	source, cache := onePackage(t), t.TempDir()
	dir, err := install(t.Context(), cache, "sea", source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".part"); err != nil {
		t.Fatal(err)
	}
	junk := filepath.Join(dir+".part", "node_modules", "junk")
	if err := os.WriteFile(junk, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := install(t.Context(), cache, "sea", source); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "junk")); err == nil {
		t.Error("what a killed installation left is in this one")
	}
}

func TestAnInstallationThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(fstest.MapFS){
		"a package that is not the locked one": func(source fstest.MapFS) {
			lock := source["package-lock.json"]
			lock.Data = bytes.Replace(lock.Data, []byte("sha512-"), []byte("sha512-AAAA"), 1)
		},
		"a package.json of which the lock file knows nothing": func(source fstest.MapFS) {
			source["package.json"].Data = []byte(`{"name": "sea", "private": true, "dependencies": {"reef": "1.0.0"}}`)
		},
		"no packages": func(source fstest.MapFS) {
			source["package.json"].Data = []byte(`{"name": "sea", "private": true}`)
			source["package-lock.json"].Data = []byte(`{"name": "sea", "lockfileVersion": 3, "packages": {"": {"name": "sea"}}}`)
		},
		"no .npmrc":    func(source fstest.MapFS) { delete(source, ".npmrc") },
		"no lock file": func(source fstest.MapFS) { delete(source, "package-lock.json") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, cache := onePackage(t), t.TempDir()
			spoil(source)
			dir, err := install(t.Context(), cache, "sea", source)
			if err == nil {
				t.Fatalf("installed into %s", dir)
			}
			t.Log(err)
			entries, err := fs.Glob(os.DirFS(cache), "sea-*[^k]") // all but the lock
			if err != nil || len(entries) > 0 {
				t.Errorf("left behind: %q, %v", entries, err)
			}
		})
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Lock(impatient, path); err == nil {
		t.Fatal("two hold one lock")
	}
	unlock()
	again, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestDir(t *testing.T) {
	t.Setenv("BOARDWALK_CACHE", "")
	t.Setenv("HOME", "/home/of")
	t.Setenv("XDG_CACHE_HOME", "")
	if dir, err := Dir(); err != nil || filepath.Base(dir) != "boardwalk" {
		t.Errorf("Dir() = %q, %v", dir, err)
	}
	t.Setenv("BOARDWALK_CACHE", "here")
	if dir, err := Dir(); err != nil || !filepath.IsAbs(dir) || filepath.Base(dir) != "here" {
		t.Errorf("Dir() = %q, %v, want an absolute path to here", dir, err)
	}
}
