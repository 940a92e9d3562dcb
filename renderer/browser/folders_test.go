package browser

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// socketName is how Chromium names its socket below the folder for temporary files, and maxSocketPath the most bytes that Linux
// allows for a socket's path.
const (
	socketName    = "/1234567890/org.chromium.Chromium.XXXXXX/SingletonSocket"
	maxSocketPath = 107
)

func TestSocketsHaveAShortPath(t *testing.T) {
	for _, length := range []int{8, maxSocketFolder, maxSocketFolder + 1, 100, 1000} {
		profiles := "/" + strings.Repeat("p", length-1)
		f, err := newFolders(profiles)
		if err != nil {
			t.Errorf("a folder of %d bytes: %v", length, err)
			continue
		}
		if path := f.sockets + socketName; len(path) > maxSocketPath {
			t.Errorf("with a folder of %d bytes the socket %s has %d", length, path, len(path))
		}
		if length <= maxSocketFolder && f.sockets != profiles {
			t.Errorf("a folder of %d bytes is short enough, but sockets are in %s", length, f.sockets)
		}
		if again, err := newFolders(profiles); err != nil || again != f {
			t.Errorf("a later start has %+v, not %+v, and would leave what a killed one left: %v", again, f, err)
		}
	}
}

func TestSocketsHaveAShortPathWhateverTMPDIRIs(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("t", 90))
	t.Setenv("TMPDIR", long)
	f, err := newFolders(filepath.Join(long, "browsers"))
	if err != nil || len(f.sockets+socketName) > maxSocketPath {
		t.Errorf("%+v: %v", f, err)
	}
}

// TestABrowserDrawsFromALongFolder has a folder as long as the whole path of a socket may be, and a browser that refuses to start, as
// a whole Chromium does, where its socket's path would be too long.
func TestABrowserDrawsFromALongFolder(t *testing.T) {
	t.Parallel()
	chromium, err := find(Program)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "chromium")
	script(t, program, `socket="$TMPDIR/org.chromium.Chromium.XXXXXX/SingletonSocket"
test ${#socket} -le `+strconv.Itoa(maxSocketPath)+` || { echo "FATAL: Socket path too long: $socket" >&2; exit 1; }
exec "`+chromium+`" "$@"`)
	parent := filepath.Join(t.TempDir(), strings.Repeat("long/", 20))
	if err := os.MkdirAll(parent, 0o711); err != nil {
		t.Fatal(err)
	}
	w := begin(t, Options{Tabs: 1, Program: program, Dir: filepath.Join(parent, "browsers")})
	w.mustDraw(sample(1))
}

func TestAFolderThatCannotBeMadeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	f := folders{profiles: filepath.Join(t.TempDir(), "missing", "browsers")}
	f.sockets = f.profiles
	if err := f.make(); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("%v", err)
	}
}
