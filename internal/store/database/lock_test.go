package database

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAFileIsFreedBesideACopyOfItsLock frees a file while there is a copy of the descriptor that holds it: a process that is being started has one until it
// runs its own program.
func TestAFileIsFreedBesideACopyOfItsLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockFile(path); !errors.Is(err, ErrFileLocked) {
		t.Errorf("while it is held: %v", err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd here")
	}
	copied := false
	for _, x := range open {
		if of, err := os.Readlink("/proc/self/fd/" + x.Name()); err != nil || of != path || copied {
			continue
		}
		fd, err := strconv.Atoi(x.Name())
		if err != nil {
			t.Fatal(err)
		}
		duplicate, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Close(duplicate) }()
		copied = true
	}
	if !copied {
		t.Fatal("no descriptor holds the file")
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := lockFile(path)
	if err != nil {
		t.Fatalf("after it was freed: %v", err)
	}
	if err := errors.Join(again(), again()); err != nil {
		t.Errorf("it can't be freed twice: %v", err)
	}
}
