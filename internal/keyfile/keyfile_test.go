package keyfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func sumOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func write(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func (k *File) knows(key string) bool {
	_, ok := k.Find(key)
	return ok
}

func TestOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	a, b, c, d := sumOf("a"), strings.ToUpper(sumOf("b")), sumOf("c"), sumOf("d")
	write(t, path, "# builders\n\n"+a+"\n  "+b+"\tThe B team # 1 \r\n\t\n"+c+"  -\n"+a+" again\n"+d)
	k, err := Open(path, "builder keys", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b", "c", "d"} {
		if !k.knows(key) {
			t.Errorf("%s is not known", key)
		}
	}
	if k.knows("e") || k.knows("") {
		t.Error("others are known")
	}

	write(t, path, "")
	if k, err = Open(path, "builder keys", slog.New(slog.DiscardHandler)); err != nil || k.knows("a") {
		t.Errorf("an empty file: %v", err)
	}
}

func TestErrorsOfKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	good := sumOf("a") + "\n"
	for name, content := range map[string]string{
		"a key":                "bw_s3cret\n",
		"a key and a name":     "bw_s3cret name\n",
		"a name and a SHA-256": "s3cret " + good,
		"too few digits":       good[1:],
		"too many digits":      "a" + good,
		"no digits":            strings.Repeat("s3cret__", 8) + "\n",
		"a SHA-256 and no gap": strings.TrimSpace(good) + "s3cret\n",
		"a file of one line":   strings.Repeat("s3cret", 1<<20),
	} {
		write(t, path, "# builders\n"+good+content+good)
		_, err := Open(path, "builder keys", slog.New(slog.DiscardHandler))
		if err == nil {
			t.Errorf("%s is taken", name)
			continue
		}
		if text := err.Error(); !strings.HasPrefix(text, path+":3: ") || !strings.Contains(text, "64 hexadecimal digits") {
			t.Errorf("%s: the error doesn't say where and what is allowed: %s", name, text)
		}
		if text := err.Error(); strings.Contains(text, "s3cret") || strings.Contains(text, good[1:20]) {
			t.Errorf("%s: the error repeats the line: %s", name, text)
		}
	}

	write(t, path, strings.Repeat("#", largestFile+1))
	if _, err := Open(path, "builder keys", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "16 MiB") {
		t.Errorf("a file that is too large: %v", err)
	}
	if _, err := Open(filepath.Dir(path), "builder keys", slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a directory is taken")
	}
	if _, err := Open(path+".none", "builder keys", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), path+".none") {
		t.Errorf("a file that isn't there: %v", err)
	}
}

// running are keys in a file that change as time passes in a bubble.
type running struct {
	*File
	logged logged
}

// logged is what was logged since it was last asked for.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

func run(t *testing.T, path string) *running {
	t.Helper()
	r := &running{}
	var err error
	if r.File, err = Open(path, "builder keys", slog.New(slog.NewTextHandler(&r.logged, nil))); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return r
}

// pass lets a number of looks happen.
func (*running) pass(looks int) {
	time.Sleep(time.Duration(looks) * lookEvery)
	synctest.Wait()
}

// lines is the number of lines logged at a level since the last call.
func (r *running) lines(level string) int {
	return strings.Count(r.logged.take(), "level="+level)
}

func TestRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	synctest.Test(t, func(t *testing.T) {
		write(t, path, sumOf("a")+"\n")
		k := run(t, path)
		k.pass(3)
		if text := k.logged.take(); !k.knows("a") || text != "" {
			t.Errorf("nothing changed: a is known %t, and it logs %s", k.knows("a"), text)
		}

		// Half of a file is no file yet.
		write(t, path, "")
		k.pass(1)
		write(t, path, sumOf("a")+"\n"+sumOf("b")+"\n")
		k.pass(1)
		if !k.knows("a") || k.knows("b") {
			t.Error("a file was read while it changed")
		}
		k.pass(1)
		if n := k.lines("INFO"); !k.knows("a") || !k.knows("b") || n != 1 {
			t.Errorf("a changed file: a is known %t, b %t, and it is logged %d times; want once", k.knows("a"), k.knows("b"), n)
		}

		write(t, path, sumOf("b")+"\nbw_s3cret\n")
		k.pass(5)
		text := k.logged.take()
		if !k.knows("a") || strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, path+":2: ") || strings.Contains(text, "s3cret") {
			t.Errorf("a broken file: a is known %t, and it logs %s", k.knows("a"), text)
		}
		write(t, path, sumOf("b")+"\nbw_s3cret2\n") // another one, and broken in the same way
		k.pass(5)
		if n := k.lines("WARN"); n != 1 {
			t.Errorf("another broken file is logged %d times, want once", n)
		}

		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		k.pass(5)
		if n := k.lines("WARN"); n != 1 || !k.knows("a") {
			t.Errorf("no file: it is logged %d times, want once, and a is known %t", n, k.knows("a"))
		}
		write(t, path, sumOf("c")+"\n")
		k.pass(2)
		if n := k.lines("INFO"); k.knows("a") || !k.knows("c") || n != 1 {
			t.Errorf("a new file: a is known %t, c %t, and it is logged %d times; want once", k.knows("a"), k.knows("c"), n)
		}

		// What is written back before it was ever read needs no reading, but it is news when it fails again.
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		k.pass(2)
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		k.pass(2)
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		k.pass(2)
		if n := k.lines("WARN"); n != 2 || !k.knows("c") {
			t.Errorf("a file that went away twice is logged %d times, want twice, and c is known %t", n, k.knows("c"))
		}
	})
}

// TestSecretsAreTurnedOver changes a file as Kubernetes changes a mounted Secret: keys → ..data/keys, ..data → a directory
// with the time in its name, and ..data is replaced by another link at once.
func TestSecretsAreTurnedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "keys")
	at := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	turn := func(name, key string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name, "keys")
		write(t, file, sumOf(key)+"\n")
		// Neither size nor time need to differ.
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(dir, "..data_tmp")
		if err := os.Symlink(name, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		turn("..2026_07_01", "a")
		if err := os.Symlink(filepath.Join("..data", "keys"), path); err != nil {
			t.Fatal(err)
		}
		k := run(t, path)
		turn("..2026_07_02", "b")
		k.pass(2)
		if k.knows("a") || !k.knows("b") {
			t.Errorf("a is known %t, b %t; want the other way round", k.knows("a"), k.knows("b"))
		}
	})
}
