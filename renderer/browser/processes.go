package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// process is a line of the kernel's list.
type process struct {
	pid, parent, group int
}

// processes lists all there are. One that ends meanwhile is left out.
func processes() ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("browser: %w", err)
	}
	var all []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // not a process
		}
		raw, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it is gone
		}
		// "pid (name) state parent group …", and a name may hold anything.
		f := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
		if len(f) < 3 {
			return nil, fmt.Errorf("browser: /proc/%d/stat has only %d fields", pid, len(f))
		}
		parent, errParent := strconv.Atoi(string(f[1]))
		group, errGroup := strconv.Atoi(string(f[2]))
		if err := errors.Join(errParent, errGroup); err != nil {
			return nil, fmt.Errorf("browser: /proc/%d/stat: %w", pid, err)
		}
		all = append(all, process{pid: pid, parent: parent, group: group})
	}
	return all, nil
}

// sweep ends and reaps what is left of a process group whose leader is dead. It signals only processes that have become
// children of this program: nobody else can reap those, so a number can't have gone to a stranger meanwhile.
func sweep(ctx context.Context, leader int) error {
	self := os.Getpid()
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for {
		all, err := processes()
		if err != nil {
			return err
		}
		left := 0
		for _, p := range all {
			if p.group != leader || p.pid == leader {
				continue
			}
			left++
			if p.parent != self {
				continue // its parent goes first
			}
			if err := endOrphan(p.pid); err != nil {
				return err
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return fmt.Errorf("browser: %d processes of group %d don't end: %w", left, leader, ctx.Err())
		}
	}
}

// endOrphan kills and reaps a child. Its death takes a moment, so the next look may find it again.
func endOrphan(pid int) error {
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		return fmt.Errorf("browser: end process %d: %w", pid, err)
	}
	for {
		_, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if !errors.Is(err, unix.EINTR) {
			if err != nil {
				return fmt.Errorf("browser: reap process %d: %w", pid, err)
			}
			return nil
		}
	}
}

// memory is what a browser's processes hold, in bytes. Pages that several of them share are counted once where the
// kernel tells (PSS), else in each (RSS): it doesn't tell of a sandbox's processes unless this program may trace them.
func memory(leader int) (uint64, error) {
	all, err := processes()
	if err != nil {
		return 0, err
	}
	var sum uint64
	for _, p := range all {
		if p.group == leader {
			sum += proportional(p.pid)
		}
	}
	return sum, nil
}

// proportional is 0 for a process that is gone.
func proportional(pid int) uint64 {
	if kib, ok := field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:"); ok {
		return kib << 10
	}
	kib, _ := field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
	return kib << 10
}

// field reads a number of one of the kernel's tables.
func field(path, name string) (uint64, bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				n, err := strconv.ParseUint(f[0], 10, 64)
				return n, err == nil
			}
		}
	}
	return 0, false
}
