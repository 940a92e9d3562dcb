package kubetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestNothingOutlivesAProcessThatIsKilled(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "kubetest-") //nolint:usetesting // a test's name may not fit the 107 bytes of a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env = append(os.Environ(), childVariable+"="+dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	etcd, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(etcd, 0); err != nil {
		t.Fatalf("etcd doesn't run: %v", err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	eventually(t, func(context.Context) error {
		if !gone(etcd) {
			return fmt.Errorf("etcd, process %d, outlives who started it", etcd)
		}
		return nil
	})
}

// gone is true for zombies too: where nobody adopts orphans, they stay such.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return errors.Is(err, os.ErrNotExist) || strings.Contains(string(stat), ") Z ")
}
