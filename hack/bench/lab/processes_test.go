package lab

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

func TestDescendants(t *testing.T) {
	t.Parallel()
	all := []procfs.ProcStat{{PID: 9, PPID: 8}, {PID: 1}, {PID: 8, PPID: 7}, {PID: 7, PPID: 1}, {PID: 5, PPID: 1}, {PID: 6, PPID: 7}}
	var pids []int
	for _, p := range descendants(7, all) {
		pids = append(pids, p.PID)
	}
	if len(pids) != 4 || pids[0] != 7 {
		t.Errorf("the tree of 7 is %v, want 7, 8, 6 and 9", pids)
	}
	if got := descendants(99, all); len(got) != 0 {
		t.Errorf("the tree of nobody is %v", got)
	}
}

// TestTreeCPU has a child's child use CPU, which counts before and after that has ended.
func TestTreeCPU(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo; cat`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	used, err := TreeCPU(cmd.Process.Pid)
	if err != nil || used < 10*time.Millisecond {
		t.Errorf("it used %s: %v", used, err)
	}
	held, processes, err := TreeMemory(cmd.Process.Pid)
	for deadline := time.Now().Add(10 * time.Second); processes < 2 && err == nil && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		held, processes, err = TreeMemory(cmd.Process.Pid) // cat may not be there yet
	}
	if err != nil || processes != 2 || held < 100_000 { // the shell and cat
		t.Errorf("%d processes hold %d bytes: %v", processes, held, err)
	}
	if resident, peak := memoryOf(cmd.Process.Pid); resident < 100_000 || peak < resident {
		t.Errorf("the shell has %d bytes, and had %d at most", resident, peak)
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Error(err)
	}
}
